"""Preferences: the specific one must stay identifiable as the user's own (paper, section 4, task 2)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

from pytest_memfail.core import Evidence
from pytest_memfail.judges.rules.attitude import against, attitude, is_liking, liked
from pytest_memfail.judges.rules.finding import Finding, keys_of, listed
from pytest_memfail.judges.rules.kinship import Kin, kin, one_origin
from pytest_memfail.judges.rules.lexicon import EMPTY, lookup
from pytest_memfail.judges.rules.names import renamed
from pytest_memfail.judges.rules.naming import Mention, mentions
from pytest_memfail.judges.rules.targets import GENERAL_KEYS, Target, loose, read_target
from pytest_memfail.judges.rules.text import Sentence, TextCache, fold, sentences_of, weight
from pytest_memfail.judges.rules.traces import ASKING, CHANCE, HAVING, LISTED, Trace, best_trace, coincidence
from pytest_memfail.judges.rules.variants import SORTING
from pytest_memfail.judges.rules.view import View, needs
from pytest_memfail.judges.rules.whose import FAVOURING, MINE, PRONOUNS, USER, owner, verbatim_store, word_for_word

PARAPHRASED: Final = 2
READ: Final = 32
"""How many mentions are read closely."""
OWN: Final = 0.72
"""Share of a first-person statement's other words that ours has too: statements kept word for word carry their reasons."""
FOREIGN: Final = 2.5
"""The weight of its own words with which a first-person statement says something else, if none of them is ours."""
WHOLE: Final = 0.75
"""Share of our statement that one kept word for word has."""
CUT: Final = 0.9
"""Share of its own other words that one cut short has from ours."""
BOTH: Final = 0.4
"""Either share, where each has as much of the other."""
BESIDE: Final = 0.2
"""Share of our statement that shows a name beside the point to be ours."""
BACKED: Final = 0.6
"""Share of our statement that speaks for a name of which one word is said otherwise."""
BACKED_HEADLESS: Final = 0.4
"""The same for a name without the last word, if many names share that."""
BESIDE_IT: Final = 2
"""So many words away at most stands what a word of a name was replaced by."""
ROOT: Final = 5
TAIL: Final = 4
ITEMS: Final = re.compile(r"[,;:]")
ADJUNCTS: Final = frozenset(
    "because since when while if so during for after before until though although unless".split()
)
COMPOUND: Final = 0.3
"""The same for a name that is part of a longer one."""
HALF: Final = 0.5
MOSTLY: Final = 0.75
"""Share of a name with which it may do without its last word."""
ALONE: Final = 2.0
"""The weight of other words that a bare head may have beside it."""
REASONED: Final = 0.25
"""Share of our statement with which somebody else has our very preference, though no liking is said."""
GIVEN_AWAY: Final = 0.15


@dataclass(frozen=True, slots=True)
class Preference:
    """What must be found of a preference, as far as its statement says it."""

    targets: tuple[Target, ...]
    """Its names, the best first."""
    others: tuple[Target, ...]
    """What else the thing is called: only looked for as a whole."""
    context: Mapping[str, float]
    """The rest of the statement: why, when, how."""
    loose_context: frozenset[str]
    stated: frozenset[str]
    wording: str
    source: str
    negative: bool
    """Whether the statement itself reads like a dislike, so that none can be told from it."""


@dataclass(frozen=True)
class Reading:
    """A mention, read: whose it is, what is said of it, and whether our statement stands behind it."""

    mention: Mention
    view: View
    support: float
    """Share of the statement's other words in the sentence."""
    ours: bool

    @cached_property
    def owner(self) -> str:
        """Whose it is."""
        return owner(self.view, self.mention.at, self.mention.first, self.mention.last)

    @cached_property
    def attitude(self) -> int:
        """Whether it is liked (1), disliked or past (-1)."""
        view, m = self.view, self.mention
        end = view.first[view.entry[m.at] + 1]
        following = view.sentences[m.at + 1] if m.at + 1 < end else None
        return attitude(view.sentences[m.at], m.first, m.last, following)


