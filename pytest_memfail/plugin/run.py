"""Build a benchmark run from the user's options: settings, tasks, selected questions, models, and its folder."""

from __future__ import annotations

import json
import os
import platform
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timezone
from difflib import get_close_matches
from inspect import getfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pluggy
import pytest

from pytest_memfail import discovery, judge_names, suite_names
from pytest_memfail.core import (
    Question,
    StorePlan,
    Suite,
    Task,
    UsageError,
    check_can_be_made,
    escape_controls,
    learn_options,
    mask_known,
    one_line,
    os_reason,
)
from pytest_memfail.plugin.options import IDENTITY, SYSTEM, Settings, cache_folder, read_settings
from pytest_memfail.records import Kept, QuestionRecord

if TYPE_CHECKING:
    from pytest_memfail.engine import Needed, Result
    from pytest_memfail.plugin.execution import Runtime
    from pytest_memfail.records import Header, RunFolder

Known = Mapping[str, list[Any]]
"""The outcome of each item in the baseline by node id: verdict, whether memory held, whether it passed vacuously."""

# -- what is kept in the stash of pytest's config and items, never in module globals -----------------------------------

RUN: pytest.StashKey[Run] = pytest.StashKey()
RUNTIME: pytest.StashKey[Runtime] = pytest.StashKey()
KNOWN: pytest.StashKey[Known] = pytest.StashKey()
"""The outcomes of the items in the baseline."""
BROKEN_OFF: pytest.StashKey[BaseException] = pytest.StashKey()
"""The exception that ended the loop over the items early (Ctrl-C, say); absent if the loop went to its end."""
FOLDER: pytest.StashKey[RunFolder | None] = pytest.StashKey()
"""The folder of the run, in the process that the user started; None if it cannot be created."""
RESULT: pytest.StashKey[Result] = pytest.StashKey()
FINISHED: pytest.StashKey[QuestionRecord] = pytest.StashKey()
"""The question of an item, once it is finished."""

# -- the run ----------------------------------------------------------------------------------------------------------

ROOT: Final = "memfail"
DEFAULT_K: Final = 5
CHARACTERS: Final = 2000
"""Characters that weigh as much as one more call."""
SYSTEM_FROM_FIXTURE: Final = "fixture"
"""`--memfail-system=fixture` leaves the choice to the `memfail_system` fixture of the user's conftest.py."""
NAMED_CASES: Final = pytest.StashKey[list[Path]]()
"""The files of cases that the command line names, or that are in its folders."""

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
            len(message.content) for talk in self.plan.conversations for message in talk.messages
        )
        return self.plan.size + len(self.plan.questions) + characters // CHARACTERS


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """The question of an item, which is also the value of a parametrised `memfail_question`."""

    unit: Unit
    question: Question
    k: int


