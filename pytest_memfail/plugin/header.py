"""What a run is of: the first line of its record, and of a baseline saved from it."""

from __future__ import annotations

import platform
import sys
from dataclasses import fields
from datetime import datetime, timezone
from typing import TYPE_CHECKING

import pytest

from pytest_memfail.plugin.options import IDENTITY

if TYPE_CHECKING:
    from pytest_memfail.plugin.run import Run
    from pytest_memfail.results import Header


def record_header(run: Run) -> Header:
    """Return the header, without anything secret."""
    from pytest_memfail._version import __version__
    from pytest_memfail.judge_names import judge_weights
    from pytest_memfail.llm import why_approximate
    from pytest_memfail.results import SCHEMA_VERSION, Header, TaskRecord

    settings = run.settings
    given = settings.recorded()
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
                conversations=sum(len(plan.conversations) for plan in task.stores),
                left_out=task.left_out,
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
