"""Plan a run: its tasks, stores and selected questions, and their results in an earlier record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_memfail.core import Doubt, Question, QuestionRecord, StorePlan, Suite, Task, UsageError, described_apart
from pytest_memfail.engine import NeededOutcome
from pytest_memfail.finding import NamedJudge
from pytest_memfail.records import EarlierResults, StoreRecord
from pytest_memfail.safety import escape_controls, mask_known

if TYPE_CHECKING:
    from _typeshed import StrPath

    from pytest_memfail.options import Settings

ROOT: Final = "memfail"
DEFAULT_K: Final = 5
CHARACTERS: Final = 2000
"""The number of characters that weigh as much as one call."""

Selection = tuple[str, ...]
"""Task, store and question, or the first of these; for a file of cases its path, and perhaps a case."""


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """A store of a task. One process fills it and asks its questions."""

    task: Task
    plan: StorePlan
    id: str
    """`task::store`, or `task` alone for a store of the same name; independent of other tasks and stores."""

    @property
    def weight(self) -> int:
        """The approximate cost: each conversation and each question is at least one call; long conversations cost more."""
        characters = self.plan.characters or sum(
            len(message.content) for talk in self.plan.read_conversations() for message in talk.messages
        )
        return self.plan.size + len(self.plan.questions) + characters // CHARACTERS


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """The question of an item, which is also the value of a parametrised `memfail_question`."""

    unit: Unit
    question: Question
    k: int
    name: str
    """The last part of its node id."""

    @property
    def node_id(self) -> str:
        """The node id of the benchmark's item."""
        return f"{ROOT}/{self.unit.id}::{self.name}"

    @property
    def key(self) -> tuple[str, str, str, int]:
        """Task, store, question and k, as in a record."""
        return self.unit.task.name, self.unit.plan.id, self.question.id, self.k


