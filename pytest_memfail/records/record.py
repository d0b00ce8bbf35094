"""The parts of a record: header, questions, stores, footer, and the comparison and gate in a footer.

`QuestionRecord` is the only type of a finished question: the worker creates it, xdist carries its JSON, and all code that
counts, compares or reports reads it. `codec.py` turns these values into JSON and back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeAlias

from pytest_memfail.core import CORRECT, FAILURES, UNGRADED, VERDICTS, Doubt, Memory
from pytest_memfail.records.codec import Line, Part, plain

SCHEMA_VERSION: Final = 1
MEMFAIL: Final = "memfail"
"""The suite of a task that names none."""

Key: TypeAlias = tuple[str, str, str, int]
"""Task, store, question and k."""
if TYPE_CHECKING:
    VerdictName: TypeAlias = str
else:
    VerdictName = Literal[VERDICTS]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRecord(Part):
    """An entry of a memory system."""

    sparse: ClassVar[bool] = True
    # many questions show the same entry, and a run keeps all its questions in memory: keep each text once
    interned: ClassVar[tuple[str, ...]] = ("text",)

    text: str
    id: str | None = None
    score: float | None = None
    timestamp: str | None = None
    metadata: Line = field(default_factory=dict)

    @property
    def memory(self) -> Memory:
        """The entry as judges expect it."""
        return Memory(self.text, self.id, self.score, self.timestamp, self.metadata)


@dataclass(frozen=True, slots=True, kw_only=True)
class StageRecord(Part):
    """The result of one stage."""

    sparse: ClassVar[bool] = True

    outcome: Literal["passed", "failed", "ungraded", "not_reached"]
    reason: str = ""
    confidence: float | None = None
    label: str | None = None
    vacuous: bool = False
    entries: tuple[int, ...] = ()
    found: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    reported: tuple[str, ...] = ()
    estimated: bool = False
    metrics: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class FactRecord(Part):
    """One expected fact through the three memory stages."""

    id: str
    verdict: VerdictName
    text: str
    source: str
    """What was said."""
    decided_by: Literal["storage", "summary", "retrieval"]
    missing: tuple[str, ...]
    """Details that the deciding stage did not find."""
    storage: StageRecord
    summary: StageRecord
    retrieval: StageRecord
    closest: tuple[str, ...]
    """The stored entries that the judge relied on, closest first."""
    ranks: tuple[int | None, ...]
    """Ranks of these entries among those shown, from 1; None for one that was not shown."""

    def stage(self, name: str) -> StageRecord:
        """Return the result of `storage`, `summary` or `retrieval`."""
        found: StageRecord = getattr(self, name)
        return found

    @property
    def deciding(self) -> StageRecord:
        """The result of the deciding stage."""
        return self.stage(self.decided_by)

    @property
    def label(self) -> str | None:
        """The label that the deciding stage gave."""
        return self.deciding.label


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRecord(Part):
    """Why a question has no verdict."""

    type: str
    message: str


class Outcome:
    """The outcome of a question, by which two runs are compared."""

    __slots__ = ()

    id: str
    task: str
    store: str
    question: str
    k: int
    verdict: str
    memory_held: bool | None
    vacuous: bool
    row: str | None
    part: str
    cluster: str

    @property
    def group(self) -> str:
        """The table row that the question counts in: its task, or `task.part`."""
        return f"{self.task}.{self.part}" if self.part else self.task

    @property
    def key(self) -> Key:
        """The question and its k, independent of the id of its item."""
        return self.task, self.store, self.question, self.k

    @property
    def cluster_key(self) -> tuple[str, ...]:
        """The group that paired tests treat as dependent, at any k: the recorded cluster, or else the question's row."""
        if self.cluster:
            return self.task, self.store, self.cluster
        # line 1 is the head of a table, and the default of a user's own task without lines
        known = self.row is not None and not self.row.endswith(":1")
        return self.task, self.store, (self.row or "") if known else self.question

    @property
    def failed(self) -> bool:
        """Whether the verdict is a failure."""
        return self.verdict in FAILURES

    @property
    def held(self) -> bool:
        """Whether every judged stage passed: the question is correct, or memory held and the answer was not judged."""
        return self.verdict == CORRECT or (self.verdict == UNGRADED and self.memory_held is True)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionRecord(Part, Outcome):
    """A finished question, with everything needed to read its failure."""

    optional: ClassVar[frozenset[str]] = frozenset({"part", "cluster", "listing", "score", "weight"})

    id: str
    """The node id of its item."""
    task: str
    store: str
    question: str
    k: int
    kind: str
    stratum: str
    text: str
    gold: tuple[str, ...]
    row: str | None
    """File and line of its row."""
    part: str = ""
    """The part of the task that the question counts in; empty for a task without parts."""
    cluster: str = ""
    """Questions with the same cluster depend on each other; empty: those of a row do."""
    listing: int = 0
    """The number of the store's listing by which the question was judged."""
    weight: float = 1.0
    """The question's weight in a weighted measure of its suite."""
    verdict: VerdictName
    error: ErrorRecord | None = None
    """Set only with the verdict `error`; the JSON then lacks the fields that follow."""
    vacuous: bool = False
    memory_held: bool | None = None
    credited: bool | None = None
    score: float | None = None
    """The score of the answer, between 0 and 1; None for a kind of answer without one."""
    label: str | None = None
    facts: tuple[FactRecord, ...] = ()
    answer: StageRecord | None = None
    reply: str | None = None
    retrieved: tuple[MemoryRecord, ...] = ()
    shown_tokens: int | None = None
    store_tokens: int | None = None
    cut: int = 0
    """Entries that the system returned beyond k."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    repeats: tuple[str, ...] = ()
    """The verdict of each repeat, if the question was asked more than once."""

    @property
    def is_estimated(self) -> bool:
        """Whether a judge only estimated a fact's stage, which counts towards no rate."""
        return any(stage.estimated for fact in self.facts for stage in (fact.storage, fact.summary, fact.retrieval))


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRecord(Part):
    """The difference between the listing of a probe and the one before it."""

    number: int
    """The number of the probe in the plan of the store."""
    added: tuple[MemoryRecord, ...]
    """The new entries, which follow those left of the earlier listing."""
    gone: tuple[int, ...] = ()
    """The removed entries, as indices in the earlier listing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreRecord(Part):
    """A store, with every listing that its questions were judged by."""

    optional: ClassVar[frozenset[str]] = frozenset({"history", "late", "model_calls", "doubts", "extracted"})

    store: str
    task: str
    conversations: int
    fill_seconds: float
    restored: bool = False
    memories: int
    tokens: int | None
    changed_by_queries: tuple[int, int]
    """Entries added and removed in a listing after the last question."""
    late: int = 0
    """The number of added entries that contain text stored before the first question."""
    shared_with: str | None = None
    doubts: tuple[Doubt, ...] = ()
    system: Line = field(default_factory=dict)
    model_calls: Line = field(default_factory=dict)
    """Calls, cache hits and tokens that came by the store's own address of the proxy."""
    listings: tuple[tuple[MemoryRecord, ...], ...]
    """The store's only listing, or none; empty in the process that collects a run without a page."""
    history: tuple[ChangeRecord, ...] = ()
    """Several listings, in order, each as the difference from the one before."""
    extracted: tuple[ChangeRecord, ...] = ()
    """What the system said that the conversations before each probe added; some of it may be replaced by now."""

    @property
    def by_probe(self) -> dict[int, tuple[MemoryRecord, ...]]:
        """Return the listings by the number of the probe that each was made for, in order."""
        if self.listings:
            return {0: self.listings[-1]}
        found: dict[int, tuple[MemoryRecord, ...]] = {}
        held: tuple[MemoryRecord, ...] = ()
        for change in self.history:
            gone = set(change.gone)
            held = (*(memory for i, memory in enumerate(held) if i not in gone), *change.added)
            found[change.number] = held
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRecord(Part):
    """The rows of a task."""

    optional: ClassVar[frozenset[str]] = frozenset({"suite", "variant", "parts"})

    data_hash: str
    licence: str | None = None
    questions: int | None = None
    conversations: int | None = None
    left_out: int = 0
    """Conversations that a sample left out of the haystack."""
    suite: str = MEMFAIL
    variant: str = ""
    """The variant of the suite's files that the task is from."""
    parts: tuple[str, ...] = ()
    """The parts of the task, in the order of the table."""

    def groups(self, name: str) -> tuple[str, ...]:
        """Return the table rows of the task with this name."""
        return tuple(f"{name}.{part}" for part in self.parts) or (name,)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRecord(Part):
    """A number that a suite's paper defines."""

    sparse: ClassVar[bool] = True

    name: str
    title: str
    value: float | None
    n: int
    low: float | None = None
    high: float | None = None
    lacks: str | None = None
    """Why there is no value."""
    note: str | None = None
    """A note printed beside the value."""
    part: str | None = None
    """`task.part` if the measure is over one part."""
    line: int = 1
    """The line below the table on which it is shown."""
    unit: Literal["share", "percent", "count"] = "share"


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteRecord(Part):
    """The results of a suite's questions by the suite's own measures."""

    optional: ClassVar[frozenset[str]] = frozenset({"proxies"})

    name: str
    k: int
    """Maximum number of memories shown for each question."""
    scores: tuple[ScoreRecord, ...] = ()
    labels: Mapping[str, int] = field(default_factory=dict)
    """Number of questions by label, without labels that did not occur."""
    proxies: tuple[str, ...] = ()
    """The rows of the table whose facts are only gold strings: `task.part`."""

    def score(self, name: str) -> ScoreRecord | None:
        """Return the score of a measure; None if the suite has no such measure."""
        return next((score for score in self.scores if score.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Header(Part):
    """The settings and data of a run: the first line of its record, and of a baseline saved from it."""

    optional: ClassVar[frozenset[str]] = frozenset({"suite", "suite_options", "sources"})

    schema_version: int
    memfail: str
    started: str
    system: str
    system_options: Line
    judge: str
    judge_options: Line = field(default_factory=dict)
    judge_weights: str | None = None
    test_taker: str | None
    model_options: Line
    assistant_turns: bool | None = None
    protocol: Literal["ours", "paper"]
    k: tuple[int, ...]
    shown_tokens: int | None = None
    approximate_tokens: str | None = None
    """Why tokens were counted approximately."""
    seed: int
    limit: int | None
    haystack: Literal["full", "sample"] | None = None
    repeats: int | None = None
    vary: str | None = None
    shard: str | None = None
    identity: Mapping[str, str] = field(default_factory=dict)
    """How each field of a header identifies a run (see `identity`); empty in early records."""
    rerun: tuple[str, ...] = ()
    """The options to rerun a question with, without secrets and paths; empty in early records."""
    suite: tuple[str, ...] | None = None
    """The suites of the run, with their variants; None for the default suites."""
    suite_options: Mapping[str, str] = field(default_factory=dict)
    """Settings of the suites, by `SUITE.NAME`."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """The code of the system, of the user's hooks and judge: digests of files and packages, versions of installed ones."""
    data: str | None = None
    """The name of the folder with the rows; None for the shipped rows."""
    tasks: Mapping[str, TaskRecord]
    stores: Mapping[str, int] = field(default_factory=dict)
    """Number of questions of each store of the whole run."""
    python: str | None = None
    pytest: str | None = None
    platform: str | None = None
    machine: str | None = None

    @property
    def groups(self) -> tuple[str, ...]:
        """The rows of a table, in order: tasks, or their parts."""
        return tuple(group for name, task in self.tasks.items() for group in task.groups(name))

    def value(self, name: str) -> Any:
        """Return the JSON value of a field, even of one that this version does not know; None if there is none."""
        return self.extra.get(name) if name in self.extra else plain(getattr(self, name, None))


@dataclass(frozen=True, slots=True, kw_only=True)
class Footer(Part):
    """How a run ended."""

    optional: ClassVar[frozenset[str]] = frozenset({"suites", "doubts"})

    exit_code: int
    complete: bool
    """Whether every selected question has a result."""
    whole: bool = False
    """Whether every question that the run's options select has a result, even those that ids, -k or -m leave out."""
    models: tuple[Line, ...] = ()
    """Calls, tokens and cost by stage and model."""
    suites: tuple[SuiteRecord, ...] = ()
    """The results of the suites' own measures; MemFail has none."""
    doubts: tuple[Doubt, ...] = ()
    """Those of the run as a whole; a store has its own."""
    gate: Gate | None = None


@dataclass(frozen=True, slots=True)
class Rate:
    """A share with its denominator and its Wilson interval."""

    count: int
    n: int
    low: float
    high: float

    def __post_init__(self) -> None:
        """Check the values, as a record may be damaged."""
        if not (0 <= self.count <= self.n and 0 <= self.low <= self.high <= 1):
            raise ValueError(
                f"got {self.count} of {self.n}, [{self.low}, {self.high}], expected a share and its interval"
            )

    @property
    def value(self) -> float | None:
        """The share between 0 and 1; None if n is 0."""
        return self.count / self.n if self.n else None


@dataclass(frozen=True, slots=True)
class Paired:
    """The same questions in two runs: how many got worse or better, and the probability by chance."""

    name: str
    n: int
    """Questions with a result that counts in both runs."""
    worse: int
    better: int
    p: float
    """Exact McNemar test, with the questions of a row taken together (see `by_row`)."""
    corrected: float | None = None
    """The p-value after Holm's correction, if several tests were made at once."""

    def __post_init__(self) -> None:
        """Check the p-values, as a record may be damaged."""
        if not (0 <= self.p <= 1 and 0 <= (self.corrected or 0) <= 1):
            raise ValueError(f"{self.name}: got p {self.p}, corrected {self.corrected}, expected chances")


@dataclass(frozen=True, slots=True)
class Flip:
    """A question whose verdict changed."""

    id: str
    task: str
    old: str
    new: str
    change: str
    """`worse` (it fails now), `better` (it no longer fails), `other` (another failure, or not counted)."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What changed between two runs."""

    total: Paired
    tasks: tuple[Paired, ...]
    """The tasks, with Holm's correction over them."""
    verdicts: Mapping[str, tuple[Paired, ...]]
    """By task: how many questions got each verdict (`worse`) and lost it (`better`), two-sided."""
    flips: tuple[Flip, ...]
    added: int
    """Questions that the earlier run did not ask."""
    added_failing: int
    missing: int
    """Questions that only the earlier run asked."""
    uncounted: int
    """Questions of both runs without comparable results: an error or an open answer in one of them."""
    rows: int = 0
    """Rows with a compared question; below, how many of them got worse or better on the whole."""
    rows_worse: int = 0
    rows_better: int = 0
    failed_before: Mapping[str, int] = field(default_factory=dict)
    """Compared questions that failed in the earlier run, by task and in total; empty in early records."""

    @property
    def worse(self) -> tuple[Flip, ...]:
        """The regressions."""
        return tuple(flip for flip in self.flips if flip.change == "worse")

    @property
    def better(self) -> tuple[Flip, ...]:
        """The fixes."""
        return tuple(flip for flip in self.flips if flip.change == "better")

    def of(self, task: str | None) -> Paired | None:
        """Return the paired test of a task, or of all questions for None."""
        return self.total if task is None else next((pair for pair in self.tasks if pair.name == task), None)


PASSED, FAILED, OPEN, SKIPPED = "passed", "failed", "undecided", "skipped"


@dataclass(frozen=True, slots=True)
class Check:
    """One expression of a gate, for all questions or for one task."""

    expression: str
    task: str | None
    outcome: str
    """`passed`, `failed`, `undecided` (nothing to decide it by), or `skipped` (no baseline yet)."""
    reason: str = ""
    """Why it is undecided or skipped."""
    rate: Rate | None = None
    value: float | None = None
    """A value that is no share of counted questions: tokens shown per question, or a measure of a suite."""
    approximate: bool = False
    """Whether these tokens were counted approximately."""
    paired: Paired | None = None
    anchored: bool = False
    """Whether it compares with the anchor instead of the baseline."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """The run that moves only on purpose, and the changes since."""

    path: str
    reason: str
    """The reason for its last move."""
    comparison: Comparison


@dataclass(frozen=True, slots=True)
class Gate:
    """All checks of a run, and the comparisons behind them."""

    derived: ClassVar[tuple[str, ...]] = ("outcome",)
    """Properties that the JSON has before the fields."""

    checks: tuple[Check, ...]
    comparison: Comparison | None = None
    baseline: str | None = None
    """The path of the baseline."""
    notes: tuple[str, ...] = ()
    detectable: float | None = None
    """The smallest true drop that would have been found in four of five runs, as a share of the paired rows."""
    anchor: Anchor | None = None

    @property
    def outcome(self) -> str:
        """The worst outcome of the checks: `undecided`, then `failed`, then `passed`; `skipped` if no check was decided."""
        found = {check.outcome for check in self.checks}
        return next((outcome for outcome in (OPEN, FAILED, PASSED) if outcome in found), SKIPPED)

    @property
    def undecided(self) -> str | None:
        """The first reason why there is no trustworthy result, or None."""
        return next((f"{c.expression}: {c.reason}" for c in self.checks if c.outcome == OPEN), None)

    @property
    def compared(self) -> bool:
        """Whether this run was compared with an earlier one."""
        return self.comparison is not None or self.anchor is not None


# -- whether two runs are the same -------------------------------------------------------------------------------------

IDENTITY: Final[Mapping[str, str]] = {
    "system": "subject",
    "system_options": "subject",
    "judge": "verdicts",
    "judge_weights": "verdicts",
    "test_taker": "subject",
    "model_options": "subject",
    "assistant_turns": "verdicts",
    "protocol": "verdicts",
    "k": "run",
    "shown_tokens": "verdicts",
    "seed": "verdicts",
    "limit": "verdicts",
    "haystack": "verdicts",
    "repeats": "subject",
    "vary": "run",
    "memfail": "subject",
}
"""How each field identifies a run, for headers without their own field `identity`."""


def identity(*headers: Header) -> dict[str, str]:
    """Return the fields of headers that identify a run, and how.

    `verdicts`: which questions are asked, or what a verdict means. `subject`: runs are compared to see its effect. `run`: neither.
    """
    found: dict[str, str] = {}
    for header in headers:
        found |= header.identity or IDENTITY
    return found


DATA: Final = "data of "
VARIANT: Final = "variant of "


def differences(old: Header, new: Header) -> Iterator[tuple[str, Any, Any]]:
    """Yield the field, old and new JSON value of each difference between two runs."""
    for name in ("schema_version", *identity(old, new)):
        if old.value(name) != new.value(name):
            yield name, old.value(name), new.value(name)
    for name in sorted({*old.sources, *new.sources}):
        if (was := old.sources.get(name, "missing")) != (now := new.sources.get(name, "missing")):
            yield f"code of {name}", was, now
    if sorted(old.tasks) != sorted(new.tasks):
        yield "tasks", sorted(old.tasks), sorted(new.tasks)
    for name in old.tasks.keys() & new.tasks.keys():
        if old.tasks[name].data_hash != new.tasks[name].data_hash:
            yield f"{DATA}{name}", old.tasks[name].data_hash, new.tasks[name].data_hash
        elif old.tasks[name].variant != new.tasks[name].variant:  # such as chunks of another length
            yield f"{VARIANT}{name}", old.tasks[name].variant, new.tasks[name].variant


def options_differ(old: Header, new: Header) -> Iterator[tuple[str, Any, Any]]:
    """Yield the differences between two runs, including the shard."""
    yield from differences(old, new)
    if old.shard != new.shard:
        yield "shard", old.shard, new.shard


def same_settings(one: Header, other: Header) -> bool:
    """Return whether the runs of two headers tested the same system with the same settings."""
    return all(one.value(name) == other.value(name) for name in identity(one, other) if name != "memfail")
