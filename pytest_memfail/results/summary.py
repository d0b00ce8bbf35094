"""What a run adds up to: verdicts per task, rates over what was graded, what the stores cost."""

from __future__ import annotations

import statistics as stats
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from pytest_memfail.core import CORRECT, ERROR, GRADED, MEMORY_FAILURES, UNSURE, VERDICTS
from pytest_memfail.results.baseline import Entry, Key, cluster_of
from pytest_memfail.results.record import Line
from pytest_memfail.results.statistics import Rate, clustered, wilson

if TYPE_CHECKING:
    from pytest_memfail.results.gate import Gate

MAX_ERROR_SHARE: Final = 0.1
"""Above this share of errors the rates of a run are no longer trusted (exit code 6)."""

STOPPING: Final = {"BudgetError": "the budget ran out", "WaitError": ""}
"""Errors after which no model is asked any more, and what the run says of them; "" for what the error says."""


NOTHING: Final = wilson(0, 0)
MISLEADING: Final = "misleading"
MOST_OF_THE_STORE: Final = 0.5
"""Above this share of its store shown per question, memory held says little about retrieval."""


@dataclass(frozen=True, slots=True)
class Tally:
    """The verdicts of a task, or of all."""

    name: str
    verdicts: Mapping[str, int]
    vacuous: int
    held: int
    """Questions whose facts were all stored, faithful and retrieved; misleading ones are left out."""
    tested: int
    """Questions whose memory stages were decided; vacuous passes and misleading questions are left out.

    A misleading question whose essay is lost passes vacuously, one whose essay is kept does not: counted here, a memory that
    loses more would be tested by fewer of them.
    """
    facts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Verdicts per expected fact, by stratum (N, hops); only for tasks with several facts."""
    decided: int = 0
    """Questions whose memory stages were decided, misleading ones in."""
    facts_held: Rate = NOTHING
    """Of the single facts of the same questions, those that were stored, faithful and retrieved."""
    misleading: int = 0
    """Questions about somebody of whom nothing is known."""
    abstention: Rate = NOTHING
    """Of the misleading questions with a verdict, those that were not answered from somebody else's details, vacuous passes in."""
    shown_tokens: float | None = None
    """Tokens shown per question; None where nothing was counted."""
    shown_share: float | None = None
    """The mean share of its store, by tokens, that a question was shown."""
    cut_entries: int = 0
    """Entries returned beyond k."""
    cut_questions: int = 0
    """Questions for which more than k entries were returned."""
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
    restored: int = 0
    """Stores that were not filled: an earlier run had kept them."""


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
    stopped: str | None = None
    """Why models were asked no more before the end: the budget, or the wait for the endpoint, was used up."""
    gate: Gate | None = None
    unsure: int = 0
    """Questions whose verdict the offline judge is unsure of."""
    approximate: str | None = None
    """Why tokens were counted approximately; None where they were counted exactly."""

    @property
    def untrusted(self) -> str | None:
        """Why this run gives no trustworthy result, or None if it does."""
        total = self.total
        errors = total.verdicts[ERROR]
        if total.n == 0:
            return None
        if self.stopped is not None:
            return f"{self.stopped}: {errors} of {total.n} questions are errors"
        if total.graded == 0 and total.decided == 0:
            return f"no verdict: {errors} of {total.n} questions are errors, the others ungraded"
        if errors > MAX_ERROR_SHARE * total.n:
            return f"too many errors: {errors} of {total.n} questions, at most {MAX_ERROR_SHARE:.0%} are trusted"
        return None


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the summary keeps of a question's line."""

    task: str
    verdict: str
    vacuous: bool
    memory_held: bool | None
    is_misleading: bool
    stratum: str
    facts: tuple[str, ...]
    """Verdicts of its facts; those that passed vacuously are left out."""
    retrieve_seconds: float | None
    row: str | None
    cluster: tuple[str, ...]
    repeats: tuple[str, ...]
    shown_tokens: int | None
    store_tokens: int | None
    cut: int
    unsure: bool


