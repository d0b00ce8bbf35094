"""The published format of LongMemEval (arXiv 2410.10813): each row is a question with the sessions to remember."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, model_validator

from pytest_memfail.core import OURS, Source, short
from pytest_memfail.rows import RowStream
from pytest_memfail.suites.turns import read_date

NAME: Final = "longmemeval"
TYPES: Final = (
    "single-session-user",
    "single-session-assistant",
    "single-session-preference",
    "multi-session",
    "knowledge-update",
    "temporal-reasoning",
)
ABSTENTION: Final = "_abs"
"""The end of the id of a question that cannot be answered."""
SAMPLE: Final = "questions.json"
"""The file of our own questions, or of questions of your own in the same format."""
SOURCE: Final = Source(
    url="https://huggingface.co/datasets/xiaowu0162/longmemeval",
    licence="MIT",
    files={
        "oracle": ("longmemeval_oracle.json",),
        "s": ("longmemeval_s.json", "longmemeval_s_cleaned.json"),
        "m": ("longmemeval_m.json", "longmemeval_m_cleaned.json"),
        OURS: (SAMPLE,),
    },
    size="500 questions",
)
_SINGLE: Final = re.compile(r"(\d+)_.+\.json")


def _date(value: Any) -> Any:
    if isinstance(value, datetime):
        return value
    if not isinstance(value, str) or (found := read_date(value.strip())) is None:
        raise ValueError(f"got {short(value)}, expected a time such as '2023/05/30 (Tue) 23:40'")
    return found


def _type(value: Any) -> Any:
    if value not in TYPES:
        raise ValueError(f"got {short(value)}, expected one of {', '.join(TYPES)}")
    return value


Date = Annotated[datetime, BeforeValidator(_date)]
Answer = Annotated[str, BeforeValidator(lambda v: str(v) if isinstance(v, int) and not isinstance(v, bool) else v)]
"""The right answer; a number becomes a text."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="ignore")


class Turn(_Model):
    """One message of a session."""

    role: Literal["user", "assistant"]
    content: str
    has_answer: StrictBool | None = None

    @property
    def is_empty(self) -> bool:
        """Return whether there is nothing to store."""
        return not self.content.strip()


@dataclass(frozen=True, slots=True)
class Session:
    """One session of a haystack."""

    at: int
    """Its place in the row."""
    id: str
    date: datetime
    turns: Sequence[Turn]


class Row(_Model):
    """One question, and the sessions that a memory stores before it."""

    question_id: str = Field(min_length=1)
    question_type: Annotated[str, BeforeValidator(_type)]
    question: str = Field(min_length=1)
    answer: Annotated[Answer, Field(min_length=1)]
    question_date: Date
    haystack_dates: list[Date]
    haystack_session_ids: list[str]
    haystack_sessions: list[list[Turn]] = Field(min_length=1)
    answer_session_ids: list[str]

    @model_validator(mode="after")
    def _lengths(self) -> Row:
        wanted = len(self.haystack_sessions)
        for name in ("haystack_dates", "haystack_session_ids"):
            if (got := len(getattr(self, name))) != wanted:
                raise ValueError(f"{name}: got {got}, expected {wanted}, one for each of haystack_sessions")
        return self

    @property
    def is_abstention(self) -> bool:
        """Return whether the right answer is that it was never said."""
        return self.question_id.endswith(ABSTENTION)

    @property
    def is_temporal(self) -> bool:
        """Return whether an answer needs the dates of what was said."""
        return self.question_type == "temporal-reasoning"

    @property
    def part(self) -> str:
        """Return the part of the task that the question counts in: its type."""
        return self.question_type.replace("-", "_")

    def sessions(self) -> list[Session]:
        """Return the sessions by date, those of one date in the order of the file."""
        columns = zip(self.haystack_session_ids, self.haystack_dates, self.haystack_sessions, strict=True)
        return sorted((Session(at, *one) for at, one in enumerate(columns)), key=lambda one: one.date)

    def answering(self) -> Iterator[tuple[Session, int, Turn]]:
        """Yield the turns that carry the answer, with their sessions and places; a session that occurs twice counts once."""
        wanted = set(self.answer_session_ids)
        for session in self.sessions():
            if session.id in wanted:
                wanted.remove(session.id)
                yield from (
                    (session, at, turn)
                    for at, turn in enumerate(session.turns)
                    if turn.has_answer and not turn.is_empty
                )


def files_in(folder: Path, variant: str) -> list[Path]:
    """Return the file of a variant in a folder, or in its subfolder `longmemeval`; else the files with one question each.

    These are named `{n}_{question_id}.json`, in a folder that is named like the file of the variant.
    """
    places = (folder, folder / NAME)
    for place in places:
        for name in SOURCE.files[variant]:
            if (place / name).is_file():
                return [place / name]
    folders = chain.from_iterable([place / Path(name).stem for name in SOURCE.files[variant]] for place in places)
    for place in folders:
        found = [(int(m[1]), path) for path in place.glob("*.json") if (m := _SINGLE.fullmatch(path.name))]
        if found:
            return [path for _, path in sorted(found)]
    return []


def read_rows(path: Path) -> RowStream[Row]:
    """Return the questions of a file, one in memory at a time."""
    return RowStream(path, Row, "question")
