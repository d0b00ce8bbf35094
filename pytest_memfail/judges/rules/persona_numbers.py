"""Numbers of a detail about a person: changed, or their other side meant."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from pytest_memfail.judges.rules.finding import keys_of
from pytest_memfail.judges.rules.persona_affirmed import rejections
from pytest_memfail.judges.rules.persona_essay import Essay, Item
from pytest_memfail.judges.rules.persona_match import NUMBER, Kept, Made
from pytest_memfail.judges.rules.quantities import Quantity
from pytest_memfail.judges.rules.text import Sentence
from pytest_memfail.judges.rules.view import View

COUNTED: Final = 12
"""Small numbers without a unit mostly count things."""
STRANGE: Final = 1.5
"""How much of a sentence that the essay has not shows it to tell of something else."""
BESIDE: Final = 1.0
"""How much of a sentence of the essay must stand beside a number that takes the place of its own."""


def telling(number: Quantity) -> bool:
    """Whether a number tells something itself."""
    return bool(number.unit) or number.value > COUNTED


def limited(item: Item, kept: Kept) -> bool:
    """Whether a number that is missing is a limit: "at least eight degrees"."""
    return any(number.direction for number in item.numbers if number.text in kept.missing)


def changed(item: Item, kept: Kept, view: View, essay: Essay) -> str:
    """Another number of the same unit in the place of a missing one, and not one that was told beside it."""
    told = [n for stated in essay.stated for n in stated.numbers]
    stated = view.quantities(kept.where)
    for number in item.numbers:
        if number.text in kept.missing:
            other = next((q for q in stated if q.unit == number.unit and not any(q.same(n) for n in told)), None)
            if other is not None:
                return f"'{other.text.strip()}' instead of '{number.text.strip()}'"
    return ""


def renumbered(stored: Sequence[tuple[Sequence[Quantity], Mapping[int, float]]], essay: Essay) -> str:
    """Another number in the place of the only one of its unit that the essay tells, which is not stored.

    Stored are the numbers of each sentence, and how much it has of each of the essay's.
    """
    for held, by in stored:
        for number in (q for q in held if q.unit):
            told = [(at, q) for at, s in enumerate(essay.stated) for q in s.numbers if q.unit == number.unit]
            if len(told) == 1 and by.get(told[0][0], 0.0) >= BESIDE:
                one = told[0][1]
                if not any(one.same(q) for numbers, _ in stored for q in numbers):
                    return f"'{number.text.strip()}' instead of '{one.text.strip()}'"
    return ""


def only_number(item: Item, made: Made, view: View, essay: Essay) -> bool:
    """Whether a sentence has no more of the detail's than its number, and tells of something else: seventy percent of what?"""
    told = essay.stated[item.at]
    same = [q for q in view.quantities((made.at,)) if any(q.same(n) for n in told.numbers)]
    units = sum(told.weights.get(key, 0.0) for key in keys_of(" ".join(q.text for q in same)))
    shared = NUMBER * len(same) + units
    return 0.0 < made.by.get(item.at, 0.0) <= shared and (1.0 - made.own) * made.total >= STRANGE


def recounted(item: Item, kept: Kept, view: View, essay: Essay) -> str:
    """Another count of something that the detail speaks of: two bitters of three."""
    told = {k for c in item.concepts if c.weight >= 1.0 for k in c.keys}
    source = essay.stated[item.at]
    mine = _counts(source.sentence, source.numbers, told)
    for at in kept.where:
        for key, number in _counts(view.sentences[at], view.quantities((at,)), told).items():
            if key in mine and not number.same(mine[key]):
                return f"'{number.text.strip()}' instead of '{mine[key].text.strip()}'"
    return ""


def _counts(sentence: Sentence, numbers: Iterable[Quantity], told: Collection[str]) -> dict[str, Quantity]:
    """What is counted, in so many words, with its number; nothing that is counted twice."""
    found: dict[str, Quantity] = {}
    twice: set[str] = set()
    both = (Quantity(2.0, "", 0, w.surface, at) for at, w in enumerate(sentence.words) if w.lower == "both")
    for number in (*numbers, *both):
        if not number.unit and not number.direction and number.at + 1 < len(sentence.words):
            key = sentence.words[number.at + 1].key
            twice |= {key} & found.keys()
            if key in told:
                found[key] = number
    return {key: number for key, number in found.items() if key not in twice}


def other_side(item: Item, kept: Kept, view: View, essay: Essay) -> str:
    """The same number, but the other side of it: before ten for after ten."""
    told = essay.stated[item.at].sentence
    for at in kept.where:
        for number in item.numbers:
            for other in view.quantities((at,)):
                # "Refuses to sail above twenty" may be "sails below twenty".
                alike = rejections(told, number.at) == rejections(view.sentences[at], other.at)
                if alike and number.same(other) and number.direction * other.direction < 0:
                    return f"the other side of '{number.text.strip()}' is meant"
    return ""
