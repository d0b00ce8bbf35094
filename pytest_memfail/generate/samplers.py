"""What each row is to be about, drawn before any model is asked: the same on every machine at a seed.

The order of the draws is the one that gives the published columns at seed 42, found by experiment; a test holds it to them. A longer
list begins with the shorter one, so that more rows can be asked for later.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from pytest_memfail.generate import pools

Met: TypeAlias = Literal["yes", "no"]

PUBLISHED_ROWS: Final = 100
SLOTS: Final = 3
FEWEST, MOST = 2, 5
"""How many preferences a row may have."""


@dataclass(frozen=True, slots=True)
class RuleSpec:
    """One rule of conditional facts, for the easy and the hard essay alike."""

    entity_category: str
    condition_type: str
    condition_met: Met
    """Ours: the paper leaves it to the model, and 68 of its 100 easy rows are a "no"."""
    exclusive: bool
    """Ours: whether the essays say that it happens under no other circumstance, or what happens instead. Drawn apart from the
    answer, which the essay alone would give away otherwise."""


@dataclass(frozen=True, slots=True)
class PreferenceSpec:
    """One category, and how many preferences of it hold at once."""

    category: str
    count: int


@dataclass(frozen=True, slots=True)
class PersonSpec:
    """One person, and whom the three questions name: None is the person, anybody else a stranger."""

    entity: str
    flavor: str
    distractors: tuple[str | None, ...]


def rule_specs(n: int, seed: int) -> list[RuleSpec]:
    """Category and condition type as published; which answer is right is balanced over each ten rows."""
    rng = random.Random(seed)
    # The published draws begin where a shuffle of 100 things ends. What it was for is not known; nothing depends on it.
    rng.shuffle(list(range(PUBLISHED_ROWS)))
    drawn = []
    for _ in range(n):
        condition_type = rng.choice(pools.CONDITION_TYPES)
        category = rng.choice(pools.ENTITY_CATEGORIES)
        if category == "pet":  # drawn anew also where the first draw can be seen from outside
            condition_type = rng.choice(pools.PET_CONDITION_TYPES)
        drawn.append((category, condition_type))
    answers = _balanced(n, seed)
    exclusive = _exclusive(answers, seed)
    return [RuleSpec(*rule, met, only) for rule, met, only in zip(drawn, answers, exclusive, strict=True)]


def _balanced(n: int, seed: int) -> list[Met]:
    """Yes and no, five of each in every ten, from a stream of its own."""
    rng = random.Random(f"{seed}:condition_met")
    met: list[Met] = []
    while len(met) < n:
        ten: list[Met] = ["yes", "no"] * 5
        rng.shuffle(ten)
        met += ten
    return met[:n]


def _exclusive(answers: Sequence[Met], seed: int) -> list[bool]:
    """One of every two rows with the same answer, each answer from a stream of its own."""
    streams = {answer: random.Random(f"{seed}:exclusive:{answer}") for answer in ("yes", "no")}
    left: dict[str, list[bool]] = {answer: [] for answer in streams}
    drawn = []
    for answer in answers:
        if not left[answer]:
            left[answer] = [True, False]
            streams[answer].shuffle(left[answer])
        drawn.append(left[answer].pop())
    return drawn


def preference_specs(n: int, seed: int) -> list[PreferenceSpec]:
    """Each category once, in a drawn order, then all of them again."""
    rng = random.Random(seed)
    specs: list[PreferenceSpec] = []
    while len(specs) < n:
        categories = list(pools.PREFERENCE_CATEGORIES)
        rng.shuffle(categories)
        specs += [PreferenceSpec(category, rng.randint(FEWEST, MOST)) for category in categories]
    return specs[:n]


def person_specs(n: int, seed: int) -> list[PersonSpec]:
    """People, questions and distractors as published: 30 names for all of them."""
    rng = random.Random(seed)
    specs = []
    for _ in range(n):
        entity = rng.choice(pools.NAMES)
        distractors = rng.sample([name for name in pools.NAMES if name != entity], SLOTS)
        misleading = [rng.random() < 0.5 for _ in range(SLOTS)]
        named = tuple(name if mislead else None for name, mislead in zip(distractors, misleading, strict=True))
        specs.append(PersonSpec(entity, rng.choice(pools.FLAVORS), named))
    return specs


def apart(specs: Sequence[PersonSpec], seed: int) -> list[PersonSpec]:
    """The same people under names of their own, one essay a name, and no essay about anybody who is asked about in vain.

    Of the published misleading questions 137 of 157 name someone who has an essay in the same store. Strangers here share a name
    with somebody stored: in turn the person's first name, the person's last name, and the first name of the person before.
    """
    most = len(pools.GIVEN_NAMES) * len(pools.SURNAMES)
    if len(specs) > most:
        raise ValueError(f"got {len(specs)} people, expected {most} at most: there are no more names")
    rng = random.Random(f"{seed}:names")
    given, surnames = list(pools.GIVEN_NAMES), list(pools.SURNAMES)
    rng.shuffle(given)
    rng.shuffle(surnames)
    renamed = []
    for i, spec in enumerate(specs):
        turn, place = divmod(i, len(given))
        first, last = given[place], surnames[(i + turn) % len(surnames)]
        before = given[max(i - 1, 0) % len(given)]
        strangers = tuple(
            None if name is None else _sharing(name, (first, last, before), (i + slot) % SLOTS)
            for slot, name in enumerate(spec.distractors)
        )
        renamed.append(replace(spec, entity=f"{first} {last}", distractors=strangers))
    return renamed


def _sharing(stranger: str, names: tuple[str, str, str], kind: int) -> str:
    """The stranger under a name that keeps one of its own words, which no person of ours has."""
    first, last, before = names
    given, surname = stranger.split(" ", 1)
    return (f"{first} {surname}", f"{given} {last}", f"{before} {surname}")[kind]


def letters(n: int, seed: int) -> list[str]:
    """Which option is right in each of n questions: each of the five as often as the others, or once more."""
    rng = random.Random(f"{seed}:letters")
    drawn: list[str] = []
    while len(drawn) < n:
        five = list("ABCDE")
        rng.shuffle(five)
        drawn += five
    return drawn[:n]
