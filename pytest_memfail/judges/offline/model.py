"""The trained model: two probabilities from the features of a claim and some memories, in numpy.

One head predicts whether the memories keep the claim. The other predicts, if they do not, whether nothing of it is
there. Each averages boosted trees and a logistic regression, and is calibrated on rows that it was not fitted on.
`tools/train_judge.py` writes the weights.
"""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_memfail.core import UsageError, fingerprint, one_line, os_reason

if TYPE_CHECKING:
    from numpy.typing import NDArray

HEADS: Final = ("kept", "absent")
WEIGHTS: Final = {False: "weights.json.gz", True: "weights_encoder.json.gz"}
"""The files of the weights: of the judge without and with the encoder."""
LIMIT: Final = 30.0


@dataclass(frozen=True, slots=True)
class Probabilities:
    """The model's probabilities for a claim and some memories; the three add up to one."""

    kept: float
    damaged: float
    absent: float


class Head:
    """One calibrated probability."""

    def __init__(self, stored: Mapping[str, Any]) -> None:
        import numpy as np

        trees = stored["trees"]
        width = max(len(tree["value"]) for tree in trees)

        def padded(name: str, kind: type) -> NDArray[Any]:
            table: NDArray[Any] = np.zeros((len(trees), width), dtype=kind)
            for row, tree in zip(table, trees, strict=True):
                row[: len(tree[name])] = tree[name]
            return table.ravel()

        self._starts = np.arange(len(trees)) * width
        self._feature, left, right = (padded(name, np.int64) for name in ("feature", "left", "right"))
        inside = np.repeat(self._starts, width)  # child indices, counted over all trees
        self._left, self._right = left + inside, right + inside
        self._threshold, self._value = padded("threshold", np.float64), padded("value", np.float64)
        self._depth = stored["depth"]
        self._forests, self._baseline = stored["forests"], stored["baseline"]
        linear = stored["linear"]
        self._mean, self._scale, self._weights = (np.array(linear[name]) for name in ("mean", "scale", "weights"))
        self._bias = linear["bias"]
        self._share = stored["tree_share"]
        self._slope, self._offset = stored["calibration"]

    def logit(self, features: NDArray[Any]) -> float:
        """Return the calibrated log odds for one row of features."""
        import numpy as np

        places = self._starts
        for _ in range(self._depth):
            goes_left = features[self._feature[places]] <= self._threshold[places]
            places = np.where(goes_left, self._left[places], self._right[places])
        by_trees = self._baseline + float(self._value[places].sum()) / self._forests
        scaled = np.clip((features - self._mean) / self._scale, -LIMIT, LIMIT)
        by_line = float(scaled @ self._weights) + self._bias
        mixed = self._share * sigmoid(by_trees) + (1 - self._share) * sigmoid(by_line)
        return float(self._slope * logit(mixed) + self._offset)


class Model:
    """Both heads, the names of their inputs, and an optional correction learned from a user's labels."""

    def __init__(
        self, stored: Mapping[str, Any], fingerprint: str, correction: Mapping[str, Any] | None = None
    ) -> None:
        self.header: Mapping[str, Any] = stored["header"]
        self.features: tuple[str, ...] = tuple(stored["features"])
        self.typical: tuple[float, ...] = tuple(stored["typical"])
        """The median of each feature over the training data."""
        self.encoder: Mapping[str, Any] = stored.get("encoder", {})
        """The weights of the encoder's tokens; empty for a model without the encoder."""
        self.fingerprint = fingerprint
        """Identifies the weights: the first digits of their SHA-256."""
        self._heads = {name: Head(stored["heads"][name]) for name in HEADS}
        self._correction = correction["heads"] if correction else dict.fromkeys(HEADS, (1.0, 0.0))

    def logits(self, features: Sequence[float]) -> tuple[float, float]:
        """Return the log odds of both heads before any correction, in the order of `HEADS`."""
        import numpy as np

        row = np.array(features, dtype=np.float64)
        return self._heads["kept"].logit(row), self._heads["absent"].logit(row)

    def probabilities(self, features: Sequence[float]) -> Probabilities:
        """Return the probabilities for one value per feature, in the order of `features`."""
        kept, absent = (
            sigmoid(self._correction[name][0] * value + self._correction[name][1])
            for name, value in zip(HEADS, self.logits(features), strict=True)
        )
        return Probabilities(kept, (1 - kept) * (1 - absent), (1 - kept) * absent)


def sigmoid(value: float) -> float:
    """Return the probability for log odds."""
    return 1 / (1 + math.exp(-max(-LIMIT, min(LIMIT, value))))


def logit(probability: float) -> float:
    """Return the log odds of a probability, which is kept away from 0 and 1."""
    held = min(1 - 1e-6, max(1e-6, probability))
    return math.log(held / (1 - held))


@cache
def shipped_model(*, encoder: bool = False) -> Model:
    """Return the model that ships with the package; read once."""
    packed = _packed(encoder)
    return Model(json.loads(gzip.decompress(packed)), fingerprint(packed))


def weights_in_use(*, encoder: bool = False) -> str:
    """Return the fingerprint of the shipped weights, without loading the model."""
    return fingerprint(_packed(encoder))


def _packed(encoder: bool) -> bytes:
    return files(__package__).joinpath(WEIGHTS[encoder]).read_bytes()


def corrected_model(path: Path, *, encoder: bool = False) -> Model:
    """Return the shipped model with a correction from a file that `memfail judge-check --train` wrote.

    Raises `UsageError` for a file that cannot be read or was made for other weights.
    """
    base = shipped_model(encoder=encoder)
    try:
        content = path.read_bytes()
        correction = json.loads(content)
        heads = {name: (float(correction["heads"][name][0]), float(correction["heads"][name][1])) for name in HEADS}
        made_for = correction["base"]
        if not all(math.isfinite(value) for line in heads.values() for value in line):
            raise ValueError("a number that is not finite")
    except (OSError, ValueError, KeyError, TypeError, IndexError, OverflowError, RecursionError) as error:
        raise UsageError(
            f"got weights={path} ({one_line(os_reason(error))}), expected a file that `memfail judge-check --train` wrote"
        ) from None
    if made_for == weights_in_use(encoder=not encoder):
        raise UsageError(
            f"got weights={path}, trained with encoder={'off' if encoder else 'on'}, expected that option too"
        )
    if made_for != base.fingerprint:
        raise UsageError(
            f"got weights={path}, made for the weights {made_for}, expected {base.fingerprint}: train it again"
        )
    stored = json.loads(gzip.decompress(_packed(encoder)))
    return Model(stored, f"{base.fingerprint}+{fingerprint(content)}", {"heads": heads})
