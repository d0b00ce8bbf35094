"""Links of a chain: both ends, the relation between them, and its direction (paper, section 4, task 4).

A link is looked for where words of its ends stand. A place is judged by how whole each end is there (`anchors`), which of them is
told to lead to the other (`relations`), and whose link it is (`actors`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Final

from pytest_memfail.core import Evidence
from pytest_memfail.judges.rules.actors import OTHER, SPEAKER, whose
from pytest_memfail.judges.rules.anchors import CAUSING, LIGHT, Anchor, Place, Token, places, read_anchor, tokens_of
from pytest_memfail.judges.rules.finding import Finding, keys_of, listed, quote
from pytest_memfail.judges.rules.kinship import kin
from pytest_memfail.judges.rules.polarity import is_negator, sentiment
from pytest_memfail.judges.rules.relations import relate, sides
from pytest_memfail.judges.rules.stretches import akin
from pytest_memfail.judges.rules.stretches import tokens as tokens_in
from pytest_memfail.judges.rules.text import Sentence, fold, sentences_of
from pytest_memfail.judges.rules.view import View
from pytest_memfail.judges.rules.words import STOP

CANDIDATES: Final = 24
FEW: Final = 5
"""Entries of at most so many short sentences are also read as a whole."""
SOME: Final = 0.3
"""The share of an end that shows that it was meant."""
HALF: Final = 0.5
ALL: Final = 0.95
MOST: Final = 0.6
MOSTLY: Final = 0.75
REFERRING: Final = frozenset(
    "this that these those it then such result consequence afterwards therefore hence so which trigger".split()
)
MOVING: Final = frozenset(fold(w) for w in "annoy irritate bother please delight fascinate excite scare bore amuse".split())
"""Here the thing acts on the person, so that it may well be the subject."""
POINTING: Final = frozenset("that those this these such same".split())


@dataclass(frozen=True, slots=True)
class Link:
    """What must be found of a link."""

    ends: tuple[Anchor, Anchor]
    wordings: tuple[str, str]
    person: int | None
    """Which end is a person, if one is: then the link is what the person does with the other."""
    direction: int
    relation: frozenset[str]
    """The words that tie a person to the other end, without both."""
    sentiment: int
    stated: frozenset[str]
    known: frozenset[str]
    """Words and keys of the source: they name nobody else."""
    negative: bool
    mine: frozenset[str]
    """The words that name whose link it is."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One place of a store, read as the link."""

    rank: tuple[float, ...]
    finding: Finding


@lru_cache(maxsize=4096)
def read_link(evidence: Evidence, protocol: str) -> Link:
    """The link of the evidence."""
    source = sentences_of(evidence.source)
    stated = frozenset(key for s in source for key in s.keys)
    words = frozenset(w for s in source for w in s.lowers)
    texts = (
        evidence.anchors[:2]
        if len(evidence.anchors) >= 2
        else (evidence.entity or evidence.text, evidence.value or evidence.text)
    )
    tokens = tokens_of(source)
    ends = tuple(_end(text, stated, tokens, protocol) for text in texts)
    person = next(
        (i for i, a in enumerate(texts) if a[:1].isupper() and len(a.split()) <= 2 and len(keys_of(a)) == 1), None
    )
    found = [next(iter(places(end, tokens, stated)), None) for end in ends]
    direction = relate(tokens, _span(found[0]), _span(found[1])) if found[0] and found[1] else 0
    named = _names(source, texts)
    apart = ends[0].keys | ends[1].keys
    return Link(
        (ends[0], ends[1]),
        (quote(evidence.source, texts[0].split()), quote(evidence.source, texts[1].split())),
        person,
        direction or 1,
        frozenset(_tie(tokens, found, apart)) if person is not None else frozenset(),
        next((feeling for s in source if (feeling := sentiment(s))), 0) if person is not None else 0,
        stated,
        words | stated,
        any(is_negator(w) for w in words),
        named or SPEAKER,
    )


