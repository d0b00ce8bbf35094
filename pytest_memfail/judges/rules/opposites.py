"""Words turned into their opposites, and numbers changed, in a sentence that is otherwise the source's."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Final

from pytest_memfail.core import Evidence
from pytest_memfail.judges.rules.lexicon import lookup
from pytest_memfail.judges.rules.polarity import is_negator
from pytest_memfail.judges.rules.quantities import Quantity, quantities
from pytest_memfail.judges.rules.text import Sentence, sentences_of, weight
from pytest_memfail.judges.rules.view import View

ALIKE: Final = 0.6
"""Share of the words of both sentences that shows the one was made from the other."""
POLES: Final = tuple(
    (frozenset(one.split()), frozenset(other.split()))
    for one, other in (
        ("before until", "after once"),
        ("above over", "below under beneath"),
        ("more", "fewer less"),
        ("morning", "evening"),
        ("warmer hotter", "colder cooler"),
        ("louder", "quieter"),
        ("brighter lighter", "darker dimmer"),
        ("longer", "shorter"),
        ("higher", "lower"),
        ("earlier", "later"),
        ("indoors indoor", "outdoors outdoor"),
        ("inside", "outside"),
        ("sunrise dawn", "sunset dusk"),
        ("left", "right"),
    )
)


def turned(evidence: Evidence, view: View, own: Collection[int]) -> str:
    """What was turned around in the sentences that tell the fact, or nothing."""
    for said in _telling(evidence):
        stored = _made_from(said, view, own)
        # Said right once, it is not turned by another sentence about it.
        faults = [_opposite(said, sentence) or _changed(said, sentence, _gold_numbers(evidence)) for sentence in stored]
        if faults and all(faults):
            return faults[0]
    return ""


@lru_cache(maxsize=4096)
def _telling(evidence: Evidence) -> tuple[Sentence, ...]:
    """The source's sentences with a curated detail."""
    firsts = [detail.wordings[0].casefold() for detail in evidence.details]
    return tuple(s for s in sentences_of(evidence.source) if any(first in s.text.casefold() for first in firsts))


@lru_cache(maxsize=4096)
def _gold_numbers(evidence: Evidence) -> tuple[Quantity, ...]:
    """The numbers of the condition, or of what the question needs."""
    gold = evidence.condition if evidence.kind == "rule" else evidence.value
    return tuple(q for s in sentences_of(gold or "") for q in quantities(s.text, s.words))


def _made_from(said: Sentence, view: View, own: Collection[int]) -> list[Sentence]:
    total = sum(weight(key) for key in said.keys)
    near = {i for key in said.keys for i in view.postings.get(key, ()) if i in own}
    return [
        view.sentences[i]
        for i in sorted(near)
        if sum(weight(k) for k in said.keys & view.sentences[i].keys) >= ALIKE * total
        and view.own_share((i,), said.keys) >= ALIKE
    ]


def _opposite(said: Sentence, stored: Sentence) -> str:
    if sum(is_negator(w.lower) for w in said.words) != sum(is_negator(w.lower) for w in stored.words):
        return ""  # "not before" is "after"
    mine, theirs = said.lowers - stored.lowers, stored.lowers - said.lowers
    for pair in POLES:
        for one, other in (pair, pair[::-1]):
            if mine & one and theirs & other:
                return f"'{min(theirs & other)}' instead of '{min(mine & one)}'"
    for key in sorted(said.keys - stored.keys):
        for contrary in sorted(lookup(key).opposite & stored.keys - said.keys):
            return f"'{contrary}' instead of '{key}'"
    return ""


def _changed(said: Sentence, stored: Sentence, gold: Sequence[Quantity]) -> str:
    """Another number in the place of one that decides."""
    told, now = quantities(said.text, said.words), quantities(stored.text, stored.words)
    for number in told:
        if any(number.same(q) for q in gold) and not any(number.same(q) for q in now):
            for other in now:
                if other.unit == number.unit and not any(other.same(q) for q in told):
                    return f"'{other.text.strip()}' instead of '{number.text.strip()}'"
    return ""
