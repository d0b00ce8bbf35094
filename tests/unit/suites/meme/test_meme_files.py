"""suites/meme: files in the published format, read tolerantly, and every fault in words."""

from __future__ import annotations

import json
from datetime import datetime, timezone

import pytest
from episodes import EPISODE, episode, question, write

from pytest_memfail.core import RowError, SuiteFault, SuiteRequest, UnknownNameError, UsageError
from pytest_memfail.suites import built_in_suite, choose_suites, suites_in
from pytest_memfail.suites.meme import SUITE, shipped_episodes
from pytest_memfail.suites.meme.files import Episode, EpisodeFact, Item, Session, read_episodes
from pytest_memfail.suites.places import states


def loaded(folder, *episodes):
    write(folder, *episodes)
    (task,) = SUITE.load(SuiteRequest(folder))
    return task


def first_fault(folder, **changes):
    """The error that a changed episode stops the run with, without its file."""
    with pytest.raises(RowError) as caught:
        loaded(folder, episode(**changes))
    assert caught.value.line == 2
    return f"{caught.value.field}: {caught.value.problem}"


def warnings(folder, **changes):
    path = write(folder, episode(**changes))
    found = list(SUITE.faults(folder))
    assert {fault.file for fault in found} <= {str(path)}
    return [(fault.place, fault.problem) for fault in found if not fault.is_error]


# -- reading -------------------------------------------------------------------------------------------------------------


def test_a_sound_file(tmp_path):
    rows, faults, sha = read_episodes(write(tmp_path))
    assert faults == []
    assert len(sha) == 64
    assert rows[0].value.sessions[3].timestamp == datetime(2023, 3, 16, 9, 22, tzinfo=timezone.utc)
    assert list(SUITE.faults(tmp_path)) == []


@pytest.mark.parametrize("domain", ["personal_life", "Personal Life", "PL", "personal-life", "personal"])
def test_spellings_of_a_domain(domain):
    assert Episode.model_validate(episode(domain=domain)).domain == "PL"


@pytest.mark.parametrize(
    ("name", "type_", "hops"),
    [
        ("Exact (exact recall)", "er", None),
        ("Multi-hop", "agg", None),
        ("Multiple-update", "tr", None),
        ("Deletion (before delete)", "del", None),
        ("Cascade-D (2-hop)", "cas", 2),
        ("Cascade-U [1-hop]", "abs", 1),
        ("ER", "er", None),
        ("abs", "abs", None),
    ],
)
def test_names_of_types(name, type_, hops):
    item = Item.model_validate({"task_type": name, "entity": "a, b", "question": "?", "gold_answer": "x"})
    assert (item.type, item.hops, item.entity) == (type_, hops, ["a", "b"])


def test_unknown_fields_and_null_are_accepted():
    made = episode(sessions__4__topic="weather", sessions__4__gold_facts=None, extra=[1], entities={})
    made["sessions"][0]["gold_facts"][0].update(notes=None, value=12, fact_text=None, conveyed_in_turn=None)
    fact = Episode.model_validate(made).sessions[0].facts[0]
    assert (fact.value, fact.fact_text, fact.is_noted("rule")) == ("12", "", False)


@pytest.mark.parametrize("told", [1, 2, 3, 4, None, 99])
def test_the_turn_is_the_users_that_states_the_value(told):
    """It may count from 0 or from 1, and all turns or the user's alone."""
    contents = ["Hello.", "Hello, is it Feldpay?", "We pay with Feldpay.", "Good.", "Bye."]
    turns = [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(contents)]
    session = Session.model_validate({"timestamp": "2023/03/13 (Mon) 09:22", "conversation": turns})
    assert session.turn_of(EpisodeFact(entity="bank", value="Feldpay", conveyed_in_turn=told)) == "We pay with Feldpay."


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("Tuesday", "On Tuesdays."),
        ("Tuesdays", "Each Tuesday."),
        ("O'Brien", "Ask Kim O\u2019Brien\u2019s cousin."),
        ("10:40", "at 10:40"),
        ("the Lissom automatic", "Your Lissom automatic."),
        ("C++", "We write C++."),
        ("Gold's Gym", "At Gold\u2019s Gym."),
        ("\u00c9t\u00e9", "En \u00e9t\u00e9."),
    ],
)
def test_a_session_that_states_a_value_may_state_it(value, text):
    session = Session.model_validate(
        {"timestamp": "2023/03/13 (Mon) 09:22", "conversation": [{"role": "user", "content": text}]}
    )
    assert states(text, value)
    assert session.may_state(value)
    assert session.sentences == [text]


