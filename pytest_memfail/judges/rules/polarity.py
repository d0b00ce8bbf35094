"""Negation, exceptions and exclusivity: what turns a rule around though all its words are there."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Final

from pytest_memfail.judges.rules.text import Sentence, Word
from pytest_memfail.judges.rules.words import EXCLUSIVE

NEGATIVE: Final = frozenset("not never no cannot without nor neither hardly rarely seldom".split())
EXCEPTING: Final = frozenset("except unless excluding besides".split())
UNFAILING: Final = frozenset(
    "fail fails failed miss misses missed forget forgets neglect neglects skip skips without".split()
)
"""Verbs that a negation makes a habit of: never fails to sing."""
APART: Final = frozenset(",;:()")
CONDITIONAL: Final = frozenset(
    """when whenever if after before during while once until only unless upon because at in under within between on since
    as by""".split()
)
NEVER_EXCEPT: Final = re.compile(
    r"(?:\b(?:never|not|no|cannot|nothing|nowhere|nobody|none)|n't)\b.*"
    r"\b(?:unless|except|until|till|other than|otherwise|outside|without|else|any other|besides)\b"
    r"|\b(?:otherwise|elsewhere|apart from that)\b.{0,60}(?:\b(?:never|not|no|cannot|nothing)\b|n't\b)"
    r"|\bno other\b|\bnowhere else\b|\bnot otherwise\b|\bspecific(?:ally)? to\b"
    r"|\bjust (?:when|if|after|during|before|at|in|on)\b"
    r"|\bnever (?:at|when|in|on|outside|otherwise)\b|\bnot (?:at|in|on|when|during) (?:any )?other",
)


@lru_cache(maxsize=16384)
def never_except(text: str) -> bool:
    """Whether the text denies with an exception, which says: then, and at no other time."""
    return NEVER_EXCEPT.search(text.lower()) is not None


def is_negator(lower: str) -> bool:
    """Whether the word negates."""
    return lower in NEGATIVE or lower.endswith("n't") or lower == "longer"


def exclusive(sentence: Sentence) -> bool:
    """Whether the sentence says: then, and at no other time."""
    if sentence.lowers & EXCLUSIVE:
        return True
    return never_except(sentence.text)


def _first_of(sentence: Sentence, keys: Collection[str]) -> int | None:
    """Where the first word of these keys stands."""
    return next((i for i, word in enumerate(sentence.words) if word.key and word.key in keys), None)


def negated(sentence: Sentence, keys: Collection[str]) -> bool:
    """Whether a negation governs the first of the keys (and no exception takes it back)."""
    words = sentence.words
    at = _first_of(sentence, keys)
    if at is None or sentence.lowers & EXCEPTING or never_except(sentence.text):
        return False
    for i in range(max(0, at - 3), at):
        if is_negator(words[i].lower) and not _breaks(sentence, i, at):
            following = words[i + 1].lower if i + 1 < len(words) else ""
            if any(word.lower in BEFORE and _denied(words, k) for k, word in enumerate(words[at:], at)):
                return False  # never before it is after it
            return following not in ("only", "more", "less", "fewer", "just", "later", "earlier") and not UNFAILING & {
                w.lower for w in words[i + 1 : at]
            }
    return False


def condition_negated(sentence: Sentence, keys: Collection[str]) -> bool:
    """Whether a negation stands between the condition's opening word and its content."""
    words = sentence.words
    at = _first_of(sentence, keys)
    if at is None:
        return False
    for i in range(at - 1, max(-1, at - 6), -1):
        if is_negator(words[i].lower):
            following = words[i + 1].lower if i + 1 < len(words) else ""
            return following not in ("more", "less", "fewer", "only", "later", "earlier")
        if words[i].lower in CONDITIONAL or _breaks(sentence, i, i + 1):
            break
    # Directly after the content: "his draft has not been approved".
    for i in range(at + 1, min(len(words), at + 4)):
        if words[i].lower in CONDITIONAL or _breaks(sentence, i - 1, i):
            return False
        if is_negator(words[i].lower) and any(w.key in keys for w in words[i + 1 : i + 4]):
            return True
    return False


def ruled_out(sentence: Sentence, keys: Collection[str]) -> bool:
    """Whether a negation stands right before the word that opens the condition: "but not when it rains"."""
    words = sentence.words
    at = _first_of(sentence, keys) or 0
    for i in range(at - 1, max(0, at - CLAUSE), -1):
        if words[i].lower in CONDITIONAL:
            together = "," not in sentence.text[words[i - 1].end : words[i].start]
            return together and words[i].lower not in BOUNDING and words[i - 1].lower in ("not", "never")
        if _breaks(sentence, i, i + 1):
            return False
    return False


