"""How texts are read: normalised, split into sentences, folded into tokens, with the quantities that they state."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, NamedTuple
from unicodedata import combining, normalize

from pytest_memfail.judges.rules.irregular import IRREGULAR
from pytest_memfail.judges.rules.words import NUMBERS, PHRASES, STOP, SYNONYMS, WEAK, WEAK_WEIGHT

MAX_SENTENCE: Final = 60
"""Longer stretches without a full stop are cut: a detail has to stand in one place."""

SOURCE: Final = 4000
"""Texts of up to so many characters may be an evidence's, which is read more than once."""
CHARACTERS: Final = str.maketrans(
    {
        "’": "'",
        "‘": "'",
        "ʼ": "'",
        "`": "'",
        "“": '"',
        "”": '"',
        "–": "-",
        "—": " - ",
        "‑": "-",
        "\u00a0": " ",
        "º": "°",
    }
)
ABBREVIATIONS: Final = re.compile(r"\b(a|p)\. ?m\b\.?", re.IGNORECASE)
TITLES: Final = re.compile(r"\b(Mr|Mrs|Ms|Dr|St|Prof|vs|e\.g|i\.e|etc|approx|min|hrs?)\.(?= )", re.IGNORECASE)
BREAKS: Final = re.compile(r"(?<=[.!?…])[\"')\]]*\s+|(?<=[.!?])(?=[A-Z][a-z])|[\n\r;•|]+|\s-\s(?=[A-Z*])|\s\*\s")
WORD: Final = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:'[^\W\d_]+)*", re.UNICODE)
LINES: Final = re.compile(r"[\n\r]+")
LIST_NUMBER: Final = re.compile(r"^\s*(?:\d{1,3}[.)]|[-*#>]+)\s+")
STAMP: Final = re.compile(
    r"[\[(]?\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?\b[\])]?:?|^\s*\[\d\d:\d\d\]"
)
ROLE: Final = re.compile(r"^\s*(?:user|assistant|human|ai|system|speaker)\s*:\s*", re.IGNORECASE)
_PHRASES: Final = tuple((part, re.compile(pattern, re.IGNORECASE), word) for part, pattern, word in PHRASES)
_SPOKEN: Final = {"five": 5, "ten": 10, "quarter": 15, "twenty": 20, "twenty-five": 25, "half": 30}
_HOUR: Final = r"(one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|1[0-2]|[1-9])\b(?![:\d])"
SPOKEN_TIME: Final = re.compile(
    rf"\b(?:(?:a )?(five|ten|quarter|twenty|twenty-five|half)(?: minutes)? (past) {_HOUR}"
    rf"|(?:a )?(quarter|twenty|twenty-five) (to) {_HOUR}"
    rf"|(?<=at )(five|ten) (to) {_HOUR})",
    re.IGNORECASE,
)
"""Five to ten may as well be a range."""
_SPOKEN_TIME: Final = re.compile(SPOKEN_TIME.pattern)
THOUSANDS: Final = re.compile(
    r"(?<![\w.,])(\d+(?:\.\d+)?)k(?= (?!(?:runs|races|jogs|walks|hikes|swims|loops|courses|rides|finishers"
    r"|videos|screens|monitors|displays)\b)[a-z]+s\b)",
    re.IGNORECASE,
)
"""Of things that are counted: a 5k is a race, and 4k a screen."""
MOST_THOUSANDS: Final = 1000.0
_TITLES: Final = re.compile(TITLES.pattern.lower())


