"""Lay out the plots of the page, each with its numbers as text for readers who cannot see it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from pytest_memfail.core import CORRECT, ERROR, FAILURES, UNGRADED, VACUOUS
from pytest_memfail.records import Rate
from pytest_memfail.report.compare import at_k, rows_by_k
from pytest_memfail.results import HELD, Row, SideBySide, Summary, Tally

COLOURS: Final = tuple(f"s{i}" for i in range(6))
"""The colours of records; verdicts have others."""

DASHES: Final = ("none", "6 4", "2 3", "10 3 2 3")
BAR: Final = 600
WIDTH: Final = 420
HEIGHT: Final = 260
LEFT, RIGHT, TOP, BOTTOM = 44, 20, 14, 40


def segments(tally: Tally, *, answered: bool) -> Iterator[tuple[str, str, int]]:
    """Yield the colour, name and count of each part of a task's bar, in order; the counts add up to n."""
    if answered:
        parts = [(name, name.replace("_", " "), tally.verdicts[name]) for name in (CORRECT, *FAILURES, UNGRADED, ERROR)]
    else:
        failures = [(name, name.replace("_", " "), tally.verdicts[name]) for name in (*FAILURES, ERROR)]
        left = tally.n - tally.held - tally.vacuous - sum(count for _, _, count in failures)
        held = [("held", HELD, tally.held), (VACUOUS, "vacuous pass", tally.vacuous)]
        parts = [*held, *failures[:-1], (UNGRADED, UNGRADED, left), failures[-1]]
    yield from (part for part in parts if part[2])


def colours(summaries: Sequence[Summary]) -> list[tuple[str, str]]:
    """Return each colour that occurs in the bars, with its meaning."""
    seen = {
        colour: name
        for summary in summaries
        for tally in summary.tasks
        for colour, name, _ in segments(tally, answered=summary.answered)
    }
    order = ("held", CORRECT, VACUOUS, *FAILURES, UNGRADED, ERROR)
    return [(colour, seen[colour]) for colour in order if colour in seen]


def at_each_k(summary: Summary) -> Iterator[tuple[str, Tally]]:
    """Yield the figures of each task and of all, with their names; those of a task asked at several k for each of them."""
    for tally in (*summary.tasks, summary.total):
        at = {k: found[tally.name] for k, found in summary.by_k.items() if tally.name in found}
        several = [(f"{tally.name} k={k}", found) for k, found in at.items()]
        yield from several if len(several) > 1 else [(tally.name, tally)]


def bar(name: str, tally: Tally, *, answered: bool) -> dict[str, Any]:
    """Return a task's verdicts as one stacked bar."""
    x = 0.0
    parts = []
    for colour, verdict, count in segments(tally, answered=answered):
        width = BAR * count / tally.n
        parts.append({"x": x, "width": width, "colour": colour, "name": verdict, "count": count})
        x += width
    said = ", ".join(f"{part['name']} {part['count']}" for part in parts)
    return {"name": name, "label": f"{name}: {said}", "width": BAR, "parts": parts}


def by_k(found: SideBySide) -> list[dict[str, Any]]:
    """Return a plot of success against k for each task that was asked at several, with a line for each record."""
    return [_by_k(task, rates, found) for task, rates in rows_by_k(found).items()]


def _by_k(task: str, rates_at: Mapping[tuple[int, int], Row], found: SideBySide) -> dict[str, Any]:
    ks = sorted({k for _, k in rates_at})
    place = {k: LEFT + (WIDTH - LEFT - RIGHT) * (i + 0.5) / len(ks) for i, k in enumerate(ks)}
    series, said = [], []
    for record, label in enumerate(found.labels):
        rates = [(k, rates_at[record, k].success) for k in ks if (record, k) in rates_at]
        points = [_point(place[k], rate) for k, rate in rates if rate.value is not None]
        series.append(_series(record, label, points) | {"joined": True})
        said += [f"{label} k={k} {_said(rate)}" for k, rate in rates]
    return _plot(f"{task}: {found.measure} % against k", "k", [(place[k], str(k)) for k in ks], series, said, found)


def by_tokens(found: SideBySide) -> dict[str, Any] | None:
    """Return the plot of success against tokens per memory, a point for each record; None for one record."""
    # one task is its own total
    totals = [row for row in found.rows if row.task == "all"] or found.rows
    points = [(row.tokens, row) for row in totals if row.tokens is not None and row.success.value is not None]
    if len(found.labels) < 2 or not points:
        return None
    most = max(tokens for tokens, _ in points) * 1.1 or 1.0
    ticks = [(LEFT + (WIDTH - LEFT - RIGHT) * step / 4, f"{most * step / 4:.0f}") for step in range(5)]
    series, said = [], []
    for tokens, row in points:
        label = found.labels[row.record]
        x = LEFT + (WIDTH - LEFT - RIGHT) * tokens / most
        series.append(_series(row.record, label, [_point(x, row.success)]))
        said.append(f"{at_k(label, row.k)}: {'≈' if row.approximate else ''}{tokens:.1f} tokens, {_said(row.success)}")
    return _plot(f"{found.measure} % against tokens per memory", "tokens per memory", ticks, series, said, found)


def _y(value: float) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - value)


def _said(rate: Rate) -> str:
    return "-" if rate.value is None else f"{100 * rate.value:.1f} % [{100 * rate.low:.0f}, {100 * rate.high:.0f}]"


def _point(x: float, rate: Rate) -> dict[str, Any]:
    return {"x": x, "y": _y(rate.value or 0), "low": _y(rate.low), "high": _y(rate.high), "said": _said(rate)}


def _series(record: int, label: str, points: Sequence[dict[str, Any]]) -> dict[str, Any]:
    colour, dash = COLOURS[record % len(COLOURS)], DASHES[record % len(DASHES)]
    return {"name": label, "colour": colour, "dash": dash, "joined": False, "points": points}


def _plot(
    title: str,
    x_name: str,
    ticks: Sequence[tuple[float, str]],
    series: Sequence[dict[str, Any]],
    said: Sequence[str],
    found: SideBySide,
) -> dict[str, Any]:
    return {
        "title": title,
        "x_name": x_name,
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "right": WIDTH - RIGHT,
        "grid": [(_y(share), f"{100 * share:.0f}") for share in (0, 0.25, 0.5, 0.75, 1)],
        "ticks": ticks,
        "series": series,
        "said": said,
        "key": [(COLOURS[i % len(COLOURS)], label) for i, label in enumerate(found.labels)],
    }
