"""The record of a run: JSON Lines of plain values, written line by line.

A header, then one line per question and per store as they end, then a footer. `type` tells them apart.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TextIO

from pytest_memfail.core import (
    ERROR,
    Evidence,
    FactVerdict,
    Listing,
    Memory,
    Question,
    StageResult,
    Trace,
    UsageError,
    Verdict,
    one_line,
    rank_of,
)

SCHEMA_VERSION: Final = 1
CLOSEST: Final = 2
"""How many of the entries a judge relied on go into a question's line."""

Line = Mapping[str, Any]


def question_line(
    node_id: str,
    store: str,
    question: Question,
    k: int,
    evidence: Sequence[Evidence],
    *,
    trace: Trace | None = None,
    verdict: Verdict | None = None,
    listing: Listing | None = None,
    repeats: Sequence[str] = (),
    error: BaseException | None = None,
) -> dict[str, Any]:
    """One question as plain values, with all that a reader of its failure needs.

    `verdict` None means an error; `error` says which.
    """
    by_id = {fact.id: fact for fact in evidence}
    memories = listing.memories if listing else ()
    shown = trace.shown if trace else ()
    line: dict[str, Any] = {
        "type": "question",
        "id": node_id,
        "task": question.task,
        "store": store,
        "question": question.id,
        "k": k,
        "kind": question.kind,
        "stratum": question.stratum,
        "text": question.text,
        "gold": list(question.gold),
        # the file's name alone: a record is shared, and the paths of a machine are nobody's business
        "row": f"{Path(question.file).name}:{question.line}" if question.file else None,
        "verdict": verdict.name if verdict else ERROR,
    }
    if verdict is None:
        line["error"] = {"type": type(error).__name__, "message": one_line(error, 1000)}
        return line
    line |= {
        "vacuous": verdict.vacuous,
        "memory_held": verdict.memory_held,
        "credited": verdict.credited,
        "label": verdict.label,
        "facts": [_fact(f, by_id[f.evidence_id], memories, shown) for f in verdict.facts],
        "answer": _stage(verdict.answer),
        "reply": trace.reply.text if trace and trace.reply else None,
        "retrieved": [_memory(memory) for memory in shown],
        "seconds": dict(trace.seconds) if trace else {},
    }
    if repeats:
        line["repeats"] = list(repeats)
    return line


def store_line(
    store: str,
    task: str,
    *,
    conversations: int,
    fill_seconds: float,
    listings: Sequence[Listing],
    tokens: int | None,
    changed: tuple[int, int],
    described: Mapping[str, str],
    restored: bool = False,
) -> dict[str, Any]:
    """One store as plain values, with every listing that its questions were judged by."""
    return {
        "type": "store",
        "store": store,
        "task": task,
        "conversations": conversations,
        "fill_seconds": fill_seconds,
        "restored": restored,
        "memories": len(listings[-1].memories) if listings else 0,
        "tokens": tokens,
        "changed_by_queries": list(changed),
        "system": dict(described),
        "listings": [[_memory(memory) for memory in listing.memories] for listing in listings],
    }


def _fact(fact: FactVerdict, evidence: Evidence, memories: Sequence[Memory], shown: Sequence[Memory]) -> dict[str, Any]:
    stage, deciding = fact.deciding
    stored = fact.summary if fact.summary.entries else fact.storage
    closest = [memories[i] for i in stored.entries[:CLOSEST] if 0 <= i < len(memories)]
    ranks = [rank_of(memories[i], shown) for i in stored.entries if 0 <= i < len(memories)]
    return {
        "id": fact.evidence_id,
        "verdict": fact.name,
        "text": evidence.text,
        "source": evidence.source,
        "decided_by": stage,
        "missing": list(deciding.missing),
        "storage": _stage(fact.storage),
        "summary": _stage(fact.summary),
        "retrieval": _stage(fact.retrieval),
        "closest": [memory.text for memory in closest],
        "ranks": ranks[:CLOSEST],
    }


