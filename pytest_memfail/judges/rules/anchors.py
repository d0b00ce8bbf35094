"""The ends of a link: what each consists of, where it stands among the words of a store, and what is missing of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from unicodedata import combining, normalize

from pytest_memfail.judges.rules.anchor_fate import fate_of
from pytest_memfail.judges.rules.anchor_words import FEELING, LIGHT, NEAR, PARTICLES, SOMEBODY, Part, Token
from pytest_memfail.judges.rules.apart import associated
from pytest_memfail.judges.rules.kinds import is_person
from pytest_memfail.judges.rules.kinship import FIRM, ORIGIN, PHRASAL, Kin, is_cut, kin, one_origin, phrasal
from pytest_memfail.judges.rules.polarity import is_negator
from pytest_memfail.judges.rules.quantities import Quantity, quantities
from pytest_memfail.judges.rules.text import Sentence, Word, fold, sentences_of, weight

AGAIN: Final = re.compile(r"\b(?:a|the|for a) second time\b|\btwo times over\b", re.IGNORECASE)
REACH: Final = 12
"""Words that the parts of one end are spread over at most."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """One end of a link."""

    text: str
    parts: tuple[Part, ...]
    numbers: tuple[Quantity, ...]
    total: float
    verbal: bool = False

    @property
    def keys(self) -> frozenset[str]:
        """All its keys."""
        return frozenset(part.key for part in self.parts)

    @property
    def telling(self) -> int:
        """How many of its words tell it from others."""
        return sum(part.weight >= 0.75 for part in self.parts) + len(self.numbers)


@dataclass(frozen=True, slots=True)
class Place:
    """Where an end stands in a stretch, and how whole."""

    first: int
    last: int
    at: tuple[int, ...]
    share: float
    """Of its weight, what stands there in the same or like words."""
    firm: float
    """Of its weight, what stands there itself, in some form."""
    soft: float
    """The share, with what is said in other words or more generally."""
    reworded: float = 0.0
    """Of its weight, what seems to be said in words that are not known for it."""
    gaps: tuple[tuple[str, str], ...] = ()
    """The missing words, each with what became of it: dropped, rival, general, opposite, number, reworded, light."""

    @property
    def generalised(self) -> bool:
        """Whether a general term stands for some of it."""
        return any(fate == "general" for _, fate in self.gaps)

    @property
    def kept(self) -> bool:
        """Whether a reader would recognise the end for what it was."""
        # A synonym alone may be meant otherwise: it must be a close one.
        if self.firm < FEW_OWN and self.share < CLOSE:
            return False
        if self.reworded > REWORDED:
            return False
        return self.soft >= KEPT and not any(
            fate in ("rival", "general", "opposite", "number", "dropped") for _, fate in self.gaps
        )


KEPT: Final = 0.6
REWORDED: Final = 0.6
ALIKE: Final = 0.45
"""What an associated word is worth."""
IN_GENERAL: Final = 0.4
"""What a general term is worth of the head of an end."""
CLOSE: Final = 0.58
FEW_OWN: Final = 0.3
BETWEEN: Final = 2
"""Other words with content that may stand between two parts of an end."""
SUBJECTS: Final = frozenset("i user he she they we".split())
ADVERBS: Final = frozenset(
    "early late together better slower easier faster nightly again soon alone longer harder more".split()
)
PLACES: Final = frozenset("outside inside upstairs downstairs outdoors indoors".split())
NEGATING: Final = frozenset(fold(w) for w in "skip miss avoid lack omit forgo quit stop refuse without".split())
"""What these say, a negation says too: to skip breakfast is to go without it."""


@lru_cache(maxsize=8192)
def read_anchor(text: str, verbal: bool) -> Anchor:
    """The end's words with what part each plays; `verbal`: it opens with a verb."""
    words = [w for s in sentences_of(text) for w in s.words if w.key]
    numbers = tuple(q for s in sentences_of(text) for q in quantities(s.text, s.words))
    words = [w for w in words if not (w.key[0].isdigit() or (numbers and w.lower in ("noon", "midnight")))]
    telling = [w for w in words if w.key not in LIGHT or (verbal and w is words[0] and _is_somebody(words[-1].key))] or words
    nouns = [w for w in telling if not (w.lower.endswith("ly") or w.lower in ADVERBS)] or telling
    head = nouns[-1] if nouns else None
    parts = []
    for at, word in enumerate(words):
        if word not in telling:
            kind, value = "light", 0.25
        elif word is head and not (verbal and at == 0):
            kind, value = "head", 1.0
        elif verbal and at == 0:
            # Where nothing but adverbs follow, the verb is what it is about.
            adverbs = all(w.lower.endswith("ly") or w.lower in ADVERBS for w in words[1:])
            kind, value = ("head", 1.0) if adverbs else ("verb", max(weight(word.key), 0.75))
        elif (
            at
            and word.lower.endswith(("ing", "ed"))
            and not (word.lower.endswith("ing") and words[at + 1 : at + 2] == [head])
        ):
            kind, value = "verb", weight(word.key)
        else:
            kind, value = "modifier", weight(word.key)
        parts.append(Part(word.key, word.lower, value, kind))
    return Anchor(text, tuple(parts), numbers, sum(p.weight for p in parts) + len(numbers) or 1.0, verbal)


