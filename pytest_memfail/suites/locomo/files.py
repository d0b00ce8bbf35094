"""The published format of LoCoMo (arXiv 2402.17753): two people's sessions, and questions about them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from pytest_memfail.core import MONTHS, RowError, counted, short
from pytest_memfail.rows import JsonRow, read_json_rows

NAME: Final = "locomo"
CATEGORIES: Final = {1: "multi_hop", 2: "temporal", 3: "open_domain", 4: "single_hop", 5: "adversarial"}
"""Number to name, by the authors' code; other harnesses swap the names."""
TEMPORAL: Final = 2
ADVERSARIAL: Final = 5
_TURN: Final = re.compile(r"D:?(\d+):0*(\d+)")
_SESSION: Final = re.compile(r"session_(\d+)(_date_time)?")
_TIME: Final = re.compile(r"(\d\d?):(\d\d) ?([ap])\.?m\.?,? on (\d\d?) ([a-z]{3})[a-z]*,? (\d{4})", re.I)
_CORRECTED: Final = re.compile(r"locomo_(\d+)_qa(\d+)")


def _time(value: Any) -> Any:
    """Return a time such as '1:56 pm on 8 May, 2023', in UTC; months are English, whatever the locale is."""
    match = _TIME.fullmatch(value.strip()) if isinstance(value, str) else None
    try:
        if match is None:
            raise ValueError
        hour, minute, half, day, month, year = match.groups()
        if not 1 <= int(hour) <= 12:
            raise ValueError
        in_day = int(hour) % 12 + (12 if half.lower() == "p" else 0)
        return datetime(int(year), MONTHS.index(month.lower()) + 1, int(day), in_day, int(minute), tzinfo=timezone.utc)
    except ValueError:
        raise ValueError(f"got {short(value)}, expected a time such as '1:56 pm on 8 May, 2023'") from None


def _text(value: Any) -> Any:
    """Return a text; some answers are numbers, and null is no text."""
    if value is None:
        return ""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _list(value: Any) -> Any:
    return [] if value is None else value


Text = Annotated[str, BeforeValidator(_text)]
Use = Literal["correct", "exclude"]
"""What becomes of questions with an audited error."""
TurnId = tuple[int, int]
"""The numbers of a session and of a turn in it."""


def turn_ids(text: str) -> list[TurnId]:
    """Return the ids of turns in a text; evidence often has several in one string, or a slip of the pen.

    >>> turn_ids("D8:6; D:11:26"), turn_ids("D30:05"), turn_ids("D")
    ([(8, 6), (11, 26)], [(30, 5)], [])
    """
    return [(int(session), int(turn)) for session, turn in _TURN.findall(text)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="ignore")


class Turn(_Model):
    """One message."""

    speaker: str = Field(min_length=1)
    dia_id: str = Field(pattern=r"^D\d+:\d+$")
    text: Text = ""
    blip_caption: Text = ""
    query: Text = ""
    """The words by which the authors searched for the image. Nobody said them, and some give an answer away: never stored."""

    @property
    def id(self) -> TurnId:
        """Return the numbers of its session and of itself."""
        return turn_ids(self.dia_id)[0]

    @property
    def said(self) -> str:
        """Return what is stored: the name of the speaker, the words, and the caption as the description of an image."""
        words = (self.text.strip(), f"[image: {self.blip_caption.strip()}]" if self.blip_caption.strip() else "")
        return f"{self.speaker}: {' '.join(filter(None, words))}" if any(words) else ""


class Session(_Model):
    """One conversation."""

    date_time: Annotated[datetime, BeforeValidator(_time)]
    turns: list[Turn]


class Dialogue(_Model):
    """All conversations of two people."""

    speaker_a: str = Field(min_length=1)
    speaker_b: str = Field(min_length=1)
    sessions: dict[int, Session]
    """By number, in the order of the numbers: `session_10` follows `session_9`."""
    dates_alone: list[int] = []
    """The numbers of dates without a session."""
    in_file: list[int] = []
    """The numbers of the sessions, in the order of the file."""

    @model_validator(mode="before")
    @classmethod
    def _of_keys(cls, value: Any) -> Any:
        """Gather the sessions, which the file has as `session_N` and `session_N_date_time`."""
        if not isinstance(value, Mapping):
            return value
        turns: dict[int, Any] = {}
        dates: dict[int, Any] = {}
        for key, given in value.items():
            if match := _SESSION.fullmatch(key):
                (dates if match[2] else turns)[int(match[1])] = given
        sessions = {
            number: {"turns": _list(turns[number])} | ({"date_time": dates[number]} if number in dates else {})
            for number in sorted(turns)
        }
        names = {name: value[name] for name in ("speaker_a", "speaker_b") if name in value}
        alone = sorted(dates.keys() - turns.keys())
        return {**names, "sessions": sessions, "dates_alone": alone, "in_file": list(turns)}


