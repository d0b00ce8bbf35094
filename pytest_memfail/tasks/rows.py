"""Rows of the data sets: CSV with JSON inside cells, every fault reported as file, line, field and expectation."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date as Date  # noqa: N812 - a type
from pathlib import Path
from typing import Annotated, Any, Final, Generic, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from pytest_memfail.core import Detail, RowError

Text = Annotated[str, Field(min_length=1)]
LETTERS = ("A", "B", "C", "D", "E")
ID_PATTERN = re.compile(r"[A-Za-z0-9_.-]+")


def _parse_json(cell: object) -> object:
    if not isinstance(cell, str):
        return cell
    try:
        return json.loads(cell)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON ({error})") from None


def _empty_is_none(cell: object) -> object:
    return None if cell == "" else cell


Json = BeforeValidator(_parse_json)
Texts = Annotated[list[Text], Json]
Place = Annotated[int, Field(ge=0)]
OptionalPlace = Annotated[Place | None, BeforeValidator(_empty_is_none)]
RowId = Annotated[str | None, Field(pattern=r"^[A-Za-z0-9_.-]+$"), BeforeValidator(_empty_is_none)]


class DetailRow(BaseModel):
    """A detail that must survive, with the wordings that keep it."""

    model_config = ConfigDict(extra="forbid")

    part: Text = "detail"
    wordings: Annotated[list[Text], Field(min_length=1)]

    def detail(self) -> Detail:
        """The same as a core value."""
        return Detail(tuple(self.wordings), self.part)


Details = Annotated[list[DetailRow] | None, Json, BeforeValidator(_empty_is_none)]
DetailLists = Annotated[list[list[DetailRow]] | None, Json, BeforeValidator(_empty_is_none)]


class Row(BaseModel):
    """What rows of all tasks may carry beyond the published columns."""

    model_config = ConfigDict(extra="ignore", str_strip_whitespace=True)

    id: RowId = None
    pair_id: RowId = None
    difficulty: str = ""
    notes: str = ""


class ConditionalRow(Row):
    """A rule (entity, behaviour, condition) hidden in an essay, and a context that does or does not meet it."""

    entity: Text
    entity_category: Text
    behavior: Text
    condition_type: Text
    condition: Text
    entity_facts: Annotated[list[Text], Json, Field(min_length=1)]
    question: Text
    question_context: Text
    condition_met: Literal["yes", "no"]
    ground_truth_answer: Text
    evidence_details: Details = None
    rule_sentences: Annotated[dict[str, Place] | None, Json, BeforeValidator(_empty_is_none)] = None
    """Where a hard essay tells behavior, condition and link: 0-based sentence numbers (paper, appendix B.3)."""


class CoexistingRow(Row):
    """Two to five preferences of one category that hold at once."""

    preference_category: Text
    preferences: Annotated[list[Text], Json, Field(min_length=2)]
    preference_facts: Annotated[list[Text], Json, Field(min_length=2)]
    question: Text
    ground_truth_answer: Text
    evidence_details: DetailLists = None

    @model_validator(mode="after")
    def _same_length(self) -> CoexistingRow:
        n = len(self.preferences)
        if len(self.preference_facts) != n:
            raise ValueError(
                f"preference_facts: got {len(self.preference_facts)} facts, expected {n}, one a preference"
            )
        _details_match(self.evidence_details, n, "preference")
        return self


class PersonaQuestion(BaseModel):
    """A question about the essay's person, or about somebody else (misleading)."""

    model_config = ConfigDict(extra="ignore", str_strip_whitespace=True)

    text: Text
    is_misleading: bool
    distractor: str | None = None
    ground_truth_answer: Text
    kind: Literal["direct", "misleading", "other_person"] | None = None
    """`other_person` flags a direct question where somebody else who is stored has a trait like the one asked for."""
    look_alike: str | None = None
    """Who that is."""

    @model_validator(mode="after")
    def _names_distractor(self) -> PersonaQuestion:
        if self.is_misleading and not self.distractor:
            raise ValueError("distractor: got none, expected the name of the person a misleading question is about")
        return self


class PersonaRow(Row):
    """An essay about a named person with three questions."""

    entity: Text
    entity_facts: Annotated[list[Text], Json, Field(min_length=1)]
    questions: Annotated[list[PersonaQuestion], Json, Field(min_length=1)]
    evidence_details: DetailLists = None

    @model_validator(mode="after")
    def _same_length(self) -> PersonaRow:
        _details_match(self.evidence_details, len(self.questions), "question")
        return self


