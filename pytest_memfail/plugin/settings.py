"""What the options come to, checked."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from pytest_memfail.core import MAX_K, UsageError, learn_options, mask_options, mask_text
from pytest_memfail.plugin.options import REUSE, ini_value, raw_value

SHARED: Final = (
    *(
        "system",
        "system_options",
        "tasks",
        "k",
        "judge",
        "judge_options",
        "protocol",
        "limit",
        "haystack",
        "seed",
        "shown_tokens",
    ),
    *("concurrency", "timeout", "model", "model_options", "assistant_turns", "shard", "repeats", "vary", "max_wait"),
)
"""What a worker must not read otherwise than the process that the user started."""


MOST_SECONDS: Final = 1e6
"""Clocks take no more than some years."""

MOST_SHOWN: Final = 100
"""Characters of a wrong value that are shown."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The options, checked."""

    system: str
    system_options: dict[str, str]
    tasks: tuple[str, ...]
    data: Path | None
    k: tuple[int, ...]
    judge: str
    judge_options: dict[str, str]
    protocol: str
    shown_tokens: int | None
    """Tokens shown per question, at most."""
    limit: int | None
    haystack: str | None
    """`full` or `sample`; None until the system is known."""
    seed: int
    repeats: int
    vary: str
    """What is asked anew when a question is repeated: `all`, `judge` or `answers`."""
    concurrency: int
    timeout: tuple[float, float]
    """Seconds that a call of the memory system may take: when storing, and when retrieving; 0 for any time."""
    keep_going: bool
    model: str | None
    model_options: dict[str, Any]
    cache: str
    cache_path: Path | None
    max_cost: float | None
    max_tokens: int | None
    max_wait: float
    """Seconds that models are waited for in all."""
    prices: Path | None
    assistant_turns: bool
    record: Path | None
    resume: bool
    reports: tuple[Path, ...]
    shard: tuple[int, int] | None
    """The number of this shard, from 1, and how many there are."""
    summary: str
    baseline: Path | None
    save_baseline: Path | None
    anchor: Path | None
    fail_on: tuple[str, ...]
    reuse_stores: Path | None
    """The folder of kept stores; None to fill all."""

    def shared(self) -> dict[str, Any]:
        """What is handed to workers: one on another machine has the command line, but not `PYTEST_ADDOPTS`."""
        return {name: getattr(self, name) for name in SHARED}

    def command_line(self) -> list[str]:
        """The options that matter for what an item's verdict is, as they would be given."""
        words = [f"--memfail-system={self.system}"]
        words += [f"--memfail-system-option={n}={v}" for n, v in mask_options(self.system_options).items()]
        if self.data is not None:
            words.append(f"--memfail-data={self.data}")
        if self.k != (5,):
            words.append(f"--memfail-k={','.join(map(str, self.k))}")
        for name, default in (
            ("judge", "offline"),
            ("model", None),
            ("protocol", "ours"),
            ("shown_tokens", None),
            ("limit", None),
            ("seed", 42),
            ("repeats", 1),
        ):
            if (value := getattr(self, name)) != default:
                words.append(f"--memfail-{name.replace('_', '-')}={value}")
        words += [f"--memfail-judge-option={n}={v}" for n, v in self.judge_options.items()]
        if self.limit is not None:
            words.append(f"--memfail-haystack={self.haystack}")
        words += [f"--memfail-model-option={n}={v}" for n, v in written_options(self.model_options).items()]
        return words


def read_settings(config: pytest.Config) -> Settings:
    """Check all options.

    Raises `pytest.UsageError` naming the option, what was got and what is expected.
    """
    return Settings(
        system=str(raw_value(config, "system")),
        system_options=_pairs(config, "system-option"),
        tasks=tuple(_split(raw_value(config, "tasks"))),
        data=_path(config, "data"),
        k=_ks(config),
        judge=str(raw_value(config, "judge")),
        judge_options=_pairs(config, "judge-option"),
        protocol=_choice(config, "protocol", ("ours", "paper")),
        shown_tokens=_whole(config, "shown-tokens", 1),
        limit=_whole(config, "limit", 1),
        haystack=_choice(config, "haystack", ("full", "sample")) if raw_value(config, "haystack") else None,
        seed=_whole(config, "seed", 0) or 0,
        repeats=_whole(config, "repeats", 1) or 1,
        vary=_choice(config, "vary", ("all", "judge", "answers")),
        concurrency=_whole(config, "concurrency", 1) or 1,
        timeout=_timeout(config),
        keep_going=_switch(config, "keep-going"),
        model=raw_value(config, "model") or None,
        model_options={name: _value(text) for name, text in _pairs(config, "model-option").items()},
        cache=_choice(config, "cache", ("on", "off", "only")),
        cache_path=_path(config, "cache-path"),
        max_cost=_amount(config, "max-cost"),
        max_tokens=_whole(config, "max-tokens", 0),
        max_wait=_amount(config, "max-wait") or 0.0,  # 0 waits never
        prices=_path(config, "prices"),
        assistant_turns=_assistant_turns(config),
        record=_path(config, "record"),
        resume=_switch(config, "resume"),
        reports=_paths(config, "report"),
        shard=_shard(config),
        summary=_choice(config, "summary", ("none", "short", "full")),
        baseline=_path(config, "baseline"),
        save_baseline=_path(config, "save-baseline"),
        anchor=_path(config, "anchor"),
        fail_on=tuple(raw_value(config, "fail-on")),
        reuse_stores=_reuse_folder(config),
    )


