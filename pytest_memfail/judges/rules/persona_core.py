"""What in an answer answers the question's question word: the tie of a lucky red tie, the oat of oat milk."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from pytest_memfail.judges.rules.associations import association, contrast
from pytest_memfail.judges.rules.finding import listed, written
from pytest_memfail.judges.rules.kinds import is_noun, is_person, kinds_of
from pytest_memfail.judges.rules.lexicon import EMPTY, lookup, paraphrases
from pytest_memfail.judges.rules.persona_allergy import unnamed
from pytest_memfail.judges.rules.persona_essay import CALENDAR, NAMED_TOO, Concept, Essay, Item, compounded
from pytest_memfail.judges.rules.persona_match import found, stands
from pytest_memfail.judges.rules.persona_partners import AWAY, surface
from pytest_memfail.judges.rules.persona_stretches import parts_of, refused_stretches
from pytest_memfail.judges.rules.related import related
from pytest_memfail.judges.rules.text import Sentence, Word, fold, weight

TIMES: Final = frozenset(fold(day) for day in CALENDAR)
HOURS: Final = frozenset(
    fold(word)
    for word in "morning mornings afternoon evening evenings night nights dawn dusk sunrise sunset noon".split()
)
"""Parts of the day, which answer a question for a time."""
WEEKEND: Final = fold("weekend")
"""What may stand for a day; a week, or every day, may not."""
WHEN: Final = re.compile(
    r"^\s*when\b|\b(?:when (?:during|does|do|is|are|would|will)|(?:what|which|best|good) (?:time|hour|day|month)s?|hours"
    r"|how (?:early|late|often)|time of (?:the )?day)\b",
    re.IGNORECASE,
)
"""A question for a time."""
WHERE: Final = re.compile(r"\b(?:where|who|whose|whom|called|named?|brand|place|venue|location)\b", re.IGNORECASE)
TRIGGERS: Final = frozenset("when whenever if after before during until once while unless".split())
"""What follows them tells when something is done."""
ROOT: Final = 3
"""What begins alike may be the same in short."""
NEW: Final = 0.7
"""What a word must tell to be another wording of something."""


def cores(
    part: Sequence[Sentence], weights: Mapping[str, float], asked: frozenset[str], question: str
) -> frozenset[str]:
    """The keys of a part of the answer that answer the question: what its first new noun is, or what it is said of."""
    found = set[str]()
    parts = {w.key for s in part for at, w in enumerate(s.words) if compounded(s, at)}
    for run in (run for s in part for run in _nouns(s)):
        # Of oat milk, where milk was asked for, the oat is told; who does it goes without saying.
        own = [w.key for w in run if w.key not in asked]
        own = own[:-1] if own and is_person(own[-1]) else own
        if own:
            found.update(key for key in own if key in parts or weights.get(key, 0.0) >= 1.0)
            break
    if WHERE.search(question):
        found.update(w.key for s in part for w in s.words[1:] if w.key and _named(w))
    found.update(w.key for s in part for before, w in pairwise(s.words) if before.lower == "to" and w.key and _named(w))
    if WHEN.search(question):
        found.update(key for s in part for key in _times(s))
    return frozenset(found) - asked


def _times(sentence: Sentence) -> Iterator[str]:
    """Days and months, and what something is done after, or when it happens."""
    tied = False
    for at, word in enumerate(sentence.words):
        gap = sentence.text[sentence.words[at - 1].end : word.start] if at else ""
        tied = word.lower in TRIGGERS or (tied and not gap.strip(" -"))
        if word.key and (tied or word.key in TIMES or word.key in HOURS):
            yield word.key


def _nouns(sentence: Sentence) -> Iterator[list[Word]]:
    """Words side by side of which the last is a noun."""
    run: list[Word] = []
    for at, word in enumerate(sentence.words):
        gap = sentence.text[sentence.words[at - 1].end : word.start] if at else ""
        # A spool of thread is one thing, and so is a fresh-cut log.
        if run and (gap.strip(" -") or not (word.key or word.lower == "of")):
            if _noun(run[-1]):
                yield run
            run = []
        # What is counted belongs to its number.
        counted = at and sentence.words[at - 1].key[:1].isdigit()
        if word.key and not word.key[0].isdigit() and not counted:
            run.append(word)
    if run and _noun(run[-1]):
        yield run


def _known(concept: Concept) -> bool:
    """Whether the name is an ordinary word too: the library of Lindholm Library."""
    return any(map(is_noun, concept.keys))


def _new_name(stored: Iterable[Sentence], essay: Essay) -> bool:
    """Whether a name stands there of which the essay does not tell."""
    return any(
        _named(w) and w.key and w.key not in essay.keys | essay.ignored and lookup(w.key) is EMPTY
        for s in stored
        for w in s.words[1:]
    )


def _named(word: Word) -> bool:
    return word.surface[0].isupper() and word.key not in TIMES


def _noun(word: Word) -> bool:
    return is_noun(word.key)


def core_lost(
    item: Item,
    keys: frozenset[str],
    stored: Sequence[Sentence],
    beside: Iterable[Sentence],
    essay: Essay,
    asked: frozenset[str],
) -> tuple[str, bool]:
    """What answers the question and is not there, and whether something else stands for it.

    Beside is what else is told of the person: one sentence may have become two entries.
    """
    core = [c for c in item.concepts if c.core]
    lost = [c for c in core if not stands(c, item, keys, essay) or _only_asked(c, keys, asked)]
    beside_it = [c for c in item.concepts if not c.core and c.weight >= 1.0 and not stands(c, item, keys, essay)]
    if not lost and not beside_it:
        return "", False
    source = essay.stated[item.at].sentence
    if lost and len(lost) == len(core) and any(stands(c, item, keys, essay) for c in lost):
        return f"{listed([surface(source, c.keys[-1]) for c in lost])} of '{item.wording}' is missing", False
    strange = _strange(item, keys, essay)
    given = {k for c in item.concepts if c.given for k in c.keys}
    for concept in beside_it:
        # rye bread with smoked salmon is none with smoked vendace
        other = _sibling(concept.keys[-1], (), source, stored, strange)
        if other and not elsewhere_said(other, item, stored, source):
            return f"'{written(other, stored)}' instead of '{surface(source, concept.keys[-1])}'", True
    if not lost:
        return "", False
    for concept in lost:
        other = next((k for k in sorted(strange) if any(_other(one, k) for one in concept.keys)), "")
        other = other or _sibling(concept.keys[-1], given, source, stored, strange)
        if other and not elsewhere_said(other, item, stored, source):
            return f"'{written(other, stored)}' instead of '{surface(source, concept.keys[-1])}'", True
    told = keys.union(*(s.keys for s in beside))
    lost = [c for c in lost if not stands(c, item, told, essay)]
    timed = [c for c in lost if not TIMES.isdisjoint(c.keys) and WEEKEND not in keys]
    # A name is told by no other word.
    names = {w.key for w in source.words[1:] if _named(w)}
    named = [c for c in core if not names.isdisjoint(c.keys)]
    renamed = [c for c in lost if c in named and not _known(c) and _new_name(stored, essay)]
    timed = timed or renamed or (named if all(c in lost for c in named) else [])
    timed = timed or [c for c in lost if unnamed(c.keys, stored, source)]
    new = any(weight(k) >= NEW for k in keys - source.keys - essay.ignored)
    gone = timed or ([] if new or len(lost) < len(core) else lost)
    wording = listed([surface(source, c.keys[-1]) for c in gone])
    return f"{wording} of '{item.wording}' is missing" if gone else "", False


def _only_asked(concept: Concept, keys: frozenset[str], asked: frozenset[str]) -> bool:
    """Whether nothing but the question's own word stands for it, which is no answer: made of wood, where the wood is asked for."""
    return bool(found(concept, keys)) and not found(concept, keys - (asked - set(concept.keys)))


