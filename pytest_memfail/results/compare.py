"""Compare runs on the same questions: a run with an earlier one, and several records side by side.

Questions of one row (the three about one text, say) and one question at several k depend on each other. Counts are
of questions, but p-values treat a row as a whole (see `by_row`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_memfail.core import (
    CORRECT,
    ERROR,
    FAILURES,
    LEFT_OPEN,
    MEMORY_FAILURES,
    REASONING_ERROR,
    WRONGLY_HELD,
    Comparable,
    Key,
    Measure,
    QuestionRecord,
    Unit,
    UsageError,
)
from pytest_memfail.records import DATA, VARIANT, Comparison, Flip, Paired, Rate, SuiteRecord, differences
from pytest_memfail.results.runs import Loaded, labels
from pytest_memfail.results.statistics import bootstrap, by_row, correct_together
from pytest_memfail.results.summary import HELD, TOTAL, Summary, Tally, counted_by, success, suite_measures

# -- a run against an earlier one --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pair:
    """A question that two runs asked."""

    old: Comparable
    new: Comparable
    change: str | None
    """`worse`, `better` or `same`; None if the two cannot be compared."""


def change_of(old: Comparable, new: Comparable, protocol: str) -> str | None:
    """Return how an outcome changed: `worse`, `better` or `same`; None if the two cannot be compared.

    A vacuous pass is no result, except in the published reading. An answer that was not judged in one of the runs says
    nothing about a reasoning error in the other.
    """
    for entry, other in ((old, new), (new, old)):
        if entry.vacuous and protocol != "paper":
            return None
        if not (entry.failed or entry.held):
            return None
        if entry.verdict in LEFT_OPEN and other.verdict == REASONING_ERROR:
            return None
    if old.failed == new.failed:
        return "same"
    return "worse" if new.failed else "better"


def compare(
    before: Mapping[Key, Comparable], now: Mapping[Key, Comparable], tasks: Sequence[str], protocol: str
) -> Comparison:
    """Compare an earlier run with this one, tasks (or their parts) in the given order."""
    place = {task: i for i, task in enumerate(tasks)}
    # in a fixed order: questions come as they end, and in another order under xdist
    keys = sorted(now.keys() & before.keys(), key=lambda key: (place.get(now[key].group, len(place)), key))
    pairs = [Pair(before[key], now[key], change_of(before[key], now[key], protocol)) for key in keys]
    counted = [pair for pair in pairs if pair.change is not None]
    new = [outcome for key, outcome in now.items() if key not in before]
    by_task = {name: found for name in tasks if (found := [pair for pair in counted if pair.new.group == name])}
    rows = _balances(counted)
    return Comparison(
        total=_paired(TOTAL, counted),
        tasks=tuple(correct_together([_paired(name, found) for name, found in by_task.items()])),
        verdicts={name: _verdicts(found) for name, found in by_task.items()},
        flips=tuple(
            Flip(
                pair.new.id,
                pair.new.group,
                pair.old.state,
                pair.new.state,
                pair.change if pair.change in ("worse", "better") else "other",
            )
            for pair in pairs
            if pair.old.state != pair.new.state
        ),
        added=len(new),
        added_failing=sum(outcome.failed for outcome in new),
        missing=sum(key not in now for key in before),
        uncounted=sum(pair.change is None and not (pair.old.vacuous and pair.new.vacuous) for pair in pairs),
        undecided=sum(pair.old.is_undecided or pair.new.is_undecided for pair in pairs),
        estimated=sum(pair.new.is_estimated for pair in counted),
        rows=len(rows),
        rows_worse=sum(balance > 0 for balance in rows),
        rows_better=sum(balance < 0 for balance in rows),
        failed_before={
            name: sum(pair.change == "better" or (pair.change == "same" and pair.old.failed) for pair in found)
            for name, found in {TOTAL: counted, **by_task}.items()
        },
    )


def _paired(name: str, counted: Sequence[Pair], *, one_sided: bool = True) -> Paired:
    changes = [pair.change for pair in counted]
    p = by_row(_balances(counted), one_sided=one_sided)
    return Paired(name, len(counted), changes.count("worse"), changes.count("better"), p)


def _balances(counted: Iterable[Pair]) -> list[int]:
    """Return regressions minus fixes, per row."""
    balance: Counter[tuple[str, ...]] = Counter()
    for pair in counted:
        balance[pair.new.cluster_key] += {"worse": 1, "better": -1}.get(pair.change or "", 0)
    return list(balance.values())


def _verdicts(pairs: Sequence[Pair]) -> tuple[Paired, ...]:
    found = []
    gained_or_lost = {(False, True): "worse", (True, False): "better"}
    for verdict in (CORRECT, *FAILURES):
        changes = [
            replace(pair, change=gained_or_lost.get((pair.old.verdict == verdict, pair.new.verdict == verdict), "same"))
            for pair in pairs
        ]
        paired = _paired(verdict, changes, one_sided=False)
        if paired.worse or paired.better:
            found.append(paired)
    return tuple(found)


# -- records side by side ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Row:
    """A task in one record, at one k if there are several."""

    tally: Tally
    k: int | None
    """None if the task was asked at a single k in all records."""
    record: int
    success: Rate
    """Correct answers; without a test-taker, questions whose memory held."""
    failures: dict[str, Rate]
    """The rate of each failure among the graded questions; without a test-taker, as `Tally.lost` counts it."""
    tokens: float | None
    """Tokens per memory."""
    abstention: Rate | None
    """The abstention rate of questions that must not use their facts; None if there are none, or no answer was judged."""
    approximate: bool = False
    """Whether the tokens were counted approximately."""

    @property
    def task(self) -> str:
        """Return the name of the task, or of all."""
        return self.tally.name


@dataclass(frozen=True, slots=True)
class Flips:
    """A task in the first record and in another, over the questions decided in both."""

    task: str
    k: int | None
    record: int
    n: int
    worse: int
    better: int
    p: float
    """Exact McNemar test, two-sided, with the questions of a row taken together (see `by_row`)."""


@dataclass(frozen=True, slots=True)
class Shift:
    """A measure of a suite in another record minus that in the first, over the questions of both."""

    suite: str
    k: int
    measure: str
    record: int
    clusters: int
    """Number of clusters of dependent questions."""
    difference: float
    low: float | None
    """Lower bound of the 95 % interval, by a paired bootstrap over clusters; None for too few clusters."""
    high: float | None
    unit: Unit
    """The unit of the measure (`Measure.unit`)."""


@dataclass(frozen=True, slots=True)
class Moved:
    """The questions that failed in only one of the first record and another."""

    record: int
    n: int
    """Questions that both decided."""
    p: float
    """As in `Flips`."""
    flips: tuple[Flip, ...]
    """The questions that got worse, then those that got better."""

    @property
    def worse(self) -> tuple[Flip, ...]:
        """Return the questions that failed only in the other record."""
        return tuple(flip for flip in self.flips if flip.change == "worse")

    @property
    def better(self) -> tuple[Flip, ...]:
        """Return the questions that failed only in the first record."""
        return tuple(flip for flip in self.flips if flip.change == "better")


@dataclass(frozen=True, slots=True)
class SideBySide:
    """The comparison of several records."""

    labels: tuple[str, ...]
    measure: str
    """The measure of success: `correct`, or `memory held` if a run has no answers."""
    rows: tuple[Row, ...]
    flips: tuple[Flips, ...]
    notes: tuple[str, ...]
    """Differences between the runs that may explain different rates."""
    moved: tuple[Moved, ...] = ()
    """What got worse and better in each further record."""
    suites: tuple[tuple[int, SuiteRecord], ...] = ()
    """The results of the suites' own measures, each with the index of its record."""
    shifts: tuple[Shift, ...] = ()
    """Differences of these measures from those of the first record, for installed suites."""


