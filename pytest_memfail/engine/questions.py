"""The questions of a store: which is asked next, how many at once, how each is answered, and one verdict from several."""

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
    CORRECT,
    FAILURES,
    UNGRADED,
    VACUOUS,
    Evidence,
    Listing,
    MemfailError,
    Memory,
    Question,
    Reply,
    TestTaker,
    Trace,
    Verdict,
)
from pytest_memfail.engine.calls import Captured, Resources, TokenRules, called, raised_as
from pytest_memfail.engine.grade import Grader, Needed, Past
from pytest_memfail.engine.system import Ask, OpenSystem, Retrieved

WORST_FIRST: Final = (*FAILURES, UNGRADED, VACUOUS, CORRECT)


@dataclass(slots=True)
class Result:
    """What became of one ask: a verdict with its trace, or an error."""

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
    """The name of each verdict, if the question was asked more than once; trace and verdict are of the majority."""


class QuestionWindow:
    """Decides which question of a store is asked next.

    Questions that somebody waits for come first, the others in order, at most `size` ahead of the waiting thread. A suspect
    is asked only when somebody waits for it. `take()` is for the waiting thread, the rest for the engine's loop.
    """

    def __init__(
        self, probes: Mapping[str, int], suspects: Collection[str], size: int, hidden: Collection[str] = ()
    ) -> None:
        """`probes` holds the number of the probe that each key is asked in; nobody waits for the `hidden` keys."""
        self.is_paused = False
        """Whether nothing may be asked before somebody takes an answer."""
        self._probes, self._suspects, self._size, self._hidden = probes, suspects, size, hidden
        self._taken: set[str] = set()
        self._wake = asyncio.Event()
        self._pending: OrderedDict[str, Ask] = OrderedDict()
        self.restart(probes)

    def take(self, key: str) -> bool:
        """Take note that somebody waits for a key; return False if it was taken before."""
        if key in self._taken:
            return False
        self._taken.add(key)
        return True

    def want(self, key: str, *, is_open: bool) -> None:
        """Put a key that was taken before all others, if it is open (has no result yet), and look again what may be asked."""
        if is_open:
            self._wanted.append(key)
        self._wake.set()

    def advance(self) -> None:
        """Go on to the next probe: no question of an earlier one may be asked again."""
        self._probe += 1

    def is_current(self, key: str) -> bool:
        """Tell whether a key belongs to the probe that was reached last."""
        return self._probes[key] == self._probe

    def is_later(self, key: str) -> bool:
        """Tell whether a key belongs to a probe after that one."""
        return self._probes[key] > self._probe

    def begin(self, asks: Iterable[Ask]) -> None:
        """Set what is to be asked in this probe, in order."""
        self._pending = OrderedDict((ask.key, ask) for ask in asks)

    async def next(self) -> Ask | None:
        """Return the next question as soon as it may be asked; None after the last one, or when interrupted."""
        while self._pending and not self._interrupted:
            if (ask := self._choose()) is None:
                self._wake.clear()
                self.is_paused = True
                # looked at again: the waiting thread may have taken an answer before it could see the pause
                if (ask := self._choose()) is None:
                    await self._wake.wait()
                self.is_paused = False
            if ask is not None:
                del self._pending[ask.key]
                self._started += ask.key not in self._hidden
                return ask
        return None

    def interrupt(self) -> None:
        """Let `next` return None until the window is restarted."""
        self._interrupted = True
        self._wake.set()

    def restart(self, keys: Collection[str]) -> None:
        """Begin before the first probe again, with these keys open; the others have been asked."""
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
    """Lets at most n questions of all stores of a process run at once, or one alone."""

    def __init__(self, n: int) -> None:
        self.running: set[asyncio.Task[None]] = set()
        self._free = asyncio.Semaphore(n)
        self._gate = asyncio.Event()  # closed while a question must be alone
        self._gate.set()
        self._alone = asyncio.Lock()

    async def acquire(self) -> None:
        """Return when a further question may be started: the caller calls `start` or `release` at once."""
        while True:
            await self._gate.wait()
            await self._free.acquire()
            if self._gate.is_set():
                return
            self._free.release()

    def release(self) -> None:
        """Give back a slot that was acquired."""
        self._free.release()

    def start(self, question: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run a question in the slot that was acquired, which is released at its end."""
        task = asyncio.get_running_loop().create_task(question)
        self.running.add(task)
        task.add_done_callback(self.running.discard)
        task.add_done_callback(lambda _: self.release())
        return task

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Let nothing else be asked in this process for as long as the context lasts."""
        async with self._alone:
            self._gate.clear()
            try:
                while self.running:
                    await asyncio.wait(self.running)
                yield
            finally:
                self._gate.set()


class Answerer:
    """Asks the questions of one store and has them judged, several times where that is wanted."""

    def __init__(self, resources: Resources, evidence: Mapping[str, Evidence]) -> None:
        self.tokens = TokenCounts(resources.tokens, resources.pool)
        self._resources, self._evidence = resources, evidence
        judges, self._test_takers = zip((resources.judge, resources.test_taker), *resources.again, strict=True)
        # each its own: what was judged the first time is judged again
        self._graders = [Grader(judge, resources.pool, resources.outcomes) for judge in judges]

    async def answer(
        self,
        system: OpenSystem,
        ask: Ask,
        listing: Listing,
        earlier: Sequence[Past],
        needed: Callable[[], Awaitable[Sequence[Needed]]],
        has_retrieved: Callable[[], None],
        result: Result,
    ) -> None:
        """Fill in the result.

        `needed` returns what became of the questions that this one needs, once that is known; `has_retrieved` is
        called once the system is not needed any more.
        """
        try:
            found = [await self._retrieved(system, ask) for _ in self._graders]
        finally:
            has_retrieved()
        outcomes = [await self._judged(ask, listing, earlier, needed, i, each) for i, each in enumerate(found)]
        names = tuple(VACUOUS if verdict.vacuous else verdict.name for _, verdict in outcomes)
        result.trace, result.verdict = outcomes[majority(names)]
        if len(names) > 1:
            result.repeats = names

    async def _retrieved(self, system: OpenSystem, ask: Ask) -> Retrieved:
        question = ask.question
        if not {"retrieval", "answer"} & set(question.stages):
            return Retrieved((), 0, 0.0)
        return await system.retrieve(question.query, ask.k, f" (question {question.id})", question.asked_at)

    async def _judged(
        self,
        ask: Ask,
        listing: Listing,
        earlier: Sequence[Past],
        needed: Callable[[], Awaitable[Sequence[Needed]]],
        time_asked: int,
        found: Retrieved,
    ) -> tuple[Trace, Verdict]:
        question, seconds = ask.question, {"retrieve": found.seconds}
        shown, shown_tokens = await self.tokens.within_limit(found.memories)
        store_tokens = await self.tokens.listed(listing)
        reply = None
        if (test_taker := self._test_takers[time_asked]) is not None and "answer" in question.stages:
            clock = time.perf_counter()
            reply = await self._reply(test_taker, question, shown)
            seconds["answer"] = time.perf_counter() - clock
        before = await needed()
        clock = time.perf_counter()
        evidence = [self._evidence[name] for name in question.evidence]
        verdict = await self._graders[time_asked].grade(
            question, evidence, listing, shown, reply, earlier=earlier, needed=before
        )
        seconds["judge"] = time.perf_counter() - clock
        return Trace(question, ask.k, shown, reply, seconds, shown_tokens, store_tokens, found.cut), verdict

    async def _reply(self, test_taker: TestTaker, question: Question, shown: Sequence[Memory]) -> Reply:
        about = f" (question {question.id})"
        with raised_as(MemfailError, "the test-taker's answer()", about, self._resources.outcomes):
            reply = await called(test_taker.answer, question, shown, pool=self._resources.pool)
        if not isinstance(reply, Reply):
            raise MemfailError(f"the test-taker returned {type(reply).__name__}; expected a Reply{about}")
        return reply


class TokenCounts:
    """The tokens of one store's texts, each text counted once, and the limit of what a question is shown."""

    def __init__(self, rules: TokenRules | None, pool: Executor) -> None:
        self._rules, self._pool = rules, pool
        self._counts: dict[str, int] = {}
        self._listed: dict[Listing, int | None] = {}

    async def total(self, texts: Iterable[str]) -> int | None:
        """Return the tokens of all texts; None where nothing is counted."""
        rules, given = self._rules, list(texts)
        if rules is None:
            return None
        if new := [text for text in dict.fromkeys(given) if text not in self._counts]:
            loop = asyncio.get_running_loop()
            counts = await loop.run_in_executor(self._pool, lambda: [rules.count([text]) for text in new])
            self._counts.update(zip(new, counts, strict=True))
        return sum(self._counts[text] for text in given)

    async def listed(self, listing: Listing) -> int | None:
        """Return the tokens of all memories listed; None where nothing is counted."""
        if listing not in self._listed:
            self._listed[listing] = await self.total(memory.text for memory in listing.memories)
        return self._listed[listing]

    async def within_limit(self, memories: tuple[Memory, ...]) -> tuple[tuple[Memory, ...], int | None]:
        """Return what may be shown of the memories, best first, and its tokens.

        Whole entries in their order; the one that crosses the limit is cut to what is left of it.
        """
        total = await self.total(memory.text for memory in memories)
        if self._rules is None or total is None or self._rules.limit is None or total <= self._rules.limit:
            return memories, total
        kept, left = [], self._rules.limit
        for memory in memories:
            if self._counts[memory.text] > left:
                if start := self._rules.first(memory.text, left):
                    kept.append(replace(memory, text=start))
                break
            kept.append(memory)
            left -= self._counts[memory.text]
        return tuple(kept), self._rules.limit


def majority(names: Sequence[str]) -> int:
    """Return the place of the first verdict that the majority agrees on; ties go to the worse.

    First whether it failed, then how: two ways of failing are no reason to call a question correct that failed more often
    than not.

    >>> majority(["correct", "correct", "not_stored", "summary_error", "summary_error"])
    3
    """
    failed = [name for name in names if name in FAILURES]
    counts = Counter(failed if 2 * len(failed) >= len(names) else [name for name in names if name not in FAILURES])
    return names.index(max(counts, key=lambda name: (counts[name], -WORST_FIRST.index(name))))
