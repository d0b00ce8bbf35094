"""The options of a run, each declared once in `Settings` with everything that follows from it, and their parsers.

Every run of pytest with the plugin installed imports this file, so it loads nothing that an unused plugin does not need.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeVar, overload

if TYPE_CHECKING:
    from pytest_memfail.core import Folders, UsageError

T = TypeVar("T")
Empty = TypeVar("Empty")
Number = TypeVar("Number", int, float)

OPTION_PREFIX: Final = "--memfail-"
MOST_SECONDS: Final = 1e6
"""The largest time limit; clocks overflow beyond some years."""
MOST_SHOWN: Final = 100
"""The number of characters of a wrong value that a message shows."""

Identity = Literal["verdicts", "subject", "run"]
"""How an option identifies a run.

`verdicts`: it decides which questions are asked or what a verdict means; runs that differ in it are not compared. `subject`: runs are
compared to see its effect, such as the system; a difference is shown. `run`: neither, but a run resumes only with the same value.
"""

# -- what a declaration holds --------------------------------------------------------------------------------------------


@dataclass(eq=False, repr=False)
class Option(Generic[T]):
    """An option of the command line with its ini twin; as an attribute of `Settings`, its parsed value."""

    metavar: str
    """The name of the value in help; empty for a switch."""
    help: str
    parse: Callable[[Given], T]
    """Returns the value, or raises `UsageError` through `Given.wrong`."""
    default: str | None = None
    """The default as text."""
    name: str = ""
    """The name after `--memfail-`; derived from the attribute's name by default."""
    many: bool = False
    """Whether it can be repeated; its ini twin has one per line."""
    is_text_in_ini: bool = False
    """Whether the ini twin is a text instead of a list, because the option was not repeatable at first."""
    bare: str | None = None
    """The value of the option if none is given; None if it needs one."""
    identifies: Identity | None = None
    """How it identifies a run; such an option has a field in the header of records."""
    field: str = ""
    """The name of that field; the attribute's name by default."""
    record: Callable[[T, Settings], Any] | None = None
    """Returns the content of that field for a value, without secrets and paths; by default the value itself.

    Without `identifies`, it makes a field that does not identify the run.
    """
    write: Callable[[T, bool], list[str]] | None = None
    """Returns how a value is given, each time it is; with True without secrets and paths. By default as it is recorded."""
    rerun: bool | Callable[[Settings], bool] | None = None
    """Whether the rerun command of a question names it, unless it has its default; by default if it identifies a run."""

    def __set_name__(self, owner: type, attribute: str) -> None:
        self.attribute = attribute
        self.name = self.name or attribute.replace("_", "-")
        self.field = self.field or attribute
        self.flag = OPTION_PREFIX + self.name
        """The option as it is written on the command line."""
        self.key = f"memfail_{self.name.replace('-', '_')}"

    @overload
    def __get__(self, settings: None, owner: type) -> Option[T]: ...
    @overload
    def __get__(self, settings: Settings, owner: type) -> T: ...
    def __get__(self, settings: Settings | None, owner: type) -> Option[T] | T:
        if settings is None:
            return self
        value: T = settings.values[self.attribute]
        return value

    def words(self, value: Any) -> list[str]:
        """Return the option as words of a command line, without secrets; empty for the default."""
        if isinstance(value, Mapping):
            return [f"{self.flag}={name}={text}" for name, text in written_options(value).items()]
        text = ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
        return [] if value in (None, ()) or text == self.default else [f"{self.flag}={text}"]


