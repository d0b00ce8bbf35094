"""Any other fact: its text or value, and the states that it replaced (paper, section 3.2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from pytest_memfail.core import Evidence
from pytest_memfail.judges.rules.attitude import LIKED
from pytest_memfail.judges.rules.fact_general import told_in_general
from pytest_memfail.judges.rules.fact_places import (
    AROUND,
    MOSTLY,
    Place,
    beside,
    covering,
    is_over,
    is_users,
    keys_near,
    places_of,
    tie,
    told_apart,
)
from pytest_memfail.judges.rules.fact_reading import Fact, dislikes, read_fact, says_end
from pytest_memfail.judges.rules.finding import Finding, keys_of, listed
from pytest_memfail.judges.rules.history import later, tells_change, text_of
from pytest_memfail.judges.rules.polarity import negated
from pytest_memfail.judges.rules.text import weight
from pytest_memfail.judges.rules.view import View
from pytest_memfail.judges.rules.wordings import Wording, candidates, numbered, share_of

BLURRED: Final = 0.5
"""Share of a message's words that shows it is there without its value."""
RETOLD: Final = 0.5
"""The same of a retraction."""
AGAIN: Final = 0.7
"""Share of a sentence's words that are the old message's: it was made from that one."""
OVERWRITTEN: Final = 0.3
"""Share of the words of what looks like an update that shows it is stored."""
TIED: Final = 2.0
MONEY: Final = re.compile(
    r"(?:[£$€]|GBP|EUR|USD) ?[\d.,]+|[\d.,]+ ?(?:pounds?|euros?|dollars?|GBP|EUR|USD|£|€)", re.IGNORECASE
)
YEARS: Final = range(1900, 2101)
NONE: Final[frozenset[str]] = frozenset()
STALE: Final = "stale_value"
OVER_UPDATE: Final = "over_update"


def find_fact(evidence: Evidence, view: View, protocol: str) -> Finding:
    """The fact in a view: its current state (stored), whole and told from those that it replaced (faithful)."""
    del protocol  # both read a fact alike
    fact = read_fact(evidence)
    stale = [place for part in fact.stale for place in places_of(part, fact, view)]
    if fact.retraction:
        return _retracted(fact, view, stale)
    if not fact.values:
        return told_in_general(fact, view, stale)
    found = [places_of(part, fact, view) for part in fact.values]
    if not all(found):
        return _absent(fact, view, found, stale)
    return _present(fact, view, found, stale)


def _present(fact: Fact, view: View, places: Sequence[Sequence[Place]], stale: Sequence[Place]) -> Finding:
    """Whether the state is stored as the current one, with all that matters."""
    if fact.decoys and all(is_over(fact, view, place) for part in places for place in part):
        return _fails(
            fact, view, places[0], f"{fact.wording!r} is {view.held} as past, though it still holds", OVER_UPDATE
        )
    at = [max(part, key=lambda p: (p.tie, -p.at)).at for part in places]
    new = sorted({place.at for part in places for place in part})
    entries = view.entries_of(at)
    keys = {key for part in fact.values for w in part.wordings for key, _ in w.need}
    if not fact.negative and all(negated(view.sentences[p.at], keys) for p in places[0]):
        reason = f"{fact.wording!r} is {view.held}, but negated"
        return Finding(True, False, reason, entries, (), (fact.wording,), confidence=0.75, fault="turned")
    if fact.disliked and all(_is_liked(view, p) for p in places[0]):
        reason = f"{fact.wording!r} is {view.held}, but as something liked"
        return Finding(True, False, reason, entries, (), (fact.wording,), confidence=0.75, fault="turned")
    lost = tuple(part.text for part in fact.context if not beside(part, fact, view, new))
    if lost:
        reason = f"{fact.wording!r} is {view.held}, but without {listed(lost)}"
        return Finding(True, False, reason, entries, (fact.wording,), lost, confidence=0.75)
    unclear = [old for old in stale if not told_apart(fact, view, new, old)]
    if unclear:
        reason = (
            f"{fact.wording!r} and {unclear[0].wording.text!r} are both {view.held}, and nothing tells which holds now"
        )
        both = view.entries_of([*at, unclear[0].at])
        return Finding(True, False, reason, both, (fact.wording,), (fact.wording,), confidence=0.75, label=STALE)
    sure = 0.95 if not stale else 0.85
    return Finding(
        True, True, f"{fact.wording!r} is {view.held} as it holds now", entries, (fact.wording,), (), (), sure
    )


