"""Write the summary as JSON for other tools, with a published schema.

What `results` and `records` compute is published as it is; the models below only choose, rename and describe.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import AliasPath, BaseModel, ConfigDict, Field

from pytest_memfail._version import __version__
from pytest_memfail.core import Score
from pytest_memfail.records import Clue, Flip, Paired
from pytest_memfail.results import (
    Flips,
    Loaded,
    Moved,
    Shift,
    StoreFigures,
    Summary,
    Tally,
    TaskMean,
    labels,
    side_by_side,
)

SCHEMA_FILE: Final = Path(__file__).with_name("summary.schema.json")
"""The published schema; a test compares it with the models below."""


class _Model(BaseModel):
    """Takes its values from the attributes of the object that it publishes."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, from_attributes=True, populate_by_name=True, use_attribute_docstrings=True
    )


class RateModel(_Model):
    """A share with its denominator and its 95 % Wilson interval."""

    count: int = Field(ge=0)
    n: int = Field(ge=0)
    value: float | None = Field(ge=0, le=1)
    """null if n is 0"""
    low: float = Field(ge=0, le=1)
    high: float = Field(ge=0, le=1)
    estimated: int = Field(ge=0)
    """how many more a judge only estimated; they are in neither count nor n"""


class TaskModel(_Model):
    """A task, or all of them."""

    task: str = Field(validation_alias="name")
    n: int = Field(ge=0)
    """all questions"""
    states: dict[str, int]
    """questions by how they ended; they add up to n: `correct`, the failures, `vacuous` (passed only because there was nothing
    to misuse), `no_answer` (every memory stage passed, and no model answered), `ungraded`, `error`"""
    success: RateModel
    """by the measure of the record"""
    memory_held: RateModel
    """questions whose facts were all stored, faithful and retrieved"""
    facts_held: RateModel
    """single facts of the same questions that were stored, faithful and retrieved; the interval takes the facts of a row
    together"""
    misleading: int = Field(ge=0)
    """questions about somebody of whom nothing is known; not in memory_held"""
    abstention: RateModel
    """misleading questions with a verdict that were not answered from somebody else's details, vacuous passes in; says
    nothing where no answer was judged"""
    shown_tokens: float | None
    """mean tokens shown per question (cl100k_base); null where none were counted"""
    shown_share: float | None
    """mean share of its store, by tokens, that a question was shown"""
    duplicate_share: float | None
    """share of the memories shown that repeat a better ranked one, word for word or nearly; null where none was shown"""
    cut_entries: int = Field(ge=0)
    """entries that were returned beyond k and cut"""
    facts: dict[str, dict[str, int]]
    """expected facts by stratum and state; `held` is a fact that passed every memory stage"""
    compared: int = Field(ge=0)
    """questions counted in memory_held that also have a verdict for the reference"""
    beyond_verbatim: int = Field(ge=0, validation_alias="beyond")
    """of the compared: lost here and held by the reference"""
    better: int = Field(ge=0)
    """of the compared: held here and lost by the reference"""
    unsteady: RateModel | None
    """questions whose verdicts differed between repeats; null if none was asked more than once"""


class TaskMeanModel(_Model):
    """A rate as the plain mean over tasks, in which a task counts the same however many questions it has."""

    tasks: int = Field(ge=2)
    value: float = Field(ge=0, le=1)


class CheckModel(_Model):
    """One expression, for all questions or for one task."""

    expression: str
    task: str | None
    outcome: Literal["passed", "failed", "undecided", "skipped"]
    reason: str
    """why it is undecided or skipped; of the check `errors`, their number"""
    rate: RateModel | None
    value: float | None
    """tokens shown per question, or the value of a suite's measure"""
    approximate: bool
    """whether these tokens were counted approximately"""
    paired: Paired | None
    anchored: bool
    """whether it compares with the anchor instead of the baseline"""


class AnchorModel(_Model):
    """The run that moves only on purpose, and the changes since."""

    path: str
    reason: str
    """why it was last moved"""
    flips: tuple[Flip, ...] = Field((), validation_alias=AliasPath("comparison", "flips"))


class GateModel(_Model):
    """Whether the run may pass."""

    outcome: Literal["passed", "failed", "undecided", "skipped"]
    baseline: str | None
    notes: tuple[str, ...]
    checks: tuple[CheckModel, ...]
    flips: tuple[Flip, ...] = Field((), validation_alias=AliasPath("comparison", "flips"))
    detectable: float | None
    """smallest true drop found in four of five runs, as a share"""
    anchor: AnchorModel | None


