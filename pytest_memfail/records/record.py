"""The parts of a record but its questions: header, stores, footer, and the comparison and gate in a footer.

`QuestionRecord` (in `core`, since measures read it) is the only type of a finished question. `codec.py` turns these values into
JSON and back.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from pytest_memfail.core import Doubt, Memory, Origin, Origins, ProtocolName, Score, Session, Told

SCHEMA_VERSION: Final = 1
JUDGED_BY: Final = "judged by "
"""How the note of a reference begins that another judge judged."""

Line: TypeAlias = Mapping[str, Any]
"""A JSON object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRecord:
    """The difference between the listing of a probe and the one before it."""

    number: int
    """The number of the probe in the plan of the store."""
    added: tuple[Memory, ...]
    """The new entries, which follow those left of the earlier listing."""
    gone: tuple[int, ...] = ()
    """The removed entries, as indices in the earlier listing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreRecord:
    """A store, with every listing that its questions were judged by."""

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
    """How many more entries were added than removed that contain text stored before the first question."""
    shared_with: str | None = None
    doubts: tuple[Doubt, ...] = ()
    system: Line = field(default_factory=dict)
    model_calls: Line = field(default_factory=dict)
    """Calls, cache hits and tokens that came by the store's own address of the proxy."""
    listings: tuple[tuple[Memory, ...], ...]
    """The store's only listing, or none; empty in the process that collects a run without a page."""
    history: tuple[ChangeRecord, ...] = ()
    """Several listings, in order, each as the difference from the one before."""
    extracted: tuple[ChangeRecord, ...] = ()
    """What the system said that the conversations before each probe added; some of it may be replaced by now."""
    sessions: tuple[Session, ...] = ()
    """The conversations up to the last listing, in the order they were stored."""
    origins: tuple[tuple[int, ...], ...] = ()
    """For each entry, in the order of the listing or of `added` in the history, the places of its conversations in `sessions`."""
    likely: tuple[int, ...] = ()
    """The entries, by their places in `origins`, whose conversations only words in common name."""
    told: tuple[Told, ...] = ()
    """What the last listing holds of each conversation, in the order in which they were stored."""

    @property
    def by_probe(self) -> dict[int, tuple[Memory, ...]]:
        """Return the listings by the number of the probe that each was made for, in order."""
        if self.listings:
            return {0: self.listings[-1]}
        found: dict[int, tuple[Memory, ...]] = {}
        held: tuple[Memory, ...] = ()
        for change in self.history:
            gone = set(change.gone)
            held = (*(memory for i, memory in enumerate(held) if i not in gone), *change.added)
            found[change.number] = held
        return found

    @property
    def origins_by_probe(self) -> dict[int, Origins]:
        """Return where the entries of each listing came from, by the number of its probe; empty if unknown."""
        if not self.sessions:
            return {}
        likely = set(self.likely)
        every = [Origin(places, at in likely) for at, places in enumerate(self.origins)]
        if self.listings:
            return {0: Origins(self.sessions, tuple(every))}
        found, held, start = {}, tuple[Origin, ...](), 0
        for change in self.history:
            gone, end = set(change.gone), start + len(change.added)
            held = (*(one for i, one in enumerate(held) if i not in gone), *every[start:end])
            found[change.number], start = Origins(self.sessions, held), end
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRecord:
    """The rows of a task."""

    data_hash: str
    licence: str | None = None
    questions: int | None = None
    conversations: int | None = None
    left_out: int = 0
    """Conversations that a sample left out of the haystack."""
    suite: str = ""
    variant: str = ""
    """The variant of the suite's files that the task is from."""
    parts: tuple[str, ...] = ()
    """The parts of the task, in the order of the table."""
    stands_alone: bool = False
    """Whether its suite has a table of its own; the tasks of others share one."""

    def groups(self, name: str) -> tuple[str, ...]:
        """Return the table rows of the task with this name."""
        return tuple(f"{name}.{part}" for part in self.parts) or (name,)


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteRecord:
    """The results of a suite's questions by the suite's own measures."""

    name: str
    k: int
    """Maximum number of memories shown for each question."""
    scores: tuple[Score, ...] = ()
    labels: Mapping[str, int] = field(default_factory=dict)
    """Number of questions by label, without labels that did not occur."""
    proxies: tuple[str, ...] = ()
    """The rows of the table whose facts are only gold strings: `task.part`."""

    def score(self, name: str) -> Score | None:
        """Return the score of a measure; None if the suite has no such measure."""
        return next((score for score in self.scores if score.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The settings and data of a run: the first line of its record, and of a baseline saved from it."""

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
    protocol: ProtocolName
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
    """How each field of a header identifies a run (see `identity`)."""
    rerun: tuple[str, ...] = ()
    """The options to rerun a question with, without secrets and paths."""
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
    extra: Line = field(default_factory=dict, repr=False)
    """Further settings, by name; in the JSON they stand beside the other fields."""

    @property
    def groups(self) -> tuple[str, ...]:
        """The rows of a table, in order: tasks, or their parts."""
        return tuple(group for name, task in self.tasks.items() for group in task.groups(name))

    def rerun_command(self, node_id: str) -> str:
        """Return the command that reruns a question. It holds no paths: of the rows only the name of their folder."""
        return shlex.join(["pytest", node_id, *self.rerun])

    def value(self, name: str) -> Any:
        """Return the JSON value of a field or of a further setting; None if there is none."""
        value = self.extra.get(name) if name in self.extra else getattr(self, name, None)
        return list(value) if isinstance(value, tuple) else value


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """What another system held of the same questions: by default `bm25`, a verbatim store with a word search."""

    system: str
    judge: str
    outcomes: Mapping[str, str] = field(default_factory=dict)
    """By node id: `correct` if it held the facts of the question, else its failure; without questions that are undecided."""
    is_itself: bool = False
    """Whether the system under test is the reference, so that nothing can be lost beyond it."""
    note: str = ""
    """Why it is missing, or how far it can be compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clue:
    """What the failures of a run have in common, beyond chance."""

    name: str
    """Which test found it, such as `left-no-entry`."""
    text: str
    """One line: the cause, and the facts that it explains among those lost and those held."""
    verdict: str
    """The failure that it explains."""
    explained: int
    """Lost facts that have it."""
    lost: int
    """All facts with that failure."""
    p: float
    """The chance of this by accident: an exact test, with Holm's correction over all tests of the run."""
    questions: tuple[str, ...] = ()
    """Ids of the failed questions that it explains."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Footer:
    """How a run ended."""

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
    reference: Reference | None = None
    """None if no comparison with a reference was asked for."""
    clues: tuple[Clue, ...] = ()
    """What failures have in common, the clue that explains most questions first."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A share with its denominator and its Wilson interval."""

    count: int
    n: int
    low: float
    high: float
    estimated: int = 0
    """How many more a judge only estimated; they are in neither count nor n."""

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

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the greatest value that it may have with those that were only estimated."""
        every = self.n + self.estimated
        return (self.count / every, (self.count + self.estimated) / every) if every else (0.0, 1.0)

    @property
    def doubt(self) -> str:
        """Why its value decides nothing where its bounds disagree, and what to do."""
        least, most = self.bounds
        return (
            f"{self.estimated} of {self.n + self.estimated} are only estimated, so it is between {least:.3f} and {most:.3f}; "
            "give --memfail-judge=MODEL or offline+MODEL"
        )


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
    """Compared questions that failed in the earlier run, by task and in total."""
    undecided: int = 0
    """Those of `uncounted` of which no judge decided what memory held, in one of the runs."""
    estimated: int = 0
    """Compared questions of which a judge only estimated a stage in the later run."""

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
    """Why it is undecided or skipped; of errors, their number."""
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
        """The worst outcome of the checks: `undecided`, `failed`, `skipped` (one lacks its baseline), then `passed`."""
        found = {check.outcome for check in self.checks}
        return next((outcome for outcome in (OPEN, FAILED, SKIPPED, PASSED) if outcome in found), SKIPPED)

    @property
    def flips(self) -> tuple[Flip, ...]:
        """The questions whose verdict changed since the baseline or, without one, since the anchor."""
        against = self.comparison or (self.anchor and self.anchor.comparison)
        return against.flips if against else ()

    @property
    def worse(self) -> tuple[Flip, ...]:
        """The regressions among them."""
        return tuple(flip for flip in self.flips if flip.change == "worse")

    @property
    def undecided(self) -> str | None:
        """The first reason why there is no trustworthy result, or None."""
        check = next((check for check in self.checks if check.outcome == OPEN), None)
        if check is None:
            return None
        about = f" ({check.task})" if check.task is not None and check.expression.startswith("*") else ""
        return f"{check.expression}{about}: {check.reason}"

    @property
    def compared(self) -> bool:
        """Whether this run was compared with an earlier one."""
        return self.comparison is not None or self.anchor is not None


def judged_by(judge: str, here: str) -> str:
    """Return the note of a reference that another judge judged than the run here; empty for the same judge."""
    return f"{JUDGED_BY}{judge}, this run by {here}" if judge != here else ""


def judge_in_words(name: str, options: Mapping[str, Any]) -> str:
    """Return a judge with its options, as records have them, as words for the reader."""
    return " ".join([name, *(f"{option}={value}" for option, value in options.items())])


# -- whether two runs are the same -------------------------------------------------------------------------------------


def identity(*headers: Header) -> dict[str, str]:
    """Return the fields of headers that identify a run, and how.

    `verdicts`: which questions are asked, or what a verdict means. `subject`: runs are compared to see its effect. `run`: neither.
    """
    return {name: what for header in headers for name, what in header.identity.items()}


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
