"""The offline judge: statements read from memories, named features, a small trained model."""

from __future__ import annotations

from pytest_memfail.judges.offline.judge import OfflineJudge, closest
from pytest_memfail.judges.offline.model import weights_in_use

__all__ = ["OfflineJudge", "closest", "weights_in_use"]
