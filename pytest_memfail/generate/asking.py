"""Batches of rows: asked for, checked, and asked for again with the rule that was broken."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Protocol, TypeVar

from pydantic import BaseModel

from pytest_memfail.core import one_line
from pytest_memfail.generate import prompts
from pytest_memfail.generate.raw import Raw
from pytest_memfail.llm import Completion, ModelCallError, ModelClient, RefusalError, ReplyError

TRIES: Final = 4
"""A batch is asked for once, and three times again."""
CLIENT_TRIES: Final = 3
"""How often the client has asked when it raises `ReplyError`; they count as tries of the batch."""
BARREN: Final = 3
"""So many batches in a row without one usable item end the run: the model cannot do it."""
MOST_PROBLEMS: Final = 4


class Item(BaseModel):
    """What a model makes of one row."""

    row: int


I = TypeVar("I", bound=Item)  # noqa: E741 - an item
R = TypeVar("R", bound=BaseModel)
T = TypeVar("T")
Show = Callable[[str, int, int], None]
"""Is told the stage, and how many of how many items are done."""


def _show_nothing(stage: str, done: int, total: int) -> None:
    del stage, done, total


@dataclass(slots=True)
class Session:
    """One run: whom it asks, and what it has."""

    client: ModelClient
    model: str
    raw: Raw
    show: Show = _show_nothing
    given_up: dict[str, str] = field(default_factory=dict)
    """What could not be had, and why."""
    _barren: int = 0
    _stopped: str = ""
    _slots: asyncio.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        self._slots = asyncio.Semaphore(self.client.concurrency)

    async def ask(self, stage: str, messages: list[dict[str, str]], schema: type[BaseModel]) -> Completion:
        """One reply; raises `ModelCallError`."""
        self._check()
        return await self.client.ask(model=self.model, messages=messages, stage=stage, schema=schema)

    @property
    def slots(self) -> asyncio.Semaphore:
        """One for each batch that may be under way."""
        return self._slots

    def ended(self, stage: str, batch: Batch) -> None:
        """A batch is over. Raises `ModelCallError` when too many in a row brought nothing."""
        if self._stopped:
            return
        self._barren = 0 if batch.fruitful else self._barren + 1
        if self._barren >= BARREN:
            self._stopped = (
                f"{BARREN} batches in a row gave nothing that can be used ({stage}, {self.model}; the last: "
                f"{one_line(batch.problem, 200)}); try another model or a smaller --batch-size; "
                f"what was accepted is in {self.raw.path}"
            )
        self._check()

    def _check(self) -> None:
        if self._stopped:  # batches that wait for their turn must not be paid for either
            raise ModelCallError(self._stopped)


class Batch(Protocol):
    """What is asked for together."""

    @property
    def fruitful(self) -> bool:
        """Whether it has brought anything."""

    @property
    def problem(self) -> str:
        """What was wrong with the last try."""

    def messages(self) -> list[dict[str, str]] | None:
        """What to ask; None when nothing is left to ask for."""

    def take(self, reply: BaseModel) -> None:
        """Sort a reply into what is accepted and what must be asked for again."""

    def fail(self, problem: str) -> None:
        """There was no usable reply."""


async def converse(session: Session, stage: str, schema: type[BaseModel], batch: Batch) -> None:
    """Ask for a batch until it is complete or its tries are used up.

    Few batches are under way at once, each to its end: all of them taking turns, none would be over, and a model that cannot do it
    would be paid for the tries of all.

    Raises `ModelCallError` for what would meet every other call too: the key, the budget, a dead endpoint.
    """
    async with session.slots:
        await _converse(session, stage, schema, batch)
        session.ended(stage, batch)


async def _converse(session: Session, stage: str, schema: type[BaseModel], batch: Batch) -> None:
    asked = 0
    while asked < TRIES and (messages := batch.messages()) is not None:
        try:
            reply = await session.ask(stage, messages, schema)
        except ReplyError as error:
            asked += CLIENT_TRIES
            batch.fail(f"the reply could not be used: {one_line(error, 160)}")
        except RefusalError as error:
            asked += 1
            batch.fail(one_line(error, 160))
        else:
            asked += 1
            assert reply.parsed is not None
            batch.take(reply.parsed)


async def together(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Run all to their end, also when one fails: what the others are paid for is kept. Raises the first error."""
    results = await asyncio.gather(*work, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if not isinstance(result, BaseException)]


@dataclass(frozen=True, slots=True)
class Stage(Generic[I]):
    """One thing that is asked for of every row."""

    name: str
    item: type[I]
    reply: type[BaseModel]
    """Has the list `rows` of items."""
    instructions: str
    given: Callable[[int], Mapping[str, Any]]
    """What the model is told of a row, by its number (from 1)."""
    check: Callable[[int, I], list[str]]
    """The rules that an item breaks."""
    size: int
    """Rows asked for together."""
    given_tokens: int
    reply_tokens: int
    """About how many a row has, for the estimate."""
    in_turn: bool = False
    """One batch after the other, each told what the others took."""
    taken: Callable[[], Mapping[str, Sequence[str]]] | None = None

    def key(self, number: int) -> str:
        """The row's key in the raw file."""
        return str(number)


