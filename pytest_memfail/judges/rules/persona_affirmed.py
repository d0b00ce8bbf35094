"""Whether what was told to be refused stands in what is stored as if it were wanted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence, Set
from itertools import pairwise
from typing import Final

from pytest_memfail.judges.rules.lexicon import lookup, paraphrases
from pytest_memfail.judges.rules.persona_grounds import reason_told
from pytest_memfail.judges.rules.persona_partners import AWAY, NEAR, surface
from pytest_memfail.judges.rules.persona_refusals import (
    ACCEPTING,
    AFFIRMING,
    DISPLEASING,
    EXCLUDING,
    PERMITTING,
    REFUSALS,
    REFUSING,
    UNCERTAIN,
    says_no,
)
from pytest_memfail.judges.rules.persona_stretches import CLOSES, parts_of, refused_stretches
from pytest_memfail.judges.rules.related import related
from pytest_memfail.judges.rules.text import Sentence, Word, fold, weight

SAME_THING: Final = 0.6
BEHIND: Final = 4
UNDONE: Final = 6
"""Longer words in un- and -ed say that something is not done."""
DIRECT: Final = 2
"""What is refused is told by so many words right behind the refusal."""
WHOLE: Final = 2.0
HANDED: Final = frozenset(
    "hand hands handed handing give gives given gave giving lay lays laid set sets dish dishes dished".split()
)
"""What is handed out is there."""
AT_ONCE: Final = frozenset("straight right".split())
"""Straight away is no way off."""
CONDITIONAL: Final = re.compile(
    r"\b(?:no|not|never|nobody|refuses?|avoids?|\w+n't)\b[^.;:,]*?\b(?:without|unless|until|till|except|not yet"
    r"|(?:has|have|is|are|was|were)(?:n't| not))\b[^.;:,]*",
    re.IGNORECASE,
)
"""What is only done on a condition."""
REQUIRING: Final = re.compile(
    r"\b(?:must|has to|have to|needs?|requires?|insists?|only|demands?|first|mandatory|compulsory|obligatory|always|every"
    r"|provided|as long as|without|unless|until|before|once|when|if|after)\b",
    re.IGNORECASE,
)
"""What tells of a condition."""
SIDES: Final = (("before", "after"), ("above", "below"), ("over", "under"), ("inside", "outside"), ("until", "after"))
TAKEN_UP: Final = frozenset("them it those these that any one none either him her".split())
"""They stand for what was named before."""
MEANS: Final = frozenset("by with from in at on for".split())
NEVER: Final = frozenset("never refuses refuse forbids bans".split())
NOW_AND_THEN: Final = re.compile(
    r"\b(?:sparingly|sometimes|occasionally|now and then|now and again|every so often|from time to time|at times|once in a while)\b",
    re.IGNORECASE,
)
WITHOUT: Final = re.compile(
    r"\b(?:never|rarely|seldom|hardly ever|not|\w+n't)\b[^.;,]{0,30}?\bwithout (?:an? |the |his |her |their )?(\w+)",
    re.IGNORECASE,
)
"""What is hardly ever left out."""
USING: Final = frozenset(fold(word) for word in "use have take like".split())
"""What is done with a thing, in the place of any other verb."""
FOR_SOME: Final = re.compile(r"\bfor (?:\w+ ){1,2}only\b|\bonly for\b", re.IGNORECASE)
"""What is had for some things only is had."""
ALWAYS: Final = frozenset("only always solely exclusively".split())


def rejections(sentence: Sentence, end: int | None = None) -> int:
    """How many words of the sentence say no, up to the end."""
    return sum(says_no(w.lower) for w in sentence.words[:end])


def refusing(sentence: Sentence) -> bool:
    """Whether anything in the sentence may say no, in whatever words."""
    return refuses(sentence, sentence.words)


def refuses(sentence: Sentence, words: Sequence[Word], told: Collection[str] = ()) -> bool:
    """Whether anything among these words of the sentence says no, in whatever words."""
    return any(
        says_no(w.lower)
        or w.key in REFUSALS
        or (w.lower in DISPLEASING and w.key not in told)
        or (
            w.lower.startswith("un") and w.lower.endswith("ed") and len(w.lower) > UNDONE and told and w.key not in told
        )
        or (w.key not in told and w.key not in UNCERTAIN and not REFUSALS.isdisjoint(lookup(w.key).same))
        or (w.lower.startswith("un") and not AFFIRMING.isdisjoint(lookup(w.key).opposite))
        or (w.lower == "too" and any(f.key for f in words[i + 1 : i + 2]))
        for i, w in enumerate(words)
    ) or (bool(words) and REFUSING.search(sentence.text, words[0].start, words[-1].end) is not None)


def affirmed(sentence: Sentence, source: Sentence, telling: Collection[str], following: Sentence | None = None) -> str:
    """What the source refuses and the stored sentence has without a refusal, nor the following one; empty if nothing."""
    stretches = refused_stretches(source)
    direct_ones = {k for stretch in stretches for k in stretch[:DIRECT] if k in telling}
    if direct_ones and (used_always := direct_ones & _never_without(sentence, source)):
        return f"'{surface(source, min(used_always))}' is refused in what was told, not in what is stored"
    condition = stretches and REQUIRING.search(sentence.text) and CONDITIONAL.search(source.text)
    if condition:
        conditional = {w.key for w in source.words if condition.start() <= w.start < condition.end()}
        stretches = [stretch for stretch in stretches if not conditional.issuperset(stretch[:DIRECT])]
    spoken, denied = Counter(w.key for w in source.words), Counter(k for stretch in stretches for k in stretch)
    for stretch in stretches:
        # What is spoken of outside of the refusal too may be wanted there: "no retractable leash, but a flat leash".
        about = {k for k in stretch if k in telling and weight(k) >= 1.0 and spoken[k] <= denied[k]}
        about -= {k for k in about if affirms(source.words, k)}
        total = sum(weight(k) for k in set(stretch))
        for part in _spoken_of(sentence, set(stretch), following) if about else ():
            there = _standing(set(stretch), {w.key for w in part} - {""}, source)
            # Most of what the detail has of it is enough, if that is more than a word.
            of_it = sum(weight(k) for k in about & there.keys())
            used = stretch[0] not in there and len(stretch) > 1 and any(w.key in USING for w in part)
            told = total - used * weight(stretch[0])  # who uses flash shoots with it
            whole = of_it >= max(WHOLE, SAME_THING * sum(weight(k) for k in about))
            # "Before drafting" alone is not what is refused by "no outline before drafting".
            direct = any(k in there and spoken[k] <= denied[k] for k in stretch[:DIRECT])
            if (
                not direct
                or about.isdisjoint(there)
                or not (whole or sum(weight(k) for k in there) >= SAME_THING * told)
            ):
                continue
            quiet = (
                not refuses(sentence, part, source.keys)
                and not reason_told(part, source)
                and not EXCLUDING.search(FOR_SOME.sub("", sentence.text))
                and AWAY.isdisjoint(
                    {w.lower for b, w in pairwise(part) if b.lower not in HANDED | AT_ONCE} - source.lowers
                )
                and not _beyond({w.lower for w in part}, source.lowers)
                and not any(w.key in there.values() and b.lower == "over" for b, w in pairwise(part))
            )
            one = min(about & there.keys())
            borne = ACCEPTING.search(sentence.text, part[0].start, part[-1].end) or _permits(sentence, part)
            borne = borne or _weakened(sentence, part, source)
            if quiet or borne or affirms(part, there[one]):
                return f"'{surface(source, one)}' is refused in what was told, not in what is stored"
    return ""


def _never_without(sentence: Sentence, source: Sentence) -> set[str]:
    """What is hardly ever left out: "rarely shoots without flash"."""
    if "without" not in sentence.lowers - source.lowers:
        return set()
    found: set[str] = set()
    for match in WITHOUT.finditer(sentence.text):
        found.update(w.key for w in sentence.words if w.key and match.start(1) <= w.start < match.end(1))
    return found


def _spoken_of(sentence: Sentence, refused: Set[str], then: Sentence | None) -> Iterator[Sequence[Word]]:
    """The parts of the sentence that tell what is done: no reasons, and no heading of what is then refused."""
    parts = parts_of(sentence)
    for part, following in zip(parts, [*parts[1:], ()], strict=True):
        if not following and then and takes_up(then, then.words) and _told_there(then.words, part, refused):
            continue
        gap = sentence.text[part[-1].end : following[0].start] if following else ""
        heading = ":" in gap or " - " in gap
        if takes_up(sentence, following) and (heading or _told_there(following, part, refused)):
            continue
        end = next(
            (i for i, w in enumerate(part) if i and (w.lower == "because" or _set_against(sentence, part, i))),
            len(part),
        )
        yield part[:end]


def _set_against(sentence: Sentence, part: Sequence[Word], at: int) -> bool:
    """Whether what follows is only what the thing before is set against: "with machines, not by hand"."""
    word, following = part[at], part[at + 1 : at + 2]
    behind = "," in sentence.text[part[at - 1].end : word.start]
    return behind and word.lower == "not" and bool(following) and following[0].lower in MEANS


def _told_there(refusal: Sequence[Word], part: Sequence[Word], refused: Set[str]) -> bool:
    """Whether the refusal tells which one is refused, and the part does not: "takes jobs; in winter he turns them down"."""
    named = {w.key for w in part}
    return any(_nearly(w.key, refused) and not _nearly(w.key, named) for w in refusal)


def takes_up(sentence: Sentence, part: Sequence[Word]) -> bool:
    """Whether that part of the sentence refuses what was named before it: "he turns them down"."""
    named = next((i for i, w in enumerate(part) if w.lower in TAKEN_UP), None)
    return named is not None and refuses(sentence, part[: named + 2])


def _nearly(key: str, keys: Set[str]) -> bool:
    return bool(key) and any(related(key, held) >= NEAR for held in keys if held)


def _permits(sentence: Sentence, part: Sequence[Word]) -> bool:
    """Whether that part of the sentence lets somebody do what it tells of."""
    lets = PERMITTING.search(sentence.text, part[0].start, part[-1].end)
    return lets is not None and not any(says_no(w.lower) for w in part if w.start < lets.end())


def _weakened(sentence: Sentence, part: Sequence[Word], source: Sentence) -> bool:
    """Whether what the source has never is done now and then."""
    now_and_then = NOW_AND_THEN.search(sentence.text, part[0].start, part[-1].end)
    never = not source.lowers.isdisjoint(NEVER) and not NOW_AND_THEN.search(source.text)
    return never and now_and_then is not None and not any(says_no(w.lower) for w in part)


def _beyond(here: Set[str], there: Set[str]) -> bool:
    """Whether the one tells of before what the other tells of after."""
    return any((a in here - there and b in there - here) or (b in here - there and a in there - here) for a, b in SIDES)


def _standing(wanted: Set[str], keys: Set[str], source: Sentence) -> dict[str, str]:
    """Which of the keys stand for the wanted ones: each for one, and a word of the source for itself alone."""
    strange = keys - source.keys
    nearest: dict[str, str] = {}
    for near, key, held in sorted((related(k, h), k, h) for k in wanted for h in ({k} & keys or strange)):
        if near >= NEAR:
            nearest[held] = key
    for key, held in ((k, h) for k in wanted - keys for h in (keys & source.keys) - wanted):
        if held not in nearest and _taken_up(key, held, source):
            nearest[held] = key
    return {key: held for held, key in nearest.items()}


def _taken_up(key: str, held: str, source: Sentence) -> bool:
    """Whether the source speaks of the one as the other, which it named: keeps his cello, leaves the instrument."""
    if key not in paraphrases(held).near and key not in lookup(held).general:
        return False
    named = next(i for i, w in enumerate(source.words) if w.key == held)
    return any(w.key == key and before.lower in ("the", "this", "that") for before, w in pairwise(source.words[named:]))


def affirms(words: Sequence[Word], key: str) -> bool:
    """Whether the word is what somebody insists on."""
    at = next(i for i, w in enumerate(words) if w.key == key)
    if _denied_at_once(words[at : at + BEHIND]):
        return False
    if len(words) == at + 2 and words[-1].lower in ALWAYS:
        return True
    first = max((i for i in range(at) if words[i].lower in CLOSES), default=0)
    wanted = [i for i in range(max(first, at - 6), at) if words[i].key in AFFIRMING or words[i].lower in ALWAYS]
    return bool(wanted) and not any(says_no(w.lower) for w in words[max(0, min(wanted) - 3) : at])


def _denied_at_once(words: Sequence[Word]) -> bool:
    """Whether a no follows in one go: "bare feet aren't allowed"."""
    for before, word in pairwise(words):
        if word.start - before.end != 1:
            return False
        if says_no(word.lower):
            return True
    return False
