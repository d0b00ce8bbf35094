"""A trait that a question about somebody else borrows: told in other words, changed in part, or told of another person."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from pytest_memfail.judges.rules.measures import MEASURES
from pytest_memfail.judges.rules.persona_core import WHEN
from pytest_memfail.judges.rules.persona_essay import Essay, Item
from pytest_memfail.judges.rules.persona_match import Kept, Made, found
from pytest_memfail.judges.rules.persona_partners import surface
from pytest_memfail.judges.rules.persona_slots import CLOSED
from pytest_memfail.judges.rules.persona_topics import AILING
from pytest_memfail.judges.rules.persona_trait import ASKED, PARTS
from pytest_memfail.judges.rules.quantities import CLOCK, HALF_OPEN, Quantity
from pytest_memfail.judges.rules.text import Sentence, fold, weight
from pytest_memfail.judges.rules.view import View

WELL_TOLD: Final = 4.5
"""How much of the trait's sentence one stored sentence must have for the rest of it to be only worded otherwise."""
WELL_OWN: Final = 0.55
"""The share of that stored sentence that the essay must have."""
ALIGNED: Final = 1.5
"""How much of the trait's sentence a stored one has that was made from it."""
REPEATED: Final = 0.1
"""An entry that has no more of what the question does not say itself only repeats the question."""
REPEATED_OF: Final = 2.0
REST: Final = 3.0
"""How much of it there must be to lose."""
GIVEN: Final = 3
"""So many telling words of the trait in what is told of somebody else, and not of the person, were given away."""
GIVEN_KEPT: Final = 0.5
SELDOM: Final = re.compile(
    r"\b(?:rarely|seldom(?:ly)?|hardly ever|scarcely|infrequently|sparingly|occasional(?:ly)?|now and (?:then|again)|sporadic(?:ally)?"
    r"|once in a (?:blue moon|while)|every so often|from time to time|at times|(?:on|in) (?:very )?rare (?:occasions?|cases?)"
    r"|a rare (?:exception|thing|event|treat|occurrence)|almost never|few and far between|not (?:very )?often|irregular(?:ly)?"
    r"|as an exception|exceptionally|as a last resort|a rarity|if at all)\b",
    re.IGNORECASE,
)
OFTEN: Final = re.compile(
    r"\b(?:always|often|frequent(?:ly)?|regular(?:ly)?|constant(?:ly)?|routinely|habitually|usually|generally|repeatedly|continual(?:ly)?"
    r"|every time|each time|all the time|without fail|invariably|(?:nearly|almost|practically) (?:every|each|all|always|daily)"
    r"|daily|freely|liberally|generously|heavily|whenever possible|as often as|on every|at every|on each|most of the time"
    r"|a lot|plenty|extensively|consistently|religiously|time and again)\b",
    re.IGNORECASE,
)
EVERY: Final = re.compile(r"\b(?:always|every|each|without fail|invariably|daily|religiously|all)\b", re.IGNORECASE)
"""What leaves no exception."""
LIMITED: Final = re.compile(
    r"\b(?:only|just|solely|except|unless|exception|limit(?:s|ed)?|little|scarce|rare|few|minimum|minimal|restrict(?:s|ed)"
    r"|reserv(?:es|ed)|no|not|never|nor|without|avoids?|spar(?:es|ing)|cannot|\w+n't)\b",
    re.IGNORECASE,
)
"""What limits how often something is done, in whatever words."""
DAYTIMES: Final = tuple(
    frozenset(fold(word) for word in group.split())
    for group in (
        "morning dawn sunrise daybreak",
        "afternoon noon midday",
        "evening night dusk sunset twilight nightfall midnight bedtime",
    )
)
DAWN, NOON, DUSK = 4, 12, 17
"""The hours at which another part of the day begins."""
DOUBTFUL: Final = frozenset(fold(word) for word in ("may", "march"))
"""Months that mostly are other words."""
MEMBERS: Final = tuple(tuple(frozenset((k,)) for k in sorted(kind - DOUBTFUL)) for kind in CLOSED if len(kind) > 2)
TIMES: Final = frozenset().union(
    *DAYTIMES, *(kind for kind in CLOSED if fold("monday") in kind or fold("spring") in kind)
) | {
    fold(word)
    for word in "early late hour weekend weekday day night daily weekly breakfast lunch dinner before after".split()
}
"""What tells when something is done."""


