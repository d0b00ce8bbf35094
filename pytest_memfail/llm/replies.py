"""Read replies: from the bytes of a response to usable text, or an error that explains what is wrong."""

from __future__ import annotations

import base64
import json
import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from pytest_memfail.core import ToolCall, first_problem, one_line
from pytest_memfail.llm.completion import UNREPORTED, Completion, Usage
from pytest_memfail.llm.errors import RefusalError, ReplyError
from pytest_memfail.safety import encodable

if TYPE_CHECKING:
    from pydantic import BaseModel

MOST_TOKENS: Final = 1 << 40
"""A reply that reports more than this reports nothing; a database could not add such numbers."""


THOUGHTS: Final = re.compile(r"(?:\s*<(think|thinking)>.*?</\1>)+\s*|(?!\s*[{<]).*?</think(?:ing)?>\s*", re.DOTALL)
"""The thoughts of a model before its reply. A chat template may have opened them, so that only their end is there."""


@dataclass(frozen=True, slots=True)
class WireReply:
    """The relevant parts of a chat completion."""

    text: str
    refusal: str | None
    finish_reason: str | None
    usage: Usage
    calls: tuple[ToolCall, ...] = ()
    first: Mapping[str, float] = field(default_factory=dict)
    """The log probabilities of the tokens that it could begin with, if the endpoint gives them."""


def read_reply(body: bytes) -> WireReply:
    """Read the body of a response.

    Does not use the SDK's models, which accept anything. Raises `ReplyError` if it is not a chat completion.
    """
    try:
        data = json.loads(body)
        return _wire_reply(data["choices"][0], read_usage(data.get("usage")))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise ReplyError(f"not a chat completion: {_quoted(body.decode('utf-8', 'replace'))}") from None


LARGEST: Final = 3e38
"""The largest number of 32 bits, or nearly; a NaN is not smaller."""


def read_vectors(body: bytes, count: int) -> WireReply:
    """Read the body of a response of `/embeddings`; the text is the vectors, packed as for the cache, one a line.

    Raises `ReplyError` if it does not have this many vectors of one length, all of finite numbers.
    """
    try:
        data = json.loads(body)
        items = sorted(data["data"], key=lambda item: item["index"])
        vectors = [_floats(item["embedding"]) for item in items]
        usage = read_usage(data.get("usage"))
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError, struct.error):
        raise ReplyError(f"not a reply to /embeddings: {_quoted(body.decode('utf-8', 'replace'))}") from None
    sizes = {len(vector) for vector in vectors}
    if [item["index"] for item in items] != list(range(count)) or len(sizes) != 1 or 0 in sizes:
        raise ReplyError(f"got {len(vectors)} vectors of {sorted(sizes)} numbers, expected {count} of one length")
    if not all(abs(number) <= LARGEST for vector in vectors for number in vector):
        raise ReplyError("a vector has a number that is not finite")
    return WireReply("\n".join(map(packed_vector, vectors)), None, None, usage)


def _floats(vector: Any) -> Sequence[float]:
    return unpacked_vector(vector) if isinstance(vector, str) else [float(number) for number in vector]


def packed_vector(vector: Sequence[float]) -> str:
    """Encode a vector as one line: base64 of 32-bit floats, as endpoints do."""
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode("ascii")


def unpacked_vector(line: str) -> Sequence[float]:
    """Decode a packed vector. Raise `ValueError` or `struct.error` if it is none."""
    packed = base64.b64decode(line, validate=True)
    return struct.unpack(f"<{len(packed) // 4}f", packed)


def _wire_reply(choice: Any, usage: Usage) -> WireReply:
    """Return a choice of a chat completion. Raise any of the errors that `read_reply` names if it is none."""
    message = choice["message"]
    text, refusal = message.get("content") or "", message.get("refusal")
    calls = tuple(_tool_call(call) for call in message.get("tool_calls") or ())
    if not isinstance(text, str):
        raise ReplyError(f"not a text: {_quoted(text)}")
    return WireReply(
        encodable(text), refusal, choice.get("finish_reason"), usage, calls, _first(choice.get("logprobs"))
    )


