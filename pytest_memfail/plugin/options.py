"""The command line and its ini twins, and what they come to."""

from __future__ import annotations

import json
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
        "Judge: rules (offline), a model name, rules+MODEL (the model decides only what the rules are unsure of), an entry "
        "point, module:attribute, or a name your conftest.py knows",
    ),
    (
        "model",
        None,
        "NAME",
        "Model that answers the questions from the retrieved memories (OPENAI_API_KEY, OPENAI_BASE_URL)",
    ),
    ("cache", "on", "on|off|only", "Replies of models are kept and reused; only: replay them, and fail on a miss"),
    ("cache-path", None, "PATH", "File of the kept replies (default: in pytest's cache)"),
    ("max-cost", None, "USD", "Budget over all processes; calls stop when it is used up"),
    ("max-tokens", None, "N", "Budget over all processes; calls stop when it is used up"),
    ("prices", None, "FILE", "Own prices of models, JSON or TOML, USD per million tokens"),
    (
        "assistant-turns",
        None,
        "on|off",
        "Let the model answer each message that is stored (default: on for protocol paper)",
    ),
    ("protocol", "ours", "ours|paper", "Layout and readings: ours, or those of the published harness"),
    ("limit", None, "N", "Ask at most N questions of each task: a fixed, balanced sample"),
    ("seed", "42", "N", "Seed of layout, order and sample (default: 42)"),
    ("concurrency", "32", "N", "Questions of one process in flight at once (default: 32)"),
    ("record", None, "PATH", "Where to write the record, JSON Lines (default: in pytest's cache)"),
    ("summary", "short", "none|short|full", "Summary at the end: none, short, or full with the facts of each task"),
)
PAIR_OPTIONS: Final = (
    ("system-option", "Setting handed to the memory system's factory"),
    ("model-option", "Parameter of every call of a model (temperature=0)"),
)


def add_options(parser: pytest.Parser) -> None:
    """Register the group, with an ini twin for each option."""
    group = parser.getgroup("memfail", "where an LLM memory system loses information (pytest-memfail)")
    for name, default, metavar, text in OPTIONS:
        group.addoption(f"--memfail-{name}", default=None, metavar=metavar, help=text)
        parser.addini(f"memfail_{name.replace('-', '_')}", f"Same as --memfail-{name}", default=default)
    for name, text in PAIR_OPTIONS:
        group.addoption(
            f"--memfail-{name}", action="append", default=None, metavar="KEY=VALUE", help=f"{text}; repeatable"
        )
        parser.addini(
            f"memfail_{name.replace('-', '_')}", f"Same as --memfail-{name}, one a line", type="linelist", default=[]
        )


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
    model: str | None
    model_options: dict[str, Any]
    cache: str
    cache_path: Path | None
    max_cost: float | None
    max_tokens: int | None
    prices: Path | None
    assistant_turns: bool
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
        for name, default in (("judge", "rules"), ("model", None), ("protocol", "ours"), ("limit", None), ("seed", 42)):
            if (value := getattr(self, name)) != default:
                words.append(f"--memfail-{name}={value}")
        words += [f"--memfail-model-option={n}={json.dumps(v)}" for n, v in self.model_options.items()]
        return words


def read_settings(config: pytest.Config) -> Settings:
    """Check all options.

    Raises `pytest.UsageError` naming the option, what was got and what is expected.
    """
    return Settings(
        system=str(_raw(config, "system")),
        system_options=_pairs(config, "system-option"),
        tasks=tuple(_split(_raw(config, "tasks"))),
        data=_path(config, "data"),
        k=_ks(config),
        judge=str(_raw(config, "judge")),
        protocol=_choice(config, "protocol", ("ours", "paper")),
        limit=_whole(config, "limit", 1),
        seed=_whole(config, "seed", 0) or 0,
        concurrency=_whole(config, "concurrency", 1) or 1,
        model=_raw(config, "model") or None,
        model_options={name: _value(text) for name, text in _pairs(config, "model-option").items()},
        cache=_choice(config, "cache", ("on", "off", "only")),
        cache_path=_path(config, "cache-path"),
        max_cost=_amount(config, "max-cost"),
        max_tokens=_whole(config, "max-tokens", 0),
        prices=_path(config, "prices"),
        assistant_turns=_assistant_turns(config),
        record=_path(config, "record"),
        summary=_choice(config, "summary", ("none", "short", "full")),
    )


def _raw(config: pytest.Config, name: str) -> Any:
    key = f"memfail_{name.replace('-', '_')}"
    value = config.getoption(key, None)
    return config.getini(key) if value is None else value


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
    key = f"memfail_{name.replace('-', '_')}"
    given = config.getoption(key, None)
    if given is not None:
        return Path(config.invocation_params.dir, given)
    value = config.getini(key)
    return Path((config.inipath.parent if config.inipath else config.rootpath), value) if value else None


def _amount(config: pytest.Config, name: str) -> float | None:
    value = _raw(config, name)
    if value in (None, ""):
        return None
    try:
        amount = float(value)
    except ValueError:
        amount = -1.0
    if not 0 <= amount < float("inf"):
        raise _wrong(name, value, "a number of at least 0")
    return amount


def _assistant_turns(config: pytest.Config) -> bool:
    if _raw(config, "assistant-turns") in (None, ""):
        return bool(_raw(config, "protocol") == "paper")
    return _choice(config, "assistant-turns", ("on", "off")) == "on"


def _value(text: str) -> Any:
    """A number, a truth value or a list where the text is one in JSON, else the text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _pairs(config: pytest.Config, option: str) -> dict[str, str]:
    key = f"memfail_{option.replace('-', '_')}"
    given = config.getoption(key, None)
    pairs = {}
    for pair in config.getini(key) if given is None else given:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise _wrong(option, pair, "KEY=VALUE")
        pairs[name.strip()] = value
    return pairs


_SECRET: Final = re.compile(r"key|token|secret|passw|credential|auth", re.IGNORECASE)


def public_options(options: Mapping[str, str]) -> dict[str, str]:
    """The system's settings with what is secret by its name left out of sight."""
    return {name: "***" if _SECRET.search(name) else value for name, value in options.items()}
