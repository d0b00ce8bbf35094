"""Replies that look like a refusal, or like a search that failed, as text or in a field, and stored texts that should not be."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from pytest_memfail.core.doubts import Doubt
from pytest_memfail.core.errors import one_line
from pytest_memfail.core.model import Conversation, Listing

REFUSED: Final = re.compile(
    r"\s*<(!doctype html|html)\b|\W*(error|exception|failed|failure|"
    r"(\d{3} )?(internal (server )?error|bad gateway|service unavailable|gateway time-?out|too many requests))\b",
    re.IGNORECASE,
)
"""The beginning of a text of an error; no memory answers a call with a page."""
FAULTY: Final = re.compile(
    r"\b(error|exception|failed|failure|timed? ?out|unavailable|offline|overloaded|(rate|quota) limit|"
    r"(limit|quota) (exceeded|reached)|try(ing)? again)\b",
    re.IGNORECASE,
)
"""Words of an error in a message that has nothing beside it."""
UNHURT: Final = re.compile(r"\b(no|not|without|zero|0) (\w+ )?(error|exception|failed|failure)\b", re.IGNORECASE)
STORED: Final = (
    "entries have the text of an error, {!r}, in place of what was said: see which reply is stored as a text, and raise an "
    "exception there"
)
ESCAPED: Final = re.compile(r"&(#\d+|#x[\da-f]+|amp|quot|apos|lt|gt);", re.IGNORECASE)
UNLIKE: Final = "entries are escaped for HTML, such as {!r}, so their words are not those said: store the text as it is"
FEW_ESCAPED: Final = 0.1
"""The share of a store's entries that may be about HTML."""
MESSAGES: Final = ("message", "detail")
LONGEST_MESSAGE: Final = 120
"""A longer message may quote what was to be stored."""
NOTHING: Final = re.compile(
    r"\b(no|not|nothing)\b.{0,40}\b(found|match\w*)\b|\bno (\w+ )?(results?|hits?|memories|entries)\b|\bfind any\b",
    re.IGNORECASE,
)
"""Says of a search that nothing was found, which is no failure."""
FAULTS: Final = ("error", "errors", "isError", "is_error")
"""Fields that have a value only where something failed."""
SUCCESSES: Final = ("success", "ok", "written", "stored", "saved")
"""Fields that are false where something failed."""
BAD: Final = frozenset({"error", "failed", "failure"})
"""Values of a field `status`."""
INNER: Final = ("result", "results", "data", *MESSAGES)
"""Fields whose value may be the reply itself."""
DEPTH: Final = 4
MOST_ITEMS: Final = 100
CALLS: Final = {"store_conversation": "write", "forget": "forget"}
"""The calls of a memory file by the methods that make them."""
MOST_REFUSED: Final = 0.1
"""Share of writes, and of requests to forget, that may look refused in a trustworthy run."""
COUNTED: Final = {"store_conversation": ("writes", "write"), "forget": ("requests to forget", "request")}
"""What is counted, by method, and one of it."""


def refusal(reply: object) -> str | None:
    """Return the part of a reply that looks like a refusal, on one line; None without one.

    >>> refusal("Error storing memory: database is locked"), refusal({"id": 1, "error": None})
    ("'Error storing memory: database is locked'", None)
    """
    try:
        found = reply if reply is False or _says_only_an_error(reply) else _refusal(reply, DEPTH)
        return None if found is None else one_line(repr(found), 120)
    except Exception:  # a value of the system's own may raise when it is looked at
        return None


def failed_search(reply: object) -> str | None:
    """Return the part of a reply without memories that says that the search or listing failed, on one line; None without one.

    >>> failed_search({"results": [], "error": "index offline"}), failed_search({"error": "no memories found"})
    ("{'results': [], 'error': 'index offline'}", None)
    """
    said = refusal(reply)
    return None if said is None or NOTHING.search(said) else said


def looks_refused(system: object, method: str, reply: str) -> str:
    """Return what a message says of a reply of a method that looks like a refusal, and what to do about it."""
    advice: str = getattr(
        system, "refusal_advice", "raise an exception in {method}(), or return None if nothing failed"
    )
    return f"what looks like a refusal ({reply}): {advice.format(method=method, call=CALLS[method])}"