class LongHopRow(Row):
    """A chain of K+1 facts over K+2 anchors, asked as one multiple-choice question."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]+$")]
    hop_count: Annotated[int, Field(ge=1, le=3)]
    fact_1: Text
    fact_2: Text
    fact_3: str = ""
    fact_4: str = ""
    chain_1: Text
    chain_2: Text
    chain_3: Text
    chain_4: str = ""
    chain_5: str = ""
    graded_question: Text
    ground_truth_answer: Text
    choice_a: Text
    choice_b: Text
    choice_c: Text
    choice_d: Text
    choice_e: Text
    correct_choice: Literal["A", "B", "C", "D", "E"]
    evidence_details: DetailLists = None

    @property
    def facts(self) -> list[str]:
        """The K+1 facts, in chain order."""
        return [f for f in (self.fact_1, self.fact_2, self.fact_3, self.fact_4) if f]

    @property
    def anchors(self) -> list[str]:
        """The K+2 anchors, in chain order."""
        return [a for a in (self.chain_1, self.chain_2, self.chain_3, self.chain_4, self.chain_5) if a]

    @property
    def choices(self) -> list[str]:
        """The five options, A to E."""
        return [self.choice_a, self.choice_b, self.choice_c, self.choice_d, self.choice_e]

    @property
    def stem(self) -> str:
        """The question without its options."""
        return self.graded_question.partition("\n\nOptions:")[0].strip()

    @model_validator(mode="after")
    def _consistent(self) -> LongHopRow:
        if len(self.facts) != self.hop_count + 1:
            raise ValueError(f"fact_1..4: got {len(self.facts)} facts, expected hop_count + 1 = {self.hop_count + 1}")
        if len(self.anchors) != self.hop_count + 2:
            raise ValueError(
                f"chain_1..5: got {len(self.anchors)} anchors, expected hop_count + 2 = {self.hop_count + 2}"
            )
        chosen = self.choices[LETTERS.index(self.correct_choice)]
        if chosen.casefold() != self.ground_truth_answer.casefold():
            raise ValueError(
                f"correct_choice: got {self.correct_choice!r} ({chosen!r}), "
                f"expected the letter of the ground truth {self.ground_truth_answer!r}"
            )
        _details_match(self.evidence_details, len(self.facts), "fact")
        return self


class DatedMessage(BaseModel):
    """One thing said on one day."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    date: Date
    text: Text


class UpdatedRow(Row):
    """A fact, what later became of it, and what was said in between (the storage failure of the paper's section 3.2)."""

    kind: Literal["update", "correction", "deletion", "control"]
    entity: Text
    subject: Text
    messages: Annotated[list[DatedMessage], Json, Field(min_length=2)]
    old_value: Text
    current_value: str
    fact_index: Annotated[int, Field(ge=0)]
    old_index: OptionalPlace = None
    decoy_index: OptionalPlace = None
    question: Text
    ground_truth_answer: Text
    stale_values: Texts
    evidence_details: Details = None

    @model_validator(mode="after")
    def _consistent(self) -> UpdatedRow:
        dates = [message.date for message in self.messages]
        if dates != sorted(dates):
            raise ValueError("messages: got dates out of order, expected them from the first to the last")
        for name in ("fact_index", "old_index", "decoy_index"):
            at = getattr(self, name)
            if at is not None and at >= len(self.messages):
                raise ValueError(f"{name}: got {at}, expected 0 to {len(self.messages) - 1} (a place in messages)")
        changes = self.kind != "control"
        if changes != (self.old_index is not None) or changes != bool(self.stale_values):
            raise ValueError(
                f"stale_values: got {len(self.stale_values)} and old_index {self.old_index} in a row of kind {self.kind!r}, "
                f"expected {'both' if changes else 'neither'}"
            )
        if (self.kind == "deletion") == bool(self.current_value):
            expected = "nothing" if self.kind == "deletion" else "the value that holds now"
            raise ValueError(f"current_value: got {self.current_value!r}, expected {expected}")
        return self


MODELS: Final[dict[str, type[Row]]] = {
    "conditional_facts_easy": ConditionalRow,
    "conditional_facts_hard": ConditionalRow,
    "coexisting_facts": CoexistingRow,
    "persona_retrieval": PersonaRow,
    "long_hop": LongHopRow,
    "updated_facts": UpdatedRow,
}
"""What a row of each task must look like."""


def _details_match(details: Sequence[object] | None, n: int, one: str) -> None:
    if details is not None and len(details) != n:
        raise ValueError(f"evidence_details: got {len(details)} lists, expected {n}, one a {one}")


R = TypeVar("R", bound=Row)


@dataclass(frozen=True, slots=True)
class Rows(Generic[R]):
    """The rows of one file, each with its stable id and the 1-based line its record starts on."""

    path: Path
    sha256: str
    rows: tuple[R, ...]
    ids: tuple[str, ...]
    lines: tuple[int, ...]


