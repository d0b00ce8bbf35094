"""The published format of MEME (arXiv 2605.12477): episodes, sessions, gold facts and questions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timezone
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator

from pytest_memfail.core import RowError, json_of, short
from pytest_memfail.grading import marks_removal, states
from pytest_memfail.rows import JsonRow, read_json_rows
from pytest_memfail.texts import fold, plain_runs, sentences

Type = Literal["er", "agg", "tr", "del", "cas", "abs"]
TYPES: Final[dict[str, Type]] = {
    "er": "er",
    "exact": "er",
    "exactrecall": "er",
    "agg": "agg",
    "aggregation": "agg",
    "multihop": "agg",
    "tr": "tr",
    "tracking": "tr",
    "multipleupdate": "tr",
    "del": "del",
    "deletion": "del",
    "cas": "cas",
    "cascade": "cas",
    "cascaded": "cas",
    "abs": "abs",
    "absence": "abs",
    "cascadeu": "abs",
}
"""Published name of a type, without blanks, hyphens and brackets, to our name."""
DOMAINS: Final = {
    **dict.fromkeys(("pl", "personal", "personallife"), "PL"),
    **dict.fromkeys(("sw", "software", "softwareproject"), "SW"),
}
UNCERTAIN: Final = "uncertain"
ABSENCE: Final = re.compile(
    r"uncertain\s*[-\u2013\u2014:]+\s*previously\s+['\"\u2018\u201c](?P<old>.+)['\"\u2019\u201d]\s*,?\s*but\s+(?P<root>.+)\s+changed\.?",
    re.I | re.S,
)
"""Pattern of the gold answer of an absence."""
_TIME: Final = re.compile(r"(\d{4})[/-](\d\d?)[/-](\d\d?)(?:\s*\([^)]*\))?[\sT]+(\d\d?):(\d\d)(?::\d\d)?")


def _text(value: Any) -> Any:
    """Return a value that may be null or a number as a text."""
    if value is None:
        return ""
    return str(value) if isinstance(value, int | float) else value


def _list(value: Any) -> Any:
    return [part.strip() for part in value.split(",")] if isinstance(value, str) else value


def _time(value: Any) -> Any:
    match = _TIME.fullmatch(value.strip()) if isinstance(value, str) else None
    try:
        year, month, day, hour, minute = (int(part) for part in match.groups()) if match else (0, 0, 0, 0, 0)
        return datetime(year, month, day, hour, minute, tzinfo=timezone.utc)
    except ValueError:
        raise ValueError(f"got {short(value)}, expected a time such as '2023/03/13 (Mon) 09:22'") from None


def _named(value: Any, names: dict[str, Any], expected: str) -> Any:
    found = names.get(re.sub(r"\(.*|\[.*|[^a-z]", "", value.casefold())) if isinstance(value, str) else None
    if found is None:
        raise ValueError(f"got {short(value)}, expected {expected}")
    return found


Loose = Annotated[str, BeforeValidator(_text)]
"""A text; null becomes an empty text."""
Time = Annotated[datetime, BeforeValidator(_time)]
Values = dict[str, Annotated[list[Loose], BeforeValidator(lambda v: v if isinstance(v, list) else [v])]]


class _Model(BaseModel):
    model_config = ConfigDict(extra="ignore")


class Change(_Model):
    """The values of an entity before and after the change of the root."""

    before: Loose = ""
    after: Loose = ""

    @field_validator("before", "after", mode="before")
    @classmethod
    def _first(cls, value: Any) -> Any:
        """Take the first and last of several values."""
        return ", ".join(map(str, value)) if isinstance(value, list) else value


class Edge(_Model):
    """A dependency: the value of the target follows from that of the source."""

    source: str
    target: str
    pattern: Loose = ""


class EpisodeFact(_Model):
    """What a session states about an entity."""

    entity: str
    value: Loose = ""
    fact_text: Loose = ""
    conveyed_in_turn: int | None = None
    notes: Any = None

    def is_noted(self, *marks: str) -> bool:
        """Return whether the notes contain one of these words."""
        return any(mark in fold(str(self.notes)) for mark in marks)


class Turn(_Model):
    """One message."""

    role: Annotated[
        Literal["user", "assistant", "system"], BeforeValidator(lambda v: v.casefold() if isinstance(v, str) else v)
    ]
    content: Loose


class Session(_Model):
    """One conversation; a filler session states nothing that is asked."""

    session_id: Loose = ""
    type: Loose = "evidence"
    timestamp: Time
    conversation: list[Turn] = Field(min_length=1)
    gold_facts: list[EpisodeFact] | None = None

    @property
    def is_filler(self) -> bool:
        """Return whether it is marked as filler."""
        return self.type.casefold() == "filler"

    @property
    def facts(self) -> Sequence[EpisodeFact]:
        """Return the facts that the session states."""
        return self.gold_facts or ()

    @property
    def text(self) -> str:
        """Return all messages, one per line."""
        return "\n".join(turn.content for turn in self.conversation)

    @cached_property
    def folded(self) -> str:
        """Return all messages as texts are compared."""
        return fold(self.text)

    @cached_property
    def sentences(self) -> list[str]:
        """Return the sentences of all messages."""
        return sentences(self.text)

    def may_state(self, value: str) -> bool:
        """Return whether the session could state a value, by its longest word: a cheap test before `states`."""
        parts = plain_runs(fold(value))
        return max(parts, key=len, default="").removesuffix("s") in self.folded

    def turn_of(self, fact: EpisodeFact, *, is_removal: bool = False) -> str:
        """Return the message of the user that states a fact.

        The number of a turn may count from 0 or from 1, over all turns or over the user's alone. So this returns the closest message
        that states the value, or that asks to forget it, and uses the number alone only if there is none.
        """
        users = [at for at, turn in enumerate(self.conversation) if turn.role == "user"]
        number = fact.conveyed_in_turn or 0
        guesses = [number, number - 1, *users[max(0, number - 1) : number + 1]]
        places = [*(at for at in guesses if at in users), *sorted(users, key=lambda at: abs(at - number))]
        for at in places:
            content = self.conversation[at].content
            if marks_removal(content) if is_removal else states(content, fact.value):
                return content
        return self.conversation[places[0]].content if places else self.text


class Item(_Model):
    """One question."""

    task_type: Annotated[str, BeforeValidator(lambda v: v.strip() if isinstance(v, str) else v)]
    entity: Annotated[list[str], BeforeValidator(_list)] = Field(min_length=1)
    entity_values: Values = {}
    question: str = Field(min_length=1)
    hop: Any = None
    expected_answer: Loose = ""
    gold_answer: Loose = ""

    @field_validator("task_type")
    @classmethod
    def _known(cls, value: str) -> str:
        _named(value, TYPES, "one of ER, Agg, Tr, Del, Cas, Abs")
        return value

    @property
    def type(self) -> Type:
        """Return our name of the type."""
        found: Type = _named(self.task_type, TYPES, "")
        return found

    @property
    def hops(self) -> int | None:
        """Return the distance from the root; it may be given only in the name of the type."""
        match = re.search(r"(\d+)", str(self.hop)) or re.search(r"(\d+)[- ]?hop", self.task_type)
        return int(match[1]) if match else None

    @property
    def gold(self) -> str:
        """Return the right answer."""
        return self.gold_answer or self.expected_answer


class Block(_Model):
    """The questions asked at one moment."""

    timestamp: Time | None = None
    position_after_session: int
    questions: list[Item] = []


class Episode(_Model):
    """One row of the file: what is stored, and what is asked before and after a change."""

    episode_id: str = Field(min_length=1)
    domain: Annotated[str, BeforeValidator(lambda v: _named(v, DOMAINS, "personal_life or software_project"))]
    root: Loose = ""
    root_change: Change = Change()
    entities: dict[str, Change] = {}
    dependency_edges_used: list[Edge] = []
    sessions: list[Session] = Field(min_length=1)
    before_questions: Block
    after_questions: Block

    def facts(self, until: int) -> list[tuple[int, EpisodeFact]]:
        """Return the facts stated up to a session (from 0, inclusive), each with its session."""
        return [(at, fact) for at, session in enumerate(self.sessions[: until + 1]) for fact in session.facts]

    def before_of(self, entity: str) -> Item | None:
        """Return the last question about an entity before the change."""
        found = [item for item in self.before_questions.questions if entity in item.entity]
        return found[-1] if found else None

    def old(self, entity: str) -> str:
        """Return the value of an entity before the change."""
        item = self.before_of(entity)
        values = item.entity_values.get(entity, [item.gold] if len(item.entity) == 1 else []) if item else []
        state = self.entities.get(entity)
        return next((v for v in (*values[-1:], state.before if state else "") if v), "")


def read_episodes(path: Path) -> tuple[list[JsonRow[Episode]], list[RowError], str]:
    """Return the episodes of a file, its faults and its SHA-256; faults name the episode by its id."""
    rows, faults, sha = read_json_rows(path, Episode, "episode")
    if any(fault.field.startswith("episode ") for fault in faults):
        try:
            found = json_of(path.read_text(encoding="utf-8-sig"))
        except ValueError:  # a later part of the file is no JSON, which is reported as another fault
            return rows, faults, sha
        names = [row.get("episode_id") if isinstance(row, dict) else None for row in found]
        faults = [_with_id(fault, names) for fault in faults]
    return rows, faults, sha


def _with_id(fault: RowError, names: Sequence[Any]) -> RowError:
    match = re.match(r"episode (\d+)", fault.field)
    name = names[int(match[1])] if match else None
    if match is None or not isinstance(name, str) or not name:
        return fault
    return RowError(fault.file, fault.line, f"episode {name}{fault.field[match.end() :]}", fault.problem)
