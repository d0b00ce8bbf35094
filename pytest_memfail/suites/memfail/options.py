"""Find shortcuts to the right option of a chain: what the store contains, how often an option is offered, how it looks."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from pytest_memfail.core import SuiteFault
from pytest_memfail.suites.memfail.row_models import LETTERS, LongHopRow
from pytest_memfail.suites.memfail.rows import Rows, warn
from pytest_memfail.suites.memfail.shortcuts import rejected, tail
from pytest_memfail.texts import in_plain_words, plain_words

FIRST_PERSON: Final = re.compile(r"\b(?:I|me|my|mine|myself)\b", re.IGNORECASE)
NAME: Final = re.compile(r"\b[A-Z][a-z]+\b")

Choice = Callable[[LongHopRow], Sequence[int]]
"""Maps a row to the options that a strategy leaves; one of them is then picked at random."""


def option_shortcuts(rows: Rows[LongHopRow]) -> Iterator[SuiteFault]:
    """Report each strategy that finds the right option more often than by chance, without following the chain."""
    n, chance = len(rows.rows), 1 / len(LETTERS)
    shares = {name: _share(rows.rows, choose) for name, choose in _choices(rows.rows).items()}
    names = list(shares)
    for i in rejected([tail(math.floor(shares[name] * n + 1e-9), n, chance) for name in names]):
        yield warn(rows, None, "graded_question", f"choosing {names[i]} is right in {shares[names[i]]:.0%}")


def wrong_ends(rows: Rows[LongHopRow]) -> Iterator[SuiteFault]:
    """Report wrong options that end no other chain about the same person, or that the chain also reaches."""
    ends: dict[str, list[LongHopRow]] = defaultdict(list)
    links: dict[str, set[str]] = defaultdict(set)
    for row in rows.rows:
        ends[row.anchors[-1].casefold()].append(row)
        for anchor, following in pairwise(row.anchors):
            links[anchor.casefold()].add(following.casefold())
    for row, line in zip(rows.rows, rows.lines, strict=True):
        reached = _reached(row.anchors[0].casefold(), links)
        same = set(_about_subject(row, [fact for other in rows.rows for fact in other.facts]))
        for letter, choice in zip(LETTERS, row.choices, strict=True):
            field, end = f"choice_{letter.lower()}", choice.casefold()
            if letter == row.correct_choice:
                continue
            if end in reached:
                yield warn(rows, line, field, f"{choice!r} can also be reached from {row.anchors[0]!r}")
            elif end not in ends:
                yield warn(rows, line, field, f"{choice!r} ends no other chain")
            elif not any(same.issuperset(other.facts) for other in ends[end]):
                yield warn(rows, line, field, f"{choice!r} ends a chain about somebody else")


def _reached(start: str, links: Mapping[str, Iterable[str]]) -> set[str]:
    """Return every anchor that the links reach from `start`."""
    reached: set[str] = set()
    ahead = [start]
    while ahead:
        for following in links.get(ahead.pop(), ()):
            if following not in reached:
                reached.add(following)
                ahead.append(following)
    return reached


def _share(rows: Sequence[LongHopRow], choose: Choice) -> float:
    """Return the mean share of rows that a strategy gets right."""
    right = 0.0
    for row in rows:
        left = choose(row) or range(len(row.choices))
        right += (LETTERS.index(row.correct_choice) in left) / len(left)
    return right / len(rows)


def _choices(rows: Sequence[LongHopRow]) -> dict[str, Choice]:
    facts = [fact for row in rows for fact in row.facts]
    offered = Counter(choice.casefold() for row in rows for choice in row.choices)

    def stated(row: LongHopRow, texts: Sequence[str]) -> list[int]:
        return _where(row, lambda choice: any(in_plain_words(choice, text) for text in texts))

    def by_count(row: LongHopRow, pick: Callable[[Iterable[int]], int]) -> list[int]:
        wanted = pick(offered[choice.casefold()] for choice in row.choices)
        return _where(row, lambda choice: offered[choice.casefold()] == wanted)

    def most(row: LongHopRow, key: Callable[[str], Any]) -> list[int]:
        return [max(range(len(row.choices)), key=lambda i: (key(row.choices[i]), -i))]

    def shared(row: LongHopRow) -> list[int]:
        asked = set(plain_words(row.stem))
        return most(row, lambda choice: len(asked & set(plain_words(choice))))

    def unusual(row: LongHopRow) -> list[int]:
        mean = sum(map(len, row.choices)) / len(row.choices)
        return most(row, lambda choice: abs(len(choice) - mean))

    return {
        "an option that the store holds": lambda row: stated(row, facts),
        "an option that the store holds about the person asked about": lambda row: stated(
            row, _about_subject(row, facts)
        ),
        "the option that is offered most often": lambda row: by_count(row, max),
        "the option that is offered least often": lambda row: by_count(row, min),
        "the first option by alphabet": lambda row: [
            min(range(len(row.choices)), key=lambda i: row.choices[i].casefold())
        ],
        "the last option by alphabet": lambda row: most(row, str.casefold),
        "the longest option": lambda row: most(row, len),
        "the shortest option": lambda row: most(row, lambda choice: -len(choice)),
        "the option nearest to the question": shared,
        "the option with the most unusual length": unusual,
    }


def _about_subject(row: LongHopRow, facts: Sequence[str]) -> list[str]:
    """Return the facts about the chain's subject: the speaker, or the person whom question and chain name."""
    if any(map(FIRST_PERSON.search, row.facts)):
        return [fact for fact in facts if FIRST_PERSON.search(fact)]
    names = [set(NAME.findall(fact)) for fact in (row.stem, *row.facts)]
    return [fact for fact in facts if set.intersection(*names) & set(NAME.findall(fact))]


def _where(row: LongHopRow, holds: Callable[[str], bool]) -> list[int]:
    return [i for i, choice in enumerate(row.choices) if holds(choice)]