def _is_somebody(key: str) -> bool:
    return key in SOMEBODY or is_person(key)


def own_key(word: Word) -> str:
    """The word's own key, whatever it is read for."""
    if not word.key:
        return ""
    bare = word.lower.split("'")[0] or word.lower
    if not bare.isascii():
        bare = "".join(c for c in normalize("NFKD", bare) if not combining(c)) or bare
    return fold(bare)


def tokens_of(sentences: Sequence[Sentence]) -> tuple[Token, ...]:
    """The words of sentences that follow each other in an entry."""
    found = []
    for inside, sentence in enumerate(sentences):
        words = sentence.words
        shift = max(0, sentence.text.find(words[0].surface)) - words[0].start if words else 0
        end = 0
        for at, word in enumerate(words):
            gap = sentence.text[end : word.start + shift] if at else " | " * bool(inside)
            end = word.end + shift
            found.append(Token(word.lower, word.surface, own_key(word), gap if gap != " " else "", inside))
    return tuple(found)


def places(anchor: Anchor, tokens: Sequence[Token], source: frozenset[str]) -> list[Place]:
    """The places where the end, or some of it, stands; the wholest first."""
    matches = _matches(anchor, tokens, source)
    starts = sorted({at for at, *_ in matches})
    found: dict[tuple[int, ...], Place] = {}
    for start in starts:
        end = _end_of(tokens, start, {at for at, *_ in matches})
        best: dict[int, tuple[float, int]] = {}
        for at, part, value in matches:
            if start <= at < end and value > best.get(part, (0.0, 0))[0]:
                best[part] = (value, at)
        taken = tuple(sorted({position for _, position in best.values()}))
        if taken and taken not in found:
            found[taken] = _place(anchor, tokens, best, taken, source)
    return sorted(found.values(), key=lambda p: (-round(p.soft, 3), -round(p.share, 3), p.last - p.first, p.first))[:4]


def _end_of(tokens: Sequence[Token], start: int, matched: set[int]) -> int:
    """How far what begins here may stretch: not across a wall, another subject, or too many other words."""
    others = 0
    for at in range(start + 1, min(len(tokens), start + REACH)):
        token = tokens[at]
        others = 0 if at in matched else others + bool(token.key and token.key not in LIGHT)
        subject = token.lower in SUBJECTS and tokens[at - 1].lower not in ("that", "which", "by", "what", "the")
        if token.wall or subject or others > BETWEEN:
            return at
    return min(len(tokens), start + REACH)


def _matches(anchor: Anchor, tokens: Sequence[Token], source: frozenset[str]) -> list[tuple[int, int, float]]:
    """Word by word: where it stands, which part it is, how well."""
    found = []
    for at, token in enumerate(tokens):
        for number, part in enumerate(anchor.parts):
            value = kin(part.key, token.key)[1] if token.key else 0.0
            if value < FIRM and value and _is_general(anchor, token.key):
                value = 0.0  # "clothes" is what became of the scarves, not of wearing
            if value < 1.0 and token.key in LIGHT and one_origin(part.key, token.key):
                value = 0.0
            elif value < ORIGIN and _otherwise(part, token):
                value = ORIGIN
            if value < PHRASAL and _by_phrase(part.key, tokens, at):
                value = PHRASAL
            if value < 1.0 and len(token.lower) >= 3 and _compounded(anchor, number, tokens, at):
                value = 1.0
            if (
                not value
                and part.kind == "head"
                and token.key
                and token.key not in source
                and kin(part.key, token.key)[0] is Kin.GENERAL
            ):
                value = IN_GENERAL
            if not value and token.key and token.key not in LIGHT and _associated(part.key, token.key):
                value = ALIKE
            if value:
                found.append((at, number, value))
    return found


def _associated(wanted: str, held: str) -> bool:
    # A mother is spoken of with a sister, and is somebody else.
    return associated(wanted, held) and not (_is_somebody(wanted) and _is_somebody(held))


def _is_general(anchor: Anchor, held: str) -> bool:
    """Whether the word is a general term for one of the end's own words."""
    return any(kin(part.key, held)[0] is Kin.GENERAL for part in anchor.parts)


def _otherwise(part: Part, token: Token) -> bool:
    """Whether a word stands for the part though their keys do not tell."""
    if part.surface in PLACES and len(token.lower) > 1 and part.surface.startswith(token.lower):
        return True
    if is_cut(part.surface, token.lower):
        return True
    if (part.key in NEGATING and is_negator(token.lower)) or (part.key in FEELING and token.key in FEELING):
        return True
    return bool(token.key) and one_origin(part.surface, token.lower)


