"""What a store kept of each conversation that it was told: the entries, sentences and kinds of words that are left of it."""

from __future__ import annotations

from bisect import bisect, insort
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from os.path import commonprefix
from typing import Final
from unicodedata import category

from pytest_memfail.core.days import MONTHS, WEEKDAYS
from pytest_memfail.core.model import Conversation, Fact, Listing, Memory
from pytest_memfail.texts import NEGATIONS, STOP_WORDS, Term, content, sentences, terms

DIGITS, NUMBER_NAMES, DATES, NAMES, NEGATED = "digits", "number words", "months and weekdays", "names", "negations"
CONDITIONS, ACCENTED, LONG, OTHERS = "conditions", "letters and signs outside ASCII", "long words", "other words"
KINDS: Final = (DIGITS, NUMBER_NAMES, DATES, NAMES, NEGATED, CONDITIONS, ACCENTED, LONG)
"""The kinds of words that a system may treat in its own way."""
LONG_WORD: Final = 10
"""The least letters of a long word."""
_CONDITIONS: Final = frozenset(
    "only unless except until if when whenever provided before after during below above between while once".split()
)
_DATES: Final = frozenset(
    [*WEEKDAYS, "january february march april june july august september october november december"]
)
_MONTHS: Final = frozenset(MONTHS)
KEPT_SHARE: Final = 0.8
"""The share of a sentence's words that the entries must contain for the sentence to count as kept."""
SAME_START: Final = 12
"""Conversations that start with fewer equal characters are different."""
TURN: Final = "|"
"""Separates messages in `Told.sentences`."""