def _absent(fact: Fact, view: View, places: Sequence[Sequence[Place]], stale: Sequence[Place]) -> Finding:
    """The state is not there whole: damaged, overwritten, still the old one, or gone."""
    found = [place for part in places for place in part]
    if found and len(places) > 1:
        lost = tuple(part.text for part, there in zip(fact.values, places, strict=True) if not there)
        reason = f"{fact.wording!r} is {view.held}, but without {listed(lost)}"
        return Finding(
            True, False, reason, view.entries_of([p.at for p in found]), (), lost, confidence=0.75, label=_label(stale)
        )
    elsewhere = _elsewhere(fact, view)
    if elsewhere and all(is_over(fact, view, place) for place in stale):
        reason = f"{fact.wording!r} is {view.held}, but not as {fact.name.full if fact.name else 'the user'}'s"
        missing = (fact.name.full if fact.name else "the user",)
        return Finding(True, False, reason, view.entries_of(elsewhere), (), missing, confidence=0.7, fault="elsewhere")
    blurred = [] if fact.decoys else _blurred(fact, view, stale)
    if blurred:
        reason = f"what was said of it is {view.held}, but without {fact.wording!r}"
        return Finding(
            True, False, reason, view.entries_of(blurred), (), (fact.wording,), confidence=0.7, label=_label(stale)
        )
    changed = _miscounted(fact, view)
    if changed:
        number, at = changed
        reason = f"what was said of it is {view.held}, but with {number!r} instead of {fact.wording!r}"
        return Finding(True, False, reason, view.entries_of([at]), (), (fact.wording,), confidence=0.7)
    if stale:
        reason = f"only the old state {stale[0].wording.text!r} is {view.held}, not {fact.wording!r}"
        return _fails(fact, view, stale, reason, STALE)
    overwritten = covering(fact, view, fact.decoys, OVERWRITTEN) if fact.decoys else []
    if overwritten:
        reason = f"no entry says {fact.wording!r} any more, but what only looks like an update is {view.held}"
        return _fails(fact, view, [], reason, OVER_UPDATE, overwritten)
    near = [i for w in view.search(dict(fact.need), fact.name)[:3] for i in w.sentences]
    failure = _fails(fact, view, [], f"no entry says {fact.wording!r}", None, near)
    # Something is said of the subject, perhaps in words that no table has.
    return replace(failure, confidence=0.7) if _on_topic(fact, view) else failure


def _fails(
    fact: Fact, view: View, places: Sequence[Place], reason: str, label: str | None, at: Sequence[int] = ()
) -> Finding:
    entries = view.entries_of([*(p.at for p in places), *at])[:3]
    return Finding(False, False, reason, entries, (), (fact.wording,), confidence=0.9, label=label)


def _label(stale: Sequence[Place]) -> str | None:
    return STALE if stale else None


def _retracted(fact: Fact, view: View, stale: Sequence[Place]) -> Finding:
    """A state that was taken back: kept as past, or gone, but not stated as current."""
    ended = {view.entry[i] for i in covering(fact, view, fact.need, RETOLD)} - _retellings(fact, view, stale)
    for wording in fact.endings:
        ended.update(
            view.entry[i]
            for i in candidates(wording, view)
            if share_of(wording, [view.sentences[i]]) >= 1.0 and _ends_it(fact, view, i, wording)
        )
    past = [p for p in stale if is_over(fact, view, p) or view.entry[p.at] in ended]
    ended.update(view.entry[p.at] for p in past)
    standing = [p for p in stale if p not in past]
    entries = tuple(sorted(ended)) or view.entries_of([p.at for p in stale])
    if not standing and not ended:
        reason = f"neither the old state nor its end is {view.held}"
        return Finding(True, True, reason, confidence=0.9, vacuous=True)
    if not standing:
        return Finding(True, True, f"the old state is {view.held} as past", entries, (fact.wording,), (), (), 0.9)
    old = standing[0]
    if not ended:
        reason = f"{old.wording.text!r} was taken back, but is {view.held} as if it still held"
        return _fails(fact, view, standing, reason, STALE)
    restated = [p for p in standing if all(later(view, view.entry[p.at], entry) for entry in ended)]
    if not restated:
        return Finding(True, True, f"the old state is {view.held} as past", entries, (fact.wording,), (), (), 0.85)
    reason = f"{old.wording.text!r} was taken back, but is {view.held} again since"
    return Finding(True, False, reason, entries, (), (fact.wording,), confidence=0.7, label=STALE)


