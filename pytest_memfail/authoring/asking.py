"""Request rows in batches; check them, and request invalid ones again with the rule they broke."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Protocol, TypeVar

from pydantic import BaseModel

from pytest_memfail.authoring import prompts
from pytest_memfail.authoring.raw import Raw
from pytest_memfail.core import one_line
from pytest_memfail.llm import Completion, ModelCallError, ModelClient, RefusalError, ReplyError

TRIES: Final = 4
"""A batch is requested once and retried three times."""
CLIENT_TRIES: Final = 3
"""The requests of the client before it raises `ReplyError`; they count as tries of the batch."""
BARREN: Final = 3
"""The run ends after this many consecutive batches without a usable item."""
MOST_PROBLEMS: Final = 4


class Item(BaseModel):
    """A model's answer for one row."""

    row: int


I = TypeVar("I", bound=Item)  # noqa: E741 - an item
R = TypeVar("R", bound=BaseModel)
T = TypeVar("T")
Show = Callable[[str, int, int], None]
"""Called with the stage, the number of finished items, and the total."""


def _show_nothing(stage: str, done: int, total: int) -> None:
    del stage, done, total


@dataclass(slots=True)
class Session:
    """One run: the model it asks, and its progress."""

    client: ModelClient
    model: str
    raw: Raw
    show: Show = _show_nothing
    given_up: dict[str, str] = field(default_factory=dict)
    """Items that were given up, and why."""
    _barren: int = 0
    _stopped: str = ""
    _slots: asyncio.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        self._slots = asyncio.Semaphore(self.client.concurrency)

    async def ask(self, stage: str, messages: list[dict[str, str]], schema: type[BaseModel]) -> Completion:
        """Return one reply. Raise `ModelCallError`."""
        self._check()
        return await self.client.ask(model=self.model, messages=messages, stage=stage, schema=schema)

    @property
    def slots(self) -> asyncio.Semaphore:
        """Return the semaphore that limits concurrent batches."""
        return self._slots

    def ended(self, stage: str, batch: Batch) -> None:
        """Record a finished batch. Raise `ModelCallError` after too many consecutive ones without a result."""
        if self._stopped:
            return
        self._barren = 0 if batch.fruitful else self._barren + 1
        if self._barren >= BARREN:
            self._stopped = (
                f"{BARREN} batches in a row gave nothing usable ({stage}, {self.model}; the last: "
                f"{one_line(batch.problem, 200)}); try another model or a smaller --batch-size; "
                f"accepted items are in {self.raw.path}"
            )
        self._check()

    def _check(self) -> None:
        if self._stopped:  # waiting batches must not cost anything either
            raise ModelCallError(self._stopped)


class Batch(Protocol):
    """Items that are requested together."""

    @property
    def fruitful(self) -> bool:
        """Return whether any item was accepted."""

    @property
    def problem(self) -> str:
        """Return what was wrong with the last try."""

    def messages(self) -> list[dict[str, str]] | None:
        """Return the request; None if nothing is left to request."""

    def take(self, reply: BaseModel) -> None:
        """Accept the valid part of a reply and keep the rest for the next try."""

    def fail(self, problem: str) -> None:
        """Record that there was no usable reply."""


async def converse(session: Session, stage: str, schema: type[BaseModel], batch: Batch) -> None:
    """Request a batch until it is complete or its tries are used up.

    Only a few batches run at once, each to its end. If all took turns, a model that cannot do the task would cost the
    tries of all batches before any ended.

    Raises `ModelCallError` for errors that would affect every other call: the key, the budget, a dead endpoint.
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
    """Run all to their end even if one fails, so that paid replies are kept. Then raise the first error."""
    results = await asyncio.gather(*work, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if not isinstance(result, BaseException)]


@dataclass(frozen=True, slots=True)
class Stage(Generic[I]):
    """One kind of request, made for every row."""

    name: str
    item: type[I]
    reply: type[BaseModel]
    """A model whose list `rows` has the items."""
    instructions: str
    given: Callable[[int], Mapping[str, Any]]
    """Returns the task for the model, by the row's number (from 1)."""
    check: Callable[[int, I], list[str]]
    """Returns the rules that an item breaks."""
    size: int
    """Rows per request."""
    given_tokens: int
    reply_tokens: int
    """Approximate tokens per row, for the estimate."""
    in_turn: bool = False
    """Whether batches run one after the other, each with what earlier ones used."""
    taken: Callable[[], Mapping[str, Sequence[str]]] | None = None
    title: Callable[[int], str] = "row {}".format
    """Returns what a row is called in reports."""

    def key(self, number: int) -> str:
        """Return the row's key in the raw file."""
        return str(number)


