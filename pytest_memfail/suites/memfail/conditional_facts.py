"""Conditional-Facts, easy and hard (paper, section 4, task 1): does the memory keep the condition of a rule?"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pytest_memfail.core import SUMMARY_ERROR, Claim, Fact, Part, ProtocolName, Question, Task
from pytest_memfail.suites.memfail import layout
from pytest_memfail.suites.memfail.gold import Rule
from pytest_memfail.suites.memfail.row_models import ConditionalRow
from pytest_memfail.suites.memfail.rows import Rows, read_rows
from pytest_memfail.suites.sampling import by_digest

LICENCE = "see the data card of the folder"
COMPOSED: Final = "conditional_facts_hard"
"""The variant in which other statements stand between a behavior and its condition."""


def read(path: Path) -> Rows[ConditionalRow]:
    """Read the rows of one variant."""
    return read_rows(
        path, ConditionalRow, lambda r: f"{r.entity} {r.behavior}", lambda r: f"{r.entity_facts}{r.question}"
    )


def build(name: str, rows: Rows[ConditionalRow], protocol: ProtocolName, seed: int) -> Task:
    """Return the task with one essay per conversation and one yes/no question per row."""
    n = len(rows.rows)
    if protocol == "paper":
        stored, rng = layout.paper_rows(n, seed)
        asked = list(range(n))
        rng.shuffle(asked)
    else:
        stored = by_digest(range(n), seed, [f"store:{i}" for i in rows.ids])
        asked = by_digest(range(n), seed, [f"ask:{i}" for i in rows.ids])
    essays = {i: "\n".join(rows.rows[i].entity_facts) for i in range(n)}
    conversations = {
        i: layout.conversation(f"{name}:{rows.ids[i]}", rows.rows[i].entity_facts, None if protocol == "paper" else day)
        for day, i in enumerate(stored)
    }
    evidence, questions = {}, []
    for i in asked:
        row, row_id = rows.rows[i], rows.ids[i]
        evidence[row_id] = Fact(
            id=row_id,
            kind="rule",
            text=f"{row.entity} {row.behavior} {row.condition}.",
            source=essays[i],
            conversation_id=conversations[i].id,
            claim=Claim(
                (
                    Part(row.behavior),
                    Part(row.condition, "condition"),
                    *(detail.part_of_claim() for detail in row.evidence_details or ()),
                ),
                owner=row.entity,
                is_composed=name == COMPOSED,
            ),
            gold=Rule(row.behavior, row.condition),
        )
        questions.append(
            Question(
                id=row_id,
                task=name,
                text=row.question,
                query=row.question,
                gold=(row.ground_truth_answer,),
                evidence=(row_id,),
                kind="yes_no",
                file=str(rows.path),
                line=rows.lines[i],
                stratum=row.condition_met,
                keys={
                    "condition_met": row.condition_met,
                    "condition_type": row.condition_type,
                    "rule_sentences": row.rule_sentences,
                },
            )
        )
    return Task(
        name=name,
        targets=(SUMMARY_ERROR,),
        stores=layout.single_store(name, [conversations[i] for i in stored], questions),
        evidence=evidence,
        licence=LICENCE,
        data_hash=rows.sha256,
        description="rules that apply only under a condition, hidden in essays",
    )
