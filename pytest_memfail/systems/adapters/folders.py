"""Snapshots of stores that are a folder."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from pytest_memfail.core import copy_folder


@contextmanager
def closed(
    writing: AbstractContextManager[object], close: Callable[[], None], reopen: Callable[[], None]
) -> Iterator[None]:
    """Close the store while its folder is copied or replaced, then reopen it: an open database must not be copied."""
    with writing:
        close()
        yield
        reopen()


def save_folder(folder: Path, snapshot: Path) -> None:
    """Copy the folder of a closed store into the snapshot."""
    copy_folder(folder, snapshot / folder.name)


def load_folder(folder: Path, snapshot: Path) -> None:
    """Replace the folder of a closed store by the snapshot's."""
    shutil.rmtree(folder, ignore_errors=True)
    copy_folder(snapshot / folder.name, folder)
