"""Curated details: the data, not a threshold, says which wordings keep them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from pytest_memfail.core import Detail, Evidence
from pytest_memfail.judges.rules.finding import Finding, listed
from pytest_memfail.judges.rules.polarity import exclusive, is_negator
from pytest_memfail.judges.rules.quantities import Quantity, quantities
from pytest_memfail.judges.rules.text import Sentence, plain, sentences_of
from pytest_memfail.judges.rules.view import OPEN, Name, View, needs

STORED: Final = 0.6
"""Share of a wording that shows the detail is there in some form."""
WHOLE: Final = 0.75
"""Share that keeps a wording of four or more words; shorter ones must be whole."""
LONG: Final = 4
PLACES: Final = 64

TRUSTED: Final = ("behavior", "condition")
"""The parts of a rule that the general rules may find kept where no curated wording does."""


@dataclass(frozen=True, slots=True)
class Wording:
    """One wording of a detail, read once."""

    text: str
    need: tuple[tuple[str, float], ...]
    numbers: tuple[Quantity, ...]
    negative: bool

    @property
    def keys(self) -> list[str]:
        """The keys by which sentences with this wording are looked up."""
        digits = {f"{q.value:g}" for q in self.numbers}
        return [key for key, _ in self.need] or sorted(digits)


@lru_cache(maxsize=8192)
def read_wording(text: str) -> Wording:
    """The wording's words, quantities and negation."""
    sentences = sentences_of(text)
    numbers = tuple(q for s in sentences for q in quantities(s.text, s.words))
    need = needs(key for s in sentences for key in s.keys)
    return Wording(text, tuple(need.items()), numbers, any(is_negator(w.lower) for s in sentences for w in s.words))


def share_of(wording: Wording, sentences: list[Sentence]) -> float:
    """The share of the wording that stands in the sentences; 1.0 keeps it."""
    keys = frozenset().union(*(s.keys for s in sentences))
    if not wording.need and not wording.numbers:
        said = f" {plain(wording.text).casefold()} "
        return float(any(said in f" {' '.join(w.lower for w in s.words)} " for s in sentences))
    total = sum(value for _, value in wording.need) + len(wording.numbers)
    got = sum(value for key, value in wording.need if key in keys)
    stated = [q for s in sentences for q in quantities(s.text, s.words)] if wording.numbers else []
    for number in wording.numbers:
        if not any(number.same(q) and number.direction * q.direction >= 0 for q in stated):
            return 0.4 * got / total  # a changed number makes another detail, whatever the words around it
        got += 1
    share = got / total
    if wording.negative and not any(is_negator(w.lower) for s in sentences for w in s.words):
        share = min(share, 0.5)
    return 1.0 if share >= WHOLE and len(wording.need) + len(wording.numbers) >= LONG else share


def locate(detail: Detail, view: View, name: Name | None) -> tuple[float, tuple[int, ...]]:
    """How well the detail is kept in any one place that may be about the entity, and where."""
    best: tuple[float, tuple[int, ...]] = (0.0, ())
    for text in detail.wordings:
        wording = read_wording(text)
        if wording.need:
            windows = view.search(dict(wording.need), name)[:PLACES]
            places = [w.sentences for w in windows if w.link >= OPEN]
        elif wording.numbers:
            at = sorted({i for key in wording.keys for i in view.postings.get(key, ())})
            places = [(i,) for i in at if view.link(i, name) >= OPEN]
        else:
            places = [(i,) for i in (view.about(name) if name else range(len(view.sentences)))]
        for place in places:
            share = share_of(wording, [view.sentences[i] for i in place])
            if share > best[0]:
                best = (share, place)
                if share >= 1.0:
                    return best
    return best


def refine(evidence: Evidence, view: View, general: Finding) -> Finding:
    """The general rules' finding, decided by the curated details wherever they say more."""
    known = frozenset(w.lower for s in sentences_of(evidence.source) for w in s.words)
    name = Name.of(evidence.entity, known)
    located = [(detail, *locate(detail, view, name)) for detail in evidence.details]
    there = [share for detail, share, _ in located if evidence.kind != "rule" or detail.part == "behavior"]
    present = general.present or (max(there, default=0.0) >= STORED and _named(view, name))
    kept: list[str] = []
    lost: list[str] = []
    at: list[int] = []
    for detail, share, place in located:
        if share >= 1.0 or (general.faithful and detail.part in TRUSTED) or _kept_exclusivity(detail, view, located):
            kept.append(detail.wordings[0])
            at.extend(place)
        else:
            lost.append(detail.wordings[0])
            at.extend(place if share >= STORED else ())
    entries = tuple(dict.fromkeys((*view.entries_of(at), *general.entries)))
    if not present:
        return Finding(
            False,
            False,
            general.reason,
            entries,
            tuple(kept),
            tuple(lost) or general.missing,
            (),
            general.confidence,
            general.label,
        )
    if general.fault or general.label:
        return Finding(
            True,
            False,
            general.reason,
            entries,
            tuple(kept),
            general.missing,
            (),
            general.confidence,
            general.label,
            general.fault,
        )
    if lost:
        reason = f"stored, but without {listed(lost)}"
        return Finding(True, False, reason, entries, tuple(kept), tuple(lost), general.reported, 0.85)
    return Finding(True, True, f"kept: {listed(kept)}", entries, tuple(kept), (), general.reported, 0.95)


def _named(view: View, name: Name | None) -> bool:
    return name is None or bool(view.mentions(name))


def _kept_exclusivity(detail: Detail, view: View, located: list[tuple[Detail, float, tuple[int, ...]]]) -> bool:
    """Whether exclusivity is said in other words where behaviour or condition stand."""
    if detail.part != "exclusivity":
        return False
    beside = [i for other, share, place in located if other is not detail and share >= STORED for i in place]
    return any(exclusive(view.sentences[i]) for i in beside)
