"""Define the record of a run: its typed values and their JSON; read and write the file.

A record is JSON Lines: a header, one line per question and per store as they end, then a footer. The field `type` names
the kind of a line. `QuestionRecord` is the only type of a finished question: the worker creates it, xdist carries its
JSON, and all code that counts, compares or reports reads it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import cache, partial
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Final,
    Literal,
    TypeAlias,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from pytest_memfail.core import (
    CORRECT,
    ERROR,
    FAILURES,
    UNGRADED,
    VERDICTS,
    Evidence,
    FactVerdict,
    Listing,
    Memory,
    Question,
    StageResult,
    Trace,
    UsageError,
    Verdict,
    check_place,
    mask_options,
    one_line,
    os_reason,
    public,
    rank_of,
    replacing,
    write_all,
    write_whole,
)
from pytest_memfail.results.statistics import Paired, Rate

SCHEMA_VERSION: Final = 1
DAMAGED: Final = "the record is damaged, or not of this version of memfail"
MEMFAIL: Final = "memfail"
"""The suite of a task that names none."""
CLOSEST: Final = 2
"""How many of the entries that a judge relied on are recorded for a fact."""

Line: TypeAlias = Mapping[str, Any]
"""A JSON object."""
Key: TypeAlias = tuple[str, str, str, int]
"""Task, store, question and k."""
if TYPE_CHECKING:
    VerdictName: TypeAlias = str
else:
    VerdictName = Literal[VERDICTS]
T = TypeVar("T")


# -- values ------------------------------------------------------------------------------------------------------------
# pydantic validates these classes when a file is read (`_adapter`); it is not imported before.


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """A JSON object whose unknown fields are kept: another version of memfail may have written them."""

    __pydantic_config__: ClassVar[Any] = {"strict": True, "extra": "ignore"}
    sparse: ClassVar[bool] = False
    """Whether fields with their default value are left out of the JSON."""
    optional: ClassVar[frozenset[str]] = frozenset()
    """Fields that are left out if they have their default value, whatever `sparse` says."""

    extra: Line = field(default_factory=dict, repr=False)
    """Fields that this version does not know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRecord(_Part):
    """An entry of a memory system."""

    sparse: ClassVar[bool] = True

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
class StageRecord(_Part):
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
class FactRecord(_Part):
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
        """The finer name that the deciding stage gave."""
        return self.deciding.label


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRecord(_Part):
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
        """What stands and falls together in paired tests, at any k: the recorded cluster, or else the question's row."""
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
        """Whether nothing that was judged failed: correct, or memory held and the answer left open."""
        return self.verdict == CORRECT or (self.verdict == UNGRADED and self.memory_held is True)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionRecord(_Part, Outcome):
    """A finished question, with all that a reader of its failure needs."""

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
    """How much it counts in a weighted measure of its suite."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRecord(_Part):
    """The difference between the listing of a probe and the one before it."""

    number: int
    """The number of the probe in the plan of the store."""
    added: tuple[MemoryRecord, ...]
    """The new entries, which follow those left of the earlier listing."""
    gone: tuple[int, ...]
    """The removed entries, as indices in the earlier listing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreRecord(_Part):
    """A store, with every listing that its questions were judged by."""

    optional: ClassVar[frozenset[str]] = frozenset({"history", "late"})

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
    """Those of the added entries that hold what was stored before the first question."""
    shared_with: str | None = None
    system: Line = field(default_factory=dict)
    listings: tuple[tuple[MemoryRecord, ...], ...]
    """The store's only listing, or none; empty in the process that collects a run: only the file holds listings."""
    history: tuple[ChangeRecord, ...] = ()
    """Several listings, in order, each as the difference from the one before."""

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
class TaskRecord(_Part):
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
class ScoreRecord(_Part):
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
    """What is to be known beside the value."""
    part: str | None = None
    """`task.part` if the measure is over one part."""
    line: int = 1
    """The line below the table on which it is shown."""
    unit: Literal["share", "percent", "count"] = "share"


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteRecord(_Part):
    """The results of a suite's questions by the suite's own measures."""

    name: str
    k: int
    """Maximum number of memories shown for each question."""
    scores: tuple[ScoreRecord, ...] = ()
    labels: Mapping[str, int] = field(default_factory=dict)
    """Number of questions by label, without labels that did not occur."""

    def score(self, name: str) -> ScoreRecord | None:
        """Return the score of a measure; None if the suite has no such measure."""
        return next((score for score in self.scores if score.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Header(_Part):
    """The settings and data of a run: the first line of its record, and of a baseline saved from it."""

    optional: ClassVar[frozenset[str]] = frozenset({"suite", "suite_options"})

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
    """What depends on each field of a header (see `identity` in `runs.py`); empty in early records."""
    rerun: tuple[str, ...] = ()
    """The options to rerun a question with, without secrets and paths; empty in early records."""
    suite: tuple[str, ...] | None = None
    """The suites of the run, with their variants; None for the default suites."""
    suite_options: Mapping[str, str] = field(default_factory=dict)
    """Settings of the suites, by `SUITE.NAME`."""
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
        return self.extra.get(name) if name in self.extra else _plain(getattr(self, name, None))


@dataclass(frozen=True, slots=True, kw_only=True)
class Footer(_Part):
    """How a run ended."""

    optional: ClassVar[frozenset[str]] = frozenset({"suites"})

    exit_code: int
    complete: bool
    """Whether everything that was selected has a result."""
    whole: bool = False
    """Whether every question that the run's options select has a result, even those that ids, -k or -m leave out."""
    models: tuple[Line, ...] = ()
    """Calls, tokens and cost by stage and model."""
    suites: tuple[SuiteRecord, ...] = ()
    """The results of the suites' own measures; MemFail has none."""
    gate: Gate | None = None


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
    """The run that moves only on purpose, and what changed since."""

    path: str
    reason: str
    """Why it was last moved."""
    comparison: Comparison


@dataclass(frozen=True, slots=True)
class Gate:
    """All checks of a run, and the comparisons they rest on."""

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


Record: TypeAlias = Header | QuestionRecord | StoreRecord | Footer
KINDS: Final[dict[str, type[Record]]] = {
    "header": Header,
    "question": QuestionRecord,
    "store": StoreRecord,
    "footer": Footer,
}
_NAMES: Final[dict[Any, str]] = {kind: name for name, kind in KINDS.items()}


# -- made from what the engine found -----------------------------------------------------------------------------------


def question_record(
    node_id: str,
    store: str,
    question: Question,
    k: int,
    evidence: Sequence[Evidence],
    *,
    trace: Trace | None = None,
    verdict: Verdict | None = None,
    listing: Listing | None = None,
    repeats: Sequence[str] = (),
    error: BaseException | None = None,
) -> QuestionRecord:
    """Return a finished question without known secrets; if `verdict` is None, the question ended with `error`."""
    asked: dict[str, Any] = {
        "id": node_id,
        "task": question.task,
        "store": store,
        "question": question.id,
        "k": k,
        "kind": question.kind,
        "stratum": question.stratum,
        "text": question.text,
        "gold": question.gold,
        # the file's name alone: a record may be shared, and must not reveal paths of this machine
        "row": f"{Path(question.file).name}:{question.line} {question.place}".rstrip() if question.file else None,
        "part": question.part,
        "cluster": question.cluster,
        "weight": question.weight,
    }
    if verdict is None:
        fault = ErrorRecord(type=type(error).__name__, message=one_line(error, 1000))
        return _public(QuestionRecord(**asked, verdict=ERROR, error=fault))
    by_id = {fact.id: fact for fact in evidence}
    memories = listing.memories if listing else ()
    asked["listing"] = listing.number if listing else 0
    shown = trace.shown if trace else ()
    found = QuestionRecord(
        **asked,
        verdict=verdict.name,
        vacuous=verdict.vacuous,
        memory_held=verdict.memory_held,
        credited=verdict.credited,
        score=verdict.score,
        label=verdict.label,
        facts=tuple(_fact(fact, by_id[fact.evidence_id], memories, shown) for fact in verdict.facts),
        answer=_stage(verdict.answer),
        reply=trace.reply.text if trace and trace.reply else None,
        retrieved=tuple(map(_memory, shown)),
        shown_tokens=trace.shown_tokens if trace else None,
        store_tokens=trace.store_tokens if trace else None,
        cut=trace.cut if trace else 0,
        seconds=dict(trace.seconds) if trace else {},
        repeats=tuple(repeats),
    )
    return _public(found)


def store_record(
    store: str,
    task: str,
    *,
    conversations: int,
    fill_seconds: float,
    listings: Sequence[Listing],
    tokens: int | None,
    changed: tuple[int, int],
    late: int = 0,
    shared_with: str | None = None,
    described: Mapping[str, str],
    restored: bool = False,
) -> StoreRecord:
    """Return a finished store without known secrets."""
    found = StoreRecord(
        store=store,
        task=task,
        conversations=conversations,
        fill_seconds=fill_seconds,
        restored=restored,
        memories=len(listings[-1].memories) if listings else 0,
        tokens=tokens,
        changed_by_queries=changed,
        late=late,
        shared_with=shared_with,
        system=mask_options(described),
        listings=(tuple(map(_memory, listings[0].memories)),) if len(listings) == 1 and not listings[0].number else (),
        history=_history(listings) if len(listings) > 1 or any(listing.number for listing in listings) else (),
    )
    return _public(found)


def _history(listings: Sequence[Listing]) -> tuple[ChangeRecord, ...]:
    """Return the differences between listings: a record grows with the entries, not with the number of listings."""
    changes, before = [], tuple[MemoryRecord, ...]()
    for listing in listings:
        now = tuple(map(_memory, listing.memories))
        kept, gone = 0, []
        for place, memory in enumerate(before):
            if kept < len(now) and now[kept] == memory:
                kept += 1
            else:
                gone.append(place)
        changes.append(ChangeRecord(number=listing.number, added=now[kept:], gone=tuple(gone)))
        before = now
    return tuple(changes)


def _public(record: T) -> T:
    """Return a record without known secrets and without values that JSON lacks, such as a score that is not finite."""
    return _read(type(record), public(_write(record)))


def _fact(fact: FactVerdict, evidence: Evidence, memories: Sequence[Memory], shown: Sequence[Memory]) -> FactRecord:
    stage, deciding = fact.deciding
    stored = fact.summary if fact.summary.entries else fact.storage
    entries = [memories[i] for i in stored.entries if 0 <= i < len(memories)][:CLOSEST]
    return FactRecord(
        id=fact.evidence_id,
        verdict=fact.name,
        text=evidence.text,
        source=evidence.source,
        decided_by=stage,  # type: ignore[arg-type]  # one of the three
        missing=deciding.missing,
        storage=_stage(fact.storage),
        summary=_stage(fact.summary),
        retrieval=_stage(fact.retrieval),
        closest=tuple(memories[i].text for i in stored.entries[:CLOSEST] if 0 <= i < len(memories)),
        ranks=tuple(rank_of(memory, shown) for memory in entries),
    )


def _stage(result: StageResult) -> StageRecord:
    return StageRecord(**{name: getattr(result, name) for name in _fields(StageRecord)})


def _memory(memory: Memory) -> MemoryRecord:
    return MemoryRecord(**{name: getattr(memory, name) for name in _fields(MemoryRecord)})


# -- JSON --------------------------------------------------------------------------------------------------------------


def to_json(record: Record) -> dict[str, Any]:
    """Return a record as a JSON object, its unknown fields last."""
    line = {"type": _NAMES[type(record)], **_write(record)}
    if isinstance(record, QuestionRecord):
        for name in _without(record):
            line.pop(name, None)
    return line


def from_json(kind: type[T], line: Line) -> T:
    """Return a value of this class from a JSON object that was checked or that another process of this run wrote.

    Raises `TypeError` if a field is missing.
    """
    return _read(kind, {name: value for name, value in line.items() if name != "type"})


def to_text(record: Record) -> str:
    """Return a record as text for another process of this run: ASCII, as texts may hold lone surrogates."""
    return json.dumps(to_json(record))


def from_text(kind: type[T], text: str) -> T:
    """Return a record from the text of another process of this run."""
    return from_json(kind, json.loads(text))


def _without(question: QuestionRecord) -> Iterable[str]:
    """Return the fields that a question with this verdict does not have."""
    if question.error is not None:
        defaults = _defaults(QuestionRecord)
        return [name for name in _AFTER_VERDICT if _plain(getattr(question, name)) == defaults[name]]
    return ["error"] if question.repeats else ["error", "repeats"]


_FromJson: TypeAlias = Callable[[Any], Any]


@cache
def _fields(kind: Any) -> dict[str, _FromJson | None]:
    """Return by field of a class what converts its JSON value; None if no conversion is needed."""
    hints = get_type_hints(kind)
    found = {one.name: _reader(hints[one.name]) for one in fields(kind) if one.name != "extra"}
    # many questions are shown the same entry, and a run holds all its questions: each text is kept once
    return {**found, "text": _shared} if kind is MemoryRecord else found


def _shared(text: Any) -> Any:
    return sys.intern(text) if type(text) is str else text


def _reader(hint: Any) -> _FromJson | None:
    if is_dataclass(hint):
        return partial(_read, cast("type[Any]", hint))
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return next((_optional(read) for arg in args if arg is not NoneType and (read := _reader(arg))), None)
    if origin is tuple:
        return _each(read) if (read := _reader(args[0])) else tuple
    if origin is Mapping and (read := _reader(args[1])):
        return _each_value(read)
    return None


def _optional(read: _FromJson) -> _FromJson:
    return lambda value: None if value is None else read(value)


def _each(read: _FromJson) -> _FromJson:
    return lambda values: tuple(map(read, values))


def _each_value(read: _FromJson) -> _FromJson:
    return lambda values: {name: read(value) for name, value in values.items()}


def _read(kind: type[T], value: Line) -> T:
    readers = _fields(cast("Any", kind))
    given = {
        name: item if (read := readers[name]) is None else read(item) for name, item in value.items() if name in readers
    }
    if issubclass(kind, _Part) and len(given) < len(value):
        given["extra"] = {name: item for name, item in value.items() if name not in readers}
    return kind(**given)


@cache
def _defaults(kind: Any) -> dict[str, Any]:
    """Return the JSON of each field's default value."""
    return {
        one.name: _plain(one.default if one.default_factory is MISSING else one.default_factory())
        for one in fields(kind)
    }


def _write(part: Any) -> dict[str, Any]:
    kind: Any = type(part)
    found = {name: _plain(getattr(part, name)) for name in _fields(kind)}
    if isinstance(part, Gate):
        return {"outcome": part.outcome, **found}
    if not isinstance(part, _Part):
        return found
    if part.sparse or part.optional:
        defaults = _defaults(kind)
        found = {
            name: value
            for name, value in found.items()
            if not (part.sparse or name in part.optional) or value != defaults[name]
        }
    return {**found, **part.extra}


def _plain(value: Any) -> Any:
    if isinstance(value, (str, int, float, NoneType)):
        return value
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    return _write(value) if is_dataclass(value) else value


_AFTER_VERDICT: Final = list(_fields(QuestionRecord))[list(_fields(QuestionRecord)).index("verdict") + 1 :]


# -- reading -----------------------------------------------------------------------------------------------------------


def read_record(path: Path) -> Iterator[Record]:
    """Yield the lines of a record; skip lines of unknown types and a last line cut short by a crash.

    Raises `UsageError` if the file is no record, or for the first line that cannot be read, naming its field.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read as a record ({one_line(os_reason(error))})") from None
    if _header(path, "baseline") is not None:
        raise UsageError(f"{path}: is a baseline, not a record; give the record of the run (--memfail-record names it)")
    if _header(path) is None:
        raise UsageError(f"{path}: not a record of memfail: its first line is no header")
    lines = text.split("\n")
    for number, raw in enumerate(lines, 1):
        if not raw:
            continue
        try:
            line = json.loads(raw)
        except ValueError:
            if number == len(lines):
                return
            raise UsageError(f"{path}:{number}: not JSON; the record is damaged") from None
        if not isinstance(line, dict):
            raise UsageError(f"{path}:{number}: got {type(line).__name__}, expected a JSON object")
        if (kind := KINDS.get(str(line.get("type")))) is not None:
            yield checked(kind, cleaned(line), f"{path}:{number}")


def checked(kind: type[T], line: Line, where: str, advice: str = DAMAGED) -> T:
    """Return a line of a file as a value of this class.

    Raises `UsageError` naming the place and the field if the line is invalid.
    """
    from pydantic import TypeAdapter, ValidationError

    try:
        adapter = _ADAPTERS[kind]
    except KeyError:
        adapter = _ADAPTERS[kind] = TypeAdapter(kind)
    problem = ""
    try:
        # as JSON, because pydantic then takes a list for a tuple and guesses nothing else; a lone surrogate is no UTF-8
        adapter.validate_json(json.dumps(line, ensure_ascii=False).encode("utf-8", "replace"))
        if kind is QuestionRecord:
            problem = _lacks(line)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field_name = ".".join(map(str, first["loc"]))
        problem = f"{field_name}: {first['msg']}"
    if problem:
        name = line.get("type", "verdict")
        raise UsageError(f"{where}: {one_line(f'{name}: {problem}')}; {advice}")
    return from_json(kind, line)


_ADAPTERS: Final[dict[Any, Any]] = {}
_JUDGED: Final = frozenset({"vacuous", "memory_held", "facts", "answer", "reply", "retrieved"})
"""The fields that a question with a verdict has."""


def _lacks(line: Line) -> str:
    """Return what a question's line lacks for its verdict; empty if it lacks nothing."""
    if line["verdict"] == ERROR:
        return "" if line.get("error") is not None else "an error without its field 'error'"
    absent = sorted(_JUDGED - line.keys()) or ["answer"] * (line["answer"] is None)
    return f"a verdict without {', '.join(map(repr, absent))}" if absent else ""


def cleaned(line: Line) -> dict[str, Any]:
    """Return a line as this version would write it: older versions wrote secrets, and numbers that JSON lacks."""
    found: dict[str, Any] = public(line)
    for name in ("system_options", "model_options", "system"):
        if isinstance(options := found.get(name), dict):
            found[name] = mask_options(options)
    return found


def check_writable(path: Path, option: str = "--memfail-record", first: str = "header", what: str = "record") -> None:
    """Check that a record (or another file whose first line has the type `first`) can and may be written; write nothing.

    Raises `UsageError` if not.
    """
    check_place(path, option)
    if path.exists() and path.stat().st_size and _header(path, first) is None:
        raise UsageError(f"{option}: {path} exists and is not a {what} of memfail; it is left as it is")


def _header(path: Path, kind: str = "header") -> Line | None:
    try:
        with path.open(encoding="utf-8") as stream:
            first = json.loads(stream.readline())
    except (ValueError, OSError):
        return None
    return first if isinstance(first, dict) and first.get("type") == kind and "schema_version" in first else None


# -- writing -----------------------------------------------------------------------------------------------------------


class RecordWriter:
    """Write a new record line by line, so that written lines survive the death of the process.

    A line that cannot be written (a full disk) is kept in memory and retried with the next one: the run goes on. `fault`
    holds the error until the lines are written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.fault: OSError | None = None
        self._handle: int | None = None
        self._written = 0
        """Bytes of whole lines in the file."""
        self._waiting: list[bytes] = []

    def begin(self, records: Iterable[Record]) -> None:
        """Begin a record with these lines, all or none; an earlier file is replaced once they are on disk.

        So a resumed run never loses the results it takes over, however often it is killed.
        """
        self._begin([_bytes(record) for record in records])

    def _begin(self, content: list[bytes]) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(self.path) as handle:
                write_all(handle, b"".join(content))
            self._handle, self._written, self.fault = handle, sum(map(len, content)), None
        except OSError as error:
            self.fault, self._waiting = error, content

    def write(self, record: Record) -> None:
        """Write one line; the first begins the record."""
        if self._handle is None and not self._waiting:
            self.begin([record])
            return
        self._waiting.append(_bytes(record))
        self._catch_up()

    def content(self) -> bytes:
        """Return all lines of this record as they were written, even if its file has been removed or replaced since."""
        written = b"" if self._handle is None else _content(self._handle, self._written)
        return b"".join([written, *self._waiting])

    @property
    def is_removed(self) -> bool:
        """Whether the file that was begun is no longer there."""
        return self._handle is not None and not self.path.exists()

    @property
    def is_replaced(self) -> bool:
        """Whether another file has replaced the one that was begun."""
        if self._handle is None:
            return False
        try:
            return not os.path.samestat(os.fstat(self._handle), self.path.stat())
        except OSError:
            return False

    def restore(self) -> None:
        """Write the record anew if its file was removed or could not be written; `fault` holds the error if this fails."""
        if self.is_replaced or not (self.is_removed or self._waiting):
            return
        again = RecordWriter(self.path)
        again._begin([self.content()])
        self.fault = again.fault
        if again.fault is None:
            self.close()
            self._handle, self._written, self._waiting = again._handle, again._written, []

    def close(self) -> None:
        """Close the file, if anything was written."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def _catch_up(self) -> None:
        if self._handle is None:
            return
        try:
            if self.fault is not None:
                os.ftruncate(self._handle, self._written)  # cut off the part of a line that did fit
                os.lseek(self._handle, self._written, os.SEEK_SET)
            while self._waiting:
                write_all(self._handle, self._waiting[0])
                self._written += len(self._waiting.pop(0))
            self.fault = None
        except OSError as error:
            self.fault = error


def write_record(path: Path, records: Iterable[Record]) -> None:
    """Write a whole record, or raise `OSError` with nothing changed."""
    write_whole(path, b"".join(map(_bytes, records)))


def _content(handle: int, size: int) -> bytes:
    """Return the first bytes of an open file without moving its position."""
    at = os.lseek(handle, 0, os.SEEK_CUR)
    os.lseek(handle, 0, os.SEEK_SET)
    try:
        parts = []
        while size and (part := os.read(handle, min(size, 1 << 24))):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)
    finally:
        os.lseek(handle, at, os.SEEK_SET)


def _bytes(record: Record) -> bytes:
    # ASCII: a lone surrogate of a model's reply is no UTF-8
    line = public(to_json(record))
    text = json.dumps(line, ensure_ascii=True, allow_nan=False, separators=(",", ":"), default=str)
    return f"{text}\n".encode("ascii")