def test_a_turn_without_its_value_is_taken_by_its_number():
    turns = [{"role": "user", "content": text} for text in ("One.", "Two.", "Please forget that.")]
    session = Session.model_validate({"timestamp": "2023/03/13 (Mon) 09:22", "conversation": turns})
    assert session.turn_of(EpisodeFact(entity="x", value="Nine", conveyed_in_turn=1)) == "Two."
    assert session.turn_of(EpisodeFact(entity="x", conveyed_in_turn=0), is_removal=True) == "Please forget that."


# -- errors --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        (
            {"sessions__3__timestamp": "16 March"},
            "episode pl_001: sessions.3.timestamp: got '16 March', expected a time such as '2023/03/13 (Mon) 09:22'",
        ),
        (
            {"sessions__3__timestamp": "2023/02/30 (Mon) 09:22"},
            "episode pl_001: sessions.3.timestamp: got '2023/02/30 (Mon) 09:22', "
            "expected a time such as '2023/03/13 (Mon) 09:22'",
        ),
        (
            {"domain": "gardening"},
            "episode pl_001: domain: got 'gardening', expected personal_life or software_project",
        ),
        (
            {"after_questions__questions__2__task_type": "Guess"},
            "episode pl_001: after_questions.questions.2.task_type: got 'Guess', expected one of ER, Agg, Tr, Del, Cas, Abs",
        ),
        (
            {"sessions__1__conversation": KeyError},
            "episode pl_001: sessions.1.conversation: got nothing, expected a value",
        ),
        (
            {"before_questions__position_after_session": 9},
            "episode pl_001: before_questions.position_after_session: got 9, expected the number of a session, 0 to 6",
        ),
        (
            {"after_questions__position_after_session": 2},
            "episode pl_001: before_questions.position_after_session: got 3, expected at most 2, that of after_questions",
        ),
        (
            {
                "after_questions__questions__0__entity": ["hat"],
                "after_questions__questions__0__entity_values": {"hat": "Zu"},
            },
            "episode pl_001: after_questions.questions.0.entity: "
            "got 'hat', expected an entity that a session up to 6 mentions",
        ),
        (
            {"before_questions__questions__2__entity": ["doctor"], "before_questions__questions__2__task_type": "ER"},
            "episode pl_001: after_questions.questions.3.entity: "
            "got 'door_code', expected an entity with a question in before_questions",
        ),
        (
            {"after_questions__questions__5__gold_answer": "Nobody knows"},
            "episode pl_001: after_questions.questions.5.gold_answer: "
            "got 'Nobody knows', expected Uncertain \u2014 previously '\u2026', but \u2026 changed",
        ),
        (
            {"after_questions__questions__0__gold_answer": ""},
            "episode pl_001: after_questions.questions.0.gold_answer: got nothing, expected the right answer",
        ),
    ],
)
def test_errors(tmp_path, changes, text):
    assert first_fault(tmp_path, **changes) == text
    fault = next(iter(SUITE.faults(tmp_path)))
    assert fault.is_error
    assert str(fault) == f"{tmp_path / 'meme_filler32k.json'}:{fault.line}: error: {text}"


def test_an_id_twice(tmp_path):
    with pytest.raises(RowError, match="episode pl_001: episode_id: got 'pl_001' again, expected an id of its own"):
        loaded(tmp_path, EPISODE, EPISODE)


def test_an_entity_that_a_value_mentions_needs_no_fact(tmp_path):
    made = episode()
    made["sessions"][3]["gold_facts"] = None
    task = loaded(tmp_path, made)
    (fact,) = (e for e in task.evidence.values() if e.kind == "value" and e.gold.value == "Ida Falk")
    assert fact.source.startswith("Our door code")


def test_no_json_and_no_array(tmp_path):
    path = write(tmp_path)
    path.write_text('[{"episode_id": "pl_1"}, ', encoding="utf-8")
    assert any("not JSON" in fault.problem for fault in SUITE.faults(tmp_path))
    path.write_text("{}", encoding="utf-8")
    assert [fault.problem for fault in SUITE.faults(tmp_path)] == ["got {}, expected an array"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [("Hi \ud83d", "got half a character"), (json.loads("[" * 400 + "]" * 400), "got [[[[")],
    ids=["half a character", "nested"],
)
def test_a_text_that_is_none_is_named(tmp_path, content, problem):
    fault = first_fault(tmp_path, sessions__4__conversation=[{"role": "user", "content": content}])
    assert fault.startswith("episode pl_001: sessions.4.conversation.0.content: ")
    assert problem in fault


# -- warnings ------------------------------------------------------------------------------------------------------------


