"""Essays about a person: who it is, and the details that the question needs (paper, section 4, task 3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from pytest_memfail.core import Evidence
from pytest_memfail.judges.rules.finding import Finding, keys_of, listed, passage
from pytest_memfail.judges.rules.quantities import Quantity, quantities
from pytest_memfail.judges.rules.text import Sentence, TextCache, weight
from pytest_memfail.judges.rules.view import NAMED, OPEN, Name, View, needs

DETAIL_KEPT: Final = 0.5
"""Share of a detail's words that keeps it."""
BRIEF: Final = 0.3
OWN_BRIEF: Final = 0.6
"""The same for two words or more in an entry that has hardly anything but the essay's words."""
NEEDED_KEPT: Final = 0.6
"""The same for a detail that the question needs; all its numbers must be there."""
UNNEEDED: Final = 0.34
"""Share of what the gold answer takes from the essay that an answer can do without."""
OWN: Final = 0.45
OWN_UNNAMED: Final = 0.75
"""Share of a stored sentence's words that come from the essay, if it was made from it."""
OWN_MADE: Final = 0.65
TELLING_MADE: Final = 4
"""With so many telling words one named sentence shows that the essay was stored at all."""
STORED: Final = 0.2
FAITHFUL: Final = 0.4
"""Share of the essay's details that must be kept where no question asks for particular ones."""
SHOWN: Final = 0.25
COVERED: Final = 0.8
ADVICE: Final = frozenset("bring pack use give include offer choose yes".split())
"""What answers begin with; it is no detail of the person."""


@dataclass(frozen=True, slots=True)
class Part:
    """One sentence of the essay as a detail."""

    need: Mapping[str, float]
    numbers: tuple[Quantity, ...]
    wording: str


@dataclass(frozen=True, slots=True)
class Persona:
    """What must be found of an essay."""

    name: Name | None
    parts: tuple[Part, ...]
    needed: tuple[Part, ...]
    stated: frozenset[str]


@lru_cache(maxsize=4096)
def read_persona(evidence: Evidence) -> Persona:
    """The essay of the evidence, with the parts that its question's answer needs."""
    view = View([evidence.source], TextCache())
    ignore = keys_of(evidence.entity or "")
    parts = []
    for sentence in view.sentences:
        need = needs(sentence.keys - ignore)
        if need:
            parts.append(
                Part(need, quantities(sentence.text, sentence.words), passage(evidence.source, sentence, need, 60))
            )
    stated = frozenset(k for s in view.sentences for k in s.keys) - ignore
    needed = _needed(evidence, view.sentences, ignore) if evidence.value else ()
    return Persona(Name.of(evidence.entity, view.lowers()), tuple(parts), needed, stated)


def _needed(evidence: Evidence, sentences: list[Sentence], ignore: set[str]) -> tuple[Part, ...]:
    """The fewest essay sentences that together hold what the gold answer takes from the essay."""
    asked = needs(keys_of(evidence.value or "") - ignore - ADVICE)
    open_keys = {k for k in asked if any(k in s.keys for s in sentences)}
    gold_numbers = [q for s in View([evidence.value or ""], TextCache()).sentences for q in quantities(s.text, s.words)]
    total = sum(asked[k] for k in open_keys)
    left = set(open_keys)
    chosen: list[int] = []
    while left and sum(asked[k] for k in left) > (1 - COVERED) * total:
        gains = [
            (sum(asked[k] for k in sentences[i].keys & left), -i) for i in range(len(sentences)) if i not in chosen
        ]
        if not gains or max(gains)[0] < 1.0:
            break
        i = -max(gains)[1]
        chosen.append(i)
        left -= sentences[i].keys
    parts = []
    for i in sorted(chosen):
        need = {k: asked[k] for k in sorted(sentences[i].keys & open_keys)}
        numbers = tuple(
            q for q in quantities(sentences[i].text, sentences[i].words) if any(q.same(g) for g in gold_numbers)
        )
        parts.append(Part(need, numbers, passage(evidence.source, sentences[i], need)))
    weights = [sum(p.need.values()) + len(p.numbers) for p in parts]
    return tuple(p for p, w in zip(parts, weights, strict=True) if w >= 0.25 * max(weights))


