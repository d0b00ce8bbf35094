"""The findings for a folder of rows: errors, and warnings that make its numbers less meaningful."""

from __future__ import annotations

import json

import pytest
from row_files import asked, coexisting, conditional, folder, long_hop, persona, updated, write

from pytest_memfail.core import SuiteFault, UsageError
from pytest_memfail.suites import validate
from pytest_memfail.suites.memfail.faults import numbers_in


def found(path, field=None):
    return [finding for finding in validate(path) if field in (None, finding.place)]


def paired(path, *records):
    """Write the same conditional rows as easy and as hard ones."""
    for name in ("easy", "hard"):
        write(path / f"conditional_facts_{name}.csv", *records)
    return path


def test_sound_rows_give_no_finding(tmp_path):
    essay = json.dumps(["The bread is for rainy days alone, and for no other."])
    paired(tmp_path, *(conditional(n, entity_facts=essay) for n in range(2)))
    write(tmp_path / "coexisting_facts.csv", coexisting(0), coexisting(1))
    questions = [asked(0, 0, misleading=False), asked(0, 1, misleading=True)]
    write(tmp_path / "persona_retrieval.csv", persona(0, questions=json.dumps(questions)))
    write(tmp_path / "long_hop.csv", long_hop(0), long_hop(1, hops=3))
    assert list(map(str, validate(tmp_path))) == []


def test_all_errors_of_all_files_are_listed(tmp_path):
    folder(tmp_path)
    write(tmp_path / "long_hop.csv", long_hop(0, correct_choice="X"), long_hop(1, hop_count="9"))
    write(tmp_path / "coexisting_facts.csv", coexisting(0, question=""))
    errors = [finding for finding in validate(tmp_path) if finding.is_error]
    assert {(f.file.rpartition("/")[2], f.place) for f in errors} == {
        ("long_hop.csv", "correct_choice"),
        ("long_hop.csv", "hop_count"),
        ("coexisting_facts.csv", "question"),
    }


def test_ids_that_repeat_are_an_error(tmp_path):
    write(tmp_path / "long_hop.csv", long_hop(0), long_hop(1, id="chain-0"))
    (finding,) = validate(tmp_path)
    assert (finding.is_error, finding.place) == (True, "id")


def test_a_folder_without_rows_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"has no rows; expected one of conditional_facts_easy\.csv"):
        validate(tmp_path)


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(UsageError, match="expected a folder"):
        validate(tmp_path / "nowhere")


def test_a_finding_reads_as_editors_read_them():
    assert str(SuiteFault("a.csv", "entity", "odd", is_error=False, line=3)) == "a.csv:3: warning: entity: odd"
    assert str(SuiteFault("a.csv", "file", "bad")) == "a.csv: error: file: bad"


def test_an_unbalanced_yes_and_no_is_a_warning(tmp_path):
    write(tmp_path / "conditional_facts_easy.csv", *(conditional(2 * n) for n in range(3)), conditional(1))
    (finding,) = validate(tmp_path)
    assert not finding.is_error
    assert "3 yes, 1 no; always answering yes scores 75%" in finding.problem


def test_a_label_that_contradicts_its_answer_is_a_warning(tmp_path):
    rows = [conditional(0), conditional(1), conditional(2, ground_truth_answer="No."), conditional(3)]
    write(tmp_path / "conditional_facts_easy.csv", *rows)
    (finding,) = validate(tmp_path)
    assert (finding.line, finding.place) == (4, "condition_met")
    assert "is 'yes', but the ground truth begins with 'No'" in finding.problem


@pytest.mark.parametrize("text", ["only when it rains", "unless it is dry", "if it rains", "Whenever it rains"])
def test_a_connective_in_a_hard_essay_is_a_warning(tmp_path, text):
    paired(tmp_path, conditional(0, entity_facts=json.dumps([f"Ada bakes {text}, never else."])), conditional(1))
    assert [f.line for f in found(tmp_path, "entity_facts")] == [2, 3]


