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
from types import MappingProxyType
from typing import Final

from pytest_memfail.core import GRADED, Suite, UnknownNameError, UsageError

OPTION: Final = "--memfail-fail-on"
MEMORY_HELD: Final = "memory_held"
REGRESSIONS: Final = "regressions"
FACTS_HELD: Final = "facts_held"
SHOWN_TOKENS: Final = "shown_tokens"
MEASURES: Final = (*GRADED, MEMORY_HELD, FACTS_HELD, SHOWN_TOKENS, REGRESSIONS)
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

_NAME = re.compile(r"[^\s<>=!:.]*(?:\s*\.\s*[^\s<>=!:.]*)*\s*")
"""A measure, perhaps after a task and a dot."""
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
    def __init__(self, text: str, start: int, end: int, of_suites: Mapping[str, Collection[str]]) -> None:
        self._text, self._start, self._end, self._at = text, start, end, start
        self._of_suites = of_suites

    def expression(self) -> Expression:
        if self._start >= self._end:
            raise self._wrong("nothing", "an expression such as correct<0.80")
        # a task's name may hold dots: the measure is what follows the last
        left = _NAME.match(self._rest())
        name = left[0] if left else ""
        task, dot, measure = name.rstrip().rpartition(".")
        if dot and not task.strip():
            raise self._wrong("no name before the dot", "a task, or * for each")
        self._at += len(name.rstrip()) - len(measure) + (len(measure) - len(measure.lstrip()))
        self._measure(measure.strip(), task.strip())
        self._at = self._start + len(name)
        significance = self._significance(measure.strip())
        compare = self._compare(significance)
        number = self._number(measure.strip(), significance)
        source = self._text[self._start : self._end]
        return Expression(source, task.strip() or None, measure.strip(), significance, compare, number, self._start + 1)

    def _measure(self, measure: str, task: str) -> None:
        known = [*MEASURES, *self._of_suites.get(task, ())]
        if not measure:
            raise self._wrong(self._shown(), f"a measure: {', '.join(known)}")
        if measure not in known and (owner := next((s for s, of in self._of_suites.items() if measure in of), None)):
            got = f"{task}.{measure}" if task else measure
            raise self._wrong(f"{got!r}", f"'{owner}.{measure}': a measure or label of a suite, after the suite's name")
        if measure not in known:
            raise UnknownNameError("measure", measure, known, f"{OPTION} {self._text!r}, column {self._at + 1}")

    def _significance(self, measure: str) -> bool:
        if not self._rest().startswith(":"):
            return False
        if measure != REGRESSIONS:
            raise self._wrong(self._shown(), f"< or > and a number; only {REGRESSIONS} have a p")
        self._at += 1
        if not re.match(r"\s*p\s*(?![\w.])", self._rest()):
            raise self._wrong(self._shown(), "p")
        self._at += self._rest().index("p") + 1
        return True

    def _compare(self, significance: bool) -> str:
        self._skip()
        # a gate that fails on a large p would stop harmless runs and pass harmful ones
        symbols = [symbol for symbol in COMPARE if symbol[0] == "<" or not significance]
        for symbol in symbols:
            if self._rest().startswith(symbol):
                self._at += len(symbol)
                return symbol
        raise self._wrong(self._shown(), " or ".join(sorted(symbols)))

    def _number(self, measure: str, significance: bool) -> float:
        self._skip()
        rest = self._rest()
        if not _NUMBER.fullmatch(rest):
            raise self._wrong(self._shown(), "a number such as 0.80")
        number = float(rest)
        if significance and not 0 < number < 1:
            raise self._wrong(rest, "a p-value between 0 and 1")
        if measure == REGRESSIONS and not significance and not number.is_integer():
            raise self._wrong(rest, "a whole number of questions")
        if measure not in (REGRESSIONS, SHOWN_TOKENS) and number > 1:
            raise self._wrong(rest, "a share between 0 and 1")
        return number

    def _rest(self) -> str:
        return self._text[self._at : self._end]

    def _skip(self) -> None:
        self._at += len(self._rest()) - len(self._rest().lstrip())

    def _shown(self) -> str:
        return repr(self._rest()) if self._rest() else "the end"

    def _wrong(self, got: str, expected: str) -> UsageError:
        return UsageError(f"{OPTION} {self._text!r}, column {self._at + 1}: got {got}, expected {expected}")
