"""Render one self-contained page that works from a file, without network. The folder `page` holds its templates."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

from pytest_memfail._version import __version__
from pytest_memfail.core import STATES, in_words
from pytest_memfail.records import Gate, judge_in_words
from pytest_memfail.report import plots
from pytest_memfail.report.compare import (
    BESIDE,
    FLIP_COLUMNS,
    at_k,
    flip_cells,
    moved_text,
    percent_of,
    shift_name,
    shift_text,
)
from pytest_memfail.report.gate import check_name, check_value
from pytest_memfail.report.page_data import page_data
from pytest_memfail.report.suites import suite_sentences
from pytest_memfail.report.terminal import failed_questions, first_look, headlines, reference_lines
from pytest_memfail.report.text import (
    abstention,
    amount,
    estimates,
    model_sentence,
    occurring,
    steadiness,
    task_means,
    tokens_each,
    vacuous_passes,
)
from pytest_memfail.results import HELD, Loaded, SideBySide, Summary, Tally, labels, side_by_side
from pytest_memfail.safety import escape_controls

PAGE: Final = Path(__file__).with_name("page")
"""The folder of templates, style and script."""
SCRIPTS: Final = ("core.js", "list.js", "lifeline.js", "overview.js", "store.js", "main.js")
"""The files of the script, in order."""
POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'"
)
"""The page fetches nothing and runs no script but ours, whatever a memory says."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the page; the first cell of a row is its heading."""

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    label: str = ""
    """The name of the table for screen readers; if empty, the caption."""
    left: Sequence[str] = ()
    """Columns of text, which are left-aligned."""
    total: bool = False
    """Whether the last row is the total of the others."""
    tall: bool = False
    """Whether the table may have many rows and scrolls."""


EARLIER: Final = ("started", "held %", "facts held %", "where most is lost", "run")
SORTS: Final = {
    "": "as asked",
    "verdict": "verdict",
    "task": "task",
    "rank": "rank of the needed memory, worst first",
    "lost": "most details lost first",
    "sure": "unsure verdicts first",
}
"""The orders of the list of questions."""


def html(records: Sequence[Loaded], earlier: Sequence[Sequence[str]] = ()) -> str:
    """Return the page as HTML; `earlier` are rows of earlier runs: name, start, held, facts held, headline."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    names = labels(records)
    found = side_by_side(records)
    summaries = [record.summary() for record in records]
    script = page_script()
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    templates = Environment(
        loader=FileSystemLoader(PAGE),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
    page = templates.get_template("page.html.jinja").render(
        version=__version__,
        title=f"memfail: {', '.join(names)}",
        policy=POLICY.format(digest),
        # the only three values that are not escaped: our own files, and JSON that is safe in a script element
        css=Markup((PAGE / "page.css").read_text(encoding="utf-8")),
        script=Markup(script),
        data=Markup(page_data(records, names)),
        runs=[
            _run(i, record, name, summary)
            for i, (record, name, summary) in enumerate(zip(records, names, summaries, strict=True))
        ],
        colours=plots.colours(summaries),
        moved=[
            {
                "said": moved_text(found, moved),
                "shown": [
                    (f"Show the {change}", f"#{urlencode({'change': change, 'record': moved.record})}")
                    for change, flips in (("worse", moved.worse), ("better", moved.better))
                    if flips
                ],
            }
            for moved in found.moved
        ],
        plots=[*plots.by_k(found), *plots.by_tokens(found)],
        beside=_beside(found) if len(names) > 1 else (),
        earlier=Table(
            "Kept runs of this system, oldest first",
            EARLIER,
            [[*rest, name] for name, *rest in earlier],
            left=EARLIER[3:],
            tall=True,
        )
        if len(earlier) > 1
        else None,
        notes=found.notes,
        filters=list(_filters(records, names)),
    )
    return escape_controls(page)


def page_script() -> str:
    """Return the page's script: its files, in one function."""
    parts = "\n".join((PAGE / name).read_text(encoding="utf-8") for name in SCRIPTS)
    return f'"use strict";\n(function () {{\n{parts}}})();\n'


