"""Movie recommendation: the table of titles, and the titles that an answer recommends."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

from pytest_memfail.core import UsageError, json_of, short

COUNTED: Final = 5
"""The number of recommendations that count: Recall@5."""
KEPT_NAMES: Final = 4096
_BRACKETS: Final = re.compile(r"\([^()]*\)")
_FIRST: Final = re.compile(r"^\s*1[.)]", re.M)
_MARK: Final = re.compile(r"^\s*(?:\d+[.)、]|[-*•–—])\s*")


class Titles:
    """The titles of `entity2id.json` by the ids in gold answers."""

    def __init__(self, ids: dict[str, int]) -> None:
        """Take the table of the file, which maps titles, or addresses of pages named after them, to ids."""
        self.by_id = {number: title_in(name) for name, number in ids.items()}
        self._names = list(dict.fromkeys(self.by_id.values()))
        self._exact: dict[str, int] = {}
        self._by_length: dict[int, list[tuple[int, int, str]]] = {}
        """By length: the letters, the index and the lower-case name of each title."""
        for at, name in enumerate(map(str.lower, self._names)):
            self._exact.setdefault(name, at)
            self._by_length.setdefault(len(name), []).append((letters_of(name), at, name))
        self.nearest = lru_cache(maxsize=KEPT_NAMES)(self._nearest)

    def _nearest(self, name: str) -> str:
        """Return the title with the smallest edit distance to a name; on a tie, the first in the table."""
        wanted = name.lower()
        if wanted in self._exact:
            return self._names[self._exact[wanted]]
        letters, best = letters_of(wanted), (len(wanted) + max(self._by_length), -1)
        for length in sorted(self._by_length, key=lambda one: abs(one - len(wanted))):
            if abs(length - len(wanted)) > best[0]:
                break
            # each letter that only one of the two has takes an edit
            for least, at, other in sorted(
                (max((letters & ~own).bit_count(), (own & ~letters).bit_count()), at, other)
                for own, at, other in self._by_length[length]
            ):
                if least > best[0]:
                    break
                best = min(best, (distance(wanted, other), at))
        return self._names[best[1]]


@lru_cache(maxsize=4)
def read_titles(path: Path) -> Titles:
    """Return the table of a file.

    Raises `UsageError` if it is no object of titles with whole numbers.
    """
    try:
        found = json_of(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{path}: cannot be read as JSON ({error}); expected an object of titles and their ids"
        ) from None
    if not isinstance(found, dict) or not found or not all(isinstance(one, int) for one in found.values()):
        raise UsageError(
            f"{path}: got {short(found)}, expected an object of titles and their ids, such as {{'Odero': 7}}"
        )
    return Titles(found)


def title_in(name: str) -> str:
    """Return the title in a name or in the address of a page.

    >>> title_in("<http://pages.example/The_Salt-Road_(film)>")
    'The Salt Road'
    """
    last = re.sub(r"[_\->]", " ", name.rpartition("/")[2])
    return " ".join(_BRACKETS.sub("", last).split())


def recommended(answer: str) -> list[str]:
    """Return the names of a numbered list, or else the names between commas and line breaks.

    >>> recommended("Try these:\\n1. The Salt Road (1998)\\n2. **Odero**")
    ['The Salt Road', 'Odero']
    """
    start = _FIRST.search(answer)
    lines = (answer[start.end() :] if start else answer.replace(",", "\n")).split("\n")
    names = (" ".join(_BRACKETS.sub("", _MARK.sub("", line)).strip(" *_\"'").split()) for line in lines)
    return [name for name in names if name]


def recall(titles: Titles, golds: Sequence[str], answer: str) -> float:
    """Return the share of the gold titles that are among the first five recommendations."""
    given = {titles.nearest(name) for name in recommended(answer)[:COUNTED]}
    return sum(gold in given for gold in golds) / len(golds) if golds else 0.0


def letters_of(text: str) -> int:
    """Return the set of characters of a text as bits; characters beyond ASCII share bits."""
    found = 0
    for letter in set(text):
        found |= 1 << (ord(letter) % 128)
    return found


def distance(one: str, other: str) -> int:
    """Return the minimum number of insertions, deletions and replacements.

    >>> distance("odero", "oderzo")
    1
    """
    # Myers' algorithm: two integers encode a column of the distance table: its steps up and its steps down
    places: dict[str, int] = {}
    for at, letter in enumerate(one):
        places[letter] = places.get(letter, 0) | 1 << at
    all_, last = (1 << len(one)) - 1, 1 << len(one) >> 1
    up, down, found = all_, 0, len(one)
    for letter in other:
        equal = places.get(letter, 0)
        across = (((equal & up) + up) ^ up) | equal
        more, less = (down | ~(across | up)) & all_, up & across
        found += bool(more & last) - bool(less & last)
        more, less = more << 1 | 1, less << 1
        up, down = (less | ~(equal | down | more)) & all_, more & (equal | down) & all_
    return found if one else len(other)
