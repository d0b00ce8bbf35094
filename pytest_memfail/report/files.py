"""Write reports as files: choose the format by the name's ending, and check which files may be replaced."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from pytest_memfail.core import UsageError, append_text, check_place, one_line, write_whole
from pytest_memfail.results import Loaded

ENDINGS: Final = (".html", ".md", ".json", ".svg", ".png")
DRAWN: Final = (".svg", ".png")
STEP_SUMMARY: Final = "GITHUB_STEP_SUMMARY"
"""The environment variable with the path of the file that CI shows as the step summary."""

OURS: Final = (
    'name="generator" content="pytest-memfail',
    "<!-- memfail report -->",
    '"generator": "pytest-memfail',
    "pytest-memfail figure",
)
LOOKED_AT: Final = 2000


def check_report(path: Path, option: str) -> None:
    """Check that a report can and may be written to a path; write nothing.

    Raises `UsageError` if not.
    """
    if path.suffix not in ENDINGS:
        raise UsageError(f"{option}: got {path.name!r}, expected a name that ends in {', '.join(ENDINGS)}")
    if path.suffix in DRAWN and find_spec("matplotlib") is None:
        raise UsageError(
            f"{option}: {path.name} is drawn by matplotlib, which is not installed; run: pip install 'pytest-memfail[plots]', "
            "or give a name that ends in .html, .md or .json"
        )
    check_place(path, option)
    if path.exists() and path.stat().st_size:
        with path.open(encoding="utf-8", errors="replace") as stream:
            start = stream.read(LOOKED_AT)
        if not any(mark in start for mark in OURS):
            raise UsageError(f"{option}: {path} exists and is not a report of memfail; it is left as it is")


def write_report(path: Path, records: Sequence[Loaded], page_url: str = "") -> None:
    """Write a report in the format of the file's ending. Markdown goes to the CI's step summary too. Raises `OSError`."""
    content = _render(path.suffix, records, page_url)
    write_whole(path, content)
    if path.suffix == ".md" and (step := os.environ.get(STEP_SUMMARY)):
        append_text(Path(step), str(content))


def write_reports(
    paths: Sequence[Path], records: Sequence[Loaded], page_url: str = ""
) -> Iterator[tuple[Path, str | None]]:
    """Write each report, also after one fails; yield each path with its error message, or None on success.

    Markdown links to the page at `page_url`, if there is one.
    """
    for path in paths:
        try:
            write_report(path, records, page_url)
        except Exception as error:
            yield path, f"{type(error).__name__}: {one_line(error)}"
        else:
            yield path, None


def page(records: Sequence[Loaded], earlier: Sequence[Sequence[str]] = ()) -> str:
    """Return the page as HTML; `earlier` are rows of earlier runs: name, start, held, facts held, headline."""
    from pytest_memfail.report.html import html

    return html(records, earlier)


def _render(suffix: str, records: Sequence[Loaded], page_url: str) -> str | bytes:
    if suffix in DRAWN:
        from pytest_memfail.report.plots import figure

        return figure(suffix, records)
    if suffix == ".html":
        return page(records)
    if suffix == ".md":
        from pytest_memfail.report.markdown import markdown

        return markdown(records, page_url)
    from pytest_memfail.report.published import summary_json

    return summary_json(records)
