"""The wordings that a row lists for its parts: kept, or only mentioned in vaguer words."""

from __future__ import annotations

from functools import lru_cache

from pytest_memfail.judges.offline.english import plain
from pytest_memfail.judges.offline.index import Index
from pytest_memfail.judges.offline.match import Match, coverage
from pytest_memfail.judges.offline.reading import keys_of

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
    entry_text = plain(index.texts[match.best.entry]).casefold()
    best_text = match.best.statement.text.casefold()
    entry_places = (
        {at for at, e in enumerate(index.entries) if e == match.best.entry}
        if len(index.entries) < 2000
        else {match.best.at}
    )
    union_places = {c.at for c in match.together}
    union_text = " ".join(c.statement.text.casefold() for c in match.together)
    kept: dict[str, list[float]] = {"entry": [], "best": [], "union": []}
    literal = 0
    roles = []
    vaguer = 0.0
    for part in listed:
        in_entry = in_best = in_union = 0.0
        is_literal = False
        for wording in part.wordings:
            keys = _keys(wording)
            in_words = _contains(wording, entry_text)
            is_literal = is_literal or in_words
            in_entry = max(in_entry, float(in_words), _share(keys, index, entry_places))
            in_best = max(in_best, float(_contains(wording, best_text)), _share(keys, index, {match.best.at}))
            in_union = max(in_union, float(_contains(wording, union_text)), _share(keys, index, union_places))
        kept["entry"].append(in_entry)
        kept["best"].append(in_best)
        kept["union"].append(in_union)
        roles.append(part.role)
        literal += is_literal
        for wording in part.vaguer:
            keys = _keys(wording)
            vaguer = max(vaguer, float(_contains(wording, best_text)), _share(keys, index, {match.best.at}))
    found["listed_least"], found["listed_best"], found["listed_union"] = (
        min(kept[v]) for v in ("entry", "best", "union")
    )
    found["listed_mean"] = sum(kept["entry"]) / len(listed)
    core = [k for k, role in zip(kept["entry"], roles, strict=True) if role == "core"]
    other = [k for k, role in zip(kept["entry"], roles, strict=True) if role != "core"]
    found["listed_core"] = min(core) if core else MISSING
    found["listed_context"] = min(other) if other else MISSING
    found["listed_literal"] = literal / len(listed)
    found["vaguer"] = vaguer
    return found


@lru_cache(maxsize=16384)
def _keys(wording: str) -> tuple[str, ...]:
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
