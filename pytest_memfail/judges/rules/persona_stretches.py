"""What the refusals of a sentence are about, and the parts in which it says one thing after the other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from pytest_memfail.judges.rules.persona_refusals import AFFIRMING, ANSWERED, REFUSALS, says_no
from pytest_memfail.judges.rules.polarity import is_negator
from pytest_memfail.judges.rules.text import Sentence, Word, fold, weight

ENDS: Final = re.compile(r"[;:.!?()→|=]|->|,\s+(?:and|but|while|whereas|so|then|with)\b|\s-\s")
"""Where what a sentence says ends: a refusal in the next part of it is about something else."""
LABELS: Final = re.compile(
    r"""(?P<quote>["'])(?P<label>[^"':]*)(?P=quote)\s*:"""
    r"""|(?:^|[;,(\[\]|/{]|\s-\s)\s*(?P<plain>(?:[\w']+ ){0,2}\w+):(?=\s)"""
)
"""The labels of the fields of a note."""
CLOSES: Final = frozenset(
    """because since as but so though although while whilst whereas unless until till except without instead hence thus
    therefore thereby meaning owing due thanks given whenever""".split()
)
RELATIVE: Final = frozenset("that which who".split())
COMPARING: Final = frozenset("only more less fewer longer later earlier just".split())
GOES_ON: Final = frozenset(
    """therefore always so then only thus hence instead he she they it we you will would shall should can could may might
    must has have had is are was were does do did also often usually sometimes still just even""".split()
)
SELDOM: Final = frozenset("rarely seldom hardly".split())
"""What is rarely done to reach an end is rare, and not the end."""
CONTRASTS: Final = frozenset((("rather", "than"), ("instead", "of"), ("off", "limits")))
"""What follows them is what somebody does not do or take."""
PREFERRING: Final = frozenset(fold(word) for word in "prefer favour choose like love rank value take pick".split())
PREFER: Final = fold("prefer")
BETTER: Final = frozenset("better more".split())
PLACING: Final = frozenset("for in on at during when while as".split())
"""What follows them is said of both that are compared."""
WHEN: Final = frozenset("when where if once".split())
SPEAKERS: Final = frozenset("he she they it you one everyone everybody".split())
OBJECTS: Final = frozenset("a an the his her their its to that only".split())
FOLLOWING: Final = (
    OBJECTS
    | SPEAKERS
    | frozenset(
        """this these those all every each any some no both two three either neither him them me us my our your one's people
    in on at by out off up down away back for with from into over under before after during until as""".split()
    )
)
"""What may follow a verb."""
ORDER: Final = frozenset("first second third next last final every each one two three".split())
RULES: Final = frozenset(
    fold(word)
    for word in """rule policy law ban principle advice advise warn recommend caution decide argue speak preach rail vote
    dead firm strict firmly strictly strongly""".split()
)
KEPT_OFF: Final = re.compile(
    r"\b(?:steer(?:s|ed|ing)? (?:well )?clear of|(?:stay|keep)(?:s|ing)? (?:well )?(?:away from|clear of|off)"
    r"|stayed (?:away from|clear of)"
    r"|kept away from|shi?y(?:ies|s|ed|ing)? away from|(?:go|goes|going|do|does|doing) without|gives? up|gave up|swears? off|swore off"
    r"|turns? down|turned down)(?! (?:it|them|him|her|that|this)\b)(?=\s)",
    re.IGNORECASE,
)
"""What refuses in several words what follows them."""
LITTLE: Final = frozenset("little scant limited".split())
REGARD: Final = frozenset(
    """time use love patience interest taste need room place liking sympathy regard appetite tolerance enthusiasm affection
    respect desire""".split()
)
"""Of what somebody has little for what is not wanted."""
BEING: Final = frozenset("is are was were be been being gets get".split())
UNDONE: Final = frozenset(
    """turned refused banned denied sent rejected declined excluded missed skipped forgotten forbidden neglected ignored
    barred omitted abandoned dropped disappointed bored""".split()
)
"""What is never turned away is taken."""
FIRMLY: Final = frozenset("strictly absolutely totally completely entirely altogether firmly simply outright".split())
DONE: Final = frozenset(
    "forbidden welcome put kept left let seen worn sold given taken set fed held hung told brought".split()
)
SUBJECT: Final = 4
RATHER: Final = 8
"""So many words may stand between "rather" and "than"."""
LABEL: Final = 1
"""One word before a colon is what the rest is said of."""
STRETCH: Final = 12


ILL: Final = frozenset(fold(word) for word in ("allergic", "intolerant", "intolerance"))
"""What they are said of is not borne."""
TOWARDS: Final = frozenset("to against towards of from".split())
AUXILIARIES: Final = frozenset(
    "have has had must should shall can could may might will would are is were was need needs do does".split()
)


def _goes_on(word: Word, words: Sequence[Word]) -> bool:
    """Whether the word behind an "and" tells another thing that somebody does."""
    if word.lower in GOES_ON or word.key in AFFIRMING:
        return True
    after = words[words.index(word) + 1 :][:1]
    return (
        word.lower.endswith("s")
        and bool(after)
        and (after[0].lower in FOLLOWING or after[0].lower in AUXILIARIES or bool(after[0].key))
    )


def refused_stretches(
    sentence: Sentence, *, negations: bool = True, allergies: bool = False, comparing: bool = False
) -> list[tuple[str, ...]]:
    """What each refusal of the sentence is about: the keys behind it, to the end of the clause."""
    words = sentence.words
    fields, values = _fields(sentence)
    kept_off = {match.end() for match in KEPT_OFF.finditer(sentence.text)}
    found = []
    for at, word in enumerate(words):
        following = words[at + 1].lower if at + 1 < len(words) else ""
        no = negations and is_negator(word.lower) and following not in COMPARING
        no = no and not (following == "to" and word.lower in SELDOM)
        refusal = word.key in REFUSALS or (allergies and word.key in ILL) or (word.lower, following) in CONTRASTS
        refusal = (refusal and not _halt(words, at)) or (word.lower == "against" and _ruled(words, at))
        refusal = refusal or (word.lower in ("for", "of") and _little(words, at)) or word.end in kept_off
        refuses = no or refusal or (comparing and _less_liked(words, at))
        again = refuses and any(
            says_no(w.lower) and "," not in _between(sentence, w, word) for w in words[max(0, at - 4) : at]
        )
        if (refuses and not again) or _rathered(words, at):
            if word.key in ILL and not _allergic_to(sentence, at):
                found.append(tuple(w.key for w in words[max(0, at - 1) : at] if w.key))
                continue
            contrast = (word.lower, following) in CONTRASTS or word.lower in ("to", "over", "than")
            keys: list[str] = []
            begin = at + ((word.lower, following) in CONTRASTS)
            for i, (before, follower) in enumerate(pairwise(words[begin : at + STRETCH]), begin + 1):
                if i in fields or (
                    follower.lower in CLOSES
                    or (follower.lower in WHEN and keys)
                    or (follower.lower in RELATIVE and any(weight(k) >= 1.0 for k in keys))
                    or (before.lower == "and" and _goes_on(follower, words))
                    or says_no(follower.lower)
                    or (follower.lower == "only" and keys)
                    or (contrast and keys and follower.lower in PLACING)
                    or (i not in values and ENDS.search(sentence.text[before.end : follower.end]))
                ):
                    break
                keys += [follower.key] * bool(follower.key)
            found.append((*_barred(sentence, at, said=not no), *keys))
    return found


def _between(sentence: Sentence, one: Word, other: Word) -> str:
    return sentence.text[one.end : other.start]


def _fields(sentence: Sentence) -> tuple[frozenset[int], frozenset[int]]:
    """Where the labels of a note's fields begin, and where what they are labels of: {"avoids": "plastic"}, "avoids: plastic"."""
    fields, values = set[int](), set[int]()
    for label in LABELS.finditer(sentence.text) if ":" in sentence.text else ():
        inside = [
            at for at, w in enumerate(sentence.words) if label.start(label.lastgroup or 0) <= w.start < label.end()
        ]
        if inside and (label["quote"] or _says_what_not(sentence.words[inside[0] : inside[-1] + 1])):
            fields.add(inside[0])
            values.add(inside[-1] + 1)
    return frozenset(fields), frozenset(values)


def _says_what_not(label: Sequence[Word]) -> bool:
    """Whether what follows the label is what somebody does not do or take: "not accepted", but no "Cash, no: transfers"."""
    if len(label) == 1 and is_negator(label[0].lower):
        return False
    return any(says_no(w.lower) or w.key in REFUSALS for w in label)


def _allergic_to(sentence: Sentence, at: int) -> bool:
    """Whether what somebody is allergic to stands behind the word, and not before it: "a latex allergy"."""
    after = sentence.words[at + 1 : at + 2]
    return bool(after) and (after[0].lower in TOWARDS or ":" in sentence.text[sentence.words[at].end : after[0].start])


def _halt(words: Sequence[Word], at: int) -> bool:
    """Whether it is a stop on the way."""
    return words[at].lower in ("stop", "stops") and bool(at) and words[at - 1].lower in OBJECTS | ORDER


def _little(words: Sequence[Word], at: int) -> bool:
    """Whether somebody has little time for what follows, or thinks little of it."""
    before = [w.lower for w in words[max(0, at - 3) : at]]
    if words[at].lower == "of":
        return before[-1:] == ["little"] and any(w in ("think", "thinks", "thought") for w in before)
    return before[-1:] != [] and before[-1] in REGARD and not LITTLE.isdisjoint(before)


def _ruled(words: Sequence[Word], at: int) -> bool:
    """Whether somebody speaks against something, or has a rule against it."""
    return any(w.key in RULES for w in words[max(0, at - 2) : at])


def _barred(sentence: Sentence, at: int, *, said: bool) -> tuple[str, ...]:
    """What is not done: "pets are not allowed", or said to be refused itself: "lights are banned"."""
    words = sentence.words
    start = at - 1 if at and words[at - 1].lower in FIRMLY else at
    done = words[at].lower if said else words[at + 1].lower if at + 1 < len(words) else ""
    passive = done.endswith("ed") or done in DONE or done == "off"
    if not start or words[start - 1].lower not in BEING or not passive or (done in UNDONE and not said):
        return ()
    keys: list[str] = []
    for i in range(start - 2, max(-1, start - 2 - SUBJECT), -1):
        if words[i].lower in CLOSES or ENDS.search(sentence.text[words[i].end : words[i + 1].start]):
            break
        keys = [words[i].key] * bool(words[i].key) + keys
    return tuple(keys)


def _rathered(words: Sequence[Word], at: int) -> bool:
    """Whether somebody would rather have something else than what follows."""
    if words[at].lower != "than":
        return False
    before = [w.lower for w in words[max(0, at - RATHER) : at]]
    return (
        before[-1:] != []
        and before[-1] not in ("rather", "more", "less")
        and ("rather" in before or "sooner" in before)
    )


def _less_liked(words: Sequence[Word], at: int) -> bool:
    """Whether somebody prefers something to what follows."""
    likes = {PREFER} if words[at].lower == "to" else PREFERRING
    liked = next((i for i in range(at - 1, max(-1, at - STRETCH), -1) if words[i].key in likes), at)
    between = words[liked + 1 : at]
    better = words[at].lower == "than" and words[at - 1].lower in BETTER
    return (
        (words[at].lower in ("to", "over") or better)
        and any(w.key for w in between)
        and not any(w.lower.endswith("ing") for w in between)
    )


def parts_of(sentence: Sentence) -> list[tuple[Word, ...]]:
    """The words of the sentence, part by part."""
    parts: list[list[Word]] = [[]]
    fields, values = _fields(sentence)
    for at, word in enumerate(sentence.words):
        # "Dried flowers: no" is one part.
        gap = sentence.text[sentence.words[at - 1].end : word.end] if at else ""
        ended = ENDS.search(gap) and not _answers(sentence, at) and not (":" in gap and at <= LABEL)
        if (
            at in fields
            or (ended and at not in values)
            or (at and sentence.words[at - 1].lower == "and" and _has_none(sentence.words, at))
        ):
            parts.append([])
        parts[-1].append(word)
    return [tuple(part) for part in parts if part]


def _has_none(words: Sequence[Word], at: int) -> bool:
    """Whether another verb begins there that has a refusal of its own: "and keeps no copies"."""
    return (
        words[at].lower.endswith("s") and bool(words[at].key) and any(w.lower == "no" for w in words[at + 1 : at + 2])
    )


def _answers(sentence: Sentence, at: int) -> bool:
    """Whether a word that says no stands alone there, behind what it is said of."""
    word, following = sentence.words[at], sentence.words[at + 1 : at + 2]
    if ANSWERED.match(sentence.text, word.start):
        return True
    return says_no(word.lower) and (
        not following or bool(ENDS.search(sentence.text[word.end : following[0].end].replace(" (", "(")))
    )
