"""Say what is odd in a file of questions, each trap with the number of its questions, sessions or turns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pytest_memfail.core import RowError, SuiteFault
from pytest_memfail.rows import JsonRow
from pytest_memfail.suites.longmemeval.files import Row, read_rows
from pytest_memfail.suites.published import as_faults

LEAK: Final = "answer"
"""What the published ids of sessions with the answer begin with."""
SHOWN: Final = 3


def repeated(row: Row) -> Iterator[str]:
    """Yield the ids of sessions that occur more than once."""
    yield from (name for name, number in Counter(row.haystack_session_ids).items() if number > 1)


def empty(row: Row) -> Iterator[str]:
    """Yield the places of empty turns."""
    for at, session in enumerate(row.haystack_sessions):
        yield from (f"{at}.{number}" for number, turn in enumerate(session) if turn.is_empty)


def later(row: Row) -> Iterator[str]:
    """Yield the ids of sessions after the question."""
    yield from (session.id for session in row.sessions() if session.date > row.question_date)


def unordered(row: Row) -> Iterator[str]:
    """Yield an empty text if the sessions of a question are not by date."""
    if row.haystack_dates != sorted(row.haystack_dates):
        yield ""


def without_turn(row: Row) -> Iterator[str]:
    """Yield the ids of sessions that should answer a question, and in which no turn is marked."""
    if not row.is_abstention:
        marked = {session.id for session, _, _ in row.answering()}
        yield from (name for name in row.answer_session_ids if name not in marked)


def marked_abstention(row: Row) -> Iterator[str]:
    """Yield an empty text if a question cannot be answered, and turns are marked as its answer."""
    if row.is_abstention and any(row.answering()):
        yield ""


def without_evidence(row: Row) -> Iterator[str]:
    """Yield an empty text if no turn is marked, although a question can be answered."""
    if not row.is_abstention and not any(row.answering()):
        yield ""


def marked_elsewhere(row: Row) -> Iterator[str]:
    """Yield the ids of sessions with a marked turn that are no answer sessions."""
    found = zip(row.haystack_session_ids, row.haystack_sessions, strict=True)
    yield from (
        name for name, turns in found if name not in row.answer_session_ids and any(turn.has_answer for turn in turns)
    )


def leaking(row: Row) -> Iterator[str]:
    """Yield the ids of sessions that tell where the answer is."""
    yield from (name for name in set(row.haystack_session_ids) if name.startswith(LEAK))


def reply_first(row: Row) -> Iterator[str]:
    """Yield the ids of sessions that begin with the assistant."""
    found = zip(row.haystack_session_ids, row.haystack_sessions, strict=True)
    yield from (name for name, turns in found if turns and turns[0].role == "assistant")


TRAPS: Final[Mapping[str, Callable[[Row], Iterator[str]]]] = {
    "sessions that occur again in their haystack; they are stored each time": repeated,
    "empty turns; they are not stored": empty,
    "sessions later than their question; they are stored all the same": later,
    "questions with sessions out of order; they are stored by date": unordered,
    "sessions that begin with the assistant": reply_first,
    "answer sessions without a turn with has_answer; nothing of them is a fact": without_turn,
    "questions without a turn with has_answer; only their answers are judged": without_evidence,
    "abstention questions with turns with has_answer; these are no facts": marked_abstention,
    "sessions with has_answer that are not in answer_session_ids; they have no facts": marked_elsewhere,
    f"session ids that begin with {LEAK!r}, as only those with the answer do; no memory sees them": leaking,
}
"""What is odd and what it means for a run, and the function that finds it."""


@dataclass(slots=True)
class Checked:
    """What reading files finds, without keeping their questions."""

    errors: list[RowError] = field(default_factory=list)
    hashes: list[str] = field(default_factory=list)
    ids: dict[str, int] = field(default_factory=dict)

    def rows(self, path: Path) -> Iterator[JsonRow[Row]]:
        """Yield the questions of a file that have no errors, one in memory at a time."""
        stream = read_rows(path)
        for found in stream:
            if isinstance(found, RowError):
                self.errors.append(found)
                continue
            name = found.value.question_id
            if name in self.ids:
                problem = f"got {name!r} again, expected an id of its own (first on line {self.ids[name]})"
                self.errors.append(RowError(str(path), found.line, f"question {name}: question_id", problem))
            self.ids.setdefault(name, found.line)
            yield found
        self.hashes.append(stream.sha)


def faults_of(paths: Iterable[Path]) -> Iterator[SuiteFault]:
    """Yield the errors of the files, then each trap with its number."""
    for path in paths:
        checked = Checked()
        found: dict[str, list[tuple[str, int]]] = {what: [] for what in TRAPS}
        for row in checked.rows(path):
            for what, trap in TRAPS.items():
                found[what] += [(f"{row.value.question_id} {place}".strip(), row.line) for place in trap(row.value)]
        warnings = [
            RowError(str(path), places[0][1], "questions", f"{what}: {len(places):,} ({_some(places)})")
            for what, places in found.items()
            if places
        ]
        yield from as_faults(checked.errors, warnings)


def _some(places: Sequence[tuple[str, int]]) -> str:
    more = len(places) - SHOWN
    return ", ".join(place for place, _ in places[:SHOWN]) + (f" and {more:,} more" if more > 0 else "")
