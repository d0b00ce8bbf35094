"""Conditional-Facts: one rule and two essays about it, which form a pair of an easy and a hard row."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, Literal

from pydantic import BaseModel

from pytest_memfail.authoring import (
    ESSAY,
    LONG,
    SHORT,
    Item,
    Line,
    Made,
    Raw,
    Request,
    Session,
    Stage,
    Work,
    as_json,
    distinct,
    quoted,
    row_counts,
    run_stage,
    spanned,
    stage_work,
    stems,
    text_faults,
    together,
)
from pytest_memfail.suites.memfail.design import EASY_SENTENCES, ESSAY_LIKENESS, HARD_SENTENCES
from pytest_memfail.suites.memfail.faults import CONNECTIVES, EXCLUSIVE, STATES_EXCLUSIVITY, numbers_in
from pytest_memfail.suites.memfail.recipes import prompts
from pytest_memfail.suites.memfail.recipes.samplers import rule_specs
from pytest_memfail.texts import essay_sentences, in_plain_words, plain_words

EASY: Final = "conditional_facts_easy.csv"
HARD: Final = "conditional_facts_hard.csv"
NAME_WORDS: Final = 4
APART: Final = 2
"""The least distance between the three sentences of a hard rule."""
MOST: Final = 0.6
"""The share of the other case's words that one sentence must contain."""


class Rule(Item):
    """Who does what under which condition, and a question about it."""

    entity: Line
    behavior: Line
    condition: Line
    other_case: Line
    """What happens if the condition is not met; empty if the essays exclude it."""
    question: Line
    question_context: Line
    condition_met: Literal["yes", "no"]
    ground_truth_answer: Line


class RuleReply(BaseModel):
    """The reply of the first stage."""

    rows: list[Rule]


class EasyEssay(Item):
    """An essay that states the rule in one sentence."""

    essay: Line


class EasyReply(BaseModel):
    """The reply of the second stage."""

    rows: list[EasyEssay]


class HardEssay(Item):
    """An essay that spreads the rule over three sentences, with their numbers from 1."""

    essay: Line
    behavior_sentence: int
    condition_sentence: int
    link_sentence: int


class HardReply(BaseModel):
    """The reply of the third stage."""

    rows: list[HardEssay]


