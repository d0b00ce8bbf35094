"""Own cases in YAML: what is read, and file, line and key of every fault."""

from __future__ import annotations

import pytest

from pytest_memfail.core import Ingest, RowError
from pytest_memfail.tasks import read_custom

CASE = """\
conversations:
  - I'm allergic to penicillin.
  - date: 2026-03-02
    messages:
      - user: We moved to Lisbon.
      - assistant: Noted!
question: Which antibiotic must I not be given?
answer: penicillin
expected:
  - fact: The user is allergic to penicillin.
    conversation: 1
    entity: Ana
    details: [[allergic, allergy], penicillin]
    forbidden: [no known allergies]
k: 3
"""


def read(tmp_path, text, name="lost-allergy.memfail.yaml"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_custom([path], tmp_path)


def test_a_case_is_a_store_of_its_own(tmp_path):
    task = read(tmp_path, CASE)
    (store,) = task.stores
    first, second = (step.conversation for step in store.steps if isinstance(step, Ingest))
    (question,) = store.questions
    assert (task.name, store.id, question.id) == ("custom", "lost-allergy", "lost-allergy")
    assert (question.gold, question.k, question.line) == (("penicillin",), 3, 1)
    assert first.text == "I'm allergic to penicillin."
    assert [(m.role, m.content) for m in second.messages] == [("user", "We moved to Lisbon."), ("assistant", "Noted!")]
    assert second.timestamp.date().isoformat() == "2026-03-02"


def test_an_expected_fact_has_details_and_what_must_not_stand(tmp_path):
    (fact,) = read(tmp_path, CASE).evidence.values()
    assert fact.source == "I'm allergic to penicillin."
    assert [detail.wordings for detail in fact.details] == [("allergic", "allergy"), ("penicillin",)]
    assert fact.stale_values == ("no known allergies",)
    assert fact.entity == "Ana"


def test_a_file_may_hold_several_cases(tmp_path):
    task = read(tmp_path, f"id: one\n{CASE}---\nid: two\n{CASE}")
    assert [store.id for store in task.stores] == ["one", "two"]
    assert [question.line for question in task.questions] == [1, 18]


def test_no_file_is_no_task(tmp_path):
    assert read_custom([], tmp_path) is None


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("question:", "questoin:", "7: questoin: no such key; did you mean 'question'?"),
        ("    entity: Ana", "    colour: red", "12: expected.0.colour: no such key; known: fact, conversation"),
        ("    conversation: 1\n", "", "10: expected.0.conversation: got nothing, expected 1 to 2"),
        ("conversation: 1", "conversation: 7", "11: expected.0.conversation: got 7, expected 1 to 2"),
        (
            "conversation: 1",
            "conversation: x",
            "11: expected.0.conversation: got 'x', expected: input should be a valid",
        ),
        ("answer: penicillin", "answer: [penicillin", "9: file: not YAML"),
        ("answer: penicillin", "answer:", "8: answer: got None, expected"),
        ("k: 3", "k: 0", "15: k: got 0, expected"),
        ("- user: We", "- usr: We", "5: conversations.1.messages.0.usr"),
        ("      - assistant: Noted!", "        assistant: Noted!", "4: conversations.1.messages: got"),
        ("date: 2026-03-02", "date: soon", "3: conversations.1.date: got 'soon', expected"),
    ],
)
def test_a_fault_names_file_line_and_key(tmp_path, old, new, said):
    assert old in CASE
    with pytest.raises(RowError) as caught:
        read(tmp_path, CASE.replace(old, new, 1))
    assert str(caught.value).startswith(f"{tmp_path / 'lost-allergy.memfail.yaml'}:{said}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["- a\n- b\n", "just text\n", ""])
def test_what_is_no_case_is_refused(tmp_path, text):
    if not text:
        assert read(tmp_path, text) is None
        return
    with pytest.raises(RowError, match=r":1: file: got (list|str), expected a case"):
        read(tmp_path, text)


def test_the_same_id_twice_is_refused(tmp_path):
    with pytest.raises(RowError, match=r":18: id: got 'one' again \(first at .*:1\)"):
        read(tmp_path, f"id: one\n{CASE}---\nid: one\n{CASE}")


def test_yaml_makes_no_objects(tmp_path):
    with pytest.raises(RowError, match="not YAML"):
        read(tmp_path, CASE.replace("answer: penicillin", "answer: !!python/object/apply:os.getcwd []"))
