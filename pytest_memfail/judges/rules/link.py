"""Links of a chain: both ends, the relation between them, and its direction (paper, section 4, task 4).

A link is looked for where words of its ends stand. A place is judged by how whole each end is there (`anchors`), which of them is
told to lead to the other (`relations`), and whose link it is (`actors`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import product
from typing import Final

from pytest_memfail.core import Evidence
from pytest_memfail.judges.rules.actors import OTHER, headed
from pytest_memfail.judges.rules.anchor_words import Token
from pytest_memfail.judges.rules.anchors import Place, places
from pytest_memfail.judges.rules.everyday import telling_keys
from pytest_memfail.judges.rules.finding import Finding
from pytest_memfail.judges.rules.link_loose import read_loosely
from pytest_memfail.judges.rules.link_negation import eased, lacks, negated
from pytest_memfail.judges.rules.link_part import anywhere, blurred, half, is_of_another, is_small
from pytest_memfail.judges.rules.link_person import in_its_place, read_person
from pytest_memfail.judges.rules.link_reference import is_pointed_at, is_tied
from pytest_memfail.judges.rules.link_sequence import is_alongside
from pytest_memfail.judges.rules.link_whose import is_told_of_others
from pytest_memfail.judges.rules.links import (
    ALL,
    BEST,
    HALF,
    MOST,
    MOSTLY,
    SOME,
    Link,
    Reading,
    otherwise_worded,
    read_link,
    span,
    whose_is,
)
from pytest_memfail.judges.rules.relations import relate, said
from pytest_memfail.judges.rules.stretches import akin, is_row
from pytest_memfail.judges.rules.stretches import tokens as tokens_in
from pytest_memfail.judges.rules.view import View

CANDIDATES: Final = 24


TELLING: Final = 0.5
"""Words that weigh as much show in a small store where an end may stand."""
WORDED: Final = 0.3
"""How a word of another wording of an end weighs: there are many of them, and it may stand there for something else."""
UNSURE: Final = 0.65
NEARLY_SURE: Final = 0.9
"""How sure a finding of other wordings must be where a damaged link stands in the same entry."""


ACROSS: Final = 0.3
"""How much better it is to stand on one side of a colon: what stands before it may but be a title."""
FEW: Final = 5
"""Entries of at most so many short sentences are also read as a whole."""


def find_link(evidence: Evidence, view: View, protocol: str) -> Finding:
    """The link in a view: both ends in one place (stored), related the right way round (faithful)."""
    link = read_link(evidence, protocol)
    best = _find(link, view)
    if best.faithful or best.fault:
        return best
    for other in otherwise_worded(evidence, protocol):
        finding = _find(other, view)
        # What a link might be called otherwise counts only where it is found whole.
        if (
            best.present
            and finding.faithful
            and finding.confidence < NEARLY_SURE
            and set(finding.entries) & set(best.entries)
        ):
            continue
        if finding.faithful:
            best = finding
        if best.faithful:
            break
    if not best.present or best.confidence <= UNSURE:
        loosely = read_loosely(link, view)
        doubtful = link.person is not None or best.confidence < UNSURE
        if loosely is not None and ((loosely.faithful and doubtful) or not best.present):
            best = loosely
    return best if best.present else in_its_place(link, view) or best


def _find(link: Link, view: View) -> Finding:
    best: Reading | None = None
    near: list[int] = []
    settled: set[int] = set()
    for at in _stretches(link, view):
        near.extend(at[:1])
        if len(at) > 1 and not settled.isdisjoint(at):
            continue
        reading = _read(link, view, at)
        if reading is not None and reading.settled and len(at) == 1:
            settled.add(at[0])
        if reading is not None and (best is None or reading.rank > best.rank):
            best = reading
            if best.rank[0] >= BEST:
                break
    if best is not None:
        return best.finding
    reason = f"no entry links {link.wordings[0]!r} with {link.wordings[1]!r}"
    lost = tuple(w for w, end in zip(link.wordings, link.ends, strict=True) if not anywhere(end, view))
    there = tuple(w for w in link.wordings if w not in lost)
    # The more of it is nowhere, the surer; a whole store may have it in words that are not known for it.
    confidence = (0.65, 0.75, 0.9 if view.held == "shown" else 0.82)[len(lost)]
    return Finding(False, False, reason, view.entries_of(near)[:3], there, lost or link.wordings, confidence=confidence)


def _stretches(link: Link, view: View) -> Iterator[tuple[int, ...]]:
    """Where the link may stand: sentences with words of its ends, alone, with a neighbour, and short entries whole."""
    scores: dict[int, float] = defaultdict(float)
    telling = TELLING if is_small(view) else 1.0
    for number, end in enumerate(link.ends):
        strong = [p for p in end.parts if p.weight >= telling] or list(end.parts)
        for part in strong:
            for key in (part.key, *akin(view, part.key)):
                for at in view.postings.get(key, ()):
                    scores[at] += (1.0 if key == part.key else 0.7) / len(strong) / (2 if number == link.person else 1)
        for keys in end.called:
            for at in set(view.postings.get(keys[0], ())).intersection(*(view.postings.get(k, ()) for k in keys[1:])):
                scores[at] += 1.0
        for key in telling_keys(end.groups) if end.groups and is_small(view) else ():
            for at in view.postings.get(key, ()):
                scores[at] += WORDED
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
    whole = 2 < end - first <= FEW and not any(view.sentences[i].starts_turn for i in range(first + 1, end))
    for pair in ((at - 1, at), (at, at + 1)):
        if whole and is_row(view, view.entry[at]):
            break  # what the one field says, the others say of whom
        if pair[0] >= first and pair[1] < end and not view.sentences[pair[1]].starts_turn:
            yield pair
    if whole:
        yield tuple(range(first, end))


def _read(link: Link, view: View, at: tuple[int, ...]) -> Reading | None:
    tokens = tokens_in(view, at)
    if link.person is not None:
        return read_person(link, view, at, tokens)
    found = (places(link.ends[0], tokens, link.stated), places(link.ends[1], tokens, link.stated))
    pair = _pair(link, tokens, found)
    if pair is not None and _firm(pair, view) and is_tied(link, tokens, pair):
        reading = _judge(link, view, at, tokens, pair)
        if reading is not None:
            return reading
    return half(link, view, at, tokens, found)


def _pair(link: Link, tokens: tuple[Token, ...], found: tuple[list[Place], list[Place]]) -> tuple[Place, Place] | None:
    """Both ends, each in a place of its own."""
    best: tuple[float, tuple[Place, Place]] | None = None
    ones, others = found
    if ones and others and set(ones[0].at) & set(others[0].at):
        # What is one end's own word stands for nothing of the other.
        one, other = ones[0], others[0]
        if not _is_word_of(one, other):
            others = others + places(link.ends[1], tokens, link.stated, one.at)[:1]
        if not _is_word_of(other, one):
            ones = ones + places(link.ends[0], tokens, link.stated, other.at)[:1]
    for first, second in product(ones, others):
        if set(first.at) & set(second.at):
            continue
        crossed = first.first <= second.last and second.first <= first.last
        length = first.last - first.first + second.last - second.first
        whole = first.share + second.share + first.firm + second.firm
        value = first.soft + second.soft + (first.kept + second.kept) + 0.2 * whole - 0.01 * length - 0.5 * crossed
        value -= ACROSS * _across(tokens, first, second)
        if best is None or value > best[0]:
            best = (value, (first, second))
    return best[1] if best else None


def _across(tokens: tuple[Token, ...], first: Place, second: Place) -> bool:
    """Whether a colon stands between the two, one of them in a title: "Desk and pacing: tidying the desk …"."""
    between = range(min(first.first, second.first) + 1, max(first.first, second.first) + 1)
    return any(":" in tokens[i].gap for i in between)


def _is_word_of(place: Place, other: Place) -> bool:
    """Whether what stands for an end is but a word of the other end, which is told in full."""
    return set(place.at) < set(other.at) and other.share >= MOSTLY > place.share


def _firm(pair: tuple[Place, Place], view: View) -> bool:
    """Whether enough of the ends' own words stand there: two synonyms meet in many a sentence."""
    least, most = sorted(place.firm for place in pair)
    if is_small(view) and (all(place.alike for place in pair) or any(place.generalised for place in pair)):
        return True
    return least >= HALF or most >= (MOST if least >= SOME or is_small(view) else ALL)


