"""Labelled cases in JSON Lines: a row, the entries of a store, the retrieved entries, and the right verdict on each fact."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from pytest_memfail.core import (
    CORRECT,
    NOT_RETRIEVED,
    NOT_STORED,
    SUMMARY_ERROR,
    Claim,
    Fact,
    Listing,
    Memory,
    ProtocolName,
    Question,
    RowError,
    UsageError,
    json_of,
    one_line,
)
from pytest_memfail.rows import read_table
from pytest_memfail.suites import shipped_data, task_of_row

OK: Final = "ok"
"""Stored, faithful and retrieved."""
LABELS: Final = (OK, NOT_STORED, SUMMARY_ERROR, NOT_RETRIEVED)
LABEL_OF: Final = {CORRECT: OK}
"""Maps verdicts to labels if their names differ."""

LabelName = Literal["ok", "not_stored", "summary_error", "not_retrieved"]
TaskName = Literal[
    "conditional_facts_easy",
    "conditional_facts_hard",
    "coexisting_facts",
    "persona_retrieval",
    "long_hop",
    "updated_facts",
    "points",
]
Split = Literal["train", "dev", "test"]
SPLITS: Final[tuple[Split, ...]] = get_args(Split)
STYLES: Final = ("atomic", "profile", "keywords", "paragraph", "bullets", "quotes", "verbatim")
"""How a store is written: one fact per line, JSON or YAML, notes with keywords, one paragraph per session, lists,
dialogue, verbatim."""
POINTS: Final = "points"
"""The task of plain facts with only a text and a source."""
ROWS: Final = "rows.jsonl"
"""The file with the rows for the cases in the same folder."""


class Label(BaseModel):
    """The right verdict on one fact."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    label: LabelName
    accept: tuple[LabelName, ...] = ()
    """All labels that a careful reader could defend; always includes the label itself."""
    kind: str = ""
    """What was done to the fact, in free text."""

    @property
    def accepted(self) -> frozenset[str]:
        """Return the labels that count as right."""
        return frozenset((self.label, *self.accept))


class PointsRow(BaseModel):
    """A statement, and the points that a careful note-taker would list from it."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    owner: Annotated[str, Field(min_length=1)]
    source: Annotated[str, Field(min_length=1)]
    points: Annotated[tuple[str, ...], Field(min_length=1)]


class _Row(BaseModel):
    """One line of `rows.jsonl`."""

    model_config = ConfigDict(extra="forbid")

    id: Annotated[str, Field(min_length=1)]
    task: TaskName
    author: str = ""
    domain: str = ""
    row: dict[str, Any]


class _Line(BaseModel):
    """One line of a file of cases."""

    model_config = ConfigDict(extra="forbid")

    case_id: Annotated[str, Field(min_length=1)]
    task: TaskName
    split: Split | None = None
    row: dict[str, Any] | str
    """The columns of the task's CSV, or the id of a row in `rows.jsonl` or in the task's shipped CSV."""
    question_index: Annotated[int, Field(ge=0)] | None = None
    wordings: bool = True
    """Whether the judge gets the wordings that the row lists; users' rows list none."""
    style: Annotated[str, Field(pattern=f"^({'|'.join(STYLES)}|)$")] = ""
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
    evidence: tuple[Fact, ...]
    """The expected facts in the row's order."""
    listing: Listing
    shown: tuple[Memory, ...]
    labels: tuple[Label, ...]
    """One label per fact; in a case of a suite, one for the question."""
    style: str = ""
    row: str = ""
    """Id of the row; the case's own id if it contains the row."""
    author: str = ""
    domain: str = ""
    columns: Mapping[str, Any] = field(default_factory=dict)
    """The row itself."""
    is_of_question: bool = False
    """Whether the label applies to the whole question."""


def calibration_folder() -> Path:
    """Return the folder of the shipped calibration set."""
    return Path(shipped_data(), "calibration")


def data_hash(folder: Path) -> str:
    """Return the digest of the rows and cases that the offline judge is trained and tuned on (excludes `test`)."""
    digest = hashlib.sha256()
    for name in (ROWS, "train.jsonl", "dev.jsonl"):
        digest.update((folder / name).read_bytes())
    return digest.hexdigest()


def shipped_cases(splits: Sequence[str] = ("dev", "test")) -> tuple[Path, ...]:
    """Return the files of these splits of the shipped calibration set.

    Raises `UsageError` if one is missing; a wheel has no `train`.
    """
    folder = calibration_folder()
    files = tuple(folder / f"{split}.jsonl" for split in splits)
    for path in files:
        if not path.is_file():
            raise UsageError(
                f"the calibration set has no {path.name} in {folder} (train.jsonl is in the repository only)"
            )
    return files


def read_cases(paths: Sequence[Path], protocol: ProtocolName = "ours") -> list[Case]:
    """Read and check all cases of the files, ignoring blank lines.

    Raises `RowError` with file, line and field of the first fault, `UsageError` for a file that cannot be read.
    """
    cases: list[Case] = []
    seen: dict[str, str] = {}
    rows = _Rows()
    for path in paths:
        for number, text in _numbered(path):
            case = _case(path, number, text, protocol, rows)
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


def _numbered(path: Path) -> Iterator[tuple[int, str]]:
    """Return the lines of a file that are not blank, with their numbers from 1."""
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read as labelled cases ({one_line(error)})") from None
    return ((number, text) for number, text in enumerate(lines, 1) if text.strip())


