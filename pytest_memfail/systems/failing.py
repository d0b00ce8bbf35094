"""Systems that fail on purpose, one per memory verdict: wrappers around any other system.

They show what each verdict looks like, and they are the first test of every judge. Options: `inner` (the wrapped
system, default
`bm25`), `rate` (the share of conversations or queries that fail, default 1) and `seed` (selects them, default 0). All
other options go to the inner system.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from pytest_memfail.core import MAX_K, Conversation, SystemContext, UnknownNameError, UsageError
from pytest_memfail.texts import after_stops

OWN_OPTIONS: Final = ("inner", "rate", "seed")

Make = Callable[[str], Callable[[SystemContext], Any]]


class Failing:
    """Forward every call to the inner system; `_hit` selects the conversations or queries that fail."""

    loses_on_purpose = True

    def __init__(self, inner: Any, rate: float, seed: int) -> None:
        self._inner = inner
        self._rate, self._seed = rate, seed

    def __getattr__(self, name: str) -> Any:
        # forward optional attributes (flush, close, snapshot, concurrent_reads ...) only if the inner system has them
        if name == "_inner":  # not set yet: copying or unpickling must not recurse
            raise AttributeError(name)
        return getattr(self._inner, name)

    def _hit(self, key: str) -> bool:
        """Return whether this key fails; depends only on seed and key."""
        digest = hashlib.sha256(f"{self._seed}:{key}".encode("utf-8", "replace")).digest()
        return int.from_bytes(digest[:8], "big") < self._rate * 2**64

    def store_conversation(self, conversation: Conversation) -> Any:
        """Store the conversation."""
        return self._inner.store_conversation(conversation)

    def retrieve_memories(self, query: str, conversation: Conversation, k: int) -> Any:
        """Retrieve memories."""
        return self._inner.retrieve_memories(query, conversation, k)

    def get_all_memories(self) -> Any:
        """List all memories."""
        return self._inner.get_all_memories()

    def describe(self) -> Mapping[str, str]:
        """Return the description for the record."""
        inner = self._inner.describe() if hasattr(self._inner, "describe") else {}
        return {**inner, "wrapper": type(self).__name__.lower(), "rate": str(self._rate), "seed": str(self._seed)}


class Forgetful(Failing):
    """Drops conversations: `not_stored`."""

    def store_conversation(self, conversation: Conversation) -> Any:
        """Store the conversation unless it is selected to fail."""
        return None if self._hit(conversation.text) else super().store_conversation(conversation)


class Lossy(Failing):
    """Drops qualifying clauses, numbers and names: `summary_error`."""

    def store_conversation(self, conversation: Conversation) -> Any:
        """Store a careless summary of the conversation."""
        if self._hit(conversation.text):
            messages = tuple(replace(m, content=careless_summary(m.content)) for m in conversation.messages)
            conversation = replace(conversation, messages=messages)
        return super().store_conversation(conversation)


class Misdirected(Failing):
    """Ranks wrongly: `not_retrieved`."""

    def retrieve_memories(self, query: str, conversation: Conversation, k: int) -> Any:
        """Return the least relevant memories that the inner system can rank."""
        if not self._hit(query):
            return super().retrieve_memories(query, conversation, k)
        ranked = self._inner.retrieve_memories(query, conversation, MAX_K)
        return _last_awaited(ranked, k) if hasattr(ranked, "__await__") else _last(ranked, k)


async def _last_awaited(ranked: Any, k: int) -> list[Any]:
    return _last(await ranked, k)


def _last(ranked: Sequence[Any], k: int) -> list[Any]:
    return list(ranked)[-k:][::-1] if len(ranked) > k else []


_CONNECTIVES = (
    r"only (?:when|if|after|before|during|while|at|on|in|once|under|with)|except(?: when)?|unless|whenever|when|while|if|after|"
    r"before|during|until|once|because|since|as soon as|as long as|provided"
)
_CLAUSE = re.compile(rf",?\s*\b(?:{_CONNECTIVES})\b[^.!?;]*", re.IGNORECASE)
_OPENING = re.compile(rf"^(?:{_CONNECTIVES}|on|in|at|by)\b[^,.!?]*,\s*", re.IGNORECASE)
_HEDGED = re.compile(
    r"\b(?:usually|often|sometimes|typically|generally|mostly|tends?|seems?|rarely|always|those|these|such|that (?:sort|kind))\b",
    re.IGNORECASE,
)
_EXCLUSIVE = re.compile(
    r",?[^,.!?]*\b(?:no other|nothing else|nobody else|no later|no earlier)\b[^,.!?]*|"
    r"\b(?:alone|strictly|solely|exclusively|purely|never but|nothing but|none but|only)\b ?",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\b(?:\d+(?:[.,:/-]\d+)*(?:st|nd|rd|th|%|\s?°\w?)?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|"
    r"fifteen|twenty|thirty|forty|fifty|hundred)\b[ -]?",
    re.IGNORECASE,
)
_NAME = re.compile(r"(\b[a-z][\w'’-]*,? )[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)*")  # within a sentence
_LINKING: Final = frozenset(
    "a an the i my me we our you your it its he his him she her they their them is are was were be been am do does did to of "
    "that this which and or but so then when whenever if after before because since while as by for with in on at from into "
    "makes make made gives give leads lead causes cause helps help lets let gets get prompts prompt puts put leaves leave "
    "keeps keep sends send brings bring has have starts start always often usually only".split()
)


def careless_summary(text: str) -> str:
    """Return the text without its qualifying clauses, numbers and names; reduce a single statement to keywords.

    >>> careless_summary("Ada bakes rye bread only when it rains. She owns 3 ovens, all named.")
    'Ada bakes rye bread. She owns ovens, all named.'
    >>> careless_summary("Rain makes me bake rye bread.")
    'bake rye bread, Rain'
    """
    sentences = after_stops(text.strip())
    if len(sentences) == 1:
        return _keywords(sentences[0])
    return " ".join(filter(None, map(_shortened, sentences)))


def _shortened(sentence: str) -> str:
    short = _CLAUSE.sub("", _OPENING.sub("", _EXCLUSIVE.sub("", sentence)))
    if len(short.split()) < 3 or _HEDGED.search(short):
        return ""
    parts = short.split(",")
    short = parts[0] if len(parts) > 2 else short  # keep the first item of a list
    short = _NAME.sub(r"\1someone", _NUMBER.sub("", short))
    short = " ".join(short.split()).rstrip(",;:.!?")
    return short[:1].upper() + short[1:] + "."


def _keywords(statement: str) -> str:
    """Return the statement without linking words, its word groups sorted: their relation is lost."""
    groups: list[list[str]] = [[]]
    for word in re.findall(r"[\w'’-]+", _NUMBER.sub("", statement)):
        if word.casefold() not in _LINKING:
            groups[-1].append(word)
        elif groups[-1]:
            groups.append([])
    return ", ".join(sorted((" ".join(group) for group in groups if group), key=str.casefold))


class FailingFactory:
    """Create wrappers; `make` returns the factory of an inner system by name."""

    def __init__(self, kind: type[Failing], make: Make) -> None:
        self._kind, self._make = kind, make

    def __call__(self, context: SystemContext) -> Failing:
        """Create a wrapper around a new inner system."""
        inner, rate, seed, rest = self._read(context.options)
        return self._kind(inner(replace(context, options=rest)), rate, seed)

    def check_options(self, options: Mapping[str, str]) -> None:
        """Raise `UsageError` for options out of range, an unknown inner system, or options that the inner system
        lacks.
        """
        inner, _, _, rest = self._read(options)
        if callable(check := getattr(inner, "check_options", None)):
            try:
                check(rest)
            except UnknownNameError as error:
                what = f"--memfail-system-option of {self._kind.__name__.lower()}"
                raise UnknownNameError(what, error.got, [*OWN_OPTIONS, *error.known]) from None

    def models(self, options: Mapping[str, str], default: str | None) -> Sequence[str]:
        """Return the models of the inner system."""
        inner, _, _, rest = self._read(options)
        named = getattr(inner, "models", None)
        return list(named(rest, default)) if callable(named) else []

    def calls_model(self, options: Mapping[str, str]) -> bool:
        """Return whether the inner system may ask a model."""
        inner, _, _, rest = self._read(options)
        calls = getattr(inner, "calls_model", True)
        return bool(calls(rest)) if callable(calls) else calls is not False

    def _read(self, options: Mapping[str, str]) -> tuple[Callable[[SystemContext], Any], float, int, dict[str, str]]:
        rate = _number(options, "rate", 1.0)
        if not 0 <= rate <= 1:
            raise UsageError(f"--memfail-system-option rate: got {rate:g}, expected a share between 0 and 1")
        seed = _number(options, "seed", 0)
        if not seed.is_integer():
            raise UsageError(f"--memfail-system-option seed: got {options['seed']!r}, expected a whole number")
        rest = {name: value for name, value in options.items() if name not in OWN_OPTIONS}
        return self._make(options.get("inner", "bm25")), rate, int(seed), rest


def _number(options: Mapping[str, str], name: str, default: float) -> float:
    got = options.get(name, default)
    try:
        return float(got)
    except ValueError:
        raise UsageError(f"--memfail-system-option {name}: got {got!r}, expected a number") from None
