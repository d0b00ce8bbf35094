"""Whose preference a mention is: the user's, or that of somebody else whom the memory names."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from pytest_memfail.judges.rules.lexicon import EMPTY, lookup
from pytest_memfail.judges.rules.text import Sentence, Word, fold
from pytest_memfail.judges.rules.view import View
from pytest_memfail.judges.rules.whose_after import MINE, bare_of, breaks, is_somebody, name_like, told_after
from pytest_memfail.judges.rules.whose_called import ROLES, user_roles
from pytest_memfail.judges.rules.whose_words import (
    ANYONE,
    BEFORE_PERSON,
    COPULA,
    DID,
    DOES,
    DOING,
    EVERYONE,
    FAVOURING,
    FEELS,
    FIELDS,
    INTRODUCED,
    JOINS,
    LIKING_VERBS,
    MOVING,
    PASSIVE,
    PETS,
    POSSESSIVES,
    PREPOSITIONS,
    PRONOUNS,
    RELATIONS,
    SAYING,
    SHARING,
    STRANGERS,
    USER,
    USER_OBJECT,
    WHEREABOUTS,
)
from pytest_memfail.judges.rules.words import OPENERS

HEADER: Final = re.compile(r"^[^.!?]{0,60}:?\s*$")
KNOWING: Final = frozenset("knows knew know tell foresees expects expected guesses minds cares".split())
FAR: Final = 7
"""So many words at most from somebody to what they do."""
INDEXING: Final = re.compile(r"^\W*(?:keywords?|tags?|topics?|context|categor(?:y|ies)|labels?)\s*[:=]", re.IGNORECASE)
"""A field that repeats in single words what the entry says."""


def persons(view: View) -> frozenset[str]:
    """Names that the view gives to others: "aunt Ruth", "Priyanka (colleague)", and who is said to like things."""
    known = view.shared.get("persons")
    if known is None:
        found: Counter[str] = Counter()
        subjects: Counter[str] = Counter()
        said_user = False
        for sentence in view.sentences:
            said_user = said_user or bool(sentence.lowers & USER) or bool(sentence.lowers & {"my", "me", "user's"})
            words = sentence.words
            for at, word in enumerate(words):
                if not name_like(word):
                    continue
                beside = (i for i in (at - 1, at + 1, at + 2) if 0 <= i < len(words))
                near = {bare_of(words[i]) for i in beside if i < at or not breaks(sentence, i - 1, i, "{:=")}
                if at == 0 and len(words) > 1 and (word.lower.endswith("'s") or words[1].lower.endswith("s")):
                    subjects[bare_of(word)] += 1
                plainly = _is_field(sentence, at) or _feels(sentence, at) or _is_told_who(sentence, at)
                if plainly or (near & RELATIONS and not breaks(sentence, at - 1, at, ".!?")):
                    found[bare_of(word)] += 2
                elif (
                    (_opens(sentence, at) or _does(words, at))
                    and at + 1 < len(words)
                    and not breaks(sentence, at, at + 1)
                    and not (at + 2 < len(words) and breaks(sentence, at + 1, at + 2, ":="))
                    and _personal(word, words[at + 1], words[at - 1].lower if at else "", opens=at == 0)
                ):
                    found[bare_of(word)] += 1
        if not said_user and subjects:
            # A system that calls its user by name does so in most entries, and often in the first place.
            named = Counter({n: sum(n in s.capitals for s in view.sentences) for n in subjects})
            name, count = min(named.items(), key=lambda item: (-item[1], item[0]))
            if count >= 2 and count * 2 >= view.entries:
                found.pop(name, None)
        known = view.shared["persons"] = frozenset(found)
    assert isinstance(known, frozenset)
    return known


def owner(view: View, at: int, first: int, last: int) -> str:
    """Who has the preference named by the words from first to last: "user", or the word for somebody else."""
    sentence, names = view.sentences[at], persons(view)
    told = told_after(sentence, last, names)
    if told:
        return _beyond(view, sentence, told)
    marks = _marks(sentence, names, first, last)
    watched = _watched(sentence, names, first)
    if watched:
        return watched
    before = [(i, who) for i, who in marks if i < first]
    if before:
        i, who = before[-1]
        if who == "pronoun":
            others = [w for _, w in before if w not in ("pronoun", MINE)]
            earlier = [w for _, w in before if w == MINE]
            return others[-1] if others and not earlier else MINE if earlier else _antecedent(view, at, names)
        if who != MINE and _introduced(sentence, i, first):
            return MINE
        return _beyond(view, sentence, who)
    return _field(view, at, names) or _heading(view, at, names)


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
            if _is_field(sentence, where) and word.lower not in USER and is_somebody(word, names):
                return bare_of(word)
    return ""


def _marks(sentence: Sentence, names: frozenset[str], first: int, last: int) -> list[tuple[int, str]]:
    """The subjects of the sentence's clauses, in order."""
    words = sentence.words
    found: list[tuple[int, str]] = []
    for i, word in enumerate(words):
        if first <= i <= last:
            continue
        lower = word.lower
        if lower in USER and not _of_user(words, i, names):
            found.append((i, MINE))
        elif (
            (lower in ANYONE or bare_of(word) in RELATIONS)
            and i + 1 < len(words)
            and words[i + 1].lower in ("who", "that")
        ):
            found.append((i, bare_of(word)))
        elif (
            (lower in EVERYONE and not _is_unknown(words, i)) or (lower in STRANGERS and _feels(sentence, i))
        ) and _opens(sentence, i):
            found.append((i, lower))
        elif lower in ("user's", "users", "speaker's"):
            if not any(is_somebody(w, names) for w in words[i + 1 : i + 4]):
                found.append((i, MINE))
        elif lower in PRONOUNS:
            found.append((i, "pronoun"))
        elif lower == "my" and not any(is_somebody(w, names) for w in words[i + 1 : i + 4]):
            found.append((i, MINE))
        elif (
            bare_of(word) in names and word.surface[0].isupper() and (_does(words, i) or _is_told_who(sentence, i))
        ) or (
            (is_somebody(word, names) or _is_pet(words, i))
            and (_opens(sentence, i) or _is_subject(words, i))
            and not _with_user(sentence, i)
            and not _is_done_to(words, i, first)
        ):
            found.append((i, bare_of(word)))
    return found


