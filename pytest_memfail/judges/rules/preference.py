"""Preferences: the specific one must stay identifiable (paper, section 4, task 2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from pytest_memfail.core import Evidence
from pytest_memfail.judges.rules.finding import Finding, keys_of, listed, passage
from pytest_memfail.judges.rules.polarity import negated, sentiment
from pytest_memfail.judges.rules.text import Sentence, TextCache, fold, sentences_of, weight
from pytest_memfail.judges.rules.view import View, Window, needs
from pytest_memfail.judges.rules.words import HEADS, MODIFIERS

STORED: Final = 0.5
PARAPHRASED: Final = 2
HEAD_KEYS: Final = frozenset(fold(word) for word in HEADS)
MODIFIER_KEYS: Final = frozenset(fold(word) for word in MODIFIERS)
REASON_STORED: Final = 0.5
"""Share of the statement's other words that shows it is stored though the preference itself is gone."""
RELATED: Final = 0.34
"""Share of an entry's other words that come from the statement, or of the statement's that the entry has."""
OWN: Final = 0.72
"""The same for statements that are kept word for word."""
REWRITTEN: Final = 0.1
"""How much less of it a rewritten statement needs."""
FIRST_PERSON: Final = frozenset(("i", "my", "me"))
FOREIGN: Final = 2.5
"""The weight of its own words with which a first-person statement says something else, if none of them is ours."""


@dataclass(frozen=True, slots=True)
class Preference:
    """What must be found of a preference, as far as its statement says it."""

    wanted: Mapping[str, float]
    """What names the preference."""
    context: Mapping[str, float]
    """The rest of the statement: why, when, how."""
    sentiment: int
    wording: str
    words: tuple[tuple[str, str], ...]
    """The keys of `wanted`, each as the source writes it."""


@lru_cache(maxsize=4096)
def read_preference(evidence: Evidence, protocol: str) -> Preference:
    """The preference of the evidence."""
    source = sentences_of(evidence.source)
    stated = {key for sentence in source for key in sentence.keys}
    named = keys_of(evidence.preference or evidence.text)
    wanted = needs(named if protocol == "paper" else named & stated)
    if not wanted:
        # The statement paraphrases its own preference ("shooting hoops"): its first telling words stand for it.
        telling = [w.key for s in source for w in s.words if w.key and weight(w.key) >= 1.0]
        wanted = needs(telling[:PARAPHRASED]) or needs(stated)
    heads = {key for key in wanted if key in HEAD_KEYS}
    if heads and any(key not in HEAD_KEYS | MODIFIER_KEYS for key in wanted):
        wanted = {key: value for key, value in wanted.items() if key not in heads}
    context = needs(stated - set(wanted))
    view = View([evidence.source], TextCache())
    best = view.search(wanted, None)
    home = source[best[0].sentences[0]] if best else None
    words = tuple((key, next((w.surface for s in source for w in s.words if w.key == key), key)) for key in wanted)
    wording = passage(evidence.source, home, wanted) if home else evidence.preference or evidence.text
    return Preference(wanted, context, sentiment(home) if home else 0, wording, words)


def find_preference(evidence: Evidence, view: View, protocol: str) -> Finding:
    """The preference in a view: some version of it (stored), and the specific one (faithful)."""
    wanted = read_preference(evidence, protocol)
    best = _find(evidence, wanted, view)
    if not best.faithful and not best.fault and evidence.preference and protocol == "ours":
        # A system may well use the preference's own name though the statement does not.
        best = _better(best, _find(evidence, replace(wanted, wanted=needs(keys_of(evidence.preference))), view))
    for detail in evidence.details:
        for wording in detail.wordings if detail.part == "preference" and not best.fault else ():
            if not best.faithful:
                best = _better(best, _find(evidence, replace(wanted, wanted=needs(keys_of(wording))), view))
    return best


def _better(first: Finding, second: Finding) -> Finding:
    return second if (second.faithful, second.present) > (first.faithful, first.present) else first


