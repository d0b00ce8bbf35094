"""What a run adds up to: verdicts per task, rates over what was graded, what the stores cost."""

from __future__ import annotations

import statistics as stats
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from pytest_memfail.core import CORRECT, ERROR, GRADED, VERDICTS
from pytest_memfail.results.baseline import Entry, Key
from pytest_memfail.results.record import Line
from pytest_memfail.results.statistics import Rate, wilson

if TYPE_CHECKING:
    from pytest_memfail.results.gate import Gate

MAX_ERROR_SHARE: Final = 0.1
"""Above this share of errors the rates of a run are no longer trusted (exit code 6)."""


@dataclass(frozen=True, slots=True)
class Tally:
    """The verdicts of a task, or of all."""

    name: str
    verdicts: Mapping[str, int]
    vacuous: int
    held: int
    """Questions whose facts were all stored, faithful and retrieved."""
    tested: int
    """Questions whose memory stages were decided, vacuous passes left out."""
    facts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Verdicts per expected fact, by stratum (N, hops); only for tasks with several facts."""
    repeated: int = 0
    """Questions that were asked more than once."""
    unsteady: int = 0
    """Those of them that did not come out the same each time."""

    @property
    def n(self) -> int:
        """All questions."""
        return sum(self.verdicts.values())

    @property
    def graded(self) -> int:
        """Questions with a verdict that counts."""
        return sum(self.verdicts[name] for name in GRADED)

    @property
    def flip_rate(self) -> Rate:
        """The share of repeated questions that did not come out the same each time."""
        return wilson(self.unsteady, self.repeated)

    @property
    def memory_held(self) -> Rate:
        """The share of tested questions whose memory stages all held; needs no test-taker."""
        return wilson(self.held, self.tested)

    @property
    def correct(self) -> Rate:
        """The share of graded questions that are correct, vacuous passes in (as the paper counts)."""
        return wilson(self.verdicts[CORRECT], self.graded)

    @property
    def correct_without_vacuous(self) -> Rate:
        """The same, vacuous passes left out of both."""
        return wilson(self.verdicts[CORRECT] - self.vacuous, self.graded - self.vacuous)


@dataclass(frozen=True, slots=True)
class StoreFigures:
    """What the stores of a task cost and hold."""

    name: str
    stores: int
    conversations: int
    memories: int
    tokens: int | None
    fill_seconds: float
    retrieve_p50: float | None
    retrieve_p95: float | None


@dataclass(frozen=True, slots=True)
class Summary:
    """Everything the end of a run shows."""

    tasks: tuple[Tally, ...]
    total: Tally
    stores: tuple[StoreFigures, ...]
    warnings: tuple[str, ...]
    answered: bool
    """Whether any answer was judged; without a test-taker the rate of correct answers means nothing."""
    protocol: str
    record: str | None = None
    models: tuple[Mapping[str, Any], ...] = ()
    """Calls, tokens and cost by stage and model."""
    budget_ran_out: bool = False
    gate: Gate | None = None

    @property
    def untrusted(self) -> str | None:
        """Why this run gives no trustworthy result, or None if it does."""
        total = self.total
        errors = total.verdicts[ERROR]
        if total.n == 0:
            return None
        if self.budget_ran_out:
            return f"the budget ran out: {errors} of {total.n} questions are errors"
        if total.graded == 0 and total.tested == 0:
            return f"no verdict: {errors} of {total.n} questions are errors, the others ungraded"
        if errors > MAX_ERROR_SHARE * total.n:
            return f"too many errors: {errors} of {total.n} questions, at most {MAX_ERROR_SHARE:.0%} are trusted"
        return None


class SummaryBuilder:
    """Takes lines as they come; a question seen again (a rerun) replaces what it was."""

    def __init__(self, protocol: str = "ours") -> None:
        self._protocol = protocol
        # by store, question and k, not by item: a user's own test may ask what the benchmark's item asks
        self._questions: dict[
            tuple[str, ...],
            tuple[str, str, bool, bool | None, str, tuple[str, ...], float | None, str | None, tuple[str, ...]],
        ] = {}
        self._ids: dict[tuple[str, ...], str] = {}
        self._stores: list[dict[str, Any]] = []
        self._answered = False
        self._budget_ran_out = False

    def add(self, line: Line) -> None:
        """Count a question or a store; other lines are ignored."""
        if line["type"] == "question":
            key = (line["task"], line["store"], line["question"], str(line["k"]))
            self._ids[key] = line["id"]
            self._questions[key] = (
                line["task"],
                line["verdict"],
                line.get("vacuous", False),
                line.get("memory_held"),
                line["stratum"],
                tuple(fact["verdict"] for fact in line.get("facts", ())),
                line.get("seconds", {}).get("retrieve"),
                line.get("row"),
                tuple(line.get("repeats", ())),
            )
            self._budget_ran_out |= line.get("error", {}).get("type") == "BudgetError"
            self._answered |= line.get("answer", {}).get("outcome") in ("passed", "failed")
        elif line["type"] == "store":
            self._stores.append({name: value for name, value in line.items() if name != "listings"})

    @property
    def verdicts(self) -> dict[str, str]:
        """The verdict of each question, by its id."""
        return {self._ids[key]: question[1] for key, question in self._questions.items()}

    @property
    def entries(self) -> dict[Key, Entry]:
        """What became of each question, by question and k."""
        return {
            (task, store, name, int(k)): Entry(
                self._ids[key], task, store, name, int(k), question[1], question[3], question[2], question[7]
            )
            for key, question in self._questions.items()
            for task, store, name, k in [key]
        }

    def build(
        self, order: Iterable[str] = (), record: str | None = None, models: Iterable[Mapping[str, Any]] = ()
    ) -> Summary:
        """The summary, tasks in the given order (others follow)."""
        names = list(dict.fromkeys([*order, *(q[0] for q in self._questions.values())]))
        tasks = [self._tally(name, [q for q in self._questions.values() if q[0] == name]) for name in names]
        tasks = [tally for tally in tasks if tally.n]
        return Summary(
            tasks=tuple(tasks),
            total=self._tally("all", list(self._questions.values())),
            stores=tuple(self._figures(tally.name) for tally in tasks),
            warnings=tuple(self._warnings()),
            answered=self._answered,
            protocol=self._protocol,
            record=record,
            models=tuple(models),
            budget_ran_out=self._budget_ran_out,
        )

    def _tally(self, name: str, questions: list[Any]) -> Tally:
        verdicts = Counter(dict.fromkeys(VERDICTS, 0))
        verdicts.update(q[1] for q in questions)
        facts: dict[str, Counter[str]] = {}
        for _, _, _, _, stratum, fact_verdicts, *_ in questions:
            if len(fact_verdicts) > 1:
                facts.setdefault(stratum, Counter()).update(fact_verdicts)
        return Tally(
            name,
            verdicts,
            vacuous=sum(q[2] for q in questions),
            held=sum(q[3] is True for q in questions),
            tested=sum(q[3] is not None for q in questions),
            facts={stratum: facts[stratum] for stratum in sorted(facts)},
            repeated=sum(len(q[8]) > 1 for q in questions),
            unsteady=sum(len(set(q[8])) > 1 for q in questions),
        )

    def _figures(self, name: str) -> StoreFigures:
        stores = [line for line in self._stores if line["task"] == name]
        tokens = [line["tokens"] for line in stores]
        seconds = sorted(q[6] for q in self._questions.values() if q[0] == name and q[6] is not None)
        return StoreFigures(
            name,
            stores=len(stores),
            conversations=sum(line["conversations"] for line in stores),
            memories=sum(line["memories"] for line in stores),
            tokens=None if not stores or None in tokens else sum(tokens),
            fill_seconds=sum(line["fill_seconds"] for line in stores),
            retrieve_p50=stats.median(seconds) if seconds else None,
            retrieve_p95=seconds[min(len(seconds) - 1, round(0.95 * (len(seconds) - 1)))] if seconds else None,
        )

    def _warnings(self) -> Iterable[str]:
        for line in self._stores:
            more, less = line["changed_by_queries"]
            if more or less:
                yield (f"the store of {line['task']} changed while asked (+{more} -{less}); queries must not write")