class Run:
    """The state of a run that the controller and every worker share."""

    def __init__(self, settings: Settings, tasks: Sequence[Task], selection: Sequence[Selection]):
        self.settings = settings
        self.tasks = tuple(tasks)
        self.selection = tuple(selection)
        self.units = tuple(
            Unit(task, plan, task.name if plan.id == task.name else f"{task.name}::{plan.id}")
            for task in self.tasks
            for plan in task.stores
        )
        self._all_units = self.units
        if settings.shard is not None:
            self.units = shard_of(self.units, *settings.shard)
        self.rootdir = Path()
        """The folder that paths are shown relative to."""
        self.cache = Path()
        """The folder of data that is kept between runs."""
        self.runs: Path | None = None
        """The folder of kept runs; None if none are kept."""
        self.judge = NamedJudge(settings.judge, "--memfail-judge", settings.judge_options)
        self.suites: tuple[Suite, ...] = ()
        """The suites of the run."""
        self.kept = EarlierResults()
        """The results of this run in an earlier record (--memfail-resume)."""
        self.known: Mapping[str, list[Any]] = {}
        """The outcome of each item in the baseline by node id: verdict, whether memory held, whether it passed vacuously."""
        self.latest: Mapping[str, str] | None = None
        """The latest recorded verdict of each question; None before they are read."""
        self.sources: Mapping[str, str] = {}
        """The code of the system and of the user's hooks when the run began, for the header of the record; empty in a worker."""
        self.code: Callable[[], Mapping[str, str]] = dict
        """Returns it as it is now."""
        self.system_models: tuple[str, ...] = ()
        """The models that the memory system calls through `context.chat`."""
        self.replay_ignore: tuple[str, ...] = settings.replay_ignore
        """The parts of the memory's prompts that differ between runs, from the options and its factory."""
        self._unit_by_id = {unit.id: unit for unit in self.units}

    def mixture(self, filled: Iterable[StoreRecord], *, died: bool) -> tuple[Doubt, ...]:
        """Return a doubt if the verdicts are of more than one memory system.

        `filled` are the stores of this run itself; `died` is whether a process of it died, so that the next one read the code anew.
        """
        why = described_apart((store.system for store in self.kept.stores.values()), (store.system for store in filled))
        if why is None and died and (code := self.code()) != self.sources:
            changed = sorted(name for name in {*code, *self.sources} if code.get(name) != self.sources.get(name))
            why = f"a process died, and its successor read changed code: {', '.join(changed)}"
        text = (
            f"verdicts of several systems in one run, expected those of one ({why}); run again without --memfail-resume"
        )
        return () if why is None else (Doubt("mixture", text, unit="run", limit=0.0),)

    def shown(self, path: StrPath) -> str:
        """Return a path as the user sees it: relative to the rootdir if it is below it."""
        return str(Path(path).relative_to(self.rootdir) if Path(path).is_relative_to(self.rootdir) else path)

    def ks(self, task: Task) -> tuple[int, ...]:
        """Return the number of memories to retrieve per question of a task: the user's, or else the suite's."""
        return self.settings.k or (task.k or DEFAULT_K,)

    @property
    def k_values(self) -> tuple[int, ...]:
        """All values of k in the run, in the order given or of the tasks."""
        return tuple(dict.fromkeys(k for task in self.tasks for k in self.ks(task)))

    def stands_alone(self, task: Task) -> bool:
        """Return whether a task has a table of its own suite."""
        return any(suite.stands_alone for suite in self.suites if task.name in suite.parts)

    def parts_of(self, task: Task) -> tuple[str, ...]:
        """Return the parts of a task that have questions, in the order of its suite's table."""
        asked = {question.part for question in task.questions if question.part}
        named = [part.name for suite in self.suites for part in suite.parts.get(task.name, ())]
        return tuple(name for name in dict.fromkeys([*named, *sorted(asked)]) if name in asked)

    @property
    def gated_names(self) -> list[str]:
        """The tasks and parts that a gate can name."""
        return [name for task in self.tasks for name in (task.name, *(f"{task.name}.{p}" for p in self.parts_of(task)))]

    def targets_of(self, task: Task, part: str) -> tuple[str, ...]:
        """Return the verdicts that a task, or one of its parts, is designed to provoke."""
        parts = [known for suite in self.suites for known in suite.parts.get(task.name, ()) if known.name == part]
        return parts[0].targets if parts else task.targets

    def recorded(self, node_id: str) -> QuestionRecord | None:
        """Return the finished question of a benchmark item that need not be asked again, else None."""
        return self.kept.questions.get(node_id) if self.is_recorded(node_id) else None

    def recorded_of(self, unit: Unit) -> dict[tuple[str, int], NeededOutcome]:
        """Return the recorded outcomes of a store's questions, by question and k."""
        place = unit.task.name, unit.plan.id
        return {
            (q.question, q.k): NeededOutcome.of(q) for q in self.kept.questions.values() if (q.task, q.store) == place
        }

    def is_recorded(self, node_id: str) -> bool:
        """Return whether an item is reported from the record. A user's own test always runs: it may check more."""
        return node_id in self.kept.questions and node_id.startswith(f"{ROOT}/")

    def store_sizes(self) -> dict[str, int]:
        """Return how many questions each store of the whole run has, including other shards; each k counts."""
        return {unit.id: len(list(self.all_of(unit))) for unit in self._all_units}

    def keys(self) -> set[tuple[str, str, str, int]]:
        """Return task, store, question and k of all questions that the options select, even of those that ids, -k or -m leave out."""
        return {asked.key for unit in self.units for asked in self.all_of(unit)}

    def unit(self, unit_id: str) -> Unit:
        """Return the unit with this id."""
        return self._unit_by_id[unit_id]

    def all_of(self, unit: Unit) -> Iterator[Asked]:
        """Yield all questions of a unit in the order asked, each once per k, even those that ids leave out."""
        has_one_k = len(self.settings.k) < 2
        for question in unit.plan.questions:
            for k in (question.k,) if question.k else self.ks(unit.task):
                yield Asked(unit, question, k, question.id if has_one_k else f"{question.id}[k={k}]")

    def items_of(self, unit: Unit) -> Iterator[Asked]:
        """Yield the selected questions of a unit in the order asked."""
        path = tuple(unit.id.split("::"))
        for asked in self.all_of(unit):
            full = (*path, asked.name)
            if any(full[: len(chosen)] == chosen for chosen in self.selection):
                yield asked

    def selected(self) -> Iterator[Asked]:
        """Yield the selected questions of all units."""
        for unit in self.units:
            yield from self.items_of(unit)

    def unit_of(self, node_id: str) -> Unit | None:
        """Return the unit of a benchmark item, or of a user's test over a task; None for any other test."""
        if node_id.startswith(f"{ROOT}/"):
            parts = node_id[len(ROOT) + 1 :].split("::")
            return self._unit_by_id.get(parts[0]) or self._unit_by_id.get("::".join(parts[:2]))
        if node_id.endswith("]") and "[" in node_id:
            return self._unit_by_id.get(node_id.rpartition("[")[2][:-1].rpartition("/")[0])
        return None

    def unknown_selections(self) -> list[str]:
        """Return an error for each selected id that matches nothing, with the closest id that exists."""
        known: dict[Selection, None] = {(): None}
        for unit in self._all_units:
            path = tuple(unit.id.split("::"))
            for i in range(1, len(path) + 1):
                known[path[:i]] = None
            known |= {(*path, asked.name): None for asked in self.all_of(unit)}
        faults = []
        for chosen in self.selection:
            if chosen not in known:
                names = [
                    _id(other).removeprefix(f"{ROOT}/")
                    for other in known
                    if other and (len(chosen) == 1 or other[0] == chosen[0])
                ]
                close = get_close_matches(_id(chosen).removeprefix(f"{ROOT}/"), names, 1, cutoff=0.6)
                tasks = ", ".join(task.name for task in self.tasks)
                hint = f"did you mean {ROOT}/{close[0]}?" if close else f"tasks: {tasks}"
                faults.append(f"no such benchmark item: {_id(chosen)} ({hint})")
        return [escape_controls(mask_known(fault)) for fault in faults]


def shard_of(units: Sequence[Unit], number: int, of: int) -> tuple[Unit, ...]:
    """Return the stores of one shard, which are the same on every machine.

    Each store, the heaviest first, goes to the lightest shard so far. Raises `UsageError` if a shard would stay empty.
    """
    if of > len(units):
        raise UsageError(f"--memfail-shard: got {of} shards, expected at most {len(units)}: a store is not divided")
    loads = [0] * of
    chosen = set()
    for unit in sorted(units, key=lambda unit: (-unit.weight, unit.id)):
        lightest = loads.index(min(loads))
        loads[lightest] += unit.weight
        if lightest == number - 1:
            chosen.add(unit.id)
    return tuple(unit for unit in units if unit.id in chosen)


def _id(selection: Selection) -> str:
    return "::".join((f"{ROOT}/{selection[0]}", *selection[1:])) if selection else ROOT


def haystack_for(factory: Any, settings: Settings) -> str:
    """Return `full` to store all conversations or, with a limit, `sample` to store only those that the questions need.

    Storing is cheap for a system that declares that it calls no model. Any other system may pay for each conversation.
    """
    if settings.limit is None:
        return "full"
    if settings.haystack is not None:
        return settings.haystack
    calls_model = getattr(factory, "calls_model", None)
    if callable(calls_model):
        calls_model = calls_model(settings.system_options)
    return "full" if calls_model is False else "sample"