def _ends_it(fact: Fact, view: View, at: int, ending: Wording) -> bool:
    """Whether what has ended is this fact's state."""
    old = fact.topic.union(key for part in fact.stale for w in part.wordings for key, _ in w.need)
    if fact.name:
        old |= fact.around
    told = keys_near(view, at) & old - {key for key, _ in ending.need}
    least = 1.0 if fact.name else AROUND
    shared = sum(weight(key) for key in told)
    tied = tie(fact, view, at, frozenset()) > 0
    return tied and (shared >= least or shared >= 0.5 * sum(weight(key) for key in fact.topic))


def _retellings(fact: Fact, view: View, stale: Sequence[Place]) -> set[int]:
    """The entries that only tell the old state once more, in its own words."""
    old = frozenset(keys_of(fact.earlier))
    return {
        view.entry[p.at]
        for p in stale
        if not is_over(fact, view, p)
        and (view.own_share((p.at,), old) >= AGAIN if old else not says_end(view.sentences[p.at].text))
    }


def _is_liked(view: View, place: Place) -> bool:
    text = view.sentences[place.at].text
    return LIKED.search(text) is not None and not dislikes(text)


def _elsewhere(fact: Fact, view: View) -> list[int]:
    """Where the value stands with the subject, but not under the name."""
    if fact.name is None:
        return []
    found = []
    for wording in fact.values[0].wordings:
        used = frozenset(key for key, _ in wording.need)
        for i in candidates(wording, view):
            keys = keys_near(view, i) - used
            if share_of(wording, [view.sentences[i]]) >= 1.0 and (
                sum(weight(k) for k in keys & fact.subject) >= 1.0
                and sum(weight(k) for k in keys & (fact.around | fact.subject)) >= AROUND
            ):
                found.append(i)
    return found


def _blurred(fact: Fact, view: View, stale: Sequence[Place]) -> list[int]:
    """Where the message, or a change of its subject, is told without the value."""
    old = {p.at for p in stale}
    found = covering(fact, view, fact.need, BLURRED) + _on_topic(fact, view)
    return [i for i in found if i not in old and tells_change(text_of(view, view.entry[i]), fact.earlier)]


def _on_topic(fact: Fact, view: View) -> list[int]:
    """The sentences that tell of the fact's subject otherwise than was said before."""
    earlier = frozenset(keys_of(fact.earlier))
    # Without a name, few of the subject's words may be another's.
    share = MOSTLY if fact.name else 1.0
    return [
        i
        for i in sorted({i for key in fact.topic for i in view.postings.get(key, ())})
        if _is_topic(fact, view, i, share) and not (earlier and view.own_share((i,), earlier) >= AGAIN)
    ]


def _miscounted(fact: Fact, view: View) -> tuple[str, int] | None:
    """Another number of the same kind where the value should stand: neither that nor one that was said before."""
    if len(fact.numbers) != 1 or fact.decoys:
        return None
    (wanted,) = fact.numbers
    money = MONEY.search(fact.wording)
    for i in numbered(view):
        text = view.sentences[i].text
        for other in view.quantities((i,)):
            alike = other.unit == wanted.unit and (not money or any(other.text in m[0] for m in MONEY.finditer(text)))
            if not alike or other.value in YEARS or any(other.same(old) for old in fact.told):
                continue
            if _is_topic(fact, view, i, 0.0 if fact.name and (wanted.unit or money) else MOSTLY):
                return other.text.strip(), i
    return None


def _is_topic(fact: Fact, view: View, at: int, share: float) -> bool:
    """Whether the sentence is of the one whom the fact is about, and tells such a share of its subject."""
    owned = is_users(fact, view, at) if fact.name is None else tie(fact, view, at, NONE) >= TIED
    held = sum(weight(key) for key in view.sentences[at].keys & fact.topic)
    return owned and held >= share * sum(weight(key) for key in fact.topic)
