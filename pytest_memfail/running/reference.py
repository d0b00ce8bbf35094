"""Find what the reference held of the questions of a run: shipped for the shipped rows, kept from an earlier run, or made now.

The reference is a verbatim store with a word search. What it loses too is the limit of the benchmark, not a fault of the system.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from pytest_memfail.core import Key, MemfailError, QuestionRecord, SystemContext, UsageError, one_line, write_whole
from pytest_memfail.finding import NamedJudge
from pytest_memfail.records import Reference, judge_in_words, judged_by
from pytest_memfail.results import Loaded, load_record, outcome_of
from pytest_memfail.running.plan import Asked, Run, Unit
from pytest_memfail.running.stores import Runtime
from pytest_memfail.systems import built_in_system

SYSTEM: Final = "bm25"
JUDGE: Final = "offline"
JUDGE_OF_VERBATIM: Final = "pytest_memfail.judges.offline.verbatim:JudgeOfVerbatim"
"""The same, without the search of a store that keeps every message."""
NONE: Final = "none"
"""The value of `--memfail-reference` that switches the comparison off."""
SHIPPED_REFERENCE: Final = Path(__file__).with_name("reference.json")
"""What the reference held of the shipped rows; `tools/reference_runs.py` writes it."""
KEPT: Final = "reference.json"
MOST_KEPT: Final = 500
"""How many stores are kept; the oldest go first."""
MOST_CHARACTERS: Final = 20_000_000
"""Above this size of all conversations a reference is not made unasked: it would take minutes."""

Known = dict[str, "dict[str, str | None]"]
"""Store to question to the outcome of the reference; None if its judge did not decide."""


def read_reference(run: Run) -> Loaded | None:
    """Return the record that the user names as reference; None without one.

    Raises `UsageError` if it cannot be read, or if none of its rows are those of the run.
    """
    given = run.settings.reference
    if given is None or given == NONE:
        return None
    try:
        record = load_record(Path(given))
    except UsageError as error:
        raise UsageError(f"--memfail-reference: {error}; expected the record of a run, or {NONE}") from None
    protocol = run.settings.protocol
    if record.protocol != protocol:
        raise UsageError(
            f"--memfail-reference: {given} is of protocol {record.protocol}, this run of {protocol}; give a record of {protocol}"
        )
    if not _same_rows(run, record):
        raise UsageError(
            f"--memfail-reference: {given} has none of the rows of this run; give a record of the same rows, or {NONE}"
        )
    return record


def _same_rows(run: Run, record: Loaded) -> set[str]:
    """Return the names of the tasks whose rows a record shares with the run."""
    known = record.header.tasks
    return {task.name for task in run.tasks if task.name in known and known[task.name].data_hash == task.data_hash}


def find_reference(
    run: Run, questions: Sequence[QuestionRecord], own: Loaded | None, show: Callable[[str], None] | None
) -> Reference | None:
    """Return what the reference held of the questions that are decided; None if nothing is compared.

    `own` is the record that the user named. A missing reference is made, and `show` is called with the progress; without
    `show`, it is not made. A reference that cannot be made says why.
    """
    settings, decided = run.settings, [question for question in questions if question.memory_held is not None]
    if settings.reference == NONE or not decided:
        return None
    if own is not None:
        return _from_record(run, decided, own)
    if settings.system == SYSTEM and not settings.system_options:
        return Reference(system=SYSTEM, judge=settings.judge, is_itself=True)
    try:
        found = _known_or_made(run, {question.key for question in decided}, show)
    except KeyboardInterrupt:
        return Reference(system=SYSTEM, judge=JUDGE, note="interrupted while it was made")
    except Exception as error:  # whatever it is, it must not cost the run its result
        return Reference(system=SYSTEM, judge=JUDGE, note=one_line(error, 200))
    outcomes = {q.id: outcome for q in decided if (outcome := found.get(q.key)) is not None}
    note = ""
    if not outcomes:
        note = "its judge decides none of these questions" if found else "the suite names none"
    else:
        note = judged_by(JUDGE, _judge(run))
    return Reference(system=SYSTEM, judge=JUDGE, outcomes=outcomes, note=note)


def _from_record(run: Run, questions: Iterable[QuestionRecord], own: Loaded) -> Reference:
    header, rows, outcomes = own.header, _same_rows(run, own), own.outcomes
    found = {
        q.id: outcome
        for q in questions
        if q.task in rows and (other := outcomes.get(q.key)) is not None and (outcome := outcome_of(other)) is not None
    }
    judge = judge_in_words(header.judge, header.judge_options)
    said = [judged_by(judge, _judge(run))]
    if header.haystack != run.settings.haystack:
        said.append(f"with the haystack {header.haystack}, this run with {run.settings.haystack}")
    return Reference(system=header.system, judge=judge, outcomes=found, note="; ".join(filter(None, said)))


def _judge(run: Run) -> str:
    recorded = run.settings.recorded()
    return judge_in_words(recorded["judge"], recorded["judge_options"])


def _known_or_made(run: Run, keys: set[Key], show: Callable[[str], None] | None) -> dict[Key, str | None]:
    """Return what the reference held by question; ask it what is neither shipped nor kept."""
    systems = {suite.name: suite.reference for suite in run.suites}
    wanted = [
        (asked, system)
        for unit in run.units
        if (system := systems.get(unit.task.suite, SYSTEM))
        for asked in run.all_of(unit)
        if asked.key in keys
    ]
    asked_how = run.settings.protocol, run.settings.shown_tokens
    stores = {unit: digest(unit, system, *asked_how) for unit, system in {one.unit: how for one, how in wanted}.items()}
    shipped, kept = _read(SHIPPED_REFERENCE), _read(run.cache / KEPT)
    found: dict[Key, str | None] = {}
    missing = []
    for asked, system in wanted:
        store, name = stores[asked.unit], question_digest(asked)
        known = shipped.get(store, {}) if name in shipped.get(store, {}) else kept.get(store, {})
        if name in known:
            found[asked.key] = known[name]
        else:
            missing.append((asked, system))
    if missing and show is not None:
        size = sum(unit.plan.characters or _size(unit) for unit in dict.fromkeys(asked.unit for asked, _ in missing))
        if size > MOST_CHARACTERS:
            raise MemfailError(
                f"{size:,} characters to store, at most {MOST_CHARACTERS:,} are stored for it; run --memfail-system={SYSTEM} "
                "--memfail-record=FILE once, and give --memfail-reference=FILE"
            )
        for system in dict.fromkeys(system for _, system in missing):
            for asked, outcome in ask_reference(run, [one for one, other in missing if other == system], system, show):
                found[asked.key] = kept.setdefault(stores[asked.unit], {})[question_digest(asked)] = outcome
        if run.runs is not None:
            with suppress(OSError):  # it is made again
                run.cache.mkdir(parents=True, exist_ok=True)
                write_whole(run.cache / KEPT, json.dumps(dict(list(kept.items())[-MOST_KEPT:])))
    return found


def _size(unit: Unit) -> int:
    return sum(len(message.content) for talk in unit.plan.read_conversations() for message in talk.messages)


def _read(path: Path) -> Known:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def digest(unit: Unit, system: str = SYSTEM, protocol: str = "ours", shown_tokens: int | None = None) -> str:
    """Return a name for what the reference stores of a unit, and for how it is judged."""
    task = unit.task
    about = system, protocol, shown_tokens, task.data_hash, task.variant, NamedJudge(JUDGE, "").weights
    found = hashlib.sha256(repr(about).encode())
    for talk in unit.plan.read_conversations():
        for message in talk.messages:
            found.update(
                f"{talk.id}\0{message.role}\0{message.timestamp}\0{message.content}\0".encode("utf-8", "replace")
            )
    return found.hexdigest()[:16]


def question_digest(asked: Asked) -> str:
    """Return a name for a question with its facts and its k."""
    question, facts = asked.question, (asked.unit.task.evidence[name] for name in asked.question.evidence)
    told = [asked.k, question.id, question.query, *((fact.id, fact.text, fact.source) for fact in facts)]
    return hashlib.sha256(repr(told).encode("utf-8", "replace")).hexdigest()[:10]


def ask_reference(
    run: Run, wanted: Sequence[Asked], system: str = SYSTEM, show: Callable[[str], None] = lambda _: None
) -> Iterator[tuple[Asked, str | None]]:
    """Store the conversations of these questions in the reference, ask it, and yield the outcome of each.

    Raises its error if a store or a question fails.
    """
    settings = run.settings.changed(
        system=system,
        system_options={},
        system_version=None,
        judge=JUDGE_OF_VERBATIM,
        judge_options={},
        model=None,
        repeats=1,
        vary="all",
        proxy=None,
        reuse_stores=None,
        assistant_turns=False,
    )
    other = Run(settings, run.tasks, [()])
    other.suites, other.rootdir, other.cache = run.suites, run.rootdir, run.cache

    def made(name: str) -> Callable[[SystemContext], Any]:
        return built_in_system(name, made)

    with TemporaryDirectory(prefix="memfail-") as folder:
        runtime = Runtime(
            other, run_id=f"reference-{os.getpid()}", process="main", journals=None, show=show, outcomes=(), ahead=False
        )
        runtime.plan((one.node_id, one) for one in wanted)
        try:
            for one, following in zip(wanted, [*wanted[1:], None], strict=True):

                def prepare(name: str) -> tuple[Any, Path]:
                    (path := Path(folder, name)).mkdir()
                    return made(system), path

                result = runtime.result(one.node_id, one, prepare)
                if result.error is not None:
                    raise result.error
                assert result.verdict is not None
                yield one, outcome_of(result.verdict)
                after = None if following is None else following.unit
                list(runtime.finished(one.node_id, one, after, virtual=True, last=after is None))
        finally:
            runtime.close()
