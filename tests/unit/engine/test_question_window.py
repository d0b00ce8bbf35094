"""Which question is asked next: those waited for first, the others in order, at most so many ahead."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import pytest
from engine_fakes import PATIENCE, question

from pytest_memfail.engine import Ask
from pytest_memfail.engine.questions import QuestionWindow, Slots


def asks_of(keys: Sequence[str]) -> list[Ask]:
    return [Ask(key, question(i), 5) for i, key in enumerate(keys)]


def window_of(
    keys: str = "abcdef", size: int = 99, suspects: str = "", later: str = "", hidden: str = ""
) -> QuestionWindow:
    """A window in its first probe, with every key pending but those of the `later` probe."""
    window = QuestionWindow({**dict.fromkeys(keys, 0), **dict.fromkeys(later, 1)}, frozenset(suspects), size, hidden)
    window.advance()
    window.begin(asks_of(keys))
    return window


def take(window: QuestionWindow, key: str) -> None:
    """What the waiting thread does, and then the loop."""
    assert window.take(key)
    window.want(key, is_open=True)


async def all_ready(window: QuestionWindow) -> str:
    """The keys that may be asked before the window pauses or is empty."""
    found = ""
    while not window.is_paused:
        asking = asyncio.ensure_future(window.next())
        for _ in range(3):
            await asyncio.sleep(0)
        if window.is_paused:
            asking.cancel()
            await asyncio.wait({asking})
        elif (ask := asking.result()) is None:
            break
        else:
            found += ask.key
    window.is_paused = False
    return found


def run(test: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(asyncio.wait_for(test(), PATIENCE))


def test_questions_that_nobody_will_wait_for_leave_the_size_to_the_others():
    async def test():
        window = window_of(size=2, hidden="abd")
        assert await all_ready(window) == "abcde"
        take(window, "c")
        assert await all_ready(window) == "f"
        window.restart("df")
        window.advance()
        window.begin(asks_of("df"))
        assert await all_ready(window) == "df"

    run(test)


def test_without_anybody_waiting_questions_come_in_order_up_to_the_size():
    async def test():
        window = window_of(size=4)
        assert await all_ready(window) == "abcd"

    run(test)


def test_each_answer_taken_moves_the_window_on_by_one():
    async def test():
        window = window_of(size=2)
        assert await all_ready(window) == "ab"
        window.take("a")
        window.want("a", is_open=False)
        assert await all_ready(window) == "c"
        window.take("b")
        window.take("c")
        window.want("c", is_open=False)
        assert await all_ready(window) == "de"

    run(test)


def test_after_the_last_question_there_is_none():
    async def test():
        window = window_of("ab")
        assert [ask.key for ask in (await window.next(), await window.next()) if ask] == ["a", "b"]
        assert await window.next() is None
        assert not window.is_paused

    run(test)


def test_those_waited_for_come_first_in_the_order_they_were_waited_for():
    async def test():
        window = window_of()
        take(window, "e")
        take(window, "c")
        assert await all_ready(window) == "ecabdf"

    run(test)


def test_one_waited_for_is_asked_even_where_the_window_is_used_up():
    async def test():
        window = window_of(size=1)
        assert await all_ready(window) == "a"
        take(window, "f")
        assert await all_ready(window) == "f"

    run(test)


def test_a_paused_window_goes_on_when_a_question_is_taken():
    async def test():
        window = window_of(size=1)
        assert await all_ready(window) == "a"
        asking = asyncio.ensure_future(window.next())
        await asyncio.sleep(0)
        assert window.is_paused
        assert not asking.done()
        take(window, "d")
        ask = await asking
        assert ask is not None
        assert ask.key == "d"
        assert not window.is_paused

    run(test)


def test_an_answer_taken_just_before_the_pause_is_seen_is_not_missed():
    """The waiting thread wakes nobody unless it sees the pause, so the window must look again once it shows it."""

    class Racing(QuestionWindow):
        @property
        def is_paused(self) -> bool:
            return self.shown

        @is_paused.setter
        def is_paused(self, value: bool) -> None:
            if value:
                self.take("a")  # in the waiting thread, before the pause shows
            self.shown = value

    async def test():
        window = Racing(dict.fromkeys("abc", 0), frozenset(), 1)
        window.advance()
        window.begin(asks_of("abc"))
        first, second = await window.next(), await window.next()
        assert first is not None
        assert second is not None
        assert (first.key, second.key) == ("a", "b")

    run(test)


def test_a_suspect_is_asked_only_when_it_is_waited_for():
    async def test():
        window = window_of(suspects="ac")
        assert await all_ready(window) == "bdef"
        take(window, "c")
        assert await all_ready(window) == "c"
        take(window, "a")
        assert await all_ready(window) == "a"
        assert await window.next() is None

    run(test)


@pytest.mark.parametrize("size", [1, 99])
def test_somebody_waiting_for_a_later_probe_has_this_one_finished(size):
    async def test():
        window = window_of("abc", size=size, suspects="b", later="z")
        take(window, "z")
        assert await all_ready(window) == "abc"
        window.advance()
        window.begin(asks_of("z"))
        assert await all_ready(window) == "z"

    run(test)


def test_only_the_probe_reached_last_is_current():
    window = window_of("a", later="z")
    assert (window.is_current("a"), window.is_current("z")) == (True, False)
    window.advance()
    assert (window.is_current("a"), window.is_current("z")) == (False, True)


def test_a_key_is_taken_once():
    window = window_of()
    assert [window.take("a"), window.take("b"), window.take("a")] == [True, True, False]


def test_an_interrupted_window_gives_nothing_until_it_is_restarted():
    async def test():
        window = window_of(size=2)
        assert await all_ready(window) == "ab"
        asking = asyncio.ensure_future(window.next())
        await asyncio.sleep(0)
        assert window.is_paused
        window.interrupt()
        assert await asking is None
        assert await window.next() is None
        window.restart("bcdef")
        window.advance()
        window.begin(asks_of("bcdef"))
        assert await all_ready(window) == "b"  # "a" has been asked, and nobody has taken it

    run(test)


def test_after_a_restart_those_waited_for_come_first_again():
    async def test():
        window = window_of(size=2)
        take(window, "d")
        take(window, "a")
        assert await all_ready(window) == "dabc"
        window.interrupt()
        window.restart("bcdef")
        window.advance()
        window.begin(asks_of("bcdef"))
        assert await all_ready(window) == "dbc"

    run(test)


# -- at once over all stores ------------------------------------------------------------------------------------------


def test_no_more_than_the_slots_are_in_flight():
    async def test():
        slots, release = Slots(2), asyncio.Event()

        async def asked() -> None:
            await release.wait()

        for _ in range(2):
            await slots.acquire()
            slots.start(asked())
        third = asyncio.ensure_future(slots.acquire())
        for _ in range(5):
            await asyncio.sleep(0)
        assert (len(slots.running), third.done()) == (2, False)
        release.set()
        await third
        assert not slots.running

    run(test)


def test_one_alone_waits_for_the_others_and_holds_up_further_ones():
    async def test():
        slots, release, order = Slots(8), asyncio.Event(), []

        async def asked() -> None:
            await release.wait()
            order.append("before")

        async def alone() -> None:
            async with slots.alone():
                order.append("alone")

        await slots.acquire()
        slots.start(asked())
        only = asyncio.ensure_future(alone())
        await asyncio.sleep(0)
        further = asyncio.ensure_future(slots.acquire())
        for _ in range(5):
            await asyncio.sleep(0)
        assert (only.done(), further.done()) == (False, False)
        release.set()
        await further
        assert order == ["before", "alone"]

    run(test)
