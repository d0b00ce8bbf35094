"""A preference told in other words: each word of its name has one that stands for it, and its statement stands behind them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from pytest_memfail.judges.rules.associations import contrast
from pytest_memfail.judges.rules.attitude import attitude
from pytest_memfail.judges.rules.everyday_things import everyday_thing
from pytest_memfail.judges.rules.kinship import Kin, one_origin
from pytest_memfail.judges.rules.lexicon import paraphrases
from pytest_memfail.judges.rules.naming import is_non
from pytest_memfail.judges.rules.preference_language import is_origin
from pytest_memfail.judges.rules.preference_reading import Preference, beside, liked_word, others_of
from pytest_memfail.judges.rules.preference_words import GENERAL, ORIGIN, is_far, soft_support, stands_for
from pytest_memfail.judges.rules.related import opposed
from pytest_memfail.judges.rules.targets import GENERAL_KEYS, Part, Target, loose, place
from pytest_memfail.judges.rules.text import Sentence, fold, weight
from pytest_memfail.judges.rules.verbatim import keeps, word_for_word
from pytest_memfail.judges.rules.view import View
from pytest_memfail.judges.rules.whose import owner
from pytest_memfail.judges.rules.whose_after import MINE

HALF: Final = 0.8
"""What half of a compound is worth: roof for rooftop."""
LEAST_WORTH: Final = 0.5
"""A word worth less is too far from the one looked for."""
WELL: Final = 0.6
"""A synonym's least worth: a name has no other words."""
OF_TOPIC: Final = 0.7
"""What the last word of a name is worth, though not there, where it is but what all that is asked for are: "instant" of cameras."""
NAMED: Final = 0.4
"""What the words of a name have to be worth on average."""
LEAST: Final = 0.2
SAID: Final = 0.5
"""The same where the user speaks: what is kept as it was said has few other words."""
SAID_AGAIN: Final = 0.4
"""Share of its own other words that such a sentence has from ours."""
MORE: Final = 0.4
"""The share of the statement that is needed behind a name told in its own words; so much more behind one that is not."""
SCATTERED: Final = 0.4
"""The same where the words of a name stand apart, as those of two names do."""
BEFORE: Final = 2
"""So many words before a name may say of which kind it is."""
TIMES: Final = frozenset((fold("early"), fold("late")))
MEANWHILE: Final = frozenset("while when whenever".split())
"""What begins a clause on something else that goes on."""
LABELS: Final = frozenset(
    "keywords keyword tags tag topic topics context category title content memory note text fact type".split()
)
LABELLING: Final = re.compile(r"""["']?\s*[:=]""")
"""What makes a word the label of a field."""
VAGUE: Final = frozenset("part area place spot one thing stuff side bit piece kind sort".split())
"""What may stand behind the first word of a name in place of the last: "historic parts of a city"."""


@dataclass(frozen=True, slots=True)
class Rewording:
    """Where the name is told in other words."""

    at: int
    words: tuple[str, ...]
    owner: str
    attitude: int
    support: float


def reworded(wanted: Preference, view: View, candidates: Iterable[int]) -> Rewording | None:
    """The sentence that tells the preference in other words, if any does; the user's own first."""
    found = [r for at in candidates if (r := _reworded(wanted, view, at)) is not None]
    return min(found, key=lambda r: (r.owner != MINE, r.attitude < 0, -r.support, r.at), default=None)


def _reworded(wanted: Preference, view: View, at: int) -> Rewording | None:
    support = soft_support(wanted.context, [view.sentences[i] for i in beside(view, at)])
    if support < LEAST or (word_for_word(view, at) and not _is_resaid(wanted, view, at, support)):
        return None
    sentence = view.sentences[at]
    for target in wanted.targets:
        if target.codes or target.digits:
            continue  # numbers have no other words
        places = _told(wanted, target, sentence, support)
        if places:
            last = max(places)
            words = tuple(sentence.words[i].surface for i in sorted(places))
            said = min(attitude(sentence, i, i) for i in places)
            return Rewording(at, words, owner(view, at, last, last), said, support)
    return None


def _is_resaid(wanted: Preference, view: View, at: int, support: float) -> bool:
    """Whether the user says our statement again in other words: not so where others of its row are kept as they were said."""
    total, held = others_of(wanted, view.sentences[at])
    return support >= SAID and held >= SAID_AGAIN * total and not keeps(view, wanted.siblings)


