"""FactConsolidation: a numbered list of facts in which a later fact replaces an earlier one about the same thing."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pytest_memfail.grading import f1
from pytest_memfail.texts import STOP_WORDS, content

_LINE: Final = re.compile(r"(\d+)\.\s+(.*\S)\s*")
ARTICLES: Final = ("The", "A", "An")
_VERB: Final = re.compile(r"\s(?:is|was|are|were|has|plays|speaks|works|lives)\b")
_LEADING: Final = re.compile(r"The .*?\s(?:of|that|where)\s")
_EDGES: Final = '.,;:?!"()[]\u201c\u201d'
KIN: Final = 5
"""The number of letters that two words of one family begin with: "citizen" and "citizenship"."""


@dataclass(frozen=True, slots=True)
class Line:
    """One numbered fact."""

    number: int
    text: str
    """The fact without its number and full stop."""

    def __str__(self) -> str:
        return f"{self.number}. {self.text}."


@dataclass(frozen=True, slots=True)
class NumberedFact:
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
        self._said = f" {' '.join(word for line in self.lines for word in _words(line.text))} "

    def gap(self) -> tuple[int, int] | None:
        """Return the first number out of sequence and the number expected there; None without a gap."""
        first = self.lines[0].number if self.lines else 0
        wrong = ((line.number, first + at) for at, line in enumerate(self.lines) if line.number != first + at)
        return next(wrong, None)

    def ending_in(self, golds: Sequence[str]) -> Iterator[NumberedFact]:
        """Yield the facts whose value is one of the golds, in the order of their numbers, with their rivals."""
        for gold in golds:
            value = _bare(gold)
            for at in self._by_end.get(value.rpartition(" ")[2], ()) if value else ():
                line = self.lines[at]
                if _bare(line.text).endswith(f" {value}"):
                    beginning, *own = line.text.rsplit(" ", value.count(" ") + 1)
                    yield NumberedFact(line, beginning, " ".join(own), tuple(self._rivals(beginning, value)))

    def asked(self, question: str, golds: Sequence[str]) -> NumberedFact | None:
        """Return the fact that a question asks for: one that ends in a gold, is about the same name, and has the same relation.

        Names are compared by whole words in their order. Among facts about the name, the one whose relation has most words in
        common with the question is chosen, then the one with the highest number. None if no fact is about the name.
        """
        found = [(fit, fact) for fact in self.ending_in(golds) if (fit := self._fit(question, fact)) is not None]
        return max(found, key=lambda one: (*one[0], one[1].line.number), default=(None, None))[1]

    def _fit(self, question: str, fact: NumberedFact) -> tuple[bool, float] | None:
        """Return whether a question spells the name as the fact does, and how far their relations agree; None for another name."""
        asked = [word for word in question.split() if word.strip(_EDGES)]
        given, runs = _words(question), subjects_of(fact.beginning)
        fits = []
        for number, name in enumerate(runs):
            for start in range(len(given) - len(name) + 1):
                end = start + len(name)
                run = given[start:end]
                exact = run == name
                owner = end < len(given) and [*run[:-1], run[-1].removesuffix("'s")] == name
                if (exact or owner) and not self._is_longer(asked, given, start, end, fact):
                    rest = content(" ".join([*given[:start], *given[end:]]))
                    fits.append((exact and not number, _agreement(content(_without(fact.beginning, name)), rest)))
        return max(fits, default=None)

    def _is_longer(self, asked: list[str], given: list[str], start: int, end: int, fact: NumberedFact) -> bool:
        """Return whether a name in a question is part of a longer name, which the fact does not have: "Blade Runner 2049"."""
        for first, last, at in ((start - 1, end, start - 1), (start, end + 1, end)):
            if not 0 <= at < len(given) or given[at] in STOP_WORDS:
                continue
            run = f" {' '.join(given[first:last])} "
            if run not in f" {' '.join(_words(fact.beginning))} " and (
                (at and _is_name(asked[at])) or run in self._said
            ):
                return True
        return False

    def holding(self, golds: Sequence[str]) -> list[NumberedFact]:
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


def _words(text: str) -> list[str]:
    """Return the words of a text in lower case, without the punctuation around them."""
    return [bare for word in text.replace("\u2019", "'").lower().split() if (bare := word.strip(_EDGES))]


def _is_name(word: str) -> bool:
    return any(one.isupper() or one.isdigit() for one in word) and word not in ARTICLES


def subjects_of(beginning: str) -> list[list[str]]:
    """Return the name that a fact is about, from its first to its last word; also without a possessive before a noun."""
    words = beginning.split()
    names = [at for at, word in enumerate(words) if _is_name(word)]
    if names:
        end = names[-1] + 1
        name, following = _words(" ".join(words[names[0] : end])), words[end : end + 1]
    else:
        name, following = _words(" ".join(names_in(beginning))), []
    if following and name[-1].endswith("'s") and not _VERB.match(f" {following[0]}"):
        return [name, [*name[:-1], name[-1].removesuffix("'s")]]
    return [name]


def _without(text: str, name: list[str]) -> str:
    """Return the words of a fact apart from its name."""
    return f" {' '.join(_words(text))} ".replace(f" {' '.join(name)}", "", 1)


def _agreement(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the F1 of the words that two relations share; words of one family count as the same."""
    kept = [
        sum(any(_is_kin(word, each) for each in there) for word in here) for here, there in ((one, other), (other, one))
    ]
    return f1(kept[0] / max(1, len(one)), kept[1] / max(1, len(other)))


def _is_kin(one: str, other: str) -> bool:
    """Return whether two words belong to one family.

    >>> _is_kin("citizen", "citizenship"), _is_kin("die", "died"), _is_kin("created", "country")
    (True, True, False)
    """
    short = min(len(one), len(other), KIN)
    return one == other or (short > 2 and one[:short] == other[:short])


def names_in(beginning: str) -> tuple[str, ...]:
    """Return the words that name the subject of a fact: those with capitals or digits, or else the words before its verb.

    >>> names_in("The name of the current head of the Selm government is")
    ('Selm',)
    >>> names_in("wide receiver is associated with the sport of"), names_in("The main office of ropax is in")
    (('wide', 'receiver'), ('ropax',))
    """
    found = tuple(word for word in beginning.split() if _is_name(word))
    return found or tuple(_VERB.split(f" {_LEADING.sub('', beginning, count=1)}", maxsplit=1)[0].split())
