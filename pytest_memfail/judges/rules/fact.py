"""Any other fact: its text or value, and the states that it replaced (paper, section 3.2)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from pytest_memfail.core import Evidence
from pytest_memfail.judges.rules.attitude import LIKED
from pytest_memfail.judges.rules.fact_owner import other_thing, strange
from pytest_memfail.judges.rules.fact_reading import Fact, Part, dislikes, read_fact, says_end
from pytest_memfail.judges.rules.finding import Finding, keys_of, listed
from pytest_memfail.judges.rules.history import is_past, later, tells_change, text_of
from pytest_memfail.judges.rules.polarity import negated
from pytest_memfail.judges.rules.text import weight
from pytest_memfail.judges.rules.view import INHERITED, OPEN, View
from pytest_memfail.judges.rules.wordings import Wording, candidates, numbered, share_of, verbatim

STORED: Final = 0.5
"""Share of a fact's words that shows it is there, where no value decides."""
FAITHFUL: Final = 0.65
BLURRED: Final = 0.5
"""Share of a message's words that shows it is there without its value."""
RETOLD: Final = 0.5
"""The same of a retraction."""
AGAIN: Final = 0.7
"""Share of a sentence's words that are the old message's: it was made from that one."""
BELOW: Final = 4
"""The sentences of a short entry explain one another; of a longer one, only neighbours do."""
AROUND: Final = 2.0
"""Words said with the fact that tie a value to it without its subject."""
OVERWRITTEN: Final = 0.3
"""Share of the words of what looks like an update that shows it is stored."""
MOSTLY: Final = 0.6
TIED: Final = 2.0
MONEY: Final = re.compile(
    r"(?:[£$€]|GBP|EUR|USD) ?[\d.,]+|[\d.,]+ ?(?:pounds?|euros?|dollars?|GBP|EUR|USD|£|€)", re.IGNORECASE
)
YEARS: Final = range(1900, 2101)
NONE: Final[frozenset[str]] = frozenset()
PRONOUNS: Final = frozenset("he she his her him hers".split())
STALE: Final = "stale_value"
OVER_UPDATE: Final = "over_update"


class Place(NamedTuple):
    """Where one of the wordings stands."""

    at: int
    wording: Wording
    tie: float
    """How much ties it to the fact's subject."""


def find_fact(evidence: Evidence, view: View, protocol: str) -> Finding:
    """The fact in a view: its current state (stored), whole and told from those that it replaced (faithful)."""
    del protocol  # both read a fact alike
    fact = read_fact(evidence)
    stale = [place for part in fact.stale for place in _places(part, fact, view)]
    if fact.retraction:
        return _retracted(fact, view, stale)
    if not fact.values:
        return _told_in_general(fact, view, stale)
    places = [_places(part, fact, view) for part in fact.values]
    if not all(places):
        return _absent(fact, view, places, stale)
    return _present(fact, view, places, stale)


def _present(fact: Fact, view: View, places: Sequence[Sequence[Place]], stale: Sequence[Place]) -> Finding:
    """Whether the state is stored as the current one, with all that matters."""
    if fact.decoys and all(_is_over(fact, view, place) for part in places for place in part):
        return _fails(fact, view, places[0], f"{fact.wording!r} is stored as past, though it still holds", OVER_UPDATE)
    at = [max(part, key=lambda p: (p.tie, -p.at)).at for part in places]
    new = sorted({place.at for part in places for place in part})
    entries = view.entries_of(at)
    keys = {key for part in fact.values for w in part.wordings for key, _ in w.need}
    if not fact.negative and all(negated(view.sentences[p.at], keys) for p in places[0]):
        reason = f"{fact.wording!r} is stored, but negated"
        return Finding(True, False, reason, entries, (), (fact.wording,), confidence=0.75, fault="turned")
    if fact.disliked and all(_is_liked(view, p) for p in places[0]):
        reason = f"{fact.wording!r} is stored, but as something liked"
        return Finding(True, False, reason, entries, (), (fact.wording,), confidence=0.75, fault="turned")
    lost = tuple(part.text for part in fact.context if not _beside(part, fact, view, new))
    if lost:
        reason = f"{fact.wording!r} is stored, but without {listed(lost)}"
        return Finding(True, False, reason, entries, (fact.wording,), lost, confidence=0.75)
    unclear = [old for old in stale if not _told_apart(fact, view, new, old)]
    if unclear:
        reason = f"{fact.wording!r} and {unclear[0].wording.text!r} are both stored, and nothing tells which holds now"
        both = view.entries_of([*at, unclear[0].at])
        return Finding(True, False, reason, both, (fact.wording,), (fact.wording,), confidence=0.75, label=STALE)
    sure = 0.95 if not stale else 0.85
    return Finding(True, True, f"{fact.wording!r} is stored as it holds now", entries, (fact.wording,), (), (), sure)


