"""Run programs for connectors: none outlives the run, and their stderr explains a failure."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from pytest_memfail.core import MemorySystemError, json_of, one_line

LEASH: Final = str(Path(__file__).with_name("leash.py"))
LINE_LIMIT: Final = 64 << 20
"""The longest line that is read from a program, in bytes."""
OUTPUT_KEPT: Final = 64 << 10
"""How much is kept of what a program prints beside its answers, in bytes: the end."""
LINES_KEPT: Final = 20
"""The number of stderr lines that an error message may quote."""
NAMES_FAULT: Final = re.compile(r"\w*(error|exception): |not found|not in this registry", re.IGNORECASE)
"""Matches a line that names the error; later lines are often advice or a stack trace."""
CLOSE_SECONDS: Final = 2.0
"""Seconds that a program may take to exit after its stdin is closed."""
END_SECONDS: Final = 5.0
"""Seconds that the leash may take to end a program and all that it started."""
LAST_WORDS_SECONDS: Final = 1.0
"""Seconds to read what a program printed before it ended; another process may hold its pipes open for ever."""


def leashed(command: Sequence[str]) -> list[str]:
    """Return a command that runs `command` and ends it with this process, even if this process is killed."""
    return [sys.executable, "-I", "-S", LEASH, str(os.getpid()), *command]


class Output:
    """The end of what a program prints."""

    def __init__(self) -> None:
        self._kept = b""
        self._thread: threading.Thread | None = None

    def lines(self) -> list[str]:
        """Return the last lines that are not blank."""
        return [line for line in self._kept.decode("utf-8", "replace").splitlines() if line.strip()]

    async def read(self, stream: asyncio.StreamReader | None) -> None:
        """Read a stream to its end."""
        while stream is not None and (chunk := await stream.read(OUTPUT_KEPT)):
            self._add(chunk)

    def pipe(self) -> Any:
        """Return a file for a program's stderr; a thread reads what is written until no process holds it open."""
        reading, writing = os.pipe()
        self._thread = threading.Thread(target=self._drain, args=(reading,), daemon=True)
        self._thread.start()
        return os.fdopen(writing, "wb")

    async def ended(self) -> None:
        """Wait a moment for the end of the pipe."""
        end = time.monotonic() + LAST_WORDS_SECONDS
        while self._thread is not None and self._thread.is_alive() and time.monotonic() < end:
            await asyncio.sleep(0.01)

    def _add(self, chunk: bytes) -> None:
        self._kept = (self._kept + chunk)[-OUTPUT_KEPT:]

    def _drain(self, reading: int) -> None:
        with os.fdopen(reading, "rb", buffering=0) as file:
            while chunk := file.read(OUTPUT_KEPT):
                self._add(chunk)


async def _started(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> asyncio.subprocess.Process:
    """Start a program in a folder, with these environment variables in addition to our own."""
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        *leashed(command),
        cwd=folder,
        env={**os.environ, **environment},
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        limit=LINE_LIMIT,
        start_new_session=True,  # Ctrl-C reaches only us; we end the program in an orderly way
    )


