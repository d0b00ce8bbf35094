"""Write the summary as JSON for other tools, with a published schema."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from pytest_memfail._version import __version__
from pytest_memfail.core import CORRECT
from pytest_memfail.records import Gate, Rate, SuiteRecord
from pytest_memfail.results import HELD, Loaded, Shift, SideBySide, Summary, Tally, labels, side_by_side, success

SCHEMA_FILE: Final = Path(__file__).with_name("summary.schema.json")
"""The published schema; a test compares it with the models below."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RateModel(_Model):
    """A share with its denominator and its 95 % Wilson interval."""

    count: int = Field(ge=0)
    n: int = Field(ge=0)
    value: float | None = Field(ge=0, le=1, description="null if n is 0")
    low: float = Field(ge=0, le=1)
    high: float = Field(ge=0, le=1)


class TaskModel(_Model):
    """A task, or all of them."""

    task: str
    n: int = Field(ge=0, description="all questions")
    verdicts: dict[str, int]
    vacuous: int = Field(ge=0, description="correct answers whose facts were not there to be misused")
    success: RateModel = Field(description="by the measure of the record")
    memory_held: RateModel = Field(description="questions whose facts were all stored, faithful and retrieved")
    facts_held: RateModel = Field(
        description="single facts of the same questions that were stored, faithful and retrieved; the interval takes the facts of "
        "a row together"
    )
    misleading: int = Field(ge=0, description="questions about somebody of whom nothing is known; not in memory_held")
    abstention: RateModel = Field(
        description="misleading questions with a verdict that were not answered from somebody else's details, vacuous passes in; "
        "says nothing where no answer was judged"
    )
    shown_tokens: float | None = Field(
        description="mean tokens shown per question (cl100k_base); null where none were counted"
    )
    shown_share: float | None = Field(description="mean share of its store, by tokens, that a question was shown")
    cut_entries: int = Field(ge=0, description="entries that were returned beyond k and cut")
    facts: dict[str, dict[str, int]] = Field(description="verdicts per expected fact, by stratum")
    unsteady: RateModel | None = Field(
        description="questions whose verdicts differed between repeats; null if none was asked more than once"
    )


class StoreModel(_Model):
    """The cost and content of the stores of a task."""

    task: str
    stores: int
    conversations: int
    memories: int
    tokens: int | None
    fill_seconds: float
    retrieve_p50: float | None = Field(description="seconds")
    retrieve_p95: float | None = Field(description="seconds")
    retrieve_seconds: float = Field(description="of all retrievals together")


class PairedModel(_Model):
    """The same questions in the baseline and in the run."""

    name: str
    n: int
    worse: int
    better: int
    p: float = Field(ge=0, le=1, description="exact McNemar test, one-sided, questions of a row together")
    corrected: float | None = Field(ge=0, le=1, description="after Holm's correction over the tasks")


class CheckModel(_Model):
    """One expression, for all questions or for one task."""

    expression: str
    task: str | None
    outcome: Literal["passed", "failed", "undecided", "skipped"]
    reason: str = Field(description="why it is undecided or skipped")
    rate: RateModel | None
    value: float | None = Field(description="tokens shown per question, or the value of a suite's measure")
    approximate: bool = Field(description="whether these tokens were counted approximately")
    paired: PairedModel | None
    anchored: bool = Field(description="whether it compares with the anchor instead of the baseline")


class FlipModel(_Model):
    """A question whose verdict differs from the baseline."""

    id: str
    task: str
    old: str
    new: str
    change: Literal["worse", "better", "other"]


class AnchorModel(_Model):
    """The run that moves only on purpose, and the changes since."""

    path: str
    reason: str = Field(description="why it was last moved")
    flips: list[FlipModel]


class GateModel(_Model):
    """Whether the run may pass."""

    outcome: Literal["passed", "failed", "undecided", "skipped"]
    baseline: str | None
    notes: list[str]
    checks: list[CheckModel]
    flips: list[FlipModel]
    detectable: float | None = Field(description="smallest true drop found in four of five runs, as a share")
    anchor: AnchorModel | None


