"""Decide whether a run may pass: evaluate each expression."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from pytest_memfail.core import CORRECT, ERROR, REASONING_ERROR, Comparable, Key, counted
from pytest_memfail.records import (
    FAILED,
    OPEN,
    PASSED,
    SKIPPED,
    Anchor,
    Baseline,
    Check,
    Comparison,
    Gate,
    Header,
    Rate,
    anchor_reason,
    notes,
)
from pytest_memfail.results.compare import compare
from pytest_memfail.results.expressions import (
    ANCHOR_DEFAULT,
    DEFAULT,
    EACH,
    FACTS_HELD,
    MEASURES,
    MEMORY_HELD,
    SHOWN_TOKENS,
    Expression,
    parse_expressions,
)
from pytest_memfail.results.statistics import smallest_detectable, wilson
from pytest_memfail.results.summary import TOTAL, Summary, Tally

NO_TRUSTWORTHY_RESULT: Final = 6
"""The exit code of a run, and of `memfail gate`, without a trustworthy result."""


def in_ci() -> bool:
    """Return whether the variable CI is set, as on all CI services: there a gate without a baseline fails closed."""
    return os.environ.get("CI", "").lower() not in ("", "0", "false")


def decide(
    expressions: Sequence[Expression],
    summary: Summary,
    outcomes: Mapping[Key, Comparable],
    header: Header,
    baseline: Baseline | None,
    *,
    shown: str | None = None,
    anchor: Baseline | None = None,
    anchor_shown: str | None = None,
) -> Gate | None:
    """Decide the gate over the run described by `header`; return None if there is nothing to decide.

    `DEFAULT` applies to a baseline if there are no expressions. `ANCHOR_DEFAULT` applies to an anchor if no expression is
    about regressions. `shown` and `anchor_shown` are the paths of baseline and anchor as the reader sees them.
    """
    if baseline is None and anchor is None:
        return evaluate(expressions, summary, None, baseline=shown) if expressions else None

    def compared(earlier: Baseline) -> Comparison:
        return compare(earlier.entries, outcomes, header.groups, header.protocol)

    if baseline is not None:
        asked = expressions or parse_expressions(DEFAULT)
        gate = evaluate(asked, summary, compared(baseline), baseline=shown, notes=notes(baseline, header))
    else:
        gate = evaluate([e for e in expressions if not e.needs_baseline], summary, None)
    if anchor is None:
        return gate
    since = compared(anchor)
    against = [e for e in expressions if e.needs_baseline] or parse_expressions(ANCHOR_DEFAULT)
    checks = [replace(check, anchored=True) for e in against for check in _checks(e, summary, since)]
    return replace(
        gate, checks=(*gate.checks, *checks), anchor=Anchor(anchor_shown or "", anchor_reason(anchor) or "", since)
    )


def evaluate(
    expressions: Sequence[Expression],
    summary: Summary,
    comparison: Comparison | None,
    *,
    baseline: str | None = None,
    notes: Sequence[str] = (),
) -> Gate:
    """Decide each expression; skip those about regressions without a comparison. Errors fail whatever is asked."""
    checks = [check for expression in expressions for check in _checks(expression, summary, comparison)]
    if errors := summary.total.states[ERROR]:
        said = f"got {errors} of {counted(summary.total.n, 'question')}, expected none"
        checks.insert(0, Check("errors", None, FAILED, said))
    detectable = None
    if comparison is not None and comparison.total.n:
        # each question that passed may be the only one of its row
        rows, passed = comparison.rows, comparison.total.n - comparison.failed_before[TOTAL]
        alpha = next((e.number for e in expressions if e.significance and e.task is None), 0.05)
        # random flips to the better are the best estimate of random flips to the worse
        noise = min(0.25, comparison.rows_better / rows)
        detectable = smallest_detectable(rows, noise=noise, alpha=alpha, passed=passed / rows)
    return Gate(tuple(checks), comparison, baseline, tuple(notes), detectable)


def _checks(expression: Expression, summary: Summary, comparison: Comparison | None) -> Iterator[Check]:
    if expression.needs_baseline and comparison is None:
        yield Check(expression.text, expression.task, SKIPPED, "no baseline")
        return
    every = expression.task == EACH
    tasks = [tally.name for tally in summary.tasks] if every else [expression.task]
    if expression.needs_baseline and comparison is not None:
        decided = [_regressions(expression, task, comparison) for task in tasks]
    else:
        decided = [_rate(expression, task, summary) for task in tasks]
    if every:
        # a task with nothing to decide (all its answers open, say) must not block the others; one with estimates must
        decided = [check for check in decided if check.outcome != OPEN or check.rate is not None] or decided[:1]
    yield from decided


def _regressions(expression: Expression, task: str | None, comparison: Comparison) -> Check:
    paired = comparison.of(task)
    if paired is None or paired.n == 0:
        return _judged(expression, task, None, "no question in common with the baseline")
    value: float = paired.worse
    if expression.significance:
        value = paired.corrected if expression.task == EACH and paired.corrected is not None else paired.p
    return _judged(expression, task, value, paired=paired)


def _rate(expression: Expression, task: str | None, summary: Summary) -> Check:
    if expression.measure not in MEASURES:
        return _suite_measure(expression, task, summary)
    tally = summary.total if task is None else summary.tally(task)
    if tally is None:
        return _judged(expression, task, None, f"no question of {task} was asked")
    if expression.measure in (CORRECT, REASONING_ERROR) and not summary.answered:
        return _judged(expression, task, None, f"no answer was judged (give --memfail-model, or gate on {MEMORY_HELD})")
    if expression.measure == SHOWN_TOKENS:
        tokens, about = tally.shown_tokens, summary.approximate is not None
        return _judged(expression, task, tokens, "no tokens were counted", value=tokens, approximate=about)
    rate = measured(tally, expression.measure, summary)
    if rate.estimated and len({expression.holds(bound) for bound in rate.bounds}) > 1:
        return Check(expression.text, task, OPEN, rate.doubt, rate)
    return _judged(expression, task, rate.value, "no question was graded", rate=rate)


def _suite_measure(expression: Expression, task: str | None, summary: Summary) -> Check:
    """Check a measure that a suite's paper defines, or the share of its questions that have a label."""
    suite = next((suite for suite in summary.suites if suite.name == task), None)
    if suite is None:
        return _judged(expression, task, None, f"no question of {task} was asked")
    if (score := suite.score(expression.measure)) is not None:
        return _judged(expression, task, score.value, score.lacks or "nothing to measure", value=score.value)
    tally = summary.by_k.get(suite.k, {}).get(f"{TOTAL} {suite.name}") or summary.tally(suite.name)
    rate = wilson(suite.labels.get(expression.measure, 0), tally.n if tally is not None else 0)
    return _judged(expression, task, rate.value, "no question was graded", rate=rate)


def _judged(expression: Expression, task: str | None, value: float | None, lacks: str = "", /, **shown: Any) -> Check:
    """Return the check of a value; without one it is undecided, because of what it lacks."""
    if value is None:
        return Check(expression.text, task, OPEN, lacks)
    return Check(expression.text, task, FAILED if expression.holds(value) else PASSED, **shown)


def measured(tally: Tally, measure: str, summary: Summary) -> Rate:
    """Return the rate of a verdict, of memory held or of facts held, as the summary counts it.

    The rate is over graded questions or, if no answer was judged, over those that failed or passed every judged stage. Vacuous
    passes are left out, except of graded questions in the published reading.
    """
    if measure == MEMORY_HELD:
        return tally.memory_held
    if measure == FACTS_HELD:
        return tally.facts_held
    if not summary.answered:
        return tally.lost(measure)
    return tally.share(measure, with_vacuous=summary.protocol == "paper")
