"""Call what the user's code gives: systems, tasks, suites and judges, from hooks and installed packages."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable
from inspect import getfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pluggy
import pytest

from pytest_memfail import finding
from pytest_memfail.core import Task, UsageError, one_line, sources_of
from pytest_memfail.options import SYSTEM, Settings
from pytest_memfail.plugin import hookspecs
from pytest_memfail.plugin.options import given_for

if TYPE_CHECKING:
    from pytest_memfail.core import Suite

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


def call_hook(config: pytest.Config, hook: str, /, **given: str) -> Any:
    """Call the user's implementations of a hook with these texts.

    Raises `UsageError` like `ask`.
    """
    return ask(f"{hook}({', '.join(map(repr, given.values()))})", getattr(config.hook, hook), config=config, **given)


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


def own_tasks(config: pytest.Config) -> list[Task]:
    """Return the tasks that hooks and installed packages add.

    Raises `UsageError` if a hook or package raises, or gives something else.
    """
    hook = "pytest_memfail_tasks"
    tasks = [task for given in call_hook(config, hook) for task in tasks_of(f"{hook}()", given)]
    for name, found in finding.load_all("pytest_memfail.tasks"):
        what = f"the entry point {name!r} (pytest_memfail.tasks)"
        tasks += tasks_of(what, [ask(what, found) if callable(found) else found])
    return tasks


def find_suite(config: pytest.Config, name: str) -> Suite:
    """Return the suite of that name.

    Raises `UsageError` for an unknown name.
    """
    hook = "pytest_memfail_suites"
    given = [suite for some in call_hook(config, hook) for suite in some]
    return finding.find_suite(name, option=Settings.suite.flag, given=given, hook=hook)


def find_system(config: pytest.Config, settings: Settings) -> Any:
    """Return the factory of the memory system.

    Raises `UsageError` for an unknown name, or if the factory cannot be called.
    """
    from pytest_memfail.finding import find_system as find
    from pytest_memfail.hosting import check_factory

    factory = find(
        settings.system,
        option=SYSTEM,
        base=given_for(Settings.system, config).base,
        rootdir=config.rootpath,
        hook=lambda name: call_hook(config, "pytest_memfail_make_system", name=name),
        places=(config.invocation_params.dir, config.rootpath),
    )
    check_factory(factory, f"--memfail-system={settings.system}")
    if callable(check := getattr(factory, "check_options", None)):
        # before anything is stored, if the system can check its options
        ask(f"check_options() of {settings.system}", check, settings.system_options)
    return factory


def models_of_system(factory: Any, settings: Settings) -> tuple[str, ...]:
    """Return the models that the memory systems of a factory call through `context.chat`.

    Raises `UsageError` if a model is missing.
    """
    named = getattr(factory, "models", None)
    if not callable(named):
        return ()
    return tuple(ask(f"models() of {settings.system}", named, settings.system_options, settings.model))


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
