"""The gate as text: each expression with its value, what flipped against the baseline, and how much could have been seen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_memfail.core import one_line
from pytest_memfail.results import Check, Comparison, Flip, Gate

WIDTH: Final = 100
WORDS: Final = {"passed": "ok", "failed": "FAILED", "undecided": "UNDECIDED", "skipped": "skipped"}
MOST_CHECKS: Final = 3
MOST_FLIPS: Final = 20
TITLES: Final = {
    "worse": "worse than in the baseline",
    "better": "better than in the baseline",
    "other": "otherwise than in the baseline, counted as neither",
}


def gate(result: Gate, *, full: bool = False, record: str | None = None) -> list[str]:
    """The gate's part of the summary; long lists are cut unless it is `full`, and `record` is where the rest can be seen."""
    lines = [f"gate: {result.outcome}"]
    lines += [line for check in result.checks for line in _check(check)]
    if result.comparison is not None:
        lines += _comparison(result, result.comparison, full, record)
    return lines


def gate_outcome(result: Gate) -> str:
    """The gate on one line: what was decided, and by which expressions."""
    deciding = [check for check in result.checks if check.outcome == result.outcome]
    said = [f"{_name(check)}: {check_value(check)}" for check in deciding[:MOST_CHECKS]]
    if len(deciding) > MOST_CHECKS:
        said.append(f"and {len(deciding) - MOST_CHECKS} more")
    return ", ".join([f"gate: {result.outcome}", *said])


def _check(check: Check) -> Iterator[str]:
    yield f"  {one_line(_name(check), 46):<46} {WORDS[check.outcome]:<9} {one_line(check_value(check), WIDTH - 59)}".rstrip()


def _name(check: Check) -> str:
    if check.task is not None and check.expression.startswith("*"):
        return f"{check.expression} ({check.task})"
    return check.expression


def check_value(check: Check) -> str:
    """What a check was decided by."""
    if check.paired is not None:
        corrected = check.expression.startswith("*") and check.paired.corrected is not None
        p = f"p (Holm) {p_value(check.paired.corrected or 0)}" if corrected else f"p {p_value(check.paired.p)}"
        return f"{check.paired.worse} worse, {check.paired.better} better of {check.paired.n}, {p}"
    if check.rate is not None and check.rate.value is not None:
        rate = check.rate
        return f"{rate.value:.3f} [{rate.low:.2f}, {rate.high:.2f}] of {rate.n}"
    return check.reason


def p_value(p: float) -> str:
    """Four digits, and never a plain zero."""
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"


def _comparison(result: Gate, comparison: Comparison, full: bool, record: str | None) -> Iterator[str]:
    yield f"baseline: {result.baseline}, {comparison.total.n} questions compared"
    for note in result.notes:
        yield f"  {one_line(note, WIDTH - 2)}"
    if comparison.added:
        yield f"  {comparison.added} questions are not in it, {comparison.added_failing} of them fail"
    if comparison.missing:
        yield f"  {comparison.missing} of its questions were not asked"
    if comparison.uncounted:
        yield f"  {comparison.uncounted} questions have no result that can be compared"
    yield from _table(comparison, full)
    if comparison.rows != comparison.total.n:
        yield (
            f"  p takes the questions of a row together: {comparison.rows_worse} worse, {comparison.rows_better} better of "
            f"{comparison.rows} rows"
        )
    for change, title in TITLES.items():
        flips = [flip for flip in comparison.flips if flip.change == change]
        if not flips or (change == "other" and not full):  # neither worse nor better: for who looks closely
            continue
        most = len(flips) if full else MOST_FLIPS
        yield f"{title}: {len(flips)}"
        yield from map(_flip, flips[:most])
        if len(flips) > most:
            yield f"  … and {len(flips) - most} more: {'-v lists them' if record is None else f'memfail show {record}'}"
    if comparison.total.n:
        found = "none" if result.detectable is None else f"{100 * result.detectable:.1f} points"
        unit = "questions" if comparison.rows == comparison.total.n else "rows"
        yield f"smallest true drop that {comparison.rows} such {unit} show in four of five runs: {found}"


def _table(comparison: Comparison, full: bool) -> Iterator[str]:
    if not any(pair.worse or pair.better for pair in comparison.tasks):
        return
    yield f"{'against the baseline':<28}{'n':>6}{'worse':>8}{'better':>8}{'p':>11}{'p (Holm)':>11}"
    for pair in (*comparison.tasks, *([comparison.total] if len(comparison.tasks) > 1 else [])):
        corrected = "" if pair.corrected is None else p_value(pair.corrected)
        yield f"{pair.name:<28}{pair.n:>6}{pair.worse:>8}{pair.better:>8}{p_value(pair.p):>11}{corrected:>11}".rstrip()
        if full:
            for verdict in comparison.verdicts.get(pair.name, ()):
                yield f"  {verdict.name}: {verdict.worse} more, {verdict.better} fewer, two-sided p {p_value(verdict.p)}"


def _flip(flip: Flip) -> str:
    # an id is for pasting: it is never cut
    return f"  {flip.id} {flip.old} -> {flip.new}"
