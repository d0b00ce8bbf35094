"""suites/halumem: the published format, its faults, and what becomes of a user."""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime, timezone

import pytest
from users import DELETE, changed, user, write

from pytest_memfail.cli import main
from pytest_memfail.core import Ingest, Probe, RowError, SuiteRequest, UsageError
from pytest_memfail.suites.halumem import SUITE, shipped_users


def task(folder, *users, variant="ours"):
    write(folder, *users)
    (made,) = SUITE.load(SuiteRequest(folder, variant))
    return made


def questions(made):
    return {question.id: question for question in made.questions}


def test_a_probe_follows_each_session_and_a_noise_session_is_only_stored(tmp_path):
    (store,) = task(tmp_path, user()).stores
    assert store.id == "u-1"
    assert [type(step) for step in store.steps] == [Ingest, Probe] * 3
    assert [len(step.questions) for step in store.steps if isinstance(step, Probe)] == [4, 0, 3]
    first = store.steps[0].conversation
    assert first.messages[1].timestamp == datetime(2025, 9, 4, 21, 12, 18, tzinfo=timezone.utc)
    assert [message.role for message in first.messages] == ["user", "assistant"]


def test_items_have_their_part_stages_and_k(tmp_path):
    found = questions(task(tmp_path, user()))
    shape = {name: (q.part, q.stages, q.k, q.stratum) for name, q in found.items()}
    memory = ("storage", "summary")
    assert shape == {
        "s000-added": ("added", ("added",), None, ""),
        "s000-p01": ("points", memory, None, "Event"),
        "s000-p02": ("distractors", memory, None, "Persona"),
        "s000-q1": ("qa", (*memory, "retrieval", "answer"), None, "Basic Fact Recall"),
        "s002-added": ("added", ("added",), None, ""),
        "s002-p01": ("update", (*memory, "retrieval"), 10, "Event"),
        "s002-p01-2": ("points", memory, None, "Relationship"),
    }
    assert found["s002-p01"].query == "Ulla lives in Ostry now"
    assert found["s000-p01"].weight == 0.8
    assert found["s000-q1"].asked_at == datetime(2025, 9, 4, 21, 30, tzinfo=timezone.utc)


def test_the_source_of_a_point_is_its_dialogue_and_evidence_joins_by_content(tmp_path):
    made = task(tmp_path, user())
    found = questions(made)
    assert found["s000-q1"].evidence == found["s000-p01"].evidence
    (point,) = (made.evidence[name] for name in found["s000-p01"].evidence)
    assert point.source == "I moved to Varda.\nYou surely ski there."
    assert {fact.claim.user for fact in made.evidence.values()} == {"Ulla Brandt"}
    (update,) = (made.evidence[name] for name in found["s002-p01"].evidence)
    assert update.claim.replaced == ("Ulla lives in Varda",)
    (distractor,) = (made.evidence[name] for name in found["s000-p02"].evidence)
    assert distractor.is_distractor
    assert found["s000-added"].keys["points"] == ["Ulla moved to Varda"]


@pytest.mark.parametrize(("protocol", "part"), [("ours", "update"), ("paper", "points")])
def test_the_paper_takes_an_update_without_an_earlier_point_for_a_point(tmp_path, protocol, part):
    write(tmp_path, changed("sessions", 2, "memory_points", 0, "original_memories", value=[]), user(uuid="u-2"))
    (made,) = SUITE.load(SuiteRequest(tmp_path, "ours", protocol))
    first, second = (store.questions for store in made.stores)
    assert [q.part for q in first if q.id == "s002-p01"] == [part]
    assert [q.part for q in second if q.id == "s002-p01"] == ["update"]


@pytest.mark.parametrize("field", ["questions", "memory_points"])
def test_optional_lists_may_be_missing(tmp_path, field):
    assert task(tmp_path, changed("sessions", 1, field, value=DELETE))
    assert task(tmp_path, changed("sessions", 1, field, value=None))


