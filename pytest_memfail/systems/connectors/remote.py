"""Shared code of the kinds `http` and `mcp`: a memory reached by calls, each with a template and a pick."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Annotated, Any, Final, Literal, Protocol

from pydantic import BeforeValidator, Field, model_validator

from pytest_memfail.core import Conversation, MemorySystemError, SystemContext, WrongTypeError, failed_search
from pytest_memfail.systems.connectors.config import Headers, JmesPath, Part
from pytest_memfail.systems.connectors.picks import Pages, Pick, all_pages, check_ok, picked
from pytest_memfail.systems.connectors.settle import ServedMemory, ServedSystem
from pytest_memfail.systems.connectors.templates import (
    ASKED,
    FORGOTTEN,
    LISTED,
    PLACES,
    STORED,
    filled,
    places,
    places_of,
    stored_values,
)


class Connection(Protocol):
    """A connection to a server."""

    async def open(self, places: Mapping[str, Any]) -> None:
        """Connect; `places` are the variables of the store."""

    async def call(self, what: str, call: Any, values: Mapping[str, Any]) -> Any:
        """Return the reply to a call, as plain data; raise `MemorySystemError` if it fails."""

    async def close(self) -> None:
        """Disconnect; repeated calls are allowed."""

    def describe(self) -> Mapping[str, str]:
        """Return the server's description of itself."""


def sendable_json(value: Any) -> Any:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        raise ValueError("what JSON can hold; put quotes around a date") from None
    return value


def _pick(value: object) -> object:
    return {"entries": value} if isinstance(value, str) else value


class Call(Part):
    """A call, and where its reply has the memories."""

    ok: Annotated[
        JmesPath | None,
        Field(description="True in the reply of a call that worked, where a server reports errors as text"),
    ] = None
    pick: Annotated[Pick, BeforeValidator(_pick, json_schema_input_type=str | Pick)] = Pick()
    pages: Annotated[Pages | None, Field(description="For `list`: how to get the rest")] = None


CALLS: Final = ("open", "write", "search", "list", "forget", "close")


class RemoteMemory(ServedMemory):
    """The keys of a memory that is reached by calls."""

    variables = {
        "command": PLACES,
        "env": PLACES,
        "headers": PLACES,
        "url": PLACES,
        "open": PLACES,
        "settle": PLACES,
        "close": PLACES,
        "write": STORED,
        "search": ASKED,
        "list": LISTED,
        "forget": FORGOTTEN,
    }
    secrets = ("env", "headers")

    each: Annotated[
        Literal["conversation", "message"],
        Field(description="Whether `write` is called for each conversation or message"),
    ] = "conversation"
    headers: Annotated[Headers, Field(description="Of every request")] = {}

    @property
    def calls(self) -> dict[str, Any]:
        """The calls by their keys; those that the file leaves out are missing."""
        given = {key: getattr(self, "list_" if key == "list" else key) for key in CALLS}
        given["settle"] = getattr(self.__dict__.get("settle"), "call", None)
        return {key: call for key, call in given.items() if call is not None}

    @model_validator(mode="after")
    def _has_calls(self) -> RemoteMemory:
        if missing := [key for key in ("write", "search", "list") if key not in self.calls]:
            raise ValueError(f"the keys `write`, `search` and `list`; {missing[0]!r} is missing")
        return self


