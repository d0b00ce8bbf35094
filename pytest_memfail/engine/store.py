"""Run one store: fill a fresh memory system step by step, and ask and judge its questions ahead of the waiting thread."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, TypeAlias

from pytest_memfail.core import (
    ERROR,
    Conversation,
    Doubt,
    Fact,
    Ingest,
    Listing,
    MemfailError,
    MemorySystemError,
    Question,
    Step,
    TimedOutError,
    UsageError,
    is_listed,
    lagging,
    varying,
)
from pytest_memfail.engine.grade import EarlierListing, NeededOutcome
from pytest_memfail.engine.questions import Answerer, Ask, QuestionWindow, Result, Slots, needs_additions, searches
from pytest_memfail.hosting import (
    CURRENT,
    GRACE_SECONDS,
    HostedStore,
    OpenSystem,
    OtherSettingsError,
    Resources,
    StoredTexts,
    StoreReport,
    changes,
    described,
    late_entries,
)

FILLS: Final = 2
"""Maximum number of fills of a store: a store is filled once more after a call of the system hung."""
REPEATED: Final = 40
"""How many searches to repeat twice where some seem to lag; fewer are repeated more often."""
NO_ADDITIONS: Final = (
    "a restored store cannot say what each conversation added: a fact that was replaced before the first listing counts as never "
    "stored; run without --memfail-reuse-stores to count it"
)

_Searches: TypeAlias = list[tuple[Result, set[str]]]
"""Questions that were asked, each with the texts that tell whether its search finds what it should."""


@dataclass(frozen=True, kw_only=True)
class StoreJob(HostedStore):
    """A store to fill, and its selected questions in the order in which the caller waits for them."""

    task: str
    evidence: Mapping[str, Fact]
    asks: tuple[Ask, ...]
    suspects: frozenset[str] = frozenset()
    """Keys that were in flight when a process died. They are asked only when waited for, and alone."""
    known: Mapping[tuple[str, int], NeededOutcome] = field(default_factory=dict)
    """Outcomes of questions in an earlier run, by id and k. A needed question with a known outcome is not asked again."""


class StoreRun:
    """One store, from its fill to its report. Public methods are for the waiting thread; the rest runs on the engine's loop."""

    def __init__(
        self, job: StoreJob, resources: Resources, slots: Slots, texts: StoredTexts, call_soon: Callable[..., None]
    ) -> None:
        """All stores share `slots` and `texts`; `call_soon` runs a function on the engine's loop.

        Raises `UsageError` if a question needs one that is not asked before it.
        """
        self.job = job
        self.filled: Future[None] = Future()
        """Done when the first questions are being asked; holds the error of a failed fill."""
        self.finished: Future[StoreReport] = Future()
        self.report = StoreReport(job.id, job.task)
        self._resources, self._slots, self._texts, self._call_soon = resources, slots, texts, call_soon
        self._needs = needs = Needs(job)
        self._asks = {ask.key: ask for ask in (*needs.hidden, *job.asks)}
        self._results = {key: Future[Result]() for key in self._asks}
        self._first = dict(self._results)
        """The first result of each question: questions that need it ignore reruns."""
        # a hidden question of a suspect may have killed the process too
        self._suspects = job.suspects | {key for key, owner in needs.owners.items() if owner in job.suspects}
        probes = {key: needs.probes[ask.question.id] for key, ask in self._asks.items()}
        self._window = QuestionWindow(probes, self._suspects, resources.window, needs.owners)
        self._past: list[EarlierListing] = []
        """The listings of the current system, in order."""
        self._added: dict[str, Listing] = {}
        """The memories that each conversation added, by its id, if a question asks for them."""
        self._in_flight: Counter[str] = Counter()
        """Keys in the journal. A hidden ask counts under the key of the ask that needs it."""
        self._system: OpenSystem | None = None
        self._answerer = Answerer(resources, job.evidence, job.plan)
        self._tasks: dict[asyncio.Task[None], str] = {}
        self._retrieving: dict[asyncio.Future[None], asyncio.Task[None]] = {}
        self._asked_again: set[asyncio.Task[None]] = set()
        """Tasks cancelled because the system hung. The next system is asked their questions."""
        self._background: set[asyncio.Task[None]] = set()
        """References to tasks: the loop itself keeps none."""
        self._attempt = 1
        self._hung: TimedOutError | None = None
        self._main: asyncio.Task[None] | None = None
        self._failure: BaseException | None = None
        self._is_opening = True

    # -- for the waiting thread --------------------------------------------------------------------------------------

    @property
    def concurrent_stores(self) -> int:
        """How many stores of this system may be open at once; known once it is filled."""
        return self._system.concurrent_stores if self._system is not None else 2

    @property
    def is_unopened(self) -> bool:
        """Whether the factory failed or returned no memory system."""
        return self._failure is not None and self._is_opening

    def result(self, key: str) -> Future[Result]:
        """Return the future result of an ask; a key taken before is asked again (a rerun)."""
        if not self._window.take(key):
            future = self._results[key] = Future()
            self._call_soon(self._ask_again, key, future)
            return future
        future = self._results[key]
        if self._window.is_paused or not future.done():  # waking the loop costs more than reading a result
            self._call_soon(self._want, key)
        return future

    def finish(self) -> Future[StoreReport]:
        """List the store again, close the system, and return the future report. No more questions follow."""
        self._call_soon(self._begin_finish)
        return self.finished

    # -- on the loop: life of a store --------------------------------------------------------------------------------

    def start(self) -> None:
        """Start filling the store."""
        self._main = asyncio.get_running_loop().create_task(self._run())

    def cancel(self) -> None:
        """Drop the questions that have not begun, and cancel those that run."""
        for task in self._tasks:
            task.cancel()
        if self._main is not None:
            self._main.cancel()

    async def _run(self) -> None:
        try:
            while True:
                try:
                    await self._fill_and_ask()
                    return
                except OtherSettingsError as error:
                    assert self._system is not None
                    assert self.job.shelf is not None
                    self.report.doubts.append(Doubt("other-settings", str(error)))
                    self.job = replace(self.job, shelf=self.job.shelf.replacing())
                    with suppress(MemorySystemError):
                        await self._system.close()
                    if not await self._replace_system():
                        return
                except TimedOutError as error:
                    if self._attempt == FILLS:
                        raise TimedOutError(
                            f"{error}; the store was already filled a second time, and is not filled again"
                        ) from None
                    if not await self._replace_system():
                        return
        except asyncio.CancelledError:
            self._fail_rest(None)
            raise
        except BaseException as error:
            self._failure = self._ours(error, f"filling the store {self.job.id}")
            self._fail_rest(self._failure)

    async def _replace_system(self) -> bool:
        """Abandon a system that hangs or was kept with other settings; return False if no question is left to ask."""
        self._attempt += 1
        self._hung = None
        while self._asked_again:
            await asyncio.wait(self._asked_again)
        if self._system is not None:
            self._system.abandon()
            self._system = None
        open_keys = [key for key, ask in self._asks.items() if self._is_open(ask)]
        if not open_keys:
            return False
        self.report.listings, self.report.extracted = (), ()
        self.report.conversations, self.report.restored = 0, False
        self._past = []
        self._window.restart(open_keys)
        return True

    async def _fill_and_ask(self) -> None:
        CURRENT.set(self.report.captured)
        self._resources.journal.fill_started(self.job.id)
        self._system = system = OpenSystem(self._resources, self.job, self.report, self._texts, self._attempt)
        await system.open()
        self._is_opening = False
        steps = self.job.plan.steps
        last = max((i for i, step in enumerate(steps) if self._selected(step)), default=-1)
        total = sum(isinstance(step, Ingest) for step in steps[: last + 1])
        segments: list[list[Conversation]] = [[]]  # stored before each probe
        held = 0  # segments that the system holds
        for number, step in enumerate(steps[: last + 1]):
            if isinstance(step, Ingest):
                segments[-1].append(step.conversation)
                continue
            self._window.advance()
            asks = self._selected(step)
            # the difference of two listings shows what a conversation added
            is_before = self._asks_added(steps[number + 1 :])
            stored = frozenset(conversation.id for segment in segments for conversation in segment)
            is_listed = bool(asks) or is_before or self._is_expected_later(stored)
            # a probe without questions can be skipped if a store is kept for a later probe
            is_needed = bool(asks) or is_before or self.job.shelf is None
            is_restored = (is_needed or is_listed) and await system.restored(segments, total)
            if is_needed and is_restored and system.extracts:
                self.report.doubts.append(Doubt("restored-additions", NO_ADDITIONS))
            if is_needed and not is_restored:
                for n in range(held, len(segments)):
                    await system.ingest(segments[n], sum(map(len, segments[:n])), total)
                    self._keep_extracted(system, segments[n], n)
            held = len(segments) if is_needed or is_restored else held
            if is_listed and (is_needed or is_restored):
                listing = await system.list_all(segments, is_last=number == last)
                self._past.append(EarlierListing(listing, stored))
                if any(needs_additions(ask.question) for ask in asks):
                    before = self.report.listings[-2] if len(self.report.listings) > 1 else None
                    for conversation in segments[-1]:
                        added = system.added_by(conversation, before, listing)
                        self._added[conversation.id] = Listing(self.job.id, added, listing.number)
            if asks or is_before:
                await system.keep(segments, listing)
            if asks:
                await self._answerer.tokens.listed(listing)  # computed once, before all questions need it
                await self._ask_all(asks, listing)
            segments.append([])

    def _keep_extracted(self, system: OpenSystem, segment: Sequence[Conversation], number: int) -> None:
        """Keep what the system said that a segment added as an earlier listing of its facts: it may be replaced by now."""
        if said := [memory for one in segment for memory in system.extracted.get(one.id, ())]:
            listing = Listing(self.job.id, tuple(said), number)
            self.report.extracted += (listing,)
            self._past.append(EarlierListing(listing, frozenset(one.id for one in segment)))

    def _fail_rest(self, error: BaseException | None) -> None:
        """End the open asks with an error or, without one, as cancelled."""
        if not self.filled.done():
            # a fill that failed by an exception did not kill the process
            self._resources.journal.fill_ended(self.job.id)
            if error is None:
                self.filled.cancel()
            else:
                self.filled.set_exception(error)
        for ask in filter(self._is_open, self._asks.values()):
            if error is None:
                self._results[ask.key].cancel()
            else:
                self._results[ask.key].set_result(Result(ask, error=error))

    def _ours(self, error: BaseException, what: str) -> BaseException:
        """Wrap an error in a `MemfailError`; return our own errors and a test runner's outcomes unchanged."""
        if isinstance(error, (MemfailError, *self._resources.outcomes)):
            return error
        ours = MemfailError(f"{what} raised {described(error)}")
        ours.__cause__ = error
        return ours

    # -- on the loop: questions --------------------------------------------------------------------------------------

    def _is_open(self, ask: Ask) -> bool:
        """Return whether an ask has no result yet and is not being asked."""
        return not self._results[ask.key].done() and ask.key not in self._tasks.values()

    def _selected(self, step: object) -> list[Ask]:
        """Return the open asks of a probe."""
        ids = {question.id for question in getattr(step, "questions", ())}
        return [ask for ask in self._asks.values() if ask.question.id in ids and self._is_open(ask)]

    def _asks_added(self, steps: Sequence[Step]) -> bool:
        """Return whether the next probe asks about the memories that a conversation added."""
        probe = next((step for step in steps if not isinstance(step, Ingest)), None)
        return any(needs_additions(ask.question) for ask in self._selected(probe))

    def _is_expected_later(self, stored: Collection[str]) -> bool:
        """Return whether a later question expects a fact of these conversations: a listing now shows if it was lost later."""
        return any(
            self.job.evidence[name].conversation_id in stored
            for ask in self._asks.values()
            if "storage" in ask.question.stages and self._window.is_later(ask.key) and self._is_open(ask)
            for name in ask.question.evidence
        )

    def _earlier(self, listing: Listing) -> list[EarlierListing]:
        """Return the listings before this one, newest first."""
        at = next((i for i, past in enumerate(self._past) if past.listing is listing), 0)
        return self._past[:at][::-1]

    async def _needed(self, ask: Ask) -> list[NeededOutcome]:
        """Wait for the questions that this one needs, which earlier probes ask, and return their outcomes."""
        keys, found = self._needs.of(ask)
        for key in keys:
            # wait without cancelling the needed question if this one is cancelled
            await asyncio.wait({asyncio.wrap_future(first := self._first[key])})
            verdict = None if first.cancelled() else first.result().verdict
            found.append(NeededOutcome(ERROR) if verdict is None else NeededOutcome.of(verdict))
        return found

    async def _ask_all(self, asks: list[Ask], listing: Listing) -> None:
        """Start the asks as the window allows."""
        self._resources.journal.fill_ended(self.job.id)
        if not self.filled.done():
            self.filled.set_result(None)
        self._window.begin(asks)
        while (ask := await self._window.next()) is not None:
            await self._start(ask, listing, self._results[ask.key])
        # store no further conversations while questions still retrieve; a hung system is replaced here
        while self._retrieving and self._hung is None:
            await asyncio.wait(self._retrieving)
        if self._hung is not None:
            raise self._hung
        CURRENT.set(self.report.captured)

    def _want(self, key: str) -> None:
        self._window.want(key, is_open=not self._results[key].done())

    def _ask_again(self, key: str, future: Future[Result]) -> None:
        ask = self._asks[key]
        error: BaseException | None = None
        if self._failure is not None or self._system is None or not self._system.is_open:
            error = self._failure or MemorySystemError("the store is closed")
        elif not self._window.is_current(key):
            error = MemorySystemError("cannot be asked again: the store was filled further")
        if error is not None:
            future.set_result(Result(ask, error=error))
        else:
            self._in_background(self._start(ask, self.report.listings[-1], future))

    async def _start(self, ask: Ask, listing: Listing, future: Future[Result]) -> None:
        """Run a question beside others, or alone if it may have killed a process."""
        retrieved: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if ask.key in self._suspects:
            async with self._slots.alone():
                await self._ask(ask, listing, future, retrieved)
            return
        await self._slots.acquire()
        if self._hung is not None:  # while waiting for the slot
            self._slots.release()
            return
        task = self._slots.start(self._ask(ask, listing, future, retrieved))
        self._retrieving[retrieved] = task
        self._tasks[task] = ask.key

        def done(task: asyncio.Task[None]) -> None:
            del self._tasks[task]
            self._has_retrieved(retrieved)
            if not future.done() and task not in self._asked_again:
                future.cancel()
            self._asked_again.discard(task)

        task.add_done_callback(done)

    def _has_retrieved(self, retrieved: asyncio.Future[None]) -> None:
        self._retrieving.pop(retrieved, None)
        if not retrieved.done():
            retrieved.set_result(None)

    async def _ask(self, ask: Ask, listing: Listing, future: Future[Result], retrieved: asyncio.Future[None]) -> None:
        result = Result(ask, listing=listing, started=time.time())
        CURRENT.set(result.captured)
        began = time.perf_counter()
        key = self._needs.owners.get(ask.key, ask.key)
        self._in_flight[key] += 1
        if self._in_flight[key] == 1:
            self._resources.journal.question_started(key)
        system = self._system
        try:
            assert system is not None
            await self._answerer.answer(
                system,
                ask,
                listing,
                self._earlier(listing),
                self._added.get(ask.question.keys.get("conversation", "")),
                lambda: self._needed(ask),
                lambda: self._has_retrieved(retrieved),
                result,
            )
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # a test runner's skip is not an Exception
            result.error = self._ours(error, f"asking the question {ask.question.id}")
        finally:
            self._in_flight[key] -= 1
            if not self._in_flight[key]:
                self._resources.journal.question_ended(key)
        result.seconds = time.perf_counter() - began
        future.set_result(result)
        if isinstance(result.error, TimedOutError) and system is not None and system.lane.is_hung:
            self._hang(result.error)

    def _hang(self, error: TimedOutError) -> None:
        """Cancel the other questions of a sync system that hangs, to ask them of a new one."""
        if self._main is None or self._main.done():  # a rerun, after all others
            self._failure = error
        self._hung = error
        for task in self._retrieving.values():
            if task is not asyncio.current_task():
                self._asked_again.add(task)
                task.cancel()
        self._window.interrupt()

    # -- on the loop: the end ----------------------------------------------------------------------------------------

    def _in_background(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        return task

    def _begin_finish(self) -> None:
        # no effect if the report was set
        self._in_background(self._finish()).add_done_callback(lambda _: self.finished.cancel())

    async def _finish(self) -> None:
        if self._main is not None and not self._main.done():
            self._main.cancel()  # questions nobody waits for
            await asyncio.wait([self._main])
        for task in self._tasks:  # abandoned: nobody waits for them any more
            task.cancel()
        is_at_rest, system = await self._comes_to_rest(), self._system
        error: BaseException | None = None
        try:
            if system is not None and self._failure is None and self.report.listings and is_at_rest:
                await self._compare_listings(system, self.report.listings[-1])
            if self.report.listings:
                self.report.tokens = await self._answerer.tokens.listed(self.report.listings[-1])
            if system is not None and is_at_rest:
                await system.close()
        except Exception as raised:
            if self._failure is None:  # else filling has failed, mostly for the same reason, and is the error
                error = self._ours(raised, f"closing the store {self.job.id}")
        finally:
            if system is not None:
                system.abandon()
        if error is None:
            self.finished.set_result(self.report)
        else:
            self.finished.set_exception(error)

    async def _compare_listings(self, system: OpenSystem, before: Listing) -> None:
        """Report how the listing changed while questions were asked, and whether the search lags behind it."""
        empty, lost, kept = self._searched(before)
        await system.wait_for_late_entries(is_lacking=bool(empty or lost))
        await self._look_again(system, before, [*empty[:1], *empty[1:][-1:], *lost[:1], *lost[1:][-1:]], kept)
        after = await system.read_listing()
        self.report.changed = changes(before, after)
        if self.report.changed[0]:
            held = {memory.text for memory in before.memories}
            added = [memory.text for memory in after.memories if memory.text not in held]
            self.report.shared_with = self._texts.source_of(self.job.id, added, self.job.plan.read_conversations())
            # a search that rewrites an entry adds one and removes one
            self.report.late = max(0, late_entries(self.job.plan.read_conversations(), added) - self.report.changed[1])

    def _searched(self, listing: Listing) -> list[_Searches]:
        """Return the searches that found nothing, those that did not find an entry that holds a fact, and the others."""
        found: list[_Searches] = [[], [], []]
        texts = [memory.text for memory in listing.memories]
        done = [future.result() for future in self._results.values() if future.done() and not future.cancelled()]
        for one in (each for each in done if each.listing is listing and searches(each.ask.question)):
            if one.trace and one.verdict and one.ask.key not in self._suspects:
                shown = {memory.text for memory in one.trace.shown}
                held, lost = ({texts[i] for i in at if i < len(texts)} for at in one.verdict.sought)
                sought = shown and (lost - shown or held & shown)
                found[0 if not shown else 1 if lost - shown else 2].append((one, sought))
        return found

    async def _look_again(self, system: OpenSystem, listing: Listing, missed: _Searches, kept: _Searches) -> None:
        """Search again: one that finds only now what it missed lags behind the listing, unless repeats differ."""
        finds = partial(self._finds, system, listing)
        late = [search for search in missed if listing.memories and await finds(*search)]
        asked = [*late, *kept[:: len(kept) // REPEATED + 1]] if late else []
        for i, search in enumerate(asked, 1):
            if {await finds(*search) for _ in range(max(2, REPEATED // len(asked)))} == {True, False}:
                self.report.doubts.append(varying(i, len(late), len(missed)))
                return
        if lags := [result.started - system.filled for result, _ in late]:
            self.report.doubts.append(lagging(lags, len(missed), settles=system.settles))

    async def _finds(self, system: OpenSystem, listing: Listing, result: Result, sought: set[str]) -> bool | None:
        """Search again; return whether one of these texts is found (any entry if there are none), None after an error."""
        with suppress(MemorySystemError):
            asked = result.ask.question
            found = (await system.retrieve(asked.query, result.ask.k, "", asked.asked_at)).memories
            return any(m.text in sought if sought else system.rewrites or is_listed(m, listing) for m in found)
        return None

    async def _comes_to_rest(self) -> bool:
        """Wait briefly for cancelled calls; return False if a call of the system hangs, as further calls would hang too."""
        end = time.monotonic() + GRACE_SECONDS
        lane = None if self._system is None else self._system.lane
        while self._tasks or (lane is not None and lane.is_busy):
            if (lane is not None and lane.is_hung) or time.monotonic() > end:
                return False
            await asyncio.sleep(0.01)
        return True


class Needs:
    """The dependencies between the questions of a store.

    A needed question uses its own k, or else the k of the question that needs it.
    """

    def __init__(self, job: StoreJob) -> None:
        """Find the hidden asks.

        Raises `UsageError` if a question needs one that is not asked before it: it would wait for ever.
        """
        self.hidden: list[Ask] = []
        """Asks that nobody selected; they are never reported."""
        self.owners: dict[str, str] = {}
        """Maps the key of each hidden ask to the key of the first selected ask that needs it."""
        self.probes = _probes(job)
        """The probe number of each question, by question id."""
        self._known = job.known
        self._questions = {question.id: question for question in job.plan.all_questions}
        self._keys = {(ask.question.id, ask.k): ask.key for ask in job.asks}
        todo = deque(job.asks)
        while todo:
            ask = todo.popleft()
            for question, k in self._needed(ask):
                if (question.id, k) in self._keys or (question.id, k) in self._known:
                    continue
                hidden = Ask(f"{ask.key} needs {question.id}", question, k)
                self._keys[question.id, k] = hidden.key
                self.owners[hidden.key] = self.owners.get(ask.key, ask.key)
                self.hidden.append(hidden)
                todo.append(hidden)

    def of(self, ask: Ask) -> tuple[list[str], list[NeededOutcome]]:
        """Return the keys of the asks that this ask needs, and the outcomes that are already known."""
        places = [(question.id, k) for question, k in self._needed(ask)]
        keys = [self._keys[place] for place in places if place in self._keys]
        return keys, [self._known[place] for place in places if place not in self._keys]

    def _needed(self, ask: Ask) -> Iterator[tuple[Question, int]]:
        for name in ask.question.needs:
            question = self._questions[name]
            yield question, question.k or ask.k


def _probes(job: StoreJob) -> dict[str, int]:
    probes = [step.questions for step in job.plan.steps if not isinstance(step, Ingest)]
    number = {question.id: i for i, questions in enumerate(probes) for question in questions}
    for question in job.plan.all_questions:
        for name in question.needs:
            if number.get(name, len(probes)) >= number[question.id]:
                raise UsageError(
                    f"{job.task}: the question {question.id} of the store {job.id} needs {name!r}; expected the id of a "
                    "question in an earlier probe of the same store"
                )
    return number