def test_evidence_that_joins_with_nothing_is_an_error_of_validate_and_no_stage_of_a_run(tmp_path):
    other = changed("sessions", 0, "questions", 0, "evidence", 0, "memory_content", value="Ulla lives in Ostry now")
    made = task(tmp_path, other)
    assert questions(made)["s000-q1"].evidence == ()
    (fault,) = [fault for fault in SUITE.faults(tmp_path) if fault.is_error]
    assert "sessions.0.questions.0.evidence.0.memory_content: got 'Ulla lives in Ostry now', expected the exact" in str(
        fault
    )


POINT = ("sessions", 2, "memory_points", 0)


@pytest.mark.parametrize(
    ("path", "value", "text"),
    [
        ((*POINT, "is_update"), "yes", 'is_update: got \'yes\', expected "True" or "False"'),
        ((*POINT, "memory_source"), "rumour", "memory_source: got 'rumour', expected one of primary, secondary, "),
        ((*POINT, "memory_type"), "Fact", "memory_type: got 'Fact', expected one of Persona Memory, Event Memory, "),
        ((*POINT, "memory_content"), "", "memory_content: got '', expected: "),
        (
            ("sessions", 0, "start_time"),
            "2025-09-04",
            "start_time: got '2025-09-04', expected a time such as 'Sep 04, ",
        ),
        (("sessions", 0, "end_time"), "Foo 31, 2025, 10:00:00", "end_time: got 'Foo 31, 2025, 10:00:00', expected a "),
        (("sessions", 0, "dialogue"), [], "dialogue: got [], expected: "),
        (("sessions", 0, "questions", 0, "question_type"), "Quiz", "question_type: got 'Quiz', expected one of Basic "),
        (("uuid",), DELETE, "uuid: got nothing, expected a value"),
        (("sessions", 0, "dialogue", 0, "content"), "Hi \ud83d", "sessions.0.dialogue.0.content: got half a character"),
    ],
)
def test_a_fault_stops_a_run_with_its_place(tmp_path, path, value, text):
    write(tmp_path, user(uuid="u-0"), changed(*path, value=value))
    with pytest.raises(RowError) as caught:
        SUITE.load(SuiteRequest(tmp_path, "ours"))
    message = str(caught.value)
    assert "users.jsonl:2" in message
    assert text in message
    assert "\n" not in message


def test_two_users_with_one_id_stop_a_run(tmp_path):
    write(tmp_path, user(), user())
    with pytest.raises(RowError, match="got 'u-1' 2 times, expected an id of its own"):
        SUITE.load(SuiteRequest(tmp_path, "ours"))


@pytest.mark.parametrize(
    ("path", "value", "text"),
    [
        ((*POINT, "original_memories"), [], "original_memories: got nothing, although the point is an update"),
        ((*POINT, "importance"), 1.5, "importance: got 1.5, expected a number from 0 to 1"),
        ((*POINT, "memory_content"), "Ulla collects enamel signs", "the dialogue has 0% of its words"),
        (
            (*POINT, "memory_content"),
            "Ulla did 2 + 2",
            "the dialogue has 0% of its words: 'Ulla did 2 + 2'; session 1 has most of them",
        ),
        (("sessions", 1, "memory_points"), [user()["sessions"][0]["memory_points"][0]], "which are not asked"),
    ],
)
def test_warnings_do_not_stop_a_run(tmp_path, path, value, text):
    assert task(tmp_path, changed(*path, value=value))
    warnings = [str(fault) for fault in SUITE.faults(tmp_path) if not fault.is_error]
    assert any(text in warning for warning in warnings), warnings


def test_users_of_one_name_are_a_warning(tmp_path):
    write(tmp_path, user(), user(uuid="u-2"))
    warnings = [str(fault) for fault in SUITE.faults(tmp_path)]
    assert sum("2 users have the name 'Ulla Brandt'" in warning for warning in warnings) == 2


