"""Write a case (*.memfail.yaml) from a failed question or from a log.

Write a case of your own that fails in the same way, from a question of a record or the log of an incident, and run it
once. Exits with 1 if it does not fail. A log is JSON or JSON Lines: turns with role and content, OpenTelemetry's GenAI
spans, or an export of ChatGPT, Claude, LangChain or ShareGPT.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_memfail.cli.arguments import CACHE_DIR, RECORD_HELP, Arguments
from pytest_memfail.cli.case_of_log import case_of_log, written
from pytest_memfail.cli.records import folders, load, tasks_of, unknown_question
from pytest_memfail.core import (
    FAILURES,
    NOT_STORED,
    SUMMARY_ERROR,
    UsageError,
    check_place,
    one_line,
    write_whole,
)
from pytest_memfail.texts import word_set

if TYPE_CHECKING:
    from pytest_memfail.core import Conversation, Fact, FactVerdict, QuestionRecord, StorePlan
    from pytest_memfail.results import Loaded

ENDING: Final = ".memfail.yaml"
KEEP_ALL: Final = "--conversations 0"
CONVERSATIONS: Final = 100
"""The number of conversations that a case of a record stores unless the user gives another."""


def add(argument: Arguments) -> None:
    """Declare the arguments of the command."""
    argument("record RECORD", f"{RECORD_HELP}; default: last", Path, nargs="?")
    argument("id NODE_ID", "id of the question, or a unique part of it", nargs="?")
    argument("--from LOG", "log of the incident, instead of RECORD", Path, dest="log")
    argument("--question TEXT", "with --from: the question (default: the last one in the log)")
    argument("--answer TEXT", "with --from: the right answer")
    argument("--fact TEXT", "with --from: the fact that memory must hold (default: the turn that states the answer)")
    argument("--turn N", "with --from: the turn that states the answer, if several do", int)
    said = "with RECORD: the most conversations of the store to keep, 0 for all"
    argument("--conversations N", said, _limit, CONVERSATIONS)
    argument("--system NAME", "memory system to run the case against (default: that of RECORD; none for a log)")
    argument("--no-run", "do not run the case", dest="runs", action="store_false")
    argument.data()
    argument.cases()
    argument(*CACHE_DIR)
    argument("-o --output FILE", f"where to write; ends in {ENDING}", Path)


def _limit(text: str) -> int | None:
    """Return a number of conversations; None for all."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"got {text!r}, expected a whole number")
    return int(text) or None


def run(options: argparse.Namespace) -> int:
    """Write the case, run it once, and return 1 if it does not fail."""
    record: Loaded | None = None
    expected: tuple[str, ...] = FAILURES
    if options.log is not None:
        if options.record is not None:
            raise UsageError(f"case: got RECORD {options.record} and --from, expected one of them")
        name, system = options.log.stem, options.system
        case, notes = case_of_log(options)
    else:
        record, question = _asked(options)
        name, system = question.question, options.system or record.header.system
        expected = (question.verdict,) if question.failed else FAILURES
        case, notes = _of_question(record, question, options)
    output = options.output or Path(_id(name) + ENDING)
    if not output.name.endswith(ENDING):
        raise UsageError(f"-o: got {output.name!r}, expected a name that ends in {ENDING}")
    check_place(output, "-o")
    if output.exists():
        raise UsageError(f"-o: {output} exists; it is left as it is, give another name")
    # the id of a row would be that of every case made of it
    write_whole(output, _yaml({"id": _id(output.name.removesuffix(ENDING)), **case}))
    print(f"wrote {output}")
    for note in notes:
        print(f"note: {note}")
    words = [f"--memfail-system={system or 'NAME'}", *_options_of_run(record)]
    is_thinned = any(KEEP_ALL in note for note in notes)
    fails = True
    if system and options.runs:
        print(f"running it once against {system} ...", file=sys.stderr)
        fails, said = _run_once(output, system, words, expected, is_thinned=is_thinned)
        print(said)
    print(f"run it: {shlex.join(['pytest', str(output), *words])}")
    return 0 if fails else 1