CLAUSE: Final = 5
"""So many words may stand between what opens a condition and its first telling word."""
BOUNDING: Final = frozenset("before until till unless without only as because by".split())
"""Not before it is after it, and not only then is then too."""
WAIT: Final = 12
HELD: Final = 6
"""So many words after "keep" may say that it is kept back."""
WAITING: Final = frozenset(
    """wait waits waiting waited delay delays delaying delayed postpone postpones postponing postponed defer defers deferring
    deferred refrain refrains refraining abstain abstains takes""".split()
)
HOLDING: Final = frozenset(
    """hold holds holding held put puts putting keep keeps keeping kept leave leaves leaving left stay stays staying stayed
    remain remains remaining remained sit sits lie lies""".split()
)
"""To hold off, put off, keep back, stay away."""
BACK: Final = frozenset(
    """off back away shut closed sealed locked packed hidden down out idle dry empty blank silent quiet undone untouched
    unopened unused unpainted unwritten unsent unread unsaid unsung""".split()
)
ENDING: Final = frozenset(("until", "till"))
OPENED: Final = re.compile(
    r"(?:it's|it is|that's|most (?:nights|days|often) it is) (?:\w+ ){0,2}?(after|before)\b", re.IGNORECASE
)
"""How a sentence opens that tells at once what comes first, however far from it the words of that stand."""


def order(sentence: Sentence, keys: Collection[str], *, refusal: bool = False) -> int:
    """1 where the content is said to come first ("after ..."), -1 where it comes later ("before ..."), else 0.

    What is not done before something is done after it, unless not doing it is what is told of (a refusal).
    """
    for at, word in enumerate(sentence.words):
        if word.key and word.key in keys and (way := _order_before(sentence, at, refusal=refusal)):
            return way
    opened = None if sentence.keys.isdisjoint(keys) else OPENED.match(sentence.text)
    return 0 if opened is None else 1 if opened[1].casefold() == "after" else -1


def is_waiting(words: Sequence[Word], at: int) -> bool:
    """Whether it is put off: what is, is done after what stands behind "until"."""
    return words[at].lower in WAITING or (
        words[at].lower in HOLDING and any(word.lower in BACK for word in words[at + 1 : at + HELD])
    )


COUNTING: Final = frozenset("every per each or".split())
"""After "once", where it counts."""
BEFORE: Final = frozenset(("before", "prior", *ENDING))
DENYING: Final = frozenset("not never no cannot nothing won't doesn't can't isn't don't didn't".split())
COMPARED: Final = frozenset("long later more less fewer only just longer sooner earlier matter".split())
"""After a negation that is not of what is done: no later than an hour before."""
AHEAD: Final = frozenset(("ahead", "advance"))
"""Before an "of"."""


def _order_before(sentence: Sentence, at: int, *, refusal: bool) -> int:
    """What the words right before one say of its order."""
    words = sentence.words
    for i in range(at - 1, max(-1, at - 8), -1):
        if _breaks(sentence, i, i + 1):
            return 0
        if words[i].lower in ("after", "following") or (
            words[i].lower == "once" and words[i + 1].lower not in COUNTING
        ):
            return 1
        if words[i].lower in ENDING and any(is_waiting(words, k) for k in range(max(0, i - WAIT), i)):
            return 1
        if words[i].lower in BEFORE or (words[i].lower in AHEAD and words[i + 1].lower == "of"):
            return 1 if not refusal and _denied(words, i) else -1
    return 0


def _denied(words: Sequence[Word], before: int) -> bool:
    """Whether a "before" is denied: what is never done before something is done after it."""
    return any(
        words[k].lower in DENYING and words[k + 1].lower not in COMPARED for k in range(max(0, before - WAIT), before)
    )


def excepted(sentence: Sentence, keys: Collection[str]) -> bool:
    """Whether the content is what is excepted, without a negation that turns the exception into "only"."""
    words = sentence.words
    at = _first_of(sentence, keys)
    if at is None:
        return False
    for i in range(at - 1, max(-1, at - 7), -1):
        if words[i].lower in EXCEPTING or (words[i].lower == "than" and i and words[i - 1].lower == "other"):
            return not any(
                is_negator(w.lower) or w.lower in ("nothing", "nobody", "refuses", "only") for w in words[:i]
            )
        if is_negator(words[i].lower) or _breaks(sentence, i, i + 1):
            return False
    return False


def _breaks(sentence: Sentence, first: int, last: int) -> bool:
    """Whether a comma or the like stands between two words."""
    words = sentence.words
    return any(
        not APART.isdisjoint(sentence.text[words[i].end : words[i + 1].start])
        for i in range(first, min(last, len(words) - 1))
    )