def side_by_side(records: Sequence[Loaded]) -> SideBySide:
    """Compare several records; the others are tested against the first.

    Raises `UsageError` if the records have different data or no task in common, and so different questions.
    """
    for other in records[1:]:
        for name, before, now in differences(records[0].header, other.header):
            if name == "tasks" and not {*before} & {*now}:
                here, first = ", ".join(now), ", ".join(before)
                raise UsageError(f"{other.path}: got {here}, expected any task of {records[0].path}: {first}")
            if name.startswith((DATA, VARIANT)):
                what = "has the hash" if name.startswith(DATA) else "is"
                raise UsageError(
                    f"{other.path}: {name} {what} {now[:12]}, in {records[0].path} {before[:12]}: not the same questions"
                )
    summaries = [record.summary() for record in records]
    answered = all(summary.answered for summary in summaries)
    failures = [
        name for name in (FAILURES if answered else MEMORY_FAILURES) if name != WRONGLY_HELD or _occurs(name, summaries)
    ]
    tasks = list(dict.fromkeys(tally.name for summary in summaries for tally in summary.tasks))
    names = [*tasks, *([TOTAL] if len(tasks) > 1 else [])]
    ks = _several_ks(records)
    at: dict[tuple[int, int | None], Summary] = {
        (i, k): run.summary_of(q for q in run.questions if q.k == k) for i, run in enumerate(records) for k in ks[TOTAL]
    }
    return SideBySide(
        labels=tuple(labels(records)),
        measure=CORRECT if answered else HELD,
        rows=tuple(
            _row(tally, k, i, summaries[i], records[i].protocol, answered, failures)
            for name in names
            for k in ks.get(name) or (None,)
            for i in range(len(records))
            if (tally := at.get((i, k), summaries[i]).tally(name)) is not None and tally.n
        ),
        flips=tuple(
            flips
            for name in names
            for i in range(1, len(records))
            for flips in _flips(name, ks.get(name) or (None,), i, records, answered)
        ),
        notes=tuple(_notes(records, summaries)),
        moved=tuple(_moved(i, records[0], records[i]) for i in range(1, len(records))),
        suites=tuple((i, suite) for i, summary in enumerate(summaries) for suite in summary.suites),
        shifts=tuple(shift for i in range(1, len(records)) for shift in _shifts(i, records[0], records[i])),
    )