class Run:
    """The state of a run that the controller and every worker share."""

    def __init__(
        self, config: pytest.Config, settings: Settings, tasks: Sequence[Task], selection: Sequence[Selection]
    ):
        self.config = config
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
        self.suites: tuple[Suite, ...] = ()
        """The suites of the run that are more than tasks; without MemFail."""
        self.kept = Kept()
        """The results of this run in an earlier record (--memfail-resume)."""
        self.resumed = ""
        """The header's sentence on the source of these results, or why there are none."""
        self.latest: Mapping[str, str] | None = None
        """The latest recorded verdict of each question; None before they are read."""
        self.held_back = False
        """Whether the named record is whole, so that only a whole run may replace it."""
        self.unkept: str | None = None
        """Why this run could not be kept; None if it is kept, or need not be."""
        self.system_models: tuple[str, ...] = ()
        """The models that the memory system calls through `context.chat`."""
        self.replay_ignore: tuple[str, ...] = settings.replay_ignore
        """What differs in the memory's prompts from run to run, as the options and its factory say."""
        self._unit_by_id = {unit.id: unit for unit in self.units}

    def ks(self, task: Task) -> tuple[int, ...]:
        """Return how many memories to retrieve per question of a task: as the user says, or else as its suite does."""
        return self.settings.k or (task.k or DEFAULT_K,)

    @property
    def k_values(self) -> tuple[int, ...]:
        """All values of k in the run, in the order given or of the tasks."""
        return tuple(dict.fromkeys(k for task in self.tasks for k in self.ks(task)))

    def parts_of(self, task: Task) -> tuple[str, ...]:
        """Return the parts of a task that have questions, in the order of its suite's table."""
        asked = {question.part for question in task.questions if question.part}
        named = [part.name for suite in self.suites for part in suite.parts.get(task.name, ())]
        return tuple(name for name in dict.fromkeys([*named, *sorted(asked)]) if name in asked)

    @property
    def gated_names(self) -> list[str]:
        """The tasks and their parts, which a gate can be asked of."""
        return [name for task in self.tasks for name in (task.name, *(f"{task.name}.{p}" for p in self.parts_of(task)))]

    def targets_of(self, task: Task, part: str) -> tuple[str, ...]:
        """Return the verdicts that a task, or one of its parts, is designed to provoke."""
        parts = [known for suite in self.suites for known in suite.parts.get(task.name, ()) if known.name == part]
        return parts[0].targets if parts else task.targets

    def recorded(self, node_id: str) -> QuestionRecord | None:
        """Return the finished question of a benchmark item that need not be asked again, else None."""
        return self.kept.questions.get(node_id) if self.is_recorded(node_id) else None

    def recorded_of(self, unit: Unit) -> dict[tuple[str, int], Needed]:
        """Return the recorded outcomes of a store's questions, by question and k."""
        from pytest_memfail.engine import Needed

        place = unit.task.name, unit.plan.id
        return {
            (q.question, q.k): Needed(q.verdict, q.memory_held)
            for q in self.kept.questions.values()
            if (q.task, q.store) == place
        }

    def is_recorded(self, node_id: str) -> bool:
        """Return whether an item is reported from the record. A user's own test always runs: it may check more."""
        return node_id in self.kept.questions and node_id.startswith(f"{ROOT}/")

    def store_sizes(self) -> dict[str, int]:
        """Return how many questions each store of the whole run has, including other shards; each k counts."""
        return {
            unit.id: sum(1 if q.k else len(self.ks(unit.task)) for q in unit.plan.questions) for unit in self._all_units
        }

    def keys(self) -> set[tuple[str, str, str, int]]:
        """Return task, store, question and k of all questions that the options select, whatever ids, -k or -m leave out."""
        return {
            (unit.task.name, unit.plan.id, question.id, k)
            for unit in self.units
            for question in unit.plan.questions
            for k in ((question.k,) if question.k else self.ks(unit.task))
        }

    def unit(self, unit_id: str) -> Unit:
        """Return the unit with this id."""
        return self._unit_by_id[unit_id]

    def item_name(self, question: Question, k: int) -> str:
        """Return the last part of a question's node id."""
        return question.id if len(self.settings.k) < 2 else f"{question.id}[k={k}]"

    def items_of(self, unit: Unit) -> Iterator[tuple[str, Question, int]]:
        """Yield name, question and k of each selected item of a unit, in the order asked."""
        path = tuple(unit.id.split("::"))
        for question in unit.plan.questions:
            for k in (question.k,) if question.k else self.ks(unit.task):
                name = self.item_name(question, k)
                full = (*path, name)
                if any(full[: len(chosen)] == chosen for chosen in self.selection):
                    yield name, question, k

    def selected(self) -> Iterator[tuple[str, Unit, Question, int]]:
        """Yield node id, unit, question and k of each selected item."""
        for unit in self.units:
            for name, question, k in self.items_of(unit):
                yield f"{ROOT}/{unit.id}::{name}", unit, question, k

    def unit_of(self, node_id: str) -> Unit | None:
        """Return the unit of a benchmark item, or of a user's test over a task; None for any other test."""
        if node_id.startswith(f"{ROOT}/"):
            parts = node_id[len(ROOT) + 1 :].split("::")
            return self._unit_by_id.get(parts[0]) or self._unit_by_id.get("::".join(parts[:2]))
        if node_id.endswith("]") and "[" in node_id:
            return self._unit_by_id.get(node_id.rpartition("[")[2][:-1].rpartition("/")[0])
        return None

    def check_selection(self) -> None:
        """Raise `pytest.UsageError` if a selected id matches nothing, and suggest the closest id that exists."""
        known: dict[Selection, None] = {(): None}
        for unit in self._all_units:
            path = tuple(unit.id.split("::"))
            for i in range(1, len(path) + 1):
                known[path[:i]] = None
            for question in unit.plan.questions:
                for k in (question.k,) if question.k else self.ks(unit.task):
                    known[(*path, self.item_name(question, k))] = None
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
        if faults:
            raise pytest.UsageError(*(escape_controls(mask_known(fault)) for fault in faults))


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


