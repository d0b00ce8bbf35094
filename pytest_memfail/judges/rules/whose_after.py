"""Whose a preference is, where that is told behind its name: "X is her sister's passion", "X (Beatriz, colleague)"."""

from __future__ import annotations

import re
from typing import Final

from pytest_memfail.judges.rules.text import Sentence, Word
from pytest_memfail.judges.rules.whose_words import (
    BEFORE_OWNER,
    CALENDAR,
    COPULA,
    DOES,
    FAVOURING,
    MOVING,
    PLURAL_COMPANY,
    PRONOUNS,
    RELATIONS,
    USER,
    USER_OBJECT,
)
from pytest_memfail.judges.rules.words import OPENERS, STOP

BREAK: Final = re.compile(r"[,;:(){}\[\]\"“”=>|/.!?+]|\s-\s|->|->|→")
OPEN_PARENTHESIS: Final = re.compile(r"[(\[]([^()\[\]]{2,40})[)\]]\s*\.?$")
NOT_USER: Final = re.compile(
    r"\b(?:rather than|instead of|in place of|unlike|(?<!if )not) (?:the )?user\b(?!['\u2019])", re.IGNORECASE
)
"""What sets the user aside: "Manager Helen, rather than the user, does it"."""
MINE: Final = "user"
LIKES_IT: Final = re.compile(
    r"[,;:](?: (?:but|while|whereas|yet|and|though))? (?:the )?user (?:\w+ )?"
    r"(?:(?:loves|likes|enjoys|adores|cherishes|wants|needs) (?:it|them|this|that)\b|does(?: so)?\s*(?:[.,;!]|$))",
    re.IGNORECASE,
)
"""What others have against a thing just named, the user has not: "her wife dislikes karaoke, the user loves it"."""
HELD: Final = frozenset(
    "loved liked enjoyed adored favoured favored preferred cherished treasured owned kept tended craved worshipped".split()
)
OWNED_BY: Final = frozenset((("belongs", "to"), ("belong", "to"), ("belonging", "to")))
"""What stands between a thing and whose it is."""


def told_after(sentence: Sentence, last: int, names: frozenset[str]) -> str:
    """The owner told after the mention: "X is her sister's passion", "X (Beatriz, colleague)"."""
    words = sentence.words
    if "user" in sentence.lowers and NOT_USER.search(sentence.text):
        somebody = next((bare_of(word) for word in words if is_somebody(word, names)), "")
        if somebody:
            return somebody
    if "user" in sentence.lowers and LIKES_IT.match(sentence.text, words[last].end if words else 0):
        return MINE
    for i in range(last + 1, min(len(words) - 1, last + 9)):
        if words[i].lower in ("but", "while", "because", "since") or breaks(sentence, i - 1, i, ";!?"):
            break
        if words[i + 1].lower == "of" and (words[i].lower in FAVOURING or words[i - 1].lower == "go"):
            whose = [w for w in words[i + 2 : i + 6] if w.lower in USER or is_somebody(w, names)]
            if whose:
                return bare_of(whose[-1]) if whose[-1].lower not in USER else MINE
        in_law = words[i].lower == "law's" and words[i - 1].lower == "in"
        named = words[i - 1].lower in COPULA and name_like(words[i])
        users = words[i].lower in ("user's", "users", "my")
        if not words[i].lower.endswith("'s") or not (users or in_law or named or is_somebody(words[i], names)):
            continue
        linked = in_law or words[i - 1].lower in COPULA | BEFORE_OWNER or bare_of(words[i - 1]) in RELATIONS
        favouring = any(w.lower in FAVOURING for w in words[i + 1 : i + 4])
        if users and any(is_somebody(w, names) for w in words[i + 1 : i + 4]):
            continue
        if (linked or breaks(sentence, i - 1, i, "=:>,")) and favouring:
            return MINE if users else bare_of(words[i])
    told = [w.lower for w in words[last + 1 : last + 3]]
    if told[:1] in (["is"], ["was"]) and told[1:] in (["what"], ["something"], ["where"], ["how"]):
        for word in words[last + 3 : last + 7]:
            if word.lower in USER:
                break
            if is_somebody(word, names):
                return bare_of(word)
    by = _by_whom(words[last + 1 : last + 9], names)
    if by:
        return by
    liked = _liked_by(words[last + 1 : last + 10], names)
    if liked:
        return liked
    moved = last + 1 < len(words) and (words[last + 1].lower in MOVING or _has_person_object(words, last + 1))
    for word in words[last + 2 : last + 6] if moved else ():
        if word.lower in USER_OBJECT:
            break
        if is_somebody(word, names) and not word.lower.endswith("s"):
            return bare_of(word)
    closing = OPEN_PARENTHESIS.search(sentence.text)
    if closing and closing.start() >= words[last].end - 1:
        inside = [w for w in words if closing.start(1) <= w.start < closing.end(1) and w.lower not in BEFORE_OWNER]
        if inside and inside[0].lower in ("user", "me"):
            return MINE
        beside = inside and inside[-1].lower in ("it", "them") and any(w.lower in USER for w in words[:last])
        if beside:
            return ""  # "User loves it (her brother hates it)"
        if inside and len(inside) <= 4 and is_somebody(inside[0], names) and inside[0].lower not in PLURAL_COMPANY:
            return bare_of(inside[0])
    return ""


