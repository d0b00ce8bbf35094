"""Measures of suites in two records, compared over the questions of both."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_records import header, question, run

from pytest_memfail.core import Measure, Score, Source, Suite, UsageError
from pytest_memfail.report import comparison
from pytest_memfail.results import side_by_side
from pytest_memfail.results.statistics import bootstrap

TASKS = {"t": {"data_hash": "a", "suite": "toy", "variant": "x", "parts": []}}


def share(questions):
    return Score(sum(q.verdict == "correct" for q in questions) / len(questions), len(questions))


def needs_ten(questions):
    return share(questions) if len({q.question for q in questions}) > 9 else Score(None, 0, lacks="too few")


SUITE = Suite(
    "toy",
    Source("", "MIT", {"x": ("x.json",)}),
    lambda _: (),
    measures=(
        Measure("right", "right", share),
        Measure("count", "count", lambda found: Score(float(len(found)), len(found)), unit="count"),
        Measure("all_ten", "all ten", needs_ten),
    ),
)


def record(verdicts, path, clusters=None, seed=42):
    lines = [
        question(
            question=f"q{at}",
            verdict=verdict,
            memory_held=verdict == "correct",
            facts=[{"verdict": verdict}],
            cluster=clusters[at] if clusters else f"c{at}",
        )
        for at, verdict in enumerate(verdicts)
    ]
    made = run(*lines, tasks=TASKS, suite=["toy:x"], seed=seed, system=path)
    return replace(made, path=path, suites=(SUITE,))


def verdicts(right, of=20):
    return ["correct"] * right + ["not_retrieved"] * (of - right)


def shifts(before, after):
    return {shift.measure: shift for shift in side_by_side([before, after]).shifts}


def test_a_difference_has_a_seeded_interval_over_clusters():
    found = shifts(record(verdicts(8), "a"), record(verdicts(16), "b"))["right"]
    assert (found.record, found.k, found.clusters, found.difference) == (1, 5, 20, pytest.approx(0.4))
    low, high = found.low, found.high
    # 8 of 20 clusters differ: the interval is about 0.4 ± 1.96 · sqrt(0.4 · 0.6 / 20)
    assert low == pytest.approx(0.4 - 0.215, abs=0.06)
    assert high == pytest.approx(0.4 + 0.215, abs=0.06)
    assert shifts(record(verdicts(8), "a"), record(verdicts(16), "b"))["right"] == found
    assert shifts(record(verdicts(8), "a"), record(verdicts(8), "b"))["right"].low == 0.0


def test_questions_that_stand_and_fall_together_count_once():
    alone = shifts(record(verdicts(8), "a"), record(verdicts(16), "b"))["right"]
    pairs = [f"c{at // 4}" for at in range(20)]
    together = shifts(record(verdicts(8), "a", pairs), record(verdicts(16), "b", pairs))["right"]
    assert (together.clusters, together.difference) == (5, alone.difference)
    assert together.high - together.low > alone.high - alone.low


def test_only_questions_of_both_records_count():
    found = shifts(record(verdicts(10), "a"), record(verdicts(10, of=12), "b"))["right"]
    assert (found.clusters, found.difference) == (12, 0.0)


def test_what_means_nothing_has_no_interval():
    found = shifts(record(verdicts(2, of=4), "a"), record(verdicts(3, of=4), "b"))["right"]
    assert (found.clusters, found.difference, found.low) == (4, 0.25, None)
    # a measure that most samples cannot compute
    found = shifts(record(verdicts(4, of=10), "a"), record(verdicts(5, of=10), "b"))
    assert (found["all_ten"].difference, found["all_ten"].high) == (pytest.approx(0.1), None)
    assert "count" not in found


def test_records_without_suites_or_of_two_protocols_have_none():
    first, second = record(verdicts(8), "a"), record(verdicts(9), "b")
    assert not shifts(replace(first, suites=()), second)
    paper = header(tasks=TASKS, suite=["toy:x"], protocol="paper")
    assert not shifts(first, replace(second, header=paper))


def test_a_bootstrap_depends_on_its_seed_alone():
    values = [0.0] * 10 + [1.0] * 10

    def mean(drawn):
        return sum(values[at] for at in drawn) / len(drawn)

    assert bootstrap(20, mean, seed=1) == bootstrap(20, mean, seed=1)
    assert bootstrap(20, lambda _: None, seed=1) is None
    low, high = bootstrap(20, mean, seed=1)
    assert 0.2 < low < 0.35
    assert 0.65 < high < 0.8


def test_the_table_has_a_line_for_each_measure():
    found = side_by_side([record(verdicts(8), "a"), record(verdicts(16), "b")])
    text = list(comparison(found))
    at = next(i for i, line in enumerate(text) if line.startswith("measures, paired"))
    assert text[at].endswith("clusters  difference [95 % interval, bootstrap over clusters]")
    assert text[at + 1].startswith("toy.right              AB       20  +0.400 [+0.2")
    none = side_by_side([record(verdicts(2, of=4), "a"), record(verdicts(3, of=4), "b")])
    assert any("+0.250 [-]" in line for line in comparison(none))


def test_records_without_a_common_task_are_refused_and_with_one_compared():
    first = record(verdicts(8), "a")
    alone = replace(first, header=header(tasks={"v": {"data_hash": "x"}}), path="b")
    with pytest.raises(UsageError, match=f"^b: got v, expected any task of a: {', '.join(sorted(TASKS))}$"):
        side_by_side([first, alone])
    more = replace(first, header=header(tasks={**TASKS, "v": {"data_hash": "x"}}), path="b")
    assert [note for note in side_by_side([first, more]).notes if "tasks" in note]


def test_records_of_two_variants_are_refused():
    tasks = {"t": {**TASKS["t"], "variant": "y"}}
    other = replace(record(verdicts(8), "b"), header=header(tasks=tasks, suite=["toy:y"]))
    with pytest.raises(UsageError, match="b: variant of t is y, in a x: not the same questions"):
        side_by_side([record(verdicts(8), "a"), other])


def test_a_question_that_ended_with_an_error_in_one_record_counts_in_neither():
    broken = record(["error" if at > 9 else verdict for at, verdict in enumerate(verdicts(8))], "b")
    for first, second in ((record(verdicts(8), "a"), broken), (broken, record(verdicts(8), "a"))):
        found = shifts(first, second)["right"]
        assert (found.clusters, found.difference, found.low, found.high) == (10, 0.0, 0.0, 0.0)
