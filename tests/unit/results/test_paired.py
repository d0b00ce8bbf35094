"""Two runs on the same questions: McNemar's test, Holm's correction, and what a run could have detected."""

from __future__ import annotations

from itertools import product
from math import comb

import pytest

from pytest_memfail.core import holm
from pytest_memfail.records import Paired
from pytest_memfail.results import by_row, correct_together, mcnemar, power, smallest_detectable

COUNTS = [(worse, better) for worse in (0, 1, 2, 5, 9, 40) for better in (0, 1, 3, 5, 12) if worse + better]
MANY = [(700, 0), (400, 396), (600, 1400), (30, 5)]
"""More ways to flip than a float can count."""


# -- McNemar -----------------------------------------------------------------------------------------------------------


def test_one_sided_it_is_the_tail_of_fair_coins():
    for worse, better in COUNTS:
        n = worse + better
        by_hand = sum(comb(n, heads) for heads in range(worse, n + 1)) / 2**n
        assert mcnemar(worse, better, one_sided=True) == pytest.approx(by_hand, abs=1e-12), (worse, better)


def test_two_sided_it_is_twice_the_smaller_tail():
    for worse, better in COUNTS:
        n = worse + better
        by_hand = min(1.0, 2 * sum(comb(n, heads) for heads in range(max(worse, better), n + 1)) / 2**n)
        assert mcnemar(worse, better) == pytest.approx(by_hand, abs=1e-12), (worse, better)


def test_it_is_scipys_binomial_test():
    stats = pytest.importorskip("scipy.stats")
    for worse, better in COUNTS + MANY:
        n = worse + better
        both, above = (stats.binomtest(worse, n, 0.5, alternative=side).pvalue for side in ("two-sided", "greater"))
        assert mcnemar(worse, better) == pytest.approx(both, rel=1e-12), (worse, better)
        assert mcnemar(worse, better, one_sided=True) == pytest.approx(above, rel=1e-12), (worse, better)


@pytest.mark.parametrize(
    ("worse", "better", "one_sided", "p"),
    [
        (5, 0, True, 1 / 32),
        (4, 0, True, 1 / 16),
        (5, 0, False, 1 / 16),
        (0, 5, True, 1.0),
        (9, 1, True, 11 / 1024),
        (6, 6, False, 1.0),
        (59, 6, False, 4.80e-12),
    ],
)
def test_known_values(worse, better, one_sided, p):
    assert mcnemar(worse, better, one_sided=one_sided) == pytest.approx(p, rel=0.01)


@pytest.mark.parametrize("one_sided", [True, False])
def test_nothing_flipped_is_no_evidence(one_sided):
    assert mcnemar(0, 0, one_sided=one_sided) == 1.0


def test_a_better_run_is_never_evidence_of_a_regression():
    assert mcnemar(0, 100, one_sided=True) == 1.0


@pytest.mark.parametrize(("worse", "better"), [(-1, 2), (2, -1)])
def test_impossible_counts_are_refused(worse, better):
    with pytest.raises(ValueError, match="expected counts"):
        mcnemar(worse, better)


# -- rows of several questions -----------------------------------------------------------------------------------------


def by_signs(balances, one_sided):
    """From the definition: all ways in which rows may flip."""
    sums = [sum(signs) for signs in product(*((abs(b), -abs(b)) for b in balances))]
    if one_sided:
        return sum(each >= sum(balances) for each in sums) / len(sums)
    return sum(abs(each) >= abs(sum(balances)) for each in sums) / len(sums)


@pytest.mark.parametrize(
    "balances",
    [
        [3, 3, 3],
        [3, -3, 1],
        [3, 3, 1, 1, -1],
        [1, 2, 3, -2, -1],
        [2, 2, 2, 2, -3, -3],
        [-1, -2],
        [2, -1, -1],
        [9, -1, -1, -1],
        [3, 1, 1, 1, 1, 1, -1, -2, 4],
    ],
)
@pytest.mark.parametrize("one_sided", [True, False])
def test_rows_are_flipped_whole(balances, one_sided):
    assert by_row(balances, one_sided=one_sided) == pytest.approx(by_signs(balances, one_sided), abs=1e-12)