def _id(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-.") or "case"


def _yaml(value: object) -> bytes:
    import yaml

    text: str = yaml.safe_dump(value, allow_unicode=True, sort_keys=False, width=110)
    return text.encode("utf-8", "replace")


# -- from a record -----------------------------------------------------------------------------------------------------


def _asked(options: argparse.Namespace) -> tuple[Loaded, QuestionRecord]:
    """Return the record and the question that the arguments name; one argument alone is the id of a question of the last run."""
    record, wanted = options.record, options.id
    if record is None or (wanted is None and (str(record) in ("last", "newest") or record.is_file())):
        got = "no NODE_ID" if record is None else f"RECORD {record} without a NODE_ID"
        raise UsageError(
            f"case: got {got}, expected RECORD and NODE_ID, NODE_ID of the last run, or --from LOG; memfail show prints the ids "
            "of failures"
        )
    found = load(Path("last") if wanted is None else record, options.cache_dir)
    return found, _question(found, wanted or record.as_posix())


def _question(record: Loaded, wanted: str) -> QuestionRecord:
    from pytest_memfail.suites import NEVER_SAID

    found = [question for question in record.questions if question.id == wanted] or [
        question for question in record.questions if wanted in question.id
    ]
    if not found:
        raise UsageError(unknown_question(wanted, [question.id for question in record.questions], record.path))
    if len(found) > 1:
        near = ", ".join(question.id for question in found[:3])
        raise UsageError(
            f"case: got {wanted!r}, which is part of {len(found)} ids in {record.path}, expected part of one id, such as {near}"
        )
    if not found[0].facts and found[0].kind != NEVER_SAID:
        raise UsageError(
            f"case: {found[0].id} has no fact in the record (verdict {found[0].verdict}), expected one with facts"
        )
    return found[0]


def _of_question(
    record: Loaded, question: QuestionRecord, options: argparse.Namespace
) -> tuple[dict[str, Any], list[str]]:
    """Return the case, and notes on what it lacks of the run."""
    more: dict[str, Any] = {}
    query = question.text
    try:
        stored, evidence, plan = _stored(record, question, options)
        asked = next(one for one in plan.questions if one.id == question.question)
        conversations, notes = _kept(stored, evidence, question, options.conversations)
        homes = {c.id: at for at, c in enumerate(conversations, 1)}
        places = {name: homes[fact.conversation_id] for name, fact in evidence.items() if not fact.is_distractor}
        texts = [_conversation(conversation) for conversation in conversations]
        query = asked.query
        if "answer" in asked.stages:
            more["answer"] = "; ".join(question.gold) or "not known"
        if plan.beside:
            more["other_user"] = [_conversation(conversation) for conversation in plan.beside]
    except (UsageError, KeyError) as error:
        why = one_line(error if isinstance(error, UsageError) else f"they lack {error}")
        lacks = "so the case has only what the record contains and may not fail in the same way"
        notes = [f"the rows of the run cannot be read ({why}), {lacks}"]
        evidence, sources = {}, _recorded(record, question)
        texts = [written(None, [("user", source)]) for source in sources]
        places = {fact.id: 1 + sources.index(fact.source) for fact in question.facts}
        more["answer"] = "; ".join(question.gold) or "not known"
    expected = [fact for fact in question.facts if not fact.is_distractor]
    expected = [fact for fact in expected if fact.verdict == question.verdict] or expected
    case = {
        "conversations": texts,
        "question": query if question.memory_held is False else question.text,
        **more,
        "expected": [
            {"fact": fact.text, "conversation": places[fact.id], **_wanted(fact, evidence.get(fact.id))}
            for fact in expected
        ],
        "k": question.k,
    }
    if unwanted := [fact for fact in question.facts if fact.is_distractor]:
        case["must_not_hold"] = [{"fact": fact.text, **_unwanted(evidence.get(fact.id))} for fact in unwanted]
    if user := next((fact.claim.user for fact in evidence.values() if fact.claim.user), None):
        case["user"] = user
    return case, notes


def _conversation(conversation: Conversation) -> dict[str, Any]:
    said = written(conversation.timestamp, ((m.role, m.content) for m in conversation.messages))
    if conversation.forgets:
        del said["messages"]
        said["forget"] = conversation.forgets
    return said


def _unwanted(evidence: Fact | None) -> dict[str, Any]:
    """Return what is known of a fact that memory must not hold."""
    if evidence is None:
        return {}
    found = {"entity": evidence.claim.owner, "details": [list(detail.wordings) for detail in evidence.claim.listed]}
    return {name: value for name, value in found.items() if value}


def _wanted(fact: FactVerdict, evidence: Fact | None) -> dict[str, Any]:
    """Return what is known of a fact: whom it is about, values that no longer hold, and its details.

    The details are those that were lost, in words of the source; or all, if none of them was.
    """
    said = fact.source.casefold()
    found: dict[str, Any] = {"details": [[one] for one in fact.missing if one.strip() and one.casefold() in said]}
    if evidence is not None:
        found = {"entity": evidence.claim.owner, **found, "forbidden": list(evidence.claim.replaced)}
        found["details"] = found["details"] or [list(detail.wordings) for detail in evidence.claim.listed]
    return {name: value for name, value in found.items() if value}


def _stored(
    record: Loaded, question: QuestionRecord, options: argparse.Namespace
) -> tuple[list[Conversation], dict[str, Fact], StorePlan]:
    """Return the conversations of a store before a question was asked, in order, the question's evidence, and the store.

    Raises `UsageError` or `KeyError` if the rows of the run are not at hand.
    """
    from pytest_memfail.core import Ingest, Probe

    tasks = tasks_of(record, [question.task], folders(options), options.cases)
    task = next(task for task in tasks if task.name == question.task)
    if task.data_hash != record.header.tasks[question.task].data_hash:
        raise UsageError("they have changed since, or are in another folder: name it with --data or --cases")
    plan = next((plan.opened() for plan in task.stores if plan.id == question.store), None)
    if plan is None:
        raise UsageError(f"they have no store {question.store}")
    found: list[Conversation] = []
    for step in plan.steps:
        if isinstance(step, Ingest):
            found.append(step.conversation)
        elif isinstance(step, Probe) and any(one.id == question.question for one in step.questions):
            return found, {fact.id: task.evidence[fact.id] for fact in question.facts}, plan
    raise UsageError(f"they have no question {question.question}")


def _kept(
    stored: list[Conversation], evidence: Mapping[str, Fact], question: QuestionRecord, limit: int | None
) -> tuple[list[Conversation], list[str]]:
    """Return at most `limit` conversations in their order, and a note if there were more.

    Those of the evidence are kept, then those closest to what was retrieved instead of it, then others at equal distances, so
    that each keeps its place between the first and the last.
    """
    if limit is None or len(stored) <= limit:
        return stored, []
    needed = {name for fact in evidence.values() for name in (fact.conversation_id, *fact.history)}
    kept = {at for at, conversation in enumerate(stored) if conversation.id in needed}
    words = [word_set(conversation.text) for conversation in stored]
    for memory in () if question.verdict in (NOT_STORED, SUMMARY_ERROR) else question.retrieved[: limit - len(kept)]:
        shown = word_set(memory.text)
        kept.add(max(range(len(stored)), key=lambda at: len(words[at] & shown) / (len(words[at] | shown) or 1)))
    others = [at for at in range(len(stored)) if at not in kept]
    more = max(0, limit - len(kept))
    kept |= {others[(2 * n + 1) * len(others) // (2 * more)] for n in range(more)}
    note = f"{len(kept)} of the store's {len(stored)} conversations, in their order; {KEEP_ALL} keeps all"
    return [stored[at] for at in sorted(kept)], [note]


def _recorded(record: Loaded, question: QuestionRecord) -> list[str]:
    """Return what the record contains of the store's conversations: the question's own first, then those of others."""
    same = [question, *(q for q in record.questions if (q.task, q.store) == (question.task, question.store))]
    return list(dict.fromkeys(fact.source for one in same for fact in one.facts))


# -- whether the case fails --------------------------------------------------------------------------------------------

OF_THE_ROWS: Final = ("suite", "suite-option", "data", "limit", "haystack", "k", "seed", "system", "repeats")
"""Options of a run that a case does not need, or sets itself."""
OF_THE_PROJECT: Final = (
    "addopts",
    *(f"memfail_{name}" for name in "baseline anchor save_baseline fail_on report".split()),
)
"""Settings of a project that would compare the run with others, or write more than its record."""


def _options_of_run(record: Loaded | None) -> list[str]:
    """Return the options of a record's run that decide how a case fails."""
    words = record.header.rerun if record is not None else ()
    return [word for word in words if word.partition("=")[0].removeprefix("--memfail-") not in OF_THE_ROWS]


def _run_once(
    case: Path, system: str, words: Sequence[str], expected: Sequence[str], *, is_thinned: bool
) -> tuple[bool, str]:
    """Return whether a case fails as expected, or cannot be run here, and a line that says so.

    Of a case that has only a part of its store, the line says how to keep all.
    """
    from pytest_memfail.results import load_record

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.jsonl")
        command = [sys.executable, "-m", "pytest", str(case), "-q", "-pno:cacheprovider", *words]
        command += [f"--memfail-record={path}", *(f"-o{name}=" for name in OF_THE_PROJECT)]
        environment = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace", check=False)
        try:
            (ran,) = load_record(path).questions
        except (UsageError, ValueError):
            lines = [line for line in f"{done.stdout}\n{done.stderr}".splitlines() if line.strip()]
            why = next(
                (line for line in reversed(lines) if "error" in line.casefold()), lines[-1] if lines else "no output"
            )
            return True, f"note: it could not be run here against {system}: {one_line(why)}"
    if ran.error is not None:
        return True, f"note: it could not be run here against {system}: {one_line(ran.error.message)}"
    if ran.verdict in expected:
        return True, f"it fails against {system}: {ran.verdict}"
    if ran.failed:
        said = f"note: it fails against {system} in another way: {ran.verdict}, where the question was {expected[0]}"
        return True, said
    more = f"keep more of the store ({KEEP_ALL}), or " if is_thinned else ""
    return (
        False,
        f"warning: it does not fail against {system} ({ran.verdict}); {more}correct what it expects (fact, details)",
    )
