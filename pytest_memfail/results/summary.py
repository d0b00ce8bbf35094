"""Summarize a run: verdicts per task, rates over graded questions, and the cost of the stores."""

from __future__ import annotations

import statistics as stats
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from pytest_memfail.core import (
    CORRECT,
    ERROR,
    FACT_HELD,
    GRADED,
    MEMORY_FAILURES,
    STATES,
    UNREAD,
    UNSURE,
    VACUOUS,
    WRONGLY_HELD,
    Doubt,
    Measure,
    QuestionRecord,
    Score,
    Suite,
    added_up,
    counted,
)
from pytest_memfail.records import Clue, Gate, Rate, Reference, StoreRecord, SuiteRecord, TaskRecord
from pytest_memfail.results.duplicates import duplicates
from pytest_memfail.results.statistics import clustered, wilson

NOT_ENGLISH: Final = "ungraded: the offline judge reads only English facts and entries; use --memfail-judge=MODEL"
MAX_ERROR_SHARE: Final = 0.1
"""Above this share of errors, or of questions that the judge cannot read, a run is no longer trusted (exit code 6)."""

STOPPING: Final = {"BudgetError": "the budget ran out", "WaitError": ""}
"""Errors after which no model is called any more, with the text that the run shows; "" for the error's message."""

HELD: Final = "memory held"
TOTAL: Final = "all"
"""The name of the tally of all tasks."""
NOTHING: Final = wilson(0, 0)
MANY_DUPLICATES: Final = 0.2
"""Above this share of repeated memories among those shown, a part of k is wasted."""
MOST_OF_THE_STORE: Final = 0.5
"""Above this share of its store shown per question, memory held says little about retrieval."""


@dataclass(frozen=True, slots=True)
class Tally:
    """How the questions of a task, or of all, ended."""

    name: str
    states: Mapping[str, int]
    """Questions by state; they add up to n."""
    held: int
    """Questions whose facts were all stored, faithful and retrieved; those that must not use them are left out."""
    tested: int
    """Questions whose memory stages were decided; vacuous passes, questions that must not use their facts and estimates
    are left out.

    A question that must not use a fact passes vacuously if the fact is lost, but not if it is kept. If such questions counted,
    a memory that loses more would be tested by fewer of them.
    """
    facts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Expected facts by stratum (N, hops) and state, `held` instead of correct; only for tasks with several facts."""
    decided: int = 0
    """Questions whose memory stages were decided, including those that must not use their facts."""
    undecided: int = 0
    """Ungraded questions of which no memory stage was decided."""
    judged: int = 0
    """Questions that failed, or passed all stages that were judged, without vacuous passes. Without answers, verdicts are shares
    of these: one that only names what must not be held has none of the expected facts that `decided` asks for."""
    estimates: Counter[str] = field(default_factory=Counter)
    """By state, questions of which a judge only estimated a stage: they are in no rate of the memory stages."""
    facts_held: Rate = NOTHING
    """The share of single facts of the same questions that were stored, faithful and retrieved."""
    misleading: int = 0
    """Questions that must not use their facts: they ask about somebody of whom nothing is known."""
    abstention: Rate = NOTHING
    """The share of such questions with a verdict that were not answered from somebody else's details, including vacuous passes."""
    shown_tokens: float | None = None
    """Mean tokens shown per question; None if tokens were not counted."""
    shown_share: float | None = None
    """The mean share of its store, by tokens, that a question was shown."""
    duplicate_share: float | None = None
    """The share of the entries shown that repeat a better ranked one; None if none was shown."""
    cut_entries: int = 0
    """Entries returned beyond k."""
    cut_questions: int = 0
    """Questions for which more than k entries were returned."""
    compared: int = 0
    """Tested questions that were decided for the reference too."""
    beyond: int = 0
    """Of these, lost here and held by the reference."""
    better: int = 0
    """Of these, held here and lost by the reference."""
    repeated: int = 0
    """Questions that were asked more than once."""
    unsteady: int = 0
    """Repeated questions whose verdicts differed between repeats."""

    @property
    def n(self) -> int:
        """All questions."""
        return sum(self.states.values())

    @property
    def vacuous(self) -> int:
        """Questions that passed only because there was nothing to misuse."""
        return self.states[VACUOUS]

    @property
    def graded(self) -> int:
        """Questions that are right or wrong, vacuous passes included."""
        return self.vacuous + sum(self.states[name] for name in GRADED)

    @property
    def flip_rate(self) -> Rate:
        """The share of repeated questions whose verdicts differed between repeats."""
        return wilson(self.unsteady, self.repeated)

    @property
    def memory_held(self) -> Rate:
        """The share of tested questions whose memory stages all held; needs no test-taker."""
        return replace(wilson(self.held, self.tested), estimated=self.estimates.total())

    def share(self, verdict: str, *, with_vacuous: bool) -> Rate:
        """Return the share of graded questions with a verdict, with vacuous passes as the paper counts or without them."""
        more = self.vacuous if with_vacuous and verdict == CORRECT else 0
        return wilson(self.states[verdict] + more, self.graded - (0 if with_vacuous else self.vacuous))

    def lost(self, verdict: str) -> Rate:
        """Return the share of a failure of the memory, which needs no answer."""
        n = self.estimates.total()
        rate = wilson(self.states[verdict] - self.estimates[verdict], self.judged - n)
        # an estimate is of facts that memory should hold
        return rate if verdict == WRONGLY_HELD else replace(rate, estimated=n)


