"""Essays about a person: who it is, and the details that the question needs (paper, section 4, task 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from pytest_memfail.core import Evidence
from pytest_memfail.judges.rules.finding import Finding, keys_of, listed
from pytest_memfail.judges.rules.lexicon import lookup
from pytest_memfail.judges.rules.persona_match import Kept, Made, found, keep, own_sentences
from pytest_memfail.judges.rules.persona_need import (
    ASKED,
    NAMED_TOO,
    ONLY,
    Essay,
    Item,
    Stated,
    needed_items,
    read_essay,
)
from pytest_memfail.judges.rules.persona_numbers import changed, other_side
from pytest_memfail.judges.rules.persona_owner import given
from pytest_memfail.judges.rules.persona_slots import replaced
from pytest_memfail.judges.rules.persona_turned import UNCERTAIN, exchanged_apart, refusing, turned
from pytest_memfail.judges.rules.polarity import exclusive
from pytest_memfail.judges.rules.related import opposed
from pytest_memfail.judges.rules.text import weight
from pytest_memfail.judges.rules.view import NAMED, View, needs

ITEM_KEPT: Final = 0.46
"""Share of a needed detail's words that keeps it; all its numbers must be there."""
TRAIT_KEPT: Final = 0.25
"""The same for a trait that a misleading question borrows: a whole sentence of the essay."""
TRAIT_NAMED: Final = 0.5
"""Share of what the question names of the trait."""
ONLY_KEPT: Final = 0.5
"""Share of what stands behind an "only" that keeps it."""
ENOUGH: Final = 0.7
"""Share of the needed details that must be kept."""
MANY: Final = 4
ENOUGH_OF_MANY: Final = 0.6
TELLING: Final = 1.5
"""An answer that takes less from the essay than this is told by its reasons too."""
MADE: Final = ((2.0, 0.5, 0.55), (3.5, 0.6, 0.42), (3.0, 0.74, 0.36))
"""What shows that a sentence was made from the essay: words of one of its sentences, and the share that the essay and
that sentence have of its words."""
MERGED: Final = (3.5, 0.75)
"""The same of a sentence that takes a little from many: so much of the essay, and that share of its words."""
IDENTITY_OWN: Final = 0.4
BRIEF: Final = 7.0
GROUP_OWN: Final = 0.45
"""The share that the essay has of all that is said beside such a sentence."""
LONG: Final = 5
"""Of so many sentences about a person one alone may be like the essay by chance."""
GROUP_SURE: Final = 0.6
FEW: Final = 0.08
"""Where fewer of the sentences about that name are like the essay, they are a namesake's."""
TRAIT_GRACE: Final = 0.25
ANCHORED: Final = 0.5
ANCHORED_SHOWN: Final = 0.25
TRAIT_SURE: Final = 0.5
"""The same of entries that were shown: that they are somebody else's was for the whole store to tell."""
OTHERWISE: Final = 0.7
"""The share of a sentence that shows it to tell another detail of the essay."""
PART_KEPT: Final = 0.5
FAITHFUL: Final = 0.4
"""Share of the essay's details that must be kept where no question asks for particular ones."""
SHOWN: Final = 0.25
PAPER: Final = 0.85


Fault = Literal["", "turned", "elsewhere"]


@dataclass(frozen=True, slots=True)
class Match:
    """An essay beside what a view holds of the person."""

    essay: Essay
    own: tuple[Made, ...]
    """Sentences about the person or a namesake."""
    made: tuple[Made, ...]
    """Those that were made from the essay."""
    kept: frozenset[int]
    """The essay's sentences that are kept."""

    @property
    def who(self) -> str:
        """The person's name."""
        return self.essay.name.full if self.essay.name else "the person"

    @property
    def coverage(self) -> str:
        """How much of the essay is there."""
        return f"{len(self.kept)} of {len(self.essay.stated)} details of {self.who} are kept"

    def wordings(self, *, kept: bool) -> tuple[str, ...]:
        """The details that are kept, or lost."""
        return tuple(s.wording for i, s in enumerate(self.essay.stated) if (i in self.kept) == kept)


