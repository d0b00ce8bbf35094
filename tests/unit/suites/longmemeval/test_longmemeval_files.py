"""suites/longmemeval: the loader, the plan of stores and facts, and what `validate` says."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from questions import SESSIONS, question, write

from pytest_memfail.core import Memory, RowError, SuiteRequest, UnknownNameError, UsageError, has_moment
from pytest_memfail.suites.longmemeval import SUITE, shipped_questions
from pytest_memfail.suites.longmemeval.files import TYPES
from pytest_memfail.suites.turns import find_needed, speaker_of

ORACLE = Path(__file__).parents[5] / "shared" / "data" / "longmemeval"
needs_oracle = pytest.mark.skipif(not ORACLE.is_dir(), reason=f"the oracle file is not in {ORACLE}")


def load(folder, **fields):
    (task,) = SUITE.load(SuiteRequest(folder, **fields))
    return task


def faults(folder):
    return [str(fault).partition("oracle.json:")[2] for fault in SUITE.faults(folder)]


def test_a_question_is_one_store_by_date_and_shows_no_id_of_the_file(tmp_path):
    write(tmp_path, question())
    task = load(tmp_path)
    (store,) = task.stores
    (asked,) = task.questions
    said = store.read_conversations()
    assert [[message.content for message in each.messages] for each in said] == [
        ["Hello again.", "Tell me a joke."],
        ["I bought a red kayak today.", "Wear a vest."],
        ["Sell the kayak to Ole."],  # without the empty turn
    ]
    assert [message.role for message in said[0].messages] == ["assistant", "user"]
    when = datetime(2023, 5, 8, 13, 40, tzinfo=timezone.utc)
    assert said[1].timestamp == said[1].messages[0].timestamp == when
    assert asked.asked_at == datetime(2023, 5, 30, 23, 40, tzinfo=timezone.utc)
    assert not any(word in f"{store.id}{each.id}" for each in said for word in ("answer", "filler", "q1"))
    assert (asked.id, asked.part, asked.kind, asked.gold) == (
        "q1",
        "multi_session",
        "lme_plain",
        ("Red, and Ole gets it",),
    )
    facts = [task.evidence[name] for name in asked.evidence]
    assert [(fact.text, fact.conversation_id, speaker_of(fact.id)) for fact in facts] == [
        ("I bought a red kayak today.", said[1].id, "user"),
        ("Sell the kayak to Ole.", said[2].id, "assistant"),
    ]
    assert [fact.claim.moment for fact in facts] == [None, None]
    assert store.characters == sum(len(each.text) for each in said)


def test_ties_are_stored_in_the_order_of_the_file(tmp_path):
    write(tmp_path, question(haystack_dates=["2023/05/08 (Mon) 13:40"] * 3))
    (store,) = load(tmp_path).stores
    assert [each.messages[0].content[:5] for each in store.read_conversations()] == ["I bou", "Hello", "Sell "]


@pytest.mark.parametrize(
    ("name", "kind", "expected", "facts", "moments"),
    [
        ("q1", "temporal-reasoning", "lme_temporal", 2, 2),
        ("q1", "knowledge-update", "lme_update", 2, 0),
        ("q1", "single-session-preference", "lme_preference", 2, 0),
        ("q1", "single-session-user", "lme_plain", 2, 0),
        ("q1_abs", "temporal-reasoning", "lme_abstention", 0, 0),
    ],
)
def test_the_type_says_how_an_answer_is_graded_and_whether_dates_count(tmp_path, name, kind, expected, facts, moments):
    write(tmp_path, question(name, kind))
    task = load(tmp_path)
    assert task.questions[0].kind == expected
    assert len(task.evidence) == facts
    assert sum(fact.claim.moment is not None for fact in task.evidence.values()) == moments
    assert load(tmp_path, protocol="paper").questions[0].kind == f"{expected}_paper"


def test_a_number_as_answer_becomes_a_text(tmp_path):
    write(tmp_path, question(answer=12))
    assert load(tmp_path).questions[0].gold == ("12",)


def without(name):
    row = question()
    del row[name]
    return row


TURNS = [turns for _, turns in SESSIONS.values()]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (question(question_date="30 May 2023"), "question_date: got '30 May 2023', expected a time such as"),
        (question(question_date="2023/02/30 (Thu) 10:00"), "question_date: got '2023/02/30"),
        (question(question_date=None), "question_date: got None"),
        (question(haystack_dates=["2023/05/08 (Mon) 13:40", "?", "2023/05/09"]), "haystack_dates.1: got '?'"),
        (question(haystack_dates=["2023/05/08 (Mon) 13:40"]), "haystack_dates: got 1, expected 3, one for each of"),
        (question(haystack_session_ids=["a"] * 4), "haystack_session_ids: got 4, expected 3"),
        (question(haystack_session_ids=[1, 2, 3]), "haystack_session_ids.0"),
        (question(kind="small-talk"), "question_type: got 'small-talk', expected one of single-session-user"),
        (question(kind=["multi-session"]), "question_type"),
        (question(answer=True), "answer"),
        (question(answer=None), "answer"),
        (question(answer=""), "answer"),
        (question(name=""), "question_id"),
        (question(question=""), "question"),
        (question(haystack_sessions=[], haystack_dates=[], haystack_session_ids=[]), "haystack_sessions"),
        (question(haystack_sessions=[[{"role": "tool", "content": "x"}], *TURNS[1:]]), "haystack_sessions.0.0.role"),
        (question(haystack_sessions=[[{"role": "user"}], *TURNS[1:]]), "haystack_sessions.0.0.content"),
        (
            question(haystack_sessions=[[{"role": "user", "content": "x", "has_answer": "yes"}], *TURNS[1:]]),
            "haystack_sessions.0.0.has_answer",
        ),
        (question(haystack_sessions="x"), "haystack_sessions"),
        (question(question="\ud83d"), "question: got half a character"),
        *((without(name), name) for name in question()),
        ([], "question 0"),
        ("x", "question 0"),
        (None, "question 0"),
    ],
)
def test_a_faulty_question_stops_a_run_at_its_place(tmp_path, row, expected):
    write(tmp_path, question("q0"), row)
    with pytest.raises(RowError) as caught:
        load(tmp_path)
    assert expected.replace("question 0", "question 1") in str(caught.value)
    assert expected.replace("question 0", "question 1") in "\n".join(map(str, SUITE.faults(tmp_path)))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "expected an array of objects, or one object"),
        (b"[]", "has no questions"),
        (b"7", "expected an array"),
        (b'[{"question_id": "q1"', "not JSON"),
        (b'[{"question_id": "q1}]', "not JSON (Unterminated string"),
        (b"[{}\n{}]", ":2: error: file: not JSON (Expecting ',' or ']' at byte 4)"),
        (b"[\n\n{} ,,]", ":3: error: file: not JSON (Expecting value at byte 7)"),
        (b"[{}] x", "not JSON (Extra data"),
        (b"[" * 200_000, "nested too deeply"),
        (b'["\xff"]', "not UTF-8"),
    ],
)
def test_a_broken_file_is_named(tmp_path, content, expected):
    (tmp_path / "longmemeval_oracle.json").write_bytes(content)
    assert expected in "\n".join(map(str, SUITE.faults(tmp_path)))
    with pytest.raises(RowError):
        load(tmp_path)


def test_an_id_occurs_once(tmp_path):
    write(tmp_path, question(), question())
    with pytest.raises(RowError, match="got 'q1' again, expected an id of its own"):
        load(tmp_path)


# -- files -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "variant"),
    [
        ("longmemeval_oracle.json", ""),
        ("longmemeval_s.json", "s"),
        ("longmemeval_s_cleaned.json", "s"),
        ("longmemeval_m_cleaned.json", "m"),
        ("questions.json", "ours"),
        ("longmemeval_s/3_q1.json", "s"),
    ],
)
@pytest.mark.parametrize("subfolder", ["", "longmemeval"])
def test_a_variant_is_found_by_its_file(tmp_path, name, variant, subfolder):
    folder = tmp_path / subfolder
    folder.mkdir(exist_ok=True)
    write(folder, question(), name=name)
    task = load(tmp_path, variant=variant)
    assert (task.variant, len(task.questions), task.k) == (variant or "oracle", 1, None)
    assert SUITE.is_in(tmp_path)


def test_one_file_for_each_question_in_the_order_of_their_numbers(tmp_path):
    for number in (10, 2, 1):
        write(tmp_path, question(f"q{number}"), name=f"longmemeval_s/{number}_q{number}.json")
    task = load(tmp_path, variant="s")
    assert [each.id for each in task.questions] == ["q1", "q2", "q10"]
    assert all(len(store.read_conversations()) == 3 for store in task.stores)


def test_a_missing_file_and_an_unknown_variant_are_named(tmp_path):
    with pytest.raises(UsageError, match=r"no file of longmemeval:s in .*; expected longmemeval_s\.json \(MIT"):
        load(tmp_path, variant="s")
    with pytest.raises(UsageError, match="without --memfail-data DIR"):
        load(None, variant="m")
    with pytest.raises(UnknownNameError):
        load(tmp_path, variant="l")
    with pytest.raises(UsageError, match="no file of longmemeval in"):
        list(SUITE.faults(tmp_path))


def test_a_file_that_changes_before_it_is_read_again_is_an_error(tmp_path):
    path = write(tmp_path, question(), question("q2"))
    stores = load(tmp_path).stores
    write(tmp_path, question("q3"), question("q4"))
    with pytest.raises(RowError, match="has changed since it was read"):
        stores[1].read_conversations()
    path.unlink()
    with pytest.raises(RowError, match="has changed since it was read"):
        stores[0].read_conversations()


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_rows_are_found_again_in_a_file_of_many_blocks(tmp_path, monkeypatch, mark):
    monkeypatch.setattr("pytest_memfail.rows.json_rows.BLOCK", 7)
    rows = [question(f"q{at}", question=f'Was sagte \u00dclla {at}\u00d7 \U0001f6f6 \\ "?') for at in range(5)]
    path = tmp_path / "longmemeval_oracle.json"
    path.write_bytes(mark + json.dumps(rows, ensure_ascii=False, indent=2).encode())
    task = load(tmp_path)
    assert [each.text for each in task.questions] == [row["question"] for row in rows]
    lines = path.read_text("utf-8").split("\n")
    for asked, store in zip(task.questions, task.stores, strict=True):
        assert asked.id in lines[asked.line]  # the object begins a line before
        assert store.read_conversations()[0].text == "Hello again.\nTell me a joke."


# -- traps -------------------------------------------------------------------------------------------------------------


def twice():
    names = ["answer_1", "filler_1", "answer_2", "filler_1"]
    return question(
        haystack_session_ids=names,
        haystack_dates=[SESSIONS[name][0] for name in names],
        haystack_sessions=[SESSIONS[name][1] for name in names],
    )


ORDERED = {name: SESSIONS[name] for name in ("filler_1", "answer_1", "answer_2")}
PLAIN = {"s_1": ("2023/05/08 (Mon) 13:40", [{"role": "user", "content": "I rest.", "has_answer": True}])}


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (twice(), "sessions that occur again in their haystack; they are stored each time: 1 (q1 filler_1)"),
        (question(), "empty turns; they are not stored: 1 (q1 2.0)"),
        (
            question(question_date="2023/05/20 (Sat) 09:59"),
            "sessions later than their question; they are stored all the same: 1 (q1 answer_2)",
        ),
        (question(), "questions with sessions out of order; they are stored by date: 1 (q1)"),
        (question(), "sessions that begin with the assistant: 1 (q1 filler_1)"),
        (
            question(answer_session_ids=["answer_1", "answer_2", "filler_1"]),
            "answer sessions without a turn with has_answer; nothing of them is a fact: 1 (q1 filler_1)",
        ),
        (
            question(answer_session_ids=["filler_1"]),
            "questions without a turn with has_answer; only their answers are judged: 1 (q1)",
        ),
        (
            question(answer_session_ids=["answer_1"]),
            "sessions with has_answer that are not in answer_session_ids; they have no facts: 1 (q1 answer_2)",
        ),
        (question("q1_abs"), "abstention questions with turns with has_answer; these are no facts: 1 (q1_abs)"),
        (
            question(),
            "session ids that begin with 'answer', as only those with the answer do; no memory sees them: 2 (q1 answer_",
        ),
    ],
)
def test_each_trap_is_named_with_its_number(tmp_path, row, expected):
    write(tmp_path, row)
    assert [line for line in faults(tmp_path) if expected in line]
    clean = tmp_path / "clean"
    write(clean, question(sessions=PLAIN, answer_session_ids=["s_1"]))
    assert list(SUITE.faults(clean)) == []
    load(tmp_path)


def test_our_sample_has_a_dozen_of_each_type_and_every_trap():
    task = load(None)
    parts = [asked.part.replace("_", "-") for asked in task.questions]
    assert {name: parts.count(name) for name in TYPES} == dict.fromkeys(TYPES, 12)
    assert sum(asked.kind == "lme_abstention" for asked in task.questions) == 8
    assert task.k == 3
    said = "\n".join(map(str, SUITE.faults(shipped_questions().parent)))
    assert "error" not in said
    for trap in (
        "occur again",
        "empty turns",
        "later than",
        "out of order",
        "begin with the",
        "without a turn",
        "these are no",
    ):
        assert trap in said
    everything = {store.id: store.read_conversations() for store in task.stores}
    assert {len(each) for each in everything.values()} == {4, 5, 6}
    for fact in task.evidence.values():
        (held,) = [c for all_ in everything.values() for c in all_ if c.id == fact.conversation_id]
        assert fact.text in held.text


# -- the published oracle file -----------------------------------------------------------------------------------------


@needs_oracle
def test_the_oracle_file_has_the_published_counts():
    task = load(ORACLE)
    assert (len(task.stores), len(task.questions), len(task.evidence)) == (500, 500, 886)
    parts = [asked.part.replace("_", "-") for asked in task.questions]
    assert [parts.count(name) for name in TYPES] == [70, 56, 30, 133, 78, 133]
    assert sum(bool(asked.evidence) for asked in task.questions) == 470
    assert sum(any(speaker_of(name) == "user" for name in asked.evidence) for asked in task.questions) == 419
    assert sum(speaker_of(name) == "assistant" for name in task.evidence) == 54
    assert sum(asked.kind == "lme_abstention" for asked in task.questions) == 30
    said = "\n".join(map(str, SUITE.faults(ORACLE)))
    assert "nothing of them is a fact: 45 (" in said
    assert "these are no facts: 9 (" in said
    assert "error" not in said


@needs_oracle
def test_a_verbatim_store_of_the_oracle_file_holds_every_turn_and_loses_only_dates():
    task = load(ORACLE)
    lost = set()
    for store in task.stores:
        said = [message for each in store.read_conversations() for message in each.messages]
        texts = [message.content for message in said]
        for asked in store.questions:
            for fact in map(task.evidence.__getitem__, asked.evidence):
                found = find_needed(fact, texts)
                assert found.faithful, fact.id
                assert not find_needed(fact, []).present
                if (moment := fact.claim.moment) is not None:
                    held = [said[at] for at in found.entries]
                    assert has_moment(
                        moment, [Memory(one.content, timestamp=one.timestamp.isoformat()) for one in held]
                    )
                    for stamp in ("2031-01-01", (held[0].timestamp + timedelta(days=1)).isoformat()):
                        if not has_moment(moment, [Memory(one.content, timestamp=stamp) for one in held]):
                            lost.add((stamp == "2031-01-01", asked.id))
    # the turns of 16 of the 127 questions about time name each date themselves
    assert [sum(is_now is one for is_now, _ in lost) for one in (True, False)] == [111, 111]