def take_arguments(config: pytest.Config) -> tuple[Selection, ...]:
    """Move our own arguments out of `config.args`, which then holds pytest's, and return them as selections.

    Without any path, a system named on the command line runs the benchmark alone: a run that may cost money runs only
    what was asked for. A system named in the ini file (or in `PYTEST_ADDOPTS`) adds the benchmark to the user's own
    tests, which would otherwise be left out silently.
    """
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        if leaves_own_tests_out(config):
            config.args.clear()
        return ((),)
    kept, ours, named = [], [], []
    for arg in config.args:
        if (found := named_cases(arg, config)) is not None:
            path, files, case = found
            named += files
            ours += [(str(file), *case) for file in files]
            if path.is_dir():
                kept.append(arg)  # it may hold tests as well
        elif (selection := parse_argument(arg, config)) is None:
            kept.append(arg)
        else:
            ours.append(selection)
    config.stash[NAMED_CASES] = named
    config.args[:] = kept
    return tuple(dict.fromkeys(ours))


def named_cases(arg: str, config: pytest.Config) -> tuple[Path, list[Path], tuple[str, ...]] | None:
    """Return the path of an argument, its files of cases, and the case it names; None if the path holds no cases."""
    from pytest_memfail.suites import find_custom

    base, _, case = arg.partition("::")
    path = Path(os.path.normpath(config.invocation_params.dir / base))
    if base == ROOT or not path.exists() or (case and path.is_dir()):
        return None
    files = find_custom([path], config.getini("norecursedirs"))
    return (path, files, (case,) if case else ()) if files else None


def of_cases(selection: Iterable[Selection], tasks: Iterable[Task]) -> Iterator[Selection]:
    """Yield the selections, with the items of a file of cases in place of the file.

    Raises `pytest.UsageError` if a file of cases selects no item.
    """
    from pytest_memfail.suites import CUSTOM

    questions = [question for task in tasks if task.name == CUSTOM for question in task.questions]
    for chosen in selection:
        if not chosen or not Path(chosen[0]).is_absolute():
            yield chosen
            continue
        file, *case = chosen
        of_file = [question.id for question in questions if Path(question.file).samefile(file)]
        ids = [name for name in of_file if name in case] if case else of_file
        if not ids:
            hint = f"its cases: {', '.join(of_file)}" if of_file else "--memfail-tasks or --memfail-limit leaves it out"
            raise pytest.UsageError(f"no such case: {'::'.join(chosen)} ({hint})")
        yield from ((CUSTOM, name) for name in ids)


def leaves_own_tests_out(config: pytest.Config) -> bool:
    """Return whether the benchmark runs alone: its system is on the command line, and no path is."""
    typed = any(str(word).partition("=")[0] == SYSTEM for word in config.invocation_params.args)
    return typed and config.args_source is not pytest.Config.ArgsSource.ARGS


def parse_argument(arg: str, config: pytest.Config) -> Selection | None:
    """Return the parts of `memfail/task::store::question`; None for an argument that is not ours.

    Ids are relative to the rootdir and can be pasted in any directory. A real file or folder of the user takes
    precedence, except that the bare word `memfail` is always ours (`memfail/` still means a folder).
    """
    base, _, rest = arg.partition("::")
    parts = tuple(part for part in rest.split("::") if part)
    if base == ROOT:
        return parts
    for start in dict.fromkeys((config.invocation_params.dir, config.rootpath)):
        path = Path(os.path.normpath(start / base))
        if path.exists():
            return None
        try:
            below = path.relative_to(config.rootpath).parts
        except ValueError:
            continue
        if below[:1] == (ROOT,) and len(below) > 1:
            return (*below[1:], *parts)
    return None


