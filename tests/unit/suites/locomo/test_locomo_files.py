"""suites/locomo: the published format, its faults and traps, and what becomes of a row."""

from __future__ import annotations

import json
import math
import os
import re
from collections import Counter
from datetime import datetime, timezone
from pathlib import Path

import pytest
from talks import QA, TALK, changed, row, write

from pytest_memfail.core import Ingest, Probe, RowError, SuiteRequest, UsageError
from pytest_memfail.suites import TaskRequest, choose_suites, load_tasks
from pytest_memfail.suites.locomo import SUITE, shipped_conversations
from pytest_memfail.suites.locomo.files import read_samples

PUBLISHED = Path(os.environ.get("MEMFAIL_LOCOMO") or Path(__file__).parents[5] / "shared" / "data" / "locomo")
"""The folder of the published file, which is CC BY-NC and never shipped."""


def task(folder, *rows, **options):
    (made,) = SUITE.load(SuiteRequest(write(folder, *rows), "ours", options=options))
    return made


def texts(made):
    return [message.content for store in made.stores for c in store.read_conversations() for message in c.messages]


def warnings(folder, *rows):
    return [
        str(fault).partition(": warning: ")[2] for fault in SUITE.faults(write(folder, *rows)) if not fault.is_error
    ]


def test_a_row_is_a_store_whose_sessions_are_sorted_by_number(tmp_path):
    (store,) = task(tmp_path).stores
    assert [type(step) for step in store.steps] == [Ingest, Ingest, Ingest, Probe]
    first, second, third = store.read_conversations()
    assert first.timestamp == datetime(2023, 5, 8, 13, 56, tzinfo=timezone.utc)
    assert second.timestamp == datetime(2023, 5, 9, 12, 4, tzinfo=timezone.utc)
    assert third.timestamp == datetime(2023, 6, 12, 0, 10, tzinfo=timezone.utc)
    assert {message.timestamp for message in first.messages} == {first.timestamp}


def test_names_and_captions_are_stored_and_nothing_that_nobody_said(tmp_path):
    made = task(tmp_path)
    assert texts(made) == [
        "Ulla: I moved to Varda yesterday.",
        "Jorn: Look! [image: a green canoe]",
        "Jorn: I have a cat called Miro.",
        "Ulla: The canoe sank.",
    ]
    assert not re.search(
        "Selm|example|Secret|D1|t-1", " ".join(c.id + c.text for c in made.stores[0].read_conversations())
    )


@pytest.mark.parametrize(
    ("user", "roles"),
    [("a", ["user", "assistant"]), ("b", ["assistant", "user"]), ("both", ["user", "user"])],
)
def test_an_option_says_who_the_user_is(tmp_path, user, roles):
    (store,) = task(tmp_path, user=user).stores
    assert [message.role for message in store.read_conversations()[0].messages] == roles


def test_evidence_is_read_from_slips_of_the_pen_and_a_trap_has_none(tmp_path):
    made = task(tmp_path)
    shape = {q.id: (q.part, q.kind, [name.partition(".")[2] for name in q.evidence]) for q in made.questions}
    assert shape == {
        "t-1-q000": ("temporal", "locomo_strict", ["s01-t01-user"]),
        "t-1-q001": ("multi_hop", "locomo_strict", ["s01-t02-assistant", "s02-t01-assistant"]),
        "t-1-q002": ("single_hop", "locomo_strict", ["s02-t01-assistant"]),
        "t-1-q003": ("open_domain", "locomo_strict", ["s10-t01-user"]),
        "t-1-q004": ("adversarial", "locomo_never_said", []),
    }
    *answerable, trap = made.questions
    assert [q.gold[0] for q in answerable] == ["7 May 2023", "a canoe, a cat", "1", "No; her canoe sank"]
    assert trap.keys == {"trap": "Miro"}
    assert trap.gold[0].startswith("Nothing in the conversations answers this")
    assert all(q.is_independent for q in made.questions)


def test_only_the_temporal_category_needs_the_day(tmp_path):
    made = task(tmp_path)
    moments = {name: fact.claim.moment for name, fact in made.evidence.items()}
    assert [str(moment.day) for moment in moments.values() if moment is not None] == ["2023-05-08"]
    assert made.evidence[made.questions[0].evidence[0]].gold.date == "2023-05-08 (Monday)"


def test_an_answer_of_an_adversarial_question_is_the_right_one(tmp_path):
    made = task(tmp_path, changed("qa", 4, "answer", value="No"))
    assert made.questions[4].gold == ("No",)