class Word(NamedTuple):
    """One word as it stands in a text."""

    surface: str
    lower: str
    key: str
    """Folded: inflection and simple synonyms removed, number words as digits; empty for words without content."""
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence, clause or list item."""

    text: str
    words: tuple[Word, ...]
    keys: frozenset[str]
    lowers: frozenset[str]
    capitals: frozenset[str]
    """Capitalised words, in lower case, without a possessive."""
    starts_turn: bool
    """Whether a new message or paragraph begins here: nothing before it explains its pronouns."""
    aliased: frozenset[str] = frozenset()
    """Those of the keys that stand here by a synonym only."""

    def __hash__(self) -> int:
        return hash(self.text)

    def with_keys(self, alias: Mapping[str, str]) -> Sentence:
        """The same sentence, with other keys in place of those that are named."""
        held = self.keys & alias.keys()
        words = tuple(
            Word(w.surface, w.lower, alias[w.key], w.start, w.end) if w.key in held else w for w in self.words
        )
        keys = (self.keys - held).union(alias[key] for key in held)
        return replace(self, words=words, keys=keys, aliased=keys - self.keys)


def plain(text: str) -> str:
    """The text with typographic characters made plain and times of day in one spelling."""
    text = text.translate(CHARACTERS)
    lower = text.casefold()  # a look for what a pattern cannot do without spares most texts most patterns
    if "k " in lower:
        text = THOUSANDS.sub(_in_full, text)
    if ".m" in lower or ". m" in lower:
        text = ABBREVIATIONS.sub(_half_of_day, text)
    for part, pattern, word in _PHRASES:
        if part in lower:
            text = pattern.sub(word, text)
    spoken = (" past " in text or " to " in text) and _SPOKEN_TIME.search(text.lower())
    return SPOKEN_TIME.sub(_written_time, text) if spoken else text


def _in_full(match: re.Match[str]) -> str:
    """So many thousands in digits: 2.5k words are 2500 words."""
    return f"{float(match[1]) * 1000:g}" if float(match[1]) < MOST_THOUSANDS else match[0]


def _half_of_day(match: re.Match[str]) -> str:
    """The half of the day that an hour is in, or, without an hour, the morning: a.m. yoga."""
    before = match.string[: match.start()].split()[-1:]
    timed = any(word[-1:].isdigit() or word.casefold() in NUMBERS for word in before)
    return "morning" if match[1] in "aA" and not timed else match[1].lower() + "m"


def _written_time(match: re.Match[str]) -> str:
    """A spoken time in digits: ten past six is 6:10."""
    spoken, side, named = (group.casefold() for group in match.groups() if group)
    minutes = _SPOKEN[spoken]
    hour = int(named) if named.isdigit() else NUMBERS[named]
    if side == "to":
        hour, minutes = hour - 1 or 12, 60 - minutes
    return f"{hour}:{minutes:02d}"


@lru_cache(maxsize=65536)
def fold(word: str) -> str:
    """The key of a lower-case word: what its inflections and simple synonyms have in common.

    >>> fold("writes") == fold("wrote") == fold("writing")
    True
    """
    if not word.isascii():  # façade, café: as they are typed in haste
        word = "".join(c for c in normalize("NFKD", word) if not combining(c)) or word
    if word in NUMBERS:
        return str(NUMBERS[word])
    if word[0].isdigit():
        return _digits(word)
    stem = _stem(IRREGULAR.get(word, word))
    return _CANON.get(stem, stem)


def _digits(word: str) -> str:
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+", word):
        word = word.replace(",", "")
    if "." in word and word.count(".") == 1:
        word = word.rstrip("0").rstrip(".")
    return word


_PLURALS: Final = (
    ("eaus", "eau"),
    ("ies", "y"),
    ("sses", "ss"),
    ("xes", "x"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("es", "e"),
    ("s", ""),
)
_ENDINGS: Final = (
    ("ational", "ate"), ("ization", "ize"), ("isation", "ize"), ("fulness", "ful"), ("ousness", "ous"), ("iveness", "ive"),
    ("ingly", ""), ("edly", ""), ("ically", "ic"), ("ation", "ate"), ("ably", "able"), ("ness", ""), ("ment", ""),
    ("ied", "y"), ("ying", "y"), ("ing", ""), ("ed", ""), ("ly", ""),
)  # fmt: skip
_VOWELS: Final = frozenset("aeiouy")


def _stem(word: str) -> str:
    word = word.removesuffix("'s").removesuffix("'")
    if len(word) <= 3 or not word.isascii():
        return word
    for ending, replacement in _PLURALS:
        if word.endswith(ending):
            base = word[: len(word) - len(ending)]
            if len(base + replacement) >= 3 and not (ending == "s" and base[-1] in "su") and _VOWELS & set(base):
                word = base + replacement
            break
    word = IRREGULAR.get(word, word)
    for ending, replacement in _ENDINGS:
        if word.endswith(ending):
            base = word[: len(word) - len(ending)]
            if len(base) < (4 if ending == "ly" else 3) or not _VOWELS & set(base):
                continue
            if (
                ending in ("ing", "ed", "ingly", "edly")
                and len(base) > 3
                and base[-1] == base[-2]
                and base[-1] not in "sl"
            ):
                base = base[:-1]
            elif (
                ending in ("ing", "ed")
                and len(base) == 3
                and base[1] in "aeiou"
                and base[0] not in "aeiou"
                and base[2] not in "aeiouwxy"
            ):
                base += "e"  # a short verb that does not double its last letter has lost an e: coding, hiked
            word = base + replacement
            break
    if len(word) > 5 and word.endswith(("ion", "ive")):
        word = word[:-3]
    if len(word) > 4 and word.endswith("e"):
        word = word[:-1]
    if len(word) > 4 and word.endswith("y"):
        word = word[:-1] + "i"
    return word


_CANON: Final[dict[str, str]] = {}
for _group in SYNONYMS:
    _first = _stem(IRREGULAR.get(_group[0], _group[0]))
    for _word in _group:
        _CANON.setdefault(_stem(IRREGULAR.get(_word, _word)), _first)

_WEAK_KEYS: Final = frozenset(fold(word) for word in WEAK)


def weight(key: str) -> float:
    """How much a content key tells: weak words half, numbers and the rest one."""
    return WEAK_WEIGHT if key in _WEAK_KEYS else 1.0


def weigh(keys: frozenset[str]) -> float:
    """How much the keys tell together."""
    return len(keys) - (1.0 - WEAK_WEIGHT) * len(keys & _WEAK_KEYS)


_made: Final = tuple.__new__


def words_of(text: str) -> tuple[Word, ...]:
    """The words of an already plain text, with their keys."""
    # Made without a call for each of its fields: this is most of what the reading of a store costs.
    return tuple([_made(Word, _read(match[0]) + match.span()) for match in WORD.finditer(text)])


@lru_cache(maxsize=65536)
def _read(surface: str) -> tuple[str, str, str]:
    """The word as it stands there, in lower case, and its key."""
    lower = surface.casefold() or surface
    if lower.endswith("n't") or lower in STOP or (len(lower) == 1 and not lower.isdigit()):
        return surface, lower, ""
    bare = lower.split("'")[0] if "'" in lower else lower
    return surface, lower, "" if bare in STOP else fold(bare or lower)


@lru_cache(maxsize=1024)
def sentences_of(text: str) -> tuple[Sentence, ...]:
    """The sentences of a text of the evidence's, read again and again; a line is never part of the one before it."""
    return _sentences_of(text)


