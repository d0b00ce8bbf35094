"""Parse the conditions under which a gate fails: `correct<0.80`, `long_hop.summary_error>0.10`, `regressions:p<0.05`.

    expressions = expression { "," expression }
    expression  = [ (task | "*") "." ] measure compare number
    measure     = a verdict | "memory_held" | "facts_held" | "shown_tokens" | "regressions" [ ":" "p" ]
                | a measure or a label of a suite, after the suite's name: meme.score<0.3
    compare     = "<" | "<=" | ">" | ">="

Rates and p-values lie between 0 and 1, and a number of regressions is whole. `shown_tokens` is the mean number of tokens
shown per question. `*` means each task.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from math import inf
from types import MappingProxyType
from typing import Final

from pytest_memfail.core import GRADED, Suite, UnknownNameError, UsageError

OPTION: Final = "--memfail-fail-on"
MEMORY_HELD: Final = "memory_held"
REGRESSIONS: Final = "regressions"
FACTS_HELD: Final = "facts_held"
SHOWN_TOKENS: Final = "shown_tokens"
MEASURES: Final = (*GRADED, MEMORY_HELD, FACTS_HELD, SHOWN_TOKENS, REGRESSIONS)
COUNTED: Final = (REGRESSIONS, SHOWN_TOKENS)
"""Measures that are no shares."""
EACH: Final = "*"
COMPARE: Final[Mapping[str, Callable[[float, float], bool]]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}
DEFAULT: Final = "regressions:p<0.04,*.regressions:p<0.01"
"""The default with a baseline: a loss over all questions, or a clear loss in any one task (p after Holm's correction).

The two levels add up to 0.05, so without a change at most one run in twenty fails, however the two tests are related.
"""
ANCHOR_DEFAULT: Final = "regressions:p<0.01,*.regressions:p<0.005"
"""The default with an anchor. Its levels are lower: losses since the anchor add up, while chance variation does not."""

_PARTS = re.compile(
    r"(?P<task>(?:[^\s<>=!:.]*\s*\.\s*)*)"  # a task's name may hold dots: the measure is what follows the last
    r"(?P<measure>[^\s<>=!:.]*)\s*"
    r"(?:(?P<colon>:)(?P<p>\s*p\s*(?![\w.]))?)?"
    r"\s*(?P<compare><=|>=|<|>|)\s*(?P<number>.*)",
    re.DOTALL,
)
"""The parts of an expression; any of them may be wrong or empty."""
_NUMBER = re.compile(r"\d+(\.\d*)?([eE][-+]?\d+)?|\.\d+")


@dataclass(frozen=True, slots=True)
class Expression:
    """One condition under which the gate fails."""

    text: str
    task: str | None
    """A task, `*` for each, None for all questions together."""
    measure: str
    significance: bool
    """Whether the p-value is compared, not the number."""
    compare: str
    number: float
    column: int = 1
    """Its column in the text given, from 1."""

    def holds(self, value: float) -> bool:
        """Return whether a value makes the gate fail."""
        return COMPARE[self.compare](value, self.number)

    @property
    def needs_baseline(self) -> bool:
        """Whether it compares with an earlier run."""
        return self.measure == REGRESSIONS


def parse_expressions(text: str, of_suites: Mapping[str, Collection[str]] = MappingProxyType({})) -> list[Expression]:
    """Return the expressions of a comma-separated list; `of_suites` holds the measures and labels of each suite.

    Raises `UsageError` naming the column of a fault, and `UnknownNameError` for an unknown measure.
    """
    found, start = [], 0
    for part in text.split(","):
        blanks = len(part) - len(part.lstrip())
        found.append(_Parser(text, start + blanks, start + len(part.rstrip()), of_suites).expression())
        start += len(part) + 1
    return found


def measures_of(suites: Iterable[Suite]) -> dict[str, tuple[str, ...]]:
    """Return the measures and labels of each suite that a gate accepts besides the common measures."""
    return {suite.name: (*(measure.name for measure in suite.measures), *suite.labels) for suite in suites}


def check_tasks(expressions: Iterable[Expression], tasks: Iterable[str]) -> None:
    """Raise `UnknownNameError` if an expression names a task that the run does not have."""
    known = list(tasks)
    for expression in expressions:
        if expression.task not in (None, EACH, *known):
            raise UnknownNameError("task", str(expression.task), known, f"in {OPTION} {expression.text!r}")


class _Parser:
    """One expression within the text of an option; a fault is named with its column in that text."""

    def __init__(self, text: str, start: int, end: int, of_suites: Mapping[str, Collection[str]]) -> None:
        self._text, self._start, self._end, self._of_suites = text, start, end, of_suites

    def expression(self) -> Expression:
        if self._start >= self._end:
            raise self._wrong(self._start, "an expression such as correct<0.80", "nothing")
        parts = _PARTS.match(self._text, self._start, self._end)
        assert parts is not None
        task, measure, significance = parts["task"].rstrip()[:-1].strip(), parts["measure"], parts["p"] is not None
        if parts["task"] and not task:
            raise self._wrong(self._start, "a task, or * for each", "no name before the dot")
        self._check_measure(measure, task, parts.start("measure"))
        if parts["colon"] and measure != REGRESSIONS:
            raise self._wrong(parts.start("colon"), f"< or > and a number; only {REGRESSIONS} have a p")
        if parts["colon"] and not significance:
            raise self._wrong(parts.end("colon"), "p")
        # a gate that fails on a large p would stop harmless runs and pass harmful ones
        symbols = [symbol for symbol in COMPARE if symbol[0] == "<" or not significance]
        if parts["compare"] not in symbols:
            raise self._wrong(parts.start("compare"), " or ".join(sorted(symbols)))
        number = self._number(measure, significance, parts.start("number"))
        self._check_decides(measure, COMPARE[parts["compare"]], number, parts.start("compare"))
        source = self._text[self._start : self._end]
        return Expression(source, task or None, measure, significance, parts["compare"], number, self._start + 1)

    def _check_measure(self, measure: str, task: str, at: int) -> None:
        known = [*MEASURES, *self._of_suites.get(task, ())]
        if not measure:
            raise self._wrong(at, f"a measure: {', '.join(known)}")
        if measure not in known and (owner := next((s for s, of in self._of_suites.items() if measure in of), None)):
            got = f"{task}.{measure}" if task else measure
            expected = f"'{owner}.{measure}': a measure or label of a suite, after the suite's name"
            raise self._wrong(at, expected, f"{got!r}")
        if measure not in known:
            raise UnknownNameError("measure", measure, known, f"{OPTION} {self._text!r}, column {at + 1}")

    def _number(self, measure: str, significance: bool, at: int) -> float:
        given = self._text[at : self._end]
        if not _NUMBER.fullmatch(given):
            raise self._wrong(at, "a number such as 0.80")
        number = float(given)
        if significance and not 0 < number < 1:
            raise self._wrong(at, "a p-value between 0 and 1", given)
        if measure == REGRESSIONS and not significance and not number.is_integer():
            raise self._wrong(at, "a whole number of questions", given)
        if measure not in COUNTED and number > 1:
            raise self._wrong(at, "a share between 0 and 1", given)
        return number

    def _check_decides(self, measure: str, holds: Callable[[float, float], bool], number: float, at: int) -> None:
        """Refuse a condition that is the same for the least and the greatest value: it is the same for all between."""
        most, between = (inf, "from 0 up") if measure in COUNTED else (1, "between 0 and 1")
        if measure in MEASURES and holds(0, number) == holds(most, number):
            met = "every" if holds(0, number) else "no"
            got = f"{self._text[at : self._end]!r}, met by {met} number {between}"
            raise self._wrong(at, "a condition that can be met and missed", got)

    def _wrong(self, at: int, expected: str, got: str = "") -> UsageError:
        """Return the error at a place; without `got`, it quotes what is there."""
        rest = self._text[at : self._end]
        got = got or (repr(rest) if rest else "the end")
        return UsageError(f"{OPTION} {self._text!r}, column {at + 1}: got {got}, expected {expected}")
