"""Plant bugs into memory systems, run the shipped rows, and grade whether the run names each bug.

python tools/planted_bugs.py                                  # every bug, and every healthy system
python tools/planted_bugs.py --only digits,year-only          # some of them
python tools/planted_bugs.py --json after.json                # keep what was said and how it is graded
python tools/planted_bugs.py --table before.json after.json   # the table of docs/clues.md

A bug logs the conversations and queries that it damages, so the harness knows the affected questions: those that touch a
damaged conversation or query, failed, and had another verdict in the run of the healthy system. The open half of the bugs is
here, the held-out half in `planted_bugs_held_out.py`; `--bugs FILE` loads more from a module with a tuple `BUGS`; `--python PATH`
runs the plugin of another environment.
"""

from __future__ import annotations

import argparse
import html
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, Final

from pytest_memfail.core import CORRECT, NOT_RETRIEVED, NOT_STORED, SUMMARY_ERROR, Conversation, SystemContext, Task
from pytest_memfail.suites import TaskRequest, choose_suites, load_tasks
from pytest_memfail.systems import built_in_system
from pytest_memfail.systems.base import entries_of
from pytest_memfail.systems.dense import FACTORY as DENSE, Dense
from pytest_memfail.systems.md_file import FACTORY as MD_FILE, MdFile
from pytest_memfail.systems.word_index import LazyIndex
from pytest_memfail.testing import LocalEndpoint, reply_by_rule
from pytest_memfail.testing.embeddings import of_words
from pytest_memfail.texts import after_stops

BUG, BUGS_FILE, LOG = "PLANTED_BUG", "PLANTED_BUGS", "PLANTED_LOG"
"""Environment variables of a run: the bug, the file that it comes from, and where it logs what it damages."""
CAUSE, STAGE, NOTHING, WRONG = "cause", "stage", "nothing", "wrong"
Key = tuple[str, str, str]
"""A task, a store and a question."""
GRADES: Final = (CAUSE, STAGE, NOTHING, WRONG)
"""Best first: the cause is named; the stage and only affected rows are; nothing is that is not said of the healthy system too;
a wrong stage or cause is, or rows that the bug did not touch."""
ONLY: Final = 0.8
"""The least share of the rows named that the bug must have touched."""
PLACES: Final = {
    NOT_STORED: r"in storage|not_stored|not stored",
    SUMMARY_ERROR: r"in summar|summary[_ ]error",
    NOT_RETRIEVED: r"in retrieval|not_retrieved|not retrieved",
}
"""How a line names a stage."""
CONFTEST: Final = """\
import planted_bugs
import pytest

@pytest.hookimpl(optionalhook=True)
def pytest_memfail_make_system(config, name):
    return planted_bugs.factory_of_run() if name == "mymem" else None
"""


def log(kind: str, damaged: str) -> None:
    """Write down a damaged `conversation` (its id) or `query`."""
    if path := os.environ.get(LOG):
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(json.dumps([kind, damaged]) + "\n")


class Notes:
    """A small verbatim memory of one's own: a list of messages, ranked by BM25."""

    concurrent_reads = 1

    def __init__(self, context: SystemContext) -> None:
        self.entries: list[Any] = []
        self.index = LazyIndex(lambda: self.searched())

    def searched(self) -> list[Any]:
        """Return what retrieval searches."""
        return self.entries

    def store_conversation(self, conversation: Conversation) -> None:
        """Keep every message."""
        self.entries += entries_of(conversation)
        self.index.drop()

    def retrieve_memories(self, query: str, conversation: Conversation, k: int) -> list[dict[str, Any]]:
        """Return the k messages that match the query best."""
        return self.index.best(query, k)

    def get_all_memories(self) -> list[dict[str, Any]]:
        """Return every message."""
        return [entry.plain() for entry in self.entries]

    def close(self) -> None:
        """Close the index."""
        self.index.drop()


