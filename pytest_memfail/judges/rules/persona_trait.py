"""Which trait of an essay a question about somebody else may borrow."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from itertools import pairwise
from typing import Final

from pytest_memfail.judges.rules.finding import keys_of
from pytest_memfail.judges.rules.kinds import kinds_of
from pytest_memfail.judges.rules.lexicon import lookup, paraphrases
from pytest_memfail.judges.rules.persona_essay import SYNONYM, Concept, Essay, Item, weighed
from pytest_memfail.judges.rules.persona_numbers import telling
from pytest_memfail.judges.rules.persona_topics import topical
from pytest_memfail.judges.rules.quantities import Quantity, quantities
from pytest_memfail.judges.rules.related import related, within_reach
from pytest_memfail.judges.rules.text import Sentence, Word, fold, sentences_of, weight

WHICH: Final = frozenset("which what".split())
ASKING: Final = keys_of(
    """bring pack use give include offer choose yes expect avoid recommend suggest prefer like info informat
    tell know ask hire think want wonder plan need like help find detail advice idea tip information work good best
    consider share aware appreciate enjoy advise guidance mention way typical usual specific"""
)
"""What questions are made of; it tells no trait."""
KIT: Final = frozenset(fold(word) for word in "bring pack carry wear gear kit equipment bag backpack pocket".split())
"""Who asks what to bring asks for what somebody carries."""
SORTS: Final = tuple(
    (frozenset(fold(word) for word in asked.split()), frozenset(fold(word) for word in told.split()))
    for asked, told in (
        (
            "prefer preference favorite favourite like love enjoy appreciate fond choice taste fancy rather",
            """prefer preference favorite favourite like love enjoy appreciate fond choose favor favour swear insist refuse avoid
            hate dislike detest loathe adore cherish reject cannot won't only always never rather instead""",
        ),
        (
            """ritual routine habit custom tradition superstition practice approach method process technique procedure prepare
            preparation workflow regimen ceremony usually typically""",
            """ritual routine habit custom tradition superstition practice approach method process technique procedure prepare
            always every each before after whenever begin start end finish first rule usually typically daily weekly monthly
            morning evening monday tuesday wednesday thursday friday saturday sunday weekday weekend""",
        ),
        (
            "hour hours when schedule time times day days availability available early late often shift",
            """am pm hour morning afternoon evening night noon midnight dawn dusk sunrise sunset weekday weekend daily weekly early
            late monday tuesday wednesday thursday friday saturday sunday oclock minute""",
        ),
    )
)
"""Sorts of traits: what asks for one, and what tells one."""
ASKED: Final = 2.0
"""What counts of a trait that the question itself names."""


def traits(essay: Essay, question: str) -> tuple[Item, ...]:
    """The sentences whose trait a misleading question may borrow, if its words tell; the likeliest first."""
    sentences = sentences_of(question)
    kinds = frozenset(w.key for s in sentences for w in _kinds(s))
    asked = sorted({w.key for s in sentences for w in s.words if _telling(w, s, essay)} - ASKING)
    told = [q for s in sentences for q in quantities(s.text, s.words)]
    scores = _scores(essay, asked, kit=any(not KIT.isdisjoint(s.keys) for s in sentences))
    for at, topics in enumerate(topical(essay, sentences)):
        if topics:
            scores[at] = scores.get(at, 0.0) + topics
    # Who somebody is stands in what is shown of them whatever is asked: what is told later is meant.
    later = {at: score for at, score in scores.items() if at}
    if any(score >= TRAIT for score in later.values()):
        scores = later
    best = max(scores.values(), default=0.0)
    return tuple(
        _trait(essay, at, asked, kinds, told)
        for at in sorted(scores, key=lambda at: (-scores[at], at))
        if scores[at] >= max(LEAST, AS_LIKELY * best)
    )


def hinted(essay: Essay, question: str) -> tuple[Item, ...]:
    """The sentences of the sort that is asked for, where no word names a trait: one of them is meant."""
    sentences = sentences_of(question)
    words = frozenset().union(*(s.keys | s.lowers for s in sentences))
    sorts = [told for asked, told in SORTS if not asked.isdisjoint(words)]
    if not sorts:
        return ()
    asked = sorted({w.key for s in sentences for w in s.words if _telling(w, s, essay)} - ASKING)
    hits = [[weight(k) * _asks(k, frozenset(stated.weights)) for stated in essay.stated] for k in asked]
    for sort in sorts:
        hits.append([SYNONYM * (not sort.isdisjoint(s.sentence.keys | s.sentence.lowers)) for s in essay.stated])
    scores = _spread(hits)
    kinds = frozenset(w.key for s in sentences for w in _kinds(s))
    best = max(scores)
    return tuple(_trait(essay, at, asked, kinds, []) for at, s in enumerate(scores) if s and s >= AS_LIKELY * best)


