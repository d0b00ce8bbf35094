"""What a suite says about rows that `memfail generate` makes, and what its recipes have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Generic, Protocol, TypeVar

from pytest_memfail.authoring.asking import I, Session, Stage, run_stage
from pytest_memfail.authoring.raw import Raw
from pytest_memfail.core import ProtocolName
from pytest_memfail.llm import count_tokens
from pytest_memfail.rows import near_duplicates

MESSAGE_TOKENS: Final = 60
"""Tokens of a message without its rows."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Request:
    """What to generate."""

    task: str
    n: int
    model: str
    seed: int = 42
    design: ProtocolName = "ours"
    """Whether people have unique names, or share the published ones."""
    batch_size: int | None = None
    """Rows per request; None for each stage's default."""
    fillers: int = 4
    """The number of sessions without facts per episode."""


@dataclass(frozen=True, slots=True)
class Work:
    """The remaining requests of one stage, estimated."""

    stage: str
    calls: int
    prompt_tokens: int
    reply_tokens: int


@dataclass(frozen=True, slots=True)
class Made:
    """The rows of a task."""

    files: Mapping[str, Sequence[Mapping[str, Any]]]
    """Rows by file name: cells by column for CSV, objects for JSON."""
    counts: Mapping[str, int]
    """The numbers of rows wanted, written and left out, in this order."""
    thresholds: Mapping[str, float]
    """Jaccard similarities from which two texts count as the same."""
    repeats: Sequence[str] = field(default=())
    """The near-duplicates left out, one line each."""

    @property
    def summary(self) -> str:
        """Return the counts in words."""
        return ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in self.counts.items())


class Maker(Protocol):
    """The rows of one request, while they are made."""

    def plan(self, raw: Raw) -> list[Work]:
        """Return the minimum remaining work."""

    async def make(self, session: Session) -> Made:
        """Request what is missing and assemble the rows."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """Rows that a model writes."""

    begin: Callable[[Request], Maker]
    """Draws the subjects of the rows. Raises `UsageError` for a request that it cannot fulfil."""
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DrawnRecipe:
    """Rows of numbered facts that are drawn without a model."""

    write: Callable[[Path, int, int, bool], Sequence[tuple[str, int]]]
    """Writes them to a folder, for a number of facts and a seed; the last argument allows replacing files.

    Returns the name of each part with its number of questions. Raises `UsageError`.
    """


class SingleStage(Generic[I]):
    """A recipe with one request for each row."""

    def __init__(
        self,
        request: Request,
        stage: Stage[I],
        cells: Callable[[int, I], Mapping[str, str]],
        field: str,
        threshold: float,
    ) -> None:
        """Make rows of `cells`, without those whose text in this field repeats an earlier one."""
        self._request, self._stage, self._cells = request, stage, cells
        self._field, self._threshold = field, threshold
        self._numbers = range(1, request.n + 1)

    def plan(self, raw: Raw) -> list[Work]:
        """Return the work of the stage."""
        return stage_work([self._stage], self._numbers, raw)

    async def make(self, session: Session) -> Made:
        """Request all rows at once."""
        rows: dict[int, I] = {}
        await run_stage(session, self._stage, self._numbers, rows)
        texts = {f"row {number}": str(getattr(rows[number], self._field)) for number in sorted(rows)}
        repeats = distinct(texts, self._threshold, lambda key: int(key.split()[1]))
        kept = [number for number in sorted(rows) if number not in repeats]
        return Made(
            {f"{self._request.task}.csv": [self._cells(number, rows[number]) for number in kept]},
            row_counts(self._request.n, len(rows), len(kept)),
            {self._field: self._threshold},
            list(repeats.values()),
        )


def stage_work(stages: Sequence[Stage[Any]], numbers: Sequence[int], raw: Raw) -> list[Work]:
    """Return the remaining work of the stages for these rows, if nothing is rejected."""
    work = []
    for stage in stages:
        rows = sum(not raw.has(stage.name, str(number)) for number in numbers)
        calls = -(-rows // stage.size)
        frame = count_tokens([stage.instructions]) + MESSAGE_TOKENS
        work.append(Work(stage.name, calls, calls * frame + rows * stage.given_tokens, rows * stage.reply_tokens))
    return work


def distinct(texts: Mapping[str, str], threshold: float, owner: Callable[[str], T]) -> dict[T, str]:
    """Return the owners to drop so that no near-duplicates remain, each with a line that says why.

    Keeps the earlier of two unless it is dropped itself. Texts of the same owner may be similar.
    """
    dropped: dict[T, str] = {}
    for earlier, later, alike in near_duplicates(texts, threshold):
        first, second = owner(earlier), owner(later)
        if first != second and first not in dropped and second not in dropped:
            dropped[second] = f"{later} is {alike:.2f} like {earlier}"
    return dropped


def row_counts(wanted: int, written: int, kept: int) -> dict[str, int]:
    """Return the number of rows left after each step."""
    return {
        "wanted": wanted,
        "given_up": wanted - written,
        "before_deduplication": written,
        "near_duplicates": written - kept,
        "after_deduplication": kept,
    }
