"""Make the records of finished questions and stores from what the engine found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from pytest_memfail.core import (
    ERROR,
    ErrorRecord,
    Listing,
    Memory,
    Question,
    QuestionRecord,
    Trace,
    Verdict,
    one_line,
    places_in,
)
from pytest_memfail.records.codec import without_secrets
from pytest_memfail.records.record import ChangeRecord, StoreRecord


def question_record(
    node_id: str,
    store: str,
    question: Question,
    k: int,
    *,
    trace: Trace | None = None,
    verdict: Verdict | None = None,
    listing: Listing | None = None,
    repeats: Sequence[str] = (),
    error: BaseException | None = None,
) -> QuestionRecord:
    """Return a finished question without known secrets.

    If it ended with an error, it keeps only what was graded all the same (`verdict`), by which reply and memories.
    """
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
        "must_not_use": question.must_not_use,
    }
    fault = None if error is None else ErrorRecord(type=type(error).__name__, message=one_line(error, 1000))
    if verdict is None:
        return without_secrets(QuestionRecord(ERROR, **asked, error=fault))
    found = QuestionRecord(
        **{one.name: getattr(verdict, one.name) for one in fields(Verdict)},
        **asked,
        listing=listing.number if listing else 0,
        repeats=tuple(repeats),
        error=fault,
    )
    if trace is not None:
        found = replace(found, reply=trace.reply.text if trace.reply else None, retrieved=trace.shown)
    if trace is not None and fault is None:
        found = replace(
            found,
            places=places_in(listing, trace.shown) if listing else (),
            shown_tokens=trace.shown_tokens,
            store_tokens=trace.store_tokens,
            cut=trace.cut,
            seconds=trace.seconds,
        )
    return without_secrets(found)


def with_listings(record: StoreRecord, listings: Sequence[Listing], extracted: Sequence[Listing] = ()) -> StoreRecord:
    """Return the record of a finished store with its listings, without known secrets.

    `extracted` is what the system said that the conversations before each probe added.
    """
    is_only_one = len(listings) == 1 and not listings[0].number
    history = _history(listings)
    origins = [
        origin
        for listing, change in zip(listings, history, strict=True)
        if listing.origins is not None
        for origin in listing.origins.of[len(listing.memories) - len(change.added) :]
    ]
    last = listings[-1].origins if listings else None
    found = replace(
        record,
        listings=(listings[0].memories,) if is_only_one else (),
        history=() if is_only_one else history,
        sessions=last.sessions if last is not None else (),
        origins=tuple(origin.conversations for origin in origins),
        likely=tuple(at for at, origin in enumerate(origins) if origin.is_likely),
        extracted=tuple(ChangeRecord(number=one.number, added=one.memories) for one in extracted),
    )
    return without_secrets(found)


def _history(listings: Sequence[Listing]) -> tuple[ChangeRecord, ...]:
    """Return the differences between listings: a record grows with the entries, not with the number of listings."""
    changes, before = [], tuple[Memory, ...]()
    for listing in listings:
        now = listing.memories
        kept, gone = 0, []
        for place, memory in enumerate(before):
            if kept < len(now) and now[kept] == memory:
                kept += 1
            else:
                gone.append(place)
        changes.append(ChangeRecord(number=listing.number, added=now[kept:], gone=tuple(gone)))
        before = now
    return tuple(changes)
