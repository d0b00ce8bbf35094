"""What is left of a preference that is no longer named: its reasons or situation, under a vaguer word."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pytest_memfail.judges.rules.attitude import liked
from pytest_memfail.judges.rules.lexicon import lookup
from pytest_memfail.judges.rules.naming import Target, loose
from pytest_memfail.judges.rules.text import Sentence, fold, weight
from pytest_memfail.judges.rules.view import View, needs
from pytest_memfail.judges.rules.whose import MINE, owner, word_for_word

CANDIDATES: Final = 8
STRONG: Final = 0.5
"""Share of the statement's other words with which nothing else need speak for it."""
SOME: Final = 0.3
"""The same where two telling words are among them, or a vague word stands for the name."""
OWN: Final = 0.72
LIKING_KEYS: Final = frozenset(fold(w) for w in "like love enjoy prefer favorite favourite appeal pick choice".split())
VAGUE: Final = re.compile(
    r"\b(?:something|some (?:sort|kind|type|form)|a (?:kind|sort|type|certain|couple)|certain|various|several|things?|stuff"
    r"|one (?:\w+ )?(?:way|kind|type|of)|different|items?|options?|activit(?:y|ies)|general(?:ly)?|other)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Trace:
    """The sentence that holds what was said around the preference."""

    at: int
    found: tuple[str, ...]
    confidence: float


def best_trace(
    view: View, context: Mapping[str, float], stated: frozenset[str], targets: Sequence[Target]
) -> Trace | None:
    """The sentence about the user that was most likely made from the statement, if any was."""
    scores: dict[int, float] = defaultdict(float)
    for key, value in context.items():
        if value >= 1.0:
            for at in view.postings.get(key, ()):
                scores[at] += value
    general = {above for target in targets[:1] for part in target.parts for above in lookup(part.key).general}
    best: tuple[float, int, tuple[str, ...]] | None = None
    for at in sorted(scores, key=lambda i: (-scores[i], i))[:CANDIDATES]:
        sentence = view.sentences[at]
        score, found = _score(sentence, context, stated, general, verbatim=word_for_word(view, at))
        if score >= 1.0 and (best is None or score > best[0]) and owner(view, at, len(sentence.words), -1) == MINE:
            best = (score, at, found)
    if best is None:
        return None
    return Trace(best[1], best[2], 0.6 if best[0] < 1.2 else 0.7 if best[0] < 1.6 else 0.85)


def _score(
    sentence: Sentence, context: Mapping[str, float], stated: frozenset[str], general: set[str], *, verbatim: bool
) -> tuple[float, tuple[str, ...]]:
    """1.0 or more where the sentence is a trace of the statement."""
    total = sum(context.values())
    keys = {loose(key): key for key in sentence.keys}
    found = [key for key in context if loose(key) in keys]
    share = sum(_worth(sentence, keys[loose(k)]) * context[k] for k in found) / total if total else 0.0
    telling = [k for k in found if weight(k) >= 1.0 and keys[loose(k)] not in sentence.aliased]
    others = {key: value for key, value in needs(sentence.keys).items() if key not in LIKING_KEYS}
    known = {loose(key) for key in stated}
    own = sum(v for k, v in others.items() if loose(k) in known) / sum(others.values()) if others else 0.0
    if verbatim:
        return (1.0 + share if share >= STRONG and len(found) >= 2 and own >= OWN else 0.0), tuple(found)
    vague = bool(VAGUE.search(sentence.text))
    if not telling or len(found) < 2:
        return (1.0 if telling and share >= SOME and vague else 0.0), tuple(found)
    hint = vague or bool(general & sentence.keys)
    need = SOME if hint or (len(telling) >= 2 and liked(sentence)) else STRONG
    return share / need * (1.0 if own >= SOME or hint else 0.8), tuple(found)


def _worth(sentence: Sentence, key: str) -> float:
    return 0.75 if key in sentence.aliased else 1.0
