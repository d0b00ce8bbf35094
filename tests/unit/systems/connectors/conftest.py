"""Memories that YAML files describe, opened as the engine opens them."""

from __future__ import annotations

import asyncio
import sys
import textwrap
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from pytest_memfail.core import Conversation, Message, SystemContext
from pytest_memfail.systems import yaml_system

NOON = datetime(2026, 3, 2, 12, tzinfo=timezone.utc)

PROGRAM = '''\
"""A memory in a file of its own: substring search. Its faults are words of the command line."""
import json, subprocess, sys, time

fault, notes = sys.argv[1] if len(sys.argv) > 1 else "", []
if fault == "slow-start":
    time.sleep(30)
for line in sys.stdin:
    request = json.loads(line)
    method, reply = request["method"], {"id": request["id"]}
    if method == "store":
        if fault == "dies":
            print("out of memory", file=sys.stderr)
            sys.exit(3)
        notes += [m["content"] for m in request["conversation"]["messages"]]
    elif method == "retrieve":
        if fault == "hangs":
            time.sleep(30)
        if fault == "prints":
            print("loading the index ...", flush=True)
        if fault == "refuses":
            reply["error"] = "no index"
        if fault == "wrong-id":
            reply["id"] = 999
        if fault == "same-id":
            reply["id"] = 1
        if fault == "fails":
            notes, reply["success"] = [], False
        words = set(request["query"].lower().split())
        found = sorted(notes, key=lambda note: -len(words & set(note.lower().split())))
        reply["memories" if fault != "schema" else "results"] = found[: request["k"]]
    elif method == "forget":
        notes = [note for note in notes if request["text"] not in note]
    elif method == "list":
        reply["memories"] = notes[:2] if fault == "page" else notes
    print(json.dumps(reply), flush=True)
'''


@pytest.fixture
def describe(tmp_path: Path) -> Callable[..., Path]:
    """`describe(text, name="memory.yaml")` writes a YAML file, with `{python}` and the program `memory.py` beside it."""

    def write(text: str, name: str = "memory.yaml") -> Path:
        (tmp_path / "memory.py").write_text(PROGRAM, encoding="utf-8")
        path = tmp_path / name
        path.write_text(textwrap.dedent(text).replace("PYTHON", sys.executable), encoding="utf-8")
        return path

    return write


@pytest.fixture
def use(describe, tmp_path) -> Callable[..., Any]:
    """`use(text, work)` opens the memory that the text describes, and returns what `await work(system)` returns."""

    def run(text: str, work: Callable[[Any], Any], name: str = "store-1") -> Any:
        factory = yaml_system(describe(text))
        factory.check_options({})
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)

        async def main() -> Any:
            system = await factory(SystemContext("run", name, folder))
            try:
                return await work(system)
            finally:
                await system.close()

        return asyncio.run(main())

    return run


@pytest.fixture
def talk() -> Callable[..., Conversation]:
    """`talk(id, *texts)`: a conversation in which the user says the texts."""

    def make(identity: str, *texts: str) -> Conversation:
        return Conversation(identity, tuple(Message("user", text, NOON) for text in texts), NOON)

    return make
