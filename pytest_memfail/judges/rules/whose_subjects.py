"""Who a sentence or a store speaks of: the subjects of its clauses, and the names it gives to others."""

from __future__ import annotations

from collections import Counter
from typing import Final

from pytest_memfail.judges.rules.given_names import GIVEN
from pytest_memfail.judges.rules.lexicon import EMPTY, lookup
from pytest_memfail.judges.rules.text import Sentence, Word, fold
from pytest_memfail.judges.rules.view import View
from pytest_memfail.judges.rules.whose_after import MINE, bare_of, breaks, is_somebody, name_like
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
    WHEREABOUTS,
)
from pytest_memfail.judges.rules.words import OPENERS, STOP

KNOWING: Final = frozenset("knows knew know tell foresees expects expected guesses minds cares".split())
AUXILIARIES: Final = frozenset("is was has had would will can could".split())
FAR: Final = 7
"""So many words at most from somebody to what they do."""


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
                if not name_like(word) or _is_joined(sentence, at):
                    continue
                beside = (i for i in (at - 1, at + 1, at + 2) if 0 <= i < len(words))
                near = {bare_of(words[i]) for i in beside if i < at or not breaks(sentence, i - 1, i, "{:=")}
                if at == 0 and len(words) > 1 and (word.lower.endswith("'s") or words[1].lower.endswith("s")):
                    subjects[bare_of(word)] += 1
                plainly = is_field(sentence, at) or _feels(sentence, at) or _is_told_who(sentence, at)
                if plainly or (near & RELATIONS and not breaks(sentence, at - 1, at, ".!?")):
                    found[bare_of(word)] += 2
                elif _is_given(sentence, at) or _is_subject_of_verb(sentence, at):
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


def _is_given(sentence: Sentence, at: int) -> bool:
    """Whether the word is a given name, and what follows says something of its bearer: "Nina has", "Nina: roses"."""
    words = sentence.words
    if bare_of(words[at]) not in GIVEN:
        return False
    return _acts(words, at) or (at == 0 and len(words) > 1 and breaks(sentence, 0, 1))


def _is_subject_of_verb(sentence: Sentence, at: int) -> bool:
    """Whether a verb that makes a person of it stands behind the word."""
    words = sentence.words
    return (
        (_opens(sentence, at) or _does(words, at))
        and at + 1 < len(words)
        and not breaks(sentence, at, at + 1)
        and not (at + 2 < len(words) and breaks(sentence, at + 1, at + 2, ":="))
        and _personal(words[at], words[at + 1], words[at - 1].lower if at else "", opens=at == 0)
    )


def _is_joined(sentence: Sentence, at: int) -> bool:
    """Whether the word is but the beginning of one: "Asian-inspired"."""
    words = sentence.words
    return (
        at + 1 < len(words)
        and sentence.text[words[at].end : words[at + 1].start] == "-"
        and words[at + 1].surface[0].islower()
    )


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


def marks_of(sentence: Sentence, names: frozenset[str], first: int, last: int) -> list[tuple[int, str]]:
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
        ) or (i < first < len(words) and _is_one_who(sentence, i)):
            found.append((i, bare_of(word)))
        elif (
            (lower in EVERYONE and not _is_unknown(words, i)) or (lower in STRANGERS and _feels(sentence, i))
        ) and _opens(sentence, i):
            found.append((i, lower))
        elif lower in ("user's", "users", "speaker's"):
            if not _of_user(words, i, names) and not any(is_somebody(w, names) for w in words[i + 1 : i + 4]):
                found.append((i, MINE))
        elif lower in PRONOUNS:
            found.append((i, "pronoun"))
        elif lower == "my" and not any(is_somebody(w, names) for w in words[i + 1 : i + 4]):
            found.append((i, MINE))
        elif (
            bare_of(word) in names
            and word.surface[0].isupper()
            and (_does(words, i) or _is_told_who(sentence, i) or (bare_of(word) in GIVEN and _acts(words, i)))
        ) or (
            (is_somebody(word, names) or _is_pet(words, i))
            and (_opens(sentence, i) or _is_subject(words, i))
            and not _with_user(sentence, i)
            and not _is_done_to(words, i, first)
        ):
            found.append((i, bare_of(word)))
    return found


def _is_one_who(sentence: Sentence, at: int) -> bool:
    """Whether the word is for somebody of whom more is told, and not what the user is: "built by a freelancer who knows"."""
    words = sentence.words
    if at + 1 >= len(words) or words[at + 1].lower != "who" or not words[at].key or breaks(sentence, at, at + 1):
        return False
    return not any(w.lower in COPULA or w.lower in ("as", "unlike") for w in words[max(0, at - 3) : at])


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


def _acts(words: tuple[Word, ...], at: int) -> bool:
    """Whether a verb in the third person follows the name: "at weekends Nina works", "Nina has"."""
    if at + 1 >= len(words) or (at and words[at - 1].lower in PREPOSITIONS):
        return False
    verb = words[at + 1]
    if not verb.surface[0].islower():
        return False
    third = verb.lower.endswith("s") and not verb.lower.endswith("ss") and verb.lower not in STOP
    return third or verb.lower in AUXILIARIES or verb.lower in DID or verb.lower.endswith("ed")


def _is_subject(words: tuple[Word, ...], at: int) -> bool:
    """Whether somebody the user has does something: "every morning the user's boyfriend drinks"."""
    start = at
    while start and (words[start - 1].lower in POSSESSIVES or words[start - 1].lower in BEFORE_PERSON):
        start -= 1
    alone = not words[at].lower.endswith("'s") and words[start - 1].lower not in PREPOSITIONS | {"unlike"}
    return start < at and alone and (_does(words, at) or _has_done(words, at))


def _has_done(words: tuple[Word, ...], at: int) -> bool:
    """Whether somebody is said to have done, or to be or have, something: "last year her uncle planted"."""
    following = words[at + 1] if at + 1 < len(words) else None
    if following is None or not following.surface[0].islower():
        return False
    return following.lower in AUXILIARIES or following.lower.endswith("ed")


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
        if before.lower in JOINS or (i == 1 and before.lower in SAYING | {"for", "to"}):
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


def is_field(sentence: Sentence, at: int) -> bool:
    """Whether the word is the value of a field that says whom the note is about."""
    return at > 0 and sentence.words[at - 1].lower in FIELDS and breaks(sentence, at - 1, at, ":=")
