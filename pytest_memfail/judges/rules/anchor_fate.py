"""What became of a word of a link's end that does not stand where the others do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from pytest_memfail.judges.rules.anchor_match import NEGATING, is_somebody
from pytest_memfail.judges.rules.anchor_words import ATTACHING, CAUSING, LIGHT, NEAR, SOMEBODY, Part, Token, is_adverb
from pytest_memfail.judges.rules.apart import alternatives, apart, poles
from pytest_memfail.judges.rules.kinds import ROOTS
from pytest_memfail.judges.rules.kinship import FIRM, Kin, kin
from pytest_memfail.judges.rules.lexicon import lookup, paraphrases
from pytest_memfail.judges.rules.link_likeness import likeness
from pytest_memfail.judges.rules.tables import table
from pytest_memfail.judges.rules.text import Word, fold, weight
from pytest_memfail.judges.rules.words import STOP

TOWARDS: Final = re.compile(r" (?:about|for|of|over|against|towards?|to|with|by|on)\b")
SAYING: Final = frozenset("is are was were".split())
"""What comes behind these is said of the thing, and is no part of its name."""
ALONE: Final = frozenset(fold(w) for w in "solo alone solitary unaccompanied".split())
COMPANY: Final = frozenset(
    "company others group groups crowd friends together people team club crew party pals mates".split()
)
_DEEDS: Final = """
buy purchase
sell
steal
borrow
eat devour snack munch nibble
drink sip
wear don
read
write compose pen jot text email record
draw sketch doodle
paint
sculpt
photograph
sing
hum
whistle
listen hear
record tape
collect
clean wash tidy wipe scrub dust declutter
remodel renovate decorate
repair mend
frame
call phone ring telephone dial
text message
email
visit
bake cook
finish complete
blend
light ignite kindle
dance
swim
meditate
feed
water
prune
plant repot
knit
sew
crochet
cancel
postpone
"""
"""What is done: words of no common line are different deeds, whatever they are done to."""
DEEDS: Final[dict[str, frozenset[int]]] = {}
for _number, _line in enumerate(_DEEDS.strip().splitlines()):
    for _word in _line.split():
        DEEDS[fold(_word)] = DEEDS.get(fold(_word), frozenset()) | {_number}
CONCRETE: Final = frozenset("person animal artifact substanc".split())


def fate_of(part: Part, tokens: Sequence[Token], at: tuple[int, ...], source: frozenset[str]) -> str:
    """What became of a word of the end that does not stand where the others do."""
    around = range(max(0, at[0] - NEAR), min(len(tokens), at[-1] + NEAR + 1))
    kinds = {
        kin(part.key, tokens[i].key)[0]
        for i in around
        if tokens[i].key and i not in at and weight(tokens[i].key) >= 1.0
    }
    if Kin.OPPOSITE in kinds:
        return "opposite"
    if part.kind == "head" and any(tokens[i].key and kin(tokens[i].key, part.key)[0] is Kin.GENERAL for i in at):
        return "light"  # a storm is weather
    if part.kind == "verb" and Kin.GENERAL in kinds:
        return "light"
    if Kin.GENERAL in kinds and part.kind == "head":
        return "general"
    if part.kind == "stance":
        return _stance(part, tokens, at, source)
    if part.kind == "verb":
        if is_undone(part, tokens, at[0]):
            return "opposite"
        rivals = _content(tokens, at[0] - 1, -1, source)
        if not rivals:
            return "dropped" if part.key in NEGATING else "light"  # to go to the gym is not to skip it
        # What is done can be said in many ways; a verb for something else is known to be one.
        return "rival" if any(is_another_deed(part.key, tokens[i].key) for i in rivals) else "reworded"
    if part.kind == "modifier":
        if any(tokens[i].key and tokens[i].key not in source and apart(part.key, tokens[i].key) for i in around):
            return "opposite"
        attached = _attached(tokens, at[-1], source)
        if part.key in ALONE and any(
            t.lower in COMPANY or t.key in SOMEBODY for t in tokens[at[-1] + 1 : at[-1] + 2 + NEAR]
        ):
            return "opposite"
        if attached and any(apart(part.key, tokens[i].key) for i in _content(tokens, at[-1] + 2, 1, source, NEAR + 1)):
            return "opposite"  # runs in a group are not solo
        # How something is done is little of it, where it is not told to be otherwise.
        if is_adverb(part.surface):
            return "light"
        rivals = _content(tokens, at[-1] - 1, -1, source, 2, skip=at)
        # Right before the head it may be another word for it.
        beside = rivals == [at[-1] - 1] and not tokens[at[-1]].breaks
        if beside and not _excludes(part.key, tokens[rivals[0]].key):
            alike = likeness(part.key, tokens[rivals[0]].key)
            known = _is_known(part.key) and _is_known(tokens[rivals[0]].key)
            return "rival" if known and not alike and not attached else "reworded"
        behind = tokens[at[-1] + 1] if at[-1] + 1 < len(tokens) else None
        if behind is not None and not behind.gap and _content(tokens, at[-1] + 1, 1, source, 1):
            return "rival"
        if rivals and not attached:
            return "rival"
        return "reworded" if attached else "dropped"
    if _content(tokens, at[-1] + 1, 1, source):
        return "rival"
    return "dropped"


def is_another_deed(wanted: str, held: str) -> bool:
    """Whether the one is known not to be the other."""
    mine, theirs = DEEDS.get(wanted), DEEDS.get(held)
    return apart(wanted, held) or (mine is not None and theirs is not None and not mine & theirs)


def _is_known(key: str) -> bool:
    """Whether there are words known to say the same, so that another says something else."""
    entry = lookup(key)
    return bool(entry.same or entry.close or paraphrases(key).same)


def is_undone(part: Part, tokens: Sequence[Token], start: int) -> bool:
    """Whether the opposite is done to what stands here: to start a novel is not to finish it."""
    for i in range(start - 1, max(-1, start - 1 - NEAR), -1):
        if tokens[i + 1].breaks:
            return False
        if tokens[i].key and poles(part.key, tokens[i].key):
            return True
    return False


def _excludes(wanted: str, held: str) -> bool:
    # Nobody is somebody else.
    return apart(wanted, held) or alternatives(wanted, held) or (is_somebody(wanted) and is_somebody(held))


def is_stance(text: str, word: Word) -> bool:
    """Whether the word says what somebody has towards that which follows: "fear of heights", "keen on maps"."""
    root = next((kind for kind in table("kinds").get(word.key, "").split() if kind in ROOTS), "")
    if root in CONCRETE and not lookup(word.key).opposite:
        return False
    at = text.find(word.surface)
    while at >= 0:
        begins = at == 0 or not (text[at - 1].isalnum() or text[at - 1] == "_")
        if begins and TOWARDS.match(text, at + len(word.surface)):
            return True
        at = text.find(word.surface, at + 1)
    return False


def _stance(part: Part, tokens: Sequence[Token], at: Sequence[int], source: frozenset[str]) -> str:
    """There are many words for a stance, and few for what it is taken towards."""
    around = _content(tokens, at[0] - 1, -1, source, NEAR + 1) + _content(tokens, at[-1] + 1, 1, source)
    if any(apart(part.key, tokens[i].key) for i in around):
        return "opposite"
    return "reworded" if around else "dropped"


def _content(
    tokens: Sequence[Token], start: int, step: int, source: frozenset[str], reach: int = NEAR, skip: Sequence[int] = ()
) -> list[int]:
    """Words with content of their own, that the source has not, next to a place within its clause."""
    found = []
    i = start
    while 0 <= i < len(tokens) and abs(i - start) < reach:
        token = tokens[i]
        if step > 0 and (token.breaks or token.lower in SAYING):
            break
        if i not in skip and _tells(token, source) and (token.surface[0].islower() or i == 0):
            found.append(i)
        if step < 0 and token.breaks:
            break
        i += step
    return found


def _tells(token: Token, source: frozenset[str]) -> bool:
    """Whether the word says something that the source does not."""
    if (
        not token.key
        or token.lower == "once"
        or token.key in source
        or token.key in LIGHT
        or token.key in CAUSING
        or token.lower in STOP
    ):
        return False
    return not any(kin(key, token.key)[1] >= FIRM for key in source)


def _attached(tokens: Sequence[Token], head: int, source: frozenset[str]) -> bool:
    """Whether more is said of the thing behind it: socks that do not match."""
    if head + 2 >= len(tokens) or tokens[head + 1].breaks or tokens[head + 1].lower not in ATTACHING:
        return False
    return bool(_content(tokens, head + 2, 1, source, NEAR + 1)) or tokens[head + 1].lower in ("that", "which", "no")