class Item(_Model):
    """One question."""

    question: str = Field(min_length=1)
    answer: Text = ""
    adversarial_answer: Text = ""
    """What a reader is tempted to answer although it was never said."""
    category: Literal[1, 2, 3, 4, 5]
    evidence: Annotated[list[Text], BeforeValidator(_list)] = []


class Sample(_Model):
    """One row: the conversations of two people, and the questions about them."""

    sample_id: str = Field(pattern=r"^[\w.-]+$")
    conversation: Dialogue
    qa: list[Item]

    @property
    def turns(self) -> dict[TurnId, Turn]:
        """Return all turns by their ids."""
        return {turn.id: turn for session in self.conversation.sessions.values() for turn in session.turns}

    def evidence(self, item: Item) -> list[TurnId]:
        """Return the turns that a question needs, without ids that no turn has."""
        known = self.turns
        return [name for name in dict.fromkeys(n for text in item.evidence for n in turn_ids(text)) if name in known]


def read_samples(path: Path) -> tuple[Sequence[JsonRow[Sample]], list[RowError], str]:
    """Return the rows of a file, its faults and its SHA-256."""
    return read_json_rows(path, Sample, "conversation")


# -- corrections -------------------------------------------------------------------------------------------------------


class Erratum(_Model):
    """A correction of a question by the audit of `dial481/locomo-audit`."""

    question_id: Annotated[str, Field(pattern=_CORRECTED.pattern)]
    question: str
    correct_answer: Text = ""
    correct_evidence: Annotated[list[Text], BeforeValidator(_list)] = []

    @property
    def place(self) -> tuple[int, int]:
        """Return the numbers, from 0, of the row and of its question."""
        match = _CORRECTED.fullmatch(self.question_id)
        assert match is not None
        return int(match[1]), int(match[2])


@dataclass(frozen=True, slots=True)
class Errata:
    """Corrections of a file, and what becomes of the questions that they are of."""

    path: str = ""
    sha: str = ""
    by_place: Mapping[tuple[int, int], Erratum] = field(default_factory=dict)
    use: Use = "correct"

    @classmethod
    def read(cls, path: Path, use: Use) -> Errata:
        """Return the corrections in a file. Raises `RowError` for its first fault."""
        rows, faults, sha = read_json_rows(path, Erratum, "correction")
        if faults:
            raise faults[0]
        return cls(str(path), sha, {row.value.place: row.value for row in rows}, use)

    @property
    def note(self) -> str:
        """Return what becomes of the questions, for the heading of a run; empty without corrections."""
        how = "corrected" if self.use == "correct" else "left out"
        return f"{counted(len(self.by_place), 'question')} {how}, by {Path(self.path).name}" if self.path else ""

    def hashed(self, sha: str) -> str:
        """Return the SHA-256 of the rows, or of the rows and the corrections."""
        return hashlib.sha256(f"{sha} {self.use} {self.sha}".encode()).hexdigest() if self.path else sha

    def applied(self, samples: Sequence[Sample]) -> Iterator[list[tuple[int, Item]]]:
        """Yield the questions of each row with their numbers, corrected or without those that have an error.

        Raises `RowError` for a correction of a question that the rows do not have.
        """
        for (row, number), erratum in self.by_place.items():
            known = samples[row].qa[number : number + 1] if row < len(samples) else []
            if [item.question for item in known] != [erratum.question]:
                problem = (
                    f"got {short(erratum.question)}, which is not question {number} of row {row}: another file's errata"
                )
                raise RowError(self.path, 1, erratum.question_id, problem)
        for row, sample in enumerate(samples):
            items = list(enumerate(sample.qa))
            if self.use == "exclude":
                yield [(number, item) for number, item in items if (row, number) not in self.by_place]
            else:
                yield [(number, self._corrected(item, (row, number))) for number, item in items]

    def _corrected(self, item: Item, place: tuple[int, int]) -> Item:
        if (erratum := self.by_place.get(place)) is None:
            return item
        evidence = erratum.correct_evidence or item.evidence
        return item.model_copy(update={"answer": erratum.correct_answer or item.answer, "evidence": evidence})
