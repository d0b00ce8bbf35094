"""The rows of each task: which values each field and each row as a whole may have."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date as Date  # noqa: N812 - a type
from typing import Annotated, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from pytest_memfail.core import Part, PartRole
from pytest_memfail.rows import HALF, ROW_ID, Text, half_character, may_be_cut, place_of

LETTERS = ("A", "B", "C", "D", "E")


def _parse_json(cell: object) -> object:
    if not isinstance(cell, str):
        return cell
    try:
        value = json.loads(cell)
    except ValueError as error:  # also raised for a number of 5,000 digits
        raise ValueError(f"not JSON ({error})") from None
    except RecursionError:
        raise ValueError("not JSON that can be read (nested too deeply)") from None
    if may_be_cut(cell) and (place := half_character(value)) is not None:
        raise ValueError(f"{place_of(place)}: {HALF}" if place else HALF)
    return value


def _empty_is_none(cell: object) -> object:
    return None if cell == "" else cell


Json = BeforeValidator(_parse_json)
Texts = Annotated[list[Text], Json]
Place = Annotated[int, Field(ge=0)]
OptionalPlace = Annotated[Place | None, BeforeValidator(_empty_is_none)]
RowId = Annotated[str | None, Field(pattern=f"^{ROW_ID.pattern}$"), BeforeValidator(_empty_is_none)]


class DetailRow(BaseModel):
    """A detail that must survive, with the wordings that keep it and those that only mention it."""

    model_config = ConfigDict(extra="forbid")

    part: Text = "detail"
    wordings: Annotated[list[Text], Field(min_length=1)]
    vaguer: list[Text] = []

    def part_of_claim(self, role: PartRole | None = None) -> Part:
        """Return the detail as a part of a claim; without a role, in that of its part."""
        role = role or ("condition" if self.part in ("condition", "exclusivity") else "core")
        return Part(self.wordings[0], role, tuple(self.wordings), tuple(self.vaguer), name=self.part)


Details = Annotated[list[DetailRow] | None, Json, BeforeValidator(_empty_is_none)]
DetailLists = Annotated[list[list[DetailRow]] | None, Json, BeforeValidator(_empty_is_none)]


class Row(BaseModel):
    """Optional fields of every task's rows, in addition to the published columns."""

    model_config = ConfigDict(extra="ignore", str_strip_whitespace=True)

    id: RowId = None
    pair_id: RowId = None
    difficulty: str = ""
    notes: str = ""


class ConditionalRow(Row):
    """A rule (entity, behaviour, condition) within an essay, and a situation that meets the condition or not."""

    entity: Text
    entity_category: Text
    behavior: Text
    condition_type: Text
    condition: Text
    entity_facts: Annotated[list[Text], Json, Field(min_length=1)]
    question: Text
    question_context: Text
    condition_met: Literal["yes", "no"]
    ground_truth_answer: Text
    evidence_details: Details = None
    rule_sentences: Annotated[dict[str, Place] | None, Json, BeforeValidator(_empty_is_none)] = None
    """The 0-based sentence numbers of behavior, condition and link in a hard essay (paper, appendix B.3)."""


class CoexistingRow(Row):
    """Two to five preferences of one category that are true at the same time."""

    preference_category: Text
    preferences: Annotated[list[Text], Json, Field(min_length=2)]
    preference_facts: Annotated[list[Text], Json, Field(min_length=2)]
    question: Text
    ground_truth_answer: Text
    evidence_details: DetailLists = None

    @model_validator(mode="after")
    def _same_length(self) -> CoexistingRow:
        n = len(self.preferences)
        if len(self.preference_facts) != n:
            raise ValueError(
                f"preference_facts: got {len(self.preference_facts)} facts, expected {n}, one per preference"
            )
        _details_match(self.evidence_details, n, "preference")
        return self


class PersonaQuestion(BaseModel):
    """A question about the essay's person, or about somebody else (misleading)."""

    model_config = ConfigDict(extra="ignore", str_strip_whitespace=True)

    text: Text
    is_misleading: bool
    distractor: str | None = None
    ground_truth_answer: Text
    kind: Literal["direct", "misleading", "other_person"] | None = None
    """`other_person`: a direct question where another stored person has a similar trait."""
    look_alike: str | None = None
    """The name of that person."""
    borrows: tuple[Text, ...] = ()
    """Sentences of the essay that would answer a misleading question if it were about the essay's person."""

    @model_validator(mode="after")
    def _names_distractor(self) -> PersonaQuestion:
        if self.is_misleading and not self.distractor:
            raise ValueError("distractor: got none, expected the name of the person a misleading question is about")
        if self.borrows and not self.is_misleading:
            raise ValueError(
                "borrows: got words for a direct question, expected none, because its answer already states them"
            )
        return self


