"""The files that a run writes: regular ones only, each whole or not at all, readable by their owner alone."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from pytest_memfail.core.errors import UsageError

try:
    fcntl: Any = import_module("fcntl")
except ImportError:  # Windows
    fcntl = None

UNFINISHED: Final = ".memfail-"
"""How the name of a file begins that is still being written."""
OWNER_ONLY: Final = 0o600
"""Permissions of a new file: what is written may quote what somebody remembers."""

FRESH_SECONDS: Final = 86_400.0
"""Where files cannot be locked, what changed so recently is taken for still in use."""

KINDS: Final = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
)


def check_place(path: Path, option: str) -> None:
    """Refuse a place that no file can be written to: anything but a regular file, or a new name in a writable folder.

    Raises `UsageError`, with nothing touched.
    """
    check_regular(path, option)
    try:
        place = Path(os.path.realpath(path))  # a link is written through
        if not place.parent.is_dir():
            raise UsageError(f"{option}: the folder {place.parent} does not exist; create it first")
        # a file is replaced by a new one, so its folder has to be writable as well
        closed = [name for name in (place, place.parent) if name.exists() and not os.access(name, os.W_OK)]
    except OSError as error:
        raise _unwritable(path, option, error) from None
    if closed:
        raise UsageError(f"{option}: no permission to write {closed[0]}")


def check_can_be_made(path: Path, option: str) -> None:
    """Refuse a place that cannot be written to, although folders on the way to it may still be made.

    Raises `UsageError`, with nothing touched.
    """
    check_regular(path, option)
    there = next((folder for folder in path.parents if folder.exists()), path.parent)
    if not there.is_dir():
        raise UsageError(f"{option}: cannot write {_short(path)}: {there} is a file, expected a folder")
    if not os.access(there, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise UsageError(f"{option}: no permission to write {_short(path)}")


def check_regular(path: Path, option: str) -> None:
    """Refuse what is no regular file; a path where nothing is may be written.

    Raises `UsageError`.
    """
    try:
        kind = _kind_of(path)
    except (OSError, ValueError) as error:
        raise _unwritable(path, option, error) from None
    if kind == "a folder":
        raise UsageError(f"{option}: got the folder {path}, expected a file name")
    if kind is not None:
        raise UsageError(f"{option}: {path} is {kind}, expected a regular file or a new name; give another name")


def _kind_of(path: Path) -> str | None:
    """Return what a path is if it is no regular file ("a device"); None for a regular file, or if nothing is there."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISREG(mode):
        return None
    return next((name for is_kind, name in KINDS if is_kind(mode)), "no regular file")


@contextmanager
def replacing(path: Path) -> Iterator[int]:
    """Open a new file that takes the place of `path` at the end of the block; after an error nothing has changed.

    The file stays open for the caller to close, except after an error. A file that was there keeps its permissions; a new
    one is readable by its owner alone. Raises `OSError`, also where something else than a regular file has come to be at
    that place.
    """
    place = Path(os.path.realpath(path))
    # a name of its own: that of the file may be as long as names can be
    handle, name = tempfile.mkstemp(prefix=UNFINISHED, dir=place.parent)
    unfinished = Path(name)
    try:
        yield handle
        os.fsync(handle)
        put_in_place(unfinished, place)
    except BaseException:
        os.close(handle)
        raise
    finally:
        unfinished.unlink(missing_ok=True)


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file whole or not at all. Raises `OSError`."""
    with replacing(path) as handle:
        write_all(handle, content.encode("utf-8", "replace") if isinstance(content, str) else content)
    os.close(handle)


def append_text(path: Path, text: str) -> None:
    """Append to a regular file. Raises `OSError`, also for anything else than a regular file."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NONBLOCK", 0)  # a pipe nobody reads would block
    handle = os.open(path, flags, OWNER_ONLY)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise _irregular(path)
        write_all(handle, text.encode("utf-8", "replace"))
    finally:
        os.close(handle)


def write_all(handle: int, content: bytes) -> None:
    """Write all bytes to an open file; `os.write` may take only some of them."""
    view = memoryview(content)
    while view:
        view = view[os.write(handle, view) :]


def hold_lock(path: Path) -> int:
    """Make a file and hold its lock until the returned handle is closed, or the process dies. Raises `OSError`."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, OWNER_ONLY)
    with suppress(OSError):  # a file system without locks: the age of the file has to do
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX)
    return handle


def is_held(path: Path) -> bool:
    """Whether a process holds the lock of a file; False where there is no such file."""
    try:
        handle = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        if fcntl is None:
            return is_fresh(path)
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)  # several may ask at once
    except BlockingIOError:
        return True
    except OSError:
        return is_fresh(path)
    finally:
        os.close(handle)
    return False


def is_fresh(path: Path) -> bool:
    """Whether a file or folder has changed within a day."""
    try:
        return time.time() - path.stat().st_mtime < FRESH_SECONDS
    except OSError:
        return False


def os_reason(error: Exception) -> str:
    """Return what the system says of an error, without the path."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def put_in_place(unfinished: Path, place: Path) -> None:
    """Give a finished file its place, where nothing or a regular file may be. Raises `OSError` for anything else."""
    try:
        there = place.lstat()
    except FileNotFoundError:
        try:
            os.link(unfinished, place)  # unlike a renaming, it never replaces what has just come to be there
        except FileExistsError:
            there = place.lstat()
        except OSError:  # a file system without hard links
            unfinished.replace(place)
            return
        else:
            return
    if not stat.S_ISREG(there.st_mode):
        raise _irregular(place)
    unfinished.chmod(stat.S_IMODE(there.st_mode))
    with suppress(OSError, AttributeError):  # only root gives files away, and only where files have owners
        os.chown(unfinished, there.st_uid, there.st_gid)
    unfinished.replace(place)


def _irregular(path: Path) -> OSError:
    return OSError(errno.EEXIST, f"is {_kind_of(path) or 'no regular file'}, not a regular file", str(path))


def _unwritable(path: Path, option: str, error: Exception) -> UsageError:
    return UsageError(f"{option}: cannot write {_short(path)} ({os_reason(error)}); give another name")


def _short(path: Path) -> str:
    text = str(path)
    return text if len(text) <= 120 else f"{text[:60]}…{text[-40:]}"