@dataclass(eq=False, repr=False)
class Given:
    """The value that the user gave for an option."""

    option: Option[Any]
    value: Any
    typed: bool
    """Whether the value is from the command line; otherwise it is from the ini file or the default."""
    base: Path
    """The folder that relative paths refer to."""
    cache: Path
    """The folder of data that is kept between runs."""
    read: Callable[[Option[Any]], Given]
    """Returns what the user gave for another option."""

    @property
    def is_empty(self) -> bool:
        """Whether no value was given, or an empty text, which overrides the ini file."""
        return self.value in (None, "")

    @property
    def parts(self) -> list[str]:
        """The parts between commas."""
        return [part.strip() for part in str(self.value or "").split(",") if part.strip()]

    def wrong(self, expected: str, got: object = None) -> UsageError:
        """Return an error that states the value and the expected one."""
        from pytest_memfail.core import UsageError

        return UsageError(f"{self.option.flag}: got {_quoted(self.value if got is None else got)}, expected {expected}")


_ON_OFF: Final = {
    **dict.fromkeys(("on", "yes", "true", "1"), True),
    **dict.fromkeys(("", "off", "no", "false", "0"), False),
}
"""Words that an option with an optional value accepts instead of one."""

# -- parsers -------------------------------------------------------------------------------------------------------------


def a_text(given: Given) -> str:
    """Return the text."""
    return str(given.value)


def a_name(given: Given) -> str | None:
    """Return the text; None for an empty one."""
    return given.value or None


def texts(given: Given) -> tuple[str, ...]:
    """Return the texts of a repeatable option."""
    return tuple(given.value)


def a_list(given: Given) -> tuple[str, ...]:
    """Return the parts between commas."""
    return tuple(given.parts)


def a_switch(given: Given) -> bool:
    """Return whether the switch is on."""
    return bool(given.value)


def number(kind: type[Number], least: Number, empty: Empty) -> Callable[[Given], Number | Empty]:
    """Return a parser of finite numbers of at least this; `empty` is what an empty value means."""
    expected = f"a {'whole ' if kind is int else ''}number of at least {least}"

    def parse(given: Given) -> Number | Empty:
        if given.is_empty:
            return empty
        try:
            found = kind(given.value)
        except ValueError:
            raise given.wrong(expected) from None
        if not least <= found < math.inf:
            raise given.wrong(expected)
        return found

    return parse


def choice(*valid: str) -> Callable[[Given], str]:
    """Return a parser that accepts only these texts."""

    def parse(given: Given) -> str:
        if given.value not in valid:
            raise given.wrong(" or ".join(valid))
        return str(given.value)

    return parse


def a_path(given: Given) -> Path | None:
    """Return the path, relative to the working directory or, in the ini file, to the ini file's folder."""
    return Path(given.base, given.value) if given.typed or given.value else None


def paths(given: Given) -> tuple[Path, ...]:
    """Return the paths of a repeatable option, each once."""
    return tuple(dict.fromkeys(Path(given.base, path) for path in given.value))


def pairs(given: Given) -> dict[str, str]:
    """Return the values by name. Secrets among them are masked from now on."""
    return read_pairs(given.value, given.option.flag)


def json_pairs(given: Given) -> dict[str, Any]:
    """Return the values by name: a number, a truth value or a list if the text is one in JSON, otherwise the text."""
    return {name: json_or_text(text) for name, text in pairs(given).items()}


def read_pairs(texts: Iterable[str], flag: str) -> dict[str, str]:
    """Return the values by name of a repeatable option KEY=VALUE. Secrets among them are masked from now on.

    Raises `UsageError` for a text without a name or a value.
    """
    from pytest_memfail.core import UsageError
    from pytest_memfail.safety import learn_options

    found = {}
    for pair in texts:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"{flag}: got {_quoted(pair)}, expected KEY=VALUE")
        found[name.strip()] = value
    learn_options(found)  # before anything can quote them
    return found


def json_or_text(text: str) -> Any:
    """Return the value of a text that is JSON, otherwise the text; numbers that JSON lacks (NaN) are texts."""
    try:
        return json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return text


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _quoted(value: object) -> str:
    """Return a wrong value for a message, without secrets, and cut."""
    from pytest_memfail.safety import mask_text

    text = mask_text(repr(value))
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"


