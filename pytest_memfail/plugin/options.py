"""The command line and its ini twins. Loaded by every pytest run, so nothing more is here."""

from __future__ import annotations

from typing import Any, Final

import pytest

SYSTEM: Final = "--memfail-system"
OPTION_PREFIX: Final = "--memfail-"

# name, default, metavar, help; every option has the ini twin memfail_*
OPTIONS: Final[tuple[tuple[str, str | None, str, str], ...]] = (
    (
        "system",
        None,
        "NAME",
        "Memory system to test: a built-in (bm25, full-context, no-memory, forgetful, lossy, misdirected), an adapter "
        "(mem0, langmem, a-mem, simplemem; each needs the extra of its name), an entry point, module:attribute, or a name "
        "your conftest.py knows; without it the plugin does nothing",
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
    (
        "repeats",
        "1",
        "N",
        "Ask each question N times; its verdict is the majority's, ties go to the worse (default: 1)",
    ),
    (
        "vary",
        "all",
        "all|judge|answers",
        "What is asked anew when a question is repeated; the other's replies are those of the first time, from the cache",
    ),
    ("seed", "42", "N", "Seed of layout, order and sample (default: 42)"),
    ("concurrency", "32", "N", "Questions of one process in flight at once (default: 32)"),
    ("record", None, "PATH", "Where to write the record, JSON Lines (default: in pytest's cache)"),
    (
        "shard",
        None,
        "I/N",
        "Run only the Ith of N parts, split by store and balanced by weight; memfail merge joins them",
    ),
    (
        "baseline",
        None,
        "FILE",
        "Earlier run to compare with: what failed there is expected to fail, and the run fails only for regressions",
    ),
    ("save-baseline", None, "FILE", "Save the verdicts of this run as a baseline; refused for a partial or faulty run"),
    ("summary", "short", "none|short|full", "Summary at the end: none, short, or full with the facts of each task"),
)
SWITCHES: Final = (
    ("resume", "Go on with the run of the record: what it holds is reported from there, the rest and errors are asked"),
)
REUSE: Final = "reuse-stores"
REUSE_HELP: Final = (
    "Keep filled stores, and restore them in later runs instead of filling them (in pytest's cache, or =DIR); for systems "
    "with snapshot() and restore()"
)
LIST_OPTIONS: Final = (
    ("system-option", "KEY=VALUE", "Setting handed to the memory system's factory"),
    ("model-option", "KEY=VALUE", "Parameter of every call of a model (temperature=0)"),
    (
        "fail-on",
        "EXPR",
        "Fail the run, whatever its items do, if this holds: correct<0.80, long_hop.summary_error>0.1, regressions>0, "
        "regressions:p<0.05 (default with a baseline)",
    ),
    ("report", "PATH", "Report of the run: x.html, x.md (in CI appended to the step summary), x.json, x.svg or x.png"),
)


def add_options(parser: pytest.Parser) -> None:
    """Register the group, with an ini twin for each option."""
    group = parser.getgroup("memfail", "where an LLM memory system loses information (pytest-memfail)")
    for name, default, metavar, text in OPTIONS:
        group.addoption(f"--memfail-{name}", default=None, metavar=metavar, help=text)
        parser.addini(f"memfail_{name.replace('-', '_')}", f"Same as --memfail-{name}", default=default)
    for name, text in SWITCHES:
        group.addoption(f"--memfail-{name}", action="store_true", default=None, help=text)
        parser.addini(f"memfail_{name.replace('-', '_')}", f"Same as --memfail-{name}", type="bool", default=False)
    group.addoption(f"--memfail-{REUSE}", nargs="?", const="on", default=None, metavar="DIR", help=REUSE_HELP)
    parser.addini("memfail_reuse_stores", f"Same as --memfail-{REUSE}: on, off, or the folder", default=None)
    for name, metavar, text in LIST_OPTIONS:
        group.addoption(f"--memfail-{name}", action="append", default=None, metavar=metavar, help=f"{text}; repeatable")
        parser.addini(
            f"memfail_{name.replace('-', '_')}", f"Same as --memfail-{name}, one a line", type="linelist", default=[]
        )


def is_active(config: pytest.Config) -> bool:
    """Whether a memory system was named."""
    return bool(raw_value(config, "system"))


def raw_value(config: pytest.Config, name: str) -> Any:
    """What the command line says, else the ini file."""
    key = f"memfail_{name.replace('-', '_')}"
    value = config.getoption(key, None)
    return config.getini(key) if value is None else value
