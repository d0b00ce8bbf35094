"""What must be found of a fact that may have replaced another: its value, its subject, and what it replaced."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from pytest_memfail.core import Evidence
from pytest_memfail.judges.rules.attitude import DISLIKED, NEGATED
from pytest_memfail.judges.rules.entity_name import Name
from pytest_memfail.judges.rules.finding import keys_of, passage
from pytest_memfail.judges.rules.lexicon import EMPTY, lookup
from pytest_memfail.judges.rules.polarity import is_negator, negated
from pytest_memfail.judges.rules.quantities import Quantity, quantities
from pytest_memfail.judges.rules.text import Sentence, sentences_of, weight
from pytest_memfail.judges.rules.view import needs
from pytest_memfail.judges.rules.wordings import Wording, read_wording, share_of
from pytest_memfail.judges.rules.words import OPENERS

UNITS: Final = frozenset(
    key for word in "degrees pounds euros dollars bar units minutes".split() for key in keys_of(word)
)
"""Keys of units that are often written as a sign, or left out."""
QUOTED: Final = 100
FEW: Final = 6
ENDS: Final = re.compile(
    r"\b(?:no longer|any ?more|any longer|stopped|quit|cancel\w*|retract\w*|withdr[ae]w\w*|forget|strike|scrap|gave up"
    r"|given up|sold|ended)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Part:
    """One thing that must be there, in any of its wordings."""

    wordings: tuple[Wording, ...]
    distinct: bool = False
    """Whether it is a name that nothing else has, or a word that no dictionary has: it tells its subject by itself."""

    @property
    def text(self) -> str:
        """As it was said."""
        return self.wordings[0].text


@dataclass(frozen=True, slots=True)
class Fact:
    """What must be found of a fact."""

    name: Name | None
    others: Name
    """Stands for the user where somebody else's sentences are told from theirs."""
    values: tuple[Part, ...]
    """What the current state is; empty where the evidence names no value."""
    context: tuple[Part, ...]
    """What else must be kept; all details where no value is named."""
    subject: frozenset[str]
    """Keys of what the fact is about, with their synonyms."""
    around: frozenset[str]
    """Keys of all that was said of it."""
    topic: frozenset[str]
    """Keys of the subject's own phrase, whether they are the value's or not."""
    need: tuple[tuple[str, float], ...]
    """Keys of the message, the value's apart."""
    whole: tuple[tuple[str, float], ...]
    """Keys of all that the fact says, where no value is named."""
    numbers: tuple[Quantity, ...]
    told: tuple[Quantity, ...]
    """All numbers that were ever said of it."""
    stale: tuple[Part, ...]
    earlier: str
    endings: tuple[Wording, ...]
    decoys: tuple[tuple[str, float], ...]
    negative: bool
    disliked: bool
    """Whether what it tells is a dislike."""
    retraction: bool
    """Whether the current state is but the end of an old one."""
    wording: str