class MeasureModel(_Model):
    """A number that a suite's paper defines."""

    name: str
    title: str
    value: float | None = Field(description="null if the measure could not be computed")
    n: int = Field(ge=0)
    low: float | None
    high: float | None
    lacks: str | None = Field(description="why there is no value")
    note: str | None = Field(default=None, description="what is to be known beside the value")
    part: str | None = Field(description="the part that it measures; null: the whole suite")


class SuiteModel(_Model):
    """The results of a suite's own measures."""

    suite: str
    k: int
    measures: list[MeasureModel]
    labels: dict[str, int] = Field(description="questions by label")
    proxies: list[str] = Field(description="rows of the table whose facts are only gold strings, not annotated")


class RecordModel(_Model):
    """One run."""

    label: str
    system: str
    system_options: dict[str, str]
    judge: str
    model: str | None = Field(description="the test-taker")
    protocol: str
    k: list[int]
    seed: int
    shown_tokens: int | None = Field(description="tokens shown per question, at most; null: no limit")
    approximate_tokens: str | None = Field(description="why tokens were counted approximately; null: by cl100k_base")
    limit: int | None
    haystack: Literal["full", "sample"] = Field(description="whether a limited run stored all conversations")
    repeats: int = Field(ge=1, description="how often each question was asked; the majority's verdict counts")
    started: str | None
    complete: bool
    untrusted: str | None = Field(description="why the rates cannot be trusted; null if they can")
    measure: Literal["correct", "memory held"]
    tasks: list[TaskModel]
    total: TaskModel
    suites: list[SuiteModel] = Field(description="of suites with measures of their own")
    stores: list[StoreModel]
    models: list[dict[str, Any]] = Field(description="calls, tokens and cost by stage and model")
    gate: GateModel | None
    warnings: list[str]


class FlipsModel(_Model):
    """The first record compared with another, on the questions decided in both."""

    task: str
    record: int = Field(ge=1, description="index in records")
    n: int
    worse: int
    better: int
    p: float = Field(ge=0, le=1, description="exact McNemar test, two-sided, questions of a row together")


class ShiftModel(_Model):
    """A measure of a suite in another record minus that in the first, over the questions of both."""

    suite: str
    k: int
    measure: str
    record: int = Field(ge=1, description="index in records")
    clusters: int = Field(ge=0, description="clusters of questions that stand and fall together")
    difference: float
    low: float | None = Field(description="of the 95 % interval by a paired bootstrap over clusters; null for too few")
    high: float | None


class KModel(_Model):
    """Success over all tasks with one k."""

    record: int = Field(ge=0)
    k: int
    success: RateModel


class SummaryModel(_Model):
    """Summary of one or several memfail records."""

    schema_version: Literal[1] = 1
    generator: str
    records: list[RecordModel] = Field(min_length=1)
    paired: list[FlipsModel]
    measures_paired: list[ShiftModel]
    by_k: list[KModel]
    notes: list[str]


def summary_json(records: Sequence[Loaded]) -> str:
    """Return the summary as JSON text."""
    found = side_by_side(records)
    model = SummaryModel(
        generator=f"pytest-memfail {__version__}",
        records=[_record(record, label) for record, label in zip(records, labels(records), strict=True)],
        paired=[
            FlipsModel(task=f.task, record=f.record, n=f.n, worse=f.worse, better=f.better, p=f.p) for f in found.flips
        ],
        measures_paired=[_shift(shift) for shift in found.shifts],
        by_k=_by_k(found),
        notes=list(found.notes),
    )
    return model.model_dump_json(indent=2) + "\n"