def _is_unknown(words: tuple[Word, ...], at: int) -> bool:
    """Whether nobody knows something of the thing: "improv, where nobody can tell what comes next"."""
    return words[at].lower == "nobody" and any(w.lower in KNOWING for w in words[at + 1 : at + 3])


def _is_told_who(sentence: Sentence, at: int) -> bool:
    """Whether it is told who the one of that name is: "Dana, who streams", "Theo (shares the flat)"."""
    words = sentence.words
    if at + 1 >= len(words) or words[at].lower.endswith("'s") or _with_user(sentence, at):
        return False
    if words[at + 1].lower == "who":
        return True
    return words[at + 1].lower in SHARING and breaks(sentence, at, at + 1, "(")


def _feels(sentence: Sentence, at: int) -> bool:
    """Whether the word begins a sentence, with words that say where to find somebody between it and what only a person does."""
    words = sentence.words
    if at > 2 or at + 2 >= len(words) or words[at + 1].lower not in WHEREABOUTS | FEELS:
        return False
    for i in range(at + 1, min(len(words), at + FAR)):
        if words[i].lower in USER or breaks(sentence, i - 1, i, ".;:!?="):
            return False
        if words[i].lower in FEELS:
            return i > at + 1 or words[at].lower in STRANGERS
    return False


def _of_user(words: tuple[Word, ...], at: int, names: frozenset[str]) -> bool:
    """Whether the user is only named to say who somebody is: "Pia, a friend of the user"."""
    before = at - 1 if words[at - 1].lower == "the" else at
    return before >= 2 and words[before - 1].lower == "of" and is_somebody(words[before - 2], names)


def _is_done_to(words: tuple[Word, ...], at: int, mention: int) -> bool:
    """Whether the thing is what is done to somebody: "podcasts in which guests are interviewed"."""
    passive = at + 2 < len(words) and words[at + 1].lower in PASSIVE
    return passive and at + 2 <= mention < min(at + 4, len(words)) and words[mention].lower.endswith("ed")


def _does(words: tuple[Word, ...], at: int) -> bool:
    """Whether the word is the subject of what only a person does, wherever in the sentence."""
    following = [
        w.lower for w in words[at + 1 : at + 3] if w.lower not in ("always", "usually", "often", "never", "also")
    ]
    before = words[at - 1].lower if at else ""
    if not following or before in PREPOSITIONS:
        return False
    several = words[at].lower.endswith("s")  # a friend prefers, friends prefer
    return following[0] in DOES or following[0] in DID or (several and f"{following[0]}s" in DOES)


def _is_subject(words: tuple[Word, ...], at: int) -> bool:
    """Whether somebody the user has does something: "every morning the user's boyfriend drinks"."""
    start = at
    while start and (words[start - 1].lower in POSSESSIVES or words[start - 1].lower in BEFORE_PERSON):
        start -= 1
    alone = not words[at].lower.endswith("'s") and words[start - 1].lower not in PREPOSITIONS | {"unlike"}
    return start < at and alone and _does(words, at)