class PersonaRow(Row):
    """An essay about a named person, with three questions."""

    entity: Text
    entity_facts: Annotated[list[Text], Json, Field(min_length=1)]
    questions: Annotated[list[PersonaQuestion], Json, Field(min_length=1)]
    evidence_details: DetailLists = None

    @model_validator(mode="after")
    def _same_length(self) -> PersonaRow:
        _details_match(self.evidence_details, len(self.questions), "question")
        return self

    @property
    def essay(self) -> str:
        """Return the full text about the person."""
        return "\n".join(self.entity_facts)


class LongHopRow(Row):
    """A chain of K+1 facts over K+2 anchors, asked as one multiple-choice question."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]+$")]
    hop_count: Annotated[int, Field(ge=1, le=3)]
    fact_1: Text
    fact_2: Text
    fact_3: str = ""
    fact_4: str = ""
    chain_1: Text
    chain_2: Text
    chain_3: Text
    chain_4: str = ""
    chain_5: str = ""
    graded_question: Text
    ground_truth_answer: Text
    choice_a: Text
    choice_b: Text
    choice_c: Text
    choice_d: Text
    choice_e: Text
    correct_choice: Literal["A", "B", "C", "D", "E"]
    evidence_details: DetailLists = None

    @property
    def facts(self) -> list[str]:
        """Return the K+1 facts, in chain order."""
        return [f for f in (self.fact_1, self.fact_2, self.fact_3, self.fact_4) if f]

    @property
    def anchors(self) -> list[str]:
        """Return the K+2 anchors, in chain order."""
        return [a for a in (self.chain_1, self.chain_2, self.chain_3, self.chain_4, self.chain_5) if a]

    @property
    def choices(self) -> list[str]:
        """Return the five options, A to E."""
        return [self.choice_a, self.choice_b, self.choice_c, self.choice_d, self.choice_e]

    @property
    def stem(self) -> str:
        """Return the question without its options."""
        return self.graded_question.partition("\n\nOptions:")[0].strip()

    @model_validator(mode="after")
    def _consistent(self) -> LongHopRow:
        if len(self.facts) != self.hop_count + 1:
            raise ValueError(f"fact_1..4: got {len(self.facts)} facts, expected hop_count + 1 = {self.hop_count + 1}")
        if len(self.anchors) != self.hop_count + 2:
            raise ValueError(
                f"chain_1..5: got {len(self.anchors)} anchors, expected hop_count + 2 = {self.hop_count + 2}"
            )
        chosen = self.choices[LETTERS.index(self.correct_choice)]
        if chosen.casefold() != self.ground_truth_answer.casefold():
            raise ValueError(
                f"correct_choice: got {self.correct_choice!r} ({chosen!r}), "
                f"expected the letter of the ground truth {self.ground_truth_answer!r}"
            )
        _details_match(self.evidence_details, len(self.facts), "fact")
        return self


class DatedMessage(BaseModel):
    """A message with its date."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    date: Date
    text: Text


class UpdatedRow(Row):
    """A fact, its later change, and the messages in between (the storage failure of the paper's section 3.2)."""

    kind: Literal["update", "correction", "deletion", "control"]
    entity: Text
    subject: Text
    messages: Annotated[list[DatedMessage], Json, Field(min_length=2)]
    old_value: Text
    current_value: str
    fact_index: Annotated[int, Field(ge=0)]
    old_index: OptionalPlace = None
    decoy_index: OptionalPlace = None
    question: Text
    ground_truth_answer: Text
    stale_values: Texts
    evidence_details: Details = None

    @model_validator(mode="after")
    def _consistent(self) -> UpdatedRow:
        dates = [message.date for message in self.messages]
        if dates != sorted(dates):
            raise ValueError("messages: got dates out of order, expected them from the first to the last")
        for name in ("fact_index", "old_index", "decoy_index"):
            at = getattr(self, name)
            if at is not None and at >= len(self.messages):
                raise ValueError(f"{name}: got {at}, expected 0 to {len(self.messages) - 1} (an index into messages)")
        changes = self.kind != "control"
        if changes != (self.old_index is not None) or changes != bool(self.stale_values):
            raise ValueError(
                f"stale_values: got {len(self.stale_values)} and old_index {self.old_index} in a row of kind {self.kind!r}, "
                f"expected {'both' if changes else 'neither'}"
            )
        if (self.kind == "deletion") == bool(self.current_value):
            expected = "nothing" if self.kind == "deletion" else "the value that holds now"
            raise ValueError(f"current_value: got {self.current_value!r}, expected {expected}")
        return self


MODELS: Final[dict[str, type[Row]]] = {
    "conditional_facts_easy": ConditionalRow,
    "conditional_facts_hard": ConditionalRow,
    "coexisting_facts": CoexistingRow,
    "persona_retrieval": PersonaRow,
    "long_hop": LongHopRow,
    "updated_facts": UpdatedRow,
}
"""The row model of each task."""


def _details_match(details: Sequence[object] | None, n: int, one: str) -> None:
    if details is not None and len(details) != n:
        raise ValueError(f"evidence_details: got {len(details)} lists, expected {n}, one per {one}")