def _find(evidence: Evidence, wanted: Preference, view: View) -> Finding:
    best: tuple[float, float, Window] | None = None
    for window in view.search(wanted.wanted, None):
        if window.coverage < STORED or len(window.sentences) > 1:
            continue
        sentence = view.sentences[window.sentences[0]]
        support = _support(wanted, sentence)
        if not _is_ours(wanted, sentence, window.coverage, support):
            continue
        if best is None or (round(window.coverage, 6), support) > best[:2]:
            best = (round(window.coverage, 6), support, window)
    if best is None:
        for window in view.search(wanted.context, None, 8):
            sentence = view.sentences[window.sentences[0]]
            own = _own(wanted, sentence) + (0 if sentence.lowers & FIRST_PERSON else REWRITTEN)
            if window.coverage >= REASON_STORED and len(window.found) >= 2 and own >= OWN:
                return Finding(
                    True,
                    False,
                    f"what was said about {wanted.wording!r} is stored, but the preference itself is not named",
                    view.entries_of(window.sentences),
                    (),
                    (wanted.wording,),
                    confidence=0.7,
                )
        closest = view.search({**wanted.context, **wanted.wanted}, None, 3)
        return Finding(
            False,
            False,
            f"no entry names {wanted.wording!r}",
            view.entries_of([i for w in closest for i in w.sentences])[:3],
            (),
            (wanted.wording,),
            confidence=0.9,
        )
    coverage, _, window = best
    sentences = [view.sentences[i] for i in window.sentences]
    entries = view.entries_of(window.sentences)
    if coverage < 0.999:
        lost = tuple(word for key, word in wanted.words if key not in window.found)
        return Finding(
            True,
            False,
            f"{wanted.wording!r} is stored without {listed(lost)}",
            entries,
            (),
            lost or (wanted.wording,),
            confidence=0.75,
        )
    turned = any(negated(s, wanted.wanted) for s in sentences) or any(
        sentiment(s) == -1 and wanted.sentiment >= 0 for s in sentences if s.keys & set(wanted.wanted)
    )
    if turned and not _source_negative(evidence, wanted):
        return Finding(
            True, False, f"{wanted.wording!r} is stored, but turned into its opposite", entries, (), (wanted.wording,)
        )
    return Finding(True, True, f"{wanted.wording!r} is named", entries, (wanted.wording,))


def _source_negative(evidence: Evidence, wanted: Preference) -> bool:
    return any(negated(s, wanted.wanted) or sentiment(s) == -1 for s in sentences_of(evidence.source))


def _support(wanted: Preference, sentence: Sentence) -> float:
    """The share of the statement's other words that the sentence has."""
    total = sum(wanted.context.values())
    return sum(v for k, v in wanted.context.items() if k in sentence.keys) / total if total else 0.0


def _own(wanted: Preference, sentence: Sentence) -> float:
    """The share of the sentence's other words that the statement has."""
    others = needs(sentence.keys - set(wanted.wanted))
    total = sum(others.values())
    return sum(v for k, v in others.items() if k in wanted.context) / total if total else 1.0


def _is_ours(wanted: Preference, sentence: Sentence, coverage: float, support: float) -> bool:
    """Whether the sentence is about this preference, and not another statement that shares words with it."""
    others = sum(needs(sentence.keys - set(wanted.wanted)).values())
    related = max(support, _own(wanted, sentence)) >= RELATED
    # Statements of the user that are kept word for word carry their own reasons; rewritten ones seldom do.
    rewritten = bool(sentence.lowers & {"user", "user's", "he", "she", "they"}) or sentiment(sentence) != 0
    in_list = sentence.text.count(",") >= 2 or ":" in sentence.text
    word_for_word = bool(sentence.lowers & FIRST_PERSON) or not (rewritten or in_list)
    if word_for_word:
        own = _own(wanted, sentence)
        return own >= OWN or others < FOREIGN if coverage >= 0.999 else own >= OWN and support >= RELATED
    return coverage >= 0.999 or related or others < 1.5
