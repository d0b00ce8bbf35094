"""What must be found of a preference, and how a mention is read: how much of its statement stands there, whether it is ours."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

from pytest_memfail.core import Evidence
from pytest_memfail.judges.rules.attitude import attitude, is_liking, liked
from pytest_memfail.judges.rules.names import renamed
from pytest_memfail.judges.rules.naming import Mention, mentions
from pytest_memfail.judges.rules.preference_language import is_origin
from pytest_memfail.judges.rules.preference_meant import (
    is_common,
    is_count,
    is_for_another,
    is_other_form,
    is_particular,
    is_turned_compound,
    is_verb,
)
from pytest_memfail.judges.rules.preference_words import soft_support
from pytest_memfail.judges.rules.targets import Target, loose, read_target
from pytest_memfail.judges.rules.text import Sentence, TextCache, fold, sentences_of, weight
from pytest_memfail.judges.rules.traces import ASKING, category_keys
from pytest_memfail.judges.rules.verbatim import verbatim_store, word_for_word
from pytest_memfail.judges.rules.view import View, needs
from pytest_memfail.judges.rules.whose import owner

TAG: Final = re.compile(r"\s*\[[^\]]*\]")
"""What a note is filed under says nothing of its own."""
PARAPHRASED: Final = 2
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
ADJUNCTS: Final = frozenset("because since when while if during for after before until though although unless".split())
COMPOUND: Final = 0.3
"""The same for a name that is part of a longer one."""
BY_CHANCE: Final = 0.1
"""Share of our statement that says nothing."""
ALONE: Final = 2.0
"""The weight of other words that a bare head may have beside it."""
GIVEN_AWAY: Final = 0.15
"""Share of our statement with which a sentence is taken for one made from it."""


@dataclass(frozen=True)
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
    topic: frozenset[str]
    """Words of what all the preferences asked for are kinds of."""
    wording: str
    source: str
    negative: bool
    """Whether the statement itself reads like a dislike, so that none can be told from it."""
    total: float
    """What the rest of the statement weighs."""
    told: tuple[tuple[str, float], ...]
    """The same rest, loosely."""
    loose_stated: frozenset[str]
    loose_names: frozenset[str]
    siblings: tuple[str, ...] = ()
    """What was said of the other preferences asked for."""
    wordings: tuple[str, ...] = ()
    """What its row says that it may be called."""
    vaguer: tuple[str, ...] = ()
    """What its row says that it may become where less is said."""

    @cached_property
    def name(self) -> dict[str, float]:
        """The words of its best name, and what they weigh."""
        return {part.key: weight(part.key) for part in self.targets[0].parts} if self.targets else {}

    @cached_property
    def rivals(self) -> frozenset[str]:
        """The words by which the others of its row, or all of them, are called, and it is not."""
        said = (word for text in self.siblings for sentence in sentences_of(text) for word in sentence.words)
        return self.topic.union(word.key for word in said if word.key) - self.stated

    @cached_property
    def statement(self) -> dict[str, float]:
        """The words of the whole statement, and what they weigh."""
        return {**self.context, **self.name}


@dataclass(frozen=True)
class Reading:
    """A mention, read: whose it is, what is said of it, and whether our statement stands behind it."""

    mention: Mention
    view: View
    support: float
    """Share of the statement's other words in the sentence."""
    ours: bool
    context: Mapping[str, float]

    @cached_property
    def soft(self) -> float:
        """The share of the statement's other words, in whatever words."""
        return soft_support(self.context, [self.view.sentences[i] for i in beside(self.view, self.mention.at)])

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
        targets += [read_target(d.wordings[0]) for d in evidence.details if d.part == "preference"]
    targets = [t for t in dict.fromkeys(targets) if t.parts or t.phrase]
    own = {part.key for target in targets for part in target.parts}
    liking = {w.key for sentence in source for w in sentence.words if is_liking(w.lower)}
    context = {key: LINKS if key in LINKING else v for key, v in needs(stated - own - liking).items()}
    home = View([evidence.source], TextCache())
    found = [m for target in targets for m in mentions(target, home, stated, whole=True)]
    negative = any(attitude(source[m.at], m.first, m.last) < 0 for m in found[:1])
    loose_context = frozenset(map(loose, context))
    renamings = [read_target(text) for text in renamed(named)] if protocol != "paper" else []
    # What the statement says of it anyway is no name: "the cat sleeps" where a catnap is "without fully sleeping".
    others = tuple(t for t in renamings if all(part.key not in context for part in t.parts))
    return Preference(
        tuple(targets),
        others,
        context,
        loose_context,
        stated,
        category_keys(evidence.category or ""),
        named,
        evidence.source.casefold(),
        negative,
        sum(context.values()),
        tuple((loose(key), value) for key, value in context.items()),
        frozenset(map(loose, stated)),
        frozenset(part.loose for target in targets for part in target.parts),
        evidence.siblings,
        tuple(text for d in evidence.details if d.part == "preference" for text in d.wordings[1:]),
        tuple(text for d in evidence.details if d.part == "preference" for text in d.vaguer),
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


def strength(reading: Reading) -> tuple[float, bool, float, int]:
    m = reading.mention
    return (round(m.share, 6), m.exact, round(reading.support, 6), -m.at)


def read_mention(wanted: Preference, view: View, mention: Mention) -> Reading:
    near = range(mention.at, mention.at + 1) if word_for_word(view, mention.at) else beside(view, mention.at)
    support = support_of(wanted, [view.sentences[i] for i in near])
    return Reading(mention, view, support, is_ours(wanted, view, mention, support), wanted.context)


def beside(view: View, at: int) -> range:
    """The sentence and its neighbours in the entry, where nothing else begins between them."""
    first = view.first[view.entry[at]]
    end = view.first[view.entry[at] + 1]
    start = at - 1 if at > first and not view.sentences[at].starts_turn else at
    stop = at + 2 if at + 1 < end and not view.sentences[at + 1].starts_turn else at + 1
    return range(start, stop)


def support_of(wanted: Preference, sentences: Sequence[Sentence]) -> float:
    """The share of the statement's other words that the sentences have; a synonym counts half."""
    if not wanted.total:
        return 0.0
    worth: dict[str, float] = {}
    for sentence in sentences:
        keys, aliased = _loosely(sentence.keys), sentence.aliased
        for key in wanted.loose_context & keys.keys():
            worth[key] = max(worth.get(key, 0.0), 0.5 if keys[key] in aliased else 1.0)
    return sum([value * worth[key] for key, value in wanted.told if key in worth]) / wanted.total if worth else 0.0


@lru_cache(maxsize=4096)
def _loosely(keys: frozenset[str]) -> dict[str, str]:
    return {loose(key): key for key in keys}


def others_of(wanted: Preference, sentence: Sentence) -> tuple[float, float]:
    """The weight of the sentence's other words, and of those among them that the statement has."""
    total = held = 0.0
    tag = TAG.match(sentence.text)
    keys = frozenset(w.key for w in sentence.words if w.key and w.start >= tag.end()) if tag else sentence.keys
    for key in keys:
        if key[0].isdigit() or key in LIKING_KEYS or (spelled := loose(key)) in wanted.loose_names:
            continue
        value = weight(key)
        total += value
        held += value if spelled in wanted.loose_stated else 0.0
    return total, held


LIKING_KEYS: Final = frozenset(
    fold(w) for w in "like love enjoy prefer favorite favourite appeal pick choice fan fond go-to".split()
)


LINKING: Final = frozenset(
    fold(w)
    for w in """allow let bring create offer give make keep suit find add provide help captivate fascinate excite inspire interest
    attract draw appeal hook thrill challenge permit choice spot soft experience feel way great perfect ideal always often whenever
    reach catch need want use""".split()
)
LINKS: Final = 0.25
"""What a word is worth that but links a thing with what it is liked for."""
OPTING: Final = frozenset(
    fold(w)
    for w in """reach opt go care look hope long yearn weakness passion taste love knack enthusiasm fondness interest one spot thing
    eye ear flair talent liking mad crazy sucker live""".split()
)
COUNTED: Final = re.compile(r"\b(?:multi|several|two|three|four|five|ten|many|non|anti|pre|pseudo)-$", re.IGNORECASE)
"""What makes another of the word behind it: multi-day treks are no day hikes."""


def is_ours(wanted: Preference, view: View, mention: Mention, support: float) -> bool:
    """Whether the sentence is about this preference, and not another statement that shares words with it."""
    sentence = view.sentences[mention.at]
    total, held = others_of(wanted, sentence)
    own = held / total if total else 1.0
    if (mention.foreign and support < COMPOUND) or is_verb(sentence, mention, wanted):
        return False
    counted = COUNTED.search(sentence.text[: sentence.words[mention.first].start])
    if (counted and counted[0].casefold() not in wanted.source) or is_count(sentence, mention, wanted.source):
        return False
    if mention.first == mention.last and is_origin(wanted.topic, sentence, mention.first):
        return False
    if not mention.exact and not support and (mention.last == mention.first or ASKING.search(sentence.text)):
        return False
    if not mention.exact and len(wanted.name) == 1 and fold(sentence.words[mention.first].lower) in wanted.rivals:
        # What all of the row are called, or another of it, is no other word for this one: a nap for a catnap.
        return False
    if not support and not held and is_other_form(sentence, mention, wanted):
        return False
    if support <= BY_CHANCE and held < 1 and not liked(sentence) and is_for_another(sentence, mention):
        return False
    if support <= BY_CHANCE and is_turned_compound(sentence, mention) and not liked(sentence):
        return False
    if (
        support <= BY_CHANCE
        and not held
        and (is_particular(sentence, mention, wanted) or is_common(sentence, mention, wanted))
    ):
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
        if any(mark in gap for mark in ",;:()"):
            return False
        if before[at].lower in ADJUNCTS and not (
            before[at].lower == "for" and (before[at - 1].key in LIKING_KEYS | OPTING or before[at - 1].lower == "up")
        ):
            governed = [w for w in before[:at] if w.key and w.key not in LIKING_KEYS and weight(w.key) >= 1.0]
            return bool(governed) and not any(liked_word(w.lower) for w in before[at:]) and wanted.context != {}
    return False


def liked_word(lower: str) -> bool:
    """Whether the word says liking."""
    return fold(lower) in LIKING_KEYS
