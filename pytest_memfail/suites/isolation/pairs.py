"""Pairs of look-alike facts, and the stores of the two users who say them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from pytest_memfail.core import (
    NOT_RETRIEVED,
    NOT_STORED,
    SUMMARY_ERROR,
    WRONGLY_HELD,
    Claim,
    Conversation,
    Fact,
    Ingest,
    Message,
    Part,
    Probe,
    Question,
    RowError,
    StorePlan,
    Task,
    short,
)
from pytest_memfail.rows import ROW_ID, JsonRow, Text, digest, read_json_rows
from pytest_memfail.suites.kinds import UNWANTED
from pytest_memfail.suites.sampling import by_digest
from pytest_memfail.texts import spelled

NAME: Final = "isolation"
USERS: Final = ("first", "second")


class Said(BaseModel):
    """What a user said, and the wordings of the value that answers the question."""

    model_config = ConfigDict(extra="forbid")

    said: Text
    answer: Annotated[list[Text], Field(min_length=1)]


class Pair(BaseModel):
    """Two users who say the same kind of thing with another value."""

    model_config = ConfigDict(extra="forbid")

    id: Annotated[str, Field(pattern=ROW_ID.pattern)]
    question: Text
    users: Annotated[list[Said], Field(min_length=2, max_length=2)]


Rows = Sequence[JsonRow[Pair]]


def check(path: Path) -> tuple[Rows, list[RowError], str]:
    """Return the pairs of a file, its faults and its SHA-256.

    The value of a user must be in what that user says, and in nothing that the other one says.
    """
    rows, faults, sha = read_json_rows(path, Pair, "pair")
    ids = Counter(row.value.id for row in rows)
    told = [[spelled(row.value.users[user].said) for row in rows] for user in range(2)]

    def fault(row: JsonRow[Pair], field: str, problem: str) -> None:
        faults.append(RowError(str(path), row.line, f"pair {row.value.id}: {field}", problem))

    for at, row in enumerate(rows):
        if ids[row.value.id] > 1:
            fault(row, "id", f"got {row.value.id!r} {ids[row.value.id]} times, expected an id of its own")
        for user, said in enumerate(row.value.users):
            values = [spelled(value) for value in said.answer]
            field = f"users.{user}.answer"
            if not any(value in told[user][at] for value in values):
                fault(row, field, f"got {short(said.answer)}, expected a wording that the user says")
            elif any(value in text for value in values for text in told[1 - user]):
                fault(row, field, f"got {short(said.answer)}, which the other user says too; expected another value")
    return rows, faults, sha


def task_of(rows: Rows, path: Path, seed: int) -> Task:
    """Return the task: a store for each of the users, with the other beside it."""
    conversations = [
        [
            Conversation(
                f"c-{digest(f'{NAME}:{row.value.id}:{user}', 10)}", (Message("user", row.value.users[user].said),)
            )
            for row in rows
        ]
        for user in range(2)
    ]
    orders = [by_digest(range(len(rows)), seed, [f"{user}:{row.value.id}" for row in rows]) for user in USERS]
    stores, evidence = [], dict[str, Fact]()
    for user, name in enumerate(USERS):
        questions = []
        for row, own, other in zip(rows, conversations[user], conversations[1 - user], strict=True):
            facts = _fact(row, name, user, own), _fact(row, name, 1 - user, other, is_distractor=True)
            evidence |= {fact.id: fact for fact in facts}
            questions.append(
                Question(
                    id=f"{row.value.id}-{name}",
                    task=NAME,
                    text=row.value.question,
                    query=row.value.question,
                    gold=(row.value.users[user].answer[0],),
                    evidence=tuple(fact.id for fact in facts),
                    kind="open",
                    file=str(path),
                    line=row.line,
                )
            )
        told, beside = ([conversations[one][at] for at in orders[one]] for one in (user, 1 - user))
        stores.append(StorePlan(name, (*map(Ingest, told), Probe(tuple(questions))), beside=tuple(beside)))
    return Task(
        name=NAME,
        targets=(WRONGLY_HELD, NOT_STORED, SUMMARY_ERROR, NOT_RETRIEVED),
        stores=tuple(stores),
        evidence=evidence,
        licence="",
        data_hash="",
        description="look-alike facts of two users of one service",
    )


def _fact(row: JsonRow[Pair], name: str, user: int, home: Conversation, *, is_distractor: bool = False) -> Fact:
    """Return what a user said, as a fact of the store `name`."""
    said = row.value.users[user]
    return Fact(
        id=f"{row.value.id}-{name}:{'other' if is_distractor else 'own'}",
        kind=UNWANTED if is_distractor else "point",
        text=said.said,
        source=said.said,
        conversation_id=home.id,
        claim=Claim((Part(said.said), Part(said.answer[0], wordings=tuple(said.answer)))),
        is_distractor=is_distractor,
        may_hold_part=is_distractor,
    )