def _stage(result: StageResult) -> dict[str, Any]:
    line: dict[str, Any] = {"outcome": result.outcome}
    for name in ("reason", "confidence", "label"):
        if (value := getattr(result, name)) not in ("", None):
            line[name] = value
    for name in ("entries", "found", "missing", "reported"):
        if value := getattr(result, name):
            line[name] = list(value)
    return line


def _memory(memory: Memory) -> dict[str, Any]:
    line: dict[str, Any] = {"text": memory.text}
    for name in ("id", "score", "timestamp"):
        if (value := getattr(memory, name)) is not None:
            line[name] = value
    if memory.metadata:
        line["metadata"] = dict(memory.metadata)
    return line


class RecordWriter:
    """Appends lines to a new record, flushing each: what was written survives the death of the process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stream: TextIO | None = None

    def write(self, line: Line) -> None:
        """Write one line; the first creates the file."""
        if self._stream is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._stream = self.path.open("w", encoding="utf-8")
        self._stream.write(_text(line))
        self._stream.flush()

    def begin(self, lines: Iterable[Line]) -> None:
        """Begin a record with these lines, all or none: the file that was there is replaced once they are on disk.

        What a resumed run takes over is so never lost, however often the run is killed.
        """
        place = Path(os.path.realpath(self.path))
        place.parent.mkdir(parents=True, exist_ok=True)
        unfinished = place.with_name(f".{place.name}.{os.getpid()}")
        with unfinished.open("w", encoding="utf-8") as stream:
            stream.writelines(map(_text, lines))
            stream.flush()
            os.fsync(stream.fileno())
        unfinished.replace(place)
        self._stream = place.open("a", encoding="utf-8")

    def close(self) -> None:
        """Close the file, if anything was written."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None


def _text(line: Line) -> str:
    # ASCII: a lone surrogate of a model's reply is no UTF-8
    return json.dumps(line, ensure_ascii=True, separators=(",", ":"), default=str) + "\n"


def check_place(path: Path, option: str) -> None:
    """Refuse a place where no file can be written: raises `UsageError`."""
    if path.is_dir():
        raise UsageError(f"{option}: got the folder {path}, expected a file name")
    if not path.parent.is_dir():
        raise UsageError(f"{option}: the folder {path.parent} does not exist; create it first")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise UsageError(f"{option}: no permission to write {path}")


def check_writable(path: Path, option: str = "--memfail-record", first: str = "header", what: str = "record") -> None:
    """Refuse a place where a record (or what else begins with a line of the type `first`) cannot be, or must not be, written.

    Raises `UsageError`, with nothing touched.
    """
    check_place(path, option)
    if path.exists() and path.stat().st_size and _header(path, first) is None:
        raise UsageError(f"{option}: {path} exists and is not a {what} of memfail; it is left as it is")


def _header(path: Path, kind: str = "header") -> Line | None:
    try:
        with path.open(encoding="utf-8") as stream:
            first = json.loads(stream.readline())
    except (ValueError, OSError):
        return None
    return first if isinstance(first, dict) and first.get("type") == kind and "schema_version" in first else None


def read_record(path: Path) -> Iterator[Line]:
    """The lines of a record; a last line cut short by a crash is left out.

    Raises `UsageError` for a file that is none, or has a fault elsewhere.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read as a record ({one_line(error)})") from None
    if _header(path, "baseline") is not None:
        raise UsageError(f"{path}: is a baseline, not a record; give the record of the run (--memfail-record names it)")
    if _header(path) is None:
        raise UsageError(f"{path}: not a record of memfail: its first line is no header")
    lines = text.split("\n")
    for i, raw in enumerate(lines):
        if not raw:
            continue
        try:
            line = json.loads(raw)
        except ValueError:
            if i == len(lines) - 1:
                return
            raise UsageError(f"{path}:{i + 1}: not JSON; the record is damaged") from None
        if not isinstance(line, dict):
            raise UsageError(f"{path}:{i + 1}: got {type(line).__name__}, expected a JSON object")
        yield line
