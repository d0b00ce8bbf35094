"""One store: fill a fresh memory system step by step, ask its questions ahead of whoever waits for them, judge them."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextvars import ContextVar
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Final

from pytest_memfail.core import (
    Conversation,
    Ingest,
    Listing,
    MemfailError,
    Memory,
    MemorySystemError,
    Message,
    Question,
    Reply,
    TestTaker,
    Trace,
    TruncatedListingError,
    Verdict,
)
from pytest_memfail.engine import listing as listings
from pytest_memfail.engine.calls import Lane, is_async, settle
from pytest_memfail.engine.current import CURRENT
from pytest_memfail.engine.grade import Grader
from pytest_memfail.engine.jobs import Ask, Result, StoreJob, StoreReport
from pytest_memfail.engine.majority import came_out, majority
from pytest_memfail.engine.normalise import memories_from
from pytest_memfail.engine.opening import described_by, open_system
from pytest_memfail.engine.reuse import Reuse

if TYPE_CHECKING:
    from pytest_memfail.engine.engine import Engine

GRACE_SECONDS: Final = 2.0
"""How long a store that is being closed waits for calls that were given up."""
NOW: Final[ContextVar[datetime | None]] = ContextVar("memfail_now", default=None)
"""The time of the conversation being stored; several may be at once."""


class StoreRun:
    """A store in the making. Public methods are for the waiting thread; the rest runs on the engine's loop."""

    def __init__(self, engine: Engine, job: StoreJob) -> None:
        self.job = job
        self.filled: Future[None] = Future()
        """Done when the first questions are being asked; holds the error of a failed fill."""
        self.finished: Future[StoreReport] = Future()
        self.report = StoreReport(job.id, job.task)
        self._engine = engine
        self._results = {ask.key: Future[Result]() for ask in job.asks}
        self._asks = {ask.key: ask for ask in job.asks}
        probes = [step.questions for step in job.plan.steps if not isinstance(step, Ingest)]
        self._probe_of = {q.id: i for i, questions in enumerate(probes) for q in questions}
        self._probe = -1
        self._wanted: deque[str] = deque()
        self._taken: set[str] = set()
        self._started = 0
        self._wake = asyncio.Event()
        self._paused = False
        self._system: Any = None
        self._lane: Lane | None = None
        self._reuse: Reuse | None = None
        # each its own: what was judged the first time is judged again
        self._graders = [Grader(judge, engine.pool) for judge, _ in engine.times]
        self._tasks: dict[asyncio.Task[None], str] = {}
        self._retrieving: set[asyncio.Future[None]] = set()
        self._main: asyncio.Task[None] | None = None
        self._failure: BaseException | None = None

    # -- for the waiting thread --------------------------------------------------------------------------------------

    @property
    def concurrent_stores(self) -> int:
        """How many stores of this system may be open at once; known once it is filled."""
        return int(getattr(self._system, "concurrent_stores", 2))

    def result(self, key: str) -> Future[Result]:
        """The future result of an ask; a key taken before is asked again (a rerun)."""
        if key in self._taken:
            future = self._results[key] = Future()
            self._engine.call_soon(self._ask_again, key, future)
            return future
        self._taken.add(key)
        future = self._results[key]
        if self._paused or not future.done():  # waking the loop for each answer that is there would cost more than it
            self._engine.call_soon(self._want, key)
        return future

    def finish(self) -> Future[StoreReport]:
        """No more questions will be waited for: list once more, close the system, and report."""
        self._engine.call_soon(self._begin_finish)
        return self.finished

    # -- on the loop: life of a store --------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin to fill."""
        self._main = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        try:
            await self._steps()
        except asyncio.CancelledError:
            self._fail_rest(None)
            raise
        except BaseException as error:
            if not isinstance(error, Exception) and isinstance(error, (SystemExit, KeyboardInterrupt)):
                error = MemorySystemError(f"asked the process to end: {error!r}")
            self._failure = error
            self._fail_rest(error)

    async def _steps(self) -> None:
        CURRENT.set(self.report.captured)
        self._engine.journal.fill_started(self.job.id)
        await self._create()
        steps = self.job.plan.steps
        last = max((i for i, step in enumerate(steps) if self._selected(step)), default=-1)
        total = sum(isinstance(step, Ingest) for step in steps[: last + 1])
        segments: list[list[Conversation]] = []  # what is stored before each probe
        held = 0  # of them
        waiting: list[Conversation] = []
        for i, step in enumerate(steps[: last + 1]):
            if isinstance(step, Ingest):
                waiting.append(step.conversation)
                continue
            segments.append(waiting)
            waiting = []
            self._probe += 1
            asks = self._selected(step)
            if self._reuse is not None and not asks:
                continue  # what is kept for a later probe may spare it
            if not await self._restored(segments, total):
                for n in range(held, len(segments)):
                    await self._ingest(segments[n], sum(map(len, segments[:n])), total)
            held = len(segments)
            if asks:
                listing = await self._list([conversation for segment in segments for conversation in segment])
                if self._reuse is not None:
                    await self._reuse.keep(segments, listing)
                await self._ask_all(asks, listing, last=i == last)

    async def _restored(self, segments: Sequence[Sequence[Conversation]], total: int) -> bool:
        """Whether the system holds these conversations without their being stored."""
        started = time.perf_counter()
        if self._reuse is None or not await self._reuse.restore(segments):
            return False
        self._engine.journal.fill_started(self.job.id)
        self.report.restored = True
        self.report.conversations = sum(map(len, segments))
        self.report.fill_seconds += time.perf_counter() - started
        self._engine.on_progress(self.job.id, self.report.conversations, total)
        return True

    async def _create(self) -> None:
        self._lane = lane = Lane(self.job.id)
        context = replace(self.job.context, clock=self._now)
        self._system = await open_system(lane, self.job.factory, context)
        self.report.described = await described_by(lane, self._system)
        if (shelf := self.job.shelf) is not None:
            described = self.report.described
            self._reuse = Reuse(shelf, lane, self._system, self.job.factory, described, self._engine.pool)

    def _now(self) -> datetime:
        return NOW.get() or datetime.now(timezone.utc)

    async def _ingest(self, conversations: Sequence[Conversation], before: int, total: int) -> None:
        lane, system = self._lane, self._system
        assert lane is not None
        self._engine.journal.fill_started(self.job.id)
        started = time.perf_counter()
        done = before

        async def store(conversation: Conversation) -> None:
            nonlocal done
            NOW.set(conversation.timestamp)
            try:
                await lane.call("store_conversation", system.store_conversation, conversation)
            except MemorySystemError as error:
                cause = error.__cause__
                raise MemorySystemError(f"{error} (conversation {done + 1} of {total})") from cause
            done += 1
            self.report.conversations = done
            self._engine.on_progress(self.job.id, done, total)

        # the assistant's turns do not depend on the memory system: all are fetched ahead, and stored in order
        turns = (
            [asyncio.ensure_future(self._with_turns(c)) for c in conversations] if self._engine.assistant_turns else []
        )
        try:
            for start in range(0, len(conversations), lane.writes):
                batch = conversations[start : start + lane.writes]
                if turns:
                    batch = await asyncio.gather(*turns[start : start + lane.writes])
                if len(batch) == 1:
                    await store(batch[0])
                else:
                    await asyncio.gather(*map(store, batch))
        finally:
            for turn in turns:
                turn.cancel()
        if conversations and callable(flush := getattr(system, "flush", None)):
            await lane.call("flush", flush)
        self.report.fill_seconds += time.perf_counter() - started

    async def _with_turns(self, conversation: Conversation) -> Conversation:
        """The conversation with an answer of the assistant after each message of the user."""
        respond: Any = getattr(self._engine.test_taker, "respond", None)
        if respond is None:
            return conversation
        messages: list[Message] = []
        for message in conversation.messages:
            messages.append(message)
            if message.role == "user":
                said = await settle(respond(conversation, messages))
                messages.append(Message("assistant", str(said), message.timestamp))
        return replace(conversation, messages=tuple(messages))

    async def _list(self, stored: Sequence[Conversation]) -> Listing:
        listing = await self._read_listing()
        if self._reuse is not None:
            self._reuse.check(listing)
        self.report.listings += (listing,)
        for sentinel in listings.unlisted_sentinels(stored, listing):
            found, _ = await self._retrieve(sentinel.text, 5, "")
            for memory in found:
                if not listings.is_listed(memory, listing):
                    raise TruncatedListingError(listings.truncation_message(memory, listing))
        return listing

    async def _read_listing(self) -> Listing:
        assert self._lane is not None
        found = await self._lane.call("get_all_memories", self._system.get_all_memories)
        return Listing(self.job.id, memories_from(found, "get_all_memories"))

    # -- on the loop: questions --------------------------------------------------------------------------------------

    def _selected(self, step: object) -> list[Ask]:
        if isinstance(step, Ingest):
            return []
        ids = {question.id for question in getattr(step, "questions", ())}
        return [ask for ask in self.job.asks if ask.question.id in ids]

    async def _ask_all(self, asks: Iterable[Ask], listing: Listing, *, last: bool) -> None:
        """Start the asks, those waited for first, at most a window ahead of the waiting thread."""
        self._engine.journal.fill_ended(self.job.id)
        if not self.filled.done():
            self.filled.set_result(None)
        pending = OrderedDict((ask.key, ask) for ask in asks)
        while pending:
            ask = self._next(pending)
            if ask is None:
                self._wake.clear()
                self._paused = True
                # looked at again: the waiting thread may have taken an answer before it could see the pause
                if (ask := self._next(pending)) is None:
                    await self._wake.wait()
                self._paused = False
                if ask is None:
                    continue
            del pending[ask.key]
            await self._start(ask, listing, self._results[ask.key])
            self._started += 1
        if not last:  # the next conversations must not be stored under questions still being asked
            while self._retrieving:
                await asyncio.wait(self._retrieving)
        CURRENT.set(self.report.captured)

    def _next(self, pending: Mapping[str, Ask]) -> Ask | None:
        while self._wanted:
            key = self._wanted[0]
            if key in pending:
                self._wanted.popleft()
                return pending[key]
            if self._probe_of[self._asks[key].question.id] > self._probe:
                return next(iter(pending.values()))  # somebody waits for a later probe: finish this one
            self._wanted.popleft()
        if self._started - len(self._taken) >= self._engine.window:
            return None
        return next((ask for ask in pending.values() if ask.key not in self.job.suspects), None)

    def _want(self, key: str) -> None:
        if not self._results[key].done():
            self._wanted.append(key)
        self._wake.set()

    def _ask_again(self, key: str, future: Future[Result]) -> None:
        ask = self._asks[key]
        probe = self._probe_of[ask.question.id]
        error: BaseException | None = None
        if self._failure is not None or self._system is None:
            error = self._failure or MemorySystemError("the store is closed")
        elif probe != self._probe:
            error = MemorySystemError("cannot be asked again: the store was filled further")
        if error is not None:
            future.set_result(Result(ask, error=error))
        else:
            listing = self.report.listings[-1]
            self._engine.finishing(asyncio.get_running_loop().create_task(self._start(ask, listing, future)))

    async def _start(self, ask: Ask, listing: Listing, future: Future[Result]) -> None:
        """Let the question run beside others, or, if it may have killed a process, alone to its end."""
        if ask.key in self.job.suspects:
            async with self._engine.alone():
                await self._one(ask, listing, future, asyncio.get_running_loop().create_future())
            return
        await self._engine.slot()
        retrieved: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._retrieving.add(retrieved)
        task = asyncio.get_running_loop().create_task(self._one(ask, listing, future, retrieved))
        self._tasks[task] = ask.key
        self._engine.running.add(task)

        def done(task: asyncio.Task[None]) -> None:
            del self._tasks[task]
            self._engine.running.discard(task)
            self._engine.release_slot()
            self._has_retrieved(retrieved)
            if not future.done():
                future.cancel()

        task.add_done_callback(done)

    def _has_retrieved(self, retrieved: asyncio.Future[None]) -> None:
        self._retrieving.discard(retrieved)
        if not retrieved.done():
            retrieved.set_result(None)

    async def _one(self, ask: Ask, listing: Listing, future: Future[Result], retrieved: asyncio.Future[None]) -> None:
        result = Result(ask, listing=listing, started=time.time())
        CURRENT.set(result.captured)
        began = time.perf_counter()
        self._engine.journal.question_started(ask.key)
        try:
            await self._answer(ask, listing, retrieved, result)
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # a skip of the test runner is no Exception
            result.error = error
        finally:
            self._engine.journal.question_ended(ask.key)
        result.seconds = time.perf_counter() - began
        future.set_result(result)

    async def _answer(self, ask: Ask, listing: Listing, retrieved: asyncio.Future[None], result: Result) -> None:
        found = []
        try:
            for _ in self._engine.times:
                found.append(await self._retrieve(ask.question.query, ask.k, f" (question {ask.question.id})"))
        finally:
            self._has_retrieved(retrieved)
        outcomes = [await self._judged(ask, listing, i, *each) for i, each in enumerate(found)]
        names = tuple(came_out(verdict) for _, verdict in outcomes)
        result.trace, result.verdict = outcomes[majority(names)]
        if len(names) > 1:
            result.repeats = names

    async def _judged(
        self, ask: Ask, listing: Listing, time_asked: int, shown: tuple[Memory, ...], retrieving: float
    ) -> tuple[Trace, Verdict]:
        question, seconds = ask.question, {"retrieve": retrieving}
        reply = None
        test_taker = self._engine.times[time_asked][1]
        if test_taker is not None:
            clock = time.perf_counter()
            reply = await self._reply(test_taker, question, shown)
            seconds["answer"] = time.perf_counter() - clock
        clock = time.perf_counter()
        evidence = [self.job.evidence[name] for name in question.evidence]
        verdict = await self._graders[time_asked].grade(question, evidence, listing, shown, reply)
        seconds["judge"] = time.perf_counter() - clock
        return Trace(question, ask.k, shown, reply, seconds), verdict

    async def _reply(self, test_taker: TestTaker, question: Question, shown: Sequence[Memory]) -> Reply:
        answer = test_taker.answer
        if is_async(answer):
            reply: Any = await settle(answer(question, shown))
        else:
            loop = asyncio.get_running_loop()
            reply = await settle(await loop.run_in_executor(self._engine.pool, answer, question, shown))
        if not isinstance(reply, Reply):
            raise MemfailError(
                f"the test-taker returned {type(reply).__name__}; expected a Reply (question {question.id})"
            )
        return reply

    async def _retrieve(self, query: str, k: int, about: str) -> tuple[tuple[Memory, ...], float]:
        assert self._lane is not None
        conversation = Conversation(f"{self.job.context.store_id}-query", ())
        method = self._system.retrieve_memories
        try:
            found, seconds = await self._lane.read("retrieve_memories", method, query, conversation, k)
        except MemorySystemError as error:
            raise MemorySystemError(f"{error}{about}") from error.__cause__
        memories = memories_from(found, "retrieve_memories", about)
        return memories if getattr(self._system, "unlimited_k", False) else memories[:k], seconds

    # -- on the loop: the end ----------------------------------------------------------------------------------------

    def _begin_finish(self) -> None:
        self._engine.finishing(asyncio.get_running_loop().create_task(self._finish()))

    async def _finish(self) -> None:
        if self._main is not None and not self._main.done():
            self._main.cancel()  # questions nobody waits for
            await asyncio.wait([self._main])
        for task in self._tasks:  # abandoned: nobody waits for them any more
            task.cancel()
        hangs = not await self._came_to_rest()
        try:
            if self._failure is None and self.report.listings and not hangs:
                self.report.changed = listings.changes(self.report.listings[-1], await self._read_listing())
            if self.report.listings and self._engine.count_tokens is not None:
                texts = [memory.text for memory in self.report.listings[-1].memories]
                loop = asyncio.get_running_loop()
                self.report.tokens = await loop.run_in_executor(self._engine.pool, self._engine.count_tokens, texts)
            if callable(close := getattr(self._system, "close", None)) and self._lane is not None and not hangs:
                await self._lane.call("close", close)
        except Exception as error:
            self.finished.set_exception(error)
        else:
            self.finished.set_result(self.report)
        finally:
            self._system = None
            if self._reuse is not None:
                self._reuse.close()
            self._engine.forget(self)
            if self._lane is not None:
                self._lane.stop()
            if not self.finished.done():
                self.finished.cancel()

    async def _came_to_rest(self) -> bool:
        """Wait a little for what was cancelled; False if a call of the system hangs, and further ones would hang behind it."""
        end = time.monotonic() + GRACE_SECONDS
        while self._tasks or (self._lane is not None and self._lane.is_busy):
            if time.monotonic() > end:
                return False
            await asyncio.sleep(0.01)
        return True

    def cancel(self) -> None:
        """Drop what has not begun, cancel what runs."""
        for task in self._tasks:
            task.cancel()
        if self._main is not None:
            self._main.cancel()

    def _fail_rest(self, error: BaseException | None) -> None:
        if not self.filled.done():
            # a fill that failed by an exception did not kill the process
            self._engine.journal.fill_ended(self.job.id)
            if error is None:
                self.filled.cancel()
            else:
                self.filled.set_exception(error)
        asked = set(self._tasks.values())
        for key, future in self._results.items():
            if future.done() or key in asked:
                continue
            if error is None:
                future.cancel()
            else:
                future.set_result(Result(self._asks[key], error=error))
