"""A preference of which only a part of the name is found: damaged, or but worded otherwise."""

from __future__ import annotations

import re
from typing import Final

from pytest_memfail.judges.rules.attitude import liked
from pytest_memfail.judges.rules.lexicon import EMPTY, lookup
from pytest_memfail.judges.rules.naming import Mention
from pytest_memfail.judges.rules.preference_reading import (
    ALONE,
    BESIDE,
    GIVEN_AWAY,
    OWN,
    Preference,
    Reading,
    liked_word,
    others_of,
)
from pytest_memfail.judges.rules.related import opposed
from pytest_memfail.judges.rules.targets import GENERAL_KEYS, loose
from pytest_memfail.judges.rules.text import Sentence, weight
from pytest_memfail.judges.rules.traces import ASKING, CHANCE, LISTED, OF_ALL, coincidence
from pytest_memfail.judges.rules.variants import SORTING
from pytest_memfail.judges.rules.verbatim import word_for_word
from pytest_memfail.judges.rules.view import View
from pytest_memfail.judges.rules.whose_after import MINE

BACKED_HEADLESS: Final = 0.4
"""Share of our statement that speaks for a name without its last word, if many names share that."""
BESIDE_IT: Final = 2
"""So many words away at most stands what a word of a name was replaced by."""
ITEMS: Final = re.compile(r"[,;:]")
HALF: Final = 0.5
STANDS_BEHIND: Final = 0.3
"""Share of our statement, in whatever words, that shows what is left of a name to be ours."""
MOSTLY: Final = 0.75
"""Share of a name with which it may do without its last word."""


def damaged(wanted: Preference, view: View, reading: Reading) -> bool:
    """Whether a part of the name that stands alone is what became of it."""
    m = reading.mention
    sentence = view.sentences[m.at]
    backed = m.share >= MOSTLY and reading.support >= BACKED_HEADLESS
    if m.share >= 1.0 or m.share <= 0.0 or (m.foreign and not backed) or not reading.ours:
        return False
    if reading.support < BESIDE and (ASKING.search(sentence.text) or _heads_list(sentence, m)):
        return False
    if word_for_word(view, m.at):
        total, held = others_of(wanted, sentence)
        return reading.support >= 0.34 and held >= OWN * total
    if m.person and not m.head:
        return False
    if reading.owner != MINE:
        return m.share >= HALF and reading.soft >= STANDS_BEHIND
    total, held = others_of(wanted, sentence)
    alone = total - held < ALONE or _is_item(sentence, m, wanted)
    if (
        m.head
        and (alone or (OF_ALL.search(sentence.text) and liked(sentence)))
        and not _modified(view, reading, wanted)
    ):
        return True
    named = {loose(part.key) for target in wanted.targets for part in target.parts} - set(map(loose, m.missing))
    found = [k for k in sentence.keys if loose(k) in named or (loose(k) in wanted.loose_context and weight(k) >= 1.0)]
    tried = len(named) + (0 if all(loose(k) in named for k in found) else len(wanted.context))
    likely = coincidence(view, found, tried) <= CHANCE
    if (
        reading.attitude < 0
        and m.share >= HALF + 0.01 * m.head
        and (wanted.topic & sentence.keys or reading.soft >= GIVEN_AWAY)
    ):
        return True  # what is said against a thing has other reasons than what was said for it
    telling = wanted.targets[0].parts[-1].key not in GENERAL_KEYS | wanted.topic
    if reading.attitude < 0 and m.head and telling and not _modified(view, reading, wanted):
        return True
    if (m.head or m.share >= HALF) and reading.soft >= STANDS_BEHIND and (liked(sentence) or reading.attitude):
        return True
    if m.head and len(found) > 1 and m.share > HALF and (liked(sentence) or reading.attitude) and likely:
        return True
    return reading.support >= GIVEN_AWAY and likely and held >= 0.5 * (total - held)


def is_contrary(view: View, reading: Reading) -> bool:
    """Whether the opposite of what is missing stands before the rest of the name: big dinner parties for small ones."""
    first = reading.mention.first
    before = [
        word.key for word in view.sentences[reading.mention.at].words[max(0, first - BESIDE_IT) : first] if word.key
    ]
    return any(opposed(key, held) for key in reading.mention.missing for held in before)


def _is_item(sentence: Sentence, mention: Mention, wanted: Preference) -> bool:
    """Whether the mention is an item of a list of what is liked, with hardly anything else to it."""
    words = sentence.words
    start, end = words[mention.first].start, words[mention.last].end
    marks = [match.start() for match in ITEMS.finditer(sentence.text)]
    if len(marks) < BESIDE_IT or not liked(sentence):
        return False
    begin = max((at for at in marks if at < start), default=-1)
    stop = min((at for at in marks if at >= end), default=len(sentence.text))
    telling = [w for w in words if w.key and begin < w.start < stop and weight(w.key) >= 1.0]
    own = {part.loose for target in wanted.targets for part in target.parts}
    return begin >= 0 and sum(loose(w.key) not in own for w in telling) < ALONE


def _heads_list(sentence: Sentence, mention: Mention) -> bool:
    """Whether the word found heads a list of others, there or elsewhere in the sentence."""
    key = loose(sentence.words[mention.last].key)
    return any(loose(w.key) == key and _is_label(sentence, i) for i, w in enumerate(sentence.words) if w.key)


def _is_label(sentence: Sentence, at: int) -> bool:
    """Whether the word heads a list of others: "types of museums: …", "garden types"."""
    following = sentence.words[at + 1] if at + 1 < len(sentence.words) else None
    if following is not None and following.lower.removesuffix("s") in SORTING:
        return True
    return LISTED.match(sentence.text, sentence.words[at].end) is not None


def _modified(view: View, reading: Reading, wanted: Preference) -> bool:
    """Whether the head has another modifier in place of ours: video games for board games."""
    sentence = view.sentences[reading.mention.at]
    first = reading.mention.first
    if first == 0:
        return False
    before = sentence.words[first - 1]
    gap = sentence.text[before.end : sentence.words[first].start]
    if gap not in (" ", "-") or not before.key or before.key in wanted.stated or liked_word(before.lower):
        return False
    entry = lookup(before.key)
    plural = before.lower.endswith("s") and not before.lower.endswith("ss")
    return not (plural or before.lower.endswith("ing")) or entry is EMPTY
