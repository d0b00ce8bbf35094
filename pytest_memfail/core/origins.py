"""Find which conversations each entry of a listing came from: the one rule for failures, the page and clues."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from pytest_memfail.core.model import Conversation, Fact, Listing, Memory, Origin, Origins, Session
from pytest_memfail.core.times import moment_of
from pytest_memfail.core.verdict import Kept
from pytest_memfail.texts import sentences, word_set

ENOUGH: Final = 0.4
"""The share of the weight of an entry's rare words, or of a conversation's, that the other must hold."""
CLEAR: Final = 0.2
"""The same, for an entry that no other conversation has half as much in common with."""
RARE: Final = 0.1
"""The largest share of the conversations that a rare word occurs in."""
_MARK: Final = re.compile(r"[^A-Za-z0-9]")
MOST_TEXTS: Final = 2
"""How many of the entries of a conversation are shown with a fact that is not stored."""


def find_origins(
    memories: Sequence[Memory],
    conversations: Sequence[Conversation],
    extracted: Mapping[str, Sequence[Memory]],
    earlier: Listing | None = None,
) -> Origins:
    """Return which of the stored conversations each entry came from.

    The ids that the system gives count first, then what it said that a conversation added, its times, and last the rare words
    in common. An entry of the `earlier` listing keeps its origin: no later conversation can have made it.
    """
    known = {}
    if earlier is not None and earlier.origins is not None:
        known = {_key(memory): origin for memory, origin in zip(earlier.memories, earlier.origins.of, strict=True)}
    said = _Conversations(conversations)
    keys, added = _id_keys(memories, said.numbers), _by_extraction(extracted, said.numbers)
    found, words = [], [word_set(memory.text) for memory in memories]
    for memory, own in zip(memories, words, strict=True):
        sure = _by_id(memory, keys, said.numbers) or added.get(memory.id or "") or added.get(memory.text)
        found.append(Origin(sure) if sure else known.get(_key(memory)) or said.origin_of(memory, own))
    kept: list[set[str]] = [set() for _ in conversations]
    for origin, own in zip(found, words, strict=True):
        for number in origin.conversations:
            kept[number] |= own
    sessions = []
    for one, said_words, left in zip(conversations, said.words, kept, strict=True):
        share = round(len(said_words & left) / (len(said_words) or 1), 3)
        sessions.append(Session(one.id, len(one.text), share, one.began.isoformat() if one.began else None))
    return Origins(tuple(sessions), tuple(found))


def said_entries(
    memories: Sequence[Memory], conversations: Iterable[Conversation], origins: Origins
) -> tuple[bool, ...]:
    """Return for each entry whether each of its sentences was said, word for word, in a conversation that it came from."""
    said = {one.id: one.text for one in conversations}
    texts = [said.get(session.id, "") for session in origins.sessions]
    return tuple(
        _is_said(memory.text, [texts[at] for at in origin.conversations])
        for memory, origin in zip(memories, origins.of, strict=True)
    )


def _is_said(entry: str, texts: Sequence[str]) -> bool:
    """Return whether each sentence of an entry is in one of the texts, perhaps without the name before it."""
    if any(entry in text for text in texts):
        return True
    forms = ({sentence, sentence.partition(": ")[2] or sentence} for sentence in sentences(entry))
    return all(any(form in text for form in of for text in texts) for of in forms)


def kept_of(fact: Fact, listing: Listing) -> Kept | None:
    """Return what the store kept of the conversation of a fact; None if that is unknown."""
    memories, origins = listing.memories, listing.origins
    entries = None if origins is None else origins.entries_of(fact.conversation_id)
    if origins is None or entries is None:
        return None
    wanted = word_set(fact.text)
    nearest = sorted(entries, key=lambda at: -len(wanted & word_set(memories[at].text)))[:MOST_TEXTS]
    # without an id, an entry in other words may still be of it
    is_likely = any(origins.of[at].is_likely for at in entries or range(len(memories)))
    return Kept(tuple(entries), tuple(memories[at].text for at in nearest), is_likely)


def _key(memory: Memory) -> tuple[str, str | None, str | None]:
    return memory.text, memory.id, memory.timestamp


class _Conversations:
    """Stored conversations, and the words in which they differ."""

    def __init__(self, conversations: Sequence[Conversation]) -> None:
        self.numbers = {one.id: i for i, one in enumerate(conversations)}
        self.words = [word_set(one.text) for one in conversations]
        self._conversations = conversations
        places: dict[str, list[int]] = {}
        for i, words in enumerate(self.words):
            for word in words:
                places.setdefault(word, []).append(i)
        n, most = len(conversations), max(2, RARE * len(conversations))
        self._common = {word for word, where in places.items() if len(where) > most} if n > 2 else set()
        self._places = {word: where for word, where in places.items() if word not in self._common}
        self._weights = {word: math.log(1 + n / len(where)) for word, where in self._places.items()}
        self._unknown = math.log(1 + 2 * n)
        """The weight of a word that no conversation has."""
        self._totals = [sum(self._weights.get(word, 0.0) for word in words) for words in self.words]
        self._moments: dict[datetime | None, set[int]] = {}
        self._messages: dict[str, dict[int, None]] = {}
        for i, one in enumerate(conversations):
            for message in one.messages:
                self._messages.setdefault(message.content, {})[i] = None
            for when in {one.timestamp, *(message.timestamp for message in one.messages)} - {None}:
                self._moments.setdefault(when, set()).add(i)

    def origin_of(self, memory: Memory, words: set[str]) -> Origin:
        """Return the conversations that an entry came from by its time and its words; none if they share too little."""
        if memory.text in self._messages:
            return Origin(tuple(self._messages[memory.text]))
        left = words - self._common
        total = sum(self._weights.get(word, self._unknown) for word in left)
        found: list[int] = []
        is_likely = False
        while scores := self._scores(left):
            best = max(scores.values())
            # one moment may be that of another conversation by chance
            same_time = self._moments.get(moment_of(memory.timestamp), set()) if memory.timestamp else set()
            timed = [i for i in same_time & scores.keys() if not found and 2 * scores[i] >= best]
            chosen = timed or [i for i, score in scores.items() if score == best]
            second = max((score for score in scores.values() if score < best), default=0.0)
            needed = CLEAR if not found and best > 2 * second else ENOUGH
            if not timed and best < needed * total and best < ENOUGH * self._totals[chosen[0]]:
                break
            is_likely |= len(timed) != 1 and not any(_is_verbatim(memory.text, self._conversations[i]) for i in chosen)
            found += [i for i in chosen if i not in found]
            left = left.difference(*(self.words[i] for i in chosen))
        return Origin(tuple(found), is_likely or not found)

    def _scores(self, words: Iterable[str]) -> dict[int, float]:
        """Return the weight of the words that each conversation has of these, without those that have none."""
        scores: dict[int, float] = {}
        for word in words:
            for i in self._places.get(word, ()):
                scores[i] = scores.get(i, 0.0) + self._weights[word]
        return scores


def _is_verbatim(text: str, conversation: Conversation) -> bool:
    return any(said and (said in text or text in said) for said in (one.content for one in conversation.messages))


def _by_id(memory: Memory, keys: Iterable[str], numbers: Mapping[str, int]) -> tuple[int, ...]:
    """Return the conversations whose ids an entry has in its metadata or, perhaps with a suffix, as its own id."""
    own = memory.id or ""
    names = [
        *(memory.metadata.get(key, "") for key in keys),
        own,
        *(own[: mark.start()] for mark in _MARK.finditer(own)),
    ]
    return tuple(dict.fromkeys(numbers[name] for name in names if name in numbers))


def _id_keys(memories: Sequence[Memory], numbers: Mapping[str, int]) -> list[str]:
    """Return the keys of metadata all of whose values are ids of conversations."""
    values: dict[str, set[str]] = {}
    for memory in memories:
        for key, value in memory.metadata.items():
            values.setdefault(key, set()).add(value)
    return [key for key, some in values.items() if some - {""} and some - {""} <= numbers.keys()]


def _by_extraction(extracted: Mapping[str, Sequence[Memory]], numbers: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """Return the conversations that added an entry, as the system says, by its text and by its id."""
    found: dict[str, set[int]] = {}
    for name, memories in extracted.items():
        for memory in memories if name in numbers else ():
            for key in {memory.text, memory.id or memory.text}:
                found.setdefault(key, set()).add(numbers[name])
    return {key: tuple(sorted(some)) for key, some in found.items()}
