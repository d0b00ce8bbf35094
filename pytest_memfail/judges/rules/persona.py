"""Essays about a person: who it is, and the details that the question needs (paper, section 4, task 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Literal

from pytest_memfail.core import Evidence
from pytest_memfail.judges.rules.finding import Finding, keys_of, listed
from pytest_memfail.judges.rules.kinds import is_person
from pytest_memfail.judges.rules.persona_affirmed import affirmed
from pytest_memfail.judges.rules.persona_allergy import other_allergen
from pytest_memfail.judges.rules.persona_borrowed import untimed
from pytest_memfail.judges.rules.persona_detail import ITEM_KEPT, Judged, Match, judge_detail
from pytest_memfail.judges.rules.persona_essay import Essay, Item, Stated, read_essay
from pytest_memfail.judges.rules.persona_match import Made, own_sentences
from pytest_memfail.judges.rules.persona_need import needed_items, telling_items
from pytest_memfail.judges.rules.persona_numbers import renumbered, telling
from pytest_memfail.judges.rules.persona_trait import hinted
from pytest_memfail.judges.rules.text import Sentence
from pytest_memfail.judges.rules.view import NAMED, View, needs

ENOUGH: Final = 0.7
"""Share of the needed details that must be kept."""
ENOUGH_BORROWED: Final = 0.6
"""The same of what a question about somebody else borrows: it may be answered wrongly from most of it."""
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
AS_TOLD: Final = 0.95
"""How much of a sentence of the essay stands in one that keeps its words."""
MOSTLY_AS_TOLD: Final = 0.6
REWORDED: Final = 0.88
"""How sure a detail can be said to be kept where few sentences are stored as they were told, …"""
REWORDED_LOST: Final = 0.78
"""… and to be lost."""
TRAIT_LOST: Final = 0.66
"""Another trait may be meant."""
ANCHORED: Final = 0.5
ANCHORED_SHOWN: Final = 0.25
TRAIT_SURE: Final = 0.5
"""The same of entries that were shown: that they are somebody else's was for the whole store to tell."""
PART_KEPT: Final = 0.5
FAITHFUL: Final = 0.4
"""Share of the essay's details that must be kept where no question asks for particular ones."""
SHOWN: Final = 0.25
PAPER: Final = 0.85
UNSURE: Final = 0.6
LIKE: Final = 2.0
"""How much of a sentence of the essay shows that a stored one tells it."""
OWN_ALLERGY: Final = 0.3
"""The share that the essay must have of what tells of an allergy."""
BLURRED: Final = 2.0
TURNED: Final = 0.65
"""How sure it is that what is turned around is what a question about somebody else means."""


WHOLE: Final = 0.9
"""Share of what is to be done that makes what is not to be done go without saying."""
Fault = Literal["", "turned", "elsewhere"]


def find_persona(evidence: Evidence, view: View, protocol: str, *, shown: bool = False) -> Finding:
    """The essay in a view: anything made from it (stored), and the details needed (faithful)."""
    match = _match(read_essay(evidence.source, evidence.entity), view)
    items = needed_items(evidence) if protocol == "ours" else ()
    if evidence.telling and items and all(c.given for item in items if item.weight >= 1.0 for c in item.concepts):
        items = telling_items(evidence)  # the gold answer only says again what is asked for
    found = _find(evidence, items, match, view, protocol, shown=shown)
    lost = found.present and not found.faithful and not found.fault
    if evidence.value and evidence.telling and protocol == "ours" and lost:
        # a gold answer says more than it takes to answer, but each of these words is needed
        words = telling_items(evidence)
        enough = _find(evidence, words, match, view, protocol, shown=shown)
        return enough if enough.faithful and len(enough.found) == len(words) else found
    return found