def read_rows(path: Path, model: type[R], make_id: Callable[[R], str], make_key: Callable[[R], str]) -> Rows[R]:
    """Read and check a whole file.

    `make_id` gives the readable part of an id for rows that carry none, `make_key` the content that tells two rows of
    the same readable id apart; positions never count.

    Raises `RowError` for the first fault, which says how many more there are.
    """
    rows, lines, errors = _read(path, model)
    if not errors:
        ids = row_ids(rows, make_id, make_key)
        for row_id, count in Counter(ids).items():
            if count > 1:
                again = [line for line, other in zip(lines, ids, strict=True) if other == row_id]
                errors.append(
                    RowError(
                        str(path),
                        again[1],
                        "id",
                        f"got {row_id!r} again (first at line {again[0]}), expected unique ids",
                    )
                )
    if errors:
        first, *more = sorted(errors, key=lambda error: error.line)
        if more:
            problem = f"{first.problem} (and {len(more)} more; `memfail validate {path.parent}` lists them)"
            raise RowError(first.file, first.line, first.field, problem)
        raise first
    sha = hashlib.sha256(path.read_bytes()).hexdigest()
    return Rows(path, sha, tuple(rows), tuple(ids), tuple(lines))


def single_row(path: Path, line: int, record: Mapping[str, Any], model: type[R]) -> Rows[R]:
    """The rows of a file as if this record, its cells as text or as values, were the only one.

    Raises `RowError` for its first fault.
    """
    cells = {name: "" if value is None else value for name, value in record.items()}
    try:
        row = model.model_validate(cells)
    except ValidationError as error:
        raise next(iter(_row_errors(str(path), line, error))) from None
    return Rows(path, digest(str(record), 64), (row,), (row.id or "row",), (line,))


def row_errors(path: Path, model: type[Row]) -> list[RowError]:
    """All faults of a file."""
    return _read(path, model)[2]


def _read(path: Path, model: type[R]) -> tuple[list[R], list[int], list[RowError]]:
    rows: list[R] = []
    lines: list[int] = []
    errors: list[RowError] = []
    file = str(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        return rows, lines, [RowError(file, line, "file", f"not UTF-8 ({error.reason} at byte {error.start})")]
    except OSError as error:
        return rows, lines, [RowError(file, 1, "file", f"cannot be read ({error.strerror})")]
    start = 1
    header: list[str] = []
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        for cells in reader:
            if not header:
                header = cells
                errors += _missing_columns(file, header, model)
                if errors:
                    return rows, lines, errors
            elif cells:  # a blank line is no row
                record = dict(zip(header, cells, strict=False))
                if len(cells) > len(header):
                    extra = len(cells) - len(header)
                    errors.append(RowError(file, start, "row", f"got {extra} more cells than the header has columns"))
                elif len(cells) < len(header):
                    missing = header[len(cells)]
                    errors.append(RowError(file, start, missing, "no cell: the row is shorter than the header"))
                else:
                    try:
                        rows.append(model.model_validate(record))
                        lines.append(start)
                    except ValidationError as error:
                        errors.extend(_row_errors(file, start, error))
            start = reader.line_num + 1
    except csv.Error as error:
        errors.append(RowError(file, start, "row", f"not CSV ({error})"))
    if not header:
        errors += _missing_columns(file, header, model)
    if not errors and not rows:
        errors.append(RowError(file, 1, "file", "has no rows"))
    return rows, lines, errors


def _missing_columns(file: str, header: Sequence[str], model: type[Row]) -> Iterable[RowError]:
    for name, info in model.model_fields.items():
        if info.is_required() and name not in header:
            yield RowError(file, 1, name, f"no such column; the file has: {', '.join(header) or 'none'}")


def _row_errors(file: str, line: int, error: ValidationError) -> Iterable[RowError]:
    for fault in error.errors(include_url=False):
        field = ".".join(str(part) for part in fault["loc"])
        message = fault["msg"].removeprefix("Value error, ")
        if own := re.match(r"([\w.]+): (got .*)", message):  # a rule across fields names its own
            field, message = f"{field}.{own[1]}".lstrip("."), own[2]
        elif fault["type"] == "missing":
            message = "got nothing, expected a value"
        elif not message.startswith(("got ", "not JSON")):
            message = f"got {_short(fault['input'])}, expected: {_lower(message)}"
        yield RowError(file, line, field, message)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _lower(message: str) -> str:
    message = message.removeprefix("Input should be ").removeprefix("Input should ")
    return message[:1].lower() + message[1:]


def row_ids(rows: Sequence[R], make_id: Callable[[R], str], make_key: Callable[[R], str]) -> list[str]:
    """A stable id for every row: its own, else a slug of its content (with a digest where two slugs are alike)."""
    slugs = [row.id or slug(make_id(row)) for row in rows]
    counts = Counter(slugs)
    ids = []
    for row, name in zip(rows, slugs, strict=True):
        if row.id is None and counts[name] > 1:
            name = f"{name}-{digest(make_key(row), 6)}"
        ids.append(name)
    return ids


def slug(text: str, words: int = 5) -> str:
    """A short id of `[a-z0-9-]` from the first words of a text.

    >>> slug("Selene composes cryptic messages, daily")
    'selene-composes-cryptic-messages-daily'
    """
    parts = re.findall(r"[a-z0-9]+", text.casefold())
    return "-".join(parts[:words]) or digest(text, 8)


def digest(text: str, length: int) -> str:
    """The first hex digits of the text's SHA-256: the same on every machine."""
    return hashlib.sha256(text.encode()).hexdigest()[:length]
