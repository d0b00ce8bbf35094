"""Where a view says a wording of a fact, what ties the place to the fact, and whether it is told there as past."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from pytest_memfail.judges.rules.fact_owner import other_thing, strange
from pytest_memfail.judges.rules.fact_reading import Fact, Part
from pytest_memfail.judges.rules.history import is_past, later, tells_change, text_of
from pytest_memfail.judges.rules.quantities import CLOCK
from pytest_memfail.judges.rules.text import weight
from pytest_memfail.judges.rules.view import INHERITED, OPEN, View
from pytest_memfail.judges.rules.wordings import Wording, candidates, numbered, share_of, verbatim

BELOW: Final = 4
"""The sentences of a short entry explain one another; of a longer one, only neighbours do."""
AROUND: Final = 2.0
"""Words said with the fact that tie a value to it without its subject."""
MOSTLY: Final = 0.6
"""Share of a subject's words that shows it is meant."""
NONE: Final[frozenset[int]] = frozenset()
PRONOUNS: Final = frozenset("he she his her him hers".split())


class Place(NamedTuple):
    """Where one of the wordings stands."""

    at: int
    wording: Wording
    tie: float
    """How much ties it to the fact's subject."""


def is_over(fact: Fact, view: View, place: Place) -> bool:
    sentence = view.sentences[place.at]
    told = [place.wording.text, *(w.text for part in fact.stale for w in part.wordings)]
    spans = [match for text in dict.fromkeys(told) if (match := verbatim(text, sentence.text))]
    if not spans:
        return is_past(sentence, None, fact.earlier)
    return any(is_past(sentence, span, fact.earlier) for span in spans)


def told_apart(fact: Fact, view: View, new: Sequence[int], old: Place) -> bool:
    """Whether wording, order within an entry, or time says that the new state came after the old one."""
    if is_over(fact, view, old):
        return True
    entry = view.entry[old.at]
    together = [i for i in new if view.entry[i] == entry]
    if together:
        text = text_of(view, entry)
        return any(i > old.at for i in together) or tells_change(text, fact.earlier)
    homes = view.entries_of(new)
    if any(later(view, home, entry) for home in homes):
        return True
    if any(later(view, entry, home) for home in homes):
        return False
    return any(tells_change(text_of(view, home), text_of(view, entry)) for home in homes)


def places_of(part: Part, fact: Fact, view: View) -> list[Place]:
    """The sentences that say one of the wordings of the fact's own subject."""
    found: dict[int, Place] = {}
    for wording in part.wordings:
        used = frozenset(key for key, _ in wording.need)
        for i in _stating(wording, view):
            if i in found or share_of(wording, [view.sentences[i]]) < 1.0:
                continue
            turned = part in fact.values and with_old(fact, view, i) and is_users(fact, view, i)
            alone = part.distinct and fact.name is None and is_users(fact, view, i)
            strength = tie(fact, view, i, used) or turned or 0.5 * alone
            if strength > 0:
                found[i] = Place(i, wording, strength)
    return [found[i] for i in sorted(found)]


def _stating(wording: Wording, view: View) -> list[int]:
    """The sentences that may hold the wording whole: where it has a number, those that state one of its value."""
    found = candidates(wording, view)
    if not wording.numbers:
        return found
    index = _numbers(view)
    number = wording.numbers[0]
    alike = index.get(round(number.value, 6), NONE) | index.get(CLOCK, NONE)
    return found if number.unit == CLOCK else [i for i in found if i in alike]


def _numbers(view: View) -> dict[float | str, set[int]]:
    """The sentences by the values that they state; those of times of day, which are written in many ways, together."""
    known = view.shared.get("numbers")
    if known is None:
        index: dict[float | str, set[int]] = defaultdict(set)
        for i in numbered(view):
            for number in view.quantities((i,)):
                index[CLOCK if number.unit == CLOCK else round(number.value, 6)].add(i)
        known = view.shared["numbers"] = dict(index)
    assert isinstance(known, dict)
    return known


def with_old(fact: Fact, view: View, at: int) -> bool:
    """Whether the sentence tells of a change from a state that it replaced."""
    sentence = view.sentences[at]
    if fact.name is not None or not tells_change(sentence.text):
        return False
    return any(share_of(w, [sentence]) >= 1.0 for part in fact.stale for w in part.wordings)


def tie(fact: Fact, view: View, at: int, used: frozenset[str]) -> float:
    """What ties a sentence to the fact: whom it is about, and how much of what was said of the subject is there."""
    keys = keys_near(view, at) - used
    subject = sum(weight(key) for key in keys & fact.subject)
    around = sum(weight(key) for key in keys & fact.around)
    if fact.name is not None:
        link = view.link(at, fact.name)
        if strange(view, at, fact.name):
            return 0.0
        if names(fact, view, view.entry[at]):
            return link + 1.0 + subject if link >= OPEN else 0.0
        return 1.0 + subject if link >= INHERITED and PRONOUNS & view.sentences[at].lowers else 0.0
    if not is_users(fact, view, at):
        return 0.0
    told = used & fact.topic if len(used) > 1 else frozenset()
    subject += any(share_of(w, [view.sentences[at]]) >= 1.0 for part in fact.context for w in part.wordings)
    if other_thing(view.sentences[at], fact.around | fact.subject | used):
        return 1.0 + subject if subject >= MOSTLY * sum(weight(key) for key in fact.topic) else 0.0
    if subject >= 1.0 or around >= AROUND or sum(weight(key) for key in told) >= 1.0:
        return 1.0 + subject + around
    return 0.0


def is_users(fact: Fact, view: View, at: int) -> bool:
    return not view.other_subject(at, fact.others) and not strange(view, at, fact.others)


def names(fact: Fact, view: View, entry: int) -> bool:
    return fact.name is not None and any(
        view.named(i, fact.name) for i in range(view.first[entry], view.first[entry + 1])
    )


def keys_near(view: View, at: int) -> frozenset[str]:
    """The keys of the sentence and of those that explain it."""
    first, end = view.first[view.entry[at]], view.first[view.entry[at] + 1]
    if end - first > BELOW:
        first, end = max(first, at - 1), min(end, at + 2)
    return frozenset().union(*(view.sentences[i].keys for i in range(first, end)))


def beside(part: Part, fact: Fact, view: View, new: Iterable[int]) -> bool:
    """Whether the part stands in an entry with the value, or is said of the subject elsewhere."""
    for entry in view.entries_of(tuple(new)):
        sentences = view.sentences[view.first[entry] : view.first[entry + 1]]
        if any(share_of(wording, [s]) >= 1.0 for wording in part.wordings for s in sentences):
            return True
    return bool(fact.name and places_of(part, fact, view))


def covering(fact: Fact, view: View, need: Sequence[tuple[str, float]], least: float) -> list[int]:
    """The sentences that have so much of what was said, in places tied to the fact."""
    found: list[int] = []
    for window in view.search(dict(need), fact.name):
        if window.coverage < least:
            break
        if window.link >= OPEN and not any(strange(view, i, fact.name or fact.others) for i in window.sentences):
            found.extend(window.sentences)
    return found