@dataclass(frozen=True, slots=True)
class Judged:
    """One needed detail in a view."""

    item: Item
    kept: Kept
    lost: str
    """Why it does not count as kept; empty where it does."""
    turned: bool = False
    trait: bool = False


def find_persona(evidence: Evidence, view: View, protocol: str, *, shown: bool = False) -> Finding:
    """The essay in a view: anything made from it (stored), and the details needed (faithful)."""
    match = _match(read_essay(evidence.source, evidence.entity), view)
    items = needed_items(evidence) if protocol == "ours" else ()
    asked = frozenset(keys_of(evidence.asked or ""))
    judged = [_judge(item, match, view, asked, trait=not evidence.value) for item in items]
    judged = _across(judged, match.essay, view) if evidence.value else _likeliest(judged)
    whole = bool(judged) and all(
        not j.lost and _anchored(j, match, shown=shown) for j in judged if j.item.weight >= 1.0
    )
    if not match.made and not whole:
        return _absent(match, view)
    if judged:
        return _needed(judged, match, view)
    share = len(match.kept) / max(1, len(match.essay.stated))
    if evidence.asked:
        return _unclear(match, view)
    least = PAPER if protocol == "paper" and not shown else SHOWN if shown else FAITHFUL
    entries = _entries(match.made, view)
    kept, lost = match.wordings(kept=True), match.wordings(kept=False)
    if share < least:
        return Finding(True, False, f"only {match.coverage}", entries, kept, lost, (), 0.7)
    return Finding(True, True, match.coverage, entries, kept, (), lost, 0.6 + 0.4 * share)


def _across(judged: list[Judged], essay: Essay, view: View) -> list[Judged]:
    """Details that are kept one by one, but of which the wanted one and the refused one changed places."""
    kept = [j for j in judged if not j.lost]
    sources = {j.item.at: essay.stated[j.item.at].sentence for j in kept}
    if len(sources) < 2:
        return judged
    told = {k for j in kept for c in j.item.concepts for k in c.keys}
    stored = dict.fromkeys(at for j in kept for at in j.kept.where)
    fault = exchanged_apart([view.sentences[at] for at in stored], sources.values(), told)
    return [replace(j, lost=fault, turned=True) if fault and j is kept[0] else j for j in judged]


def _likeliest(traits: list[Judged]) -> list[Judged]:
    """Of the traits that a question may borrow the one that is meant: turned around, or else kept."""
    first = [j for j in traits[:1] if j.turned]
    return (first or [j for j in traits if not j.lost] or [j for j in traits if j.turned] or traits)[:1]


def _match(essay: Essay, view: View) -> Match:
    own: list[Made] = []
    made: list[Made] = []
    about = own_sentences(view, essay)
    for group in _groups(about, view):
        total = sum(m.total for m in group)
        share = sum(m.own * m.total for m in group) / total if total else 0.0
        like = [m for m in group if _made(m) or _same_person(m, essay, view)]
        if len(group) < LONG or share >= GROUP_SURE or (share >= GROUP_OWN and len(like) > 1):
            own += group
            made += [m for m in like if share >= (GROUP_OWN if _made(m) else IDENTITY_OWN)]
    if len(made) < FEW * len(about):
        made = []
    kept = frozenset(
        i
        for m in made
        for i, got in m.by.items()
        if got >= PART_KEPT * sum(essay.stated[i].weights.values()) or (got >= 2.0 and got >= PART_KEPT * m.total)
    )
    return Match(essay, tuple(own), tuple(made), kept)


def _made(m: Made) -> bool:
    if m.sure >= MERGED[0] and m.sure >= MERGED[1] * m.total:
        return True
    return any(m.overlap >= overlap and m.own >= own and m.closest >= closest for overlap, own, closest in MADE)


