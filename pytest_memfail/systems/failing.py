"""Systems that fail on purpose, one per memory verdict: wrappers around any other system.

They show what each verdict looks like, and they are the first test of every judge. Options: `inner` (the system wrapped,
`bm25`), `rate` (the share of conversations or queries that fail, 1) and `seed` (which ones, 0); all others go to the inner
system.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from pytest_memfail.core import Conversation, SystemContext, UsageError

OWN_OPTIONS: Final = ("inner", "rate", "seed")

Make = Callable[[str], Callable[[SystemContext], Any]]


class Failing:
    """Passes everything on; `_hit` says which conversations or queries fail."""

    def __init__(self, inner: Any, rate: float, seed: int) -> None:
        self._inner = inner
        self._rate, self._seed = rate, seed

    def __getattr__(self, name: str) -> Any:
        # flush, close, snapshot, concurrent_reads ...: whatever the inner system offers, and nothing else
        if name == "_inner":  # not set yet: a copy or an unpickled instance must not recurse
            raise AttributeError(name)
        return getattr(self._inner, name)

    def _hit(self, key: str) -> bool:
        """The same conversations and queries at the same seed, on every machine and in every order."""
        digest = hashlib.sha256(f"{self._seed}:{key}".encode("utf-8", "replace")).digest()
        return int.from_bytes(digest[:8], "big") < self._rate * 2**64

    def store_conversation(self, conversation: Conversation) -> Any:
        """Store it."""
        return self._inner.store_conversation(conversation)

    def retrieve_memories(self, query: str, conversation: Conversation, k: int) -> Any:
        """Retrieve."""
        return self._inner.retrieve_memories(query, conversation, k)

    def get_all_memories(self) -> Any:
        """List."""
        return self._inner.get_all_memories()

    def describe(self) -> Mapping[str, str]:
        """What the record says of it."""
        inner = self._inner.describe() if hasattr(self._inner, "describe") else {}
        return {**inner, "wrapper": type(self).__name__.lower(), "rate": str(self._rate), "seed": str(self._seed)}


class Forgetful(Failing):
    """Drops conversations: `not_stored`."""

    def store_conversation(self, conversation: Conversation) -> Any:
        """Store it, or not."""
        return None if self._hit(conversation.text) else super().store_conversation(conversation)


class Lossy(Failing):
    """Drops qualifying clauses, numbers and names: `summary_error`."""

    def store_conversation(self, conversation: Conversation) -> Any:
        """Store what a careless summary would keep of it."""
        if self._hit(conversation.text):
            messages = tuple(replace(m, content=careless_summary(m.content)) for m in conversation.messages)
            conversation = replace(conversation, messages=messages)
        return super().store_conversation(conversation)


class Misdirected(Failing):
    """Ranks wrongly: `not_retrieved`."""

    def retrieve_memories(self, query: str, conversation: Conversation, k: int) -> Any:
        """What the inner system finds least relevant of all it can rank."""
        if not self._hit(query):
            return super().retrieve_memories(query, conversation, k)
        ranked = self._inner.retrieve_memories(query, conversation, EVERYTHING)
        if hasattr(ranked, "__await__"):
            return _last_of(ranked, k)
        return list(ranked)[-k:][::-1] if len(ranked) > k else []


EVERYTHING: Final = 1_000_000


async def _last_of(ranked: Any, k: int) -> list[Any]:
    found = list(await ranked)
    return found[-k:][::-1] if len(found) > k else []


_CLAUSE = re.compile(
    r",?\s*\b(?:(?:but )?(?:only|except|unless|whenever|when|while|if|after|before|during|until|once|because|since|as long as|"
    r"provided|to|with|without|for|from|by|in|on|at|that|which|who)\b)[^.!?;]*",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\b(?:\d+(?:[.,:/-]\d+)*(?:st|nd|rd|th|%|°\w?)?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|"
    r"fifteen|twenty|thirty|forty|fifty|hundred)\b[ -]?",
    re.IGNORECASE,
)
_NAME = re.compile(r"\b[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)*")
_OPENING = re.compile(
    r"^(?:when|whenever|after|before|if|during|because|on|in|at|as|once|since|while)\b[^,.!?]*,\s*", re.IGNORECASE
)


def careless_summary(text: str) -> str:
    """The text without its qualifying clauses, its numbers and its names.

    >>> careless_summary("Ada bakes rye bread only when it rains. She owns 3 ovens.")
    'Someone bakes rye bread. She owns ovens.'
    """
    sentences = []
    for sentence in re.split(r"(?<=[.!?])\s+", text):
        short = _OPENING.sub("", sentence)
        short = _CLAUSE.sub("", short, count=1) if len(short.split()) > 4 else short
        short = _NUMBER.sub("", short)
        short = _NAME.sub(
            lambda m: m[0] if m.start() == 0 and " " not in m[0] and m[0] in _STARTERS else "someone", short
        )
        short = " ".join(short.split()).rstrip(",;:")
        if short:
            sentences.append(short[:1].upper() + short[1:] + ("" if short[-1] in ".!?" else "."))
    return " ".join(sentences)


_STARTERS: Final = frozenset(
    "A An The I My His Her He She It Its They Their We Our You Your This That These Those There Here Most Some Every Each"
    " All No Not Early Late Hot Cold Fresh New Old Good".split()
)


def failing_factory(kind: type[Failing], make: Make) -> Callable[[SystemContext], Failing]:
    """A factory of the wrapper; `make` gives the factory of the inner system by name.

    Raises `UsageError` for options out of range.
    """

    def factory(context: SystemContext) -> Failing:
        options = dict(context.options)
        rate = _number(options, "rate", 1.0)
        if not 0 <= rate <= 1:
            raise UsageError(f"--memfail-system-option rate: got {rate:g}, expected a share between 0 and 1")
        seed = int(_number(options, "seed", 0))
        inner = make(options.get("inner", "bm25"))
        rest = {name: value for name, value in options.items() if name not in OWN_OPTIONS}
        return kind(inner(replace(context, options=rest)), rate, seed)

    return factory


def _number(options: Mapping[str, str], name: str, default: float) -> float:
    got = options.get(name, default)
    try:
        return float(got)
    except ValueError:
        raise UsageError(f"--memfail-system-option {name}: got {got!r}, expected a number") from None
