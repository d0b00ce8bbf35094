"""Entries: what a memory system returns becomes memories; whether a listing holds one, and whether their times are right."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from pytest_memfail.core.days import has_moment
from pytest_memfail.core.errors import MemorySystemError, WrongTypeError, one_line
from pytest_memfail.core.model import MAX_K, Fact, Listing, Memory
from pytest_memfail.core.times import moment_of
from pytest_memfail.core.verdict import StageResult
from pytest_memfail.texts import word_set

TEXT_NAMES: Final = ("text", "memory", "content", "page_content")
TIME_NAMES: Final = ("timestamp", "created_at")
EXPECTED: Final = "expected a list of strings, of mappings with a 'text', or of objects with a .text"
SAME: Final = 0.8
"""Share of an entry's words that another must contain to count as the same entry with a prefix or changed punctuation."""
MOST_CHARACTERS: Final = 10_000_000
"""The longest entry that is counted and judged, which takes seconds for each million."""
WRONG_TIME: Final = "wrong_time"
"""The label of a fact whose entries put the earlier state last."""
DATE_LOST: Final = "date_lost"
"""The label of a fact whose entries do not say when it was, although a right answer needs that."""
LEAST_CHARACTERS: Final = 20
"""Shorter texts may be alike by chance."""
MOST_ADDED: Final = 40
"""How many characters a search may add to an entry that is shorter: a role, a time."""
LISTED, SHOWN = "listed", "shown"
"""Which of two texts of an entry is only a part."""
DOTS: Final = ("...", "…", "...]", "…]")


def memories_of(value: object, method: str) -> tuple[Memory, ...]:
    """Convert the value that `method` returned to memories.

    Raises `WrongTypeError` naming the method, the type got and the type expected, and `MemorySystemError` for an entry that is
    too long to be judged.
    """
    if value is None or isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise WrongTypeError(f"{method}() returned {_kind(value)}; {EXPECTED}")
    memories = tuple(_memory(entry, i, method) for i, entry in zip(range(MAX_K + 1), value, strict=False))
    if len(memories) > MAX_K:
        raise WrongTypeError(f"{method}() returned more than {MAX_K:,} entries; expected a list that ends")
    for i, memory in enumerate(memories):
        if len(memory.text) > MOST_CHARACTERS:
            raise MemorySystemError(
                f"{method}() returned an entry of {len(memory.text):,} characters at index {i}; expected at most "
                f"{MOST_CHARACTERS:,}: split it, for example into paragraphs"
            )
    return memories


def _memory(entry: object, i: int, method: str) -> Memory:
    if isinstance(entry, str):
        return Memory(_shared(entry))

    def get(*names: str) -> Any:
        """Return the first of these fields that the entry has; None if it has none."""
        values = (entry.get(name) if isinstance(entry, Mapping) else getattr(entry, name, None) for name in names)
        return next((value for value in values if value is not None), None)

    text = get(*TEXT_NAMES)
    if not isinstance(text, str):
        what = _kind(entry) if text is None else f"an entry whose text is {_kind(text)}"
        raise WrongTypeError(f"{method}() returned {what} at index {i}; {EXPECTED}")
    identity, score, metadata, when = get("id"), get("score"), get("metadata"), get(*TIME_NAMES)
    return Memory(
        _shared(text),
        None if identity is None else str(identity),
        _score(score, i, method),
        when.isoformat() if isinstance(when, datetime) else None if when is None else str(when),
        {str(k): str(v) for k, v in metadata.items()} if isinstance(metadata, Mapping) else {},
    )


def _shared(text: str) -> str:
    """Return the one copy of a text: many questions show the same entry, and a run keeps all its questions in memory."""
    return sys.intern(text) if type(text) is str else text


def _score(score: Any, i: int, method: str) -> float | None:
    if score is None:
        return None
    try:
        number = float(score)  # numpy's scalars too
    except (TypeError, ValueError, OverflowError):
        raise WrongTypeError(
            f"{method}() returned the score {one_line(repr(score), 40)} at index {i}; expected a number (higher is better) "
            "or None"
        ) from None
    # a score that is not finite counts as no score: it ranks nothing, and JSON cannot hold it
    return number if math.isfinite(number) else None


def _kind(value: object) -> str:
    name = type(value).__qualname__
    value = value[:60] if isinstance(value, (str, bytes)) else value  # a whole store, perhaps
    return name if value is None or name == "coroutine" else f"{name} {one_line(repr(value), 60)}"


def is_listed(memory: Memory, listing: Listing) -> bool:
    """Return whether the listing holds a retrieved entry: by id, by text, as a part of it, or by most of its words.

    Systems add prefixes, and join entries.
    """
    texts, ids = _texts_and_ids(listing)
    if memory.id in ids or memory.text in texts or _visible(memory.text, listing):
        return True
    return any(text in memory.text for text in texts if len(text) >= LEAST_CHARACTERS)