@lru_cache(maxsize=4096)
def read_preference(evidence: Evidence, protocol: str) -> Preference:
    """The preference of the evidence."""
    source = sentences_of(evidence.source)
    stated = frozenset(key for sentence in source for key in sentence.keys)
    named = evidence.preference or evidence.text
    targets = [read_target(named)]
    if protocol != "paper":
        targets += _as_stated(evidence, targets[0], stated)
        targets += [read_target(text) for d in evidence.details if d.part == "preference" for text in d.wordings]
    targets = [t for t in dict.fromkeys(targets) if t.parts or t.phrase]
    own = {part.key for target in targets for part in target.parts}
    liking = {w.key for sentence in source for w in sentence.words if is_liking(w.lower)}
    context = needs(stated - own - liking)
    home = View([evidence.source], TextCache())
    found = [m for target in targets for m in mentions(target, home, stated) if m.share >= 1.0]
    negative = any(attitude(source[m.at], m.first, m.last) < 0 for m in found[:1])
    loose_context = frozenset(map(loose, context))
    others = tuple(read_target(text) for text in renamed(named)) if protocol != "paper" else ()
    return Preference(
        tuple(targets), others, context, loose_context, stated, named, evidence.source.casefold(), negative
    )


def _as_stated(evidence: Evidence, target: Target, stated: frozenset[str]) -> list[Target]:
    """The name as the statement itself has it, where it says less or something else."""
    known = {loose(key) for key in stated}
    kept = [part for part in target.parts if part.loose in known]
    if len(kept) == len(target.parts):
        return []
    words = [w for s in sentences_of(target.text) for w in s.words if w.key and loose(w.key) in known]
    if kept and any(not part.optional for part in kept):
        return [read_target(" ".join(w.surface for w in words))]
    if kept:
        return []
    # The statement paraphrases its own preference ("shooting hoops"): its first telling words stand for it.
    telling = [w.surface for s in sentences_of(evidence.source) for w in s.words if w.key and weight(w.key) >= 1.0]
    return [read_target(" ".join(telling[:PARAPHRASED]))] if telling else []


def find_preference(evidence: Evidence, view: View, protocol: str) -> Finding:
    """The preference in a view: some version of it (stored), and the specific one (faithful)."""
    wanted = read_preference(evidence, protocol)
    found = [m for target in wanted.targets for m in mentions(target, view, wanted.stated)]
    found += [
        m for target in wanted.others for m in mentions(target, view, wanted.stated) if m.exact and m.share >= 1.0
    ]
    # Whom a mention is about is looked up for the likeliest ones only, and as rarely as possible.
    readings = sorted((_read(wanted, view, m) for m in found), key=_strength, reverse=True)
    whole = [r for r in readings if r.mention.share >= 1.0][:READ]
    for r in whole:
        if r.ours and not _is_against(wanted, view, r) and r.owner == MINE:
            return _kept(wanted, view, r)
    turned = [
        r for r in whole if (r.ours or (r.support >= GIVEN_AWAY and _is_against(wanted, view, r))) and r.owner == MINE
    ]
    away = [r for r in whole if _given_away(wanted, view, r) and r.owner != MINE]
    if turned or away:
        return _turned(wanted, view, turned, away)
    damaged = next((r for r in readings[: 2 * READ] if _damaged(wanted, view, r)), None)
    if damaged is not None and damaged.attitude >= 0 and _reworded(wanted, view, damaged):
        return _kept(wanted, view, damaged)
    if damaged is not None:
        return _lost_part(wanted, view, damaged)
    trace = best_trace(view, wanted.context, wanted.stated, wanted.targets, evidence.category or "")
    if trace is not None:
        return _trace(wanted, view, trace)
    return _nowhere(wanted, view, readings)


def _is_against(wanted: Preference, view: View, reading: Reading) -> bool:
    """Whether the sentence speaks against it, other than the statement itself seems to do."""
    if reading.attitude >= 0:
        return False
    said = {word[:ROOT] for word in against(wanted.source)}
    return not wanted.negative or any(w[:ROOT] not in said for w in against(view.sentences[reading.mention.at].text))


