"""Any other fact: its text or value, and the states that it replaced (paper, section 3.2)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from pytest_memfail.core import Evidence
from pytest_memfail.judges.rules.finding import Finding, keys_of, listed, passage
from pytest_memfail.judges.rules.polarity import is_negator, negated
from pytest_memfail.judges.rules.quantities import Quantity, quantities
from pytest_memfail.judges.rules.text import Sentence, sentences_of
from pytest_memfail.judges.rules.view import OPEN, Name, View, needs

STORED: Final = 0.5
FAITHFUL: Final = 0.65
STALE: Final = "stale_value"
PAST: Final = frozenset(
    """formerly previously former previous earlier originally ago used was were had until once before stopped quit cancelled
    canceled ended gave left sold dropped retracted past old ex""".split()
)
CURRENT: Final = frozenset(
    """now currently today nowadays recently new newly since switched changed moved replaced updated instead anymore became
    latest these""".split()
)


@dataclass(frozen=True, slots=True)
class Fact:
    """What must be found of a fact."""

    name: Name | None
    need: tuple[tuple[str, float], ...]
    value: frozenset[str]
    numbers: tuple[Quantity, ...]
    negative: bool
    retraction: bool
    """Whether the current state is but the end of an old one."""
    wording: str


@lru_cache(maxsize=4096)
def read_fact(evidence: Evidence) -> Fact:
    """The fact of the evidence."""
    ignore = keys_of(evidence.entity or "")
    source = sentences_of(evidence.source)
    stated = {key for s in source for key in s.keys}
    text = sentences_of(evidence.text)
    keys = {key for s in text for key in s.keys} - ignore
    need = needs((keys & stated) or keys)
    value = keys_of(evidence.value or "") - ignore
    told = evidence.value or evidence.text
    numbers = tuple(q for s in sentences_of(told) for q in quantities(s.text, s.words))
    known = frozenset(w.lower for s in source for w in s.words)
    negative = any(_ends(s) for s in text)
    return Fact(
        Name.of(evidence.entity, known),
        tuple((need or needs(value)).items()),
        frozenset(key for key in value if not key[0].isdigit()),
        numbers,
        any(negated(s, need) for s in source),
        bool(evidence.stale_values) and not evidence.value and negative,
        evidence.value or (passage(evidence.source, text[0], text[0].keys) if text else evidence.text),
    )


def find_fact(evidence: Evidence, view: View, protocol: str) -> Finding:
    """The fact in a view: some version of it (stored), and all that it says, as current (faithful)."""
    del protocol  # both read a fact alike
    fact = read_fact(evidence)
    stale = [(old, at) for old in evidence.stale_values for at in _places(old, view, fact.name)]
    standing = [(old, at) for old, at in stale if not _is_past(view.sentences[at], fact.value)]
    if fact.retraction:
        return _retracted(fact, view, stale, standing)
    best = _best(fact, view)
    if best is None:
        entries = view.entries_of([at for _, at in standing])
        if standing:
            reason = f"only the old state {standing[0][0]!r} is stored, not {fact.wording!r}"
            return Finding(False, False, reason, entries, (), (fact.wording,), label=STALE)
        near = [i for w in view.search(dict(fact.need), fact.name)[:3] for i in w.sentences]
        return Finding(False, False, f"no entry says {fact.wording!r}", view.entries_of(near), (), (fact.wording,))
    at, whole = best
    entries = view.entries_of(at)
    sentences = [view.sentences[i] for i in at]
    if not whole:
        if standing and fact.value:
            reason = f"the old state {standing[0][0]!r} stands where {fact.wording!r} should"
            return Finding(
                False, False, reason, view.entries_of([i for _, i in standing]), (), (fact.wording,), label=STALE
            )
        return Finding(
            True,
            False,
            f"{fact.wording!r} is stored, but not as it was said",
            entries,
            (),
            (fact.wording,),
            confidence=0.7,
        )
    if not fact.negative and any(negated(s, fact.value or dict(fact.need)) for s in sentences):
        return Finding(
            True,
            False,
            f"{fact.wording!r} is stored, but negated",
            entries,
            (),
            (fact.wording,),
            confidence=0.7,
            fault="turned",
        )
    if unclear := [(old, i) for old, i in standing if not _told_apart(view, at, i)]:
        reason = f"{fact.wording!r} and {listed([unclear[0][0]])} are both stored, and nothing tells which holds now"
        return Finding(
            True,
            False,
            reason,
            view.entries_of([*at, unclear[0][1]]),
            (fact.wording,),
            (fact.wording,),
            confidence=0.7,
            label=STALE,
        )
    return Finding(True, True, f"{fact.wording!r} is stored", entries, (fact.wording,))


def _best(fact: Fact, view: View) -> tuple[tuple[int, ...], bool] | None:
    """The place that says most of the fact, and whether it says all that matters."""
    best: tuple[tuple[bool, float, int], tuple[int, ...]] | None = None
    for window in view.search(dict(fact.need), fact.name):
        if window.link < OPEN:
            continue
        held = frozenset().union(*(view.sentences[i].keys for i in window.sentences))
        told = view.quantities(window.sentences)
        has_value = fact.value <= held and all(any(q.same(o) for o in told) for q in fact.numbers)
        whole = has_value and (bool(fact.value) or bool(fact.numbers) or window.coverage >= FAITHFUL)
        if window.coverage < STORED and not (whole and fact.value):
            continue
        rank = (whole, round(window.coverage, 6), -window.sentences[0])
        if best is None or rank > best[0]:
            best = (rank, window.sentences)
    return None if best is None else (best[1], best[0][0])


def _retracted(fact: Fact, view: View, stale: list[tuple[str, int]], standing: list[tuple[str, int]]) -> Finding:
    """A state that was taken back: kept as past, or gone, but not stated as current."""
    past = [at for old, at in stale if (old, at) not in standing]
    if not standing:
        reason = "the old state is stored as past" if past else "the old state is no longer stored"
        return Finding(True, True, reason, view.entries_of(past), (fact.wording,) if past else ())
    at = [i for _, i in standing]
    if not past:
        reason = f"{standing[0][0]!r} was taken back, but is stored as if it still held"
        return Finding(False, False, reason, view.entries_of(at), (), (fact.wording,), label=STALE)
    if all(any(_told_apart(view, (new,), old) for new in past) for old in at):
        return Finding(True, True, "the old state is stored as past", view.entries_of(past), (fact.wording,))
    reason = f"{standing[0][0]!r} is stored both as past and as current"
    return Finding(True, False, reason, view.entries_of([*past, *at]), (), (fact.wording,), label=STALE)


def _places(old: str, view: View, name: Name | None) -> list[int]:
    """The sentences that state the old value."""
    need = needs(keys_of(old))
    numbers = [q for s in sentences_of(old) for q in quantities(s.text, s.words)]
    if not need:
        keys = {w.key for s in sentences_of(old) for w in s.words if w.key}
        candidates = sorted({i for key in keys for i in view.postings.get(key, ())})
    else:
        candidates = [w.sentences[0] for w in view.search(need, name) if len(w.sentences) == 1 and w.coverage >= 0.999]
    return [
        i
        for i in candidates
        if view.link(i, name) >= OPEN and all(any(q.same(o) for o in view.quantities((i,))) for q in numbers)
    ]


def _ends(sentence: Sentence) -> bool:
    return bool(sentence.lowers & PAST) or any(is_negator(w.lower) for w in sentence.words)


def _is_past(sentence: Sentence, value: frozenset[str]) -> bool:
    """Whether the sentence tells the old state as history, or together with the one that replaced it."""
    return _ends(sentence) or bool(value and value <= sentence.keys)


def _told_apart(view: View, new: tuple[int, ...], old: int) -> bool:
    """Whether wording, order within an entry, or time says that the new state came after the old one."""
    if any(view.sentences[i].lowers & CURRENT for i in new):
        return True
    if any(view.entry[i] == view.entry[old] and i > old for i in new):
        return True
    then, since = view.stamp(view.entry[old]), view.stamp(view.entry[new[0]])
    return bool(then and since and then < since)
