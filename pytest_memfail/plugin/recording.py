"""Record the results of a run as they come, in the process that the user started."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from pytest_memfail.core import FAILURES, QuestionRecord
from pytest_memfail.plugin.collection import asked_by
from pytest_memfail.plugin.first_errors import FirstErrors
from pytest_memfail.plugin.stash import is_planned
from pytest_memfail.records import Header, Reference, StoreRecord, from_text
from pytest_memfail.results import Loaded, with_reference
from pytest_memfail.running import Run, RunRecord, kept_records, record_header
from pytest_memfail.safety import mask_known


class Recording:
    """Take the results from the reports of items into memory and into the record.

    Registered only if a memory system is named, and never in an xdist worker.
    """

    def __init__(self, config: pytest.Config, run: Run) -> None:
        self._config, self._run = config, run
        self._has_folder = False
        """Whether the folder of the run was asked for."""
        self.record = RunRecord(run)
        # a resumed run with a verdict has shown already that not all questions fail
        self.first_errors = FirstErrors(config, watches=not run.settings.keep_going and not run.kept.questions)
        self.header: Header | None = None
        """None before the first result."""
        self.questions: dict[str, QuestionRecord] = {}
        self.stores: list[StoreRecord] = []
        """Without their listings if no page will show them."""
        self.taken_over = 0
        """How many of the stores are from an earlier record."""
        self.expected: dict[str, None] = {}
        """The items of questions, by node id."""
        self.reported: set[str] = set()
        """The items that have a result, by node id."""
        self.judged_failures = 0

    @property
    def results(self) -> Loaded | None:
        """The header, the questions and the stores so far; None without results."""
        if self.header is None:
            return None
        return Loaded(
            str(self.record.path or ""), self.header, tuple(self.questions.values()), tuple(self.stores), None
        )

    def refer(self, reference: Reference | None) -> None:
        """Note with each question whether the reference held it."""
        self.questions = {question.id: question for question in with_reference(self.questions.values(), reference)}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.expected.update(dict.fromkeys(item.nodeid for item in session.items if asked_by(item) is not None))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        if not self.expected:
            self.expected.update(dict.fromkeys(i for i in ids if self._run.unit_of(i) is not None))
            self.pytest_runtestloop()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self) -> None:
        """Check the names and create the folder of the run before a store is filled, to find out early if that fails."""
        if self.expected and not is_planned(self._config):
            self._check_names()
            self._make_folder()

    def _check_names(self) -> None:
        """Raise `pytest.UsageError` if a known secret is part of the name of a question, by which results are found again."""
        names = "\n".join([*self.expected, *(task.suite for task in self._run.tasks)])
        for name, masked in zip(names.split("\n"), mask_known(names).split("\n"), strict=False):
            if name != masked:
                raise pytest.UsageError(
                    f"a secret is also a part of the name {masked!r}, expected one that no name contains: choose another value for "
                    "the secret (a password, key or variable, in an option, a YAML file or the environment), or another name"
                )

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: Any) -> None:
        # pytest-rerunfailures runs an item again after a report "rerun"
        if (report.when == "call" or not report.passed) and report.outcome != "rerun":
            self.reported.add(report.nodeid)
        self.judged_failures += is_judged_failure(report)
        if getattr(report, "memfail_recorded", False):
            self._begin()  # it is in the record already
        # taken off the report: pytest keeps every report to the end of the run
        if (packed := report.__dict__.pop("memfail", None)) is not None:
            question = from_text(QuestionRecord, packed) if isinstance(packed, str) else packed
            is_unopened = getattr(report, "memfail_unopened", False)
            self.first_errors.watch(question, len(self.expected), is_unopened=is_unopened)
            self._take(question)
        for packed in report.__dict__.pop("memfail_stores", ()):
            self._take(from_text(StoreRecord, packed) if isinstance(packed, str) else packed)

    def _take(self, record: QuestionRecord | StoreRecord) -> None:
        self._begin()
        self.record.write(record)
        self._keep(record)

    def _keep(self, record: QuestionRecord | StoreRecord) -> None:
        if isinstance(record, StoreRecord):
            # a page holds all listings at once in any case; without one, only the file holds them
            has_page = any(path.suffix == ".html" for path in self._run.settings.reports)
            self.stores.append(record if has_page else replace(record, listings=(), history=(), extracted=()))
        else:
            self.questions[record.id] = record

    def _begin(self) -> None:
        """Begin the record at the first result: a run without results leaves a named record alone."""
        if self.header is not None:
            return
        self.header = record_header(self._run)
        self._make_folder()
        kept = kept_records(self._run, self.expected)
        self.record.begin([self.header, *kept])
        for record in kept:
            self._keep(record)
        self.taken_over = len(self.stores)

    def _make_folder(self) -> None:
        """Make the folder of the run among the kept ones, once; report on the terminal if it cannot be made."""
        if self._has_folder or self._run.runs is None:
            return
        self._has_folder = True
        cache: Any = self._config.cache
        # with the files that keep pytest's cache out of version control
        fault = self.record.make_folder(lambda: cache.mkdir("memfail"))
        terminal: Any = self._config.pluginmanager.get_plugin("terminalreporter")
        if fault is not None and terminal is not None:
            terminal.ensure_newline()
            terminal.write_line(f"memfail: {fault}", yellow=True)

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self) -> None:
        self.record.close()  # after an internal error no session finishes


def is_judged_failure(report: Any) -> bool:
    """Return whether a report is that of a failed question."""
    return bool(report.failed) and getattr(report, "memfail_verdict", None) in FAILURES
