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
DEFAULT_SUITES: Final = "memfail,own"
"""As in `pytest_memfail.suites`, which an unused plugin does not load."""
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

    parse: Callable[[Given], T]
    """Returns the value, or raises `UsageError` through `Given.wrong`; its docstring is the option's help."""
    metavar: str
    """The name of the value in help; empty for a switch."""
    default: str | None = None
    """The default as text."""
    many: bool = False
    """Whether it can be repeated; its ini twin has one per line. Its name is the attribute's in the singular."""
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
        name = attribute.removesuffix("s") if self.many else attribute
        self.attribute, self.key = attribute, f"memfail_{name}"
        self.field = self.field or attribute
        self.flag = OPTION_PREFIX + name.replace("_", "-")
        """The option as it is written on the command line."""
        self.help = " ".join((self.parse.__doc__ or "").split())

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


def option(metavar: str, **how: Any) -> Callable[[Callable[[Given], T]], Option[T]]:
    """Declare an option of `Settings`: the decorated function parses what was given, and its docstring is the help."""
    return lambda parse: Option(parse, metavar, **how)


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

    def number(self, kind: type[Number], least: Number, empty: Empty) -> Number | Empty:
        """Return a finite number of at least this; `empty` is what an empty value means."""
        if self.is_empty:
            return empty
        expected = f"a {'whole ' if kind is int else ''}number of at least {least}"
        try:
            found = kind(self.value)
        except ValueError:
            raise self.wrong(expected) from None
        if not least <= found < math.inf:
            raise self.wrong(expected)
        return found

    def choice(self, *valid: str) -> str:
        """Return the text, which must be one of these."""
        if self.value not in valid:
            raise self.wrong(" or ".join(valid))
        return str(self.value)

    def path(self) -> Path | None:
        """Return the path, relative to the working directory or, in the ini file, to the ini file's folder."""
        return Path(self.base, self.value) if self.typed or self.value else None

    def pairs(self) -> dict[str, str]:
        """Return the values by name. Secrets among them are masked from now on."""
        return read_pairs(self.value, self.option.flag)

    def wrong(self, expected: str, got: object = None) -> UsageError:
        """Return an error that states the value and the expected one."""
        from pytest_memfail.core import UsageError

        return UsageError(f"{self.option.flag}: got {_quoted(self.value if got is None else got)}, expected {expected}")


_ON_OFF: Final = {
    **dict.fromkeys(("on", "yes", "true", "1"), True),
    **dict.fromkeys(("", "off", "no", "false", "0"), False),
}
"""Words that an option with an optional value accepts instead of one."""

# -- the declarations ----------------------------------------------------------------------------------------------------


