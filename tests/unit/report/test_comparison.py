"""Several records side by side: `memfail compare`."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from recorded_runs import HEADER, question, store, verdicts, write

from pytest_memfail.cli import main
from pytest_memfail.core import ErrorRecord, StageResult, UsageError
from pytest_memfail.report import comparison
from pytest_memfail.results import load_record, side_by_side, wilson


def load(*paths):
    return [load_record(path) for path in paths]


@pytest.fixture
def pair(tmp_path):
    """Ten questions; the second run loses six of them and wins one."""
    first = verdicts(tmp_path / "a.jsonl", *["correct"] * 8, "not_stored", "summary_error")
    second = verdicts(
        tmp_path / "b.jsonl",
        *["not_retrieved"] * 6,
        "correct",
        "correct",
        "correct",
        "summary_error",
        tokens=60,
        system="b",
    )
    return first, second


def test_rates_with_intervals_and_a_paired_test(pair):
    found = side_by_side(load(*pair))
    assert found.labels == ("toy", "b")
    assert found.measure == "correct"
    first, second = found.rows
    assert (first.success, second.success) == (wilson(8, 10), wilson(3, 10))
    assert second.failures["not_retrieved"] == wilson(6, 10)
    assert (first.tokens, second.tokens) == (5.0, 3.0)
    (flips,) = found.flips
    assert (flips.n, flips.worse, flips.better) == (10, 6, 1)
    assert flips.p == pytest.approx(0.125)  # scipy.stats.binomtest(1, 7)
    assert {row.k for row in found.rows} == {None}


def test_nothing_flips(pair):
    (flips,) = side_by_side(load(pair[0], pair[0])).flips
    assert (flips.worse, flips.better, flips.p) == (0, 0, 1.0)


def test_only_questions_decided_in_both_are_paired(tmp_path):
    first = verdicts(tmp_path / "a.jsonl", "correct", "correct", "not_stored")
    lines = [question(0, "correct"), question(2, "correct")]
    second = write(tmp_path / "b.jsonl", *lines, store(), system="b", complete=False)
    found = side_by_side(load(first, second))
    (flips,) = found.flips
    assert (flips.n, flips.worse, flips.better) == (2, 0, 1)
    assert any("did not end" in note for note in found.notes)


def test_a_record_without_a_trustworthy_result_is_noted(tmp_path, pair):
    broken = replace(question(0, "correct"), verdict="error", error=ErrorRecord("StoreError", "down"))
    found = side_by_side(load(pair[0], write(tmp_path / "broken.jsonl", broken, store())))
    assert "broken: no trustworthy result: too many errors: 1 of 1 question, at most 10% are trusted" in found.notes
    assert not any("trustworthy" in note for note in side_by_side(load(*pair)).notes)
    whole = replace(found, notes=(f"b differs from a in: {', '.join(f'field_{i}' for i in range(40))}",))
    notes = [line for line in list(comparison(whole))[2:] if line.startswith(("note: ", "  field"))]
    assert (notes[-1].endswith("field_39"), max(map(len, notes)) <= 100) == (True, True)


def test_without_a_test_taker_memory_is_compared(tmp_path, pair):
    answer = StageResult(outcome="ungraded")
    line = replace(question(0, "correct"), verdict="ungraded", answer=answer, memory_held=True)
    found = side_by_side(load(write(tmp_path / "m.jsonl", line, store()), pair[1]))
    assert found.measure == "memory held"
    assert found.rows[0].success == wilson(1, 1)
    assert "reasoning_error" not in found.rows[0].failures
    assert (found.flips[0].n, found.flips[0].worse) == (1, 1)


def test_what_must_not_be_held_counts_where_nothing_else_was_expected(tmp_path):
    line = replace(question(0, "wrongly_held"), memory_held=None, answer=StageResult("not_reached"))
    path = write(tmp_path / "m.jsonl", line, store())
    (row, _) = side_by_side(load(path, path)).rows
    assert (row.success, row.failures["wrongly_held"]) == (wilson(0, 0), wilson(1, 1))


def by_k(folder, name, times, tasks=("t",)):
    """A record of four questions of each task, each at two k, of which a larger k gets more right."""
    lines = [
        question(i, "correct" if i < times * k // 5 else "not_retrieved", k=k, task=task)
        for task in tasks
        for k in (5, 10)
        for i in range(4)
    ]
    return write(folder / name, *lines, *(store(task=task) for task in tasks), k=[5, 10], system=name[0])


def test_each_k_of_a_task_counts_its_questions_once(tmp_path):
    found = side_by_side(load(by_k(tmp_path, "a.jsonl", 1), by_k(tmp_path, "b.jsonl", 2)))
    assert [(row.task, row.k, row.record, row.tally.n, row.success) for row in found.rows] == [
        ("t", 5, 0, 4, wilson(1, 4)),
        ("t", 5, 1, 4, wilson(2, 4)),
        ("t", 10, 0, 4, wilson(2, 4)),
        ("t", 10, 1, 4, wilson(4, 4)),
    ]
    assert [(flips.k, flips.n, flips.better) for flips in found.flips] == [(5, 4, 1), (10, 4, 2)]


def test_tasks_and_their_total_are_compared_at_each_k(tmp_path, capsys):
    paths = [by_k(tmp_path, name, times, ("one", "two")) for name, times in (("a.jsonl", 1), ("b.jsonl", 2))]
    found = side_by_side(load(*paths))
    assert {(row.task, row.k): row.tally.n for row in found.rows} == {
        ("one", 5): 4, ("one", 10): 4, ("two", 5): 4, ("two", 10): 4, ("all", 5): 8, ("all", 10): 8,
    }  # fmt: skip
    assert main(["compare", *map(str, paths)]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 100
    table = out[out.index("correct % by k") :].splitlines()
    assert [line.split() for line in table[:3]] == [
        ["correct", "%", "by", "k", "k=5", "k=10"],
        ["one", "A", "25", "[5,", "70]", "50", "[15,", "85]"],
        ["one", "B", "50", "[15,", "85]", "100", "[51,", "100]"],
    ]
    assert out.count("\none k=5 ") == 3  # rates, facts held, paired test
    assert "k=" not in out.partition("tokens per memory")[2].partition("\n\n")[0]  # the same at every k


def test_a_task_of_one_k_is_not_split_by_that_of_others(tmp_path):
    lines = [question(i, "correct", k=k, task="a") for k in (5, 10) for i in range(2)]
    fixed = [question(i, "correct", k=20, task="b") for i in range(2)]
    found = side_by_side(load(write(tmp_path / "a.jsonl", *lines, *fixed, store(), k=[5, 10])))
    assert [(row.task, row.k, row.tally.n) for row in found.rows] == [
        ("a", 5, 2),
        ("a", 10, 2),
        ("b", None, 2),
        ("all", 5, 2),
        ("all", 10, 2),
    ]


def test_records_of_one_k_each_are_paired_across_k(tmp_path):
    first = write(tmp_path / "a.jsonl", question(0, "not_retrieved"), store())
    second = write(tmp_path / "b.jsonl", question(0, "correct", k=10), store(), k=[10])
    found = side_by_side(load(first, second))
    assert (found.flips[0].n, found.flips[0].better) == (1, 1)
    assert found.labels == ("toy k=5", "toy k=10")
    assert found.notes == ("toy k=10 differs from toy k=5 in: k",)
    assert [(row.record, row.k) for row in found.rows] == [(0, 5), (1, 10)]


def test_questions_of_a_row_are_taken_together(tmp_path):
    """Two essays lost are two rows, not six questions; a question at two k is not two questions."""

    def of_rows(name, verdict):
        essays = [replace(question(i, verdict), row=f"t.csv:{2 + i // 3}") for i in range(6)]
        return write(tmp_path / name, *essays, store())

    (flips,) = side_by_side(load(of_rows("a.jsonl", "correct"), of_rows("b.jsonl", "not_stored"))).flips
    assert (flips.n, flips.worse, flips.p) == (6, 6, 0.5)
    runs = []
    for name, verdict in (("c.jsonl", "not_stored"), ("d.jsonl", "correct")):
        lines = [question(i, verdict, k=k) for i in range(3) for k in (5, 10)]
        runs.append(write(tmp_path / name, *lines, store(), k=[5, 10]))
    flips = side_by_side(load(*runs)).flips
    assert [(at.k, at.n, at.better, at.p) for at in flips] == [(5, 3, 3, 0.25), (10, 3, 3, 0.25)]


def test_records_of_other_data_are_refused(tmp_path, pair):
    other = verdicts(tmp_path / "c.jsonl", "correct", tasks={"t": {**HEADER["tasks"]["t"], "data_hash": "f" * 64}})
    with pytest.raises(UsageError, match="data of t has the hash ffff"):
        side_by_side(load(pair[0], other))


def test_the_command(pair, capsys):
    assert main(["compare", *map(str, pair)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert max(map(len, out.splitlines())) <= 100
    assert "A  toy\nB  b\n" in out
    assert "80.0 [49, 94]" in out
    assert "AB   10        1       6              0.1250" in out


@pytest.mark.parametrize("names", [["a.jsonl"], ["a.jsonl", "nowhere.jsonl"], ["a.jsonl", "notes.txt"]])
def test_a_wrong_call_is_one_line(pair, tmp_path, capsys, names):
    (tmp_path / "notes.txt").write_text("Buy milk.\n")
    assert main(["compare", *(str(tmp_path / name) for name in names)]) == 4
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_baseline_is_no_record(pair, tmp_path, capsys):
    baseline = tmp_path / "baseline.jsonl"
    baseline.write_text('{"type":"baseline","schema_version":1}\n')
    assert main(["compare", str(baseline), str(pair[0])]) == 4
    assert f"{baseline}: is a baseline, not a record; give the record of the run" in capsys.readouterr().err


def test_measures_of_suites_stand_beside_each_other(pair, capsys):
    values = ((0.25, 0.5), (0.5, None))
    for path, (score, held) in zip(pair, values, strict=True):
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        scores = [
            {"name": "score", "title": "score", "value": score, "n": 10, "low": 0.1, "high": 0.6},
            {"name": "held", "title": "held", "value": held, "n": 10, "unit": "percent", "lacks": "a model"},
            {"name": "open", "title": "open", "value": None, "n": 10, "lacks": "a model"},
        ]
        lines[-1]["suites"] = [{"name": "s", "k": 5, "scores": scores, "labels": {}}]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert main(["compare", *map(str, pair)]) == 0
    printed = capsys.readouterr().out.splitlines()
    place = next(i for i, line in enumerate(printed) if line.startswith("measures"))
    assert [line.split() for line in printed[place : place + 3]] == [
        ["measures", "A", "B"],
        ["s.score", "0.25", "[0.10,", "0.60]", "0.50", "[0.10,", "0.60]"],
        ["s.held", "50.0", "%", "-"],
    ]
    assert not any("s.open" in line for line in printed)