class _Rows:
    """Rows by id: of `rows.jsonl` beside a file of cases, of the shipped labelled cases, and of the shipped CSV files."""

    def __init__(self) -> None:
        self._beside: dict[Path, dict[str, _Row]] = {}
        self._shipped: dict[str, dict[str, dict[str, Any]]] = {}

    def find(self, case: _Line, path: Path) -> _Row | None:
        """Return the row that a case names; None if there is none with that id."""
        assert isinstance(case.row, str)
        for folder in (path.parent, calibration_folder()):  # a sample of the shipped cases needs no rows of its own
            rows = self._beside.get(folder)
            if rows is None:
                file = folder / ROWS
                lines = _numbered(file) if file.is_file() else ()
                parsed = [_parsed(file, number, text, _Row) for number, text in lines]
                rows = self._beside[folder] = {row.id: row for row in parsed}
            if (found := rows.get(case.row)) is not None:
                return found
        shipped = self._shipped.get(case.task)
        if shipped is None:
            file = shipped_data() / f"{case.task}.csv"
            shipped = self._shipped[case.task] = {}
            if file.is_file():
                shipped.update({cells["id"]: cells for _, cells in read_table(file).rows})
        cells = shipped.get(case.row)
        return None if cells is None else _Row(id=case.row, task=case.task, author="shipped", row=cells)


M = TypeVar("M", bound=BaseModel)


def _parsed(path: Path, number: int, text: str, model: type[M]) -> M:
    try:
        return model.model_validate(json_of(text))
    except json.JSONDecodeError as error:
        raise RowError(str(path), number, "line", f"not JSON ({error.msg} at column {error.colno})") from None
    except RecursionError:
        raise RowError(str(path), number, "line", "not JSON (nested too deeply)") from None
    except ValidationError as error:
        raise _fault(str(path), number, error) from None


def _fault(file: str, number: int, error: ValidationError) -> RowError:
    fault = error.errors(include_url=False)[0]
    field = ".".join(str(part) for part in fault["loc"]) or "line"
    got = "" if fault["type"] in ("missing", "value_error") else f"got {one_line(repr(fault['input']), 60)}, expected: "
    return RowError(file, number, field, got + fault["msg"].removeprefix("Value error, "))


def _case(path: Path, number: int, text: str, protocol: ProtocolName, rows: _Rows) -> Case:
    file = str(path)
    line = _parsed(path, number, text, _Line)
    row = _Row(id=line.case_id, task=line.task, row=line.row) if isinstance(line.row, dict) else rows.find(line, path)
    if row is None:
        raise RowError(
            file,
            number,
            "row",
            f"got {line.row!r}, expected a row, or the id of one in {path.parent / ROWS} or of a shipped one",
        )
    if row.task != line.task:
        raise RowError(file, number, "task", f"got {line.task!r}, but the row {row.id!r} is of {row.task!r}")
    if line.task == POINTS:
        questions, evidence = _points(row, path, number)
    else:
        task = task_of_row(line.task, row.row, protocol, path, number)
        questions, evidence = sorted(task.questions, key=lambda question: question.id), dict(task.evidence)
    if not line.wordings:
        evidence = {name: _without_wordings(fact) for name, fact in evidence.items()}
    index = line.question_index or 0
    if index >= len(questions):
        raise RowError(file, number, "question_index", f"got {index}, expected 0 to {len(questions) - 1}")
    question = questions[index]
    if len(line.facts) != len(question.evidence):
        raise RowError(
            file, number, "facts", f"got {len(line.facts)}, expected {len(question.evidence)}, one per expected fact"
        )
    memories = tuple(Memory(text, id=str(at)) for at, text in enumerate(line.store))
    return Case(
        line.case_id,
        line.task,
        line.split,
        question,
        tuple(evidence[fact] for fact in question.evidence),
        Listing(line.case_id, memories),
        tuple(memories[at] for at in line.retrieved),
        line.facts,
        line.style,
        row.id,
        row.author,
        row.domain,
        row.row if line.wordings else {name: value for name, value in row.row.items() if name != "evidence_details"},
    )


def _without_wordings(fact: Fact) -> Fact:
    parts = tuple(part for part in fact.claim.parts if not part.wordings)
    return replace(fact, claim=replace(fact.claim, parts=parts, endings=()))


def _points(row: _Row, path: Path, number: int) -> tuple[list[Question], dict[str, Fact]]:
    """Return the question about plain points, which asks for all of them, and their evidence."""
    try:
        point_row = PointsRow.model_validate(row.row)
    except ValidationError as error:
        raise _fault(str(path), number, error) from None
    evidence = {
        f"{row.id}:{i}": Fact(
            id=f"{row.id}:{i}",
            kind="point",
            text=point,
            source=point_row.source,
            conversation_id=row.id,
            claim=Claim(
                owner=None if point_row.owner.casefold() == "the user" else point_row.owner,
                siblings=point_row.points[: i - 1] + point_row.points[i:],
            ),
        )
        for i, point in enumerate(point_row.points, 1)
    }
    text = f"What is known of {point_row.owner}?"
    return [Question(row.id, POINTS, text, text, point_row.points, tuple(evidence), "open")], evidence