class ConditionalFacts:
    """The recipe of both variants."""

    def __init__(self, request: Request) -> None:
        """Draw the subject of each rule."""
        self._request = request
        self._specs = rule_specs(request.n, request.seed)
        self._rules: dict[int, Rule] = {}
        self._easy: dict[int, EasyEssay] = {}
        self._hard: dict[int, HardEssay] = {}
        self._rule_stage = Stage(
            "rules",
            Rule,
            RuleReply,
            prompts.RULES,
            self._spec,
            self._rule_faults,
            size=request.batch_size or 10,
            given_tokens=50,
            reply_tokens=155,
            in_turn=True,  # names and behaviours must differ within the whole set
            taken=self._taken,
        )
        self._easy_stage = Stage(
            "easy essays",
            EasyEssay,
            EasyReply,
            spanned(prompts.EASY, EASY_SENTENCES),
            self._rule_of,
            self._easy_faults,
            size=request.batch_size or 5,
            given_tokens=70,
            reply_tokens=180,
        )
        self._hard_stage = Stage(
            "hard essays",
            HardEssay,
            HardReply,
            spanned(prompts.HARD, HARD_SENTENCES),
            self._rule_of,
            self._hard_faults,
            size=request.batch_size or 5,
            given_tokens=70,
            reply_tokens=280,
        )

    def plan(self, raw: Raw) -> list[Work]:
        """Return the work of the three stages."""
        return stage_work([self._rule_stage, self._easy_stage, self._hard_stage], range(1, self._request.n + 1), raw)

    async def make(self, session: Session) -> Made:
        """Request the rules, then both essays of each."""
        numbers = range(1, self._request.n + 1)
        await run_stage(session, self._rule_stage, numbers, self._rules)
        ruled = sorted(self._rules)
        await together(
            [
                run_stage(session, self._easy_stage, ruled, self._easy),
                run_stage(session, self._hard_stage, ruled, self._hard),
            ]
        )
        complete = sorted(self._rules.keys() & self._easy.keys() & self._hard.keys())
        repeats: dict[int, str] = {}
        for variant, essays in (("easy", self._easy), ("hard", self._hard)):
            texts = {f"{variant} row {n}": essays[n].essay for n in complete if n not in repeats}
            repeats |= distinct(texts, ESSAY_LIKENESS, lambda key: int(key.rsplit(" ", 1)[1]))
        kept = [number for number in complete if number not in repeats]
        return Made(
            {EASY: [self._easy_row(n) for n in kept], HARD: [self._hard_row(n) for n in kept]},
            row_counts(self._request.n, len(complete), len(kept)),
            {"essay": ESSAY_LIKENESS},
            list(repeats.values()),
        )

    def _taken(self) -> Mapping[str, Sequence[str]]:
        """Return the values that earlier rows use, for the model to avoid."""
        rules = [rule for _, rule in sorted(self._rules.items())]
        return {"entity": [rule.entity for rule in rules], "behavior": [rule.behavior for rule in rules]}

    # -- what the model is given -------------------------------------------------------------------------------------

    def _spec(self, number: int) -> Mapping[str, Any]:
        spec = self._specs[number - 1]
        return {
            "kind of being": spec.entity_category,
            "kind of circumstance": spec.condition_type,
            "verdict": spec.condition_met,
            "exclusive": spec.exclusive,
        }

    def _rule_of(self, number: int) -> Mapping[str, Any]:
        rule = self._rules[number]
        return {
            "kind of being": self._specs[number - 1].entity_category,
            "entity": rule.entity,
            "behavior": rule.behavior,
            "condition": rule.condition,
            "exclusive": self._specs[number - 1].exclusive,
            "other_case": rule.other_case,
        }

    # -- the rules it must follow ------------------------------------------------------------------------------------

    def _rule_faults(self, number: int, rule: Rule) -> Iterator[str]:
        most = {"entity": SHORT, "behavior": SHORT, "condition": SHORT, "question_context": SHORT}
        most |= {"question": LONG, "ground_truth_answer": LONG}
        if faults := [fault for field, n in most.items() for fault in text_faults(field, getattr(rule, field), n)]:
            yield from faults
            return  # the following rules expect texts of normal length
        yield from _other_case_faults(rule, exclusive=self._specs[number - 1].exclusive)
        words = rule.entity.split()
        if not 1 <= len(words) <= NAME_WORDS or not rule.entity[:1].isupper():
            yield f"entity: got {quoted(rule.entity)}, expected a name of one to {NAME_WORDS} words"
        for other, earlier in self._rules.items():
            if other != number and earlier.entity.casefold() == rule.entity.casefold():
                yield f"entity: {quoted(rule.entity)} is taken; expected another name"
            if other != number and earlier.behavior.casefold() == rule.behavior.casefold():
                yield f"behavior: {quoted(rule.behavior)} is taken; expected another behaviour"
        wanted = self._specs[number - 1].condition_met
        if rule.condition_met != wanted:
            yield f"condition_met: got {rule.condition_met!r}, expected {wanted!r}: choose a scene for that verdict"
        said = re.match(r"\W*(yes|no)\b", rule.ground_truth_answer, re.IGNORECASE)
        if said is None or said[1].casefold() != wanted:
            yield f"ground_truth_answer: begins with {quoted(rule.ground_truth_answer[:12])}, expected {wanted.title()}"
        if not in_plain_words(rule.entity, rule.question):
            yield f"question: does not name {quoted(rule.entity)}"
        if plain_words(rule.condition) and in_plain_words(rule.condition, rule.question):
            yield "question: quotes the condition word for word, expected a scene that meets or fails it"

    def _easy_faults(self, number: int, item: EasyEssay) -> Iterator[str]:
        rule = self._rules[number]
        yield from _essay_faults(item.essay, rule, EASY_SENTENCES)
        behavior, condition = stems(rule.behavior), stems(rule.condition)
        relevant = [said for said in essay_sentences(item.essay) if _holds(said, behavior) and _holds(said, condition)]
        if not relevant:
            yield "essay: no sentence holds words of both the behavior and the condition, expected exactly one"
        yield from _otherwise_faults(item.essay, relevant, rule)

    def _hard_faults(self, number: int, item: HardEssay) -> Iterator[str]:
        rule, said = self._rules[number], essay_sentences(item.essay)
        yield from _essay_faults(item.essay, rule, HARD_SENTENCES)
        yield from _spread_faults(item, rule)
        relevant = [said[place - 1] for place in _places(item).values() if 1 <= place <= len(said)]
        yield from _otherwise_faults(item.essay, relevant, rule)

    # -- rows --------------------------------------------------------------------------------------------------------

    def _row(self, number: int, essay: str, variant: str) -> dict[str, str]:
        rule, spec, seed = self._rules[number], self._specs[number - 1], self._request.seed
        return {
            "id": f"cf{variant}-g{seed}-{number:03d}",
            "pair_id": f"cf-g{seed}-{number:03d}",
            "entity": rule.entity,
            "entity_category": spec.entity_category,
            "behavior": rule.behavior,
            "condition_type": spec.condition_type,
            "condition": rule.condition,
            "entity_facts": as_json([essay]),
            "question": rule.question,
            "question_context": rule.question_context,
            "condition_met": rule.condition_met,
            "ground_truth_answer": rule.ground_truth_answer,
        }

    def _easy_row(self, number: int) -> dict[str, str]:
        return self._row(number, self._easy[number].essay, "e")

    def _hard_row(self, number: int) -> dict[str, str]:
        item = self._hard[number]
        places = {name: place - 1 for name, place in _places(item).items()}
        return {**self._row(number, item.essay, "h"), "rule_sentences": as_json(places)}


