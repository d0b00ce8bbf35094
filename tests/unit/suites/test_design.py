"""The design of our own data sets: the shipped rows follow it, and a row that breaks a rule is reported."""

from __future__ import annotations

import csv
import json
import shutil

import pytest

from pytest_memfail.suites import shipped_data, validate
from pytest_memfail.suites.memfail.design import declares_design


@pytest.fixture
def rows(tmp_path):
    """Copy the shipped rows."""
    folder = tmp_path / "rows"
    shutil.copytree(shipped_data(), folder, ignore=shutil.ignore_patterns("calibration"))
    return folder


def only(folder, *tasks):
    """Leave the files of these tasks alone: the rules of others need their time, and say nothing of these rows."""
    for path in folder.glob("*.csv"):
        if path.stem not in tasks:
            path.unlink()


def change(folder, task, changes):
    """Change rows of a task by their ids; one is deleted if its change returns nothing."""
    path = folder / f"{task}.csv"
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        header, kept = list(reader.fieldnames), []
        for row in reader:
            for row_id, change_row in changes:
                row = change_row(row) if row is not None and row["id"] == row_id else row
            if row is not None:
                kept.append(row)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, header)
        writer.writeheader()
        writer.writerows(kept)


def cells(**changes):
    """Return a change that sets cells; a function gets the old text."""

    def change_row(row):
        return {**row, **{name: new(row[name]) if callable(new) else new for name, new in changes.items()}}

    return change_row


def inside(edit):
    """Return a change within the JSON of a cell."""

    def change_cell(cell):
        value = json.loads(cell)
        return json.dumps(edit(value))

    return change_cell


def first(edit):
    """Return a change of the first item of the JSON list in a cell."""
    return inside(lambda items: [edit(items[0]), *items[1:]])


def asking(number, **changes):
    """Return a change of one question of a persona row."""
    return inside(lambda asked: [{**q, **changes} if i == number else q for i, q in enumerate(asked)])


def dropped(row):
    return None


EASY, HARD, CHAINS = "conditional_facts_easy", "conditional_facts_hard", "long_hop"
COEXISTING, PERSONA = "coexisting_facts", "persona_retrieval"
BROKEN = {
    EASY: [
        (
            "cfe-001",
            cells(entity_facts=first(lambda e: e + " One more. And more. And yet more. And one.")),
            "sentences, expected 5 to 8",
        ),
        (
            "cfe-001",
            cells(condition_type="tides"),
            "condition_type: got 'tides', expected one of the paper's table 3",
        ),
        ("cfe-002", cells(condition_type="mood"), "'mood' of a pet cannot be seen from outside"),
        (
            "cfe-004",
            cells(evidence_details=inside(lambda d: [x for x in d if x["part"] != "exclusivity"])),
            "exclusivity: expected one where the answer is no, or a second condition",
        ),
        (
            "cfe-001",
            cells(evidence_details=inside(lambda d: [*d, {"part": "exclusivity", "wordings": ["Only when"]}])),
            "exclusivity: expected none where the answer is yes",
        ),
        (
            "cfe-003",
            cells(evidence_details=inside(lambda d: [x for x in d if x["part"] != "behavior"])),
            "lists no detail of the behaviour",
        ),
        (
            "cfe-006",
            cells(entity_facts=first(lambda e: e.replace("Ysolde returns", "Ysolde usually returns"))),
            "hedges the rule with 'usually' under a flat yes",
        ),
        ("cfe-005", dropped, "condition_met: got 49 yes and 50 no"),
        ("cfe-002", cells(entity="Oddny"), "'Oddny' is also in"),
    ],
    HARD: [
        (
            "cfh-011",
            cells(entity_facts=first(lambda e: e.replace("each time", "as a rule"))),
            "hedges the rule with 'as a rule' under a flat no",
        ),
        (
            "cfh-001",
            cells(rule_sentences='{"behavior": 1, "condition": 2, "link": 7}'),
            "sentences [1, 2, 7] are neighbours",
        ),
        ("cfh-002", cells(rule_sentences=""), "rule_sentences: got nothing"),
        (
            "cfh-003",
            cells(rule_sentences='{"behavior": 4, "condition": 1, "link": 7}'),
            "is in the sentence of the other part",
        ),
        (
            "cfh-001",
            cells(entity_facts=first(lambda e: e.replace("Lunch is", "If asked, lunch is"))),
            "uses the connective 'If'",
        ),
    ],
    COEXISTING: [
        ("ce-001", dropped, "rows by number of preferences"),
        (
            "ce-064",
            cells(question="The diary for my weekends is blank. Help me fill it."),
            'question: lacks "I don\'t mean what I do at home", without which the Sunday Scrabble of ce-008 would answer it too',
        ),
        (
            "ce-024",
            cells(notes='"told in plain prose" leaves out some graphic novels.'),
            "notes: got 'some graphic novels', expected the facts of other rows, by their ids",
        ),
    ],
    PERSONA: [
        ("pr-001", cells(questions=asking(0, text="What now?")), "questions.0: does not name 'Ngaire Tamatea'"),
        (
            "pr-002",
            cells(questions=asking(0, kind="other_person", look_alike="Nobody")),
            "look_alike: 'Nobody' has no essay",
        ),
        ("pr-001", cells(questions=asking(1, borrows=[])), "borrows: expected the sentences of the essay"),
        (
            "pr-001",
            cells(entity_facts=first(lambda e: " ".join(e.split(". ")[:3]) + ".")),
            "sentences, expected 10 to 15",
        ),
    ],
    CHAINS: [
        (
            "lh-2-001",
            cells(fact_3=lambda fact: f"{fact} Burnt toast!"),
            "fact_3: contains 'burnt toast', which is not an anchor of this fact",
        ),
        (
            "lh-1-001",
            cells(graded_question=lambda q: q.replace("the foghorn", "it")),
            "does not name the head anchor 'foghorn'",
        ),
        (
            "lh-1-001",
            cells(choice_a="a very long and winding thing to have done to it"),
            "differs in shape from",
        ),
        ("lh-1-001", cells(choice_b="mend the fence"), "choice_b: 'mend the fence' ends no other chain"),
        ("lh-1-001", cells(choice_d="wear two hats"), "'wear two hats' ends a chain about somebody else"),
        ("lh-1-001", cells(choice_e="plum jam"), "choice_e: 'plum jam' can also be reached from 'foghorn'"),
    ],
}
"""By task: a row, what is changed in it, and what is said of it. All of a task are changed at once."""