class Planted:
    """Forward every call to a healthy system. A bug overrides `kept` or `found`; what differs is logged."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        """Forward everything else."""
        if name == "inner":
            raise AttributeError(name)
        return getattr(self.inner, name)

    def kept(self, conversation: Conversation) -> Conversation | None:
        """Return what is stored of a conversation; None drops it."""
        return conversation

    def found(self, query: str, conversation: Conversation, k: int) -> list[Any]:
        """Return what retrieval finds."""
        return list(self.inner.retrieve_memories(query, conversation, k))

    def store_conversation(self, conversation: Conversation) -> Any:
        """Store what is kept of the conversation."""
        kept = self.kept(conversation)
        if kept != conversation:
            log("conversation", conversation.id)
        return None if kept is None else self.inner.store_conversation(kept)

    def retrieve_memories(self, query: str, conversation: Conversation, k: int) -> list[Any]:
        """Return what is found."""
        shown = self.found(query, conversation, k)
        if shown != list(self.inner.retrieve_memories(query, conversation, k)):
            log("query", query)
        return shown

    def get_all_memories(self) -> Any:
        """List what the healthy system lists."""
        return self.inner.get_all_memories()


def rewriting(change: Callable[[str], str]) -> type[Planted]:
    """Return a bug that changes the text of every message before it is stored."""

    class Rewriting(Planted):
        def kept(self, conversation: Conversation) -> Conversation | None:
            return replace(
                conversation, messages=tuple(replace(m, content=change(m.content)) for m in conversation.messages)
            )

    return Rewriting


def dropping(is_dropped: Callable[[Conversation], bool]) -> type[Planted]:
    """Return a bug that does not store some conversations."""

    class Dropping(Planted):
        def kept(self, conversation: Conversation) -> Conversation | None:
            return None if is_dropped(conversation) else conversation

    return Dropping


@dataclass(frozen=True)
class Bug:
    """A bug, where it is planted, and what a run must say about it."""

    name: str
    says: str
    """What it does, in plain words."""
    system: str
    """The healthy system, one of `SYSTEMS`."""
    make: Callable[[Any], Any]
    """Returns the damaged system: from the healthy one, or for a model's system from its context and settings."""
    named: tuple[str, ...]
    """The words that name the cause: all words of one of these, each as the start of a word."""
    stages: tuple[str, ...] = ()
    """The stages that may be blamed."""
    suite: str = "memfail"
    seen: bool = True
    """Whether the clues were built with its help; the others were looked at once, at the end."""


@dataclass(frozen=True)
class System:
    """A healthy system: how it is made, and its settings on the command line."""

    make: Callable[[SystemContext], Any]
    options: tuple[str, ...] = ()
    factory: Any = None
    """The factory of a system that asks a model; a local endpoint answers it."""


def _built_in(name: str) -> Callable[[SystemContext], Any]:
    return built_in_system(name, lambda inner: _built_in(inner))


SYSTEMS: Final = {
    "own": System(Notes),
    "bm25": System(_built_in("bm25")),
    "bm25-sessions": System(_built_in("bm25"), ("unit=session",)),
    "sqlite-hybrid": System(_built_in("sqlite-hybrid")),
    "full-context": System(_built_in("full-context")),
    "dense": System(DENSE, factory=DENSE),
    "md-file": System(MD_FILE, ("model=by-rule",), factory=MD_FILE),
}


class EveryTenth(Planted):
    """Lose every tenth conversation of a store."""

    told = 0

    def kept(self, conversation: Conversation) -> Conversation | None:
        """Drop it if it is the tenth."""
        self.told += 1
        return None if self.told % 10 == 0 else conversation


