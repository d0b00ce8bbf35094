"""Judges decide whether a fact was stored, kept faithfully, retrieved and used.

Judges that ask a model load on first use, because the offline judge needs no SDK.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pytest_memfail.judges.letters import parse_letter
from pytest_memfail.judges.offline import KEPT, OfflineJudge, closest, is_foreign, sigmoid, weights_in_use

if TYPE_CHECKING:
    from pytest_memfail.judges.cascade import CascadeJudge
    from pytest_memfail.judges.model import ModelJudge

__all__ = [
    "KEPT",
    "CascadeJudge",
    "ModelJudge",
    "OfflineJudge",
    "closest",
    "is_foreign",
    "parse_letter",
    "sigmoid",
    "weights_in_use",
]

_HOMES = {"CascadeJudge": "cascade", "ModelJudge": "model"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
