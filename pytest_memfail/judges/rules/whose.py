"""Whose preference a mention is: the user's, or that of somebody else whom the memory names."""

from __future__ import annotations

import re
from typing import Final

from pytest_memfail.judges.rules.attitude import LIKED
from pytest_memfail.judges.rules.given_names import GIVEN
from pytest_memfail.judges.rules.text import Sentence, Word
from pytest_memfail.judges.rules.view import View
from pytest_memfail.judges.rules.whose_after import MINE, bare_of, is_somebody, told_after
from pytest_memfail.judges.rules.whose_called import ROLES, user_roles
from pytest_memfail.judges.rules.whose_subjects import is_field, marks_of, persons
from pytest_memfail.judges.rules.whose_words import (
    EVERYONE,
    FIELDS,
    INTRODUCED,
    PLURAL_COMPANY,
    RELATIONS,
    USER,
    USER_OBJECT,
)

HEADER: Final = re.compile(r"^[^.!?]{0,60}:?\s*$")
INDEXING: Final = re.compile(r"^\W*(?:keywords?|tags?|topics?|context|categor(?:y|ies)|labels?)\s*[:=]", re.IGNORECASE)
"""A field that repeats in single words what the entry says."""
ASIDE: Final = re.compile(r", (?:who|whose)\b[^,;:.!?]*,(?= )")
"""Who somebody is, told in passing: "Dana, who runs the user's choir, sings"."""
LIKED_WHEN: Final = re.compile(
    r"\b(?:likes?|loves?|enjoys?|adores?|prefers?|wants?|appreciates?) (?:it (?:\w+ )?)?(?:when|if|that)\b[^,.;]*$",
    re.IGNORECASE,
)
ENDS: Final = (".", "!", "?")


def owner(view: View, at: int, first: int, last: int) -> str:
    """Who has the preference named by the words from first to last: "user", or the word for somebody else."""
    sentence, names = view.sentences[at], persons(view)
    told = told_after(sentence, last, names)
    if told:
        return _beyond(view, sentence, told)
    marks = marks_of(sentence, names, first, last)
    watched = _watched(sentence, names, first)
    if watched:
        return watched
    keeper = _keeper(sentence, names, first)
    if keeper:
        return keeper
    stop = sentence.words[first].start if first < len(sentence.words) else len(sentence.text)
    asides = list(ASIDE.finditer(sentence.text[:stop])) if ", who" in sentence.text else []
    before = [(i, who) for i, who in marks if i < first and not _stands_in(sentence.words[i], asides)]
    if before:
        i, who = before[-1]
        if who == "pronoun":
            others = [w for _, w in before if w not in ("pronoun", MINE)]
            earlier = [w for _, w in before if w == MINE]
            return others[-1] if others and not earlier else MINE if earlier else _antecedent(view, at, names)
        if who != MINE and (_introduced(sentence, i, first) or _is_liked_when(sentence, before)):
            return MINE
        return _beyond(view, sentence, who)
    if marks and INDEXING.match(sentence.text) and marks[0][1] != "pronoun":
        return _beyond(view, sentence, marks[0][1])  # "keywords: jazz] The user's cousin plays it"
    return _field(view, at, names) or _heading(view, at, names)


def _stands_in(word: Word, passages: list[re.Match[str]]) -> bool:
    return any(passage.start() < word.start < passage.end() for passage in passages)


def _beyond(view: View, sentence: Sentence, who: str) -> str:
    """Who is meant where somebody is called as the store calls its user: the user, or whom they have."""
    if who not in ROLES or who not in user_roles(view):
        return who
    pairs = zip(sentence.words, sentence.words[1:], strict=False)
    return next((bare_of(b) for a, b in pairs if a.lower == f"{who}'s" and bare_of(b) in RELATIONS), MINE)


def _field(view: View, at: int, names: frozenset[str]) -> str:
    """Whom a field of the same entry gives it to: "tea: oolong | owner: Ruth"."""
    for i in range(view.first[view.entry[at]], view.first[view.entry[at] + 1]):
        sentence = view.sentences[i]
        if i == at or not sentence.lowers & FIELDS:
            continue
        for where, word in enumerate(sentence.words):
            if is_field(sentence, where) and word.lower not in USER and is_somebody(word, names):
                return bare_of(word)
    return ""


