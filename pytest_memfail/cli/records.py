"""The record that a command is given: a file, or a kept run by its name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_memfail.core import UsageError

if TYPE_CHECKING:
    from pytest_memfail.results import KeptRun, Loaded

CACHE: Final = Path(".pytest_cache")
BELOW_CACHE: Final = Path("d/memfail/runs")
RECORD_HELP: Final = (
    "record of a run: a file, or a kept run: last (the last whole one), newest (partial ones too) or a part of its id, "
    "as memfail show lists them"
)


def load(name: Path, cache: Path | None = None) -> Loaded:
    """Read a record, or that of a kept run.

    Raises `UsageError` for what is neither.
    """
    from pytest_memfail.results import load_record

    return load_record(place_of(name, cache))


def place_of(name: Path, cache: Path | None = None) -> Path:
    """The file of a record; a name that is no path and no file is that of a kept run.

    Raises `UsageError` if there is none of that name.
    """
    from pytest_memfail.results import find_run

    if name.exists() or len(name.parts) != 1 or name.suffix:
        return name
    runs = runs_folder(cache)
    if runs is None:
        raise UsageError(
            f"no file is called {name}, and no run is kept in {CACHE} here or above; give the file of a record"
        )
    return find_run(runs, str(name)).record


def runs_folder(cache: Path | None = None) -> Path | None:
    """The kept runs of pytest's cache: of the one given, else of the nearest one here or above; None if there are none."""
    here = Path.cwd()
    caches = [folder / CACHE for folder in (here, *here.parents)] if cache is None else [cache]
    return next((found for one in caches if (found := one / BELOW_CACHE).is_dir()), None)


def listed(cache: Path | None) -> list[KeptRun]:
    """The kept runs, oldest first.

    Raises `UsageError` if there are none.
    """
    from pytest_memfail.results import kept_runs

    runs = runs_folder(cache)
    found = [] if runs is None else kept_runs(runs)
    if not found:
        where = f"{CACHE} here or above" if cache is None else str(cache)
        raise UsageError(f"no run is kept in {where}; run the benchmark first, or give the file of a record")
    return found