def _end(text: str, stated: frozenset[str], tokens: tuple[Token, ...], protocol: str) -> Anchor:
    words = [w for s in sentences_of(text) for w in s.words]
    if protocol != "paper" and any(w.key in stated for w in words):
        text = " ".join(w.surface for w in words if not w.key or w.key in stated)
    return read_anchor(text, _is_verbal(words[0].lower if words else "", tokens))


def _is_verbal(first: str, tokens: tuple[Token, ...]) -> bool:
    """Whether an end that begins with this word says what somebody does."""
    if first.endswith("ing") and first not in ("morning", "evening", "spring"):
        return True
    at = next((i for i, t in enumerate(tokens) if t.lower == first), 0)
    before = tokens[at - 1] if at else None
    return before is not None and (
        before.lower in ("i", "me", "we", "to", "she", "he", "they", "and", "then", "can", "will")
        or (before.surface[0].isupper() and first not in STOP)
    )


def _names(source: tuple[Sentence, ...], texts: tuple[str, ...]) -> frozenset[str]:
    """Whoever a source without "I" names."""
    lowers = {w for s in source for w in s.lowers}
    if lowers & {"i", "me", "my", "we", "i'm"}:
        return frozenset()
    inside = {w.casefold() for text in texts for w in text.split() if not w[:1].isupper()}
    uncapital = {w.lower for s in source for w in s.words if not w.surface[0].isupper()}
    names = {
        w.lower.removesuffix("'s")
        for s in source
        for at, w in enumerate(s.words)
        if w.surface[0].isupper()
        and w.lower not in STOP | inside | uncapital
        and (at or w.surface in texts or len(s.words) < 3)
    }
    return frozenset(names)


def _tie(tokens: tuple[Token, ...], found: list[Place | None], apart: frozenset[str]) -> Iterator[str]:
    if found[0] is None or found[1] is None:
        return
    first, second = sorted((found[0], found[1]), key=lambda p: p.first)
    for token in tokens[first.last + 1 : second.first]:
        if token.key and token.key not in apart:
            yield token.key


def find_link(evidence: Evidence, view: View, protocol: str) -> Finding:
    """The link in a view: both ends in one place (stored), related the right way round (faithful)."""
    link = read_link(evidence, protocol)
    best = _find(link, view)
    if best.faithful or best.fault:
        return best
    for other in _otherwise_worded(evidence, protocol):
        finding = _find(other, view)
        if (finding.faithful, finding.present) > (best.faithful, best.present):
            best = finding
        if best.faithful:
            break
    return best


@lru_cache(maxsize=4096)
def _otherwise_worded(evidence: Evidence, protocol: str) -> tuple[Link, ...]:
    """The same link with each end in its curated wordings."""
    anchors = [detail.wordings for detail in evidence.details if detail.part == "anchor"]
    if len(anchors) != 2:
        return ()
    link = read_link(evidence, protocol)
    found = []
    for first, second in product(*anchors):
        ends = (_like(first, link.ends[0]), _like(second, link.ends[1]))
        if ends != link.ends and all(end.parts for end in ends):
            stated = link.stated | ends[0].keys | ends[1].keys
            found.append(replace(link, ends=ends, stated=stated))
    return tuple(found)


def _like(text: str, end: Anchor) -> Anchor:
    return read_anchor(text, any(part.kind == "verb" for part in end.parts))


def _find(link: Link, view: View) -> Finding:
    best: Reading | None = None
    near: list[int] = []
    for at in _stretches(link, view):
        near.extend(at[:1])
        reading = _read(link, view, at)
        if reading is not None and (best is None or reading.rank > best.rank):
            best = reading
            if best.rank[0] >= BEST:
                break
    if best is not None:
        return best.finding
    reason = f"no entry links {link.wordings[0]!r} with {link.wordings[1]!r}"
    lost = tuple(w for w, end in zip(link.wordings, link.ends, strict=True) if not _anywhere(end, view))
    there = tuple(w for w in link.wordings if w not in lost)
    return Finding(
        False, False, reason, view.entries_of(near)[:3], there, lost or link.wordings, confidence=0.95 if lost else 0.75
    )


