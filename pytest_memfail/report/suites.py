"""Format the measures and labels of a suite as lines below its table."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Final

from pytest_memfail.core import Score
from pytest_memfail.records import SuiteRecord
from pytest_memfail.results import Summary

WIDTH: Final = 100


def suite_lines(suite: SuiteRecord, *, several_k: bool = False) -> Iterator[str]:
    """Yield a line for each group of measures, those for proxies and labels; with several k, each line names its k."""
    for line in _lines(suite, several_k=several_k):
        yield from textwrap.wrap(line, WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def _lines(suite: SuiteRecord, *, several_k: bool) -> Iterator[str]:
    """Yield the lines, not wrapped; those beyond the second only if they have a value."""
    at = f"k={suite.k}: " if several_k else ""
    said: set[str] = set()
    for number in sorted({score.line for score in suite.scores}):
        scores = [score for score in suite.scores if score.line == number]
        if number > 2 and all(score.value is None for score in scores):
            continue
        without = [score.lacks for score in scores if score.value is None and score.lacks]
        lacks = dict.fromkeys(reason for reasons in without for reason in reasons.split("; "))
        new = [reason for reason in lacks if reason not in said]
        said |= set(lacks)
        yield (
            at
            + "  ".join(f"{score.title} {score_text(score)}{_note(score)}" for score in scores)
            + (f" ({'; '.join(new)})" if new else "")
        )
    if suite.proxies:
        yield f"{at}gold string looked for, not a fact: {', '.join(suite.proxies)}"
    if suite.labels:
        yield f"{at}labels: " + "  ".join(f"{label} {count}" for label, count in suite.labels.items())


def _note(score: Score) -> str:
    return f" ({score.note})" if score.note else ""


def suite_sentences(summary: Summary) -> list[str]:
    """Return the lines of all suites, not wrapped, each with the name of its suite."""
    several_k = len({suite.k for suite in summary.suites}) > 1
    return [f"{suite.name}: {line}" for suite in summary.suites for line in _lines(suite, several_k=several_k)]


def score_text(score: Score) -> str:
    """Return the formatted value of a measure with its interval; a dash if it has no value."""
    if score.value is None:
        return "-"
    if score.unit == "count":
        return f"{score.value:.0f}"
    if score.unit == "percent":
        return f"{100 * score.value:.1f} %"
    interval = "" if score.low is None or score.high is None else f" [{score.low:.2f}, {score.high:.2f}]"
    return f"{score.value:.2f}{interval}"
