"""Labelled cases: what is read, and how a faulty line is reported."""

from __future__ import annotations

import json

import pytest

from pytest_memfail.calibration import read_cases
from pytest_memfail.core import RowError, UsageError
from pytest_memfail.suites.memfail import SUITE as MEMFAIL

ROW = {
    "preference_category": "soups",
    "preferences": ["gazpacho", "borscht"],
    "preference_facts": ["Gazpacho saves my July.", "Borscht is what I want when it snows."],
    "question": "What should the canteen ladle out for me over the year?",
    "ground_truth_answer": "gazpacho, borscht",
}
CASE = {
    "case_id": "a",
    "task": "coexisting_facts",
    "split": "dev",
    "row": ROW,
    "store": ["User likes gazpacho in July."],
    "retrieved": [0],
    "facts": [{"label": "ok"}, {"label": "not_stored", "accept": ["not_stored"], "kind": "dropped"}],
}
PERSONA = {
    "entity": "Ama Osei",
    "entity_facts": ["Ama Osei mends clocks. She never works on Mondays."],
    "questions": [
        {"text": "When is Ama Osei off?", "is_misleading": False, "ground_truth_answer": "Mondays"},
        {"text": "What does Ama Osei mend?", "is_misleading": False, "ground_truth_answer": "Clocks"},
    ],
}


def written(tmp_path, *cases):
    path = tmp_path / "cases.jsonl"
    path.write_text("\n\n".join(c if isinstance(c, str) else json.dumps(c) for c in cases), encoding="utf-8")
    return path


def test_a_case_holds_the_facts_in_the_rows_order(tmp_path):
    (case,) = read_cases(MEMFAIL, [written(tmp_path, CASE)])
    assert [fact.gold.preference for fact in case.evidence] == ["gazpacho", "borscht"]
    assert [label.label for label in case.labels] == ["ok", "not_stored"]
    assert case.shown == case.listing.memories
    assert (case.id, case.task, case.split) == ("a", "coexisting_facts", "dev")


def test_cells_may_be_text_as_in_the_published_files(tmp_path):
    row = {name: json.dumps(value) if isinstance(value, list) else value for name, value in ROW.items()}
    as_text, as_values = read_cases(MEMFAIL, [written(tmp_path, {**CASE, "row": row}, {**CASE, "case_id": "b"})])
    assert as_text.evidence == as_values.evidence


def test_the_label_itself_is_always_accepted(tmp_path):
    (case,) = read_cases(MEMFAIL, [written(tmp_path, CASE)])
    assert case.labels[0].accepted == {"ok"}


def test_a_persona_case_is_about_one_of_the_questions(tmp_path):
    case = {
        **CASE,
        "task": "persona_retrieval",
        "row": PERSONA,
        "question_index": 1,
        "facts": [{"label": "ok"}],
    }
    (read,) = read_cases(MEMFAIL, [written(tmp_path, case)])
    assert read.question.text == "What does Ama Osei mend?"
    assert read.evidence[0].gold.needed == "Clocks"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"retrieved": [1]}, "got index 1, expected 0 to 0"),
        ({"facts": [{"label": "ok"}]}, "facts: got 1, expected 2, one per expected fact"),
        ({"facts": [{"label": "fine"}, {"label": "ok"}]}, "facts.0.label: got 'fine', expected"),
        ({"task": "soups"}, "task: got 'soups', expected"),
        ({"row": {**ROW, "question": ""}}, "question: got '', expected"),
        ({"question_index": 3}, "question_index: got 3, expected 0 to 0"),
        ({"stores": []}, "stores: no such field; did you mean 'store'?"),
        ({"facts": [{"lable": "ok"}]}, "facts.0.lable: no such field; did you mean 'label'?"),
        ({"xyzzy": 1}, "xyzzy: no such field"),
    ],
)
def test_a_faulty_case_names_file_line_and_field(tmp_path, change, said):
    path = written(tmp_path, {**CASE, "case_id": "before"}, {**CASE, **change})
    with pytest.raises(RowError) as caught:
        read_cases(MEMFAIL, [path])
    assert str(caught.value).startswith(f"{path}:3: ")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_line_that_is_no_json_names_its_place(tmp_path):
    with pytest.raises(RowError, match=r"cases\.jsonl:1: line: not JSON \(.* at column 2\)"):
        read_cases(MEMFAIL, [written(tmp_path, "{nonsense")])


def test_the_same_id_twice_is_refused(tmp_path):
    with pytest.raises(RowError, match=r":3: case_id: got 'a' again \(first at .*:1\), expected unique ids"):
        read_cases(MEMFAIL, [written(tmp_path, CASE, CASE)])


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"none\.jsonl: cannot be read as labelled cases"):
        read_cases(MEMFAIL, [tmp_path / "none.jsonl"])