@pytest.mark.parametrize("one_sided", [True, False])
@pytest.mark.parametrize("sizes", [{1: 5, 2: 3, 4: 1}, {1: 90, 2: 60, 3: 40}, {2: 300, 3: 200, 7: 11}])
def test_rows_of_different_sizes_are_scipys_binomials_convolved(sizes, one_sided):
    np, stats = pytest.importorskip("numpy"), pytest.importorskip("scipy.stats")
    balances = [size if i % 3 else -size for size, n in sizes.items() for i in range(n)]
    chances = np.ones(1)
    for size, n in sizes.items():
        rows = np.zeros(size * n + 1)
        rows[::size] = stats.binom.pmf(np.arange(n + 1), n, 0.5)
        chances = np.convolve(chances, rows)
    worse = sum(balance for balance in balances if balance > 0)
    better = worse - sum(balances)
    tail = float(chances[worse if one_sided else max(worse, better) :].sum())
    assert by_row(balances, one_sided=one_sided) == pytest.approx(tail if one_sided else 2 * tail, rel=1e-9)


@pytest.mark.parametrize("one_sided", [True, False])
def test_with_one_flip_a_row_it_is_mcnemars_test(one_sided):
    for worse, better in COUNTS:
        expected = mcnemar(worse, better, one_sided=one_sided)
        assert by_row([1] * worse + [-1] * better, one_sided=one_sided) == expected, (worse, better)
        # as it is where all rows flip whole
        whole = by_row([3] * worse + [-3] * better, one_sided=one_sided)
        assert whole == pytest.approx(expected), (worse, better)


def test_rows_that_did_not_flip_or_in_balance_say_nothing():
    assert by_row([]) == by_row([0, 0]) == 1.0
    assert by_row([3, 1, -1]) == by_row([0, 3, 0, 1, -1, 0])


def test_one_lost_essay_is_no_evidence_and_five_are():
    assert by_row([3], one_sided=True) == 0.5
    assert by_row([3] * 5, one_sided=True) == pytest.approx(1 / 32)
    assert by_row([3]) == 1.0
    assert by_row([3] * 5) == by_row([-3] * 5) == pytest.approx(1 / 16)


# -- Holm --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], []),
        ([0.03], [0.03]),
        ([0.01, 0.04, 0.03], [0.03, 0.06, 0.06]),
        ([0.03, 0.03], [0.06, 0.06]),
        ([0.5, 0.9, 0.001], [1.0, 1.0, 0.003]),
        ([0.01, 0.02, 0.03, 0.04, 0.05], [0.05, 0.08, 0.09, 0.09, 0.09]),
    ],
)
def test_holm_by_hand(values, expected):
    assert holm(values) == pytest.approx(expected)


def test_holm_never_exceeds_bonferroni_keeps_the_order_and_corrects_upwards():
    values = [0.2, 0.001, 0.04, 0.04, 0.9, 0.011]
    corrected = holm(values)
    for p, q in zip(values, corrected, strict=True):
        assert p <= q <= min(1.0, p * len(values))
    by_size = sorted(range(len(values)), key=values.__getitem__)
    assert [corrected[i] for i in by_size] == sorted(corrected)


def test_pairs_are_corrected_together():
    pairs = [Paired("a", 10, 5, 0, 0.03125), Paired("b", 10, 0, 0, 1.0)]
    assert [(pair.name, pair.corrected) for pair in correct_together(pairs)] == [("a", 0.0625), ("b", 1.0)]


# -- power -------------------------------------------------------------------------------------------------------------


def by_enumeration(n, drop, noise, alpha):
    """The chance over all outcomes, from the definition."""
    up, down = drop + noise, noise
    total = 0.0
    for worse in range(n + 1):
        for better in range(n + 1 - worse):
            if mcnemar(worse, better, one_sided=True) < alpha:
                ways = comb(n, worse) * comb(n - worse, better)
                total += ways * up**worse * down**better * (1 - up - down) ** (n - worse - better)
    return total