def find_persona(evidence: Evidence, view: View, protocol: str, *, shown: bool = False) -> Finding:
    """The essay in a view: some of its details under its name (stored), and those needed (faithful)."""
    persona = read_persona(evidence)
    name = persona.name
    kept: list[str] = []
    lost: list[str] = []
    at: list[int] = []
    about = frozenset(view.about(name)) if name else frozenset(range(len(view.sentences)))
    for part in persona.parts:
        place = _place(part, view, persona, about, DETAIL_KEPT)
        if place is None:
            lost.append(part.wording)
        else:
            kept.append(part.wording)
            at.extend(place)
    share = len(kept) / len(persona.parts) if persona.parts else 0.0
    needed = [(part, _place(part, view, persona, about, NEEDED_KEPT, exact=True)) for part in persona.needed]
    missing_parts = tuple(part for part, place in needed if place is None)
    missing = tuple(part.wording for part in missing_parts)
    where = [i for _, place in needed if place is not None for i in place]
    entries = view.entries_of([*where, *at])
    who = name.full if name else "the person"
    present = (
        share >= STORED or _made_from(persona, view, about) or len(kept) >= 2 or bool(persona.needed and not missing)
    )
    if not present:
        elsewhere = _under_another_name(persona, view)
        if elsewhere:
            return Finding(
                True,
                False,
                f"details of {who} are stored, but not under that name",
                elsewhere,
                (),
                (name.full if name else who,),
                confidence=0.8,
            )
        reason = f"no entry keeps what was told about {who}" + ("" if about else ", who is not named at all")
        return Finding(
            False, False, reason, entries or view.entries_of(sorted(about))[:3], (), tuple(lost), confidence=0.9
        )
    coverage = f"{len(kept)} of {len(persona.parts)} details of {who} are kept"
    if evidence.value and persona.needed and protocol == "ours":
        if _size(missing_parts) > UNNEEDED * _size(persona.needed):
            reason = f"what the question needs of {who} is lost: {listed(missing)} ({coverage})"
            return Finding(
                True, False, reason, entries, tuple(kept), missing, tuple(w for w in lost if w not in missing), 0.8
            )
        return Finding(
            True, True, f"what the question needs of {who} is kept ({coverage})", entries, tuple(kept), (), tuple(lost)
        )
    least = 0.85 if protocol == "paper" and not shown else SHOWN if shown else FAITHFUL
    if share < least:
        return Finding(True, False, f"only {coverage}", entries, tuple(kept), tuple(lost), (), 0.7)
    return Finding(True, True, coverage, entries, tuple(kept), (), tuple(lost), 0.6 + 0.4 * share)


def _place(
    part: Part, view: View, persona: Persona, about: frozenset[int], least: float, *, exact: bool = False
) -> tuple[int, ...] | None:
    """Where the part is kept in sentences about the person, or None."""
    for window in view.search(part.need, persona.name, only_about=True):
        if window.coverage < BRIEF:
            break
        coverage = window.coverage
        if exact and part.numbers:
            if not all(any(q.same(o) for o in view.quantities(window.sentences)) for q in part.numbers):
                continue
            total = sum(part.need.values())
            coverage = (coverage * total + len(part.numbers)) / (total + len(part.numbers))
        own = view.own_share(window.sentences, persona.stated, persona.name)
        if window.link < OPEN or not about or own < (OWN if window.link > OPEN else OWN_UNNAMED):
            continue
        if coverage < least and (exact or own < OWN_BRIEF or len(window.found) < 2):
            continue
        return window.sentences
    return None


def _size(parts: Iterable[Part]) -> float:
    return sum(sum(part.need.values()) + len(part.numbers) for part in parts)


def _made_from(persona: Persona, view: View, about: frozenset[int]) -> bool:
    """Whether any sentence that names the person was plainly made from the essay."""
    if persona.name is None:
        return False
    for i in sorted(about):
        if view.link(i, persona.name) == NAMED and view.own_share((i,), persona.stated, persona.name) >= OWN_MADE:
            telling = [key for key in view.sentences[i].keys & persona.stated if weight(key) >= 1.0]
            if len(telling) >= TELLING_MADE:
                return True
    return False


def _under_another_name(persona: Persona, view: View) -> tuple[int, ...]:
    """The entries that hold most of the essay though they do not name the person."""
    at: list[int] = []
    kept = 0
    for part in persona.parts:
        best = view.search(part.need, None, 1)
        if best and best[0].coverage >= 0.7:
            kept += 1
            at.extend(best[0].sentences)
    return view.entries_of(at) if persona.parts and kept >= 0.4 * len(persona.parts) else ()
