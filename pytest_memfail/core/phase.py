"""What a memory system is doing while it calls models, for their cost."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Final

SEARCHING: Final = ContextVar("searching", default=False)
"""Whether the system answers a query; else it stores."""