class SuiteModel(_Model):
    """The results of a suite's own measures."""

    suite: str = Field(validation_alias="name")
    k: int
    measures: tuple[Score, ...] = Field(validation_alias="scores")
    labels: dict[str, int]
    """questions by label"""
    proxies: tuple[str, ...]
    """rows of the table whose facts are only gold strings, not annotated"""


class ReferenceModel(_Model):
    """What the run was compared with, question by question."""

    system: str
    judge: str
    is_itself: bool
    """whether the system under test is the reference"""
    note: str
    """why it is missing, or how far it can be compared"""


class RecordModel(_Model):
    """One run."""

    label: str
    system: str
    system_options: dict[str, str]
    judge: str
    model: str | None = Field(validation_alias="test_taker")
    """the test-taker"""
    protocol: str
    k: tuple[int, ...]
    seed: int
    shown_tokens: int | None
    """tokens shown per question, at most; null: no limit"""
    approximate_tokens: str | None
    """why tokens were counted approximately; null: by cl100k_base"""
    limit: int | None
    haystack: Literal["full", "sample"]
    """whether a limited run stored all conversations"""
    repeats: int = Field(ge=1)
    """how often each question was asked; the majority's verdict counts"""
    started: str | None
    complete: bool
    untrusted: str | None
    """why the rates cannot be trusted; null if they can"""
    measure: Literal["correct", "memory held"]
    reference: ReferenceModel | None
    """null if the run was not compared with one"""
    tasks: tuple[TaskModel, ...]
    total: TaskModel
    task_mean: TaskMeanModel | None
    """success as the mean over tasks (or their parts); null for fewer than two"""
    task_mean_held: TaskMeanModel | None
    """memory held as the mean over tasks"""
    suites: tuple[SuiteModel, ...]
    """of suites with measures of their own"""
    stores: tuple[StoreFigures, ...]
    models: tuple[dict[str, Any], ...]
    """calls, tokens and cost by stage and model"""
    gate: GateModel | None
    warnings: tuple[str, ...]
    clues: tuple[Clue, ...]
    """what failures have in common beyond chance, the clue that explains most questions first"""


class KModel(_Model):
    """Success of a task, or of all, with one of several k."""

    task: str
    record: int = Field(ge=0)
    k: int
    success: RateModel


class SummaryModel(_Model):
    """Summary of one or several memfail records."""

    schema_version: Literal[1] = 1
    generator: str
    records: tuple[RecordModel, ...] = Field(min_length=1)
    paired: tuple[Flips, ...]
    measures_paired: tuple[Shift, ...]
    moved: tuple[Moved, ...]
    """what got worse and better in each further record"""
    by_k: tuple[KModel, ...]
    notes: tuple[str, ...]


class _With:
    """The attributes of some objects, of the first that has each, and further ones or others instead."""

    def __init__(self, *of: Any, **further: Any) -> None:
        self._of = of
        self.__dict__.update(further)

    def __getattr__(self, name: str) -> Any:
        owner = next((one for one in self._of if hasattr(one, name)), None)
        return getattr(owner, name)


def summary_json(records: Sequence[Loaded]) -> str:
    """Return the summary as JSON text."""
    found = side_by_side(records)
    runs = [_record(record, label) for record, label in zip(records, labels(records), strict=True)]
    rows = [row for row in found.rows if row.k is not None]
    published = _With(
        found,
        schema_version=1,
        generator=f"pytest-memfail {__version__}",
        records=runs,
        paired=found.flips,
        measures_paired=found.shifts,
        by_k=rows,
    )
    return SummaryModel.model_validate(published).model_dump_json(indent=2) + "\n"


def schema_json() -> str:
    """Return the JSON schema of `summary_json`."""
    schema = SummaryModel.model_json_schema(mode="serialization")
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}, indent=2) + "\n"


def _record(record: Loaded, label: str) -> _With:
    summary, header = record.summary(), record.header
    return _With(
        summary,
        record,
        record.header,
        label=label,
        approximate_tokens=summary.approximate,
        haystack=header.haystack or ("full" if header.limit is None else "sample"),
        tasks=[_task(tally, summary) for tally in summary.tasks],
        total=_task(summary.total, summary),
        task_mean=summary.task_mean(),
        task_mean_held=TaskMean.of(tally.memory_held for tally in summary.tasks),
    )


def _task(tally: Tally, summary: Summary) -> _With:
    return _With(tally, success=summary.success(tally), unsteady=tally.flip_rate if tally.repeated else None)