class SummaryBuilder:
    """Takes lines as they come; a question seen again (a rerun) replaces what it was."""

    def __init__(self, protocol: str = "ours") -> None:
        self._protocol = protocol
        # by store, question and k, not by item: a user's own test may ask what the benchmark's item asks
        self._questions: dict[tuple[str, ...], _Asked] = {}
        self._ids: dict[tuple[str, ...], str] = {}
        self._stores: list[dict[str, Any]] = []
        self._answered = False
        self._stopped: str | None = None

    def add(self, line: Line) -> None:
        """Count a question or a store; other lines are ignored."""
        if line["type"] == "question":
            key = (line["task"], line["store"], line["question"], str(line["k"]))
            self._ids[key] = line["id"]
            self._questions[key] = _asked(line)
            if (error := line.get("error", {})).get("type") in STOPPING:
                self._stopped = self._stopped or STOPPING[error["type"]] or error["message"]
            self._answered |= line.get("answer", {}).get("outcome") in ("passed", "failed")
        elif line["type"] == "store":
            self._stores.append({name: value for name, value in line.items() if name != "listings"})

    @property
    def verdicts(self) -> dict[str, str]:
        """The verdict of each question, by its id."""
        return {self._ids[key]: question.verdict for key, question in self._questions.items()}

    @property
    def entries(self) -> dict[Key, Entry]:
        """What became of each question, by question and k."""
        return {
            (task, store, name, int(k)): Entry(
                self._ids[key], task, store, name, int(k), asked.verdict, asked.memory_held, asked.vacuous, asked.row
            )
            for key, asked in self._questions.items()
            for task, store, name, k in [key]
        }

    def build(
        self,
        tasks: Mapping[str, Mapping[str, Any]] | Iterable[str] = (),
        record: str | None = None,
        models: Iterable[Mapping[str, Any]] = (),
        approximate: str | None = None,
    ) -> Summary:
        """Return the summary, tasks in the given order (others follow).

        Of tasks as the header has them, what a sample left out of their haystack is warned of. `approximate` is why tokens
        were counted approximately.
        """
        left_out = {name: task.get("left_out", 0) for name, task in tasks.items()} if isinstance(tasks, Mapping) else {}
        names = list(dict.fromkeys([*tasks, *(q.task for q in self._questions.values())]))
        tallies = [_tally(name, [q for q in self._questions.values() if q.task == name]) for name in names]
        tallies = [tally for tally in tallies if tally.n]
        about_tokens = [] if approximate is None else [f"tokens are counted approximately (≈): {approximate}"]
        return Summary(
            tasks=tuple(tallies),
            total=_tally("all", list(self._questions.values())),
            stores=tuple(self._figures(tally.name) for tally in tallies),
            warnings=(*self._warnings(tallies, left_out), *about_tokens),
            answered=self._answered,
            protocol=self._protocol,
            record=record,
            models=tuple(models),
            stopped=self._stopped,
            unsure=sum(q.unsure for q in self._questions.values()),
            approximate=approximate,
        )

    def _figures(self, name: str) -> StoreFigures:
        stores = [line for line in self._stores if line["task"] == name]
        tokens = [line["tokens"] for line in stores]
        found = [q.retrieve_seconds for q in self._questions.values() if q.task == name]
        seconds = sorted(each for each in found if each is not None)
        return StoreFigures(
            name,
            stores=len(stores),
            conversations=sum(line["conversations"] for line in stores),
            memories=sum(line["memories"] for line in stores),
            tokens=None if not stores or None in tokens else sum(tokens),
            fill_seconds=sum(line["fill_seconds"] for line in stores),
            retrieve_p50=stats.median(seconds) if seconds else None,
            retrieve_p95=seconds[min(len(seconds) - 1, round(0.95 * (len(seconds) - 1)))] if seconds else None,
            restored=sum(bool(line.get("restored")) for line in stores),
        )

    def _warnings(self, tasks: Sequence[Tally], left_out: Mapping[str, int]) -> Iterable[str]:
        if thinned := sum(left_out.get(tally.name, 0) for tally in tasks):
            yield (
                f"thinned haystack: the limit leaves out {thinned} conversations, which makes retrieval easier "
                "(--memfail-haystack=full stores them)"
            )
        much = [
            f"{100 * tally.shown_share:.0f} % in {tally.name}"
            for tally in tasks
            if tally.shown_share is not None and tally.shown_share > MOST_OF_THE_STORE
        ]
        if much:
            yield f"more than half of the store is shown per question ({', '.join(much)}): memory held says little about retrieval"
        if cut := sum(tally.cut_entries for tally in tasks):
            asked = sum(tally.cut_questions for tally in tasks)
            yield f"the system returned more than k entries for {asked} questions; {cut} entries beyond k were cut"
        for line in self._stores:
            more, less = line["changed_by_queries"]
            if other := line.get("shared_with"):
                yield (
                    f"the stores {line['store']} and {other} share state (+{more} -{less} entries while asked); give each its own: "
                    "nothing in a class or a module, everything below context.path or under context.store_id"
                )
            elif more or less:
                yield (f"the store of {line['task']} changed while asked (+{more} -{less}); queries must not write")


