"""Compare the questions of a run with a reference: what it lost beyond a verbatim store, and what it held better."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pytest_memfail.core import CORRECT, QuestionRecord, Verdict
from pytest_memfail.records import Reference


def with_reference(questions: Iterable[QuestionRecord], reference: Reference | None) -> tuple[QuestionRecord, ...]:
    """Return the questions, each with whether the reference held it."""
    if reference is None:
        return tuple(questions)
    found = []
    for question in questions:
        outcome = reference.outcomes.get(question.id)
        if outcome is not None:
            lost = None if outcome == CORRECT else outcome
            question = replace(question, reference_held=lost is None, reference_verdict=lost)
        found.append(question)
    return tuple(found)


def outcome_of(verdict: Verdict) -> str | None:
    """Return what a reference's verdict says: `correct` if it held the facts, else its failure; None if undecided."""
    if verdict.memory_held is None or verdict.is_estimated:
        return None
    return CORRECT if verdict.memory_held else verdict.verdict


def joined(references: Iterable[Reference | None]) -> Reference | None:
    """Return the reference of a run that was done in shards; None if they have none, or different ones."""
    found = [reference for reference in references if reference is not None]
    if not found or len({(one.system, one.judge, one.is_itself) for one in found}) > 1:
        return None
    outcomes = {name: outcome for one in found for name, outcome in one.outcomes.items()}
    notes = dict.fromkeys(one.note for one in found if one.note)
    return replace(found[0], outcomes=outcomes, note="; ".join(notes))
