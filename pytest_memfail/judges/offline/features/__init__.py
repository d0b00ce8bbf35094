"""Features of a claim and the memories that may hold it: named numbers, one file per group."""

from __future__ import annotations

from typing import Final

from pytest_memfail.judges.offline.features import (
    amounts,
    cover,
    direction,
    edits,
    listed,
    polarity,
    rivals,
    shape,
    shown,
    states,
    whose,
)
from pytest_memfail.judges.offline.features.direction import is_swapped as is_swapped
from pytest_memfail.judges.offline.features.listed import wording_keys as wording_keys
from pytest_memfail.judges.offline.features.polarity import is_turned as is_turned
from pytest_memfail.judges.offline.features.states import is_reversed as is_reversed
from pytest_memfail.judges.offline.match import Match

GROUPS: Final = (shape, cover, edits, amounts, polarity, whose, direction, rivals, states, listed, shown)
MEANINGS: Final[dict[str, str]] = {name: meaning for group in GROUPS for name, meaning in group.NAMES.items()}
"""The meaning of each feature, by name, in the order of the model's inputs."""


def features_of(match: Match) -> dict[str, float]:
    """Return all features of a claim and some memories, by name."""
    found: dict[str, float] = {}
    for group in GROUPS:
        found.update(group.compute(match))
    return {name: found[name] for name in MEANINGS}


def turns_of(match: Match) -> dict[str, float]:
    """Return the features that detect reversals: negation, liking, order, cause and effect."""
    return {**polarity.compute(match), **direction.compute(match)}
