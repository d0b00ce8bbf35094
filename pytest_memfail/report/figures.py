"""Draw the plots of the page as SVG or PNG for papers and slides, with matplotlib (extra `plots`)."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from pytest_memfail.report.charts import segments
from pytest_memfail.results import Loaded, SideBySide, labels, side_by_side

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
    """Return a drawing of verdicts by task, of success against k (several k), and against tokens per memory (several records)."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    names, found = labels(records), side_by_side(records)
    several = [draw for draw, asked in ((_by_k, found.by_k), (_by_tokens, len(records) > 1)) if asked]
    rows = sum(len(record.summary().tasks) for record in records)
    heights = [1.0 + 0.32 * rows, *(3.2 for _ in several)]
    with rc_context({"text.parse_math": False}):  # a "$" in a name is a "$"
        drawing = Figure(figsize=(7.5, 0.2 + sum(heights)), layout="constrained")
        panels: Any = drawing.subplots(len(heights), 1, squeeze=False, height_ratios=heights)
        _bars(panels[0][0], records, names)
        for (panel,), draw in zip(panels[1:], several, strict=True):
            draw(panel, found)
        software = {"Creator": MADE_BY, "Date": None} if suffix == ".svg" else {"Software": MADE_BY}
        content = BytesIO()
        drawing.savefig(content, format=suffix[1:], dpi=200, metadata=software)
    return content.getvalue()


def _bars(panel: Axes, records: Sequence[Loaded], names: Sequence[str]) -> None:
    shown: set[str] = set()
    ticks: list[str] = []
    summaries = [record.summary() for record in records]
    tasks = dict.fromkeys(tally.name for summary in summaries for tally in summary.tasks)
    # task by task, so that the bars to compare are adjacent
    bars = [
        (name, tally, summary.answered)
        for task in tasks
        for name, summary in zip(names, summaries, strict=True)
        for tally in summary.tasks
        if tally.name == task
    ]
    for at, (name, tally, answered) in enumerate(bars):
        left = 0.0
        ticks.append(f"{tally.name}: {name}" if len(records) > 1 else tally.name)
        for colour, label, count in segments(tally, answered=answered):
            share = 100 * count / tally.n
            panel.barh(at, share, left=left, color=COLOURS[colour], label=None if label in shown else label)
            shown.add(label)
            left += share
    panel.set_yticks(range(len(ticks)), ticks)
    panel.invert_yaxis()
    panel.set_xlim(0, 100)
    panel.set_xlabel("% of questions")
    panel.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)


def _by_k(panel: Axes, found: SideBySide) -> None:
    for record, label in enumerate(found.labels):
        points = [(k, rate) for i, k, rate in found.by_k if i == record and rate.value is not None]
        values = [100 * (rate.value or 0) for _, rate in points]
        error = [[v - 100 * r.low for v, (_, r) in zip(values, points, strict=True)],
                 [100 * r.high - v for v, (_, r) in zip(values, points, strict=True)]]  # fmt: skip
        colour = RECORDS[record % len(RECORDS)]
        panel.errorbar([k for k, _ in points], values, error, marker="o", capsize=3, color=colour, label=label)
    panel.set_xlabel("k")
    _percent(panel, found)


def _by_tokens(panel: Axes, found: SideBySide) -> None:
    totals = [row for row in found.rows if row.task == "all"] or found.rows  # one task is its own total
    for row in totals:
        if row.tokens is not None and row.success.value is not None:
            value = 100 * row.success.value
            error = [[value - 100 * row.success.low], [100 * row.success.high - value]]
            colour = RECORDS[row.record % len(RECORDS)]
            panel.errorbar(
                [row.tokens], [value], error, marker="o", capsize=3, color=colour, label=found.labels[row.record]
            )
    panel.set_xlabel("tokens per memory")
    panel.set_xlim(left=0)
    _percent(panel, found)


def _percent(panel: Axes, found: SideBySide) -> None:
    panel.set_ylabel(f"{found.measure} %")
    panel.set_ylim(0, 103)  # room for a marker at 100
    panel.grid(axis="y", alpha=0.3)
    if panel.get_legend_handles_labels()[0]:
        panel.legend(frameon=False)