def _anywhere(end: Anchor, view: View) -> bool:
    return all(view.postings.get(part.key) for part in end.parts if part.weight >= 1.0)


BEST: Final = 9.0


def _stretches(link: Link, view: View) -> Iterator[tuple[int, ...]]:
    """Where the link may stand: sentences with words of its ends, alone, with a neighbour, and short entries whole."""
    scores: dict[int, float] = defaultdict(float)
    for number, end in enumerate(link.ends):
        strong = [p for p in end.parts if p.weight >= 1.0] or list(end.parts)
        for part in strong:
            for key in (part.key, *akin(view, part.key)):
                for at in view.postings.get(key, ()):
                    scores[at] += (1.0 if key == part.key else 0.7) / len(strong) / (2 if number == link.person else 1)
    ranked = sorted(scores, key=lambda at: (-round(scores[at], 6), at))[:CANDIDATES]
    seen: set[tuple[int, ...]] = set()
    for at in ranked:
        for stretch in _around(view, at):
            if stretch not in seen:
                seen.add(stretch)
                yield stretch


def _around(view: View, at: int) -> Iterator[tuple[int, ...]]:
    yield (at,)
    first, end = view.first[view.entry[at]], view.first[view.entry[at] + 1]
    for pair in ((at - 1, at), (at, at + 1)):
        if pair[0] >= first and pair[1] < end and not view.sentences[pair[1]].starts_turn:
            yield pair
    if 2 < end - first <= FEW and not any(view.sentences[i].starts_turn for i in range(first + 1, end)):
        yield tuple(range(first, end))


def _read(link: Link, view: View, at: tuple[int, ...]) -> Reading | None:
    tokens = tokens_in(view, at)
    if link.person is not None:
        return _read_person(link, view, at, tokens)
    pair = _pair(link, tokens)
    if pair is not None and _firm(pair) and _tied(tokens, pair):
        return _judge(link, view, at, tokens, pair)
    return _half(link, view, at, tokens)


def _span(place: Place | None) -> tuple[int, int]:
    return (place.first, place.last) if place else (0, 0)


def _pair(link: Link, tokens: tuple[Token, ...]) -> tuple[Place, Place] | None:
    """Both ends, each in a place of its own."""
    best: tuple[float, tuple[Place, Place]] | None = None
    for first, second in product(*(places(end, tokens, link.stated) for end in link.ends)):
        if set(first.at) & set(second.at):
            continue
        crossed = first.first <= second.last and second.first <= first.last
        length = first.last - first.first + second.last - second.first
        value = first.soft + second.soft + (first.kept + second.kept) - 0.01 * length - 0.5 * crossed
        if best is None or value > best[0]:
            best = (value, (first, second))
    return best[1] if best else None


def _firm(pair: tuple[Place, Place]) -> bool:
    """Whether enough of the ends' own words stand there: two synonyms meet in many a sentence."""
    least, most = sorted(place.firm for place in pair)
    return least >= SOME or most >= MOST or _in_general(pair)


def _tied(tokens: tuple[Token, ...], pair: tuple[Place, Place]) -> bool:
    """Within a sentence, or in one that refers back."""
    left, right = sorted(pair, key=lambda p: p.first)
    if tokens[left.last].inside == tokens[right.first].inside:
        return True
    opening = [t for t in tokens if t.inside == tokens[right.first].inside][:5]
    return any(t.lower in REFERRING for t in opening) or tokens[left.last].inside != 0 or _is_field(tokens, right.first)


def _is_field(tokens: tuple[Token, ...], at: int) -> bool:
    """Whether a label stands before the word: "trigger: …"."""
    inside = tokens[at].inside
    return any(t.inside == inside and ":" in t.gap for t in tokens[: at + 1])


def _openings(tokens: tuple[Token, ...]) -> list[int]:
    """The last word of every sentence but the first."""
    last = {t.inside: i for i, t in enumerate(tokens)}
    return [i for inside, i in last.items() if inside]


