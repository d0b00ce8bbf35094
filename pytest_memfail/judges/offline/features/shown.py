"""The memories shown compared with the whole store: do they have what the store has of the claim?"""

from __future__ import annotations

from pytest_memfail.judges.offline.match import Match, coverage

UNKNOWN = -1.0
"""Value if these are not memories shown, or their store is unknown."""
NAMES = {
    "shown_has_best": "the store's best statement is among those shown",
    "shown_has_relied": "share of the store's relevant entries that are shown",
    "shown_score": "score of the best statement shown, relative to the store's",
    "shown_core": "core share of all close statements shown, relative to the store's",
    "shown_context": "the same for condition, topic or cause",
    "shown_said": "share of the source sentences in the best statement shown, relative to the store's",
}


def compute(match: Match) -> dict[str, float]:
    """Return the features of this group by name."""
    store = match.store
    if store is None or store.best is None:
        return dict.fromkeys(NAMES, UNKNOWN)
    reading = match.reading
    best = store.best.statement.text
    relied = {store.index.texts[at] for at in store.relied_on}
    return {
        "shown_has_best": float(any(s.text == best for s in match.index.statements)),
        "shown_has_relied": len(relied & set(match.index.texts)) / len(relied),
        "shown_score": _share(match.best.score if match.best else 0.0, store.best.score),
        "shown_core": _share(coverage(reading.core, match.union), coverage(reading.core, store.union)),
        "shown_context": _share(coverage(reading.context, match.union), coverage(reading.context, store.union)),
        "shown_said": _share(coverage(reading.said_keys, match.held), coverage(reading.said_keys, store.held)),
    }


def _share(shown: float, stored: float) -> float:
    return max(0.0, min(1.5, shown / stored)) if stored > 0.01 else 1.0
