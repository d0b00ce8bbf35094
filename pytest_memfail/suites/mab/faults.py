"""Check rows beyond the types of their fields. Errors stop a run; warnings are only reported."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_memfail.core import RowError, SuiteFault, short
from pytest_memfail.rows import JsonRow, digest
from pytest_memfail.suites.mab.facts import FactList
from pytest_memfail.suites.mab.files import FORGETTING, TITLES, Row, read_rows, titles_in
from pytest_memfail.suites.mab.plan import SHORTEST, Origin, gold_ids
from pytest_memfail.suites.mab.scores import norm
from pytest_memfail.suites.mab.titles import Titles, read_titles
from pytest_memfail.suites.places import better_said
from pytest_memfail.suites.published import as_faults

SHORT_CONTEXT = 2000
"""A context with fewer characters is too short to test memory."""
SHOWN = 8

Fault = tuple[str, str]
"""A field, and the fault in it."""


def errors_of(row: Row, titles: Titles | None = None) -> Iterator[Fault]:
    """Yield faults that make a row impossible to run."""
    if row.family is not None and row.family.answer == "mab_titles" and titles is not None:
        for at, golds in enumerate(row.answers):
            if problem := _unknown(golds, titles):
                yield f"answers.{at}", problem
    if row.family is not None and row.family.task == FORGETTING:
        facts = FactList(row.context)
        if not facts.lines:
            yield "context", "got no numbered fact, expected lines such as '0. The capital of Selm is Varda.'"
        elif gap := facts.gap():
            yield "context", f"got the fact {gap[0]}, expected {gap[1]}: facts are numbered without gaps"


def _unknown(golds: Sequence[str], titles: Titles) -> str | None:
    """Return the fault in the title ids of a gold answer."""
    try:
        unknown = [one for one in gold_ids(golds) if one not in titles.by_id]
    except ValueError:
        return f"got {short(list(golds))}, expected ids of titles"
    return f"got the id {unknown[0]}, expected one of {TITLES}" if unknown else None


def warnings_of(row: Row, titles: Titles | None = None) -> Iterator[Fault]:
    """Yield faults that make the figures of a row less meaningful."""
    if row.family is None:
        yield "metadata.source", f"{short(row.metadata.source)} is left out: the source is not known"
        return
    if row.family.answer == "mab_titles" and titles is None:
        yield "metadata.source", f"{short(row.metadata.source)} is left out: there is no {TITLES} beside the file"
    if row.family.answer == "mab_summary" and not row.metadata.keypoints:
        yield "metadata.keypoints", "got nothing, expected the key points of the text; its summary is not scored"
    empty = [
        name for name, golds in zip(row.question_ids(), row.answers, strict=True) if not any(map(str.strip, golds))
    ]
    if empty:
        yield "answers", f"{len(empty)} have no gold answer, so no answer can be right: {_some(empty)}"
    if len(row.context) < SHORT_CONTEXT:
        yield "context", f"has {len(row.context)} characters; a context below {SHORT_CONTEXT} is easily kept whole"
    ids = row.metadata.qa_pair_ids or []
    if repeated := sorted({name for name in ids if ids.count(name) > 1}):
        yield "metadata.qa_pair_ids", f"not unique: {_some(repeated)}"
    yield from _elsewhere(row)
    if row.family.answer == "mab_substring":
        weak = [n for n, g in zip(row.question_ids(), row.answers, strict=True) if any(map(_is_weak, g))]
        if weak:
            yield (
                "answers",
                f"{len(weak)} gold answers are so short that nearly any answer contains them: {_some(weak)}",
            )
        elif row.family.task != FORGETTING:
            yield from _unfounded(row)
    if row.family.task == FORGETTING:
        yield from _conflicts(row)


def _unfounded(row: Row) -> Iterator[Fault]:
    """Yield the questions whose gold answer the context does not contain."""
    said = f" {norm(row.context)} "
    missing = [
        name
        for name, golds in zip(row.question_ids(), row.answers, strict=True)
        if any(map(norm, golds)) and not any(f" {norm(gold)} " in said for gold in golds if norm(gold))
    ]
    if missing:
        yield "answers", f"{len(missing)} are not in the context; their memory is not judged: {_some(missing)}"


def _elsewhere(row: Row) -> Iterator[Fault]:
    """Yield the questions of which a turn that carries the answer is not in the context."""
    said = frozenset(norm(row.context).split())
    missing = [
        name
        for at, name in enumerate(row.question_ids())
        if any(better_said(frozenset(norm(turn).split()), said, ()) for turn in row.turns(at))
    ]
    if missing:
        problem = "have a turn with the answer that is not in the context; their memory is not judged by it"
        yield "metadata.haystack_sessions", f"{len(missing)} {problem}: {_some(missing)}"


def _is_weak(gold: str) -> bool:
    return len(norm(gold)) < SHORTEST


def _conflicts(row: Row) -> Iterator[Fault]:
    """Yield the questions whose fact has no conflicting fact, is not the latest, or is missing."""
    facts = FactList(row.context)
    alone, outdated, missing = [], [], []
    for name, question, golds in zip(row.question_ids(), row.questions, row.answers, strict=True):
        if not row.part.startswith("sh_"):
            if not facts.holding(golds):
                missing.append(name)
        elif (fact := facts.asked(question, golds)) is None:
            missing.append(name)
        elif not fact.is_latest:
            outdated.append(name)
        elif not fact.rivals:
            alone.append(name)
    for found, what in (
        (alone, "have no conflicting fact in the context"),
        (outdated, "have a gold answer that is not the value with the highest number"),
        (missing, "have a gold answer that is the value of no fact that fits; their memory is not judged"),
    ):
        if found:
            yield "questions", f"{len(found)} of {len(row.questions)} {what}: {_some(found)}"


def _some(names: Sequence[str]) -> str:
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {more} more" if more > 0 else "")


def check(paths: Sequence[Path], *, warn: bool = True) -> tuple[list[Origin], list[RowError], list[RowError], str]:
    """Return the rows of the files, their errors, their warnings, and one hash of all files.

    A row that occurs in several files counts once.
    """
    origins: list[Origin] = []
    errors: list[RowError] = []
    warnings: list[RowError] = []
    hashes: list[str] = []
    seen: set[str] = set()
    table = titles_in(paths)
    titles = read_titles(table) if table is not None else None
    for path in paths:
        rows, faults, sha = read_rows(path)
        errors += faults
        hashes.append(sha)
        for number, row in enumerate(rows):
            place = f"row {number} ({row.value.metadata.source})"
            key = digest("\0".join([row.value.metadata.source, row.value.context, *row.value.questions]), 64)
            if key in seen:
                problem = "the same row again, which counts once"
                warnings.append(RowError(str(path), row.line, place, problem))
                continue
            seen.add(key)
            origins.append(Origin(str(path), row))
            errors += _errors(path, row, place, list(errors_of(row.value, titles)))
            warnings += _errors(path, row, place, list(warnings_of(row.value, titles))) if warn else []
    sha = hashes[0] if len(hashes) == 1 else hashlib.sha256("".join(hashes).encode()).hexdigest()
    return origins, errors, warnings, sha


def _errors(path: Path, row: JsonRow[Row], place: str, faults: Sequence[Fault]) -> list[RowError]:
    return [RowError(str(path), row.line, f"{place}: {field}", problem) for field, problem in faults]


def faults_of(paths: Sequence[Path]) -> Iterator[SuiteFault]:
    """Yield all faults of the files, errors first."""
    _, errors, warnings, _ = check(paths)
    yield from as_faults(errors, warnings)
