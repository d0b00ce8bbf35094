"""Draw the plots: laid out for the page, where the numbers stand as text too, and as SVG or PNG with matplotlib (extra `plots`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from pytest_memfail.core import in_words
from pytest_memfail.records import Rate
from pytest_memfail.report.compare import at_k, rows_by_k
from pytest_memfail.results import Loaded, Row, SideBySide, Summary, Tally, labels, side_by_side

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS: Final = {
    "correct": "#1f8a70", "no_answer": "#5fb39b", "vacuous": "#b9dcd2", "not_stored": "#b5402a", "summary_error": "#d98e04",
    "not_retrieved": "#2f6db5", "wrongly_held": "#8a1c5a", "reasoning_error": "#9a4f96", "ungraded": "#a8b0b8", "error": "#30363d",
}  # fmt: skip
"""The colours of the page's light theme, in the order of the legend."""
RECORDS: Final = ("#1d4f85", "#b05a00", "#4f7a12", "#8a3a80", "#7a6a00", "#1b6f6a")
"""The colours of records, which the page calls s0 to s5."""
DASHES: Final = ("none", "6 4", "2 3", "10 3 2 3")
MADE_BY: Final = "pytest-memfail figure"
BAR: Final = 600
WIDTH: Final = 420
HEIGHT: Final = 260
LEFT, RIGHT, TOP, BOTTOM = 44, 20, 14, 40


# -- what is drawn -----------------------------------------------------------------------------------------------------


def segments(tally: Tally) -> Iterator[tuple[str, str, int]]:
    """Yield the state, which is the name of its colour, its words and its count for each part of a task's bar; they add up to n."""
    for state in COLOURS:
        if tally.states[state]:
            yield state, in_words(state), tally.states[state]


def at_each_k(summary: Summary) -> Iterator[tuple[str, Tally]]:
    """Yield the figures of each task and of all, with their names; those of a task asked at several k for each of them."""
    for tally in (*summary.tasks, summary.total):
        at = {k: found[tally.name] for k, found in summary.by_k.items() if tally.name in found}
        several = [(f"{tally.name} k={k}", found) for k, found in at.items()]
        yield from several if len(several) > 1 else [(tally.name, tally)]


def _against_k(rows: Mapping[tuple[int, int], Row], record: int) -> list[tuple[int, Rate]]:
    """Return the success of a record at each k, in ascending order."""
    return sorted(((k, row.success) for (i, k), row in rows.items() if i == record), key=lambda point: point[0])


def _against_tokens(found: SideBySide) -> list[tuple[float, Row]]:
    """Return the rows of all questions with their tokens per memory; one task is its own total."""
    totals = [row for row in found.rows if row.task == "all"] or found.rows
    return [(row.tokens, row) for row in totals if row.tokens is not None and row.success.value is not None]


# -- on the page -------------------------------------------------------------------------------------------------------


def colours(summaries: Sequence[Summary]) -> list[tuple[str, str]]:
    """Return each colour that occurs in the bars, with its meaning."""
    seen = {colour: name for summary in summaries for tally in summary.tasks for colour, name, _ in segments(tally)}
    return [(colour, seen[colour]) for colour in COLOURS if colour in seen]


def bar(name: str, tally: Tally) -> dict[str, Any]:
    """Return a task's verdicts as one stacked bar."""
    x = 0.0
    parts = []
    for colour, verdict, count in segments(tally):
        width = BAR * count / tally.n
        parts.append({"x": x, "width": width, "colour": colour, "name": verdict, "count": count})
        x += width
    said = ", ".join(f"{part['name']} {part['count']}" for part in parts)
    return {"name": name, "label": f"{name}: {said}", "width": BAR, "parts": parts}


def by_k(found: SideBySide) -> Iterator[dict[str, Any]]:
    """Yield a plot of success against k for each task that was asked at several, with a line for each record."""
    for task, rows in rows_by_k(found).items():
        ks = sorted({k for _, k in rows})
        place = {k: LEFT + (WIDTH - LEFT - RIGHT) * (i + 0.5) / len(ks) for i, k in enumerate(ks)}
        series, said = [], []
        for record, label in enumerate(found.labels):
            rates = _against_k(rows, record)
            series.append(_series(record, label, [(place[k], rate) for k, rate in rates], joined=True))
            said += [f"{label} k={k} {_said(rate)}" for k, rate in rates]
        yield _plot(f"{task}: {found.measure} % against k", "k", [(place[k], str(k)) for k in ks], series, said, found)


def by_tokens(found: SideBySide) -> Iterator[dict[str, Any]]:
    """Yield the plot of success against tokens per memory, a point for each record; nothing for one record."""
    points = _against_tokens(found)
    if len(found.labels) < 2 or not points:
        return
    most = max(tokens for tokens, _ in points) * 1.1 or 1.0
    ticks = [(LEFT + (WIDTH - LEFT - RIGHT) * step / 4, f"{most * step / 4:.0f}") for step in range(5)]
    series, said = [], []
    for tokens, row in points:
        label = found.labels[row.record]
        series.append(_series(row.record, label, [(LEFT + (WIDTH - LEFT - RIGHT) * tokens / most, row.success)]))
        said.append(f"{at_k(label, row.k)}: {'≈' if row.approximate else ''}{tokens:.1f} tokens, {_said(row.success)}")
    yield _plot(f"{found.measure} % against tokens per memory", "tokens per memory", ticks, series, said, found)