def test_the_grading_changes_the_kind_and_not_the_rows(tmp_path):
    strict, lenient = task(tmp_path), task(tmp_path, grading="lenient")
    assert {q.kind for q in lenient.questions} == {"locomo_lenient", "locomo_never_said"}
    assert strict.data_hash == lenient.data_hash


TURN = ("conversation", "session_1", 0)


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (changed("conversation", "speaker_a", delete=True), "conversation.speaker_a: got nothing, expected"),
        (changed("conversation", "speaker_b", value="Ulla"), "speaker_b: got 'Ulla', who is speaker_a too"),
        (changed("conversation", "session_2_date_time", delete=True), "sessions.2.date_time: got nothing, expected"),
        (
            changed("conversation", "session_2_date_time", value="9 May"),
            "got '9 May', expected a time such as '1:56 pm",
        ),
        (changed("conversation", "session_2_date_time", value="13:04 pm on 9 May, 2023"), "expected a time such as"),
        (changed("conversation", "session_2_date_time", value="1:04 pm on 31 June, 2023"), "expected a time such as"),
        (changed("conversation", "session_2", value="hello"), "sessions.2.turns: got 'hello', expected"),
        (changed("conversation", value=[]), "conversation: got [], expected"),
        (changed(*TURN, "speaker", value="Hadda"), "session_1.0.speaker: got 'Hadda', expected Ulla or Jorn"),
        (changed(*TURN, "speaker", delete=True), "sessions.1.turns.0.speaker: got nothing, expected"),
        (changed(*TURN, "dia_id", value="D1:2"), "session_1.1.dia_id: got 'D1:2' again, expected an id of its own"),
        (changed(*TURN, "dia_id", value="D3:1"), "got 'D3:1', expected one of session 1: D1:N"),
        (changed(*TURN, "dia_id", value="7"), "dia_id: got '7', expected"),
        (changed(*TURN, "text", value=["x"]), "sessions.1.turns.0.text: got ['x'], expected"),
        (changed(*TURN, "text", value="Hi \ud83d"), "got half a character"),
        (changed("qa", 0, "category", value=6), "qa.0.category: got 6, expected"),
        (changed("qa", 0, "category", value="2"), "qa.0.category: got '2', expected"),
        (changed("qa", 0, "category", delete=True), "qa.0.category: got nothing, expected"),
        (changed("qa", 0, "question", value=""), "qa.0.question: got '', expected"),
        (changed("qa", 0, "answer", delete=True), "qa.0.answer: got nothing, expected a value"),
        (changed("qa", 0, "answer", value=True), "qa.0.answer: got True, expected"),
        (changed("qa", 0, "evidence", value="D1:1"), "qa.0.evidence: got 'D1:1', expected"),
        (changed("qa", 4, "adversarial_answer", delete=True), "qa.4: got neither adversarial_answer nor answer"),
        (changed("sample_id", value="a/b"), "sample_id: got 'a/b', expected"),
        (row(conversation={"speaker_a": "Ulla", "speaker_b": "Jorn"}), "conversation: has no session with turns"),
        (["x"], "got ['x'], expected"),
    ],
)
def test_a_fault_stops_a_run_with_its_place(tmp_path, made, text):
    with pytest.raises(RowError) as caught:
        SUITE.load(SuiteRequest(write(tmp_path, row(sample_id="t-0"), made), "ours"))
    assert text in str(caught.value)


def test_the_same_row_twice_is_an_error(tmp_path):
    with pytest.raises(RowError, match="sample_id: got 't-1' 2 times"):
        task(tmp_path, row(), row())


@pytest.mark.parametrize("content", ["{}", "[", "[]", '{"a": 1}', "[" * 50_000, "\x00"])
def test_a_file_that_is_no_list_of_rows(tmp_path, content):
    (tmp_path / "conversations.json").write_text(content)
    with pytest.raises(RowError):
        SUITE.load(SuiteRequest(tmp_path, "ours"))


