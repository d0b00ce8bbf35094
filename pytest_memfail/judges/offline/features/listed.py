"""The wordings that a row lists for its parts: kept, or only mentioned in vaguer words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from pytest_memfail.judges.offline.english import plain
from pytest_memfail.judges.offline.index import Index
from pytest_memfail.judges.offline.match import Match, coverage
from pytest_memfail.judges.offline.reading import keys_of

LONG = 2000
"""From so many statements on, only the best one stands for its entry."""
MISSING = -1.0
"""Value of these features if the row lists nothing."""
NAMES = {
    "listed_least": "how well the best statement's entry keeps the worst kept listed part",
    "listed_mean": "how well it keeps the listed parts on average",
    "listed_union": "how well all close statements together keep the worst kept listed part",
    "listed_best": "how well the best statement keeps the worst kept listed part",
    "listed_core": "how well the entry keeps the core's worst kept listed part",
    "listed_context": "how well the entry keeps the condition's or cause's worst kept listed part",
    "listed_literal": "share of the listed parts that the entry contains literally",
    "vaguer": "largest share of a vaguer wording in the best statement",
}


def compute(match: Match) -> dict[str, float]:
    """Return the features of this group by name."""
    found = dict.fromkeys(NAMES, MISSING)
    listed = match.reading.claim.listed
    if not listed or match.best is None:
        return found
    index = match.index
    best, places = match.best.at, enumerate(index.entries)
    is_long = len(index.entries) >= LONG
    views = {
        "entry": (
            plain(index.texts[match.best.entry]).casefold(),
            {best} if is_long else {at for at, entry in places if entry == match.best.entry},
        ),
        "best": (match.best.statement.text.casefold(), {best}),
        "union": (
            " ".join(c.statement.text.casefold() for c in match.together),
            {c.at for c in match.together},
        ),
    }

    def kept(wordings: Sequence[str], view: str) -> float:
        """Return how well the view keeps the best kept wording."""
        text, places = views[view]
        if any(_contains(one, text) for one in wordings):
            return 1.0
        return max((_share(wording_keys(one), index, places) for one in wordings), default=0.0)

    by_entry = [(part.role == "core", kept(part.wordings, "entry")) for part in listed]
    found["listed_least"] = min(share for _, share in by_entry)
    for view in ("best", "union"):
        found[f"listed_{view}"] = min(kept(part.wordings, view) for part in listed)
    found["listed_mean"] = sum(share for _, share in by_entry) / len(listed)
    found["listed_core"] = min((share for is_core, share in by_entry if is_core), default=MISSING)
    found["listed_context"] = min((share for is_core, share in by_entry if not is_core), default=MISSING)
    literal = sum(any(_contains(one, views["entry"][0]) for one in part.wordings) for part in listed)
    found["listed_literal"] = literal / len(listed)
    found["vaguer"] = max(kept(part.vaguer, "best") for part in listed)
    return found


@lru_cache(maxsize=16384)
def wording_keys(wording: str) -> tuple[str, ...]:
    """Return the keys of a listed wording."""
    return keys_of(wording)


@lru_cache(maxsize=16384)
def _plain(wording: str) -> str:
    return plain(wording).casefold()


def _contains(wording: str, text: str) -> bool:
    """Return whether the text contains the wording at the start of a word."""
    wanted = _plain(wording)
    at = text.find(wanted)
    while at > 0 and (text[at - 1].isalnum() or text[at - 1] == "_"):
        at = text.find(wanted, at + 1)
    return at >= 0


def _share(keys: tuple[str, ...], index: Index, places: set[int]) -> float:
    """Return the share of the keys that the statements at these positions keep together."""
    if not keys:
        return 0.0
    merged: dict[str, float] = {}
    for at in places:
        for key, near in index.held_at(at, keys).items():
            merged[key] = max(merged.get(key, 0.0), near)
    return coverage(keys, merged)
