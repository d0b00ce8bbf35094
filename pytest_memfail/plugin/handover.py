"""Hand a run from the process that the user started to its xdist workers, as plain data."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from pytest_memfail.core import QuestionRecord
from pytest_memfail.records import EarlierResults, from_text, to_text
from pytest_memfail.running import Run, latest_recorded

WORKER_INPUT: Final = "memfail"


def hand_over(run: Run, run_id: str, journals: Path) -> dict[str, Any]:
    """Return what a worker needs to run its items as this process would."""
    return {
        "run_id": run_id,
        "journals": str(journals),
        "settings": run.settings.shared(),
        "selection": [list(chosen) for chosen in run.selection],
        # as texts: they may hold lone surrogates, which xdist does not carry
        "kept": [to_text(question) for question in run.kept.questions.values()],
        "known": dict(run.known),
        "latest": dict(latest_recorded(run)),
    }


def handed_over(config: pytest.Config) -> dict[str, Any] | None:
    """Return the data that an xdist worker got from the process that the user started; None in that process."""
    return getattr(config, "workerinput", {}).get(WORKER_INPUT)


def take_over(run: Run, given: dict[str, Any] | None) -> None:
    """Give a worker's run what earlier runs know of it; `given` is None if the process that the user started lacks the plugin."""
    questions = [from_text(QuestionRecord, text) for text in given["kept"]] if given else []
    run.kept = EarlierResults({question.id: question for question in questions})
    run.known, run.latest = (given["known"], given["latest"]) if given else ({}, {})
