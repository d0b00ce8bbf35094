"""States that replace one another: is the old value there, is it stated as current or past, and which is newer?"""

from __future__ import annotations

import re

from pytest_memfail.judges.offline.features.polarity import counts
from pytest_memfail.judges.offline.index import Candidate
from pytest_memfail.judges.offline.match import Match, coverage
from pytest_memfail.judges.offline.reading import keys_of
from pytest_memfail.judges.offline.statements import Statement

DATE = re.compile(r"\b(?:19|20)\d\d(?:-\d\d)?(?:-\d\d)?\b")
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
