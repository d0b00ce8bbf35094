"""Build a benchmark run from the user's options: settings, tasks, selected questions, models, and its folder."""

from __future__ import annotations

import json
import os
import platform
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime, timezone
from inspect import getfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import pluggy
import pytest

from pytest_memfail import finding
from pytest_memfail.core import (
    QuestionRecord,
    Suite,
    Task,
    UsageError,
    one_line,
    sources_of,
)
from pytest_memfail.options import IDENTITY, SYSTEM, Settings
from pytest_memfail.plugin import hookspecs
from pytest_memfail.plugin.options import cache_folder, given_for, read_settings
from pytest_memfail.records import Kept
from pytest_memfail.running import ROOT, Run, Selection, check_models, haystack_for
from pytest_memfail.safety import learn_options

if TYPE_CHECKING:
    from pytest_memfail.engine import Result
    from pytest_memfail.records import Header
    from pytest_memfail.running import Runtime


Known: TypeAlias = Mapping[str, list[Any]]
"""The outcome of each item in the baseline by node id: verdict, whether memory held, whether it passed vacuously."""

# -- what is kept in the stash of pytest's config and items, never in module globals -----------------------------------

RUN: pytest.StashKey[Run] = pytest.StashKey()
RUNTIME: pytest.StashKey[Runtime] = pytest.StashKey()
KNOWN: pytest.StashKey[Known] = pytest.StashKey()
"""The outcomes of the items in the baseline."""
BROKEN_OFF: pytest.StashKey[BaseException] = pytest.StashKey()
"""The exception that ended the loop over the items early (Ctrl-C, say); absent if the loop went to its end."""
RESULT: pytest.StashKey[Result] = pytest.StashKey()
FINISHED: pytest.StashKey[QuestionRecord] = pytest.StashKey()
"""The question of an item, once it is finished."""

# -- the run ----------------------------------------------------------------------------------------------------------

SYSTEM_FROM_FIXTURE: Final = "fixture"
"""`--memfail-system=fixture` leaves the choice to the `memfail_system` fixture of the user's conftest.py."""
NAMED_CASES: Final = pytest.StashKey[list[Path]]()
"""The files of cases that the command line names, or that are in its folders."""


def take_arguments(config: pytest.Config) -> tuple[Selection, ...]:
    """Move our own arguments out of `config.args`, which then holds pytest's, and return them as selections.

    Without any path, a system named on the command line runs only the benchmark: a run that may cost money runs only
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
    from pytest_memfail.finding import kinds_of
    from pytest_memfail.suites import (
        MEMFAIL,
        OWN,
        HaystackFinder,
        TaskRequest,
        choose_suites,
        load_tasks,
        needed_files,
        read_custom,
        with_options,
    )

    try:
        settings = read_settings(config).changed(**(shared or {}))
        learn_options({**settings.system_options, **settings.model_options})  # a worker's come from `shared`
        suites = choose_suites(settings.suite, lambda name: find_suite(config, name))
        suites = with_options(suites, settings.suite_options)
        kinds_of(chosen.suite for chosen in suites if chosen.suite is not None)  # or two suites clash
        finding.check_folders(settings.data, Settings.data.flag, lambda name: find_suite(config, name))
        extra: list[Task] = []
        if any(suite.name == OWN for suite in suites):
            extra += own_tasks(config)
            haystacks = HaystackFinder(settings.data.of(MEMFAIL), settings.seed, extra)
            needed = needed_files(selection, settings.tasks)
            if (own := read_custom(find_cases(config), config.rootpath, haystacks, needed)) is not None:
                extra.append(own)
        if settings.proxy is not None and settings.cache == "only":
            stand_in_for_key(config)
        factory = None if settings.system == SYSTEM_FROM_FIXTURE else find_system(config, settings)
        settings = settings.changed(haystack=haystack_for(factory, settings))
        asked = settings.tasks, settings.data, settings.protocol, settings.seed, settings.limit, settings.haystack
        tasks = load_tasks(TaskRequest(*asked, suites), extra)  # type: ignore[arg-type]  # checked in read_settings
        run = Run(settings, tasks, tuple(of_cases(selection, tasks)))
        run.cache = cache_folder(config)
        make_judge = config.hook.pytest_memfail_make_judge
        run.judge = replace(
            run.judge,
            rootdir=config.rootpath,
            hook=lambda: ask(f"{make_judge.name}({settings.judge!r})", make_judge, config=config, name=settings.judge),
            hook_name=make_judge.name,
        )
        run.suites = tuple(chosen.suite for chosen in suites if chosen.suite is not None)
        if faults := run.unknown_selections():
            raise pytest.UsageError(*faults)
        if factory is not None:
            run.system_models = models_of_system(factory, settings)
            run.replay_ignore += tuple(getattr(factory, "replay_ignore", ()))
            if settings.reuse_stores is not None and isinstance(factory, type):
                from pytest_memfail.hosting import check_reusable

                check_reusable(factory, settings.system)  # other factories are checked with the first store
        if shared is None:
            run.code = lambda: code_of_run(config, factory, settings)
            run.sources = run.code()
        check_models(run)
    except UsageError as error:
        raise pytest.UsageError(str(error)) from error.__cause__
    return run


def own_tasks(config: pytest.Config) -> list[Task]:
    """Return the tasks that hooks and installed packages add.

    Raises `UsageError` if a hook or package raises, or gives something else.
    """
    hook = config.hook.pytest_memfail_tasks
    tasks = [task for given in ask(f"{hook.name}()", hook, config=config) for task in tasks_of(f"{hook.name}()", given)]
    for name, found in finding.load_all("pytest_memfail.tasks"):
        what = f"the entry point {name!r} (pytest_memfail.tasks)"
        tasks += tasks_of(what, [ask(what, found) if callable(found) else found])
    return tasks


def find_suite(config: pytest.Config, name: str) -> Suite:
    """Return the suite of that name.

    Raises `UsageError` for an unknown name.
    """
    hook = config.hook.pytest_memfail_suites
    given = [suite for some in ask(f"{hook.name}()", hook, config=config) for suite in some]
    return finding.find_suite(name, option=Settings.suite.flag, given=given, hook=hook.name)


def find_cases(config: pytest.Config) -> list[Path]:
    """Return the files of the user's cases: `*.memfail.yaml` in `testpaths` or the rootdir, and those on the command line."""
    from pytest_memfail.suites import find_custom

    starts: list[Path] = list(config.stash.get(NAMED_CASES, ()))
    for path in config.getini("testpaths") or ["."]:
        starts += config.rootpath.glob(path) if path != "." else [config.rootpath]
    return find_custom(starts, config.getini("norecursedirs"))


