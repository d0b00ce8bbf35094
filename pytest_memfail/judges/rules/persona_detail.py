"""Whether a detail that a question needs stands in what is stored of the person, and the right way round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from pytest_memfail.judges.rules.finding import listed, written
from pytest_memfail.judges.rules.frequency import other_frequency
from pytest_memfail.judges.rules.lexicon import EMPTY, lookup
from pytest_memfail.judges.rules.persona_affirmed import refuses, refusing
from pytest_memfail.judges.rules.persona_allergy import allergen_instead, unnamed
from pytest_memfail.judges.rules.persona_borrowed import altered, given_away, names_ailment, repeats, well_told
from pytest_memfail.judges.rules.persona_core import asked_lost, core_denied, core_lost, elsewhere_said
from pytest_memfail.judges.rules.persona_essay import Essay, Item, Stated
from pytest_memfail.judges.rules.persona_hollow import hollowed
from pytest_memfail.judges.rules.persona_match import KEPT, Kept, Made, found, joined, keep, keys_at, stands
from pytest_memfail.judges.rules.persona_need import ONLY
from pytest_memfail.judges.rules.persona_numbers import changed, limited, only_number, other_side, recounted
from pytest_memfail.judges.rules.persona_owner import given, lent
from pytest_memfail.judges.rules.persona_partners import surface
from pytest_memfail.judges.rules.persona_refusals import AFFIRMING, NOBODY, REFUSALS, UNCERTAIN
from pytest_memfail.judges.rules.persona_slots import replaced
from pytest_memfail.judges.rules.persona_trait import ASKED
from pytest_memfail.judges.rules.persona_turned import turned
from pytest_memfail.judges.rules.persona_vaguer import vaguer
from pytest_memfail.judges.rules.polarity import exclusive
from pytest_memfail.judges.rules.related import opposed, related
from pytest_memfail.judges.rules.text import Sentence, fold, weight
from pytest_memfail.judges.rules.view import NAMED, View

ATTITUDES: Final = REFUSALS | AFFIRMING
FEARING: Final = frozenset(fold(word) for word in "afraid scared fear phobia dread".split())
"""What somebody fears is not wanted either."""
ITEM_KEPT: Final = 0.46
"""Share of a needed detail's words that keeps it; all its numbers must be there."""
ANSWER_KEPT: Final = 0.4
"""The same where what answers the question is there: what goes with it may be left out."""
NAME_KEPT: Final = 0.3
"""The same where a word is there that no dictionary has: bancha is a green tea."""
LITTLE_ELSE: Final = 3.0
"""A detail of no more is told by its number."""
COUNT_KEPT: Final = 0.34
"""The same where a number with its unit is there."""
TRAIT_KEPT: Final = 0.25
"""The same for a trait that a misleading question borrows: a whole sentence of the essay."""
TRAIT_NAMED: Final = 0.5
"""Share of what the question names of the trait."""
REST_KEPT: Final = 0.45
"""The share of what the question does not name of a trait that tells it, in whatever words the question's own are put."""
AROUND: Final = 1.5
"""How much of it there must be."""
ONLY_KEPT: Final = 0.5
"""Share of what stands behind an "only" that keeps it."""
OTHERWISE: Final = 0.7
"""The share of a sentence that shows it to tell another detail of the essay."""
RARELY: Final = frozenset("rarely seldom hardly occasionally sometimes sparingly infrequently".split())
"""What "only rarely" may become."""
WORKING: Final = frozenset(fold(word) for word in "work use do take".split())
"""Verbs that any other may stand for."""
PART: Final = 1.5
"""How much of a sentence of the essay shows that a stored one tells a part of it."""


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


