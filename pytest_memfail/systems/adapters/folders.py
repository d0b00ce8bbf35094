"""Stores that are a folder: written to and read back from a snapshot."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path


@contextmanager
def closed(
    writing: AbstractContextManager[object], close: Callable[[], None], reopen: Callable[[], None]
) -> Iterator[None]:
    """The store closed while its folder is copied or replaced, and then open again: open databases must not be copied."""
    with writing:
        close()
        yield
        reopen()


def save_folder(folder: Path, snapshot: Path) -> None:
    """Copy the folder of a closed store into the snapshot."""
    shutil.copytree(folder, snapshot / folder.name, dirs_exist_ok=True)


def load_folder(folder: Path, snapshot: Path) -> None:
    """Replace the folder of a closed store by the one in the snapshot; nothing of what was there is left."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(snapshot / folder.name, folder)