@pytest.mark.parametrize(
    ("made", "trap"),
    [
        (row(), "conversation: 1 session out of order in the file; stored in the order of their numbers: 2"),
        (row(), "conversation: 1 turn with an image, stored by its caption: D1:2"),
        (row(), "conversation: 1 turn with words of an image search (query), never said and not stored: D1:2"),
        (
            row(),
            "qa.evidence: 3 strings not written as one id, read as far as possible: 1 ('D1:2; D2:01'), 2 ('D:2:1'), 2 ('D')",
        ),
        (row(), "qa.evidence: 1 id of a turn that is not there: 3 (D10:9)"),
        (changed("qa", 0, "evidence", value=[]), "qa.evidence: 1 question with an empty list: 0"),
        (changed("qa", 0, "evidence", value=None), "qa.evidence: 1 question with an empty list: 0"),
        (changed("qa", 0, "evidence", value=["D"]), "qa.evidence: 1 question whose evidence names no turn: 0"),
        (changed("conversation", "session_2", value=[]), "conversation: 1 session without turns, not stored: 2"),
        (changed("conversation", "session_2", value=None), "conversation: 1 session without turns, not stored: 2"),
        (
            changed("conversation", "session_3_date_time", value="x"),
            "conversation: 1 date of a session that is not there: 3",
        ),
        (changed(*TURN, "text", value=" "), "conversation: 1 turn without words or image, not stored: D1:1"),
        (
            changed("conversation", "session_2_date_time", value="9:00 am on 1 May, 2023"),
            "conversation: 1 session earlier than the one before: 2",
        ),
        (
            changed("qa", 4, "answer", value="No"),
            "qa.answer: 1 adversarial question with an answer, which is the right one: 4",
        ),
        (
            changed("qa", 0, "adversarial_answer", value="x"),
            "qa.adversarial_answer: 1 question of another category with a trap: 0",
        ),
    ],
)
def test_validate_names_each_trap_with_its_number(tmp_path, made, trap):
    assert f"conversation t-1: {trap}" in warnings(tmp_path, made)
    assert task(tmp_path, made).questions


def test_validate_names_a_question_asked_twice(tmp_path):
    assert "qa.question: 5 texts asked more than once: 'When did" in warnings(tmp_path, row(), row(sample_id="t-2"))[-1]


def test_what_has_no_words_is_not_stored_and_no_evidence(tmp_path):
    made = task(tmp_path, changed(*TURN, "text", value=None))
    assert len(texts(made)) == 3
    assert made.questions[0].evidence == ()


# -- corrections -------------------------------------------------------------------------------------------------------


def errata(tmp_path, **changes):
    one = {
        "question_id": "locomo_0_qa0",
        "question": QA[0]["question"],
        "correct_answer": "the day before 8 May",
        "correct_evidence": ["D2:1"],
        **changes,
    }
    path = tmp_path / "errors.json"
    path.write_text(json.dumps([one]))
    return str(path)


def test_audited_errors_are_corrected_or_excluded(tmp_path):
    path = errata(tmp_path)
    original, corrected = task(tmp_path), task(tmp_path, errata=path)
    assert corrected.questions[0].gold == ("the day before 8 May",)
    assert [name.partition(".")[2] for name in corrected.questions[0].evidence] == ["s02-t01-assistant"]
    assert corrected.questions[1:] == original.questions[1:]
    assert corrected.note == "1 question corrected, by errors.json"
    excluded = task(tmp_path, errata=path, errors="exclude")
    assert [q.id for q in excluded.questions] == [q.id for q in original.questions[1:]]
    assert len({original.data_hash, corrected.data_hash, excluded.data_hash}) == 3


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"question_id": "locomo_7_qa0"}, "not question 0 of row 7: another file's errata"),
        ({"question_id": "locomo_0_qa70"}, "not question 70 of row 0: another file's errata"),
        ({"question": "Who?"}, "got 'Who?', which is not question 0 of row 0"),
        ({"question_id": "conv-26"}, "question_id: got 'conv-26', expected"),
        ({"correct_evidence": "D1:1"}, "correct_evidence: got 'D1:1', expected"),
    ],
)
def test_faults_of_corrections(tmp_path, changes, text):
    with pytest.raises(RowError) as caught:
        task(tmp_path, errata=errata(tmp_path, **changes))
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"user": "c"}, "locomo.user: got 'c', expected one of a, b, both"),
        ({"grading": "mild"}, "locomo.grading: got 'mild', expected one of strict, lenient"),
        ({"errors": "exclude"}, "locomo.errors needs locomo.errata=FILE"),
        ({"errors": "drop", "errata": "x.json"}, "locomo.errors: got 'drop', expected one of correct, exclude"),
    ],
)
def test_wrong_settings(tmp_path, options, text):
    with pytest.raises(UsageError, match=re.escape(text)):
        task(tmp_path, **options)


# -- our sample, and the published file --------------------------------------------------------------------------------


