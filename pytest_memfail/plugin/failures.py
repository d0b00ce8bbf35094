"""A wrong verdict as an exception, and what the reader sees of it and of errors."""

from __future__ import annotations

import re
import shlex
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_memfail.core import MemfailError, escape_controls, mask_text
from pytest_memfail.plugin.stash import FINISHED, RUN

if TYPE_CHECKING:
    import pytest

    from pytest_memfail.results import QuestionRecord

MOST_FRAMES: Final = 10
OWN_CODE = str(Path(__file__).parent.parent)


class MemoryFailure(AssertionError):
    """The memory, or the model, failed a question."""

    def __init__(self, item: pytest.Item) -> None:
        self.item = item
        super().__init__(self.headline())

    @property
    def _question(self) -> QuestionRecord:
        return self.item.stash[FINISHED]

    def headline(self) -> str:
        """The verdict and what was lost, on one line."""
        from pytest_memfail.report import headline

        return headline(self._question)

    def lines(self) -> list[str]:
        """The whole view."""
        from pytest_memfail.report import failure

        lines = failure(self._question, rerun_command(self.item))
        if self.item.config.stash[RUN].is_recorded(self.item.nodeid):
            lines[0] += " (recorded)"
        return lines


def rerun_command(item: pytest.Item) -> str:
    """What to paste to run just this item again."""
    words = ["pytest", item.nodeid, *item.config.stash[RUN].settings.command_line()]
    return " ".join(map(shlex.quote, words))


def error_lines(error: MemfailError, *, frames: bool = True) -> list[str]:
    """One line, then where in the user's own code it came from."""
    lines = [str(error)]
    cause = error.__cause__
    if cause is not None and frames:
        stack = traceback.extract_tb(cause.__traceback__)
        own = [f for f in stack if not f.filename.startswith(OWN_CODE)] or stack[-1:]
        if len(own) > MOST_FRAMES:  # a recursion
            lines.append(f"  [the last {MOST_FRAMES} of {len(own)} frames]")
        told = [*traceback.format_list(own[-MOST_FRAMES:]), *traceback.format_exception_only(type(cause), cause)]
        lines += escape_controls(mask_text("".join(told))).rstrip("\n").split("\n")
    return lines


def without_subject(message: str) -> str:
    """Return an error's message without what differs from question to question: the same fault gives the same text."""
    # at its end an error says which question or conversation it was about
    return re.sub(r"0x[0-9a-fA-F]+|\d+", "0", re.sub(r" \([^()]*\)$", "", message))


class ToldErrors:
    """Which errors were told in full: one broken adapter is one fault, however many questions end with it."""

    def __init__(self) -> None:
        self._first: dict[tuple[object, ...], str] = {}

    def alike(self, error: BaseException, node_id: str) -> str | None:
        """The item that told the same error before, by what was raised and where; None if this one is to tell it."""
        if not isinstance(error, MemfailError):
            return None
        first = self._first.setdefault((without_subject(str(error)), *_places(error.__cause__)), node_id)
        return None if first == node_id else first


def _places(error: BaseException | None) -> Iterator[tuple[str, int]]:
    """File and line of the user's frames: no source is read for it, as most are not shown."""
    at = error.__traceback__ if error is not None else None
    while at is not None:
        if not at.tb_frame.f_code.co_filename.startswith(OWN_CODE):
            yield at.tb_frame.f_code.co_filename, at.tb_lineno
        at = at.tb_next