def _strength(reading: Reading) -> tuple[float, bool, float, int]:
    m = reading.mention
    return (round(m.share, 6), m.exact, round(reading.support, 6), -m.at)


def _read(wanted: Preference, view: View, mention: Mention) -> Reading:
    support = _support(wanted, view.sentences[mention.at])
    return Reading(mention, view, support, _is_ours(wanted, view, mention, support))


def _support(wanted: Preference, sentence: Sentence) -> float:
    """The share of the statement's other words that the sentence has; a synonym counts half."""
    total = sum(wanted.context.values())
    keys = {loose(key): key for key in sentence.keys}
    found = ((value, keys[loose(key)]) for key, value in wanted.context.items() if loose(key) in keys)
    return sum(v * (0.5 if key in sentence.aliased else 1.0) for v, key in found) / total if total else 0.0


def _others(wanted: Preference, sentence: Sentence) -> tuple[float, float]:
    """The weight of the sentence's other words, and of those among them that the statement has."""
    named = {part.loose for target in wanted.targets for part in target.parts}
    stated = {loose(key) for key in wanted.stated}
    total = held = 0.0
    for key, value in needs(sentence.keys).items():
        if loose(key) in named or key in LIKING_KEYS:
            continue
        total += value
        held += value if loose(key) in stated else 0.0
    return total, held


LIKING_KEYS: Final = frozenset(
    fold(w) for w in "like love enjoy prefer favorite favourite appeal pick choice fan fond go-to".split()
)


def _is_verb(sentence: Sentence, mention: Mention, wanted: Preference) -> bool:
    """Whether a plural of ours stands as a verb: "User books flights"."""
    words, at = sentence.words, mention.first
    plural = wanted.wording.endswith("s") and " " not in wanted.wording
    following = words[at + 1] if at + 1 < len(words) else None
    return plural and at > 0 and words[at - 1].lower == "user" and following is not None and bool(following.key)


def _is_other_form(sentence: Sentence, mention: Mention, wanted: Preference) -> bool:
    """Whether a thing stands for what is done with such things, or the other way round: journals, journaling."""
    word = sentence.words[mention.first]
    if (
        mention.first != mention.last
        or " " in wanted.wording
        or not word.lower.startswith(wanted.wording[:3].casefold())
    ):
        return False
    before = sentence.words[mention.first - 1].lower if mention.first else ""
    done = before in USER | PRONOUNS or before in ("to", "and")
    return word.lower.endswith("ing") != wanted.wording.endswith("ing") and not done


def _is_particular(sentence: Sentence, mention: Mention, wanted: Preference) -> bool:
    """Whether the word stands for one certain thing of that name: "crosses the bridge" is no card game."""
    at = mention.first
    if not at or sentence.words[at - 1].lower != "the" or f" the {sentence.words[at].lower}" in f" {wanted.source}":
        return False
    return not liked(sentence) and HAVING.search(sentence.text) is None


OPTING: Final = frozenset(
    fold(w) for w in "reach opt go care look hope long yearn weakness passion taste love knack".split()
)


def _is_ours(wanted: Preference, view: View, mention: Mention, support: float) -> bool:
    """Whether the sentence is about this preference, and not another statement that shares words with it."""
    sentence = view.sentences[mention.at]
    total, held = _others(wanted, sentence)
    own = held / total if total else 1.0
    if (mention.foreign and support < COMPOUND) or _is_verb(sentence, mention, wanted):
        return False
    if not mention.exact and not support and (mention.last == mention.first or ASKING.search(sentence.text)):
        return False
    if not support and not held and _is_other_form(sentence, mention, wanted):
        return False
    if not support and not held and _is_particular(sentence, mention, wanted):
        return False
    if not mention.exact and not mention.missing and held < 2 and total - held > ALONE:
        return False
    if word_for_word(view, mention.at):
        if verbatim_store(view):
            # Kept statements are kept whole or cut short; another that merely resembles ours is neither.
            return own >= CUT or (own >= OWN and support >= WHOLE)
        return own >= OWN or total - held < FOREIGN or (own >= BOTH and support >= BOTH)
    return support >= BESIDE or own >= 0.3 or not _beside_the_point(sentence, mention, wanted)