def _essay_faults(essay: str, rule: Rule, span: tuple[int, int]) -> Iterator[str]:
    yield from text_faults("essay", essay, ESSAY)
    if len(essay) > ESSAY:
        return  # the following searches expect texts of normal length
    count = len(essay_sentences(essay))
    if not span[0] <= count <= span[1]:
        yield f"essay: got {count} sentences, expected {span[0]} to {span[1]}"
    if not in_plain_words(rule.entity, essay):
        yield f"essay: does not name {quoted(rule.entity)}"
    # a number that the essay lacks could not be kept in memory
    if missing := sorted(numbers_in(f"{rule.condition} {rule.other_case}") - numbers_in(essay)):
        yield f"essay: lacks the number {', '.join(missing)} of the condition or the other case"


def _other_case_faults(rule: Rule, *, exclusive: bool) -> Iterator[str]:
    if exclusive:
        if rule.other_case:
            yield f"other_case: got {quoted(rule.other_case)}, expected nothing where the habit is exclusive"
    else:
        yield from text_faults("other_case", rule.other_case, SHORT)
    for field in ("condition", "other_case"):
        if found := EXCLUSIVE.search(getattr(rule, field)):
            yield f"{field}: says {found[0]!r}, expected the circumstance without it"


def _otherwise_faults(essay: str, relevant: Sequence[str], rule: Rule) -> Iterator[str]:
    """Report an essay that does not say what happens in all other circumstances: nothing, or the other case."""
    if len(essay) > ESSAY:
        return
    if not rule.other_case:
        if not STATES_EXCLUSIVITY.search(essay):
            yield "essay: does not say that the behavior happens under no other circumstance"
        return
    wanted = stems(rule.other_case)
    if not any(sum(_holds(said, frozenset({stem})) for stem in wanted) >= MOST * len(wanted) for said in relevant):
        yield "essay: does not say the other case beside the behavior and the condition"
    if found := next((match for said in relevant if (match := EXCLUSIVE.search(said))), None):
        yield f"essay: says {found[0]!r} of a habit with another case, expected the other case in its place"


def _spread_faults(item: HardEssay, rule: Rule) -> Iterator[str]:
    if len(item.essay) > ESSAY:
        return
    if banned := CONNECTIVES.findall(item.essay):
        yield f"essay: uses {banned[0]!r}, which is banned"
    said = essay_sentences(item.essay)
    places = _places(item)
    if not all(1 <= place <= len(said) for place in places.values()):
        yield f"the sentence numbers are {list(places.values())}, expected numbers from 1 to {len(said)}"
        return
    ordered = sorted(places.values())
    if min(b - a for a, b in pairwise(ordered)) < APART:
        yield f"the sentences {ordered} are neighbours, expected another sentence between any two of them"
    for part, phrase, other in (("behavior", rule.behavior, "condition"), ("condition", rule.condition, "behavior")):
        if not _holds(said[places[part] - 1], stems(phrase)):
            yield f"sentence {places[part]} ({part}) holds no word of the {part}"
        if stems(phrase) and _holds_all(said[places[other] - 1], stems(phrase)):
            yield f"sentence {places[other]} ({other}) tells the {part} too, expected them apart"


def _places(item: HardEssay) -> dict[str, int]:
    return {"behavior": item.behavior_sentence, "condition": item.condition_sentence, "link": item.link_sentence}


def _holds(text: str, wanted: frozenset[str]) -> bool:
    return any(word.startswith(stem) for word in plain_words(text) for stem in wanted)


def _holds_all(text: str, wanted: frozenset[str]) -> bool:
    return all(_holds(text, frozenset({stem})) for stem in wanted)
