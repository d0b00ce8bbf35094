"""suites/mab/kinds.py, scores.py: facts in stores of many forms, and answers."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from mab_rows import FACTS, row, write

from pytest_memfail.core import Fact, Listing, Memory, Reply, SuiteRequest, answer_in
from pytest_memfail.engine.grade import Grader
from pytest_memfail.judges import OfflineJudge
from pytest_memfail.suites.mab import SUITE
from pytest_memfail.suites.mab.kinds import KINDS
from pytest_memfail.suites.mab.scores import exact_match, has_all, label_match, norm, substring_match
from pytest_memfail.suites.turns import find_turn

ASKED = (
    ("What is the capital of Selm?", ["Ostry"]),
    ("What position does Ulla Brandt play?", ["libero"]),
    ("Where does Rand al'Tor work?", ["Ostry, S.C."]),
)
NEW, OLD = "3. The capital of Selm is Ostry.", "0. The capital of Selm is Varda."


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    chain = [("Of which country is the author of A Long Walk a citizen?", ["Selm"])]
    write(folder, row(asked=ASKED), row("factconsolidation_mh_6k", asked=chain))
    (found,) = SUITE.load(SuiteRequest(folder))
    return found


def question(task, name):
    (found,) = (q for q in task.questions if q.id == name)
    return found, [task.evidence[each] for each in found.evidence]


def find(task, name, *texts):
    _, (fact,) = question(task, name)
    return KINDS[fact.kind].find(fact, texts)


# -- numbered facts ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "texts",
    [
        (FACTS,),
        (NEW,),
        (OLD, NEW),
        (NEW, OLD),  # its number says that it is newer, wherever it stands
        (FACTS.replace("\n", " "),),
        ("The capital of Selm is Ostry",),
        ("Selm's capital: Ostry.",),
        ("Ostry has become the capital of Selm.",),
        ("User said the capital of Selm is Varda.", "User said the capital of Selm is Ostry."),
        ("The capital of Selm moved from Varda to Ostry.",),
    ],
)
def test_the_fact_is_found(task, texts):
    found = find(task, "sh-no0", *texts)
    assert (found.present, found.faithful, found.label) == (True, True, None)


def test_only_the_fact_itself_is_relied_on(task):
    assert find(task, "sh-no0", OLD, "nothing", NEW).entries == (2,)


@pytest.mark.parametrize(
    "texts",
    [
        (OLD,),
        ("Varda is the capital of Selm.",),
        (OLD, "Ostry is a town on the sea."),
        (OLD, "The capital of Tarn is Ostry."),
    ],
)
def test_only_the_replaced_value(task, texts):
    found = find(task, "sh-no0", *texts)
    assert (found.present, found.faithful, found.label) == (False, False, "stale_value")
    assert found.reason == "only a replaced value is stated: Varda"
    assert found.entries == (0,)


def test_the_replaced_value_comes_later_and_numbers_are_gone(task):
    found = find(task, "sh-no0", "The capital of Selm is Ostry.", "The capital of Selm is Varda.")
    assert (found.present, found.faithful, found.label) == (True, False, "stale_value")
    assert "no number shows that it is older: Varda" in found.reason
    assert found.entries == (0, 1)


def test_a_number_of_the_stores_own_proves_nothing(task):
    found = find(task, "sh-no0", "1. The capital of Selm is Ostry.\n2. The capital of Selm is Varda.")
    assert (found.present, found.faithful) == (True, False)


@pytest.mark.parametrize(
    "texts", [(), ("",), ("The capital of Selm is large.",), ("Ostry",), ("The river of Selm is Ostry-Au.",)]
)
def test_neither_value(task, texts):
    found = find(task, "sh-no0", *texts)
    assert (found.present, found.faithful, found.label) == (False, False, None)


def test_names_with_apostrophes_and_values_with_dots(task):
    assert find(task, "sh-no2", FACTS).faithful
    assert find(task, "sh-no2", "Rand al\u2019Tor works in the city of Ostry, S.C.").faithful
    assert not find(task, "sh-no2", "Rand al'Tor works in the city of Ostry.").present


def test_a_value_that_begins_another(tmp_path):
    facts = "0. The owner of the mill is United Mills of Selm.\n1. The owner of the mill is United Mills."
    write(tmp_path, row(context=facts, asked=[("Who is the owner of the mill?", ["United Mills"])]))
    (task,) = SUITE.load(SuiteRequest(tmp_path))
    assert find(task, "sh-no0", facts.splitlines()[0]).label == "stale_value"
    assert find(task, "sh-no0", *facts.splitlines()).faithful


@pytest.mark.parametrize(
    "text",
    [
        "Brandt Ulla plays the position of libero.",
        "Ulla Brandts play the position of libero.",
        "Ulla met Ada Brandt, who plays the position of libero.",
        "The Ullas: Brandt plays the position of libero.",
    ],
)
def test_a_name_that_looks_alike_does_not_state_the_fact(task, text):
    assert not find(task, "sh-no1", text).present
    assert find(task, "sh-no1", "The position that Ulla Brandt plays is libero.").faithful


def test_facts_are_found_in_a_list_of_many(task):
    others = [f"{i}. The capital of Place{i} is Town{i}." for i in range(8, 3000)]
    found = find(task, "sh-no0", FACTS, *others)
    assert (found.faithful, found.entries) == (True, (0,))


# -- the other kinds ---------------------------------------------------------------------------------------------------


def test_a_chain_needs_one_of_the_facts_it_may_end_in(task):
    assert find(task, "mh-no0", "5. Ulla Brandt is a citizen of Selm.").faithful
    assert find(task, "mh-no0", "Goalball: created in the country Selm").faithful
    assert not find(task, "mh-no0", "The capital of Selm is Ostry.", "Ulla Brandt is a citizen of Tarn.").present


def test_a_string(tmp_path):
    text = "The mill was built by Old Anna. " * 80
    write(tmp_path, row("ruler_qa1_197K", text, [("Who?", ["Old Anna", "Anna Old"])]), name="Accurate_Retrieval.json")
    (task,) = SUITE.load(SuiteRequest(tmp_path))
    assert find(task, "qa1-no0", "nothing", "old-anna", "By old ANNA!").entries == (2,)
    assert find(task, "qa1-no0", "Anna Old's mill").faithful
    assert not find(task, "qa1-no0", "Cold Anna").present


# -- answers -----------------------------------------------------------------------------------------------------------


def test_norm():
    assert norm("The  U.S., an ally -- of A. Smith") == "us ally of smith"


def test_scores():
    assert substring_match(["Ostry"], "It's OSTRY.")
    assert substring_match(["no"], "I do not know")  # as published; validate warns of such golds
    assert not substring_match(["the"], "the")
    assert label_match(["28"], "Label: 28\nIt is about a lost card.")
    assert not label_match(["28"], "28 or 29")
    assert not exact_match(["28"], "Label: 28")
    assert exact_match(["28"], "28\nIt is about a lost card.")
    assert exact_match(["C. The Brandt couple"], "c. the Brandt couple.")
    assert not exact_match(["28"], "28 or 29")
    assert has_all(["He fell.", "She left."], "he fell. she left.")
    assert not has_all(["He fell.", "She left."], "He fell.")
    assert not has_all([], "He fell.")


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Ostry", "Ostry"),
        ("Memories used:\n- The capital of Selm is Varda.\nAnswer: Ostry", "Ostry"),
        ("**Answer:** Ostry", "Ostry"),
        ("Answer: Varda\nNo.\nAnswer: Ostry", "Ostry"),
        ("My answer: Ostry", "My answer: Ostry"),
    ],
)
def test_the_answer_in_a_reply(reply, answer):
    assert answer_in(reply) == answer


def verdict(task, name, stored, shown, reply):
    asked, facts = question(task, name)
    judge = OfflineJudge(kinds=SUITE.kinds, answers=SUITE.answers)
    listing = Listing("s", tuple(Memory(text) for text in stored))
    with ThreadPoolExecutor(1) as pool:
        given = Reply(reply) if reply is not None else None
        grading = Grader(judge, pool).grade(asked, facts, listing, [Memory(text) for text in shown], given)
        return asyncio.run(grading)


def test_verdicts(task):
    def of(stored, shown, reply=None):
        found = verdict(task, "sh-no0", stored, shown, reply)
        return found.name, found.label, found.credited

    both = [OLD, NEW]
    assert of(both, both, "Ostry") == ("correct", None, True)
    assert of(both, both, "Varda") == ("reasoning_error", "stale_value", False)
    assert of(both, both, "Tarn") == ("reasoning_error", None, False)
    assert of(both, both, "Ostry, not Varda") == ("correct", None, True)
    assert of(both, both) == ("no_answer", None, None)
    assert of(both, [OLD], "Varda") == ("not_retrieved", "stale_value", False)
    # right although the fact was not shown: credited
    assert of(both, [], "Ostry") == ("not_retrieved", None, True)
    assert of([OLD], [OLD], "Varda") == ("not_stored", "stale_value", False)
    assert of(["The capital of Selm is Ostry.", "The capital of Selm is Varda."], [], None)[:2] == (
        "summary_error",
        "stale_value",
    )


def test_memories_that_a_reply_repeats_are_no_answer(task):
    found = verdict(task, "sh-no0", [OLD, NEW], [OLD, NEW], f"Memories used:\n{OLD}\n{NEW}\nAnswer: Varda")
    assert (found.name, found.label) == ("reasoning_error", "stale_value")


# -- turns of a chat -----------------------------------------------------------------------------------------------------

TURN = Fact("e", "turn", "", "Ragna found a flat on Eel Lane, number 9. I carried eleven boxes up there.", "c")


@pytest.mark.parametrize(
    ("texts", "present", "faithful"),
    [
        ([TURN.source], True, True),
        (
            [
                "[{'role': 'user', 'content': 'Ragna found a flat on Eel Lane, number 9.",
                "I carried eleven boxes up there.'}]",
            ],
            True,
            True,
        ),
        (["Ragna found a flat on Eel Lane. The user carried eleven boxes up there."], True, False),
        (["Ragna lives in a flat."], False, False),
        (["I carried eleven pots.", "A flat was found."], False, False),
        ([], False, False),
    ],
)
def test_a_turn(texts, present, faithful):
    found = find_turn(TURN, texts)
    assert (found.present, found.faithful) == (present, faithful)


def test_what_a_turn_has_lost_is_named():
    assert find_turn(TURN, ["Ragna found a flat on Eel Lane. I carried eleven boxes up there."]).missing == ("9",)