def test_the_shipped_rows_declare_the_design(rows):
    """That they keep it shows test_shipped.py, where they have no fault."""
    assert declares_design(rows)


@pytest.mark.parametrize("task", BROKEN)
def test_a_broken_rule_is_named(rows, task):
    only(rows, task)
    change(rows, task, [(row_id, edit) for row_id, edit, _ in BROKEN[task]])
    found = list(map(str, validate(rows)))
    assert [said for *_, said in BROKEN[task] if not any(said in finding for finding in found)] == [], found


def test_chains_of_unequal_number_are_noticed(rows):
    only(rows, CHAINS)
    change(rows, CHAINS, [(row_id, dropped) for row_id in ("lh-1-001", "lh-1-002", "lh-1-003")])
    found = list(map(str, validate(rows)))
    assert any("hop_count: unbalanced: {'1': 29, '2': 32, '3': 32}" in finding for finding in found)


def test_a_copied_essay_is_a_near_duplicate(rows):
    only(rows, EASY)
    with (rows / f"{EASY}.csv").open(encoding="utf-8", newline="") as file:
        essays = {row["id"]: row["entity_facts"] for row in csv.DictReader(file)}
    change(rows, EASY, [("cfe-002", cells(entity_facts=essays["cfe-001"]))])
    found = list(map(str, validate(rows)))
    assert any("cf-002 is 100% similar to cf-001" in finding for finding in found)
    assert any("cf-002 shares 'wiremu" in finding for finding in found)


def test_answers_that_the_question_gives_away_are_noticed(rows):
    only(rows, EASY)
    with (rows / f"{EASY}.csv").open(encoding="utf-8", newline="") as file:
        said = {row["id"]: "Surely" if row["condition_met"] == "yes" else "Hardly" for row in csv.DictReader(file)}
    change(rows, EASY, [(name, cells(question=lambda q, word=word: f"{word}: {q}")) for name, word in said.items()])
    found = list(map(str, validate(rows)))
    assert any("in the question alone give" in finding for finding in found)


def test_a_folder_that_declares_no_design_is_held_to_the_general_checks_alone(rows):
    (rows / "generation_config.json").unlink()
    only(rows, EASY)
    change(rows, EASY, [("cfe-001", cells(condition_type="tides"))])
    assert list(map(str, validate(rows))) == []
