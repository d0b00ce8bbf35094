"""Count the clues of runs in which nothing is wrong: random subsets of a healthy store, and the same with losses at random.

    python tools/healthy_clues.py RECORD [--runs 100] [--seed 1]

RECORD is a run of `bm25` over the shipped rows. Each run takes a random half of its rows, or loses a random twentieth of the facts in
one stage. A clue about a subset is false, and so is one about random losses that says more than how many conversations left no entry.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from pytest_memfail.clues import find_clues
from pytest_memfail.core import (
    CORRECT,
    MEMORY_STAGES,
    STAGE_FAILURE,
    UNREACHED,
    FactVerdict,
    QuestionRecord,
    StageResult,
    question_verdict,
)
from pytest_memfail.results import load_record

HALF, LOST = 0.5, 0.05


def main(words: Sequence[str] | None = None) -> int:
    """Print how many of the runs give a clue; return 1 if more than one in twenty does."""
    parser = argparse.ArgumentParser(description="Count the clues of healthy runs.")
    parser.add_argument("record", type=Path)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(words)
    record = load_record(options.record)
    # what a healthy store loses without a reference is tested too: its ranking is no bug
    alone = [replace(question, reference_held=None) for question in record.questions]
    ways = {
        "subsets": lambda chance: (_subset(record.questions, chance), record.stores),
        "subsets without a reference": lambda chance: (_subset(alone, chance), record.stores),
        **{
            f"random losses in {stage}": lambda chance, stage=stage: (
                _with_losses(_subset(record.questions, chance), stage, chance),
                record.stores,
            )
            for stage in MEMORY_STAGES
        },
    }
    worst = 0
    for name, way in ways.items():
        found = [
            clues
            for seed in range(options.runs)
            if (clues := find_clues(*way(random.Random(options.seed * 1000 + seed))))
        ]
        worst = max(worst, len(found))
        print(f"{name}: {len(found)} of {options.runs} runs give a clue")
        for clues in found[:3]:
            print(f"  {clues[0].text}")
    return int(20 * worst > options.runs)


def _subset(questions: Sequence[QuestionRecord], chance: random.Random) -> list[QuestionRecord]:
    """Return the questions of a random half of the rows."""
    rows = sorted({question.cluster_key for question in questions})
    chosen = set(chance.sample(rows, round(HALF * len(rows))))
    return [question for question in questions if question.cluster_key in chosen]


def _with_losses(questions: Sequence[QuestionRecord], stage: str, chance: random.Random) -> Iterator[QuestionRecord]:
    """Yield the questions, with a random twentieth of the facts that memory held lost in one stage."""
    lost: dict[tuple[str, ...], bool] = {}
    for question in questions:
        facts = []
        for fact in question.facts:
            # a store that lost a fact lost it for all questions; a search may find it for one only
            asked = question.question if stage == "retrieval" else ""
            key = (question.task, question.store, asked, fact.id)
            is_lost = lost.setdefault(key, chance.random() < LOST)
            facts.append(_lost(fact, stage) if is_lost and fact.verdict == CORRECT else fact)
        found = question_verdict(facts, question.answer, must_not_use=question.must_not_use)
        yield replace(
            question, verdict=found.verdict, facts=tuple(facts), memory_held=found.memory_held, vacuous=found.vacuous
        )


def _lost(fact: FactVerdict, stage: str) -> FactVerdict:
    """Return a fact that was lost in a stage."""
    later = MEMORY_STAGES[MEMORY_STAGES.index(stage) + 1 :]  # type: ignore[arg-type]
    return replace(
        fact, verdict=STAGE_FAILURE[stage], **{stage: StageResult("failed")}, **dict.fromkeys(later, UNREACHED)
    )


if __name__ == "__main__":
    raise SystemExit(main())