def success(tally: Tally, *, answered: bool, protocol: str) -> Rate:
    """Return the rate that a run is judged by."""
    return tally.share(CORRECT, with_vacuous=protocol == "paper") if answered else tally.memory_held


@dataclass(frozen=True, slots=True)
class TaskMean:
    """A rate as the plain mean over tasks, in which a task counts the same however many questions it has."""

    tasks: int
    value: float

    @classmethod
    def of(cls, rates: Iterable[Rate]) -> TaskMean | None:
        """Return the mean of the rates that have a value; None for fewer than two."""
        values = [rate.value for rate in rates if rate.value is not None]
        return cls(len(values), stats.fmean(values)) if len(values) > 1 else None


@dataclass(frozen=True, slots=True)
class StoreFigures:
    """The cost and content of the stores of a task."""

    task: str
    stores: int
    conversations: int
    memories: int
    tokens: int | None
    fill_seconds: float
    retrieve_p50: float | None
    retrieve_p95: float | None
    restored: int = 0
    """Stores that were restored from an earlier run instead of filled."""
    retrieve_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Block:
    """The tallies of one suite, shown as a separate table."""

    suite: str
    tasks: tuple[Tally, ...]
    total: Tally
    """The tally of all tasks of the suite."""
    stands_alone: bool = False
    """Whether all its tasks are of that suite, which has published figures of its own; else suites share the table."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The results shown at the end of a run."""

    tasks: tuple[Tally, ...]
    total: Tally
    stores: tuple[StoreFigures, ...]
    warnings: tuple[str, ...]
    answered: bool
    """Whether any answer was judged; without answers, the rate of correct answers is meaningless."""
    protocol: str
    record: str | None = None
    models: tuple[Mapping[str, Any], ...] = ()
    """Calls, tokens and cost by stage and model."""
    stopped: str | None = None
    """Why model calls stopped before the end: the budget or the waiting time for the endpoint was used up."""
    gate: Gate | None = None
    unsure: int = 0
    """Questions whose verdict the judge is unsure of."""
    judge: str = ""
    """The judge's name, with its options; empty if it is not known."""
    approximate: str | None = None
    """Why tokens were counted approximately; None if they were counted exactly."""
    by_k: Mapping[int, Mapping[str, Tally]] = field(default_factory=dict)
    """The tallies at each k, by task and in total; empty for a single k."""
    blocks: tuple[Block, ...] = ()
    """The same tallies, by suite."""
    suites: tuple[SuiteRecord, ...] = ()
    """The results of the suites' own measures."""
    reference: Reference | None = None
    """What the run was compared with; None if it was not compared."""
    replied: bool = False
    """Whether a model answered, judged or not."""
    doubts: tuple[Doubt, ...] = ()
    """The reasons to distrust the figures, one of each kind."""
    clues: tuple[Clue, ...] = ()
    """What failures have in common, the clue that explains most questions first."""

    @property
    def tables(self) -> tuple[Block, ...]:
        """Return the tallies by suite."""
        return self.blocks or (Block("", self.tasks, self.total),)

    @property
    def measure(self) -> str:
        """Return the measure that the run is judged by: `correct`, or `memory held` if no answer was judged."""
        return CORRECT if self.answered else HELD

    def success(self, tally: Tally) -> Rate:
        """Return the rate of that measure for one of the tallies."""
        return success(tally, answered=self.answered, protocol=self.protocol)

    def task_mean(self, tallies: Iterable[Tally] | None = None) -> TaskMean | None:
        """Return the mean of that measure over the tasks or parts given, by default all; None for fewer than two."""
        return TaskMean.of(map(self.success, self.tasks if tallies is None else tallies))

    def tally(self, name: str) -> Tally | None:
        """Return the tally of a task, of a part (`task.part`), of a suite with parts, or of all; None if nothing of it was asked."""
        known = {TOTAL: self.total, **{block.suite: block.total for block in self.tables}}
        known |= {tally.name: tally for block in self.tables for tally in block.tasks}
        return known.get(name)

    @property
    def untrusted(self) -> str | None:
        """Why this run gives no trustworthy result, or None if it does."""
        return "; ".join(filter(None, (self._too_many_errors, *(d.line for d in self.doubts if d.is_fatal)))) or None

    @property
    def _too_many_errors(self) -> str | None:
        total = self.total
        errors = total.states[ERROR]
        if total.n == 0:
            return None
        if self.stopped is not None:
            return f"{self.stopped}: {errors} of {counted(total.n, 'question')} {_are(errors)}"
        if total.graded == 0 and total.decided == 0:
            others = ", the others ungraded" if errors < total.n else ""
            return f"no verdict: {errors} of {counted(total.n, 'question')} {_are(errors)}{others}"
        if errors > MAX_ERROR_SHARE * total.n:
            return f"too many errors: {errors} of {counted(total.n, 'question')}, at most {MAX_ERROR_SHARE:.0%} are trusted"
        return None

    def with_doubts(self, doubts: Iterable[Doubt]) -> Summary:
        """Return the summary with further doubts; those that it survives are warnings."""
        found, known = added_up([*self.doubts, *doubts]), {doubt.line for doubt in self.doubts}
        others = (warning for warning in self.warnings if warning not in known)
        told = (doubt.line for doubt in found if doubt.affected and not doubt.is_fatal)
        return replace(self, doubts=found, warnings=(*others, *told))


