"""Labelled cases in JSON Lines: a row, the entries of a store, the retrieved entries, and the right verdict on each fact."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
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
    Part,
    ProtocolName,
    Question,
    RowError,
    Suite,
    SuiteRequest,
    Task,
    UsageError,
    first_problem,
    json_of,
    one_line,
)
from pytest_memfail.rows import Text, read_table
from pytest_memfail.suites import shipped_data

OK: Final = "ok"
"""Stored, faithful and retrieved."""
LABELS: Final = (OK, NOT_STORED, SUMMARY_ERROR, NOT_RETRIEVED)
LABEL_OF: Final = {CORRECT: OK}
"""Maps verdicts to labels if their names differ."""

LabelName = Literal["ok", "not_stored", "summary_error", "not_retrieved"]
Split = Literal["train", "dev", "test"]
SPLITS: Final[tuple[Split, ...]] = get_args(Split)
STYLES: Final = ("atomic", "profile", "keywords", "paragraph", "bullets", "quotes", "verbatim")
"""How a store is written: one fact per line, JSON or YAML, notes with keywords, one paragraph per session, lists,
dialogue, verbatim."""
WRITERS: Final = ("langmem", "mem0", "a-mem", "simplemem")
"""The memory systems that wrote stores; each counts as a style of its own."""
POINTS: Final = "points"
"""The task of plain facts with only a text and a source."""
ROWS: Final = "rows.jsonl"
"""The file with the rows for the cases in the same folder."""
CASES: Final = "cases.jsonl"
REPLIES: Final = "replies.jsonl"


M = TypeVar("M", bound=BaseModel)
L = TypeVar("L", bound="_Line")


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
    details: tuple[Annotated[tuple[str, ...], Field(min_length=1)], ...] = ()
    """The wordings of what must survive; of the only point, as are the others."""
    replaced: tuple[str, ...] = ()
    earlier: str | None = None


class _Row(BaseModel):
    """One line of `rows.jsonl`."""

    model_config = ConfigDict(extra="forbid")

    id: Text
    task: str
    author: str = ""
    domain: str = ""
    row: dict[str, Any]


class _Line(BaseModel):
    """A line about a question: one of a row, which the line has or names, or one of the suite's own sample."""

    model_config = ConfigDict(extra="forbid")

    case_id: Text
    task: str = ""
    row: dict[str, Any] | str = ""
    """The columns of the task's CSV, or the id of a row in `rows.jsonl` or in the task's shipped CSV."""
    question_index: Annotated[int, Field(ge=0)] = 0
    store_id: str = ""
    """The store of the sample that has the question."""
    question: str = ""
    """The id of the question in that store."""
    note: str = ""


class _CaseLine(_Line):
    """One line of a file of cases."""

    split: Split | None = None
    wordings: bool = True
    """Whether the judge gets the wordings that the row lists; users' rows list none."""
    style: str = ""
    store: tuple[str, ...]
    retrieved: tuple[int, ...] = ()
    facts: Annotated[tuple[Label, ...], Field(min_length=1)]
    """A label for each expected fact of a row, or one for a question of the sample."""

    @model_validator(mode="after")
    def _indices(self) -> _CaseLine:
        for index in self.retrieved:
            if not 0 <= index < len(self.store):
                raise ValueError(
                    f"retrieved: got index {index}, expected 0 to {len(self.store) - 1} (indices into store)"
                )
        if self.task and self.style not in ("", *STYLES, *WRITERS):
            raise ValueError(f"style: got {self.style!r}, expected one of {', '.join((*STYLES, *WRITERS))}")
        return self


class _ReplyLine(_Line):
    """One line of `replies.jsonl`."""

    reply: str
    right: bool
    tag: str = ""
    """The label that refines the failure."""


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


def data_hash(folder: Path) -> str:
    """Return the digest of the rows and cases that the offline judge is trained and tuned on (excludes `test`)."""
    more = (f"more/{name}.jsonl" for name in ("rows", "train", "near", "pairs"))
    digest = hashlib.sha256()
    for name in (ROWS, "train.jsonl", "dev.jsonl", *more):
        digest.update((folder / name).read_bytes())
    return digest.hexdigest()


def cases_folder(suite: Suite) -> Path:
    """Return the folder of a suite's labelled cases.

    Raises `UsageError` for a suite without any.
    """
    if suite.cases is None:
        raise UsageError(f"--suite: the suite {suite.name!r} ships no labelled cases")
    return suite.cases()


