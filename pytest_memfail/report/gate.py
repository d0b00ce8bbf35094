"""Format the gate as text: each expression with its value, the flips against the baseline, and the detectable drop."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from pytest_memfail.core import counted, one_line
from pytest_memfail.records import Check, Comparison, Flip, Gate, Paired
from pytest_memfail.report.tables import table
from pytest_memfail.results import SHOWN_TOKENS

WIDTH: Final = 100
WORDS: Final = {"passed": "ok", "failed": "FAILED", "undecided": "UNDECIDED", "skipped": "skipped"}
MOST_CHECKS: Final = 3
MOST_FLIPS: Final = 20
P_IS: Final = (
    "  p: how likely such a surplus of losses is if nothing changed (exact McNemar test, one-sided);",
    "  p (Holm): the same, raised because several tasks were tested",
)
TITLES: Final = {
    "worse": "worse than in {}",
    "better": "better than in {}",
    "other": "other changes since {}, neither worse nor better",
}


def gate(result: Gate, *, full: bool = False, record: str | None = None) -> list[str]:
    """Return the gate's part of the summary.

    Long lists are cut unless `full` is set. The note about the rest names `record`, the run for `memfail show`.
    """
    lines = [f"gate: {result.outcome}"]
    checks = result.checks if full else _telling(result.checks)
    lines += [line for check in checks if not check.anchored for line in _check(check)]
    if result.comparison is not None:
        lines.append(f"baseline: {result.baseline}, {counted(result.comparison.total.n, 'question')} compared")
        lines += [line for note in result.notes for line in indented(note)]
        lines += _comparison(result.comparison, "the baseline", full, record)
        lines += _detectable(result, result.comparison)
    if result.anchor is not None:
        lines.append(f"anchor: {result.anchor.path}, {counted(result.anchor.comparison.total.n, 'question')} compared")
        lines += indented(f"set because: {result.anchor.reason}")
        lines += [line for check in checks if check.anchored for line in _check(check)]
        lines += _comparison(result.anchor.comparison, "the anchor", full, record)
    return lines


def gate_outcome(result: Gate) -> str:
    """Return the gate on one line: its outcome, and the expressions that decided it."""
    deciding = [check for check in result.checks if check.outcome == result.outcome]
    if result.outcome == "passed":
        deciding = _telling(deciding)
    said = [f"{check_name(check)}: {check_value(check)}" for check in deciding[:MOST_CHECKS]]
    if len(deciding) > MOST_CHECKS:
        said.append(f"and {len(deciding) - MOST_CHECKS} more")
    return ", ".join([f"gate: {result.outcome}", *said])


def _telling(checks: Sequence[Check]) -> list[Check]:
    """Return the checks to show.

    For an expression about every task (`*.`), these are all tasks that did not pass, and the passed task with the lowest p.
    """
    nearest: dict[tuple[str, bool], Check] = {}
    for check in checks:
        pair, key = check.paired, (check.expression, check.anchored)
        if check.outcome == "passed" and _is_each(check) and pair is not None and pair.corrected is not None:
            best = nearest.setdefault(key, check).paired
            if best is not None and pair.p < best.p:
                nearest[key] = check
    return [
        check
        for check in checks
        if check.outcome != "passed" or nearest.get((check.expression, check.anchored), check) is check
    ]


def _is_each(check: Check) -> bool:
    return check.task is not None and check.expression.startswith("*")


def _check(check: Check) -> list[str]:
    """Return a check on one line or, if its value does not fit there, with the value below: nobody can use half a value."""
    value = check_value(check)
    name = one_line(check_name(replace(check, anchored=False)))  # the block already names the anchor
    head = f"  {name:<46} {WORDS[check.outcome]:<9}"
    line = f"{head} {one_line(value)}".rstrip()
    return [line] if len(line) <= WIDTH else [head.rstrip(), *indented(value, 6)]


def indented(text: str, by: int = 2) -> list[str]:
    """Return the text on lines of at most `WIDTH` columns; words stay whole."""
    indent = " " * by
    return textwrap.wrap(
        one_line(text, 1000),
        WIDTH,
        initial_indent=indent,
        subsequent_indent=f"{indent}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def check_name(check: Check) -> str:
    """Return the expression, with the task if it is about every task, and with `anchor` if it is about the anchor."""
    about = [check.task] if check.task is not None and _is_each(check) else []
    if check.anchored:
        about.append("anchor")
    return f"{check.expression} ({', '.join(about)})" if about else check.expression


def check_value(check: Check) -> str:
    """Return the value that decided a check, or the reason why none did."""
    if check.reason:
        return check.reason
    if check.paired is not None:
        corrected = check.expression.startswith("*") and check.paired.corrected is not None
        p = f"p (Holm) {p_value(check.paired.corrected or 0)}" if corrected else f"p {p_value(check.paired.p)}"
        return f"{check.paired.worse} worse, {check.paired.better} better of {check.paired.n}, {p}"
    if check.rate is not None and check.rate.value is not None:
        rate = check.rate
        return f"{rate.value:.3f} [{rate.low:.2f}, {rate.high:.2f}] of {rate.n}"
    if check.value is not None and SHOWN_TOKENS not in check.expression:
        return f"{check.value:.3f}"
    if check.value is not None:
        return f"{'≈' if check.approximate else ''}{check.value:.1f} tokens shown per question"
    return ""


def p_value(p: float) -> str:
    """Return a p-value with four digits, never as a plain zero."""
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"


def _comparison(comparison: Comparison, against: str, full: bool, record: str | None) -> Iterator[str]:
    if comparison.added:
        yield f"  not in {against}: {counted(comparison.added, 'question')}, {comparison.added_failing} of them failing"
    if comparison.missing:
        yield f"  {comparison.missing} of its questions were not asked"
    if comparison.uncounted:
        undecided = comparison.undecided
        why = f"; the judge could not read or decide {undecided} of them" if undecided else ""
        yield f"  without comparable results: {counted(comparison.uncounted, 'question')}{why}"
    if comparison.estimated:
        yield f"  the judge only estimated {comparison.estimated} of the questions compared"
    if any(pair.worse or pair.better for pair in comparison.tasks):
        yield from _table(comparison, against, full)
        yield from P_IS
    if comparison.rows != comparison.total.n:
        yield (
            f"  p treats the questions of a row as one: {comparison.rows_worse} worse, {comparison.rows_better} better of "
            f"{counted(comparison.rows, 'row')}"
        )
    for change, title in TITLES.items():
        flips = [flip for flip in comparison.flips if flip.change == change]
        if not flips or (change == "other" and not full):  # neither worse nor better: shown only in full
            continue
        most = len(flips) if full else MOST_FLIPS
        yield f"{title.format(against)}: {len(flips)}"
        yield from map(_flip, flips[:most])
        if len(flips) > most:
            yield f"  … and {len(flips) - most} more: {'-v lists them' if record is None else f'memfail show {record}'}"


def _detectable(result: Gate, comparison: Comparison) -> Iterator[str]:
    if comparison.total.n:
        n, failed = comparison.total.n, comparison.failed_before.get(comparison.total.name, 0)
        such = f"{comparison.rows} such {'questions' if comparison.rows == n else 'rows'}"
        if result.detectable is None:
            yield f"no true drop shows in four of five runs of {such}: only {n - failed} of {n} passed before"
        else:
            yield f"smallest true drop that {such} show in four of five runs: {100 * result.detectable:.1f} points"


def _table(comparison: Comparison, against: str, full: bool) -> Iterator[str]:
    pairs = (*comparison.tasks, *([comparison.total] if len(comparison.tasks) > 1 else []))
    head, *lines = table(
        [f"passed, against {against}", "n", "before -> now, %", "worse", "better", "p", "p (Holm)"],
        [
            (
                pair.name,
                str(pair.n),
                _before_and_now(comparison, pair),
                str(pair.worse),
                str(pair.better),
                p_value(pair.p),
                "" if pair.corrected is None else p_value(pair.corrected),
            )
            for pair in pairs
        ],
        [28, 6, 18, 8, 8, 11, 11],
    )
    yield head
    for pair, line in zip(pairs, lines, strict=True):
        yield line
        if full:
            for verdict in comparison.verdicts.get(pair.name, ()):
                yield f"  {verdict.name}: {verdict.worse} more, {verdict.better} fewer, two-sided p {p_value(verdict.p)}"


def _before_and_now(comparison: Comparison, pair: Paired) -> str:
    """Return the shares that did not fail before and now; a dash if no question was compared."""
    before = comparison.failed_before.get(pair.name, 0)
    if not pair.n:
        return "-"
    shares = (100 * (pair.n - failed) / pair.n for failed in (before, before + pair.worse - pair.better))
    return " -> ".join(f"{share:.1f}" for share in shares)


def _flip(flip: Flip) -> str:
    # never cut an id, because it is pasted into commands
    return f"  {flip.id} {flip.old} -> {flip.new}"
