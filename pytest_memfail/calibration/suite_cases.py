"""Labelled cases of a suite: stores for questions of its sample, and right and wrong replies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from pytest_memfail.calibration.cases import Case, Label, LabelName
from pytest_memfail.calibration.check import judge_all
from pytest_memfail.core import (
    Fact,
    Judge,
    Listing,
    MemfailError,
    Memory,
    Question,
    Reply,
    RowError,
    StageResult,
    Suite,
    SuiteRequest,
    UsageError,
)
from pytest_memfail.hosting import DaemonPool
from pytest_memfail.rows import JsonRow, read_json_rows


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid")

    case_id: Annotated[str, Field(min_length=1)]
    store_id: str
    question: str
    """Id of a question in that store."""
    tag: str | None = None
    """The label that refines the failure."""
    note: str = ""


class _CaseLine(_Line):
    style: str = ""
    store: tuple[str, ...]
    retrieved: tuple[int, ...] = ()
    label: LabelName
    accept: tuple[LabelName, ...] = ()


class _ReplyLine(_Line):
    reply: str
    right: bool


@dataclass(frozen=True, slots=True)
class LabelledReply:
    """A reply to a question, and whether it is right."""

    id: str
    group: str
    """`task.part` of the question."""
    question: Question
    evidence: tuple[Fact, ...]
    reply: str
    right: bool


@dataclass(frozen=True, slots=True)
class GradedReply:
    """A reply with the judge's result."""

    case: LabelledReply
    outcome: str
    """`passed`, `failed`, `ungraded`, or `error`."""
    reason: str


def suite_cases(suite: Suite) -> tuple[list[Case], list[LabelledReply]]:
    """Return the labelled cases and replies that a suite ships.

    Raises `UsageError` for a suite without any, `RowError` for the first faulty line.
    """
    if suite.cases is None:
        raise UsageError(f"--suite: the suite {suite.name!r} ships no labelled cases")
    folder = suite.cases()
    tasks = suite.load(SuiteRequest())
    places = {(plan.id, q.id): (task, q) for task in tasks for plan in task.stores for q in plan.questions}

    def lines(name: str, model: type[_CaseLine] | type[_ReplyLine]) -> list[JsonRow[_CaseLine | _ReplyLine]]:
        rows, faults, _ = read_json_rows(folder / name, model, "case")
        for row in rows:
            line = row.value
            if (line.store_id, line.question) not in places:
                got = f"got {line.question!r} of {line.store_id!r}, expected a question of the sample"
                faults.append(RowError(str(folder / name), row.line, f"{line.case_id}: question", got))
            elif isinstance(line, _CaseLine) and not all(0 <= i < len(line.store) for i in line.retrieved):
                faults.append(
                    RowError(str(folder / name), row.line, f"{line.case_id}: retrieved", "expected places in its store")
                )
        if faults:
            raise faults[0]
        return list(rows)

    cases, replies = [], []
    for line in (row.value for row in (*lines("cases.jsonl", _CaseLine), *lines("replies.jsonl", _ReplyLine))):
        task, question = places[line.store_id, line.question]
        evidence = tuple(task.evidence[name] for name in question.evidence)
        group = f"{task.name}.{question.part}" if question.part else task.name
        if isinstance(line, _ReplyLine):
            replies.append(LabelledReply(line.case_id, group, question, evidence, line.reply, line.right))
            continue
        memories = tuple(map(Memory, line.store))
        cases.append(
            Case(
                id=line.case_id,
                task=group,
                split=None,
                question=question,
                evidence=evidence,
                listing=Listing(line.case_id, memories),
                shown=tuple(memories[i] for i in line.retrieved),
                labels=(Label(label=line.label, accept=line.accept, kind=line.tag or ""),),
                is_of_question=True,
                style=line.style,
            )
        )
    return cases, replies


def grade_replies(
    judge: Judge, replies: Sequence[LabelledReply], *, concurrency: int = 32, found: list[GradedReply] | None = None
) -> list[GradedReply]:
    """Return the judge's result for each reply, in the given order; if the judge failed on a reply, it is an `error`.

    `found` receives each result at once.
    """

    async def one(case: LabelledReply, _: DaemonPool) -> GradedReply:
        try:
            answer = judge.answer(case.question, case.evidence, Reply(case.reply))
            result = answer if isinstance(answer, StageResult) else await answer
        except MemfailError as error:
            return GradedReply(case, "error", str(error))
        return GradedReply(case, result.outcome, result.reason)

    return judge_all(judge, replies, one, concurrency=concurrency, progress=int, close=None, found=found)


def reply_measures(graded: Sequence[GradedReply]) -> dict[str, Any]:
    """Return, by part and in total, how many replies a judge decided and how many of these as labelled; and the disagreements."""

    def counts(some: Sequence[GradedReply]) -> dict[str, int]:
        decided = [one for one in some if one.outcome in ("passed", "failed")]
        right = sum((one.outcome == "passed") == one.case.right for one in decided)
        return {"n": len(some), "decided": len(decided), "right": right}

    groups = dict.fromkeys(one.case.group for one in graded)
    return {
        "groups": {
            **{name: counts([one for one in graded if one.case.group == name]) for name in groups},
            "all": counts(graded),
        },
        "disagreements": [
            {
                "case_id": one.case.id,
                "label": "right" if one.case.right else "wrong",
                "outcome": one.outcome,
                "reason": one.reason,
            }
            for one in graded
            if one.outcome == "error" or (one.outcome != "ungraded" and (one.outcome == "passed") != one.case.right)
        ],
    }
