"""Small memory systems, a judge and plans, for the tests to run on the real engine."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pytest_memfail.core import (
    Conversation,
    Fact,
    Ingest,
    Message,
    Probe,
    Question,
    StageResult,
    Step,
    StorePlan,
    SystemContext,
)
from pytest_memfail.engine import Ask, Engine, Result, StoreJob, StoreRun
from pytest_memfail.hosting import Resources, Shelf, StoreReport

PATIENCE = 10
"""Seconds that a test waits for what must happen; reached only where it never does."""

PASSED = StageResult("passed")
FAILED = StageResult("failed", "lost")

WORDS = (
    "amber birch cedar dusk ember fjord grove heath inlet jade karst loam marsh north ochre pine quartz reed slate tarn"
)


def fact(i: int) -> str:
    """A statement that shares few words with any other."""
    words = WORDS.split()
    return f"item{i} {words[i % 20]}{i} {words[(i * 7 + 3) % 20]}{i} {words[(i * 3 + 5) % 20]}{i}"


def said(i: int, text: str | None = None) -> Conversation:
    """The conversation in which fact i was said."""
    return Conversation(f"c-{i}", (Message("user", fact(i) if text is None else text),))


def question(i: int, facts: Sequence[int] | None = None, **changes: Any) -> Question:
    """The question whose query is fact i."""
    needed = tuple(f"e-{n}" for n in (facts if facts is not None else [i]))
    return Question(f"q-{i}", "t", f"ask {i}?", fact(i), ("yes",), needed, changes.pop("kind", "open"), **changes)


def evidence(n: int) -> dict[str, Fact]:
    """The expected facts 0 to n - 1."""
    return {f"e-{i}": Fact(f"e-{i}", "fact", fact(i), fact(i), f"c-{i}") for i in range(n)}


def plan(n: int) -> tuple[Step, ...]:
    """n conversations, then n questions."""
    return (*(Ingest(said(i)) for i in range(n)), Probe(tuple(question(i) for i in range(n))))


class Store:
    """A system without a fault: keeps texts, finds those that hold the whole query; logs its calls."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.log: list[str] = []

    def store_conversation(self, conversation: Conversation) -> None:
        self.log.append(f"store {conversation.id}")
        self.texts += [message.content for message in conversation.messages]

    def retrieve_memories(self, query: str, conversation: Conversation, k: int) -> list[Any]:
        self.log.append(f"retrieve {query.partition(' ')[0]}")
        return [text for text in self.texts if query in text]

    def get_all_memories(self) -> list[Any]:
        self.log.append("list")
        return list(self.texts)


class AsyncStore:
    """The same with async methods."""

    def __init__(self) -> None:
        self.inner = Store()

    async def store_conversation(self, conversation: Conversation) -> None:
        self.inner.store_conversation(conversation)

    async def retrieve_memories(self, query: str, conversation: Conversation, k: int) -> list[Any]:
        return self.inner.retrieve_memories(query, conversation, k)

    async def get_all_memories(self) -> list[Any]:
        return self.inner.get_all_memories()


class ExactJudge:
    """Looks for the fact's text, word for word; counts what it is asked."""

    inline = True

    def __init__(self) -> None:
        self.asked: Counter[tuple[str, str]] = Counter()

    def storage(self, evidence: Fact, store: Any) -> Any:
        self.asked["storage", evidence.id] += 1
        return PASSED if any(evidence.text in memory.text for memory in store.memories) else FAILED

    def summary(self, evidence: Fact, store: Any) -> Any:
        self.asked["summary", evidence.id] += 1
        return PASSED

    def retrieval(self, evidence: Fact, question: Question, shown: Any) -> Any:
        self.asked["retrieval", evidence.id] += 1
        return PASSED if any(evidence.text in memory.text for memory in shown) else FAILED

    def answer(self, question: Question, evidence: Any, reply: Any) -> Any:
        self.asked["answer", question.id] += 1
        return PASSED


class Peak:
    """Counts calls in flight; `full` is set when as many as expected are."""

    def __init__(self, expected: int = 1) -> None:
        self.expected = expected
        self.now = self.peak = 0
        self.threads: set[int] = set()
        self._lock = threading.Lock()

    def enter(self) -> None:
        with self._lock:
            self.now += 1
            self.peak = max(self.peak, self.now)
            self.threads.add(threading.get_ident())

    def leave(self) -> None:
        with self._lock:
            self.now -= 1

    @contextmanager
    def counted(self):
        self.enter()
        try:
            yield
        finally:
            self.leave()


class Meeting:
    """An async barrier of n calls that then stay a few turns of the loop, so that one too many would be seen."""

    def __init__(self, n: int) -> None:
        self.peak = Peak(n)
        self._full = asyncio.Event()

    async def attend(self) -> None:
        with self.peak.counted():
            if self.peak.now >= self.peak.expected:
                self._full.set()
            await asyncio.wait_for(self._full.wait(), PATIENCE)
            for _ in range(10):
                await asyncio.sleep(0)


class Bench:
    """An engine with what it was handed."""

    def __init__(self, path: Path, **options: Any) -> None:
        self.path = path
        self.judge = options.pop("judge", None) or ExactJudge()
        self.engine = Engine(Resources(judge=self.judge, **options))
        self._stores = 0

    def begin(
        self,
        factory: Callable[..., Any],
        steps: Sequence[Step],
        *,
        k: Sequence[int] = (5,),
        facts: int = 400,
        suspects: Sequence[str] = (),
        selected: Callable[[Question], bool] = lambda _: True,
        shelf: Shelf | None = None,
        known: Mapping[tuple[str, int], str] | None = None,
        opens: Callable[[], Mapping[str, Conversation]] | None = None,
        beside: Sequence[Conversation] = (),
    ) -> StoreRun:
        """Start a store; keys are `q-0@5`."""
        self._stores += 1
        name = f"s-{self._stores}"
        stored = StorePlan(name, tuple(steps), opens, beside=tuple(beside))
        asks = tuple(Ask(f"{q.id}@{n}", q, n) for q in stored.questions if selected(q) for n in k)
        context = SystemContext("run", name, self.path)
        return self.engine.begin(
            StoreJob(
                id=name,
                task="t",
                plan=stored,
                evidence=evidence(facts),
                factory=factory,
                context=context,
                asks=asks,
                suspects=frozenset(suspects),
                shelf=shelf,
                known=known or {},
            )
        )

    def get(self, run: StoreRun, key: str) -> Result:
        """The result of one ask."""
        return wait(run.result(key))

    def all(self, run: StoreRun) -> list[Result]:
        """The results of all asks, waited for in order."""
        return [self.get(run, ask.key) for ask in run.job.asks]

    def finish(self, run: StoreRun) -> StoreReport:
        """The report at the end of the store, with the doubts that affect something."""
        report = wait(run.finish())
        report.doubts = [doubt for doubt in report.doubts if doubt.affected]
        return report


def wait(future: Future[Any]) -> Any:
    """What the future holds, within a generous time."""
    return future.result(timeout=PATIENCE)


def names(results: Sequence[Result]) -> list[str]:
    """The verdicts; an error raises."""
    for result in results:
        if result.error is not None:
            raise result.error
    return [result.verdict.name for result in results]
