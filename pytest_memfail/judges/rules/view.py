"""The sentences of a store or of what was shown, indexed once, and whom each sentence is about."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final, Literal

from pytest_memfail.judges.rules.aliased import Aliased
from pytest_memfail.judges.rules.entity_name import TITLES, Name, is_surname
from pytest_memfail.judges.rules.lexicon import EMPTY, lookup, nearness
from pytest_memfail.judges.rules.quantities import Quantity, quantities
from pytest_memfail.judges.rules.text import Sentence, TextCache, Word, weigh, weight
from pytest_memfail.judges.rules.words import OPENERS, STOP

REACH: Final = 16
"""How many sentences back a pronoun may find its name."""
CANDIDATES: Final = 24
AFTER_NAME: Final = frozenset(
    "is has was had will only always often usually never can keeps loves likes refuses who also and won't doesn't".split()
)
FIRST_PERSON: Final = frozenset("i my me mine i'm i've i'd i'll user user's users speaker".split())

OPENING: Final = 60
DATE: Final = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?")

NAMED: Final = 2
INHERITED: Final = 1
OPEN: Final = 0
OTHER: Final = -1


def _is_label(sentence: Sentence, word: Word) -> bool:
    """Whether the word heads a line of a profile: "Work: owns a tea shop". Few names that head one are words of the lexicon."""
    return sentence.text[word.end : word.end + 1] == ":" and lookup(word.key) is not EMPTY


@dataclass(frozen=True, slots=True)
class Window:
    """One or two neighbouring sentences, and how much of what was looked for stands in them."""

    sentences: tuple[int, ...]
    coverage: float
    link: int
    found: frozenset[str]


class View:
    """A sequence of memory texts as an inverted index of sentences."""

    def __init__(
        self,
        texts: Iterable[str],
        cache: TextCache,
        stamps: Sequence[str | None] = (),
        held: Literal["stored", "shown"] = "stored",
    ) -> None:
        self.stamps = stamps
        self.held = held
        """What reasons say of a text that is in the view."""
        self._opening: list[str] = []
        self._closing: list[str] = []
        sentences: list[Sentence] = []
        self.sentences: Sequence[Sentence] = sentences
        self.entry: list[int] = []
        self.first: list[int] = []
        self.capitals: dict[str, list[int]] = defaultdict(list)
        self.results: dict[tuple[object, ...], object] = {}
        self.shared: dict[object, object] = {}
        """What holds of the texts whoever reads them: copies made by `seen_for` share it."""
        self._read: View | None = None
        self._links: dict[tuple[Name, int], int] = {}
        self._quantities: dict[int, tuple[Quantity, ...]] = {}
        self._uncapitalised: set[str] = set()
        for number, text in enumerate(texts):
            self.first.append(len(self.sentences))
            self._opening.append(text[:OPENING])
            self._closing.append(text[max(OPENING, len(text) - OPENING) :])
            for sentence in cache.sentences(text):
                at = len(sentences)
                sentences.append(sentence)
                self.entry.append(number)
                for word in sentence.capitals or sentence.lowers:
                    self.capitals[word].append(at)
                self._uncapitalised.update(sentence.lowers - sentence.capitals)
        self.first.append(len(self.sentences))
        self.entries = len(self.first) - 1
        self._about: dict[Name, list[int]] = {}
        self._subjects: dict[int, tuple[str, ...]] = {}

    @cached_property
    def postings(self) -> dict[str, list[int]]:
        """Where each key stands; made when it is first asked for."""
        found: dict[str, list[int]] = defaultdict(list)
        for at, sentence in enumerate(self.sentences):
            for key in sentence.keys:
                found[key].append(at)
        return found

    def seen_for(self, wanted: frozenset[str]) -> View:
        """The same view as one reads it who looks for these keys: a synonym of one counts as that key.

        A word that is itself wanted stands for nothing else.
        """
        alias: dict[str, str] = {}
        for key in sorted(wanted):
            entry = lookup(key)
            for other in (entry.same | entry.close) & self.postings.keys():
                if other not in wanted and nearness(key, other) > nearness(alias.get(other, ""), other):
                    alias[other] = key
        if not alias:
            return self
        seen = copy(self)
        seen._read = self
        seen.results = {}
        seen.postings = defaultdict(list, self.postings)
        seen.sentences = Aliased(self.sentences, alias, {at for key in alias for at in self.postings[key]})
        for key in sorted(set(alias.values())):
            more = {at for other, stands in alias.items() if stands == key for at in self.postings[other]}
            seen.postings[key] = sorted(more.union(self.postings.get(key, ())))
        return seen

    def as_written(self) -> View:
        """The view in which every word stands for itself alone."""
        return self._read or self

    def mentions(self, name: Name) -> list[int]:
        """The sentences that name the entity."""
        return sorted({i for part in name.parts for i in self.capitals.get(part, ()) if self.named(i, name)})

    def lowers(self) -> frozenset[str]:
        """Every word of the view, in lower case."""
        return frozenset(w.lower.removesuffix("'s") for s in self.sentences for w in s.words)

    def named(self, at: int, name: Name) -> bool:
        """Whether the sentence names the entity, and not a namesake with another surname."""
        sentence = self.sentences[at]
        present = name.parts & (sentence.capitals or sentence.lowers)
        if not present:
            return False
        if len(name.parts) == 1 or len(present) > 1 or name.first not in present:
            return len(name.parts) == 1 or len(present) > 1 or len(next(iter(present))) > 2
        words = sentence.words
        for this, following in pairwise(words):
            if this.lower == name.first and is_surname(following.surface, following.lower, name):
                continue
            if this.lower.removesuffix("'s") == name.first:
                return True
        return bool(words) and words[-1].lower.removesuffix("'s") == name.first

    def link(self, at: int, name: Name | None) -> int:
        """How the sentence is tied to the entity: named, inherited from before, open, or somebody else's."""
        if name is None:
            return INHERITED
        known = self._links.get((name, at))
        if known is None:
            known = self._links[name, at] = self._link(at, name)
        return known

    def _link(self, at: int, name: Name) -> int:
        if self.named(at, name):
            return NAMED
        if self.other_subject(at, name):
            return OTHER
        start = self.first[self.entry[at]]
        end = self.first[self.entry[at] + 1]
        turn = self.sentences[at].starts_turn
        for back in range(at - 1, max(start, at - REACH) - 1, -1):
            if turn:
                break
            if self.named(back, name):
                return INHERITED
            if self.other_subject(back, name):
                return OTHER
            turn = self.sentences[back].starts_turn
        if end - start <= 6 and any(self.named(i, name) for i in range(start, end)):
            return INHERITED
        if end - start <= 2:
            # Single-sentence entries: systems that split essays without resolving pronouns keep their order.
            for back in range(start - 1, max(0, start - REACH) - 1, -1):
                entry = self.entry[back]
                if self.first[entry + 1] - self.first[entry] > 2:
                    break
                if self.named(back, name):
                    return INHERITED
                if self.other_subject(back, name):
                    break
        if self.sentences[at].lowers & FIRST_PERSON:
            return OTHER
        return OPEN

    def other_subject(self, at: int, name: Name) -> bool:
        """Whether the sentence opens with the name of somebody else."""
        subject = self._subjects.get(at)
        if subject is None:
            subject = self._subjects[at] = self._subject(self.sentences[at])
        return bool(subject) and name.parts.isdisjoint(subject) and name.known.isdisjoint(subject)

    def _subject(self, sentence: Sentence) -> tuple[str, ...]:
        """The name that the sentence opens with, behind a title or not: nothing where it opens with another word."""
        words = sentence.words
        passed: tuple[str, ...] = ()
        for position, word in enumerate(words[:2]):
            bare = word.lower.removesuffix("'s")
            if position and words[0].lower not in TITLES:
                return ()
            if not word.surface[0].isupper():
                return ()
            passed += (bare,)
            if bare in TITLES:
                continue
            if (
                len(bare) < 2
                or bare in OPENERS
                or bare in STOP
                or bare in self._uncapitalised
                or bare.endswith(("ly", "ing"))
                or _is_label(sentence, word)
            ):
                return ()
            if word.lower.endswith("'s"):
                return passed
            following = words[position + 1] if position + 1 < len(words) else None
            if following is None:
                return ()
            named = (
                following.lower in AFTER_NAME
                or (
                    following.lower.endswith("s") and not following.lower.endswith("ss") and following.lower not in STOP
                )
                or following.surface[0].isupper()
            )
            return passed if named else ()
        return ()

    def search(
        self, need: Mapping[str, float], name: Name | None, limit: int = CANDIDATES, *, only_about: bool = False
    ) -> list[Window]:
        """The sentences, alone and with a neighbour, that cover most of the needed keys; best first."""
        total = sum(need.values())
        if not total:
            return []
        # Weak words alone make no candidate, so their long postings are not walked.
        strong = [key for key, value in need.items() if value >= 1.0] or list(need)
        scores: dict[int, float] = defaultdict(float)
        postings = self._postings_about(name) if only_about and name is not None else self.postings
        for key in strong:
            value = need[key]
            for at in postings.get(key, ()):
                scores[at] += value
        ranked = sorted(scores, key=lambda at: (-scores[at], at))
        best = ranked[:limit]
        if name is not None and not only_about and len(ranked) > len(best):
            # A weaker match under the right name must not be crowded out by better ones under others.
            about = set(self.about(name))
            best += [at for at in ranked[limit:] if at in about][:limit]
        return self._windows(best, need, name)

    def stamp(self, entry: int) -> str:
        """When the entry was written, as far as it says so: its own time, else a date that its text begins with."""
        given = self.stamps[entry] if entry < len(self.stamps) else None
        match = DATE.search(given or self._opening[entry])
        return match[0].replace("T", " ") if match else ""

    def edges(self, entry: int) -> str:
        """How the entry's text begins and ends, as it stands: there systems write when it was made."""
        return f"{self._opening[entry]} {self._closing[entry]}"

    def _postings_about(self, name: Name) -> dict[str, list[int]]:
        known = self.results.get(("postings", name))
        if known is None:
            found: dict[str, list[int]] = defaultdict(list)
            for at in self.about(name):
                for key in self.sentences[at].keys:
                    found[key].append(at)
            known = self.results["postings", name] = found
        assert isinstance(known, dict)
        return known

    def _windows(self, at: Iterable[int], need: Mapping[str, float], name: Name | None) -> list[Window]:
        """These sentences, alone and with a neighbour, by how much of the need they cover; best first."""
        total = sum(need.values())
        keys = need.keys()
        found: dict[tuple[int, ...], Window] = {}
        for this in at:
            here = self.sentences[this].keys & keys
            found[this,] = Window((this,), sum(need[k] for k in here) / total, self.link(this, name), here)
            if len(here) == len(keys):
                continue
            for other in (this - 1, this + 1):
                if not 0 <= other < len(self.sentences) or self.entry[other] != self.entry[this]:
                    continue
                pair = (min(this, other), max(this, other))
                if pair in found or self.sentences[pair[1]].starts_turn:
                    continue
                more = here | (self.sentences[other].keys & keys)
                if len(more) > len(here):
                    link = min(found[this,].link, self.link(other, name))
                    found[pair] = Window(pair, sum(need[k] for k in more) / total, link, more)
        return sorted(found.values(), key=lambda w: (-round(w.coverage, 6), len(w.sentences), -w.link, w.sentences))

    def quantities(self, at: Iterable[int]) -> list[Quantity]:
        """The quantities that the sentences state."""
        found: list[Quantity] = []
        for i in at:
            known = self._quantities.get(i)
            if known is None:
                known = self._quantities[i] = quantities(self.sentences[i].text, self.sentences[i].words)
            found.extend(known)
        return found

    def own_share(self, at: Sequence[int], stated: frozenset[str], name: Name | None = None) -> float:
        """The share of the sentences' words that the source states too: high where they were made from it."""
        sentences = [self.sentences[i] for i in at]
        keys = sentences[0].keys if len(sentences) == 1 else frozenset().union(*(s.keys for s in sentences))
        if name is not None:
            keys -= {w.key for s in sentences for w in name.words_of(s)}
        total = weigh(keys)
        return weigh(keys & stated) / total if total else 0.0

    def entries_of(self, sentences: Sequence[int]) -> tuple[int, ...]:
        """The entries of sentences, in that order, each once."""
        return tuple(dict.fromkeys(self.entry[at] for at in sentences))

    def about(self, name: Name) -> list[int]:
        """All sentences tied to the entity."""
        at = self._about.get(name)
        if at is None:
            found: set[int] = set()
            for mention in self.mentions(name):
                found.add(mention)
                start = max(self.first[self.entry[mention]], mention - 6)
                found.update(
                    i for i in range(start, min(len(self.sentences), mention + REACH + 1)) if self.link(i, name) > 0
                )
            at = self._about[name] = sorted(found)
        return at


def needs(keys: Iterable[str]) -> dict[str, float]:
    """The keys with their weights, in a fixed order; numbers are compared as quantities instead."""
    return {key: weight(key) for key in sorted(set(keys)) if key and not key[0].isdigit()}