def _first(data: Any) -> dict[str, float]:
    """Return the log probabilities of the first token and of its alternatives."""
    if not data or not data.get("content"):
        return {}
    token = data["content"][0]
    found = {str(one["token"]): float(one["logprob"]) for one in (*(token.get("top_logprobs") or ()), token)}
    return {encodable(text): number for text, number in found.items() if -LARGEST <= number <= 0}


SPOKEN: Final = ("tool_calls", "function_call", "refusal", "reasoning_content", "reasoning", "audio")
"""What a message of a chat completion may have in place of a text."""


def check_body(path: str, body: Any) -> None:
    """Check the body of a reply to any path of the API as strictly as `read_reply` checks a chat completion.

    Raises `ReplyError`.
    """
    try:
        if _is_body(path, body):
            return
    except (ValueError, LookupError, TypeError, AttributeError):
        pass
    raise ReplyError(f"not a reply to {path}: {_quoted(json.dumps(body, ensure_ascii=False))}")


def _is_body(path: str, body: Any) -> bool:
    if path == "/chat/completions":
        for choice in body["choices"]:
            _wire_reply(choice, Usage())
        messages = [choice["message"] for choice in body["choices"]]
        return bool(messages) and all(
            isinstance(message.get("content"), str) or any(message.get(name) for name in SPOKEN) for message in messages
        )
    if path == "/completions":
        return bool(body["choices"]) and all(isinstance(choice["text"], str) for choice in body["choices"])
    if path == "/embeddings":
        return bool(body["data"]) and all(
            isinstance(item["embedding"], str | list) and bool(item["embedding"]) for item in body["data"]
        )
    if path == "/responses":
        is_whole = bool(body["output"]) or body.get("status") == "incomplete"
        return is_whole and all(isinstance(item["type"], str) for item in body["output"])
    if path == "/models":
        return isinstance(body["data"] or [], list)  # null where a server has none
    return isinstance(body["id"], str)  # one model


def is_cut_off(body: Any) -> bool:
    """Return whether a reply that `check_body` accepts ends because of a limit of tokens."""
    if isinstance(details := body.get("incomplete_details"), dict):
        return details.get("reason") == "max_output_tokens"
    return any(choice.get("finish_reason") == "length" for choice in body.get("choices") or ())


def check_reply(reply: WireReply, *, tools: bool = False, may_be_cut: bool = False) -> str:
    """Return the reply's text. Raise `RefusalError` for a refusal, `ReplyError` if it is empty, only thoughts, or cut off.

    With `tools`, the text may be empty if there are tool calls. With `may_be_cut`, a reply that has an answer may be cut off.
    """
    if reply.refusal:
        raise RefusalError(f"the model refuses: {_quoted(reply.refusal)}")
    if reply.finish_reason == "content_filter":
        raise RefusalError("a content filter stopped the reply")
    if reply.finish_reason == "length" and not (may_be_cut and _has_answer(reply.text)):
        raise ReplyError(f"the reply is cut off after {reply.usage.completion_tokens} tokens: {_quoted(reply.text)}")
    if not _has_answer(reply.text) and not (tools and reply.calls):
        if not reply.text.strip():
            raise ReplyError("the reply is empty")
        raise ReplyError(f"the reply has only thoughts, expected an answer after them: {_quoted(reply.text)}")
    return reply.text


def parse_reply(text: str, schema: type[BaseModel]) -> BaseModel:
    """Return the text as an instance of the schema. Raise `ReplyError` if it does not fit.

    A text around the object (a fence, prose) is ignored; the object itself must fit exactly.
    """
    from pydantic import ValidationError

    try:
        # strict: the string "true" is not the boolean that was asked for
        return schema.model_validate_json(json_object(text), strict=True)
    except _TwiceError as error:
        found = (str(error), "got it twice, expected once")
    except ValidationError as error:
        found = first_problem(error, schema.model_fields) if "{" in text else ("", "no JSON object")
    said, form = ": ".join(filter(None, found)), ", ".join(schema.model_fields)
    raise ReplyError(f"the reply is not in the expected form ({form}): {said}: {_quoted(text)}")