class RemoteSystem(ServedSystem):
    """A store on a server, with its own connection and its own id in `{store}`."""

    remote = True
    isolation_advice = (
        "put {store} (or {folder}) into every call, where the server takes a user or a namespace; if it is there, the server "
        "ignores it"
    )
    refusal_advice = "declare with the key `ok` of `{call}` what is true in the reply to a call that worked"

    def __init__(self, context: SystemContext, config: RemoteMemory, connection: Connection) -> None:
        """Configure the store without connecting."""
        super().__init__(context, config)
        self._config, self._connection = config, connection
        # a server may keep the stores of earlier runs, whose ids are the same
        self._places = {**places(context), "store": f"{context.store_id}-{uuid.uuid4().hex[:8]}"}
        self._is_open = False
        if "forget" in config.calls:
            self.forget = self._forget

    async def open(self) -> RemoteSystem:
        """Connect, and create the store if the file has an `open` call; return itself."""
        try:
            await self._connection.open(self._places)
            self._is_open = True
            if "open" in self._config.calls:
                await self._call("open", {})
        except BaseException:
            await self._connection.close()
            raise
        return self

    async def store_conversation(self, conversation: Conversation) -> list[Any]:
        """Make the `write` call, once or per message; return the replies that `ok` has not checked."""
        self.stored(conversation)
        replies = []
        if self._config.each == "conversation":
            replies.append(
                await self._call("write", stored_values(conversation, None, self._context.render(conversation)))
            )
        for i, message in enumerate(conversation.messages if self._config.each == "message" else ()):
            if message.content.strip():
                one = replace(conversation, id=f"{conversation.id}-{i}", messages=(message,))
                replies.append(await self._call("write", stored_values(one, message, self._context.render(one))))
        return replies if self._config.calls["write"].ok is None else []

    async def _forget(self, text: str) -> Any:
        """Make the `forget` call; return its reply unless `ok` has checked it."""
        self.stored(Conversation("", ()))
        reply = await self._call("forget", {"text": text})
        return reply if self._config.calls["forget"].ok is None else None

    async def _search(self, query: str, k: int) -> list[dict[str, Any]]:
        search = self._config.calls["search"]
        return picked(await self._call("search", {"query": query, "k": k}), search.pick, "search")

    async def get_all_memories(self) -> list[dict[str, Any]]:
        """Make the `list` call, once per page."""
        listing = self._config.calls["list"]
        return await all_pages(lambda page: self._call("list", page), listing.pages, listing.pick, "list")

    async def close(self) -> None:
        """Remove the store if the file has a `close` call, and disconnect; repeated calls are allowed."""
        try:
            if self._is_open and "close" in self._config.calls:
                await self._call("close", {})
        finally:
            self._is_open = False
            await self._connection.close()

    def describe(self) -> Mapping[str, str]:
        """Return the description for the record."""
        return self._config.described(**self._connection.describe())

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The server's tools in the format of chat completions (kind `mcp`)."""
        return [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description or "",
                    "parameters": tool.input_schema,
                },
            }
            for tool in getattr(self._connection, "tools", ())
        ]

    async def use(self, name: str, arguments: dict[str, Any]) -> tuple[str, list[dict[str, Any]]]:
        """Call a tool for a model; return the reply and the memories in it.

        Arguments that separate the stores (those with `{store}` or `{folder}`) come from the file, whatever the model writes.
        """
        connection: Any = self._connection
        calls = [call for call in self._config.calls.values() if call.tool == name]
        own = {key: value for call in calls for key, value in call.arguments.items() if places_of(value)}
        reply = await connection.call_tool(f"the tool {name!r}", name, {**arguments, **filled(own, self._places)})
        text = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
        for key in ("search", "list"):
            if self._config.calls[key].tool == name:
                with suppress(WrongTypeError):  # of another form, perhaps because of other arguments: show all of it
                    return text, picked(reply, self._config.calls[key].pick, key)
        return text, [{"text": text}] if text.strip() else []

    async def _status(self) -> Any:
        return await self._call("settle", {})

    async def _call(self, key: str, values: Mapping[str, Any]) -> Any:
        call = self._config.calls[key]
        reply = await self._connection.call(key, call, {**self._places, **values})
        if call.ok is not None:
            check_ok(reply, call.ok, key)
            return reply
        is_beyond = values.get("offset") and not values.get("cursor")  # a numbered page that may end with an error
        said = None if key not in ("search", "list") or is_beyond else failed_search(reply)
        if said is not None and not picked(reply, call.pick, key):
            raise MemorySystemError(
                f"{key}: got {said}, expected no error beside an empty result: see why it failed; if it did not, declare "
                f"with the key `ok` of `{key}` what is true in this reply"
            )
        return reply
