"""A suite: one benchmark as a value that loads its rows, says how to judge them, and computes its measures.

A suite imports neither judges nor results. Criteria are data, finders and graders are functions over values of this
folder, and measures are functions over finished questions. Another benchmark is one folder, or one installed package
(entry point `pytest_memfail.suites`).
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, Protocol, TypeVar

from pytest_memfail.core.errors import UsageError
from pytest_memfail.core.model import Fact, Question, Task
from pytest_memfail.core.record import QuestionRecord
from pytest_memfail.core.taxonomy import ProtocolName
from pytest_memfail.core.verdict import StageResult

T = TypeVar("T")
OURS: Final = "ours"
"""The variant of a suite's own sample."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where the published rows of a suite are."""

    url: str
    licence: str
    files: Mapping[str, tuple[str, ...]]
    """Variant to file names; the first variant is the default."""
    size: str = ""
    """The size of the default variant, in words: "100 episodes"."""


@dataclass(frozen=True, slots=True)
class TaskPart:
    """A group of questions within a task: a row of the table, and a name for `--memfail-tasks` and the gate."""

    name: str
    """Without the task: `part` of `task.part`."""
    meaning: str
    """One line for help and docs."""
    targets: tuple[str, ...] = ()
    """The verdicts that it is designed to provoke."""
    is_proxy: bool = False
    """Whether its facts are gold strings instead of annotated facts; a line below the table says so."""


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a finder: how much of a fact some memories contain."""

    present: bool
    faithful: bool
    reason: str = ""
    entries: tuple[int, ...] = ()
    """Indices of the memories relied on, closest first."""
    missing: tuple[str, ...] = ()
    label: str | None = None
    vacuous: bool = False
    """Whether the fact counts as faithful only because the memories do not mention it."""


Finder = Callable[[Fact, Sequence[str]], Found | None]
"""`find(fact, texts)`: decide without a model how much of a fact some memories contain; None to leave it to the judge."""
Grade = Callable[[Question, Sequence[Fact], str], "StageResult | None"]
"""`grade(question, facts, reply)`: grade an answer without a model; None if only a model can decide."""


class AskModel(Protocol):
    """Asks the judge's model on behalf of a kind of question. Each call is cached, counted and charged to the budget."""

    async def __call__(
        self,
        criteria: str,
        material: Mapping[str, Sequence[str]],
        reply: type[T],
        check: Callable[[Any], str | None] = lambda _: None,
    ) -> T:
        """Return the model's reply.

        Args:
            criteria: what to decide, and the JSON object to reply with.
            material: texts by the name of their block; the model sees them numbered from 1 and marked as data.
            reply: a pydantic model that validates the reply.
            check: returns what is wrong with a valid reply, in words for the model, which is then asked once more.

        Raises a `MemfailError` if there is no usable reply.
        """


GradeWithModel = Callable[[AskModel, Question, Sequence[Fact], str], Awaitable[StageResult]]
"""`ask(ask_model, question, facts, reply)`: grade an answer with several model calls."""


@dataclass(frozen=True, slots=True)
class Staged:
    """Criteria for a model that is asked about each stage in a separate call: the full text per stage."""

    storage: str
    summary: str
    retrieval: str


@dataclass(frozen=True, slots=True)
class Kind:
    """How one kind of fact is judged."""

    present: str
    """When a fact counts as stored: criteria for a model as judge, in our words."""
    faithful: str
    recoverable: str
    find: Finder | None = None
    """Decides without a model, instead of the offline judge's check of the claim."""
    find_said: Finder | None = None
    """Decides what `find` leaves open of a store that keeps nothing but what was said, word for word."""
    times: bool = False
    """Whether a model sees the times of the memories."""
    outdated: bool = False
    """Whether a model also says if a replaced state is listed as current."""
    offline: Literal["decides", "estimates", "never"] = "decides"
    """How reliable the offline judge's result is; an estimate confirms nothing and is left out of a paper's measures."""
    gold: tuple[str, ...] = ("fact", "value", "replaced", "taken_back", "said", "question")
    """What a model sees of the fact, if it has it, in this order: `entity`, `fact`, `replaced`, `taken_back`, `said_before`,
    `said`, `must_keep`, `question` (last, where there is one), and any field of its gold value, by its name."""
    labels: tuple[str, ...] = ()
    """Labels that a model may give when the fact cannot be recovered from the memories shown."""
    unfaithful: str | None = None
    """Label of a fact that is stored unfaithfully, unless the judge gives another label."""
    still_held: str = "leaked"
    """Label of a retracted state that the store lists as current."""
    note: str = ""
    """An additional instruction for a model about a stored fact: what does not count as a fault."""
    needed: str = ""
    """When the store keeps the part that one answer needs; the whole fact is then checked once for all its questions."""
    needed_recoverable: str = ""
    """When the part that one answer needs can be recovered."""
    paper: Staged | None = None
    """The published criteria, for the protocol `paper`; without them the fact is judged as under `ours`."""
    paper_composed: Staged | None = None
    """The published criteria of a fact composed of several statements, if they differ."""


