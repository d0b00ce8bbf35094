"""Coexisting-Facts: several preferences of one category, each in its own statement."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pydantic import BaseModel

from pytest_memfail.authoring import LONG, SHORT, Item, Line, Request, SingleStage, Stage, as_json, quoted, text_faults
from pytest_memfail.suites.memfail.design import LIKENESS
from pytest_memfail.suites.memfail.recipes import prompts
from pytest_memfail.suites.memfail.recipes.samplers import preference_specs
from pytest_memfail.texts import in_plain_words

FIRST_PERSON: Final = re.compile(r"\b(I|I['’]\w+|me|my|mine|myself|we|us|our)\b", re.IGNORECASE)


class Preferences(Item):
    """One person's preferences of a category."""

    preferences: list[Line]
    preference_facts: list[Line]
    question: Line


class PreferencesReply(BaseModel):
    """The reply of the only stage."""

    rows: list[Preferences]


def coexisting_facts(request: Request) -> SingleStage[Preferences]:
    """Draw the categories and counts; their rows rarely conflict, so all are requested at once."""
    specs = preference_specs(request.n, request.seed)

    def row(number: int, item: Preferences) -> dict[str, str]:
        return {
            "id": f"co-g{request.seed}-{number:03d}",
            "preference_category": specs[number - 1].category,
            "preferences": as_json(item.preferences),
            "preference_facts": as_json(item.preference_facts),
            "question": item.question,
            "ground_truth_answer": ", ".join(item.preferences),
        }

    stage = Stage(
        "preferences",
        Preferences,
        PreferencesReply,
        prompts.PREFERENCES,
        given=lambda number: {"category": specs[number - 1].category, "likings": specs[number - 1].count},
        check=lambda number, item: _faults(specs[number - 1].count, item),
        size=request.batch_size or 10,
        given_tokens=25,
        reply_tokens=150,
    )
    return SingleStage(request, stage, row, "question", LIKENESS)


def _faults(count: int, item: Preferences) -> Iterator[str]:
    for field in ("preferences", "preference_facts"):
        if (got := len(getattr(item, field))) != count:
            yield f"{field}: got {got}, expected {count}"
            return
    faults = [*text_faults("question", item.question, LONG)]
    for liking, fact in zip(item.preferences, item.preference_facts, strict=True):
        faults += [*text_faults("preferences", liking, SHORT), *text_faults("preference_facts", fact, LONG)]
    if faults:
        yield from faults
        return  # the following rules expect texts of normal length
    if len({liking.casefold() for liking in item.preferences}) != count:
        yield "preferences: the same one twice, expected different ones"
    if listed := [liking for liking in item.preferences if "," in liking]:
        yield f"preferences: {quoted(listed[0])} has a comma, expected one thing"
    for i, fact in enumerate(item.preference_facts):
        if item.preferences[i].casefold() not in fact.casefold():
            yield f"preference_facts: number {i + 1} does not name {quoted(item.preferences[i])}"
        if not FIRST_PERSON.search(fact):
            yield f"preference_facts: number {i + 1} is not in the first person"
        for j, sibling in enumerate(item.preferences):
            if i != j and in_plain_words(sibling, fact):
                yield f"preference_facts: number {i + 1} mentions {quoted(sibling)}, expected its own preference alone"
    if not FIRST_PERSON.search(item.question):
        yield "question: is not in the first person"
    if named := [liking for liking in item.preferences if in_plain_words(liking, item.question)]:
        yield f"question: names {quoted(named[0])}, expected none of the preferences"