def _by_phrase(wanted: str, tokens: Sequence[Token], at: int) -> bool:
    verb = tokens[at].key or (fold(tokens[at].lower) if tokens[at].lower[:3] in ("get", "got") else "")
    if not verb:
        return False
    return any(
        token.lower in PARTICLES and wanted in phrasal(verb, token.lower)
        for token in tokens[at + 1 : at + 2 + NEAR]
        if not token.wall
    )


def _compounded(anchor: Anchor, number: int, tokens: Sequence[Token], at: int) -> bool:
    """Whether what is one word here is two there: windowsills and window sills, handwritten and written by hand."""
    surface, lower = anchor.parts[number].surface, tokens[at].lower
    if len(surface) >= 7 and 3 <= len(lower) < len(surface) and surface.startswith(lower):
        rest = fold(surface[len(lower) :])
        return len(rest) >= 3 and any(
            t.key and kin(rest, t.key)[1] >= 0.8 for t in tokens[max(0, at - NEAR) : at + NEAR]
        )
    for first in (number - 1, number):
        if 0 <= first < len(anchor.parts) - 1 and len(lower) >= 6:
            pair = anchor.parts[first].surface + anchor.parts[first + 1].surface
            if fold(pair) == fold(lower):
                return True
    return False


def _place(
    anchor: Anchor,
    tokens: Sequence[Token],
    best: dict[int, tuple[float, int]],
    at: tuple[int, ...],
    source: frozenset[str],
) -> Place:
    share = sum(anchor.parts[part].weight * value for part, (value, _) in best.items() if value > IN_GENERAL)
    firm = sum(anchor.parts[part].weight for part, (value, _) in best.items() if value >= FIRM)
    soft = sum(anchor.parts[part].weight * (value if value == IN_GENERAL else 1.0) for part, (value, _) in best.items())
    reworded = 0.0
    gaps = []
    for number, part in enumerate(anchor.parts):
        if number in best or part.kind == "light":
            soft += part.weight * (number not in best)
            if best.get(number, (0.0, 0))[0] == IN_GENERAL:
                gaps.append((part.surface, "general"))
            continue
        fate = fate_of(part, tokens, at, source)
        if fate == "light" and part.kind == "verb" and any(p.kind == "head" and _is_somebody(p.key) for p in anchor.parts):
            fate = "dropped"  # what one does with somebody tells as much as with whom
        gaps.append((part.surface, fate))
        reworded += part.weight * (fate == "reworded")
        soft += part.weight * {"reworded": 0.8, "light": 0.8, "general": 0.4}.get(fate, 0.0)
    stated = _numbers(tokens, at) if anchor.numbers else ()
    for quantity in anchor.numbers:
        if any(quantity.same(other) for other in stated):
            share, firm, soft = share + 1.0, firm + 1.0, soft + 1.0
        else:
            gaps.append((quantity.text, "number"))
    if _acted_by_object(anchor, tokens, at):
        gaps.append((anchor.text, "rival"))
    gaps = _forgiven(anchor, gaps)
    total = anchor.total
    return Place(at[0], at[-1], at, share / total, firm / total, soft / total, reworded / total, tuple(gaps))


def _acted_by_object(anchor: Anchor, tokens: Sequence[Token], at: tuple[int, ...]) -> bool:
    """Whether somebody to whom it is done does it: my sister texts, the dentist cancels."""
    verbs = {part.key for part in anchor.parts[:1] if anchor.verbal}
    others = {part.key for part in anchor.parts[1:]}
    for i in at[1:]:
        token, before = tokens[i], tokens[i - 1]
        if token.key in others:
            continue
        active = token.lower.endswith("s") or token.lower.rstrip("e") == token.key.rstrip("e")
        if active and i - 1 in at and not token.gap and any(kin(verb, token.key)[1] for verb in verbs):
            return _is_somebody(before.key)
    return False


def _forgiven(anchor: Anchor, gaps: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """One small word of many may be dropped."""
    lost = [g for g in gaps if g[1] == "dropped"]
    by = {part.surface: part for part in anchor.parts}
    if len(lost) == len(gaps) == 1 and lost[0][0] in by:
        part = by[lost[0][0]]
        # What stands right before the head tells which: a hiking trip is not any trip.
        which = any(f"{part.surface} {p.surface}" in anchor.text.casefold() for p in anchor.parts if p.kind == "head")
        if part.weight < 1.0 or (anchor.telling >= 3 and anchor.verbal and not which):
            return [g if g != lost[0] else (g[0], "light") for g in gaps]
    return gaps


def _numbers(tokens: Sequence[Token], at: tuple[int, ...]) -> tuple[Quantity, ...]:
    around = tokens[max(0, at[0] - 6) : at[-1] + 8]
    text = AGAIN.sub("twice", " ".join(t.surface for t in around))
    return tuple(q for s in sentences_of(text) for q in quantities(s.text, s.words))