def core_denied(item: Item, stored: Sequence[Sentence], essay: Essay) -> str:
    """What answers the question and is denied at once where it is stored, and not where it was said: "beef, no turkey"."""
    source = essay.stated[item.at].sentence
    core = {k for c in item.concepts if c.core for k in c.keys}
    denied = [
        word
        for sentence in stored
        for before, word in pairwise(sentence.words)
        if before.lower == "no" and word.key in core and sum(w.key == word.key for w in sentence.words) == 1
    ]
    if not denied or "free" in source.lowers:  # scent-free has no scents
        return ""
    refused = {k for stretch in refused_stretches(source, allergies=True, comparing=True) for k in stretch}
    return next((f"'{word.surface}' is denied in what is stored" for word in denied if word.key not in refused), "")


def _strange(item: Item, keys: frozenset[str], essay: Essay) -> set[str]:
    """Words of which the essay knows nothing."""
    return {
        k
        for k in keys - essay.keys - essay.ignored - item.told
        if not k[0].isdigit() and weight(k) >= NEW and not essay.near.get(k) and k not in AWAY
    }


def asked_lost(item: Item, keys: frozenset[str], stored: Sequence[Sentence], essay: Essay) -> str:
    """What the question is about and the detail says is wanted or not, where something else is told of: no watch for no cologne."""
    about = [c for c in item.concepts if c.given and c.weight >= NAMED_TOO and _known(c)]
    lost = [c for c in about if not stands(c, item, keys, essay)]
    if not lost:
        return ""
    source = essay.stated[item.at].sentence
    if len(lost) < len(about):
        strange = _strange(item, keys, essay)
        # dinner parties are no surprise parties
        heads = {other.key for one, other in _ties(source) if any(one.key in c.keys for c in lost)}
        tied = (one.key for s in stored for one, other in _ties(s) if other.key in heads)
        lost = lost if any(key in strange and is_noun(key) for key in tied) else []
    return f"{listed([surface(source, c.keys[-1]) for c in lost])} is missing" if lost else ""


