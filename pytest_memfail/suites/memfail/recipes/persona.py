"""Persona-Retrieval: an essay about a person, and questions about that person or a stranger."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import BaseModel

from pytest_memfail.authoring import (
    ESSAY,
    LONG,
    Item,
    Line,
    Request,
    SingleStage,
    Stage,
    as_json,
    quoted,
    spanned,
    text_faults,
)
from pytest_memfail.core import UsageError, one_line
from pytest_memfail.suites.memfail.design import LIKENESS, PERSONA_SENTENCES
from pytest_memfail.suites.memfail.recipes import prompts
from pytest_memfail.suites.memfail.recipes.samplers import PersonSpec, apart, person_specs
from pytest_memfail.texts import essay_sentences, in_plain_words, plain_words

QUOTED: Final = re.compile(r"“[^”]*”|\"[^\"]*\"")
FIRST_PERSON: Final = re.compile(r"\b(I|[Mm]e|[Mm]y|[Mm]ine|[Ww]e|us|[Oo]ur)\b")


class Asked(BaseModel):
    """One question and its answer."""

    text: Line
    answer: Line
    """For a stranger: the words of the essay that would answer the question about the person."""


class Portrait(Item):
    """An essay about one person, and three questions."""

    essay: Line
    questions: list[Asked]


class PortraitReply(BaseModel):
    """The reply of the only stage."""

    rows: list[Portrait]


def persona_retrieval(request: Request) -> SingleStage[Portrait]:
    """Draw the people and the subjects of their questions; the names are given, so all rows are requested at once.

    Raises `UsageError` if there are more people than names.
    """
    specs = person_specs(request.n, request.seed)
    try:
        specs = apart(specs, request.seed) if request.design == "ours" else specs
    except ValueError as error:
        raise UsageError(f"-n: {error}") from None

    def given(number: int) -> Mapping[str, Any]:
        spec = specs[number - 1]
        slots = [{"about": name or spec.entity} for name in spec.distractors]
        return {"person": spec.entity, "what they are like": spec.flavor, "slots": slots}

    def row(number: int, item: Portrait) -> dict[str, str]:
        spec = specs[number - 1]
        questions = [
            {
                "text": asked.text,
                "is_misleading": stranger is not None,
                "distractor": stranger,
                # the same for all, so that no wording decides what counts as an abstention
                "ground_truth_answer": f"I don't have information about {stranger}." if stranger else asked.answer,
                **({"borrows": [asked.answer]} if stranger else {}),
            }
            for asked, stranger in zip(item.questions, spec.distractors, strict=True)
        ]
        return {
            "id": f"pr-g{request.seed}-{number:03d}",
            "entity": spec.entity,
            "entity_facts": as_json([item.essay]),
            "questions": as_json(questions),
        }

    stage = Stage(
        "portraits",
        Portrait,
        PortraitReply,
        spanned(prompts.PERSON, PERSONA_SENTENCES),
        given,
        check=lambda number, item: _faults(specs[number - 1], item),
        size=request.batch_size or 4,
        given_tokens=75,
        reply_tokens=480,
    )
    return SingleStage(request, stage, row, "essay", LIKENESS)


def _faults(spec: PersonSpec, item: Portrait) -> Iterator[str]:
    yield from text_faults("essay", item.essay, ESSAY)
    if len(item.essay) > ESSAY:
        return  # the following rules expect texts of normal length
    count = len(essay_sentences(item.essay))
    if not PERSONA_SENTENCES[0] <= count <= PERSONA_SENTENCES[1]:
        yield f"essay: got {count} sentences, expected {PERSONA_SENTENCES[0]} to {PERSONA_SENTENCES[1]}"
    if not in_plain_words(spec.entity, item.essay):
        yield f"essay: does not give the full name {spec.entity!r}"
    strangers = [name for name in spec.distractors if name is not None]
    if mentioned := [name for name in strangers if in_plain_words(name, item.essay)]:
        yield f"essay: mentions {mentioned[0]!r}, who is a stranger"
    if found := FIRST_PERSON.search(QUOTED.sub("", item.essay)):
        yield f"essay: holds {found[0]!r} outside quotation marks, expected the third person"
    if len(item.questions) != len(spec.distractors):
        yield f"questions: got {len(item.questions)}, expected {len(spec.distractors)}"
        return
    if len({one_line(asked.text.casefold()) for asked in item.questions}) < len(item.questions):
        yield "questions: the same one twice, expected different ones"
    for number, (asked, stranger) in enumerate(zip(item.questions, spec.distractors, strict=True), 1):
        yield from _question_faults(number, asked, stranger, spec, strangers)
        if stranger is not None and asked.answer not in item.essay:
            yield f"question {number}, answer: {quoted(asked.answer)} does not stand in the essay, expected words copied from it"


def _question_faults(
    number: int, asked: Asked, stranger: str | None, spec: PersonSpec, strangers: list[str]
) -> Iterator[str]:
    where = f"question {number}"
    about = stranger or spec.entity
    if faults := [*text_faults(where, asked.text, LONG), *text_faults(f"{where}, answer", asked.answer, LONG)]:
        yield from faults
        return
    if about not in asked.text:
        yield f"{where}: does not name {about!r}"
    if named := [name for name in (spec.entity, *strangers) if name != about and in_plain_words(name, asked.text)]:
        yield f"{where}: names {named[0]!r}, expected {about!r} alone"
    if stranger is None and plain_words(asked.answer) and in_plain_words(asked.answer, asked.text):
        yield f"{where}: holds its own answer {quoted(asked.answer)}"
