"""Plots as inline SVG, each with its numbers as text for those who do not see it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

from pytest_memfail.core import CORRECT, ERROR, FAILURES, UNGRADED, VACUOUS
from pytest_memfail.results import HELD, Rate, SideBySide, Summary, Tally

COLOURS: Final = tuple(f"--s{i}" for i in range(6))
"""Of records: not those of verdicts."""

DASHES: Final = ("none", "6 4", "2 3", "10 3 2 3")
WIDTH: Final = 420
HEIGHT: Final = 260
LEFT, RIGHT, TOP, BOTTOM = 44, 20, 14, 40


def segments(tally: Tally, *, answered: bool) -> Iterator[tuple[str, str, int]]:
    """Colour, name and count of each part of a task's bar, in order; they add up to n."""
    if answered:
        parts = [(name, name.replace("_", " "), tally.verdicts[name]) for name in (CORRECT, *FAILURES, UNGRADED, ERROR)]
    else:
        failures = [(name, name.replace("_", " "), tally.verdicts[name]) for name in (*FAILURES, ERROR)]
        left = tally.n - tally.held - tally.vacuous - sum(count for _, _, count in failures)
        held = [("held", HELD, tally.held), (VACUOUS, "vacuous pass", tally.vacuous)]
        parts = [*held, *failures[:-1], (UNGRADED, UNGRADED, left), failures[-1]]
    yield from (part for part in parts if part[2])


def legend(summaries: Sequence[Summary]) -> str:
    """What the colours mean; only those that occur."""
    seen = {
        colour: name
        for summary in summaries
        for tally in summary.tasks
        for colour, name, _ in segments(tally, answered=summary.answered)
    }
    order = ("held", CORRECT, VACUOUS, *FAILURES, UNGRADED, ERROR)
    seen = {colour: seen[colour] for colour in order if colour in seen}
    items = (f'<li><i style="background:var(--{colour})"></i>{escape(name)}</li>' for colour, name in seen.items())
    return f'<ul class="legend" aria-label="Colours">{"".join(items)}</ul>'


def bar(tally: Tally, *, answered: bool) -> str:
    """A task's verdicts as one stacked bar."""
    x = 0.0
    shapes = []
    parts = list(segments(tally, answered=answered))
    for colour, name, count in parts:
        width = 600 * count / tally.n
        shapes.append(
            f'<rect x="{x:.2f}" width="{width:.2f}" height="24" style="fill:var(--{colour});stroke:var(--back)">'
            f"<title>{escape(name)}: {count}</title></rect>"
        )
        x += width
    said = ", ".join(f"{name} {count}" for _, name, count in parts)
    label = escape(f"{tally.name}: {said}")
    return (
        f'<div class="bar"><span>{escape(tally.name)}</span><svg viewBox="0 0 600 24" preserveAspectRatio="none" role="img" '
        f'aria-label="{label}">{"".join(shapes)}</svg></div>'
    )


def by_k(found: SideBySide) -> str:
    """Success against k, a line for each record; empty if there is but one k."""
    if not found.by_k:
        return ""
    ks = sorted({k for _, k, _ in found.by_k})
    place = {k: LEFT + (WIDTH - LEFT - RIGHT) * (i + 0.5) / len(ks) for i, k in enumerate(ks)}
    body = "".join(
        f'<text class="small" x="{place[k]:.1f}" y="{HEIGHT - 22}" text-anchor="middle">{k}</text>' for k in ks
    )
    said = []
    for record, label in enumerate(found.labels):
        points = [(place[k], rate) for i, k, rate in found.by_k if i == record and rate.value is not None]
        said += [f"{label} k={k} {_said(rate)}" for i, k, rate in found.by_k if i == record]
        path = " ".join(f"{x:.1f},{_y(rate.value or 0):.1f}" for x, rate in points)
        colour, dash = COLOURS[record % len(COLOURS)], DASHES[record % len(DASHES)]
        body += f'<polyline points="{path}" fill="none" stroke-width="2" stroke-dasharray="{dash}" style="stroke:var({colour})"/>'
        body += "".join(_point(x, rate, colour, label) for x, rate in points)
    return _plot(f"{found.measure} % against k", "k", body, said, found)


def by_tokens(found: SideBySide) -> str:
    """Success against tokens per memory, a point for each record; empty for one record."""
    totals = {row.record: row for row in found.rows if row.task == "all"} or {row.record: row for row in found.rows}
    points = [(row.tokens, row) for row in totals.values() if row.tokens is not None and row.success.value is not None]
    if len(found.labels) < 2 or not points:
        return ""
    most = max(tokens for tokens, _ in points) * 1.1 or 1.0
    body, said = "", []
    for step in range(5):
        x = LEFT + (WIDTH - LEFT - RIGHT) * step / 4
        body += f'<text class="small" x="{x:.1f}" y="{HEIGHT - 22}" text-anchor="middle">{most * step / 4:.0f}</text>'
    for tokens, row in points:
        label = found.labels[row.record]
        x = LEFT + (WIDTH - LEFT - RIGHT) * tokens / most
        body += _point(x, row.success, COLOURS[row.record % len(COLOURS)], label)
        said.append(f"{label}: {'≈' if row.approximate else ''}{tokens:.1f} tokens, {_said(row.success)}")
    return _plot(f"{found.measure} % against tokens per memory", "tokens per memory", body, said, found)


def _y(value: float) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - value)


def _said(rate: Rate) -> str:
    return "-" if rate.value is None else f"{100 * rate.value:.1f} % [{100 * rate.low:.0f}, {100 * rate.high:.0f}]"


def _point(x: float, rate: Rate, colour: str, label: str) -> str:
    y = _y(rate.value or 0)
    return (
        f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_y(rate.low):.1f}" y2="{_y(rate.high):.1f}" stroke-width="2" '
        f'style="stroke:var({colour})"/><circle cx="{x:.1f}" cy="{y:.1f}" r="5" style="fill:var({colour})"><title>'
        f"{escape(label)}: {_said(rate)}</title></circle>"
    )


def _plot(title: str, x_name: str, body: str, said: Sequence[str], found: SideBySide) -> str:
    grid = "".join(
        f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{_y(share):.1f}" y2="{_y(share):.1f}"/>'
        f'<text class="small" x="{LEFT - 6}" y="{_y(share) + 4:.1f}" text-anchor="end">{100 * share:.0f}</text>'
        for share in (0, 0.25, 0.5, 0.75, 1)
    )
    key = "".join(
        f'<li><i style="background:var({COLOURS[i % len(COLOURS)]})"></i>{escape(label)}</li>'
        for i, label in enumerate(found.labels)
    )
    label = escape(f"{title}: {'; '.join(said)}")
    return (
        f'<figure style="margin:0"><figcaption><h3>{escape(title)}</h3></figcaption><svg viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{label}">{grid}{body}'
        f'<text class="small" x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 4}" text-anchor="middle">{escape(x_name)}</text></svg>'
        f'<ul class="legend">{key}</ul></figure>'
    )
