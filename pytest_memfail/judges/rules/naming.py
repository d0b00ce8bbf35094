"""Where a memory names a thing: in another form, spelling or order, joined or apart, but not as part of another thing."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from pytest_memfail.judges.rules.kinds import kinds_of
from pytest_memfail.judges.rules.kinship import SHARED, one_origin
from pytest_memfail.judges.rules.lexicon import EMPTY, lookup
from pytest_memfail.judges.rules.name_spelling import (
    coded,
    initials_at,
    is_exact,
    is_own,
    is_reordered,
    joined_at,
    phrase_at,
    places_of,
)
from pytest_memfail.judges.rules.targets import GENERAL_KEYS, PARTICLES, Part, Target, loose, relatives
from pytest_memfail.judges.rules.text import Sentence, Word, fold
from pytest_memfail.judges.rules.variants import SORTING
from pytest_memfail.judges.rules.view import View
from pytest_memfail.judges.rules.words import STOP

READ: Final = 96
"""So many sentences at most are read for a name."""
NUMBER: Final = re.compile(r"\d+")
SPREAD: Final = 6
"""How many other words may stand between the words of a name."""
OBJECTS: Final = frozenset("him her it them me us".split())
SUBORDINATING: Final = frozenset("while when whenever because since if although though unless whereas".split())
"""What begins another clause: "listens to pop while painting" is no pop art."""
DETERMINERS: Final = frozenset("a an the user user's her his their my every".split())
BEHIND_ANY: Final = frozenset("altogether lapse slide phase fad".split())
"""What may follow any name: "gone off badminton altogether", "the badminton phase"."""
BEHIND: Final = 4
"""How far behind its head a word of the name may stand: "notebooks, the ones with dots"."""


@dataclass(frozen=True, slots=True)
class Mention:
    """Where a sentence names the target, and how well."""

    at: int
    first: int
    last: int
    share: float
    """1.0 where nothing needed is missing."""
    missing: tuple[str, ...]
    exact: bool
    """Whether every word stands there itself, not only a synonym."""
    foreign: str
    """The next word, where it makes something else of it: "green tea ice cream"."""
    head: bool
    """Whether the last word of the name is there."""
    person: bool = False
    turned: bool = False
    """Whether the words stand in another order than in the name."""


def _is_synonym(sentence: Sentence, at: int, key: str) -> bool:
    """Whether the word stands for the key by its meaning alone."""
    word = sentence.words[at]
    return key in sentence.aliased and not is_exact(word, key) and not one_origin(key, fold(word.lower))


def _is_general(sentence: Sentence, at: int, key: str) -> bool:
    """Whether the word stands for the key as a general term for it: nap for catnap."""
    held = fold(sentence.words[at].lower)
    entry = lookup(key)
    return (
        _is_synonym(sentence, at, key) and (held in kinds_of(key) or held in entry.general) and held not in entry.same
    )


def mentions(target: Target, view: View, known: frozenset[str], *, whole: bool = False) -> list[Mention]:
    """Every sentence that names at least a part of the target, or the whole of it; `known` are the keys of its statement."""
    spelled = _spelled(view)
    candidates: set[int] = set()
    forms = _forms(target, spelled)
    for key in forms:
        candidates.update(view.postings.get(key, ()))
    if target.phrase:
        candidates.update(_by_lower(view, target.phrase))
    found = (_mention(target, view, at, known, whole=whole) for at in _likeliest(view, candidates, forms | known))
    return [mention for mention in found if mention is not None and (mention.share >= 1.0 or not whole)]


def _likeliest(view: View, candidates: set[int], keys: frozenset[str] | set[str]) -> list[int]:
    """Of very many sentences those with the most words of name and statement, and of these the shortest."""
    if len(candidates) <= READ:
        return sorted(candidates)
    return sorted(
        sorted(candidates, key=lambda at: (-len(view.sentences[at].keys & keys), len(view.sentences[at].words), at))[
            :READ
        ]
    )


def _spelled(view: View) -> dict[str, list[str]]:
    """The view's keys by their loose spelling."""
    known = view.shared.get("spelled")
    if known is None:
        found: dict[str, list[str]] = {}
        for key in view.postings:
            found.setdefault(loose(key), []).append(key)
        known = view.shared["spelled"] = found
    assert isinstance(known, dict)
    return known


def _by_lower(view: View, phrase: Iterable[str]) -> set[int]:
    """The sentences that hold all these words, function words too."""
    known = view.shared.get("lowers")
    if known is None:
        index: dict[str, set[int]] = {}
        for at, sentence in enumerate(view.sentences):
            for word in sentence.lowers:
                index.setdefault(word, set()).add(at)
        known = view.shared["lowers"] = index
    assert isinstance(known, dict)
    return set.intersection(*(known.get(word, set()) for word in phrase))


