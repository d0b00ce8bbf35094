"""What a run is of: the first line of its record, and of a baseline saved from it."""

from __future__ import annotations

import platform
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_memfail.core import mask_options
from pytest_memfail.plugin.settings import written_options

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
    return Header(
        schema_version=SCHEMA_VERSION,
        memfail=__version__,
        started=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        system=settings.system,
        system_options=mask_options(settings.system_options),
        judge=settings.judge,
        # files by their names alone, as for the data; what they hold is in the weights' digest
        judge_options={name: Path(value).name for name, value in settings.judge_options.items()},
        judge_weights=judge_weights(settings.judge, settings.judge_options),
        test_taker=settings.model,
        model_options=written_options(settings.model_options),
        assistant_turns=settings.assistant_turns and settings.model is not None,
        protocol=settings.protocol,  # type: ignore[arg-type]  # checked in read_settings
        k=tuple(settings.k),
        shown_tokens=settings.shown_tokens,
        approximate_tokens=why_approximate(),
        seed=settings.seed,
        limit=settings.limit,
        haystack=settings.haystack,  # type: ignore[arg-type]  # the same
        repeats=settings.repeats,
        vary=settings.vary if settings.repeats > 1 else None,
        shard="/".join(map(str, settings.shard)) if settings.shard else None,
        # the folder's name alone: a record is shared, and the paths of a machine are nobody's business
        data=settings.data.name if settings.data else None,
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
    )
