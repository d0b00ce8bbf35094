"""Long-Hop (paper, section 4, task 4): does retrieval find all links of a chain that are stored separately?"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pytest_memfail.core import NOT_RETRIEVED, Claim, Fact, Part, PartRole, ProtocolName, Task
from pytest_memfail.suites.memfail import layout
from pytest_memfail.suites.memfail.gold import Link
from pytest_memfail.suites.memfail.row_models import LongHopRow
from pytest_memfail.suites.memfail.rows import Rows, read_rows
from pytest_memfail.suites.sampling import by_digest

OUTPUT_INSTRUCTION: Final = """

Answer with exactly one of the five options. Put the relevant facts from memory together step by step: only one option follows \
from them, and nothing in memory leads to the other four. Write one JSON object on a single line and no other text, in exactly \
this form: {"selected_choice": "A, B, C, D or E"}"""
"""The counterpart of the instruction in the published harness's queries (paper, D.2), in our own words. Ranking by
words or by meaning is distracted by it."""


def read(path: Path) -> Rows[LongHopRow]:
    """Read the rows of a file."""
    return read_rows(path, LongHopRow, lambda r: r.id, lambda r: str(r.facts))


def build(name: str, rows: Rows[LongHopRow], protocol: ProtocolName, seed: int) -> Task:
    """Return the task with one fact per conversation and one multiple-choice question per chain.

    The retrieval query is the question without its options. Under `paper` it also has the options and the output
    instruction, as in the published harness.
    """
    n = len(rows.rows)
    if protocol == "paper":
        order = list(range(n))
        random.Random(seed).shuffle(order)
        links = [(i, j) for i in order for j in range(len(rows.rows[i].facts))]
        random.Random(seed ^ layout.PAPER_FACT_SALT).shuffle(links)
        asked = order
        random.Random(seed ^ layout.PAPER_QUESTION_SALT).shuffle(asked)
    else:
        links = [(i, j) for i, row in enumerate(rows.rows) for j in range(len(row.facts))]
        links = by_digest(links, seed, [f"store:{rows.ids[i]}:{j}" for i, j in links])
        asked = by_digest(range(n), seed, [f"ask:{i}" for i in rows.ids])
    conversations = {
        (i, j): layout.conversation(
            f"{name}:{rows.ids[i]}:{j}", [rows.rows[i].facts[j]], None if protocol == "paper" else day
        )
        for day, (i, j) in enumerate(links)
    }
    plan = layout.Plan(name, rows)
    for i in asked:
        row, facts = rows.rows[i], []
        for j, fact in enumerate(row.facts):
            start, end = row.anchors[j], row.anchors[j + 1]
            details = row.evidence_details[j] if row.evidence_details else []
            roles: Sequence[PartRole | None] = ("cause", "core") if len(details) == 2 else (None,) * len(details)
            listed = (detail.part_of_claim(role) for detail, role in zip(details, roles, strict=True))
            siblings = tuple(row.facts[:j] + row.facts[j + 1 :])
            claim = Claim((Part(end), Part(start, "cause"), *listed), siblings=siblings)
            home, gold = conversations[i, j].id, Link((start, end))
            facts.append(Fact(f"{rows.ids[i]}:{j + 1}", "link", fact, fact, home, claim, gold))
        plan.ask(
            i,
            row.graded_question,
            (row.ground_truth_answer,),
            facts,
            query=f"{row.graded_question}{OUTPUT_INSTRUCTION}" if protocol == "paper" else row.stem,
            kind="multiple_choice",
            options=tuple(row.choices),
            letter=row.correct_choice,
            stratum=f"K={row.hop_count}",
        )
    return plan.task(
        conversations.values(), (NOT_RETRIEVED,), "chains of one to three hops whose links are stored separately"
    )
