"""Which question or fill the current code runs for, so that its prints and logs can be kept with it."""

from __future__ import annotations

import contextvars
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Captured:
    """What background work wrote: text of its prints, and log records."""

    output: list[str] = field(default_factory=list)
    records: list[Any] = field(default_factory=list)


CURRENT: contextvars.ContextVar[Captured | None] = contextvars.ContextVar("memfail_current", default=None)