def _are(errors: int) -> str:
    return "is an error" if errors == 1 else "are errors"


def summarize(
    questions: Iterable[QuestionRecord],
    stores: Sequence[StoreRecord],
    *,
    protocol: str = "ours",
    tasks: Mapping[str, TaskRecord] | None = None,
    record: str | None = None,
    approximate: str | None = None,
    judge: str = "",
) -> Summary:
    """Return the summary of records, with the tasks in the given order (others follow).

    The last record of a question counts, whatever its id: a user's own test may ask the same question as an item of the
    benchmark. `approximate` says why tokens were counted approximately.
    """
    asked = list({question.key: question for question in questions}.values())
    # one that only names what must not be held needs no answer, and says nothing about those of the others
    telling = [q for q in asked if not q.facts or not all(fact.is_distractor for fact in q.facts)] or asked
    known = tasks or {}
    by_group: dict[str, list[QuestionRecord]] = {g: [] for name, task in known.items() for g in task.groups(name)}
    for question in asked:
        by_group.setdefault(question.group, []).append(question)
    tallies = {name: _tally(name, found) for name, found in by_group.items() if found}
    alone = {name: task.suite for name, task in known.items() if task.stands_alone}
    shared = next((task.suite for name, task in known.items() if name not in alone), "")
    suite_of = {name: alone.get(found[0].task, shared) for name, found in by_group.items() if found}
    found_tasks = {q.task: True for q in asked}
    asked_tasks = [name for name in {**known, **found_tasks} if name in found_tasks]
    left_out = sum(known[name].left_out for name in asked_tasks if name in known)
    about_tokens = [] if approximate is None else [f"tokens are counted approximately (≈): {approximate}"]
    summary = Summary(
        tasks=tuple(tallies.values()),
        total=_tally(TOTAL, asked),
        stores=tuple(_figures(name, asked, stores) for name in asked_tasks),
        warnings=(*_warnings(list(tallies.values()), stores, left_out), *about_tokens),
        answered=any(q.answer.outcome in ("passed", "failed") for q in telling),
        replied=any(q.reply is not None for q in asked),
        protocol=protocol,
        record=record,
        stopped=next((STOPPING[e.type] or e.message for q in asked if (e := q.error) and e.type in STOPPING), None),
        unsure=sum(map(is_unsure, asked)),
        judge=judge,
        approximate=approximate,
        by_k=_by_k(by_group, suite_of, asked),
        blocks=tuple(
            Block(
                suite,
                tuple(tally for name, tally in tallies.items() if suite_of[name] == suite),
                _tally(
                    f"{TOTAL} {suite}",
                    [q for name, found in by_group.items() if suite_of.get(name) == suite for q in found],
                ),
                suite in alone.values(),
            )
            for suite in dict.fromkeys(suite_of.values())
        ),
    )
    unread = sum(q.is_undecided and any(fact.label == UNREAD for fact in q.facts) for q in asked)
    language = Doubt(UNREAD, NOT_ENGLISH, unread, len(asked), "question", MAX_ERROR_SHARE)
    return summary.with_doubts([language, *(doubt for store in stores for doubt in store.doubts)])