def _find(
    evidence: Evidence, items: Sequence[Item], match: Match, view: View, protocol: str, *, shown: bool
) -> Finding:
    """What is left of these details, or of the whole essay where there are none."""
    asked = frozenset(keys_of(evidence.asked or ""))
    answered = bool(evidence.value or evidence.telling)
    judged = [judge_detail(item, match, view, asked) for item in items]
    if not answered:
        judged = _likeliest([_timed(j, match, view, evidence.asked or "") for j in judged])
    main = [j for j in judged if j.item.weight >= 1.0]
    whole = bool(main) and all(not j.lost and _anchored(j, match, shown=shown) for j in main)
    damaged = any(j.turned and j.kept.share >= ITEM_KEPT and _anchored(j, match, shown=shown) for j in main)
    if not match.made and not whole and not damaged:
        return _absent(match, view)
    if judged:
        found = _needed(judged, match, view, ENOUGH if evidence.value else ENOUGH_BORROWED)
        return found if answered or not found.faithful else _turned_elsewhere(match, view) or found
    share = len(match.kept) / max(1, len(match.essay.stated))
    if evidence.asked:
        # The whole store may hold what is meant in any words; of a few entries shown one must be of the sort asked for.
        sort = hinted(match.essay, evidence.asked) if shown and not answered else ()
        hints = [judge_detail(item, match, view, asked) for item in sort]
        if hints and all(j.lost for j in hints):
            return _needed(hints[:1], match, view, ENOUGH)
        return _unclear(match, view)
    least = PAPER if protocol == "paper" and not shown else SHOWN if shown else FAITHFUL
    entries = _entries(match.made, view)
    kept, lost = match.wordings(kept=True), match.wordings(kept=False)
    if share < least:
        return Finding(True, False, f"only {match.coverage}", entries, kept, lost, (), 0.7)
    return Finding(True, True, match.coverage, entries, kept, (), lost, 0.6 + 0.4 * share)


def _timed(judged: Judged, match: Match, view: View, question: str) -> Judged:
    """A trait that is kept, unless the question asks when and that is lost."""
    lost = "" if judged.lost else untimed(question, judged.item, judged.kept, match.own, view, match.essay)
    return replace(judged, lost=lost) if lost else judged


def _likeliest(traits: list[Judged]) -> list[Judged]:
    """Of the traits that a question may borrow the one that is meant: turned around, or else kept."""
    # Another number in the place of the told one is wrong in any reading of the question.
    first = [j for j in traits if j.turned and (j is traits[0] or j.kept.missing)]
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
    named = essay.name is not None and view.link(m.at, essay.name) == NAMED and not _other_trade(m, essay, view)
    return named and bool(known) and m.total <= BRIEF and m.sure >= max(2.0, IDENTITY_OWN * m.total)


def _other_trade(m: Made, essay: Essay, view: View) -> bool:
    """Whether the sentence calls the person something that the essay knows nothing of: that is a namesake."""
    return any(is_person(k) and not essay.read(k) for k in view.sentences[m.at].keys - essay.ignored)


def _anchored(judged: Judged, match: Match, *, shown: bool) -> bool:
    """Whether the place that keeps the detail has little else in it: what a namesake's entry shares by chance does."""
    if judged.item.trait and not shown and judged.kept.share < TRAIT_SURE:
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


def _needed(judged: Sequence[Judged], match: Match, view: View, enough: float) -> Finding:
    """Whether so much of the needed details is kept, and none of the answer itself is turned around."""
    # What the answer gives as its reason may be lost, unless the answer itself takes hardly anything from the essay.
    chosen = {j.item.choice for j in judged if not j.lost}
    judged = [j for j in judged if not j.lost or j.turned or not j.item.choice or j.item.choice not in chosen]
    whole = any(not j.lost and j.kept.share >= WHOLE and j.item.weight >= 1.0 for j in judged)
    judged = [j for j in judged if not (j.lost and j.item.beside and not j.turned and whole)]
    main = [j for j in judged if j.item.weight >= 1.0]
    asked = main if sum(j.item.size for j in main) >= TELLING else judged
    share = sum(j.item.weight for j in asked if not j.lost) / sum(j.item.weight for j in asked)
    lost = [j for j in judged if j.lost]
    broken = [j for j in lost if j.turned] or [j for j in lost if _blurred(j)]
    where = [at for j in judged if not j.lost or j.turned for at in j.kept.where]
    entries = view.entries_of([*where, *(m.at for m in match.made)])
    kept = tuple(j.item.wording for j in judged if not j.lost)
    reported = match.wordings(kept=False)
    if broken or share < (enough if len(asked) < MANY else ENOUGH_OF_MANY):
        worst = broken or lost
        reason = (
            f"what the question needs of {match.who} is lost: {'; '.join(j.lost for j in worst)} ({match.coverage})"
        )
        missing = tuple(j.item.wording for j in lost)
        fault: Fault = "turned" if any(j.turned for j in worst) else ""
        told = fault or view.held == "shown" or _word_for_word(match)
        sure = min(_sure_lost(worst), 1.0 if told else REWORDED_LOST)
        return Finding(True, False, reason, entries, kept, missing, reported, sure, fault=fault)
    reason = f"what the question needs of {match.who} is kept: {listed(kept)} ({match.coverage})"
    sure = min(_sure_kept(asked), 1.0 if _word_for_word(match) else REWORDED)
    return Finding(True, True, reason, entries, kept, (), reported, sure)


