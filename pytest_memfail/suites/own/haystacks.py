"""Haystacks: conversations of a task or a folder to store around a case's own, so that retrieval has to choose."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Final

from pytest_memfail.core import Conversation, Folders, RowError, Suite, SuiteRequest, Task, UsageError
from pytest_memfail.rows import digest
from pytest_memfail.suites.load import built_in_suite

FILES: Final = ("*.yaml", "*.yml", "*.json", "*.jsonl")
"""The file patterns of conversations in a folder."""
CASES: Final = "*.memfail.yaml"
SUITES: Final = ("memfail",)
"""The suites whose tasks are haystacks: each has one store, of conversations that any user may have."""


class NoHaystackError(ValueError):
    """The name is neither a task nor a folder; the message suggests the closest one."""


@dataclass(frozen=True, slots=True)
class FoundHaystack:
    """Conversations in storage order, or the files that hold them."""

    conversations: tuple[Conversation, ...]
    files: tuple[Path, ...]
    data_hash: str


class HaystackFinder:
    """Find haystacks by name; read the rows of each task only once."""

    def __init__(self, data: Folders | None = None, seed: int = 42, tasks: Iterable[Task] = ()) -> None:
        """Set where to look: `data` has folders of rows besides the shipped ones, `tasks` come from plugins."""
        self._data = data or Folders()
        self._tasks = {task.name: task for task in tasks}
        self._seed = seed

    @cached_property
    def _suites(self) -> dict[str, Suite]:
        return {name: suite for suite in map(built_in_suite, SUITES) for name in suite.parts}

    def find(self, name: str, beside: Path) -> FoundHaystack:
        """Return the task with this name, or the folder, relative to the folder `beside`.

        Raises `NoHaystackError` if there is neither, `RowError` if the task's rows are faulty.
        """
        if name in self._tasks or name in self._suites:
            task = self._task(name)
            conversations = tuple(c for store in task.stores for c in store.read_conversations())
            return FoundHaystack(conversations, (), task.data_hash)
        folder = beside / name
        if folder.is_dir():
            files = tuple(sorted(p for glob in FILES for p in folder.glob(glob) if not p.match(CASES)))
            if not files:
                raise NoHaystackError(
                    f"got {name!r}, a folder without conversations; expected files {', '.join(FILES)}"
                )
            return FoundHaystack((), files, "")
        known = list(dict.fromkeys([*self._suites, *self._tasks]))
        close = get_close_matches(name, [*known, *(f"{p.name}/" for p in beside.iterdir() if p.is_dir())], 1)
        hint = f"did you mean {close[0]!r}?" if close else f"tasks: {', '.join(known)}"
        raise NoHaystackError(f"got {name!r}, expected a task or a folder of conversations; {hint}")

    def _task(self, name: str) -> Task:
        if name not in self._tasks:
            suite = self._suites[name]
            # always the layout of `ours`: no protocol is published for a user's cases
            request = SuiteRequest(self._data.of(suite.name), seed=self._seed, tasks=(name,))
            try:
                found = suite.load(request)
            except RowError:
                raise
            except UsageError:  # the folder has none of its rows
                found = ()
            self._tasks[name] = (*found, *(() if found else suite.load(replace(request, folder=None))))[0]
        return self._tasks[name]

    def around(self, own: Sequence[Conversation], hay: Sequence[Conversation], key: str) -> list[Conversation]:
        """Return the haystack with the case's own conversations inserted in order, at positions that depend only on
        seed and key.

        The haystack gets dates that fit between the case's own, or none if those have none. Raises `OverflowError` if
        no such dates exist.
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
    """Return a date for a position: between the known neighbours, or one day per position outside them."""
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
    """Combine several hashes into one."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