@pytest.mark.parametrize(
    ("n", "drop", "noise", "alpha"),
    [(12, 0.3, 0.0, 0.05), (12, 0.3, 0.05, 0.05), (20, 0.2, 0.1, 0.05), (15, 0.4, 0.02, 0.01), (9, 0.0, 0.2, 0.05)],
)
def test_power_is_the_sum_over_all_outcomes(n, drop, noise, alpha):
    assert power(n, drop, noise=noise, alpha=alpha) == pytest.approx(by_enumeration(n, drop, noise, alpha), abs=1e-9)


@pytest.mark.parametrize("alpha", [0.05, 1 / 32, 0.001])
@pytest.mark.parametrize(
    ("n", "drop", "noise"), [(300, 0.05, 0.03), (796, 0.02, 0.01), (796, 0.3, 0.0), (3000, 0.01, 0.2)]
)
def test_power_is_the_sum_over_scipys_binomials(n, drop, noise, alpha):
    np, stats = pytest.importorskip("numpy"), pytest.importorskip("scipy.stats")
    flips, up = np.arange(n + 1), drop + noise
    # the least number of worse ones, out of so many flips, whose test is below alpha
    critical = stats.binom.isf(np.nextafter(alpha, 0), flips, 0.5) + 1
    fires = stats.binom.sf(critical - 1, flips, up / (up + noise))
    expected = float(np.sum(stats.binom.pmf(flips, n, up + noise) * fires))
    assert power(n, drop, noise=noise, alpha=alpha) == pytest.approx(expected, abs=1e-10)


def test_without_a_drop_the_gate_fires_in_at_most_alpha():
    for n in (5, 17, 96, 300, 796):
        for noise in (0.0, 0.01, 0.03, 0.06, 0.2):
            for alpha in (0.05, 0.01):
                assert power(n, 0.0, noise=noise, alpha=alpha) <= alpha


def test_fewer_than_the_fewest_flips_are_never_found():
    assert power(4, 1.0) == 0.0
    assert power(5, 1.0) == pytest.approx(1.0)
    assert power(0, 0.5) == 0.0


def test_power_grows_with_the_drop_and_with_n_and_shrinks_with_noise():
    drops = [power(300, drop, noise=0.03) for drop in (0.01, 0.03, 0.05, 0.1)]
    sizes = [power(n, 0.05, noise=0.03) for n in (50, 100, 300, 796)]
    noises = [power(300, 0.05, noise=noise) for noise in (0.2, 0.1, 0.03, 0.01)]
    for rising in (drops, sizes, noises):
        assert rising == sorted(rising)


@pytest.mark.parametrize(("drop", "noise"), [(-0.1, 0.0), (0.1, -0.1), (0.6, 0.3)])
def test_impossible_shares_are_refused(drop, noise):
    with pytest.raises(ValueError, match="expected shares"):
        power(10, drop, noise=noise)


# -- the smallest regression that could have been found ----------------------------------------------------------------


@pytest.mark.parametrize("noise", [0.0, 0.03, 0.1])
@pytest.mark.parametrize("n", [22, 100, 300, 796])
def test_the_smallest_detectable_drop_is_found_as_often_as_wanted_and_one_smaller_is_not(n, noise):
    drop = smallest_detectable(n, noise=noise)
    assert drop is not None
    assert power(n, drop, noise=noise) >= 0.8
    assert power(n, drop - 0.002, noise=noise) < 0.8


def test_too_few_questions_can_show_nothing():
    assert smallest_detectable(4) is None
    assert smallest_detectable(0) is None
    assert smallest_detectable(100, noise=0.5) is None


def test_only_what_passed_can_drop():
    least = smallest_detectable(100, noise=0.03)
    assert least is not None
    assert smallest_detectable(100, noise=0.03, passed=least + 0.031) == pytest.approx(least, abs=0.0005)
    assert smallest_detectable(100, noise=0.03, passed=least + 0.029) is None
    assert smallest_detectable(100, passed=0.0) is smallest_detectable(100, noise=0.1, passed=0.05) is None


def test_the_lower_the_threshold_the_larger_the_drop_must_be():
    assert smallest_detectable(300, alpha=0.001) > smallest_detectable(300, alpha=0.05)