def _absent(fact: Fact, view: View, places: Sequence[Sequence[Place]], stale: Sequence[Place]) -> Finding:
    """The state is not there whole: damaged, overwritten, still the old one, or gone."""
    found = [place for part in places for place in part]
    if found and len(places) > 1:
        lost = tuple(part.text for part, there in zip(fact.values, places, strict=True) if not there)
        reason = f"{fact.wording!r} is stored, but without {listed(lost)}"
        return Finding(
            True, False, reason, view.entries_of([p.at for p in found]), (), lost, confidence=0.75, label=_label(stale)
        )
    elsewhere = _elsewhere(fact, view)
    if elsewhere and all(_is_over(fact, view, place) for place in stale):
        reason = f"{fact.wording!r} is stored, but not as {fact.name.full if fact.name else 'the user'}'s"
        missing = (fact.name.full if fact.name else "the user",)
        return Finding(True, False, reason, view.entries_of(elsewhere), (), missing, confidence=0.7, fault="elsewhere")
    blurred = [] if fact.decoys else _blurred(fact, view, stale)
    if blurred:
        reason = f"what was said of it is stored, but without {fact.wording!r}"
        return Finding(
            True, False, reason, view.entries_of(blurred), (), (fact.wording,), confidence=0.7, label=_label(stale)
        )
    changed = _miscounted(fact, view)
    if changed:
        number, at = changed
        reason = f"what was said of it is stored, but with {number!r} instead of {fact.wording!r}"
        return Finding(True, False, reason, view.entries_of([at]), (), (fact.wording,), confidence=0.7)
    if stale:
        reason = f"only the old state {stale[0].wording.text!r} is stored, not {fact.wording!r}"
        return _fails(fact, view, stale, reason, STALE)
    overwritten = _covering(fact, view, fact.decoys, OVERWRITTEN) if fact.decoys else []
    if overwritten:
        reason = f"no entry says {fact.wording!r} any more, but what only looks like an update is stored"
        return _fails(fact, view, [], reason, OVER_UPDATE, overwritten)
    near = [i for w in view.search(dict(fact.need), fact.name)[:3] for i in w.sentences]
    return _fails(fact, view, [], f"no entry says {fact.wording!r}", None, near)


def _fails(
    fact: Fact, view: View, places: Sequence[Place], reason: str, label: str | None, at: Sequence[int] = ()
) -> Finding:
    entries = view.entries_of([*(p.at for p in places), *at])[:3]
    return Finding(False, False, reason, entries, (), (fact.wording,), confidence=0.9, label=label)


def _label(stale: Sequence[Place]) -> str | None:
    return STALE if stale else None


def _retracted(fact: Fact, view: View, stale: Sequence[Place]) -> Finding:
    """A state that was taken back: kept as past, or gone, but not stated as current."""
    ended = {view.entry[i] for i in _covering(fact, view, fact.need, RETOLD)} - _retellings(fact, view, stale)
    for wording in fact.endings:
        ended.update(
            view.entry[i]
            for i in candidates(wording, view)
            if share_of(wording, [view.sentences[i]]) >= 1.0 and _ends_it(fact, view, i, wording)
        )
    past = [p for p in stale if _is_over(fact, view, p) or view.entry[p.at] in ended]
    ended.update(view.entry[p.at] for p in past)
    standing = [p for p in stale if p not in past]
    entries = tuple(sorted(ended)) or view.entries_of([p.at for p in stale])
    if not standing:
        reason = "the old state is stored as past" if ended else "the old state is no longer stored"
        return Finding(True, True, reason, entries, (fact.wording,) if ended else (), (), (), 0.9)
    old = standing[0]
    if not ended:
        reason = f"{old.wording.text!r} was taken back, but is stored as if it still held"
        return _fails(fact, view, standing, reason, STALE)
    restated = [p for p in standing if all(later(view, view.entry[p.at], entry) for entry in ended)]
    if not restated:
        return Finding(True, True, "the old state is stored as past", entries, (fact.wording,), (), (), 0.85)
    reason = f"{old.wording.text!r} was taken back, but is stored again since"
    return Finding(True, False, reason, entries, (), (fact.wording,), confidence=0.7, label=STALE)


