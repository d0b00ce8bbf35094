"""Register the options and markers in pytest, and read the options from its command line and ini file."""

from __future__ import annotations

import json
import os
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from pytest_memfail.core import FAILURES, MEANINGS, STATES
from pytest_memfail.options import OPTIONS, Given, Option, Settings


def add_options(parser: pytest.Parser) -> None:
    """Register the group, with an ini twin for each option."""
    group = parser.getgroup("memfail", "where an LLM memory system loses information (pytest-memfail)")
    for option in OPTIONS:
        same = f"Same as {option.flag}"
        given: dict[str, Any] = {"default": None, "help": option.help}
        if not option.metavar:
            group.addoption(option.flag, action="store_true", **given)
            parser.addini(option.key, same, type="bool", default=False)
        elif option.many:
            given["help"] += "; repeatable"
            group.addoption(option.flag, action="append", metavar=option.metavar, **given)
            ini: dict[str, Any] = {"default": None} if option.is_text_in_ini else {"type": "linelist", "default": []}
            parser.addini(option.key, f"{same}, one per line", **ini)
        else:
            if option.bare is not None:
                given |= {"nargs": "?", "const": option.bare}
                same += f": on, off, or the {'folder' if option.metavar == 'DIR' else option.metavar}"
            group.addoption(option.flag, metavar=option.metavar, **given)
            parser.addini(option.key, same, default=option.default)


def is_active(config: pytest.Config) -> bool:
    """Return whether a memory system was named."""
    return bool(given_for(Settings.system, config).value)


def read_settings(config: pytest.Config) -> Settings:
    """Parse all options.

    Raises `UsageError` naming the option, the value and the expected value.
    """
    return Settings({option.attribute: option.parse(given_for(option, config)) for option in OPTIONS})


def given_for(option: Option[Any], config: pytest.Config) -> Given:
    """Return the value of an option on the command line, or else in the ini file.

    Raises `UsageError` for a value of the ini file with another type than the option.
    """
    value = config.getoption(option.key, None)
    if value is not None:
        value, typed, base = value, True, config.invocation_params.dir
    else:
        folder = config.inipath.parent if config.inipath else config.rootpath
        value, typed, base = _in_ini(option, config), False, folder
    return Given(option, value, typed, base, cache_folder(config), lambda other: given_for(other, config))


def _in_ini(option: Option[Any], config: pytest.Config) -> Any:
    """Return the value in the ini file: a text, a truth value for a switch, or a list of texts for a repeatable option.

    Raises `pytest.UsageError` for a value of another type. TOML has other types, and versions of pytest
    treat them differently: they pass them on, warn, or raise.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = config.getini(option.key)
    except (TypeError, ValueError, pytest.UsageError) as error:
        text = " ".join(str(error).split())
        raise pytest.UsageError(text if option.key in text else f"{option.key}: {text}") from None
    if option.many and not option.is_text_in_ini:
        if not all(isinstance(item, str) for item in value):
            raise pytest.UsageError(f"{option.key}: got {value!r} in the ini file, expected a list of texts")
    elif value is not None and not isinstance(value, (str, bool)):
        joined = option.metavar == "LIST" and isinstance(value, list)
        hint = f', such as "{",".join(map(str, value))}"' if joined else ""
        raise pytest.UsageError(f"{option.key}: got {value!r} in the ini file, expected a text{hint}")
    return value.splitlines() if option.many and isinstance(value, str) else value


def cache_folder(config: pytest.Config) -> Path:
    """Return our folder in pytest's cache; config.cache does not exist yet while options are checked."""
    try:
        # as pytest reads it
        place = os.path.expanduser(os.path.expandvars(config.getini("cache_dir")))  # noqa: PTH111 - a text so far
        return Path(config.rootpath, place, "d", "memfail")
    except ValueError:  # -p no:cacheprovider
        return config.rootpath / ".memfail"


# -- markers -----------------------------------------------------------------------------------------------------------


@cache
def task_markers() -> dict[str, str]:
    """Return the meanings of the markers of all built-in tasks; they exist even if a suite does not run.

    Each suite has them in a file of their own, because an unused plugin does not load suites.
    """
    folders = Path(__file__).parents[1].joinpath("suites").glob("*/markers.json")
    return {name: text for path in sorted(folders) for name, text in json.loads(path.read_text("utf-8")).items()}


def marker_lines() -> list[str]:
    """Return a line per marker, for `pytest --markers` and --strict-markers."""
    lines = [
        "memfail(task, store, k): a graded question of the MemFail benchmark; a test function with it runs once for each "
        "question of the task",
    ]
    lines += [f"{name}: {meaning}" for name, meaning in task_markers().items()]
    lines += [
        f"{name}: MemFail verdict (the latest recorded; without a record, what the task is designed to provoke): {MEANINGS[name]}"
        for name in FAILURES
    ]
    lines += [
        f"{name}: MemFail verdict (the latest recorded): {MEANINGS[name]}" for name in STATES if name not in FAILURES
    ]
    return lines
