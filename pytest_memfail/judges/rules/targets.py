"""A preference's name as it is looked for: its words, how loosely they are compared, and which of them it can be told without."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from pytest_memfail.judges.rules.lexicon import EMPTY, lookup
from pytest_memfail.judges.rules.text import Word, fold, plain, sentences_of
from pytest_memfail.judges.rules.variants import CARRIERS, GENERAL_HEADS, LIGHT, VARIANTS, WEIGHTY

PARTICLES: Final = frozenset("up out off in on down over".split())
LETTERS: Final = str.maketrans("łøđßæœ", "lodsao")
SPELLINGS: Final = tuple(
    (re.compile(british), american)
    for british, american in (
        (r"(?<=.)our", "or"),
        ("is$", "iz"),
        ("ogu$", "og"),
        ("(?<=[aeiou])ll", "l"),
        ("tr$", "ter"),
        ("(?<=..)(?:ier|iest|er|est)$", "i"),
    )
)
"""Regional spelling, and the ending of a comparative, brought to one form."""
SUFFIXES: Final = ("ism", "ist", "er", "or", "us", "ian", "i", "ie", "ing")
"""Endings by which words for a thing, the one who does it and its adjective differ."""
BESIDE_IT: Final = re.compile(r"(\w{3,})(?:side?|top|front|shore|land)")
CODE: Final = re.compile(r"\b(?:\d+[A-Za-z]{1,2}|[A-Za-z]\d+)\b")


@dataclass(frozen=True, slots=True)
class Part:
    """One word of a name."""

    key: str
    loose: str
    optional: bool
    """Whether the name can be told without it: a light verb, or a head that many names share."""


@dataclass(frozen=True, slots=True)
class Target:
    """A name as it is looked for."""

    text: str
    parts: tuple[Part, ...]
    joined: tuple[str, ...]
    """Its words written together, loosely, neighbours by neighbours."""
    codes: tuple[str, ...]
    digits: frozenset[str]
    phrase: tuple[str, ...]
    """All its words, where function words carry it ("stand-up"), or its numbers, where it has several ("50/30/20 rule")."""
    initials: str
    person: bool
    """Whether it reads like a name of a person or a work, of which the last word is enough."""

    @property
    def needed(self) -> tuple[Part, ...]:
        """The parts without which it is not named."""
        return tuple(part for part in self.parts if not part.optional) or self.parts


@lru_cache(maxsize=65536)
def loose(key: str) -> str:
    """A key without accents, regional spelling and the ending of a comparative, and of everyday doublets the first."""
    bare = respelled(key)
    return _VARIANT.get(bare, bare)


@lru_cache(maxsize=65536)
def respelled(key: str) -> str:
    """A key without accents, regional spelling and the ending of a comparative."""
    bare = key
    if not key.isascii():
        plainer = unicodedata.normalize("NFKD", key.translate(LETTERS))
        bare = fold("".join(c for c in plainer if c.isascii()).casefold() or key)
    for british, american in SPELLINGS:
        if len(bare) > 4 and british.search(bare):
            bare = british.sub(american, bare, count=1)
    return bare


_VARIANT: Final[dict[str, str]] = {}
for _group in VARIANTS:
    for _word in _group.split():
        _VARIANT.setdefault(respelled(fold(_word)), respelled(fold(_group.split()[0])))


@lru_cache(maxsize=4096)
def read_target(text: str) -> Target:
    """The name, ready to be looked for."""
    words = [w for s in sentences_of(text) for w in s.words]
    content = [w for w in words if w.key and not w.key[0].isdigit()]
    telling = [w for w in content if w.lower not in LIGHT and fold(w.lower) not in _LIGHT_KEYS]
    parts = []
    for at, word in enumerate(content):
        light = bool(telling) and word not in telling
        head = (
            at == len(content) - 1
            and len(telling) > 1
            and (word.key in _CARRIER_KEYS or _is_telling(content[at - 1], word))
            and all(w.key not in _WEIGHTY_KEYS for w in telling[:-1])
        )
        parts.append(Part(word.key, loose(word.key), light or head))
    capitals = sum(w.surface[0].isupper() for w in content)
    numbers = tuple(w.lower for w in words if w.key and w.key[0].isdigit())
    functional = not telling or (len(content) < len(words) and any(w.lower in PARTICLES for w in words))
    return Target(
        text,
        tuple(parts),
        tuple(squash(a.lower + b.lower) for a, b in pairwise(words)),
        tuple(code.casefold() for code in CODE.findall(plain(text))),
        frozenset(w.key for w in words if w.key and w.key[0].isdigit()),
        tuple(w.lower for w in words) if functional and len(words) > 1 else numbers if len(numbers) > 1 else (),
        "".join(w.lower[0] for w in words) if len(words) >= 2 else "",
        len(content) >= 2 and capitals == len(content) and lookup(content[-1].key) is EMPTY,
    )


_LIGHT_KEYS: Final = frozenset(fold(word) for word in LIGHT)
_CARRIER_KEYS: Final = frozenset(fold(word) for word in CARRIERS)
_WEIGHTY_KEYS: Final = frozenset(fold(word) for word in WEIGHTY)
GENERAL_KEYS: Final = frozenset(fold(word) for word in GENERAL_HEADS)


def place(key: str) -> str:
    """What a word for a place beside or on something is made with, or nothing.

    >>> place("rooftop"), place("lapsang")
    ('roof', '')
    """
    found = BESIDE_IT.fullmatch(key)
    return found[1] if found and lookup(fold(found[1])) is not EMPTY else ""


def _is_telling(first: Word, head: Word) -> bool:
    """Whether the first word is so rare that it names the thing alone: lapsang (souchong)."""
    return (
        len(first.key) > 3
        and lookup(first.key) is EMPTY
        and not place(first.key)
        and lookup(head.key) is not EMPTY
        and not head.surface[0].isupper()
    )


@lru_cache(maxsize=65536)
def squash(text: str) -> str:
    return loose(re.sub(r"\W", "", text))


@lru_cache(maxsize=8192)
def relatives(key: str) -> frozenset[str]:
    """Words of the same stem: impressionist for impressionism."""
    stems = {key, *(key.removesuffix(suffix) for suffix in SUFFIXES)}
    return frozenset(stem + suffix for stem in stems if len(stem) >= 5 for suffix in ("", *SUFFIXES)) - {key}
