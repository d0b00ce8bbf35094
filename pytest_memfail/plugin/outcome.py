"""Translate verdicts for pytest: raise failures, compare them with the baseline, and mask secrets in the output.

The output is reports of items, lines on the terminal, warnings and logs.
"""

from __future__ import annotations

import re
import shlex
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_memfail.core import MEANINGS, NO_ANSWER, MemfailError, in_words
from pytest_memfail.plugin.stash import FINISHED, RUN
from pytest_memfail.records import Entry
from pytest_memfail.results import change_of
from pytest_memfail.safety import KNOWN, escape_controls, mask_known, mask_text

if TYPE_CHECKING:
    from pytest_memfail.core import QuestionRecord

# -- wrong verdicts and errors -----------------------------------------------------------------------------------------

MOST_FRAMES: Final = 10
OWN_CODE = str(Path(__file__).parent.parent)


class MemoryFailure(AssertionError):
    """A failed question: the memory or the model failed."""

    def __init__(self, item: pytest.Item) -> None:
        self.item = item
        super().__init__(self.headline())

    @property
    def _question(self) -> QuestionRecord:
        return self.item.stash[FINISHED]

    def headline(self) -> str:
        """Return what was lost, on one line."""
        from pytest_memfail.report import headline

        return headline(self._question)

    def lines(self) -> list[str]:
        """Return the whole text of the failure."""
        from pytest_memfail.report import failure

        option = self.item.config.getoption
        short, brief = option("tbstyle", "auto") == "short", option("verbose") <= 0
        lines = failure(self._question, rerun_command(self.item), short=short, brief=brief)
        if self.item.config.stash[RUN].is_recorded(self.item.nodeid):
            lines[0] += " (recorded)"
        return lines


def rerun_command(item: pytest.Item) -> str:
    """Return the command that runs just this item again."""
    words = ["pytest", item.nodeid, *item.config.stash[RUN].settings.command_line()]
    return " ".join(map(shlex.quote, words))


def error_lines(error: MemfailError, *, frames: bool = True) -> list[str]:
    """Return the error on one line, then its traceback in the user's own code."""
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
    """Return an error's message without the parts that differ between questions: the same fault gives the same text."""
    # the end of a message names the question or the conversation, quotes hold what was got for it
    message = re.sub(r"(?<!\w)(['\"]).*?(?:\1(?!\w)|…)", "…", re.sub(r" \([^()]*\)$", "", message))
    return re.sub(r"0x[0-9a-fA-F]+|\d+", "0", message)


class ShownErrors:
    """Track the errors shown in full: one broken adapter is one fault, however many questions end with it."""

    def __init__(self) -> None:
        self._first: dict[tuple[object, ...], str] = {}

    def alike(self, error: BaseException, node_id: str) -> str | None:
        """Return the earlier item with the same error (message and place); None if this item is the first."""
        if not isinstance(error, MemfailError):
            return None
        first = self._first.setdefault((without_subject(str(error)), *_places(error.__cause__)), node_id)
        return None if first == node_id else first


def _places(error: BaseException | None) -> Iterator[tuple[str, int]]:
    """Yield file and line of the user's frames without reading their source, as most are not shown."""
    at = error.__traceback__ if error is not None else None
    while at is not None:
        if not at.tb_frame.f_code.co_filename.startswith(OWN_CODE):
            yield at.tb_frame.f_code.co_filename, at.tb_lineno
        at = at.tb_next


# -- what a report says ------------------------------------------------------------------------------------------------


def apply_known(report: Any, new: QuestionRecord, known: list[Any], protocol: str) -> None:
    """Turn a failure known to the baseline into an expected one, and a fix into an unexpected pass, which never fails."""
    verdict, memory_held, vacuous = known
    old = Entry(new.id, *new.key, verdict, memory_held, bool(vacuous))
    if report.failed and old.failed and new.failed:
        report.outcome = "skipped"
        as_before = "as in" if old.verdict == new.verdict else f"{old.verdict} in"
        report.wasxfail = f"{new.verdict}, {as_before} the baseline"
    elif change_of(old, new, protocol) == "better":
        report.outcome, report.longrepr = "passed", None
        report.wasxfail = f"{new.state}, {old.verdict} in the baseline"


