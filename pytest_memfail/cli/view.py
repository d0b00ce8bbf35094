"""Open the page of a run in the browser.

Write the page of the last run and open it in the browser, with the kept runs of the same system. Several records are
compared.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_memfail.cli.arguments import CACHE_DIR, RECORD_HELP, Arguments
from pytest_memfail.cli.records import last, listed, load, place_of, runs_folder
from pytest_memfail.core import UsageError, write_whole

if TYPE_CHECKING:
    from pytest_memfail.records import KeptRun
    from pytest_memfail.results import Loaded

MOST: Final = 10
"""Earlier runs in the trend."""
PAGE: Final = "page.html"


def add(argument: Arguments) -> None:
    """Declare the arguments of the command."""
    argument("records RECORD", f"{RECORD_HELP}; default: last", Path, nargs="*")
    argument("--no-open", "print the path of the page and open nothing")
    argument("-o --output FILE", "where to write the page", Path)
    argument(*CACHE_DIR)


def run(options: argparse.Namespace) -> int:
    """Write the page, print the earlier runs, and open the page."""
    from pytest_memfail.records import kept_runs
    from pytest_memfail.report import check_report, page

    folder = runs_folder(options.cache_dir)
    # without records, it is an error if no run is kept
    runs = listed(options.cache_dir) if not options.records else kept_runs(folder) if folder is not None else []
    names = options.records or [last(runs)]
    records = [load(name, options.cache_dir) for name in names]
    place = place_of(names[0], options.cache_dir)
    beside = place.with_name(PAGE) if folder in place.parents else place.with_suffix(".html")
    output = options.output or beside
    check_report(output, "-o")
    if output.suffix != ".html":
        raise UsageError(f"-o: got {output.name!r}, expected a name that ends in .html")
    earlier = list(_trend(runs, records[0]))
    write_whole(output, page(records, earlier))
    for row in earlier:
        print(f"{row[0]:<28} {row[1]:<20} held {row[2]:<18} facts held {row[3]:<18} {row[4]}")
    print(output)
    if not options.no_open:
        import webbrowser

        if not webbrowser.open(output.resolve().as_uri()):
            print("no browser could be opened; open the file above")
    return 0


def _trend(runs: Sequence[KeptRun], record: Loaded) -> Iterator[Sequence[str]]:
    """Yield name, start, memory held, facts held and headline of the kept whole runs of the same system, oldest first."""
    from pytest_memfail.report import failed_questions, headlines, percent_of
    from pytest_memfail.results import load_record

    same = [run for run in runs if run.whole and run.header.system == record.header.system]
    for run in same[-MOST:]:
        try:
            found = load_record(run.record)
        except UsageError:  # removed or damaged; show the others
            continue
        summary = found.summary()
        rate = summary.success(summary.total)
        started = run.header.started[:16].replace("T", " ")
        suites = f"{', '.join(run.header.suite)}: " if run.header.suite else ""
        said = f"{suites}{headlines(summary, failed_questions(found.questions, summary))[0]}"
        yield run.id, started, percent_of(rate), percent_of(summary.total.facts_held), said
