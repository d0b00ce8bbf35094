"""The samplers: the published columns at seed 42, balance, and lists that only grow."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from pytest_memfail.suites.memfail import pools
from pytest_memfail.suites.memfail.recipes.samplers import apart, letters, person_specs, preference_specs, rule_specs

PUBLISHED = Path(__file__).parents[4] / "shared" / "data" / "memfail"


def published(name):
    path = PUBLISHED / f"{name}.csv"
    if not path.is_file():
        pytest.skip(f"the published rows are not here: {path}")
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_pools_have_the_papers_sizes():
    sizes = [len(pool) for pool in (pools.CONDITION_TYPES, pools.PET_CONDITION_TYPES, pools.PREFERENCE_CATEGORIES)]
    assert sizes == [32, 9, 100]
    assert len(pools.NAMES) == len(pools.FLAVORS) == 30
    for pool in (pools.CONDITION_TYPES, pools.PREFERENCE_CATEGORIES, pools.NAMES, pools.FLAVORS):
        assert len(set(pool)) == len(pool)
    assert set(pools.PET_CONDITION_TYPES) < set(pools.CONDITION_TYPES)


@pytest.mark.parametrize("variant", ["easy", "hard"])
def test_seed_42_gives_the_published_categories_and_condition_types(variant):
    rows = published(f"conditional_facts_{variant}")
    wanted = [(row["entity_category"], row["condition_type"]) for row in rows]
    assert [(spec.entity_category, spec.condition_type) for spec in rule_specs(len(rows), 42)] == wanted


def test_seed_42_gives_the_published_preference_categories_and_counts():
    rows = published("coexisting_facts")
    wanted = [(row["preference_category"], len(json.loads(row["preferences"]))) for row in rows]
    assert [(spec.category, spec.count) for spec in preference_specs(len(rows), 42)] == wanted


def test_seed_42_gives_the_published_people_slots_and_distractors():
    rows = published("persona_retrieval")
    wanted = [
        (row["entity"], tuple(q["distractor"] if q["is_misleading"] else None for q in json.loads(row["questions"])))
        for row in rows
    ]
    assert [(spec.entity, spec.distractors) for spec in person_specs(len(rows), 42)] == wanted


def test_seed_42_gives_the_flavors_that_the_published_essays_tell_of():
    specs = person_specs(100, 42)
    essays = [" ".join(json.loads(row["entity_facts"])).casefold() for row in published("persona_retrieval")]
    told = 0
    for spec, essay in zip(specs, essays, strict=True):
        words = {word.strip(",") for word in spec.flavor.casefold().split() if len(word) > 5}
        told += any(word[:5] in essay for word in words)
    assert told >= 95


def test_no_flag_of_a_sampler_depends_on_how_many_rows_are_asked_for():
    for sample in (rule_specs, preference_specs, person_specs, letters):
        assert sample(130, 7)[:30] == sample(30, 7)
        assert sample(30, 7) != sample(30, 8)


def test_pets_depend_on_what_can_be_seen():
    specs = rule_specs(500, 3)
    assert {spec.condition_type for spec in specs if spec.entity_category == "pet"} == set(pools.PET_CONDITION_TYPES)
    assert {spec.condition_type for spec in specs} == set(pools.CONDITION_TYPES)


def test_the_right_answers_are_balanced():
    specs = rule_specs(100, 42)
    assert Counter(spec.condition_met for spec in specs) == {"yes": 50, "no": 50}
    assert set(Counter(letters(101, 42)).values()) == {20, 21}


def test_what_an_answer_rests_on_is_drawn_apart_from_it():
    told = Counter((spec.condition_met, spec.exclusive) for spec in rule_specs(100, 42))
    assert told == {(met, exclusive): 25 for met in ("yes", "no") for exclusive in (True, False)}


def test_more_rows_than_categories_use_each_again():
    specs = preference_specs(150, 42)
    assert set(Counter(spec.category for spec in specs).values()) == {1, 2}
    assert {spec.count for spec in specs} == {2, 3, 4, 5}


def test_a_person_is_never_their_own_distractor():
    for spec in person_specs(300, 5):
        named = [name for name in spec.distractors if name is not None]
        assert spec.entity not in named
        assert len(set(named)) == len(named)


def test_names_of_their_own_are_used_once():
    drawn = person_specs(600, 42)
    specs = apart(drawn, 42)
    assert len({spec.entity for spec in specs}) == 600
    assert [s.flavor for s in specs] == [s.flavor for s in drawn]
    assert apart(drawn[:5], 42) == specs[:5]


def test_the_lists_of_names_share_no_word():
    ours = {*pools.GIVEN_NAMES, *pools.SURNAMES}
    assert not ours & {word for name in pools.NAMES for word in name.split()}


def test_strangers_share_a_name_with_people_stored_and_are_none_of_them():
    drawn = person_specs(600, 42)
    specs = apart(drawn, 42)
    stored = {spec.entity for spec in specs}
    kinds = Counter()
    for spec, before in zip(specs, drawn, strict=True):
        assert [name is None for name in spec.distractors] == [name is None for name in before.distractors]
        first, last = spec.entity.split(" ", 1)
        for name in filter(None, spec.distractors):
            assert name not in stored
            given, surname = name.split(" ", 1)
            kinds["first" if given == first else "last" if surname == last else "another's"] += 1
            assert {given, surname} & {word for person in stored for word in person.split()}
    assert min(kinds.values()) > 0.3 * sum(kinds.values())


def test_there_are_names_for_3600_people():
    specs = person_specs(3600, 1)
    assert len({spec.entity for spec in apart(specs, 1)}) == 3600
    with pytest.raises(ValueError, match="3600 at most"):
        apart([*specs, specs[0]], 1)