def judge_detail(item: Item, match: Match, view: View, asked: frozenset[str]) -> Judged:
    """Whether the detail stands in what is stored of the person, and the right way round."""
    essay = match.essay
    places = _places(item, match, view)
    kept = keep(item, places, view, essay)
    source = essay.stated[item.at].sentence
    if kept.missing:
        kept = joined(item, kept, places, view, essay)
    keys = keys_at(kept.where, item, view, essay)
    told = {k for c in item.concepts for k in c.keys}
    likest = {m.at: essay.stated[m.stated] for m in match.own}
    for at in kept.where:
        held = view.sentences[at]
        likely = likest[at] if _told_twice(item, likest[at]) else essay.stated[item.at]
        fault = turned(held, likely, essay, told, asked, _following(at, view))
        fault = fault or allergen_instead(held, likely.sentence, essay.keys)
        holder = "" if fault else given(held, (likely, likest[at]), essay, told) or lent(held, essay, told)
        if holder:
            # That somebody else has what is only beside the answer does not take the answer away.
            return Judged(item, kept, f"'{item.wording}' is told of '{holder}'", turned=item.weight >= 1.0)
        if fault:
            return Judged(item, kept, fault, turned=True)
    whole = item.trait and (well_told(item, match.own) or names_ailment(item, match.own, view, essay))
    if item.trait:
        fault = altered(item, kept, match.own, view, essay, asked)
        if fault:
            return Judged(item, kept, fault, turned=True)
    if kept.missing:
        other_number = changed(item, kept, view, essay)
        # A number beside the point is missed only where the rest was kept without it.
        missed = limited(item, kept) if item.trait else item.weight >= 1.0 or kept.share > 0.25
        if missed or other_number:
            return Judged(item, kept, other_number or f"{listed(kept.missing)} is missing", turned=bool(other_number))
    side = other_side(item, kept, view, essay) or recounted(item, kept, view, essay)
    if not side and item.weight >= 1.0:
        side = other_frequency(_around(item, source), " ".join(view.sentences[at].text for at in kept.where))
    if side:
        return Judged(item, kept, side, turned=True)
    if kept.share < _least(item, kept, keys, essay) and not whole:
        return Judged(item, kept, f"'{item.wording}' is missing")
    # Words of the question are there in any answer: what it asks for must be too.
    answering = [c for c in item.concepts if (c.weight >= 1.0 or c.core) and asked.isdisjoint(c.keys)]
    answering = answering or [c for c in item.concepts if asked.isdisjoint(c.keys)]
    # That it is refused or wanted may be told in any words: whether it is was looked at before.
    answering = [c for c in answering if (ATTITUDES | WORKING).isdisjoint(c.keys)]
    open_ = not item.trait and not item.confirming and not item.numbers
    if open_ and answering and not any(stands(c, item, keys, essay) for c in answering):
        return Judged(item, kept, f"{listed([surface(source, c.keys[-1]) for c in answering])} is missing")
    here = [view.sentences[at] for at in kept.where]
    cause = [] if item.trait else [c for c in item.concepts if not stands(c, item, keys, essay)]
    cause = [c for c in cause if unnamed(c.keys, here, source)]
    if cause:
        return Judged(
            item,
            kept,
            f"what the allergy is to ('{surface(source, cause[0].keys[-1])}') is missing",
            turned=item.weight >= 1.0,
        )
    if item.weight >= 1.0 and not item.trait and not item.confirming:
        if denied := core_denied(item, here, essay):
            return Judged(item, kept, denied, turned=True)
        gone, replaced_by = core_lost(item, keys, here, (view.sentences[m.at] for m in match.own), essay, asked)
        if gone:
            return Judged(item, kept, gone, turned=replaced_by)
    attitude = "" if item.trait else _attitude_lost(item, keys, here, essay)
    if attitude:
        return Judged(item, kept, attitude, turned=item.weight >= 1.0)
    if item.trait:
        named = [c for c in item.concepts if c.weight == ASKED]
        there = sum(stands(c, item, keys, essay) for c in named)
        few = named and there < TRAIT_NAMED * len(named) and not item.numbers
        if few and not whole and not (there and _told_around(item, keys, essay)):
            missing = [surface(source, c.keys[-1]) for c in named if not stands(c, item, keys, essay)]
            return Judged(item, kept, f"{listed(missing)} of '{item.wording}' is missing")
        hollow = hollowed(item, kept, match.own, view, essay)
        if hollow:
            return Judged(item, kept, hollow, turned=True)
        if repeats(item, keys, match.own):
            return Judged(item, kept, f"'{item.wording}' is missing but for what is asked")
        elsewhere = given_away(item, kept, match.own, view, essay)
        if elsewhere:
            return Judged(item, kept, elsewhere)
    quiet = not any(refusing(sentence) for sentence in here)
    counts = ASKED if item.trait else 1.0
    general = vaguer(item, kept, keys, view, essay) if not item.trait else ""
    if general:
        return Judged(item, kept, general, turned=item.weight >= 1.0)  # a reason told in general is no other reason
    other = _replaced(item, keys, here, essay, counts) if quiet else ""
    if not other:
        other = replaced(item, here, essay, counts)
    if other:
        return Judged(item, kept, other, turned=True)
    if item.exclusive and not any(_is_alone(sentence, source) for sentence in here):
        return Judged(item, kept, f"that it is only '{item.wording}' is lost", turned=item.weight >= 1.0)
    alone = [c for c in item.concepts if c.weight >= 1.0 and not item.rest.isdisjoint(c.keys)]
    if alone and sum(stands(c, item, keys, essay) for c in alone) < ONLY_KEPT * len(alone):
        gone_too = [surface(source, c.keys[-1]) for c in alone if not stands(c, item, keys, essay)]
        return Judged(item, kept, f"{listed(gone_too)} is missing")
    return Judged(item, kept, "")


