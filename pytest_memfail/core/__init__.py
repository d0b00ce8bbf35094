"""The domain: what is stored, asked and decided. Standard library only; imports nothing else of this package.

The names are loaded at first use: every pytest run loads the plugin, and few use it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_memfail.core.errors import (
        JudgeError,
        MemfailError,
        MemorySystemError,
        RowError,
        SnapshotError,
        TruncatedListingError,
        UnknownNameError,
        UsageError,
        WrongTypeError,
        one_line,
    )
    from pytest_memfail.core.model import (
        Conversation,
        Detail,
        Evidence,
        Ingest,
        Listing,
        Memory,
        Message,
        Probe,
        Question,
        Reply,
        Role,
        Step,
        StorePlan,
        Task,
        Trace,
        rank_of,
    )
    from pytest_memfail.core.protocols import (
        Chat,
        ChatReply,
        Judge,
        MemorySystem,
        SystemContext,
        SystemFactory,
        TestTaker,
        ToolCall,
    )
    from pytest_memfail.core.taxonomy import (
        CORRECT,
        ERROR,
        FAILURES,
        GRADED,
        LETTERS,
        MEANINGS,
        MEMORY_FAILURES,
        NOT_RETRIEVED,
        NOT_STORED,
        REASONING_ERROR,
        STAGE_FAILURE,
        STAGES,
        SUMMARY_ERROR,
        UNGRADED,
        VERDICTS,
        worst,
    )
    from pytest_memfail.core.verdict import (
        UNREACHED,
        FactVerdict,
        StageResult,
        Verdict,
        fact_verdict,
        question_verdict,
    )

__all__ = [
    "CORRECT",
    "ERROR",
    "FAILURES",
    "GRADED",
    "LETTERS",
    "MEANINGS",
    "MEMORY_FAILURES",
    "NOT_RETRIEVED",
    "NOT_STORED",
    "REASONING_ERROR",
    "STAGES",
    "STAGE_FAILURE",
    "SUMMARY_ERROR",
    "UNGRADED",
    "UNREACHED",
    "VERDICTS",
    "Chat",
    "ChatReply",
    "Conversation",
    "Detail",
    "Evidence",
    "FactVerdict",
    "Ingest",
    "Judge",
    "JudgeError",
    "Listing",
    "MemfailError",
    "Memory",
    "MemorySystem",
    "MemorySystemError",
    "Message",
    "Probe",
    "Question",
    "Reply",
    "Role",
    "RowError",
    "SnapshotError",
    "StageResult",
    "Step",
    "StorePlan",
    "SystemContext",
    "SystemFactory",
    "Task",
    "TestTaker",
    "ToolCall",
    "Trace",
    "TruncatedListingError",
    "UnknownNameError",
    "UsageError",
    "Verdict",
    "WrongTypeError",
    "fact_verdict",
    "one_line",
    "question_verdict",
    "rank_of",
    "worst",
]

_HOMES = {
    "errors": (
        "JudgeError",
        "MemfailError",
        "MemorySystemError",
        "RowError",
        "SnapshotError",
        "TruncatedListingError",
        "UnknownNameError",
        "UsageError",
        "WrongTypeError",
        "one_line",
    ),
    "model": (
        "Conversation",
        "Detail",
        "Evidence",
        "Ingest",
        "Listing",
        "Memory",
        "Message",
        "Probe",
        "Question",
        "Reply",
        "Role",
        "Step",
        "StorePlan",
        "Task",
        "Trace",
        "rank_of",
    ),
    "protocols": (
        "Chat",
        "ChatReply",
        "Judge",
        "MemorySystem",
        "SystemContext",
        "SystemFactory",
        "TestTaker",
        "ToolCall",
    ),
    "taxonomy": (
        "CORRECT",
        "ERROR",
        "FAILURES",
        "GRADED",
        "LETTERS",
        "MEANINGS",
        "MEMORY_FAILURES",
        "NOT_RETRIEVED",
        "NOT_STORED",
        "REASONING_ERROR",
        "STAGE_FAILURE",
        "STAGES",
        "SUMMARY_ERROR",
        "UNGRADED",
        "VERDICTS",
        "worst",
    ),
    "verdict": (
        "UNREACHED",
        "FactVerdict",
        "StageResult",
        "Verdict",
        "fact_verdict",
        "question_verdict",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
