"""Conditional-Facts, easy and hard (paper, section 4, task 1): does the memory keep the condition of a rule?"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pytest_memfail.core import SUMMARY_ERROR, Claim, Fact, Part, ProtocolName, Task
from pytest_memfail.suites.memfail import layout
from pytest_memfail.suites.memfail.gold import Rule
from pytest_memfail.suites.memfail.row_models import ConditionalRow
from pytest_memfail.suites.memfail.rows import Rows, read_rows
from pytest_memfail.suites.sampling import by_digest

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
    conversations = {
        i: layout.conversation(f"{name}:{rows.ids[i]}", rows.rows[i].entity_facts, None if protocol == "paper" else day)
        for day, i in enumerate(stored)
    }
    plan = layout.Plan(name, rows)
    for i in asked:
        row, row_id = rows.rows[i], rows.ids[i]
        details = (detail.part_of_claim() for detail in row.evidence_details or ())
        claim = Claim(
            (Part(row.behavior), Part(row.condition, "condition"), *details),
            owner=row.entity,
            is_composed=name == COMPOSED,
        )
        text, gold = f"{row.entity} {row.behavior} {row.condition}.", Rule(row.behavior, row.condition)
        fact = Fact(row_id, "rule", text, "\n".join(row.entity_facts), conversations[i].id, claim, gold)
        keys = {
            "condition_met": row.condition_met,
            "condition_type": row.condition_type,
            "rule_sentences": row.rule_sentences,
        }
        gold_answers = (row.ground_truth_answer,)
        plan.ask(i, row.question, gold_answers, [fact], kind="yes_no", stratum=row.condition_met, keys=keys)
    return plan.task(
        conversations.values(), (SUMMARY_ERROR,), "rules that apply only under a condition, hidden in essays"
    )
