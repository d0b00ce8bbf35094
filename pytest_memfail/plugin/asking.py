"""What the user's code gives where the plugin asks it for something before a run: whatever it raises is a wrong call."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable
from inspect import getfile
from pathlib import Path
from typing import Any, Final

import pluggy
import pytest

from pytest_memfail.core import Task, UsageError, one_line

NOT_THEIRS: Final = ("<", *(str(Path(getfile(known)).parent) for known in (pluggy.HookCaller, pytest.Item)))
OUR_CODE: Final = str(Path(__file__).parent.parent)


def ask(what: str, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call a hook or a function of the user's.

    Raises `UsageError` that names it, and the line of the user's code, for whatever the call raises.
    """
    try:
        return function(*args, **kwargs)
    except (UsageError, pytest.UsageError, KeyboardInterrupt, pytest.exit.Exception):
        raise
    except BaseException as error:  # SystemExit, and what pytest.skip() and pytest.fail() raise
        raise UsageError(f"{what} raised {type(error).__name__}: {one_line(error)}{_place(error)}") from error


def tasks_of(what: str, given: Any) -> list[Task]:
    """Return what a hook or an entry point gives as tasks.

    Raises `UsageError` if it is something else.
    """
    if not isinstance(given, Iterable):
        raise UsageError(f"{what} gave {type(given).__name__}, expected a list of Task")
    tasks: list[Task] = ask(what, list, given)
    for task in tasks:
        if not isinstance(task, Task):
            raise UsageError(f"{what} gave {type(task).__name__} {one_line(repr(task), 60)}, expected a Task")
    return tasks


def _place(error: BaseException) -> str:
    """Where the user's code raised it: file and line of the last frame that is theirs."""
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if not frame.filename.startswith((*NOT_THEIRS, OUR_CODE))]
    return f" ({Path(theirs[-1].filename).name}:{theirs[-1].lineno})" if theirs else ""