PROPERTY_PREFIX: Final = "memfail_"
VIEWS: Final = pytest.ExceptionInfo.__module__.rpartition(".")[0]
"""The package with pytest's representations of exceptions."""

Clean = Callable[[str], str]


def clean_line(text: str) -> str:
    """Return a line of ours without known secrets and control characters."""
    return escape_controls(mask_known(text))


class CleanTerminal:
    """Wrap pytest's terminal reporter, and clean the lines that we write."""

    def __init__(self, reporter: Any) -> None:
        self._reporter = reporter

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reporter, name)

    def write_line(self, line: str, **markup: Any) -> None:
        """Write one line."""
        self._reporter.write_line(clean_line(line), **markup)


def clean_report(report: Any, *, is_error: bool) -> None:
    """Clean the texts of an item that pytest and plugins show: its failure, the reason of a skip, captured output.

    The text of an error may hold unknown secrets, so it is searched for their shapes. In memories and program output only
    known secrets are masked. Colours stay: pytest and programs set them.
    """
    if report.longrepr is None and not report.sections:
        return  # most pass without a word
    KNOWN.read_environment()

    def clean(text: str) -> str:
        return escape_controls(mask_text(text) if is_error else KNOWN.mask(text), keep_colour=True)

    report.longrepr = _cleaned(report.longrepr, clean, set())
    report.sections = [(name, escape_controls(KNOWN.mask(text), keep_colour=True)) for name, text in report.sections]
    if hasattr(report, "wasxfail"):
        report.wasxfail = clean(report.wasxfail)


def _cleaned(value: Any, clean: Clean, seen: set[int]) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, (list, tuple)):
        return type(value)([_cleaned(item, clean, seen) for item in value])
    if type(value).__module__.startswith(VIEWS) and id(value) not in seen:  # pytest's representation of an exception
        seen.add(id(value))
        for name, item in vars(value).items():
            setattr(value, name, _cleaned(item, clean, seen))
    return value


def clean_warning(warning: warnings.WarningMessage) -> None:
    """Clean the text of a warning before pytest counts and shows it."""
    said = str(warning.message)
    cleaned = escape_controls(mask_text(said, entropy=False), keep_colour=True)
    if cleaned == said:
        return
    if isinstance(warning.message, Warning):
        warning.message.args = (cleaned,)
    if str(warning.message) != cleaned:  # a class with a message of its own
        warning.message = UserWarning(cleaned)


def note(item: pytest.Item, report: Any, question: QuestionRecord) -> None:
    """Add the properties to this report and to later ones; junitxml reads those of the last report."""
    said = {"task": question.task, "k": question.k, "verdict": question.state}
    ours: list[tuple[str, object]] = [(PROPERTY_PREFIX + name, str(value)) for name, value in said.items()]
    for properties in (item.user_properties, report.user_properties):
        # not twice for an item that is run again
        properties[:] = [*(pair for pair in properties if not pair[0].startswith(PROPERTY_PREFIX)), *ours]


def open_reason(question: QuestionRecord) -> str:
    """Return why a question is neither right nor wrong."""
    if question.verdict == NO_ANSWER:
        return f"{in_words(NO_ANSWER)}: {MEANINGS[NO_ANSWER].partition(';')[0]} (--memfail-model=NAME)"
    for fact in question.facts:
        if fact.deciding.outcome == "ungraded":
            return f"ungraded: {fact.decided_by}: {fact.deciding.reason or 'the judge left it open'}"
    return f"ungraded: answer: {question.answer.reason or 'the judge left it open'}"