def _judge(
    link: Link, view: View, at: tuple[int, ...], tokens: tuple[Token, ...], pair: tuple[Place, Place]
) -> Reading | None:
    entries = view.entries_of(at)
    arrow = f"{link.wordings[0]!r} to {link.wordings[1]!r}"
    turn = _turn(link, tokens, pair)
    owner = min(whose_is(link, view, tokens, place) for place in pair) or headed(view, at[0], link.mine, link.known)
    if is_told_of_others(link, tokens, pair):
        owner = OTHER
    kept = [
        place.kept
        or is_pointed_at(link, view, tokens, end, place)
        or ((place.alike or place.retold) and (other.firm >= MOST or other.alike) and turn == link.direction)
        for end, place, other in zip(link.ends, pair, pair[::-1], strict=True)
    ]
    soft = pair[0].soft + pair[1].soft
    own = _own_share(link, tokens)
    if not all(kept):
        return blurred(link, entries, pair, kept, turn, owner, small=is_small(view))
    closeness = min(p.share for p in pair)
    alike = is_small(view) and all(place.alike for place in pair)

    def damaged(reason: str, confidence: float, *, settled: bool = True) -> Reading:
        finding = Finding(True, False, reason, entries, (), link.wordings, confidence=confidence)
        return Reading((5.0 + soft, own), finding, settled)

    if any(place.firm < HALF and is_of_another(link, tokens, place) for place in pair):
        return None
    if owner == OTHER:
        if closeness < HALF:
            return None
        return damaged(f"the link from {arrow} is stored, but as somebody else's", 0.85)
    if not link.negative and negated(tokens, pair) and not lacks(link, tokens, pair):
        return damaged(f"the link from {arrow} is stored, but negated", 0.75)
    if not link.negative and eased(link, tokens, pair):
        return damaged(f"{arrow}: what it leads to is told to be taken away", 0.75)
    if turn != link.direction and min(place.firm for place in pair) < SOME and not (turn and alike):
        return None
    if turn == -link.direction:
        return damaged(f"the link from {arrow} is stored the other way round", 0.75)
    if not turn:
        return damaged(f"{arrow}: both are stored, but not how one leads to the other", 0.65, settled=False)
    whole = closeness >= 0.99
    confidence = 0.97 if whole else 0.92 if closeness >= 0.75 else 0.86
    return Reading(
        (BEST if whole else 8.0, soft, own),
        Finding(True, True, f"the link from {arrow} is kept", entries, link.wordings, confidence=confidence),
    )


