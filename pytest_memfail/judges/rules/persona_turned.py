"""Whether a stored sentence says of a person the other way round what an essay told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence, Set
from functools import lru_cache
from itertools import pairwise
from typing import Final

from pytest_memfail.judges.rules.persona_affirmed import DIRECT, affirmed, affirms, rejections, takes_up
from pytest_memfail.judges.rules.persona_essay import Essay, Stated
from pytest_memfail.judges.rules.persona_grounds import grounds_exchanged, still_refused
from pytest_memfail.judges.rules.persona_partners import AWAY, pairs, surface
from pytest_memfail.judges.rules.persona_refusals import NEEDLESS, REFUSALS, says_no
from pytest_memfail.judges.rules.persona_stretches import CLOSES, GOES_ON, ILL, parts_of, refused_stretches
from pytest_memfail.judges.rules.polarity import UNFAILING, is_negator, never_except
from pytest_memfail.judges.rules.related import opposed, related, within_reach
from pytest_memfail.judges.rules.text import Sentence, Word, fold, weight

FAILING: Final = frozenset(fold(word) for word in (*UNFAILING, "tire", "turn", "refuse", "lack", "want", "mind"))
"""Who never fails to do something does it."""
LIMIT: Final = 4
"""So many words behind what is not done may stand the limit within which it is not."""
SPELLING: Final = 0.9


def exchanged(sentence: Sentence, source: Sentence, telling: Collection[str]) -> str:
    """Something refused in the place of what is wanted, which is not refused: each alone may be put in other words."""
    wanted, unwanted, _ = _sides(source)
    kept, refused, before = _sides(sentence)
    for one in sorted((wanted - unwanted) & (refused - kept)):
        for other in sorted(k for k in unwanted - wanted - before if _has(k, kept - refused)):
            if (one in telling or other in telling) and _of_one_kind(one, other, source, sentence):
                return f"'{surface(source, one)}' and '{surface(source, other)}' are exchanged"
            if still_refused(unwanted & (refused | before), one, other, sentence, source):
                continue
            counted = one[0].isdigit() or other[0].isdigit() or surface(source, other) in AWAY
            if not counted and weight(one) >= 1.0 and weight(other) >= 1.0 and (one in telling or other in telling):
                return f"'{surface(source, one)}' and '{surface(source, other)}' are exchanged"
    return ""


def _of_one_kind(one: str, other: str, source: Sentence, stored: Sentence) -> bool:
    """Whether both tell of which kind the same thing is, in either telling: full moons and new moons."""
    kinds = ({second for first, second in pairs(s) if first == k} for s in (source, stored) for k in (one, other))
    return bool(frozenset.intersection(*map(frozenset, kinds)))


def _has(key: str, keys: Set[str]) -> bool:
    """Whether the key is there, maybe in another spelling."""
    return key in keys or any(related(key, held) >= SPELLING for held in within_reach(key, frozenset(keys)))


def _sides(sentence: Sentence) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """What the sentence has beside its refusals, what it refuses, and what stands before a refusal and may be meant."""
    refused = Counter(k for stretch in refused_stretches(sentence, allergies=True, comparing=True) for k in stretch)
    # What is said again outside of a refusal is not what is refused: "no cinnamon substitutes, but cinnamon".
    unwanted = frozenset(k for k, n in Counter(w.key for w in sentence.words).items() if k and 0 < n <= refused[k])
    unwanted |= {b.key for b, w in pairwise(sentence.words) if w.lower in UPSETTING and w.start - b.end == 1 and b.key}
    unwanted |= {
        b.key for b, w in pairwise(sentence.words) if w.lower == "free" and sentence.text[b.end : w.start] == "-"
    }
    # What stands before a refusal in one go with it may be what is refused: "shellfish does not agree with her".
    before: set[str] = set()
    since: set[str] = set()
    named: set[str] = set()
    for part in parts_of(sentence):
        if takes_up(sentence, part):
            before |= named
        named = {w.key for w in part}
        since.clear()
        ill = False
        for at, word in enumerate(part):
            ends = word.lower in CLOSES | SPEAKERS or (at and part[at - 1].lower == "and" and word.lower in GOES_ON)
            ill = (ill or word.key in ILL) and not ends
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


def turned(
    sentence: Sentence,
    stated: Stated,
    essay: Essay,
    telling: Collection[str],
    asked: Collection[str],
    following: Sentence | None = None,
) -> str:
    """What the stored sentence says the other way round than the essay's sentence; empty if nothing.

    Telling are the words of the detail; asked those of the question, which say when and where it holds.
    The following sentence of the entry may take up what this one says.
    """
    source = stated.sentence
    fault = (
        affirmed(sentence, source, telling, following)
        or exchanged(sentence, source, telling)
        or _spurned(sentence, stated, essay, telling)
        or _needless(sentence, source)
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
    wanted = [k for k in wanted if affirms(source.words, k)]
    if not wanted or never_except(sentence.text) or "free" in source.lowers:
        return ""
    for stretch in refused_stretches(sentence):
        # "Avoids plastic pots" is no refusal of pots where the source has plastic ones less liked.
        own = not _less_wanted(source).isdisjoint(stretch[:DIRECT])
        one = next((k for k in stretch[:DIRECT] if k in wanted and not own), "")
        failing = not FAILING.isdisjoint(stretch[: DIRECT + 1])
        if one and not failing and not _refused_elsewhere(one, stretch, stated, essay):
            return f"'{surface(sentence, one)}' is refused in what is stored"
    return ""


def _needless(sentence: Sentence, source: Sentence) -> str:
    """What leaves open in the stored sentence what the source asks for."""
    loose = NEEDLESS.search(sentence.text)
    return f"'{loose[0]}' is said of what was asked for" if loose and not NEEDLESS.search(source.text) else ""


def denied_keys(sentence: Sentence) -> frozenset[str]:
    """The words directly behind a negation; what is not done nearer than that is done farther."""
    return frozenset(
        word.key
        for at, (before, word) in enumerate(pairwise(sentence.words), 1)
        if word.key
        and (before.lower in ("not", "never") or before.lower.endswith("n't"))
        and not any(w.lower == "than" for w in sentence.words[at + 1 : at + 1 + LIMIT])
    )


def swapped(sentence: Sentence, source: Sentence, telling: Collection[str]) -> str:
    """An opposite in the place of a word of the source: left ear, right ear."""
    mine, theirs = pairs(source), pairs(sentence)
    for first, second in sorted(mine):
        if first not in telling or (first, second) in theirs or _said_of(first, second, sentence):
            continue
        # "Does not allow" is "forbids": what else says no has to be alike.
        least = rejections(source) - says_no(surface(source, first).lower())
        for other, following in sorted(theirs):
            if first in REFUSALS and other in source.keys:
                continue  # what is refused at one time and accepted at another: the other rules tell them apart
            alike = rejections(sentence) - says_no(surface(sentence, other).lower()) == least
            if alike and following == second and other != first and opposed(first, other):
                return f"'{surface(sentence, other)}' instead of '{surface(source, first)}'"
    return ""


def _said_of(key: str, thing: str, sentence: Sentence) -> bool:
    """Whether the word is said of the thing behind it: "gloves that are lost"."""
    for at, word in enumerate(sentence.words):
        for before, after in pairwise(sentence.words[at:]) if word.key == thing else ():
            if sentence.text[before.end : after.start].strip():
                break
            if after.key == key:
                return True
            if after.key and weight(after.key) >= 1.0:
                break
    return False
