"""Coexisting-Facts (paper, section 4, task 2): does the memory keep compatible preferences side by side and retrieve
all of them?
"""

from __future__ import annotations

import random
from pathlib import Path

from pytest_memfail.core import NOT_RETRIEVED, NOT_STORED, Claim, Fact, Part, ProtocolName, Task
from pytest_memfail.suites.memfail import layout
from pytest_memfail.suites.memfail.gold import Preference
from pytest_memfail.suites.memfail.row_models import CoexistingRow
from pytest_memfail.suites.memfail.rows import Rows, read_rows
from pytest_memfail.suites.sampling import by_digest


def read(path: Path) -> Rows[CoexistingRow]:
    """Read the rows of a file."""
    return read_rows(path, CoexistingRow, lambda r: r.preference_category, lambda r: str(r.preference_facts))


def build(name: str, rows: Rows[CoexistingRow], protocol: ProtocolName, seed: int) -> Task:
    """Return the task with one statement per conversation and one question per row."""
    n = len(rows.rows)
    pairs = [(i, j) for i, row in enumerate(rows.rows) for j in range(len(row.preference_facts))]
    if protocol == "paper":
        rng = random.Random(seed)
        rng.shuffle(pairs)
        asked = list(range(n))
        rng.shuffle(asked)
    else:
        pairs = by_digest(pairs, seed, [f"store:{rows.ids[i]}:{j}" for i, j in pairs])
        asked = by_digest(range(n), seed, [f"ask:{i}" for i in rows.ids])
    conversations = {
        (i, j): layout.conversation(
            f"{name}:{rows.ids[i]}:{j}", [rows.rows[i].preference_facts[j]], None if protocol == "paper" else day
        )
        for day, (i, j) in enumerate(pairs)
    }
    plan = layout.Plan(name, rows)
    for i in asked:
        row, facts = rows.rows[i], []
        for j, (preference, fact) in enumerate(zip(row.preferences, row.preference_facts, strict=True)):
            details = row.evidence_details[j] if row.evidence_details else []
            topic = Part(row.preference_category, "topic", required=False)
            claim = Claim(
                (Part(preference), topic, *(detail.part_of_claim() for detail in details)),
                siblings=tuple(row.preference_facts[:j] + row.preference_facts[j + 1 :]),
            )
            home, gold = conversations[i, j].id, Preference(preference)
            facts.append(Fact(f"{rows.ids[i]}:{j + 1}", "preference", fact, fact, home, claim, gold))
        kind, stratum, keys = "all_of", f"N={len(facts)}", {"category": row.preference_category}
        plan.ask(i, row.question, row.preferences, facts, kind=kind, stratum=stratum, keys=keys)
    return plan.task(
        conversations.values(),
        (NOT_STORED, NOT_RETRIEVED),
        "two to five preferences of one category that are true at the same time",
    )