def shipped_cases(suite: Suite, splits: Sequence[str] = ()) -> tuple[Path, ...]:
    """Return the files of a suite's labelled cases; without splits, dev and test of cases that are split.

    Raises `UsageError` for a suite without cases, for cases that are not split, and for a missing file; a wheel has no
    `train`.
    """
    folder = cases_folder(suite)
    if (whole := folder / CASES).is_file():
        if splits and tuple(splits) != SPLITS:
            raise UsageError(f"--split: the cases of the suite {suite.name!r} are not split; leave it out")
        return (whole,)
    files = tuple(folder / f"{split}.jsonl" for split in splits or ("dev", "test"))
    for path in files:
        if not path.is_file():
            raise UsageError(
                f"the labelled cases have no {path.name} in {folder} (train.jsonl is in the repository only)"
            )
    return files


def read_cases(suite: Suite, paths: Sequence[Path], protocol: ProtocolName = "ours") -> list[Case]:
    """Read and check all cases of the files, ignoring blank lines.

    Raises `RowError` with file, line and field of the first fault, `UsageError` for a file that cannot be read.
    """
    questions = _Questions(suite, protocol)
    return [_case(questions, *each) for each in _lines(paths, _CaseLine)]


def read_replies(suite: Suite) -> list[LabelledReply]:
    """Return the labelled replies of a suite; none if it has none. Raises like `read_cases`."""
    path, questions, replies = cases_folder(suite) / REPLIES, _Questions(suite, "ours"), []
    for place, number, line in _lines([path] if path.is_file() else [], _ReplyLine):
        asked = questions.of(line, place, number)
        replies.append(LabelledReply(line.case_id, asked.group, asked.question, asked.facts, line.reply, line.right))
    return replies


@dataclass(frozen=True, slots=True)
class _Asked:
    """The question of a line."""

    group: str
    question: Question
    facts: tuple[Fact, ...]
    row: _Row | None = None


class _Questions:
    """Finds the questions of lines: rows by id (beside a file of cases, shipped), and the suite's own sample."""

    def __init__(self, suite: Suite, protocol: ProtocolName) -> None:
        self._suite, self._protocol = suite, protocol
        self._beside: dict[Path, dict[str, _Row]] = {}
        self._shipped: dict[str, dict[str, dict[str, Any]]] = {}

    @cached_property
    def _sample(self) -> dict[tuple[str, str], tuple[Task, Question]]:
        tasks = self._suite.load(SuiteRequest())
        return {(plan.id, q.id): (task, q) for task in tasks for plan in task.stores for q in plan.questions}

    def of(self, line: _Line, path: Path, number: int) -> _Asked:
        """Return the question that a line names. Raises `RowError` if there is none."""

        def fault(field: str, problem: str) -> RowError:
            return RowError(str(path), number, field, problem)

        if not line.task:
            if (line.store_id, line.question) not in self._sample:
                got = f"got {line.question!r} of {line.store_id!r}, expected a question of the sample"
                raise fault("question", got)
            task, question = self._sample[line.store_id, line.question]
            group = f"{task.name}.{question.part}" if question.part else task.name
            return _Asked(group, question, tuple(task.evidence[name] for name in question.evidence))
        make = self._suite.row_task
        known = (*(self._suite.parts if make else ()), POINTS)
        if line.task not in known:
            raise fault("task", f"got {line.task!r}, expected one of {', '.join(known)}")
        row = (
            _Row(id=line.case_id, task=line.task, row=line.row) if isinstance(line.row, dict) else self._row(line, path)
        )
        if row is None:
            rows = path.parent / ROWS
            raise fault("row", f"got {line.row!r}, expected a row, or the id of one in {rows} or of a shipped one")
        if row.task != line.task:
            raise fault("task", f"got {line.task!r}, but the row {row.id!r} is of {row.task!r}")
        if make is None or line.task == POINTS:
            questions, evidence = _points(row, path, number)
        else:
            task = make(line.task, row.row, self._protocol, path, number)
            questions, evidence = sorted(task.questions, key=lambda question: question.id), dict(task.evidence)
        if line.question_index >= len(questions):
            raise fault("question_index", f"got {line.question_index}, expected 0 to {len(questions) - 1}")
        question = questions[line.question_index]
        return _Asked(line.task, question, tuple(evidence[name] for name in question.evidence), row)

    def _row(self, line: _Line, path: Path) -> _Row | None:
        """Return the row that a line names; None if there is none with that id."""
        assert isinstance(line.row, str)
        # a sample of the shipped cases needs no rows of its own
        for folder in (path.parent, *([] if self._suite.cases is None else [self._suite.cases()])):
            rows = self._beside.get(folder)
            if rows is None:
                file = folder / ROWS
                lines = _numbered(file) if file.is_file() else ()
                parsed = [_parsed(file, number, text, _Row) for number, text in lines]
                rows = self._beside[folder] = {row.id: row for row in parsed}
            if (found := rows.get(line.row)) is not None:
                return found
        shipped = self._shipped.get(line.task)
        if shipped is None:
            file = shipped_data() / f"{line.task}.csv"
            shipped = self._shipped[line.task] = {}
            if file.is_file():
                shipped.update({cells["id"]: cells for _, cells in read_table(file).rows})
        cells = shipped.get(line.row)
        return None if cells is None else _Row(id=line.row, task=line.task, author="shipped", row=cells)


