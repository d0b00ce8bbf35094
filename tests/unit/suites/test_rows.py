"""Every fault of a row is reported with file, line, field and expectation."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import random
from pathlib import Path

import pytest
from row_files import MAKERS, as_csv, asked, coexisting, conditional, long_hop, persona, write

from pytest_memfail.core import RowError
from pytest_memfail.rows import slug
from pytest_memfail.suites.memfail import TASK_NAMES
from pytest_memfail.suites.memfail.plan import TASKS
from pytest_memfail.suites.memfail.row_models import MODELS
from pytest_memfail.suites.memfail.rows import row_faults_of


def fault(path: Path, task: str) -> RowError:
    """Return the error of a file that must be refused."""
    with pytest.raises(RowError) as caught:
        TASKS[task].read(path)
    assert str(caught.value).startswith(f"{path}:{caught.value.line}: {caught.value.field}: ")
    assert "\n" not in str(caught.value)
    return caught.value


def fault_of(tmp_path: Path, task: str, **changes: str) -> RowError:
    """Return the error of a file whose second row has these changes."""
    make = MAKERS[task]
    return fault(write(tmp_path / f"{task}.csv", make(0), make(1, **changes)), task)


@pytest.mark.parametrize("task", TASK_NAMES)
def test_sound_rows_are_read(tmp_path, task):
    rows = TASKS[task].read(write(tmp_path / "rows.csv", *(MAKERS[task](n) for n in range(4))))
    assert len(rows.rows) == len(set(rows.ids)) == 4


@pytest.mark.parametrize(
    ("task", "column"),
    [
        *(("conditional_facts_easy", name) for name in conditional()),
        *(("coexisting_facts", name) for name in coexisting()),
        *(("persona_retrieval", name) for name in persona()),
        *(("long_hop", name) for name in long_hop() if name not in ("fact_3", "fact_4", "chain_4", "chain_5")),
    ],
)
def test_a_missing_column_is_named_with_those_that_are_there(tmp_path, task, column):
    record = MAKERS[task]()
    del record[column]
    error = fault(write(tmp_path / "rows.csv", record), task)
    assert (error.line, error.field) == (1, column)
    assert "no such column" in error.problem
    assert next(iter(record)) in error.problem


def test_a_missing_cell_is_named(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(as_csv([coexisting(), coexisting(1)]).rstrip("\r\n").rpartition(",")[0], encoding="utf-8")
    error = fault(path, "coexisting_facts")
    assert (error.line, error.field) == (3, "ground_truth_answer")
    assert "no cell" in error.problem


def test_cells_beyond_the_header_are_counted(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(as_csv([coexisting(), coexisting(1)]).rstrip("\r\n") + ",one,two", encoding="utf-8")
    error = fault(path, "coexisting_facts")
    assert error.line == 3
    assert "2 more cells" in error.problem


@pytest.mark.parametrize(
    ("task", "column"),
    [
        ("conditional_facts_easy", "entity_facts"),
        ("coexisting_facts", "preferences"),
        ("coexisting_facts", "preference_facts"),
        ("persona_retrieval", "entity_facts"),
        ("persona_retrieval", "questions"),
    ],
)
@pytest.mark.parametrize("cell", ["[unclosed", "plain words", "", "['single quotes']"])
def test_a_cell_that_is_not_json_is_named(tmp_path, task, column, cell):
    error = fault_of(tmp_path, task, **{column: cell})
    assert (error.line, error.field) == (3, column)
    assert "not JSON" in error.problem


@pytest.mark.parametrize("cell", ["[" * 50_000 + "]" * 50_000, '{"a":' * 20_000 + "1" + "}" * 20_000])
def test_a_cell_that_is_nested_too_deeply_is_named(tmp_path, cell):
    error = fault_of(tmp_path, "coexisting_facts", preferences=cell)
    assert (error.line, error.field) == (3, "preferences")
    assert error.problem == "not JSON that can be read (nested too deeply)"


@pytest.mark.parametrize("depth", [10, 300, 900])
def test_a_cell_that_is_nested_deeply_shows_a_little_of_it(tmp_path, depth):
    error = fault_of(tmp_path, "coexisting_facts", preferences="[" * depth + "]" * depth)
    assert (error.line, error.field) == (3, "preferences.0")
    assert len(error.problem) < 200


def test_a_cell_with_a_number_of_5000_digits_is_named(tmp_path):
    error = fault_of(tmp_path, "coexisting_facts", preferences=f"[{'9' * 5000}]")
    assert (error.line, error.field) == (3, "preferences")
    assert len(error.problem) < 300


@pytest.mark.parametrize(("cell", "got"), [('{"a": 1}', "'a': 1"), ("5", "5"), ('"text"', "text"), ("null", "None")])
def test_json_of_another_type_says_what_was_got_and_expected(tmp_path, cell, got):
    error = fault_of(tmp_path, "coexisting_facts", preferences=cell)
    assert (error.line, error.field) == (3, "preferences")
    assert got in error.problem
    assert "expected: a valid list" in error.problem


def test_an_element_of_a_list_is_named_by_its_index(tmp_path):
    error = fault_of(tmp_path, "conditional_facts_easy", entity_facts='["fine", ""]')
    assert error.field == "entity_facts.1"


@pytest.mark.parametrize(
    ("task", "column"),
    [
        ("conditional_facts_easy", "entity"),
        ("conditional_facts_hard", "condition"),
        ("coexisting_facts", "question"),
        ("persona_retrieval", "entity"),
        ("long_hop", "fact_1"),
        ("long_hop", "choice_e"),
    ],
)
@pytest.mark.parametrize("cell", ["", "   "])
def test_an_empty_field_is_named(tmp_path, task, column, cell):
    error = fault_of(tmp_path, task, **{column: cell})
    assert (error.line, error.field) == (1 + _lines(MAKERS[task]()) + 1, column)
    assert "expected" in error.problem


def _lines(record: dict[str, str]) -> int:
    return as_csv([record]).count("\n") - 1


@pytest.mark.parametrize("letter", ["F", "a", "", "AB", "1"])
def test_a_letter_that_is_none_of_the_five_is_named(tmp_path, letter):
    error = fault_of(tmp_path, "long_hop", correct_choice=letter)
    assert error.field == "correct_choice"
    assert repr(letter) in error.problem
    assert "'A', 'B', 'C', 'D' or 'E'" in error.problem


def test_a_letter_of_another_option_than_the_ground_truth_is_named(tmp_path):
    error = fault_of(tmp_path, "long_hop", correct_choice="E")
    assert error.field == "correct_choice"
    assert "got 'E' ('wrong 1-4')" in error.problem
    assert "anchor1x2" in error.problem


@pytest.mark.parametrize("value", ["maybe", "Yes", "", "true"])
def test_a_wrong_condition_met_is_named(tmp_path, value):
    error = fault_of(tmp_path, "conditional_facts_easy", condition_met=value)
    assert (error.line, error.field) == (3, "condition_met")
    assert f"got {value!r}" in error.problem
    assert "'yes' or 'no'" in error.problem


@pytest.mark.parametrize("value", ["0", "4", "one", ""])
def test_a_wrong_hop_count_is_named(tmp_path, value):
    error = fault_of(tmp_path, "long_hop", hop_count=value)
    assert error.field == "hop_count"
    assert f"got {value!r}" in error.problem


@pytest.mark.parametrize(
    ("task", "changes", "field", "problem"),
    [
        ("coexisting_facts", {"preference_facts": '["a", "b", "c"]'}, "preference_facts", "got 3 facts, expected 2"),
        ("long_hop", {"hop_count": "2"}, "fact_1..4", "got 2 facts, expected hop_count + 1 = 3"),
        ("long_hop", {"chain_4": "extra"}, "chain_1..5", "got 4 anchors, expected hop_count + 2 = 3"),
        ("coexisting_facts", {"evidence_details": "[[]]"}, "evidence_details", "got 1 lists, expected 2"),
        ("persona_retrieval", {"evidence_details": "[[]]"}, "evidence_details", "got 1 lists, expected 3"),
        ("long_hop", {"evidence_details": "[[],[],[]]"}, "evidence_details", "got 3 lists, expected 2"),
    ],
)
def test_lengths_that_differ_are_named(tmp_path, task, changes, field, problem):
    path = write(tmp_path / "rows.csv", {**MAKERS[task](0), **changes})
    error = fault(path, task)
    assert (error.line, error.field) == (2, field)
    assert problem in error.problem


@pytest.mark.parametrize(
    "cell", ['[{"wordings": []}]', '[{"part": "condition"}]', '[{"wordings": ["a"], "parts": "b"}]']
)
def test_an_invalid_detail_is_named(tmp_path, cell):
    path = write(tmp_path / "rows.csv", conditional(evidence_details=cell))
    assert fault(path, "conditional_facts_easy").field.startswith("evidence_details.0.")


def test_a_misspelt_field_of_a_detail_names_the_right_one(tmp_path):
    cell = '[{"wordings": ["a"], "vager": ["b"]}]'
    error = fault(write(tmp_path / "rows.csv", conditional(evidence_details=cell)), "conditional_facts_easy")
    assert (error.field, error.problem) == ("evidence_details.0.vager", "no such field; did you mean 'vaguer'?")


@pytest.mark.parametrize("cell", ["", "null"])
def test_a_row_without_details_has_none(tmp_path, cell):
    path = write(tmp_path / "rows.csv", conditional(evidence_details=cell))
    assert TASKS["conditional_facts_easy"].read(path).rows[0].evidence_details is None


def test_a_fault_inside_a_question_is_named_by_its_index_and_field(tmp_path):
    questions = [asked(0, i, misleading=False) for i in range(3)]
    del questions[1]["text"]
    error = fault_of(tmp_path, "persona_retrieval", questions=json.dumps(questions))
    assert (error.line, error.field) == (3, "questions.1.text")
    assert error.problem == "got nothing, expected a value"


def test_a_misleading_question_without_a_distractor_says_so_plainly(tmp_path):
    questions = [{**asked(0, 0, misleading=True), "distractor": None}]
    error = fault_of(tmp_path, "persona_retrieval", questions=json.dumps(questions))
    assert error.field == "questions.0.distractor"
    assert error.problem.startswith("got none, expected the name")


def test_a_direct_question_that_borrows_is_refused(tmp_path):
    questions = [{**asked(0, 0, misleading=False), "borrows": ["3 bees"]}]
    error = fault_of(tmp_path, "persona_retrieval", questions=json.dumps(questions))
    assert error.field == "questions.0.borrows"
    assert error.problem.startswith("got words for a direct question, expected none")


@pytest.mark.parametrize("row_id", ["with space", "slash/ed", "ümlaut", "../up\n"])
def test_an_id_with_other_characters_is_named(tmp_path, row_id):
    path = write(tmp_path / "rows.csv", conditional(id=row_id))
    assert fault(path, "conditional_facts_easy").field == "id"


def test_ids_that_repeat_name_both_lines(tmp_path):
    path = write(tmp_path / "rows.csv", *(conditional(n, id=row_id) for n, row_id in enumerate(["a", "b", "a"])))
    error = fault(path, "conditional_facts_easy")
    assert (error.line, error.field) == (4, "id")
    assert "got 'a' again (first at line 2), expected unique ids" in error.problem


@pytest.mark.parametrize("task", sorted(set(MAKERS) - {"long_hop"}))
def test_a_repeated_row_is_a_repeated_id(tmp_path, task):
    error = fault(write(tmp_path / "rows.csv", MAKERS[task](), MAKERS[task]()), task)
    assert (error.line, error.field) == (3, "id")


def test_several_faults_give_the_first_and_a_count(tmp_path):
    path = write(
        tmp_path / "rows.csv",
        conditional(0),
        conditional(1, entity=""),
        conditional(2, condition_met="x"),
        conditional(3, question=""),
    )
    error = fault(path, "conditional_facts_easy")
    assert (error.line, error.field) == (3, "entity")
    assert f"(and 2 more; `memfail validate {tmp_path}` lists them)" in error.problem


def test_row_errors_lists_every_fault(tmp_path):
    path = write(tmp_path / "rows.csv", conditional(0, entity="", question=""), conditional(1, condition_met="x"))
    errors, _ = row_faults_of(path, MODELS["conditional_facts_easy"])
    assert [(e.line, e.field) for e in errors] == [(2, "entity"), (2, "question"), (3, "condition_met")]


def test_a_record_over_several_lines_is_named_by_the_line_it_starts_on(tmp_path):
    essay = json.dumps(["one", "two"], indent=1)
    path = write(
        tmp_path / "rows.csv",
        conditional(0, entity_facts=essay),
        conditional(1, entity_facts=essay),
        conditional(2, entity_facts=essay, condition_met="maybe"),
    )
    lines = path.read_text(encoding="utf-8").splitlines()
    error = fault(path, "conditional_facts_easy")
    assert lines[error.line - 1].startswith("Ada2,")


def test_the_lines_of_sound_rows_are_where_their_records_start(tmp_path):
    path = write(tmp_path / "rows.csv", *(long_hop(n) for n in range(4)))
    lines = path.read_text(encoding="utf-8").split("\n")
    rows = TASKS["long_hop"].read(path)
    assert [lines[line - 1].partition(",")[0] for line in rows.lines] == list(rows.ids)


def test_blank_lines_between_records_do_not_shift_the_line(tmp_path):
    path = tmp_path / "rows.csv"
    head, first, second, _ = as_csv([conditional(0), conditional(1, condition_met="maybe")]).split("\r\n")
    path.write_text(f"{head}\n{first}\n\n\n{second}\n", encoding="utf-8")
    assert fault(path, "conditional_facts_easy").line == 5


def test_a_file_that_is_not_utf8_is_named_with_the_place(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(as_csv([conditional(0, question="Café?")]).encode("latin-1"))
    error = fault(path, "conditional_facts_easy")
    assert error.field == "file"
    assert "not UTF-8" in error.problem
    assert f"at byte {path.read_bytes().index(0xE9)}" in error.problem


def test_the_place_of_a_bad_byte_is_right_in_a_long_file(tmp_path):
    path = tmp_path / "rows.csv"
    text = as_csv([*(conditional(n) for n in range(200)), conditional(200, question="Café?")])
    path.write_bytes(text.encode("latin-1"))
    assert f"at byte {path.read_bytes().index(0xE9)}" in fault(path, "conditional_facts_easy").problem


def test_a_byte_order_mark_is_not_part_of_the_header(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(as_csv([conditional()]), encoding="utf-8-sig")
    assert len(TASKS["conditional_facts_easy"].read(path).rows) == 1


def test_a_quote_that_is_never_closed_is_named(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(as_csv([conditional()]) + '"never closed', encoding="utf-8")
    error = fault(path, "conditional_facts_easy")
    assert error.line == 3
    assert "not CSV" in error.problem


@pytest.mark.parametrize("task", TASK_NAMES)
def test_an_empty_file_is_an_error(tmp_path, task):
    path = tmp_path / "rows.csv"
    path.touch()
    error = fault(path, task)
    assert error.line == 1
    assert "the file has: none" in error.problem


def test_a_file_with_a_header_only_has_no_rows(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(as_csv([conditional()]).partition("\r\n")[0], encoding="utf-8")
    assert fault(path, "conditional_facts_easy").problem == "has no rows"


def test_a_file_that_is_not_there_cannot_be_read(tmp_path):
    assert "cannot be read" in fault(tmp_path / "nothing.csv", "long_hop").problem


def test_a_folder_in_place_of_the_file_cannot_be_read(tmp_path):
    (tmp_path / "rows.csv").mkdir()
    assert "cannot be read" in fault(tmp_path / "rows.csv", "long_hop").problem


def test_columns_beyond_ours_are_ignored(tmp_path):
    path = write(tmp_path / "rows.csv", conditional(colour="blue"))
    assert len(TASKS["conditional_facts_easy"].read(path).rows) == 1


@pytest.mark.parametrize("task", TASK_NAMES)
def test_ids_do_not_depend_on_the_position_of_a_row(tmp_path, task):
    make = MAKERS[task]
    records = [make(n) for n in range(8)]
    if task == "persona_retrieval":  # several essays about people with the same name
        records = [{**record, "entity": "Ada Berg"} for record in records]
    before = TASKS[task].read(write(tmp_path / "before.csv", *records))
    random.Random(1).shuffle(records)
    after = TASKS[task].read(write(tmp_path / "after.csv", *records))

    def by_content(rows):
        return {row.model_dump_json(): row_id for row, row_id in zip(rows.rows, rows.ids, strict=True)}

    assert before.ids != after.ids
    assert by_content(before) == by_content(after)


def test_the_rows_own_id_is_used(tmp_path):
    assert TASKS["persona_retrieval"].read(write(tmp_path / "rows.csv", persona(id="mine"))).ids == ("mine",)


def test_rows_with_the_same_readable_id_are_distinguished_by_content(tmp_path):
    one, two = ({**persona(n), "entity": "Ada Berg"} for n in range(2))
    ids = TASKS["persona_retrieval"].read(write(tmp_path / "rows.csv", one, two)).ids
    assert len(set(ids)) == 2
    assert all(row_id.startswith("ada-berg-") for row_id in ids)


def test_a_slug_is_short_and_plain():
    assert slug("Selene composes cryptic messages, daily, at 5") == "selene-composes-cryptic-messages-daily"


def test_a_text_without_latin_letters_has_a_slug_too():
    assert slug("猫が好き") != slug("犬が好き")
    assert slug("猫が好き").isalnum()


def test_the_hash_is_that_of_the_files_bytes(tmp_path):
    path = write(tmp_path / "rows.csv", conditional())
    assert TASKS["conditional_facts_easy"].read(path).sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("cell", "field"), [('["a", "b \\ud83d"]', "preferences.1"), ('["a", {"b": "\\udc00"}]', "preferences.1.b")]
)
def test_half_a_character_in_a_cell_is_named(tmp_path, cell, field):
    error = fault_of(tmp_path, "coexisting_facts", preferences=cell)
    assert (error.line, error.field) == (3, field)
    assert "got half a character" in error.problem


def test_a_whole_character_in_two_escapes_is_read(tmp_path):
    made = coexisting(preferences='["a", "b \\ud83d\\ude00"]')
    (row,) = TASKS["coexisting_facts"].read(write(tmp_path / "rows.csv", made)).rows
    assert row.preferences[1] == "b \U0001f600"


def test_rows_as_excel_saves_them(tmp_path):
    text = as_csv([conditional(n) for n in range(3)])
    path = tmp_path / "rows.csv"
    path.write_text(text, encoding="utf-8", newline="")
    read = TASKS["conditional_facts_easy"].read
    plain = read(path)
    rows = list(csv.reader(io.StringIO(text, newline="")))
    stream = io.StringIO()
    csv.writer(stream, delimiter=";").writerows([*([*row, "", ""] for row in rows), [""] * (len(rows[0]) + 2)])
    path.write_bytes(f"\ufeffsep=;\r\n{stream.getvalue()}".encode())
    saved = read(path)
    assert (saved.rows, saved.ids) == (plain.rows, plain.ids)
    assert saved.lines == tuple(line + 1 for line in plain.lines)
