"""Write the record of a run in progress: its header, then its results, to the run's own folder and to the named path."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_memfail import llm
from pytest_memfail._version import __version__
from pytest_memfail.core import os_reason, write_whole
from pytest_memfail.options import IDENTITY
from pytest_memfail.records import SCHEMA_VERSION, Header, RecordWriter, RunFolder, TaskRecord, is_whole_record
from pytest_memfail.running.plan import Run

if TYPE_CHECKING:
    from pytest_memfail.records import Footer, Record


def record_header(run: Run) -> Header:
    """Return the header of the run's record, without secrets."""
    settings = run.settings
    given = {**settings.recorded(), "k": run.k_values}
    known = {field.name for field in fields(Header)}
    return Header(
        schema_version=SCHEMA_VERSION,
        memfail=__version__,
        started=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        **{name: value for name, value in given.items() if name in known},
        judge_weights=run.judge.weights,
        sources=run.sources,
        approximate_tokens=llm.why_approximate(),
        identity={**IDENTITY, "memfail": "subject", "judge_weights": "verdicts"},
        rerun=tuple(settings.command_line(recorded=True)),
        tasks={
            task.name: TaskRecord(
                data_hash=task.data_hash,
                licence=task.licence,
                questions=len(task.questions),
                conversations=sum(plan.size for plan in task.stores),
                left_out=task.left_out,
                suite=task.suite,
                variant=task.variant,
                parts=run.parts_of(task),
                stands_alone=run.stands_alone(task),
            )
            for task in run.tasks
        },
        stores=run.store_sizes(),
        python=platform.python_version(),
        pytest=version("pytest"),
        platform=sys.platform,
        machine=platform.machine(),
        extra={name: value for name, value in given.items() if name not in known},
    )


class RunRecord:
    """The record of a run, in the process that the user started."""

    def __init__(self, run: Run) -> None:
        self._run, self._named, self._shown = run, run.settings.record, run.shown
        self.path: Path | None = None
        """The path of the record for the user; None before it starts, or if it is not written."""
        self.folder: RunFolder | None = None
        """The folder of the run; None without one, or if it cannot be created."""
        self._held_back = False
        """Whether the named record is whole, so that only a whole run may replace it."""
        self._unkept: str | None = None
        """Why this run could not be kept; None if it is kept, or need not be."""
        self._own: RecordWriter | None = None
        """Writes the record to the run's own folder or, without a folder, to the path that was named."""
        self._copy: RecordWriter | None = None
        """Also writes the record to the path that was named."""
        self._unpublished: str | None = None
        """Why a record that was held back could not be written in the end."""

    def make_folder(self, prepare: Callable[[], object]) -> str | None:
        """Create the run's own folder among the kept runs, which `prepare` creates; return None, or the reason for a failure."""
        held_back = self._named if self._named is not None and is_whole_record(self._named) else None
        run, runs = self._run, self._run.runs
        assert runs is not None
        try:
            prepare()
            self.folder = RunFolder.create(runs, record_header(run), questions=len(run.keys()), held_back=held_back)
        except OSError as error:
            self._unkept = f"this run is not kept: {runs} cannot be written ({os_reason(error)})"
        else:
            self._held_back = held_back is not None
        return self._unkept

    @property
    def _writers(self) -> list[RecordWriter]:
        return [writer for writer in (self._own, self._copy) if writer is not None]

    def begin(self, records: Iterable[Record]) -> None:
        """Start the record with its header and the results taken over from an earlier record."""
        if self.folder is not None:
            self._own = RecordWriter(self.folder.record)
            if self._named is not None and not self._held_back:
                self._copy = RecordWriter(self._named)
        elif self._named is not None:
            self._own = RecordWriter(self._named)
        shown = self._copy or self._own
        self.path = None if shown is None else shown.path
        first = list(records)
        for writer in self._writers:
            writer.begin(first)

    def write(self, record: Record) -> None:
        """Write one line."""
        for writer in self._writers:
            writer.write(record)

    def restore(self) -> Iterator[tuple[str, bool]]:
        """Restore missing files; yield a line for the end of the run, and whether it is bad news."""
        for writer in self._writers:
            if writer.is_removed:
                yield f"{self._shown(writer.path)} was removed during the run; it is written again", False
            writer.restore()

    def end(self, footer: Footer) -> Iterator[tuple[str, bool]]:
        """End the record; yield lines for the end of the run, and whether each is bad news."""
        for writer in self._writers:
            writer.write(footer)
            writer.restore()
        if self._held_back:
            yield from self._publish(whole=footer.whole)
        yield from self._what_is_lost()

    def _publish(self, *, whole: bool) -> Iterator[tuple[str, bool]]:
        """Replace the whole record at the path that was named if this run is whole as well."""
        assert self._named is not None
        assert self._own is not None
        if not whole:
            kept = f"{self._shown(self._named)} is the record of a whole run and is kept; this run is partial"
            yield kept, False
            return
        try:
            write_whole(self._named, self._own.content())
        except OSError as error:
            self._unpublished = os_reason(error)
        else:
            yield f"record written: {self._shown(self._named)}", False

    @property
    def fault(self) -> str | None:
        """Why the record is not where the user wants it; None if it is, or if no path was named."""
        if self._named is None or self._held_back:
            return self._unpublished
        writer = self._copy or self._own
        if writer is None:
            return None
        if writer.is_replaced:
            return "another file was put there during the run"
        return os_reason(writer.fault) if writer.fault is not None else None

    def _what_is_lost(self) -> Iterator[tuple[str, bool]]:
        if (fault := self.fault) is not None and self._named is not None:
            also = (
                f"; it is in {self._shown(self._own.path)}" if self._copy is not None and self._own is not None else ""
            )
            yield f"the record {self._shown(self._named)} could not be written: {fault}{also}", True
        own = self._own if self.folder is not None else None
        if own is not None and own.fault is not None:
            yield f"this run is not kept whole: {self._shown(own.path)}: {os_reason(own.fault)}", True
        elif own is not None and own.is_replaced:
            yield f"this run is not kept: {self._shown(own.path)} was replaced", True
        if self._unkept is not None:
            yield self._unkept, True

    def keep(
        self, *, interrupted: bool, whole: bool, exit_code: int, verdicts: Mapping[str, Mapping[str, str]]
    ) -> None:
        """Write the outcome of the run into its folder."""
        if self.folder is not None:
            with suppress(OSError):  # the record holds the same
                self.folder.end(interrupted=interrupted, whole=whole, exit_code=exit_code, verdicts=verdicts)

    def close(self) -> None:
        """Close the files, and remove the folder of a run without results."""
        for writer in self._writers:
            writer.close()
        if self.folder is not None:
            if self._own is None:
                self.folder.discard()
            self.folder.close()
