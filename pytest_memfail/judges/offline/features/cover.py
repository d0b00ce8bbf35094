"""How many of the claim's words are found: in the best statement, around it, in its entry, and in all statements."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache

from pytest_memfail.judges.offline import lexicon
from pytest_memfail.judges.offline.match import Match, coverage

CROWD = 50
_PARTS = {"core": "core", "context": "condition, topic or cause", "said": "source sentences"}
_VIEWS = {
    "best": "the best statement",
    "local": "the best statement and its neighbours",
    "entry": "its entry",
    "union": "all close statements of the owner together",
}
_SORTS = {"name": "name or unknown word", "noun": "noun", "verb": "verb", "other": "adjective or adverb"}
NAMES = {
    **{f"{p}_{v}": f"share of the {part} kept by {view}" for p, part in _PARTS.items() for v, view in _VIEWS.items()},
    **{f"{p}_{name}": text.format(part) for p, part in _PARTS.items() for name, text in {
        "exact": "share of the {} kept word for word by the best statement",
        "firm": "share of the {} kept by words of the same or nearly the same meaning in the best statement",
        "firm_union": "the same over all close statements",
        "least": "similarity of the worst kept word of the {} in the best statement",
        "lost": "weight of the most informative word of the {} that the best statement lacks",
        "lost2": "weight of the second most informative such word of the {}",
        "lost_union": "weight of the most informative word of the {} that no close statement has",
        "count_lost": "number of words of the {} that the best statement lacks",
        "broader": "number of words of the {} for which the best statement has a broader one",
    }.items()},
    **{f"{p}_{sort}_lost": f"weight of the most informative {text} of the {part} that the best statement lacks"
       for p, part in _PARTS.items() for sort, text in _SORTS.items()},
    **{f"{p}_{sort}_gone": f"weight of the most informative {text} of the {part} that no close statement has"
       for p, part in _PARTS.items() for sort, text in _SORTS.items()},
    **{f"new_{sort}": f"weight of the most informative new {text} of the best statement" for sort, text in _SORTS.items()},
    "best_score": "score of the best statement",
    "second_score": "score of the best statement in another entry",
    "score_lead": "difference between these two scores",
    "core_most": "largest share of the core in any statement",
    "context_most": "largest share of the context in any statement",
    "both_least": "the smaller of the core and context shares in the best statement",
    "both_union": "the smaller of the core and context shares over all close statements",
    "core_apart": "largest core share in statements of other entries",
    "is_tags": "the best statement is a list of keywords",
    "best_keys": "number of words in the best statement",
    "entry_size": "number of statements in the best one's entry (at most 25)",
    "found": "some statement shares a word with the claim",
    "core_first": "similarity of the core's first word in the best statement",
    "core_last": "similarity of the core's last word in the best statement",
    "core_first_union": "the same over all close statements, first word",
    "core_last_union": "the same, last word",
    "crowd": "0 up to 50 entries, rising to 1 at 500: more entries are similar by chance",
    "phrase_run": "longest run of core words in the same order in the best statement",
}  # fmt: skip


def compute(match: Match) -> dict[str, float]:
    """Return the features of this group by name."""
    reading, best, second, held, union = match.reading, match.best, match.second, match.held, match.union
    found: dict[str, float] = {"found": float(best is not None)}
    views = {"best": held, "local": match.local, "entry": match.entry, "union": union}
    for name, keys in (("core", reading.core), ("context", reading.context), ("said", reading.said_keys)):
        for view, kept in views.items():
            found[f"{name}_{view}"] = coverage(keys, kept)
        nears = [held.get(key, 0.0) for key in keys]
        found[f"{name}_exact"] = _firm(keys, held, 1.0)
        found[f"{name}_firm"] = _firm(keys, held, lexicon.CLOSE)
        found[f"{name}_firm_union"] = _firm(keys, union, lexicon.CLOSE)
        found[f"{name}_least"] = min(nears, default=1.0)
        losses = sorted((_loss(key, held) for key in keys), reverse=True)
        found[f"{name}_lost"], found[f"{name}_lost2"] = [*losses, 0.0, 0.0][:2]
        found[f"{name}_lost_union"] = max((_loss(key, union) for key in keys), default=0.0)
        found[f"{name}_count_lost"] = float(sum(near < 0.5 for near in nears))
        found[f"{name}_broader"] = float(sum(near == lexicon.BROADER for near in nears))
        for sort in _SORTS:
            own = [key for key in keys if _sort(key) == sort]
            found[f"{name}_{sort}_lost"] = max((_loss(key, held) for key in own), default=0.0)
            found[f"{name}_{sort}_gone"] = max((_loss(key, union) for key in own), default=0.0)
    for sort in _SORTS:
        found[f"new_{sort}"] = max((lexicon.weight(key) for key in match.new_keys if _sort(key) == sort), default=0.0)
    found["best_score"] = best.score if best else 0.0
    found["second_score"] = second.score if second else 0.0
    found["score_lead"] = found["best_score"] - found["second_score"]
    shares = [(candidate, coverage(reading.core, candidate.held)) for candidate in match.candidates]
    found["core_most"] = max((share for _, share in shares), default=0.0)
    found["context_most"] = max((coverage(reading.context, c.held) for c in match.candidates), default=0.0)
    found["both_least"] = min(found["core_best"], found["context_best"])
    found["both_union"] = min(found["core_union"], found["context_union"])
    found["core_apart"] = max((share for c, share in shares if best and c.entry != best.entry), default=0.0)
    found["is_tags"] = float(best is not None and best.statement.is_tags)
    found["best_keys"] = float(len(best.statement.keys)) if best else 0.0
    found["entry_size"] = float(len(match.entry_statements))
    for suffix, kept in (("", held), ("_union", union)):
        for place, at in (("first", 0), ("last", -1)):
            found[f"core_{place}{suffix}"] = kept.get(reading.core[at], 0.0) if reading.core else 1.0
    found["crowd"] = min(1.0, max(0.0, math.log10(max(1, len(match.index.texts)) / CROWD)))
    found["phrase_run"] = _run(match)
    return found


def _firm(keys: Sequence[str], held: Mapping[str, float], least: float) -> float:
    """Return the weighted share of the keys that are kept at least so well; 1 without keys."""
    total = sum(map(lexicon.weight, keys)) or 1.0
    return sum(lexicon.weight(key) for key in keys if held.get(key, 0.0) >= least) / total if keys else 1.0


def _loss(key: str, held: Mapping[str, float]) -> float:
    return lexicon.weight(key) * (1 - held.get(key, 0.0))


@lru_cache(maxsize=16384)
def _sort(key: str) -> str:
    """Return the part of speech of a key, or "name"; empty for numbers."""
    if not key[:1].isalpha():
        return ""
    return {"n": "noun", "v": "verb", "a": "other", "r": "other"}.get(lexicon.lookup(key).part, "name")


def _run(match: Match) -> float:
    """Return the longest run of the core's words in the best statement, as a share of the core."""
    core = match.reading.core
    if match.best is None or not core:
        return 0.0
    order = {key: i for i, key in enumerate(core)}
    best = run = 0
    last = -2
    for token in match.best.statement.tokens:
        if not token.key:
            continue
        at = order.get(token.key.lstrip("@"), -2)
        run = run + 1 if at == last + 1 and at >= 0 and run else int(at >= 0)
        last = at
        best = max(best, run)
    return best / len(core)