def _forms(target: Target, spelled: dict[str, list[str]]) -> set[str]:
    """The keys by which sentences that may name the target are looked up."""
    forms = {part.key for part in target.needed}
    for part in target.needed:
        forms.update(spelled.get(part.loose, ()))
        for cut in range(3, len(part.loose) - 2):
            # "tow path" for "towpath"
            known = lookup(part.loose[:cut]) is not EMPTY
            if part.loose[:cut] in spelled and (part.loose[cut:] in spelled or not known):
                forms.update(spelled[part.loose[:cut]])  # and "lifts weights" for weightlifting
        forms.update(key for other in relatives(part.loose) for key in spelled.get(other, ()))
    for joined in target.joined:
        forms.update(spelled.get(joined, ()))
        forms.update(spelled.get(loose(fold(joined)), ()))
    if target.initials:
        forms.update(spelled.get(target.initials, ()))
        forms.update(spelled.get(loose(fold(target.initials)), ()))
        forms.update(spelled.get(loose(fold(target.initials + "s")), ()))
    return forms


def _mention(target: Target, view: View, at: int, known: frozenset[str], *, whole: bool) -> Mention | None:
    sentence = view.sentences[at]
    literal = phrase_at(target, sentence)
    if literal is not None:
        return _full(target, at, sentence, *literal, known)
    short = initials_at(target, sentence)
    if short is not None:
        return Mention(at, short, short, 1.0, (), True, "", True)
    if target.phrase and not any(p.key for p in target.parts):
        return None
    places = [[i for i in places_of(part, sentence) if not is_non(sentence, i)] for part in target.parts]
    joined = joined_at(target, sentence)
    if joined is not None:
        own = is_own(sentence, joined)  # a word may but stand for what is written as one
        return replace(_full(target, at, sentence, joined, joined, known), exact=own)
    held = [(part, found) for part, found in zip(target.parts, places, strict=True) if found]
    if not held or (whole and _lacks_a_part(target, held)):
        return None
    chosen = _closest(held)
    first, last = min(chosen.values()), max(chosen.values())
    short_of = _abbreviated(view, at) if first == 0 else ""
    missing = [p.key for p in target.needed if p.key not in chosen and not (short_of and p.key.startswith(short_of))]
    missing += [code for code in target.codes if not coded(code).search(sentence.text)]
    stated = (
        {number.lstrip("0") for number in NUMBER.findall(sentence.text)} | sentence.keys if target.digits else set()
    )
    missing += sorted(d for d in target.digits if d not in stated and not any(d in c for c in target.codes))
    if not missing and is_reordered(target, sentence):
        missing = sorted(target.digits)
    particles = [w for w in target.phrase if w in PARTICLES]
    if particles and len(target.parts) == 1:
        missing += particles
    if target.person and target.parts[-1].key in chosen:
        missing = []
    elif not missing and len(chosen) > 1 and not _together(chosen, target, sentence):
        missing = [min(chosen, key=lambda key: (chosen[key], key))]
    elif not missing and list(chosen.values()) != sorted(chosen.values()):
        # Out of their order words are only read as the name where they are its own words.
        missing = [k for k, i in chosen.items() if _is_synonym(sentence, i, k)]
    missing += [k for k, i in chosen.items() if k not in missing and _is_general(sentence, i, k)]
    total = len(target.needed) + len(target.codes) + len(target.digits) + len(particles)
    exact = all(key not in sentence.aliased or is_exact(sentence.words[i], key) for key, i in chosen.items())
    end = chosen.get(target.parts[-1].key, last)
    return Mention(
        at,
        first,
        last,
        max(0.0, 1 - len(missing) / total) if total else 1.0,
        tuple(missing),
        exact,
        foreign(sentence, max(end, last) if not missing else end, target, known, whole=not missing),
        target.parts[-1].key in chosen,
        target.person,
        list(chosen.values()) != sorted(chosen.values()),
    )


def is_non(sentence: Sentence, at: int) -> bool:
    """Whether it is what is not meant: the fiction of "non-fiction"."""
    words = sentence.words
    return at > 0 and words[at - 1].lower == "non" and sentence.text[words[at - 1].end : words[at].start] == "-"


def _lacks_a_part(target: Target, held: list[tuple[Part, list[int]]]) -> bool:
    """Whether a word is plainly missing: one before the first that is held may stand cut short."""
    there = {part.key for part, _ in held}
    return not target.person and any(p.key not in there for p in target.needed) and all(found[0] for _, found in held)