class LineProgram:
    """A program that reads JSON objects from stdin, one per line, and answers each with a line on stdout."""

    def __init__(self, what: str, timeout: float) -> None:
        """Configure a program without starting it; `what` names it in errors, `timeout` is the time limit of an answer in seconds."""
        self._what, self._timeout = what, timeout
        self._process: asyncio.subprocess.Process | None = None
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._errors = Output()
        self._fault: str | None = None
        self._asked = 0
        self._stray = ""
        """An answer to no open request: a late one, or one with a wrong id."""

    async def start(self, command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
        """Start the program in a folder, with these environment variables in addition to our own."""
        self._process = process = await _started(command, folder, environment)
        self._tasks = [asyncio.create_task(self._read(process)), asyncio.create_task(self._errors.read(process.stderr))]

    async def ask(self, method: str, timeout: float | None = None, **arguments: Any) -> dict[str, Any]:
        """Send a request and return its answer.

        Raises `MemorySystemError` if the program exits, times out, or answers with an error or an invalid line.
        """
        if self._process is None or self._process.stdin is None:
            raise MemorySystemError(f"{self._what} is closed; expected no more requests")
        seconds = self._timeout if timeout is None else timeout
        self._asked += 1
        number, self._stray = self._asked, ""
        self._waiting[number] = answer = asyncio.get_running_loop().create_future()
        try:
            if self._fault is None:
                line = json.dumps({"id": number, "method": method, **arguments}, ensure_ascii=True)
                self._process.stdin.write(f"{line}\n".encode())  # do not drain: a program that exited reads no more
                await asyncio.wait({answer}, timeout=seconds)
            if self._fault is not None:
                raise MemorySystemError(f"{self._what} {self._fault}")
            if not answer.done():
                raise MemorySystemError(
                    f"{self._what} did not answer {method!r} within {seconds:g} s{self._stray}; check what it waits for, or set a "
                    f"longer {'start_timeout' if method == 'open' else 'timeout'}"
                )
            reply: dict[str, Any] = answer.result()
        finally:
            del self._waiting[number]
        if (error := reply.get("error")) is not None:
            raise MemorySystemError(f"{self._what} answered {method!r} with the error: {one_line(error, 200)}")
        return reply

    async def close(self) -> None:
        """Close its stdin, and end it if it does not exit."""
        if (process := self._process) is None:
            return
        self._process = None
        assert process.stdin is not None
        process.stdin.close()
        await exit_code(process, CLOSE_SECONDS)
        await _end(process)
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks, timeout=CLOSE_SECONDS)

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        try:
            while line := await process.stdout.readline():
                if not self._take(line):
                    return
        except ValueError:  # raised by readline() for a line longer than the limit
            self._fail(f"printed a line of more than {LINE_LIMIT >> 20} MiB; answer with less")
            return
        except Exception as error:  # otherwise callers would wait forever
            self._fail(f"could not be read ({one_line(repr(error), 120)}); report this as a fault of pytest-memfail")
            return
        code = await exit_code(process, CLOSE_SECONDS)
        await asyncio.wait({self._tasks[1]}, timeout=LAST_WORDS_SECONDS)
        self._fail(f"ended with exit code {code}{said(self._errors.lines())}; run it yourself to see why")

    def _take(self, line: bytes) -> bool:
        """Pass an answer to its waiting caller; return False for a line that is no answer."""
        try:
            reply = json_of(line)
        except ValueError:
            reply = None
        number = reply.get("id") if isinstance(reply, dict) else None
        if (waiting := self._waiting.get(number) if type(number) is int else None) is not None:
            if not waiting.done():
                waiting.set_result(reply)
            return True
        shown, ids = one_line(line.decode("utf-8", "replace"), 80), ", ".join(map(str, self._waiting)) or "none is open"
        if type(number) is not int or not 0 < number <= self._asked:
            self._fail(
                f'printed {shown!r} on stdout; expected a JSON object with the "id" of a request ({ids}), logs on stderr'
            )
            return False
        self._stray = f", but printed {shown!r}, expected the id {ids}"
        return True

    def _fail(self, fault: str) -> None:
        self._fault = fault
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_result({})


async def exit_code(process: asyncio.subprocess.Process, seconds: float) -> int | None:
    """Return the exit code of a process; None if it has not ended after some seconds."""
    # not process.wait(), which may also wait for pipes that another process holds open
    end = time.monotonic() + seconds
    while process.returncode is None and time.monotonic() < end:
        await asyncio.sleep(0.01)
    return process.returncode


async def _end(process: asyncio.subprocess.Process) -> None:
    """End a process that still runs, and close its pipes, which another process may hold open."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            process.terminate()  # the leash then ends all that it started
        await exit_code(process, END_SECONDS)
    transport: Any = process
    transport._transport.close()  # asyncio has no public name for it, and warns of pipes left open


async def run_once(
    what: str, command: Sequence[str], folder: Path, given: bytes, timeout: float, environment: Mapping[str, str]
) -> str:
    """Run a program to completion, with `given` on its stdin and these variables besides our own; return what it prints.

    Raises `MemorySystemError` if it fails or does not end within `timeout` seconds.
    """
    process = await _started(command, folder, environment)
    printed, errors = Output(), Output()
    reading = [asyncio.create_task(printed.read(process.stdout)), asyncio.create_task(errors.read(process.stderr))]
    try:
        assert process.stdin is not None
        process.stdin.write(given)
        process.stdin.close()
        if (code := await exit_code(process, timeout)) is None:
            raise MemorySystemError(f"{what} did not end within {timeout:g} s; set a longer timeout")
        await asyncio.wait(reading, timeout=LAST_WORDS_SECONDS)
    finally:
        for task in reading:
            task.cancel()
        await _end(process)
    if code:
        raise MemorySystemError(f"{what} ended with exit code {code}{said(errors.lines())}; run it yourself to see why")
    return "\n".join(printed.lines())


def said(lines: Sequence[str]) -> str:
    """Return the line of a program's stderr that best explains its exit: the last one about an error, or else the last."""
    about = [line for line in lines[-LINES_KEPT:] if NAMES_FAULT.search(line)] or lines
    return f", on stderr {one_line(about[-1], 160)!r}" if about else ""
