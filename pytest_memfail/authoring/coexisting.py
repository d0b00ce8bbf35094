"""Coexisting-Facts: several preferences of one category, each in its own statement."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import BaseModel

from pytest_memfail.authoring import prompts
from pytest_memfail.authoring.asking import Item, Session, Stage, as_json
from pytest_memfail.authoring.made import Made, Request, Work, batch_of, made_at_once, stage_work
from pytest_memfail.authoring.raw import Raw
from pytest_memfail.authoring.samplers import preference_specs
from pytest_memfail.authoring.texts import LONG, SHORT, Line, quoted, text_faults
from pytest_memfail.suites import LIKENESS, stands

FIRST_PERSON: Final = re.compile(r"\b(I|I['’]\w+|me|my|mine|myself|we|us|our)\b", re.IGNORECASE)


class Preferences(Item):
    """One person's preferences of a category."""

    preferences: list[Line]
    preference_facts: list[Line]
    question: Line


class PreferencesReply(BaseModel):
    """The reply of the only stage."""

    rows: list[Preferences]


class CoexistingFacts:
    """The recipe."""

    def __init__(self, request: Request) -> None:
        """Draw the categories and counts."""
        self._request = request
        self._specs = preference_specs(request.n, request.seed)
        self._stage = Stage(
            "preferences",
            Preferences,
            PreferencesReply,
            prompts.PREFERENCES,
            self._spec,
            self._faults,
            size=batch_of(10, request),
            given_tokens=25,
            reply_tokens=150,
        )

    def plan(self, raw: Raw) -> list[Work]:
        """Return the work of the only stage."""
        return stage_work([self._stage], range(1, self._request.n + 1), raw)

    async def make(self, session: Session) -> Made:
        """Request all rows at once: their categories differ, so they rarely conflict."""
        return await made_at_once(session, self._stage, self._request, self._row, "question", LIKENESS)

    def _spec(self, number: int) -> Mapping[str, Any]:
        spec = self._specs[number - 1]
        return {"category": spec.category, "likings": spec.count}

    def _faults(self, number: int, item: Preferences) -> list[str]:
        return list(self._broken_by(self._specs[number - 1].count, item))

    def _broken_by(self, count: int, item: Preferences) -> Iterator[str]:
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
                if i != j and stands(sibling, fact):
                    yield f"preference_facts: number {i + 1} mentions {quoted(sibling)}, expected its own preference alone"
        if not FIRST_PERSON.search(item.question):
            yield "question: is not in the first person"
        if named := [liking for liking in item.preferences if stands(liking, item.question)]:
            yield f"question: names {quoted(named[0])}, expected none of the preferences"

    def _row(self, number: int, item: Preferences) -> dict[str, str]:
        return {
            "id": f"co-g{self._request.seed}-{number:03d}",
            "preference_category": self._specs[number - 1].category,
            "preferences": as_json(item.preferences),
            "preference_facts": as_json(item.preference_facts),
            "question": item.question,
            "ground_truth_answer": ", ".join(item.preferences),
        }
