"""One self-contained page: it needs no network, and works from a file."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Final

from pytest_memfail._version import __version__
from pytest_memfail.core import CORRECT, ERROR, FAILURES, UNGRADED, escape_controls
from pytest_memfail.report import charts
from pytest_memfail.report.compare import BESIDE, percent
from pytest_memfail.report.gate import check_name, check_value, p_value
from pytest_memfail.report.page_data import page_data
from pytest_memfail.report.text import abstention, amount, occurring, steadiness, tokens_each, vacuous_passes
from pytest_memfail.results import HELD, Loaded, SideBySide, Summary, labels, side_by_side, success

HERE: Final = Path(__file__).parent
POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'"
)
"""Nothing is fetched, and no script but ours runs, whatever a memory says."""


def html(records: Sequence[Loaded]) -> str:
    """The text of the page."""
    names = labels(records)
    found = side_by_side(records)
    summaries = [record.summary() for record in records]
    title = f"memfail: {', '.join(names)}"
    script = (HERE / "page.js").read_text(encoding="utf-8")
    page = "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{escape(_policy(script))}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta name="generator" content="pytest-memfail {escape(__version__)}">',
            f"<title>{escape(title)}</title>",
            f"<style>{(HERE / 'page.css').read_text(encoding='utf-8')}</style></head><body>",
            '<a class="skip" href="#questions">Skip to the questions</a>',
            f"<header><h1>{escape(title)}</h1></header>",
            "<main>",
            *_overview(records, names, summaries, found),
            *_gates(names, summaries),
            *_beside(found),
            *_questions(records, names),
            "</main>",
            f'<footer class="soft"><p>pytest-memfail {escape(__version__)}. In brackets: 95 % Wilson intervals.</p></footer>',
            f'<script type="application/json" id="data">{page_data(records, names)}</script>',
            f"<script>{script}</script>",
            "</body></html>",
            "",
        ]
    )
    return escape_controls(page)


def _policy(script: str) -> str:
    """The page's Content-Security-Policy, which allows this one script."""
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    return POLICY.format(digest)


def _overview(
    records: Sequence[Loaded], names: Sequence[str], summaries: Sequence[Summary], found: SideBySide
) -> Iterator[str]:
    yield '<section aria-labelledby="overview"><h2 id="overview">Overview</h2>'
    for record, name, summary in zip(records, names, summaries, strict=True):
        header = record.header
        if len(records) > 1:
            yield f"<h3>{escape(name)}</h3>"
        model = f", answers by {header['test_taker']}" if header.get("test_taker") else ""
        yield '<p class="soft">' + escape(
            f"system {header.get('system')}, judge {header.get('judge')}{model}, protocol {record.protocol}, "
            f"k={','.join(map(str, header.get('k', ())))}, {header.get('started', '')}"
        )
        yield "</p>"
        if (untrusted := summary.untrusted) is not None:
            yield f'<p class="warn"><strong>No trustworthy result:</strong> {escape(untrusted)}</p>'
        elif not record.complete:
            yield '<p class="warn">Partial: the run did not end, or not all that was selected has a result.</p>'
        yield from (f'<p class="warn">{escape(warning)}</p>' for warning in summary.warnings)
        yield from _table(record, summary)
        yield from _repeats(record, summary)
    yield "<h3>Verdicts by task</h3>"
    yield charts.legend(summaries)
    for i, summary in enumerate(summaries):
        if len(records) > 1:
            yield f'<p class="soft">{escape(names[i])}</p>'
        for tally in summary.tasks:
            yield charts.bar(tally, answered=summary.answered)
    plots = [plot for plot in (charts.by_k(found), charts.by_tokens(found)) if plot]
    if plots:
        yield f'<div class="plots">{"".join(plots)}</div>'
    yield "</section>"


