"""Request rows in batches; check them, and request invalid ones again with the rule they broke."""

from __future__ import annotations

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Generic, TypeVar

from pydantic import BaseModel

from pytest_memfail.authoring.prompts import Messages, messages
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
K = TypeVar("K", int, str)
Show = Callable[[str, int, int], None]
"""Called with the stage, the number of finished items, and the total."""


@dataclass(slots=True)
class Session:
    """One run: the model it asks, and its progress."""

    client: ModelClient
    model: str
    raw: Raw
    progress: Show | None = None
    given_up: dict[str, str] = field(default_factory=dict)
    """Items that were given up, and why."""
    slots: asyncio.Semaphore = field(init=False)
    """Limits concurrent batches."""
    _barren: int = 0
    _stopped: str = ""

    def __post_init__(self) -> None:
        self.slots = asyncio.Semaphore(self.client.concurrency)

    def show(self, stage: str, done: int, total: int) -> None:
        """Report progress, if the caller wants it."""
        if self.progress is not None:
            self.progress(stage, done, total)

    async def ask(self, stage: str, messages: Messages, schema: type[BaseModel]) -> Completion:
        """Return one reply. Raise `ModelCallError`."""
        self._check()
        return await self.client.ask(model=self.model, messages=messages, stage=stage, schema=schema)

    def ended(self, stage: str, batch: Batch[Any]) -> None:
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


class Batch(ABC, Generic[K]):
    """Items that are requested together."""

    label: ClassVar[str] = "{}"
    """What the model reads as the name of an item."""

    def __init__(self, instructions: str, missing: Iterable[K]) -> None:
        """Prepare the requests for some items."""
        self._instructions = instructions
        self.problems: dict[K, list[str]] = {item: [] for item in missing}
        """The missing items, each with the rules that its last try broke."""
        self.fruitful = False
        """Whether any item was accepted."""

    @property
    def problem(self) -> str:
        """Return what is wrong with the first missing item."""
        return "; ".join(next(iter(self.problems.values()), []))

    def messages(self) -> Messages | None:
        """Return the request for the missing items; None if nothing is left to request."""
        broken = {self.label.format(item): found for item, found in self.problems.items() if found}
        return messages(self._instructions, self.asked(), broken) if self.problems else None

    def fail(self, problem: str) -> None:
        """Record that there was no usable reply."""
        self.problems = {item: [problem] for item in self.problems}

    @abstractmethod
    def asked(self) -> Mapping[str, Any]:
        """Return the task for the model."""

    @abstractmethod
    def take(self, reply: Any) -> None:
        """Accept the valid part of a reply and keep the rest for the next try."""


async def converse(session: Session, stage: str, schema: type[BaseModel], batch: Batch[Any]) -> None:
    """Request a batch until it is complete or its tries are used up.

    Only a few batches run at once, each to its end. If all took turns, a model that cannot do the task would cost the
    tries of all batches before any ended.

    Raises `ModelCallError` for errors that would affect every other call: the key, the budget, a dead endpoint.
    """
    async with session.slots:
        asked = 0
        while asked < TRIES and (request := batch.messages()) is not None:
            try:
                reply = await session.ask(stage, request, schema)
            except ReplyError as error:
                asked += CLIENT_TRIES
                batch.fail(f"the reply could not be used: {one_line(error, 160)}")
            except RefusalError as error:
                asked += 1
                batch.fail(one_line(error, 160))
            else:
                asked += 1
                batch.take(reply.parsed)
        session.ended(stage, batch)


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
    check: Callable[[int, I], Iterable[str]]
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


class RowBatch(Batch[int], Generic[I]):
    """Some rows of one stage."""

    label = "row {}"

    def __init__(self, stage: Stage[I], numbers: Sequence[int], accept: Callable[[int, I], None]) -> None:
        """Prepare the batch; `accept` is called with each valid item."""
        super().__init__(stage.instructions, numbers)
        self._stage = stage
        self._accept = accept

    def asked(self) -> Mapping[str, Any]:
        """Return the missing rows, and what earlier batches used."""
        rows = [{"row": number, **self._stage.given(number)} for number in self.problems]
        return {"rows": rows} if self._stage.taken is None else {"rows": rows, "taken": self._stage.taken()}

    def take(self, reply: Any) -> None:
        """Accept the valid items."""
        for number in list(self.problems):
            given = [item for item in reply.rows if item.row == number]
            if len(given) != 1:
                self.problems[number] = [f"got {len(given)} items for this row, expected exactly one"]
            elif found := list(self._stage.check(number, given[0])):
                self.problems[number] = found[:MOST_PROBLEMS]
            else:
                del self.problems[number]
                self.fruitful = True
                self._accept(number, given[0])


class WholeReply(Batch[str], Generic[R]):
    """A reply that is accepted as a whole or requested again."""

    def __init__(
        self, instructions: str, asked: Mapping[str, Any], what: str, check: Callable[[R], Iterable[str]]
    ) -> None:
        """Prepare the request; `check` returns the rules that a reply breaks, `what` names the reply to the model."""
        super().__init__(instructions, [what])
        self._asked = asked
        self._what = what
        self._check = check
        self.accepted: R | None = None

    def asked(self) -> Mapping[str, Any]:
        """Return the task."""
        return self._asked

    def take(self, reply: Any) -> None:
        """Accept the reply if it is valid."""
        if found := list(self._check(reply)):
            self.problems = {self._what: found[:MOST_PROBLEMS]}
        else:
            self.problems, self.accepted, self.fruitful = {}, reply, True


async def run_stage(session: Session, stage: Stage[I], numbers: Sequence[int], done: dict[int, I]) -> None:
    """Fill `done` with the items of these rows: from the raw file, else from the model. Rows may stay missing."""
    for number in numbers:
        item = session.raw.get(stage.name, str(number), stage.item)
        # check again: somebody may have edited the line, or the row it depends on
        if item is not None and not any(stage.check(number, item)):
            done[number] = item
    todo = [number for number in numbers if number not in done]

    def accept(number: int, item: I) -> None:
        done[number] = item
        session.raw.add(stage.name, str(number), item)
        session.show(stage.name, len(done), len(numbers))

    async def ask(batch: Sequence[int]) -> None:
        rows = RowBatch(stage, batch, accept)
        await converse(session, stage.name, stage.reply, rows)
        for number, found in rows.problems.items():
            session.given_up[stage.title(number)] = f"{stage.name}: {'; '.join(found)}"
            session.raw.give_up(stage.name, str(number), "; ".join(found))

    batches = [todo[at : at + stage.size] for at in range(0, len(todo), stage.size)]
    if stage.in_turn:
        for batch in batches:
            await ask(batch)
    else:
        await together(ask(batch) for batch in batches)


def as_json(value: object) -> str:
    """Return compact JSON, as it is sent."""
    return json.dumps(value, ensure_ascii=False)
