"""The ends of a link: what each consists of, where it stands among the words of a store, and what is missing of it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final
from unicodedata import combining, normalize

from pytest_memfail.judges.rules.anchor_fate import fate_of, is_stance, is_undone
from pytest_memfail.judges.rules.anchor_match import IN_GENERAL, matches_of
from pytest_memfail.judges.rules.anchor_names import by_name, in_order
from pytest_memfail.judges.rules.anchor_roles import acted_by_object
from pytest_memfail.judges.rules.anchor_words import LIGHT, NEAR, SOMEBODY, Part, Token, is_adverb
from pytest_memfail.judges.rules.everyday import everyday
from pytest_memfail.judges.rules.kinship import FIRM, PHRASAL
from pytest_memfail.judges.rules.polarity import is_negator
from pytest_memfail.judges.rules.quantities import Quantity, quantities
from pytest_memfail.judges.rules.text import Sentence, Word, fold, sentences_of, weight

AGAIN: Final = re.compile(r"\b(?:a|the|for a) second time\b|\btwo times over\b", re.IGNORECASE)
NAMED_HOURS: Final = frozenset("noon midday midnight".split())
"""Numbers by name: as words, they may be told in other words."""
Worded = tuple[int, tuple[int, ...]]
"""The group of an everyday wording, and where its words stand."""
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
    wordings: tuple[tuple[int, frozenset[int]], ...] = ()
    """The groups of everyday wordings that it has one of, with the parts that this one covers."""

    groups: frozenset[int] = frozenset()
    """The groups alone."""
    called: tuple[tuple[str, ...], ...] = ()
    """The keys of each wording that its row says keeps it."""

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
    def alike(self) -> bool:
        """Whether a word of like meaning stands for each of its words."""
        return self.soft >= ALL_ALIKE and not self.gaps

    @property
    def retold(self) -> bool:
        """Whether it stands there but for words that may be others for it."""
        return self.soft >= RETOLD and self.share >= FEW_OWN and {fate for _, fate in self.gaps} == {"reworded"}

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
ALL_ALIKE: Final = 0.95
RETOLD: Final = 0.85
REWORDED: Final = 0.6
CLOSE: Final = 0.58
FEW_OWN: Final = 0.3
BETWEEN: Final = 2
"""Other words with content that may stand between two parts of an end."""
FINISHING: Final = ("finish", "fram")
"""Said of a thing, these are done to it, though words of their stems say little: to end up, a frame of mind."""
SUBJECTS: Final = frozenset("i user he she they we".split())
INWARD: Final = frozenset("out from by off without".split())
"""Prepositions that name a cause, but not where a wording opens with them."""
ADVERBS: Final = frozenset(
    "early late together better slower easier faster nightly again soon alone longer harder more".split()
)


@lru_cache(maxsize=8192)
def read_anchor(text: str, verbal: bool, wordings: tuple[str, ...] = ()) -> Anchor:
    """The end's words with what part each plays.

    Args:
        text: the end.
        verbal: whether it opens with a verb.
        wordings: what else it may be called.
    """
    words = [w for s in sentences_of(text) for w in s.words if w.key]
    numbers = tuple(q for s in sentences_of(text) for q in quantities(s.text, s.words) if q.text not in NAMED_HOURS)
    words = [w for w in words if not w.key[0].isdigit()]
    telling = [
        w
        for w in words
        if w.key not in LIGHT
        or (verbal and w is words[0] and (words[-1].key in SOMEBODY or w.lower.startswith(FINISHING)))
    ] or words
    nouns = [w for w in telling if not (is_adverb(w.lower) or w.lower in ADVERBS)] or telling
    head = nouns[-1] if nouns else None
    parts = []
    for at, word in enumerate(words):
        if word not in telling:
            kind, value = "light", 0.25
        elif word is head and not (verbal and at == 0):
            kind, value = "head", 1.0
        elif verbal and at == 0:
            # Where nothing but adverbs follow, the verb is what it is about.
            adverbs = all(is_adverb(w.lower) or w.lower in ADVERBS for w in words[1:])
            kind, value = ("head", 1.0) if adverbs else ("verb", max(weight(word.key), 0.75))
        elif at and word.lower.endswith(("ing", "ed")) and words[at + 1 : at + 2] != [head]:
            kind, value = "verb", weight(word.key)
        elif not verbal and head in words[at + 1 :] and is_stance(text, word):
            kind, value = "stance", weight(word.key)
        else:
            kind, value = "modifier", weight(word.key)
        parts.append(Part(word.key, word.lower, value, kind))
    stance = next((at for at, part in enumerate(parts) if part.kind == "stance"), 0)
    for at in range(stance):
        # A soft spot, a deep distrust: how the stance is told is part of it.
        parts[at] = replace(parts[at], kind="stance", weight=0.25)
    total = sum(p.weight for p in parts) + len(numbers) or 1.0
    everyday_wordings = tuple(dict.fromkeys(_wordings(text, parts)))
    groups = frozenset(group for group, _ in everyday_wordings)
    return Anchor(text, tuple(parts), numbers, total, verbal, everyday_wordings, groups, in_order(wordings))


def _wordings(text: str, parts: Sequence[Part]) -> Iterator[tuple[int, frozenset[int]]]:
    tokens = tokens_of(sentences_of(text))
    for group, at in everyday(tokens):
        keys = {tokens[i].key for i in at}
        covered = frozenset(number for number, part in enumerate(parts) if part.key in keys)
        if covered:
            yield group, covered


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


def places(anchor: Anchor, tokens: Sequence[Token], source: frozenset[str], but: Collection[int] = ()) -> list[Place]:
    """The places where the end, or some of it, stands, `but` at these words; the wholest first."""
    matches = [match for match in matches_of(anchor.parts, tokens, source) if match[0] not in but]
    if anchor.called:
        matches += [match for match in by_name(anchor.called, len(anchor.parts), tokens) if match[0] not in but]
    worded = list(everyday(tokens, anchor.groups)) if anchor.wordings else []
    if worded:
        matches += [match for match in _by_wording(anchor, tokens, worded) if match[0] not in but]
    opened = _openings(tokens, worded)
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
            place = _place(anchor, tokens, best, taken, source)
            found[taken] = replace(place, first=opened.get(place.first, place.first)) if opened else place
    return sorted(found.values(), key=lambda p: (-round(p.soft, 3), -round(p.share, 3), p.last - p.first, p.first))[:4]


def by_wording(anchor: Anchor, tokens: Sequence[Token]) -> Iterator[tuple[int, int, float]]:
    """Where another everyday wording stands for parts of the end, from its first word to its last."""
    yield from _by_wording(anchor, tokens, everyday(tokens, anchor.groups))


def _by_wording(anchor: Anchor, tokens: Sequence[Token], worded: Iterable[Worded]) -> Iterator[tuple[int, int, float]]:
    for group, words in worded:
        first, last = words[0], words[-1]
        for other, covered in anchor.wordings:
            if other == group:
                opens = first if tokens[first].key or is_negator(tokens[first].lower) else last
                closes = last if tokens[last].key else first
                for number in covered:
                    yield (closes if number == max(covered) and len(covered) > 1 else opens), number, PHRASAL


def _openings(tokens: Sequence[Token], worded: Iterable[Worded]) -> dict[int, int]:
    """Where a wording begins that opens with a preposition, by its first word with a key: "out of the loop" is no cause."""
    found = {}
    for _, words in worded:
        keyed = next((at for at in words if tokens[at].key), words[0])
        if keyed > words[0] and tokens[words[0]].lower in INWARD:
            found[keyed] = words[0]
    return found


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
            if anchor.verbal and number == 0 and is_undone(part, tokens, at[0]):
                gaps.append((part.surface, "opposite"))
            if best.get(number, (0.0, 0))[0] == IN_GENERAL:
                gaps.append((part.surface, "general"))
            continue
        fate = fate_of(part, tokens, at, source)
        if fate == "light" and part.kind == "verb" and _nothing_done(anchor, tokens, at):
            fate = "dropped"
        gaps.append((part.surface, fate))
        reworded += part.weight * (fate == "reworded")
        soft += part.weight * {"reworded": 0.8, "light": 0.8, "general": 0.4}.get(fate, 0.0)
    stated = _numbers(tokens, at) if anchor.numbers else ()
    for quantity in anchor.numbers:
        if any(quantity.same(other) for other in stated):
            share, firm, soft = share + 1.0, firm + 1.0, soft + 1.0
        else:
            gaps.append((quantity.text, "number"))
    if anchor.verbal and acted_by_object(anchor.text, anchor.parts, tokens, at):
        gaps.append((anchor.text, "rival"))
    gaps = _forgiven(anchor, gaps)
    total = anchor.total
    return Place(at[0], at[-1], at, share / total, firm / total, soft / total, reworded / total, tuple(gaps))


def _nothing_done(anchor: Anchor, tokens: Sequence[Token], at: tuple[int, ...]) -> bool:
    """Whether somebody is named without a word of what is done with them, which tells as much."""
    somebody = any(part.kind == "head" and part.key in SOMEBODY for part in anchor.parts)
    return somebody and not any(t.key in LIGHT for t in tokens[max(0, at[0] - NEAR) : at[0]])


def _forgiven(anchor: Anchor, gaps: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """One small word of many may be dropped."""
    lost = [g for g in gaps if g[1] == "dropped"]
    by = {part.surface: part for part in anchor.parts}
    if len(lost) == 1 and lost[0][0] in by and all(fate in ("dropped", "light") for _, fate in gaps):
        part = by[lost[0][0]]
        # What stands right before the head tells which: a hiking trip is not any trip.
        which = any(f"{part.surface} {p.surface}" in anchor.text.casefold() for p in anchor.parts if p.kind == "head")
        # A chilly room is told by "chilly": the only word beside a thing says which.
        of_two = not anchor.verbal and len(anchor.parts) < 3 and part.kind == "modifier"
        if (part.weight < 1.0 and not of_two) or (
            len(gaps) == 1 and anchor.telling >= 3 and anchor.verbal and not which
        ):
            return [g if g != lost[0] else (g[0], "light") for g in gaps]
    return gaps


def _numbers(tokens: Sequence[Token], at: tuple[int, ...]) -> tuple[Quantity, ...]:
    around = tokens[max(0, at[0] - 6) : at[-1] + 8]
    text = AGAIN.sub("twice", " ".join(t.surface for t in around))
    return tuple(q for s in sentences_of(text) for q in quantities(s.text, s.words))
