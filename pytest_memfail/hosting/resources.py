"""The resources that all stores of a process share: the judge, the limits, the journal."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from pytest_memfail.core import Judge, TestTaker
from pytest_memfail.hosting.calls import DEFAULT_LIMITS, DaemonPool, Limits, Outcomes


class Journal:
    """Record when fills and questions start and end, so that the cause of a crash can be named; this one records nothing."""

    def fill_started(self, store: str) -> None: ...
    def fill_ended(self, store: str) -> None: ...
    def question_started(self, key: str) -> None: ...
    def question_ended(self, key: str) -> None: ...


@dataclass(frozen=True, slots=True)
class TokenRules:
    """How to count and cut tokens, and how many a question may be shown."""

    count: Callable[[Sequence[str]], int]
    """Returns the number of tokens in all texts."""
    first: Callable[[str, int], str]
    """Returns the start of a text, at most this many tokens long."""
    last: Callable[[str, int], str]
    """Returns the end of a text, at most this many tokens long."""
    limit: int | None = None
    """Maximum number of tokens shown per question; None means no limit."""


@dataclass(frozen=True, kw_only=True)
class Resources:
    """The resources that all stores of a process share."""

    judge: Judge
    test_taker: TestTaker | None = None
    """Answers the questions from the memories shown; None to leave them unanswered."""
    again: Sequence[tuple[Judge, TestTaker | None]] = ()
    """The judge and test-taker for each repeat of a question."""
    assistant_turns: bool = False
    """Whether the test-taker answers each stored message."""
    concurrency: int = 32
    """Maximum number of questions in flight."""
    tokens: TokenRules | None = None
    """How to count tokens; None to count no tokens."""
    journal: Journal = field(default_factory=Journal)
    shared: Path | None = None
    """A folder that all processes of the run share; None if there is only one."""
    on_progress: Callable[[str, int, int], object] = lambda *_: None
    """Called with a store's id, the number of its conversations stored so far, and their total."""
    limits: Limits = DEFAULT_LIMITS
    outcomes: Outcomes = ()
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    """Waits the given number of seconds before a conversation is stored again."""

    @property
    def window(self) -> int:
        """Maximum number of a store's questions answered ahead of the waiting thread."""
        return max(64, 4 * self.concurrency)

    @cached_property
    def pool(self) -> DaemonPool:
        """Threads for sync judges, sync test-takers, and work that would block the loop."""
        return DaemonPool(self.concurrency, "memfail-judge")
