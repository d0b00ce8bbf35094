"""Kind `command`: a program in any language that answers JSON lines.

Requests: `{"id": 1, "method": "open", "store": ID, "folder": PATH}`, `store` with `conversation` and `text`, `retrieve`
with `query` and `k`, `list`, and `forget` with `text` if the file has `forget: true`; stdin is closed at the end. An answer
has the `id` of its request, and for `retrieve` and `list` its `memories`: texts, or objects with `text` and perhaps `id`,
`score` and `timestamp`. An `error` makes the question an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from pytest_memfail.core import Conversation, MemorySystemError, SystemContext, WrongTypeError, failed_search, one_line
from pytest_memfail.systems.connectors.config import Command, Seconds, Variables
from pytest_memfail.systems.connectors.processes import LineProgram
from pytest_memfail.systems.connectors.settle import Reads, ServedMemory, ServedSystem
from pytest_memfail.systems.connectors.templates import PLACES, filled, places, plain_conversation, proxied


class CommandMemory(ServedMemory):
    """A program that answers requests, one JSON object per line."""

    variables = {"command": PLACES, "env": PLACES}
    secrets = ("env",)
    programs = ("command",)

    kind: Literal["command"]
    command: Annotated[Command, Field(description="The program; it runs in the folder of this file")]
    env: Annotated[Variables, Field(description="Variables of its environment")] = {}
    start_timeout: Annotated[Seconds, Field(description="Seconds until it answers `open`")] = 60.0
    concurrent_reads: Reads = 1
    forget: Annotated[bool, Field(description="true if it answers `forget`, which deletes what it holds of a text")] = (
        False
    )

    async def opened(self, context: SystemContext) -> CommandSystem:
        """Start the program and wait until it answers."""
        system = CommandSystem(context, self)
        await system.open()
        return system


class CommandSystem(ServedSystem):
    """One process of the program."""

    isolation_advice = "let the program keep everything below the `folder` of the request `open`, or under its `store`"
    refusal_advice = "let the program answer with an `error`"

    def __init__(self, context: SystemContext, config: CommandMemory) -> None:
        """Configure the program without starting it."""
        super().__init__(context, config)
        self._config = config
        self._program = LineProgram(f"the command {' '.join(config.command)!r}", config.timeout)
        self._opened: Mapping[str, Any] = {}
        if config.forget:
            self.forget = self._forget

    async def open(self) -> None:
        """Start the program and wait until it answers."""
        values, config = places(self._context), self._config
        environment = {**proxied(self._context), **filled(config.env, values)}
        await self._program.start(filled(config.command, values), config.file.parent, environment)
        try:
            told = {"store": values["store"], "folder": values["folder"]}
            self._opened = await self._program.ask("open", config.start_timeout, **told)
        except BaseException:
            await self._program.close()
            raise

    async def store_conversation(self, conversation: Conversation) -> Mapping[str, Any]:
        """Send the conversation and return the answer."""
        self.stored(conversation)
        text = self._context.render(conversation)
        return await self._program.ask("store", conversation=plain_conversation(conversation), text=text)

    async def _forget(self, text: str) -> Mapping[str, Any]:
        self.stored(Conversation("", ()))
        return await self._program.ask("forget", text=text)

    async def _search(self, query: str, k: int) -> list[Any]:
        return self._memories("retrieve", await self._program.ask("retrieve", query=query, k=k))

    async def get_all_memories(self) -> list[Any]:
        """Return every memory."""
        return self._memories("list", await self._program.ask("list"))

    _status = get_all_memories

    async def close(self) -> None:
        """End the program; repeated calls are allowed."""
        await self._program.close()

    def describe(self) -> Mapping[str, str]:
        """Return the description in the program's answer to `open`."""
        said = {name: str(self._opened[name]) for name in ("name", "version") if name in self._opened}
        return self._config.described(kind="command", **said)

    def _memories(self, method: str, reply: Mapping[str, Any]) -> list[Any]:
        memories = reply.get("memories")
        if not isinstance(memories, list):
            got = one_line(repr({name: value for name, value in reply.items() if name != "id"}), 80)
            raise WrongTypeError(f"the command answered {method!r} with {got}; expected a list under 'memories'")
        if not memories and (said := failed_search(reply)):
            raise MemorySystemError(
                f"the command answered {method!r} with {said}; expected no error beside an empty list: see why it failed"
            )
        return memories
