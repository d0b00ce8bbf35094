"""Take what selects questions out of pytest's arguments: ids of the benchmark, and files of the user's cases."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import pytest

from pytest_memfail.core import Task
from pytest_memfail.options import SYSTEM
from pytest_memfail.running import ROOT, Selection

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


def find_cases(config: pytest.Config) -> list[Path]:
    """Return the files of the user's cases: `*.memfail.yaml` in `testpaths` or the rootdir, and those on the command line."""
    from pytest_memfail.suites import find_custom

    starts: list[Path] = list(config.stash.get(NAMED_CASES, ()))
    for path in config.getini("testpaths") or ["."]:
        starts += config.rootpath.glob(path) if path != "." else [config.rootpath]
    return find_custom(starts, config.getini("norecursedirs"))