def _run(index: int, record: Loaded, name: str, summary: Summary) -> Mapping[str, Any]:
    header = record.header
    model = f", answers by {header.test_taker}" if header.test_taker else ""
    failed = failed_questions(record.questions, summary)
    said_first, first = headlines(summary, failed)[0], first_look(summary, failed)
    first = {"clue": f"{index}.0"} if "clue" in first else {**first, "record": str(index)}
    rate = f"{summary.measure.capitalize()} {percent_of(summary.success(summary.total), sign=' %')} questions"
    means = [pair for block in summary.tables for pair in task_means(block, summary)]
    return {
        "index": index,
        "name": name,
        "rate": rate,
        "headline": said_first[:1].upper() + said_first[1:] + ".",
        "first": f"#{urlencode(first)}" if failed else "",
        "about": (
            f"system {header.system}, judge {judge_in_words(header.judge, header.judge_options)}{model}, protocol {record.protocol}, "
            f"k={','.join(map(str, header.k))}, {header.started}"
        ),
        "untrusted": summary.untrusted,
        "partial": not record.complete,
        "warnings": summary.warnings,
        "tables": _rates(summary),
        "said": [
            *(f"{name.replace('  ', ', ')}: {summary.measure} {100 * mean:.1f} %" for name, mean in means),
            *headlines(summary, failed)[1:],
            *reference_lines(summary, failed),
            *suite_sentences(summary),
            *estimates(summary),
            *abstention(summary),
            *vacuous_passes(summary),
            *filter(None, [model_sentence(summary.models)]),
        ],
        "repeats": record.repeats,
        "steadiness": [sentence for sentence in map(steadiness, summary.tasks) if sentence],
        "bars": [
            plots.bar(name, tally) for name, tally in plots.at_each_k(summary) if tally.name != summary.total.name
        ],
        "gate": None if summary.gate is None else _gate(summary.gate),
    }


def _rates(summary: Summary) -> list[Table]:
    columns = occurring(summary.total)
    figures, exact = {f.task: f for f in summary.stores}, summary.approximate is None
    repeats = bool(summary.total.duplicate_share)
    is_compared = summary.total.compared > 0

    def rates(tally: Tally) -> list[str]:
        counts = (str(tally.states[state]) for state in columns)
        against = map(str, (tally.compared, tally.beyond, tally.better) if is_compared else ())
        return [str(tally.n), percent_of(summary.success(tally)), percent_of(tally.facts_held), *against, *counts]

    def shown(tally: Tally) -> list[str]:
        store = figures.get(tally.name)
        return [
            amount(tally.shown_tokens, exact=exact),
            amount(tally.shown_share, 100),
            *([amount(tally.duplicate_share, 100)] * repeats),
            str(store.memories) if store else "",
            tokens_each(store.tokens, store.memories, exact=exact).strip("-") if store else "",
        ]

    def table(caption: str, label: str, names: Sequence[str], row: Callable[[Tally], list[str]]) -> Table:
        rows = [[name, *row(tally)] for name, tally in plots.at_each_k(summary)]
        return Table(caption, ("task", *names), rows, label=label, total=True)

    against = ["compared", "beyond verbatim", "better"] * is_compared
    beside = ["tokens shown", "% of the store", *["repeats shown %"] * repeats, "memories", "tokens each"]
    return [
        table(
            f"{summary.measure} in %, and how the n questions ended",
            "Rates by task",
            ["n", f"{summary.measure} %", "facts held %", *against, *map(in_words, columns)],
            rates,
        ),
        table("What a question is shown, and what the stores hold", "Memories by task", beside, shown),
    ]


