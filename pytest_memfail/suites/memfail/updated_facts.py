"""Updated-Facts (ours; the storage failure of the paper's section 3.2): does the store hold the current state?"""

from __future__ import annotations

from datetime import datetime, time, timezone
from pathlib import Path

from pytest_memfail.core import NOT_STORED, SUMMARY_ERROR, Claim, Conversation, Fact, Message, Part, ProtocolName, Task
from pytest_memfail.rows import digest
from pytest_memfail.suites.memfail import layout
from pytest_memfail.suites.memfail.gold import State
from pytest_memfail.suites.memfail.row_models import UpdatedRow
from pytest_memfail.suites.memfail.rows import Rows, read_rows
from pytest_memfail.suites.sampling import by_digest

USER = "the user"
MORNING = time(9, tzinfo=timezone.utc)


def read(path: Path) -> Rows[UpdatedRow]:
    """Read the rows of a file."""
    return read_rows(path, UpdatedRow, lambda r: f"{r.entity} {r.subject}", lambda r: str(r.messages))


def build(name: str, rows: Rows[UpdatedRow], protocol: ProtocolName, seed: int) -> Task:
    """Return the task with one message per conversation, ordered by date over all rows, and one question per row.

    The expected fact is the current state. Both protocols are the same, because no published harness has this task.
    """
    del protocol
    messages: list[tuple[datetime, str, Conversation]] = []
    homes: dict[tuple[int, int], str] = {}
    for i, row in enumerate(rows.rows):
        for j, message in enumerate(row.messages):
            key = digest(f"{name}:{rows.ids[i]}:{j}", 10)
            when = datetime.combine(message.date, MORNING)
            conversation = Conversation(f"c-{key}", (Message("user", message.text, when),), when)
            homes[i, j] = conversation.id
            messages.append((when, key, conversation))
    asked = by_digest(range(len(rows.rows)), seed, [f"ask:{i}" for i in rows.ids])
    plan = layout.Plan(name, rows)
    for i in asked:
        row = rows.rows[i]
        fact = _evidence(rows, i, homes)
        plan.ask(i, row.question, (row.ground_truth_answer,), [fact], kind="open", stratum=row.kind)
    return plan.task(
        [conversation for *_, conversation in sorted(messages, key=lambda message: message[:2])],
        (NOT_STORED, SUMMARY_ERROR),
        "facts that were later updated, corrected or retracted, and some that only seem so",
    )


def _evidence(rows: Rows[UpdatedRow], i: int, homes: dict[tuple[int, int], str]) -> Fact:
    row = rows.rows[i]
    said = row.messages[row.fact_index].text
    old = None if row.old_index is None else row.messages[row.old_index]
    details = tuple(detail.part_of_claim() for detail in row.evidence_details or ())
    is_deleted = row.kind == "deletion"
    value = row.current_value or None
    return Fact(
        id=rows.ids[i],
        kind="fact",
        text=said,
        source=said,
        conversation_id=homes[i, row.fact_index],
        history=tuple(homes[i, j] for j in range(len(row.messages)) if j != row.fact_index),
        claim=Claim(
            # a retracted fact need not be stored, so no detail is required
            (Part(value or said), Part(row.subject, "topic"), *(() if is_deleted else details)),
            owner=None if row.entity == USER else row.entity,
            replaced=tuple(row.stale_values),
            earlier=None if old is None else old.text,
            is_dated=old is not None and old.date < row.messages[row.fact_index].date,
            decoys=() if row.decoy_index is None else (row.messages[row.decoy_index].text,),
            endings=details[-1].wordings if is_deleted and details else (),
            has_ended=is_deleted,
        ),
        gold=State(value, row.subject),
    )
