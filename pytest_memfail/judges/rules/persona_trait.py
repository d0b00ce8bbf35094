"""Which trait of an essay a question about somebody else may borrow."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from typing import Final

from pytest_memfail.judges.rules.finding import keys_of
from pytest_memfail.judges.rules.lexicon import lookup
from pytest_memfail.judges.rules.persona_essay import SYNONYM, Concept, Essay, Item, weighed
from pytest_memfail.judges.rules.quantities import Quantity, quantities
from pytest_memfail.judges.rules.related import related
from pytest_memfail.judges.rules.text import Sentence, Word, sentences_of, weight

WHICH: Final = frozenset("which what".split())
ASKING: Final = keys_of(
    """bring pack use give include offer choose yes expect avoid recommend suggest prefer like info informat
    tell know ask hire think want wonder plan need like help find detail advice idea tip information work good best"""
)
"""What questions are made of; it tells no trait."""
ASKED: Final = 2.0
"""What counts of a trait that the question itself names."""


def traits(essay: Essay, question: str) -> tuple[Item, ...]:
    """The sentences whose trait a misleading question may borrow, if its words tell; the likeliest first."""
    kinds = frozenset(w.key for s in sentences_of(question) for w in _kinds(s))
    asked = [k for k in sorted(keys_of(question)) if not k[0].isdigit() and len(k) > 2 and k not in ASKING]
    told = [q for s in sentences_of(question) for q in quantities(s.text, s.words)]
    scores = []
    for at, stated in enumerate(essay.stated):
        hits = {k: max((_asks(k, other) for other in stated.weights), default=0.0) for k in asked}
        scores.append((sum(value * weight(k) / _spread(essay, k) for k, value in hits.items()), -at))
    best = max(scores, default=(0.0, 0))[0]
    return tuple(
        _trait(essay, -at, [k for k in asked if k not in kinds], told)
        for score, at in sorted(scores, reverse=True)
        if score >= AS_LIKELY * best and score >= TRAIT
    )


def _kinds(question: Sentence) -> list[Word]:
    """The kind of thing that is asked for: it need not be named where the thing itself is."""
    return [w for before, w in pairwise(question.words) if before.lower in WHICH]


def _trait(essay: Essay, at: int, asked: list[str], told: list[Quantity]) -> Item:
    """The essay's sentence as a detail; its clauses beside the point count less."""
    stated = essay.stated[at]
    clauses = [sentences_of(part) for part in PARTS.split(stated.sentence.text)]
    named = [any(_asks(k, o) for k in asked for s in clause for o in s.keys) for clause in clauses]
    concepts: dict[str, Concept] = {}
    numbers: list[Quantity] = []
    # What kind of spoon it is belongs to the spoon that is asked for.
    text = stated.sentence.text
    kinds = {
        w.key for w, other in pairwise(stated.sentence.words) if other.key in asked and text[w.end : other.start] == " "
    }
    for clause, hit in zip(clauses, named, strict=True):
        share = 1.0 if hit else BESIDE
        for key, value in weighed(clause, essay.ignored).items():
            counts = ASKED if (key in asked or key in kinds) and value >= 1.0 else value * share
            concepts[key] = Concept((key,), max(counts, concepts[key].weight if key in concepts else 0.0))
        numbers += [q for s in clause for q in quantities(s.text, s.words) if hit and _counts(q, told)]
    return Item(tuple(concepts.values()), tuple(numbers), 1.0, stated.wording, at)


PARTS: Final = re.compile(r"[,;:]\s|\s-\s|\b(?:because|since|but|though|although)\b")
BESIDE: Final = 0.5
COUNTED: Final = 12
"""Small numbers without a unit are mostly not what a trait is about."""
AS_LIKELY: Final = 0.6
"""How much of the best sentence's share another one must have to be meant as well."""
TRAIT: Final = 1.0
"""How much of a sentence the question must name."""


def _counts(number: Quantity, told: list[Quantity]) -> bool:
    """Whether a number is part of a trait: not one that only counts things, nor one that the question itself tells."""
    return (bool(number.unit) or number.value > COUNTED) and not any(number.same(q) for q in told)


def _asks(asked: str, stated: str) -> float:
    near = related(asked, stated)
    return near if near >= SYNONYM else SYNONYM if asked in lookup(stated).general and weight(asked) >= 1.0 else 0.0


def _spread(essay: Essay, key: str) -> float:
    """How many of the essay's sentences have the word: what is in all of them tells none apart."""
    return max(1.0, math.sqrt(len(essay.reads.get(key, ()))))