def test_a_filler_that_holds_a_value(tmp_path):
    made = [{"role": "user", "content": "Torsk Hall is a funny name."}, {"role": "assistant", "content": "Yes."}]
    assert warnings(tmp_path, sessions__4__conversation=made) == [
        ("episode pl_001: sessions.4", "a filler session holds a gold value: 'Torsk Hall'")
    ]


def test_a_session_that_never_states_its_value(tmp_path):
    assert warnings(tmp_path, sessions__3__gold_facts__1__value="Ida Falck") == [
        ("episode pl_001: sessions.3.gold_facts.1.value", "the session never states 'Ida Falck'")
    ]


def test_a_session_that_another_states_the_value_of_names_it(tmp_path):
    assert warnings(tmp_path, sessions__3__gold_facts__1__value="Marl Couriers") == [
        ("episode pl_001: sessions.3.gold_facts.1.value", "the session never states 'Marl Couriers'; session 5 does")
    ]


def test_two_questions_before_the_change(tmp_path):
    again = question("Cas", ["commute"], ["Pell bicycle"], "Pell bicycle", "before", hop=1)
    questions = [*EPISODE["before_questions"]["questions"], again]
    assert warnings(tmp_path, before_questions__questions=questions) == [
        (
            "episode pl_001: before_questions.questions",
            "'commute' has 2 questions before the change; the last one counts for credit",
        )
    ]
    (task,) = SUITE.load(SuiteRequest(tmp_path))
    needs = {q.id: q.needs for q in task.questions}
    assert needs["after-cas-commute"] == ("before-cas-commute-2",)


def test_warnings_stop_no_run(tmp_path):
    assert len(loaded(tmp_path, episode(sessions__3__gold_facts__1__value="Ida Falck")).stores) == 1


# -- which file ----------------------------------------------------------------------------------------------------------


def test_a_missing_file(tmp_path):
    with pytest.raises(UsageError) as caught:
        SUITE.load(SuiteRequest(tmp_path))
    assert str(caught.value) == (
        f"no file of meme:32k in {tmp_path}; expected meme_filler32k.json (100 episodes, CC BY 4.0, not shipped) "
        "from https://huggingface.co/datasets/meme-benchmark/MEME"
    )
    with pytest.raises(UsageError, match=r"no file of meme:128k in .*meme_filler128k.json \(40 episodes, CC BY 4.0"):
        SUITE.load(SuiteRequest(tmp_path, "128k"))
    with pytest.raises(
        UsageError, match=r"no file of meme:nofiller without --memfail-data DIR; expected meme_nofiller.json"
    ):
        SUITE.load(SuiteRequest(None, "nofiller"))
    with pytest.raises(UsageError, match=r"no file of meme in .*; expected one of meme_filler32k.json, "):
        list(SUITE.faults(tmp_path))


def test_episodes_of_your_own(tmp_path):
    write(tmp_path, name="episodes.json")
    (chosen,) = choose_suites(["meme:ours"], built_in_suite)
    assert chosen.variant == "ours"
    (task,) = SUITE.load(SuiteRequest(tmp_path, "ours"))
    assert (task.variant, task.licence, len(task.stores)) == ("ours", "the user's own", 1)
    assert suites_in(tmp_path) == [SUITE]
    with pytest.raises(UsageError, match=r"no file of meme:32k in .*; episodes.json there is meme:ours"):
        SUITE.load(SuiteRequest(tmp_path))


def test_an_unknown_variant():
    with pytest.raises(UnknownNameError, match=r"unknown variant of meme 'nofillers'; did you mean 'nofiller'\?"):
        SUITE.load(SuiteRequest(None, "nofillers"))


def test_a_folder_of_several_suites(tmp_path):
    (tmp_path / "meme").mkdir()
    write(tmp_path / "meme", name="meme_nofiller.json")
    (task,) = SUITE.load(SuiteRequest(tmp_path, "nofiller"))
    assert (task.variant, task.licence, task.suite) == ("nofiller", "CC BY 4.0", "meme")
    assert list(SUITE.faults(tmp_path)) == []


def test_our_own_episodes():
    (task,) = SUITE.load(SuiteRequest())
    assert (task.variant, task.licence, len(task.stores)) == ("ours", "MIT", 8)
    assert [store.id for store in task.stores] == [f"{d}_90{n}" for d in ("pl", "sw") for n in (1, 2, 3, 4)]
    assert list(SUITE.faults(shipped_episodes().parent)) == []


def test_a_fault_is_a_value(tmp_path):
    write(tmp_path, episode(domain="x"))
    assert all(isinstance(fault, SuiteFault) for fault in SUITE.faults(tmp_path))
