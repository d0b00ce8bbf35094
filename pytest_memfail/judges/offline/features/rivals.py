"""Other things in place of what is needed: other kinds of the same, broader words, other facts of the row."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_memfail.judges.offline import lexicon
from pytest_memfail.judges.offline.match import Match, coverage

NAMES = {
    "rival_core": "lost core words for which the best statement has an alternative of the same kind",
    "rival_context": "the same for lost condition, topic or cause words",
    "rival_said": "the same for lost words of the source sentence",
    "broader_core": "lost core words for which the best statement's entry has a broader word",
    "related_core": "lost core words with a definition related to a word of the best statement",
    "related_context": "the same for condition, topic or cause",
    "field_core": "lost core words for which the best statement has a new word of the same field (food, time, person)",
    "sibling_best": "largest share of another fact of the row in the best statement",
    "sibling_more": "by how much that exceeds the claim's own share",
    "apart_context": "context share of the closest statement that lacks the core",
    "apart_rival": "that statement has an alternative of the core's kind",
    "core_kept_elsewhere": "by how much another entry keeps more of the core than the best statement",
    "second_rival": "core words for which the second best statement has an alternative of the same kind",
}


def compute(match: Match) -> dict[str, float]:
    """Return the features of this group by name."""
    found = dict.fromkeys(NAMES, 0.0)
    best, reading = match.best, match.reading
    if best is None:
        return found
    words = best.statement.keys
    glosses = [lexicon.lookup(word).gloss for word in words]
    for name, keys in (("core", reading.core), ("context", reading.context), ("said", reading.said_keys)):
        lost = [key for key in keys if match.held.get(key, 0.0) < 0.7]
        found[f"rival_{name}"] = _rivals(lost, match.new_keys)
        if name != "said":
            near = [lexicon.lookup(key).gloss & words or any(key in gloss for gloss in glosses) for key in _words(lost)]
            found[f"related_{name}"] = float(sum(map(bool, near)))
    lost_core = [key for key in reading.core if match.held.get(key, 0.0) < 0.7]
    found["broader_core"] = float(sum(match.entry.get(key, 0.0) == lexicon.BROADER for key in lost_core))
    fields = {lexicon.lookup(key).field for key in _words(match.new_keys)} - {-1}
    found["field_core"] = float(sum(lexicon.lookup(key).field in fields for key in lost_core))
    if reading.siblings:
        shares = [_share(keys, words) for keys in reading.siblings]
        found["sibling_best"] = max(shares)
        found["sibling_more"] = max(shares) - coverage(reading.said_keys, best.held)
    apart = [c for c in match.candidates if coverage(reading.core, c.held) < 0.3 and c.owner >= 0.5]
    if apart and reading.context:
        closest = max(apart, key=lambda c: (coverage(reading.context, c.held), c.score))
        found["apart_context"] = coverage(reading.context, closest.held)
        found["apart_rival"] = float(_rivals(reading.core, closest.statement.keys - reading.full) > 0)
    own = coverage(reading.core, best.held)
    found["core_kept_elsewhere"] = max(
        (coverage(reading.core, c.held) - own for c in match.candidates if c.entry != best.entry and c.owner >= 0.5),
        default=0.0,
    )
    if match.second is not None:
        lost = [key for key in reading.core if match.second.held.get(key, 0.0) < 0.7]
        found["second_rival"] = _rivals(lost, match.second.statement.keys - reading.full)
    return found


def _rivals(keys: Iterable[str], others: Iterable[str]) -> float:
    """Return how many of the keys have an alternative of the same kind among the others."""
    others = list(others)
    return float(sum(any(lexicon.is_rival(key, other) for other in others) for key in keys))


def _words(keys: Iterable[str]) -> list[str]:
    return [key for key in keys if key[:1].isalpha()]


def _share(keys: tuple[str, ...], words: frozenset[str]) -> float:
    total = sum(map(lexicon.weight, keys))
    return sum(lexicon.weight(key) for key in keys if key in words) / total if total else 0.0