def well_told(item: Item, own: Iterable[Made]) -> bool:
    """Whether one stored sentence has so much of the trait that the rest of it is only put in other words."""
    return any(m.by.get(item.at, 0.0) >= WELL_TOLD and m.own >= WELL_OWN for m in own)


def names_ailment(item: Item, own: Iterable[Made], view: View, essay: Essay) -> bool:
    """Whether a stored sentence tells the same allergy, whatever else the trait's sentence has."""
    source = essay.stated[item.at].sentence
    if AILING.isdisjoint(source.keys):
        return False
    return any(
        m.stated == item.at
        and m.overlap >= REPEATED_OF
        and m.closest >= WELL_OWN
        and not AILING.isdisjoint(view.sentences[m.at].keys)
        for m in own
    )


def repeats(item: Item, keys: frozenset[str], own: Iterable[Made]) -> bool:
    """Whether of the trait hardly anything is there but what the question says itself."""
    rest = [c for c in item.concepts if c.weight < ASKED]
    told = sum(c.weight for c in rest if found(c, keys))
    most = max((m.by.get(item.at, 0.0) for m in own), default=0.0)
    whole = sum(c.weight for c in rest)
    return whole >= REST and told < REPEATED * whole and most <= REPEATED_OF and not item.numbers


def altered(item: Item, kept: Kept, own: Sequence[Made], view: View, essay: Essay, asked: frozenset[str]) -> str:
    """What a sentence made from the trait's says otherwise: how often, when, how much; empty if nothing."""
    source = essay.stated[item.at]
    at = dict.fromkeys((*kept.where, *(m.at for m in own if m.stated == item.at and m.by.get(item.at, 0.0) >= ALIGNED)))
    stored = [view.sentences[i] for i in at]
    fault = _how_often(stored, source.sentence, essay, asked) or _another_time(
        stored, source.sentence, source.numbers, essay
    )
    return fault or _another_number(stored, view.quantities(tuple(at)), item, essay)


def _how_often(stored: Sequence[Sentence], source: Sentence, essay: Essay, asked: frozenset[str]) -> str:
    """Seldom for often, and the other way round."""
    seldom = SELDOM.search(source.text)
    for sentence in stored:
        often = next((m for m in OFTEN.finditer(sentence.text) if m[0].lower() not in source.text.lower()), None)
        if seldom:
            if often and not SELDOM.search(sentence.text) and _same_clause(seldom, sentence, source, asked):
                return f"'{often[0]}' instead of '{seldom[0]}'"
        elif rarely := SELDOM.search(sentence.text):
            every = EVERY.search(source.text)
            elsewhere = any(rarely[0].lower() in s.sentence.text.lower() for s in essay.stated)
            if every and not elsewhere and not OFTEN.search(sentence.text) and not LIMITED.search(source.text):
                return f"'{rarely[0]}' instead of '{every[0]}'"
    if seldom and stored and not any(SELDOM.search(s.text) or LIMITED.search(s.text) for s in stored):
        clause = _clause(seldom, source)
        if any(clause & s.keys for s in stored):
            return f"that it is '{seldom[0]}' is lost"
    return ""


def _same_clause(seldom: re.Match[str], sentence: Sentence, source: Sentence, asked: frozenset[str]) -> bool:
    """Whether what is seldom done is what the stored sentence or the question is about."""
    clause = _clause(seldom, source)
    return not clause.isdisjoint(sentence.keys | asked)


def _clause(told: re.Match[str], source: Sentence) -> frozenset[str]:
    """The telling words of the part of the sentence where it is told."""
    cuts = [0, *(m.end() for m in PARTS.finditer(source.text)), len(source.text)]
    start = max(cut for cut in cuts if cut <= told.start())
    end = min(cut for cut in cuts if cut >= told.end())
    return frozenset(w.key for w in source.words if w.key and start <= w.start < end and weight(w.key) >= 1.0)