def _other(one: str, other: str) -> bool:
    return other in paraphrases(one).other or one in paraphrases(other).other or contrast(one, other)


def elsewhere_said(key: str, item: Item, stored: Sequence[Sentence], source: Sentence) -> bool:
    """Whether the word is said of another thing that the source tells: "no boots (there are slippers for indoors)"."""
    parts = [frozenset(w.key for w in part) for s in stored for part in parts_of(s)]
    own = [part for part in parts if any(found(c, part) for c in item.concepts)]
    others = [part for part in parts if key in part and any(weight(k) >= 1.0 for k in part & source.keys)]
    return bool(own and others) and not any(key in part for part in own)


def _sibling(
    wanted: str, given: Collection[str], source: Sentence, stored: Iterable[Sentence], strange: Iterable[str]
) -> str:
    """Another thing of the same sort beside the same word, or another before what was asked for: red scarf, nettle tea."""
    beside = {one.key for one, other in _ties(source) if other.key == wanted}
    before = {other.key for one, other in _ties(source) if one.key == wanted and other.key in given}
    # Before a noun of the answer itself another noun is another thing, whatever the two have in common: mint tea.
    heads = {other.key for one, other in _ties(source) if one.key == wanted and _noun(one) and _noun(other)}
    for sentence in stored:
        for one, other in _ties(sentence):
            if one.key in beside and other.key in strange and _alike(wanted, other.key):
                return other.key
            if other.key in before and one.key in strange and _noun(one) and _apart(wanted, one.key):
                return one.key
            if other.key in heads and one.key in strange and _noun(one) and not related(wanted, one.key):
                return one.key
    return ""


def _ties(sentence: Sentence) -> Iterator[tuple[Word, Word]]:
    """Neighbouring words with nothing between them."""
    for one, other in zip(sentence.words, sentence.words[1:], strict=False):
        if one.key and other.key and not sentence.text[one.end : other.start].strip(" -"):
            yield one, other


def _apart(one: str, other: str) -> bool:
    """Whether the two have nothing to do with each other."""
    return not _may_be(one, other) and not association(one, other)


def _may_be(one: str, other: str) -> bool:
    """Whether the two may be the same, or the one a kind of the other."""
    return bool(related(one, other)) or other in lookup(one).general or one in lookup(other).general


def _alike(one: str, other: str) -> bool:
    """Whether the two are of one sort, and neither is the other: spoken of together are a clarinet and a guitar too."""
    if _may_be(one, other) or one[:ROOT] == other[:ROOT]:
        return False
    if lookup(one) is EMPTY and not is_noun(one):
        return True  # what no dictionary has is told by no other word
    return not kinds_of(one).isdisjoint(kinds_of(other))