def _word_for_word(match: Match) -> bool:
    """Whether most of what is stored of the essay stands as it was told: where not, the rest may be there in any words."""
    return sum(m.closest >= AS_TOLD for m in match.made) >= MOSTLY_AS_TOLD * max(1, len(match.made))


def _sure_kept(judged: Sequence[Judged]) -> float:
    """Word for word is sure; the fewer of the words, the likelier something else was said with them."""
    least = min((j.kept.share for j in judged if not j.lost), default=0.0)
    if any(j.item.trait for j in judged):
        least += TRAIT_GRACE
    return 0.96 if least >= 0.9 else 0.85 if least >= 0.7 else 0.72 if least >= 0.55 else 0.65


def _sure_lost(judged: Sequence[Judged]) -> float:
    """A detail of which nothing is there is lost; one half there may be put in other words."""
    if any(j.item.trait and not j.turned for j in judged):
        return TRAIT_LOST
    most = max(0.0 if j.turned else j.kept.share for j in judged)
    return 0.9 if most < 0.25 else 0.72


def _blurred(judged: Judged) -> bool:
    """Whether a detail that says more than a number lost it; one that only counts a few things may have their names."""
    gone = judged.kept.missing or not judged.kept.where
    return bool(gone) and judged.item.size >= BLURRED and any(telling(number) for number in judged.item.numbers)


def _turned_elsewhere(match: Match, view: View) -> Finding | None:
    """What the essay refuses and the store has: a question may borrow it in words that nothing else has in common."""
    fault = next(filter(None, (affirmed(s, t.sentence, t.weights) for s, t in _likest(match, view))), "")
    fault = fault or _other_allergen(match, view)
    fault = fault or renumbered(
        [(view.quantities((m.at,)), m.by) for m in match.made if m.own >= ANCHORED], match.essay
    )
    if not fault:
        return None
    entries, lost = _entries(match.made, view), match.wordings(kept=False)
    return Finding(True, False, f"of {match.who} {fault}", entries, (), lost, (), TURNED, fault="turned")


def _likest(match: Match, view: View) -> list[tuple[Sentence, Stated]]:
    """The essay's sentences that are plainly told, each with the stored one that has most of it: others may be a namesake's."""
    best: dict[int, Made] = {}
    for m in match.own:
        if m.own >= ANCHORED and m.overlap >= LIKE and (m.stated not in best or m.overlap > best[m.stated].overlap):
            best[m.stated] = m
    return [(view.sentences[m.at], match.essay.stated[at]) for at, m in best.items()]


def _other_allergen(match: Match, view: View) -> str:
    return other_allergen([view.sentences[m.at] for m in match.own if m.own >= OWN_ALLERGY], match.essay)


def _unclear(match: Match, view: View) -> Finding:
    """A question that does not tell which trait it borrows: what is stored of the person is all that can be asked for."""
    entries = _entries(match.made, view)
    kept, lost = match.wordings(kept=True), match.wordings(kept=False)
    fault = _other_allergen(match, view)
    if fault:
        return Finding(True, False, f"of {match.who} {fault}", entries, kept, lost, (), UNSURE, fault="turned")
    return Finding(True, True, match.coverage, entries, kept, (), lost, UNSURE)


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
