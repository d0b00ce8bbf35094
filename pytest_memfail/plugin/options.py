"""The command line and its ini twins. Loaded by every pytest run, so nothing more is here."""

from __future__ import annotations

import warnings
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
        "offline",
        "NAME",
        "Judge: offline (no model, no network), a model name, offline+MODEL (the model decides only what the offline judge is "
        "unsure of), an entry point, module:attribute, or a name your conftest.py knows (default: offline)",
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
    (
        "max-wait",
        "600",
        "SECONDS",
        "How long a run waits in all for an endpoint that is down or asks to slow down; then it ends (default: 600)",
    ),
    ("prices", None, "FILE", "Own prices of models, JSON or TOML, USD per million tokens"),
    (
        "assistant-turns",
        None,
        "on|off",
        "Let the model answer each message that is stored (default: on for protocol paper)",
    ),
    ("protocol", "ours", "ours|paper", "Layout and readings: ours, or those of the published harness"),
    (
        "shown-tokens",
        None,
        "N",
        "Tokens of memories shown per question, at most: whole entries, best first, the one that crosses N is cut; beside k",
    ),
    ("limit", None, "N", "Ask at most N questions of each task: a fixed, balanced sample"),
    (
        "haystack",
        None,
        "full|sample",
        "With a limit: store all conversations, or only those that the sampled questions need, which makes retrieval easier "
        "(default: full for a system that declares calls_model = False, else sample)",
    ),
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
    (
        "timeout",
        "300,60",
        "SECONDS",
        "How long a call of the memory system may take: STORE,RETRIEVE or one number for both; 0 for any time (default: "
        "300,60). The second is for retrieve_memories(), the first for all other calls",
    ),
    (
        "record",
        None,
        "PATH",
        "File to write the record to as well, JSON Lines; the last 20 runs are kept in pytest's cache (memfail show)",
    ),
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
    (
        "anchor",
        None,
        "FILE",
        "Golden run that moves only on purpose (memfail anchor), checked beside the baseline: it stops losses that each stay "
        "below what one comparison can show",
    ),
    ("save-baseline", None, "FILE", "Save the verdicts of this run as a baseline; refused for a partial or faulty run"),
    ("summary", "short", "none|short|full", "Summary at the end: none, short, or full with the facts of each task"),
)
SWITCHES: Final = (
    (
        "keep-going",
        "Go on when the first store cannot be opened, or the first ten questions all end with the same error (default: stop "
        "with exit code 6)",
    ),
    (
        "resume",
        "Go on with the newest run of these options that did not end, or with the record of --memfail-record: what it holds "
        "is reported from there, the rest and errors are asked",
    ),
)
REUSE: Final = "reuse-stores"
REUSE_HELP: Final = (
    "Keep filled stores, and restore them in later runs instead of filling them (in pytest's cache, or =DIR); for systems "
    "with snapshot() and restore()"
)
LIST_OPTIONS: Final = (
    ("system-option", "KEY=VALUE", "Setting handed to the memory system's factory"),
    (
        "judge-option",
        "KEY=VALUE",
        "Option of the offline judge: weights=PATH, learned from your own labels (memfail judge-check --train)",
    ),
    ("model-option", "KEY=VALUE", "Parameter of every call of a model (temperature=0)"),
    (
        "fail-on",
        "EXPR",
        "Fail the run, whatever its items do, if this holds: correct<0.80, long_hop.summary_error>0.1, regressions>0, "
        "regressions:p<0.05 (default with a baseline: regressions:p<0.04,*.regressions:p<0.01)",
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
    """Return what the command line says, else the ini file.

    Raises `pytest.UsageError` for a value of the ini file that is of another type than the option.
    """
    value = config.getoption(_key(name), None)
    return ini_value(config, name) if value is None else value


def ini_value(config: pytest.Config, name: str) -> Any:
    """Return what the ini file says: text, for a switch a truth value, for a repeatable option a list of texts.

    Raises `pytest.UsageError` for a value of another type. TOML has others, and each version of pytest does something
    else with them: it hands them on, warns, or raises.
    """
    key = _key(name)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = config.getini(key)
    except (TypeError, ValueError, pytest.UsageError) as error:
        text = " ".join(str(error).split())
        raise pytest.UsageError(text if key in text else f"{key}: {text}") from None
    if name in {option for option, *_ in LIST_OPTIONS}:
        if not all(isinstance(item, str) for item in value):
            raise pytest.UsageError(f"{key}: got {value!r} in the ini file, expected a list of texts")
    elif value is not None and not isinstance(value, (str, bool)):
        joined = {option: metavar == "LIST" for option, _, metavar, _ in OPTIONS}.get(name) and isinstance(value, list)
        hint = f', such as "{",".join(map(str, value))}"' if joined else ""
        raise pytest.UsageError(f"{key}: got {value!r} in the ini file, expected a text{hint}")
    return value


def _key(name: str) -> str:
    return f"memfail_{name.replace('-', '_')}"
