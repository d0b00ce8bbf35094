"""Encode the questions for the page's script: each text once, however often it was retrieved."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pytest_memfail.core import ERROR, FAILURES, MEANINGS, STAGES, escape_controls
from pytest_memfail.report.rerun import rerun_words
from pytest_memfail.report.text import why
from pytest_memfail.results import FactRecord, Header, Loaded, QuestionRecord, is_unsure


def page_data(records: Sequence[Loaded], names: Sequence[str]) -> str:
    """Return JSON that is safe inside a script element: it can neither end the element nor begin a comment."""
    texts: dict[str, int] = {}
    data = {
        "labels": list(names),
        "meanings": dict(MEANINGS),
        "failures": [*FAILURES, ERROR],
        "questions": [
            _question(one, i, record.header, texts) for i, record in enumerate(records) for one in record.questions
        ],
        "texts": list(texts),
    }
    # not ASCII: writing the file then replaces a lone surrogate, over which browsers have crashed
    text = json.dumps(_readable(data), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _readable(value: Any) -> Any:
    """Return the data with control characters escaped: a direction mark must not reverse a memory."""
    if isinstance(value, str):
        return escape_controls(value)
    if isinstance(value, dict):
        return {key: _readable(item) for key, item in value.items()}
    return [_readable(item) for item in value] if isinstance(value, list) else value


def _question(question: QuestionRecord, record: int, header: Header, texts: dict[str, int]) -> dict[str, Any]:
    def kept(text: str | None) -> int | None:
        return None if text is None else texts.setdefault(text, len(texts))

    found: dict[str, Any] = {
        "r": record,
        "id": question.id,
        "task": question.group,
        "k": question.k,
        "v": question.verdict,
        "unsure": is_unsure(question),
        "q": kept(question.text),
        "gold": list(question.gold),
        "row": question.row,
        "reply": kept(question.reply),
        "why": why(question),
        "repeats": list(question.repeats),
        "rerun": rerun_words(header, question.id),
    }
    if question.error is not None:
        found["error"] = f"{question.error.type}: {question.error.message}"
        return found
    answer = question.answer
    found["judged"] = ""
    if question.reply is not None and answer is not None:
        found["judged"] = ": ".join(filter(None, (answer.outcome, answer.reason)))
    found["retrieved"] = [[kept(memory.text), memory.score] for memory in question.retrieved]
    found["facts"] = [
        {
            "v": fact.verdict,
            "text": kept(fact.text) if fact.text != fact.source else None,
            "source": kept(fact.source),
            "missing": list(fact.missing),
            "found": list(fact.deciding.found),
            "stages": _stages(fact),
            "closest": [kept(text) for text in fact.closest],
            "ranks": list(fact.ranks),
        }
        for fact in question.facts
    ]
    return found


def _stages(fact: FactRecord) -> list[list[str]]:
    """Return the stage, outcome and reason of each stage, up to the one that decided."""
    reached = STAGES[: STAGES.index(fact.decided_by) + 1]
    return [[stage, fact.stage(stage).outcome, fact.stage(stage).reason] for stage in reached]
