"""The order in which rows are stored and asked.

`paper` repeats the published layout (section 5.1 and appendix B.6; the seeds are our own). `ours` sorts by a digest of
seed and row id, so that adding or removing a row does not move any other.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any, Final, Generic, TypeVar

from pytest_memfail.core import Conversation, Fact, Ingest, Message, Probe, Question, Step, StorePlan, Task
from pytest_memfail.rows import digest
from pytest_memfail.suites.memfail.row_models import Row
from pytest_memfail.suites.memfail.rows import Rows

PAPER_FACT_SALT: Final = 0xF1AC
PAPER_QUESTION_SALT: Final = 0x5EED
R = TypeVar("R", bound=Row)

FIRST_DAY: Final = datetime(2025, 1, 6, 9, 0, tzinfo=timezone.utc)


def paper_rows(n: int, seed: int) -> tuple[list[int], random.Random]:
    """Return the row indices in the order of the published harness, and the random generator for further draws."""
    rng = random.Random(seed)
    order = list(range(n))
    rng.shuffle(order)
    return order, rng


def conversation(key: str, texts: Sequence[str], day: int | None) -> Conversation:
    """Return a conversation of user messages with an id that does not reveal the task.

    `day` counts from `FIRST_DAY`; None means no time.
    """
    start = None if day is None else FIRST_DAY + timedelta(days=day)
    messages = tuple(
        Message("user", text, None if start is None else start + timedelta(minutes=i)) for i, text in enumerate(texts)
    )
    return Conversation(f"c-{digest(key, 10)}", messages, start)


class Plan(Generic[R]):
    """Collects the questions of a task and the facts that they need. All are asked once all conversations are stored."""

    def __init__(self, name: str, rows: Rows[R]) -> None:
        self._name, self._rows = name, rows
        self._questions: list[Question] = []
        self._facts: dict[str, Fact] = {}

    def ask(self, i: int, text: str, gold: Iterable[str], facts: Sequence[Fact], **fields: Any) -> None:
        """Add a question of a row, with its facts; `fields` are more fields of `Question`."""
        self._facts |= {fact.id: fact for fact in facts}
        fields = {"id": self._rows.ids[i], "query": text, **fields}
        self._questions.append(
            Question(
                task=self._name,
                text=text,
                gold=tuple(gold),
                evidence=tuple(fact.id for fact in facts),
                file=str(self._rows.path),
                line=self._rows.lines[i],
                **fields,
            )
        )

    def task(self, conversations: Iterable[Conversation], targets: tuple[str, ...], description: str) -> Task:
        """Return the task that stores these conversations."""
        steps: list[Step] = [*map(Ingest, conversations), Probe(tuple(self._questions))]
        return Task(
            name=self._name,
            targets=targets,
            stores=(StorePlan(self._name, tuple(steps)),),
            evidence=self._facts,
            licence="see the data card of the folder",
            data_hash=self._rows.sha256,
            description=description,
        )
