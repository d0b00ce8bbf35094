"""Preferences: the specific one must stay identifiable as the user's own (paper, section 4, task 2)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pytest_memfail.core import Evidence
from pytest_memfail.judges.rules.attitude import LIKED, against, liked
from pytest_memfail.judges.rules.finding import Finding, keys_of, listed, written
from pytest_memfail.judges.rules.naming import mentions
from pytest_memfail.judges.rules.preference_called import blurred, called_so, said_vaguely
from pytest_memfail.judges.rules.preference_described import described, handed_over, is_of_sibling, left_vague
from pytest_memfail.judges.rules.preference_done import is_other_use
from pytest_memfail.judges.rules.preference_kind import told_by_kind
from pytest_memfail.judges.rules.preference_likeness import left_of
from pytest_memfail.judges.rules.preference_parts import damaged, is_contrary
from pytest_memfail.judges.rules.preference_reading import (
    BESIDE,
    FOREIGN,
    GIVEN_AWAY,
    Preference,
    Reading,
    others_of,
    read_mention,
    read_preference,
    strength,
)
from pytest_memfail.judges.rules.preference_resembling import resembles, tells_another
from pytest_memfail.judges.rules.preference_reworded import Rewording, reworded
from pytest_memfail.judges.rules.preference_times import is_shifted
from pytest_memfail.judges.rules.preference_vocabulary import says_less, told_among
from pytest_memfail.judges.rules.preference_words import soft_support
from pytest_memfail.judges.rules.text import sentences_of
from pytest_memfail.judges.rules.traces import Trace, best_trace, category_kind, likeliest
from pytest_memfail.judges.rules.verbatim import as_kept, verbatim_store
from pytest_memfail.judges.rules.view import View, needs
from pytest_memfail.judges.rules.whose_after import MINE
from pytest_memfail.judges.rules.whose_words import FAVOURING, USER

READ: Final = 32
"""How many mentions are read closely."""
ROOT: Final = 5
SURE: Final = 0.82
"""Confidence in a trace against which a name in passing counts for nothing."""
AWAY: Final = 0.4
"""Share of our statement with which somebody else's in other words is ours."""
REASONED: Final = 0.25
"""Share of our statement with which somebody else has our very preference, though no liking is said."""

OF_OTHER_KIND: Final = 0.3
"""How much of another statement of the row is there where the kind is that one's."""
RESAID: Final = 0.35
"""Share of our statement with which a memory shown in the first person may be it in other words."""
OWNED: Final = frozenset(("user's", "users", "my"))
IDENTIFYING: Final = frozenset("is are was were has have had includes include contains contain features covers".split())
"""Verbs by which something of the user's is said to be the thing, or to have it."""


