"""What a store is asked for, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_memfail.core import Evidence, Listing, Question, StorePlan, SystemContext, Trace, Verdict
from pytest_memfail.engine.current import Captured
from pytest_memfail.engine.shelf import Shelf


@dataclass(frozen=True, slots=True)
class Ask:
    """A question at one k; the key is unique within the run."""

    key: str
    question: Question
    k: int


@dataclass(frozen=True)
class StoreJob:
    """A store to fill and the questions selected of it, in the order they will be waited for."""

    id: str
    task: str
    plan: StorePlan
    evidence: Mapping[str, Evidence]
    factory: Callable[..., Any]
    context: SystemContext
    asks: tuple[Ask, ...]
    suspects: frozenset[str] = frozenset()
    """Keys that were in flight when a process died: asked only when waited for, and alone."""
    shelf: Shelf | None = None
    """Where filled stores are kept for later runs; None to fill this one whatever was kept."""


@dataclass(slots=True)
class Result:
    """What became of one ask: a verdict with its trace, or an error."""

    ask: Ask
    trace: Trace | None = None
    verdict: Verdict | None = None
    error: BaseException | None = None
    listing: Listing | None = None
    started: float = 0.0
    """Seconds since the epoch."""
    seconds: float = 0.0
    captured: Captured = field(default_factory=Captured)
    repeats: tuple[str, ...] = ()
    """How it came out each time, if it was asked more than once; trace and verdict are of the majority."""


@dataclass(slots=True)
class StoreReport:
    """What is known of a store when its last question is answered."""

    id: str
    task: str
    conversations: int = 0
    fill_seconds: float = 0.0
    restored: bool = False
    """Whether what an earlier run has kept was restored instead of filled."""
    listings: tuple[Listing, ...] = ()
    """One per probe reached, in order."""
    tokens: int | None = None
    """Of the last listing."""
    changed: tuple[int, int] = (0, 0)
    """Entries more and less in a second listing after the last question: queries must not write."""
    shared_with: str | None = None
    """The store that entries of the second listing came from: then not the queries have written."""
    described: Mapping[str, str] = field(default_factory=dict)
    captured: Captured = field(default_factory=Captured)
