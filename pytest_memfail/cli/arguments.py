"""Declare the arguments of a command."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

RECORD_HELP: Final = (
    "record of a run: a file, or a kept run: last (the last complete one), newest (even if partial) or a part of its id, "
    "as memfail show --list prints them"
)
CACHE_DIR: Final = ("--cache-dir DIR", "pytest's cache (default: here or above)", Path)
PRICES: Final = ("--prices FILE", "your own prices, JSON or TOML, USD per million tokens", Path)
PROTOCOL: Final = ("--protocol", "", ("ours", "paper"), "ours")
DATA: Final = "--data"


def listed(text: str) -> tuple[str, ...]:
    """Return the parts between commas."""
    return tuple(part for one in text.split(",") if (part := one.strip()))


TASKS: Final = ("--tasks LIST", "names or globs separated by commas (default: all)", listed, ())


class Arguments:
    """Declares the arguments of one command; arguments of several commands are constants above."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        """Set the parser of the command."""
        self._parser = parser

    def __call__(
        self,
        names: str,
        said: str = "",
        kind: Callable[[str], Any] | tuple[str, ...] = str,
        default: object = None,
        *,
        many: bool = False,
        **more: Any,
    ) -> None:
        """Declare an argument.

        Args:
            names: the options, then the name of their value, as in `-o --output FILE`; without a value it is a switch.
                An argument without an option has the name of its attribute instead, as in `record RECORD`.
            said: the help; it ends with the default, unless it says that itself.
            kind: makes the value from a text; or all texts that it may be.
            default: the value if none is given.
            many: whether the option can be repeated; its value is then a list.
            more: further arguments of `ArgumentParser.add_argument`.
        """
        words = names.split()
        value = [word for word in words[1:] if not word.startswith("-")]
        if isinstance(kind, tuple):
            more["choices"] = kind
        elif value:
            more["type"] = kind
        else:
            more.setdefault("action", "store_true")
        if value:
            more.setdefault("metavar", value[0])
        if many:
            more["action"], default = "append", []
        if default and "default:" not in said:
            said = f"{said} (default: {default})" if said else f"default: {default}"
        if default is not None:
            more["default"] = default
        self._parser.add_argument(*words[: len(words) - len(value)], help=said, **more)

    def data(self) -> None:
        """Declare `--data`."""
        said = "folder with the rows; SUITE=DIR is that of one suite; repeatable (default: the shipped ones)"
        self(f"{DATA} [SUITE=]DIR", said, many=True)

    def cases(self) -> None:
        """Declare `--cases`."""
        said = "folder with your own *.memfail.yaml cases; repeatable (default: the current one)"
        self("--cases DIR", said, Path, many=True)

    def suite_options(self) -> None:
        """Declare `--suite-option`."""
        self("--suite-option SUITE.NAME=VALUE", "setting of a suite, as its page lists them; repeatable", many=True)
