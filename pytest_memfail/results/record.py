"""The record of a run: JSON Lines of plain values, written line by line.

A header, then one line per question and per store as they end, then a footer. `type` tells them apart.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

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
    check_place,
    mask_options,
    one_line,
    os_reason,
    public,
    rank_of,
    replacing,
    write_all,
    write_whole,
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
        return _public(line)
    line |= {
        "vacuous": verdict.vacuous,
        "memory_held": verdict.memory_held,
        "credited": verdict.credited,
        "label": verdict.label,
        "facts": [_fact(f, by_id[f.evidence_id], memories, shown) for f in verdict.facts],
        "answer": _stage(verdict.answer),
        "reply": trace.reply.text if trace and trace.reply else None,
        "retrieved": [_memory(memory) for memory in shown],
        "shown_tokens": trace.shown_tokens if trace else None,
        "store_tokens": trace.store_tokens if trace else None,
        "cut": trace.cut if trace else 0,
        "seconds": dict(trace.seconds) if trace else {},
    }
    if repeats:
        line["repeats"] = list(repeats)
    return _public(line)


def store_line(
    store: str,
    task: str,
    *,
    conversations: int,
    fill_seconds: float,
    listings: Sequence[Listing],
    tokens: int | None,
    changed: tuple[int, int],
    shared_with: str | None = None,
    described: Mapping[str, str],
    restored: bool = False,
) -> dict[str, Any]:
    """One store as plain values, with every listing that its questions were judged by."""
    line = {
        "type": "store",
        "store": store,
        "task": task,
        "conversations": conversations,
        "fill_seconds": fill_seconds,
        "restored": restored,
        "memories": len(listings[-1].memories) if listings else 0,
        "tokens": tokens,
        "changed_by_queries": list(changed),
        "shared_with": shared_with,
        "system": mask_options(described),
        "listings": [[_memory(memory) for memory in listing.memories] for listing in listings],
    }
    return _public(line)


def _public(line: Line) -> dict[str, Any]:
    """The line without known secrets, and of what JSON has only: a score that is no finite number is left out."""
    found: dict[str, Any] = public(line)
    return found


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
    if result.vacuous:
        line["vacuous"] = True
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
    """Writes a new record line by line: what was written survives the death of the process.

    A line that cannot be written (a full disk) is kept in memory, and tried again with the next one: a run does not end
    for its record. `fault` says what is wrong, as long as something is.
    """

    def __init__(self, path: Path | None) -> None:
        """`path` None keeps the record in memory: there is nowhere to write it."""
        self.path = path
        self.fault: OSError | None = None
        self._handle: int | None = None
        self._written = 0
        """Bytes of whole lines in the file."""
        self._waiting: list[bytes] = []

    def begin(self, lines: Iterable[Line]) -> None:
        """Begin a record with these lines, all or none: the file that was there is replaced once they are on disk.

        What a resumed run takes over is so never lost, however often the run is killed.
        """
        content = [_bytes(line) for line in lines]
        if self.path is None:
            self._waiting = content
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(self.path) as handle:
                write_all(handle, b"".join(content))
            self._handle, self._written, self.fault = handle, sum(map(len, content)), None
        except OSError as error:
            self.fault, self._waiting = error, content

    def write(self, line: Line) -> None:
        """Write one line; the first begins the record."""
        if self._handle is None and not self._waiting:
            self.begin([line])
            return
        self._waiting.append(_bytes(line))
        self._catch_up()

    def lines(self) -> Iterator[Line]:
        """Read back all lines of this record, even if its file has been removed or replaced since."""
        written = b"" if self._handle is None else _read(self._handle, self._written)
        for raw in (*written.splitlines(keepends=True), *self._waiting):
            yield json.loads(raw)

    @property
    def is_removed(self) -> bool:
        """Whether the file that was begun is no longer there."""
        return self._handle is not None and self.path is not None and not self.path.exists()

    @property
    def is_replaced(self) -> bool:
        """Whether another file has been put where this one was begun."""
        if self._handle is None or self.path is None:
            return False
        try:
            return not os.path.samestat(os.fstat(self._handle), self.path.stat())
        except OSError:
            return False

    def restore(self) -> None:
        """Write the record anew if its file was removed, or could not be written to; `fault` says if that was in vain."""
        if self.path is None or self.is_replaced or not (self.is_removed or self._waiting):
            return
        again = RecordWriter(self.path)
        again.begin(self.lines())
        self.fault = again.fault
        if again.fault is None:
            self.close()
            self._handle, self._written, self._waiting = again._handle, again._written, []

    def close(self) -> None:
        """Close the file, if anything was written."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def _catch_up(self) -> None:
        if self._handle is None:
            return
        try:
            if self.fault is not None:
                os.ftruncate(self._handle, self._written)  # the part of a line that did fit
                os.lseek(self._handle, self._written, os.SEEK_SET)
            while self._waiting:
                write_all(self._handle, self._waiting[0])
                self._written += len(self._waiting.pop(0))
            self.fault = None
        except OSError as error:
            self.fault = error


def write_record(path: Path, lines: Iterable[Line]) -> None:
    """Write a whole record, or raise `OSError` with nothing changed."""
    write_whole(path, b"".join(map(_bytes, lines)))


def _read(handle: int, size: int) -> bytes:
    """The first bytes of an open file; the place where it is written stays."""
    at = os.lseek(handle, 0, os.SEEK_CUR)
    os.lseek(handle, 0, os.SEEK_SET)
    try:
        parts = []
        while size and (part := os.read(handle, min(size, 1 << 24))):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)
    finally:
        os.lseek(handle, at, os.SEEK_SET)


def _bytes(line: Line) -> bytes:
    # ASCII: a lone surrogate of a model's reply is no UTF-8
    text = json.dumps(public(line), ensure_ascii=True, allow_nan=False, separators=(",", ":"), default=str)
    return f"{text}\n".encode("ascii")


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
        raise UsageError(f"{path}: cannot be read as a record ({one_line(os_reason(error))})") from None
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
        yield cleaned(line)


def cleaned(line: Line) -> dict[str, Any]:
    """Return a line as it would be written today: older versions wrote secrets, and numbers that JSON does not have."""
    found: dict[str, Any] = public(line)
    for name in ("system_options", "model_options", "system"):
        if isinstance(options := found.get(name), dict):
            found[name] = mask_options(options)
    return found
