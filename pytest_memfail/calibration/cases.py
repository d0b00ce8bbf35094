"""Labelled cases, JSON Lines: a row, what a store kept of it, what was retrieved, and the right verdict on each fact."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from pytest_memfail.core import (
    CORRECT,
    NOT_RETRIEVED,
    NOT_STORED,
    SUMMARY_ERROR,
    Evidence,
    Listing,
    Memory,
    Question,
    RowError,
    UsageError,
    one_line,
)
from pytest_memfail.tasks import Protocol, shipped_data, task_of_row

OK: Final = "ok"
"""Stored, faithful and retrieved."""
LABELS: Final = (OK, NOT_STORED, SUMMARY_ERROR, NOT_RETRIEVED)
LABEL_OF: Final = {CORRECT: OK}
"""What a verdict is called as a label, where the two differ."""

LabelName = Literal["ok", "not_stored", "summary_error", "not_retrieved"]
TaskName = Literal[
    "conditional_facts_easy",
    "conditional_facts_hard",
    "coexisting_facts",
    "persona_retrieval",
    "long_hop",
    "updated_facts",
]
Split = Literal["dev", "test"]


class Label(BaseModel):
    """The right verdict on one fact."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    label: LabelName
    accept: tuple[LabelName, ...] = ()
    """All labels that a careful reader could defend; the label itself always is one."""
    kind: str = ""
    """What was done to the fact, in free text."""

    @property
    def accepted(self) -> frozenset[str]:
        """The labels that count as right."""
        return frozenset((self.label, *self.accept))


class _Line(BaseModel):
    """One line of a file of cases."""

    model_config = ConfigDict(extra="forbid")

    case_id: Annotated[str, Field(min_length=1)]
    task: TaskName
    split: Split | None = None
    row: dict[str, Any]
    question_index: Annotated[int, Field(ge=0)] | None = None
    store: tuple[str, ...]
    retrieved: tuple[int, ...]
    facts: Annotated[tuple[Label, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _indices(self) -> _Line:
        for index in self.retrieved:
            if not 0 <= index < len(self.store):
                raise ValueError(
                    f"retrieved: got index {index}, expected 0 to {len(self.store) - 1} (indices into store)"
                )
        return self


@dataclass(frozen=True, slots=True)
class Case:
    """One case, ready to be judged."""

    id: str
    task: str
    split: str | None
    question: Question
    evidence: tuple[Evidence, ...]
    """The expected facts in the row's order."""
    listing: Listing
    shown: tuple[Memory, ...]
    labels: tuple[Label, ...]
    """One a fact."""


def shipped_cases() -> tuple[Path, ...]:
    """The files of the calibration set that comes with the package.

    Raises `UsageError` where they are missing.
    """
    files = tuple(sorted(Path(shipped_data(), "calibration").glob("*.jsonl")))
    if not files:
        raise UsageError(
            f"the calibration set is missing: no *.jsonl in {shipped_data() / 'calibration'}; name a file of cases"
        )
    return files


def read_cases(paths: Sequence[Path], protocol: Protocol = "ours") -> list[Case]:
    """Read and check all cases of the files; blank lines are passed over.

    Raises `RowError` naming file, line and field of the first fault, `UsageError` for a file that cannot be read.
    """
    cases: list[Case] = []
    seen: dict[str, str] = {}
    for path in paths:
        try:
            lines = path.read_text(encoding="utf-8").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{path}: cannot be read as labelled cases ({one_line(error)})") from None
        for number, text in enumerate(lines, 1):
            if not text.strip():
                continue
            case = _case(path, number, text, protocol)
            if case.id in seen:
                raise RowError(
                    str(path),
                    number,
                    "case_id",
                    f"got {case.id!r} again (first at {seen[case.id]}), expected unique ids",
                )
            seen[case.id] = f"{path}:{number}"
            cases.append(case)
    return cases


def _case(path: Path, number: int, text: str, protocol: Protocol) -> Case:
    file = str(path)
    try:
        line = _Line.model_validate(json.loads(text))
    except json.JSONDecodeError as error:
        raise RowError(file, number, "line", f"not JSON ({error.msg} at column {error.colno})") from None
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in fault["loc"]) or "line"
        got = (
            ""
            if fault["type"] in ("missing", "value_error")
            else f"got {one_line(repr(fault['input']), 60)}, expected: "
        )
        raise RowError(file, number, field, got + fault["msg"].removeprefix("Value error, ")) from None
    task = task_of_row(line.task, line.row, protocol, path, number)
    questions = sorted(task.questions, key=lambda question: question.id)
    index = line.question_index or 0
    if index >= len(questions):
        raise RowError(file, number, "question_index", f"got {index}, expected 0 to {len(questions) - 1}")
    question = questions[index]
    if len(line.facts) != len(question.evidence):
        raise RowError(
            file, number, "facts", f"got {len(line.facts)}, expected {len(question.evidence)}, one an expected fact"
        )
    memories = tuple(Memory(text, id=str(at)) for at, text in enumerate(line.store))
    return Case(
        line.case_id,
        line.task,
        line.split,
        question,
        tuple(task.evidence[fact] for fact in question.evidence),
        Listing(line.case_id, memories),
        tuple(memories[at] for at in line.retrieved),
        line.facts,
    )