class Settings:
    """The options of a run, parsed. Each is declared here, in the order that help shows them in."""

    __slots__ = ("values",)

    @option("NAME", identifies="subject")
    def system(given: Given) -> str:
        """Memory system to test: a built-in (bm25, sqlite-hybrid, md-file, memory-tool, full-context,
        no-memory, forgetful, lossy, misdirected), an adapter (mem0, langmem, a-mem, simplemem; each needs the
        extra of its name), an entry point, module:attribute, a YAML file that describes a memory, or a name
        that your conftest.py provides; without it the plugin does nothing
        """
        return str(given.value)

    @option("KEY=VALUE", many=True, identifies="subject", record=lambda options, _: _masked(options))
    def system_options(given: Given) -> dict[str, str]:
        """Setting passed to the memory system's factory"""
        return given.pairs()

    @option(
        "LIST",
        default=DEFAULT_SUITES,
        record=lambda names, _: None if ",".join(names) == DEFAULT_SUITES else list(names),
        rerun=True,
    )
    def suite(given: Given) -> tuple[str, ...]:
        """Benchmarks to run, separated by commas: memfail, own (your cases and tasks), meme, mab, halumem,
        longmemeval, locomo, or an installed suite; NAME:VARIANT chooses one of a suite's files (default: memfail,own)
        """
        return tuple(given.parts)

    @option("SUITE.NAME=VALUE", many=True, identifies="verdicts", record=lambda options, _: options)
    def suite_options(given: Given) -> dict[str, str]:
        """Setting of a suite: mab.chunk=512 cuts its texts into chunks of 512 tokens"""
        return given.pairs()

    @option("TEXT", identifies="subject")
    def system_version(given: Given) -> str | None:
        """Version of what the plugin cannot see of the memory system, such as a server or a prompt file: a run
        of another version is not resumed, and its kept stores are filled again
        """
        return given.value or None

    @option("LIST")
    def tasks(given: Given) -> tuple[str, ...]:
        """Tasks to run, or parts of them (meme.cascade), names or globs separated by commas (default: all)"""
        return tuple(given.parts)

    @option(
        "[SUITE=]DIR",
        many=True,
        is_text_in_ini=True,
        # the folder's name alone: records are shared, and must not reveal paths of the machine
        record=lambda folders, _: ", ".join(folders.written(lambda folder: folder.name)) or None,
        write=lambda folders, recorded: folders.written(lambda folder: folder.name if recorded else str(folder)),
        rerun=True,
    )
    def data(given: Given) -> Folders:
        """Folder with the rows, or with the files of suites, directly or in a subfolder per suite; SUITE=DIR is
        the folder of one suite (default: the shipped rows)
        """
        from pytest_memfail.core import Folders

        return Folders.read(given.value or (), given.base, given.option.flag)

    @option("LIST", identifies="run")
    def k(given: Given) -> tuple[int, ...]:
        """Number of memories to retrieve; with several values (5,10), each question is asked once per value
        over the same store (default: 5, or the number in the paper of the suite)
        """
        from pytest_memfail.core import MAX_K

        numbers: list[int] = []
        if given.is_empty:
            return ()
        for part in given.parts or [""]:
            if not re.fullmatch(r"0*[1-9]\d{0,6}", part) or int(part) > MAX_K:
                raise given.wrong(f"whole numbers from 1 to {MAX_K} separated by commas, such as 5 or 5,10,15")
            numbers.append(int(part))
        return tuple(dict.fromkeys(numbers))

    @option(
        "NAME",
        default="offline",
        identifies="verdicts",
        # the digest of the weights identifies the content of a folder
        record=lambda name, _: recorded_judge(name),
    )
    def judge(given: Given) -> str:
        """Judge: offline (no model, no network), a model name, offline+MODEL (the model decides only what the
        offline judge is unsure of), nli:FOLDER_OR_MODEL (a local classifier of entailment), an entry point,
        module:attribute, or a name that your conftest.py provides (default: offline)
        """
        return str(given.value)

    @option(
        "KEY=VALUE",
        many=True,
        record=lambda options, _: recorded_judge_options(options),
        rerun=True,
    )
    def judge_options(given: Given) -> dict[str, str]:
        """Option of the judge. offline: encoder=on compares meanings by a small encoder too (the extra `encoder`);
        weights=PATH, learned from your own labels (memfail judge-check --train). A model: form=yesno, if it answers
        only Yes or No. nli:MODEL: entailment=LABEL, the label for a supported claim
        """
        return given.pairs()

    @option("NAME", identifies="subject", field="test_taker")
    def model(given: Given) -> str | None:
        """Model that answers the questions from the retrieved memories (OPENAI_API_KEY, OPENAI_BASE_URL)"""
        return given.value or None

    @option(
        "KEY=VALUE",
        many=True,
        identifies="subject",
        record=lambda options, _: written_options(options),
    )
    def model_options(given: Given) -> dict[str, Any]:
        """Parameter of every model call (temperature=0)"""
        return {name: json_or_text(text) for name, text in given.pairs().items()}

    @option("on|off|only", default="on")
    def cache(given: Given) -> str:
        """Keep and reuse replies of models; only: replay kept replies, and fail if one is missing (default: on)"""
        return given.choice("on", "off", "only")

    @option("PATH")
    def cache_path(given: Given) -> Path | None:
        """File of the kept replies (default: in pytest's cache)"""
        return given.path()

    # an address may hold a password
    @option("URL", bare="on", record=lambda url, _: url and "on", rerun=True)
    def proxy(given: Given) -> str | None:
        """Send the memory system's own model calls through a local endpoint in front of the real one
        (OPENAI_BASE_URL, or =URL): they are cached, counted and charged to the budget, like those of the judge
        """
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

    @option("NAME|REGEX", many=True, rerun=True)
    def replay_ignore(given: Given) -> tuple[str, ...]:
        """Ignore this part of the memory's prompts when a kept reply is looked up, because it differs between
        runs: today, uuid, date, time, hash, epoch, or a regular expression (default: today and uuid; none
        removes these)
        """
        if not given.value:
            return ()
        from pytest_memfail.core import UsageError
        from pytest_memfail.llm import check_patterns

        try:
            check_patterns(given.value)
        except UsageError as error:
            raise UsageError(f"--memfail-{error}") from None
        return tuple(given.value)

    @option("USD")
    def max_cost(given: Given) -> float | None:
        """Budget for model calls of all processes; calls stop when it is used up"""
        return given.number(float, 0, None)

    @option("N")
    def max_tokens(given: Given) -> int | None:
        """Token budget of all processes; calls stop when it is used up"""
        return given.number(int, 0, None)

    @option("SECONDS", default="600")
    def max_wait(given: Given) -> float:
        """Total time to wait for an endpoint that is down or asks to slow down, before the run ends (default:
        600)
        """
        return given.number(float, 0, 0.0)

    @option("SECONDS")
    def reply_timeout(given: Given) -> float | None:
        """Time limit for a model's reply; calls that the endpoint answers first do not count (default: 60, and
        longer after it was too short)
        """
        return given.number(float, 0, None)

    @option("FILE")
    def prices(given: Given) -> Path | None:
        """Your own model prices, JSON or TOML, USD per million tokens"""
        return given.path()

    @option(
        "on|off",
        identifies="verdicts",
        rerun=False,
        record=lambda asked, settings: asked and settings.model is not None,
    )
    def assistant_turns(given: Given) -> bool:
        """Let the model answer each message that is stored (default: on for protocol paper)"""
        if given.is_empty:
            return bool(given.read(Settings.protocol).value == "paper")
        return given.choice("on", "off") == "on"

    @option("ours|paper", default="ours", identifies="verdicts")
    def protocol(given: Given) -> str:
        """Layout and criteria: ours, or those of the published harness (default: ours)"""
        return given.choice("ours", "paper")

    @option("N", identifies="verdicts")
    def shown_tokens(given: Given) -> int | None:
        """Show at most N tokens of memories per question, best entries first (full-context: the newest); the
        entry that crosses N is cut. Applies in addition to k
        """
        return given.number(int, 1, None)

    @option("N", identifies="verdicts")
    def limit(given: Given) -> int | None:
        """Ask at most N questions of each task, or of each part of a task: a fixed, balanced sample"""
        return given.number(int, 1, None)

    @option("full|sample", identifies="verdicts", rerun=lambda settings: settings.limit is not None)
    def haystack(given: Given) -> str | None:
        """With a limit: store all conversations, or only those that the sampled questions need, which makes
        retrieval easier (default: full for a system that declares calls_model = False, else sample)
        """
        return given.choice("full", "sample") if given.value else None  # decided when the system is known

    @option("N", default="1", identifies="subject")
    def repeats(given: Given) -> int:
        """Ask each question N times and take the majority verdict; a tie counts as the worse one (default: 1)"""
        return given.number(int, 1, 1)

    @option(
        "all|judge|answers",
        default="all",
        identifies="run",
        rerun=False,
        record=lambda vary, settings: vary if settings.repeats > 1 else None,
    )
    def vary(given: Given) -> str:
        """With repeats: who is asked again, the judge, the answering model or both; the other's first replies
        are reused from the cache (default: all)
        """
        return given.choice("all", "judge", "answers")

    @option("N", default="42", identifies="verdicts")
    def seed(given: Given) -> int:
        """Seed of layout, order and sample (default: 42)"""
        return given.number(int, 0, 0)

    @option("N", default="32")
    def concurrency(given: Given) -> int:
        """Questions in flight per process (default: 32)"""
        return given.number(int, 1, 1)

    @option("SECONDS", default="300,60")
    def timeout(given: Given) -> tuple[float, float]:
        """Time limit for a call of the memory system: STORE,RETRIEVE or one number for both; 0 for no limit
        (default: 300,60). RETRIEVE applies to retrieve_memories(), STORE to all other calls
        """
        try:
            seconds = [float(part) for part in given.parts]
        except ValueError:
            seconds = []
        if not 1 <= len(seconds) <= 2 or not all(0 <= each <= MOST_SECONDS for each in seconds):
            raise given.wrong("seconds for storing and for retrieving, such as 300,60, or one number for both")
        return seconds[0], seconds[-1]

    @option("")
    def keep_going(given: Given) -> bool:
        """Continue when the first store cannot be opened, or when the first ten questions all end with the same
        error (default: stop with exit code 6)
        """
        return bool(given.value)

    @option("PATH")
    def record(given: Given) -> Path | None:
        """Also write the record to this file, JSON Lines; pytest's cache keeps the last 20 runs anyway (memfail
        show --list)
        """
        return given.path()

    @option("")
    def resume(given: Given) -> bool:
        """Resume the newest unfinished run with these options, or the record of --memfail-record: report its
        recorded verdicts, and ask the remaining questions and the errors
        """
        return bool(given.value)

    @option("DIR", bare="on")
    def reuse_stores(given: Given) -> Path | None:
        """Keep filled stores, and restore them in later runs instead of filling them (in pytest's cache, or
        =DIR); for systems with snapshot() and restore()
        """
        value = str(given.value or "")
        if (switch := _ON_OFF.get(value.lower())) is not None:
            return given.cache / "stores" if switch else None
        from pytest_memfail.hosting import is_ours

        folder = given.path()
        # without the = the option takes the next word, which may be the selection of items
        is_selection = "::" in value or (
            value.split("/")[0] == "memfail" and folder is not None and not folder.exists()
        )
        if folder is None or is_selection or (folder.exists() and not (folder.is_dir() and is_ours(folder))):
            flag = given.option.flag
            raise given.wrong(
                f"a folder that is new, empty, or of kept stores; write {flag}=DIR, or {flag}=on before other words",
                value,
            )
        return folder

    # it does not identify a run: shards of one differ in it, and are compared by themselves
    @option("I/N", record=lambda shard, _: shard and "/".join(map(str, shard)))
    def shard(given: Given) -> tuple[int, int] | None:
        """Run only the Ith of N parts, split by store and balanced by weight; memfail merge joins them"""
        if given.is_empty:
            return None
        match = re.fullmatch(r"([1-9]\d{0,3})/([1-9]\d{0,3})", given.value)
        if match is None or int(match[1]) > int(match[2]):
            raise given.wrong("I/N with I from 1 to N, such as 2/8")
        return int(match[1]), int(match[2])

    @option("FILE")
    def baseline(given: Given) -> Path | None:
        """Earlier run to compare with: questions that failed there are expected to fail, and the run fails only
        for regressions
        """
        return given.path()

    @option("FILE")
    def anchor(given: Given) -> Path | None:
        """Golden run that you replace only on purpose (memfail anchor), compared in addition to the baseline:
        it stops losses that are too small to detect one by one but add up
        """
        return given.path()

    @option("FILE")
    def save_baseline(given: Given) -> Path | None:
        """Save the verdicts of this run as a baseline; refused for a partial or faulty run"""
        return given.path()

    @option("FILE")
    def reference(given: Given) -> str | None:
        """Record to compare the run with question by question, to tell what the system loses from what any verbatim
        store loses; none: no comparison (default: the built-in system bm25 over the same rows, shipped or made at the end)
        """
        return None if given.is_empty else "none" if given.value == "none" else str(given.path())

    @option("EXPR", many=True)
    def fail_on(given: Given) -> tuple[str, ...]:
        """Fail the run if this expression is true, whatever single items do: correct<0.80,
        long_hop.summary_error>0.1, regressions>0, regressions:p<0.05 (default with a baseline:
        regressions:p<0.04,*.regressions:p<0.01)
        """
        return tuple(given.value)

    @option("PATH", many=True)
    def reports(given: Given) -> tuple[Path, ...]:
        """Report of the run: x.html, x.md (in CI appended to the step summary), x.json, x.svg or x.png"""
        return tuple(dict.fromkeys(Path(given.base, path) for path in given.value))

    @option("none|short|full", default="short")
    def summary(given: Given) -> str:
        """Summary at the end: none, short, or full with the facts of each task (default: short)"""
        return given.choice("none", "short", "full")

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
        others = (option.attribute for option in OPTIONS if not option.metavar.endswith(("PATH", "FILE", "DIR")))
        return {attribute: self.values[attribute] for attribute in others}

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


def recorded_judge_options(options: Mapping[str, str]) -> dict[str, str]:
    """Return the options of a judge as the record has them: of files the names alone, as of the data.

    Their content identifies the run by the digest of the weights.
    """
    return {name: Path(value).name for name, value in options.items()}


def recorded_judge(name: str) -> str:
    """Return the name of a judge without the path of a folder on this machine."""
    return f"nli:{Path(name).name}" if name.startswith(("nli:/", "nli:~")) else name


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


def written_options(options: Mapping[str, Any]) -> dict[str, str]:
    """Return the parameters of model calls as on the command line, without secrets."""
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in _masked(options).items()}


def _masked(options: Mapping[str, Any]) -> dict[str, Any]:
    from pytest_memfail.safety import mask_options

    return mask_options(options)
