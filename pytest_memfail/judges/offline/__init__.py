"""The offline judge: reads memories as statements, computes named features, applies a small trained model."""

from __future__ import annotations

from pytest_memfail.judges.offline.judge import KEPT, OfflineJudge, closest
from pytest_memfail.judges.offline.model import sigmoid, weights_in_use
from pytest_memfail.judges.offline.readable import is_foreign

__all__ = ["KEPT", "OfflineJudge", "closest", "is_foreign", "sigmoid", "weights_in_use"]