def _parsed(path: Path, number: int, text: str, model: type[M]) -> M:
    try:
        return model.model_validate(json_of(text))
    except json.JSONDecodeError as error:
        raise RowError(str(path), number, "line", f"not JSON ({error.msg} at column {error.colno})") from None
    except RecursionError:
        raise RowError(str(path), number, "line", "not JSON (nested too deeply)") from None
    except ValidationError as error:
        raise _fault(str(path), number, error, model) from None


def _fault(file: str, number: int, error: ValidationError, model: type[BaseModel]) -> RowError:
    field, problem = first_problem(error, [*model.model_fields, *Label.model_fields])
    return RowError(file, number, field or "line", problem)


def _lines(paths: Sequence[Path], model: type[L]) -> Iterator[tuple[Path, int, L]]:
    """Yield the checked lines of files with their places. Raises `RowError` for a repeated id too."""
    seen: dict[str, str] = {}
    for path in paths:
        for number, text in _numbered(path):
            line = _parsed(path, number, text, model)
            if line.case_id in seen:
                again = f"got {line.case_id!r} again (first at {seen[line.case_id]}), expected unique ids"
                raise RowError(str(path), number, "case_id", again)
            seen[line.case_id] = f"{path}:{number}"
            yield path, number, line


def _numbered(path: Path) -> Iterator[tuple[int, str]]:
    """Return the lines of a file that are not blank, with their numbers from 1."""
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read as labelled cases ({one_line(error)})") from None
    return ((number, text) for number, text in enumerate(lines, 1) if text.strip())


def _case(questions: _Questions, path: Path, number: int, line: _CaseLine) -> Case:
    asked = questions.of(line, path, number)
    row, labels = asked.row, 1 if asked.row is None else len(asked.facts)
    if len(line.facts) != labels:
        one = "one per expected fact" if row else "the question's label"
        raise RowError(str(path), number, "facts", f"got {len(line.facts)}, expected {labels}, {one}")
    memories = tuple(Memory(text, id=None if row is None else str(at)) for at, text in enumerate(line.store))
    columns = {} if row is None else row.row
    return Case(
        id=line.case_id,
        task=asked.group,
        split=line.split,
        question=asked.question,
        evidence=asked.facts if line.wordings else tuple(map(_without_wordings, asked.facts)),
        listing=Listing(line.case_id, memories),
        shown=tuple(memories[at] for at in line.retrieved),
        labels=line.facts,
        style=line.style,
        row="" if row is None else row.id,
        author="" if row is None else row.author,
        domain="" if row is None else row.domain,
        columns=columns if line.wordings else {k: v for k, v in columns.items() if k != "evidence_details"},
        is_of_question=row is None,
    )


def _without_wordings(fact: Fact) -> Fact:
    parts = tuple(part for part in fact.claim.parts if not part.wordings)
    return replace(fact, claim=replace(fact.claim, parts=parts, endings=()))


def _points(row: _Row, path: Path, number: int) -> tuple[list[Question], dict[str, Fact]]:
    """Return the question about plain points, which asks for all of them, and their evidence."""
    try:
        point_row = PointsRow.model_validate(row.row)
    except ValidationError as error:
        raise _fault(str(path), number, error, PointsRow) from None
    evidence = {
        f"{row.id}:{i}": Fact(
            id=f"{row.id}:{i}",
            kind="point",
            text=point,
            source=point_row.source,
            conversation_id=row.id,
            claim=Claim(
                (Part(point), *(Part(wordings[0], wordings=wordings) for wordings in point_row.details)),
                owner=None if point_row.owner.casefold() == "the user" else point_row.owner,
                siblings=point_row.points[: i - 1] + point_row.points[i:],
                replaced=point_row.replaced,
                earlier=point_row.earlier,
            ),
        )
        for i, point in enumerate(point_row.points, 1)
    }
    text = f"What is known of {point_row.owner}?"
    return [Question(row.id, POINTS, text, text, point_row.points, tuple(evidence), "open")], evidence
