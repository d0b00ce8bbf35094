"""Compare the questions of a run with a reference: what it lost beyond a verbatim store, and what it held better."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pytest_memfail.core import QuestionRecord
from pytest_memfail.records import Reference


def with_reference(questions: Iterable[QuestionRecord], reference: Reference | None) -> tuple[QuestionRecord, ...]:
    """Return the questions, each with whether the reference held it."""
    if reference is None or not reference.held:
        return tuple(questions)
    held = reference.held
    return tuple(
        replace(question, reference_held=held[question.id]) if question.id in held else question
        for question in questions
    )


def joined(references: Iterable[Reference | None]) -> Reference | None:
    """Return the reference of a run that was done in shards; None if they have none, or different ones."""
    found = [reference for reference in references if reference is not None]
    if not found or len({(one.system, one.judge, one.is_itself) for one in found}) > 1:
        return None
    held = {name: is_held for one in found for name, is_held in one.held.items()}
    notes = dict.fromkeys(one.note for one in found if one.note)
    return replace(found[0], held=held, note="; ".join(notes))