@lru_cache(maxsize=4096)
def read_fact(evidence: Evidence) -> Fact:
    """The fact of the evidence."""
    named = keys_of(evidence.entity or "")
    source = sentences_of(evidence.source)
    stated = {key for s in source for key in s.keys}
    text = sentences_of(evidence.text)
    values, context = _parts(evidence)
    value_keys = {key for part in values for w in part.wordings for key, _ in w.need}
    old_keys = {key for old in evidence.stale_values for key in keys_of(old)}
    subject = (keys_of(evidence.subject or "") | {k for p in context for w in p.wordings for k, _ in w.need}) - named
    if not evidence.subject:
        subject |= (keys_of(evidence.text) & stated) - named
    topic = frozenset(subject)
    subject -= value_keys | old_keys if evidence.subject else value_keys
    near = frozenset(k for key in subject for k in _synonyms(key))
    before = sentences_of(evidence.earlier or "")
    earlier = {key for s in before for key in s.keys}
    said = {key for key in stated | earlier | subject if not key[0].isdigit()} - named
    whole = {key for s in text for key in s.keys} - named
    told = evidence.value or evidence.text
    negative = says_end(evidence.text)
    known = " ".join(filter(None, (evidence.source, evidence.text, evidence.earlier, evidence.subject, evidence.value)))
    words = frozenset(w.lower for s in sentences_of(known) for w in s.words)
    short = evidence.text if evidence.text != evidence.source and len(evidence.text) <= QUOTED else ""
    wording = (
        evidence.value
        or short.rstrip(".")
        or (passage(evidence.source, text[0], text[0].keys) if text else "")
        or evidence.text
    )
    return Fact(
        Name.of(evidence.entity, words),
        Name("", frozenset(), "", words),
        values,
        context,
        frozenset(subject) | (near - value_keys - old_keys),
        frozenset(said - value_keys - old_keys),
        topic,
        tuple(needs(stated - value_keys - named).items()),
        tuple(needs((whole & stated) or whole).items()),
        tuple(q for s in sentences_of(told) for q in quantities(s.text, s.words)),
        tuple(q for s in (*source, *before) for q in quantities(s.text, s.words)),
        tuple(
            Part((read_wording(old),), _is_name(old, sentences_of(evidence.earlier or "")))
            for old in evidence.stale_values
        ),
        evidence.earlier or "",
        tuple(w for w in map(read_wording, evidence.endings) if not any(share_of(w, [s]) >= 1.0 for s in before)),
        tuple(needs({key for text in evidence.decoys for key in keys_of(text)} - named).items()),
        any(negated(s, value_keys or whole) for s in source),
        dislikes(evidence.subject or evidence.text),
        evidence.taken_back
        or (bool(evidence.stale_values) and not evidence.value and not evidence.details and negative),
        wording,
    )


def says_end(text: str) -> bool:
    """Whether the text denies something, or says that it has ended."""
    return bool(ENDS.search(text)) or any(is_negator(w.lower) for s in sentences_of(text) for w in s.words)


def dislikes(text: str) -> bool:
    """Whether the text tells of a dislike."""
    return bool(DISLIKED.search(text) or NEGATED.search(text))


def _parts(evidence: Evidence) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """The details that say what the state is, and those that say of what."""
    said = sentences_of(evidence.source)
    details = [
        Part(tuple(map(read_wording, detail.wordings)), _is_name(detail.wordings[0], said))
        for detail in evidence.details
    ]
    if evidence.value is None:
        return (), tuple(details)
    value = read_wording(evidence.value)
    held = keys_of(evidence.value)
    own = [part for part in details if _tells(part, held, value)]
    values = own or [Part((value, *_other_words(value)), _is_name(evidence.value, said))]
    return tuple(values), tuple(part for part in details if part not in own)


def _other_words(value: Wording) -> list[Wording]:
    """The value with a synonym for one of its words, or a number without what it counts where that goes without saying."""
    need = dict(value.need)
    others = [
        replace(value, need=tuple((near if key == old else key, weight) for key, weight in value.need))
        for old in need
        for near in sorted(lookup(old).same)[:FEW]
    ]
    if value.numbers and need.keys() <= UNITS:
        others.append(replace(value, need=()))
    return others


def _tells(part: Part, held: set[str], value: Wording) -> bool:
    first = part.wordings[0]
    return bool(held & {key for key, _ in first.need}) or any(q.same(v) for q in first.numbers for v in value.numbers)


def _synonyms(key: str) -> frozenset[str]:
    """Words for the same, unless the word has so many that it has many meanings."""
    known = lookup(key)
    near = known.same | known.close
    return near if weight(key) >= 1.0 and len(near) <= FEW else frozenset()


def _is_name(value: str, source: Iterable[Sentence]) -> bool:
    """Whether the value is a name, or a word that no dictionary has."""
    keys = [w for s in sentences_of(value) for w in s.words if w.key and not w.key[0].isdigit()]
    if any(lookup(w.key) is EMPTY and len(w.lower) > 3 for w in keys):
        return True
    capitals = {w.lower for s in source for w in s.words[1:] if w.surface[0].isupper()}
    return any(w.surface[0].isupper() and w.lower in capitals and w.lower not in OPENERS for w in keys)
