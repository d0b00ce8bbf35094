"""Turn questions into stores: each has its own haystack, stored by date, and is asked once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

from pytest_memfail.core import (
    NOT_RETRIEVED,
    NOT_STORED,
    REASONING_ERROR,
    SUMMARY_ERROR,
    Conversation,
    Fact,
    Ingest,
    Message,
    Probe,
    Question,
    RowError,
    StorePlan,
    Task,
)
from pytest_memfail.rows import JsonRow, digest, read_row_again
from pytest_memfail.suites.longmemeval.files import NAME, Row, Session
from pytest_memfail.suites.longmemeval.kinds import kind_of
from pytest_memfail.suites.turns import turn_fact

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_.-]+")
STAGES: Final = (NOT_STORED, SUMMARY_ERROR, NOT_RETRIEVED, REASONING_ERROR)


class Plan:
    """Collects the stores and facts of questions, without their haystacks, which may not fit into memory."""

    def __init__(self, *, is_paper: bool = False) -> None:
        self.stores: list[StorePlan] = []
        self.evidence: dict[str, Fact] = {}
        self._is_paper = is_paper

    def add(self, path: Path, found: JsonRow[Row]) -> None:
        """Add the store of one question."""
        row = found.value
        store = store_of(row)
        facts = [] if row.is_abstention else list(facts_of(row, store))
        self.evidence |= {fact.id: fact for fact in facts}
        conversations = list(conversations_of(row, store))
        question = Question(
            id=_UNSAFE.sub("-", row.question_id),
            task=NAME,
            text=row.question,
            query=row.question,
            gold=(row.answer,),
            evidence=tuple(fact.id for fact in facts),
            kind=kind_of(row, is_paper=self._is_paper),
            file=str(path),
            line=found.line,
            part=row.part,
            stratum="abstention" if row.is_abstention else row.question_type,
            asked_at=row.question_date,
            is_independent=True,
        )
        place: JsonRow[Any] = JsonRow(None, found.line, found.start, found.end)
        self.stores.append(
            StorePlan(
                store,
                (*(Ingest(Conversation(each.id, ())) for each in conversations), Probe((question,))),
                partial(_read_again, path, place, store),
                sum(len(each.text) for each in conversations),
            )
        )

    def task(self, sha: str, variant: str, licence: str, k: int | None = None) -> Task:
        """Return the task; `k` is its own top-k."""
        return Task(
            name=NAME,
            targets=STAGES,
            stores=tuple(self.stores),
            evidence=self.evidence,
            licence=licence,
            data_hash=sha,
            description="questions about chats of many days",
            suite=NAME,
            k=k,
            variant=variant,
        )


def store_of(row: Row) -> str:
    """Return the id of a question's store; that of the question says whether it can be answered."""
    return f"q-{digest(f'{NAME}:{row.question_id}', 10)}"


def _conversation_id(store: str, session: Session) -> str:
    # ids of the file begin with "answer_" where the answer is
    return f"c-{digest(f'{store}:{session.at}', 10)}"


def conversations_of(row: Row, store: str) -> Iterator[Conversation]:
    """Yield the sessions of a question by date, without empty turns."""
    for session in row.sessions():
        said = tuple(Message(turn.role, turn.content, session.date) for turn in session.turns if not turn.is_empty)
        if said:
            yield Conversation(_conversation_id(store, session), said, session.date)


def facts_of(row: Row, store: str) -> Iterator[Fact]:
    """Yield the turns that carry the answer to a question."""
    for session, at, turn in row.answering():
        yield turn_fact(
            turn.content,
            store,
            session=session.at,
            turn=at,
            speaker=turn.role,
            said=session.date,
            conversation_id=_conversation_id(store, session),
            asked=row.question,
            answer=row.answer,
            is_temporal=row.is_temporal,
        )


def _read_again(path: Path, place: JsonRow[Any], store: str) -> dict[str, Conversation]:
    """Return the conversations of a store by id, from the file of its question.

    Raises `RowError` if the file has changed since it was read.
    """
    value = read_row_again(path, place)
    try:
        row = Row.model_validate(value)
    except ValueError:
        row = None
    if row is None or store_of(row) != store:
        raise RowError(str(path), place.line, "file", "has changed since it was read; start the run again")
    return {conversation.id: conversation for conversation in conversations_of(row, store)}
