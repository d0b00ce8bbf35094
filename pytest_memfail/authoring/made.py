"""The result of a recipe: rows for files, and the count of what was left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol, TypeVar

from pytest_memfail.authoring.asking import I, Item, Session, Stage, run_stage
from pytest_memfail.authoring.raw import Raw
from pytest_memfail.llm import count_tokens
from pytest_memfail.suites import near_duplicates

Design = Literal["ours", "paper"]
"""Whether people have unique names, or share the 30 published ones (`samplers.apart`)."""
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
    design: Design = "ours"
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
    """Rows by task name of the loaders (cells by column), and objects by name of a JSON file."""
    counts: Mapping[str, int]
    """The numbers of rows wanted, written and left out, in this order."""
    thresholds: Mapping[str, float]
    """Jaccard similarities from which two texts count as the same."""
    repeats: Sequence[str] = field(default=())
    """The near-duplicates left out, one line each."""


class Recipe(Protocol):
    """How to generate the rows of one task."""

    def plan(self, raw: Raw) -> list[Work]:
        """Return the minimum remaining work."""

    async def make(self, session: Session) -> Made:
        """Request what is missing and assemble the rows."""


def stage_work(stages: Sequence[Stage[Any]], numbers: Sequence[int], raw: Raw) -> list[Work]:
    """Return the remaining work of the stages for these rows, if nothing is rejected."""
    work = []
    for stage in stages:
        rows = sum(not raw.has(stage.name, stage.key(number)) for number in numbers)
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


async def made_at_once(
    session: Session,
    stage: Stage[I],
    request: Request,
    cells: Callable[[int, I], Mapping[str, str]],
    field: str,
    threshold: float,
) -> Made:
    """Return all rows of a single stage, without those whose text in this field repeats an earlier one."""
    rows: dict[int, I] = {}
    await run_stage(session, stage, range(1, request.n + 1), rows)
    texts = {f"row {number}": str(getattr(rows[number], field)) for number in sorted(rows)}
    repeats = distinct(texts, threshold, lambda key: int(key.split()[1]))
    kept = [number for number in sorted(rows) if number not in repeats]
    return Made(
        {request.task: [cells(number, rows[number]) for number in kept]},
        row_counts(request.n, len(rows), len(kept)),
        {field: threshold},
        list(repeats.values()),
    )


def row_counts(wanted: int, written: int, kept: int) -> dict[str, int]:
    """Return the number of rows left after each step."""
    return {
        "wanted": wanted,
        "given_up": wanted - written,
        "before_deduplication": written,
        "near_duplicates": written - kept,
        "after_deduplication": kept,
    }


def finished(stages: Sequence[dict[int, Any]]) -> list[int]:
    """Return the numbers of the rows that are complete in every stage."""
    return sorted(set(stages[0]).intersection(*stages[1:]))


def taken_of(items: Mapping[int, Item], fields: Sequence[str]) -> dict[str, list[str]]:
    """Return the values that earlier rows use, for the model to avoid."""
    return {name: [str(getattr(items[number], name)) for number in sorted(items)] for name in fields}


def file_of(name: str) -> str:
    """Return the file name for a key of `Made.files`."""
    return name if name.endswith(".json") else f"{name}.csv"


def batch_of(size: int, request: Request) -> int:
    """Return the rows per request."""
    return request.batch_size or size
