"""Run the benchmark, independent of its starter: selection, models, the stores of a process, exchange between processes."""

from __future__ import annotations

from pytest_memfail.running.gate import Gatekeeper
from pytest_memfail.running.heading import heading, selected_by
from pytest_memfail.running.journals import (
    DEATHS,
    JOURNALS_LOCK,
    JOURNALS_PREFIX,
    in_flight,
    last_progress,
    loud_exit,
    new_folder,
)
from pytest_memfail.running.models import check_models, judge_model
from pytest_memfail.running.output import Progress, TerminalLine, Watcher, replay, scrub
from pytest_memfail.running.plan import ROOT, Asked, Run, Selection, Unit, haystack_for
from pytest_memfail.running.record import RunRecord
from pytest_memfail.running.settings import Around, RunSettings
from pytest_memfail.running.stores import Runtime, fresh

__all__ = [
    "DEATHS",
    "JOURNALS_LOCK",
    "JOURNALS_PREFIX",
    "ROOT",
    "Around",
    "Asked",
    "Gatekeeper",
    "Progress",
    "Run",
    "RunRecord",
    "RunSettings",
    "Runtime",
    "Selection",
    "TerminalLine",
    "Unit",
    "Watcher",
    "check_models",
    "fresh",
    "haystack_for",
    "heading",
    "in_flight",
    "judge_model",
    "last_progress",
    "loud_exit",
    "new_folder",
    "replay",
    "scrub",
    "selected_by",
]
