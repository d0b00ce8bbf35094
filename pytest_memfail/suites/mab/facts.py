"""FactConsolidation: a numbered list of facts in which a later fact replaces an earlier one about the same thing."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pytest_memfail.grading import content

_LINE: Final = re.compile(r"(\d+)\.\s+(.*\S)\s*")
ARTICLES: Final = ("The", "A", "An")
_VERB: Final = re.compile(r"\s(?:is|was|are|were|has|plays|speaks|works|lives)\b")


@dataclass(frozen=True, slots=True)
class Line:
    """One numbered fact."""

    number: int
    text: str
    """The fact without its number and full stop."""

    def __str__(self) -> str:
        return f"{self.number}. {self.text}."


@dataclass(frozen=True, slots=True)
class Fact:
    """The fact that a question needs, and the facts about the same thing with another value."""

    line: Line
    beginning: str
    """The fact up to its value: "The capital of Selm is"."""
    value: str
    rivals: tuple[tuple[Line, str], ...] = ()
    """The other facts with their values, in the order of their numbers."""

    @property
    def is_latest(self) -> bool:
        """Return whether no rival has a higher number."""
        return all(rival.number < self.line.number for rival, _ in self.rivals)

    @property
    def replaced(self) -> tuple[tuple[Line, str], ...]:
        """Return the rivals with a lower number."""
        return tuple((line, value) for line, value in self.rivals if line.number < self.line.number)


class FactList:
    """The facts of a context."""

    def __init__(self, context: str) -> None:
        """Read each line that begins with a number."""
        matches = (_LINE.fullmatch(line) for line in context.split("\n"))
        self.lines = [Line(int(match[1]), match[2].removesuffix(".")) for match in matches if match]
        folded = [(_bare(line.text), at) for at, line in enumerate(self.lines)]
        self._sorted = sorted(folded)
        self._by_end: dict[str, list[int]] = {}
        for text, at in folded:
            self._by_end.setdefault(text.rpartition(" ")[2], []).append(at)

    def gap(self) -> tuple[int, int] | None:
        """Return the first number out of sequence and the number expected there; None without a gap."""
        first = self.lines[0].number if self.lines else 0
        wrong = ((line.number, first + at) for at, line in enumerate(self.lines) if line.number != first + at)
        return next(wrong, None)

    def ending_in(self, golds: Sequence[str]) -> Iterator[Fact]:
        """Yield the facts whose value is one of the golds, in the order of their numbers, with their rivals."""
        for gold in golds:
            value = _bare(gold)
            for at in self._by_end.get(value.rpartition(" ")[2], ()) if value else ():
                line = self.lines[at]
                if _bare(line.text).endswith(f" {value}"):
                    beginning, *own = line.text.rsplit(" ", value.count(" ") + 1)
                    yield Fact(line, beginning, " ".join(own), tuple(self._rivals(beginning, value)))

    def asked(self, question: str, golds: Sequence[str]) -> Fact | None:
        """Return the fact that a question asks for: the one that ends in a gold and whose words match the question best.

        Among facts with the same words, it is the one with the highest number.
        """
        wanted = content(question)

        def fit(fact: Fact) -> tuple[float, int]:
            words = content(fact.beginning)
            return 2 * len(words & wanted) / (len(words) + len(wanted)), fact.line.number

        return max(self.ending_in(golds), key=fit, default=None)

    def holding(self, golds: Sequence[str]) -> list[Fact]:
        """Return the facts that end in a gold and are not replaced; if all are replaced, return all of them."""
        found = list(self.ending_in(golds))
        return [fact for fact in found if fact.is_latest] or found

    def _rivals(self, beginning: str, value: str) -> Iterator[tuple[Line, str]]:
        """Yield the facts with the same beginning and another value."""
        start = f"{beginning.lower()} "
        found = []
        for place in range(bisect_left(self._sorted, (start, -1)), len(self._sorted)):
            text, at = self._sorted[place]
            if not text.startswith(start):
                break
            if text[len(start) :] != value:
                found.append(self.lines[at])
        for line in sorted(found, key=lambda one: one.number):
            yield line, line.text.split(" ", start.count(" "))[-1]


def _bare(text: str) -> str:
    """Return a text in lower case without trailing dots: "D.C.." ends in "D.C."."""
    return text.strip().lower().rstrip(".")


def names_in(beginning: str) -> tuple[str, ...]:
    """Return the words that name the subject of a fact: the capitalised words, or else the words before its verb.

    >>> names_in("The name of the current head of the Selm government is")
    ('Selm',)
    >>> names_in("wide receiver is associated with the sport of")
    ('wide', 'receiver')
    """
    found = [word for word in beginning.split() if any(map(str.isupper, word)) and word not in ARTICLES]
    return tuple(found) or tuple(_VERB.split(f" {beginning}", maxsplit=1)[0].split())
