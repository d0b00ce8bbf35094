"""Instead of filling a store: restore the one that an earlier run has kept, or keep this one for the next."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from pytest_memfail.core import Conversation, Listing, MemorySystemError, SnapshotError, UsageError
from pytest_memfail.engine.calls import Lane
from pytest_memfail.engine.shelf import DATA, Shelf, digest_of
from pytest_memfail.engine.sources import code_of

OPTION = "--memfail-reuse-stores"


def check_reusable(system: object, name: str) -> None:
    """Raise `UsageError` for a system (or a class of one) without snapshots."""
    missing = [f"{method}()" for method in ("snapshot", "restore") if not callable(getattr(system, method, None))]
    if missing:
        raise UsageError(
            f"{OPTION}: the memory system {name!r} has no {' and no '.join(missing)}; expected snapshot(path) and restore(path): "
            "add them, or leave the option out"
        )


class Reuse:
    """What one store run does with a shelf."""

    def __init__(
        self,
        shelf: Shelf,
        lane: Lane,
        system: Any,
        factory: Callable[..., Any],
        described: Mapping[str, str],
        pool: Executor,
    ) -> None:
        check_reusable(system, shelf.system)
        self._shelf, self._lane, self._system, self._pool = shelf, lane, system, pool
        self._described = dict(described)
        self._factory = factory
        self._code: str | None = None
        self._expected: tuple[Path, str] | None = None
        self._copies: list[Path] = []

    async def restore(self, segments: Sequence[Sequence[Conversation]]) -> bool:
        """Whether a store with these conversations was kept, and is now what the system holds.

        Raises `SnapshotError` for one that cannot be restored: it is never filled anew in silence.
        """
        key = await self._key(segments)
        if not self._shelf.has(key):
            return False
        # the system is given a copy, which stays until the store is closed: it may open it where it lies
        copy = Path(tempfile.mkdtemp(prefix="memfail-restore-"))
        self._copies.append(copy)
        place = self._shelf.place(key)
        listing = await self._off_loop(self._shelf.take, key, copy / DATA)
        try:
            await self._lane.call("restore", self._system.restore, copy / DATA)
        except MemorySystemError as error:
            raise SnapshotError(f"{error}; the kept store is {place}: remove it to fill the store anew") from error
        self._expected = place, listing
        return True

    def check(self, listing: Listing) -> None:
        """Raise `SnapshotError` if what was restored is not what was kept."""
        if self._expected is None:
            return
        place, digest = self._expected
        self._expected = None
        if digest_of(listing) != digest:
            raise SnapshotError(
                f"after restore() of {place} get_all_memories() lists {len(listing.memories)} entries that are not those kept; "
                "mend restore() (memfail check-system), or remove that folder to fill the store anew"
            )

    async def keep(self, segments: Sequence[Sequence[Conversation]], listing: Listing) -> None:
        """Keep what the system holds, unless it is kept already.

        Raises `SnapshotError` if it cannot be kept.
        """
        key = await self._key(segments)
        if self._shelf.has(key):
            return
        made: Path | None = None
        try:
            made = await self._off_loop(self._shelf.new)
            await self._lane.call("snapshot", self._system.snapshot, made / DATA)
            if not any((made / DATA).iterdir()):
                raise MemorySystemError(
                    f"snapshot(path) of {self._shelf.system!r} left the folder empty; expected the whole store in it"
                )
            count = sum(map(len, segments))
            await self._off_loop(self._shelf.put, key, made, self._described, count, listing)
        except OSError as error:
            raise SnapshotError(f"the store cannot be kept in {self._shelf.folder}: {error}") from error
        finally:
            if made is not None:
                shutil.rmtree(made, ignore_errors=True)

    def close(self) -> None:
        """Remove the copies that were restored from."""
        for copy in self._copies:
            shutil.rmtree(copy, ignore_errors=True)

    async def _key(self, segments: Sequence[Sequence[Conversation]]) -> str:
        if self._code is None:
            self._code = await self._off_loop(code_of, self._system, self._factory)
        return self._shelf.key(self._described, self._code, segments)

    async def _off_loop(self, call: Callable[..., Any], *args: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._pool, call, *args)