def _half(clock: Quantity) -> str:
    """The part of the day that a clock time tells."""
    hour = clock.value / 60 % 24
    return fold("morning" if DAWN <= hour < NOON else "afternoon" if NOON <= hour < DUSK else "night")


def _another_time(stored: Sequence[Sentence], source: Sentence, numbers: Iterable[Quantity], essay: Essay) -> str:
    """Another part of the day, day, season or colour than the only one that the trait's sentence has."""
    told = source.keys | {_half(q) for q in numbers if q.unit == CLOCK}
    for kinds in (DAYTIMES, *MEMBERS):
        mine = [kind for kind in kinds if not kind.isdisjoint(told)]
        if len(mine) != 1:
            continue
        for sentence in stored:
            theirs = [kind for kind in kinds if not kind.isdisjoint(sentence.keys)]
            if len(theirs) == 1 and theirs != mine and essay.keys.isdisjoint(theirs[0] & sentence.keys):
                held, wanted = min(theirs[0] & sentence.keys), min(mine[0] & told)
                return f"'{surface(sentence, held)}' instead of '{surface(source, wanted)}'"
    return ""


def _another_number(stored: Sequence[Sentence], numbers: Sequence[Quantity], item: Item, essay: Essay) -> str:
    """Another number, or another measure for the same one."""
    told = essay.stated[item.at]
    for number in told.numbers:
        if not any(number.same(q) for q in numbers):
            for other in numbers:
                alike = other.unit == number.unit and (number.unit or (number.direction and other.direction))
                if alike and not any(other.same(q) for s in essay.stated for q in s.numbers):
                    return f"'{other.text.strip()}' instead of '{number.text.strip()}'"
    mine = _measured(told.sentence)
    for sentence in stored:
        for value, (measure, word) in _measured(sentence).items():
            if value in mine and mine[value][0] != measure:
                return f"'{word}' instead of '{mine[value][1]}'"
    return ""


def _measured(sentence: Sentence) -> dict[str, tuple[tuple[float, str], str]]:
    """The measure of each number that has one, and the word for it."""
    return {
        word.key: (MEASURES[after.lower], after.lower)
        for word, after in pairwise(sentence.words)
        if word.key[:1].isdigit() and after.lower in MEASURES
    }


def untimed(question: str, item: Item, kept: Kept, own: Sequence[Made], view: View, essay: Essay) -> str:
    """Whether the question asks when, the trait tells it, and nothing that is stored of it does."""
    told = essay.stated[item.at]
    if not WHEN.search(question) or not _timed(told.sentence, told.numbers):
        return ""
    at = dict.fromkeys((*kept.where, *(m.at for m in own if m.stated == item.at)))
    if any(_timed(view.sentences[i], view.quantities((i,))) for i in at):
        return ""
    return f"when, of '{item.wording}', is missing"


def _timed(sentence: Sentence, numbers: Iterable[Quantity]) -> bool:
    return not TIMES.isdisjoint(sentence.keys | sentence.lowers) or any(q.unit in (CLOCK, HALF_OPEN) for q in numbers)


def given_away(item: Item, kept: Kept, own: Sequence[Made], view: View, essay: Essay) -> str:
    """What the trait tells, if only somebody else has it in the store."""
    if kept.share >= GIVEN_KEPT or essay.name is None:
        return ""
    mine = {m.at for m in own}
    entries = {view.entry[at] for at in mine}
    held = frozenset().union(*(view.sentences[at].keys for at in mine))
    gone = [k for k in essay.stated[item.at].weights if k not in held and weight(k) >= 1.0]
    counts: dict[int, list[str]] = {}
    for key in gone:
        for at in view.postings.get(key, ()):
            if view.entry[at] not in entries:
                counts.setdefault(at, []).append(key)
    most = max(counts.items(), key=lambda pair: len(pair[1]), default=(0, []))
    if len(most[1]) < GIVEN:
        return ""
    return f"'{item.wording}' is told of somebody else: {view.sentences[most[0]].text}"
