"""Where everyday English stands for an end of a link in other words: "every night" for "nightly", "from scratch" for "over"."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Final

from pytest_memfail.judges.rules.anchor_words import Token
from pytest_memfail.judges.rules.text import fold, sentences_of

ARTICLES: Final = frozenset("a an the some".split())
WHOSE: Final = {
    **dict.fromkeys("his her their my its your our user's".split(), "one's"),
    **dict.fromkeys("himself herself themselves themself myself itself yourself ourselves".split(), "oneself"),
    **dict.fromkeys("is are am was were been being".split(), "be"),
    **dict.fromkeys("has have had having".split(), "have"),
    **dict.fromkeys("does did doing done".split(), "do"),
    **dict.fromkeys("gets got getting gotten".split(), "get"),
}
GAP: Final = 2
"""Words that may stand behind the first of a wording: to get the amounts wrong, to ask a friend along."""
Phrases = dict[str, list[tuple[tuple[str, ...], int]]]


def everyday(tokens: Sequence[Token], groups: frozenset[int] | None = None) -> Iterator[tuple[int, tuple[int, ...]]]:
    """The groups whose wordings stand among the words, each with where its words are; of `groups` alone, if they are given."""
    known = _phrases() if groups is None else _phrases_of(groups)
    said = [_said(token) for token in tokens]
    if known.keys().isdisjoint(said):
        return
    told = [(at, word) for at, word in enumerate(said) if word not in ARTICLES]
    for start, (_, word) in enumerate(told):
        for phrase, group in known.get(word, ()):
            words = _words(told, start, phrase)
            if words:
                yield group, words


@cache
def telling_keys(groups: frozenset[int]) -> frozenset[str]:
    """The keys of which one stands wherever a wording of the groups does: of each its longest."""
    known = (words for phrases in _phrases_of(groups).values() for words, _ in phrases)
    return frozenset(max(words, key=lambda word: (len(word), word)) for words in known)


def _words(told: Sequence[tuple[int, str]], start: int, phrase: tuple[str, ...]) -> tuple[int, ...]:
    """Where the words of the phrase are that begins here, if all of it is there."""
    if len(phrase) == 1:
        return (told[start][0],)
    for gap in range(GAP + 1):
        behind = told[start + gap + 1 : start + gap + len(phrase)]
        if tuple(word for _, word in behind) == phrase[1:]:
            return (told[start][0], *(at for at, _ in behind))
    return ()


def _said(token: Token) -> str:
    if token.surface[:1].isupper() and token.lower.endswith("'s"):
        return "one's"
    return WHOSE.get(token.lower) or token.key or token.lower


@cache
def _phrases() -> Phrases:
    """All wordings by their first word."""
    found: Phrases = defaultdict(list)
    lines = files(__package__).joinpath("everyday.txt").read_text("utf-8").splitlines()
    for group, line in enumerate(line for line in lines if line and not line.startswith("#")):
        for wording in line.split("|"):
            words = [w for s in sentences_of(wording.strip()) for w in s.words if w.lower not in ARTICLES]
            phrase = tuple(WHOSE.get(w.lower) or (fold(w.lower) if w.key else w.lower) for w in words)
            if len(phrase) > 1 or any(w.key for w in words):
                found[phrase[0]].append((phrase, group))
    return found


@cache
def _phrases_of(groups: frozenset[int]) -> Phrases:
    """The wordings of the groups alone."""
    found: Phrases = defaultdict(list)
    for group in groups:
        for phrase in _by_group()[group]:
            found[phrase[0]].append((phrase, group))
    return found


@cache
def _by_group() -> dict[int, list[tuple[str, ...]]]:
    found: dict[int, list[tuple[str, ...]]] = defaultdict(list)
    for phrases in _phrases().values():
        for phrase, group in phrases:
            found[group].append(phrase)
    return found
