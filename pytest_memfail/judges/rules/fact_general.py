"""A fact of which no value is named, as in a user's own cases: its words, or the details that must survive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from pytest_memfail.judges.rules.fact_owner import strange
from pytest_memfail.judges.rules.fact_places import Place, is_over, told_apart
from pytest_memfail.judges.rules.fact_reading import Fact, Part
from pytest_memfail.judges.rules.finding import Finding, listed
from pytest_memfail.judges.rules.lexicon import lookup
from pytest_memfail.judges.rules.polarity import negated
from pytest_memfail.judges.rules.view import OPEN, View
from pytest_memfail.judges.rules.wordings import candidates, share_of

STORED: Final = 0.55
"""Share of a fact's words that shows it is there."""
FAITHFUL: Final = 0.65
BLURRED: Final = 0.4
"""The same where what is missing stands there in more general terms."""
BELOW: Final = 4
STALE: Final = "stale_value"


class Spot(NamedTuple):
    """Neighbouring sentences, and how much of the fact they tell."""

    at: tuple[int, ...]
    coverage: float
    kept: frozenset[int]
    """Which of the details, by number."""
    own: bool
    """Whether they are about the one whom the fact is about."""


def told_in_general(fact: Fact, view: View, stale: Sequence[Place]) -> Finding:
    """Most of the fact's words must stand in one place, with its numbers and details."""
    spots = sorted(_spots(fact, view), key=lambda s: (-len(s.kept), -round(s.coverage, 6), s.at))
    own = [spot for spot in spots if spot.own]
    wording = fact.wording
    for spot in own:
        missing = _missing(fact, view, spot, own)
        if not missing:
            return _whole(fact, view, spot, stale)
    standing = [place for place in stale if not is_over(fact, view, place)]
    if standing:
        reason = f"only the old state {standing[0].wording.text!r} is {view.held}, not {wording!r}"
        at = view.entries_of([place.at for place in standing])[:3]
        return Finding(False, False, reason, at, (), (wording,), confidence=0.85, label=STALE)
    for spot in own:
        if spot.coverage > STORED or (spot.coverage >= BLURRED and _generalised(fact, view, spot)):
            lost = _missing(fact, view, spot, own)
            reason = f"{wording!r} is {view.held}, but without {listed(lost)}"
            return Finding(True, False, reason, view.entries_of(spot.at), (), lost, confidence=0.7)
    others = [s for s in spots if not s.own and not _missing(fact, view, s, [s])]
    if others:
        whom = fact.name.full if fact.name else "the user"
        reason = f"{wording!r} is {view.held}, but not as {whom}'s"
        at = view.entries_of(others[0].at)
        return Finding(True, False, reason, at, (), (whom,), confidence=0.65, fault="elsewhere")
    near = view.entries_of(own[0].at) if own else ()
    return Finding(False, False, f"no entry says {wording!r}", near, (), (wording,), confidence=0.85)


def _whole(fact: Fact, view: View, spot: Spot, stale: Sequence[Place]) -> Finding:
    """All of it is there: which way round, and told from what it replaced?"""
    entries, wording = view.entries_of(spot.at), fact.wording
    if not fact.negative and any(negated(view.sentences[i], dict(fact.whole)) for i in spot.at):
        reason = f"{wording!r} is {view.held}, but negated"
        return Finding(True, False, reason, entries, (), (wording,), confidence=0.7, fault="turned")
    unclear = [old for old in stale if not told_apart(fact, view, spot.at, old)]
    if unclear:
        reason = f"{wording!r} and {unclear[0].wording.text!r} are both {view.held}, and nothing tells which holds now"
        return Finding(True, False, reason, entries, (wording,), (wording,), confidence=0.7, label=STALE)
    return Finding(True, True, f"{wording!r} is {view.held}", entries, (wording,), (), (), 0.9)


def _spots(fact: Fact, view: View) -> Iterator[Spot]:
    """Where any detail, or much of the fact, is told."""
    seen = view.seen_for(frozenset(key for key, _ in fact.whole))
    need = dict(fact.whole)
    total = sum(need.values()) or 1.0
    places = {window.sentences for window in seen.search(need, fact.name) if window.link >= OPEN}
    places.update((i,) for part in fact.context for w in part.wordings for i in candidates(w, view))
    for at in sorted(places):
        keys = frozenset().union(*(seen.sentences[i].keys for i in at))
        coverage = sum(value for key, value in need.items() if key in keys) / total
        kept = frozenset(n for n, part in enumerate(fact.context) if _keeps(part, view, at))
        own = all(view.link(i, fact.name) >= OPEN and not strange(view, i, fact.name or fact.others) for i in at)
        if kept or coverage >= BLURRED:
            yield Spot(at, coverage, kept, own)


def _keeps(part: Part, view: View, at: tuple[int, ...]) -> bool:
    """Whether a detail stands there, or right beside in the same entry."""
    first, end = view.first[view.entry[at[0]]], view.first[view.entry[at[0]] + 1]
    if end - first > BELOW:
        first, end = max(first, at[0] - 1), min(end, at[-1] + 2)
    return any(share_of(w, [view.sentences[i]]) >= 1.0 for w in part.wordings for i in range(first, end))


def _missing(fact: Fact, view: View, spot: Spot, others: Sequence[Spot]) -> tuple[str, ...]:
    """What is lost: details kept in no place that tells of the fact; without details, what makes it whole."""
    if fact.context:
        kept = spot.kept.union(*(s.kept for s in others if s.coverage >= STORED and spot.coverage >= STORED))
        return tuple(part.text for n, part in enumerate(fact.context) if n not in kept)
    numbers = view.quantities(spot.at)
    lost = tuple(q.text.strip() for q in fact.numbers if not any(q.same(other) for other in numbers))
    return lost or (() if spot.coverage >= FAITHFUL else (fact.wording,))


def _generalised(fact: Fact, view: View, spot: Spot) -> bool:
    held = frozenset().union(*(view.sentences[i].keys for i in spot.at))
    return any(lookup(key).general & held for key, _ in fact.whole if key not in held)