def _ends_it(fact: Fact, view: View, at: int, ending: Wording) -> bool:
    """Whether what has ended is this fact's state."""
    old = fact.topic.union(key for part in fact.stale for w in part.wordings for key, _ in w.need)
    if fact.name:
        old |= fact.around
    told = _keys_near(view, at) & old - {key for key, _ in ending.need}
    least = 1.0 if fact.name else AROUND
    shared = sum(weight(key) for key in told)
    tied = _tie(fact, view, at, frozenset()) > 0
    return tied and (shared >= least or shared >= 0.5 * sum(weight(key) for key in fact.topic))


def _retellings(fact: Fact, view: View, stale: Sequence[Place]) -> set[int]:
    """The entries that only tell the old state once more, in its own words."""
    old = frozenset(keys_of(fact.earlier))
    return {
        view.entry[p.at]
        for p in stale
        if not _is_over(fact, view, p)
        and (view.own_share((p.at,), old) >= AGAIN if old else not says_end(view.sentences[p.at].text))
    }


def _is_over(fact: Fact, view: View, place: Place) -> bool:
    sentence = view.sentences[place.at]
    told = [place.wording.text, *(w.text for part in fact.stale for w in part.wordings)]
    spans = [match for text in dict.fromkeys(told) if (match := verbatim(text, sentence.text))]
    if not spans:
        return is_past(sentence, None, fact.earlier)
    return any(is_past(sentence, span, fact.earlier) for span in spans)


def _is_liked(view: View, place: Place) -> bool:
    text = view.sentences[place.at].text
    return LIKED.search(text) is not None and not dislikes(text)


def _told_apart(fact: Fact, view: View, new: Sequence[int], old: Place) -> bool:
    """Whether wording, order within an entry, or time says that the new state came after the old one."""
    if _is_over(fact, view, old):
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


def _places(part: Part, fact: Fact, view: View) -> list[Place]:
    """The sentences that say one of the wordings of the fact's own subject."""
    found: dict[int, Place] = {}
    for wording in part.wordings:
        used = frozenset(key for key, _ in wording.need)
        for i in candidates(wording, view):
            if i in found or share_of(wording, [view.sentences[i]]) < 1.0:
                continue
            turned = part in fact.values and _with_old(fact, view, i) and _is_users(fact, view, i)
            tie = (
                _tie(fact, view, i, used)
                or turned
                or 0.5 * (part.distinct and fact.name is None and _is_users(fact, view, i))
            )
            if tie > 0:
                found[i] = Place(i, wording, tie)
    return [found[i] for i in sorted(found)]


def _with_old(fact: Fact, view: View, at: int) -> bool:
    """Whether the sentence tells of a change from a state that it replaced."""
    sentence = view.sentences[at]
    if fact.name is not None or not tells_change(sentence.text):
        return False
    return any(share_of(w, [sentence]) >= 1.0 for part in fact.stale for w in part.wordings)


def _tie(fact: Fact, view: View, at: int, used: frozenset[str]) -> float:
    """What ties a sentence to the fact: whom it is about, and how much of what was said of the subject is there."""
    keys = _keys_near(view, at) - used
    subject = sum(weight(key) for key in keys & fact.subject)
    around = sum(weight(key) for key in keys & fact.around)
    if fact.name is not None:
        link = view.link(at, fact.name)
        if strange(view, at, fact.name):
            return 0.0
        if _names(fact, view, view.entry[at]):
            return link + 1.0 + subject if link >= OPEN else 0.0
        return 1.0 + subject if link >= INHERITED and PRONOUNS & view.sentences[at].lowers else 0.0
    if not _is_users(fact, view, at):
        return 0.0
    told = used & fact.topic if len(used) > 1 else frozenset()
    subject += any(share_of(w, [view.sentences[at]]) >= 1.0 for part in fact.context for w in part.wordings)
    if other_thing(view.sentences[at], fact.around | fact.subject | used):
        return 1.0 + subject if subject >= MOSTLY * sum(weight(key) for key in fact.topic) else 0.0
    if subject >= 1.0 or around >= AROUND or sum(weight(key) for key in told) >= 1.0:
        return 1.0 + subject + around
    return 0.0


def _is_users(fact: Fact, view: View, at: int) -> bool:
    return not view.other_subject(at, fact.others) and not strange(view, at, fact.others)


def _names(fact: Fact, view: View, entry: int) -> bool:
    return fact.name is not None and any(
        view.named(i, fact.name) for i in range(view.first[entry], view.first[entry + 1])
    )


def _keys_near(view: View, at: int) -> frozenset[str]:
    """The keys of the sentence and of those that explain it."""
    first, end = view.first[view.entry[at]], view.first[view.entry[at] + 1]
    if end - first > BELOW:
        first, end = max(first, at - 1), min(end, at + 2)
    return frozenset().union(*(view.sentences[i].keys for i in range(first, end)))


