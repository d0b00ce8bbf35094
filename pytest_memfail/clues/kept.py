"""Test what a store kept: conversations without an entry, and the sentences and words that are left of the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from pytest_memfail.clues.cases import Case, Evidence, Session
from pytest_memfail.clues.exact import Split, best_split, compare
from pytest_memfail.clues.tests import (
    BEFORE_SEARCH,
    FEWEST,
    FITS,
    MOSTLY,
    TIMES_MORE,
    Test,
    best,
    fact_test,
    is_share,
    share,
)
from pytest_memfail.core import KINDS, NAMES, NOT_STORED, TURN, Told, moment_of

CUT_SLACK: Final = 20
"""A cut at a word's end is at most this many characters before the limit."""
LONGEST_CYCLE: Final = 20
MANY: Final = 1.5
"""Parts of a store with more conversations than this are better named as shares."""
SURE: Final = 1e-4
"""The greatest p of a pattern that is named."""
MUCH: Final = 0.3
"""The least share of a kind of words that must be lost for it to be a cause."""
MOST_OTHERS: Final = 0.4
"""The greatest share of the other words that may be lost: else all words are."""
SOME: Final = 0.2
"""The least share of the facts that lack a kind of words which must be lost: not every fact needs its words."""
WEEKDAYS: Final = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()


def kept_tests(evidence: Evidence) -> Iterator[Test]:
    """Test what is lost before anything is searched for."""
    if not any(case.is_lost for cases in list(evidence.stages.values())[:2] for case in cases):
        return
    yield from _dropped(evidence)
    cases = evidence.before_search
    lost = [case for case in cases if case.is_lost]
    if not lost:
        return
    sessions = [session for session in evidence.sessions if session.told.entries]
    yield from _cut(cases, sessions)
    yield from _parts(cases, sessions)
    yield from _kinds(cases, sessions)
    yield from _late(cases)


# -- conversations without an entry ------------------------------------------------------------------------------------


def _dropped(evidence: Evidence) -> Iterator[Test]:
    sessions, cases = evidence.sessions, evidence.stages[NOT_STORED]
    dropped = sum(session.is_lost for session in sessions)
    if dropped < FEWEST or not any(case.is_lost for case in cases):
        return
    patterns = list(_patterns(sessions))
    yield from (Test("pattern", NOT_STORED, p) for p, *_ in patterns)
    fitting = [(fit, -limit, text) for p, text, fit, limit in patterns if fit >= FITS and p < SURE]
    which = max(fitting, key=lambda one: one[:2])[2] if fitting else ""
    cause = f"{dropped} of {len(sessions)} conversations left no entry{which}"
    unlinked = sum(store.unlinked for store in evidence.stores.values())
    yield fact_test(
        "left-no-entry",
        NOT_STORED,
        cases,
        lambda case: case.told is not None and not case.told.entries,
        cause,
        fits=unlinked < dropped / 2,
    )


def _patterns(sessions: Sequence[Session]) -> Iterator[tuple[float, str, float, float]]:
    """Yield for each pattern of the conversations without an entry its p, its words, the share that fits it, and its limit.

    The limit is that of a part of a store: what fits two as well is said by the smaller number, and by a share rather than by
    more than one conversation. A cycle must come round in a store, or it is a place.
    """
    sizes = {session.store.place: len(session.store.told) for session in sessions}

    def test(has: Callable[[Session], bool], text: str, tries: int) -> tuple[float, str, float, float]:
        table = compare(sessions, has)
        return min(1.0, table.p * tries), f", {text}", min(table.covers, table.rate), 0.0

    cycles = [(n, rest) for n in range(2, LONGEST_CYCLE + 1) for rest in range(n)]
    lost = [session.number for session in sessions if session.is_lost]
    shares = Counter((n, number % n) for number in lost for n in range(2, LONGEST_CYCLE + 1))
    again = {(n, number % n) for number in lost for n in range(2, LONGEST_CYCLE + 1) if number >= n}
    full = [cycle for cycle in cycles if shares[cycle] >= FITS * len(lost) and cycle in again]
    if full:
        n, rest = max(full)
        yield test(lambda session: session.number % n == rest, f"every {_nth(n)} of a store", len(cycles))
    days = Counter(_weekday(session.told) for session in sessions if session.is_lost)
    day = days.most_common(1)[0][0]
    if day:
        yield test(lambda session: _weekday(session.told) == day, f"those of a {day}", len(WEEKDAYS))
    ordered: tuple[tuple[str, Callable[[Session], float]], ...] = (
        ("long", lambda session: session.told.characters),
        ("alike", lambda session: session.told.starts_like),
        ("share", lambda session: (session.number + 1) / sizes[session.store.place]),
        ("first", lambda session: session.number + 1),
        ("last", lambda session: sizes[session.store.place] - session.number),
    )
    for name, value in ordered:
        split = best_split(sessions, value)
        if split is not None:
            fit = min(split.table.covers, split.table.rate) if name != "share" or is_share(split) else 0.0
            limit = {"share": MANY, "first": split.limit, "last": split.limit}.get(name, 0.0)
            yield min(1.0, split.table.p * split.tries), f", {_limit(name, split)}", fit, limit


