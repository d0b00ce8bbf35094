"""Test the times of entries against the times at which their conversations were told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from pytest_memfail.clues.cases import Case, Evidence
from pytest_memfail.clues.exact import heads
from pytest_memfail.clues.tests import FEWEST, FITS, LOST, Test
from pytest_memfail.core import DATE_LOST, SUMMARY_ERROR, WRONG_TIME, Told, moment_of, one_line

DAY: Final = timedelta(days=1)


def time_tests(evidence: Evidence) -> Iterator[Test]:
    """Test whether the entries of most conversations have another time than was told, or none."""
    timed = [session.told for session in evidence.sessions if session.told.entries and moment_of(session.told.time)]
    cases = [case for stage in evidence.stages.values() for case in stage if case.is_lost]
    without, bare = _untimed(timed)
    undated = [case for case in cases if case.fact.label == DATE_LOST and case.told and not _moments(case.told)]
    yield from _test(without, bare, len(timed), undated)
    pairs: list[tuple[datetime, datetime]] = []
    for session in timed:
        told, kept = moment_of(session.time), _moments(session)
        if told is not None and kept and kept[-1] - kept[0] < DAY:
            pairs.append((told, kept[0]))
    wrong = [(told, kept) for told, kept in pairs if told.date() not in (kept.date(), _in_zone_of(told, kept).date())]
    how = _how(wrong) if len(wrong) >= FEWEST else ""
    text = how and f"{len(wrong)} of {len(pairs)} conversations are stored with {how}"
    yield from _test(
        text, len(wrong), len(pairs), [case for case in cases if case.fact.label in (WRONG_TIME, DATE_LOST)]
    )


def _moments(told: Told) -> list[datetime]:
    return sorted(filter(None, map(moment_of, told.times)))


def _untimed(timed: Sequence[Told]) -> tuple[str, int]:
    """Return what is said of conversations without a time that can be read, and how many there are."""
    bare = [told for told in timed if not _moments(told)]
    unread = [told.times[0] for told in bare if told.times]
    read = f" that can be read, but one like {one_line(unread[0], 60)!r}" if 2 * len(unread) > len(bare) else ""
    if len(bare) == len(timed):
        return f"no entry has a time{read}", len(bare)
    return f"{len(bare)} of {len(timed)} conversations are stored without a time{read}", len(bare)


def _test(text: str, seen: int, of: int, cases: Sequence[Case]) -> Iterator[Test]:
    """Test whether most conversations show something; without a text, or if fewer do, it says nothing."""
    if seen >= FEWEST:
        explained = f"; {len(cases)} {LOST[SUMMARY_ERROR]} turn on times" if cases else ""
        said = f"{text}{explained}" if text and seen >= FITS * of / 2 else ""
        yield Test("times", SUMMARY_ERROR, heads(seen, of), said, cases, len(cases), seen=seen)


def _in_zone_of(told: datetime, kept: datetime) -> datetime:
    """Return the time of an entry in the zone of its conversation; a day alone has no zone to turn into another."""
    return kept.astimezone(told.tzinfo) if told.tzinfo is not None and kept.tzinfo is not None else kept


def _how(wrong: Sequence[tuple[datetime, datetime]]) -> str:
    """Return how times differ from those told; empty if they do so in no regular way."""
    n = len(wrong)
    if len({told for told, _ in wrong}) > 1 and len({kept for _, kept in wrong}) == 1:
        return f"the same time, {wrong[0][1]:%Y-%m-%d}, whenever they were told"
    if sum((kept.month, kept.day) == (1, 1) and kept.year == told.year for told, kept in wrong) >= FITS * n:
        return "only the year of their time"
    if sum(kept.day == 1 and (kept.year, kept.month) == (told.year, told.month) for told, kept in wrong) >= FITS * n:
        return "only the month of their time"
    shift, most = Counter(kept - told for told, kept in wrong).most_common(1)[0]
    if most >= FITS * n and abs(shift) >= DAY / 2:
        days = shift / DAY
        many = "1 day" if abs(days) == 1 else f"{abs(days):.3g} days"
        return f"a time {many} {'later' if days > 0 else 'earlier'} than told"
    spread = max(kept for _, kept in wrong) - min(kept for _, kept in wrong)
    if spread < DAY and max(told for told, _ in wrong) - min(told for told, _ in wrong) > 5 * DAY:
        return f"the time of storing, {wrong[0][1]:%Y-%m-%d}, not the time told"
    return ""
