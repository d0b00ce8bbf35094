"""Persona-Retrieval (paper, section 4, task 3): does the memory keep small details, each with the right person?"""

from __future__ import annotations

from pathlib import Path

from pytest_memfail.core import NOT_STORED, SUMMARY_ERROR, Claim, Fact, Part, ProtocolName, Task
from pytest_memfail.suites.memfail import layout
from pytest_memfail.suites.memfail.gold import Persona
from pytest_memfail.suites.memfail.row_models import PersonaRow
from pytest_memfail.suites.memfail.rows import Rows, read_rows
from pytest_memfail.suites.sampling import by_digest


def read(path: Path) -> Rows[PersonaRow]:
    """Read the rows of a file."""
    return read_rows(path, PersonaRow, lambda r: r.entity, lambda r: str(r.entity_facts))


def build(name: str, rows: Rows[PersonaRow], protocol: ProtocolName, seed: int) -> Task:
    """Return the task with one essay per conversation and three questions per row.

    Under `ours` each question expects the details that it needs, under `paper` the whole essay.
    """
    n = len(rows.rows)
    slots = [(i, j) for i, row in enumerate(rows.rows) for j in range(len(row.questions))]
    if protocol == "paper":
        stored, rng = layout.paper_rows(n, seed)
        rng.shuffle(slots)
    else:
        stored = by_digest(range(n), seed, [f"store:{i}" for i in rows.ids])
        slots = by_digest(slots, seed, [f"ask:{rows.ids[i]}:{j}" for i, j in slots])
    conversations = {
        i: layout.conversation(f"{name}:{rows.ids[i]}", rows.rows[i].entity_facts, None if protocol == "paper" else day)
        for day, i in enumerate(stored)
    }
    plan = layout.Plan(name, rows)
    for i, j in slots:
        row, question_id = rows.rows[i], f"{rows.ids[i]}-q{j + 1}"
        asked = row.questions[j]
        kind = "misleading" if asked.is_misleading else "direct"
        fact_id, needs, parts = rows.ids[i], list[str](), list[Part]()
        if protocol == "ours":
            curated = row.evidence_details[j] if row.evidence_details else []
            listed = [] if asked.is_misleading else [detail.part_of_claim() for detail in curated]
            borrowed = [] if curated else list(asked.borrows)
            fact_id, needs = question_id, borrowed if asked.is_misleading else [asked.ground_truth_answer]
            parts = [*map(Part, needs), Part(asked.text, "topic"), *listed]
        claim, gold = Claim(tuple(parts), owner=row.entity), Persona("; ".join(needs)) if needs else None
        fact = Fact(fact_id, "persona", row.essay, row.essay, conversations[i].id, claim, gold)
        plan.ask(
            i,
            asked.text,
            (asked.ground_truth_answer,),
            [fact],
            id=question_id,
            kind=kind,
            stratum=asked.kind or kind,
            keys={"distractor": asked.distractor} if asked.distractor else {},
            must_not_use=asked.is_misleading,
        )
    return plan.task(
        conversations.values(), (NOT_STORED, SUMMARY_ERROR), "essays about people, asked about them and about others"
    )
