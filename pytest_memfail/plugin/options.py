"""The command line and its ini twins, and what they come to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

SYSTEM: Final = "--memfail-system"

# name, default, metavar, help; every option has the ini twin memfail_*
OPTIONS: Final[tuple[tuple[str, str | None, str, str], ...]] = (
    (
        "system",
        None,
        "NAME",
        "Memory system to test: a built-in (bm25, full-context, no-memory, forgetful, lossy, misdirected), an entry point, "
        "module:attribute, or a name your conftest.py knows; without it the plugin does nothing",
    ),
    ("tasks", None, "LIST", "Tasks to run, names or globs separated by commas (default: all)"),
    ("data", None, "DIR", "Folder with the rows (default: those shipped)"),
    ("k", "5", "LIST", "How many memories are retrieved; several values (5,10) make one item each over the same store"),
    (
        "judge",
        "rules",
        "NAME",
        "Judge: rules (offline), an entry point, module:attribute, or a name your conftest.py knows",
    ),
    ("protocol", "ours", "ours|paper", "Layout and readings: ours, or those of the published harness"),
    ("limit", None, "N", "Ask at most N questions of each task: a fixed, balanced sample"),
    ("seed", "42", "N", "Seed of layout, order and sample (default: 42)"),
    ("concurrency", "32", "N", "Questions of one process in flight at once (default: 32)"),
    ("record", None, "PATH", "Where to write the record, JSON Lines (default: in pytest's cache)"),
    ("summary", "short", "none|short|full", "Summary at the end: none, short, or full with the facts of each task"),
)
SYSTEM_OPTION: Final = "system_option"


def add_options(parser: pytest.Parser) -> None:
    """Register the group, with an ini twin for each option."""
    group = parser.getgroup("memfail", "where an LLM memory system loses information (pytest-memfail)")
    for name, default, metavar, text in OPTIONS:
        group.addoption(f"--memfail-{name}", default=None, metavar=metavar, help=text)
        parser.addini(f"memfail_{name}", f"Same as --memfail-{name}", default=default)
    group.addoption(
        "--memfail-system-option",
        action="append",
        default=None,
        metavar="KEY=VALUE",
        help="Setting handed to the memory system's factory; repeatable",
    )
    parser.addini("memfail_system_option", "Same as --memfail-system-option, one a line", type="linelist", default=[])


def is_active(config: pytest.Config) -> bool:
    """Whether a memory system was named."""
    return bool(_raw(config, "system"))


@dataclass(frozen=True, slots=True)
class Settings:
    """The options, checked."""

    system: str
    system_options: dict[str, str]
    tasks: tuple[str, ...]
    data: Path | None
    k: tuple[int, ...]
    judge: str
    protocol: str
    limit: int | None
    seed: int
    concurrency: int
    record: Path | None
    summary: str

    def command_line(self) -> list[str]:
        """The options that matter for what an item's verdict is, as they would be given."""
        words = [f"--memfail-system={self.system}"]
        words += [f"--memfail-system-option={n}={v}" for n, v in public_options(self.system_options).items()]
        if self.data is not None:
            words.append(f"--memfail-data={self.data}")
        if self.k != (5,):
            words.append(f"--memfail-k={','.join(map(str, self.k))}")
        for name, default in (("judge", "rules"), ("protocol", "ours"), ("limit", None), ("seed", 42)):
            if (value := getattr(self, name)) != default:
                words.append(f"--memfail-{name}={value}")
        return words


def read_settings(config: pytest.Config) -> Settings:
    """Check all options.

    Raises `pytest.UsageError` naming the option, what was got and what is expected.
    """
    return Settings(
        system=str(_raw(config, "system")),
        system_options=_pairs(config),
        tasks=tuple(_split(_raw(config, "tasks"))),
        data=_path(config, "data"),
        k=_ks(config),
        judge=str(_raw(config, "judge")),
        protocol=_choice(config, "protocol", ("ours", "paper")),
        limit=_whole(config, "limit", 1),
        seed=_whole(config, "seed", 0) or 0,
        concurrency=_whole(config, "concurrency", 1) or 1,
        record=_path(config, "record"),
        summary=_choice(config, "summary", ("none", "short", "full")),
    )


def _raw(config: pytest.Config, name: str) -> Any:
    value = config.getoption(f"memfail_{name}", None)
    return config.getini(f"memfail_{name}") if value is None else value


def _wrong(name: str, got: object, expected: str) -> pytest.UsageError:
    return pytest.UsageError(f"--memfail-{name}: got {got!r}, expected {expected}")


def _split(value: str | None) -> list[str]:
    return [part.strip() for part in (value or "").split(",") if part.strip()]


def _whole(config: pytest.Config, name: str, least: int) -> int | None:
    value = _raw(config, name)
    if value in (None, ""):
        return None
    try:
        number = int(value)
    except ValueError:
        number = least - 1
    if number < least:
        raise _wrong(name, value, f"a whole number of at least {least}")
    return number


def _ks(config: pytest.Config) -> tuple[int, ...]:
    value = _raw(config, "k")
    numbers = []
    for part in _split(str(value)) or [""]:
        if not part.isdecimal() or int(part) < 1:
            raise _wrong("k", value, "whole numbers of at least 1 separated by commas, such as 5 or 5,10,15")
        numbers.append(int(part))
    return tuple(dict.fromkeys(numbers))


def _choice(config: pytest.Config, name: str, valid: tuple[str, ...]) -> str:
    value = _raw(config, name)
    if value not in valid:
        raise _wrong(name, value, " or ".join(valid))
    return str(value)


def _path(config: pytest.Config, name: str) -> Path | None:
    given = config.getoption(f"memfail_{name}", None)
    if given is not None:
        return Path(config.invocation_params.dir, given)
    value = config.getini(f"memfail_{name}")
    return Path((config.inipath.parent if config.inipath else config.rootpath), value) if value else None


def _pairs(config: pytest.Config) -> dict[str, str]:
    given = config.getoption("memfail_system_option", None)
    pairs = {}
    for pair in config.getini("memfail_system_option") if given is None else given:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise _wrong("system-option", pair, "KEY=VALUE")
        pairs[name.strip()] = value
    return pairs


_SECRET: Final = re.compile(r"key|token|secret|passw|credential|auth", re.IGNORECASE)


def public_options(options: Mapping[str, str]) -> dict[str, str]:
    """The system's settings with what is secret by its name left out of sight."""
    return {name: "***" if _SECRET.search(name) else value for name, value in options.items()}
