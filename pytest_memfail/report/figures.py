"""Draw the plots of the page as SVG or PNG for papers and slides, with matplotlib (extra `plots`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from pytest_memfail.report.charts import at_each_k, segments
from pytest_memfail.report.compare import rows_by_k
from pytest_memfail.results import Loaded, Row, SideBySide, Tally, labels, side_by_side

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS: Final = {
    "correct": "#1f8a70", "held": "#1f8a70", "vacuous": "#8cc9b9", "not_stored": "#b5402a", "summary_error": "#d98e04",
    "not_retrieved": "#2f6db5", "reasoning_error": "#9a4f96", "ungraded": "#a8b0b8", "error": "#30363d",
}  # fmt: skip
"""The colours of the page's light theme."""
RECORDS: Final = ("#1d4f85", "#b05a00", "#4f7a12", "#8a3a80", "#7a6a00", "#1b6f6a")
MADE_BY: Final = "pytest-memfail figure"


def figure(suffix: str, records: Sequence[Loaded]) -> bytes:
    """Return a drawing of verdicts by task, of success against k by task (several k), and against tokens per memory (several records).

    A task that was asked at several k has a bar for each of them in each record.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    names, found = labels(records), side_by_side(records)
    by_k, bars = rows_by_k(found), _bars_of(records, names)
    small = [*by_k, *([None] if len(records) > 1 else [])]  # two panels side by side; None is that of tokens
    heights = [1.0 + 0.32 * len(bars), *(3.0 for _ in small[::2])]
    with rc_context({"text.parse_math": False}):  # a "$" in a name is a "$"
        drawing = Figure(figsize=(10, 0.2 + sum(heights)), layout="constrained")
        grid: Any = drawing.add_gridspec(len(heights), 2, height_ratios=heights)
        _bars(drawing.add_subplot(grid[0, :]), bars)
        for place, task in enumerate(small):
            panel = drawing.add_subplot(grid[1 + place // 2, place % 2])
            if task is None:
                _by_tokens(panel, found)
            else:
                _by_k(panel, task, by_k[task], found)
        software = {"Creator": MADE_BY, "Date": None} if suffix == ".svg" else {"Software": MADE_BY}
        content = BytesIO()
        drawing.savefig(content, format=suffix[1:], dpi=200, metadata=software)
    return content.getvalue()


def _bars_of(records: Sequence[Loaded], names: Sequence[str]) -> list[tuple[str, Tally, bool]]:
    """Return each bar's name and figures, and whether answers were judged; those of a task are together, to be compared."""
    bars: dict[str, list[tuple[str, Tally, bool]]] = {}
    for name, record in zip(names, records, strict=True):
        summary = record.summary()
        for title, tally in at_each_k(summary):
            if tally.name != summary.total.name:
                tick = f"{title}: {name}" if len(records) > 1 else title
                bars.setdefault(tally.name, []).append((tick, tally, summary.answered))
    return [bar for of_task in bars.values() for bar in of_task]


def _bars(panel: Axes, bars: Sequence[tuple[str, Tally, bool]]) -> None:
    shown: set[str] = set()
    for at, (_, tally, answered) in enumerate(bars):
        left = 0.0
        for colour, label, count in segments(tally, answered=answered):
            share = 100 * count / tally.n
            panel.barh(at, share, left=left, color=COLOURS[colour], label=None if label in shown else label)
            shown.add(label)
            left += share
    panel.set_yticks(range(len(bars)), [tick for tick, _, _ in bars])
    panel.invert_yaxis()
    panel.set_xlim(0, 100)
    panel.set_xlabel("% of questions")
    panel.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)


def _by_k(panel: Axes, task: str, rates: Mapping[tuple[int, int], Row], found: SideBySide) -> None:
    for record, label in enumerate(found.labels):
        points = [(k, row.success) for (i, k), row in rates.items() if i == record and row.success.value is not None]
        values = [100 * (rate.value or 0) for _, rate in points]
        error = [[v - 100 * r.low for v, (_, r) in zip(values, points, strict=True)],
                 [100 * r.high - v for v, (_, r) in zip(values, points, strict=True)]]  # fmt: skip
        colour = RECORDS[record % len(RECORDS)]
        panel.errorbar([k for k, _ in points], values, error, marker="o", capsize=3, color=colour, label=label)
    panel.set_title(task, fontsize="medium")
    panel.set_xlabel("k")
    panel.set_xticks(sorted({k for _, k in rates}))
    _percent(panel, found)


def _by_tokens(panel: Axes, found: SideBySide) -> None:
    totals = [row for row in found.rows if row.task == "all"] or found.rows  # one task is its own total
    named: set[int] = set()
    for row in totals:
        if row.tokens is not None and row.success.value is not None:
            value = 100 * row.success.value
            error = [[value - 100 * row.success.low], [100 * row.success.high - value]]
            colour = RECORDS[row.record % len(RECORDS)]
            label = found.labels[row.record] if row.record not in named else None
            named.add(row.record)
            panel.errorbar([row.tokens], [value], error, marker="o", capsize=3, color=colour, label=label)
    panel.set_xlabel("tokens per memory")
    panel.set_xlim(left=0)
    _percent(panel, found)


def _percent(panel: Axes, found: SideBySide) -> None:
    panel.set_ylabel(f"{found.measure} %")
    panel.set_ylim(0, 103)  # room for a marker at 100
    panel.grid(axis="y", alpha=0.3)
    if panel.get_legend_handles_labels()[0]:
        panel.legend(frameon=False)
