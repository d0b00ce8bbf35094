"""The owner of the best statement, and whether a statement about somebody else is closer."""

from __future__ import annotations

from pytest_memfail.judges.offline import lexicon
from pytest_memfail.judges.offline.match import Match, coverage
from pytest_memfail.judges.offline.reading import owner_relation

LEAST_KEYS = 3
"""Sentences with fewer own words may be found by chance."""
MOST = 0.5
NAMES = {
    "owner_best": "owner of the best statement: 1 the claim's, 0.5 not stated, 0 somebody else",
    "owner_named": "share of the owner's name in the best statement or its headings",
    "owner_entry": "share of the owner's name in the best statement's entry",
    "core_own": "largest core share in statements about the claim's owner",
    "core_unknown": "largest core share in statements without a stated owner",
    "core_others": "largest core share in statements about somebody else",
    "score_own": "largest score of statements about the claim's owner",
    "score_others": "largest score of statements about somebody else",
    "names_new": "names in the best statement that the source lacks",
    "name_opens": "the best statement starts with a name that the source lacks",
    "name_before": "a name that the source lacks comes before the first word of the core",
    "relative": "the best statement is about somebody's relative or friend",
    "person_new": "words for people in the best statement that the source lacks",
    "person_before": "such a word comes before the first word of the core",
    "rest_best": "largest share of another source sentence in a statement that is not about somebody else",
    "rest_count": "other source sentences that such statements contain at least half of",
    "user_named": "the best statement is about the user",
}


def compute(match: Match) -> dict[str, float]:
    """Return the features of this group by name."""
    found = dict.fromkeys(NAMES, 0.0)
    best, reading = match.best, match.reading
    _rest(found, match)
    if best is None:
        return found
    found["owner_best"] = best.owner
    if reading.owner:
        keys = best.statement.keys
        found["owner_named"] = sum(part in keys for part in reading.owner) / len(reading.owner)
        around = set().union(*(s.keys for s in match.entry_statements))
        found["owner_entry"] = sum(part in around for part in reading.owner) / len(reading.owner)
    for candidate in match.candidates:
        share = coverage(reading.core, candidate.held)
        group = "own" if candidate.owner >= 0.75 else "unknown" if candidate.owner == 0.5 else "others"
        found[f"core_{group}"] = max(found[f"core_{group}"], share)
        if group != "unknown":
            found[f"score_{group}"] = max(found[f"score_{group}"], candidate.score)
    core = set(reading.core)
    seen_core = False
    for at, token in enumerate(best.statement.tokens):
        key = token.key.lstrip("@")
        if key and (key in core or any(lexicon.similarity(k, key) >= 0.75 for k in reading.core)):
            seen_core = True
        bare = token.lower.removesuffix("'s").rstrip("'")
        if token.is_name and bare not in reading.names and key not in reading.full:
            found["names_new"] += 1
            found["name_opens"] += at == 0
            found["name_before"] += not seen_core
        elif key and lexicon.lookup(key).field == lexicon.PERSON and key not in reading.full:
            found["person_new"] += 1
            found["person_before"] += not seen_core
    owner = best.statement.owner
    found["relative"] = float(any(part.startswith("~") for part in owner))
    found["user_named"] = float(owner == ("user",))
    return found


def _rest(found: dict[str, float], match: Match) -> None:
    """Set how much of the rest of the source is stored: a fact may be lost while others from the same text are kept."""
    reading, index = match.reading, match.index
    for keys in reading.rest:
        if len(keys) < LEAST_KEYS:
            continue
        shares = (
            some
            for at, some in index.exact_shares(keys, at_least=2).items()
            if owner_relation(reading, index.statements[at].owner) >= 0.5
        )
        share = max(shares, default=0.0)
        found["rest_best"] = max(found["rest_best"], share)
        found["rest_count"] += share >= MOST
