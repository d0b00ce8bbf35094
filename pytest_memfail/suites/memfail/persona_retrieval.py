"""Persona-Retrieval (paper, section 4, task 3): does the memory keep small details, each with the right person?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pytest_memfail.core import NOT_STORED, SUMMARY_ERROR, Claim, Fact, Part, ProtocolName, Question, Task
from pytest_memfail.suites.memfail import layout
from pytest_memfail.suites.memfail.conditional_facts import LICENCE
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
    evidence, questions = {}, []
    for i, j in slots:
        row, question_id = rows.rows[i], f"{rows.ids[i]}-q{j + 1}"
        asked = row.questions[j]
        direct = not asked.is_misleading
        fact_id = rows.ids[i] if protocol == "paper" else question_id
        curated = row.evidence_details[j] if row.evidence_details else []
        needs: Sequence[str] = (
            [] if protocol == "paper" else [asked.ground_truth_answer] if direct else [] if curated else asked.borrows
        )
        evidence[fact_id] = Fact(
            id=fact_id,
            kind="persona",
            text=row.essay,
            source=row.essay,
            conversation_id=conversations[i].id,
            claim=Claim(
                (
                    *map(Part, needs),
                    *([Part(asked.text, "topic")] if protocol == "ours" else []),
                    *(detail.part_of_claim() for detail in curated if direct and protocol == "ours"),
                ),
                owner=row.entity,
            ),
            gold=Persona("; ".join(needs)) if needs else None,
        )
        questions.append(
            Question(
                id=question_id,
                task=name,
                text=asked.text,
                query=asked.text,
                gold=(asked.ground_truth_answer,),
                evidence=(fact_id,),
                kind="direct" if direct else "misleading",
                file=str(rows.path),
                line=rows.lines[i],
                stratum=asked.kind or ("direct" if direct else "misleading"),
                keys={"distractor": asked.distractor} if asked.distractor else {},
                must_not_use=not direct,
            )
        )
    return Task(
        name=name,
        targets=(NOT_STORED, SUMMARY_ERROR),
        stores=layout.single_store(name, [conversations[i] for i in stored], questions),
        evidence=evidence,
        licence=LICENCE,
        data_hash=rows.sha256,
        description="essays about people, asked about them and about others",
    )
