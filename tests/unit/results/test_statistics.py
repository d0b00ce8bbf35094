"""Wilson intervals, compared with scipy's."""

from __future__ import annotations

import random

import pytest

from pytest_memfail.records import Rate
from pytest_memfail.results import clustered, wilson

GRID = [(count, n) for n in (1, 2, 3, 5, 10, 17, 50, 100, 692, 10_000) for count in {0, 1, n // 3, n // 2, n - 1, n}]


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.99])
def test_the_interval_is_scipys(confidence):
    scipy_stats = pytest.importorskip("scipy.stats")
    for count, n in GRID:
        expected = scipy_stats.binomtest(count, n).proportion_ci(confidence, method="wilson")
        rate = wilson(count, n, confidence)
        assert (rate.low, rate.high) == pytest.approx((expected.low, expected.high), abs=1e-12), (count, n)


def test_the_confidence_is_95_percent_unless_told():
    assert wilson(3, 10) == wilson(3, 10, 0.95)


def test_a_known_interval():
    rate = wilson(32, 100)
    assert (round(rate.low, 4), rate.value, round(rate.high, 4)) == (0.2367, 0.32, 0.4166)


def test_the_share_lies_within_its_interval_and_both_between_0_and_1():
    for count, n in GRID:
        rate = wilson(count, n)
        assert 0 <= rate.low <= rate.value <= rate.high <= 1
        assert rate.low < rate.high


@pytest.mark.parametrize("n", [1, 7, 1000])
def test_none_and_all_reach_the_ends_exactly(n):
    assert wilson(0, n).low == 0.0
    assert wilson(n, n).high == 1.0


def test_more_of_the_same_narrows_the_interval():
    few, many = wilson(5, 10), wilson(500, 1000)
    assert many.high - many.low < few.high - few.low


def test_nothing_has_no_share_and_any_share_is_possible():
    assert wilson(0, 0) == Rate(0, 0, 0.0, 1.0)
    assert wilson(0, 0).value is None


@pytest.mark.parametrize(("count", "n"), [(-1, 5), (6, 5), (1, 0), (0, -1)])
def test_an_impossible_count_is_refused(count, n):
    with pytest.raises(ValueError, match="expected 0 <= count <= n"):
        wilson(count, n)


def test_facts_of_a_row_that_stand_and_fall_together_count_as_one():
    together = clustered([(3, 3)] * 20 + [(0, 3)] * 20)
    alone = wilson(20, 40)
    assert (together.count, together.n) == (60, 120)
    assert together.low == pytest.approx(alone.low, abs=0.01)
    assert together.high == pytest.approx(alone.high, abs=0.01)


def test_facts_that_vary_by_themselves_count_each():
    rng = random.Random(1)
    rate = clustered((sum(rng.random() < 0.3 for _ in range(3)), 3) for _ in range(400))
    alone = wilson(rate.count, rate.n)
    assert rate.high - rate.low == pytest.approx(alone.high - alone.low, rel=0.1)


@pytest.mark.parametrize("clusters", [[(1, 1)] * 10 + [(0, 1)] * 5, [(1, 1)] * 7, [(0, 1)] * 7, [], [(0, 0)]])
def test_clusters_of_one_are_the_plain_interval(clusters):
    plain = wilson(sum(count for count, _ in clusters), sum(n for _, n in clusters))
    found = clustered(clusters)
    assert (found.count, found.n) == (plain.count, plain.n)
    assert (found.low, found.high) == pytest.approx((plain.low, plain.high))


def test_where_nothing_varies_the_rows_count():
    assert clustered([(3, 3)] * 10).low == pytest.approx(wilson(10, 10).low)
