"""Curated details: the wordings that a row lists know what the general rules do not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import Final

from pytest_memfail.core import Detail, Evidence
from pytest_memfail.judges.rules.entity_name import Name
from pytest_memfail.judges.rules.exclusivity import tells_otherwise, tells_when_not
from pytest_memfail.judges.rules.finding import Finding, listed
from pytest_memfail.judges.rules.opposites import turned
from pytest_memfail.judges.rules.text import Sentence, sentences_of
from pytest_memfail.judges.rules.view import OPEN, View
from pytest_memfail.judges.rules.wordings import Wording, candidates, read_wording, share_of
from pytest_memfail.judges.rules.words import EXCLUSIVE

STORED: Final = 0.6
"""Share of a wording that shows the detail is there in some form."""
LIKE: Final = 0.6
"""Share of a sentence's words, and of the source's, that shows the one was made from the other."""
SHORT: Final = 3
"""An entry of so many sentences may be a piece of an essay that lost its name."""

Located = tuple[Detail, float, tuple[int, ...]]


def locate(detail: Detail, view: View, own: frozenset[int]) -> tuple[float, tuple[int, ...]]:
    """How well the detail is kept in any one place of these sentences, and where."""
    best: tuple[float, tuple[int, ...]] = (0.0, ())
    for text in detail.wordings:
        wording = read_wording(text)
        for place in _places(wording, view, own):
            sentences = [view.sentences[i] for i in place]
            if detail.part == "exclusivity" and not _says_only(text, sentences):
                continue
            share = share_of(wording, sentences)
            if share > best[0]:
                best = (share, place)
                if share >= 1.0:
                    return best
    return best


def _says_only(text: str, sentences: Sequence[Sentence]) -> bool:
    """Whether an "only" of the wording, which has no key, stands in the sentences too."""
    wanted = frozenset(text.casefold().split()) & EXCLUSIVE
    return not wanted or any(wanted & sentence.lowers for sentence in sentences)


def _places(wording: Wording, view: View, own: frozenset[int]) -> Iterable[tuple[int, ...]]:
    """The sentences with any word of the wording, alone and with the next one."""
    at = candidates(wording, view, own) if len(own) > SHORT else sorted(own)
    yield from ((i,) for i in at)
    # A number in the next sentence counts something else.
    if len(wording.need) > 1 and not wording.numbers and wording.literal is None:
        for i in at:
            for pair in ((i - 1, i), (i, i + 1)):
                if own.issuperset(pair) and view.entry[pair[0]] == view.entry[pair[1]]:
                    yield pair


def own_sentences(evidence: Evidence, view: View, name: Name | None) -> frozenset[int]:
    """The sentences that may be this fact's: under its name, or plainly made from what was said where none is."""
    if name is None:
        return frozenset(range(len(view.sentences)))
    about = set(view.about(name))
    named = {view.entry[i] for i in view.mentions(name)}
    if not named:
        return frozenset()
    for entry in named:
        about.update(i for i in range(view.first[entry], view.first[entry + 1]) if view.link(i, name) >= OPEN)
    stated = _stated(evidence.source)
    if not _has_short(view):
        return frozenset(about)
    for entry in {view.entry[i] for key in _telling(evidence.source) for i in view.postings.get(key, ())} - named:
        first, end = view.first[entry], view.first[entry + 1]
        if end - first <= SHORT:
            about.update(
                i for i in range(first, end) if view.link(i, name) == OPEN and view.own_share((i,), stated) >= LIKE
            )
    return frozenset(about)


def _has_short(view: View) -> bool:
    """Whether any entry may be a piece of an essay."""
    known = view.shared.get("short")
    if known is None:
        known = view.shared["short"] = any(end - first <= SHORT for first, end in pairwise(view.first))
    return bool(known)


@lru_cache(maxsize=4096)
def _name(evidence: Evidence) -> Name | None:
    return Name.of(evidence.entity, frozenset(w.lower for s in sentences_of(evidence.source) for w in s.words))


@lru_cache(maxsize=4096)
def _stated(source: str) -> frozenset[str]:
    return frozenset(key for s in sentences_of(source) for key in s.keys)


@lru_cache(maxsize=4096)
def _telling(source: str) -> tuple[str, ...]:
    return tuple(sorted(key for key in _stated(source) if not key[0].isdigit()))


def refine(evidence: Evidence, view: View, general: Finding) -> Finding:
    """The general rules' finding, and what the curated wordings know besides.

    No list of wordings is complete: what stands in none of them is no loss where the general rules find the fact kept.
    """
    if general.fault or general.label:
        return general
    own = own_sentences(evidence, view, _name(evidence))
    if general.faithful:
        return _turned(evidence, view, own, general) or general
    located: list[Located] = [(detail, *locate(detail, view, own)) for detail in evidence.details]
    kept = [entry for entry in located if _is_kept(*entry, view, located)]
    if len(kept) == len(located) and (evidence.kind != "rule" or _in_one_place(evidence, view, located)):
        entries = tuple(dict.fromkeys((*view.entries_of([i for *_, place in kept for i in place]), *general.entries)))
        found = tuple(detail.wordings[0] for detail, *_ in kept)
        whole = Finding(True, True, f"kept: {listed(found)}", entries=entries, found=found, confidence=0.95)
        return _turned(evidence, view, own, whole) or whole
    core = [entry for entry in located if evidence.kind != "rule" or entry[0].part == "behavior"]
    if not general.present and not (core and all(entry in kept for entry in core)):
        return general
    lost = tuple(entry[0].wordings[0] for entry in located if entry not in kept)
    if not lost:
        return general
    return replace(general, present=True, reason=f"stored, but without {listed(lost)}", missing=lost, reported=())


def _in_one_place(evidence: Evidence, view: View, located: Sequence[Located]) -> bool:
    """Whether an entry about the entity has every detail: told apart, or of nobody, they may not belong together."""
    name = _name(evidence)
    named = None if name is None else {view.entry[i] for i in view.mentions(name)}
    entries = {view.entry[i] for *_, place in located for i in place}
    return len(entries) == 1 and (named is None or entries <= named)


def _turned(evidence: Evidence, view: View, own: frozenset[int], kept: Finding) -> Finding | None:
    """What is kept but for a word turned around, or a number changed, in a sentence that is otherwise the source's."""
    if opposite := turned(evidence, view, own):
        return replace(kept, faithful=False, reason=f"stored, but {opposite}", confidence=0.8)
    return None


def _is_kept(detail: Detail, share: float, place: tuple[int, ...], view: View, located: Sequence[Located]) -> bool:
    if detail.part != "exclusivity":
        return share >= 1.0
    beside = [i for other, there, at in located if other is not detail and there >= STORED for i in at]
    if any(tells_when_not(view.sentences[i]) for i in beside) or any(
        tells_otherwise(s) for s in _following(view, beside)
    ):
        return True
    # An "only" elsewhere in the essay is said of something else.
    return share >= 1.0 and (any(read_wording(text).need for text in detail.wordings) or set(place) <= set(beside))


def _following(view: View, at: Sequence[int]) -> list[Sentence]:
    """What is said next in the same entry."""
    return [view.sentences[i + 1] for i in at if i + 1 < len(view.sentences) and view.entry[i] == view.entry[i + 1]]