@pytest.mark.parametrize("text", ["as if it rained", "even if it rains", "a stiff drink"])
def test_words_that_state_no_condition_are_no_connective(tmp_path, text):
    essay = json.dumps([f"Ada bakes {text}, never else."])
    paired(tmp_path, conditional(0, entity_facts=essay), conditional(1, entity_facts=essay))
    assert found(tmp_path, "entity_facts") == []


def test_connectives_in_an_easy_essay_are_wanted(tmp_path):
    write(tmp_path / "conditional_facts_easy.csv", conditional(0), conditional(1))
    assert validate(tmp_path) == []


def test_a_number_that_the_essay_never_states_is_a_warning(tmp_path):
    essays = ["Ada bakes at five and never else.", "Ada bakes at dawn and never else."]
    rows = [
        conditional(n, condition="after 5 o'clock", entity_facts=json.dumps([essay])) for n, essay in enumerate(essays)
    ]
    paired(tmp_path, *rows)
    (finding,) = found(tmp_path, "condition")
    assert "in 1 of 2 rows with one (lines 3)" in finding.problem


def test_an_exclusivity_that_the_essay_never_states_is_a_warning(tmp_path):
    essays = ["Ada bakes in the rain.", "Ada bakes in the rain and at no other time, never."]
    paired(
        tmp_path, *(conditional(n, entity_facts=json.dumps([essay])) for n, essay in zip((1, 3), essays, strict=True))
    )
    (finding,) = found(tmp_path, "condition")
    assert (
        "in 1 of 2 rows that answer no because the condition or the ground truth says 'only' (lines 2)"
        in finding.problem
    )


def test_an_exclusivity_that_a_yes_does_not_need_may_stay_unsaid(tmp_path):
    essay = json.dumps(["Ada bakes in the rain."])
    paired(tmp_path, conditional(0, condition="only when it rains", entity_facts=essay))
    assert found(tmp_path, "condition") == []


def test_variants_of_different_rules_are_not_paired(tmp_path):
    write(tmp_path / "conditional_facts_easy.csv", conditional(0), conditional(1))
    write(tmp_path / "conditional_facts_hard.csv", conditional(0), conditional(3))
    (finding,) = found(tmp_path, "pairs")
    assert "not paired: 1 of 2 rules" in finding.problem


def test_a_distractor_with_an_essay_of_its_own_is_a_warning(tmp_path):
    questions = [asked(0, 0, misleading=False), {**asked(0, 1, misleading=True), "distractor": "Person 1"}]
    rows = [persona(0, questions=json.dumps(questions)), persona(1)]
    write(tmp_path / "persona_retrieval.csv", *rows)
    (finding,) = found(tmp_path, "distractor")
    assert "1 of 2 misleading questions name someone who has an essay" in finding.problem


def test_a_borrowed_passage_that_the_essay_has_not_is_a_warning(tmp_path):
    questions = [{**asked(0, 0, misleading=True), "borrows": ["keeps 3 bees", "keeps 4 bees"]}]
    write(tmp_path / "persona_retrieval.csv", persona(0, questions=json.dumps(questions)))
    (finding,) = found(tmp_path, "questions.0.borrows")
    assert finding.problem == "'4' is not in the essay"


def test_direct_questions_about_a_shared_name_are_a_warning(tmp_path):
    write(tmp_path / "persona_retrieval.csv", persona(0, entity="Ada"), persona(1, entity="Ada"), persona(2))
    (finding,) = found(tmp_path, "entity")
    assert "4 of 6 direct questions name a person with several essays (2 names for 3 essays)" in finding.problem


def test_too_few_misleading_questions_are_a_warning(tmp_path):
    write(tmp_path / "persona_retrieval.csv", persona(0), persona(1))
    (finding,) = found(tmp_path, "is_misleading")
    assert "2 of 6 questions mislead" in finding.problem


