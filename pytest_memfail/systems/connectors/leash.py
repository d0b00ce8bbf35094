"""Run a command, and end everything it started when it ends or when the process that started us is gone.

A script of its own, run as `python leash.py PARENT COMMAND...`: a run that is killed cannot clean up after itself.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from typing import Any, NoReturn

POLL_SECONDS = 0.25
GRACE_SECONDS = 1.0
"""Seconds that a program may take to exit after SIGTERM."""
NOT_FOUND = 127
LINUX = sys.platform == "linux"
PR_SET_CHILD_SUBREAPER = 36


class _Ended(Exception):
    """We were asked to end."""


def _end(*_: Any) -> NoReturn:
    raise _Ended


def main(parent: int, command: list[str]) -> int:
    """Run the command until it ends, a signal arrives, or `parent` is no longer our parent; return its exit code."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _end)
    _adopt_orphans()
    try:
        child = subprocess.Popen(command, start_new_session=True)
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)
        return NOT_FOUND
    try:
        while os.getppid() == parent:
            with suppress(subprocess.TimeoutExpired):
                child.wait(POLL_SECONDS)
                break
            _reap(child)
    except _Ended:
        pass
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the remaining steps have time limits
    _end_all(child)
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


def _adopt_orphans() -> None:
    """Become the parent of processes whose own parent ends, where the platform has this (Linux)."""
    if LINUX:
        import ctypes

        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _end_all(child: subprocess.Popen[bytes]) -> None:
    """End what the command started and may outlive it: its group, and on Linux also what left the group."""
    _send(child, signal.SIGTERM)
    end = time.monotonic() + GRACE_SECONDS
    while (alive := _send(child, 0)) and time.monotonic() < end:
        time.sleep(0.02)
    end = time.monotonic() + GRACE_SECONDS
    while alive and time.monotonic() < end:  # a killed process may have started another one
        alive = _send(child, signal.SIGKILL)
        time.sleep(0.02)
    child.wait()


def _send(child: subprocess.Popen[bytes], number: int) -> bool:
    """Send a signal to the group of the command and to all descendants; return whether there were any."""
    child.poll()
    _reap(child)
    found = False
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, number)
        found = True
    for pid in _descendants():
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
            found = True
    return found


def _reap(child: subprocess.Popen[bytes]) -> None:
    """Collect the adopted processes that have ended; `child` is left to `Popen`."""
    if LINUX:
        with suppress(ChildProcessError):
            while ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                if ended.si_pid == child.pid:
                    return
                os.waitpid(ended.si_pid, 0)


def _descendants() -> list[int]:
    """Return the processes that we started or adopted, and those below them; on Linux only."""
    parents: dict[int, int] = {}
    for name in filter(str.isdigit, os.listdir("/proc")) if LINUX else ():  # noqa: PTH208 - pathlib takes long to import
        with suppress(OSError, ValueError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
            parents[int(name)] = int(file.read().rpartition(b")")[2].split()[1])
    ours = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
        ours |= more
    return sorted(ours - {os.getpid()})


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
