"""The kind of the claim, independent of how well it is kept."""

from __future__ import annotations

from pytest_memfail.judges.offline.match import Match

NAMES = {
    "has_condition": "the claim holds under a condition",
    "has_topic": "the claim is about a stated topic",
    "has_cause": "the claim links a cause to what follows",
    "has_owner": "the claim is about a named owner, not the user",
    "has_replaced": "the claim has outdated values",
    "has_ended": "the claim is that a state has ended",
    "has_siblings": "the row has similar facts",
    "has_listed": "the row lists wordings that keep the claim",
    "core_keys": "number of words in the core",
    "context_keys": "number of words in condition, topic or cause",
    "said_keys": "number of words in the source sentences",
    "said_sentences": "number of source sentences",
    "core_weight": "how informative the core's words are together",
    "is_shown": "the memories are those shown to a question",
}


def compute(match: Match) -> dict[str, float]:
    """Return the features of this group by name."""
    reading, claim = match.reading, match.reading.claim
    roles = {part.role for part in claim.parts if part.required}
    return {
        "has_condition": float("condition" in roles),
        "has_topic": float("topic" in roles),
        "has_cause": float("cause" in roles),
        "has_owner": float(bool(reading.owner)),
        "has_replaced": float(bool(reading.replaced)),
        "has_ended": float(claim.has_ended),
        "has_siblings": float(bool(claim.siblings)),
        "has_listed": float(bool(claim.listed)),
        "core_keys": float(len(reading.core)),
        "context_keys": float(len(reading.context)),
        "said_keys": float(len(reading.said_keys)),
        "said_sentences": float(len(reading.said)),
        "is_shown": float(match.is_shown),
        "core_weight": reading.weigh(reading.core),
    }