class Refusals:
    """The writes and requests to forget of one memory system, those whose replies look like refusals, and those repeated."""

    def __init__(self, system: object) -> None:
        self._system = system
        self._replies: dict[str, dict[str, str | None]] = {method: {} for method in COUNTED}
        self._failed: dict[str, str] = {}

    def add(self, method: str, conversation: str, refused: str | None) -> None:
        """Record the reply of a method for a conversation if it looks like a refusal; else None. A later one replaces it.

        A `forget` that answers `False` may have found nothing to forget.
        """
        self._replies[method][conversation] = None if (method, refused) == ("forget", "False") else refused

    def repeat(self, failures: Iterable[tuple[Conversation, Exception]]) -> None:
        """Record that conversations are stored again, each after an error."""
        self._failed |= {conversation.id: one_line(error, 120) for conversation, error in failures}

    @property
    def any_seen(self) -> bool:
        """Whether the last reply for any conversation looks like a refusal."""
        return any(reply is not None for replies in self._replies.values() for reply in replies.values())

    @property
    def doubts(self) -> list[Doubt]:
        """How many of each kind seem to be refused; none of a kind that was never asked for. And how many were repeated."""
        found = []
        for method, replies in self._replies.items():
            (what, unit), refused = COUNTED[method], [reply for reply in replies.values() if reply is not None]
            text = f"{what} were answered with {looks_refused(self._system, method, refused[0])}" if refused else ""
            found.append(Doubt(f"refused {what}", text, len(refused), len(replies), unit, MOST_REFUSED))
        stored = len(self._failed.keys() | {name for replies in self._replies.values() for name in replies})
        first = next(iter(self._failed.values()), "")
        text = (
            f"conversations were stored again after an error, the first after: {first}; the time to fill has the waits"
            if first
            else ""
        )
        found.append(Doubt("repeated", text, len(self._failed), stored, "conversation"))
        return [doubt for doubt in found if doubt.of]


def text_doubts(listings: Iterable[Listing]) -> tuple[Doubt, Doubt]:
    """Return the doubts about what a store lists: the same text of an error again and again, and texts escaped for HTML."""
    largest = max((listing.memories for listing in listings), key=len, default=())
    texts = Counter(memory.text for memory in largest if REFUSED.match(memory.text))
    repeated = {text: n for text, n in texts.most_common() if n > 1}  # one alone may have been said
    said = STORED.format(one_line(next(iter(repeated)), 60)) if repeated else ""
    escaped = [found[0] for memory in largest if (found := ESCAPED.search(memory.text))]
    is_much = len(escaped) > FEW_ESCAPED * len(largest)
    return (
        Doubt("stored errors", said, sum(repeated.values()), len(largest), "entry"),
        Doubt("escaped", UNLIKE.format(escaped[0]) if is_much else "", len(escaped) * is_much, len(largest), "entry"),
    )


def _says_only_an_error(reply: Any) -> bool:
    """Return whether a mapping has a short message with a word of an error, and nothing but empty values beside it."""
    if not isinstance(reply, dict) or any(value for name, value in reply.items() if name not in MESSAGES):
        return False
    said = [text for name in MESSAGES if isinstance(text := reply.get(name), str) and len(text) <= LONGEST_MESSAGE]
    return any(FAULTY.search(text) and not UNHURT.search(text) for text in said)


def _refusal(reply: Any, depth: int) -> object | None:
    if isinstance(reply, str):
        return reply if REFUSED.match(reply) else None
    if isinstance(reply, BaseException):
        return reply
    if hasattr(type(reply), "__dataclass_fields__") or hasattr(type(reply), "model_fields"):
        reply = getattr(reply, "__dict__", None)
    inner: Iterable[Any] = ()
    if isinstance(reply, dict):
        if (
            any(reply.get(name) for name in FAULTS)
            or any(reply.get(name) is False for name in SUCCESSES)
            or str(reply.get("status", "")).lower() in BAD
        ):
            return {name: reply[name] for name in reply if name in (*FAULTS, *SUCCESSES, "status", *INNER)}
        inner = [reply[name] for name in INNER if name in reply]
        if isinstance(content := reply.get("content"), list):  # of a tool of MCP; a text is that of the memory
            inner = [*inner, *(part.get("text") for part in content if isinstance(part, dict))]
    elif isinstance(reply, (list, tuple)):
        if len(reply) == 2 and reply[0] is False and isinstance(reply[1], str):
            return reply
        inner = reply[:MOST_ITEMS]
    return next((found for part in inner if depth and (found := _refusal(part, depth - 1)) is not None), None)
