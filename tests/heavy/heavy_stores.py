"""What the tests of the adapters say, and how they look at what comes back."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from threading import Barrier, BrokenBarrierError
from typing import Any

from pytest_memfail.core import Conversation, Message

MAY = datetime(2024, 5, 1, 9, 30, tzinfo=timezone.utc)
NOWHERE = Conversation("q", ())
TOWNS = [
    f"{start}{end}"
    for start in ("Bel", "Cor", "Dun", "Elm", "Fal", "Gar")
    for end in ("ford", "wick", "ham", "ley", "by")
]

Open = Callable[..., Any]


def said(name: str, *texts: str, when: datetime | None = MAY) -> Conversation:
    """A conversation of the user."""
    return Conversation(name, tuple(Message("user", text, when) for text in texts), when)


def towns(count: int = len(TOWNS)) -> list[Conversation]:
    """Conversations, each about a town and a minute of its own."""
    return [
        said(f"c-{i}", f"Ada saw a heron at {town}.", when=MAY + timedelta(minutes=i))
        for i, town in enumerate(TOWNS[:count])
    ]


def texts(memories: Any) -> list[str]:
    """What the entries say."""
    return [memory["text"] for memory in memories]


def named(memories: Any) -> set[str]:
    """The towns that the entries name."""
    return {town for town in TOWNS if any(town in text for text in texts(memories))}


def watched_for_overlap(
    function: Callable[..., Any], wait: float = 0.3
) -> tuple[Callable[..., Any], Callable[[], bool]]:
    """The function, and whether two calls of it were ever under way together: each waits a moment for another."""
    barrier = Barrier(2)
    met = []

    def watched(*args: Any, **kwargs: Any) -> Any:
        try:
            barrier.wait(wait)
            met.append(True)
        except BrokenBarrierError:
            barrier.reset()
        return function(*args, **kwargs)

    return watched, lambda: bool(met)


def store_at_once(system: Any, conversations: list[Conversation]) -> None:
    """Store all of them from as many threads, whatever the system declares."""
    with ThreadPoolExecutor(len(conversations)) as pool:
        list(pool.map(system.store_conversation, conversations))
