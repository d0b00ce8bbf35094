"""States that replace one another: is the old value there, is it stated as current or past, and which is newer?"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from pytest_memfail.judges.offline.english import Token
from pytest_memfail.judges.offline.features.listed import wording_keys
from pytest_memfail.judges.offline.features.polarity import FORMERLY, MARKERS, NOT, counts
from pytest_memfail.judges.offline.index import Candidate
from pytest_memfail.judges.offline.match import Match, coverage
from pytest_memfail.judges.offline.reading import Reading, keys_of
from pytest_memfail.judges.offline.statements import Statement

DATE = re.compile(r"\b(?:19|20)\d\d(?:-\d\d)?(?:-\d\d)?\b")
APART = frozenset("but and while whereas though although instead rather from".split())
"""Words between two clauses, besides signs and the "to" of "from … to"."""
OVER = FORMERLY | NOT | frozenset("used former before earlier longer until instead rather".split())
"""Words of a clause that say that it no longer holds."""
WAS = frozenset("was were had been once old previous".split())
"""Words that say so if another clause has one of the present."""
PRESENT = frozenset(MARKERS["now"].split())
NAMES = {
    "stale_best": "share of an outdated value in the best statement",
    "stale_most": "largest share of an outdated value in any statement",
    "stale_context": "context share of that statement",
    "stale_past": "that statement has words for the past or for an end",
    "stale_negated": "that statement has a negation",
    "stale_with_new": "core share of that statement",
    "stale_later": "1: that statement comes after the one with the current value, -1: before it, 0: not both found",
    "stale_dated": "1: by its date the outdated value is older, -1: newer, 0: no dates",
    "stale_count": "number of statements with an outdated value",
    "current_most": "largest share of the current value in any statement",
    "current_now": "that statement has words for a change or for the present",
    "earlier_most": "largest share of the earlier statement in any statement",
    "ending_most": "largest share of a wording that states the end",
    "decoy_most": "largest share of a statement that only looks like an update",
    "decoy_rival": "a statement has the decoy's words and lacks the core",
}


def compute(match: Match) -> dict[str, float]:
    """Return the features of this group by name."""
    found = dict.fromkeys(NAMES, 0.0)
    reading, claim = match.reading, match.reading.claim
    if not (reading.replaced or claim.has_ended or reading.decoys or claim.earlier):
        return found
    index = match.index
    own = [c for c in match.candidates if c.owner >= 0.5]
    current = max(own, key=lambda c: coverage(reading.core, c.held), default=None)
    current_share = coverage(reading.core, current.held) if current else 0.0
    found["current_most"] = current_share
    if current is not None:
        found["current_now"] = float(counts([current.statement])["now"] > 0)
    for keys in reading.replaced:
        shares = index.shares(keys)
        strong = [at for at, share in shares.items() if share >= 0.75]
        found["stale_count"] = max(found["stale_count"], float(len(strong)))
        if match.best is not None:
            found["stale_best"] = max(found["stale_best"], shares.get(match.best.at, 0.0))
        if not shares:
            continue
        place = max(
            shares,
            key=lambda at: (shares[at], coverage(match.reading.context, _held(match, at)), index.statements[at].text),
        )
        if shares[place] > found["stale_most"]:
            found["stale_most"] = shares[place]
            _describe(found, match, place, current if current_share >= 0.6 else None)
    if reading.earlier:
        found["earlier_most"] = max(index.shares(reading.earlier).values(), default=0.0)
    endings = (index.shares(keys_of(wording)).values() for wording in claim.endings)
    found["ending_most"] = max((share for shares in endings for share in shares), default=0.0)
    for keys in reading.decoys:
        shares = index.shares(keys)
        best = max(shares.values(), default=0.0)
        found["decoy_most"] = max(found["decoy_most"], best)
        found["decoy_rival"] = float(best >= 0.5 and current_share < 0.6)
    return found


def _held(match: Match, at: int) -> dict[str, float]:
    return next((c.held for c in match.candidates if c.at == at), {})


def _describe(found: dict[str, float], match: Match, place: int, current: Candidate | None) -> None:
    index = match.index
    statement = index.statements[place]
    marks = counts([statement])
    held = _held(match, place)
    found["stale_context"] = coverage(match.reading.context, held) if held else 0.0
    found["stale_past"] = float(marks["past"] > 0)
    found["stale_negated"] = float(marks["negation"] > 0)
    found["stale_with_new"] = coverage(match.reading.core, held) if held else 0.0
    found["stale_later"] = found["stale_dated"] = 0.0
    if current is not None and current.at != place:
        if not match.is_shown or index.times:  # memories shown are ordered by rank, not by time
            found["stale_later"] = 1.0 if index.order(place) > index.order(current.at) else -1.0
        old, new = _date(match, index.entries[place], statement), _date(match, current.entry, current.statement)
        if old and new and old != new:
            found["stale_dated"] = 1.0 if old < new else -1.0


def _date(match: Match, entry: int, statement: Statement) -> str:
    """Return the date of a statement: its entry's timestamp, its own date, or the one at the start of its entry; else
    empty.
    """
    if match.index.times:
        return match.index.times[entry]
    if own := DATE.findall(statement.text):
        return str(own[-1])
    opening = DATE.match(match.index.texts[entry].lstrip(" [(#*-"))
    return opening[0] if opening else ""


class _Clause(NamedTuple):
    """A part of a statement, and what its words say of when it holds."""

    keys: frozenset[str]
    is_over: bool
    """Whether it says that it no longer holds."""
    was: bool
    """Whether it is told in the past."""
    is_now: bool
    """Whether it is told of the present."""


def is_reversed(match: Match) -> bool:
    """Return whether memory gives the current value as past, and a replaced one as what holds."""
    reading = match.reading
    wanted = _values(reading) if reading.replaced else []
    if not wanted or any(_is_told_as_past(reading, value) for value in wanted):
        return False
    index = match.index
    clauses = [
        (entry, clause)
        for entry in {candidate.entry for candidate in match.together}
        for at in range(bisect_left(index.entries, entry), bisect_right(index.entries, entry))
        for clause in _clauses(index.statements[at])
    ]
    new = [(at, clause) for at, clause in clauses if any(value <= clause.keys for value in wanted)]
    old = [
        (at, clause)
        for at, clause in clauses
        if not clause.is_over and any(keys and clause.keys.issuperset(keys) for keys in reading.replaced)
    ]
    beside = {at for at, _ in new} & {at for at, _ in old}
    now = {at for at, clause in old if clause.is_now}
    return bool(beside) and all(clause.is_over or (clause.was and at in now) for at, clause in new)


def _values(reading: Reading) -> list[frozenset[str]]:
    """Return the keys of the current value, in each of its wordings; empty if it is not known which they are."""
    listed = [wording_keys(text) for part in reading.claim.listed for text in part.wordings]
    if not listed and reading.earlier:
        listed = [tuple(key for key in reading.core if key not in reading.earlier)]
    return [frozenset(keys) for keys in listed if keys]


def _is_told_as_past(reading: Reading, value: frozenset[str]) -> bool:
    """Return whether the source itself gives this value in a clause about the past."""
    told = [clause for said in reading.said for clause in _clauses(said) if value <= clause.keys]
    return any(clause.is_over or clause.was for clause in told)


def _clauses(statement: Statement) -> Iterator[_Clause]:
    """Yield the clauses of a statement: what stands between signs, conjunctions, and "from … to"."""
    found: list[list[Token]] = [[]]
    end = 0
    for token in statement.tokens:
        is_target = token.lower == "to" and found[-1] and found[-1][0].lower == "from"
        if (
            is_target
            or token.lower in APART
            or (found[-1] and re.search(r"[,;:()–—]", statement.text[end : token.start]))
        ):
            found.append([])
        found[-1].append(token)
        end = token.end
    for tokens, after in pairwise([*filter(None, found), []]):
        words = {token.lower for token in tokens}
        is_left = tokens[0].lower == "from" and bool(after) and after[0].lower == "to"
        yield _Clause(
            frozenset(token.key.lstrip("@") for token in tokens if token.key),
            is_left or not words.isdisjoint(OVER) or any(word.endswith("n't") for word in words),
            not words.isdisjoint(WAS),
            not words.isdisjoint(PRESENT),
        )
