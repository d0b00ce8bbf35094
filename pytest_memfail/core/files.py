"""Write files safely: regular files only, atomically, readable by their owner alone."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from pytest_memfail.core.errors import UsageError, one_line

try:
    fcntl: Any = import_module("fcntl")
except ImportError:  # Windows
    fcntl = None

UNFINISHED: Final = ".memfail-"
"""Prefix of the name of an unfinished file."""
OWNER_ONLY: Final = 0o600
"""Permissions of new files; they may quote private memories."""

FRESH_SECONDS: Final = 86_400.0
"""Without file locks, a file changed within this time counts as in use."""

KINDS: Final = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
)


def check_place(path: Path, option: str) -> None:
    """Raise `UsageError` unless the path is a regular file or a new name in a writable folder.

    Changes nothing.
    """
    check_regular(path, option)
    try:
        place = Path(os.path.realpath(path))  # follow links
        if not place.parent.is_dir():
            raise UsageError(f"{option}: the folder {place.parent} does not exist; create it first")
        # A file is replaced by a new one, so its folder must be writable too.
        closed = [name for name in (place, place.parent) if name.exists() and not os.access(name, os.W_OK)]
    except OSError as error:
        raise _unwritable(path, option, error) from None
    if closed:
        raise UsageError(f"{option}: no permission to write {closed[0]}")


def check_can_be_made(path: Path, option: str) -> None:
    """Raise `UsageError` unless the path can be written, after creating missing folders.

    Changes nothing.
    """
    check_regular(path, option)
    there = next((folder for folder in path.parents if folder.exists()), path.parent)
    if not there.is_dir():
        raise UsageError(f"{option}: cannot write {_short(path)}: {there} is a file, expected a folder")
    if not os.access(there, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise UsageError(f"{option}: no permission to write {_short(path)}")


def check_regular(path: Path, option: str) -> None:
    """Raise `UsageError` if the path exists and is not a regular file."""
    try:
        kind = _kind_of(path)
    except (OSError, ValueError) as error:
        raise _unwritable(path, option, error) from None
    if kind == "a folder":
        raise UsageError(f"{option}: got the folder {path}, expected a file name")
    if kind is not None:
        raise UsageError(f"{option}: {path} is {kind}, expected a regular file or a new name; give another name")


def _kind_of(path: Path) -> str | None:
    """Return what a path is if not a regular file ("a device"); None for a regular or missing file."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISREG(mode):
        return None
    return next((name for is_kind, name in KINDS if is_kind(mode)), "no regular file")


@contextmanager
def replacing(path: Path) -> Iterator[int]:
    """Open a new file that replaces `path` at the end of the block; after an error `path` is unchanged.

    The caller closes the file, except after an error. An existing file keeps its permissions; a new one is readable by
    its owner alone. Raises `OSError`, also if `path` has become something other than a regular file.
    """
    place = Path(os.path.realpath(path))
    # Do not derive the name from the file's name, which may have the maximum length already.
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
    """Write a file atomically. Raise `OSError` on failure."""
    with replacing(path) as handle:
        write_all(handle, content.encode("utf-8", "replace") if isinstance(content, str) else content)
    os.close(handle)


def append_text(path: Path, text: str) -> None:
    """Append to a regular file. Raise `OSError` for anything else."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NONBLOCK", 0)  # a pipe without a reader would block
    handle = os.open(path, flags, OWNER_ONLY)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise _irregular(path)
        write_all(handle, text.encode("utf-8", "replace"))
    finally:
        os.close(handle)


def write_all(handle: int, content: bytes) -> None:
    """Write all bytes to an open file; a single `os.write` may write only some of them."""
    view = memoryview(content)
    while view:
        view = view[os.write(handle, view) :]


def copy_folder(source: Path, target: Path) -> None:
    """Copy a folder with its links as links; nothing outside of it is read, and pipes, sockets and devices are left out.

    A link to an absolute path in the folder is made relative, so that the copy has it too. `target` may exist. Raises
    `OSError` on failure, and if `source` is itself a link.
    """
    if source.is_symlink():
        raise OSError(errno.ENOTDIR, "is a link, not a folder", str(source))

    def others(folder: str, names: list[str]) -> set[str]:
        modes = ((name, Path(folder, name).lstat().st_mode) for name in names)
        return {name for name, mode in modes if stat.S_IFMT(mode) not in (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK)}

    shutil.copytree(source, target, symlinks=True, ignore=others, dirs_exist_ok=True)
    for link in [path for path in target.rglob("*") if path.is_symlink()]:
        aim = link.readlink()
        for root in (source.absolute(), source.resolve()):
            if aim.is_relative_to(root):
                link.unlink()
                link.symlink_to(os.path.relpath(target / aim.relative_to(root), link.parent))
                break


def hold_lock(path: Path) -> int:
    """Create a file and lock it until the returned handle is closed or the process ends. Raise `OSError` on failure."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, OWNER_ONLY)
    with suppress(OSError):  # no locks on this file system: `is_held` uses the file's age
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX)
    return handle


def is_held(path: Path) -> bool:
    """Return whether a process holds the lock of a file; False if the file does not exist."""
    try:
        handle = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        if fcntl is None:
            return is_fresh(path)
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)  # a shared lock: several processes may check at once
    except BlockingIOError:
        return True
    except OSError:
        return is_fresh(path)
    finally:
        os.close(handle)
    return False


def is_fresh(path: Path) -> bool:
    """Return whether a file or folder changed within the last day."""
    try:
        return time.time() - path.stat().st_mtime < FRESH_SECONDS
    except OSError:
        return False


def fingerprint(content: bytes) -> str:
    """Return the ten digits that identify the content of a file, such as weights of a judge."""
    return hashlib.sha256(content).hexdigest()[:10]


def json_of(text: str | bytes) -> Any:
    """Return the value of a JSON text. Raises `json.JSONDecodeError`, a `ValueError`, also for what Python cannot read."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise
    except (
        RecursionError,
        ValueError,
    ) as error:  # ValueError: an integer of thousands of digits, or bytes that are no text
        why = "nested too deeply" if isinstance(error, RecursionError) else one_line(error, 80)
        raise json.JSONDecodeError(why, text if isinstance(text, str) else text.decode("utf-8", "replace"), 0) from None


def is_same_place(one: Path, other: Path) -> bool:
    """Return whether two paths are of the same file, whether it exists or not."""
    return os.path.realpath(one) == os.path.realpath(other)  # `Path.resolve` raises for a link that leads to itself


def os_reason(error: Exception) -> str:
    """Return the reason of an error without the path."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def put_in_place(unfinished: Path, place: Path) -> None:
    """Move a finished file to a path that is free or holds a regular file. Raise `OSError` for anything else."""
    try:
        there = place.lstat()
    except FileNotFoundError:
        try:
            os.link(unfinished, place)  # unlike a rename, a link never replaces an existing file
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
    with suppress(OSError, AttributeError):  # only root may change owners, and only some systems have them
        os.chown(unfinished, there.st_uid, there.st_gid)
    unfinished.replace(place)


def _irregular(path: Path) -> OSError:
    return OSError(errno.EEXIST, f"is {_kind_of(path) or 'no regular file'}, not a regular file", str(path))


def _unwritable(path: Path, option: str, error: Exception) -> UsageError:
    return UsageError(f"{option}: cannot write {_short(path)} ({os_reason(error)}); give another name")


def _short(path: Path) -> str:
    text = str(path)
    return text if len(text) <= 120 else f"{text[:60]}…{text[-40:]}"