def _judge(
    link: Link, view: View, at: tuple[int, ...], tokens: tuple[Token, ...], pair: tuple[Place, Place]
) -> Reading | None:
    entries = view.entries_of(at)
    arrow = f"{link.wordings[0]!r} to {link.wordings[1]!r}"
    turn = relate(tokens, _span(pair[0]), _span(pair[1]))
    owner = min(_whose(link, view, tokens, place) for place in pair)
    kept = [
        place.kept or _pointed_at(link, view, tokens, end, place) for end, place in zip(link.ends, pair, strict=True)
    ]
    soft = pair[0].soft + pair[1].soft
    own = _own_share(link, tokens)
    if not all(kept):
        return _blurred(link, entries, tokens, pair, kept, turn, owner)
    closeness = min(p.share for p in pair)

    def damaged(reason: str, confidence: float, fault: bool = False) -> Reading:
        finding = Finding(True, False, reason, entries, (), link.wordings, confidence=confidence)
        return Reading((5.0 + soft, own), replace(finding, fault="turned") if fault else finding)

    if owner == OTHER:
        if closeness < MOST:
            return None
        return damaged(f"the link from {arrow} is stored, but as somebody else's", 0.85)
    if not link.negative and _negated(tokens, pair):
        return damaged(f"the link from {arrow} is stored, but negated", 0.75)
    if turn != link.direction and min(place.firm for place in pair) < SOME:
        return None
    if turn == -link.direction:
        return damaged(f"the link from {arrow} is stored the other way round", 0.85)
    if not turn:
        return damaged(f"{arrow}: both are stored, but not how one leads to the other", 0.65)
    whole = closeness >= 0.99
    confidence = 0.97 if whole else 0.9 if closeness >= 0.75 else 0.75
    return Reading(
        (BEST if whole else 8.0, soft, own),
        Finding(True, True, f"the link from {arrow} is kept", entries, link.wordings, confidence=confidence),
    )


def _own_share(link: Link, tokens: tuple[Token, ...]) -> float:
    keys = {t.key for t in tokens if t.key}
    return len(keys & link.stated) / len(keys) if keys else 0.0


def _whose(link: Link, view: View, tokens: tuple[Token, ...], place: Place) -> int:
    return whose(tokens, _span(place), link.mine, link.known, view)


def _pointed_at(link: Link, view: View, tokens: tuple[Token, ...], end: Anchor, place: Place) -> bool:
    """Whether "that hour", "those" stand for what another entry says in full."""
    near = [t.lower for t in tokens[max(0, place.first - 2) : place.first]]
    after = [t.lower for t in tokens[place.first : place.last + 6]]
    lost = {fate for _, fate in place.gaps}
    if place.share < SOME or lost & {"opposite", "general"} or not POINTING.intersection(near + after):
        return False
    if "rival" in lost and not POINTING.intersection(near + after[-6:]):
        return False
    for at in _where_whole(end, view):
        others = tokens_in(view, (at,))
        if others != tokens and any(
            p.kept and _whose(link, view, others, p) != OTHER for p in places(end, others, link.stated)[:1]
        ):
            return True
    return False


def _where_whole(end: Anchor, view: View) -> list[int]:
    heads = [p.key for p in end.parts if p.kind == "head"] or [p.key for p in end.parts]
    return sorted({at for key in heads for at in view.postings.get(key, ())})[:CANDIDATES]


def _negated(tokens: tuple[Token, ...], pair: tuple[Place, Place]) -> bool:
    taken = {i for place in pair for i in place.at}
    for place in pair:
        for i in range(max(0, place.first - 3), place.first):
            if i not in taken and is_negator(tokens[i].lower) and not any(t.breaks for t in tokens[i + 1 : place.first + 1]):
                return tokens[i + 1].lower not in ("only", "just", "until", "without")
    return False