def _ks(given: Given) -> tuple[int, ...]:
    from pytest_memfail.core import MAX_K

    numbers: list[int] = []
    if given.is_empty:
        return ()
    for part in given.parts or [""]:
        if not re.fullmatch(r"0*[1-9]\d{0,6}", part) or int(part) > MAX_K:
            raise given.wrong(f"whole numbers from 1 to {MAX_K} separated by commas, such as 5 or 5,10,15")
        numbers.append(int(part))
    return tuple(dict.fromkeys(numbers))


def _timeout(given: Given) -> tuple[float, float]:
    try:
        seconds = [float(part) for part in given.parts]
    except ValueError:
        seconds = []
    if not 1 <= len(seconds) <= 2 or not all(0 <= each <= MOST_SECONDS for each in seconds):
        raise given.wrong("seconds for storing and for retrieving, such as 300,60, or one number for both")
    return seconds[0], seconds[-1]


def _shard(given: Given) -> tuple[int, int] | None:
    if given.is_empty:
        return None
    match = re.fullmatch(r"([1-9]\d{0,3})/([1-9]\d{0,3})", given.value)
    if match is None or int(match[1]) > int(match[2]):
        raise given.wrong("I/N with I from 1 to N, such as 2/8")
    return int(match[1]), int(match[2])


def _haystack(given: Given) -> str | None:
    return choice("full", "sample")(given) if given.value else None


def _assistant_turns(given: Given) -> bool:
    if given.is_empty:
        return bool(given.read(Settings.protocol).value == "paper")
    return choice("on", "off")(given) == "on"


def _folders(given: Given) -> Folders:
    from pytest_memfail.core import Folders

    return Folders.read(given.value or (), given.base, given.option.flag)


def _proxied(given: Given) -> str | None:
    value = str(given.value or "")
    if (switch := _ON_OFF.get(value.lower())) is not None:
        return "on" if switch else None
    from pytest_memfail.core import UsageError
    from pytest_memfail.llm import check_address

    if not value.startswith(("http://", "https://")):  # without the = the option would take the next word
        flag = given.option.flag
        raise given.wrong(f"on, off or the URL of an endpoint; write {flag}=URL, or {flag}=on before other words")
    try:
        check_address(value)
    except UsageError as error:
        raise UsageError(f"{given.option.flag}: {error}") from None
    return value


def _replay_ignore(given: Given) -> tuple[str, ...]:
    if not given.value:
        return ()
    from pytest_memfail.core import UsageError
    from pytest_memfail.llm import check_patterns

    try:
        check_patterns(given.value)
    except UsageError as error:
        raise UsageError(f"--memfail-{error}") from None
    return tuple(given.value)


def _reuse_folder(given: Given) -> Path | None:
    value = str(given.value or "")
    if (switch := _ON_OFF.get(value.lower())) is not None:
        return given.cache / "stores" if switch else None
    from pytest_memfail.hosting import is_ours

    folder = a_path(given)
    # without the = the option takes the next word, which may be the selection of items
    is_selection = "::" in value or (value.split("/")[0] == "memfail" and folder is not None and not folder.exists())
    if folder is None or is_selection or (folder.exists() and not (folder.is_dir() and is_ours(folder))):
        flag = given.option.flag
        raise given.wrong(
            f"a folder that is new, empty, or of kept stores; write {flag}=DIR, or {flag}=on before other words", value
        )
    return folder


PATH_PARSERS: Final = (a_path, paths, _folders, _reuse_folder)

# -- the declarations ----------------------------------------------------------------------------------------------------