def _by_k(
    by_group: Mapping[str, Sequence[QuestionRecord]], suite_of: Mapping[str, str], asked: Sequence[QuestionRecord]
) -> dict[int, dict[str, Tally]]:
    by_task: dict[str, list[QuestionRecord]] = {}
    for q in asked:
        by_task.setdefault(q.task, []).append(q)
    shown_at = {id(q): k for found in by_task.values() for q, k in _shown_at(found)}
    ks = sorted(set(shown_at.values()))
    if len(ks) < 2:
        return {}
    groups: dict[str, list[QuestionRecord]] = {TOTAL: list(asked)}
    for name, found in by_group.items():
        if found:
            groups.setdefault(f"{TOTAL} {suite_of[name]}", []).extend(found)
            groups[name] = list(found)
    return {
        k: {
            name: _tally(name, own)
            for name, found in groups.items()
            if (own := [q for q in found if shown_at[id(q)] == k])
        }
        for k in ks
    }


def _shown_at(of_task: Sequence[QuestionRecord]) -> Iterator[tuple[QuestionRecord, int]]:
    """Yield each question of a task with the k at which it is shown, normally its own.

    If each part has a single k, all are shown at the most frequent k, because parts are not compared by k.
    """
    ks: dict[str, set[int]] = {}
    for question in of_task:
        ks.setdefault(question.part, set()).add(question.k)
    usual = Counter(question.k for question in of_task).most_common(1)[0][0]
    is_fixed = len(ks) > 1 and all(len(some) == 1 for some in ks.values())
    yield from ((question, usual if is_fixed else question.k) for question in of_task)


def suite_records(
    questions: Iterable[QuestionRecord],
    suites: Iterable[Suite],
    tasks: Mapping[str, TaskRecord],
    protocol: str = "ours",
) -> tuple[SuiteRecord, ...]:
    """Return the results of the suites' own measures over the finished questions at each k.

    Questions of a part that has its own k count at every k.
    """
    by_suite: dict[tuple[str, int], list[QuestionRecord]] = {}
    given = tuple(suites)
    own_k = {suite.name: suite.part_k for suite in given}
    fixed: dict[str, list[QuestionRecord]] = {}
    for question in questions:
        if question.task in tasks:
            name = tasks[question.task].suite
            if question.part in own_k.get(name, {}):
                fixed.setdefault(name, []).append(question)
            else:
                by_suite.setdefault((name, question.k), []).append(question)
    for name, some in fixed.items():
        for place in [place for place in by_suite if place[0] == name] or [(name, some[0].k)]:
            by_suite.setdefault(place, []).extend(some)
    return tuple(
        SuiteRecord(
            name=suite.name,
            k=k,
            scores=tuple(_named_score(measure, asked) for measure in suite_measures(suite, protocol)),
            labels={label: count for label in suite.labels if (count := sum(q.label == label for q in asked))},
            proxies=tuple(name for name in _proxies(suite) if any(question.group == name for question in asked)),
        )
        for suite in given
        if suite.measures or suite.labels or _proxies(suite)
        for (name, k), asked in sorted(by_suite.items())
        if name == suite.name and any(question.verdict != ERROR for question in asked)
    )


