"""Explain a decision of the offline judge: what is missing, and which check found the fault."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from pytest_memfail.judges.offline import lexicon
from pytest_memfail.judges.offline.english import plain, tokens_of
from pytest_memfail.judges.offline.features import is_reversed, is_swapped, is_turned, turns_of, wording_keys
from pytest_memfail.judges.offline.match import Match
from pytest_memfail.judges.offline.model import Model
from pytest_memfail.judges.offline.numbers import quantities

KEPT: Final = 0.7
"""The similarity from which a word counts as found."""
SIMILAR: Final = 0.5
"""The similarity from which a word may stand for another."""
QUOTED: Final = 80
STRONGEST: Final = 10


def parts_of(match: Match) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the needed words that are found and those that are missing, as the source or the row writes them."""
    held = {key: max(match.entry.get(key, 0.0), match.union.get(key, 0.0)) for key in match.reading.wanted}
    found: dict[str, None] = {}
    missing: dict[str, None] = {}
    for part in match.reading.claim.parts:
        if not part.required or part.wordings:
            continue
        tokens = [t for t in tokens_of(plain(part.text), match.reading.names) if t.key]
        needed = [t for t in tokens if t.key.lstrip("@") in (*match.reading.core, *match.reading.context)]
        lost = [t for t in needed if held.get(t.key.lstrip("@"), 0.0) < KEPT]
        if needed and len(lost) == len(needed):
            missing[part.text] = None
        else:
            missing.update(dict.fromkeys(t.surface for t in lost))
            found.update(dict.fromkeys(t.surface for t in needed if t not in lost))
    return tuple(found), tuple(missing)


def contrary_of(match: Match) -> str | None:
    """Return one sentence that says how memory tells the contrary of a claim in the claim's own words; None if it does not."""
    assert match.best is not None
    if is_reversed(match):
        entry = quoted(match.index.texts[match.best.entry])
        return f"a replaced state is told as what holds, and this as past, in {entry}"
    quote = quoted(match.best.statement.text)
    if is_swapped(match):
        return f"two persons in each other's place in {quote}"
    if not is_turned(match):
        return None
    if match.best.statement.text.endswith("?"):
        return f"only asked in {quote}"
    return f"a negation, or a word for the past or a plan, added or lost in {quote}"


def lost_part(match: Match) -> str | None:
    """Return one sentence that names a required listed part of which no statement has any word, or a similar one; else None."""
    assert match.best is not None
    for part in match.reading.claim.listed:
        keys = [wording_keys(wording) for wording in part.wordings]
        if part.required and all(keys) and not any(any(match.index.shares(some, SIMILAR).values()) for some in keys):
            return f"{part.text!r} missing in {quoted(match.best.statement.text)}"
    return None


def reason_for(match: Match, name: str, missing: Sequence[str]) -> str:
    """Return one sentence that says why a claim is `kept`, `damaged`, `absent` or `hidden` (stored, but not shown)."""
    best = match.best
    if best is None:
        return "no entry shares a word with it"
    quote = quoted(best.statement.text)
    if name == "kept":
        return f"found in {quote}"
    if name == "absent":
        return f"no entry says it; the closest is {quote}"
    if name == "hidden":
        return f"the entries shown do not say it; the closest is {quote}"
    return f"{_fault(match, missing)} in {quote}"


def _fault(match: Match, missing: Sequence[str]) -> str:
    """Return the first fault found in the best statement."""
    best, reading = match.best, match.reading
    assert best is not None
    statement = best.statement
    if best.owner < 0.5:
        whose = " ".join(part.strip("~") for part in statement.owner) or "somebody else"
        return f"said of {whose}, not of {reading.claim.owner or 'the user'},"
    had = quantities(statement.text, statement.tokens)
    for wanted in (*reading.core_numbers, *reading.context_numbers):
        if not any(wanted.same(other) for other in had):
            others = [q for q in had if q.comparable(wanted) and not any(q.same(said) for said in reading.said_numbers)]
            if others:
                return f"{others[0].text!r} stands for {wanted.text!r}"
    lost = [key for key in (*reading.core, *reading.context) if match.held.get(key, 0.0) < KEPT]
    for key in lost:
        for other in match.new_keys:
            if lexicon.is_rival(key, other):
                return f"{other!r} stands for {key!r}"
    turns = turns_of(match)
    if turned := next((fault for name, fault in TURNED.items() if turns[name]), None):
        return turned
    for key in lost:
        if match.held.get(key, 0.0) == lexicon.BROADER:
            broader = [w for w in sorted(statement.keys) if lexicon.similarity(key, w) == lexicon.BROADER]
            return f"{broader[0]!r} is more general than {key!r}" if broader else f"{key!r} is generalised"
    if missing:
        return f"{', '.join(repr(word) for word in missing[:3])} missing"
    return "changed in meaning"


TURNED: Final = {
    "liking_turned": "liking turned into disliking, or the reverse,",
    "negation_turned": "a negation added or lost",
    "before_turned": "the other side of a limit or an order",
    "above_turned": "the other side of a limit or an order",
    "way_turned": "cause and effect exchanged",
    "order_turned": "cause and effect exchanged",
    "only_entry_less": "'only' lost",
}
"""Feature to the fault that it detects."""


def strongest_lines(model: Model, features: Mapping[str, float], meanings: Mapping[str, str]) -> list[str]:
    """Return one line per decisive feature: the change in the probability of `kept` without it, name, value and meaning.

    "Without" replaces its value by the median over the training data.
    """
    values = [features[name] for name in model.features]
    whole = model.probabilities(values).kept
    found = []
    for at, name in enumerate(model.features):
        if values[at] != model.typical[at]:
            without = [*values[:at], model.typical[at], *values[at + 1 :]]
            found.append((whole - model.probabilities(without).kept, name, values[at]))
    found.sort(key=lambda item: (-abs(item[0]), item[1]))
    return [f"{change:+.3f}  {name} = {value:g}: {meanings[name]}" for change, name, value in found[:STRONGEST]]


def quoted(text: str) -> str:
    """Return the start of a text in quotes."""
    text = " ".join(text.split())
    return repr(text if len(text) <= QUOTED else text[: QUOTED - 1] + "…")