@dataclass(frozen=True, slots=True)
class AnswerKind:
    """How one kind of question is graded."""

    right: str
    """When a reply is right: criteria for a model as judge; empty if no model is ever needed."""
    grade: Grade | None = None
    labels: tuple[str, ...] = ()
    """Labels that a model may give a wrong answer."""
    settles: bool = False
    """Whether the reply counts even if a memory stage failed."""
    ask: GradeWithModel | None = None
    """Grades the answers that `grade` leaves open, instead of one call with `right`."""
    gold: tuple[str, ...] = ("gold", "facts", "replaced", "values")
    """What a model sees beside the answer, in this order: `gold`, `entity`, `said`, `facts`, `replaced`, `values`, and any of
    the question's keys."""
    restated: bool = False
    """Whether the memories that a reply repeats before its answer count too, as those that it used."""
    lead: str = "right: "
    """Text before the criterion in a prompt."""


Unit = Literal["share", "percent", "count"]
"""`share`: 0 to 1; `percent`: shown as such, 0 to 1 in the gate; `count`: a number of questions."""


@dataclass(frozen=True, slots=True)
class Score:
    """The value of a measure, or why there is none."""

    value: float | None
    n: int
    """The number of questions that it is computed from."""
    low: float | None = None
    """Lower bound of its 95 % interval; None if not computed."""
    high: float | None = None
    lacks: str | None = None
    """Why there is no value, such as "needs a model as judge"."""
    note: str | None = None
    """A note printed beside the value, such as "of 1,204"."""
    name: str = ""
    """This field and those below are of its measure, and set by the run."""
    title: str = ""
    part: str | None = None
    line: int = 1
    unit: Unit = "share"


@dataclass(frozen=True, slots=True)
class Measure:
    """A number that a paper defines over finished questions."""

    name: str
    """Its name in the gate: `score` of `suite.score`."""
    title: str
    of: Callable[[Sequence[QuestionRecord]], Score]
    """Computes the score from the questions of the suite at one k, or from those of `part`."""
    part: str | None = None
    """`task.part` for a measure of one part; None for the whole suite."""
    line: int = 1
    """The line below the table on which it is shown, with all measures of the same line."""
    unit: Unit = "share"
    with_errors: bool = False
    """Whether it also counts questions that ended with an error."""


@dataclass(frozen=True, slots=True)
class Folders:
    """The folders of the suites' rows: one for all suites, and those of single suites."""

    every: Path | None = None
    """Of each suite without a folder of its own; None for the rows that are shipped."""
    own: Mapping[str, Path] = field(default_factory=dict)

    @classmethod
    def read(cls, texts: Iterable[str], base: Path, option: str) -> Folders:
        """Return the folders that a user gives as DIR or SUITE=DIR, relative to `base`; `~` is the user's home.

        An existing folder whose own name has the form SUITE=DIR is meant as it is. Raises `UsageError` for two folders
        where one is expected, and for a suite without a folder.
        """
        every, own = None, {}
        for text in filter(None, map(str.strip, texts)):
            suite, equals, name = (part.strip() for part in text.partition("="))
            folder = base / Path(text).expanduser()
            if not equals or not _SUITE_NAME.fullmatch(suite) or folder.exists():
                if every is not None:
                    raise UsageError(f"{option}: got {text!r} besides {every}, expected one folder, or SUITE=DIR")
                every = folder
            elif suite in own or not name:
                problem = "two folders" if suite in own else "no folder"
                raise UsageError(f"{option}: got {problem} of the suite {suite!r}, expected {suite}=DIR once")
            else:
                own[suite] = base / Path(name).expanduser()
        return cls(every, own)

    def of(self, suite: str) -> Path | None:
        """Return the folder of a suite."""
        return self.own.get(suite, self.every)

    def written(self, name: Callable[[Path], str] = str) -> list[str]:
        """Return the folders as a user would give them; `name` says what is written of a path."""
        every = [] if self.every is None else [name(self.every)]
        return [*every, *(f"{suite}={name(folder)}" for suite, folder in self.own.items())]


_SUITE_NAME: Final = re.compile(r"[A-Za-z_][\w.-]*")