def _nth(n: int) -> str:
    """Return an ordinal number up to the longest cycle, which is below 21."""
    return str(n) + {2: "nd", 3: "rd"}.get(n, "th")


def _limit(name: str, split: Split) -> str:
    limit, above = split.limit, split.above
    if name == "long":
        return f"those {'longer' if above else 'shorter'} than {limit + (not above):.0f} characters"
    if name == "alike":
        return f"those that start as an earlier one does, with over {limit:.0f} equal characters"
    if name == "share":
        return f"the {'newest' if above else 'oldest'} {share(1 - limit if above else limit)} of a store"
    if name == "first":
        return f"those after the first {limit:.0f} of a store" if above else f"the first {limit:.0f} of a store"
    return f"all but the newest {limit:.0f} of a store" if above else f"the newest {limit:.0f} of a store"


def _weekday(told: Told) -> str:
    when = moment_of(told.time)
    return WEEKDAYS[when.weekday()] if when else ""


# -- parts of conversations --------------------------------------------------------------------------------------------


def _cut(cases: Sequence[Case], sessions: Sequence[Session]) -> Iterator[Test]:
    """Test whether entries are cut at a constant length."""
    partial = [session.told for session in sessions if "0" in session.told.sentences]
    if len(partial) < FEWEST:
        return
    limit = Counter(told.held for told in partial).most_common(1)[0][0]
    longest = max(told.held for told in partial)
    at_limit = [told for told in partial if longest - CUT_SLACK <= told.held <= longest]
    longer = [session.told for session in sessions if session.told.characters > longest + CUT_SLACK]
    fits = len(at_limit) >= FITS * len(partial) and sum("0" in told.sentences for told in longer) >= FITS * len(longer)
    limit = longest if fits else limit
    cause = f"entries are cut at {limit} characters"
    test = fact_test("cut", BEFORE_SEARCH, cases, _ends_in_lost, cause, fits=fits)
    if fits:
        # that the long ones are cut and the short ones whole shows it too, where a task loses all its facts or none
        cut = [replace(session, is_lost="0" in session.told.sentences) for session in sessions]
        by_length = compare(cut, lambda session: session.told.characters > longest)
        test = replace(test, p=min(1.0, 2 * min(test.p, by_length.p)))
    yield test


def _ends_in_lost(case: Case) -> bool:
    kept = "" if case.told is None else case.told.sentences.replace(TURN, "")
    first, last = case.stated
    return "0" in kept[first : last + 1]


def _first_message(told: Told) -> str:
    return _some(told, [i == 0 for i in range(len(told.roles))])


def _last_message(told: Told) -> str:
    return _some(told, [i == len(told.roles) - 1 for i in range(len(told.roles))])


_MASKS: Final[Mapping[str, Callable[[Told], str]]] = {
    "only the first sentence of a message is kept": lambda told: TURN.join(_only(turn, 0) for turn in _turns(told)),
    "only the last sentence of a message is kept": lambda told: TURN.join(_only(turn, -1) for turn in _turns(told)),
    "only the first message of a conversation is kept": _first_message,
    "only the last message of a conversation is kept": _last_message,
    "only the user's messages are kept": lambda told: _some(told, [role == "u" for role in told.roles]),
    "only the assistant's messages are kept": lambda told: _some(told, [role == "a" for role in told.roles]),
}
"""Parts of conversations that a system may keep alone: for each conversation, the sentences that are then left."""