def find_preference(evidence: Evidence, view: View, protocol: str, *, shown: bool = False) -> Finding:
    """The preference in a view: some version of it (stored), and the specific one (faithful)."""
    wanted = read_preference(evidence, protocol)
    given = view
    view = as_kept(view, (evidence.source, *wanted.siblings))
    if shown and view is not given and not _is_resaid(wanted, view):
        view = given
    # Whom a mention is about is looked up for the likeliest ones only, and parts of the name only where it is not kept whole.
    whole = _readings(wanted, view, whole=True)[:READ]
    kept = next((r for r in whole if _is_kept(wanted, view, r) and not _is_gainsaid(wanted, view, r, whole)), None)
    if kept is not None:
        passing = _in_passing(view, wanted, kept)
        trace = _trace_of(wanted, view, likeliest(view, wanted.context), evidence) if passing else None
        return _kept(wanted, view, kept) if trace is None or trace.confidence < SURE else _trace(wanted, view, trace)
    turned = [
        r for r in whole if (r.ours or r.support >= GIVEN_AWAY) and _is_against(wanted, view, r) and r.owner == MINE
    ]
    away = [r for r in whole if _given_away(wanted, view, r) and r.owner != MINE]
    if turned:
        return _turned(wanted, view, turned, [])
    others = {r.mention.at for r in whole if r.owner != MINE}
    otherwise = called_so(wanted, view)
    # Where the name itself stands as somebody else's, no word of it is the user's.
    kept = next((r for r in otherwise if r.mention.at not in others and _is_kept(wanted, view, r)), None)
    if kept is not None:
        words = view.sentences[kept.mention.at].words[kept.mention.first : kept.mention.last + 1]
        return _told(wanted, view, kept.mention.at, tuple(word.surface for word in words))
    if away:
        return _turned(wanted, view, [], away)
    readings = _readings(wanted, view, whole=False)
    candidates = [at for at in likeliest(view, wanted.context) if not is_of_sibling(wanted, view, at)]
    told = reworded(wanted, view, dict.fromkeys([*candidates, *(r.mention.at for r in readings[:READ])]))
    among = told_among(wanted, view)
    if among is not None and any(r.mention.at == among.at and is_contrary(view, r) for r in readings[:READ]):
        among = None
    shifted = [r.mention.at for r in whole if r.ours and r.owner == MINE and _is_shifted(wanted, view, r)]
    shifted += [
        one.at
        for one in (told, among)
        if one is not None and one.owner == MINE and is_shifted(wanted.source, view.sentences[one.at])
    ]
    if shifted:
        return _trace(wanted, view, Trace(shifted[0], (wanted.wording,), 0.72))
    if (
        told is not None
        and told.owner == MINE
        and told.attitude >= 0
        and not says_less(wanted, view, told.at, told.words)
    ):
        return _told(wanted, view, told.at, told.words)
    if among is not None and among.owner == MINE and among.attitude >= 0:
        return _told(wanted, view, among.at, among.words, confidence=0.72)
    turned = [r for r in otherwise if r.owner == MINE and _is_against(wanted, view, r)]
    if turned:
        return _turned(wanted, view, turned, [])
    # There the name was found to name something else.
    elsewhere = {r.mention.at for r in whole if not r.ours}
    description = described(wanted, view)
    if description is not None and not (
        description.at in elsewhere
        or is_shifted(wanted.source, view.sentences[description.at])
        or blurred(wanted, view, description.at)
        or says_less(wanted, view, description.at)
    ):
        return _told(wanted, view, description.at, description.words, confidence=0.68)
    part = next(
        (r for r in readings[: 2 * READ] if damaged(wanted, view, r) and not is_of_sibling(wanted, view, r.mention.at)),
        None,
    )
    if part is not None:
        return _lost_part(wanted, view, part)
    if told is not None and told.support >= AWAY:
        return _lost_to(wanted, view, told)
    trace = _trace_of(wanted, view, candidates, evidence)
    if trace is not None and not resembles(wanted, view, trace.at):
        return _trace(wanted, view, trace)
    left = None if shown else left_of(wanted, given) or left_vague(wanted, given)
    if left is not None and not resembles(wanted, given, left.at):
        return _trace(wanted, view, Trace(left.at, left.words, 0.65))
    vague = None if shown else said_vaguely(wanted, given)
    if vague is not None and not tells_another(wanted, given, vague.mention.at):
        words = view.sentences[vague.mention.at].words[vague.mention.first : vague.mention.last + 1]
        return _trace(wanted, view, Trace(vague.mention.at, tuple(word.surface for word in words), 0.6))
    kind = None if shown else told_by_kind(wanted, given, category_kind(evidence.category or "") | wanted.topic)
    if kind is not None and not is_of_sibling(wanted, given, kind.at, OF_OTHER_KIND):
        return _trace(wanted, view, kind)
    handed = None if shown else handed_over(wanted, view)
    if handed is not None:
        return _lost_to(wanted, view, Rewording(handed.at, handed.words, handed.owner, 0, handed.mine))
    return _nowhere(wanted, view, readings, shown=shown)


def _is_resaid(wanted: Preference, view: View) -> bool:
    """Whether one of the memories shown, which speak as the user, may be our statement in other words."""
    if any(soft_support(wanted.context, [sentence]) >= RESAID for sentence in view.sentences):
        return True
    return any(reading.mention.last > reading.mention.first for reading in called_so(wanted, view))


def _readings(wanted: Preference, view: View, *, whole: bool) -> list[Reading]:
    """Where the preference is named, by any of its names or in part: the likeliest first."""
    found = [m for target in wanted.targets for m in mentions(target, view, wanted.stated, whole=whole)]
    found += [
        m
        for target in wanted.others
        for m in mentions(target, view, wanted.stated, whole=True)
        if m.exact and m.last - m.first <= len(target.parts)
    ]
    return sorted((read_mention(wanted, view, m) for m in found), key=strength, reverse=True)


def _trace_of(wanted: Preference, view: View, candidates: Iterable[int], evidence: Evidence) -> Trace | None:
    return best_trace(view, candidates, wanted.context, wanted.stated, wanted.targets, evidence.category or "")


def _in_passing(view: View, wanted: Preference, reading: Reading) -> bool:
    """Whether nothing but the name is there of the statement: it may well be said of something else."""
    sentence = view.sentences[reading.mention.at]
    return not (reading.support or others_of(wanted, sentence)[1] or reading.attitude > 0 or liked(sentence))


def _is_kept(wanted: Preference, view: View, reading: Reading) -> bool:
    if not reading.ours or _is_against(wanted, view, reading) or reading.owner != MINE:
        return False
    if _is_shifted(wanted, view, reading):
        return False
    if len(wanted.targets[0].needed) > 1 and reading.mention.exact:
        return True
    return not (_is_of_another(view, reading) and _in_passing(view, wanted, reading))


def _is_shifted(wanted: Preference, view: View, reading: Reading) -> bool:
    """Whether it is told of another time, or as watched where it is played."""
    sentence = view.sentences[reading.mention.at]
    return is_shifted(wanted.source, sentence) or is_other_use(wanted.source, sentence, reading.mention)


def _is_gainsaid(wanted: Preference, view: View, reading: Reading, whole: list[Reading]) -> bool:
    """Whether it is only named, as keywords are, and another sentence of its entry speaks against it."""
    if reading.attitude > 0 or liked(view.sentences[reading.mention.at]):
        return False
    entry = view.entry[reading.mention.at]
    beside = (r for r in whole if view.entry[r.mention.at] == entry and r.mention.at != reading.mention.at)
    return any(r.owner == MINE and _is_against(wanted, view, r) for r in beside)