@dataclass(frozen=True, slots=True)
class SuiteRequest:
    """What to load of a suite, and how."""

    folder: Path | None = None
    """Where the published files are; None for the suite's own sample."""
    variant: str = ""
    """One of the source's variants; empty for its default."""
    protocol: ProtocolName = "ours"
    seed: int = 42
    options: Mapping[str, str] = field(default_factory=dict)
    """The suite's settings that the user set, by their names in `Suite.options`."""
    tasks: tuple[str, ...] = ()
    """The tasks that are wanted, and their parts; a suite may leave out others. Empty for all."""
    named: tuple[str, ...] = ()
    """Those of them that the user named, so that their rows must be there."""


@dataclass(frozen=True, slots=True)
class SuiteFault:
    """A finding of `memfail validate` in a suite's files."""

    file: str
    place: str
    """The row and field: `episode pl_003: sessions.3.timestamp`."""
    problem: str
    is_error: bool = True
    line: int | None = None

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{where}: {'error' if self.is_error else 'warning'}: {self.place}: {self.problem}"


@dataclass(frozen=True, slots=True)
class PlantedFault:
    """A fault that can be planted into a fact, to see whether a judge names it."""

    name: str
    kinds: tuple[str, ...]
    """The kinds of facts that can have it."""
    label: str
    """What a judge should find: ok, not_stored, summary_error, not_retrieved."""
    damage: Callable[[Fact, Question, str], str | None]
    """Returns the damaged text of the fact's conversation; None if the fault cannot be planted, empty if nothing remains."""
    accept: tuple[str, ...] = ()
    """Further labels that a careful reader could defend."""
    shown: bool = True
    """Whether the rest of the fact is shown."""


@dataclass(frozen=True, slots=True)
class Plants:
    """The faults that can be planted into the stores of a suite."""

    faults: tuple[PlantedFault, ...]
    is_stated: Callable[[Fact, str], bool]
    """Whether another text states a fact too, so that damage to one of them loses nothing."""


@dataclass(frozen=True, slots=True)
class Suite:
    """One benchmark."""

    name: str
    source: Source
    load: Callable[[SuiteRequest], Sequence[Task]]
    """Returns its tasks. Raises `UsageError` for a missing file, `RowError` for the first fault."""
    parts: Mapping[str, tuple[TaskPart, ...]] = field(default_factory=dict)
    """Task to its parts, in the order of the table."""
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    """Of facts, beyond those of the default suites, which any suite may use."""
    answers: Mapping[str, AnswerKind] = field(default_factory=dict)
    measures: tuple[Measure, ...] = ()
    paper_measures: tuple[Measure, ...] = ()
    """The measures of the protocol `paper`, if they differ."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Label to meaning, in the order shown."""
    k: int = 5
    part_k: Mapping[str, int] = field(default_factory=dict)
    """Parts whose questions have their own k, whatever the run's k is."""
    faults: Callable[[Path], Iterable[SuiteFault]] | None = None
    """Checks all files in a folder, for `memfail validate`."""
    data_report: Callable[[Path], Iterable[str]] | None = None
    """Yields lines about what the files in a folder hold, for `memfail validate --data-report`."""
    sample: str = ""
    """A description of its own sample: "our sample: 8 episodes"."""
    options: Mapping[str, str] = field(default_factory=dict)
    """The suite's settings and their meanings (`--memfail-suite-option SUITE.NAME=VALUE`)."""
    limits: Literal["questions", "stores"] = "stores"
    """What `--memfail-limit` draws: `questions` of a task, with only the conversations that they need, or as few whole
    `stores` as have enough questions of each part."""
    stands_alone: bool = True
    """Whether its tasks have a table and a line in the heading of their own; the others share the first table."""
    haystacks: tuple[str, ...] = ()
    """Suites whose conversations may be stored around its own."""
    is_in: Callable[[Path], bool] | None = None
    """Whether a folder has its files, if the names in `source` do not say so."""
    cases: Callable[[], Path] | None = None
    """Returns the folder with labelled cases: `cases.jsonl` or a file per split, and `replies.jsonl` if there are any."""
    row_task: Callable[[str, Mapping[str, Any], ProtocolName, Path, int], Task] | None = None
    """Returns the task of one row of a task, if labelled cases may have rows of their own. Raises `RowError`."""
    plants: Callable[[], Plants] | None = None
    """Returns the faults for `memfail judge-check --planted`."""
    reference: str = "bm25"
    """The built-in system that its runs are compared with question by question; empty for none."""
    recipes: Callable[[], Mapping[str, Any]] | None = None
    """Returns the rows that `memfail generate` makes: a `Recipe` or `DrawnRecipe` of `pytest_memfail.authoring` by name."""