def _beside_the_point(sentence: Sentence, mention: Mention, wanted: Preference) -> bool:
    """Whether the name stands in a reason or circumstance of something else: "Spanish, because it is useful for travel"."""
    before = sentence.words[: mention.first]
    for at in range(len(before) - 1, 0, -1):
        gap = sentence.text[before[at].end : sentence.words[at + 1].start]
        if any(mark in gap for mark in ",;:("):
            return False
        if before[at].lower in ADJUNCTS and not (
            before[at].lower == "for" and before[at - 1].key in LIKING_KEYS | OPTING
        ):
            governed = [w for w in before[:at] if w.key and w.key not in LIKING_KEYS and weight(w.key) >= 1.0]
            return bool(governed) and not any(liked_word(w.lower) for w in before[at:]) and wanted.context != {}
    return False


def liked_word(lower: str) -> bool:
    """Whether the word says liking."""
    return fold(lower) in LIKING_KEYS


def _given_away(wanted: Preference, view: View, reading: Reading) -> bool:
    """Whether somebody else's preference is ours in their hands, and not simply one of their own."""
    sentence = view.sentences[reading.mention.at]
    if reading.mention.foreign:
        return False
    total, held = _others(wanted, sentence)
    if liked(sentence) or reading.attitude or sentence.lowers & FAVOURING:
        return reading.support > 0 or total - held < FOREIGN + 1.5
    return held >= 2 and reading.support >= REASONED


def _damaged(wanted: Preference, view: View, reading: Reading) -> bool:
    """Whether a part of the name that stands alone is what became of it."""
    m = reading.mention
    sentence = view.sentences[m.at]
    backed = m.share >= MOSTLY and reading.support >= BACKED_HEADLESS
    if m.share >= 1.0 or m.share <= 0.0 or (m.foreign and not backed) or not reading.ours:
        return False
    if reading.support < BESIDE and (ASKING.search(sentence.text) or _heads_list(sentence, m)):
        return False
    if word_for_word(view, m.at):
        total, held = _others(wanted, sentence)
        return reading.support >= 0.34 and held >= OWN * total
    if reading.owner != MINE or (m.person and not m.head):
        return False
    total, held = _others(wanted, sentence)
    alone = total - held < ALONE or _is_item(sentence, m, wanted)
    if m.head and not _modified(view, reading, wanted) and alone:
        return True
    named = {loose(part.key) for target in wanted.targets for part in target.parts} - set(map(loose, m.missing))
    found = [k for k in sentence.keys if loose(k) in named or (loose(k) in wanted.loose_context and weight(k) >= 1.0)]
    tried = len(named) + len(wanted.context)
    likely = coincidence(view, found, tried) <= CHANCE
    if m.head and len(found) > 1 and m.share > HALF and liked(sentence) and likely:
        return True
    return reading.support >= GIVEN_AWAY and likely and held >= 0.5 * (total - held)


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


def _reworded(wanted: Preference, view: View, reading: Reading) -> bool:
    """Whether one word of the name is but said otherwise, and most of the statement stands behind it."""
    m = reading.mention
    sentence = view.sentences[m.at]
    if _is_foreign_for_it(sentence, m):
        return True
    if len(m.missing) != 1 or m.share < BOTH or reading.support < GIVEN_AWAY:
        return False
    lost = m.missing[0]
    kept = {part.loose for target in wanted.targets for part in target.parts if part.key not in m.missing}
    around = sentence.words[max(0, m.first - BESIDE_IT) : m.last + BESIDE_IT + 1]
    words = [w for w in around if w.key and loose(w.key) not in kept]
    others = [w.key for w in words]
    if not m.head and any(len(other) >= TAIL and lost.endswith(other) for other in others):
        return True  # "canal path" for a canal towpath
    if reading.support < BACKED_HEADLESS:
        return False
    if not m.head and lost in GENERAL_KEYS and not m.foreign:
        return True
    if m.head and any(one_origin(key, fold(w.lower)) for key in wanted.context for w in words):
        return True  # "sleeper train", where the statement says that one sleeps there
    backed = m.share >= MOSTLY if not m.head else reading.support >= BACKED
    return any(kin(lost, key)[1] > 0 and (backed or not m.head) for key in others) or (
        backed and any(kin(lost, key)[0] is Kin.GENERAL for key in others)
    )


