"""Draw the subject of each row before any model is asked; a seed gives the same draws on every machine.

The order of the draws reproduces the published columns at seed 42; it was found by experiment, and a test checks it. A
longer list starts with the shorter one, so that more rows can be added later.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, Literal, TypeAlias, TypeVar

from pytest_memfail.suites.memfail import pools

Met: TypeAlias = Literal["yes", "no"]
T = TypeVar("T")

PUBLISHED_ROWS: Final = 100
SLOTS: Final = 3
FEWEST, MOST = 2, 5
"""The fewest and most preferences of a row."""


@dataclass(frozen=True, slots=True)
class RuleSpec:
    """One rule of conditional facts, for both the easy and the hard essay."""

    entity_category: str
    condition_type: str
    condition_met: Met
    """Ours: the paper leaves it to the model, and 68 of its 100 easy rows are a "no"."""
    exclusive: bool
    """Ours: whether the essays exclude all other circumstances, or say what happens instead. Drawn independently of the
    answer, which the essay alone would otherwise reveal."""


@dataclass(frozen=True, slots=True)
class PreferenceSpec:
    """One category, and the number of its preferences in a row."""

    category: str
    count: int


@dataclass(frozen=True, slots=True)
class PersonSpec:
    """One person, and the subjects of the three questions: None for the person, else a stranger's name."""

    entity: str
    flavor: str
    distractors: tuple[str | None, ...]


def rule_specs(n: int, seed: int) -> list[RuleSpec]:
    """Return category and condition type as published; the right answers are balanced over each ten rows."""
    rng = random.Random(seed)
    # The published draws start after a shuffle of 100 items, for an unknown purpose.
    rng.shuffle(list(range(PUBLISHED_ROWS)))
    drawn = []
    for _ in range(n):
        condition_type = rng.choice(pools.CONDITION_TYPES)
        category = rng.choice(pools.ENTITY_CATEGORIES)
        if category == "pet":  # drawn again even if the first draw can be observed from outside
            condition_type = rng.choice(pools.PET_CONDITION_TYPES)
        drawn.append((category, condition_type))
    met: tuple[Met, ...] = ("yes", "no")
    answers = list(islice(_blocks(met * 5, f"{seed}:condition_met"), n))
    streams = {answer: _blocks((False, True), f"{seed}:exclusive:{answer}") for answer in met}
    exclusive = [next(streams[answer]) for answer in answers]
    return [RuleSpec(*rule, answer, only) for rule, answer, only in zip(drawn, answers, exclusive, strict=True)]


def _blocks(values: Sequence[T], name: str) -> Iterator[T]:
    """Yield all values again and again, each time in another order, from a random stream of this name."""
    rng = random.Random(name)
    while True:
        block = list(values)
        rng.shuffle(block)
        yield from block


def preference_specs(n: int, seed: int) -> list[PreferenceSpec]:
    """Return each category once, in a drawn order, then all of them again."""
    rng = random.Random(seed)
    specs: list[PreferenceSpec] = []
    while len(specs) < n:
        categories = list(pools.PREFERENCE_CATEGORIES)
        rng.shuffle(categories)
        specs += [PreferenceSpec(category, rng.randint(FEWEST, MOST)) for category in categories]
    return specs[:n]


def person_specs(n: int, seed: int) -> list[PersonSpec]:
    """Return people, questions and distractors as published, with 30 names for all of them."""
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
    """Return the same people with unique names, one essay per name, and no essay about the subject of a misleading
    question.

    Of the 157 published misleading questions, 137 name someone who has an essay in the same store. Strangers here share
    a name with a stored person: in turn the person's first name, the person's last name, and the previous person's
    first name.
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
    """Return the stranger's new name, which keeps one of its own words that no stored person has."""
    first, last, before = names
    given, surname = stranger.split(" ", 1)
    return (f"{first} {surname}", f"{given} {last}", f"{before} {surname}")[kind]


def letters(n: int, seed: int) -> list[str]:
    """Return the right option's letter for each of n questions: all five equally often, give or take one."""
    return list(islice(_blocks("ABCDE", f"{seed}:letters"), n))