def test_a_link_without_its_anchor_is_a_warning(tmp_path):
    write(tmp_path / "long_hop.csv", long_hop(0), long_hop(1, fact_1="Nothing leads anywhere."))
    assert [(f.place, f.problem) for f in validate(tmp_path)] == [
        ("fact_1", "does not contain its anchor 'anchor1x0'"),
        ("fact_1", "does not contain its anchor 'anchor1x1'"),
    ]


def test_one_letter_that_is_mostly_right_is_a_warning(tmp_path):
    write(tmp_path / "long_hop.csv", *(long_hop(5 * n) for n in range(10)))
    (finding,) = found(tmp_path, "correct_choice")
    assert "A is right in 10 of 10" in finding.problem


@pytest.mark.parametrize(
    ("name", "record"),
    [
        ("conditional_facts_easy", conditional(evidence_details='[{"wordings": ["umbrella"]}]')),
        ("coexisting_facts", coexisting(evidence_details='[[], [{"wordings": ["thing 0-0"]}]]')),
        ("persona_retrieval", persona(evidence_details='[[{"wordings": ["wasps", "bees"]}], [], []]')),
        ("long_hop", long_hop(evidence_details='[[{"wordings": ["anchor0x2"]}], []]')),
    ],
)
def test_a_detail_whose_own_wording_its_source_does_not_have_is_a_warning(tmp_path, name, record):
    write(tmp_path / f"{name}.csv", record)
    (finding,) = found(tmp_path, "evidence_details")
    assert (finding.is_error, finding.line) == (False, 2)
    assert "is not in the source" in finding.problem


def test_a_wording_that_keeps_a_detail_and_only_covers_it_is_a_warning(tmp_path):
    details = '[[], [{"part": "preference", "wordings": ["thing 0-1", "gadget"], "vaguer": ["stuff", "Gadget"]}]]'
    write(tmp_path / "coexisting_facts.csv", coexisting(evidence_details=details))
    (finding,) = found(tmp_path, "evidence_details")
    assert not finding.is_error
    assert finding.problem == "'gadget' is both a wording and a vaguer wording of 'thing 0-1'"


def test_numbers_are_found_in_digits_and_in_words():
    assert numbers_in("At 8:30, eight of Twelve, ninety") == {"8:30", "8", "12", "90"}
    assert numbers_in("often, tensely") == set()


def test_rows_without_a_value_are_a_warning(tmp_path):
    path = write(tmp_path / "coexisting_facts.csv", coexisting(0), coexisting(1))
    path.write_text(path.read_text(encoding="utf-8") + ",,,,\n", encoding="utf-8")
    assert [str(finding) for finding in found(tmp_path)] == [
        f"{path}:4: warning: row: 1 row without any value left out (lines 4)"
    ]


def test_evidence_of_another_message_names_it(tmp_path):
    detail = json.dumps([{"wordings": ["pier 5"]}])
    write(tmp_path / "updated_facts.csv", updated(0, fact_index="1", evidence_details=detail))
    assert [finding.problem for finding in found(tmp_path)] == [
        "'quay 9' is not in message 1; the row's text 2 (from 0) has it",
        "'pier 5' is not in the source; the row's text 0 (from 0) has it",
    ]


def test_preferences_in_another_order_than_their_facts_are_a_warning(tmp_path):
    facts = json.dumps(["I keep a parrot.", "My kayak is red."])
    write(tmp_path / "coexisting_facts.csv", coexisting(preferences='["red kayak", "parrot"]', preference_facts=facts))
    assert [(finding.place, finding.problem) for finding in found(tmp_path)] == [
        ("preferences.0", "'red kayak' is not in preference_facts.0, but in preference_facts.1"),
        ("preferences.1", "'parrot' is not in preference_facts.1, but in preference_facts.0"),
    ]