@dataclass(frozen=True, slots=True)
class Told:
    """A conversation that a store was told, and what the store holds of it."""

    id: str
    characters: int
    roles: str = "u"
    """The first letter of the role of each message."""
    time: str | None = None
    sentences: str = ""
    """For each sentence, `1` if the entries hold it, else `0`; `|` separates messages."""
    entries: tuple[int, ...] = ()
    """The entries that came from it, as indices of the store's last listing."""
    held: int = 0
    """Characters of the longest of these entries."""
    repeats: int = 0
    """How many of these entries have the text of another."""
    times: tuple[str, ...] = ()
    """The different timestamps of these entries."""
    words: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """By kind, how many words were told, and how many of them the entries hold; empty if they hold every message as it is."""
    strange: int = 0
    """How many names that it lacks these entries hold, without those that came from other conversations too."""
    is_lowered: bool = False
    """Whether the entries have no capital letter although it has some."""
    starts_like: int = 0
    """The number of characters with which an earlier conversation starts too."""
    facts: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """By the id of a fact, the first and the last sentence that states it."""
    lacks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By the id of a fact, the kinds of words that the entries lack of these sentences; empty if they lack none."""


def told_of(conversations: Sequence[Conversation], listing: Listing, facts: Iterable[Fact] = ()) -> tuple[Told, ...]:
    """Return what a listing holds of each of its conversations, in the order in which they were stored."""
    of: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        of[fact.conversation_id].append(fact)
    kept: dict[int, list[int]] = defaultdict(list)
    memories, origins = listing.memories, listing.origins
    if origins is None:
        return ()
    for place, origin in enumerate(origins.of):
        for number in origin.conversations:
            kept[number].append(place)
    shared = {place for place, origin in enumerate(origins.of) if len(origin.conversations) > 1}
    starts: dict[str, list[str]] = defaultdict(list)
    found = []
    for at, conversation in enumerate(conversations[: len(origins.sessions)]):
        text = conversation.text
        like = starts[text[:SAME_START]]
        # sorted texts, because the one that shares the longest start with another is beside it
        place = bisect(like, text)
        beside = like[max(0, place - 1) : place + 1]
        same = max((len(commonprefix((text, other))) for other in beside), default=0)  # noqa: RUF071 - texts, not paths
        insort(like, text)
        found.append(_told(conversation, kept[at], memories, of[conversation.id], same, shared))
    return tuple(found)


@lru_cache(maxsize=4)
def _places(listing: Listing) -> dict[str, int]:
    """Return the first place of each text and, with a mark before them, of each id."""
    found: dict[str, int] = {}
    for place, memory in enumerate(listing.memories):
        found.setdefault(memory.text, place)
        if memory.id is not None:
            found.setdefault(f"\0{memory.id}", place)
    return found


def places_in(listing: Listing, shown: Iterable[Memory]) -> tuple[int, ...]:
    """Return the place of each memory shown in the listing, by its id or else its text; -1 if the listing lacks it."""
    known = _places(listing)
    return tuple(known.get(f"\0{memory.id}", known.get(memory.text, -1)) for memory in shown)


def _told(
    conversation: Conversation,
    places: Sequence[int],
    memories: Sequence[Memory],
    facts: Sequence[Fact],
    same: int,
    shared: Collection[int],
) -> Told:
    own = [memories[place].text for place in places if place not in shared]
    texts = [memories[place].text for place in places]
    said = [sentences(message.content) for message in conversation.messages]
    joined = "\n".join(texts)
    is_whole = bool(texts) and all(message.content in joined for message in conversation.messages)
    held = {} if is_whole else Counter(word for text in dict.fromkeys(texts) for word, _ in _words(text))
    kept = TURN.join("".join("1" if is_whole or _holds(held, one) else "0" for one in turn) for turn in said)
    times = dict.fromkeys(str(memories[place].timestamp) for place in places if memories[place].timestamp is not None)
    every = [one for turn in said for one in turn]
    stated = {fact.id: _stated(fact, every) for fact in facts}
    lacking = None if is_whole or not texts else held
    return Told(
        conversation.id,
        len(conversation.text),
        "".join(message.role[0] for message in conversation.messages),
        conversation.began.isoformat() if conversation.began else None,
        kept,
        tuple(places),
        max(map(len, texts), default=0),
        len(texts) - len(set(texts)),
        tuple(times),
        {} if is_whole else _kinds_kept(every, held),
        0 if is_whole else _strange(every, own),
        bool(texts) and joined == joined.lower() and not is_whole and conversation.text != conversation.text.lower(),
        same,
        stated,
        {
            name: kinds
            for name, (first, last) in stated.items()
            if (kinds := _kinds_lacking(every[first : last + 1], lacking))
        },
    )


def _holds(held: Mapping[str, int], sentence: str) -> bool:
    wanted = content(sentence)
    return sum(word in held for word in wanted) >= KEPT_SHARE * len(wanted)


def _kinds_kept(said: Sequence[str], held: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    """Return, by kind, how many words were said and how many of them are held."""
    left = dict(held)
    counts: dict[str, list[int]] = {}
    for sentence in said:
        for word, kind in _words(sentence):
            if kind == OTHERS and word in STOP_WORDS:
                continue
            count = counts.setdefault(kind, [0, 0])
            count[0] += 1
            if left.get(word, 0):
                count[1] += 1
                left[word] -= 1
    return {kind: (told, kept) for kind, (told, kept) in counts.items()}


def _strange(said: Sequence[str], texts: Iterable[str]) -> int:
    """Return how many names in some texts were not said."""
    known = {word for sentence in said for word, _ in _words(sentence)}
    held = (pair for text in dict.fromkeys(texts) for sentence in sentences(text) for pair in _words(sentence))
    return sum(kind == NAMES and word not in known for word, kind in held)


def _kinds_lacking(said: Sequence[str], held: Mapping[str, int] | None) -> tuple[str, ...]:
    """Return the kinds of the words of some sentences that are not held; for `held=None`, none."""
    if held is None:
        return ()
    lost = {kind for sentence in said for word, kind in kinds_of(sentence).items() if word not in held}
    return tuple(kind for kind in KINDS if kind in lost)


def kinds_of(sentence: str) -> dict[str, str]:
    """Return the words of a sentence with their kinds."""
    return dict(_words(sentence))


def _words(sentence: str) -> Iterator[tuple[str, str]]:
    """Yield the words of a sentence with their kinds, and its signs outside ASCII, such as those of degrees and pounds."""
    for i, term in enumerate(terms(sentence)):
        yield term.word, _kind_of(term, sentence, is_first=i == 0)
    if not sentence.isascii():
        yield from ((sign, ACCENTED) for sign in sentence if sign > "~" and category(sign)[0] == "S")


def _kind_of(term: Term, sentence: str, *, is_first: bool = False) -> str:
    """Return the kind of a word of a sentence; the first one is no name for its capital letter."""
    word = term.word
    if word[0].isdigit() or word[:1] == "-":
        return DIGITS if word.lstrip("-")[:2] in sentence.replace(",", "") else NUMBER_NAMES
    if word in NEGATIONS:
        return NEGATED
    if word in _CONDITIONS:
        return CONDITIONS
    if term.is_name and (word in _DATES or word in _MONTHS):
        return DATES
    if not word.isascii():
        return ACCENTED
    if term.is_name and not is_first and word != "i" and not word.startswith("i'"):
        return NAMES
    return LONG if len(word) >= LONG_WORD else OTHERS


def _stated(fact: Fact, said: Sequence[str]) -> tuple[int, int]:
    """Return the first and the last sentence that states a part of a fact."""
    if len(said) < 2:
        return 0, 0
    claim = fact.claim
    parts = [part.wordings[0] for part in claim.listed] or list(claim.texts("core", "condition")) or [fact.text]
    best = [_place_of(part, said) for part in parts]
    return min(best), max(best)


def _place_of(part: str, said: Sequence[str]) -> int:
    """Return the first sentence that contains a part, or else that has the most of its words."""
    for place, sentence in enumerate(said):
        if part in sentence:
            return place
    wanted = content(part)
    return max(range(len(said)), key=lambda place: (len(wanted & content(said[place])), -place))