def test_our_sample_has_a_dozen_questions_of_each_category_and_no_error():
    (made,) = SUITE.load(SuiteRequest())
    assert (made.variant, made.licence, len(made.stores)) == ("ours", "MIT", 2)
    parts = Counter(question.part for question in made.questions)
    assert parts == {"multi_hop": 12, "temporal": 12, "open_domain": 12, "single_hop": 16, "adversarial": 12}
    assert [fault for fault in SUITE.faults(shipped_conversations().parent) if fault.is_error] == []
    assert [q.id for q in made.questions if not q.evidence and q.part != "adversarial"] == ["own-1-q024", "own-2-q025"]
    config = json.loads((shipped_conversations().parent / "generation_config.json").read_text())
    counts = {
        "conversations": 2,
        "sessions": sum(store.size for store in made.stores),
        "turns": sum(len(row.value.turns) for row in read_samples(shipped_conversations())[0]),
        "questions": len(made.questions),
    }
    labelled = {
        f"{name}.jsonl": len((shipped_conversations().parent / f"{name}.jsonl").read_text().splitlines())
        for name in ("cases", "replies")
    }
    assert config["counts"] == {"conversations.json": counts, **labelled}


def test_the_small_task_is_of_the_published_file_alone(tmp_path):
    with pytest.raises(UsageError, match=r"locomo\.small has questions of locomo10\.json alone"):
        SUITE.load(SuiteRequest(named=("locomo.small",)))
    (whole,) = load_tasks(TaskRequest(suites=choose_suites(["locomo"])))
    assert whole.name == "locomo"
    kept = {f"session_1{end}": TALK[f"session_1{end}"] for end in ("", "_date_time")}
    asked = [{**QA[2], "evidence": ["D1:1"]}] * 12
    of_published = row(sample_id="conv-30", qa=asked, conversation={"speaker_a": "Ulla", "speaker_b": "Jorn", **kept})
    request = TaskRequest(
        ("locomo.small",), write(tmp_path, of_published, row(), name="locomo10.json"), suites=choose_suites(["locomo"])
    )
    (small,) = load_tasks(request)
    assert [(store.id, [q.id for q in store.questions]) for store in small.stores] == [
        ("conv-30", ["conv-30-q002", "conv-30-q010"])
    ]


@pytest.fixture(scope="module")
def published():
    if not (PUBLISHED / "locomo10.json").is_file():
        pytest.skip(f"no locomo10.json (CC BY-NC, not shipped) in {PUBLISHED}; MEMFAIL_LOCOMO names another folder")
    return PUBLISHED


def test_the_published_file_has_the_counts_of_its_paper(published):
    (made,) = SUITE.load(SuiteRequest(published))
    assert (len(made.stores), sum(store.size for store in made.stores)) == (10, 272)
    assert len(texts(made)) == 5882
    parts = Counter(question.part for question in made.questions)
    assert parts == {"multi_hop": 282, "temporal": 321, "open_domain": 96, "single_hop": 841, "adversarial": 446}
    assert sum(bool(question.evidence) for question in made.questions) == 1536
    rows, errors, _ = read_samples(published / "locomo10.json")
    assert errors == []
    assert sum(bool(row.value.evidence(item)) for row in rows for item in row.value.qa) == 1982
    (small,) = SUITE.load(SuiteRequest(published, named=("locomo.small",)))
    assert list(Counter(question.part for question in small.questions).values()) == [14, 5, 16, 42, 23]
    assert all(question.evidence for question in small.questions if question.part != "adversarial")


def test_okapi_over_the_stored_turns_finds_as_much_as_others_measured(published):
    """Mean share of evidence turns at 5, 10, 20 and 50; others have .452, .526, .604 and .694, with other words of a turn."""
    rows, _, _ = read_samples(published / "locomo10.json")
    shares = {5: [], 10: [], 20: [], 50: []}
    for row_ in rows:
        turns = list(row_.value.turns.values())
        score = okapi([words(turn.said) for turn in turns])
        for item in row_.value.qa:
            if needed := row_.value.evidence(item):
                found = score(words(item.question))
                ranked = [turns[at].id for at in sorted(range(len(turns)), key=lambda at: -found[at])]
                for k, values in shares.items():
                    values.append(sum(name in ranked[:k] for name in needed) / len(needed))
    means = [sum(values) / len(values) for values in shares.values()]
    assert means == pytest.approx([0.456, 0.531, 0.607, 0.702], abs=0.0006)
    assert means == pytest.approx([0.452, 0.526, 0.604, 0.694], abs=0.01)


def words(text):
    return re.findall(r"\w+", text.lower())


def okapi(texts, k1=1.5, b=0.75):
    counts = [Counter(text) for text in texts]
    mean = sum(count.total() for count in counts) / len(counts)
    having = Counter(word for count in counts for word in count)
    weight = {word: math.log(1 + (len(counts) - n + 0.5) / (n + 0.5)) for word, n in having.items()}

    def score(query):
        return [
            sum(
                weight[word] * count[word] * (k1 + 1) / (count[word] + k1 * (1 - b + b * count.total() / mean))
                for word in query
                if word in count
            )
            for count in counts
        ]

    return score
