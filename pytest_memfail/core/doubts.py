"""Doubts: what a run noticed that makes its own figures less worth than they look."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from pytest_memfail.core.entries import LISTED, SHOWN
from pytest_memfail.core.errors import counted, one_line
from pytest_memfail.core.model import Listing
from pytest_memfail.core.times import unread_times

MOST_EMPTY: Final = 0.9
"""Share of the stores that may list nothing in a trustworthy run: a memory may find nothing worth keeping in one."""
EMPTY: Final = "the listing is empty although conversations were stored and nothing was refused"
ADVICE: Final = (
    "offer settled() if the system stores in the background, else let get_all_memories() return every memory; a system that is "
    "to store nothing declares loses_on_purpose = True"
)
ABBREVIATED: Final = (
    "entries shown are longer than those listed under the same ids: the listing seems to abbreviate; list whole texts, or "
    "declare search_rewrites if a search adds to them"
)
CUT: Final = (
    "entries shown are cut: those listed under the same ids go on, and what is cut off counts as not retrieved; let the search "
    "return whole texts"
)
MOST_ABBREVIATED: Final = 0.1
"""Share of the entries shown that may be longer than listed in a trustworthy run."""
TIMES_UNREAD: Final = (
    "timestamps like {!r} cannot be read and count as no time: give ISO 8601, such as 2024-05-18T14:00:00Z, or seconds "
    "since 1970"
)
MOST_LATE: Final = 0.1
"""Share of all entries that may be listed only after the first question in a trustworthy run."""

LAGS: Final = "lag"
"""The kind of a search that finds only later what is listed."""
VARIES: Final = "varies"
"""The kind of a search that returns different entries when it is repeated."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A reason to distrust the figures of a run, such as a search that lags behind the listing.

    Whoever notices something counts it here, per store or per process, also where nothing was wrong, so that the share is
    that of the whole run. Doubts of the same kind are added up.
    """

    kind: str
    """A short name; doubts of one kind are the same fault."""
    text: str
    """What was seen, what was expected and what to do, in one line. The first text of a kind is shown."""
    affected: int = 1
    of: int = 1
    unit: str = "store"
    """What is counted, in the singular."""
    limit: float | None = None
    """Above this share of the run there is no trustworthy result: 0.0 for any case, None for never."""
    least: int = 1
    """Fewer cases are no such share, whatever they are of: a single store may be rightly empty."""

    @property
    def line(self) -> str:
        """Return the text with its share, as users see it."""
        most = f", at most {self.limit:.0%} are trusted" if self.limit and self.is_fatal else ""
        return f"{self.text} ({self.affected} of {counted(self.of, self.unit)}{most})"

    @property
    def is_fatal(self) -> bool:
        """Whether the run gives no trustworthy result because of it."""
        return self.limit is not None and self.affected >= self.least and self.affected > self.limit * self.of


def added_up(doubts: Iterable[Doubt]) -> tuple[Doubt, ...]:
    """Return one doubt of each kind with the counts of all, and the text of the first that affects something.

    A search that varies in one store may look as if it lagged in another: the repeated questions of both count as varying.
    """
    found = list(doubts)
    if any(doubt.kind == VARIES for doubt in found):
        varies = varying(0, 0, 0)
        found = [replace(varies, affected=one.affected, of=one.of) if one.kind == LAGS else one for one in found]
    sums: dict[str, Doubt] = {}
    for doubt in found:
        known = sums.get(doubt.kind)
        if known is None:
            sums[doubt.kind] = doubt
        else:
            shown = known if known.affected else doubt
            sums[doubt.kind] = replace(shown, affected=known.affected + doubt.affected, of=known.of + doubt.of)
    return tuple(sums.values())


def listing_doubts(
    system: object, listings: Sequence[Listing], stored: int, parts: Mapping[str, int]
) -> tuple[Doubt, ...]:
    """Return the doubts about the listings of a store: that all are empty or abbreviate, and of the search, that it cuts.

    `stored` is the number of conversations that it should keep, and `parts` counts the entries shown by which of
    their texts, the `listed` or the one `shown`, is only a part.
    """
    counts = bool(stored and listings) and not getattr(system, "loses_on_purpose", False)
    is_empty = counts and not any(listing.memories for listing in listings)
    text = f"{EMPTY}: {getattr(system, 'empty_listing', ADVICE)}" if is_empty else ""
    listed, cut, shown = parts.get(LISTED, 0), parts.get(SHOWN, 0), sum(parts.values())
    times = {memory.timestamp for listing in listings for memory in listing.memories if memory.timestamp}
    unread = sorted(unread_times(times))
    unreadable = TIMES_UNREAD.format(one_line(unread[0], 60)) if unread else ""
    return (
        Doubt("empty", text, int(is_empty), int(counts), limit=MOST_EMPTY, least=2),
        Doubt("abbreviated", ABBREVIATED if listed else "", listed, shown, "entry", MOST_ABBREVIATED),
        Doubt("cut", CUT if cut else "", cut, shown, "entry"),
        Doubt("times", unreadable, len(unread), len(times), "timestamp"),
    )


def late_listing(late: int, listed: int) -> Doubt:
    """Return the doubt about the entries that a store listed too late: its questions were judged by those `listed` before."""
    text = (
        "entries of what was stored are listed only after the first question: the system stores in the background, and was asked too "
        "early; give it settled(), or `settle` in its YAML file"
    )
    return Doubt("late", text if late else "", late, late + listed, "entry", MOST_LATE)


def lagging(lags: Sequence[float], missed: int, *, settles: bool) -> Doubt:
    """Return the doubt about a search that finds what it `missed` only when it is repeated.

    `lags` says for each of those that do how many seconds after the fill the search still missed it.
    """
    advice = "its settled() is true too early" if settles else "set settle, or offer settled()"
    text = f"the search lags by at least {max(0.01, *lags):.2g} s behind the listing: {advice}"
    return Doubt(LAGS, text, len(lags), missed, "repeated question", 0.0)


def varying(asked: int, late: int, missed: int) -> Doubt:
    """Return the doubt about a search that returns different entries at once after one another.

    Of the searches that had missed something, some found it later (`late`); these were repeated first, then others. The last
    of those `asked` differed.
    """
    text = "the same search returns different entries: see what it does at random, or set --memfail-repeats"
    others = max(0, asked - late)
    return Doubt(VARIES, text, late + bool(others), missed + others, "repeated question")
