"""Schedule and answer the questions of a store, and reduce repeated verdicts to one."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final

from pytest_memfail.core import (
    ADDED_STAGE,
    CORRECT,
    FAILURES,
    NO_ANSWER,
    UNGRADED,
    VACUOUS,
    Fact,
    Listing,
    MemfailError,
    Memory,
    Question,
    Reply,
    RowTimes,
    StorePlan,
    TestTaker,
    Trace,
    Verdict,
)
from pytest_memfail.engine.grade import EarlierListing, Grader, NeededOutcome
from pytest_memfail.hosting import Captured, OpenSystem, Resources, Retrieved, TokenRules, called, raised_as

WORST_FIRST: Final = (*FAILURES, UNGRADED, NO_ANSWER, VACUOUS, CORRECT)


@dataclass(frozen=True, slots=True)
class Ask:
    """A question at one k; the key is unique within the run."""

    key: str
    question: Question
    k: int


@dataclass(slots=True)
class Result:
    """The outcome of one ask: a verdict with its trace, or an error.

    Beside an error, the verdict `error` has what was graded all the same.
    """

    ask: Ask
    trace: Trace | None = None
    verdict: Verdict | None = None
    error: BaseException | None = None
    listing: Listing | None = None
    started: float = 0.0
    """Seconds since the epoch."""
    seconds: float = 0.0
    captured: Captured = field(default_factory=Captured)
    repeats: tuple[str, ...] = ()
    """The name of each verdict if the question was repeated; `trace` and `verdict` are those of the majority."""


class QuestionWindow:
    """Decide which question of a store to ask next.

    Questions that somebody waits for come first. The others follow in order, at most `size` ahead of the waiting thread.
    A suspect is asked only when somebody waits for it. The waiting thread calls `take()`; the engine's loop calls the
    rest.
    """

    def __init__(
        self, probes: Mapping[str, int], suspects: Collection[str], size: int, hidden: Collection[str] = ()
    ) -> None:
        """`probes` maps each key to its probe number; nobody waits for the `hidden` keys."""
        self.is_paused = False
        """Whether no question may be asked until somebody takes an answer."""
        self._probes, self._suspects, self._size, self._hidden = probes, suspects, size, hidden
        self._taken: set[str] = set()
        self._wake = asyncio.Event()
        self._pending: OrderedDict[str, Ask] = OrderedDict()
        self.restart(probes)

    def take(self, key: str) -> bool:
        """Record that somebody waits for a key; return False if it was taken before."""
        if key in self._taken:
            return False
        self._taken.add(key)
        return True

    def want(self, key: str, *, is_open: bool) -> None:
        """Move a taken key to the front if it is open (has no result yet), and choose the next question again."""
        if is_open:
            self._wanted.append(key)
        self._wake.set()

    def advance(self) -> None:
        """Go on to the next probe. Questions of earlier probes can no longer be asked."""
        self._probe += 1

    def is_current(self, key: str) -> bool:
        """Return whether a key belongs to the current probe."""
        return self._probes[key] == self._probe

    def is_later(self, key: str) -> bool:
        """Return whether a key belongs to a later probe."""
        return self._probes[key] > self._probe

    def begin(self, asks: Iterable[Ask]) -> None:
        """Set the asks of this probe, in order."""
        self._pending = OrderedDict((ask.key, ask) for ask in asks)

    async def next(self) -> Ask | None:
        """Return the next question as soon as it may be asked; None after the last one, or when interrupted."""
        while self._pending and not self._interrupted:
            if (ask := self._choose()) is None:
                self._wake.clear()
                self.is_paused = True
                # choose again: the waiting thread may have taken an answer before it could see the pause
                if (ask := self._choose()) is None:
                    await self._wake.wait()
                self.is_paused = False
            if ask is not None:
                del self._pending[ask.key]
                self._started += ask.key not in self._hidden
                return ask
        return None

    def interrupt(self) -> None:
        """Make `next` return None until the window is restarted."""
        self._interrupted = True
        self._wake.set()

    def restart(self, keys: Collection[str]) -> None:
        """Go back to before the first probe, with these keys open; the others have been asked."""
        self._probe = -1
        self._interrupted = False
        self._started = len(self._probes.keys() - set(keys) - set(self._hidden))
        self._wanted = deque(key for key in keys if key in self._taken)

    def _choose(self) -> Ask | None:
        while self._wanted:
            key = self._wanted[0]
            if key not in self._pending and self.is_later(key):
                return next(iter(self._pending.values()))  # somebody waits for a later probe: finish this one
            self._wanted.popleft()
            if key in self._pending:
                return self._pending[key]
        if self._started - len(self._taken) >= self._size:
            return None
        return next((ask for ask in self._pending.values() if ask.key not in self._suspects), None)


class Slots:
    """Limit how many questions run at once across all stores of a process, or run one alone."""

    def __init__(self, n: int) -> None:
        self.running: set[asyncio.Task[None]] = set()
        self._free = asyncio.Semaphore(n)
        self._gate = asyncio.Event()  # closed while a question must run alone
        self._gate.set()
        self._alone = asyncio.Lock()

    async def acquire(self) -> None:
        """Wait until another question may start. The caller then calls `start` or `release` at once."""
        while True:
            await self._gate.wait()
            await self._free.acquire()
            if self._gate.is_set():  # else a question began to run alone meanwhile
                return
            self._free.release()

    def release(self) -> None:
        """Release an acquired slot."""
        self._free.release()

    def start(self, question: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run a question in the acquired slot, and release the slot when it ends."""
        task = asyncio.get_running_loop().create_task(question)
        self.running.add(task)
        task.add_done_callback(self.running.discard)
        task.add_done_callback(lambda _: self.release())
        return task

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Keep all other questions of this process waiting while the context lasts."""
        async with self._alone:
            self._gate.clear()
            try:
                while self.running:
                    await asyncio.wait(self.running)
                yield
            finally:
                self._gate.set()


class Answerer:
    """Ask and judge the questions of one store, each as often as the run repeats questions."""

    def __init__(self, resources: Resources, evidence: Mapping[str, Fact], plan: StorePlan) -> None:
        self.tokens = TokenCounts(resources.tokens, resources.pool)
        self._resources, self._evidence, self._times = resources, evidence, RowTimes(plan)
        judges, self._test_takers = zip((resources.judge, resources.test_taker), *resources.again, strict=True)
        # one grader for each repeat: no repeat may reuse an earlier judgment
        self._graders = [Grader(judge, resources.pool) for judge in judges]

    async def answer(
        self,
        system: OpenSystem,
        ask: Ask,
        listing: Listing,
        earlier: Sequence[EarlierListing],
        added: Listing | None,
        needed: Callable[[], Awaitable[Sequence[NeededOutcome]]],
        has_retrieved: Callable[[], None],
        result: Result,
    ) -> None:
        """Ask and judge a question, and fill in its result.

        `needed` returns the outcomes of the questions that this one needs, once they are known. `has_retrieved` is
        called when the system is no longer needed.
        """
        try:
            found = [await self._retrieved(system, ask, listing) for _ in self._graders]
        finally:
            has_retrieved()
        outcomes = []
        for i, each in enumerate(found):
            broken = list[MemfailError]()
            outcomes.append(await self._judged(ask, listing, earlier, added, needed, i, each, broken))
            if broken:
                (result.trace, result.verdict), result.error = outcomes[-1], broken[0]
                return
        names = tuple(VACUOUS if verdict.vacuous else verdict.verdict for _, verdict in outcomes)
        result.trace, result.verdict = outcomes[majority(names)]
        if len(names) > 1:
            result.repeats = names

    async def _retrieved(self, system: OpenSystem, ask: Ask, listing: Listing) -> Retrieved:
        if not searches(question := ask.question):
            return Retrieved((), 0, 0.0)
        return await system.retrieve(question.query, ask.k, f" (question {question.id})", question.asked_at, listing)

    async def _judged(
        self,
        ask: Ask,
        listing: Listing,
        earlier: Sequence[EarlierListing],
        added: Listing | None,
        needed: Callable[[], Awaitable[Sequence[NeededOutcome]]],
        time_asked: int,
        found: Retrieved,
        broken: list[MemfailError],
    ) -> tuple[Trace, Verdict]:
        question, seconds, shown_tokens = ask.question, dict[str, float](), None
        shown = added.memories if added is not None and needs_additions(question) else ()
        if searches(question):
            seconds["retrieve"] = found.seconds
            shown, shown_tokens = await self.tokens.within_limit(found.memories, drops_first=found.is_oldest_first)
        store_tokens = await self.tokens.listed(listing)
        evidence, reply = [self._evidence[name] for name in question.evidence], None
        if (test_taker := self._test_takers[time_asked]) is not None and "answer" in question.stages:
            clock = time.perf_counter()
            self._graders[time_asked].begin(question, evidence, listing)
            reply = await self._reply(test_taker, question, shown)
            seconds["answer"] = time.perf_counter() - clock
        before = await needed()
        clock = time.perf_counter()
        verdict = await self._graders[time_asked].grade(
            question, evidence, listing, shown, reply, earlier=earlier, needed=before, added=added, broken=broken
        )
        seconds["judge"] = time.perf_counter() - clock
        return Trace(question, ask.k, shown, reply, seconds, shown_tokens, store_tokens, found.cut), verdict

    async def _reply(self, test_taker: TestTaker, question: Question, shown: Sequence[Memory]) -> Reply:
        about = f" (question {question.id})"
        with raised_as(MemfailError, "the test-taker's answer()", about):
            reply = await called(test_taker.answer, question, self._times.only(shown), pool=self._resources.pool)
        if not isinstance(reply, Reply):
            raise MemfailError(f"the test-taker returned {type(reply).__name__}; expected a Reply{about}")
        return reply


class TokenCounts:
    """Count the tokens of one store's texts, each text once, and limit the tokens shown per question."""

    def __init__(self, rules: TokenRules | None, pool: Executor) -> None:
        self._rules, self._pool = rules, pool
        self._counts: dict[str, int] = {}
        self._listed: dict[Listing, int | None] = {}

    async def total(self, texts: Iterable[str]) -> int | None:
        """Return the number of tokens in all texts; None if tokens are not counted."""
        rules, given = self._rules, list(texts)
        if rules is None:
            return None
        if new := [text for text in dict.fromkeys(given) if text not in self._counts]:
            loop = asyncio.get_running_loop()
            counts = await loop.run_in_executor(self._pool, lambda: [rules.count([text]) for text in new])
            self._counts.update(zip(new, counts, strict=True))
        return sum(self._counts[text] for text in given)

    async def listed(self, listing: Listing) -> int | None:
        """Return the number of tokens in a listing; None if tokens are not counted."""
        if listing not in self._listed:
            self._listed[listing] = await self.total(memory.text for memory in listing.memories)
        return self._listed[listing]

    async def within_limit(
        self, memories: tuple[Memory, ...], *, drops_first: bool = False
    ) -> tuple[tuple[Memory, ...], int | None]:
        """Return the memories that fit the token limit, and the number of their tokens.

        The memories come best first, so the last are dropped; with `drops_first` the first are. The one that crosses the limit
        is cut to the tokens that are left, at its end or start.
        """
        total = await self.total(memory.text for memory in memories)
        if self._rules is None or total is None or self._rules.limit is None or total <= self._rules.limit:
            return memories, total
        cut = self._rules.last if drops_first else self._rules.first
        kept, left = [], self._rules.limit
        for memory in memories[::-1] if drops_first else memories:
            if self._counts[memory.text] > left:
                if rest := cut(memory.text, left):
                    kept.append(replace(memory, text=rest))
                break
            kept.append(memory)
            left -= self._counts[memory.text]
        return tuple(kept[::-1] if drops_first else kept), self._rules.limit


def searches(question: Question) -> bool:
    """Return whether a question asks the system for memories; else it is about the store alone."""
    return bool({"retrieval", "answer"} & set(question.stages))


def needs_additions(question: Question) -> bool:
    """Return whether a question is judged by the memories that its conversation added to the store."""
    return question.of_additions or ADDED_STAGE in question.stages


def majority(names: Sequence[str]) -> int:
    """Return the index of the first verdict that the majority agrees on; ties go to the worse.

    The majority decides first whether the question failed, then how. Otherwise a question that failed more often than
    not could count as correct because its failures differ.

    >>> majority(["correct", "correct", "not_stored", "summary_error", "summary_error"])
    3
    """
    failed = [name for name in names if name in FAILURES]
    counts = Counter(failed if 2 * len(failed) >= len(names) else [name for name in names if name not in FAILURES])
    return names.index(max(counts, key=lambda name: (counts[name], -WORST_FIRST.index(name))))
