"""In the process that the user started: ends a run whose first results all are the same error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pytest

from pytest_memfail.plugin.failures import without_subject
from pytest_memfail.plugin.run import Run
from pytest_memfail.results import NO_TRUSTWORTHY_RESULT, QuestionRecord, from_text

ALIKE: Final = 10
"""After so many questions that all end with the same error, no other end is expected."""


class FirstErrors:
    """Watches the first results; registered only where a memory system was named, and never in an xdist worker."""

    def __init__(self, config: pytest.Config, run: Run) -> None:
        self._config, self._run = config, run
        self._watches = not run.settings.keep_going
        self._left = 0
        self._seen = 0
        self._first = ""
        self._reason = ""

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        from pytest_memfail.plugin.session import asked_by

        self._left = sum(1 for item in session.items if asked_by(item) is not None)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        self._left = sum(1 for node_id in ids if self._run.unit_of(node_id) is not None)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: Any) -> None:
        packed = getattr(report, "memfail", None)
        if not self._watches or packed is None:
            return
        question = from_text(QuestionRecord, packed) if isinstance(packed, str) else packed
        if question.error is None:
            self._watches = False
            return
        message = question.error.message
        kind = without_subject(message)
        self._seen += 1
        self._first = self._first or kind
        if kind != self._first:
            self._watches = False
        elif self._seen == self._left:
            self._watches = False  # it ends by itself
        elif getattr(report, "memfail_unopened", False):
            self._stop(f"the first store could not be opened: {message}")
        elif self._seen == ALIKE:
            self._stop(f"the first {ALIKE} questions all ended with the same error: {message}")

    def _stop(self, why: str) -> None:
        self._watches = False
        self._reason = f"{why}; mend it, or go on all the same with --memfail-keep-going"
        for name in ("session", "dsession"):  # the latter is xdist's
            if (session := self._config.pluginmanager.get_plugin(name)) is not None:
                session.shouldstop = f"memfail stopped the run after {self._seen} of {self._left} questions"

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._reason:
            session.exitstatus = NO_TRUSTWORTHY_RESULT

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self._reason:
            terminalreporter.write_line(f"memfail: no trustworthy result: {self._reason}", red=True, bold=True)
