"""Check a file of conversations beyond the types of its fields. Errors stop a run; warnings are only reported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from pytest_memfail.core import RowError, SuiteFault, counted, short
from pytest_memfail.rows import JsonRow
from pytest_memfail.suites.locomo.files import ADVERSARIAL, Sample, read_samples, turn_ids
from pytest_memfail.suites.published import as_faults

SHOWN = 6

Fault = tuple[str, str]
"""A field, and the fault in it."""


def errors_of(sample: Sample) -> Iterator[Fault]:
    """Yield faults that make a row impossible to run."""
    talk = sample.conversation
    if talk.speaker_a == talk.speaker_b:
        yield "conversation.speaker_b", f"got {talk.speaker_b!r}, who is speaker_a too"
    if not any(turn.said for turn in sample.turns.values()):
        yield "conversation", "has no session with turns"
    seen: set[str] = set()
    for number, session in talk.sessions.items():
        for at, turn in enumerate(session.turns):
            place = f"conversation.session_{number}.{at}"
            if turn.speaker not in (talk.speaker_a, talk.speaker_b):
                yield f"{place}.speaker", f"got {short(turn.speaker)}, expected {talk.speaker_a} or {talk.speaker_b}"
            if turn.dia_id in seen:
                yield f"{place}.dia_id", f"got {turn.dia_id!r} again, expected an id of its own"
            if turn.id[0] != number:
                yield f"{place}.dia_id", f"got {turn.dia_id!r}, expected one of session {number}: D{number}:N"
            seen.add(turn.dia_id)
    for at, item in enumerate(sample.qa):
        if item.category == ADVERSARIAL:
            if not (item.adversarial_answer or item.answer):
                yield f"qa.{at}", "got neither adversarial_answer nor answer"
        elif not item.answer:
            yield f"qa.{at}.answer", "got nothing, expected a value"


def traps_of(sample: Sample) -> Iterator[tuple[str, str, str, Sequence[object]]]:
    """Yield what is odd in a row: its field, the noun for one of them, what is odd about it, and all of them."""
    talk, known, items = sample.conversation, sample.turns, list(enumerate(sample.qa))
    turns, asked = known.values(), [(at, text) for at, item in items for text in item.evidence]
    sessions = list(talk.sessions.items())
    unsorted = [number for one, number in pairwise(talk.in_file) if number < one]
    yield "conversation", "date", "of a session that is not there", talk.dates_alone
    yield "conversation", "session", "out of order in the file; stored in the order of their numbers", unsorted
    silent = [number for number, session in sessions if not any(turn.said for turn in session.turns)]
    yield "conversation", "session", "without turns, not stored", silent
    late = [number for (_, one), (number, other) in pairwise(sessions) if other.date_time < one.date_time]
    yield "conversation", "session", "earlier than the one before", late
    yield "conversation", "turn", "without words or image, not stored", [t.dia_id for t in turns if not t.said]
    yield "conversation", "turn", "with an image, stored by its caption", [t.dia_id for t in turns if t.blip_caption]
    searched = [turn.dia_id for turn in turns if turn.query]
    yield "conversation", "turn", "with words of an image search (query), never said and not stored", searched
    odd = [f"{at} ({short(text)})" for at, text in asked if [f"D{s}:{t}" for s, t in turn_ids(text)] != [text]]
    yield "qa.evidence", "string", "not written as one id, read as far as possible", odd
    lost = [f"{at} (D{s}:{t})" for at, text in asked for s, t in turn_ids(text) if (s, t) not in known]
    yield "qa.evidence", "id", "of a turn that is not there", lost
    yield "qa.evidence", "question", "with an empty list", [at for at, item in items if not item.evidence]
    without = [at for at, item in items if item.evidence and not sample.evidence(item)]
    yield "qa.evidence", "question", "whose evidence names no turn", without
    both = [at for at, item in items if item.category == ADVERSARIAL and item.answer]
    yield "qa.answer", "adversarial question", "with an answer, which is the right one", both
    trapped = [at for at, item in items if item.category != ADVERSARIAL and item.adversarial_answer]
    yield "qa.adversarial_answer", "question", "of another category with a trap", trapped


def across(samples: Sequence[Sample]) -> Iterator[tuple[str, str, str, Sequence[object]]]:
    """Yield what several rows have together, as `traps_of` does."""
    texts = Counter(item.question for sample in samples for item in sample.qa)
    yield "qa.question", "text", "asked more than once", [short(text) for text, number in texts.items() if number > 1]


def _fault(file: str, line: int, place: str, trap: tuple[str, str, str, Sequence[object]]) -> Iterator[RowError]:
    field, noun, what, found = trap
    if found:
        more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
        names = ", ".join(map(str, found[:SHOWN]))
        yield RowError(file, line, f"{place}{field}", f"{counted(len(found), noun)} {what}: {names}{more}")


def check(path: Path, *, warn: bool = True) -> tuple[Sequence[JsonRow[Sample]], list[RowError], list[RowError], str]:
    """Return the rows of a file, its errors, its warnings and its SHA-256."""
    rows, errors, sha = read_samples(path)
    warnings: list[RowError] = []
    ids = Counter(row.value.sample_id for row in rows)
    for row in rows:
        place = f"conversation {row.value.sample_id}"
        errors += [RowError(str(path), row.line, f"{place}: {field}", text) for field, text in errors_of(row.value)]
        if ids[row.value.sample_id] > 1:
            problem = f"got {row.value.sample_id!r} {ids[row.value.sample_id]} times, expected an id of its own"
            errors.append(RowError(str(path), row.line, f"{place}: sample_id", problem))
        if warn:
            warnings += [f for trap in traps_of(row.value) for f in _fault(str(path), row.line, f"{place}: ", trap)]
    if warn:
        warnings += [f for trap in across([row.value for row in rows]) for f in _fault(str(path), 1, "", trap)]
    return rows, errors, warnings, sha


def faults_of(paths: Iterable[Path]) -> Iterator[SuiteFault]:
    """Yield all faults of the files; those of each file start with the errors."""
    for path in paths:
        _, errors, warnings, _ = check(path)
        yield from as_faults(errors, warnings)