def _y(value: float) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - value)


def _said(rate: Rate) -> str:
    return "-" if rate.value is None else f"{100 * rate.value:.1f} % [{100 * rate.low:.0f}, {100 * rate.high:.0f}]"


def _colour(record: int) -> str:
    return f"s{record % len(RECORDS)}"


def _series(record: int, label: str, points: Sequence[tuple[float, Rate]], *, joined: bool = False) -> dict[str, Any]:
    return {
        "name": label,
        "colour": _colour(record),
        "dash": DASHES[record % len(DASHES)],
        "joined": joined,
        "points": [
            {"x": x, "y": _y(rate.value), "low": _y(rate.low), "high": _y(rate.high), "said": _said(rate)}
            for x, rate in points
            if rate.value is not None
        ],
    }


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
        "key": [(_colour(record), label) for record, label in enumerate(found.labels)],
    }


# -- as a picture ------------------------------------------------------------------------------------------------------


def figure(suffix: str, records: Sequence[Loaded]) -> bytes:
    """Return a drawing of verdicts by task, of success against k by task (several k), and against tokens per memory (several records).

    A task that was asked at several k has a bar for each of them in each record.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    found = side_by_side(records)
    against_k, bars = rows_by_k(found), _bars_of(records)
    small = [*against_k, *([None] if len(records) > 1 else [])]  # two panels side by side; None is that of tokens
    heights = [1.0 + 0.32 * len(bars), *(3.0 for _ in small[::2])]
    with rc_context({"text.parse_math": False}):  # a "$" in a name is a "$"
        drawing = Figure(figsize=(10, 0.2 + sum(heights)), layout="constrained")
        grid: Any = drawing.add_gridspec(len(heights), 2, height_ratios=heights)
        _draw_bars(drawing.add_subplot(grid[0, :]), bars)
        for place, task in enumerate(small):
            panel = drawing.add_subplot(grid[1 + place // 2, place % 2])
            if task is None:
                _draw_tokens(panel, found)
            else:
                _draw_ks(panel, task, against_k[task], found)
            panel.set_ylabel(f"{found.measure} %")
            panel.set_ylim(0, 103)  # room for a marker at 100
            panel.grid(axis="y", alpha=0.3)
            if panel.get_legend_handles_labels()[0]:
                panel.legend(frameon=False)
        software = {"Creator": MADE_BY, "Date": None} if suffix == ".svg" else {"Software": MADE_BY}
        content = BytesIO()
        drawing.savefig(content, format=suffix[1:], dpi=200, metadata=software)
    return content.getvalue()


def _bars_of(records: Sequence[Loaded]) -> list[tuple[str, Tally]]:
    """Return each bar's name and figures; those of a task are together, to be compared."""
    bars: dict[str, list[tuple[str, Tally]]] = {}
    for name, record in zip(labels(records), records, strict=True):
        summary = record.summary()
        for title, tally in at_each_k(summary):
            if tally.name != summary.total.name:
                tick = f"{title}: {name}" if len(records) > 1 else title
                bars.setdefault(tally.name, []).append((tick, tally))
    return [bar for of_task in bars.values() for bar in of_task]


def _draw_bars(panel: Axes, bars: Sequence[tuple[str, Tally]]) -> None:
    shown: set[str] = set()
    for at, (_, tally) in enumerate(bars):
        left = 0.0
        for colour, label, count in segments(tally):
            share = 100 * count / tally.n
            panel.barh(at, share, left=left, color=COLOURS[colour], label=None if label in shown else label)
            shown.add(label)
            left += share
    panel.set_yticks(range(len(bars)), [tick for tick, _ in bars])
    panel.invert_yaxis()
    panel.set_xlim(0, 100)
    panel.set_xlabel("% of questions")
    panel.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)


def _draw_ks(panel: Axes, task: str, rows: Mapping[tuple[int, int], Row], found: SideBySide) -> None:
    for record, label in enumerate(found.labels):
        _draw_points(panel, _against_k(rows, record), record, label)
    panel.set_title(task, fontsize="medium")
    panel.set_xlabel("k")
    panel.set_xticks(sorted({k for _, k in rows}))


def _draw_tokens(panel: Axes, found: SideBySide) -> None:
    named: set[int] = set()
    for tokens, row in _against_tokens(found):
        label = found.labels[row.record] if row.record not in named else None
        named.add(row.record)
        _draw_points(panel, [(tokens, row.success)], row.record, label)
    panel.set_xlabel("tokens per memory")
    panel.set_xlim(left=0)


def _draw_points(panel: Axes, points: Sequence[tuple[float, Rate]], record: int, label: str | None) -> None:
    known = [(x, 100 * rate.value, rate) for x, rate in points if rate.value is not None]
    values = [value for _, value, _ in known]
    below = [value - 100 * rate.low for _, value, rate in known]
    above = [100 * rate.high - value for _, value, rate in known]
    colour = RECORDS[record % len(RECORDS)]
    panel.errorbar([x for x, _, _ in known], values, [below, above], marker="o", capsize=3, color=colour, label=label)
