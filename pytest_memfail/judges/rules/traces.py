"""What is left of a preference that is no longer named: its reasons or situation, under a vaguer word."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb
from typing import Final

from pytest_memfail.judges.rules.attitude import LIKED, is_liking, liked
from pytest_memfail.judges.rules.kinds import kinds_of
from pytest_memfail.judges.rules.targets import Target, loose
from pytest_memfail.judges.rules.text import Sentence, fold, sentences_of, weight
from pytest_memfail.judges.rules.variants import SORTING
from pytest_memfail.judges.rules.verbatim import verbatim_store, word_for_word
from pytest_memfail.judges.rules.view import View, needs
from pytest_memfail.judges.rules.whose import owner
from pytest_memfail.judges.rules.whose_after import MINE

CANDIDATES: Final = 8
STRONG: Final = 0.5
"""Share of the statement's other words with which nothing else need speak for it."""
NEARLY_ALL: Final = 0.9
"""The same where the sentence values nothing: it may well tell of another thing done in such a situation."""
SOME: Final = 0.3
"""The same where something is said to be liked, or a vague word stands for the name."""
COMMON: Final = 3
"""A word of the category tells nothing where more sentences than so many, and than one in so many, have it."""
LITTLE: Final = 0.2
"""The same where what is liked is said to be of the kind that the question asks for."""
MANY: Final = 0.4
"""The same where three telling words are among them."""
ENOUGH: Final = 0.45
"""Share of the sentence's words that come from the statement."""
CHANCE: Final = 0.1
"""So many sentences may be expected to share the words by chance."""
CLASSIFYING: Final = frozenset("type kind sort style genre variety category".split())
PERSONS: Final = frozenset(
    fold(w)
    for w in "poet writer author novelist singer band musician composer artist painter director actor duo".split()
)
LISTED: Final = re.compile(r"\s*(?:[:=(]|,? such as|,? like\b|,? including|,? especially|,? namely)")
ENUMERATED: Final = re.compile(r"\s*(?:[,;/&]|(?:and|or)\b)")
HAVING: Final = re.compile(
    r"\b(?:wear|drink|eat|read|listen|watch|play|collect|learn|practi[cs]e|use(?!r)|using|keep|grow|hold|take|train|follow|rel(?:y|ies))\w*\b",
    re.I,
)
"""What one does with things that one likes."""
ASKING: Final = re.compile(
    r"\b(?:advice|recommend(?:s|ed|ations?)|suggestions?|(?<!to )help with|plan(?:s|ned|ning)?"
    r"|(?:ideas?|tips?) (?:for|on|about|what|where|how|which)|look(?:s|ing) for|consider(?:s|ing)"
    r"|ask(?:s|ed|ing)|decid(?:es?|ing)|wonder(?:s|ing)|think(?:s|ing) (?:about|of)|organi[sz](?:es|ing))\b",
    re.IGNORECASE,
)
"""What the user is about to do, and what the question is about, is no preference yet."""
WISHED: Final = re.compile(r"\bwant(?:s|ed|ing)?\b", re.IGNORECASE)
"""A wish for once, which LIKED takes in."""
SMOOTH: Final = 10
OWN: Final = 0.72
CUT: Final = 0.9
"""Share of a first-person sentence's words that the statement has; more where all is kept word for word."""
LIKING_KEYS: Final = frozenset(fold(w) for w in "like love enjoy prefer favorite favourite appeal pick choice".split())
VALUED: Final = re.compile(
    r"\b(?:lovel|satisf|beaut|wonderful|pleasan|reward|sooth|calm|comfort|help|fun|best|better|good|great|need|want|ease|easy"
    r"|feel|suit|favou?r|special|valu|important|matter|like|look)\w*",
    re.IGNORECASE,
)
VAGUE: Final = re.compile(
    r"\b(?:something|some (?:sort|kind|type|form)|a (?:kind|sort|type|certain|couple)|certain|various|several|(?<!first )things?|stuff"
    r"|one (?:\w+ )?(?:way|kind|type|of)|different|items?|options?|activit(?:y|ies)|general(?:ly)?|other)\b",
    re.IGNORECASE,
)


