"""Encode the questions for the page's script: each text once, however often it was retrieved."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from pytest_memfail.core import (
    ERROR,
    FAILURES,
    MEANINGS,
    MEMORY_FAILURES,
    MEMORY_STAGES,
    STATES,
    WRONGLY_HELD,
    FactVerdict,
    Memory,
    QuestionRecord,
)
from pytest_memfail.report.terminal import clue_line
from pytest_memfail.report.text import kept_of_it, why
from pytest_memfail.results import Loaded, is_unsure, twins
from pytest_memfail.safety import escape_controls


def page_data(records: Sequence[Loaded], names: Sequence[str]) -> str:
    """Return the data as JSON, compressed with gzip and encoded in base64."""
    texts: dict[str, int] = {}
    questions = [_question(one, i, record, texts) for i, record in enumerate(records) for one in record.questions]
    failed = any(question["v"] in (*FAILURES, ERROR) for question in questions)
    data = {
        "labels": list(names),
        "meanings": dict(MEANINGS),
        "failures": [*FAILURES, ERROR],
        "memory": [name for name in MEMORY_FAILURES if name != WRONGLY_HELD],
        "states": STATES,
        "start": {"verdict": "failed"} if failed else {},
        "questions": questions,
        "clues": {
            f"{i}.{number}": {"text": clue_line(clue), "ids": clue.questions}
            for i, record in enumerate(records)
            for number, clue in enumerate(record.summary().clues)
        },
        "stores": [store for i, record in enumerate(records) for store in _stores(i, record, texts)],
        "texts": list(texts),
    }
    if len(records) == 1 and (gate := records[0].summary().gate) is not None and gate.compared:
        flips = {flip.id: flip.change for flip in gate.flips}
        for question in questions:
            question["c"] = flips.get(question["id"], "same")
        data["start"] = {"change": "worse"} if gate.worse else data["start"]
    if len(records) > 1:
        _pair(records, questions)
        data["start"] = (
            {"change": "moved"} if any(question.get("c") in ("worse", "better") for question in questions) else {}
        )
    text = json.dumps(_readable(data), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # a lone surrogate is no UTF-8, and browsers have crashed over one; without a time, the same run makes the same page
    return base64.b64encode(gzip.compress(text.encode("utf-8", "replace"), 6, mtime=0)).decode("ascii")


def _pair(records: Sequence[Loaded], questions: Sequence[dict[str, Any]]) -> None:
    """Add to the questions of further records their twin in the first record, and how the outcome changed."""
    asked = [one for record in records for one in record.questions]
    places = {id(one): place for place, one in enumerate(asked)}
    for record in records[1:]:
        for pair in twins(records[0], record):
            moved = "other" if pair.change in (None, "same") and pair.old.state != pair.new.state else pair.change
            questions[places[id(pair.new)]] |= {"old": places[id(pair.old)], "c": moved or "same"}


def _stores(index: int, record: Loaded, texts: dict[str, int]) -> Iterator[dict[str, Any]]:
    """Yield the listings of each store."""
    for store in record.stores:
        changes = [(change.number, change.added, change.gone) for change in store.history]
        if store.listings:
            changes = [(0, store.listings[-1], ())]
        origins, likely = enumerate(store.origins), set(store.likely)
        if changes:
            yield {
                "r": index,
                "store": store.store,
                "task": store.task,
                "sessions": [[session.id, session.kept] for session in store.sessions],
                "lists": [
                    {
                        "number": number,
                        "added": [_memory(memory, texts, next(origins, (0, ())), likely) for memory in added],
                        "gone": list(gone),
                    }
                    for number, added, gone in changes
                ],
            }


def _memory(
    memory: Memory, texts: dict[str, int], origin: tuple[int, Sequence[int]], likely: Collection[int]
) -> dict[str, Any]:
    place, sessions = origin
    found: dict[str, Any] = {"t": texts.setdefault(memory.text, len(texts)), "from": list(sessions)}
    if memory.id is not None:
        found["id"] = memory.id
    if place in likely:
        found["likely"] = True
    return found


def _readable(value: Any) -> Any:
    """Return the data with control characters escaped: a direction mark must not reverse a memory."""
    if isinstance(value, str):
        return escape_controls(value)
    if isinstance(value, dict):
        return {key: _readable(item) for key, item in value.items()}
    return [_readable(item) for item in value] if isinstance(value, list) else value


def _question(question: QuestionRecord, index: int, record: Loaded, texts: dict[str, int]) -> dict[str, Any]:
    def kept(text: str | None) -> int | None:
        return None if text is None else texts.setdefault(text, len(texts))

    found: dict[str, Any] = {
        "r": index,
        "id": question.id,
        "task": question.group,
        "store": question.store,
        "name": question.question,
        "listing": question.listing,
        "m": question.counts_as_held,
        "ref": "beyond"
        if question.beyond_verbatim
        else "better"
        if question.better_than_verbatim
        else "ceiling"
        if question.at_ceiling
        else "",
        "k": question.k,
        "v": question.state,
        "unsure": is_unsure(question),
        "q": kept(question.text),
        "gold": list(question.gold),
        "row": question.row,
        "reply": kept(question.reply),
        "why": why(question),
        "lost": 0,
        "repeats": list(question.repeats),
        "rerun": record.header.rerun_command(question.id),
    }
    if question.error is not None:
        found["error"] = f"{question.error.type}: {question.error.message}"
        return found
    answer = question.answer
    found["lost"] = sum(len(fact.missing) for fact in question.facts)
    found["used"] = answer.outcome
    found["judged"] = ""
    if question.reply is not None:
        found["judged"] = ": ".join(filter(None, (answer.outcome, answer.reason)))
    found["retrieved"] = [[kept(memory.text), memory.score] for memory in question.retrieved]
    found["facts"] = [
        {
            "id": fact.id,
            "v": fact.state,
            "entries": sorted({*fact.storage.entries, *fact.summary.entries}),
            "text": kept(fact.text) if fact.text != fact.source else None,
            "source": kept(fact.source),
            "missing": list(fact.missing),
            "found": list(fact.deciding.found),
            "stages": _stages(fact),
            "closest": [kept(text) for text in fact.closest],
            "ranks": list(fact.ranks),
            "session": fact.conversation,
            "kept": None if fact.kept is None else [kept_of_it(fact.kept), [kept(text) for text in fact.kept.texts]],
        }
        for fact in question.facts
    ]
    return found


def _stages(fact: FactVerdict) -> list[list[str]]:
    """Return the stage, outcome and reason of each stage, up to the one that decided."""
    reached = MEMORY_STAGES[: MEMORY_STAGES.index(fact.decided_by) + 1]
    return [[stage, found.outcome, found.reason] for stage, found in zip(reached, fact.stages, strict=False)]
