"""Numbers, times and amounts: kept, lost, contradicted, or on the other side of a limit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pytest_memfail.judges.offline.match import Match
from pytest_memfail.judges.offline.numbers import Quantity

NAMES = {
    "numbers_needed": "quantities in core and condition",
    "numbers_lost_best": "of these, how many the best statement lacks",
    "numbers_lost_entry": "of these, how many its entry lacks",
    "numbers_lost_union": "of these, how many all close statements lack",
    "numbers_contradicted": "needed quantities for which the best statement has another value of the same measure",
    "numbers_contradicted_union": "the same over all close statements",
    "numbers_new": "quantities of the best statement that the source lacks",
    "numbers_said_lost": "quantities of the source sentence that the best statement lacks",
    "numbers_said_new": "quantities of the source sentence for which the best statement has another value",
    "side_turned": "kept quantities whose side (at least, at most) is reversed",
    "side_lost": "kept quantities whose side is no longer stated",
}


def compute(match: Match) -> dict[str, float]:
    """Return the features of this group by name."""
    reading = match.reading
    needed = (*reading.core_numbers, *reading.context_numbers)
    found = dict.fromkeys(NAMES, 0.0)
    found["numbers_needed"] = float(len(needed))
    if match.best is None:
        found["numbers_lost_best"] = found["numbers_lost_entry"] = found["numbers_lost_union"] = float(len(needed))
        return found
    best = match.numbers([match.best.statement])
    if not best and not needed and not reading.said_numbers:
        return found
    entry = match.numbers(match.entry_statements)
    union = match.numbers(c.statement for c in match.together)
    for name, held in (("best", best), ("entry", entry), ("union", union)):
        found[f"numbers_lost_{name}"] = float(len(_lost(needed, held)))
    found["numbers_contradicted"] = _contradicted(_lost(needed, best), best, reading.said_numbers)
    found["numbers_contradicted_union"] = _contradicted(_lost(needed, union), union, reading.said_numbers)
    found["numbers_new"] = float(len(_lost(best, reading.said_numbers)))
    lost = _lost(reading.said_numbers, best)
    found["numbers_said_lost"] = float(len(lost))
    found["numbers_said_new"] = _contradicted(lost, best, reading.said_numbers)
    sides = {q.at: q.side for q in reading.said_numbers}
    for wanted in reading.said_numbers:
        kept = next((q for q in best if q.same(wanted)), None)
        if kept is not None and sides[wanted.at]:
            found["side_turned"] += kept.side == -wanted.side
            found["side_lost"] += kept.side == 0
    return found


def _lost(wanted: Iterable[Quantity], held: Sequence[Quantity]) -> list[Quantity]:
    return [q for q in wanted if not any(q.same(other) for other in held)]


def _contradicted(lost: Iterable[Quantity], held: Sequence[Quantity], said: Sequence[Quantity]) -> float:
    new = _lost(held, said)
    return float(sum(any(q.comparable(other) for other in new) for q in lost))