def build_run(config: pytest.Config, selection: Sequence[Selection], shared: Mapping[str, Any] | None = None) -> Run:
    """Return the run that the options describe, checked before anything is stored; workers get their settings as `shared`.

    Raises `pytest.UsageError` (exit code 4) with one line if an option is wrong.
    """
    from pytest_memfail.suites import (
        MEMFAIL,
        OWN,
        HaystackFinder,
        TaskRequest,
        choose_suites,
        load_tasks,
        read_custom,
        with_options,
    )

    settings = read_settings(config).changed(**(shared or {}))
    learn_options({**settings.system_options, **settings.model_options})  # a worker's come from `shared`
    try:
        suites = choose_suites(settings.suite, lambda name: find_suite(config, name))
        suites = with_options(suites, settings.suite_options)
        suite_names.check_folders(settings.data, Settings.data.flag, lambda name: find_suite(config, name))
        extra: list[Task] = []
        if any(suite.name == OWN for suite in suites):
            extra += own_tasks(config)
            haystacks = HaystackFinder(settings.data.of(MEMFAIL), settings.seed, extra)
            if (own := read_custom(find_cases(config), config.rootpath, haystacks)) is not None:
                extra.append(own)
        if settings.proxy is not None and settings.cache == "only":
            stand_in_for_key(config)
        factory = None if settings.system == SYSTEM_FROM_FIXTURE else find_system(config, settings)
        settings = settings.changed(haystack=haystack_for(factory, settings))
        asked = settings.tasks, settings.data, settings.protocol, settings.seed, settings.limit, settings.haystack
        tasks = load_tasks(TaskRequest(*asked, suites), extra)  # type: ignore[arg-type]  # checked in read_settings
        run = Run(config, settings, tasks, tuple(of_cases(selection, tasks)))
        run.suites = tuple(chosen.suite for chosen in suites if chosen.suite is not None)
        run.check_selection()
        if factory is not None:
            run.system_models = models_of_system(factory, settings)
            run.replay_ignore += tuple(getattr(factory, "replay_ignore", ()))
            if settings.reuse_stores is not None and isinstance(factory, type):
                from pytest_memfail.hosting import check_reusable

                check_reusable(factory, settings.system)  # other factories are checked with the first store
        check_models(config, settings, run.system_models)
    except UsageError as error:
        raise pytest.UsageError(str(error)) from error.__cause__
    return run


def own_tasks(config: pytest.Config) -> list[Task]:
    """Return the tasks that hooks and installed packages add.

    Raises `UsageError` if a hook or package raises, or gives something else.
    """
    hook = config.hook.pytest_memfail_tasks
    tasks = [task for given in ask(f"{hook.name}()", hook, config=config) for task in tasks_of(f"{hook.name}()", given)]
    for name, found in discovery.load_all("pytest_memfail.tasks"):
        what = f"the entry point {name!r} (pytest_memfail.tasks)"
        tasks += tasks_of(what, [ask(what, found) if callable(found) else found])
    return tasks


def find_suite(config: pytest.Config, name: str) -> Suite:
    """Return the suite of that name.

    Raises `UsageError` for an unknown name.
    """
    hook = config.hook.pytest_memfail_suites
    given = [suite for some in ask(f"{hook.name}()", hook, config=config) for suite in some]
    return suite_names.find_suite(name, option=Settings.suite.flag, given=given, hook=hook.name)


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


def find_cases(config: pytest.Config) -> list[Path]:
    """Return the files of the user's cases: `*.memfail.yaml` in `testpaths` or the rootdir, and those on the command line."""
    from pytest_memfail.suites import find_custom

    starts: list[Path] = list(config.stash.get(NAMED_CASES, ()))
    for path in config.getini("testpaths") or ["."]:
        starts += config.rootpath.glob(path) if path != "." else [config.rootpath]
    return find_custom(starts, config.getini("norecursedirs"))


