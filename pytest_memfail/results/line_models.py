"""What a line of a record must look like to be read: the fields that readers rely on; others may come and go."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from pytest_memfail.core import ERROR, VERDICTS, UsageError, one_line
from pytest_memfail.results.gate import Gate
from pytest_memfail.results.record import Line


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)


class Memory(_Part):
    text: str
    id: str | None = None
    score: float | None = None
    timestamp: str | None = None
    metadata: dict[str, Any] = {}


class Stage(_Part):
    outcome: Literal["passed", "failed", "ungraded", "not_reached"]
    reason: str = ""
    confidence: float | None = None
    label: str | None = None
    entries: list[int] = []
    found: list[str] = []
    missing: list[str] = []
    reported: list[str] = []
    vacuous: bool = False


class Fact(_Part):
    id: str
    verdict: Literal[VERDICTS]  # type: ignore[valid-type]  # a tuple of texts
    text: str
    source: str
    decided_by: Literal["storage", "summary", "retrieval"]
    missing: list[str]
    storage: Stage
    summary: Stage
    retrieval: Stage
    closest: list[str]
    ranks: list[int | None]


class Fault(_Part):
    type: str
    message: str


class Question(_Part):
    id: str
    task: str
    store: str
    question: str
    k: int
    kind: str
    stratum: str
    text: str
    gold: list[str]
    row: str | None
    verdict: Literal[VERDICTS]  # type: ignore[valid-type]  # a tuple of texts
    error: Fault | None = None
    vacuous: bool = False
    memory_held: bool | None = None
    label: str | None = None
    facts: list[Fact] = []
    answer: Stage | None = None
    reply: str | None = None
    retrieved: list[Memory] = []
    seconds: dict[str, float] = {}
    repeats: list[str] = []
    shown_tokens: int | None = None
    store_tokens: int | None = None
    cut: int = 0

    @model_validator(mode="after")
    def _says_what_became_of_it(self) -> Question:
        if self.verdict == ERROR and self.error is None:
            raise ValueError("an error without its field 'error'")
        absent = {"vacuous", "memory_held", "facts", "answer", "reply", "retrieved"} - self.model_fields_set
        if self.verdict != ERROR and (absent or self.answer is None):
            raise ValueError(f"a verdict without {', '.join(map(repr, sorted(absent))) or repr('answer')}")
        return self


class Store(_Part):
    store: str
    task: str
    conversations: int
    fill_seconds: float
    memories: int
    tokens: int | None
    changed_by_queries: tuple[int, int]
    listings: list[list[Memory]]
    restored: bool = False
    shared_with: str | None = None


class TaskOfHeader(_Part):
    data_hash: str
    left_out: int = 0


class Header(_Part):
    schema_version: int
    memfail: str
    started: str
    system: str
    system_options: dict[str, Any]
    judge: str
    judge_options: dict[str, Any] = {}
    judge_weights: str | None = None
    test_taker: str | None
    model_options: dict[str, Any]
    protocol: str
    k: list[int]
    seed: int
    limit: int | None
    repeats: int | None = None
    shard: str | None = None
    shown_tokens: int | None = None
    approximate_tokens: str | None = None
    haystack: str | None = None
    tasks: dict[str, TaskOfHeader]
    stores: dict[str, int] = {}


class Spending(_Part):
    stage: str
    model: str


class Footer(_Part):
    exit_code: int
    complete: bool
    models: list[Spending] = []
    gate: Gate | None = None


MODELS: Final[dict[str, type[_Part]]] = {"header": Header, "question": Question, "store": Store, "footer": Footer}


def checked(lines: Iterable[Line], path: str) -> Iterator[Line]:
    """Yield the lines of a record as they are.

    Raises `UsageError` for the first that cannot be read, with the field.
    """
    for number, line in enumerate(lines, 1):
        kind = str(line.get("type"))
        if kind in MODELS:
            try:
                # as JSON a list is a tuple, and nothing else is guessed; a lone surrogate is no UTF-8
                text = json.dumps(line, ensure_ascii=False).encode("utf-8", "replace")
                MODELS[kind].model_validate_json(text)
            except ValidationError as error:
                first = error.errors(include_url=False, include_input=False)[0]
                where = ".".join(map(str, first["loc"]))
                raise _damaged(path, number, f"{kind}{f': {where}' if where else ''}: {first['msg']}") from None
        yield line


def _damaged(path: str, number: int, problem: str) -> UsageError:
    return UsageError(f"{path}:{number}: {one_line(problem)}; the record is damaged, or not of this version of memfail")