def _watched(sentence: Sentence, names: frozenset[str], mention: int) -> str:
    """Whom the user only watches at it: "watches her brother play tennis"."""
    words = sentence.words
    for i in range(max(0, mention - 6), mention):
        if words[i].lower.startswith("watch"):
            return next((bare_of(w) for w in words[i + 1 : mention] if is_somebody(w, names)), "")
    return ""


def _keeper(sentence: Sentence, names: frozenset[str], mention: int) -> str:
    """Whose it is by the word before it, where the user does but something with it: "waters her uncle's herb garden"."""
    if not 0 < mention < len(sentence.words):
        return ""
    before = sentence.words[mention - 1]
    whose = before.lower.endswith(("'s", "s'")) and (
        is_somebody(before, names) or (before.surface[0].isupper() and bare_of(before) in GIVEN)
    )
    return bare_of(before) if whose and not LIKED.search(sentence.text[: before.start]) else ""


def _introduced(sentence: Sentence, person: int, mention: int) -> bool:
    """Whether the other person brought the user to it: "her sister got her into pilates"."""
    between = [w.lower for w in sentence.words[person + 1 : mention]]
    return any(
        word in INTRODUCED and following in USER_OBJECT
        for i, word in enumerate(between)
        for following in between[i + 1 : i + 3]
    )


def _is_liked_when(sentence: Sentence, before: list[tuple[int, str]]) -> bool:
    """Whether the user likes it when all do it: "likes it when everybody sings along"."""
    person, who = before[-1]
    mine = [i for i, whose in before if whose == MINE]
    if who not in EVERYONE | PLURAL_COMPANY or not mine:
        return False
    said = sentence.text[sentence.words[mine[-1]].end : sentence.words[person].start]
    return LIKED_WHEN.search(said) is not None


def _heading(view: View, at: int, names: frozenset[str]) -> str:
    """Whom the entry is about, where the sentence itself names nobody."""
    start = view.first[view.entry[at]]
    for back in range(at - 1, start - 1, -1):
        sentence = view.sentences[back]
        marks = marks_of(sentence, names, -1, -1)
        if not marks:
            continue
        if any(who == MINE for _, who in marks):
            return MINE
        if back == at - 1 and marks[-1][1] != "pronoun" and _goes_on(sentence, view.sentences[at], names):
            return marks[-1][1]
        is_heading = back == start and (
            INDEXING.match(view.sentences[at].text) is not None
            or (HEADER.match(sentence.text) is not None and not _verb_follows(sentence, marks[0][0]))
        )
        return marks[0][1] if is_heading and marks[0][1] != "pronoun" else MINE
    return _told_below(view, at, names) if INDEXING.match(view.sentences[at].text) else MINE


def _goes_on(before: Sentence, sentence: Sentence, names: frozenset[str]) -> bool:
    """Whether a semicolon was all between the two, and the second has no subject of its own: "…; finds it soothing."."""
    opening = sentence.words[0].lower if sentence.words else ""
    verb = opening.endswith("s") and not opening.endswith(("ss", "'s")) and opening == sentence.words[0].surface
    # The lines of a list all end alike.
    if not verb or not sentence.text.endswith(ENDS) or before.text.endswith((*ENDS, ":")):
        return False
    return not marks_of(sentence, names, -1, -1)


def _told_below(view: View, at: int, names: frozenset[str]) -> str:
    """Whom the text below its keywords is about."""
    for sentence in view.sentences[at + 1 : view.first[view.entry[at] + 1]]:
        marks = marks_of(sentence, names, -1, -1)
        if marks:
            return MINE if any(who in (MINE, "pronoun") for _, who in marks) else marks[0][1]
    return MINE


def _verb_follows(sentence: Sentence, at: int) -> bool:
    following = sentence.words[at + 1 : at + 3]
    return any(w.lower.endswith("s") and w.lower not in RELATIONS and not w.surface[0].isupper() for w in following)


def _antecedent(view: View, at: int, names: frozenset[str]) -> str:
    """Whom a pronoun means: the last subject of the entry, else the user."""
    start = view.first[view.entry[at]]
    for back in range(at - 1, start - 1, -1):
        for _, who in marks_of(view.sentences[back], names, -1, -1):
            if who != "pronoun":
                return who
    return MINE