def twins(first: Loaded, other: Loaded) -> list[Pair]:
    """Return the questions that two records asked, with how their outcomes changed, in the order of the other record.

    With one k each, questions are paired across k: k itself is then compared.
    """
    parts = 3 if len(first.ks) == len(other.ks) == 1 else 4
    before = {question.key[:parts]: question for question in first.questions}
    pairs = ((old, new) for new in other.questions if (old := before.get(new.key[:parts])) is not None)
    return [Pair(old, new, change_of(old, new, other.protocol)) for old, new in pairs]


def _moved(record: int, first: Loaded, other: Loaded) -> Moved:
    pairs = [pair for pair in twins(first, other) if pair.change is not None]
    paired = _paired(TOTAL, pairs, one_sided=False)
    flips = [
        Flip(pair.new.id, pair.new.group, pair.old.state, pair.new.state, change)
        for change in ("worse", "better")
        for pair in pairs
        if pair.change == change
    ]
    return Moved(record, paired.n, paired.p, tuple(flips))


def succeeded(question: QuestionRecord, *, answered: bool, protocol: str) -> bool | None:
    """Return whether a question succeeded; None if that was not decided."""
    if question.verdict == ERROR:
        return None
    if not answered:
        return question.counts_as_held
    if question.verdict in LEFT_OPEN or (question.vacuous and protocol != "paper"):
        return None
    return question.verdict == CORRECT


def _occurs(verdict: str, summaries: Sequence[Summary]) -> bool:
    return any(summary.total.states[verdict] for summary in summaries)


def _row(
    tally: Tally, k: int | None, record: int, summary: Summary, protocol: str, answered: bool, failures: Sequence[str]
) -> Row:
    rate = success(tally, answered=answered, protocol=protocol)
    with_vacuous = protocol == "paper"
    stores = [figures for figures in summary.stores if tally.name in (figures.task, TOTAL)]
    tokens, memories = [figures.tokens for figures in stores], sum(figures.memories for figures in stores)
    return Row(
        tally,
        k,
        record,
        rate,
        {name: tally.share(name, with_vacuous=with_vacuous) if answered else tally.lost(name) for name in failures},
        None if not memories or None in tokens else sum(t for t in tokens if t is not None) / memories,
        tally.abstention if answered and tally.abstention.n else None,
        summary.approximate is not None,
    )