def _abbreviated(view: View, at: int) -> str:
    """What stands cut short before the sentence: the "ult" of "ult. frisbee"."""
    if at == 0 or view.entry[at - 1] != view.entry[at]:
        return ""
    before = view.sentences[at - 1]
    last = before.words[-1] if before.words else None
    return last.lower if last and 3 <= len(last.lower) <= 5 and before.text.endswith(last.surface + ".") else ""


def _full(target: Target, at: int, sentence: Sentence, first: int, last: int, known: frozenset[str]) -> Mention:
    return Mention(at, first, last, 1.0, (), True, foreign(sentence, last, target, known), True)


def _closest(held: list[tuple[Part, list[int]]]) -> dict[str, int]:
    """Of every part the place nearest to the others."""
    exact_last = held[-1][1]
    best: tuple[int, dict[str, int]] | None = None
    for anchor in exact_last[:6]:
        chosen = {part.key: min(found, key=lambda i: (abs(i - anchor), i)) for part, found in held}
        spread = max(chosen.values()) - min(chosen.values())
        if best is None or spread < best[0]:
            best = (spread, chosen)
    assert best is not None
    return best[1]


def _together(chosen: dict[str, int], target: Target, sentence: Sentence) -> bool:
    """Whether the words belong to one name, and not each to another."""
    at = sorted(chosen.values())
    if at[-1] - at[0] > SPREAD + len(at):
        return False
    words = sentence.words
    if any(word.lower in SUBORDINATING for word in words[at[0] + 1 : at[-1]]):
        return False
    held = set(at)
    head = chosen.get(target.parts[-1].key, at[-1])
    for i in at:
        if i > head + BEHIND:
            return False
        if i >= head:
            continue
        # A modifier before the head may have others beside it, but none of its own: green juice and black tea.
        j = i + 1
        while j < head and words[j].key and words[j].lower not in SORTING and _adjacent(sentence, j - 1, j):
            j += 1
        if j < head and j not in held and j > i + 1 and not (set(range(i + 1, j)) <= held):
            return False
    return True


def foreign(sentence: Sentence, last: int, target: Target, known: frozenset[str], *, whole: bool = True) -> str:
    """The word after the name, or after what is there of it, that makes something else of it, or nothing."""
    words = sentence.words
    if last + 1 >= len(words) or not _adjacent(sentence, last, last + 1):
        return ""
    this, following = words[last], words[last + 1]
    lower = following.lower
    if lower in BEHIND_ANY:
        return ""
    own = {part.key for part in target.parts}
    if not following.key or following.key in own or following.key in known or following.surface[0].isupper():
        return ""
    spelled, own_stated = loose(following.key), _loosely(known)
    if spelled in own_stated or not relatives(spelled).isdisjoint(own_stated):
        return ""
    if any(len(following.key) >= SHARED and key.endswith(following.key) for key in own):
        return ""  # "canal path" for a canal towpath
    if following.key in GENERAL_KEYS or following.key in kinds_of(this.key):
        return ""
    after = words[last + 2].lower if last + 2 < len(words) else ""
    verb = lower.endswith("s") and not lower.endswith("ss")
    if after in OBJECTS or (verb and after in DETERMINERS) or following.lower.removesuffix("s") in SORTING:
        return ""  # "typing slows them down", "museum taste"
    if not whole and this.key == target.parts[-1].key and this.lower.endswith("s") and not this.lower.endswith("ss"):
        return ""  # "finds food markets exhausting"
    if not whole:
        # A rare thing's modifier may be said in the thing's own language.
        return "" if lookup(this.key) is EMPTY and lookup(following.key) is EMPTY else lower
    if (this.lower.endswith("s") and not this.lower.endswith("ss")) or this.lower.endswith(("ing", "ed")):
        return ""
    if lower.endswith(("ing", "ed", "ly", "ful", "ous", "able", "ive", "est", "ic", "al", "ish")) or lower in STOP:
        return ""
    subject = last == 0 or all(not w.key or w.key in own for w in _clause(sentence, last))
    if lower.endswith("s") and not lower.endswith("ss") and subject:
        return ""  # "Karaoke breaks the ice"
    entry = lookup(following.key)
    return lower if entry.general and not entry.opposite else ""


@lru_cache(maxsize=512)
def _loosely(keys: frozenset[str]) -> frozenset[str]:
    return frozenset(loose(key) for key in keys)


def _clause(sentence: Sentence, at: int) -> tuple[Word, ...]:
    """The words before this one within its clause: "evenings: fado leaves the user cold"."""
    words = sentence.words
    first = next((i for i in range(at, 0, -1) if sentence.text[words[i - 1].end : words[i].start].strip(" -\"'")), 0)
    return words[first:at]


def _adjacent(sentence: Sentence, first: int, last: int) -> bool:
    return sentence.text[sentence.words[first].end : sentence.words[last].start] in (" ", "-")
