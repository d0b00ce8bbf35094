"""What stands around a case's own conversations: those of a task, or of a folder; without them nothing need be found."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from pytest_memfail.core import Conversation, Task
from pytest_memfail.tasks.load import MODULES
from pytest_memfail.tasks.rows import digest
from pytest_memfail.tasks.shipped import shipped_data

FILES: Final = ("*.yaml", "*.yml", "*.json")
"""What a folder of conversations holds."""
CASES: Final = "*.memfail.yaml"


class NoHaystackError(ValueError):
    """The name is neither a task's nor a folder's; the message says which is closest."""


@dataclass(frozen=True, slots=True)
class FoundHaystack:
    """Conversations in the order they are stored, or the files that hold them."""

    conversations: tuple[Conversation, ...]
    files: tuple[Path, ...]
    data_hash: str


class HaystackFinder:
    """Finds haystacks by name, and reads the rows of each task once."""

    def __init__(self, data: Path | None = None, seed: int = 42, tasks: Iterable[Task] = ()) -> None:
        """`data` is a folder of rows that go before the shipped ones; `tasks` are those that others provide."""
        self._data = data
        self._tasks = {task.name: task for task in tasks}
        self._seed = seed

    def find(self, name: str, beside: Path) -> FoundHaystack:
        """The task of that name, or the folder, relative to the folder `beside`.

        Raises `NoHaystackError` for a name of neither, `RowError` for faulty rows of the task.
        """
        if name in self._tasks or name in MODULES:
            task = self._task(name)
            conversations = tuple(c for store in task.stores for c in store.conversations)
            return FoundHaystack(conversations, (), task.data_hash)
        folder = beside / name
        if folder.is_dir():
            files = tuple(sorted(p for glob in FILES for p in folder.glob(glob) if not p.match(CASES)))
            if not files:
                raise NoHaystackError(
                    f"got {name!r}, a folder without conversations; expected files {', '.join(FILES)}"
                )
            return FoundHaystack((), files, "")
        known = [*MODULES, *(other for other in self._tasks if other not in MODULES)]
        close = get_close_matches(name, [*known, *(f"{p.name}/" for p in beside.iterdir() if p.is_dir())], 1)
        hint = f"did you mean {close[0]!r}?" if close else f"tasks: {', '.join(known)}"
        raise NoHaystackError(f"got {name!r}, expected a task or a folder of conversations; {hint}")

    def _task(self, name: str) -> Task:
        if name not in self._tasks:
            file = f"{name}.csv"
            own = self._data is not None and (self._data / file).is_file()
            folder = self._data if own and self._data is not None else shipped_data()
            module = MODULES[name]
            # the layout of `ours` whatever the protocol: nothing is published of own cases
            self._tasks[name] = module.build(name, module.read(folder / file), "ours", self._seed)
        return self._tasks[name]

    def around(self, own: Sequence[Conversation], hay: Sequence[Conversation], key: str) -> list[Conversation]:
        """The haystack with the own conversations, in their order, at places that depend on the seed and the key alone.

        The haystack takes its dates from theirs, so that what is stored later was said later, and has none where they
        have none. Raises `OverflowError` where no such dates exist.
        """
        places = sorted(
            int(digest(f"{self._seed}:haystack:{key}:{i}", 12), 16) % (len(hay) + 1) for i in range(len(own))
        )
        merged = list(hay)
        for i, place in enumerate(places):
            merged.insert(place + i, own[i])
        dates = {
            place + i: conversation.timestamp
            for i, (place, conversation) in enumerate(zip(places, own, strict=True))
            if conversation.timestamp is not None
        }
        ours = {place + i for i, place in enumerate(places)}
        return [c if i in ours else _dated(c, _date_at(i, dates)) for i, c in enumerate(merged)]


def _date_at(place: int, dates: dict[int, datetime]) -> datetime | None:
    """A date at a place in a row of which some are known: between its neighbours', or a day for each place beyond them."""
    before = max((other for other in dates if other < place), default=None)
    after = min((other for other in dates if other > place), default=None)
    if before is not None and after is not None:
        start, end = dates[before], dates[after]
        between = start + (end - start) * ((place - before) / (after - before))
        return between.replace(second=0, microsecond=0)
    if before is not None:
        return dates[before] + timedelta(days=place - before)
    return None if after is None else dates[after] - timedelta(days=after - place)


def _dated(conversation: Conversation, start: datetime | None) -> Conversation:
    messages = tuple(
        replace(message, timestamp=None if start is None else start + timedelta(minutes=i))
        for i, message in enumerate(conversation.messages)
    )
    return replace(conversation, messages=messages, timestamp=start)


def combined_hash(*parts: str) -> str:
    """One hash for several."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