def _gate(gate: Gate) -> Mapping[str, Any]:
    columns = ("expression", "task", "outcome", "by")
    rows = [[check_name(check), check.task or "", check.outcome, check_value(check)] for check in gate.checks]
    tables = [Table("What was checked", columns, rows, left=columns, tall=True)]
    since = None if gate.anchor is None else gate.anchor.comparison
    columns = ("id", "change", "was", "is")
    for than, comparison in (("baseline", gate.comparison), ("anchor", since)):
        if comparison is not None and comparison.flips:
            flips = sorted(comparison.flips, key=lambda flip: ("worse", "better", "other").index(flip.change))
            rows = [[flip.id, flip.change, flip.old, flip.new] for flip in flips]
            caption = f"Questions with another verdict than in the {than}"
            tables.append(Table(caption, columns, rows, left=columns, tall=True))
    return {
        "outcome": gate.outcome,
        "baseline": None if gate.comparison is None else str(gate.baseline),
        "anchor": gate.anchor,
        "notes": gate.notes,
        "tables": tables,
    }


def _beside(found: SideBySide) -> list[Table]:
    failures = list(found.rows[0].failures) if found.rows else []
    rates = [
        [
            at_k(row.task, row.k),
            found.labels[row.record],
            percent_of(row.success),
            *(percent_of(row.failures[name], 0) for name in failures),
            *(cell(row) for cell in BESIDE.values()),
        ]
        for row in found.rows
    ]
    tables = [
        Table(
            "Rates in % of the questions decided",
            ("task", "record", found.measure, *map(in_words, failures), *BESIDE),
            rates,
            label="Verdict rates by task and record",
            left=("record",),
        ),
        Table(
            f"Against {found.labels[0]}, on the questions decided in both",
            ("task", "record", *FLIP_COLUMNS),
            [[at_k(f.task, f.k), found.labels[f.record], *flip_cells(f)] for f in found.flips],
            label="Paired tests",
            left=("record",),
        ),
    ]
    if found.shifts:
        shifts = Table(
            f"Measures against {found.labels[0]}, on the questions of both",
            ("measure", "record", "clusters", "difference [95 % interval, bootstrap over clusters]"),
            [[shift_name(found, s), found.labels[s.record], str(s.clusters), shift_text(s)] for s in found.shifts],
            label="Paired measures",
            left=("record",),
        )
        tables.append(shifts)
    return tables


def _filters(records: Sequence[Loaded], names: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    """Yield the filters of the list of questions."""
    asked = [question for record in records for question in record.questions]
    has_changes = len(records) > 1 or any(record.summary().gate for record in records)
    tasks = dict.fromkeys(question.group for question in asked)
    ended = {question.state for question in asked}
    shown = [(state, in_words(state)) for state in STATES if state in ended]
    yield _filter("verdict", ("", "all"), ("failed", "all failures and errors"), ("held", HELD), *shown)
    yield _filter("task", ("", "all"), *((task, task) for task in tasks))
    yield _filter(
        "rank",
        ("", "any"),
        ("first", "1"),
        ("later", "2 and later"),
        ("none", "not shown"),
        label="needed memory at rank",
    )
    if len(records) > 1:
        yield _filter("record", ("", "all"), *((str(i), name) for i, name in enumerate(names)))
    if has_changes:
        changes = {
            "moved": "worse or better",
            "worse": "worse",
            "better": "better",
            "other": "another verdict",
            "same": "same",
        }
        before = names[0] if len(records) > 1 else "the baseline"
        yield _filter("change", ("", "any"), *changes.items(), label=f"against {before}")
    if any(question.reference_held is not None for question in asked):
        sides = (("beyond", "lost here only"), ("better", "lost there only"), ("ceiling", "lost there too"))
        yield _filter("reference", ("", "any"), *sides, label="beside a verbatim store")
    first = "worse first, then better" if has_changes else SORTS[""]
    yield _filter("sort", *{**SORTS, "": first}.items(), label="order")


def _filter(name: str, *options: tuple[str, str], label: str = "") -> Mapping[str, Any]:
    return {"name": name, "options": options, "label": label or name}