class _TwiceError(Exception):
    """An object has this key twice, perhaps with two verdicts."""


def _each_once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of these pairs. Raise `_TwiceError` if a key occurs twice, of which parsers drop one."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _TwiceError(key)
        found[key] = value
    return found


def json_object(text: str) -> str:
    """Return the JSON object of a text that has exactly one, else the text. Raise `_TwiceError` if it has a key twice.

    >>> json_object('```json\\n{"right": true}\\n```'), json_object("{1} and {2}")
    ('{"right": true}', '{1} and {2}')
    """
    said = without_thoughts(text)
    start = said.find("{")
    try:
        _, end = json.JSONDecoder(object_pairs_hook=_each_once).raw_decode(said, max(start, 0))
    except (ValueError, RecursionError):
        return said
    # a second brace may begin another verdict
    return said[start:end] if start >= 0 and "{" not in said[end:] else said


def without_thoughts(text: str) -> str:
    """Return a reply without a byte order mark and without the thoughts before it, which some servers leave in the text.

    >>> without_thoughts("<think>So it is 4.</think>\\n4"), without_thoughts("So it is 4.</think>4"), without_thoughts("4")
    ('4', '4', '4')
    """
    said = text.removeprefix("\ufeff")
    return said[match.end() :] if (match := THOUGHTS.match(said)) is not None else said


def _has_answer(text: str) -> bool:
    """Return whether a text has more than thoughts, which may have no end."""
    said = without_thoughts(text).strip()
    return bool(said) and not said.lower().startswith("<think")


def packed(reply: Completion) -> str:
    """Encode a reply that is more than its text as one text for the cache."""
    calls = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in reply.calls]
    first = {"first": dict(reply.first)} if reply.first else {}
    return json.dumps({"text": reply.text, "calls": calls, **first}, ensure_ascii=False)


def unpacked(kept: str) -> tuple[str, tuple[ToolCall, ...], dict[str, float]]:
    """Decode the text, the calls and the first tokens of a packed reply. Raise `ValueError` if it is not packed."""
    plain = json.loads(kept)
    if not isinstance(plain, dict) or not {"text", "calls"} <= plain.keys():
        raise ValueError("no packed reply")
    return plain["text"], tuple(ToolCall(**call) for call in plain["calls"]), plain.get("first", {})


def _tool_call(call: Any) -> ToolCall:
    function = call["function"]
    arguments = function.get("arguments") or ""
    if not isinstance(arguments, str):  # some endpoints send the object itself
        arguments = json.dumps(arguments)
    return ToolCall(str(call.get("id") or ""), encodable(str(function["name"])), encodable(arguments))


def read_usage(data: Any) -> Usage:
    """Return the usage that a reply reports, by the names of chat completions or of responses."""
    if not isinstance(data, dict):
        return UNREPORTED
    details = data.get("prompt_tokens_details") or data.get("input_tokens_details")
    cached = _count(details.get("cached_tokens")) if isinstance(details, dict) else 0
    prompt, completion = (
        next((count for name in names if (count := _count(data.get(name))) is not None), None)
        for names in (("prompt_tokens", "input_tokens"), ("completion_tokens", "output_tokens"))
    )
    is_reported = bool(prompt) and completion is not None
    return Usage(prompt or 0, completion or 0, min(cached or 0, prompt or 0), is_reported)


def _count(value: object) -> int | None:
    """Return a number of tokens; None if it is no usable whole number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < MOST_TOKENS:
        return None
    return int(value) if value == int(value) else None


def _quoted(text: object) -> str:
    return repr(one_line(text, 120))