def _same_person(m: Made, essay: Essay, view: View) -> bool:
    """Whether a short sentence under the name has a word that tells who it is: the trade, the name of the ship."""
    known = view.sentences[m.at].keys & essay.identity
    named = essay.name is not None and view.link(m.at, essay.name) == NAMED
    return named and bool(known) and m.total <= BRIEF and m.sure >= max(2.0, IDENTITY_OWN * m.total)


def _anchored(judged: Judged, match: Match, *, shown: bool) -> bool:
    """Whether the place that keeps the detail has little else in it: what a namesake's entry shares by chance does."""
    if judged.trait and not shown and judged.kept.share < TRAIT_SURE:
        return False
    places = [m for m in match.own if m.at in judged.kept.where]
    least = ANCHORED_SHOWN if shown else ANCHORED
    return any(m.own >= least and m.by.get(judged.item.at, 0.0) >= 1.0 for m in places)


def _groups(own: Sequence[Made], view: View) -> list[list[Made]]:
    """Neighbouring sentences of one entry: a namesake's entry may share a sentence by chance."""
    groups: list[list[Made]] = []
    for m in own:
        if groups and groups[-1][-1].at == m.at - 1 and view.entry[groups[-1][-1].at] == view.entry[m.at]:
            groups[-1].append(m)
        else:
            groups.append([m])
    return groups


def _judge(item: Item, match: Match, view: View, asked: frozenset[str], *, trait: bool) -> Judged:
    """Whether the detail stands in what is stored of the person, and the right way round."""
    essay = match.essay
    kept = keep(item, _places(item, match, view), view, essay)
    keys = frozenset().union(*(view.sentences[at].keys for at in kept.where)) if kept.where else frozenset()
    told = {k for c in item.concepts for k in c.keys}
    for at in kept.where:
        fault = turned(view, at, essay.stated[item.at], told, asked)
        holder = "" if fault else given(view.sentences[at], essay.stated[item.at], essay, told)
        if holder:
            fault = f"'{item.wording}' is told of '{holder}'"
        if fault:
            return Judged(item, kept, fault, turned=True)
    if kept.missing:
        other_number = changed(item, kept, view)
        # A number beside the point is missed only where the rest was kept without it.
        if item.weight >= 1.0 or kept.share > 0.25 or other_number:
            return Judged(item, kept, other_number or f"{listed(kept.missing)} is missing", turned=bool(other_number))
    side = other_side(item, kept, view, essay)
    if side:
        return Judged(item, kept, side, turned=True)
    least = TRAIT_KEPT if trait else ITEM_KEPT
    if kept.share < least:
        return Judged(item, kept, f"'{item.wording}' is missing")
    # Words of the question are there in any answer: what it asks for must be too.
    answering = [c for c in item.concepts if c.weight >= 1.0 and asked.isdisjoint(c.keys)]
    if not trait and answering and not item.numbers and not any(found(c, keys) for c in answering):
        return Judged(item, kept, f"{listed([c.keys[-1] for c in answering])} is missing")
    if trait:
        named = [c for c in item.concepts if c.weight == ASKED]
        there = sum(found(c, keys) for c in named)
        if named and there < TRAIT_NAMED * len(named) and not item.numbers:
            missing = [c.keys[0] for c in named if not found(c, keys)]
            return Judged(item, kept, f"{listed(missing)} of '{item.wording}' is missing")
    quiet = not any(refusing(view.sentences[at]) for at in kept.where)
    counts = ASKED if trait else 1.0
    other = _generalised(item, keys, essay) or (_replaced(item, keys, essay, counts) if quiet else "")
    if not other:
        other = replaced(item, (view.sentences[at] for at in kept.where), essay, counts)
    if other:
        return Judged(item, kept, other, turned=True)
    if item.exclusive and not any(exclusive(s) or ONLY.search(s.text) for s in (view.sentences[i] for i in kept.where)):
        return Judged(item, kept, f"that it is only '{item.wording}' is lost", turned=True)
    alone = [c for c in item.concepts if c.weight >= 1.0 and not item.rest.isdisjoint(c.keys)]
    if alone and sum(found(c, keys) for c in alone) < ONLY_KEPT * len(alone):
        return Judged(item, kept, f"{listed([c.keys[-1] for c in alone if not found(c, keys)])} is missing")
    return Judged(item, kept, "", trait=trait)


