"""A wrong verdict as an exception, and what the reader sees of it and of errors."""

from __future__ import annotations

import re
import shlex
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_memfail.core import MemfailError
from pytest_memfail.plugin.stash import LINE, RUN

if TYPE_CHECKING:
    import pytest

OWN_CODE = str(Path(__file__).parent.parent)


class MemoryFailure(AssertionError):
    """The memory, or the model, failed a question."""

    def __init__(self, item: pytest.Item) -> None:
        self.item = item
        super().__init__(self.headline())

    @property
    def _line(self) -> dict[str, Any]:
        return self.item.stash[LINE]

    def headline(self) -> str:
        """The verdict and what was lost, on one line."""
        from pytest_memfail.report import headline

        return headline(self._line)

    def lines(self) -> list[str]:
        """The whole view."""
        from pytest_memfail.report import failure

        lines = failure(self._line, rerun_command(self.item))
        if self.item.config.stash[RUN].is_recorded(self.item.nodeid):
            lines[0] += " (recorded)"
        return lines


def rerun_command(item: pytest.Item) -> str:
    """What to paste to run just this item again."""
    words = ["pytest", item.nodeid, *item.config.stash[RUN].settings.command_line()]
    return " ".join(map(shlex.quote, words))


def error_lines(error: MemfailError) -> list[str]:
    """One line, then where in the user's own code it came from."""
    lines = [str(error)]
    cause = error.__cause__
    if cause is not None:
        stack = traceback.extract_tb(cause.__traceback__)
        frames = [f for f in stack if not f.filename.startswith(OWN_CODE)] or stack[-1:]
        lines += [text.rstrip("\n") for text in traceback.format_list(frames)]
        lines += [text.rstrip("\n") for text in traceback.format_exception_only(type(cause), cause)]
    return lines


class ToldErrors:
    """Which errors were told in full: one broken adapter is one fault, however many questions end with it."""

    def __init__(self) -> None:
        self._first: dict[tuple[str, ...], str] = {}

    def alike(self, error: BaseException, node_id: str) -> str | None:
        """The item that told the same error before, by what was raised and where; None if this one is to tell it."""
        if not isinstance(error, MemfailError):
            return None
        message, *frames = error_lines(error)
        # at its end an error says which question or conversation it was about
        first = self._first.setdefault((re.sub(r" \([^()]*\)$", "", message), *frames), node_id)
        return None if first == node_id else first
