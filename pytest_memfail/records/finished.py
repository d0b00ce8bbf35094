"""Make the records of finished questions and stores from what the engine found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeVar

from pytest_memfail.core import (
    ERROR,
    Doubt,
    Fact,
    FactVerdict,
    Listing,
    Memory,
    Question,
    StageResult,
    Trace,
    Verdict,
    one_line,
    rank_of,
)
from pytest_memfail.records.codec import fields_of, read, write
from pytest_memfail.records.record import (
    ChangeRecord,
    ErrorRecord,
    FactRecord,
    MemoryRecord,
    QuestionRecord,
    StageRecord,
    StoreRecord,
)
from pytest_memfail.safety import mask_options, public

CLOSEST: Final = 2
"""How many of the entries that a judge relied on are recorded for a fact."""

T = TypeVar("T")


def question_record(
    node_id: str,
    store: str,
    question: Question,
    k: int,
    evidence: Sequence[Fact],
    *,
    trace: Trace | None = None,
    verdict: Verdict | None = None,
    listing: Listing | None = None,
    repeats: Sequence[str] = (),
    error: BaseException | None = None,
) -> QuestionRecord:
    """Return a finished question without known secrets; if `verdict` is None, the question ended with `error`."""
    asked: dict[str, Any] = {
        "id": node_id,
        "task": question.task,
        "store": store,
        "question": question.id,
        "k": k,
        "kind": question.kind,
        "stratum": question.stratum,
        "text": question.text,
        "gold": question.gold,
        # the file's name alone: a record may be shared, and must not reveal paths of this machine
        "row": f"{Path(question.file).name}:{question.line} {question.place}".rstrip() if question.file else None,
        "part": question.part,
        "cluster": question.cluster,
        "weight": question.weight,
    }
    if verdict is None:
        fault = ErrorRecord(type=type(error).__name__, message=one_line(error, 1000))
        return _public(QuestionRecord(**asked, verdict=ERROR, error=fault))
    by_id = {fact.id: fact for fact in evidence}
    memories = listing.memories if listing else ()
    asked["listing"] = listing.number if listing else 0
    shown = trace.shown if trace else ()
    found = QuestionRecord(
        **asked,
        verdict=verdict.name,
        vacuous=verdict.vacuous,
        memory_held=verdict.memory_held,
        credited=verdict.credited,
        score=verdict.score,
        label=verdict.label,
        facts=tuple(_fact(fact, by_id[fact.evidence_id], memories, shown) for fact in verdict.facts),
        answer=_stage(verdict.answer),
        reply=trace.reply.text if trace and trace.reply else None,
        retrieved=tuple(map(_memory, shown)),
        shown_tokens=trace.shown_tokens if trace else None,
        store_tokens=trace.store_tokens if trace else None,
        cut=trace.cut if trace else 0,
        seconds=dict(trace.seconds) if trace else {},
        repeats=tuple(repeats),
    )
    return _public(found)


def store_record(
    store: str,
    task: str,
    *,
    conversations: int,
    fill_seconds: float,
    listings: Sequence[Listing],
    extracted: Sequence[Listing] = (),
    tokens: int | None,
    changed: tuple[int, int],
    late: int = 0,
    shared_with: str | None = None,
    doubts: Sequence[Doubt] = (),
    described: Mapping[str, str],
    restored: bool = False,
    model_calls: Mapping[str, int] = MappingProxyType({}),
) -> StoreRecord:
    """Return a finished store without known secrets."""
    found = StoreRecord(
        store=store,
        task=task,
        conversations=conversations,
        fill_seconds=fill_seconds,
        restored=restored,
        memories=len(listings[-1].memories) if listings else 0,
        tokens=tokens,
        changed_by_queries=changed,
        late=late,
        shared_with=shared_with,
        doubts=tuple(doubts),
        system=mask_options(described),
        model_calls=dict(model_calls),
        listings=(tuple(map(_memory, listings[0].memories)),) if len(listings) == 1 and not listings[0].number else (),
        history=_history(listings) if len(listings) > 1 or any(listing.number for listing in listings) else (),
        extracted=tuple(ChangeRecord(number=one.number, added=tuple(map(_memory, one.memories))) for one in extracted),
    )
    return _public(found)


def _history(listings: Sequence[Listing]) -> tuple[ChangeRecord, ...]:
    """Return the differences between listings: a record grows with the entries, not with the number of listings."""
    changes, before = [], tuple[MemoryRecord, ...]()
    for listing in listings:
        now = tuple(map(_memory, listing.memories))
        kept, gone = 0, []
        for place, memory in enumerate(before):
            if kept < len(now) and now[kept] == memory:
                kept += 1
            else:
                gone.append(place)
        changes.append(ChangeRecord(number=listing.number, added=now[kept:], gone=tuple(gone)))
        before = now
    return tuple(changes)


def _public(record: T) -> T:
    """Return a record without known secrets and without values that JSON lacks, such as a score that is not finite."""
    return read(type(record), public(write(record)))


def _fact(fact: FactVerdict, evidence: Fact, memories: Sequence[Memory], shown: Sequence[Memory]) -> FactRecord:
    stage, deciding = fact.deciding
    stored = fact.summary if fact.summary.entries else fact.storage
    entries = [memories[i] for i in stored.entries if 0 <= i < len(memories)][:CLOSEST]
    return FactRecord(
        id=fact.evidence_id,
        verdict=fact.name,
        text=evidence.text,
        source=evidence.source,
        decided_by=stage,  # type: ignore[arg-type]  # one of the three
        missing=deciding.missing,
        storage=_stage(fact.storage),
        summary=_stage(fact.summary),
        retrieval=_stage(fact.retrieval),
        closest=tuple(memories[i].text for i in stored.entries[:CLOSEST] if 0 <= i < len(memories)),
        ranks=tuple(rank_of(memory, shown) for memory in entries),
    )


def _stage(result: StageResult) -> StageRecord:
    return StageRecord(**{name: getattr(result, name) for name in fields_of(StageRecord)})


def _memory(memory: Memory) -> MemoryRecord:
    return MemoryRecord(**{name: getattr(memory, name) for name in fields_of(MemoryRecord)})
