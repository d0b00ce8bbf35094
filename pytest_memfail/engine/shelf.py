"""Filled stores kept for later runs: a folder for each, named by everything that decides what is in it."""

from __future__ import annotations

import hashlib
import json
import shutil
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from pytest_memfail.core import Conversation, Listing, SnapshotError, mask_options, public

FORMAT: Final = 1
MANIFEST: Final = "manifest.json"
DATA: Final = "store"
MAKING: Final = ".making-"
KEY_LENGTH: Final = 32


class Shelf:
    """A folder of kept stores, shared by all processes and runs.

    A store appears whole, by renaming the folder it was made in; of two that were made at once the first is kept.
    """

    def __init__(self, folder: Path, system: str, about: Mapping[str, Any]) -> None:
        """`about` is what decides the content beside the conversations and what the system says: its options, say."""
        self.folder = folder
        self.system = system
        self._about = dict(about)

    def key(self, described: Mapping[str, str], code: str, segments: Sequence[Sequence[Conversation]]) -> str:
        """The name of the store that holds these conversations; the system is flushed after each segment."""
        parts = {
            "format": FORMAT,
            "system": self.system,
            "about": self._about,
            "described": dict(described),
            "code": code,
            "conversations": [[asdict(conversation) for conversation in segment] for segment in segments],
        }
        text = json.dumps(parts, sort_keys=True, default=str)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:KEY_LENGTH]

    def place(self, key: str) -> Path:
        """Where the store of that key is, or would be."""
        return self.folder / key

    def has(self, key: str) -> bool:
        """Whether it is kept, sound or not."""
        return self.place(key).is_dir()

    def take(self, key: str, into: Path) -> str:
        """Copy a kept store's snapshot to a new folder; returns the digest of its listing.

        Raises `SnapshotError` for one that is not as it was written.
        """
        place = self.place(key)
        try:
            manifest = json.loads((place / MANIFEST).read_text(encoding="utf-8"))
            files, listing = dict(manifest["files"]), str(manifest["listing"])
            shutil.copytree(place / DATA, into)
        except (OSError, ValueError, KeyError, TypeError, shutil.Error) as error:
            raise _damaged(place, f"{type(error).__name__} in reading it") from error
        found = _files(into)  # of the copy: it is what will be restored
        for name in sorted({*files, *found}):
            if files.get(name) != found.get(name):
                what = "is missing" if name not in found else "was added" if name not in files else "has changed"
                raise _damaged(place, f"the file {name} {what}")
        return listing

    def new(self) -> Path:
        """A folder to make a store in: an empty one for the snapshot is in it."""
        place = self.folder / f"{MAKING}{uuid.uuid4().hex}"
        (place / DATA).mkdir(parents=True)
        return place

    def put(self, key: str, made: Path, described: Mapping[str, str], conversations: int, listing: Listing) -> None:
        """Keep what was made in a folder of `new`."""
        manifest = {
            "format": FORMAT,
            "system": self.system,
            "described": public(mask_options(described)),
            "conversations": conversations,
            "entries": len(listing.memories),
            "listing": digest_of(listing),
            "files": _files(made / DATA),
        }
        (made / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
        try:
            made.rename(self.place(key))
        except OSError:
            if not self.has(key):
                raise
            shutil.rmtree(made, ignore_errors=True)  # another process was faster


def kept_in(folder: Path) -> int:
    """How many stores are kept in a folder."""
    return sum(is_kept(path.name) for path in folder.iterdir()) if folder.is_dir() else 0


def is_kept(name: str) -> bool:
    """Whether a file of that name in the folder of a shelf would be a kept store."""
    return len(name) == KEY_LENGTH and set(name) <= set("0123456789abcdef")


def is_ours(folder: Path) -> bool:
    """Whether nothing but kept stores is in a folder."""
    return all(is_kept(path.name) or path.name.startswith(MAKING) for path in folder.iterdir())


def digest_of(listing: Listing) -> str:
    """The same for listings with the same texts, in whatever order."""
    digest = hashlib.sha256()
    for text in sorted(memory.text for memory in listing.memories):
        digest.update(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())
    return digest.hexdigest()


def _files(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _damaged(place: Path, what: str) -> SnapshotError:
    return SnapshotError(f"the kept store {place} is damaged: {what}; remove that folder to fill the store anew")
