"""Several records side by side: rates of each verdict, paired tests, success by k, what a memory weighs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pytest_memfail.core import CORRECT, ERROR, FAILURES, UNGRADED, UsageError
from pytest_memfail.results.baseline import cluster_of
from pytest_memfail.results.kept import differences
from pytest_memfail.results.loaded import Loaded, labels
from pytest_memfail.results.record import Line
from pytest_memfail.results.statistics import Rate, by_row, wilson
from pytest_memfail.results.summary import MISLEADING, Summary, Tally

TOTAL: Final = "all"
HELD: Final = "memory held"
DATA: Final = "data of "


@dataclass(frozen=True, slots=True)
class Row:
    """A task in one record."""

    task: str
    record: int
    n: int
    success: Rate
    """Correct answers; without a test-taker, questions whose memory held."""
    failures: dict[str, Rate]
    """Of the questions decided, those that failed so; without a test-taker misleading ones too."""
    tokens: float | None
    """Tokens per memory."""
    facts_held: Rate
    shown_tokens: float | None
    """Tokens shown per question."""
    shown_share: float | None
    """The share of its store, by tokens, that a question was shown."""
    abstention: Rate | None
    """Of the misleading questions; None where there are none, or no answer was judged."""
    approximate: bool = False
    """Whether the tokens were counted approximately."""


@dataclass(frozen=True, slots=True)
class Flips:
    """A task in the first record and in another, over the questions decided in both."""

    task: str
    record: int
    n: int
    worse: int
    better: int
    p: float
    """Exact McNemar test, two-sided; it takes the questions of a row together (see `by_row`)."""


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Everything that is shown of several records."""

    labels: tuple[str, ...]
    measure: str
    """What success is: `correct`, or `memory held` where a run had no test-taker."""
    rows: tuple[Row, ...]
    flips: tuple[Flips, ...]
    by_k: tuple[tuple[int, int, Rate], ...]
    """Record, k and success over all tasks; only if there are several k."""
    notes: tuple[str, ...]
    """In what the runs differ: a difference of rates may come from there."""


def side_by_side(records: Sequence[Loaded]) -> SideBySide:
    """Put records side by side; the first is what the others are tested against.

    Raises `UsageError` for records of other data, whose questions are not the same.
    """
    for other in records[1:]:
        for name, before, now in differences(records[0].header, other.header):
            if name.startswith(DATA):
                raise UsageError(
                    f"{other.path}: {name} has the hash {now[:12]}, in {records[0].path} {before[:12]}: not the same questions"
                )
    summaries = [record.summary() for record in records]
    answered = all(summary.answered for summary in summaries)
    tasks = list(dict.fromkeys(tally.name for summary in summaries for tally in summary.tasks))
    names = [*tasks, *([TOTAL] if len(tasks) > 1 else [])]
    several = len({k for record in records for k in record.ks}) > 1
    return SideBySide(
        labels=tuple(labels(records)),
        measure=CORRECT if answered else HELD,
        rows=tuple(
            _row(tally, i, summaries[i], records[i].protocol, answered)
            for name in names
            for i in range(len(records))
            if (tally := _tally(summaries[i], name)) is not None
        ),
        flips=tuple(
            flips
            for name in names
            for i in range(1, len(records))
            if (flips := _flips(name, i, records[0], records[i], answered)) is not None
        ),
        by_k=tuple(_by_k(records, answered)) if several else (),
        notes=tuple(_notes(records)),
    )


def succeeded(line: Line, *, answered: bool, protocol: str) -> bool | None:
    """Whether a question came out right; None where that was not decided."""
    if line["verdict"] == ERROR:
        return None
    if not answered:
        return None if line.get("kind") == MISLEADING else line.get("memory_held")
    if line["verdict"] == UNGRADED or (line.get("vacuous") and protocol != "paper"):
        return None
    return bool(line["verdict"] == CORRECT)


def success(tally: Tally, *, answered: bool, protocol: str) -> Rate:
    """The rate that a run is judged by."""
    if not answered:
        return tally.memory_held
    return tally.correct if protocol == "paper" else tally.correct_without_vacuous


def _row(tally: Tally, record: int, summary: Summary, protocol: str, answered: bool) -> Row:
    rate = success(tally, answered=answered, protocol=protocol)
    stores = [figures for figures in summary.stores if tally.name in (figures.name, TOTAL)]
    tokens, memories = [figures.tokens for figures in stores], sum(figures.memories for figures in stores)
    return Row(
        tally.name,
        record,
        tally.n,
        rate,
        {name: wilson(tally.verdicts[name], rate.n if answered else tally.decided) for name in _columns(answered)},
        None if not memories or None in tokens else sum(t for t in tokens if t is not None) / memories,
        tally.facts_held,
        tally.shown_tokens,
        tally.shown_share,
        tally.abstention if answered and tally.abstention.n else None,
        summary.approximate is not None,
    )


def _columns(answered: bool) -> tuple[str, ...]:
    return FAILURES if answered else FAILURES[:3]


def _tally(summary: Summary, name: str) -> Tally | None:
    if name == TOTAL:
        return summary.total
    return next((tally for tally in summary.tasks if tally.name == name), None)


def _flips(task: str, record: int, first: Loaded, other: Loaded, answered: bool) -> Flips | None:
    # with one k each, a question is paired across them: k is then what is compared
    by_question = len(first.ks) == len(other.ks) == 1
    outcomes = []
    rows: dict[tuple[str, ...], tuple[str, ...]] = {}
    for loaded in (first, other):
        found: dict[tuple[str, ...], bool] = {}
        for line in loaded.questions:
            came_out = succeeded(line, answered=answered, protocol=loaded.protocol)
            if task in (line["task"], TOTAL) and came_out is not None:
                place = line["task"], line["store"], line["question"]
                key: tuple[str, ...] = (*place, "" if by_question else str(line["k"]))
                found[key] = came_out
                rows[key] = cluster_of(*place, line.get("row"))
        outcomes.append(found)
    before, after = outcomes
    both = before.keys() & after.keys()
    if not both:
        return None
    worse = sum(before[key] and not after[key] for key in both)
    better = sum(after[key] and not before[key] for key in both)
    balances: Counter[tuple[str, ...]] = Counter()
    for key in both:
        balances[rows[key]] += before[key] - after[key]
    return Flips(task, record, len(both), worse, better, by_row(balances.values()))


def _by_k(records: Sequence[Loaded], answered: bool) -> Iterator[tuple[int, int, Rate]]:
    for i, record in enumerate(records):
        for k in record.ks:
            summary = record.summary([line for line in record.questions if line["k"] == k])
            yield i, k, success(summary.total, answered=answered, protocol=record.protocol)


def _notes(records: Sequence[Loaded]) -> Iterator[str]:
    first = records[0]
    names = labels(records)
    for name, record in zip(names, records, strict=True):
        if not record.complete:
            yield f"{name}: the run did not end, or not all that was selected has a result"
    for name, other in zip(names[1:], records[1:], strict=True):
        differing = [field for field, _, _ in differences(first.header, other.header) if field != "system"]
        if differing:
            yield f"{name} differs from {names[0]} in: {', '.join(differing)}"