def _generalised(item: Item, keys: frozenset[str], essay: Essay) -> str:
    """A more general word in the place of a telling one: wood for walnut."""
    for concept in item.concepts:
        if concept.weight >= NAMED_TOO and not found(concept, keys):
            general = frozenset().union(*(lookup(k).general for k in concept.keys)) & keys
            wider = sorted(k for k in general if weight(k) >= 1.0 and k not in essay.keys)
            if wider:
                return f"'{concept.keys[-1]}' is only '{wider[0]}'"
    return ""


def _replaced(item: Item, keys: frozenset[str], essay: Essay, least: float) -> str:
    """An opposite in the place of a telling word."""
    strange = sorted(
        k
        for k in keys - essay.places.keys() - essay.near.keys() - essay.ignored
        if weight(k) >= 1.0 and k not in UNCERTAIN
    )
    for concept in item.concepts:
        if concept.weight >= least and not found(concept, keys):
            for key in strange:
                if any(opposed(k, key) for k in concept.keys):
                    return f"'{key}' instead of '{concept.keys[-1]}'"
    return ""


def _places(item: Item, match: Match, view: View) -> list[tuple[int, ...]]:
    """Sentences about the person, alone and with the next one, that may hold the detail."""
    name = match.essay.name
    at = [
        m.at
        for m in match.own
        if _may_hold(item, m, view, match.essay, named=name is None or view.link(m.at, name) == NAMED)
    ]
    known = set(at)
    pairs: list[tuple[int, ...]] = [
        (i, i + 1)
        for i in at
        if i + 1 in known and view.entry[i] == view.entry[i + 1] and not view.sentences[i + 1].starts_turn
    ]
    return [*((i,) for i in at), *pairs]


def _may_hold(item: Item, made: Made, view: View, essay: Essay, *, named: bool) -> bool:
    """A single word of an answer tells nothing in a sentence about other things."""
    here = made.by.get(item.at, 0.0)
    if not (named or made.own >= 0.3 or here >= 1.5):
        return False
    # Where all that is there of it stands in another sentence of the essay, which this one plainly tells, it is that one's.
    return (
        made.stated == item.at
        or made.closest < OTHERWISE
        or not _explained(item, view.sentences[made.at].keys, essay.stated[made.stated])
    )


def _explained(item: Item, keys: frozenset[str], stated: Stated) -> bool:
    """Whether another sentence of the essay has all that a stored one has of the item."""
    return all(found(c, stated.sentence.keys) for c in item.concepts if found(c, keys))


def _needed(judged: Sequence[Judged], match: Match, view: View) -> Finding:
    """Whether enough of the needed details is kept, and none of the answer itself is turned around."""
    # What the answer gives as its reason may be lost, unless the answer itself takes hardly anything from the essay.
    main = [j for j in judged if j.item.weight >= 1.0]
    asked = main if sum(j.item.size for j in main) >= TELLING else judged
    share = sum(j.item.weight for j in asked if not j.lost) / sum(j.item.weight for j in asked)
    lost = [j for j in judged if j.lost]
    broken = [j for j in lost if j.turned] or [j for j in lost if _blurred(j)]
    where = [at for j in judged if not j.lost or j.turned for at in j.kept.where]
    entries = view.entries_of([*where, *(m.at for m in match.made)])
    kept = tuple(j.item.wording for j in judged if not j.lost)
    reported = match.wordings(kept=False)
    if broken or share < (ENOUGH if len(asked) < MANY else ENOUGH_OF_MANY):
        worst = broken or lost
        reason = (
            f"what the question needs of {match.who} is lost: {'; '.join(j.lost for j in worst)} ({match.coverage})"
        )
        missing = tuple(j.item.wording for j in lost)
        fault: Fault = "turned" if any(j.turned for j in worst) else ""
        return Finding(True, False, reason, entries, kept, missing, reported, _sure_lost(worst), fault=fault)
    reason = f"what the question needs of {match.who} is kept: {listed(kept)} ({match.coverage})"
    return Finding(True, True, reason, entries, kept, (), reported, _sure_kept(asked))


