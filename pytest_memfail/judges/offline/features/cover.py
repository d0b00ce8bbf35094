"""How many of the claim's words are found: in the best statement, around it, in its entry, and in all statements."""

from __future__ import annotations

import math

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
    reading = match.reading
    found: dict[str, float] = {"found": float(match.best is not None)}
    views = {"best": match.held, "local": match.local, "entry": match.entry, "union": match.union}
    for name, keys in (("core", reading.core), ("context", reading.context), ("said", reading.said_keys)):
        for view, held in views.items():
            found[f"{name}_{view}"] = coverage(keys, held)
        held = match.held
        nears = [(held.get(key, 0.0), lexicon.weight(key)) for key in keys]
        total = sum(w for _, w in nears) or 1.0
        found[f"{name}_exact"] = sum(w for near, w in nears if near == 1.0) / total if nears else 1.0
        found[f"{name}_firm"] = sum(w for near, w in nears if near >= lexicon.CLOSE) / total if nears else 1.0
        firm = sum(lexicon.weight(key) for key in keys if match.union.get(key, 0.0) >= lexicon.CLOSE)
        found[f"{name}_firm_union"] = firm / total if nears else 1.0
        found[f"{name}_least"] = min((near for near, _ in nears), default=1.0)
        lost = sorted((w * (1 - near) for near, w in nears), reverse=True)
        found[f"{name}_lost"] = lost[0] if lost else 0.0
        found[f"{name}_lost2"] = lost[1] if len(lost) > 1 else 0.0
        found[f"{name}_lost_union"] = max(
            (lexicon.weight(k) * (1 - match.union.get(k, 0.0)) for k in keys), default=0.0
        )
        found[f"{name}_count_lost"] = float(sum(near < 0.5 for near, _ in nears))
        found[f"{name}_broader"] = float(sum(near == lexicon.BROADER for near, _ in nears))
        for sort in _SORTS:
            found[f"{name}_{sort}_lost"] = found[f"{name}_{sort}_gone"] = 0.0
        for key in keys:
            sort = _sort(key)
            if sort:
                weight = lexicon.weight(key)
                for kind, near_by in (("lost", held), ("gone", match.union)):
                    found[f"{name}_{sort}_{kind}"] = max(
                        found[f"{name}_{sort}_{kind}"], weight * (1 - near_by.get(key, 0.0))
                    )
    for sort in _SORTS:
        found[f"new_{sort}"] = max((lexicon.weight(key) for key in match.new_keys if _sort(key) == sort), default=0.0)
    best, second = match.best, match.second
    found["best_score"] = best.score if best else 0.0
    found["second_score"] = second.score if second else 0.0
    found["score_lead"] = found["best_score"] - found["second_score"]
    found["core_most"] = max((coverage(reading.core, c.held) for c in match.candidates), default=0.0)
    found["context_most"] = max((coverage(reading.context, c.held) for c in match.candidates), default=0.0)
    found["both_least"] = min(found["core_best"], found["context_best"])
    found["both_union"] = min(found["core_union"], found["context_union"])
    others = (c for c in match.candidates if best and c.entry != best.entry)
    found["core_apart"] = max((coverage(reading.core, c.held) for c in others), default=0.0)
    found["is_tags"] = float(best.statement.is_tags) if best else 0.0
    found["best_keys"] = float(len(best.statement.keys)) if best else 0.0
    found["entry_size"] = float(len(match.entry_statements))
    for name, held in (("", match.held), ("_union", match.union)):
        found[f"core_first{name}"] = held.get(reading.core[0], 0.0) if reading.core else 1.0
        found[f"core_last{name}"] = held.get(reading.core[-1], 0.0) if reading.core else 1.0
    found["crowd"] = min(1.0, max(0.0, math.log10(max(1, len(match.index.texts)) / CROWD)))
    found["phrase_run"] = _run(match)
    return found


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
