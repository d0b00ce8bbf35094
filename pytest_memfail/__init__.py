"""Find out where an LLM memory system loses information: the MemFail benchmark (arXiv 2605.26667) as pytest items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_memfail.core import (
        Conversation,
        Fact,
        Judge,
        Listing,
        Memory,
        MemorySystem,
        Message,
        Question,
        Reply,
        StageResult,
        SystemContext,
        Task,
        TestTaker,
        Verdict,
    )

    __version__: str

__all__ = [
    "Conversation",
    "Fact",
    "Judge",
    "Listing",
    "Memory",
    "MemorySystem",
    "Message",
    "Question",
    "Reply",
    "StageResult",
    "SystemContext",
    "Task",
    "TestTaker",
    "Verdict",
    "__version__",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from pytest_memfail._version import __version__

        return __version__
    if name in __all__:
        from pytest_memfail import core

        return getattr(core, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