def _attitude_lost(item: Item, keys: frozenset[str], here: Sequence[Sentence], essay: Essay) -> str:
    """What is lost of whether something is wanted: that nobody gets it, or what it is that is wanted or not."""
    source = essay.stated[item.at].sentence
    nobody = any(not NOBODY.isdisjoint(c.keys) for c in item.concepts)
    if nobody and not any(refuses(sentence, sentence.words, source.keys) for sentence in here):
        return f"that it is '{item.wording}' is lost"
    wanted = any(not (ATTITUDES | FEARING).isdisjoint(c.keys) for c in item.concepts)
    return asked_lost(item, keys, here, essay) if wanted and item.weight >= 1.0 else ""


def _around(item: Item, source: Sentence) -> str:
    """The detail as it was told, with the two words before it."""
    at = source.text.find(item.wording)
    return item.wording if at < 0 else " ".join([*source.text[:at].split()[-2:], item.wording])


def _is_alone(sentence: Sentence, source: Sentence) -> bool:
    """Whether the sentence says that it is only that, or no oftener where the source says "only rarely"."""
    if exclusive(sentence) or ONLY.search(sentence.text):
        return True
    return not sentence.lowers.isdisjoint(RARELY) and any(
        before.lower == "only" and word.lower in RARELY for before, word in pairwise(source.words)
    )


def _following(at: int, view: View) -> Sentence | None:
    """The next sentence of the same entry, if it goes on with what this one says."""
    last = at + 1 == view.first[view.entry[at] + 1]
    return None if last or view.sentences[at + 1].starts_turn else view.sentences[at + 1]


def _told_around(item: Item, keys: frozenset[str], essay: Essay) -> bool:
    """Whether so much of what the question does not name stands there that the rest of its words were reworded."""
    rest = [c for c in item.concepts if c.weight < ASKED]
    told = sum(c.weight for c in rest if stands(c, item, keys, essay))
    return told >= max(AROUND, REST_KEPT * sum(c.weight for c in rest))


def _replaced(item: Item, keys: frozenset[str], stored: Sequence[Sentence], essay: Essay, least: float) -> str:
    """An opposite in the place of a telling word."""
    strange = sorted(
        k
        for k in keys - essay.places.keys() - essay.near.keys() - essay.ignored
        if weight(k) >= 1.0 and k not in UNCERTAIN
    )
    for concept in item.concepts:
        if concept.weight >= least and not found(concept, keys):
            for key in strange:
                if any(related(k, key) >= KEPT for c in item.concepts for k in c.keys):
                    continue  # what can be edited is editable
                if any(opposed(k, key) for k in concept.keys) and not elsewhere_said(
                    key, item, stored, essay.stated[item.at].sentence
                ):
                    return f"'{written(key, stored)}' instead of '{surface(essay.stated[item.at].sentence, concept.keys[-1])}'"
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
    spread = _spread(item, match) if item.trait else ()
    apart = (
        {m.at for m in match.own if m.at in known and only_number(item, m, view, match.essay)} if item.numbers else ()
    )
    return [*((i,) for i in at if i not in apart), *pairs, *((spread,) if len(spread) > 1 else ())]


def _spread(item: Item, match: Match) -> tuple[int, ...]:
    """All that was made of the sentence of a trait: it may have become several entries."""
    return tuple(m.at for m in match.own if m.stated == item.at or m.by.get(item.at, 0.0) >= PART)


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
        or _told_twice(item, essay.stated[made.stated])
    )


def _least(item: Item, kept: Kept, keys: frozenset[str], essay: Essay) -> float:
    """The share of its words that keeps a detail: less where what tells most of it is there."""
    if item.trait:
        return TRAIT_KEPT
    if not kept.missing and (
        any(n.unit or n.direction for n in item.numbers) or (item.numbers and item.size <= LITTLE_ELSE)
    ):
        return COUNT_KEPT
    core = [c for c in item.concepts if c.core]
    if not any(stands(c, item, keys, essay) for c in core):
        return ITEM_KEPT
    by_name = any(lookup(c.keys[0]) is EMPTY and not keys.isdisjoint(c.keys) for c in core)
    return NAME_KEPT if by_name else ANSWER_KEPT


def _told_twice(item: Item, stated: Stated) -> bool:
    """Whether another sentence of the essay tells all of the item too."""
    told = stated.sentence.keys
    return len(item.concepts) > 1 and not item.numbers and all(not told.isdisjoint(c.keys) for c in item.concepts)


def _explained(item: Item, keys: frozenset[str], stated: Stated) -> bool:
    """Whether another sentence of the essay has all that a stored one has of the item."""
    return all(found(c, stated.sentence.keys) for c in item.concepts if found(c, keys))