def _beside(part: Part, fact: Fact, view: View, new: Iterable[int]) -> bool:
    """Whether the part stands in an entry with the value, or is said of the subject elsewhere."""
    for entry in view.entries_of(tuple(new)):
        sentences = view.sentences[view.first[entry] : view.first[entry + 1]]
        if any(share_of(wording, [s]) >= 1.0 for wording in part.wordings for s in sentences):
            return True
    return bool(fact.name and _places(part, fact, view))


def _elsewhere(fact: Fact, view: View) -> list[int]:
    """Where the value stands with the subject, but not under the name."""
    if fact.name is None:
        return []
    found = []
    for wording in fact.values[0].wordings:
        used = frozenset(key for key, _ in wording.need)
        for i in candidates(wording, view):
            keys = _keys_near(view, i) - used
            if share_of(wording, [view.sentences[i]]) >= 1.0 and (
                sum(weight(k) for k in keys & fact.subject) >= 1.0
                and sum(weight(k) for k in keys & (fact.around | fact.subject)) >= AROUND
            ):
                found.append(i)
    return found


def _blurred(fact: Fact, view: View, stale: Sequence[Place]) -> list[int]:
    """Where the message is told without its value."""
    old = {p.at for p in stale}
    return [
        i
        for i in _covering(fact, view, fact.need, BLURRED)
        if i not in old and tells_change(text_of(view, view.entry[i]), fact.earlier)
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
            if _is_topic(fact, view, i, exactly=not wanted.unit and not money):
                return other.text.strip(), i
    return None


def _is_topic(fact: Fact, view: View, at: int, *, exactly: bool) -> bool:
    """Whether the sentence tells of the fact's very subject."""
    if fact.name and not exactly:
        return _tie(fact, view, at, NONE) >= TIED
    held = sum(weight(key) for key in view.sentences[at].keys & fact.topic)
    owned = _is_users(fact, view, at) if fact.name is None else _tie(fact, view, at, NONE) >= TIED
    return owned and held >= MOSTLY * sum(weight(key) for key in fact.topic)


def _covering(fact: Fact, view: View, need: Sequence[tuple[str, float]], least: float) -> list[int]:
    """The sentences that have so much of what was said, in places tied to the fact."""
    found: list[int] = []
    for window in view.search(dict(need), fact.name):
        if window.coverage < least:
            break
        if window.link >= OPEN and not any(strange(view, i, fact.name or fact.others) for i in window.sentences):
            found.extend(window.sentences)
    return found


def _told_in_general(fact: Fact, view: View, stale: Sequence[Place]) -> Finding:
    """A fact without a value or details: most of its words must stand in one place, with its numbers."""
    seen = view.seen_for(frozenset(key for key, _ in fact.whole))
    best: tuple[tuple[bool, float, int], tuple[int, ...]] | None = None
    for window in seen.search(dict(fact.whole), fact.name):
        if window.link < OPEN or window.coverage < STORED:
            continue
        numbers = view.quantities(window.sentences)
        whole = window.coverage >= FAITHFUL and all(any(q.same(o) for o in numbers) for q in fact.numbers)
        rank = (whole, round(window.coverage, 6), -window.sentences[0])
        if best is None or rank > best[0]:
            best = (rank, window.sentences)
    if best is None:
        if stale:
            reason = f"only the old state {stale[0].wording.text!r} is stored, not {fact.wording!r}"
            return _fails(fact, view, stale, reason, STALE)
        return _fails(fact, view, [], f"no entry says {fact.wording!r}", None)
    (whole, *_), at = best
    entries = view.entries_of(at)
    sentences = [seen.sentences[i] for i in at]
    if not fact.negative and any(negated(s, dict(fact.whole)) for s in sentences):
        reason = f"{fact.wording!r} is stored, but negated"
        return Finding(True, False, reason, entries, (), (fact.wording,), confidence=0.7, fault="turned")
    if not whole:
        reason = f"{fact.wording!r} is stored, but not as it was said"
        return Finding(True, False, reason, entries, (), (fact.wording,), confidence=0.7)
    unclear = [old for old in stale if not _told_apart(fact, view, at, old)]
    if unclear:
        reason = f"{fact.wording!r} and {unclear[0].wording.text!r} are both stored, and nothing tells which holds now"
        return Finding(True, False, reason, entries, (fact.wording,), (fact.wording,), confidence=0.7, label=STALE)
    return Finding(True, True, f"{fact.wording!r} is stored", entries, (fact.wording,))