def _table(record: Loaded, summary: Summary) -> Iterator[str]:
    measure = CORRECT if summary.answered else HELD
    columns = occurring(summary.total)
    yield '<div class="scroll" tabindex="0" role="region" aria-label="Rates by task"><table>'
    yield f"<caption>{escape(measure)} in %, counts of the verdicts, what the stores hold</caption><thead><tr>"
    beside = ("facts held %", "tokens shown", "% of the store")
    counted = (v.replace("_", " ") for v in columns)
    for name in ("task", "n", f"{measure} %", *beside, *counted, "memories", "tokens each"):
        yield f'<th scope="col">{escape(name)}</th>'
    yield "</tr></thead><tbody>"
    figures = {f.name: f for f in summary.stores}
    for tally in (*summary.tasks, summary.total):
        rate = percent(success(tally, answered=summary.answered, protocol=record.protocol))
        store = figures.get(tally.name)
        memories = str(store.memories) if store else ""
        exact = summary.approximate is None
        tokens = tokens_each(store.tokens, store.memories, exact=exact).strip("-") if store else ""
        shown = amount(tally.shown_tokens, exact=exact), amount(tally.shown_share, 100)
        cells = [
            str(tally.n),
            rate,
            percent(tally.facts_held),
            *shown,
            *(str(tally.verdicts[v]) for v in columns),
            memories,
            tokens,
        ]
        kind = ' class="total"' if tally is summary.total else ""
        yield f'<tr{kind}><th scope="row">{escape(tally.name)}</th>' + "".join(f"<td>{c}</td>" for c in cells) + "</tr>"
    yield "</tbody></table></div>"
    said = [] if summary.answered else ["No answer was judged: what memory held is ungraded."]
    yield from (
        f'<p class="soft">{escape(line)}</p>' for line in (*said, *abstention(summary), *vacuous_passes(summary))
    )


def _repeats(record: Loaded, summary: Summary) -> Iterator[str]:
    said = [sentence for sentence in map(steadiness, summary.tasks) if sentence]
    if not said:
        return
    yield f'<p class="soft">Each question was asked {record.repeats} times, and the majority counts:</p><ul>'
    yield "".join(f"<li>{escape(sentence)}</li>" for sentence in said) + "</ul>"


def _gates(names: Sequence[str], summaries: Sequence[Summary]) -> Iterator[str]:
    for i, (name, summary) in enumerate(zip(names, summaries, strict=True)):
        if summary.gate is None:
            continue
        gate = summary.gate
        of = f" of {escape(name)}" if len(names) > 1 else ""
        yield f'<section aria-labelledby="gate-{i}"><h2 id="gate-{i}">Gate{of}: {gate.outcome}</h2>'
        if gate.comparison is not None:
            yield f'<p class="soft">Against the baseline {escape(str(gate.baseline))}.</p>'
        if gate.anchor is not None:
            yield f'<p class="soft">Against the anchor {escape(gate.anchor.path)}, set because: {escape(gate.anchor.reason)}</p>'
        yield from (f'<p class="warn">{escape(note)}</p>' for note in gate.notes)
        rows = [[check_name(check), check.task or "", check.outcome, check_value(check)] for check in gate.checks]
        yield _left_table("What was checked", ("expression", "task", "outcome", "by"), rows)
        since = None if gate.anchor is None else gate.anchor.comparison
        for than, comparison in (("baseline", gate.comparison), ("anchor", since)):
            if comparison is not None and comparison.flips:
                flips = sorted(comparison.flips, key=lambda flip: ("worse", "better", "other").index(flip.change))
                rows = [[flip.id, flip.change, flip.old, flip.new] for flip in flips]
                caption = f"Questions with another verdict than in the {than}"
                yield _left_table(caption, ("id", "change", "was", "is"), rows)
        yield "</section>"


