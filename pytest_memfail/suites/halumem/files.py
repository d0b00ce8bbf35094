"""The published format of HaluMem (arXiv 2511.03506): users, sessions, memory points and questions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from pytest_memfail.core import MONTHS, RowError, short
from pytest_memfail.rows import JsonRow, read_json_rows

NAME: Final = "halumem"
TYPES: Final = ("Persona Memory", "Event Memory", "Relationship Memory")
QUESTION_TYPES: Final = (
    "Basic Fact Recall",
    "Multi-hop Inference",
    "Dynamic Update",
    "Memory Boundary",
    "Memory Conflict",
    "Generalization & Application",
)
SOURCES: Final = ("primary", "secondary", "interference", "system")
DISTRACTOR: Final = "interference"
"""The source of a point that only the assistant says, and the user never confirms."""
_TIME: Final = re.compile(r"([A-Za-z]{3})[a-z]* (\d\d?), (\d{4}),? (\d\d?):(\d\d):(\d\d)")
_PERSON: Final = re.compile(r"\bName:\s*([^;\n]+)")


def _time(value: Any) -> Any:
    """Return a time such as 'Sep 04, 2025, 21:12:18', in UTC; months are English, whatever the locale is."""
    match = _TIME.fullmatch(value.strip()) if isinstance(value, str) else None
    try:
        if match is None:
            raise ValueError
        month, *numbers = match.groups()
        day, year, hour, minute, second = map(int, numbers)
        return datetime(year, MONTHS.index(month.casefold()) + 1, day, hour, minute, second, tzinfo=timezone.utc)
    except ValueError:
        raise ValueError(f"got {short(value)}, expected a time such as 'Sep 04, 2025, 21:12:18'") from None


def _flag(value: Any) -> Any:
    """Return a truth value that the data represents as text."""
    found = {"true": True, "false": False}.get(str(value).casefold())
    if found is None:
        raise ValueError(f'got {short(value)}, expected "True" or "False"')
    return found


def _one_of(*names: str) -> BeforeValidator:
    def check(value: Any) -> Any:
        if value not in names:
            raise ValueError(f"got {short(value)}, expected one of {', '.join(names)}")
        return value

    return BeforeValidator(check)


def _empty(value: Any) -> Any:
    return [] if value is None else value


Time = Annotated[datetime, BeforeValidator(_time)]
Flag = Annotated[bool, BeforeValidator(_flag)]
Text = Annotated[str, BeforeValidator(lambda v: "" if v is None else str(v) if isinstance(v, int | float) else v)]
"""A text; null becomes an empty text."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="ignore")


class Turn(_Model):
    """One message."""

    role: Literal["user", "assistant", "system"]
    content: Text
    timestamp: Time | None = None


class Point(_Model):
    """A point that a memory must hold after a session; a distractor is one that it must not hold."""

    index: Text = ""
    memory_content: str = Field(min_length=1)
    memory_type: Annotated[str, _one_of(*TYPES)]
    memory_source: Annotated[str, _one_of(*SOURCES)]
    is_update: Flag = False
    original_memories: Annotated[list[str], BeforeValidator(_empty)] = []
    importance: float = 1.0

    @property
    def is_distractor(self) -> bool:
        """Return whether the memory must not hold it."""
        return self.memory_source == DISTRACTOR


class Reference(_Model):
    """A point that a question needs, named by its content."""

    memory_content: Text


class Item(_Model):
    """One question."""

    question: str = Field(min_length=1)
    answer: Text
    evidence: Annotated[list[Reference], BeforeValidator(_empty)] = []
    question_type: Annotated[str, _one_of(*QUESTION_TYPES)]


class Session(_Model):
    """One conversation, with the points to remember from it and the questions asked after it."""

    start_time: Time | None = None
    end_time: Time | None = None
    dialogue: list[Turn] = Field(min_length=1)
    memory_points: Annotated[list[Point], BeforeValidator(_empty)] = []
    questions: Annotated[list[Item], BeforeValidator(_empty)] = []
    is_generated_qa_session: Flag = False
    """Whether it is noise: stored but never asked about."""

    @property
    def text(self) -> str:
        """Return all messages, one per line."""
        return "\n".join(turn.content for turn in self.dialogue)

    @property
    def is_asked(self) -> bool:
        """Return whether questions or points are asked after it."""
        return not self.is_generated_qa_session and bool(self.memory_points or self.questions)


class User(_Model):
    """One line of the file."""

    uuid: str = Field(min_length=1)
    persona_info: Text = ""
    sessions: list[Session] = Field(min_length=1)

    @property
    def name(self) -> str:
        """Return the user's name; empty if the persona does not state it."""
        match = _PERSON.search(self.persona_info)
        return match[1].strip() if match else ""

    def stated(self, text: str, until: int) -> tuple[int, Point] | None:
        """Return the first point with exactly this content, up to a session (from 0, inclusive), and its session."""
        for at, session in enumerate(self.sessions[: until + 1]):
            for point in session.memory_points:
                if point.memory_content == text:
                    return at, point
        return None


def read_users(path: Path) -> tuple[Sequence[JsonRow[User]], list[RowError], str]:
    """Return the users of a file, its faults and its SHA-256."""
    return read_json_rows(path, User, "user")