def _sentences_of(text: str) -> tuple[Sentence, ...]:
    found = []
    text = plain(text)
    if "-" in text or "[" in text:
        text = STAMP.sub(" ", text)
    for number, line in enumerate(LINES.split(text)):
        turn = number == 0
        if ":" in line and (role := ROLE.match(line)):
            turn, line = True, line[role.end() :]
        line = LIST_NUMBER.sub("", line, count=1)
        for part in BREAKS.split(TITLES.sub(r"\1", line) if _TITLES.search(line.lower()) else line):
            part = part.strip()  # so that words know their place in the sentence's text
            words = words_of(part)
            for at in range(0, len(words), MAX_SENTENCE):
                some = words[at : at + MAX_SENTENCE]
                piece = part if len(words) <= MAX_SENTENCE else part[some[0].start : some[-1].end]
                found.append(_sentence(piece, some if piece is part else words_of(piece), turn))
                turn = False
    return tuple(found)


def _sentence(text: str, words: tuple[Word, ...], turn: bool) -> Sentence:
    capitals = frozenset(w.lower.removesuffix("'s") for w in words if w.surface[0].isupper())
    if capitals and text[0].islower() and all(w.surface.isupper() for w in words if w.surface[0].isupper()):
        capitals = frozenset()  # a note in lower case may have an LP in it
    return Sentence(
        text.strip(), words, frozenset(w.key for w in words if w.key), frozenset(w.lower for w in words), capitals, turn
    )


class TextCache:
    """Sentences by text, bounded by the number of characters held."""

    def __init__(self, limit: int = 4_000_000) -> None:
        self._limit = limit
        self._held = 0
        self._texts: OrderedDict[str, tuple[Sentence, ...]] = OrderedDict()

    def sentences(self, text: str) -> tuple[Sentence, ...]:
        """The sentences of the text, read once."""
        known = self._texts.get(text)
        if known is not None:
            self._texts.move_to_end(text)
            return known
        read = sentences_of(text) if len(text) <= SOURCE else _sentences_of(text)
        self._texts[text] = read
        self._held += len(text) + 1
        while self._held > self._limit and len(self._texts) > 1:
            old, _ = self._texts.popitem(last=False)
            self._held -= len(old) + 1
        return read
