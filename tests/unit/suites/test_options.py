"""Wrong options: no strategy that ignores the chain is right more often than chance."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from row_files import long_hop, write

from pytest_memfail.suites import shipped_data, validate
from pytest_memfail.suites.memfail.options import _choices, _share, option_shortcuts
from pytest_memfail.suites.memfail.plan import TASKS

PUBLISHED = Path(__file__).parents[4] / "shared" / "data" / "memfail"
LETTERS = "ABCDE"


def chains(path, offered, count=20, **changes):
    """Return the findings for chains; each is offered its own end and the wrong options of `offered(n)`."""
    records = []
    for n in range(count):
        record = long_hop(n)
        options = list(offered(n))
        options.insert(n % 5, record["ground_truth_answer"])
        cells = {f"choice_{letter.lower()}": option for letter, option in zip(LETTERS, options, strict=True)}
        cells["graded_question"] = f"Where does {record['chain_1']} lead?\n\nOptions:\n" + "\n".join(
            f"{letter}. {option}" for letter, option in zip(LETTERS, options, strict=True)
        )
        records.append({**record, **cells, **{key: change(n, record) for key, change in changes.items()}})
    write(path / "long_hop.csv", *records)
    return [finding.problem for finding in option_shortcuts(TASKS["long_hop"].read(path / "long_hop.csv"))]


def ends_of_others(n, count=20):
    return [f"anchor{(n + step) % count}x2" for step in (3, 7, 11, 18)]


def test_options_that_end_other_chains_reveal_nothing(tmp_path):
    assert chains(tmp_path, ends_of_others) == []


def test_an_answer_that_is_the_only_option_in_the_store_is_reported(tmp_path):
    found = chains(tmp_path, lambda n: [f"unheard{n}x{i}" for i in range(4)])
    assert "choosing an option that the store holds is right in 100%" in found


def test_an_answer_that_is_the_only_option_about_the_subject_is_reported(tmp_path):
    """The ends of other chains do not help if each question names a different person."""

    def named(fact):
        return lambda n, record: f"Bo{chr(97 + n)} says: {record[fact]}"

    def question(n, record):
        options = "\n".join(f"{letter}. x" for letter in LETTERS)
        return f"Where does {record['chain_1']} lead Bo{chr(97 + n)}?\n\nOptions:\n{options}"

    found = chains(tmp_path, ends_of_others, fact_1=named("fact_1"), fact_2=named("fact_2"), graded_question=question)
    assert found == ["choosing an option that the store holds about the person asked about is right in 100%"]


def test_wrong_options_that_repeat_are_reported(tmp_path):
    found = chains(tmp_path, lambda n: [f"anchor{i}x2" for i in ((0, 1, 2, 3) if n > 3 else (4, 5, 6, 7))])
    assert any("the option that is offered least often" in message for message in found)


def test_answers_that_are_longest_are_reported(tmp_path):
    found = chains(tmp_path, lambda n: [f"x{i}" for i in range(4)])
    assert "choosing the longest option is right in 100%" in found


def test_a_handful_of_rows_is_not_enough_to_report(tmp_path):
    assert chains(tmp_path, lambda n: [f"unheard{n}x{i}" for i in range(4)], count=2) == []


def test_the_shipped_options_reveal_nothing():
    rows = TASKS["long_hop"].read(shipped_data() / "long_hop.csv").rows
    shares = {name: _share(rows, choose) for name, choose in _choices(rows).items()}
    assert {name: share for name, share in shares.items() if share > 1 / 5 + 3 * (4 / 25 / len(rows)) ** 0.5} == {}
    ends = Counter(row.ground_truth_answer for row in rows)
    assert set(ends.values()) == {1}
    assert Counter(choice for row in rows for choice in row.choices) == dict.fromkeys(ends, 5)


def test_the_store_reveals_the_published_options():
    if not (PUBLISHED / "long_hop.csv").is_file():
        pytest.skip(f"the published rows are not here: {PUBLISHED}")
    found = [finding.problem for finding in validate(PUBLISHED)]
    assert "choosing an option that the store holds is right in 87%" in found
    assert "choosing the option that is offered least often is right in 35%" in found