def _where_it_could_be(config: pytest.Config) -> str:
    """Return where the user could define the hook that provides a system, if no hook exists."""
    if config.hook.pytest_memfail_make_system.get_hookimpls():
        return ""
    places = dict.fromkeys((config.invocation_params.dir, config.rootpath))
    found = [place / "conftest.py" for place in places if (place / "conftest.py").exists()]
    if found:
        return f", which {found[0]} does not have"
    return f" of a conftest.py; there is none in {' or '.join(map(str, places))}"


def find_system(config: pytest.Config, settings: Settings) -> Any:
    """Return the factory of the memory system.

    Raises `UsageError` for an unknown name, or if the factory cannot be called.
    """
    from pytest_memfail.systems import SYSTEMS, built_in_system, is_yaml, yaml_system

    hook = config.hook.pytest_memfail_make_system

    def find(name: str) -> Any:
        if is_yaml(name):
            return yaml_system(Settings.system.given(config).base / name)
        found = discovery.find(
            "memory system",
            name,
            option="--memfail-system",
            group="pytest_memfail.systems",
            built_in={n: (lambda n=n: built_in_system(n, find)) for n in SYSTEMS},  # type: ignore[misc]  # a default binds n
            hook=lambda: ask(f"{hook.name}({name!r})", hook, config=config, name=name),
            hook_name=f"pytest_memfail_make_system{_where_it_could_be(config)}",
            rootdir=config.rootpath,
        )
        if not callable(found):
            raise UsageError(
                f"--memfail-system: {name!r} is {type(found).__name__}, expected a factory: factory(context) -> system"
            )
        return found

    from pytest_memfail.hosting import check_factory

    factory = find(settings.system)
    check_factory(factory, f"--memfail-system={settings.system}")
    if callable(check := getattr(factory, "check_options", None)):
        # before anything is stored, if the system can check its options
        ask(f"check_options() of {settings.system}", check, settings.system_options)
    return factory


# -- what the user's code gives ----------------------------------------------------------------------------------------

NOT_THEIRS: Final = ("<", *(str(Path(getfile(known)).parent) for known in (pluggy.HookCaller, pytest.Item)))
OUR_CODE: Final = str(Path(__file__).parent.parent)