class RowBatch(Generic[I]):
    """Some rows of one stage."""

    def __init__(self, stage: Stage[I], numbers: Sequence[int], accept: Callable[[int, I], None]) -> None:
        """Prepare the batch; `accept` is called with each valid item."""
        self._stage = stage
        self._accept = accept
        self._asked = len(numbers)
        self.problems: dict[int, list[str]] = {number: [] for number in numbers}
        """The missing rows, each with the rules that its last try broke."""

    @property
    def fruitful(self) -> bool:
        """Return whether any row was accepted."""
        return len(self.problems) < self._asked

    @property
    def problem(self) -> str:
        """Return what is wrong with the first missing row."""
        return "; ".join(next(iter(self.problems.values()), []))

    def messages(self) -> list[dict[str, str]] | None:
        """Return the request for the missing rows, with the rules that their last tries broke."""
        if not self.problems:
            return None
        asked: dict[str, Any] = {"rows": [{"row": n, **self._stage.given(n)} for n in self.problems]}
        if self._stage.taken is not None:
            asked["taken"] = self._stage.taken()
        broken = {f"row {n}": found for n, found in self.problems.items() if found}
        return prompts.messages(self._stage.instructions, asked, broken)

    def take(self, reply: BaseModel) -> None:
        """Accept the valid items."""
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
        """Record a problem of every missing row."""
        self.problems = {number: [problem] for number in self.problems}


class WholeReply(Generic[R]):
    """A reply that is accepted as a whole or requested again."""

    def __init__(
        self, instructions: str, asked: Mapping[str, Any], what: str, check: Callable[[R], Iterable[str]]
    ) -> None:
        """Prepare the request; `check` returns the rules that a reply breaks, `what` names the reply to the model."""
        self._instructions = instructions
        self._asked = asked
        self._what = what
        self._check = check
        self._problems: list[str] = []
        self.accepted: R | None = None

    @property
    def fruitful(self) -> bool:
        """Return whether a reply was accepted."""
        return self.accepted is not None

    @property
    def problem(self) -> str:
        """Return what was wrong with the last try."""
        return "; ".join(self._problems)

    def messages(self) -> list[dict[str, str]] | None:
        """Return the task, with the faults of the last try."""
        if self.accepted is not None:
            return None
        return prompts.messages(self._instructions, self._asked, {self._what: self._problems} if self._problems else {})

    def take(self, reply: BaseModel) -> None:
        """Accept the reply if it is valid."""
        given: R = reply  # type: ignore[assignment]  # the client has parsed it by the schema that it was asked with
        self._problems = list(self._check(given))[:MOST_PROBLEMS]
        if not self._problems:
            self.accepted = given

    def fail(self, problem: str) -> None:
        """Record that there was no usable reply."""
        self._problems = [problem]


async def run_stage(session: Session, stage: Stage[I], numbers: Sequence[int], done: dict[int, I]) -> None:
    """Fill `done` with the items of these rows: from the raw file, else from the model. Rows may stay missing."""
    for number in numbers:
        item = session.raw.get(stage.name, stage.key(number), stage.item)
        # check again: somebody may have edited the line, or the row it depends on
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
            session.given_up[stage.title(number)] = f"{stage.name}: {'; '.join(found)}"
            session.raw.give_up(stage.name, stage.key(number), "; ".join(found))

    batches = [todo[at : at + stage.size] for at in range(0, len(todo), stage.size)]
    if stage.in_turn:
        for batch in batches:
            await ask(batch)
    else:
        await together(ask(batch) for batch in batches)


def as_json(value: object) -> str:
    """Return compact JSON, as it is sent."""
    return json.dumps(value, ensure_ascii=False)
