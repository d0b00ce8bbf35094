"""The order in which rows are stored and asked.

`paper` repeats the published layout (section 5.1 and appendix B.6; the seeds are our own). `ours` sorts by a digest of
seed and row id, so that adding or removing a row does not move any other.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from typing import Final

from pytest_memfail.core import Conversation, Ingest, Message, Probe, Question, StorePlan
from pytest_memfail.rows import digest

PAPER_FACT_SALT: Final = 0xF1AC
PAPER_QUESTION_SALT: Final = 0x5EED
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


def single_store(name: str, conversations: Sequence[Conversation], questions: Sequence[Question]) -> tuple[StorePlan]:
    """Return the plan of MemFail: store all conversations, then ask all questions."""
    return (StorePlan(name, (*map(Ingest, conversations), Probe(tuple(questions)))),)
