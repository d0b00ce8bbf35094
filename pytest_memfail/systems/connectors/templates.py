"""Templates of a connector: `{query}` is a variable of the run, `${NAME}` a variable of the environment."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pytest_memfail.core import Conversation, Message, SystemContext, UnknownNameError, UsageError
from pytest_memfail.safety import is_setting, learn_options

PLACES: Final = frozenset({"store", "folder", "base_url"})
"""The id of a store, unique over runs, its private folder, and the address for its model calls."""
URL_VARIABLE: Final = "OPENAI_BASE_URL"
STORED: Final = PLACES | {"text", "content", "role", "messages", "conversation", "time", "date"}
ASKED: Final = PLACES | {"query", "k"}
FORGOTTEN: Final = PLACES | {"text"}
LISTED: Final = PLACES | {"page", "offset", "cursor"}

_VARIABLE: Final = re.compile(r"\{\{|\}\}|\$\{(?P<outer>\w*)\}|\{(?P<inner>\w+)\}")
_SECRET: Final = "api_key"
"""A name whose value is masked."""


def places(context: SystemContext) -> dict[str, str]:
    """Return the variables of a store."""
    base_url = context.base_url or os.environ.get(URL_VARIABLE) or "https://api.openai.com/v1"
    return {"store": context.store_id, "folder": str(context.path), "base_url": base_url}


def proxied(context: SystemContext) -> dict[str, str]:
    """Return the variables of a program's environment that send its model calls through the run's proxy, if there is one."""
    return {URL_VARIABLE: context.base_url} if context.base_url else {}


def check(template: Any, known: frozenset[str], place: str) -> None:
    """Raise `UsageError` for a variable that is unknown in this place; `place` is its name in the message."""
    for text in _texts(template):
        for match in _VARIABLE.finditer(text):
            if match["inner"] and match["inner"] not in known:
                raise UnknownNameError(f"variable in {place}", match["inner"], known, "write {{ for a brace")


def with_environment(template: Any, place: str, *, secret: bool = False) -> Any:
    """Return the template with each `${NAME}` replaced; `secret` values are masked in all outputs from now on.

    A word such as `warning`, which paths, commands and memories contain anyway, is only a secret if a name says so.

    Raises `UsageError` for a variable that is not set.
    """

    def replaced(match: re.Match[str]) -> str:
        if (name := match["outer"]) is None:
            return match[0]
        if not (value := os.environ.get(name)):
            raise UsageError(
                f"{place}: the environment variable {name!r} is not set; expected a value: export {name}=..."
            )
        learn_options({_SECRET if secret and not is_setting(name, value) else name: value})
        return value.replace("{", "{{").replace("}", "}}")

    return _mapped(template, lambda text: _VARIABLE.sub(replaced, text))


def filled(template: Any, values: Mapping[str, Any]) -> Any:
    """Return the template with its variables replaced.

    A text that consists of one variable becomes the variable's value and keeps its type. An entry whose value is None is left out.
    """

    def text(template: str) -> Any:
        if (alone := re.fullmatch(r"\{(\w+)\}", template)) is not None:
            return values[alone[1]]
        return _VARIABLE.sub(
            lambda match: match[0][0] if match["inner"] is None else str(values[match["inner"]]), template
        )

    return _mapped(template, text)


def places_of(template: Any) -> set[str]:
    """Return the variables in a template if all of them only identify the store; otherwise nothing."""
    names = {match["inner"] for text in _texts(template) for match in _VARIABLE.finditer(text) if match["inner"]}
    return names if names <= PLACES else set()


def stored_values(conversation: Conversation, message: Message | None, rendered: str) -> dict[str, Any]:
    """Return the variables of what is stored: a message of a conversation, or all of it if None."""
    when = (message.timestamp if message else None) or conversation.timestamp
    plain = plain_conversation(conversation)
    content = message.content if message else "\n".join(each.content for each in conversation.messages)
    return {
        "text": rendered,
        "content": content,
        "role": message.role if message else "user",
        "messages": [{"role": each["role"], "content": each["content"]} for each in plain["messages"]],
        "conversation": conversation.id,
        "time": when.isoformat() if when else None,
        "date": f"{when:%Y-%m-%d}" if when else None,
    }


def plain_conversation(conversation: Conversation) -> dict[str, Any]:
    """Return a conversation as plain data for JSON."""

    def stamp(item: Conversation | Message) -> dict[str, str]:
        return {"timestamp": item.timestamp.isoformat()} if item.timestamp else {}

    messages = [{"role": m.role, "content": m.content, **stamp(m)} for m in conversation.messages]
    return {"id": conversation.id, **stamp(conversation), "messages": messages}


def _texts(template: Any) -> Iterator[str]:
    if isinstance(template, str):
        yield template
    elif isinstance(template, Mapping):
        for value in template.values():
            yield from _texts(value)
    elif isinstance(template, list):
        for value in template:
            yield from _texts(value)


def _mapped(template: Any, change: Any) -> Any:
    if isinstance(template, str):
        return change(template)
    if isinstance(template, Mapping):
        items = {name: _mapped(value, change) for name, value in template.items()}
        return {name: value for name, value in items.items() if value is not None or template[name] is None}
    if isinstance(template, list):
        return [_mapped(value, change) for value in template]
    return template