class Settings:
    """The options of a run, parsed. Each is declared here, in the order that help shows them in."""

    __slots__ = ("values",)

    system = Option(
        "NAME",
        "Memory system to test: a built-in (bm25, sqlite-hybrid, md-file, memory-tool, full-context, no-memory, forgetful, lossy, "
        "misdirected), an adapter (mem0, langmem, a-mem, simplemem; each needs the extra of its name), an entry point, "
        "module:attribute, a YAML file that describes a memory, or a name that your conftest.py provides; without it the plugin "
        "does nothing",
        a_text,
        identifies="subject",
    )
    system_options = Option(
        "KEY=VALUE",
        "Setting passed to the memory system's factory",
        pairs,
        name="system-option",
        many=True,
        identifies="subject",
        record=lambda options, _: _masked(options),
    )
    suite = Option(
        "LIST",
        "Benchmarks to run, separated by commas: memfail, own (your cases and tasks), meme, mab, halumem, or an installed suite; "
        "NAME:VARIANT chooses one of a suite's files (default: memfail,own)",
        a_list,
        default="memfail,own",
        record=lambda names, _: None if names == ("memfail", "own") else list(names),
        rerun=True,
    )
    suite_options = Option(
        "SUITE.NAME=VALUE",
        "Setting of a suite: mab.chunk=512 cuts its texts into chunks of 512 tokens",
        pairs,
        name="suite-option",
        many=True,
        identifies="verdicts",
        record=lambda options, _: options,
    )
    system_version = Option(
        "TEXT",
        "Version of what the plugin cannot see of the memory system, such as a server or a prompt file: a run of another version is "
        "not resumed, and its kept stores are filled again",
        a_name,
        identifies="subject",
    )
    tasks = Option(
        "LIST",
        "Tasks to run, or parts of them (meme.cascade), names or globs separated by commas (default: all)",
        a_list,
    )
    data = Option(
        "[SUITE=]DIR",
        "Folder with the rows, or with the files of suites, directly or in a subfolder per suite; SUITE=DIR is the folder of one "
        "suite (default: the shipped rows)",
        _folders,
        many=True,
        is_text_in_ini=True,
        # the folder's name alone: records are shared, and must not reveal paths of the machine
        record=lambda folders, _: ", ".join(folders.written(lambda folder: folder.name)) or None,
        write=lambda folders, recorded: folders.written(lambda folder: folder.name if recorded else str(folder)),
        rerun=True,
    )
    k = Option(
        "LIST",
        "Number of memories to retrieve; with several values (5,10), each question is asked once per value over the same store "
        "(default: 5, or the number in the paper of the suite)",
        _ks,
        identifies="run",
    )
    judge = Option(
        "NAME",
        "Judge: offline (no model, no network), a model name, offline+MODEL (the model decides only what the offline judge is "
        "unsure of), an entry point, module:attribute, or a name that your conftest.py provides (default: offline)",
        a_text,
        default="offline",
        identifies="verdicts",
    )
    judge_options = Option(
        "KEY=VALUE",
        "Option of the offline judge: weights=PATH, learned from your own labels (memfail judge-check --train)",
        pairs,
        name="judge-option",
        many=True,
        # file names alone, as for the data; their content identifies the run by the digest of the weights
        record=lambda options, _: {name: Path(value).name for name, value in options.items()},
        rerun=True,
    )
    model = Option(
        "NAME",
        "Model that answers the questions from the retrieved memories (OPENAI_API_KEY, OPENAI_BASE_URL)",
        a_name,
        identifies="subject",
        field="test_taker",
    )
    model_options = Option(
        "KEY=VALUE",
        "Parameter of every model call (temperature=0)",
        json_pairs,
        name="model-option",
        many=True,
        identifies="subject",
        record=lambda options, _: written_options(options),
    )
    cache = Option(
        "on|off|only",
        "Keep and reuse replies of models; only: replay kept replies, and fail if one is missing (default: on)",
        choice("on", "off", "only"),
        default="on",
    )
    cache_path = Option("PATH", "File of the kept replies (default: in pytest's cache)", a_path)
    proxy = Option(
        "URL",
        "Send the memory system's own model calls through a local endpoint in front of the real one (OPENAI_BASE_URL, or =URL): "
        "they are cached, counted and charged to the budget, like those of the judge",
        _proxied,
        bare="on",
        record=lambda url, _: url and "on",  # an address may hold a password
        rerun=True,
    )
    replay_ignore = Option(
        "NAME|REGEX",
        "Ignore this part of the memory's prompts when a kept reply is looked up, because it differs between runs: today, uuid, date, "
        "time, hash, epoch, or a regular expression (default: today and uuid; none removes these)",
        _replay_ignore,
        many=True,
        rerun=True,
    )
    max_cost = Option(
        "USD", "Budget for model calls of all processes; calls stop when it is used up", number(float, 0, None)
    )
    max_tokens = Option("N", "Token budget of all processes; calls stop when it is used up", number(int, 0, None))
    max_wait = Option(
        "SECONDS",
        "Total time to wait for an endpoint that is down or asks to slow down, before the run ends (default: 600)",
        number(float, 0, 0.0),
        default="600",
    )
    reply_timeout = Option(
        "SECONDS",
        "Time limit for a model's reply; calls that the endpoint answers first do not count (default: 60, and longer after it was "
        "too short)",
        number(float, 0, None),
    )
    prices = Option("FILE", "Your own model prices, JSON or TOML, USD per million tokens", a_path)
    assistant_turns = Option(
        "on|off",
        "Let the model answer each message that is stored (default: on for protocol paper)",
        _assistant_turns,
        identifies="verdicts",
        rerun=False,
        record=lambda asked, settings: asked and settings.model is not None,
    )
    protocol = Option(
        "ours|paper",
        "Layout and criteria: ours, or those of the published harness (default: ours)",
        choice("ours", "paper"),
        default="ours",
        identifies="verdicts",
    )
    shown_tokens = Option(
        "N",
        "Show at most N tokens of memories per question, best entries first (full-context: the newest); the entry that crosses N is "
        "cut. Applies in addition to k",
        number(int, 1, None),
        identifies="verdicts",
    )
    limit = Option(
        "N",
        "Ask at most N questions of each task, or of each part of a task: a fixed, balanced sample",
        number(int, 1, None),
        identifies="verdicts",
    )
    haystack = Option(
        "full|sample",
        "With a limit: store all conversations, or only those that the sampled questions need, which makes retrieval easier "
        "(default: full for a system that declares calls_model = False, else sample)",
        _haystack,  # None until the system is known
        identifies="verdicts",
        rerun=lambda settings: settings.limit is not None,
    )
    repeats = Option(
        "N",
        "Ask each question N times and take the majority verdict; a tie counts as the worse one (default: 1)",
        number(int, 1, 1),
        default="1",
        identifies="subject",
    )
    vary = Option(
        "all|judge|answers",
        "With repeats: who is asked again, the judge, the answering model or both; the other's first replies are reused from "
        "the cache (default: all)",
        choice("all", "judge", "answers"),
        default="all",
        identifies="run",
        rerun=False,
        record=lambda vary, settings: vary if settings.repeats > 1 else None,
    )
    seed = Option(
        "N", "Seed of layout, order and sample (default: 42)", number(int, 0, 0), default="42", identifies="verdicts"
    )
    concurrency = Option("N", "Questions in flight per process (default: 32)", number(int, 1, 1), default="32")
    timeout = Option(
        "SECONDS",
        "Time limit for a call of the memory system: STORE,RETRIEVE or one number for both; 0 for no limit (default: "
        "300,60). RETRIEVE applies to retrieve_memories(), STORE to all other calls",
        _timeout,
        default="300,60",
    )
    keep_going = Option(
        "",
        "Continue when the first store cannot be opened, or when the first ten questions all end with the same error (default: "
        "stop with exit code 6)",
        a_switch,
    )
    record = Option(
        "PATH",
        "Also write the record to this file, JSON Lines; pytest's cache keeps the last 20 runs anyway (memfail show --list)",
        a_path,
    )
    resume = Option(
        "",
        "Resume the newest unfinished run with these options, or the record of --memfail-record: report its recorded verdicts, "
        "and ask the remaining questions and the errors",
        a_switch,
    )
    reuse_stores = Option(
        "DIR",
        "Keep filled stores, and restore them in later runs instead of filling them (in pytest's cache, or =DIR); for systems "
        "with snapshot() and restore()",
        _reuse_folder,
        bare="on",
    )
    shard = Option(
        "I/N",
        "Run only the Ith of N parts, split by store and balanced by weight; memfail merge joins them",
        _shard,
        # compared by itself: shards of one run differ in it
        record=lambda shard, _: shard and "/".join(map(str, shard)),
    )
    baseline = Option(
        "FILE",
        "Earlier run to compare with: questions that failed there are expected to fail, and the run fails only for regressions",
        a_path,
    )
    anchor = Option(
        "FILE",
        "Golden run that you replace only on purpose (memfail anchor), compared in addition to the baseline: it stops losses "
        "that are too small to detect one by one but add up",
        a_path,
    )
    save_baseline = Option(
        "FILE", "Save the verdicts of this run as a baseline; refused for a partial or faulty run", a_path
    )
    fail_on = Option(
        "EXPR",
        "Fail the run if this expression is true, whatever single items do: correct<0.80, long_hop.summary_error>0.1, regressions>0, "
        "regressions:p<0.05 (default with a baseline: regressions:p<0.04,*.regressions:p<0.01)",
        texts,
        many=True,
    )
    reports = Option(
        "PATH",
        "Report of the run: x.html, x.md (in CI appended to the step summary), x.json, x.svg or x.png",
        paths,
        name="report",
        many=True,
    )
    summary = Option(
        "none|short|full",
        "Summary at the end: none, short, or full with the facts of each task (default: short)",
        choice("none", "short", "full"),
        default="short",
    )

    def __init__(self, values: Mapping[str, Any]) -> None:
        """`values` are the parsed values by attribute."""
        self.values: Final = dict(values)

    def changed(self, **values: Any) -> Settings:
        """Return the same settings with other values, by attribute."""
        return Settings({**self.values, **values})

    def shared(self) -> dict[str, Any]:
        """Return the values to pass to xdist workers, by attribute: all but paths.

        A worker on another machine has the command line, but not `PYTEST_ADDOPTS`.
        """
        return {o.attribute: self.values[o.attribute] for o in OPTIONS if o.parse not in PATH_PARSERS}

    def recorded(self) -> dict[str, Any]:
        """Return the fields that options have in the header of a record, without secrets and paths."""
        return {option.field: self._recorded(option) for option in OPTIONS if option.identifies or option.record}

    def _recorded(self, option: Option[Any]) -> Any:
        value = self.values[option.attribute]
        return value if option.record is None else option.record(value, self)

    def command_line(self, *, recorded: bool = False) -> list[str]:
        """Return the options that a verdict depends on, as words of a command line; for a record, without paths."""
        words = []
        for option in OPTIONS:
            is_named = option.identifies is not None if option.rerun is None else option.rerun
            if is_named(self) if callable(is_named) else is_named:
                value = self.values[option.attribute]
                if option.write is not None:
                    words += [f"{option.flag}={text}" for text in option.write(value, recorded)]
                    continue
                words += option.words(self._recorded(option) if recorded else value)
        return words


OPTIONS: Final[tuple[Option[Any], ...]] = tuple(found for found in vars(Settings).values() if isinstance(found, Option))
IDENTITY: Final[Mapping[str, Identity]] = {option.field: option.identifies for option in OPTIONS if option.identifies}
"""How each field of the header identifies a run."""
SYSTEM: Final = Settings.system.flag


def written_options(options: Mapping[str, Any]) -> dict[str, str]:
    """Return the parameters of model calls as on the command line, without secrets."""
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in _masked(options).items()}


def _masked(options: Mapping[str, Any]) -> dict[str, Any]:
    from pytest_memfail.safety import mask_options

    return mask_options(options)