def _proxies(suite: Suite) -> list[str]:
    return [f"{task}.{part.name}" for task, parts in suite.parts.items() for part in parts if part.is_proxy]


def counted_by(measure: Measure, asked: Sequence[QuestionRecord]) -> list[QuestionRecord]:
    """Return those questions of a suite that a measure of it counts."""
    return [q for q in asked if (measure.with_errors or q.verdict != ERROR) and measure.part in (None, q.group)]


def suite_measures(suite: Suite, protocol: str) -> tuple[Measure, ...]:
    """Return the measures of a suite under a protocol."""
    return (suite.paper_measures if protocol == "paper" else ()) or suite.measures


def _named_score(measure: Measure, asked: Sequence[QuestionRecord]) -> Score:
    """Return a measure of a suite, with what is shown beside its value."""
    shown = {name: getattr(measure, name) for name in ("name", "title", "part", "line", "unit")}
    return replace(measure.of(counted_by(measure, asked)), **shown)


def _figures(name: str, questions: Iterable[QuestionRecord], stores: Iterable[StoreRecord]) -> StoreFigures:
    of_task = [store for store in stores if store.task == name]
    tokens = [store.tokens for store in of_task]
    seconds = sorted(q.seconds["retrieve"] for q in questions if q.task == name and "retrieve" in q.seconds)
    return StoreFigures(
        name,
        stores=len(of_task),
        conversations=sum(store.conversations for store in of_task),
        memories=sum(store.memories for store in of_task),
        tokens=None if not of_task or None in tokens else sum(n for n in tokens if n is not None),
        fill_seconds=sum(store.fill_seconds for store in of_task),
        retrieve_p50=stats.median(seconds) if seconds else None,
        retrieve_p95=seconds[min(len(seconds) - 1, round(0.95 * (len(seconds) - 1)))] if seconds else None,
        retrieve_seconds=sum(seconds),
        restored=sum(store.restored for store in of_task),
    )


def _warnings(tasks: Sequence[Tally], stores: Iterable[StoreRecord], left_out: int) -> Iterator[str]:
    if left_out:
        yield (
            f"thinned haystack: the limit leaves out {counted(left_out, 'conversation')}, which makes retrieval easier "
            "(--memfail-haystack=full stores them)"
        )
    much = [
        f"{100 * tally.shown_share:.0f} % in {tally.name}"
        for tally in tasks
        if tally.shown_share is not None and tally.shown_share > MOST_OF_THE_STORE
    ]
    if much:
        yield f"more than half of the store is shown per question ({', '.join(much)}): memory held says little about retrieval"
    repeated = [
        f"{100 * share:.0f} % in {tally.name}"
        for tally in tasks
        if (share := tally.duplicate_share or 0) > MANY_DUPLICATES
    ]
    if repeated:
        yield f"memories shown repeat one that is ranked better ({', '.join(repeated)}): without them, k would show more"
    if cut := sum(tally.cut_entries for tally in tasks):
        asked = sum(tally.cut_questions for tally in tasks)
        yield f"the system returned more than k entries for {counted(asked, 'question')}; {cut} entries beyond k were cut"
    for store in stores:
        more, less = store.changed_by_queries
        if store.shared_with:
            yield (
                f"the stores {store.store} and {store.shared_with} share state (+{more} -{less} entries while asked); keep no "
                "state in classes or modules, and everything below context.path or under context.store_id; in a YAML file put "
                "{store} or {folder} into every call"
            )
        elif (more or less) and not store.late:  # a doubt says that
            yield f"the store of {store.task} changed while asked (+{more} -{less}); queries must not write"