def _blurred(
    link: Link,
    entries: tuple[int, ...],
    tokens: tuple[Token, ...],
    pair: tuple[Place, Place],
    kept: list[bool],
    turn: int,
    owner: int,
) -> Reading | None:
    """Both ends are there, one or both not in full."""
    if turn != link.direction and not (all(p.share >= MOST for p in pair)):
        return None
    if owner == OTHER and min(p.firm for p in pair) < MOST:
        return None
    least, most = sorted(p.soft for p in pair)
    known = [
        (place, other)
        for (place, other), k in zip((pair, pair[::-1]), kept, strict=True)
        if k
        and (place.firm >= MOST or place.share >= MOSTLY)
        and (other.firm > 0 or _in_general((other, other)))
        and (end_of(link, place, pair).telling > 1 or other.firm >= MOST)
    ]
    if (known and least >= SOME) or (least >= SOME and most >= HALF and _in_general(pair)):
        lost = tuple(w for w, whole in zip(link.wordings, kept, strict=True) if not whole)
        whole = tuple(w for w in link.wordings if w not in lost)
        gaps = [f"{word!r} ({fate})" for p, k in zip(pair, kept, strict=True) if not k for word, fate in p.gaps]
        reason = f"the link is stored, but {listed(lost)} is blurred: {', '.join(gaps)}"
        confidence = 0.85 if any(kept) and least >= HALF else 0.65
        return Reading((4.0 + least + most,), Finding(True, False, reason, entries, whole, lost, confidence=confidence))
    return None


def end_of(link: Link, place: Place, pair: tuple[Place, Place]) -> Anchor:
    """The end that stands at the place."""
    return link.ends[0] if place is pair[0] else link.ends[1]


def _in_general(pair: tuple[Place, Place]) -> bool:
    return any(fate == "general" for p in pair for _, fate in p.gaps)


def _half(link: Link, view: View, at: tuple[int, ...], tokens: tuple[Token, ...]) -> Reading | None:
    """One end in its role, with something else in the place of the other."""
    if len(at) > 1 and not all(_is_field(tokens, at_field) for at_field in _openings(tokens)):
        return None
    for number, end in enumerate(link.ends):
        place = next(iter(places(end, tokens, link.stated)), None)
        if place is None or place.firm < ALL or end.telling < 2 or _somebody_else(link, view, tokens, place):
            continue
        cause, effect = sides(tokens, _span(place))
        role = cause if (number == 0) == (link.direction == 1) else effect
        if role and not (cause and effect):
            lost = link.wordings[1 - number]
            reason = f"{link.wordings[number]!r} is stored with something else than {lost!r}"
            finding = Finding(
                True, False, reason, view.entries_of(at), (link.wordings[number],), (lost,), confidence=0.6
            )
            return Reading((2.0 + place.soft,), finding)
    return None


def _somebody_else(link: Link, view: View, tokens: tuple[Token, ...], place: Place) -> bool:
    """Whether anybody else acts in the stretch."""
    ends = (_span(place), (len(tokens) - 1, len(tokens) - 1))
    return any(whose(tokens, span, link.mine, link.known, view) == OTHER for span in ends)


def _read_person(link: Link, view: View, at: tuple[int, ...], tokens: tuple[Token, ...]) -> Reading | None:
    """What a person does with a thing, or feels for it."""
    assert link.person is not None
    thing = link.ends[1 - link.person]
    owner = link.wordings[link.person]
    wanted = link.wordings[1 - link.person]
    place = next(iter(places(thing, tokens, link.stated)), None)
    if place is None or place.soft < SOME:
        return None
    entries = view.entries_of(at)
    said_of = _whose(link, view, tokens, place)
    named = any(t.lower.removesuffix("'s") in link.mine for t in tokens) or _inherited(link, view, at)
    tie = _tie_found(link, tokens, place)
    if tie < 0 and not place.kept:
        return None
    cause, effect = sides(tokens, _span(place))
    if _reversed(link, tokens, place, tie):
        tie = -1
    elsewhere = (cause or effect) and tie <= 0 and link.relation != frozenset() and not _only(link, tokens)

    def damaged(reason: str, confidence: float, rank: float) -> Reading:
        return Reading(
            (rank + place.soft,), Finding(True, False, reason, entries, (), link.wordings, confidence=confidence)
        )

    if elsewhere and tie == 0:
        return None
    if not named or said_of == OTHER:
        if place.kept and (tie > 0 or not link.relation) and place.firm >= MOST and not (cause and not tie):
            return damaged(f"{wanted!r} is stored, but not as {owner}'s", 0.7, 4.0)
        return None
    if not place.kept:
        if (tie > 0 or not link.relation) and (place.share >= HALF or place.soft >= HALF):
            return damaged(f"{owner}'s link is stored, but {wanted!r} is blurred", 0.75, 4.0)
        return None
    if tie < 0:
        return damaged(f"{owner}'s link with {wanted!r} is stored the other way round", 0.85, 6.0)
    if tie == 0 and _does_otherwise(link, tokens, place):
        return damaged(f"{wanted!r} is stored as {owner}'s, but not what ties the two", 0.6, 4.0)
    if not link.negative and not link.sentiment and _negated(tokens, (place, place)):
        return damaged(f"{owner}'s link with {wanted!r} is stored, but negated", 0.75, 5.0)
    whole = tie > 0 and place.share >= 0.99
    return Reading(
        (BEST if whole else 8.0 if tie > 0 else 7.0, place.soft),
        Finding(
            True, True, f"{owner}'s link with {wanted!r} is kept", entries, link.wordings,
            confidence=0.96 if whole else 0.85 if tie > 0 else 0.65,
        ),
    )  # fmt: skip