def ask(what: str, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call a hook or a function of the user's.

    Raises `UsageError` naming the function and the line of the user's code if the call raises.
    """
    try:
        return function(*args, **kwargs)
    except (UsageError, pytest.UsageError, KeyboardInterrupt, pytest.exit.Exception):
        raise
    except BaseException as error:  # SystemExit, and what pytest.skip() and pytest.fail() raise
        raise UsageError(f"{what} raised {type(error).__name__}: {one_line(error)}{_place(error)}") from error


def tasks_of(what: str, given: Any) -> list[Task]:
    """Return what a hook or an entry point gives as tasks.

    Raises `UsageError` if it is something else.
    """
    if not isinstance(given, Iterable):
        raise UsageError(f"{what} gave {type(given).__name__}, expected a list of Task")
    tasks: list[Task] = ask(what, list, given)
    for task in tasks:
        if not isinstance(task, Task):
            raise UsageError(f"{what} gave {type(task).__name__} {one_line(repr(task), 60)}, expected a Task")
    return tasks


def _place(error: BaseException) -> str:
    """Return where the user's code raised an error: file and line of the user's last frame."""
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if not frame.filename.startswith((*NOT_THEIRS, OUR_CODE))]
    return f" ({Path(theirs[-1].filename).name}:{theirs[-1].lineno})" if theirs else ""


# -- models ------------------------------------------------------------------------------------------------------------

JUDGE_OPTION: Final = "--memfail-judge"
CACHE_FILE: Final = "responses.sqlite"


def judge_model(config: pytest.Config, settings: Settings) -> str | None:
    """Return the model that judges; None if no model does.

    Raises `UsageError` for a name that is neither a judge nor can be a model.
    """
    return judge_names.judge_model(
        settings.judge,
        lambda: judge_names.is_named(settings.judge, option=JUDGE_OPTION, **beside(config, settings)),
        option=JUDGE_OPTION,
        replays=settings.cache == "only",
        hook=", or the hook pytest_memfail_make_judge",
    )


def models_of_system(factory: Any, settings: Settings) -> tuple[str, ...]:
    """Return the models that the memory systems of a factory call through `context.chat`.

    Raises `UsageError` if a model is missing.
    """
    named = getattr(factory, "models", None)
    if not callable(named):
        return ()
    return tuple(ask(f"models() of {settings.system}", named, settings.system_options, settings.model))


def stand_in_for_key(config: pytest.Config) -> None:
    """Set a key in the environment if there is none: a replay needs none, but many systems do not start without one."""
    from pytest_memfail.llm import PLACEHOLDER_KEY

    if not os.environ.get("OPENAI_API_KEY"):
        os.environ["OPENAI_API_KEY"] = PLACEHOLDER_KEY
        config.add_cleanup(lambda: os.environ.__delitem__("OPENAI_API_KEY"))


def check_models(config: pytest.Config, settings: Settings, of_system: Sequence[str] = ()) -> None:
    """Check before anything is stored that all models can be called; `of_system` are those of the memory system.

    Raises `UsageError` if not.
    """
    judge = judge_model(config, settings)
    judge_names.check_options(settings.judge, settings.judge_options, option=JUDGE_OPTION)
    models = [model for model in (judge, settings.model, *of_system) if model is not None]
    if settings.vary != "all":
        asked = {"judge": judge, "answers": settings.model}[settings.vary]
        lacks = "a model as judge (--memfail-judge)" if settings.vary == "judge" else "a test-taker (--memfail-model)"
        if asked is None or settings.repeats == 1 or settings.cache == "off":
            raise UsageError(
                f"--memfail-vary={settings.vary} needs {lacks}, --memfail-repeats above 1, and the cache on"
            )
    if not models and settings.proxy is None:
        return
    if models and not judge_names.has_endpoint() and settings.cache != "only":
        raise UsageError(judge_names.needs_endpoint(models[0]))
    from pytest_memfail.llm import Ledger, check_sdk

    check_sdk()
    ledger = Ledger(max_cost=settings.max_cost, max_tokens=settings.max_tokens, prices=own_prices(settings))
    try:
        ledger.check_prices(models)
    finally:
        ledger.close()
    if settings.cache == "on":  # paid replies must be kept: check this before anything is asked
        check_can_be_made(cache_path(config, settings), "--memfail-cache-path")
    if settings.cache == "only" and not cache_path(config, settings).is_file():
        raise UsageError(
            f"--memfail-cache=only: there is no response cache at {cache_path(config, settings)}; run once with "
            "--memfail-cache=on, or name one with --memfail-cache-path"
        )


def cache_path(config: pytest.Config, settings: Settings) -> Path:
    """Return the file of the response cache, which all workers and runs share."""
    if settings.cache_path is not None:
        return settings.cache_path
    return cache_folder(config) / CACHE_FILE


def own_prices(settings: Settings) -> Any:
    from pytest_memfail.llm import Prices

    return None if settings.prices is None else Prices.from_file(settings.prices)


def beside(config: pytest.Config, settings: Settings) -> dict[str, Any]:
    """Return where to look for a judge in pytest, besides entry points and built-ins."""
    hook = config.hook.pytest_memfail_make_judge
    name = settings.judge
    return {"hook": lambda: ask(f"{hook.name}({name!r})", hook, config=config, name=name), "rootdir": config.rootpath}


# -- the header of its record ------------------------------------------------------------------------------------------


def record_header(run: Run) -> Header:
    """Return the header of the run's record, without secrets."""
    from pytest_memfail._version import __version__
    from pytest_memfail.judge_names import judge_weights
    from pytest_memfail.llm import why_approximate
    from pytest_memfail.records import SCHEMA_VERSION, Header, TaskRecord

    settings = run.settings
    given = {**settings.recorded(), "k": run.k_values}
    known = {field.name for field in fields(Header)}
    return Header(
        schema_version=SCHEMA_VERSION,
        memfail=__version__,
        started=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        **{name: value for name, value in given.items() if name in known},
        judge_weights=judge_weights(settings.judge, settings.judge_options),
        approximate_tokens=why_approximate(),
        identity={**IDENTITY, "memfail": "subject", "judge_weights": "verdicts"},
        rerun=tuple(settings.command_line(recorded=True)),
        tasks={
            task.name: TaskRecord(
                data_hash=task.data_hash,
                licence=task.licence,
                questions=len(task.questions),
                conversations=sum(plan.size for plan in task.stores),
                left_out=task.left_out,
                suite=task.suite,
                variant=task.variant,
                parts=run.parts_of(task),
            )
            for task in run.tasks
        },
        stores=run.store_sizes(),
        python=platform.python_version(),
        pytest=pytest.__version__,
        platform=sys.platform,
        machine=platform.machine(),
        extra={name: value for name, value in given.items() if name not in known},
    )


# -- kept runs, in pytest's cache --------------------------------------------------------------------------------------

RUNS = "runs"


def runs_folder(config: pytest.Config) -> Path | None:
    """Return the folder of kept runs; None without pytest's cache (-p no:cacheprovider)."""
    return cache_folder(config) / RUNS if config.pluginmanager.has_plugin("cacheprovider") else None


def own_folder(config: pytest.Config, run: Run) -> RunFolder | None:
    """Return the folder of this run, created on first use; report once if it cannot be created, and return None."""
    if FOLDER in config.stash:
        return config.stash[FOLDER]
    config.stash[FOLDER] = None
    if (runs := runs_folder(config)) is None:
        return None
    from pytest_memfail.records import RunFolder
    from pytest_memfail.results import is_whole_record

    given = run.settings.record
    held_back = given if given is not None and is_whole_record(given) else None
    try:
        cache: Any = config.cache
        cache.mkdir("memfail")  # with the files that keep pytest's cache out of version control
        found = RunFolder.create(runs, record_header(run), questions=len(run.keys()), held_back=held_back)
    except OSError as error:
        run.unkept = f"this run is not kept: {runs} cannot be written ({os_reason(error)})"
        terminal: Any = config.pluginmanager.get_plugin("terminalreporter")
        if terminal is not None:
            terminal.ensure_newline()
            terminal.write_line(f"memfail: {run.unkept}", yellow=True)
    else:
        config.stash[FOLDER], run.held_back = found, held_back is not None
    return config.stash[FOLDER]


def recorded_verdicts(config: pytest.Config, run: Run) -> dict[str, str]:
    """Return the selected questions' latest verdicts by node id, over kept runs of this system, its settings and rows."""
    latest = latest_recorded(config, run)
    return {node_id: latest[node_id] for node_id, *_ in run.selected() if node_id in latest}


def latest_recorded(config: pytest.Config, run: Run) -> Mapping[str, str]:
    """Return the latest verdicts of all questions, read once: another run that ends meanwhile must change nothing."""
    if run.latest is None:
        from pytest_memfail.records import kept_runs, latest_verdicts

        runs = runs_folder(config)
        run.latest = {} if runs is None else latest_verdicts(kept_runs(runs), record_header(run))
    return run.latest


def known_verdicts(config: pytest.Config, run: Run) -> dict[str, str]:
    """Return the verdicts for the markers by node id: from the kept runs, or else from the baseline; may be empty."""
    return {node_id: known[0] for node_id, known in config.stash[KNOWN].items()} | recorded_verdicts(config, run)


# -- what an earlier record hands to workers ---------------------------------------------------------------------------


def for_workers(kept: Kept) -> str:
    """Return kept questions as text for a worker: they may hold lone surrogates, which xdist does not carry."""
    from pytest_memfail.records import to_text

    return json.dumps([to_text(question) for question in kept.questions.values()])


def in_worker(text: str) -> Kept:
    """Return the kept questions from the text of `for_workers`."""
    from pytest_memfail.records import Kept, QuestionRecord, from_text

    questions = [from_text(QuestionRecord, one) for one in json.loads(text)]
    return Kept({question.id: question for question in questions})