def _is_foreign_for_it(sentence: Sentence, mention: Mention) -> bool:
    """Whether a rare thing's one missing modifier may be said in the thing's own language: "scamorza affumicata"."""
    word = sentence.words[mention.first]
    if not mention.head or mention.first != mention.last or len(mention.missing) != 1 or lookup(word.key) is not EMPTY:
        return False
    following = sentence.words[mention.last + 1 : mention.last + 2]
    return any(
        w.key and w.surface.islower() and lookup(w.key) is EMPTY and sentence.text[word.end : w.start] == " "
        for w in following
    )


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


def _kept(wanted: Preference, view: View, best: Reading) -> Finding:
    sure = best.mention.exact and best.support >= BESIDE
    likes = best.attitude > 0 or liked(view.sentences[best.mention.at])
    confidence = 0.97 if sure else 0.93 if best.mention.exact and likes else 0.8 if best.mention.exact else 0.7
    entries = view.entries_of([best.mention.at])
    return Finding(True, True, f"{wanted.wording!r} is named", entries, (wanted.wording,), confidence=confidence)


def _turned(wanted: Preference, view: View, turned: list[Reading], away: list[Reading]) -> Finding:
    if turned:
        best = turned[0]
        reason = f"{wanted.wording!r} is stored, but as disliked, avoided or past"
        fault = "turned"
    else:
        best = away[0]
        reason = f"{wanted.wording!r} is stored, but as that of somebody else ({best.owner})"
        fault = "elsewhere"
    entries = view.entries_of([best.mention.at])
    confidence = 0.92 if best.support >= GIVEN_AWAY else 0.75
    return Finding(
        True, False, reason, entries, (), (wanted.wording,), confidence=confidence,
        fault="turned" if fault == "turned" else "elsewhere",
    )  # fmt: skip


def _lost_part(wanted: Preference, view: View, best: Reading) -> Finding:
    lost = tuple(_as_written(wanted, key) for key in best.mention.missing)
    reason = f"{wanted.wording!r} is stored without {listed(lost)}"
    entries = view.entries_of([best.mention.at])
    return Finding(True, False, reason, entries, (), lost, confidence=0.85 if best.support >= BESIDE else 0.7)


def _as_written(wanted: Preference, key: str) -> str:
    """A missing key as the preference writes it."""
    words = (w for s in sentences_of(wanted.wording) for w in s.words)
    return next((w.surface for w in words if w.key == key), key)


def _trace(wanted: Preference, view: View, trace: Trace) -> Finding:
    return Finding(
        True,
        False,
        f"what was said about {wanted.wording!r} is stored ({listed(trace.found)}), but the preference itself is not named",
        view.entries_of([trace.at]),
        (),
        (wanted.wording,),
        confidence=trace.confidence,
    )


def _nowhere(wanted: Preference, view: View, readings: list[Reading]) -> Finding:
    names = needs(key for target in wanted.targets[:1] for key in keys_of(target.text))
    closest = view.search({**wanted.context, **names}, None, 3)
    near = [r.mention.at for r in readings[:1]]
    entries = view.entries_of([*near, *(i for w in closest for i in w.sentences)])[:3]
    confidence = 0.8 if readings else 0.95 if not closest or closest[0].coverage < BESIDE else 0.88
    return Finding(
        False,
        False,
        f"no entry names {wanted.wording!r} as the user's",
        entries,
        (),
        (wanted.wording,),
        confidence=confidence,
    )