def _sure_kept(judged: Sequence[Judged]) -> float:
    """Word for word is sure; the fewer of the words, the likelier something else was said with them."""
    least = min((j.kept.share for j in judged if not j.lost), default=0.0)
    if any(j.trait for j in judged):
        least += TRAIT_GRACE
    return 0.96 if least >= 0.9 else 0.85 if least >= 0.7 else 0.72 if least >= 0.55 else 0.65


def _sure_lost(judged: Sequence[Judged]) -> float:
    """A detail of which nothing is there is lost; one half there may be put in other words."""
    most = max(0.0 if j.turned else j.kept.share for j in judged)
    return 0.9 if most < 0.25 or any(_blurred(j) for j in judged) else 0.72


def _blurred(judged: Judged) -> bool:
    """Whether a detail lost its number: the answer's own, or one of a reason that says more than the number."""
    item = judged.item
    if not item.numbers:
        return False
    least = min(0.25, 0.99 / item.size) if item.weight >= 1.0 else 0.25
    said = bool(judged.kept.missing) and judged.kept.share > least
    return said or (item.weight < 1.0 and item.size >= 2.0)


def _unclear(match: Match, view: View) -> Finding:
    """A question that does not tell which trait it borrows: what is stored of the person must not be turned around."""
    entries = _entries(match.made, view)
    kept, lost = match.wordings(kept=True), match.wordings(kept=False)
    for m in match.own:
        stated = match.essay.stated[m.stated]
        fault = (
            turned(view, m.at, stated, stated.weights, frozenset()) if m.own >= ANCHORED and m.overlap >= 2.0 else ""
        )
        if fault:
            return Finding(
                True, False, f"of {match.who} {fault}", entries, kept, (stated.wording,), lost, 0.6, fault="turned"
            )
    return Finding(True, True, match.coverage, entries, kept, (), lost, 0.6)


def _absent(match: Match, view: View) -> Finding:
    elsewhere = _under_another_name(match, view)
    if elsewhere:
        reason = f"details of {match.who} are stored, but not under that name"
        return Finding(True, False, reason, elsewhere, (), (match.who,), confidence=0.8, fault="elsewhere")
    reason = f"no entry keeps what was told about {match.who}" + ("" if match.own else ", who is not named at all")
    most = max((m.overlap for m in match.own), default=0.0)
    sure = 0.97 if not match.own or most < 1.0 else 0.92 if most < 2.0 else 0.75
    near = _entries(sorted(match.own, key=lambda m: -m.overlap)[:3], view)
    return Finding(False, False, reason, near, (), match.wordings(kept=False), confidence=sure)


def _under_another_name(match: Match, view: View) -> tuple[int, ...]:
    """The entries that hold most of the essay though they do not name the person."""
    at: list[int] = []
    kept = 0
    for stated in match.essay.stated:
        best = view.search(needs(stated.weights), None, 1)
        if best and best[0].coverage >= 0.7:
            kept += 1
            at.extend(best[0].sentences)
    return view.entries_of(at) if kept >= 0.4 * len(match.essay.stated) else ()


def _entries(made: Sequence[Made], view: View) -> tuple[int, ...]:
    return view.entries_of([m.at for m in made])
