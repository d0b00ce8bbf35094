"""Read chats as programs log and export them: who said what, in which conversation, and when.

Reads turns (`role`, `content`), one per line or in an array, conversations of turns (`messages`), OpenTelemetry's GenAI spans,
and the exports of ChatGPT (`mapping`), Claude (`chat_messages`), LangChain (`type` and `data`, or `lc`) and ShareGPT (`from`,
`value`).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timezone
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from pytest_memfail.core import RowError, one_line, short
from pytest_memfail.rows.decoding import decoded, read_bytes, whole

ROLES: Final = {
    **dict.fromkeys(("user", "human", "humanmessage", "humanmessagechunk"), "user"),
    **dict.fromkeys(("assistant", "ai", "gpt", "chatgpt", "bot", "model", "aimessage", "aimessagechunk"), "assistant"),
}
"""Names of the two speakers, in lower case."""
LEFT_OUT: Final = frozenset(
    "system systemmessage developer tool toolmessage function functionmessage function_call function_response observation "
    "tool_call tool_calls tool_result tool_response remove".split()
)
"""Names of turns that nobody says to a memory."""
SPEAKERS: Final = ("role", "sender", "from")
TEXTS: Final = ("content", "text", "value", "memory", "parts")
"""Keys of a text."""
TEXT_PARTS: Final = ("text", "input_text", "output_text")
"""Types of the parts of a content that are text; others are calls, results, thoughts and pictures."""
TIMES: Final = ("timestamp", "created_at", "create_time", "date", "time")
NAMES: Final = (
    "conversation",
    "conversation_id",
    "session_id",
    "thread_id",
    "conversationId",
    "sessionId",
    "threadId",
    "gen_ai.conversation.id",
)
"""Keys of the id of a conversation."""
WITHIN: Final = ("messages", "chat_messages", "conversations", "conversation", "items", "turns")
"""Keys of a list of turns or of conversations."""
WRITES: Final = ("create_memory", "update_memory", "upsert_memory")
"""Values of `gen_ai.operation.name` of spans that write memories."""
EARLIEST: Final = 1990
"""A time before this year is a number that counts something else."""
_TIME: Final = TypeAdapter(datetime)


@dataclass(frozen=True, slots=True)
class Turn:
    """What a user or an assistant said."""

    role: str
    """`user` or `assistant`."""
    text: str
    time: datetime | None = None


@dataclass(slots=True)
class Chat:
    """One conversation of one day, in the order of its turns."""

    turns: list[Turn] = field(default_factory=list)

    @property
    def day(self) -> date | None:
        """Return the day of the first turn that has a time."""
        return next((turn.time.date() for turn in self.turns if turn.time is not None), None)


@dataclass(slots=True)
class Chats:
    """The content of a file: conversations, memories written, and the last query to a memory."""

    chats: list[Chat] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    query: str = ""
    left_out: Counter[str] = field(default_factory=Counter)
    """Number of turns without anything that a memory stores, by their role."""
    no_times: list[str] = field(default_factory=list)
    """Values at the place of a time that are none."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a value stands: what it inherits from the values around it."""

    name: str = ""
    """The id of the conversation."""
    time: datetime | None = None
    repeats: bool = False
    """Whether it is the list of a request, which repeats the turns before."""


def read_chats(path: Path) -> Chats:
    """Return the chats of a file with one JSON value, or with one per line.

    Raises `RowError` with the line that cannot be read.
    """
    file = str(path)
    content = read_bytes(path)
    if content.startswith(b"PK\x03\x04"):
        problem = "got a ZIP archive; unpack it and give a file in it, such as conversations.json"
        raise RowError(file, 1, "file", problem)
    text = decoded(file, content)
    if text.lstrip()[:1] == "<":
        problem = "got HTML or XML, expected JSON; of an export, give its conversations.json"
        raise RowError(file, 1, "file", problem)
    reader = _Reader()
    for line, value in _values(file, text):
        before = reader.seen
        try:
            reader.take(value, _Place())
        except _UnknownRoleError as error:
            raise RowError(file, line, "role", str(error)) from None
        except RecursionError:
            raise RowError(file, line, "file", "nested too deeply") from None
        if reader.seen == before:
            raise RowError(file, line, "file", f"got {short(value)}, expected {EXPECTED}")
    return reader.found()


EXPECTED: Final = (
    "a turn with role and content, a conversation with messages, a span, or an export of ChatGPT, Claude, LangChain or "
    "ShareGPT"
)


def is_chat(value: Any) -> bool:
    """Return whether a JSON value has the form of chats that `read_chats` reads, by its first values."""
    reader = _Reader()
    try:
        reader.take(value[:3] if isinstance(value, list) else value, _Place())
    except _UnknownRoleError:
        return True
    except RecursionError:
        return False
    return bool(reader.seen)


class _UnknownRoleError(ValueError):
    """A turn is of nobody known."""