OF_ALL: Final = re.compile(
    r"\b(?:of (?:all|every|any|various|different|several|many)|all|any|every|various|different|several|many) "
    r"(?:kinds?|sorts?|types?|styles?|forms?|varieties|manner)\b",
    re.IGNORECASE,
)
"""All of a kind at once."""
OTHERS: Final = re.compile(r"(?<!no )(?<!any )\bothers?\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Trace:
    """The sentence that holds what was said around the preference."""

    at: int
    found: tuple[str, ...]
    confidence: float


def coincidence(view: View, found: Iterable[str], tried: int) -> float:
    """How many sentences of such a store one may expect to share these of the tried words by chance.

    Words that many entries of the store have tell little; the size of a small one is allowed for.
    """
    keys = sorted(set(found))
    expected = float(max(len(view.sentences), 1)) * comb(max(tried, len(keys)), len(keys))
    for key in keys:
        expected *= min(1.0, (len(view.postings.get(key, ())) - 0.7) / (len(view.sentences) + SMOOTH))
    return expected


@lru_cache(maxsize=4096)
def kinds(target: Target) -> frozenset[str]:
    """Words for what the target, told by its last word, is a kind of."""
    if target.person:
        return PERSONS
    own = {part.key for part in target.parts}
    return frozenset(kind for part in target.parts[-1:] or target.parts for kind in kinds_of(part.key)) - own


@lru_cache(maxsize=1024)
def category_keys(category: str) -> frozenset[str]:
    """The words of a category that tell it from others: "cycling types" is about cycling."""
    words = [w for s in sentences_of(category) for w in s.words if w.key]
    return frozenset(w.key for w in words if w.lower not in SORTING and w.lower.removesuffix("s") not in SORTING)


@lru_cache(maxsize=1024)
def category_kind(category: str) -> frozenset[str]:
    """The word for what everything of a category is: a bird for "birds to watch", music for "types of music"."""
    named = category.split(" of ")[-1]
    words = [w for s in sentences_of(re.split(r" (?:to|for|in|with) ", named)[0]) for w in s.words]
    while words and words[-1].lower.removesuffix("s") in CLASSIFYING:
        words.pop()
    last = words[-1:] if words and words[-1].lower.removesuffix("s") not in SORTING else []
    return frozenset(w.key for w in last if w.key)


def likeliest(view: View, context: Mapping[str, float]) -> list[int]:
    """The sentences with the most words of the context."""
    scores: dict[int, float] = defaultdict(float)
    for key, value in context.items():
        if value >= 1.0:
            for at in view.postings.get(key, ()):
                scores[at] += value
    return sorted(scores, key=lambda i: (-scores[i], i))[:CANDIDATES]


def best_trace(
    view: View,
    candidates: Iterable[int],
    context: Mapping[str, float],
    stated: frozenset[str],
    targets: Sequence[Target],
    category: str = "",
) -> Trace | None:
    """The sentence about the user that was most likely made from the statement, if any was."""
    general = kinds(targets[0]) if targets else frozenset()
    often = max(COMMON, len(view.sentences) / COMMON)
    asked = frozenset(k for k in category_keys(category) - stated if len(view.postings.get(k, ())) <= often)
    best: tuple[float, int, tuple[str, ...]] | None = None
    for at in candidates:
        score, found = _score(view, at, context, stated, general, asked)
        better = score >= 1.0 and (best is None or score > best[0])
        if better and owner(view, at, len(view.sentences[at].words), -1) == MINE:
            best = (score, at, found)
    if best is None:
        return _generalised(view, stated, general, asked & category_kind(category))
    return Trace(best[1], best[2], 0.65 if best[0] < 1.3 else 0.75 if best[0] < 2 else 0.82)


def _generalised(view: View, stated: frozenset[str], general: frozenset[str], asked: frozenset[str]) -> Trace | None:
    """A sentence on the kind of thing that the preference is, as the user's: as what is liked, or with little else.

    Of what the question asks for it is only known that it is one of its kinds, not which.
    """
    general = general | asked
    for at in sorted({at for key in general & view.postings.keys() for at in view.postings[key]}):
        sentence = view.sentences[at]
        if ASKING.search(sentence.text) or WISHED.search(sentence.text):
            continue
        kind = sorted(general & sentence.keys)
        others = [i for i in range(len(sentence.words)) if _is_other(sentence, i, general | stated)]
        if any(LISTED.match(sentence.text, w.end) for w in sentence.words if w.key in general):
            continue  # those of the kind that are meant follow by name
        first = next((i for i, w in enumerate(sentence.words) if w.key in general), 0)
        named = any(w.key and kinds_of(w.key) & set(kind) for w in sentence.words[:first])
        if named and OTHERS.search(sentence.text) is None:
            continue  # the kind is said of something that is named itself: "calling the plane a favourite tool"
        if is_narrowed(sentence, first, stated):
            continue
        little = len(others) <= 1 and (liked(sentence) or HAVING.search(sentence.text) is not None)
        rare = coincidence(view, kind[:1], 3) <= 0.5 or OF_ALL.search(sentence.text) is not None
        if rare and (little or _is_object(sentence, general)) and owner(view, at, len(sentence.words), -1) == MINE:
            return Trace(at, tuple(kind), 0.6)
    return None


def is_narrowed(sentence: Sentence, at: int, stated: frozenset[str]) -> bool:
    """Whether the kind has a word before it that nothing in the statement goes with: "racket sports"."""
    before = sentence.words[at - 1] if at else None
    if before is None or not before.key or sentence.text[before.end : sentence.words[at].start] != " ":
        return False
    if weight(before.key) < 1.0 or is_liking(before.lower) or VAGUE.fullmatch(before.lower):
        return False
    return not any(key == before.key or before.key in kinds_of(key) for key in stated)


def _is_object(sentence: Sentence, general: frozenset[str]) -> bool:
    """Whether the kind is what is liked or done, or stands behind a vague word: "a couple of racket sports"."""
    for i, word in enumerate(sentence.words):
        if word.key not in general:
            continue
        following = sentence.words[i + 1] if i + 1 < len(sentence.words) else None
        if following is not None and following.key and sentence.text[word.end : following.start] == " ":
            continue  # it is part of another name
        start = sentence.words[max(0, i - 5)].start
        before = re.split(r"[,;:.()]", sentence.text[start : word.start])[-1]
        telling = [w for w in sentence.words[max(0, i - 5) : i] if w.start >= word.start - len(before)]
        named = [w for w in telling if w.key and weight(w.key) >= 1.0 and not is_liking(w.lower)]
        if VAGUE.search(before):
            return True
        if i and ENUMERATED.match(sentence.text, word.end) and _is_other(sentence, i - 1, frozenset()):
            continue  # "historic districts, business hubs": others of the kind
        if len(named) <= 1 and LIKED.search(before):
            return True
    return False


def _is_other(sentence: Sentence, at: int, known: frozenset[str]) -> bool:
    """Whether the word says something of its own: neither liking nor what the user does with the thing."""
    word = sentence.words[at]
    if not word.key or word.key in known or weight(word.key) < 1.0 or is_liking(word.lower):
        return False
    return not (at and sentence.words[at - 1].lower in ("user", "they", "she", "he"))


def _score(
    view: View,
    at: int,
    context: Mapping[str, float],
    stated: frozenset[str],
    general: frozenset[str],
    asked: frozenset[str],
) -> tuple[float, tuple[str, ...]]:
    """1.0 or more where the sentence is a trace of the statement."""
    sentence = view.sentences[at]
    total = sum(context.values())
    keys = {loose(key): key for key in sentence.keys}
    found = tuple(key for key in context if loose(key) in keys)
    share = sum(_worth(sentence, keys[loose(k)]) * context[k] for k in found) / total if total else 0.0
    own = own_share(sentence, stated)
    if word_for_word(view, at):
        enough = own >= (CUT if verbatim_store(view) else OWN)
        return (1.0 + share if share >= STRONG and len(found) >= 2 and enough else 0.0), found
    telling = [k for k in found if weight(k) >= 1.0]
    vague = bool(VAGUE.search(sentence.text))
    about = general | asked if ASKING.search(sentence.text) is None else frozenset()
    named = bool(asked & about & sentence.keys)
    hint = vague or named or bool(general & about & sentence.keys)
    if not telling:
        return 0.0, found
    chance = coincidence(view, [keys[loose(k)] for k in telling], sum(v >= 1.0 for v in context.values()))
    need = (
        LITTLE
        if named and liked(sentence)
        else SOME
        if hint or liked(sentence)
        else MANY
        if len(telling) >= 3
        else STRONG
        if VALUED.search(sentence.text)
        else NEARLY_ALL
    )
    # Both must speak for it: much of ours is there, and not much else is.
    score = (share / need) * min(1.0, own / (ENOUGH / 2 if named else ENOUGH)) * (1.2 if hint else 1.0)
    if chance > CHANCE * (3 if hint else 1):
        score *= 0.5
    return score, found


def own_share(sentence: Sentence, stated: frozenset[str]) -> float:
    """The share of the sentence's words that the statement has too."""
    others = {key: value for key, value in needs(sentence.keys).items() if key not in LIKING_KEYS}
    known = {loose(key) for key in stated}
    return sum(v for k, v in others.items() if loose(k) in known) / sum(others.values()) if others else 0.0


def _worth(sentence: Sentence, key: str) -> float:
    return 0.5 if key in sentence.aliased else 1.0