def schema_json() -> str:
    """Return the JSON schema of `summary_json`."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **SummaryModel.model_json_schema()}
    return json.dumps(schema, indent=2) + "\n"


def _shift(shift: Shift) -> ShiftModel:
    low, high = shift.interval or (None, None)
    return ShiftModel(
        suite=shift.suite,
        k=shift.k,
        measure=shift.measure,
        record=shift.record,
        clusters=shift.clusters,
        difference=shift.difference,
        low=low,
        high=high,
    )


def _by_k(found: SideBySide) -> list[KModel]:
    return [KModel(record=i, k=k, success=_rate(rate)) for i, k, rate in found.by_k]


def _record(record: Loaded, label: str) -> RecordModel:
    summary, header = record.summary(), record.header
    return RecordModel(
        label=label,
        system=header.system,
        system_options=dict(header.system_options),
        judge=header.judge,
        model=header.test_taker,
        protocol=record.protocol,
        k=list(header.k),
        seed=header.seed,
        shown_tokens=header.shown_tokens,
        approximate_tokens=summary.approximate,
        limit=header.limit,
        haystack=header.haystack or ("full" if header.limit is None else "sample"),
        repeats=record.repeats,
        started=header.started,
        complete=record.complete,
        untrusted=summary.untrusted,
        measure=CORRECT if summary.answered else HELD,
        tasks=[_task(tally, summary, record.protocol) for tally in summary.tasks],
        total=_task(summary.total, summary, record.protocol),
        suites=[_suite(suite) for suite in summary.suites],
        stores=[
            StoreModel(
                task=f.name,
                stores=f.stores,
                conversations=f.conversations,
                memories=f.memories,
                tokens=f.tokens,
                fill_seconds=f.fill_seconds,
                retrieve_p50=f.retrieve_p50,
                retrieve_p95=f.retrieve_p95,
                retrieve_seconds=f.retrieve_seconds,
            )
            for f in summary.stores
        ],
        models=[dict(row) for row in summary.models],
        gate=None if summary.gate is None else _gate(summary.gate),
        warnings=list(summary.warnings),
    )


def _suite(suite: SuiteRecord) -> SuiteModel:
    return SuiteModel(
        suite=suite.name,
        k=suite.k,
        measures=[
            MeasureModel(
                name=score.name,
                title=score.title,
                value=score.value,
                n=score.n,
                low=score.low,
                high=score.high,
                lacks=score.lacks,
                note=score.note,
                part=score.part,
            )
            for score in suite.scores
        ],
        labels=dict(suite.labels),
        proxies=list(suite.proxies),
    )


def _gate(gate: Gate) -> GateModel:
    found = {
        "outcome": gate.outcome,
        "baseline": gate.baseline,
        "notes": list(gate.notes),
        "checks": [
            {**asdict(check), "rate": None if check.rate is None else _rate(check.rate)} for check in gate.checks
        ],
        "flips": [asdict(flip) for flip in gate.comparison.flips] if gate.comparison is not None else [],
        "detectable": gate.detectable,
        "anchor": None
        if gate.anchor is None
        else {
            "path": gate.anchor.path,
            "reason": gate.anchor.reason,
            "flips": [asdict(flip) for flip in gate.anchor.comparison.flips],
        },
    }
    return GateModel.model_validate(found)


def _task(tally: Tally, summary: Summary, protocol: str) -> TaskModel:
    return TaskModel(
        task=tally.name,
        n=tally.n,
        verdicts=dict(tally.verdicts),
        vacuous=tally.vacuous,
        success=_rate(success(tally, answered=summary.answered, protocol=protocol)),
        memory_held=_rate(tally.memory_held),
        facts_held=_rate(tally.facts_held),
        misleading=tally.misleading,
        abstention=_rate(tally.abstention),
        shown_tokens=tally.shown_tokens,
        shown_share=tally.shown_share,
        cut_entries=tally.cut_entries,
        facts={stratum: dict(counts) for stratum, counts in tally.facts.items()},
        unsteady=_rate(tally.flip_rate) if tally.repeated else None,
    )


def _rate(rate: Rate) -> RateModel:
    return RateModel(count=rate.count, n=rate.n, value=rate.value, low=rate.low, high=rate.high)
