"""Find the record that a command names: a file or a kept run."""

from __future__ import annotations

import argparse
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_memfail.cli.arguments import DATA
from pytest_memfail.core import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_memfail.core import Folders, Task
    from pytest_memfail.records import KeptRun
    from pytest_memfail.regrade import Recorded
    from pytest_memfail.results import Loaded

CACHE: Final = Path(".pytest_cache")
BELOW_CACHE: Final = Path("d/memfail/runs")


def folders(options: argparse.Namespace) -> Folders:
    """Return the folders of `--data`. Raise `UsageError` for an unknown suite."""
    from pytest_memfail.core import Folders
    from pytest_memfail.finding import check_folders

    return check_folders(Folders.read(options.data, Path.cwd(), DATA), DATA)


def load(name: Path, cache: Path | None = None) -> Loaded:
    """Read a record from a file or a kept run.

    Raises `UsageError` if the name is neither.
    """
    from pytest_memfail.finding import suites_of
    from pytest_memfail.results import load_record

    found = load_record(place_of(name, cache))
    return replace(found, suites=tuple(suites_of(found.header)[0]))


def suite_options(options: argparse.Namespace) -> dict[str, str]:
    """Return the settings of suites that `--suite-option` gives."""
    return dict(pair.split("=", 1) if "=" in pair else (pair, "") for pair in options.suite_option)


def recorded_questions(record: Loaded, data: Folders, cases: Sequence[Path] | None) -> list[Recorded]:
    """Return the questions of a record with their rows, listings and memories shown.

    Args:
        record: the record.
        data: folders with the rows of the run.
        cases: folders with the user's own `*.memfail.yaml` cases; None for the current folder.

    Raises `UsageError` if the rows differ from those of the run, or nothing was asked.
    """
    from pytest_memfail.regrade import recorded

    names = tuple(dict.fromkeys(question.task for question in record.questions))
    if not names:
        raise UsageError(f"{record.path}: no question was asked, so there is nothing to judge")
    return recorded(record, tasks_of(record, names, data, cases))


def tasks_of(record: Loaded, names: Sequence[str], data: Folders, cases: Sequence[Path] | None) -> tuple[Task, ...]:
    """Return tasks of a record as its run loaded them; see `recorded_questions`.

    Raises `UsageError` if their rows cannot be read, or if the header lacks one of them.
    """
    from pytest_memfail.finding import chosen_suites
    from pytest_memfail.suites import CUSTOM, TaskRequest, load_tasks, with_users_tasks

    header = record.header
    for name in names:
        if name not in header.tasks:
            raise UsageError(
                f"{record.path}: the task {name} of its questions is not in its header; the record is damaged"
            )
    haystack = header.haystack or "sample"
    chosen = chosen_suites(header.suite, header.suite_options)
    if CUSTOM in names:
        chosen = with_users_tasks(chosen, lambda: _own_cases(record, cases or [Path()], data))
    # a limit applies to each part, so the sample depends on the parts that ran
    patterns = [group for name in names for group in header.tasks[name].groups(name)]
    return load_tasks(
        TaskRequest(tuple(patterns), data, header.protocol, header.seed, header.limit, haystack, suites=chosen)
    )


def _own_cases(record: Loaded, places: Sequence[Path], data: Folders) -> list[Task]:
    """Return the task of the user's own cases."""
    from pytest_memfail.suites import CUSTOM, HaystackFinder, find_custom, read_custom

    found = read_custom(find_custom(places), Path(), HaystackFinder(data, record.header.seed))
    if found is None:
        where = ", ".join(str(folder.resolve()) for folder in places)
        raise UsageError(
            f"{record.path}: the task {CUSTOM} needs its cases, and there is no *.memfail.yaml below {where}; "
            "name their folder with --cases"
        )
    return [found]


def place_of(name: Path, cache: Path | None = None) -> Path:
    """Return the file of a record; a name that is not an existing file is looked up among the kept runs.

    Raises `UsageError` if there is none.
    """
    from pytest_memfail.records import find_run

    if name.exists() or len(name.parts) != 1 or name.suffix:
        return name
    runs = runs_folder(cache)
    if runs is None:
        raise UsageError(
            f"no file is called {name}, and no run is kept in {CACHE} here or above; give the file of a record"
        )
    return find_run(runs, str(name)).record


def runs_folder(cache: Path | None = None) -> Path | None:
    """Return the folder of kept runs in this pytest cache, else in the nearest cache here or above; None if there is
    none.
    """
    here = Path.cwd()
    caches = [folder / CACHE for folder in (here, *here.parents)] if cache is None else [cache]
    return next((found for one in caches if (found := one / BELOW_CACHE).is_dir()), None)


def listed(cache: Path | None) -> list[KeptRun]:
    """Return the kept runs, oldest first.

    Raises `UsageError` if there are none.
    """
    from pytest_memfail.records import kept_runs

    runs = runs_folder(cache)
    found = [] if runs is None else kept_runs(runs)
    if not found:
        where = f"{CACHE} here or above" if cache is None else str(cache)
        raise UsageError(f"no run is kept in {where}; run the benchmark first, or give the file of a record")
    return found


def last(runs: Sequence[KeptRun]) -> Path:
    """Return the name of the last whole run, or else of the newest: an interrupted run has failures too."""
    return Path("last" if any(run.whole for run in runs) else "newest")


def unknown_question(wanted: str, ids: Sequence[str], path: str) -> str:
    """Return an error message with the ids closest to an unknown one."""
    names = {name.rpartition("::")[2]: name for name in ids} | {name: name for name in ids}
    close = dict.fromkeys(names[name] for name in get_close_matches(wanted, names, 6, cutoff=0.5))
    nearest = (
        f"nearest: {', '.join(list(close)[:3])}" if close else f"its ids are like {ids[0]}" if ids else "it has none"
    )
    return f"no question {wanted!r} in {path}: give a part of an id; {nearest}"