def _is_of_another(view: View, reading: Reading) -> bool:
    """Whether what the user only has does something with the thing: "User's bootcamp taught JavaScript"."""
    words = view.sentences[reading.mention.at].words[: reading.mention.first]
    subject = [w.lower for w in words if w.lower != "the"]
    if (
        words
        and words[0].lower == "the"
        and len(subject) > 1
        and subject[0] not in USER | OWNED
        and IDENTIFYING.isdisjoint(subject)
    ):
        return True
    return len(subject) > 2 and subject[0] in OWNED and IDENTIFYING.isdisjoint(subject)


def _is_against(wanted: Preference, view: View, reading: Reading) -> bool:
    """Whether the sentence speaks against it, other than the statement itself seems to do."""
    if reading.attitude >= 0:
        return False
    said = {word[:ROOT] for word in against(wanted.source)}
    return not wanted.negative or any(w[:ROOT] not in said for w in against(view.sentences[reading.mention.at].text))


def _given_away(wanted: Preference, view: View, reading: Reading) -> bool:
    """Whether somebody else's preference is ours in their hands, and not simply one of their own."""
    sentence = view.sentences[reading.mention.at]
    if reading.mention.foreign:
        return False
    total, held = others_of(wanted, sentence)
    words = sentence.words
    beside = sentence.text[: words[reading.mention.first].start] + sentence.text[words[reading.mention.last].end :]
    # "Thriller" itself says no liking.
    if LIKED.search(beside) or reading.attitude or sentence.lowers & FAVOURING:
        return reading.support > 0 or total - held < FOREIGN + 1.5
    whole = len(wanted.targets[0].needed) > 1 and reading.mention.exact
    return (held >= 2 or whole) and reading.support >= REASONED


def _kept(wanted: Preference, view: View, best: Reading) -> Finding:
    sure = best.mention.exact and best.support >= BESIDE
    likes = best.attitude > 0 or liked(view.sentences[best.mention.at])
    confidence = 0.97 if sure else 0.93 if best.mention.exact and likes else 0.86
    entries = view.entries_of([best.mention.at])
    return Finding(True, True, f"{wanted.wording!r} is named", entries, (wanted.wording,), confidence=confidence)


def _told(wanted: Preference, view: View, at: int, words: tuple[str, ...], *, confidence: float = 0.82) -> Finding:
    reason = f"{wanted.wording!r} is told in other words ({listed(words)})"
    return Finding(True, True, reason, view.entries_of([at]), (wanted.wording,), confidence=confidence)


def _lost_to(wanted: Preference, view: View, told: Rewording) -> Finding:
    how = "as disliked, avoided or past" if told.owner == MINE else "not as the user's"
    reason = f"{wanted.wording!r} is told in other words ({listed(told.words)}), but {how}"
    return Finding(
        True, False, reason, view.entries_of([told.at]), (), (wanted.wording,), confidence=0.75,
        fault="turned" if told.owner == MINE else "elsewhere",
    )  # fmt: skip


def _turned(wanted: Preference, view: View, turned: list[Reading], away: list[Reading]) -> Finding:
    if turned:
        best = turned[0]
        reason = f"{wanted.wording!r} is stored, but as disliked, avoided or past"
        fault = "turned"
    else:
        best = away[0]
        reason = f"{wanted.wording!r} is stored, but not as the user's"
        fault = "elsewhere"
    entries = view.entries_of([best.mention.at])
    confidence = 0.88 if best.support >= GIVEN_AWAY else 0.84
    return Finding(
        True, False, reason, entries, (), (wanted.wording,), confidence=confidence,
        fault="turned" if fault == "turned" else "elsewhere",
    )  # fmt: skip


def _lost_part(wanted: Preference, view: View, best: Reading) -> Finding:
    lost = tuple(written(key, sentences_of(wanted.wording)) for key in best.mention.missing)
    reason = f"{wanted.wording!r} is stored without {listed(lost)}"
    entries = view.entries_of([best.mention.at])
    return Finding(True, False, reason, entries, (), lost, confidence=0.72)


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


def _nowhere(wanted: Preference, view: View, readings: list[Reading], *, shown: bool) -> Finding:
    names = needs(key for target in wanted.targets[:1] for key in keys_of(target.text))
    closest = view.search({**wanted.context, **names}, None, 3)
    near = [r.mention.at for r in readings[:1]]
    entries = view.entries_of([*near, *(i for w in closest for i in w.sentences)])[:3]
    nowhere = not readings and (not closest or closest[0].coverage < BESIDE)
    # Memories in other words may well hold it in words that are not known to be its own.
    sure, unsure = (0.95, 0.88) if shown or verbatim_store(view) else (0.75, 0.65)
    return Finding(
        False,
        False,
        f"no entry names {wanted.wording!r} as the user's",
        entries,
        (),
        (wanted.wording,),
        confidence=sure if nowhere else unsure,
    )