def _values(file: str, text: str) -> Iterator[tuple[int, Any]]:
    """Yield the JSON values of a text with their lines: the only one, or one per line."""
    try:
        only = _loaded(file, 1, text)
    except RowError as error:
        fault = error
    else:
        yield 1, only
        return
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    for at, (number, line) in enumerate(lines):
        try:
            value = _loaded(file, number, line)
        except RowError as error:
            raise error if at else fault from None  # not even one value per line
        yield number, value


def _loaded(file: str, line: int, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        line, problem = line + error.lineno - 1, f"not JSON ({error.msg} at column {error.colno}), expected {EXPECTED}"
    except ValueError as error:  # a number of 5,000 digits
        problem = f"not JSON ({one_line(error)})"
    except RecursionError:
        problem = "not JSON (nested too deeply)"
    raise RowError(file, line, "file", problem)


class _Reader:
    """Collects what the values of a file say."""

    def __init__(self) -> None:
        self.seen = 0
        """The number of turns, memories and queries read, with turns that were left out."""
        self._turns: dict[str, list[Turn]] = {}
        self._said = Chats()
        self._unnamed = 0
        """The number of conversations without an id."""

    def found(self) -> Chats:
        """Return the conversations by day: in the order of their times if all have one, else in that of the file."""
        chats = [Chat(turns) for of_name in self._turns.values() for turns in _by_day(of_name)]
        if all(chat.day for chat in chats):
            chats.sort(key=lambda chat: min(_utc(turn.time) for turn in chat.turns if turn.time is not None))
        self._said.chats = chats
        return self._said

    def take(self, value: Any, place: _Place) -> None:
        """Add a turn, a conversation, a span, or a list of them."""
        if isinstance(value, list):
            turns = []
            for one in value:
                if (turn := self._turn(one, place)) is None:
                    self.take(one, place)
                else:
                    turns.append(turn)
            self._add(turns, place)
        elif isinstance(value, Mapping):
            if (turn := self._turn(value, place)) is not None:
                self._add([turn], place)
            else:
                self._within(value, place)

    def _within(self, value: Mapping[str, Any], place: _Place) -> None:
        """Add what a conversation, a span or a line around a turn holds."""
        place = _Place(_name(value) or place.name, self._time(value) or place.time, place.repeats)
        if isinstance(value.get("mapping"), Mapping):  # ChatGPT: a tree of turns
            value = {**value, "chat_messages": _branch(value)}
        for key in WITHIN:
            if isinstance(inner := value.get(key), list):
                name = place.name or self._fresh(inner, may_repeat=key == "messages")
                self.take(inner, _Place(name, place.time, repeats=True))
        if isinstance(inner := value.get("message"), Mapping):  # a line of an agent's log
            self.take(inner, place)
        for attributes in _spans(value):
            self._span(attributes, place)

    def _fresh(self, inner: Sequence[Any], *, may_repeat: bool) -> str:
        """Return an id for a conversation without one: that of the last such one if it repeats the last turns of it."""
        if may_repeat and (last := self._turns.get(f"#{self._unnamed}")):
            turns = [turn for one in inner if (found := self._turn(one, _Place())) and (turn := found[1]).text]
            if _repeated(last, turns):
                return f"#{self._unnamed}"
        self._unnamed += 1
        return f"#{self._unnamed}"

    def _turn(self, value: Any, place: _Place) -> tuple[str, Turn] | None:
        """Return a turn with the id of its conversation; None for another value.

        A turn that is left out has no text. Raises `_UnknownRoleError`.
        """
        if not isinstance(value, Mapping):
            return None
        said = value
        if isinstance(value.get("data"), Mapping) and isinstance(value.get("type"), str):  # LangChain's dictionaries
            said = {**value, **value["data"], "role": value["type"]}
        elif isinstance(value.get("kwargs"), Mapping) and isinstance(value.get("id"), list) and value["id"]:
            said = {**value["kwargs"], "role": str(value["id"][-1])}  # LangChain's serialised objects
        elif isinstance(value.get("author"), Mapping):  # ChatGPT
            said = {**value, "role": _chatgpt_role(value)}
        speaker = next((said[key] for key in SPEAKERS if isinstance(said.get(key), str)), None)
        if speaker is None:
            return None
        role = ROLES.get(speaker.casefold())
        if role is None and speaker.casefold() not in LEFT_OUT:
            known = "user, assistant, system or tool"
            raise _UnknownRoleError(f"got a turn of {one_line(repr(speaker), 60)}, expected the role {known}")
        return _name(said) or place.name, Turn(role or speaker, _text(said) if role else "", self._time(said))

    def _add(self, turns: Sequence[tuple[str, Turn]], place: _Place) -> None:
        """Add turns to their conversations, without those at the start that a request repeats."""
        self.seen += len(turns)
        if not any(turn.time for _, turn in turns):
            turns = [(name, replace(turn, time=place.time)) for name, turn in turns]
        by_name: dict[str, list[Turn]] = {}
        for name, turn in turns:
            if turn.text:
                by_name.setdefault(name, []).append(turn)
            else:
                self._said.left_out[f"empty {turn.role}" if turn.role in ROLES else turn.role] += 1
        for name, new in by_name.items():
            old = self._turns.setdefault(name, [])
            old += new[_repeated(old, new) if place.repeats else 0 :]

    def _span(self, attributes: Mapping[str, Any], place: _Place) -> None:
        name = str(attributes.get("gen_ai.conversation.id", place.name))
        place = replace(place, name=name, repeats=True)
        for key in ("gen_ai.input.messages", "gen_ai.output.messages"):
            self.take(_json(attributes.get(key)), place)
        if attributes.get("gen_ai.operation.name") in WRITES:
            records = _json(attributes.get("gen_ai.memory.records"))
            for one in records if isinstance(records, list) else [records]:
                if text := _text(one):
                    self._said.written.append(text)
        if query := attributes.get("gen_ai.memory.query.text"):
            self._said.query = whole(str(query))
        self.seen += 1

    def _time(self, value: Mapping[str, Any]) -> datetime | None:
        """Return when something was said; notes a value that is no time."""
        for name in TIMES:
            given = value.get(name)
            if given is None or given == "" or isinstance(given, bool | list | Mapping):
                continue
            try:
                found = _TIME.validate_python(given)
            except ValidationError:
                found = None
            if found is not None and found.year >= EARLIEST:
                return found
            self._said.no_times.append(str(given))
        return None


def _name(value: Mapping[str, Any]) -> str:
    """Return the id of the conversation that a value names; empty without one."""
    return next((str(value[key]) for key in NAMES if isinstance(value.get(key), str | int)), "")


def _repeated(old: Sequence[Turn], new: Sequence[Turn]) -> int:
    """Return how many of the new turns repeat the last of the old ones."""
    said, again = ([(turn.role, turn.text) for turn in turns] for turns in (old, new))
    return next((n for n in range(min(len(said), len(again)), 0, -1) if said[-n:] == again[:n]), 0)


def _by_day(turns: Sequence[Turn]) -> Iterator[list[Turn]]:
    """Yield the turns of each day; a turn without a time is of the day before it."""
    day: list[Turn] = []
    for turn in turns:
        last = Chat(day).day
        if turn.time is not None and last is not None and turn.time.date() != last:
            yield day
            day = []
        day.append(turn)
    if day:
        yield day


def _utc(time: datetime) -> datetime:
    return time if time.tzinfo else time.replace(tzinfo=timezone.utc)


def _branch(conversation: Mapping[str, Any]) -> list[Any]:
    """Return the messages of a tree from its root to the current turn, or else to its last node."""
    nodes, found, seen = conversation["mapping"], [], set()
    at = conversation.get("current_node")
    if at not in nodes:
        at = next(reversed(nodes), None)
    while isinstance(node := nodes.get(at), Mapping) and at not in seen:
        seen.add(at)
        if isinstance(node.get("message"), Mapping):
            found.append(node["message"])
        at = node.get("parent")
    return found[::-1]


def _chatgpt_role(message: Mapping[str, Any]) -> str:
    """Return the role of a message of ChatGPT; that of a hidden one, or of one to a tool, is `system` or `tool`."""
    hidden = message.get("metadata")
    if isinstance(hidden, Mapping) and hidden.get("is_visually_hidden_from_conversation"):
        return "system"
    return str(message["author"].get("role")) if message.get("recipient") in (None, "all") else "tool"


def _spans(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the attributes of the spans in a JSON value: flat, or as OTLP nests them."""
    if isinstance(value, list):
        for one in value:
            yield from _spans(one)
    elif isinstance(value, Mapping):
        attributes = value.get("attributes")
        if isinstance(attributes, list):  # OTLP: [{"key": ..., "value": {"stringValue": ...}}]
            attributes = {
                str(pair.get("key")): next(iter(pair["value"].values()), None)
                for pair in attributes
                if isinstance(pair, Mapping) and isinstance(pair.get("value"), Mapping)
            }
        if isinstance(attributes, Mapping) and any(str(name).startswith("gen_ai.") for name in attributes):
            yield dict(attributes)
        for name in ("resourceSpans", "scopeSpans", "spans"):
            yield from _spans(value.get(name))


def _json(value: Any) -> Any:
    if isinstance(value, str):
        try:
            return json.loads(value)
        except ValueError:
            return {"content": value}
    return value


def _text(value: Any) -> str:
    """Return the text of a turn or a memory, which may be a text or a list of parts."""
    if isinstance(value, str):
        return whole(value.strip())
    if isinstance(value, list):
        return "\n".join(filter(None, map(_text, filter(_is_text, value))))
    if isinstance(value, Mapping):
        return next((text for name in TEXTS if (text := _text(value.get(name)))), "")
    return ""


def _is_text(part: Any) -> bool:
    kind = part.get("type") if isinstance(part, Mapping) else None
    return kind is None or kind in TEXT_PARTS