@pytest.mark.parametrize(
    ("variant", "name"),
    [("", "HaluMem-Medium.jsonl"), ("medium", "HaluMem-Medium.jsonl"), ("long", "HaluMem-Long.jsonl")],
)
def test_a_published_file_is_found_and_one_that_is_missing_is_named(tmp_path, variant, name):
    with pytest.raises(UsageError, match=f"expected {name} .*CC BY-NC-ND 4.0, not shipped.* from https://huggingface"):
        SUITE.load(SuiteRequest(tmp_path, variant))
    (tmp_path / "halumem").mkdir()
    write(tmp_path / "halumem", user(), name=name)
    (made,) = SUITE.load(SuiteRequest(tmp_path, variant))
    assert (made.variant, made.licence) == (variant or "medium", "CC BY-NC-ND 4.0")


def test_our_sample_has_what_its_configuration_says():
    (made,) = SUITE.load(SuiteRequest())
    config = json.loads((shipped_users().parent / "generation_config.json").read_text(encoding="utf-8"))
    counts = Counter(question.part for question in made.questions)
    told = config["counts"]["users.jsonl"]
    assert (counts["points"], counts["distractors"], counts["update"], counts["qa"]) == (
        told["points"],
        told["distractors"],
        told["updates"],
        told["questions"],
    )
    assert (len(made.stores), counts["added"]) == (told["users"], told["sessions"])
    assert len({question.stratum for question in made.questions if question.part == "qa"}) == 6
    assert all(question.evidence for question in made.questions if question.part == "qa")
    assert not [fault for fault in SUITE.faults(shipped_users().parent) if fault.is_error]


def test_hardly_a_question_of_our_sample_needs_an_earlier_session():
    """The page says so: a memory that keeps only the newest session loses few."""
    (made,) = SUITE.load(SuiteRequest())
    asked = [
        {made.evidence[name].conversation_id for name in question.evidence} == {steps[i - 1].conversation.id}
        for steps in (store.steps for store in made.stores)
        for i, step in enumerate(steps)
        if isinstance(step, Probe)
        for question in step.questions
        if question.part == "qa"
    ]
    assert (sum(asked), len(asked)) == (28, 30)


def test_the_paper_judges_points_by_what_their_session_added(tmp_path):
    write(tmp_path, user())
    for protocol, by_additions in (("ours", False), ("paper", True)):
        (made,) = SUITE.load(SuiteRequest(tmp_path, "ours", protocol))
        (store,) = made.stores
        found = {question.id: question for question in made.questions}
        memory = [found[name] for name in ("s000-p01", "s000-p02", "s002-p01")]
        assert {question.of_additions for question in memory} == {by_additions}
        first, last = store.steps[0].conversation.id, store.steps[4].conversation.id
        assert [question.keys["conversation"] for question in memory] == [first, first, last]
        assert not found["s000-q1"].of_additions


def test_a_data_report_counts_what_the_file_holds(tmp_path, capsys):
    write(tmp_path, user(), user(uuid="u-2", sessions=user()["sessions"][:1]))
    assert main(["validate", str(tmp_path), "--suite", "halumem", "--data-report"]) == 0
    lines = capsys.readouterr().out.splitlines()
    found = {line[:44].strip(): line[44:].strip() for line in lines}
    assert lines[0].split() == ["users.jsonl"]
    assert (found["users"], found["sessions a user"], found["messages"]) == ("2", "2.00", "6")
    assert (found["turns (a message of the user and its reply)"], found["turns a session"]) == ("4", "1.00")
    assert (found["points"], found["points a session"]) == ("6", "1.50")
    assert (found["points: distractors"], found["points: updates"]) == ("2", "1")
    assert (found["points: Event Memory"], found["points: Relationship Memory"]) == ("3", "1")
    assert (found["questions"], found["questions a user"]) == ("2", "1.00")
    assert (found["questions: Basic Fact Recall"], found["questions: Memory Boundary"]) == ("2", "0")


def test_a_data_report_names_the_first_fault_and_a_suite_without_one(tmp_path, capsys):
    write(tmp_path, changed("uuid", value=DELETE))
    assert main(["validate", str(tmp_path), "--suite", "halumem", "--data-report"]) == 4
    assert "uuid: got nothing, expected a value" in capsys.readouterr().err
    assert main(["validate", str(tmp_path), "--suite", "memfail", "--data-report"]) == 4
    assert "the suite 'memfail' has none" in capsys.readouterr().err