def _reversed(link: Link, tokens: tuple[Token, ...], place: Place, tie: int) -> bool:
    """Whether the thing does to the person what the person did to it: active, and person last."""
    after = tokens[place.last + 1 :]
    at = next((i for i, t in enumerate(after) if t.lower in link.mine), None)
    if tie <= 0 or not at or link.relation & MOVING or any(t.gap for t in after[: at + 1]) or place.first > 2:
        return False
    verbs = after[:at]
    return not any(t.lower in ("is", "are", "was", "by", "of", "for", "to", "with", "as", "that") for t in verbs[-1:] + verbs[:1]) and any(
        t.key in link.relation for t in verbs
    )


def _does_otherwise(link: Link, tokens: tuple[Token, ...], place: Place) -> bool:
    """Whether something else than what was told is said between person and thing."""
    names = [i for i, t in enumerate(tokens[: place.first]) if t.lower in link.mine]
    between = tokens[names[-1] + 1 : place.first] if names else ()
    return any(t.key and t.key not in LIGHT | link.stated and t.lower.endswith("s") for t in between)


def _only(link: Link, tokens: tuple[Token, ...]) -> bool:
    """Whether the stretch tells nothing but the link's own words."""
    return all(not t.key or t.key in link.stated or t.key in LIGHT for t in tokens)


def _inherited(link: Link, view: View, at: tuple[int, ...]) -> bool:
    """Whether the name stands in the sentences before, in the same entry."""
    start = view.first[view.entry[at[0]]]
    return any(
        t.lower.removesuffix("'s") in link.mine
        for i in range(max(start, at[0] - 6), at[0])
        for t in tokens_in(view, (i,))
    )


def _tie_found(link: Link, tokens: tuple[Token, ...], place: Place) -> int:
    """1 where the words that tie person and thing stand there too, -1 where their opposite does, 0 where neither does."""
    if not link.relation:
        return 1
    inside = tokens[place.first].inside
    here = [t for i, t in enumerate(tokens) if t.inside == inside and i not in place.at]
    if link.sentiment:
        felt = _feeling(link, here)
        if felt:
            return felt * link.sentiment
    keys = link.relation - LIGHT - CAUSING or link.relation
    if any(t.key and kin(key, t.key)[1] >= 0.75 for key in keys for t in here):
        return 1
    return 0


FOND: Final = ("like", "enjoy", "hate", "dread")


def _feeling(link: Link, tokens: Iterable[Token]) -> int:
    words = list(tokens)
    known = sentiment_of(tuple(t.lower for t in words))
    if known:
        return known
    return 0


@lru_cache(maxsize=8192)
def sentiment_of(words: tuple[str, ...]) -> int:
    """Liking or disliking, said in any of the words that the rules or the lexicon know for it."""
    text = " ".join(words)
    return next((felt for s in sentences_of(text) if (felt := sentiment(s))), 0)
