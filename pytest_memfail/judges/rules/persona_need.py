"""The details of an essay that the answer to a question takes from it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from pytest_memfail.core import Evidence
from pytest_memfail.judges.rules.finding import keys_of, passage
from pytest_memfail.judges.rules.measures import DEGREE
from pytest_memfail.judges.rules.persona_core import TIMES, WHEN, cores
from pytest_memfail.judges.rules.persona_essay import NAMED_TOO, Concept, Essay, Item, read_essay, weighed
from pytest_memfail.judges.rules.persona_refusals import says_no
from pytest_memfail.judges.rules.persona_trait import traits
from pytest_memfail.judges.rules.polarity import exclusive
from pytest_memfail.judges.rules.quantities import CLOCK, HALF_OPEN, Quantity, quantities
from pytest_memfail.judges.rules.related import related
from pytest_memfail.judges.rules.text import Sentence, sentences_of

ADVICE: Final = frozenset(
    "bring pack use give include offer choose yes expect avoid recommend suggest prefer like info informat plan ask schedul"
    " exact precis".split()
)
"""What answers are made of; it is no detail of the person."""
SIDES: Final = keys_of(
    "larger bigger greater smaller longer shorter higher lower more less fewer least most maximum minimum"
)
"""The number tells them with it."""
ASIDE: Final = 0.35
"""What a reason given in the answer counts beside the answer."""
GROUNDED: Final = 0.7
"""How near a word of the answer must be to one of the essay to be taken from it."""
SURE: Final = 1.0
CONFIRMED: Final = 0.66
YES_NO: Final = re.compile(r"^\s*(?:yes|no)\b[\s,;:.\-]*", re.IGNORECASE)
CLAUSES: Final = re.compile(
    r"\s*(?:[;(]|:(?!\d)"
    r"|\s-\s|—|,? (?:since|because|so that|as (?:she|he|they))\b|, (?:so|which|when|where|following|given|matching)\b)\s*"
)
BRACKETED: Final = re.compile(r"\s*\(([^()]*)\)")
ITEMS: Final = re.compile(
    r"(,\s+(?:and |or |but )?|/(?=[a-z])"
    r"|\s(?:and|or|but|plus)\s(?!(?:more|less|fewer|so|over|above|under|longer|older|up)\b))"
)
ONLY: Final = re.compile(
    r"\b(?:only|solely|exclusively|(?<=s )alone(?! with)|no one but|nobody but|nothing but|none but|no \w+ but"
    r"|nobody else|nothing else|and no others?|sticks? to|limited to)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def needed_items(evidence: Evidence) -> tuple[Item, ...]:
    """The details that the question needs; none where it does not tell them."""
    if evidence.value:
        return _of_answer(evidence, evidence.value)
    if evidence.telling:
        # No answer says which of what a question borrows comes first.
        return tuple(replace(item, weight=1.0) for item in telling_items(evidence))
    return traits(read_essay(evidence.source, evidence.entity), evidence.asked) if evidence.asked else ()


@lru_cache(maxsize=4096)
def telling_items(evidence: Evidence) -> tuple[Item, ...]:
    """The details that the words which carry the answer tell; what a gold answer says besides is no part of them."""
    settled = YES_NO.match(evidence.value or "")
    return _of_answer(
        evidence,
        (f"{settled[0]} " if settled else "") + "; ".join(_listed(text, evidence.source) for text in evidence.telling),
    )


def _listed(text: str, source: str) -> str:
    """The words with the commas, ands and ors that the source has between them: each part may be lost by itself."""
    for sentence in sentences_of(source):
        at, parts = 0, list[str]()
        for word in text.split():
            found = re.compile(rf"(?<!\w){re.escape(word)}").search(sentence.text, at)
            if found is None:
                break
            joint = ITEMS.search(sentence.text, at, found.start()) if parts else None
            parts += [joint[0] if joint else " ", word]
            at = found.end()
        else:
            return "".join(parts[1:])
    return text


def _of_answer(evidence: Evidence, answer: str) -> tuple[Item, ...]:
    """What the answer takes from the essay, detail by detail; its reasons count less."""
    essay, question = read_essay(evidence.source, evidence.entity), evidence.asked or ""
    asked = frozenset(keys_of(question)) - essay.ignored
    items: list[Item] = []
    known: set[str] = set()
    plain = BRACKETED.sub("", answer)
    aside = "; ".join(BRACKETED.findall(answer))  # what stands behind a bracket belongs to what stands before it
    clauses = [c for c in CLAUSES.split(YES_NO.sub("", f"{plain}; {aside}".replace("—", " — "))) if c.strip()]
    head = True
    for clause in clauses:
        found: list[Item] = []
        choice = 0
        split = ITEMS.split(clause)
        # "Flowers or lilies" that are to be avoided are both meant.
        wanted = not any(says_no(word) for word in clause.lower().split())
        wanted_first = not any(says_no(word) for word in split[0].lower().split())
        for before, part in zip(("", *split[1::2]), split[::2], strict=True):
            if wanted and "or" in before.split() and found:
                choice = choice or len(items) + len(found)
                found[-1] = replace(found[-1], choice=choice)
            else:
                choice = 0
            item = (
                _grounded(essay, part, asked, known, frozenset(i.at for i in (*items, *found)), question)
                if part and part.strip()
                else None
            )
            if item is not None:
                beside = bool(found) and wanted_first and any(says_no(word) for word in part.lower().split())
                # What is refused in another sentence than what is wanted is no other side of that.
                beside = beside and item.at in {i.at for i in found}
                found.append(replace(item, weight=item.weight * (1.0 if head else ASIDE), choice=choice, beside=beside))
                known.update(k for c in item.concepts for k in c.keys)
        items += _joined(found)
        head = head and not items
    # A detail that only repeats the question is no answer to it, where the same sentence gives one.
    telling = {item.at for item in items if not _repeats(item, asked)}
    items = [item for item in items if item.at not in telling or not _repeats(item, asked)]
    if YES_NO.match(answer) and any(_is_asked(item) for item in items):
        # A yes or no needs what it is about; what else somebody likes is said besides.
        items = [item if _is_asked(item) else replace(item, weight=min(item.weight, ASIDE)) for item in items]
    elif not YES_NO.match(answer):
        said = [q for s in sentences_of(question) for q in quantities(s.text, s.words)]
        items = [_without(item, said) for item in items]
    if WHEN.search(question) and any(_tells_when(item) for item in items):
        # Who asks when is answered by a time: what else is done is said besides.
        items = [item if _tells_when(item) else replace(item, weight=min(item.weight, ASIDE)) for item in items]
    told = frozenset(keys_of(answer))
    confirming = YES_NO.match(answer) is not None
    return tuple(replace(item, told=told, confirming=confirming and _confirms(item)) for item in items)


def _confirms(item: Item) -> bool:
    """Whether the question says most of the detail itself: "is there any rule" does not."""
    return sum(c.weight for c in item.concepts if c.given) >= CONFIRMED * item.size


def _without(item: Item, said: Sequence[Quantity]) -> Item:
    """The detail without the numbers that the question says itself."""
    numbers = tuple(n for n in item.numbers if not any(n.same(q) for q in said))
    return replace(item, numbers=numbers) if item.concepts else item


def _tells_when(item: Item) -> bool:
    return any(n.unit in (CLOCK, HALF_OPEN) for n in item.numbers) or any(
        not TIMES.isdisjoint(c.keys) for c in item.concepts
    )


def _repeats(item: Item, asked: frozenset[str]) -> bool:
    return not item.numbers and all(not asked.isdisjoint(c.keys) for c in item.concepts)


def _is_asked(item: Item) -> bool:
    """Whether a word of the question belongs to the detail."""
    return item.weight >= 1.0 and any(c.weight >= NAMED_TOO for c in item.concepts)


def _joined(found: list[Item]) -> list[Item]:
    """Parts too small to be a detail of their own belong to the one before them."""
    items: list[Item] = []
    for item in found:
        if items and item.at == items[-1].at and (item.size < 1.0 or items[-1].size < 1.0):
            last = items.pop()
            item = replace(
                last,
                concepts=last.concepts + item.concepts,
                numbers=last.numbers + item.numbers,
                wording=f"{last.wording}, {item.wording}" if item.wording else last.wording,
            )
        items.append(item)
    return [item for item in items if item.size >= 1.0] or items[:1]


def _grounded(
    essay: Essay, part: str, asked: frozenset[str], known: set[str], used: frozenset[int], question: str
) -> Item | None:
    """What this part of the answer takes from the one sentence that holds most of it."""
    sentences = sentences_of(part)
    keys = weighed(essay, sentences, ADVICE)
    numbers = [q for s in sentences for q in quantities(s.text, s.words)]
    if numbers:  # a number tells its side, and a temperature its scale
        told = SIDES.union(keys_of(" ".join(q.text for q in numbers if q.unit == DEGREE)))
        keys = {key: value for key, value in keys.items() if key not in told}
    core = cores(sentences, keys, asked, question)
    best: Item | None = None
    score = 0.0
    for at, stated in enumerate(essay.stated):
        concepts = []
        context = 0.0
        exact = False
        for key, value in keys.items():
            nearest = max(((related(key, other), other) for other in stated.weights), default=(0.0, ""))
            if nearest[0] >= GROUNDED:
                context += value
                exact = exact or nearest[0] >= SURE or at in used
                if key not in known:
                    concepts.append(
                        Concept(
                            tuple(dict.fromkeys((key, nearest[1]))),
                            value * (NAMED_TOO if key in asked else 1.0),
                            key in asked,
                            key in core,
                        )
                    )
        same = tuple(q for q in stated.numbers if _telling(q) and any(q.same(n) for n in numbers))
        # What the question is about tells which of several sentences is meant.
        context += 2 * len(same) + 0.25 * len(asked & stated.weights.keys())
        if ((concepts and (exact or len(concepts) > 1)) or same) and context > score + 1e-9:
            score = context
            wanted = [k for c in concepts for k in c.keys]
            wording = passage(stated.sentence.text, stated.sentence, wanted) or ", ".join(q.text for q in same)
            alone = any(ONLY.search(s.text) for s in sentences) and (
                exclusive(stated.sentence) or bool(ONLY.search(stated.sentence.text))
            )
            best = Item(
                tuple(concepts), same, 1.0, wording, at, alone, _behind_only(sentences) if alone else frozenset()
            )
    return best


def _behind_only(sentences: tuple[Sentence, ...]) -> frozenset[str]:
    """The words behind an "only"."""
    found = ((s, ONLY.search(s.text)) for s in sentences)
    return frozenset(w.key for s, only in found if only for w in s.words if w.start >= only.end() and w.key)


def _telling(number: Quantity) -> bool:
    """One of something is mostly no number."""
    return bool(number.unit) or number.value > 1
