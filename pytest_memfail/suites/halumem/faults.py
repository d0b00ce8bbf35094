"""Check a file of users beyond the types of its fields. Errors stop a run, except evidence that a run can leave out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pytest_memfail.core import RowError, SuiteFault, short
from pytest_memfail.rows import JsonRow
from pytest_memfail.suites.halumem.files import User, read_users
from pytest_memfail.suites.places import better_said
from pytest_memfail.suites.published import as_faults
from pytest_memfail.texts import content

Fault = tuple[str, str]
"""A field, and the fault in it."""


def unjoined(user: User) -> Iterator[Fault]:
    """Yield the evidence that matches no point stated before its question, which is then asked without memory stages."""
    stated: set[str] = set()
    for at, session in enumerate(user.sessions):
        stated |= {point.memory_content for point in session.memory_points}
        for number, item in enumerate(session.questions):
            for place, needed in enumerate(item.evidence):
                if needed.memory_content not in stated:
                    field = f"sessions.{at}.questions.{number}.evidence.{place}.memory_content"
                    got = short(needed.memory_content)
                    yield field, f"got {got}, expected the exact content of a point stated up to this session"


def warnings_of(user: User) -> Iterator[Fault]:
    """Yield faults that make the figures of a user less meaningful."""
    name = content(user.name) if user.name else frozenset()
    said = [(str(at), content(session.text)) for at, session in enumerate(user.sessions)]
    for at, session in enumerate(user.sessions):
        for number, point in enumerate(session.memory_points):
            place = f"sessions.{at}.memory_points.{number}"
            if found := better_said(content(point.memory_content) - name, said[at][1], said):
                share, better = found
                more = f"; session {better} has most of them" if better else ""
                yield place, f"the dialogue has {share:.0%} of its words: {short(point.memory_content)}{more}"
            if point.is_update and not point.original_memories:
                yield f"{place}.original_memories", "got nothing, although the point is an update"
            if not 0 <= point.importance <= 1:
                yield f"{place}.importance", f"got {point.importance}, expected a number from 0 to 1"
        if session.is_generated_qa_session and (session.memory_points or session.questions):
            yield f"sessions.{at}", "a generated session has points or questions, which are not asked"


def check(
    path: Path, *, warn: bool = True
) -> tuple[Sequence[JsonRow[User]], list[RowError], list[RowError], list[RowError], str]:
    """Return the users of a file, its errors, its unmatched evidence, its warnings and its SHA-256."""
    rows, errors, sha = read_users(path)
    loose: list[RowError] = []
    warnings: list[RowError] = []

    def add(found: list[RowError], row: JsonRow[User], faults: Iterable[Fault]) -> None:
        found += [
            RowError(str(path), row.line, f"user {row.value.uuid}: {field}", problem) for field, problem in faults
        ]

    ids = Counter(row.value.uuid for row in rows)
    names = Counter(row.value.name for row in rows if row.value.name)
    for row in rows:
        user = row.value
        if ids[user.uuid] > 1:
            add(errors, row, [("uuid", f"got {user.uuid!r} {ids[user.uuid]} times, expected an id of its own")])
        add(loose, row, unjoined(user))
        if warn:
            if names[user.name] > 1:
                add(warnings, row, [("persona_info", f"{names[user.name]} users have the name {user.name!r}")])
            add(warnings, row, warnings_of(user))
    return rows, errors, loose, warnings, sha


def faults_of(paths: Iterable[Path]) -> Iterator[SuiteFault]:
    """Yield all faults of the files; those of each file start with the errors."""
    for path in paths:
        _, errors, loose, warnings, _ = check(path)
        yield from as_faults([*errors, *loose], warnings)