def _turns(told: Told) -> list[str]:
    return told.sentences.split(TURN)


def _only(turn: str, at: int) -> str:
    kept = ["0"] * len(turn)
    if turn:
        kept[at] = "1"
    return "".join(kept)


def _some(told: Told, kept: Sequence[bool]) -> str:
    return TURN.join(("1" if one else "0") * len(turn) for turn, one in zip(_turns(told), kept, strict=False))


def _parts(cases: Sequence[Case], sessions: Sequence[Session]) -> Iterator[Test]:
    """Test whether only one part of each conversation is kept."""
    for cause, mask in _MASKS.items():
        expected = [
            (session.told.sentences.replace(TURN, ""), mask(session.told).replace(TURN, "")) for session in sessions
        ]
        concerned = [(kept, wanted) for kept, wanted in expected if "0" in wanted]
        pairs = Counter(pair for kept, wanted in concerned for pair in zip(kept, wanted, strict=False))
        outside, inside = pairs["0", "0"] + pairs["1", "0"], pairs["0", "1"] + pairs["1", "1"]
        fits = len(concerned) >= FEWEST and pairs["0", "0"] >= FITS * outside and pairs["1", "1"] >= FITS * inside
        if len(concerned) >= FEWEST:

            def is_outside(case: Case, mask: Callable[[Told], str] = mask) -> bool:
                first, last = case.stated
                return case.told is not None and "0" in mask(case.told).replace(TURN, "")[first : last + 1]

            yield fact_test("part", BEFORE_SEARCH, cases, is_outside, cause, fits=fits)


def _late(cases: Sequence[Case]) -> Iterator[Test]:
    """Test whether what is said late, or early, in a conversation is lost."""
    told = [case for case in cases if case.told is not None and case.told.entries]
    found = best([("late", best_split(told, lambda case: case.stated[1]))]) if told else None
    if found is None:
        return
    _, split, tries = found
    where = "after" if split.above else "up to"
    cause = f"what is said {where} sentence {split.limit + 1:.0f} of a conversation is lost"
    yield fact_test(
        "late",
        BEFORE_SEARCH,
        told,
        lambda case: (case.stated[1] > split.limit) == split.above,
        cause,
        tries=tries,
        is_vague=True,
    )


# -- kinds of words ----------------------------------------------------------------------------------------------------


def _kinds(cases: Sequence[Case], sessions: Sequence[Session]) -> Iterator[Test]:
    """Test whether conversations lose more of one kind of words than of the others, and whether that loses facts."""
    for kind in KINDS:
        counts = list(_counts(kind, sessions))
        told, kept, all_told, all_kept = (sum(one[i] for one in counts) for i in range(4))
        if kept == told:
            continue
        lost, lost_else = 1 - kept / told, 1 - all_kept / max(1, all_told)
        strange = sum(session.told.strange for session in sessions) if kind == NAMES else 0
        how = "have other names in place of those told" if strange >= MOSTLY * (told - kept) else f"lose {kind}"
        cause = f"entries {how}, of which {kept} of {told} are kept, of other words {100 - 100 * lost_else:.0f} %"
        fits = lost >= MUCH and lost >= TIMES_MORE * lost_else and lost_else <= MOST_OTHERS

        def lacks(case: Case, kind: str = kind) -> bool:
            return kind in case.lacks

        yield fact_test("kind", BEFORE_SEARCH, cases, lacks, cause, fits=fits, rate=SOME)


def _counts(kind: str, sessions: Sequence[Session]) -> Iterator[tuple[int, int, int, int]]:
    """Yield, for each conversation, the words of a kind that were told and kept, and the same of the other words."""
    for session in sessions:
        own, own_kept = session.told.words.get(kind, (0, 0))
        every = session.told.words.values()
        yield own, own_kept, sum(n for n, _ in every) - own, sum(n for _, n in every) - own_kept
