"""`memfail case`."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_memfail.cli.records import RECORD_HELP, load, unknown_question
from pytest_memfail.core import NOT_STORED, SUMMARY_ERROR, UsageError, check_place, one_line, write_whole

if TYPE_CHECKING:
    from pytest_memfail.records import FactRecord, QuestionRecord
    from pytest_memfail.results import Loaded

ENDING: Final = ".memfail.yaml"
TEXTS: Final = ("content", "text", "memory", "value")
"""Keys under which logs store a text."""
CONVERSATIONS: Final = ("conversation", "conversation_id", "session_id", "gen_ai.conversation.id")
WRITES: Final = ("create_memory", "update_memory", "upsert_memory")
"""Values of `gen_ai.operation.name` of spans that write memories."""


@dataclass(slots=True)
class Log:
    """The content of a log: turns by conversation, memories written, and the last query."""

    turns: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    written: list[str] = field(default_factory=list)
    query: str = ""


def add(commands: Any) -> None:
    """Add the sub-command and its options."""
    parser = commands.add_parser(
        "case",
        help="write a case (*.memfail.yaml) from a failed question or from a log",
        description="Write a case of your own that fails in the same way, from a question of a record or from the log of an "
        "incident. A log is JSON Lines: turns with role and content, or spans of OpenTelemetry's GenAI conventions "
        "(gen_ai.input.messages, gen_ai.memory.records, gen_ai.memory.query.text).",
    )
    parser.add_argument("record", metavar="RECORD", type=Path, nargs="?", help=RECORD_HELP)
    parser.add_argument("id", metavar="NODE_ID", nargs="?", help="id of the question, or a unique part of it")
    parser.add_argument("--from", dest="log", metavar="LOG", type=Path, help="log of the incident, instead of RECORD")
    parser.add_argument(
        "--question", metavar="TEXT", help="with --from: the question (default: the last one in the log)"
    )
    parser.add_argument("--answer", metavar="TEXT", help="with --from: the right answer")
    parser.add_argument(
        "--fact",
        metavar="TEXT",
        help="with --from: the fact that memory must hold (default: the turn that contains the answer)",
    )
    parser.add_argument("--cache-dir", metavar="DIR", type=Path, help="pytest's cache (default: here or above)")
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, help=f"where to write; ends in {ENDING}")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the case and its haystack."""
    from pytest_memfail.suites import MEMFAIL, OWN

    by_line = False
    if options.log is not None:
        if options.record is not None:
            raise UsageError(f"case: got RECORD {options.record} and --from, expected one of them")
        case, hay, name, system = _of_log(options), [], options.log.stem, "NAME"
    elif options.record is None or options.id is None:
        raise UsageError("case: expected RECORD and NODE_ID, or --from LOG; memfail show prints the ids of failures")
    else:
        record = load(options.record, options.cache_dir)
        question = _question(record, options.id)
        case, hay = _of_question(question), _around(record, question)
        name, system = question.question, record.header.system
        task = record.header.tasks.get(question.task)
        by_line = task is not None and task.suite not in (MEMFAIL, OWN)
    output = options.output or Path(re.sub(r"[^\w-]+", "-", name) + ENDING)
    if not output.name.endswith(ENDING):
        raise UsageError(f"-o: got {output.name!r}, expected a name that ends in {ENDING}")
    check_place(output, "-o")
    if output.exists():
        raise UsageError(f"-o: {output} exists; it is left as it is, give another name")
    if hay:
        folder = output.with_name(output.name.removesuffix(ENDING) + "-haystack")
        folder.mkdir(exist_ok=True)
        write_whole(folder / "conversations.yaml", _yaml(hay))
        case["haystack"] = f"./{folder.name}"
    write_whole(output, _yaml(case))
    print(f"wrote {output}")
    if by_line:
        print(
            "note: the record has only the lines that state the facts, not the suite's texts around them, so the case may not "
            "fail in the same way"
        )
    print(f"run it: pytest {output} --memfail-system={system}")
    return 0


def _yaml(value: object) -> bytes:
    import yaml

    text: str = yaml.safe_dump(value, allow_unicode=True, sort_keys=False, width=110)
    return text.encode("utf-8", "replace")


# -- from a record -----------------------------------------------------------------------------------------------------


def _question(record: Loaded, wanted: str) -> QuestionRecord:
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
    if not found[0].facts:
        raise UsageError(
            f"case: {found[0].id} has no fact in the record (verdict {found[0].verdict}), expected one with facts"
        )
    return found[0]


def _of_question(question: QuestionRecord) -> dict[str, Any]:
    failed = [fact for fact in question.facts if fact.verdict == question.verdict] or list(question.facts)
    sources = list(dict.fromkeys(fact.source for fact in question.facts))
    return {
        "id": re.sub(r"[^\w-]+", "-", question.question),
        "conversations": sources,
        "question": question.text,
        "answer": "; ".join(question.gold) or "not known",
        "expected": [
            {"fact": fact.text, "conversation": 1 + sources.index(fact.source), **_details(fact)} for fact in failed
        ],
        "k": question.k,
    }


def _details(fact: FactRecord) -> dict[str, Any]:
    """Return the details that must survive: the lost details that the source states in these words."""
    said = fact.source.casefold()
    missing = [[detail] for detail in fact.missing if detail.strip() and detail.casefold() in said]
    return {"details": missing} if missing else {}