def cache_folder(config: pytest.Config) -> Path:
    """Our part of pytest's cache; not through config.cache, which does not exist yet while options are checked."""
    try:
        # as pytest reads it
        place = os.path.expanduser(os.path.expandvars(config.getini("cache_dir")))  # noqa: PTH111 - a text so far
        return Path(config.rootpath, place, "d", "memfail")
    except ValueError:  # -p no:cacheprovider
        return config.rootpath / ".memfail"


def _reuse_folder(config: pytest.Config) -> Path | None:
    value = str(raw_value(config, REUSE) or "")
    if value.lower() in ("", "off", "no", "false", "0"):
        return None
    if value.lower() in ("on", "yes", "true", "1"):
        return cache_folder(config) / "stores"
    from pytest_memfail.engine import is_ours

    folder = _path(config, REUSE)
    # without the = the option would take the next word, which may well be what was to be run
    is_selection = "::" in value or (value.split("/")[0] == "memfail" and folder is not None and not folder.exists())
    if folder is None or is_selection or (folder.exists() and not (folder.is_dir() and is_ours(folder))):
        raise _wrong(
            REUSE,
            value,
            f"a folder that is new, empty, or of kept stores; write --memfail-{REUSE}=DIR, or --memfail-{REUSE}=on before other words",
        )
    return folder


def _wrong(name: str, got: object, expected: str) -> pytest.UsageError:
    text = mask_text(repr(got))
    text = text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"
    return pytest.UsageError(str(UsageError(f"--memfail-{name}: got {text}, expected {expected}")))


def _split(value: str | None) -> list[str]:
    return [part.strip() for part in (value or "").split(",") if part.strip()]


def _whole(config: pytest.Config, name: str, least: int) -> int | None:
    value = raw_value(config, name)
    if value in (None, ""):
        return None
    try:
        number = int(value)
    except ValueError:
        number = least - 1
    if number < least:
        raise _wrong(name, value, f"a whole number of at least {least}")
    return number


def _switch(config: pytest.Config, name: str) -> bool:
    key = f"memfail_{name.replace('-', '_')}"
    return bool(config.getoption(key, None) or ini_value(config, name))


def _shard(config: pytest.Config) -> tuple[int, int] | None:
    value = raw_value(config, "shard")
    if value in (None, ""):
        return None
    match = re.fullmatch(r"([1-9]\d{0,3})/([1-9]\d{0,3})", value)
    if match is None or int(match[1]) > int(match[2]):
        raise _wrong("shard", value, "I/N with I from 1 to N, such as 2/8")
    return int(match[1]), int(match[2])


def _ks(config: pytest.Config) -> tuple[int, ...]:
    value = raw_value(config, "k")
    numbers = []
    for part in _split(str(value)) or [""]:
        if not re.fullmatch(r"0*[1-9]\d{0,6}", part) or int(part) > MAX_K:
            raise _wrong("k", value, f"whole numbers from 1 to {MAX_K} separated by commas, such as 5 or 5,10,15")
        numbers.append(int(part))
    return tuple(dict.fromkeys(numbers))


def _timeout(config: pytest.Config) -> tuple[float, float]:
    value = raw_value(config, "timeout")
    parts = _split(str(value))
    try:
        seconds = [float(part) for part in parts]
    except ValueError:
        seconds = []
    if not 1 <= len(seconds) <= 2 or not all(0 <= each <= MOST_SECONDS for each in seconds):
        raise _wrong("timeout", value, "seconds for storing and for retrieving, such as 300,60, or one number for both")
    return seconds[0], seconds[-1]


def _choice(config: pytest.Config, name: str, valid: tuple[str, ...]) -> str:
    value = raw_value(config, name)
    if value not in valid:
        raise _wrong(name, value, " or ".join(valid))
    return str(value)


def _path(config: pytest.Config, name: str) -> Path | None:
    key = f"memfail_{name.replace('-', '_')}"
    given = config.getoption(key, None)
    if given is not None:
        return Path(config.invocation_params.dir, given)
    value = ini_value(config, name)
    return Path((config.inipath.parent if config.inipath else config.rootpath), value) if value else None


def _paths(config: pytest.Config, name: str) -> tuple[Path, ...]:
    key = f"memfail_{name.replace('-', '_')}"
    given = config.getoption(key, None)
    base = config.invocation_params.dir
    if given is None:
        given, base = ini_value(config, name), config.inipath.parent if config.inipath else config.rootpath
    return tuple(dict.fromkeys(Path(base, path) for path in given))


def _amount(config: pytest.Config, name: str) -> float | None:
    value = raw_value(config, name)
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
    if raw_value(config, "assistant-turns") in (None, ""):
        return bool(raw_value(config, "protocol") == "paper")
    return _choice(config, "assistant-turns", ("on", "off")) == "on"


def _value(text: str) -> Any:
    """A number, a truth value or a list where the text is one in JSON, else the text."""
    try:
        return json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return text


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _pairs(config: pytest.Config, option: str) -> dict[str, str]:
    key = f"memfail_{option.replace('-', '_')}"
    given = config.getoption(key, None)
    pairs = {}
    for pair in ini_value(config, option) if given is None else given:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise _wrong(option, pair, "KEY=VALUE")
        pairs[name.strip()] = value
    learn_options(pairs)  # before anything can quote them
    return pairs


def written_options(options: Mapping[str, Any]) -> dict[str, str]:
    """The parameters of model calls as they would be given on the command line, without what is secret in them."""
    return {
        name: value if isinstance(value, str) else json.dumps(value) for name, value in mask_options(options).items()
    }