def _turn(link: Link, tokens: tuple[Token, ...], pair: tuple[Place, Place]) -> int:
    """Which of the two is told to lead to the other; the source's own words for it say what they say there."""
    left, right = sorted(pair, key=lambda p: p.first)
    between = tokens[left.last + 1 : right.first]
    if link.telling and (
        any(t.key in link.telling for t in tokens) or " ".join(t.lower for t in between) in link.telling
    ):
        return link.direction * link.order * (1 if pair[0].first < pair[1].first else -1)
    if is_alongside(said(tokens, left.last + 1, right.first)):
        return link.direction  # neither is told to come first
    return relate(tokens, _beside(pair[0], pair[1]), _beside(pair[1], pair[0]))


def _beside(place: Place, other: Place) -> tuple[int, int]:
    """The place without what stands behind the other: "Espresso has him pacing once he brews it"."""
    if place.first < other.first and other.last < place.last:
        before = [at for at in place.at if at < other.first]
        after = [at for at in place.at if at > other.last]
        most = before if len(before) >= len(after) else after
        return (most[0], most[-1])
    return span(place)


def _own_share(link: Link, tokens: tuple[Token, ...]) -> float:
    keys = {t.key for t in tokens if t.key}
    return len(keys & link.stated) / len(keys) if keys else 0.0
