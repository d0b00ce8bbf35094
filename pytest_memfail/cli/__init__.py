"""The `memfail` command: one file per sub-command, each with `add` (its arguments) and `run` (its work).

The file of a command begins with its help: the first line is that in the list of commands, the others describe it.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from difflib import get_close_matches
from importlib import import_module
from typing import Final, TextIO

from pytest_memfail._version import __version__
from pytest_memfail.cli.arguments import Arguments
from pytest_memfail.core import MemfailError, UsageError, one_line, os_reason
from pytest_memfail.safety import escape_controls

USAGE = 4
"""Pytest's exit code for a usage error."""
BROKEN = 3
"""Pytest's exit code for an internal error."""
COMMANDS: Final = (
    *("validate", "check-system", "judge-check", "label", "generate"),
    *("show", "view", "case", "report", "compare", "gate", "anchor", "merge", "plan", "regrade"),
    *("cache", "estimate"),
)
"""In the order of the help: before a run, records of runs, models."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    0; 1 if faults were found; 3 if a file could not be read or written; 4 for a usage error.
    """
    with _Shown(sys.stderr) as errors, redirect_stderr(errors):
        try:
            with _Shown(sys.stdout) as shown, redirect_stdout(shown):
                return _run(arguments)
        except OSError as error:  # a full disk, or a file that was removed
            place = f"{error.filename}: " if error.filename else ""
            print(f"memfail: {place}{one_line(os_reason(error))}", file=sys.stderr)
            return BROKEN
        except MemfailError as error:
            print(f"memfail: {error}", file=sys.stderr)
            return USAGE


def _run(arguments: Sequence[str] | None) -> int:
    parser, commands = _parsers()
    try:
        options, unknown = parser.parse_known_args(arguments)
    except SystemExit as end:  # argparse has printed the error, and uses 2
        if not end.code:
            raise
        return USAGE
    if unknown:
        raise UsageError(_unrecognized(unknown, options.command, commands.choices[options.command]))
    try:
        code: int = options.run(options)
    except UsageError as error:
        raise UsageError(_as_given(str(error), commands.choices[options.command])) from error
    return code


def _as_given(message: str, command: argparse.ArgumentParser) -> str:
    """Return an error with the command's own options in place of those of a run with the same names."""
    known = command._option_string_actions
    return re.sub(r"--memfail(-[\w-]+)", lambda m: f"-{m[1]}" if f"-{m[1]}" in known else m[0], message)


class _Shown(io.TextIOBase):
    """A standard stream that escapes control characters in foreign texts, and drops what no reader is left for.

    A closed pipe (`| head`) changes only what is printed: the command goes on, writes its files and returns its exit code.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = io.StringIO() if stream is None else stream  # None: it was closed before the start

    def write(self, text: str) -> int:
        try:
            self._stream.write(escape_controls(text))
        except BrokenPipeError:
            self._discard()
        return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError as error:
            self._discard()
            if not isinstance(error, BrokenPipeError):  # such as a full disk
                raise

    def _discard(self) -> None:
        """Send what is buffered, and all that follows, nowhere: Python flushes once more at its exit."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stream.fileno())
        os.close(nowhere)

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()


def _unrecognized(unknown: Sequence[str], name: str, command: argparse.ArgumentParser) -> str:
    """Return an error message with the unknown arguments and the closest option of the command."""
    known = list(command._option_string_actions)
    option = next((part.partition("=")[0] for part in unknown if part.startswith("-")), "")
    hint = "".join(f"did you mean {near}?" for near in get_close_matches(option, known, 1))
    if option in known:
        hint = f"{option} goes after {name}"
    return f"unrecognized arguments: {' '.join(unknown)}; {hint or f'`memfail {name} --help` lists its options'}"


def _parsers() -> tuple[argparse.ArgumentParser, argparse._SubParsersAction[argparse.ArgumentParser]]:
    """Return the command's parser and its sub-commands."""
    parser = argparse.ArgumentParser(
        prog="memfail", description="Work with the data, systems, judges, records and costs of pytest-memfail."
    )
    parser.add_argument("--version", action="version", version=f"memfail {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in COMMANDS:
        command = import_module(f"pytest_memfail.cli.{name.replace('-', '_')}")
        summary, _, description = (command.__doc__ or "").partition("\n\n")
        added = commands.add_parser(name, help=f"{summary[:1].lower()}{summary[1:-1]}", description=description)
        added.set_defaults(run=command.run, error=added.error)
        command.add(Arguments(added))
    return parser, commands