class RowBatch(Generic[I]):
    """Some rows of one stage."""

    def __init__(self, stage: Stage[I], numbers: Sequence[int], accept: Callable[[int, I], None]) -> None:
        """Nothing is asked yet; `accept` is handed each item that breaks no rule."""
        self._stage = stage
        self._accept = accept
        self._asked = len(numbers)
        self.problems: dict[int, list[str]] = {number: [] for number in numbers}
        """Of the rows that are still wanted: the rules that the last try broke."""

    @property
    def fruitful(self) -> bool:
        """Whether any row was accepted."""
        return len(self.problems) < self._asked

    @property
    def problem(self) -> str:
        """What is wrong with the first row that is still wanted."""
        return "; ".join(next(iter(self.problems.values()), []))

    def messages(self) -> list[dict[str, str]] | None:
        """The rows that are still wanted, and what was wrong with them."""
        if not self.problems:
            return None
        asked: dict[str, Any] = {"rows": [{"row": n, **self._stage.given(n)} for n in self.problems]}
        if self._stage.taken is not None:
            asked["taken"] = self._stage.taken()
        broken = {f"row {n}": found for n, found in self.problems.items() if found}
        return prompts.messages(self._stage.instructions, asked, broken)

    def take(self, reply: BaseModel) -> None:
        """Accept what breaks no rule."""
        items: list[I] = reply.rows  # type: ignore[attr-defined]  # every reply schema has it
        for number in list(self.problems):
            given = [item for item in items if item.row == number]
            if len(given) != 1:
                self.problems[number] = [f"got {len(given)} items for this row, expected exactly one"]
            elif found := self._stage.check(number, given[0]):
                self.problems[number] = found[:MOST_PROBLEMS]
            else:
                del self.problems[number]
                self._accept(number, given[0])

    def fail(self, problem: str) -> None:
        """Every row that is wanted has this problem."""
        self.problems = {number: [problem] for number in self.problems}


class WholeReply(Generic[R]):
    """One thing, whose reply is accepted whole or asked for again."""

    def __init__(
        self, instructions: str, asked: Mapping[str, Any], what: str, check: Callable[[R], Iterable[str]]
    ) -> None:
        """Nothing is asked yet; `check` gives the rules that a reply breaks, and `what` names it to the model."""
        self._instructions = instructions
        self._asked = asked
        self._what = what
        self._check = check
        self._problems: list[str] = []
        self.accepted: R | None = None

    @property
    def fruitful(self) -> bool:
        """Whether a reply was accepted."""
        return self.accepted is not None

    @property
    def problem(self) -> str:
        """What was wrong with the last try."""
        return "; ".join(self._problems)

    def messages(self) -> list[dict[str, str]] | None:
        """The task, and what was wrong with the last try."""
        if self.accepted is not None:
            return None
        return prompts.messages(self._instructions, self._asked, {self._what: self._problems} if self._problems else {})

    def take(self, reply: BaseModel) -> None:
        """Accept what breaks no rule."""
        given: R = reply  # type: ignore[assignment]  # the client has parsed it by the schema that it was asked with
        self._problems = list(self._check(given))[:MOST_PROBLEMS]
        if not self._problems:
            self.accepted = given

    def fail(self, problem: str) -> None:
        """There was no usable reply."""
        self._problems = [problem]


async def run_stage(session: Session, stage: Stage[I], numbers: Sequence[int], done: dict[int, I]) -> None:
    """Fill `done` with the items of these rows: from the raw file, else from the model. Rows may be left out."""
    for number in numbers:
        item = session.raw.get(stage.name, stage.key(number), stage.item)
        # checked again: a line may have been mended by hand, or the row that it belongs to
        if item is not None and not stage.check(number, item):
            done[number] = item
    todo = [number for number in numbers if number not in done]

    def accept(number: int, item: I) -> None:
        done[number] = item
        session.raw.add(stage.name, stage.key(number), item)
        session.show(stage.name, len(done), len(numbers))

    async def ask(batch: Sequence[int]) -> None:
        rows = RowBatch(stage, batch, accept)
        await converse(session, stage.name, stage.reply, rows)
        for number, found in rows.problems.items():
            session.given_up[f"row {number}"] = f"{stage.name}: {'; '.join(found)}"
            session.raw.give_up(stage.name, stage.key(number), "; ".join(found))

    batches = [todo[at : at + stage.size] for at in range(0, len(todo), stage.size)]
    if stage.in_turn:
        for batch in batches:
            await ask(batch)
    else:
        await together(ask(batch) for batch in batches)


def as_json(value: object) -> str:
    """Compact JSON, as it is sent."""
    return json.dumps(value, ensure_ascii=False)