def _telling(word: Word, question: Sentence, essay: Essay) -> bool:
    """Whether the word may stand for one of the essay's: the name of somebody stands for no thing."""
    if not word.key or word.key[0].isdigit() or len(word.key) <= 2:
        return False
    named = word.surface[0].isupper() and word is not question.words[0]
    return not named or word.lower.removesuffix("'s") in essay.capitals or word.key in essay.keys


def _scores(essay: Essay, asked: list[str], *, kit: bool) -> dict[int, float]:
    """How much the essay's sentences have of what is asked, if it tells: what all of them have tells none apart."""
    told = [frozenset(stated.weights) for stated in essay.stated]
    hits = [[weight(k) * _asks(k, keys) for keys in told] for k in asked]
    if kit:
        hits.append([SYNONYM * (not KIT.isdisjoint(stated.weights)) for stated in essay.stated])
    named = {at for at, of_sentence in enumerate(zip(*hits, strict=True)) if sum(of_sentence) >= TRAIT}
    if not named:
        return {}
    # A word that the essay has not stands for what belongs to it, but names no trait alone.
    hits += [[SYNONYM * _near(k, keys) for keys in told] for k, row in zip(asked, hits, strict=False) if not any(row)]
    scores = _spread(hits)
    return {at: scores[at] for at in named}


def _spread(hits: list[list[float]]) -> list[float]:
    """What each sentence has of the words, if it tells: what all sentences have tells none apart."""
    spread = [math.sqrt(max(1.0, sum(of_word))) for of_word in hits]
    return [
        sum(v / among for v, among in zip(of_sentence, spread, strict=True)) for of_sentence in zip(*hits, strict=True)
    ]


def _near(asked: str, stated: frozenset[str]) -> bool:
    """Whether a word of the sentence belongs to what is asked, as a dictionary does not say."""
    if weight(asked) < 1.0:
        return False
    return not paraphrases(asked).near.isdisjoint(stated) or any(asked in paraphrases(key).near for key in stated)


def _kinds(question: Sentence) -> list[Word]:
    """The kind of thing that is asked for: it need not be named where the thing itself is."""
    return [w for before, w in pairwise(question.words) if before.lower in WHICH]


def _trait(essay: Essay, at: int, about: list[str], sort: frozenset[str], told: list[Quantity]) -> Item:
    """The essay's sentence as a detail; its clauses beside the point count less."""
    stated = essay.stated[at]
    clauses = [sentences_of(part) for part in PARTS.split(stated.sentence.text)]
    asked = [k for k in about if k not in sort]
    named = [any(_asks(k, s.keys) for k in about for s in clause) for clause in clauses]
    concepts: dict[str, Concept] = {}
    numbers: list[Quantity] = []
    # What kind of spoon it is belongs to the spoon that is asked for.
    text = stated.sentence.text
    kinds = {
        w.key for w, other in pairwise(stated.sentence.words) if other.key in asked and text[w.end : other.start] == " "
    }
    for clause, hit in zip(clauses, named, strict=True):
        share = 1.0 if hit else BESIDE
        for key, value in weighed(essay, clause).items():
            counts = ASKED if (key in asked or key in kinds) and value >= 1.0 else value * share
            concepts[key] = Concept((key,), max(counts, concepts[key].weight if key in concepts else 0.0))
        numbers += [q for s in clause for q in quantities(s.text, s.words) if hit and _counts(q, told)]
    return Item(tuple(concepts.values()), tuple(numbers), 1.0, stated.wording, at, trait=True)


PARTS: Final = re.compile(r"[,;:]\s|\s-\s|\b(?:because|since|but|though|although)\b")
BESIDE: Final = 0.5
AS_LIKELY: Final = 0.75
"""How much of the best sentence's share another one must have to be meant as well."""
LEAST: Final = 0.5
"""What all of the likely sentences have a little of tells none of them."""
TRAIT: Final = 1.0
"""How much of a sentence the question must name."""


def _counts(number: Quantity, told: list[Quantity]) -> bool:
    """Whether a number is part of a trait: not one that only counts things, nor one that the question itself tells."""
    return telling(number) and not any(number.same(q) for q in told)


def _asks(asked: str, stated: frozenset[str]) -> float:
    """How well the best of the words of a sentence stands for what is asked."""
    near = max([related(asked, key) for key in within_reach(asked, stated)], default=0.0)
    if near >= SYNONYM or weight(asked) < 1.0:
        return near if near >= SYNONYM else 0.0
    return SYNONYM if asked in _kinds_told(stated) or not lookup(asked).opposite.isdisjoint(stated) else 0.0


@lru_cache(maxsize=2048)
def _kinds_told(stated: frozenset[str]) -> frozenset[str]:
    """Every kind of thing that the words are, and their opposites."""
    entries = [lookup(key) for key in stated]
    return frozenset().union(*(e.general | e.opposite for e in entries), *map(kinds_of, stated))