def _told(wanted: Preference, target: Target, sentence: Sentence, support: float) -> list[int]:
    """The places of the words that stand for the name, if they tell it."""
    found: list[tuple[float, int]] = []
    named = {fold(word.casefold()) for word in target.text.split() if not word.islower()}
    for part in target.needed:
        is_head = part is target.parts[-1] and len(target.parts) > 1
        worth, at = _best(wanted, part, sentence, [place for _, place in found], is_head=is_head)
        if part.key in named and worth < WELL:
            return []  # nor have names
        if not worth and is_head and found and sum(told for told, _ in found) >= ORIGIN * len(found):
            # What all of the kind are called may be left unsaid where the rest stands there.
            worth = OF_TOPIC if part.key in wanted.topic else GENERAL if part.key in GENERAL_KEYS else 0.0
        if not worth and part is target.parts[0] and len(target.needed) > 2 and part.key in wanted.topic:
            worth = OF_TOPIC  # "sleeps with white noise" of ways to sleep
        if not worth and weight(part.key) < 1.0:
            worth = GENERAL
        if not worth:
            return []
        found.append((worth, at))
    told = sorted(at for _, at in found if at >= 0)
    if told and any(word.lower in MEANWHILE for word in sentence.words[told[0] + 1 : told[-1]]):
        return []  # "listens to pop while painting" is no pop art
    if _is_replaced(wanted, sentence, found) or _is_contrary(target, sentence, found):
        return []
    share = sum(worth for worth, _ in found) / len(found) if found else 0.0
    need = SCATTERED if share == 1.0 else LEAST + MORE * (1.0 - share)
    return [at for _, at in found if at >= 0] if share >= NAMED and support >= need else []


def _is_replaced(wanted: Preference, sentence: Sentence, found: list[tuple[float, int]]) -> bool:
    """Whether the name's last word has another before it in place of ours: landscape photography for portrait photography."""
    worth, at = found[-1] if found else (0.0, -1)
    if at < 0 and found and _is_joined_to_another(wanted, sentence, max(place for _, place in found)):
        return True
    if len(found) < 2 or at < 1 or worth < ORIGIN or found[-2][0] >= HALF or found[-2][1] == at - 1:
        return False
    before = sentence.words[at - 1]
    if not before.key or before.key in wanted.stated or liked_word(before.lower) or weight(before.key) < 1.0:
        return False
    return sentence.text[before.end : sentence.words[at].start] in (" ", "-") and not before.lower.endswith("s")


def _is_contrary(target: Target, sentence: Sentence, found: list[tuple[float, int]]) -> bool:
    """Whether the opposite of a word of the name stands before the rest: big dinner parties for small ones."""
    missing = [part.key for part, (_, at) in zip(target.needed, found, strict=False) if at < 0]
    first = min((at for _, at in found if at >= 0), default=0)
    before = [word.key for word in sentence.words[max(0, first - BEFORE) : first] if word.key]
    early = [word.key for word in sentence.words if word.key in TIMES]
    return any(opposed(key, held) for key in missing for held in (*before, *(early if key in TIMES else ())))


def _is_joined_to_another(wanted: Preference, sentence: Sentence, at: int) -> bool:
    """Whether the word is but the beginning of a compound with another: "natural-ingredient cosmetics" for a natural look."""
    following = sentence.words[at + 1] if 0 <= at < len(sentence.words) - 1 else None
    if following is None or sentence.text[sentence.words[at].end : following.start] != "-":
        return False
    return bool(following.key) and following.key not in wanted.stated | wanted.topic and following.lower not in VAGUE


def _best(wanted: Preference, part: Part, sentence: Sentence, taken: list[int], *, is_head: bool) -> tuple[float, int]:
    """How well the part of the name is told by a word of the sentence that is not taken, and by which."""
    best, alone = (0.0, -1), len(wanted.targets[0].parts) == 1
    for i, word in enumerate(sentence.words):
        if i in taken:
            continue
        if is_head and i - 1 in taken and word.lower.removesuffix("s") in VAGUE:
            best = max(best, (GENERAL, i))
        if not word.key or is_non(sentence, i) or (word.lower in LABELS and LABELLING.match(sentence.text, word.end)):
            continue
        held = fold(word.lower)
        if held == part.key and alone and is_origin(wanted.topic, sentence, i):
            continue
        if held != part.key and any(held == other.key for other in wanted.targets[0].parts):
            continue  # one word does not tell two parts of a name
        if contrast(part.key, held) and held not in everyday_thing(part.key) and alone:
            return 0.0, -1
        if alone and held in paraphrases(part.key).other:
            return 0.0, -1  # another of its kind
        worth = _worth(part, held, is_head=is_head, alone=alone)
        follows = i + 1 < len(sentence.words) and sentence.words[i + 1].key == wanted.targets[0].parts[-1].key
        if not is_head and follows and not worth and any(one_origin(key, held) for key in wanted.context):
            worth = LEAST_WORTH  # "sleeper train", where the statement says that one sleeps there
        if worth < LEAST_WORTH or (
            worth < ORIGIN and (loose(held) in wanted.loose_context or (alone and held in wanted.topic))
        ):
            continue  # what the statement says of the thing is not the thing, nor is what all that is asked for are
        if worth > best[0]:
            best = (worth, i)
    return best


@lru_cache(maxsize=65536)
def _worth(part: Part, held: str, *, is_head: bool, alone: bool) -> float:
    """How far the word can stand for the part of a name."""
    how, worth = stands_for(part.key, held)
    if how is Kin.GENERAL:
        return 0.0 if alone else GENERAL
    if not alone and held in everyday_thing(part.key):
        return max(worth, HALF)
    if worth < HALF and not is_head and not is_far(part.key, held) and held == fold(place(part.key) or part.key):
        return HALF
    return 0.0 if worth < ORIGIN and is_far(part.key, held) else worth