def _flips(task: str, ks: Sequence[int | None], i: int, runs: Sequence[Loaded], answered: bool) -> Iterator[Flips]:
    # with one k each, questions are paired across k: k itself is then compared
    by_question = len(runs[0].ks) == len(runs[i].ks) == 1
    before, after = (
        {
            (*question.key[:3], 0 if by_question else question.k): (question, came_out)
            for question in loaded.questions
            if task in (question.group, TOTAL)
            and (came_out := succeeded(question, answered=answered, protocol=loaded.protocol)) is not None
        }
        for loaded in (runs[0], runs[i])
    )
    changes = {(True, False): "worse", (False, True): "better"}
    pairs = [
        Pair(before[key][0], after[key][0], changes.get((before[key][1], after[key][1]), "same"))
        for key in before.keys() & after.keys()
    ]
    for k in (None,) if by_question else ks:
        if at := [pair for pair in pairs if k in (None, pair.new.k)]:
            paired = _paired(task, at, one_sided=False)
            yield Flips(task, k, i, paired.n, paired.worse, paired.better, paired.p)


def _shifts(record: int, first: Loaded, other: Loaded) -> Iterator[Shift]:
    """Yield the differences of the common measures of two records, except counts."""
    if first.protocol != other.protocol:
        return
    for suite in first.suites:
        tasks = {name for name, task in first.header.tasks.items() if task.suite == suite.name}
        before, after = ({k: q for k, q in run.outcomes.items() if q.task in tasks} for run in (first, other))
        common = sorted(before.keys() & after.keys())
        for k in sorted({before[key].k for key in common if before[key].part not in suite.part_k}):
            asked = [key for key in common if before[key].k == k or before[key].part in suite.part_k]
            for measure in suite_measures(suite, first.protocol):
                clusters: dict[tuple[str, ...], list[Key]] = {}
                for key in asked:
                    # an error in one record would leave the other with more questions
                    if measure.with_errors or ERROR not in (before[key].verdict, after[key].verdict):
                        clusters.setdefault(before[key].cluster_key, []).append(key)
                groups = list(clusters.values())
                difference = _difference(measure, before, after, groups)
                if measure.unit == "count" or not groups or (value := difference(range(len(groups)))) is None:
                    continue
                low, high = bootstrap(len(groups), difference, seed=first.header.seed) or (None, None)
                yield Shift(suite.name, k, measure.name, record, len(groups), value, low, high, measure.unit)


def _difference(
    measure: Measure, before: Mapping[Key, QuestionRecord], after: Mapping[Key, QuestionRecord], groups: list[list[Key]]
) -> Callable[[Sequence[int]], float | None]:
    runs = [[counted_by(measure, [run[key] for key in group]) for group in groups] for run in (before, after)]

    def of(drawn: Sequence[int]) -> float | None:
        old, new = (measure.of([question for at in drawn for question in run[at]]).value for run in runs)
        return None if old is None or new is None else new - old

    return of


def _several_ks(records: Sequence[Loaded]) -> dict[str, list[int]]:
    """Return the values of k of each task that was asked at several, and of all such tasks together."""
    asked = {(question.group, question.k) for record in records for question in record.questions}
    several = {n: ks for n, _ in asked if len(ks := sorted(k for name, k in asked if name == n)) > 1}
    return several | {TOTAL: sorted({k for ks in several.values() for k in ks})}


def _notes(records: Sequence[Loaded], summaries: Sequence[Summary]) -> Iterator[str]:
    names = labels(records)
    for name, record, summary in zip(names, records, summaries, strict=True):
        if not record.complete:
            yield f"{name}: the run did not end, or not all that was selected has a result"
        if summary.untrusted is not None:
            yield f"{name}: no trustworthy result: {summary.untrusted}"
    for name, other in zip(names[1:], records[1:], strict=True):
        differing = [field for field, _, _ in differences(records[0].header, other.header) if field != "system"]
        if differing:
            yield f"{name} differs from {names[0]} in: {', '.join(differing)}"