def _around(record: Loaded, question: QuestionRecord) -> list[str]:
    """Return the other conversations of the store that the record contains; none if the case fails without them."""
    if question.verdict in (NOT_STORED, SUMMARY_ERROR):
        return []
    own = {fact.source for fact in question.facts}
    same = [q for q in record.questions if (q.task, q.store) == (question.task, question.store)]
    return list(dict.fromkeys(fact.source for q in same for fact in q.facts if fact.source not in own))


# -- from a log --------------------------------------------------------------------------------------------------------


def _of_log(options: argparse.Namespace) -> dict[str, Any]:
    if not options.answer:
        raise UsageError("case: --from needs --answer, the right answer")
    log = read_log(options.log)
    question = options.question or log.query
    if not question:
        last = next((turns for turns in reversed(log.turns.values()) if turns[-1].keys() == {"user"}), None)
        if last is None:
            raise UsageError(
                f"{options.log}: the log does not end with a turn of the user, so it has no question; give --question"
            )
        question = last.pop()["user"]
    conversations = [{"messages": turns} for turns in log.turns.values() if turns]
    conversations = conversations or [{"messages": [{"user": text}]} for text in dict.fromkeys(log.written)]
    if not conversations:
        raise UsageError(
            f"{options.log}: the log has no conversation before the question, expected one that states the answer"
        )
    said = [(i, turn["user"]) for i, one in enumerate(conversations, 1) for turn in one["messages"] if "user" in turn]
    place, fact = _stating(said, options.fact or f"{options.answer} {question}")
    expected: dict[str, Any] = {"fact": options.fact or fact, "conversation": place}
    if options.answer.casefold() in fact.casefold():
        expected["details"] = [[options.answer]]
    return {"conversations": conversations, "question": question, "answer": options.answer, "expected": [expected]}


def _stating(said: Sequence[tuple[int, str]], wanted: str) -> tuple[int, str]:
    """Return the turn with most of the wanted words; on a tie, the latest."""
    words = set(re.findall(r"\w+", wanted.casefold()))
    if not said:
        raise UsageError("case: the log has no turn of the user, expected one that states the answer")
    return max(said, key=lambda one: (len(words & set(re.findall(r"\w+", one[1].casefold()))), one[0]))


def read_log(path: Path) -> Log:
    """Read a log of turns or of OpenTelemetry spans, one JSON value per line.

    Raises `UsageError` naming the line that cannot be read.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read as a log ({one_line(error)})") from None
    log = Log()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except ValueError:
            raise UsageError(f"{path}:{number}: got no JSON, expected one turn or span per line") from None
        before = (sum(map(len, log.turns.values())), len(log.written), log.query)
        _take(value, log, "")
        if before == (sum(map(len, log.turns.values())), len(log.written), log.query) and not _spans(value):
            raise UsageError(
                f"{path}:{number}: got {one_line(line, 80)!r}, expected a turn with role and content, or a span"
            )
    return log


def _take(value: Any, log: Log, conversation: str) -> None:
    """Add a turn, a conversation or a span to the log."""
    if isinstance(value, list):
        for one in value:
            _take(one, log, conversation)
        return
    if not isinstance(value, Mapping):
        return
    conversation = next(
        (str(value[name]) for name in CONVERSATIONS if isinstance(value.get(name), (str, int))), conversation
    )
    if value.get("role") in ("user", "assistant"):
        if text := _text(value):
            turns = log.turns.setdefault(conversation, [])
            turn = {str(value["role"]): text}
            if turn not in turns:  # every request repeats the earlier turns
                turns.append(turn)
        return
    if isinstance(value.get("messages"), list):
        _take(value["messages"], log, conversation)
    for attributes in _spans(value):
        place = str(attributes.get("gen_ai.conversation.id", conversation))
        for name in ("gen_ai.input.messages", "gen_ai.output.messages"):
            _take(_json(attributes.get(name)), log, place)
        if attributes.get("gen_ai.operation.name") in WRITES:
            records = _json(attributes.get("gen_ai.memory.records"))
            for one in records if isinstance(records, list) else [records]:
                if text := _text(one):
                    log.written.append(text)
        if query := attributes.get("gen_ai.memory.query.text"):
            log.query = str(query)


def _spans(value: Any) -> list[dict[str, Any]]:
    """Return the attributes of the spans in a JSON value: flat, or as OTLP nests them."""
    found: list[dict[str, Any]] = []

    def walk(one: Any) -> None:
        if isinstance(one, list):
            for item in one:
                walk(item)
        elif isinstance(one, Mapping):
            attributes = one.get("attributes")
            if isinstance(attributes, list):  # OTLP: [{"key": ..., "value": {"stringValue": ...}}]
                attributes = {
                    str(pair.get("key")): next(iter(pair["value"].values()), None)
                    for pair in attributes
                    if isinstance(pair, Mapping) and isinstance(pair.get("value"), Mapping)
                }
            if isinstance(attributes, Mapping) and any(str(name).startswith("gen_ai.") for name in attributes):
                found.append(dict(attributes))
            for name in ("resourceSpans", "scopeSpans", "spans"):
                walk(one.get(name))

    walk(value)
    return found


def _json(value: Any) -> Any:
    if isinstance(value, str):
        try:
            return json.loads(value)
        except ValueError:
            return {"content": value}
    return value


def _text(value: Any) -> str:
    """Return the text of a turn or a memory, which may be a string or a list of parts."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list):
        return "\n".join(filter(None, map(_text, value)))
    if isinstance(value, Mapping):
        return next((text for name in (*TEXTS, "parts") if (text := _text(value.get(name)))), "")
    return ""
