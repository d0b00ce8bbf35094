"""The kept runs, in pytest's cache: where this one is kept, and the verdicts of those before it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_memfail.core import os_reason
from pytest_memfail.plugin.header import record_header
from pytest_memfail.plugin.options import cache_folder
from pytest_memfail.plugin.stash import FOLDER, KNOWN

if TYPE_CHECKING:
    from pytest_memfail.plugin.run import Run
    from pytest_memfail.results import RunFolder

RUNS = "runs"


def runs_folder(config: pytest.Config) -> Path | None:
    """Where runs are kept; None without pytest's cache (-p no:cacheprovider)."""
    return cache_folder(config) / RUNS if config.pluginmanager.has_plugin("cacheprovider") else None


def own_folder(config: pytest.Config, run: Run) -> RunFolder | None:
    """The folder of this run, made when first asked for; None where none can be made, which is said once and ends no run."""
    if FOLDER in config.stash:
        return config.stash[FOLDER]
    config.stash[FOLDER] = None
    if (runs := runs_folder(config)) is None:
        return None
    from pytest_memfail.results import RunFolder, is_whole_record

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
    """By node id the latest verdicts of the selected questions, over the kept runs of this system, its settings and rows."""
    latest = latest_recorded(config, run)
    return {node_id: latest[node_id] for node_id, *_ in run.selected() if node_id in latest}


def latest_recorded(config: pytest.Config, run: Run) -> Mapping[str, str]:
    """The same, of all questions; read once, so that another run that ends meanwhile changes nothing."""
    if run.latest is None:
        from pytest_memfail.results import kept_runs, latest_verdicts

        runs = runs_folder(config)
        run.latest = {} if runs is None else latest_verdicts(kept_runs(runs), record_header(run))
    return run.latest


def known_verdicts(config: pytest.Config, run: Run) -> dict[str, str]:
    """By node id the verdicts that the markers are made of: of the kept runs, else of the baseline; empty if there are none."""
    return {node_id: known[0] for node_id, known in config.stash[KNOWN].items()} | recorded_verdicts(config, run)
