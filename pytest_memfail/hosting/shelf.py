"""Keep filled stores for later runs, each in a folder named by a digest of everything that decides its content."""

from __future__ import annotations

import asyncio
import hashlib
import json
import shutil
import tempfile
import uuid
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from pytest_memfail.core import (
    Conversation,
    Listing,
    Memory,
    MemorySystemError,
    SnapshotError,
    TimedOutError,
    UsageError,
    copy_folder,
    json_of,
    sources_of,
)
from pytest_memfail.hosting.calls import Lane
from pytest_memfail.safety import mask_options, public

OPTION: Final = "--memfail-reuse-stores"
FORMAT: Final = 3
MANIFEST: Final = "manifest.json"
DATA: Final = "store"
MAKING: Final = ".making-"
KEY_LENGTH: Final = 32
DEPTH: Final = 2
"""How deep to search the attributes of a system for its code: an adapter holds the memory, which holds its parts."""

Finds = Sequence[Sequence[str]]
"""What some texts of a store found, as digests of texts."""
Search = Callable[[Listing], Awaitable[Finds]]
"""Returns what some texts of this listing find."""
Segments = Sequence[Sequence[Conversation]]
"""The conversations stored before each probe; the system is flushed after each segment."""


class Shelf:
    """A folder of kept stores, shared by all processes and runs.

    A store appears whole: its folder is renamed once complete. Of two stores made at once, the first is kept.
    """

    def __init__(self, folder: Path, system: str, about: Mapping[str, Any]) -> None:
        """`about` holds what decides the content besides the conversations and the system's description, such as options."""
        self.folder = folder
        self.system = system
        self._about = dict(about)
        self._replaces = False

    def replacing(self) -> Shelf:
        """Return the shelf without its stores; one that is put there replaces the kept one."""
        other = Shelf(self.folder, self.system, self._about)
        other._replaces = True
        return other

    def chain(self, described: Mapping[str, str], code: str) -> str:
        """Return the link of an empty store, with which the chain of its keys begins."""
        parts = {
            "format": FORMAT,
            "system": self.system,
            "about": self._about,
            "described": dict(described),
            "code": code,
        }
        return _digest(json.dumps(parts, sort_keys=True, default=str))

    def place(self, key: str) -> Path:
        """Return the path of the store with this key, whether it is kept or not."""
        return self.folder / key

    def has(self, key: str) -> bool:
        """Return whether a store is kept under this key, damaged or not."""
        return not self._replaces and self.place(key).is_dir()

    def take(self, key: str, into: Path) -> tuple[str, Finds]:
        """Copy a kept store's snapshot to a new folder; return the digest of its listing, and what its texts found.

        Raises `SnapshotError` if the store is damaged.
        """
        place = self.place(key)
        try:
            manifest = json_of((place / MANIFEST).read_text(encoding="utf-8"))
            files, listing, finds = dict(manifest["files"]), str(manifest["listing"]), list(manifest["finds"])
            copy_folder(place / DATA, into)
        except (OSError, ValueError, KeyError, TypeError, shutil.Error) as error:
            raise _damaged(place, f"{type(error).__name__} in reading it") from error
        found = _files(into)  # check the copy: it is what will be restored
        for name in sorted({*files, *found}):
            if files.get(name) != found.get(name):
                what = "is missing" if name not in found else "was added" if name not in files else "has changed"
                raise _damaged(place, f"the file {name} {what}")
        return listing, finds

    def new(self) -> Path:
        """Create a folder for a new store, with an empty folder for its snapshot, and return its path."""
        place = self.folder / f"{MAKING}{uuid.uuid4().hex}"
        (place / DATA).mkdir(parents=True)
        return place

    def put(
        self,
        key: str,
        made: Path,
        described: Mapping[str, str],
        conversations: int,
        listing: Listing,
        finds: Finds,
    ) -> None:
        """Keep the store that was made in a folder from `new`."""
        manifest = {
            "format": FORMAT,
            "system": self.system,
            "described": public(mask_options(described)),
            "conversations": conversations,
            "entries": len(listing.memories),
            "listing": digest_of(listing),
            "finds": finds,
            "files": _files(made / DATA),
        }
        (made / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
        place = self.place(key)
        if self._replaces and place.is_dir():  # renamed first: no other process may find half a store
            shutil.rmtree(place.rename(self.folder / f"{MAKING}{uuid.uuid4().hex}"), ignore_errors=True)
        try:
            made.rename(place)
        except OSError:
            if not place.is_dir():
                raise
            shutil.rmtree(made, ignore_errors=True)  # another process was faster


class OtherSettingsError(SnapshotError):
    """The searches of a restored store do not find what they found when it was kept."""


class Reuse:
    """Restore one store from a shelf instead of filling it, or keep it there for the next run."""

    def __init__(
        self, shelf: Shelf, lane: Lane, system: Any, factory: Any, about: Mapping[str, str], pool: Executor, place: Path
    ) -> None:
        """Reuse a store of a system that says this about itself; `place` is the folder for copies."""
        check_reusable(system, shelf.system)
        self._shelf, self._lane, self._system, self._pool = shelf, lane, system, pool
        self._factory, self._described, self._place = factory, dict(about), place
        self._chain: list[str] = []
        """The link of the empty store, and one after each segment: a conversation is hashed once."""
        self._expected: tuple[Path, str, Finds] | None = None
        self._copies: list[Path] = []

    async def restore(self, segments: Segments) -> bool:
        """Restore the store with these conversations; return whether one was kept.

        Raises `SnapshotError` if a kept store cannot be restored. It is never silently filled anew.
        """
        key = await self._key(segments)
        if not self._shelf.has(key):
            return False
        # the system gets a copy that stays until the store is closed: the system may open it in place
        copy = Path(tempfile.mkdtemp(prefix="memfail-restore-", dir=self._place))
        self._copies.append(copy)
        place = self._shelf.place(key)
        listing, finds = await self._off_loop(self._shelf.take, key, copy / DATA)
        try:
            await self._lane.call("restore", self._system.restore, copy / DATA)
        except MemorySystemError as error:
            raise SnapshotError(f"{error}; the kept store is {place}: remove it to fill the store again") from error
        self._expected = place, listing, finds
        return True

    async def check(self, listing: Listing, search: Search) -> None:
        """Raise `SnapshotError` if the restored store does not list what was kept.

        Raises `OtherSettingsError` if it lists that, and its texts do not find what they found then.
        """
        if self._expected is None:
            return
        place, digest, finds = self._expected
        self._expected = None
        if digest_of(listing) != digest:
            raise SnapshotError(
                f"after restore() of {place} get_all_memories() lists {len(listing.memories)} entries that are not those kept; "
                "fix restore() (memfail check-system), or remove that folder to fill the store again"
            )
        try:
            now = await search(listing) if finds else []
        except MemorySystemError as error:
            if isinstance(error, TimedOutError):
                raise
            now = [[] for _ in finds]
        # one entry in three may differ: of equal scores any may come last
        if any(len(set(before) - set(after)) > len(before) // 3 for before, after in zip(finds, now, strict=False)):
            raise OtherSettingsError(
                "a kept store was filled with other settings (such as another embedding model): its texts do not find what they "
                "found then, so it was filled again; let describe() name all that decides the content"
            )

    async def keep(self, segments: Segments, listing: Listing, search: Search) -> None:
        """Keep the system's store on the shelf, unless it is kept already.

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
            await self._off_loop(self._shelf.put, key, made, self._described, count, listing, await search(listing))
        except OSError as error:
            raise SnapshotError(f"the store cannot be kept in {self._shelf.folder}: {error}") from error
        finally:
            if made is not None:
                shutil.rmtree(made, ignore_errors=True)

    def close(self) -> None:
        """Remove the temporary copies of kept stores."""
        for copy in self._copies:
            shutil.rmtree(copy, ignore_errors=True)

    async def _key(self, segments: Segments) -> str:
        """Return the name of the store that holds these segments."""
        if not self._chain:
            code = await self._off_loop(code_of, self._system, self._factory)
            self._chain.append(self._shelf.chain(self._described, code))
        for segment in segments[len(self._chain) - 1 :]:
            self._chain.append(next_link(self._chain[-1], segment))
        return self._chain[len(segments)][:KEY_LENGTH]

    async def _off_loop(self, call: Callable[..., Any], *args: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._pool, call, *args)


def next_link(link: str, segment: Sequence[Conversation]) -> str:
    """Return the link of the chain of keys after a further segment."""
    return _digest(json.dumps([link, *map(asdict, segment)], sort_keys=True, default=str))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def finds_of(memories: Iterable[Memory]) -> list[str]:
    """Return the digests of what a text found."""
    return sorted({_digest(memory.text)[:KEY_LENGTH] for memory in memories})


def check_reusable(system: object, name: str) -> None:
    """Raise `UsageError` for a system (or a class of one) without snapshots."""
    missing = [f"{method}()" for method in ("snapshot", "restore") if not callable(getattr(system, method, None))]
    if missing:
        raise UsageError(
            f"{OPTION}: the memory system {name!r} has no {' and no '.join(missing)}; expected snapshot(path) and restore(path): "
            "add them, or leave the option out"
        )


def kept_in(folder: Path) -> int:
    """Return how many stores are kept in a folder."""
    return sum(_is_kept(path.name) for path in folder.iterdir()) if folder.is_dir() else 0


def is_ours(folder: Path) -> bool:
    """Return whether a folder holds nothing but kept stores."""
    return all(_is_kept(path.name) or path.name.startswith(MAKING) for path in folder.iterdir())


def digest_of(listing: Listing) -> str:
    """Return a digest of a listing's texts, independent of their order."""
    digest = hashlib.sha256()
    for text in sorted(memory.text for memory in listing.memories):
        digest.update(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())
    return digest.hexdigest()


def code_of(system: Any, factory: Any) -> str:
    """Return a digest of the code of the system, of the objects in its attributes, and of its factory.

    The digest changes with the system, as far as this can be detected: see `sources_of`.
    """
    modules = {base.__module__ for kind in _kinds(system, DEPTH) for base in kind.__mro__}
    modules.add(getattr(factory, "__module__", None) or type(factory).__module__)
    return _digest(json.dumps(sources_of(sorted(modules), getattr(factory, "files", ()))))


def _kinds(thing: Any, depth: int) -> Iterator[type]:
    yield type(thing)
    if depth:
        for value in getattr(thing, "__dict__", {}).values():
            yield from _kinds(value, depth - 1)


def _is_kept(name: str) -> bool:
    """Return whether a name in a shelf's folder is that of a kept store."""
    return len(name) == KEY_LENGTH and set(name) <= set("0123456789abcdef")


def _files(folder: Path) -> dict[str, str]:
    """Return a digest of each file below a folder; of a link, its target, because what lies outside may change."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            found[path.relative_to(folder).as_posix()] = f"link to {path.readlink()}"
        elif path.is_file():
            found[path.relative_to(folder).as_posix()] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def _damaged(place: Path, what: str) -> SnapshotError:
    return SnapshotError(f"the kept store {place} is damaged: {what}; remove that folder to fill the store again")