def _is_pet(words: tuple[Word, ...], at: int) -> bool:
    return at > 0 and bare_of(words[at]) in PETS and words[at - 1].lower in ("my", "user's", "her", "his", "their")


def _opens(sentence: Sentence, at: int) -> bool:
    """Whether nothing but determiners stands between the beginning of a clause and the word."""
    words = sentence.words
    i = at
    while i > 0:
        if breaks(sentence, i - 1, i):
            return True
        before = words[i - 1]
        bare = bare_of(before)
        if before.lower in JOINS or (i == 1 and before.lower in SAYING | {"for"}):
            return True
        if before.lower in COPULA and i > 1 and words[i - 2].lower == "it":
            return True  # "it is her uncle who"
        if before.lower == "as":
            return False  # "the way granny made it" is still the user's
        possessive = before.lower in POSSESSIVES or before.lower.endswith("'s")
        if not possessive and bare not in RELATIONS and before.lower not in BEFORE_PERSON:
            # "User's colleague Priyanka": of two names side by side the first opens for both.
            return before.lower in OPENERS and before.lower not in ("with", "for", "from", "to", "by")
        if before.lower == "of" and i > 1 and words[i - 2].lower not in ("profile", "favourite", "favorite"):
            return False
        i -= 1
    return True


def _with_user(sentence: Sentence, at: int) -> bool:
    """Whether the person is named beside the user: "user and her brother"."""
    words = sentence.words
    for i in range(at - 1, max(-1, at - 4), -1):
        if words[i].lower == "and":
            return i > 0 and (words[i - 1].lower in USER or words[i - 1].lower in PRONOUNS)
    return False


def _watched(sentence: Sentence, names: frozenset[str], mention: int) -> str:
    """Whom the user only watches at it: "watches her brother play tennis"."""
    words = sentence.words
    for i in range(max(0, mention - 6), mention):
        if words[i].lower.startswith("watch"):
            return next((bare_of(w) for w in words[i + 1 : mention] if is_somebody(w, names)), "")
    return ""


def _introduced(sentence: Sentence, person: int, mention: int) -> bool:
    """Whether the other person brought the user to it: "her sister got her into pilates"."""
    between = [w.lower for w in sentence.words[person + 1 : mention]]
    return any(
        word in INTRODUCED and following in USER_OBJECT
        for i, word in enumerate(between)
        for following in between[i + 1 : i + 3]
    )


def _heading(view: View, at: int, names: frozenset[str]) -> str:
    """Whom the entry is about, where the sentence itself names nobody."""
    start = view.first[view.entry[at]]
    for back in range(at - 1, start - 1, -1):
        sentence = view.sentences[back]
        marks = _marks(sentence, names, -1, -1)
        if not marks:
            continue
        if any(who == MINE for _, who in marks):
            return MINE
        is_heading = back == start and (
            INDEXING.match(view.sentences[at].text) is not None
            or (HEADER.match(sentence.text) is not None and not _verb_follows(sentence, marks[0][0]))
        )
        return marks[0][1] if is_heading and marks[0][1] != "pronoun" else MINE
    return MINE


def _verb_follows(sentence: Sentence, at: int) -> bool:
    following = sentence.words[at + 1 : at + 3]
    return any(w.lower.endswith("s") and w.lower not in RELATIONS and not w.surface[0].isupper() for w in following)


def _antecedent(view: View, at: int, names: frozenset[str]) -> str:
    """Whom a pronoun means: the last subject of the entry, else the user."""
    start = view.first[view.entry[at]]
    for back in range(at - 1, start - 1, -1):
        for _, who in _marks(view.sentences[back], names, -1, -1):
            if who != "pronoun":
                return who
    return MINE


def _is_field(sentence: Sentence, at: int) -> bool:
    """Whether the word is the value of a field that says whom the note is about."""
    return at > 0 and sentence.words[at - 1].lower in FIELDS and breaks(sentence, at - 1, at, ":=")


def _personal(name: Word, verb: Word, before: str, *, opens: bool) -> bool:
    """Whether the verb makes the capitalised word before it a person; where a sentence opens, any word has a capital."""
    if name.lower.endswith("'s"):
        return verb.lower in FAVOURING
    if verb.lower in LIKING_VERBS or verb.lower in SAYING:
        return True
    if before in LIKING_VERBS:
        return False  # "likes Latin dances"
    adverb = verb.lower in ("always", "usually", "often", "never", "also")
    if not opens and before == "that" and verb.lower.endswith("s") and not verb.lower.endswith("ss"):
        return lookup(fold(bare_of(name))) is EMPTY and verb.lower not in MOVING
    return (not opens or lookup(fold(bare_of(name))) is EMPTY) and (
        adverb or verb.lower in DOING or verb.lower in DID or verb.lower.endswith("ed")
    )
