"""Format the kept runs as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from pytest_memfail.records import Header, KeptRun

USUAL: Final = {
    "suite": None,
    "k": [5],
    "judge": "offline",
    "test_taker": None,
    "protocol": "ours",
    "seed": 42,
    "limit": None,
    "shown_tokens": None,
    "repeats": 1,
    "shard": None,
}
"""The default settings; only other settings are shown."""
NAMES: Final = {"test_taker": "model"}
"""Option names that differ from the header's field names."""


def run_table(runs: Sequence[KeptRun]) -> Iterator[str]:
    """Yield the lines of a table, the newest run last, and a line about the names of runs."""
    rows = [("run", "system", "settings", "questions", "")]
    for run in runs:
        asked = f"{run.results} of {run.questions}" if run.state != "running" else f"of {run.questions}"
        kind = "whole" if run.whole else "partial"
        rows.append((run.id, run.header.system, _settings(run.header), asked, f"{kind}, {run.state}"))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
    last = next((run.id for run in reversed(runs) if run.whole), None)
    yield ""
    yield f"last: {last or 'no whole run is kept'}; newest: {runs[-1].id}; memfail show NAME prints one"


def _settings(header: Header) -> str:
    given: dict[str, Any] = dict(header.system_options)
    values = {name: header.value(name) for name in USUAL}
    given |= {NAMES.get(name, name): value for name, value in values.items() if value not in (None, USUAL[name])}
    return " ".join(f"{name}={_text(value)}" for name, value in given.items()) or "-"


def _text(value: Any) -> str:
    text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= 30 else f"{text[:29]}…"
