"""Kind `mcp`: a memory behind an MCP server, over stdio or streamable HTTP."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field, model_validator

from pytest_memfail.core import MemorySystemError, SystemContext, UnknownNameError, json_of, one_line
from pytest_memfail.rows import read_yaml
from pytest_memfail.systems.connectors.config import Address, Command, Seconds, Variables
from pytest_memfail.systems.connectors.processes import Output, leashed, said
from pytest_memfail.systems.connectors.remote import Call, RemoteMemory, RemoteSystem, sendable_json
from pytest_memfail.systems.connectors.settle import Settle
from pytest_memfail.systems.connectors.templates import filled, proxied
from pytest_memfail.systems.tool_loop import ToolFailedError

MOST_TOOL_PAGES: Final = 100
NOT_UTF8: Final = re.compile(r"\\x[0-9a-f]{2}")
"""Matches a byte that could not be decoded; in JSON it is no escape."""


class McpCall(Call):
    """A call of a tool."""

    tool: Annotated[str, Field(min_length=1)]
    arguments: Annotated[dict[str, Any], AfterValidator(sendable_json)] = {}


class McpSettle(Settle):
    """Settling with a tool for the status."""

    call: McpCall | None = None


PRESETS: Final = Path(__file__).with_name("presets")


class McpMemory(RemoteMemory):
    """An MCP server: a command line (stdio) or an address (streamable HTTP)."""

    settings = ("mode", "model")
    programs = ("command",)

    kind: Literal["mcp"]
    preset: Annotated[
        str | None,
        Field(
            description="A known server; other keys go before the preset's",
            json_schema_extra={"enum": [*sorted(path.stem for path in PRESETS.glob("*.yaml")), None]},
        ),
    ] = None
    command: Annotated[Command | None, Field(description="Starts the server, in the folder of this file")] = None
    url: Annotated[Address | None, Field(description="Where the server is")] = None
    env: Annotated[Variables, Field(description="Variables of the server's environment")] = {}
    start_timeout: Annotated[Seconds, Field(description="Seconds for the server to start and list its tools")] = 60.0
    open: McpCall | None = None
    write: McpCall | None = None
    search: McpCall | None = None
    list_: Annotated[McpCall | None, Field(alias="list")] = None
    forget: Annotated[McpCall | None, Field(description="Deletes what it holds of `{text}`")] = None
    close: McpCall | None = None
    settle: McpSettle | None = None

    @model_validator(mode="after")
    def _one_server(self) -> McpMemory:
        if (self.command is None) == (self.url is None):
            raise ValueError("one of `command` and `url`")
        return self

    @classmethod
    def completed(cls, data: dict[str, Any], path: Path) -> dict[str, Any]:
        """Return the content of a file with the keys of its preset."""
        if not isinstance(name := data.get("preset"), str):
            return data
        presets = {known.stem: known for known in PRESETS.glob("*.yaml")}
        if name not in presets:
            raise UnknownNameError(f"preset in {path}", name, presets)
        preset: Any = next(read_yaml(presets[name].read_bytes()))[1]
        return {**preset, **data}

    def needs(self) -> Iterator[str]:
        """Yield what the server needs and this machine lacks."""
        if importlib.util.find_spec("mcp") is None:
            yield "kind: mcp needs the package mcp; run: pip install 'pytest-memfail[mcp]'"
        yield from super().needs()

    async def opened(self, context: SystemContext) -> RemoteSystem:
        """Start or reach the server, and make a store."""
        return await RemoteSystem(context, self, McpConnection(self, proxied(context))).open()


class McpConnection:
    """A session with the server, in its own task, because the SDK must close it in the task that opened it."""

    def __init__(self, config: McpMemory, environment: Mapping[str, str]) -> None:
        """Configure the connection without opening it; `environment` has more variables for a server that is started."""
        self._config, self._environment = config, environment
        self._session: Any = None
        self._about: dict[str, str] = {}
        self._closing = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._fault: asyncio.Future[str] | None = None
        self._errors = Output()
        self.tools: list[Any] = []

    @property
    def _name(self) -> str:
        return f"the MCP server {self._config.url or ' '.join(self._config.command or ())!r}"

    async def open(self, places: Mapping[str, Any]) -> None:
        """Start the server or connect to it, and check that it has the tools that the file names.

        Raises `MemorySystemError` if it does not start in time, or lacks a tool.
        """
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._fault = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._serve(places, ready))
        seconds = self._config.start_timeout
        first: set[asyncio.Future[Any]] = {ready, self._fault, self._task}
        done, _ = await asyncio.wait(first, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if not done:
            raise MemorySystemError(
                f"{self._name} did not start within {seconds:g} s{await self._last_line()}; check what it waits for, or set a longer "
                "start_timeout"
            )
        if self._fault.done():
            raise MemorySystemError(f"{self._name} {self._fault.result()}")
        names = [tool.name for tool in self.tools]
        for key, call in self._config.calls.items():
            if call.tool not in names:
                raise MemorySystemError(
                    f"{self._name} has no tool {call.tool!r} (`{key}`); it has {', '.join(sorted(names)) or 'none'}"
                )

    async def call(self, what: str, call: McpCall, values: Mapping[str, Any]) -> Any:
        """Return the result of a tool: structured content, or else JSON, or else text."""
        return await self.call_tool(f"{what}: the tool {call.tool!r}", call.tool, filled(call.arguments, values))

    async def call_tool(self, what: str, name: str, arguments: Mapping[str, Any]) -> Any:
        """Return the result of a tool as plain data: structured content, else JSON, else text.

        Raises `MemorySystemError` if the tool fails or times out, or the server exits or prints anything but the protocol.
        """
        if self._session is None or self._fault is None:
            raise MemorySystemError(f"{what}: the connection is closed; expected no more calls")
        work = asyncio.ensure_future(self._session.call_tool(name, dict(arguments)))
        seconds = self._config.timeout
        try:
            await asyncio.wait({work, self._fault}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if self._fault.done():
                raise MemorySystemError(f"{self._name} {self._fault.result()}")
            if not work.done():
                raise MemorySystemError(
                    f"{what} had no answer within {seconds:g} s; check what the server waits for, or set a longer timeout"
                )
        finally:
            if not work.done():
                work.cancel()
                await asyncio.wait({work}, timeout=1)
        if (error := work.exception()) is not None:
            place = f"; see whether {self._config.url} still runs" if self._config.url else await self._last_line()
            raise MemorySystemError(f"{what} failed: {one_line(error, 160)}{place}")
        result = work.result()
        texts = [block.text for block in result.content if block.type == "text"]
        if result.is_error:
            raise ToolFailedError(f"{what} answered with the error: {one_line(' '.join(texts), 200)}")
        found = result.structured_content
        # SDKs wrap what a tool returns as text, which may be JSON itself
        if found is not None and not (list(found) == ["result"] and isinstance(found["result"], str)):
            return found
        text = "\n".join(texts)
        try:
            return json_of(text)
        except ValueError:
            return text

    async def close(self) -> None:
        """End the session, and the server if it was started here."""
        self._closing.set()
        self._session = None
        if (task := self._task) is not None:
            self._task = None
            if not task.done() and not self._about:  # still starting
                task.cancel()
            await asyncio.wait({task})

    def describe(self) -> Mapping[str, str]:
        """Return name and version of the server."""
        return {"kind": "mcp", **self._about}

    async def _serve(self, places: Mapping[str, Any], ready: asyncio.Future[None]) -> None:
        from mcp import ClientSession

        assert self._fault is not None
        try:
            async with (
                self._streams(places) as (reading, writing),
                ClientSession(reading, writing, message_handler=self._heard) as session,
            ):
                answer = await session.initialize()
                self.tools = await _all_tools(session)
                self._about = {"name": answer.server_info.name, "version": answer.server_info.version}
                self._session = session
                ready.set_result(None)
                await self._closing.wait()
        except Exception as error:
            if not self._fault.done():
                self._fault.set_result(f"failed: {_innermost(error)}{await self._last_line()}")

    @asynccontextmanager
    async def _streams(self, places: Mapping[str, Any]) -> AsyncIterator[tuple[Any, Any]]:
        config = self._config
        async with AsyncExitStack() as stack:
            if config.url is not None:
                import httpx2
                from mcp.client.streamable_http import streamable_http_client

                headers = filled(config.headers, places)
                client = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=config.timeout))
                yield await stack.enter_async_context(
                    streamable_http_client(filled(config.url, places), http_client=client)
                )
            else:
                from mcp import StdioServerParameters
                from mcp.client.stdio import stdio_client

                program, *arguments = leashed(filled(list(config.command or ()), places))
                server = StdioServerParameters(
                    command=program,
                    args=arguments,
                    env={**os.environ, **self._environment, **filled(config.env, places)},
                    cwd=config.file.parent,
                )
                # bytes that are not UTF-8 are then not JSON either; otherwise the session would wait for ever
                vars(server)["encoding_error_handler"] = "backslashreplace"
                with self._errors.pipe() as errors:
                    streams = await stack.enter_async_context(stdio_client(server, errlog=errors))
                yield streams

    async def _heard(self, message: Any) -> None:
        """Handle a message that is not an answer: ignore notifications, and record anything outside the protocol as a fault."""
        if isinstance(message, Exception) and self._fault is not None and not self._fault.done():
            faults: Any = getattr(message, "errors", list)()  # a pydantic error, with the text that it could not read
            text = str(faults[0].get("input")) if faults else str(message)
            if (bad := NOT_UTF8.search(text)) is None:
                shown = one_line(repr(text), 80)
            else:
                shown = f"{one_line(repr(text[max(0, bad.start() - 30) : bad.end() + 30]), 80)}, which is not UTF-8,"
            self._fault.set_result(f"printed {shown} on stdout; expected messages of the protocol only, logs on stderr")

    async def _last_line(self) -> str:
        await self._errors.ended()
        return said(self._errors.lines())


async def _all_tools(session: Any) -> list[Any]:
    """Return the tools on all pages; a page that comes again, or too many of them, ends the list."""
    from mcp.types import PaginatedRequestParams

    tools: list[Any] = []
    cursors: set[str | None] = {None}
    answer = await session.list_tools()
    while True:
        tools += answer.tools
        if answer.next_cursor in cursors or len(cursors) >= MOST_TOOL_PAGES:
            return tools
        cursors.add(answer.next_cursor)
        answer = await session.list_tools(params=PaginatedRequestParams(cursor=answer.next_cursor))


def _innermost(error: BaseException) -> str:
    """Return type and message of the first error in an exception group."""
    while (inner := getattr(error, "exceptions", None)) is not None:
        error = inner[0]
    return f"{type(error).__name__}: {one_line(error, 160)}" if str(error) else type(error).__name__