def find_system(config: pytest.Config, settings: Settings) -> Any:
    """Return the factory of the memory system.

    Raises `UsageError` for an unknown name, or if the factory cannot be called.
    """
    from pytest_memfail.finding import find_system as find
    from pytest_memfail.hosting import check_factory

    hook = config.hook.pytest_memfail_make_system
    factory = find(
        settings.system,
        option=SYSTEM,
        base=given_for(Settings.system, config).base,
        rootdir=config.rootpath,
        hook=lambda name: ask(f"{hook.name}({name!r})", hook, config=config, name=name),
        places=(config.invocation_params.dir, config.rootpath),
    )
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


def code_of_run(config: pytest.Config, factory: Any, settings: Settings) -> dict[str, str]:
    """Return the code that a verdict depends on: of the system, the judge, each conftest.py and each plugin with hooks of ours."""
    from pytest_memfail.systems import is_yaml

    hooks = [getattr(config.hook, name) for name in vars(hookspecs) if name.startswith("pytest_memfail_")]
    plugins = [impl.plugin for hook in hooks for impl in hook.get_hookimpls()]
    modules = [getattr(plugin, "__name__", type(plugin).__module__) for plugin in plugins]
    modules += [getattr(factory, "__module__", None) or type(factory).__module__]
    files = [Path(str(getattr(plugin, "__file__", ""))) for plugin in config.pluginmanager.get_plugins()]
    files = [file for file in files if file.name == "conftest.py"]
    files += getattr(factory, "files", ())
    for name in (settings.judge, settings.system_options.get("inner", "")):
        modules += [name.partition(":")[0]] if ":" in name else []
        files += [given_for(Settings.system, config).base / name] if is_yaml(name) else []
    versions = getattr(factory, "versions", None)
    found = sources_of(modules, files, config.rootpath)
    return found | versions(settings.system_options) if callable(versions) else found


# -- the header of its record ------------------------------------------------------------------------------------------


def record_header(run: Run) -> Header:
    """Return the header of the run's record, without secrets."""
    from pytest_memfail._version import __version__
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
        judge_weights=run.judge.weights,
        sources=run.sources,
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
    from pytest_memfail.core import QuestionRecord
    from pytest_memfail.records import Kept, from_text

    questions = [from_text(QuestionRecord, one) for one in json.loads(text)]
    return Kept({question.id: question for question in questions})