class NewestUnsearched(Planted):
    """Search only the oldest 80 %."""

    def __init__(self, inner: Notes) -> None:
        super().__init__(inner)
        inner.searched = self._searched  # type: ignore[method-assign]

    def _searched(self) -> list[Any]:
        entries = self.inner.entries
        for entry in entries[len(entries) * 4 // 5 :]:
            log("conversation", entry.id.rpartition("-")[0])
        return list(entries[: len(entries) * 4 // 5])


class YearOnly(Planted):
    """Keep only the year of each time."""

    def kept(self, conversation: Conversation) -> Conversation | None:
        """Cut the times."""

        def cut(when: Any) -> Any:
            return when and when.replace(month=1, day=1, hour=0, minute=0, second=0)

        messages = tuple(replace(m, timestamp=cut(m.timestamp)) for m in conversation.messages)
        return replace(conversation, messages=messages, timestamp=cut(conversation.timestamp))


class Overwriting(Planted):
    """Let an entry replace an earlier one that starts with the same words."""

    def store_conversation(self, conversation: Conversation) -> Any:
        """Store it, and forget what it seems to update."""
        starts = {self._subject(m.content) for m in conversation.messages}
        for entry in self.inner.entries:
            if self._subject(entry.text) in starts:
                log("conversation", entry.id.rpartition("-")[0])
        self.inner.entries[:] = [e for e in self.inner.entries if self._subject(e.text) not in starts]
        return super().store_conversation(conversation)

    @staticmethod
    def _subject(text: str) -> str:
        return " ".join(text.split()[:2])


class SameBeginning(Planted):
    """Take an entry for a duplicate if it starts with the same 8 characters."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self._seen: set[str] = set()

    def kept(self, conversation: Conversation) -> Conversation | None:
        """Leave the duplicates out."""
        new = tuple(m for m in conversation.messages if m.content[:8] not in self._seen)
        self._seen.update(m.content[:8] for m in conversation.messages)
        return replace(conversation, messages=new)


class NamesIgnored(Planted):
    """Search without the words that are capitalised within the question."""

    def found(self, query: str, conversation: Conversation, k: int) -> list[Any]:
        """Search for the rest."""
        plain = re.sub(r"(?<=[\w,] )[A-Z][\w'’-]+", "", query)
        return list(self.inner.retrieve_memories(plain, conversation, k))


class QueryCache(Planted):
    """Answer from a cache whose key is the first 12 characters of the query."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self._cache: dict[str, list[Any]] = {}

    def found(self, query: str, conversation: Conversation, k: int) -> list[Any]:
        """Search once for each key."""
        key = query[:12]
        if key not in self._cache:
            self._cache[key] = super().found(query, conversation, k)
        return self._cache[key]


class WorstFirst(Planted):
    """Sort the 50 best the wrong way round."""

    def found(self, query: str, conversation: Conversation, k: int) -> list[Any]:
        """Return the k worst of them."""
        return super().found(query, conversation, 50)[::-1][:k]


class FirstWords(Dense):
    """Embed only the first eight words of an entry."""

    async def store_conversation(self, conversation: Conversation) -> None:
        """Store the messages."""
        if any(len(m.content.split()) > 8 for m in conversation.messages):
            log("conversation", conversation.id)
        await super().store_conversation(conversation)

    async def flush(self) -> None:
        """Embed the beginnings."""
        embed = self._embed
        self._embed = lambda texts: embed([" ".join(text.split()[:8]) for text in texts])  # type: ignore[method-assign]
        try:
            await super().flush()
        finally:
            self._embed = embed  # type: ignore[method-assign]


class NextVector(Dense):
    """Return the entry after the one that was found: rows are counted from 0 and from 1."""

    async def retrieve_memories(self, query: str, conversation: Conversation, k: int) -> list[dict[str, Any]]:
        """Return the neighbours."""
        found = await super().retrieve_memories(query, conversation, k)
        log("query", query)
        entries = await self.get_all_memories()
        place = {entry["id"]: i for i, entry in enumerate(entries)}
        return [{**entries[(place[one["id"]] + 1) % len(entries)], "score": one["score"]} for one in found]


class LastLine(MdFile):
    """Write only the last new line of each conversation into the file."""

    async def store_conversation(self, conversation: Conversation) -> None:
        """Write that line."""
        before = self._lines()
        await super().store_conversation(conversation)
        after = self._lines()
        if len(after) > len(before) + 1:
            log("conversation", conversation.id)
            self._write([*after[: len(before)], after[-1]])


_CONDITION: Final = re.compile(
    r",?\s*\b(?:only|unless|except|if|when|whenever|until|while|as long as|provided)\b[^.,;!?]*", re.IGNORECASE
)
_NAME: Final = re.compile(r"(?<=[\w,] )(?!I\b)[A-Z][\w’-]+(?: [A-Z][\w’-]+)*")

OPEN: Final = (
    Bug(
        "digits",
        "digits are redacted",
        "own",
        rewriting(lambda text: re.sub(r"\d", "#", text)),
        ("number", "digit"),
        (SUMMARY_ERROR, NOT_STORED),
    ),
    Bug(
        "first-sentence",
        "only the first sentence of a message is stored",
        "own",
        rewriting(lambda text: after_stops(text)[0]),
        ("first sentence", "beginning message", "after sentence"),
        (NOT_STORED, SUMMARY_ERROR),
    ),
    Bug(
        "cut-messages",
        "messages are cut after 200 characters",
        "own",
        rewriting(lambda text: text[:200]),
        ("200 character", "cut at", "cut after"),
        (NOT_STORED, SUMMARY_ERROR),
    ),
    Bug(
        "newest-unsearched",
        "the newest fifth of the entries is not searched",
        "own",
        NewestUnsearched,
        ("newest", "latest", "last fifth"),
        (NOT_RETRIEVED,),
    ),
    Bug("year-only", "times are cut to the year", "own", YearOnly, ("year", "1 January"), (SUMMARY_ERROR,)),
    Bug(
        "every-tenth",
        "every tenth conversation is dropped",
        "bm25",
        EveryTenth,
        ("left no entry", "left no entries", "conversations no entry"),
        (NOT_STORED,),
    ),
    Bug(
        "ascii-only",
        "letters outside ASCII are stripped",
        "own",
        rewriting(lambda text: text.encode("ascii", "ignore").decode()),
        ("accent", "ASCII", "letters"),
        (SUMMARY_ERROR, NOT_STORED),
    ),
    Bug(
        "conditions",
        "clauses with only, if, when, unless … are dropped",
        "own",
        rewriting(lambda text: _CONDITION.sub("", text)),
        ("condition", "limits"),
        (SUMMARY_ERROR, NOT_STORED),
    ),
    Bug(
        "first-words",
        "vectors are made of the first eight words of an entry",
        "dense",
        FirstWords,
        ("first words", "beginning", "late in", "long entries", "long messages"),
        (NOT_RETRIEVED,),
    ),
    Bug(
        "long-dropped",
        "conversations of over 1,000 characters are dropped",
        "sqlite-hybrid",
        dropping(lambda conversation: len(conversation.text) > 1000),
        ("left no entry", "left no entries", "long conversations", "longer", "longest"),
        (NOT_STORED,),
    ),
    Bug(
        "long-words",
        "words of over nine letters are dropped",
        "own",
        rewriting(lambda text: re.sub(r"\b\w{10,}\b", "", text)),
        ("long words", "longer words", "words letters"),
        (SUMMARY_ERROR, NOT_STORED),
    ),
    Bug(
        "md-last-line",
        "only the last note of each conversation is written",
        "md-file",
        LastLine,
        ("last message", "last turn", "one entry each", "last user"),
        (NOT_STORED,),
        "meme",
    ),
    Bug("names-ignored", "names in the question are not searched", "bm25", NamesIgnored, ("name",), (NOT_RETRIEVED,)),
    Bug(
        "next-vector",
        "the entry after the one found is returned",
        "dense",
        NextVector,
        ("neighbour", "next entry", "entry after", "entry before"),
        (NOT_RETRIEVED,),
    ),
    Bug(
        "query-cache",
        "retrieval is cached by the first 12 characters of the question",
        "own",
        QueryCache,
        ("same entries", "same memories", "cache"),
        (NOT_RETRIEVED,),
    ),
    Bug(
        "same-beginning",
        "an entry that starts like an earlier one (8 characters) is taken for a duplicate",
        "own",
        SameBeginning,
        ("left no entry", "left no entries", "duplicate", "same beginning"),
        (NOT_STORED,),
    ),
    Bug(
        "same-subject",
        "an entry overwrites an earlier one with the same first two words",
        "own",
        Overwriting,
        ("left no entry", "left no entries", "overwr", "replaced"),
        (NOT_STORED,),
    ),
    Bug(
        "someone",
        "names within a sentence are replaced by “someone”",
        "bm25",
        rewriting(lambda text: _NAME.sub("someone", text)),
        ("name",),
        (SUMMARY_ERROR, NOT_STORED),
    ),
    Bug(
        "sundays",
        "conversations of a Sunday are dropped",
        "sqlite-hybrid",
        dropping(lambda conversation: bool(conversation.timestamp and conversation.timestamp.weekday() == 6)),
        ("left no entry", "left no entries", "sunday", "weekday"),
        (NOT_STORED,),
    ),
    Bug(
        "worst-first",
        "the 50 best entries are sorted the wrong way round",
        "sqlite-hybrid",
        WorstFirst,
        ("worst first", "reverse", "wrong way round", "wrong order", "lowest score"),
        (NOT_RETRIEVED,),
    ),
)


def wide_vectors(texts: list[str], dimensions: int | None = None) -> list[list[float]]:
    """Return hashed words in so many dimensions that few of them collide."""
    return of_words(texts, dimensions or 2048)


def factory_of_run() -> Any:
    """Return the factory of the system that the environment names: a bug, or a healthy system."""
    name = os.environ[BUG]
    found = all_bugs(os.environ.get(BUGS_FILE)).get(name)
    system = SYSTEMS[found.system if found else name]
    if system.factory is not None:
        return replace(system.factory, make=found.make) if found else system.factory

    def make(context: SystemContext) -> Any:
        healthy = system.make(context)
        return found.make(healthy) if found else healthy

    make.calls_model = False  # type: ignore[attr-defined]
    return make


def all_bugs(path: str | None) -> dict[str, Bug]:
    """Return the bugs of both halves, and those of a module's file, by name."""
    held_out = str(Path(__file__).with_name("planted_bugs_held_out.py"))
    return {bug.name: bug for bug in (*OPEN, *more_bugs(held_out), *more_bugs(path))}


@cache
def more_bugs(path: str | None) -> tuple[Bug, ...]:
    """Return the bugs of a module's file."""
    if not path:
        return ()
    spec = spec_from_file_location("more_planted_bugs", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules.setdefault("planted_bugs", sys.modules[__name__])  # it imports this one, which may run as __main__
    spec.loader.exec_module(module)
    return tuple(module.BUGS)


@dataclass(frozen=True)
class Run:
    """What a run said, and its verdicts."""

    terminal: str
    comment: str
    page: str
    clues: Sequence[Mapping[str, Any]]
    verdicts: Mapping[Key, str]
    ids: Mapping[str, Key]
    """The questions by their node ids, which clues name."""
    held_by_reference: frozenset[Key]
    damaged: frozenset[tuple[str, str]]


def run(name: str, system: str, suite: str, python: str, bugs: str | None, environment: Mapping[str, str]) -> Run:
    """Run the plugin on a bug or a healthy system.

    Raises `RuntimeError` if the run ends without a result.
    """
    with tempfile.TemporaryDirectory() as kept:
        folder = Path(kept)
        (folder / "conftest.py").write_text(CONFTEST, encoding="utf-8")
        (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        command = [
            python,
            "-m",
            "pytest",
            "-s",
            "-p",
            "pytest_memfail.plugin",
            "--memfail-system=mymem",
            f"--memfail-suite={suite}",
        ]
        command += [f"--memfail-report=out.{kind}" for kind in ("html", "md", "json")]
        command += [
            *(f"--memfail-system-option={one}" for one in SYSTEMS[system].options),
            "--memfail-record=record.jsonl",
        ]
        variables = {
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTHONPATH": str(Path(__file__).parent),
            BUG: name,
            LOG: "damaged",
        }
        variables |= {BUGS_FILE: bugs} if bugs else {}
        # compiled files are kept, else each run compiles the package anew
        kept_environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        done = subprocess.run(
            command,
            cwd=folder,
            env={**kept_environment, **environment, **variables},
            capture_output=True,
            text=True,
            check=False,
        )
        if not (folder / "out.md").exists():
            raise RuntimeError(f"{name}: exit code {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
        result = json.loads((folder / "out.json").read_text(encoding="utf-8"))["records"][0]
        lines = [json.loads(line) for line in (folder / "record.jsonl").read_text(encoding="utf-8").splitlines()]
        questions = {(q["task"], q["store"], q["question"]): q for q in lines if q["type"] == "question"}
        ids = {q["id"]: key for key, q in questions.items()}
        outcomes = (lines[-1].get("reference") or {}).get("outcomes", {})
        damaged = folder / "damaged"
        return Run(
            first_line(done.stdout),
            first_of_comment((folder / "out.md").read_text(encoding="utf-8")),
            headline((folder / "out.html").read_text(encoding="utf-8")),
            result.get("clues", []),
            {key: q["verdict"] for key, q in questions.items()},
            ids,
            frozenset(ids[name] for name, outcome in outcomes.items() if outcome == CORRECT and name in ids),
            frozenset((kind, what) for kind, what in map(json.loads, damaged.read_text(encoding="utf-8").splitlines()))
            if damaged.exists()
            else frozenset(),
        )


def first_line(terminal: str) -> str:
    """Return the first line of what a run concludes: after its last table, and before the next steps."""
    lines = terminal.splitlines()
    for line in lines:
        if line.startswith("memfail: no trustworthy result"):
            return line
    end = next((i for i, line in enumerate(lines) if line.startswith(("next: ", "all failures: "))), None)
    if end is None:
        end = next((i for i, line in enumerate(lines) if line.startswith("record: ")), len(lines))
    start = end
    while start and lines[start - 1].strip():
        start -= 1
    said = lines[start:end]
    while len(said) > 1 and said[1].startswith("  "):  # a long line continues
        said[:2] = [f"{said[0]} {said[1].strip()}"]
    return said[0] if said else ""


def first_of_comment(comment: str) -> str:
    """Return the first line of a comment, after its mark."""
    lines = (line for line in comment.splitlines() if line and not line.startswith("<!--"))
    return re.sub(r"\\(.)", r"\1", next(lines, ""))


def headline(page: str) -> str:
    """Return the headline of the page."""
    found = re.search(r'<p class="headline">(.*?)</p>', page, re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", found[1])).split()) if found else ""


@cache
def tasks_of(suite: str) -> tuple[Task, ...]:
    """Return the shipped tasks of a suite."""
    return load_tasks(TaskRequest(suites=choose_suites([suite])))


def touched(run_of_bug: Run, suite: str) -> set[Key]:
    """Return the questions whose query, or a conversation that they need, was damaged."""
    found = set()
    for task in tasks_of(suite):
        for store in task.stores:
            for question in store.questions:
                facts = [task.evidence[fact] for fact in question.evidence]
                needed = {("conversation", c) for fact in facts for c in (fact.conversation_id, *fact.history)}
                if run_of_bug.damaged & {("query", question.query), *needed}:
                    found.add((task.name, store.id, question.id))
    return found


@dataclass(frozen=True)
class Rows:
    """The questions of a run by what the bug did to them."""

    touched: set[Key]
    affected: set[Key]
    """Touched, failed, and of another verdict than in the healthy run."""


def rows_of(bug_run: Run, healthy: Run, suite: str) -> Rows:
    """Return the rows that the bug damaged."""
    all_touched = touched(bug_run, suite)
    changed = {
        key for key, verdict in bug_run.verdicts.items() if verdict in PLACES and verdict != healthy.verdicts.get(key)
    }
    return Rows(all_touched, all_touched & changed)


def stage_of(line: str) -> str | None:
    """Return the stage that a line blames."""
    return next((verdict for verdict, pattern in PLACES.items() if re.search(pattern, line, re.IGNORECASE)), None)


def named_rows(line: str, verdict: str, found: Run) -> set[Key]:
    """Return the rows that a line counts: those of a verdict, or those of them that the reference held."""
    rows = {key for key, got in found.verdicts.items() if got == verdict}
    return rows & found.held_by_reference if "beyond" in line else rows


def clue_in(line: str, found: Run) -> Mapping[str, Any] | None:
    """Return the clue that a line says."""
    return next((one for one in found.clues if one["text"].rstrip(".") in line), None)


def rows_of_clue(clue: Mapping[str, Any] | None, found: Run) -> set[Key]:
    """Return the questions that a clue explains."""
    return {found.ids[name] for name in clue["questions"]} if clue else set()


def graded(line: str, bug: Bug, rows: Rows, found: Run, healthy: Run) -> str:
    """Return the grade of one line."""
    clue = clue_in(line, found)
    if any(all(re.search(rf"\b{word}", line, re.IGNORECASE) for word in words.split()) for words in bug.named):
        ids = rows_of_clue(clue, found)
        return CAUSE if len(ids & rows.touched) >= ONLY * len(ids) else WRONG
    if clue:
        return WRONG
    stage = stage_of(line)
    if stage is None:
        return NOTHING
    named = named_rows(line, stage, found)
    if stage in bug.stages:
        return STAGE if named and len(named & rows.affected) >= ONLY * len(named) else NOTHING
    # what is said of the healthy system too is no finding, unless the bug lies elsewhere
    return WRONG if bug.stages or stage_of(healthy.terminal) != stage else NOTHING


def report_of(bug: Bug, found: Run, healthy: Run) -> dict[str, Any]:
    """Return the grades of a bug, with all that was said."""
    rows = rows_of(found, healthy, bug.suite)
    lines = {"terminal": found.terminal, "comment": found.comment, "page": found.page}
    grades = {place: graded(line, bug, rows, found, healthy) for place, line in lines.items()}
    verdicts = [found.verdicts[key] for key in rows.affected]
    explained = rows_of_clue(clue_in(found.terminal, found), found)
    return {
        "name": bug.name,
        "says": bug.says,
        "system": bug.system,
        "suite": bug.suite,
        "seen": bug.seen,
        "touched": len(rows.touched),
        "affected": len(rows.affected),
        "held before": sum(healthy.verdicts.get(key) not in PLACES for key in rows.affected),
        "explained": len(explained),
        "of these affected": len(explained & rows.affected),
        "verdicts": {verdict: verdicts.count(verdict) for verdict in PLACES if verdict in verdicts},
        "lines": lines,
        "clues": [one["text"] for one in found.clues],
        "grades": grades,
        "grade": max(grades.values(), key=GRADES.index),
    }


def report_of_healthy(name: str, found: Run) -> dict[str, Any]:
    """Return what was said of a healthy system: any clue is wrong."""
    said = {"terminal": found.terminal, "comment": found.comment, "page": found.page}
    grade = WRONG if found.clues else NOTHING
    return {"name": name, "says": "healthy", "lines": said, "clues": [c["text"] for c in found.clues], "grade": grade}


def table(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> str:
    """Return Markdown tables of the bugs before and after a change: those seen while it was made, and the others."""
    old = {one["name"]: one for one in before}
    lines = []
    for seen in (True, False):
        bugs = [one for one in after if one.get("seen") is seen]
        lines += [
            "",
            "| bug | in | questions lost | before | after | first line after |",
            "| --- | --- | ---: | --- | --- | --- |",
        ]
        for one in bugs:
            first = re.sub(r" \(\d+ failed question.*", "", one["lines"]["terminal"]).replace("|", "\\|")
            where = one["system"] if one["suite"] == "memfail" else f"{one['system']}, {one['suite']}"
            was = old[one["name"]]["grade"]
            lines.append(f"| {one['says']} | {where} | {one['affected']} | {was} | {one['grade']} | {first} |")
        lines += ["", f"| of {len(bugs)} | {' | '.join(GRADES)} |", f"| --- |{' ---: |' * len(GRADES)}"]
        for place in ("terminal", "comment", "page"):
            counts = (
                f"{sum(old[one['name']]['grades'][place] == grade for one in bugs)} → "
                f"{sum(one['grades'][place] == grade for one in bugs)}"
                for grade in GRADES
            )
            lines.append(f"| {place} | {' | '.join(counts)} |")
        worst = (
            f"{sum(old[one['name']]['grade'] == grade for one in bugs)} → {sum(one['grade'] == grade for one in bugs)}"
            for grade in GRADES
        )
        lines.append(f"| worst of the three | {' | '.join(worst)} |")
    return "\n".join(lines[1:])


def printed(one: Mapping[str, Any]) -> str:
    """Return the report of one bug as text."""
    rows = (
        f", {one['affected']} affected ({one['held before']} held before), {one['verdicts']}"
        if "affected" in one
        else ""
    )
    lines = [f"{one['name']}: {one['grade'].upper()}  ({one['says']}{rows})"]
    lines += [f"  {place:9}{one.get('grades', {}).get(place, ''):8} {line}" for place, line in one["lines"].items()]
    return "\n".join([*lines, *(f"  clue             {text}" for text in one["clues"])])


def reports(bugs: Sequence[Bug], systems: Sequence[str], python: str, path: str | None) -> Iterator[dict[str, Any]]:
    """Run healthy systems, these and those of the bugs, and then the bugs; yield the report of each."""
    controls = dict.fromkeys([*((name, "memfail") for name in systems), *((bug.system, bug.suite) for bug in bugs)])
    with ExitStack() as stack:
        environment = {}
        if any(SYSTEMS[system].factory is not None for system, _ in controls):
            endpoint = stack.enter_context(LocalEndpoint(answer=reply_by_rule, vectors=wide_vectors))
            environment = {"OPENAI_BASE_URL": endpoint.url, "OPENAI_API_KEY": "none"}
        healthy = {}
        for system, suite in controls:
            healthy[system, suite] = run(system, system, suite, python, path, environment)
            yield report_of_healthy(f"{system} on {suite}", healthy[system, suite])
        for bug in bugs:
            found = run(bug.name, bug.system, bug.suite, python, path, environment)
            yield report_of(bug, found, healthy[bug.system, bug.suite])


def main(words: Sequence[str] | None = None) -> int:
    """Run and grade; return 1 if a wrong cause is named."""
    parser = argparse.ArgumentParser(description="Grade whether runs name the bugs planted in memory systems.")
    parser.add_argument("--only", default="", help="names of bugs or healthy systems, separated by commas")
    parser.add_argument("--bugs", help="a module with more bugs")
    parser.add_argument("--python", default=sys.executable, help="the Python whose pytest-memfail runs")
    parser.add_argument("--json", type=Path, help="write the reports to this file")
    parser.add_argument("--table", nargs=2, type=Path, help="print the table of two such files, without a run")
    options = parser.parse_args(words)
    if options.table:
        print(table(*(json.loads(path.read_text(encoding="utf-8")) for path in options.table)))
        return 0
    path = str(Path(options.bugs).resolve()) if options.bugs else None
    bugs = all_bugs(path)
    wanted = options.only.split(",") if options.only else list(bugs)
    if unknown := [name for name in wanted if name not in bugs and name not in SYSTEMS]:
        parser.error(f"--only: got {', '.join(unknown)}, expected names of {', '.join([*SYSTEMS, *bugs])}")
    found = []
    for one in reports(
        [bugs[name] for name in wanted if name in bugs], [n for n in wanted if n in SYSTEMS], options.python, path
    ):
        found.append(one)
        print(printed(one), flush=True)
        if options.json:  # each time, so that an interrupted run keeps what it has
            options.json.write_text(json.dumps(found, indent=1, ensure_ascii=False), encoding="utf-8")
    grades = [one["grade"] for one in found if one["says"] != "healthy"]
    print("; ".join(f"{grade} {grades.count(grade)}" for grade in GRADES))
    return int(any(one["grade"] == WRONG for one in found))


if __name__ == "__main__":
    sys.exit(main())