def _left_table(caption: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col" class="left">{escape(name)}</th>' for name in columns)
    body = "".join(
        f'<tr><th scope="row">{escape(first)}</th>'
        + "".join(f'<td class="left">{escape(cell)}</td>' for cell in others)
        + "</tr>"
        for first, *others in rows
    )
    return (
        f'<div class="scroll tall" tabindex="0" role="region" aria-label="{escape(caption)}"><table>'
        f"<caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _beside(found: SideBySide) -> Iterator[str]:
    if len(found.labels) < 2:
        return
    yield '<section aria-labelledby="beside"><h2 id="beside">Side by side</h2>'
    if found.notes:
        yield "<ul>" + "".join(f"<li>{escape(note)}</li>" for note in found.notes) + "</ul>"
    columns = list(found.rows[0].failures) if found.rows else []
    yield '<div class="scroll" tabindex="0" role="region" aria-label="Verdict rates by task and record"><table>'
    yield "<caption>Rates in % of the questions decided</caption><thead><tr>"
    for name in ("task", "record", "n", found.measure, *(c.replace("_", " ") for c in columns), *BESIDE):
        kind = ' class="left"' if name == "record" else ""
        yield f'<th scope="col"{kind}>{escape(name)}</th>'
    yield "</tr></thead><tbody>"
    for row in found.rows:
        cells = [str(row.n), percent(row.success), *(percent(row.failures[c], 0) for c in columns)]
        cells += [cell(row) for cell in BESIDE.values()]
        yield f'<tr><th scope="row">{escape(row.task)}</th><td class="left">{escape(found.labels[row.record])}</td>'
        yield "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
    yield "</tbody></table></div>"
    yield '<div class="scroll" tabindex="0" role="region" aria-label="Paired tests"><table>'
    yield f"<caption>Against {escape(found.labels[0])}, on the questions decided in both</caption><thead><tr>"
    for name in ("task", "record", "n", "better", "worse", "p (exact, by row)"):
        kind = ' class="left"' if name == "record" else ""
        yield f'<th scope="col"{kind}>{name}</th>'
    yield "</tr></thead><tbody>"
    for flips in found.flips:
        cells = [str(flips.n), str(flips.better), str(flips.worse), escape(p_value(flips.p))]
        yield f'<tr><th scope="row">{escape(flips.task)}</th><td class="left">{escape(found.labels[flips.record])}</td>'
        yield "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
    yield "</tbody></table></div></section>"


def _questions(records: Sequence[Loaded], names: Sequence[str]) -> Iterator[str]:
    lines = [line for record in records for line in record.questions]
    tasks = dict.fromkeys(line["task"] for line in lines)
    verdicts = [v for v in (CORRECT, *FAILURES, UNGRADED, ERROR) if any(line["verdict"] == v for line in lines)]
    failed = any(line["verdict"] in (*FAILURES, ERROR) for line in lines)
    yield '<section aria-labelledby="questions"><h2 id="questions" tabindex="-1">Questions</h2>'
    yield '<form role="search" aria-label="Filter the questions">'
    options = [("", "all"), ("failed", "all failures and errors"), *((v, v.replace("_", " ")) for v in verdicts)]
    yield _select("verdict", options, "failed" if failed else "")
    yield _select("task", [("", "all"), *((task, task) for task in tasks)], "")
    if len(records) > 1:
        yield _select("record", [("", "all"), *((str(i), name) for i, name in enumerate(names))], "")
    yield '<div><label for="words">text or id contains</label><input id="words" name="words" type="search"></div>'
    yield '</form><p id="status" role="status" class="soft"></p><div id="list"></div>'
    yield '<button id="more" type="button" hidden>Show more</button>'
    yield "<noscript><p>The list of questions needs JavaScript; <code>memfail show</code> prints the same.</p></noscript>"
    yield "</section>"


def _select(name: str, options: Sequence[tuple[str, str]], chosen: str) -> str:
    inner = "".join(
        f'<option value="{escape(value)}"{" selected" if value == chosen else ""}>{escape(label)}</option>'
        for value, label in options
    )
    return f'<div><label for="{name}">{name}</label><select id="{name}" name="{name}">{inner}</select></div>'
