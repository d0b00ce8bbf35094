"""Build the run that the options describe, and check it before anything is stored."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import pytest

from pytest_memfail.core import Task, UsageError
from pytest_memfail.finding import check_folders, kinds_of
from pytest_memfail.options import Settings
from pytest_memfail.plugin.arguments import find_cases, of_cases
from pytest_memfail.plugin.options import cache_folder, read_settings
from pytest_memfail.plugin.users_code import (
    call_hook,
    code_of_run,
    find_suite,
    find_system,
    models_of_system,
    own_tasks,
)
from pytest_memfail.running import Run, Selection, check_models, haystack_for
from pytest_memfail.safety import learn_options

SYSTEM_FROM_FIXTURE: Final = "fixture"
"""`--memfail-system=fixture` leaves the choice to the `memfail_system` fixture of the user's conftest.py."""


def build_run(config: pytest.Config, selection: Sequence[Selection], shared: Mapping[str, Any] | None = None) -> Run:
    """Return the run that the options describe, checked before anything is stored; workers get their settings as `shared`.

    Raises `pytest.UsageError` (exit code 4) with one line if an option is wrong.
    """
    from pytest_memfail.suites import TaskRequest, choose_suites, load_tasks, with_named, with_options, with_users_tasks

    try:
        settings = read_settings(config).changed(**(shared or {}))
        learn_options({**settings.system_options, **settings.model_options})  # a worker's come from `shared`
        settings = settings.changed(suite=with_named(settings.suite, settings.tasks))
        suites = choose_suites(settings.suite, lambda name: find_suite(config, name))
        suites = with_options(suites, settings.suite_options)
        kinds_of(chosen.suite for chosen in suites)  # or two suites clash
        check_folders(settings.data, Settings.data.flag, lambda name: find_suite(config, name))
        suites = with_users_tasks(suites, lambda: users_tasks(config, settings, selection))
        if settings.proxy is not None and settings.cache == "only":
            stand_in_for_key(config)
        factory = None if settings.system == SYSTEM_FROM_FIXTURE else find_system(config, settings)
        settings = settings.changed(haystack=haystack_for(factory, settings))
        asked = settings.tasks, settings.data, settings.protocol, settings.seed, settings.limit, settings.haystack
        tasks = load_tasks(TaskRequest(*asked, suites))  # type: ignore[arg-type]  # checked in read_settings
        run = Run(settings, tasks, tuple(of_cases(selection, tasks)))
        run.rootdir, run.cache = config.rootpath, cache_folder(config)
        if config.pluginmanager.has_plugin("cacheprovider"):
            run.runs = run.cache / "runs"
        hook = "pytest_memfail_make_judge"
        make_judge = partial(call_hook, config, hook, name=settings.judge)
        run.judge = replace(run.judge, rootdir=config.rootpath, hook=make_judge, hook_name=hook)
        run.suites = tuple(chosen.suite for chosen in suites)
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


def stand_in_for_key(config: pytest.Config) -> None:
    """Set a key in the environment if there is none: a replay needs none, but many systems do not start without one."""
    from pytest_memfail.llm import PLACEHOLDER_KEY

    if not os.environ.get("OPENAI_API_KEY"):
        os.environ["OPENAI_API_KEY"] = PLACEHOLDER_KEY
        config.add_cleanup(lambda: os.environ.__delitem__("OPENAI_API_KEY"))


def users_tasks(config: pytest.Config, settings: Settings, selection: Sequence[Selection]) -> list[Task]:
    """Return the user's own tasks: those of hooks and packages, and that of the cases."""
    from pytest_memfail.suites import HaystackFinder, needed_files, read_custom

    tasks = own_tasks(config)
    haystacks = HaystackFinder(settings.data, settings.seed, tasks)
    needed = needed_files(selection, settings.tasks)
    cases = read_custom(find_cases(config), config.rootpath, haystacks, needed)
    return tasks if cases is None else [*tasks, cases]