def is_unsure(question: QuestionRecord) -> bool:
    """Return whether a question's verdict rests on facts that a judge with confidences is unsure of.

    A failure rests on the surest of the facts that have its verdict, a pass on the least sure of all.
    """
    facts = [fact for fact in question.facts if fact.verdict == question.verdict]
    if facts and question.verdict in MEMORY_FAILURES:
        known = [c for fact in facts if (c := fact.deciding.confidence) is not None]
        return len(known) == len(facts) and max(known) < UNSURE
    if question.memory_held is None:
        return False
    confidences = (stage.confidence for fact in question.facts for stage in fact.stages)
    return any(confidence is not None and confidence < UNSURE for confidence in confidences)


def _counted_facts(question: QuestionRecord) -> list[str]:
    """Return the states of a question's expected facts, without those that passed vacuously."""
    return [fact.state for fact in question.facts if not fact.retrieval.vacuous and not fact.is_distractor]


def _duplicate_share(questions: Sequence[QuestionRecord]) -> float | None:
    shown = sum(len(q.retrieved) for q in questions)
    return sum(duplicates(tuple(m.text for m in q.retrieved)) for q in questions) / shown if shown else None


def _tally(name: str, questions: Sequence[QuestionRecord]) -> Tally:
    states = Counter(dict.fromkeys(STATES, 0))
    states.update(q.state for q in questions)
    facts: dict[str, Counter[str]] = {}
    for q in questions:
        if len(counted := _counted_facts(q)) > 1:
            facts.setdefault(q.stratum, Counter()).update(counted)
    direct = [q for q in questions if not q.must_not_use]
    held = [q.counts_as_held for q in questions]
    misleading = [q.verdict for q in questions if q.must_not_use and q.verdict in GRADED]
    shown = [q.shown_tokens for q in questions if q.shown_tokens is not None]
    # an empty store has no share
    shares = [q.shown_tokens / q.store_tokens for q in questions if q.shown_tokens is not None and q.store_tokens]
    return Tally(
        name,
        states,
        held=held.count(True),
        tested=len(held) - held.count(None),
        decided=sum(q.memory_held is not None for q in questions),
        undecided=sum(q.is_undecided for q in questions),
        judged=sum((q.failed or q.held) and not q.vacuous for q in questions),
        estimates=Counter(q.state for q in questions if q.is_estimated and q.memory_held is not None),
        facts_held=_facts_held(direct),
        misleading=sum(q.must_not_use for q in questions),
        abstention=wilson(misleading.count(CORRECT), len(misleading)),
        shown_tokens=sum(shown) / len(shown) if shown else None,
        shown_share=sum(shares) / len(shares) if shares else None,
        duplicate_share=_duplicate_share([q for q in questions if q.error is None]),
        cut_entries=sum(q.cut for q in questions),
        cut_questions=sum(q.cut > 0 for q in questions),
        compared=sum(q.reference_held is not None and q.counts_as_held is not None for q in questions),
        beyond=sum(q.beyond_verbatim for q in direct),
        better=sum(q.better_than_verbatim for q in direct),
        facts={stratum: facts[stratum] for stratum in sorted(facts)},
        repeated=sum(len(q.repeats) > 1 for q in questions),
        unsteady=sum(len(set(q.repeats)) > 1 for q in questions),
    )


def _facts_held(questions: Sequence[QuestionRecord]) -> Rate:
    """Return the share of facts that passed all memory stages, among those whose stages were decided."""
    rows: dict[tuple[str, ...], list[int]] = {}
    for q in (q for q in questions if not q.is_estimated):
        counts, facts = rows.setdefault(q.cluster_key, [0, 0]), _counted_facts(q)
        counts[0] += facts.count(FACT_HELD)
        counts[1] += sum(verdict in (FACT_HELD, *MEMORY_FAILURES) for verdict in facts)
    estimated = sum(len(_counted_facts(q)) for q in questions if q.is_estimated)
    return replace(clustered((held, n) for held, n in rows.values()), estimated=estimated)
