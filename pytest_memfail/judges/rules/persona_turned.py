"""Whether a stored sentence says of a person the other way round what an essay told."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence, Set
from functools import lru_cache
from itertools import pairwise
from typing import Final

from pytest_memfail.judges.rules.lexicon import lookup, paraphrases
from pytest_memfail.judges.rules.persona_essay import Essay, Stated
from pytest_memfail.judges.rules.persona_grounds import grounds_exchanged, reason_told, still_refused
from pytest_memfail.judges.rules.persona_partners import AWAY, NEAR, pairs, surface
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
from pytest_memfail.judges.rules.persona_stretches import ALLERGY, CLOSES, GOES_ON, parts_of, refused_stretches
from pytest_memfail.judges.rules.polarity import UNFAILING, is_negator, never_except
from pytest_memfail.judges.rules.related import opposed, related, within_reach
from pytest_memfail.judges.rules.text import Sentence, Word, fold, weight


def rejections(sentence: Sentence, end: int | None = None) -> int:
    """How many words of the sentence say no, up to the end."""
    return sum(says_no(w.lower) for w in sentence.words[:end])


def refusing(sentence: Sentence) -> bool:
    """Whether anything in the sentence may say no, in whatever words."""
    return _refuses(sentence, sentence.words)


def _refuses(sentence: Sentence, words: Sequence[Word], told: Collection[str] = ()) -> bool:
    """Whether anything among these words of the sentence says no, in whatever words."""
    return any(
        says_no(w.lower)
        or w.key in REFUSALS
        or (w.lower in DISPLEASING and w.key not in told)
        or (w.lower.startswith("un") and w.lower.endswith("ed") and len(w.lower) > UNDONE and told)
        or (w.key not in told and w.key not in UNCERTAIN and not REFUSALS.isdisjoint(lookup(w.key).same))
        or (w.lower.startswith("un") and not AFFIRMING.isdisjoint(lookup(w.key).opposite))
        or (w.lower == "too" and any(f.key for f in words[i + 1 : i + 2]))
        for i, w in enumerate(words)
    ) or (bool(words) and REFUSING.search(sentence.text, words[0].start, words[-1].end) is not None)


UNDONE: Final = 6
"""Longer words in un- and -ed say that something is not done."""
FAILING: Final = frozenset(fold(word) for word in (*UNFAILING, "tire", "turn", "refuse", "lack", "want", "mind"))
"""Who never fails to do something does it."""
SAME_THING: Final = 0.6
SPELLING: Final = 0.9
BEHIND: Final = 4
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
ALWAYS: Final = frozenset("only always solely exclusively".split())


def affirmed(sentence: Sentence, source: Sentence, telling: Collection[str]) -> str:
    """What the source refuses and the stored sentence has without a refusal; empty if nothing."""
    stretches = refused_stretches(source)
    condition = REQUIRING.search(sentence.text) and CONDITIONAL.search(source.text)
    if condition:
        conditional = {w.key for w in source.words if condition.start() <= w.start < condition.end()}
        stretches = [stretch for stretch in stretches if not conditional.issuperset(stretch[:DIRECT])]
    spoken, denied = Counter(w.key for w in source.words), Counter(k for stretch in stretches for k in stretch)
    for stretch in stretches:
        # What is spoken of outside of the refusal too may be wanted there: "no retractable leash, but a flat leash".
        about = {k for k in stretch if k in telling and weight(k) >= 1.0 and spoken[k] <= denied[k]}
        about -= {k for k in about if _affirms(source.words, k)}
        total = sum(weight(k) for k in set(stretch))
        for part in _spoken_of(sentence) if about else ():
            there = _standing(set(stretch), {w.key for w in part} - {""}, source)
            # Most of what the detail has of it is enough, if that is more than a word.
            of_it = sum(weight(k) for k in about & there.keys())
            whole = of_it >= max(WHOLE, SAME_THING * sum(weight(k) for k in about))
            # "Before drafting" alone is not what is refused by "no outline before drafting".
            direct = any(k in there and spoken[k] <= denied[k] for k in stretch[:DIRECT])
            if (
                not direct
                or about.isdisjoint(there)
                or not (whole or sum(weight(k) for k in there) >= SAME_THING * total)
            ):
                continue
            quiet = (
                not _refuses(sentence, part, source.keys)
                and not reason_told(part, source)
                and not EXCLUDING.search(sentence.text)
                and AWAY.isdisjoint(
                    {w.lower for b, w in pairwise(part) if b.lower not in HANDED | AT_ONCE} - source.lowers
                )
                and not _beyond({w.lower for w in part}, source.lowers)
                and not any(w.key in there.values() and b.lower == "over" for b, w in pairwise(part))
            )
            one = min(about & there.keys())
            borne = ACCEPTING.search(sentence.text, part[0].start, part[-1].end) or _permits(sentence, part)
            if quiet or borne or _affirms(part, there[one]):
                return f"'{surface(source, one)}' is refused in what was told, not in what is stored"
    return ""


def _spoken_of(sentence: Sentence) -> Iterator[Sequence[Word]]:
    """The parts of the sentence that tell what is done: no reasons, and no heading of what is then refused."""
    parts = parts_of(sentence)
    for part, following in zip(parts, [*parts[1:], ()], strict=True):
        gap = sentence.text[part[-1].end : following[0].start] if following else ""
        named = next((i for i, w in enumerate(following) if w.lower in TAKEN_UP), None)
        if named is not None and (":" in gap or " - " in gap) and _refuses(sentence, following[: named + 2]):
            continue
        end = next((i for i, w in enumerate(part) if i and w.lower == "because"), len(part))
        yield part[:end]


def _permits(sentence: Sentence, part: Sequence[Word]) -> bool:
    """Whether that part of the sentence lets somebody do what it tells of."""
    lets = PERMITTING.search(sentence.text, part[0].start, part[-1].end)
    return lets is not None and not any(says_no(w.lower) for w in part if w.start < lets.end())


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


def exchanged(sentence: Sentence, source: Sentence, telling: Collection[str]) -> str:
    """Something refused in the place of what is wanted, which is not refused: each alone may be put in other words."""
    wanted, unwanted, _ = _sides(source)
    kept, refused, before = _sides(sentence)
    for one in sorted((wanted - unwanted) & (refused - kept)):
        for other in sorted(k for k in unwanted - wanted - before if _has(k, kept - refused)):
            if still_refused(unwanted & (refused | before), one, other, sentence, source):
                continue
            counted = one[0].isdigit() or other[0].isdigit() or surface(source, other) in AWAY
            if not counted and weight(one) >= 1.0 and weight(other) >= 1.0 and (one in telling or other in telling):
                return f"'{surface(source, one)}' and '{surface(source, other)}' are exchanged"
    return ""


def _has(key: str, keys: Set[str]) -> bool:
    """Whether the key is there, maybe in another spelling."""
    return key in keys or any(related(key, held) >= SPELLING for held in within_reach(key, frozenset(keys)))


def _sides(sentence: Sentence) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """What the sentence has beside its refusals, what it refuses, and what stands before a refusal and may be meant."""
    refused = Counter(k for stretch in refused_stretches(sentence, allergies=True, comparing=True) for k in stretch)
    # What is said again outside of a refusal is not what is refused: "no cinnamon substitutes, but cinnamon".
    unwanted = frozenset(k for k, n in Counter(w.key for w in sentence.words).items() if k and 0 < n <= refused[k])
    unwanted |= {b.key for b, w in pairwise(sentence.words) if w.lower in UPSETTING and w.start - b.end == 1 and b.key}
    # What stands before a refusal in one go with it may be what is refused: "shellfish does not agree with her".
    before: set[str] = set()
    since: set[str] = set()
    for part in parts_of(sentence):
        since.clear()
        ill = False
        for at, word in enumerate(part):
            ends = word.lower in CLOSES | SPEAKERS or (at and part[at - 1].lower == "and" and word.lower in GOES_ON)
            ill = (ill or word.key == ALLERGY) and not ends
            before |= {word.key} if ill else set()
            if (is_negator(word.lower) or word.key in REFUSALS) and not _corrects(sentence, part, at):
                before |= since
            elif word.lower in ("and", "or") or word.lower in CLOSES:
                since.clear()
            since.add(word.key)
    return sentence.keys - unwanted - before - _circumstances(sentence), unwanted, frozenset(before)


def _corrects(sentence: Sentence, part: Sequence[Word], at: int) -> bool:
    """Whether the negation says what something is not after what it is: "in fathoms, not metres"."""
    return part[at].lower == "not" and bool(at) and "," in sentence.text[part[at - 1].end : part[at].start]


def _circumstances(sentence: Sentence) -> set[str]:
    """What the sentence only has of when it holds: "if the wind is strong", "above twenty knots"."""
    found: set[str] = set()
    for part in parts_of(sentence):
        inside = False
        for at, word in enumerate(part):
            gap = sentence.text[part[at - 1].end : word.start] if at else ""
            # Behind the clause stands who does what.
            if "," in gap or word.lower in SPEAKERS or (at > 1 and word.surface[0].isupper()):
                inside = False
            inside = inside or word.lower in WHEN or (not at and word.lower in FRONTED)
            if inside:
                found.add(word.key)
    return found


WHEN: Final = frozenset("if when whenever once wherever because".split())
UPSETTING: Final = frozenset(
    """bothers bother upset upsets irritates irritate annoys annoy inflames inflame triggers trigger aggravates aggravate
    disgusts disgust sickens sicken""".split()
)
"""What does it to somebody is not what they want."""
FRONTED: Final = frozenset("above over below under beyond past during in at on with after before".split())
SPEAKERS: Final = frozenset("he she they".split())


def _affirms(words: Sequence[Word], key: str) -> bool:
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


def turned(sentence: Sentence, stated: Stated, essay: Essay, telling: Collection[str], asked: Collection[str]) -> str:
    """What the stored sentence says the other way round than the essay's sentence; empty if nothing.

    Telling are the words of the detail; asked those of the question, which say when and where it holds.
    """
    source = stated.sentence
    fault = (
        affirmed(sentence, source, telling)
        or exchanged(sentence, source, telling)
        or _spurned(sentence, stated, essay, telling)
    )
    if fault:
        return fault
    if not rejections(source) and not never_except(sentence.text):
        for key in sorted(denied_keys(sentence) & stated.weights.keys()):
            return f"'{surface(sentence, key)}' is denied in what is stored"
        for stretch in refused_stretches(sentence, negations=False):
            direct = [k for k in stretch if weight(k) >= 1.0][:1]
            refused = direct and direct[0] in telling and direct[0] in stated.weights
            refused = refused and direct[0] not in _less_wanted(source)
            if refused and not _refused_elsewhere(direct[0], stretch, stated, essay):
                return f"'{surface(sentence, direct[0])}' is refused in what is stored"
    told = {*telling, *asked}
    return grounds_exchanged(sentence, source, telling) or swapped(sentence, source, told)


@lru_cache(maxsize=4096)
def _less_wanted(source: Sentence) -> frozenset[str]:
    """What the source refuses, or has less liked than something else."""
    return frozenset(k for stretch in refused_stretches(source, comparing=True) for k in stretch)


def _refused_elsewhere(key: str, stretch: Sequence[str], stated: Stated, essay: Essay) -> bool:
    """Whether another sentence of the essay refuses that: prefers Japanese blades, and takes no serrated ones."""
    others = {k for k in stretch if weight(k) >= 1.0} - stated.sentence.keys
    return any(
        key in told and not others.isdisjoint(told)
        for other in essay.stated
        if others and other is not stated and key in other.sentence.keys
        for told in refused_stretches(other.sentence)
    )


def _spurned(sentence: Sentence, stated: Stated, essay: Essay, telling: Collection[str]) -> str:
    """What the essay's sentence says that somebody likes or wants, and the stored sentence refuses."""
    source = stated.sentence
    wanted = [w.key for w in source.words if w.key in telling and w.key in sentence.keys and weight(w.key) >= 1.0]
    wanted = [k for k in wanted if _affirms(source.words, k)]
    if not wanted or never_except(sentence.text) or "free" in source.lowers:
        return ""
    for stretch in refused_stretches(sentence):
        one = next((k for k in stretch[:DIRECT] if k in wanted and k not in _less_wanted(source)), "")
        failing = not FAILING.isdisjoint(stretch[: DIRECT + 1])
        if one and not failing and not _refused_elsewhere(one, stretch, stated, essay):
            return f"'{surface(sentence, one)}' is refused in what is stored"
    return ""


def denied_keys(sentence: Sentence) -> frozenset[str]:
    """The words directly behind a negation."""
    return frozenset(
        word.key
        for before, word in pairwise(sentence.words)
        if word.key and (before.lower in ("not", "never") or before.lower.endswith("n't"))
    )


def swapped(sentence: Sentence, source: Sentence, telling: Collection[str]) -> str:
    """An opposite in the place of a word of the source: left ear, right ear."""
    mine, theirs = pairs(source), pairs(sentence)
    for first, second in sorted(mine):
        if first not in telling or (first, second) in theirs:
            continue
        # "Does not allow" is "forbids": what else says no has to be alike.
        least = rejections(source) - says_no(surface(source, first).lower())
        for other, following in sorted(theirs):
            alike = rejections(sentence) - says_no(surface(sentence, other).lower()) == least
            if alike and following == second and other != first and opposed(first, other):
                return f"'{surface(sentence, other)}' instead of '{surface(source, first)}'"
    return ""