def _has_person_object(words: tuple[Word, ...], verb: int) -> bool:
    """Whether the word is a verb done to somebody the user has: "wakes her husband", "appeal to her wife"."""
    to = verb + 1 < len(words) and words[verb + 1].lower == "to"
    whose, whom = (words[i] if i < len(words) else None for i in (verb + 1 + to, verb + 2 + to))
    does = to or (words[verb].lower.endswith("s") and not words[verb].lower.endswith("'s"))
    return (
        does and whose is not None and whose.lower in BEFORE_OWNER and whom is not None and bare_of(whom) in RELATIONS
    )


def _by_whom(told: tuple[Word, ...], names: frozenset[str]) -> str:
    """Whose it is, where that is said of it in so many words: "is loved by her uncle", "belongs to a neighbour"."""
    for at, word in enumerate(told[:-1]):
        following = told[at + 1].lower
        if (word.lower, following) not in OWNED_BY and not (word.lower in HELD and following == "by"):
            continue
        for whom in told[at + 2 :]:
            if whom.lower in USER:
                return ""
            if is_somebody(whom, names):
                return bare_of(whom)
    return ""


def _liked_by(told: tuple[Word, ...], names: frozenset[str]) -> str:
    """Who likes it, where that is said of it: "is the game the user's grandmother likes best"."""
    if len(told) < 4 or told[0].lower not in COPULA or told[1].lower not in ("the", "one", "a", "an"):
        return ""
    for at, word in enumerate(told[:-1]):
        if word.lower in USER or word.lower in PRONOUNS:
            return ""
        if is_somebody(word, names) and told[at + 1].lower in DOES:
            return bare_of(word)
    return ""


def is_somebody(word: Word, names: frozenset[str]) -> bool:
    """Whether the word names one or several people: by name, or by what they are to the user."""
    bare = bare_of(word)
    return bare in RELATIONS or bare in PLURAL_COMPANY or (bare in names and word.surface[0].isupper())


def name_like(word: Word) -> bool:
    """A capitalised word that is no everyday word."""
    bare = bare_of(word)
    return (
        word.surface[0].isupper()
        and len(bare) > 1
        and word.surface != word.surface.upper()
        and bare not in OPENERS
        and bare not in STOP
        and bare not in RELATIONS
        and bare not in CALENDAR
    )


def bare_of(word: Word) -> str:
    return word.lower.removesuffix("'s").removesuffix("'")


def breaks(sentence: Sentence, first: int, last: int, marks: str = "") -> bool:
    """Whether a mark of punctuation stands between two neighbouring words."""
    if first < 0:
        return False
    gap = sentence.text[sentence.words[first].end : sentence.words[last].start]
    return any(mark in gap for mark in marks) if marks else BREAK.search(gap) is not None or " - " in gap
