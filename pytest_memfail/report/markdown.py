"""Format a run as a pull-request comment of fewer than 60 lines."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from pytest_memfail.core import ERROR, FAILURES, QuestionRecord, counted, in_words, one_line
from pytest_memfail.records import Comparison, Flip, Gate
from pytest_memfail.report.compare import (
    FLIP_COLUMNS,
    at_k,
    flip_cells,
    moved_text,
    percent,
    percent_of,
    shift_name,
    shift_text,
)
from pytest_memfail.report.gate import check_name, check_value
from pytest_memfail.report.plots import at_each_k
from pytest_memfail.report.suites import suite_sentences
from pytest_memfail.report.tables import markdown_table
from pytest_memfail.report.terminal import failed_questions, headlines, reference_lines, worst_first
from pytest_memfail.report.text import (
    abstention,
    amount,
    estimates,
    kept_of_it,
    model_sentence,
    occurring,
    steadiness,
    task_means,
    vacuous_passes,
    why,
)
from pytest_memfail.results import Loaded, SideBySide, is_unsure, side_by_side

MAX_LINES: Final = 58
MAX_FAILURES: Final = 10
MAX_ROWS: Final = 10
MAX_BESIDE: Final = 14
"""Rows of tasks and records side by side; above this number, only the totals are shown."""
MAX_CHECKS: Final = 5
MAX_FLIPS: Final = 8
MAX_MEASURES: Final = 8
MARK: Final = "<!-- memfail report -->"
"""Marks a comment for the bot that updates it, and a file as one of ours."""
UNSEEN: Final = "\u200b"
"""A zero-width space: text that contains it is no link and no mention."""
_LINKED: Final = re.compile(r"@(?=\S)|[a-z][a-z0-9+.-]*:(?=\S)|www(?=\.)|#(?=\d)|gh-(?=\d)", re.IGNORECASE)
"""Text that GitHub and GitLab turn into links: schemes, hosts, mentions, issue numbers."""


def markdown(records: Sequence[Loaded], page_url: str = "") -> str:
    """Return the text of the comment, with a link to the page if its address is given."""
    first, gate = records[0], records[0].summary().gate
    found = side_by_side(records) if len(records) > 1 else None
    lines = [MARK, *(_overview(first) if found is None else _beside(found, records))]
    if page_url:
        lines[2:2] = ["", f"[The page of the run]({page_url}): life lines, stores, ranks"]
    if gate is not None:
        lines[1:1] = [f"**memfail: gate {gate.outcome}**", ""]
        lines += ["", *_gate(gate, {question.id: question for question in first.questions})]
    if found is not None:
        cut = [*lines[: MAX_LINES - 2], "", "More: `memfail compare` with these records"]
        return "\n".join(lines if len(lines) <= MAX_LINES else cut) + "\n"
    worst = gate.comparison.worse[:1] if gate is not None and gate.comparison is not None else ()
    lines += ["", *_failures(first, MAX_LINES - len(lines) - 8, *(flip.id for flip in worst))]
    return "\n".join(lines) + "\n"


def _overview(record: Loaded) -> Iterator[str]:
    summary, header = record.summary(), record.header
    rate = summary.success(summary.total)
    failed = failed_questions(record.questions, summary)
    is_trusted = summary.untrusted is None and summary.total.n
    broken = ": ".join(filter(None, ["no trustworthy result", summary.untrusted]))
    first, *others = headlines(summary, failed) if is_trusted else [broken]
    yield f"### memfail: {plain(first, 400)}"
    yield ""
    model = f", answers by {plain(header.test_taker)}" if header.test_taker else ""
    yield (
        f"{summary.measure} {percent(rate)} % of {rate.n}; system {plain(header.system)}, judge {plain(header.judge)}{model}, "
        f"k={','.join(map(str, header.k))}; in brackets the 95 % Wilson interval"
    )
    if summary.untrusted is None and not record.complete:
        yield "**Partial:** the run did not end, or not all that was selected has a result"
    yield ""
    if said := [*others, *reference_lines(summary, failed)]:
        yield "; ".join(plain(line, 400) for line in said)
        yield ""
    columns = occurring(summary.total)
    is_compared = summary.total.compared > 0
    names = [
        f"{summary.measure} %",
        "facts held %",
        "tokens shown (% of the store)",
        *(["beyond verbatim", "better"] if is_compared else []),
        *map(in_words, columns),
    ]
    found = list(at_each_k(summary))
    of_tasks = [one for one in found if one[1].name != summary.total.name]
    rows = []
    for name, tally in [*of_tasks[:MAX_ROWS], *(found[len(of_tasks) :] if len(summary.tasks) > 1 else [])]:
        tokens = f"{amount(tally.shown_tokens, exact=summary.approximate is None)} ({amount(tally.shown_share, 100)})"
        counts = [str(tally.states[state]) for state in columns]
        rates = [percent_of(summary.success(tally)), percent_of(tally.facts_held)]
        beyond = [f"{tally.beyond} of {tally.compared}", str(tally.better)] if is_compared else []
        rows.append([plain(name), str(tally.n), *rates, tokens, *beyond, *counts])
    yield from markdown_table(["task", "n", *names], rows)
    for name, mean in [pair for block in summary.tables for pair in task_means(block, summary)][:3]:
        yield ""
        yield f"{name.replace('  ', ', ')}: {summary.measure} {100 * mean:.1f} %"
    if len(of_tasks) > MAX_ROWS:
        yield ""
        yield f"and {counted(len(of_tasks) - MAX_ROWS, 'more task' if not summary.by_k else 'more row')}"
    for line in suite_sentences(summary)[:MAX_MEASURES]:
        yield ""
        yield plain(line)
    if said := [*estimates(summary), *abstention(summary)[:3], *vacuous_passes(summary)[:3]]:
        yield ""
        yield "; ".join(map(plain, said))
    if calls := model_sentence(summary.models):
        yield ""
        yield plain(calls, 400)
    for warning in summary.warnings[:3]:
        yield ""
        yield f"Warning: {plain(warning, 300)}"
    if unsteady := steadiness(summary.total):
        yield ""
        yield f"Each asked {record.repeats} times: {plain(unsteady)}"


def _gate(gate: Gate, questions: Mapping[str, QuestionRecord]) -> Iterator[str]:
    against = [gate.baseline] if gate.baseline and gate.comparison is not None else []
    if gate.anchor is not None:
        against.append(f"the anchor {gate.anchor.path} (set because: {gate.anchor.reason})")
    yield f"**Gate: {gate.outcome}**{', against ' if against else ''}{' and '.join(map(plain, against))}"
    yield ""
    bad_first = sorted(gate.checks, key=lambda check: check.outcome in ("passed", "skipped"))
    for check in bad_first[:MAX_CHECKS]:
        about = plain(check_name(check).removeprefix(check.expression))
        yield f"- `{code(check.expression)}`{about} **{check.outcome}** {plain(check_value(check))}"
    if len(bad_first) > MAX_CHECKS:
        yield f"- and {len(bad_first) - MAX_CHECKS} more checks"
    if gate.comparison is not None:
        yield from _worse(gate.comparison, "baseline", questions)
    if gate.anchor is not None and any(check.anchored and check.outcome == "failed" for check in gate.checks):
        yield from _worse(gate.anchor.comparison, "anchor", questions)


def _worse(comparison: Comparison, than: str, questions: Mapping[str, QuestionRecord]) -> Iterator[str]:
    if not comparison.worse:
        return
    yield ""
    before = comparison.failed_before
    moved = [paired for paired in comparison.tasks if (paired.worse or paired.better) and paired.name in before]
    by_task = [f"{plain(p.name)} {before[p.name]} → {before[p.name] + p.worse - p.better} of {p.n}" for p in moved]
    said = f"; failures before → now: {', '.join(by_task[:MAX_ROWS])}" if by_task else ""
    yield f"Worse than in the {than}: {len(comparison.worse)}{said}"
    yield ""
    yield from _flips(comparison.worse, MAX_FLIPS, questions)


def _flips(flips: Sequence[Flip], most: int, questions: Mapping[str, QuestionRecord]) -> Iterator[str]:
    for flip in flips[:most]:
        yield f"- `{code(flip.id)}` {plain(flip.old)} → **{plain(flip.new)}**{_why(questions.get(flip.id))}"
    if len(flips) > most:
        yield f"- and {len(flips) - most} more"


def _why(question: QuestionRecord | None) -> str:
    reason = "" if question is None else why(question)
    return f": {plain(reason)}" if reason else ""


def _beside(found: SideBySide, records: Sequence[Loaded]) -> Iterator[str]:
    """Yield what got worse and better against the first record, then the rates of all."""
    yield f"### memfail: {plain(moved_text(found, found.moved[0]))}"
    for moved in found.moved:
        if moved.record > 1:
            yield ""
            yield f"**{plain(moved_text(found, moved))}**"
        questions = {question.id: question for question in records[moved.record].questions}
        for flips in (moved.worse, moved.better):
            most = max(2, MAX_FLIPS // len(found.moved))
            if flips:
                yield ""
                yield f"{flips[0].change.capitalize()}: {len(flips)}"
                yield ""
                yield from _flips(flips, most, questions)
    yield ""
    totals = [row for row in found.rows if row.task == "all"]
    rows = list(found.rows) if len(found.rows) <= MAX_BESIDE or not totals else totals
    columns = ["task", "record", f"{found.measure} %", "facts held %", "tokens shown", *map(in_words, rows[0].failures)]
    cells = [
        [
            *(plain(at_k(row.task, row.k)), plain(found.labels[row.record])),
            *(percent_of(row.success), percent_of(row.tally.facts_held)),
            amount(row.tally.shown_tokens, exact=not row.approximate),
            *(str(row.tally.states[state]) for state in row.failures),
        ]
        for row in rows[:MAX_BESIDE]
    ]
    yield from markdown_table(columns, cells)
    yield ""
    tests = [flips for flips in found.flips if flips.task == "all"] or list(found.flips)
    of_tests = [[plain(at_k(found.labels[one.record], one.k)), *flip_cells(one)] for one in tests[:MAX_ROWS]]
    yield from markdown_table([f"{found.measure} against {plain(found.labels[0])}", *FLIP_COLUMNS], of_tests)
    for shift in found.shifts[:MAX_MEASURES]:
        name = f"{shift_name(found, shift)} of {found.labels[shift.record]}"
        yield f"- {plain(name)}: {plain(shift_text(shift))} over {shift.clusters} clusters"
    for note in found.notes[:3]:
        yield f"- {plain(note)}"


def _failures(record: Loaded, room: int, worst: str = "") -> Iterator[str]:
    failed = [question for question in record.questions if question.verdict in (*FAILURES, ERROR)]
    if not failed:
        yield "No question failed."
        return
    by_id = {question.id: question for question in failed}
    broken = [question for question in failed if question.error is not None]
    clearest = [by_id[i] for i in worst_first(failed_questions(failed, record.summary()), MAX_FAILURES)]
    shown = [*clearest, *broken][: max(1, min(MAX_FAILURES, room))]
    yield f"<details><summary>{len(failed)} failed, the {len(shown)} clearest</summary>"
    yield ""
    for question in shown:
        unsure = " (unsure)" if is_unsure(question) else ""
        kept = next((kept_of_it(fact.kept) for fact in question.facts if fact.kept is not None), "")
        of_it = f"; kept of its conversation: {kept}" if kept else ""
        yield f"- `{code(question.id)}` **{question.verdict}**{unsure} {plain(why(question) + of_it, 320)}"
    yield ""
    yield "</details>"
    yield ""
    again = record.header.rerun_command(worst or shown[0].id)
    yield f"All of them: `memfail show {code(_beside_us(record.path))}`; one again: `{code(again)}`"


def _beside_us(path: str) -> str:
    """Return a path relative to the working directory, or only its name: a comment is read on other machines."""
    place, here = Path(path).resolve(), Path.cwd()
    return shlex.quote(place.relative_to(here).as_posix() if place.is_relative_to(here) else place.name)


def plain(text: str, limit: int = 160) -> str:
    """Return foreign text as plain text: without markup, HTML, links, and mentions of people or issues."""
    text = one_line(text, limit).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = _LINKED.sub(lambda found: found[0] + UNSEEN, text)
    return re.sub(r"([\\`*_{}\[\]()#+!|~])", r"\\\1", text)


def code(text: str) -> str:
    """Return a text that is safe inside backticks."""
    return one_line(text, 400).replace("`", "'")
