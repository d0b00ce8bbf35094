"""Which clues a run gives: each cause named in one line where it is planted, and nothing where nothing is wrong."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest
from made_runs import START, Made, conversation, listed, word

import pytest_memfail.clues.search as search
from pytest_memfail.clues import find_clues
from pytest_memfail.clues.exact import at_least, best_split, compare, heads
from pytest_memfail.core import (
    CORRECT,
    DATE_LOST,
    NOT_RETRIEVED,
    NOT_STORED,
    SUMMARY_ERROR,
    WRONG_TIME,
    Fact,
    Memory,
    StageResult,
    told_of,
)


def clues(made: Made, **options):
    return find_clues(*made.run(**options))


def test_nothing_is_said_of_a_run_without_failures():
    assert clues(Made()) == ()


def every_tenth(number, text):
    return text if number % 10 != 3 else None


def without_digits(number, text):
    return "".join("#" if character.isdigit() else character for character in text)


def name_of(number):
    return word(2000 + number).title()


def with_name(number, name):
    """The text of a conversation with another name, or a word, in place of its own."""
    return conversation(number).text.replace(name_of(number), name)


def first_sentence(number, text):
    return text.split(". ")[0] + "."


def cut(number, text):
    return text[:40]


PLANTED = {
    "every tenth": (Made(keep=every_tenth), "left-no-entry", NOT_STORED, ["6 of 60", "every 10th"]),
    "newest": (
        Made(keep=lambda n, text: text if n < 48 else None),
        "left-no-entry",
        NOT_STORED,
        ["newest fifth of a store"],
    ),
    "all but the newest": (
        Made(n=300, keep=lambda n, text: text if n >= 295 else None),
        "left-no-entry",
        NOT_STORED,
        ["295 of 300 conversations left no entry, all but the newest 5 of a store: all 295 "],
    ),
    "digits": (
        Made(keep=without_digits),
        "kind",
        SUMMARY_ERROR,
        ["entries lose digits, of which 0 of 40 are kept, of other words 100 %", "all 40"],
    ),
    "names": (
        Made(keep=lambda n, text: with_name(n, "someone") if n % 3 else text, needs=lambda n: (name_of(n),)),
        "kind",
        SUMMARY_ERROR,
        ["entries lose names, of which 0 of 40 are kept, of other words 100 %: all 40 "],
    ),
    "other names": (
        Made(keep=lambda n, text: with_name(n, name_of(n + 1)) if n % 3 else text, needs=lambda n: (name_of(n),)),
        "kind",
        SUMMARY_ERROR,
        ["entries have other names in place of those told, of which 0 of 40 are kept, of other words 100 %: all 40 "],
    ),
    "first sentence": (
        Made(keep=first_sentence, needs=lambda n: ("costs",), states=lambda n: n % 2),
        "part",
        SUMMARY_ERROR,
        ["only the first sentence of a message is kept", "all 30"],
    ),
    "unsearched": (
        Made(n=100, finds=lambda place, size: place < 0.8 * size),
        "place",
        NOT_RETRIEVED,
        ["does not look at the newest fifth of the listing", "all 20"],
    ),
    "newest entries": (
        Made(n=300, finds=lambda place, size: place >= 295),
        "place",
        NOT_RETRIEVED,
        ["does not look at the entries before the last 5 of a store"],
    ),
    "first entries": (
        Made(n=100, finds=lambda place, size: place < 60),
        "place",
        NOT_RETRIEVED,
        ["does not look at the newest 40 % of the listing"],
    ),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_cause_leads_and_names_the_questions(name):
    made, clue, verdict, said = PLANTED[name]
    questions, stores = made.run()
    found = find_clues(questions, stores)
    assert found, name
    assert (found[0].name, found[0].verdict) == (clue, verdict)
    assert all(part in found[0].text for part in said), found[0].text
    assert set(found[0].questions) == {question.id for question in questions if question.verdict == verdict}
    assert found[0].p < 0.01
    assert "\n" not in found[0].text


def test_entries_that_are_cut_show_it_where_no_task_both_loses_and_holds():
    """The facts of one task stand before the limit, those of the other behind it."""
    held, held_stores = Made(keep=lambda n, text: text[:100], states=lambda n: 0, task="a").run()
    asked, stores = Made(
        keep=lambda n, text: text[:100], needs=lambda n: ("attic",), states=lambda n: 2, task="b"
    ).run()
    lost = [question for question in asked if question.failed]
    clue, *_ = find_clues([*held, *lost], [*held_stores, *stores])
    assert clue.text == "entries are cut at 100 characters: all 36 facts lost before the search, and 0 of the 60 held"


def test_entries_that_are_cut_show_it_where_all_conversations_are_longer():
    made = Made(keep=lambda n, text: text[:45], states=lambda n: n % 2, needs=lambda n: ("coins",))
    found = clues(made)
    assert [clue.name for clue in found if clue.name == "cut"] == ["cut"]


def test_four_cases_are_too_few():
    assert clues(Made(keep=lambda n, text: text if n not in (5, 15, 25, 35) else None)) == ()


def test_random_loss_without_a_pattern_is_counted_and_given_no_pattern():
    made = Made(n=100)
    for seed in range(8):
        for clue in clues(made, seed=seed, share=0.1):
            assert clue.name == "left-no-entry"
            assert " left no entry: " in clue.text  # no pattern stands between


def test_random_loss_in_the_search_gives_no_clue():
    for seed in range(8):
        lost = {(37 * seed + 11 * i * i) % 100 for i in range(15)}
        assert clues(Made(n=100, finds=lambda place, size, lost=lost: place not in lost)) == ()


def test_what_differs_only_between_tasks_is_no_cause():
    """One task loses everything and has late entries only; within the tasks the place says nothing."""
    lost, lost_store = Made(task="lost", finds=lambda place, size: False).run()
    held, held_store = Made(task="held").run()
    found = find_clues([*lost, *held], [*lost_store, *held_store])
    assert not [clue for clue in found if clue.name in ("place", "query-kind", "first-words")]


def wrongly_timed(made, fails=60, label=WRONG_TIME):
    """A run whose first facts have summary errors for their times."""
    questions, stores = made.run()
    return [
        replace(
            question,
            verdict=SUMMARY_ERROR,
            memory_held=False,
            facts=tuple(
                replace(fact, verdict=SUMMARY_ERROR, summary=StageResult("failed", label=label))
                for fact in question.facts
            ),
        )
        if number < fails
        else question
        for number, question in enumerate(questions)
    ], stores


@pytest.mark.parametrize(
    ("when", "said"),
    [
        (lambda told: told.replace(month=1, day=1, hour=0), "only the year of their time"),
        (lambda told: START + timedelta(days=500), "the same time, 2026-05-21"),
        (lambda told: told + timedelta(days=1), "60 of 60 conversations are stored with a time 1 day later than told"),
    ],
)
def test_times_that_differ_from_those_told(when, said):
    found = [clue for clue in find_clues(*wrongly_timed(Made(when=when))) if clue.name == "times"]
    assert [(said in clue.text, clue.explained, len(clue.questions)) for clue in found] == [(True, 60, 60)]


@pytest.mark.parametrize(
    ("timed", "said"),
    [(0, "no entry has a time; "), (10, "50 of 60 conversations are stored without a time; "), (45, None)],
)
def test_entries_without_a_time_where_answers_need_one(timed, said):
    made = Made(when=lambda told: told if told < START + timedelta(days=7 * timed) else None)
    questions, stores = wrongly_timed(made, label=DATE_LOST)
    found = [clue.text for clue in find_clues(questions, stores) if clue.name == "times"]
    assert found == ([f"{said}{60 - timed} facts with summary errors turn on times"] if said else [])
    assert find_clues(*wrongly_timed(made, 4, label=DATE_LOST)) == ()
    assert find_clues(*wrongly_timed(made, label="")) == ()


@pytest.mark.parametrize("hours", [0.0, 30.0])
def test_each_entry_of_a_conversation_may_have_a_time_of_its_own(hours):
    questions, (store,) = wrongly_timed(Made())
    now = datetime(2026, 5, 21, 12, tzinfo=timezone.utc)

    def found(began):
        told = [
            replace(
                one, times=tuple((began(n) + timedelta(seconds=n + i, hours=i * hours)).isoformat() for i in (1, 0))
            )
            for n, one in enumerate(store.told)
        ]
        return [clue.text for clue in find_clues(questions, [replace(store, told=tuple(told))])]

    said = "60 of 60 conversations are stored with the time of storing, 2026-05-21, not the time told; 60 facts with "
    assert found(lambda n: now) == ([] if hours else [f"{said}summary errors turn on times"])
    assert found(lambda n: START + timedelta(days=7 * n)) == []


def test_times_that_cannot_be_read_are_none():
    questions, (store,) = wrongly_timed(Made(), label=DATE_LOST)
    told = tuple(replace(one, times=("03/01/2025",)) for one in store.told)
    (clue,) = find_clues(questions, [replace(store, told=told)])
    assert clue.text.startswith("no entry has a time that can be read, but one like '03/01/2025'; 60 facts")


@pytest.mark.parametrize("fails", [0, 4])
def test_wrong_times_that_lose_hardly_a_fact_are_no_clue(fails):
    made = Made(when=lambda told: START + timedelta(days=500))
    assert find_clues(*wrongly_timed(made, fails)) == ()


def test_without_a_failed_question_there_is_no_clue():
    questions, stores = wrongly_timed(Made(when=lambda told: told + timedelta(days=1)))
    held = [replace(question, verdict=CORRECT, memory_held=True) for question in questions]
    assert not any(question.failed for question in held)
    assert find_clues(held, stores) == ()


@pytest.mark.parametrize("hours", [-9, 9])
def test_the_same_moment_in_another_zone_is_the_same_time(hours):
    zone = timezone(timedelta(hours=hours))
    made = Made(when=lambda told: told)
    questions, (store,) = wrongly_timed(made)
    for hour in (0, 5, 12, 23):
        local = [datetime(2025, 1, 6, hour, tzinfo=zone) + timedelta(days=7 * number) for number in range(60)]
        for kept in (
            [when.astimezone(timezone.utc).isoformat() for when in local],
            [when.date().isoformat() for when in local],
        ):
            told = tuple(
                replace(one, time=when.isoformat(), times=(text,))
                for one, when, text in zip(store.told, local, kept, strict=True)
            )
            assert not [c for c in find_clues(questions, [replace(store, told=told)]) if c.name == "times"]


def test_a_shift_of_hours_is_no_shift_of_days():
    questions, (store,) = wrongly_timed(Made())
    late = [START + timedelta(days=7 * number, hours=14) for number in range(60)]
    told = tuple(
        replace(one, time=when.isoformat(), times=((when + timedelta(hours=3)).isoformat(),))
        for one, when in zip(store.told, late, strict=True)
    )
    assert not [clue for clue in find_clues(questions, [replace(store, told=told)]) if clue.name == "times"]


@pytest.mark.parametrize("when", [lambda told: told, lambda told: told.replace(hour=0), lambda told: None])
def test_times_of_the_same_day_or_none_are_right(when):
    assert clues(Made(when=when)) == ()


def test_what_the_reference_misses_too_is_no_failure_of_the_search():
    made = Made(n=100, finds=lambda place, size: place < 80)
    questions, stores = made.run()
    assert find_clues(questions, stores)
    as_the_reference = [replace(question, reference_held=question.memory_held) for question in questions]
    assert find_clues(as_the_reference, stores) == ()


# -- what the search shows -----------------------------------------------------------------------------------------------


def showing(questions, places):
    """The questions whose facts are not retrieved, with other memories shown."""
    return [
        replace(
            question,
            places=places(number),
            retrieved=tuple(Memory(f"shown {number} {i}") for i, _ in enumerate(places(number))),
        )
        if question.verdict == NOT_RETRIEVED
        else question
        for number, question in enumerate(questions)
    ]


def test_memories_that_the_listing_lacks_are_not_the_very_same():
    questions, stores = Made(finds=lambda place, size: place % 2 == 0).run()
    for places, names in ((5, 6), ["same-list"]), ((-1, -1), []), ((5, -1), []):
        found = find_clues(showing(questions, lambda number, places=places: places), stores)
        assert [clue.name for clue in found if clue.name == "same-list"] == names


def test_where_nothing_shown_is_in_the_listing_no_part_of_it_is_unsearched():
    questions, stores = Made(n=100, finds=lambda place, size: place < 80).run()
    rewritten = [replace(question, places=(-1,) * len(question.places)) for question in questions]
    assert [clue.name for clue in find_clues(questions, stores)] == ["place"]
    assert find_clues(rewritten, stores) == ()


def test_entries_beyond_a_limit_are_counted_once_for_a_size(monkeypatch):
    calls = []
    placed = search._place
    monkeypatch.setattr(search, "_place", lambda *of: calls.append(of) or placed(*of))
    questions, stores = Made(n=100, finds=lambda place, size: place < 80).run()
    assert [clue.name for clue in find_clues(questions, stores)] == ["place"]
    assert len(calls) < 20 * 100  # not 100 questions times 100 entries


def neighbours(questions, stores):
    return [clue.text for clue in find_clues(questions, stores) if clue.name == "neighbour"]


def test_the_entry_beside_the_right_one_is_shown():
    questions, stores = Made(finds=lambda place, size: place % 6 != 0 or not place).run()
    (text,) = neighbours(showing(questions, lambda number: (number + 1,)), stores)
    assert text.startswith("the search shows the entry after the right one: for 9 of 9 ")


def test_questions_of_one_row_are_one_case_of_a_neighbour():
    questions, stores = Made(finds=lambda place, size: place != 20).run()
    asked = [replace(questions[20], id=f"d{i}", question=f"d{i}", places=(21, 5)) for i in range(8)]
    rows = [[replace(one, row=f"row{i if apart else 7}") for i, one in enumerate(asked)] for apart in (True, False)]
    assert [len(neighbours([*questions[:20], *questions[21:], *many], stores)) for many in rows] == [1, 0]


def test_no_entry_is_before_the_first():
    """The only place -1 is that of a memory which the listing lacks."""
    made, runs = Made(n=30), []
    for number in range(8):
        (question, *_), (store,) = made.run()
        fact = replace(question.facts[0], id=f"f{number}", verdict=NOT_RETRIEVED, retrieval=StageResult("failed"))
        question = replace(question, id=f"t::{number}", store=f"s{number}", facts=(fact,), verdict=NOT_RETRIEVED)
        runs.append((replace(question, memory_held=False, places=(-1, 9)), replace(store, store=f"s{number}")))
    assert neighbours(*zip(*runs, strict=True)) == []


def test_a_search_that_ignores_the_question_is_a_clue():
    """Each store shows its first entries; the reference finds all."""
    questions, stores = Made(finds=lambda place, size: False).run()
    ignored = [replace(question, places=(0, 1, 2, 3, 4), reference_held=True) for question in questions]
    (said,) = (clue.text for clue in find_clues(ignored, stores) if clue.name == "same-for-all")
    assert said == (
        "the search shows the same memories whatever is asked, for 60 of 60 questions; 60 of 60 facts not retrieved"
    )
    whole = [replace(store, memories=5) for store in stores]
    assert "same-for-all" not in {clue.name for clue in find_clues(ignored, whole)}
    some = [
        question if number % 5 else replace(question, places=(number, 1)) for number, question in enumerate(ignored)
    ]
    assert "same-for-all" not in {clue.name for clue in find_clues(some, stores)}


def test_stores_of_one_question_each_say_nothing_about_the_search():
    questions, (store,) = Made(finds=lambda place, size: False).run()
    alone = [replace(one, store=f"s{i}", places=(0, 1), reference_held=True) for i, one in enumerate(questions)]
    stores = [replace(store, store=f"s{i}", told=()) for i in range(len(questions))]
    assert "same-for-all" not in {clue.name for clue in find_clues(alone, stores)}


def against(made, lists):
    """A run of which the reference holds all, with what is done to the list shown for each question."""
    questions, stores = made.run()
    shown = [
        replace(one, reference_held=True, retrieved=lists(number, one.retrieved))
        for number, one in enumerate(questions)
    ]
    return {clue.name: clue.text for clue in find_clues(shown, stores)}


def scored(memories):
    return tuple(replace(memory, score=float(i)) for i, memory in enumerate(memories))


THANKS = (Memory("Thanks!", "a"), Memory("Thanks!", "b"))
SOME_LOST = Made(finds=lambda place, size: place * 7 % 10 > 2)


def test_repeats_are_a_clue_only_where_they_cost_more():
    often = against(SOME_LOST, lambda number, shown: (*shown[:3], *THANKS) if number % 5 else shown)
    assert "repeats" not in often
    where_lost = against(SOME_LOST, lambda number, shown: (*shown[:3], *THANKS) if number * 7 % 10 <= 2 else shown)
    assert where_lost["repeats"].startswith("memories repeat each other in 18 of 60 lists shown: all 18 ")


def test_distances_that_rise_are_no_clue():
    """The best comes first, and shares the most words with its question."""

    def nearest_first(number, shown):
        return scored((Memory(f"What price had the {word(number)}?"), *shown[1:]))

    assert "rising" not in against(SOME_LOST, nearest_first)


def test_the_worst_first_is_a_clue():
    def nearest_last(number, shown):
        return scored((*shown[1:], Memory(f"What price had the {word(number)}?")))

    found = against(SOME_LOST, nearest_last)
    assert found["rising"].startswith("the worst memories come first: scores rise in 60 of 60 lists shown; 18 of 18 ")


def test_where_no_memory_tells_the_order_rising_scores_may_be_distances():
    found = against(SOME_LOST, lambda number, shown: scored(Memory(f"nothing {i}") for i in range(4)))
    assert found["rising"].startswith(
        "the worst memories come first, or their scores are distances in 60 of 60 lists shown; "
    )


def test_scores_that_rise_only_in_the_lists_of_the_lost_are_a_clue():
    def by(rises):
        return lambda number, shown: tuple(
            replace(memory, score=float(i if rises(number) else -i)) for i, memory in enumerate(shown)
        )

    found = against(SOME_LOST, by(lambda number: number * 7 % 10 <= 2))
    assert found["rising"].startswith("the worst memories come first: scores rise in 18 of 60 lists shown: all 18 ")
    assert "rising" not in against(SOME_LOST, by(lambda number: number % 2))


# -- entries without a known origin --------------------------------------------------------------------------------------


def test_entries_in_other_words_may_be_those_of_the_conversations_that_left_none():
    def reworded(number, text):
        return text if number % 2 else f"Kurzfassung xq{number} zr{number}"

    questions, (store,) = Made(keep=reworded).run()
    lost = [
        question
        if number % 2
        else replace(
            question,
            verdict=NOT_STORED,
            memory_held=False,
            facts=tuple(
                replace(fact, verdict=NOT_STORED, storage=StageResult("failed"), summary=StageResult("not_reached"))
                for fact in question.facts
            ),
        )
        for number, question in enumerate(questions)
    ]
    assert sum(not told.entries for told in store.told) == 30
    assert find_clues(lost, [store]) == ()
    few = replace(store, memories=store.memories - 16)  # 14 entries cannot be those of 30 conversations
    (clue,) = find_clues(lost, [few])
    assert clue.text.startswith("30 of 60 conversations left no entry, every 2nd of a store: all 30 ")


@pytest.mark.parametrize(("n", "said"), [(3, "every 3rd of"), (4, "every 4th of"), (12, "every 12th of")])
def test_ordinal_numbers(n, said):
    (clue,) = clues(Made(n=96, keep=lambda number, text: text if number % n else None))
    assert said in clue.text


@pytest.mark.parametrize(
    ("sizes", "keeps", "said"),
    [
        (
            [2] * 12,
            lambda number, size: number < 1,
            "12 of 24 conversations left no entry, those after the first 1 of a",
        ),
        ([2] * 12, lambda number, size: number > 0, "12 of 24 conversations left no entry, the first 1 of a store: "),
        (
            [2, 3] * 6,
            lambda number, size: number == size - 1,
            "18 of 30 conversations left no entry, all but the newest 1",
        ),
        ([3] * 12, lambda number, size: number != 1, "12 of 36 conversations left no entry: all 12 "),
        ([8] * 6, lambda number, size: number % 4 != 1, "12 of 48 conversations left no entry, every 4th of a store: "),
        (
            [10] * 6,
            lambda number, size: number < 5,
            "30 of 60 conversations left no entry, the newest half of a store: ",
        ),
    ],
)
def test_a_pattern_is_one_that_small_stores_can_show(sizes, keeps, said):
    questions, stores = [], []
    for i, size in enumerate(sizes):
        made = Made(n=size, task=f"s-{i}", keep=lambda number, text, size=size: text if keeps(number, size) else None)
        asked, filled = made.run()
        questions += [replace(question, task="t") for question in asked]
        told = [replace(one, characters=100) for one in filled[0].told]  # their length is no pattern here
        stores.append(replace(filled[0], task="t", told=told))
    (clue,) = find_clues(questions, stores)
    assert clue.text.startswith(said)


# -- exact tests ---------------------------------------------------------------------------------------------------------


def test_one_stratum_is_fishers_test():
    # 3 of 4 lost have it, 1 of 4 held: the textbook's tea
    assert at_least([(3, 4, 4, 8)]) == pytest.approx(17 / 70)
    assert at_least([(4, 4, 4, 8)]) == pytest.approx(1 / 70)


def test_strata_are_multiplied_where_all_is_extreme():
    assert at_least([(4, 4, 4, 8)] * 2) == pytest.approx(1 / 70**2)
    assert at_least([(8, 8, 8, 8), (0, 0, 5, 9)]) == 1.0  # nothing varies


def test_coins():
    assert heads(5, 5) == pytest.approx(1 / 32)
    assert heads(0, 5) == pytest.approx(1)
    assert heads(1, 2, 0.1) == pytest.approx(0.19)


class Unit:
    def __init__(self, is_lost, value, cluster):
        self.is_lost, self.value, self.cluster, self.stratum = is_lost, value, cluster, "s"


def test_units_of_a_cluster_count_as_one():
    alone = [Unit(lost, lost, i) for i, lost in enumerate([True] * 5 + [False] * 5)]
    copied = [Unit(unit.is_lost, unit.value, unit.cluster) for unit in alone for _ in range(7)]
    tables = [compare(units, lambda unit: unit.value) for units in (alone, copied)]
    assert tables[0].p == pytest.approx(tables[1].p) == pytest.approx(1 / 252)
    assert (tables[1].lost_with, tables[1].held_with) == (35, 0)


def test_the_best_split_and_how_many_there_were():
    split = best_split([Unit(value > 6, value, value) for value in range(10)], lambda unit: unit.value)
    assert (split.limit, split.above, split.tries) == (6, True, 18)
    assert (split.table.covers, split.table.rate) == (1, 1)
    assert best_split([Unit(True, 1, 1), Unit(False, 1, 2)], lambda unit: unit.value) is None


# -- what was told -------------------------------------------------------------------------------------------------------


def test_what_is_left_of_a_conversation():
    said = "Ada rows at 5. The quick boat of Ben is red and old. She never sinks."
    told = [conversation(0, said), conversation(1, "Nobody asked about the weather on the island.")]
    whole, nothing = told_of(told, listed([Memory(said)], told))
    assert (whole.entries, whole.sentences, whole.held) == ((0,), "111", len(said))
    assert (nothing.entries, nothing.sentences, nothing.held) == ((), "0", 0)
    (part, _) = told_of(told, listed([Memory("The quick boat of someone is red and old.", "c-0-1")], told))
    assert (part.entries, part.sentences) == ((0,), "010")
    assert part.words["names"] == (1, 0)
    assert part.words["digits"] == (1, 0)
    assert part.words["negations"] == (1, 0)


def test_names_that_were_not_told():
    told = [conversation(0, "The boat of Ben is red and old."), conversation(1, "The house of Ada is white and low.")]
    own = [Memory("The boat of Kim is red and old.", "a"), Memory("The house of Ada is white and low.", "b")]
    assert [one.strange for one in told_of(told, listed(own, told))] == [1, 0]
    both = [Memory("The boat of Ben is red and old. The house of Ada is white and low.", "a")]
    assert [one.strange for one in told_of(told, listed(both, told))] == [0, 0]


def test_signs_outside_ascii_and_the_words_that_a_fact_lacks():
    fact = Fact("f", "k", "It costs £9 in the café.", "It costs £9 in the café.", "c-0")
    told = [conversation(0, "The inn is old. It costs £9 in the café."), conversation(1)]
    memories = [Memory("The inn is old. It costs 9 in the caf.", "c-0-0")]
    (one, _) = told_of(told, listed(memories, told), [fact])
    assert (one.facts["f"], one.lacks["f"]) == ((1, 1), ("letters and signs outside ASCII",))
    assert one.words["letters and signs outside ASCII"] == (2, 0)