def abbreviated(shown: Iterable[Memory], listing: Listing) -> Iterator[str]:
    """Yield, for each entry shown whose id is listed, which text seems to be a part of the other: `listed`, `shown`, or empty.

    A part ends with dots or within a word; one that is listed may also be less than half of the text shown.
    """
    texts, listed = _texts_and_ids(listing)
    for memory in shown:
        if memory.id in listed:
            one, whole = memory.text, listed[memory.id]
            is_shorter = _is_cut(whole, one) or len(one) > 2 * len(whole) + MOST_ADDED
            yield "" if one in texts else LISTED if is_shorter else SHOWN if _is_cut(one, whole) else ""


def _is_cut(part: str, whole: str) -> bool:
    begin, rest = part.rstrip(" .…[]"), whole[len(part) :] if whole.startswith(part) else None
    if part.endswith(DOTS) and rest is None and whole.startswith(begin) and len(whole) > len(begin):
        return True
    return rest is not None and part[-1:].isalnum() and rest[:1].isalnum()


def in_time(fact: Fact, summary: StageResult, listing: Listing) -> StageResult:
    """Return the passed summary stage of a fact, failed if the entries have wrong times or none that the answer needs."""
    if (fault := wrong_times(fact, listing)) is not None:
        return replace(summary, outcome="failed", reason=fault, confidence=1.0, label=WRONG_TIME, estimated=False)
    return with_day(fact, summary, listing.memories)


def with_day(fact: Fact, result: StageResult, memories: Sequence[Memory]) -> StageResult:
    """Return a passed stage of a fact, failed if the memories that hold it do not say when it was, and the answer needs that."""
    moment, held = fact.claim.moment, [memories[at] for at in result.entries if at < len(memories)]
    if moment is None or not held or has_moment(moment, held):
        return result
    times = one_line(", ".join(dict.fromkeys(memory.timestamp for memory in held if memory.timestamp)), 80)
    fault = f"no entry that holds it says when it was: said on {moment.day}, got {times or 'no timestamp'}"
    return replace(result, outcome="failed", reason=fault, confidence=1.0, label=DATE_LOST, estimated=False)


def wrong_times(fact: Fact, listing: Listing) -> str | None:
    """Return how the times of entries order a fact's earlier and current state wrongly; None if they do not, or have none."""
    claim = fact.claim
    if not claim.is_dated or claim.earlier is None:
        return None
    mine = word_set(fact.text)
    replaced = [" ".join(word_set(value) - mine) or value for value in claim.replaced]
    old = _last(listing, claim.earlier, replaced, fact.source)
    current = [text for text in claim.texts("core") if text != fact.text] or [
        wording for part in claim.listed for wording in part.wordings
    ]
    told = (
        _last(listing, said, () if claim.has_ended else current, claim.earlier) for said in (fact.source, fact.text)
    )
    new = max(filter(None, told), default=None)
    if old is None or new is None or new[0] > old[0]:
        return None
    return f"its times put the earlier state last: {old[1]} for the earlier, {new[1]} for the current one"


def _last(listing: Listing, said: str, values: Sequence[str], other: str) -> tuple[datetime, str] | None:
    """Return the last time of the entries that hold a statement and one of its values, and not the other statement."""
    wanted, others = _long(word_set(said)), _long(word_set(other))
    found = []
    for memory, words in zip(listing.memories, _words_of(listing), strict=True):
        if 2 * len(wanted & words) <= len(wanted) or (
            others and 2 * len((others - wanted) & words) > len(others - wanted)
        ):
            continue
        if (not values or any(word_set(value) <= words for value in values)) and (when := moment_of(memory.timestamp)):
            found.append((when, str(memory.timestamp)))
    return max(found, default=None)


def _long(words: set[str]) -> set[str]:
    return {word for word in words if len(word) > 3} or words


def _visible(text: str, listing: Listing) -> bool:
    wanted = word_set(text)
    need = SAME * len(wanted)
    return bool(wanted) and any(len(wanted & words) >= need for words in _words_of(listing))


@lru_cache(maxsize=8)
def _words_of(listing: Listing) -> list[set[str]]:
    return [word_set(memory.text) for memory in listing.memories]


@lru_cache(maxsize=8)
def _texts_and_ids(listing: Listing) -> tuple[frozenset[str], dict[str | None, str]]:
    """Return the texts of a listing, and the longest by each id."""
    by_length = sorted((memory for memory in listing.memories if memory.id is not None), key=lambda m: len(m.text))
    return frozenset(memory.text for memory in listing.memories), {memory.id: memory.text for memory in by_length}