def _asked(line: Line) -> _Asked:
    return _Asked(
        task=line["task"],
        verdict=line["verdict"],
        vacuous=line.get("vacuous", False),
        memory_held=line.get("memory_held"),
        is_misleading=line.get("kind") == MISLEADING,
        stratum=line["stratum"],
        facts=tuple(f["verdict"] for f in line.get("facts", ()) if not f.get("retrieval", {}).get("vacuous")),
        retrieve_seconds=line.get("seconds", {}).get("retrieve"),
        row=line.get("row"),
        cluster=cluster_of(line["task"], line["store"], line["question"], line.get("row")),
        repeats=tuple(line.get("repeats", ())),
        shown_tokens=line.get("shown_tokens"),
        store_tokens=line.get("store_tokens"),
        cut=line.get("cut", 0),
        unsure=is_unsure(line),
    )


def is_unsure(line: Line) -> bool:
    """Return whether a question's verdict rests on facts that a judge with confidences is unsure of.

    A failure rests on the surest of the facts that have its verdict, a pass on the least sure of all.
    """
    facts = [fact for fact in line.get("facts", ()) if fact["verdict"] == line["verdict"]]
    if facts and line["verdict"] in MEMORY_FAILURES:
        known = [c for fact in facts if (c := fact.get(fact.get("decided_by"), {}).get("confidence")) is not None]
        return len(known) == len(facts) and max(known) < UNSURE
    if line.get("memory_held") is None:
        return False
    stages = (
        fact.get(stage, {}).get("confidence")
        for fact in line.get("facts", ())
        for stage in ("storage", "summary", "retrieval")
    )
    return any(confidence is not None and confidence < UNSURE for confidence in stages)


def _tally(name: str, questions: Sequence[_Asked]) -> Tally:
    verdicts = Counter(dict.fromkeys(VERDICTS, 0))
    verdicts.update(q.verdict for q in questions)
    facts: dict[str, Counter[str]] = {}
    for q in questions:
        if len(q.facts) > 1:
            facts.setdefault(q.stratum, Counter()).update(q.facts)
    direct = [q for q in questions if not q.is_misleading]
    misleading = [q.verdict for q in questions if q.is_misleading and q.verdict in GRADED]
    shown = [q.shown_tokens for q in questions if q.shown_tokens is not None]
    shares = [
        q.shown_tokens / q.store_tokens if q.store_tokens else 0.0
        for q in questions
        if q.shown_tokens is not None and q.store_tokens is not None
    ]
    return Tally(
        name,
        verdicts,
        vacuous=sum(q.vacuous for q in questions),
        held=sum(q.memory_held is True for q in direct),
        tested=sum(q.memory_held is not None for q in direct),
        decided=sum(q.memory_held is not None for q in questions),
        facts_held=_facts_held(direct),
        misleading=sum(q.is_misleading for q in questions),
        abstention=wilson(misleading.count(CORRECT), len(misleading)),
        shown_tokens=sum(shown) / len(shown) if shown else None,
        shown_share=sum(shares) / len(shares) if shares else None,
        cut_entries=sum(q.cut for q in questions),
        cut_questions=sum(q.cut > 0 for q in questions),
        facts={stratum: facts[stratum] for stratum in sorted(facts)},
        repeated=sum(len(q.repeats) > 1 for q in questions),
        unsteady=sum(len(set(q.repeats)) > 1 for q in questions),
    )


def _facts_held(questions: Iterable[_Asked]) -> Rate:
    """Of all facts whose memory stages were decided, those that came through all three."""
    rows: dict[tuple[str, ...], list[int]] = {}
    for q in questions:
        counts = rows.setdefault(q.cluster, [0, 0])
        counts[0] += q.facts.count(CORRECT)
        counts[1] += sum(verdict in (CORRECT, *MEMORY_FAILURES) for verdict in q.facts)
    return clustered((held, n) for held, n in rows.values())
