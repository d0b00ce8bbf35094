"""Stop a run whose first results are all the same error."""

from __future__ import annotations

from typing import Final

import pytest

from pytest_memfail.core import QuestionRecord, counted
from pytest_memfail.plugin.outcome import without_subject

ALIKE: Final = 10
"""The run stops after this many questions that all end with the same error."""


class FirstErrors:
    """Watch the first results of a run, in the process that the user started."""

    def __init__(self, config: pytest.Config, *, watches: bool) -> None:
        self._config, self._watches = config, watches
        self._seen: set[str] = set()
        self._first = ""
        self.reason = ""
        """Why the run was stopped; empty if it was not."""

    def watch(self, question: QuestionRecord, expected: int, *, is_unopened: bool) -> None:
        """Look at the next result of as many as are expected; `is_unopened` says whether its store could not be opened."""
        if not self._watches:
            return
        if question.error is None:
            self._watches = False
            return
        message = question.error.message
        kind = without_subject(message)
        self._seen.add(question.id)  # once, however often it is run again
        self._first = self._first or kind
        if kind != self._first or len(self._seen) == expected:  # in the end it ends by itself
            self._watches = False
        elif is_unopened:
            self._stop(f"the first store could not be opened: {message}", expected)
        elif len(self._seen) == ALIKE:
            self._stop(f"the first {ALIKE} questions all ended with the same error: {message}", expected)

    def _stop(self, why: str, expected: int) -> None:
        self._watches = False
        self.reason = f"{why}; fix it, or continue with --memfail-keep-going"
        for name in ("session", "dsession"):  # the latter is xdist's
            if (session := self._config.pluginmanager.get_plugin(name)) is not None:
                session.shouldstop = (
                    f"memfail stopped the run after {len(self._seen)} of {counted(expected, 'question')}"
                )
