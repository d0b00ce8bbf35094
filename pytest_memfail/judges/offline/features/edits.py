"""The best statement aligned with its source sentence: what was replaced, dropped, added or moved."""

from __future__ import annotations

from difflib import SequenceMatcher

from pytest_memfail.judges.offline import lexicon
from pytest_memfail.judges.offline.english import Token
from pytest_memfail.judges.offline.match import Match

NAMES = {
    "same_order": "share of the source sentence's tokens that the best statement has in order",
    "same_run": "longest run of shared tokens, as a share of the source sentence",
    "replaced": "weight of content words that were replaced by others",
    "replaced_core": "weight of core words that were replaced by others",
    "replaced_context": "weight of condition, topic or cause words that were replaced by others",
    "replaced_rival": "number of replaced words whose replacement excludes them",
    "replaced_number": "number of replaced numbers",
    "replaced_name": "number of replaced names",
    "dropped": "weight of content words dropped between kept words",
    "dropped_core": "weight of core words dropped between kept words",
    "added": "weight of content words added between kept words",
    "new_words": "weight of words that neither source nor claim contains",
    "new_most": "weight of the most informative such word",
    "new_share": "share of such words in the best statement",
    "function_words": "share of the source sentence's function words in the best statement",
}


def compute(match: Match) -> dict[str, float]:
    """Return the features of this group by name."""
    found = dict.fromkeys(NAMES, 0.0)
    source = match.source
    if match.best is None or source is None:
        return found
    mine, other = source.tokens, match.best.statement.tokens
    left, right = [_unit(t) for t in mine], [_unit(t) for t in other]
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    core, context = set(match.reading.core), set(match.reading.context)
    same = run = 0
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            same += i2 - i1
            run = max(run, i2 - i1)
            continue
        gone = [t for t in mine[i1:i2] if t.key and match.held.get(t.key.lstrip("@"), 0.0) < 0.7]
        come = [t for t in other[j1:j2] if t.key and t.key.lstrip("@") not in match.reading.full]
        if tag == "replace":
            _count_replaced(found, gone, come, core, context)
        elif tag == "delete" and i1 > 0 and i2 < len(mine):
            found["dropped"] += sum(lexicon.weight(t.key) for t in gone)
            found["dropped_core"] += sum(lexicon.weight(t.key) for t in gone if t.key.lstrip("@") in core)
        elif tag == "insert":
            found["added"] += sum(lexicon.weight(t.key) for t in come)
    found["same_order"] = same / max(1, len(left))
    found["same_run"] = run / max(1, len(left))
    new = [lexicon.weight(key) for key in match.new_keys]
    found["new_words"] = sum(new)
    found["new_most"] = max(new, default=0.0)
    found["new_share"] = sum(new) / max(0.1, sum(map(lexicon.weight, match.best.statement.in_order)))
    small = [t.lower for t in mine if not t.key]
    theirs = {t.lower for t in other if not t.key}
    found["function_words"] = sum(word in theirs for word in small) / max(1, len(small))
    return found


def _count_replaced(
    found: dict[str, float], gone: list[Token], come: list[Token], core: set[str], context: set[str]
) -> None:
    if not gone or not come:
        return
    for token in gone:
        key = token.key.lstrip("@")
        weight = lexicon.weight(token.key)
        found["replaced"] += weight
        found["replaced_core"] += weight * (key in core)
        found["replaced_context"] += weight * (key in context)
        found["replaced_rival"] += any(lexicon.is_rival(key, other.key) for other in come)
        found["replaced_number"] += key[:1].isdigit() and any(t.key[:1].isdigit() for t in come)
        found["replaced_name"] += token.is_name and any(t.is_name for t in come)


def _unit(token: Token) -> str:
    return token.key.lstrip("@") or token.lower
