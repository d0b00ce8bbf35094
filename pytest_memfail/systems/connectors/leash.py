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


class _Ended(Exception):
    """We were asked to end."""


def _end(*_: Any) -> NoReturn:
    raise _Ended


def main(parent: int, command: list[str]) -> int:
    """Run the command until it ends, a signal arrives, or `parent` is no longer our parent; return its exit code."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _end)
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
    except _Ended:
        pass
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the remaining steps have time limits
    _end_group(child)
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


def _end_group(child: subprocess.Popen[bytes]) -> None:
    """End the processes of the command's group, which may outlive it."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGTERM)
        end = time.monotonic() + GRACE_SECONDS
        while time.monotonic() < end:
            child.poll()
            os.killpg(child.pid, 0)
            time.sleep(0.02)
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
