"""Count what a file of users holds: the rows of the paper's table 6."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from pytest_memfail.llm import count_tokens
from pytest_memfail.suites.halumem.files import QUESTION_TYPES, TYPES, User, read_users

NAME: Final = 44
Row = tuple[str, float]
"""What is counted, and its number."""


def rows_of(users: Sequence[User]) -> Iterator[Row]:
    """Yield the counts of some users."""
    n = len(users)
    sessions = [session for user in users for session in user.sessions]
    messages = [turn for session in sessions for turn in session.dialogue]
    points = [point for session in sessions for point in session.memory_points]
    types = Counter(item.question_type for session in sessions for item in session.questions)
    kinds = Counter(point.memory_type for point in points)
    turns = sum(turn.role == "user" for turn in messages)
    yield "users", n
    yield "tokens a user (cl100k)", count_tokens([turn.content for turn in messages]) / n
    yield "sessions a user", len(sessions) / n
    yield "turns (a message of the user and its reply)", turns
    yield "turns a session", turns / len(sessions)
    yield "messages", len(messages)
    yield "points", len(points)
    yield "points a session", len(points) / len(sessions)
    yield "points: distractors", sum(point.is_distractor for point in points)
    yield "points: updates", sum(point.is_update for point in points)
    yield from ((f"points: {name}", kinds[name]) for name in TYPES)
    yield "questions", types.total()
    yield "questions a user", types.total() / n
    yield from ((f"questions: {name}", types[name]) for name in QUESTION_TYPES)


def data_report(paths: Sequence[Path]) -> Iterator[str]:
    """Yield the lines of `memfail validate --data-report`, with a column for each file.

    Raises `RowError` for the first fault of a file.
    """
    columns = []
    for path in paths:
        rows, errors, _ = read_users(path)
        if errors:
            raise errors[0]
        columns.append(dict(rows_of([row.value for row in rows])))
    yield f"{'':{NAME}}" + "".join(f"{path.name:>24}" for path in paths)
    for name in columns[0]:
        numbers = (column[name] for column in columns)
        yield f"{name:{NAME}}" + "".join(f"{f'{n:,}' if isinstance(n, int) else f'{n:,.2f}':>24}" for n in numbers)
