"""Names of strangers in misleading questions must not be recognisable by looking them up in the store."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from row_files import asked, persona, write

from pytest_memfail.suites import shipped_data, validate
from pytest_memfail.suites.memfail.plan import TASKS

PUBLISHED = Path(__file__).parents[4] / "shared" / "data" / "memfail"


def found(path, *strangers):
    """Return the findings for one row per stranger."""
    rows = []
    for n, name in enumerate(strangers):
        questions = [asked(n, 0, misleading=False), {**asked(n, 1, misleading=True), "distractor": name}]
        rows.append(persona(n, entity=f"Ada{n} Bell", questions=json.dumps(questions)))
    write(path / "persona_retrieval.csv", *rows)
    return [finding.problem for finding in validate(path) if finding.place == "distractor"]


def test_names_of_which_the_store_has_no_word_are_reported(tmp_path):
    assert found(tmp_path, "Cy Drew", "Ada1 Drew") == [
        "1 of 2 misleading questions name a person none of whose names is in the store, such as 'Cy Drew'; "
        "give them a first or last name that the store has"
    ]


def test_a_first_or_a_last_name_of_somebody_stored_is_enough(tmp_path):
    assert found(tmp_path, "Ada1 Drew", "Cy Bell") == []


def test_strangers_of_the_shipped_rows_share_first_names_last_names_or_both_with_people_stored():
    rows = TASKS["persona_retrieval"].read(shipped_data() / "persona_retrieval.csv").rows
    first, last = ({row.entity.split()[end] for row in rows} for end in (0, -1))
    essays = "\n".join(row.essay for row in rows)
    kinds = Counter[str]()
    for row in rows:
        for question in row.questions:
            if (name := question.distractor) is None:
                continue
            assert name not in essays
            given, family = name.split()
            if given == row.entity.split()[0]:
                kinds["first name of the one whose detail is asked for"] += 1
            elif family == row.entity.split()[-1]:
                kinds["last name of the same"] += 1
            else:
                assert given in first
                assert family in last
                kinds["names of two others"] += 1
    assert sum(kinds.values()) == 150
    assert min(kinds.values()) >= 45


def test_published_strangers_are_known_by_their_names():
    if not (PUBLISHED / "persona_retrieval.csv").is_file():
        pytest.skip(f"the published rows are not here: {PUBLISHED}")
    said = [finding.problem for finding in validate(PUBLISHED) if finding.place == "distractor"]
    assert any("20 of 157 misleading questions name a person none of whose names" in message for message in said)
