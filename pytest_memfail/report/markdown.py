"""A pull-request comment of fewer than 60 lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from pytest_memfail.core import CORRECT, ERROR, FAILURES, UNGRADED, one_line
from pytest_memfail.report.compare import percent, small
from pytest_memfail.report.text import headline
from pytest_memfail.results import HELD, Loaded, SideBySide, side_by_side, success

MAX_FAILURES: Final = 10
MAX_ROWS: Final = 16
MARK: Final = "<!-- memfail report -->"
"""By this a bot finds its own comment again, and we our own file."""


def markdown(records: Sequence[Loaded]) -> str:
    """The text of the comment."""
    lines = [MARK, *_overview(records[0])]
    if len(records) > 1:
        lines += ["", *_beside(side_by_side(records))]
    lines += ["", *_failures(records[0])]
    return "\n".join(lines) + "\n"


def _overview(record: Loaded) -> Iterator[str]:
    summary, header = record.summary(), record.header
    measure = CORRECT if summary.answered else HELD
    rate = success(summary.total, answered=summary.answered, protocol=record.protocol)
    yield f"### memfail: {measure} {percent(rate)} % of {rate.n}"
    yield ""
    model = f", answers by {plain(str(header['test_taker']))}" if header.get("test_taker") else ""
    yield (
        f"system {plain(str(header.get('system')))}, judge {plain(str(header.get('judge')))}{model}, "
        f"k={','.join(map(str, header.get('k', ())))}; in brackets the 95 % Wilson interval"
    )
    if (untrusted := summary.untrusted) is not None:
        yield f"**No trustworthy result:** {plain(untrusted)}"
    elif not record.complete:
        yield "**Partial:** the run did not end, or not all that was selected has a result"
    yield ""
    columns = [name for name in (CORRECT, *FAILURES, UNGRADED, ERROR) if summary.total.verdicts[name]]
    # a run without answers has few correct ones, and they mean nothing
    columns = columns if summary.answered else [name for name in columns if name != CORRECT]
    yield "| task | n | " + " | ".join([f"{measure} %", *(name.replace("_", " ") for name in columns)]) + " |"
    yield "| --- |" + " ---: |" * (len(columns) + 2)
    tallies = [*summary.tasks[:MAX_ROWS], *([summary.total] if len(summary.tasks) > 1 else [])]
    for tally in tallies:
        counts = [str(tally.verdicts[name]) for name in columns]
        rate = success(tally, answered=summary.answered, protocol=record.protocol)
        yield f"| {plain(tally.name)} | {tally.n} | " + " | ".join([percent(rate), *counts]) + " |"


def _beside(found: SideBySide) -> Iterator[str]:
    yield f"| against {plain(found.labels[0])} | n | better | worse | p (exact McNemar) |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    totals = [flips for flips in found.flips if flips.task == "all"] or list(found.flips)
    for flips in totals[:MAX_ROWS]:
        yield f"| {plain(found.labels[flips.record])} | {flips.n} | {flips.better} | {flips.worse} | {small(flips.p)} |"
    for note in found.notes[:3]:
        yield f"- {plain(note)}"


def _failures(record: Loaded) -> Iterator[str]:
    failed = [line for line in record.questions if line["verdict"] in (*FAILURES, ERROR)]
    if not failed:
        yield "No question failed."
        return
    yield f"<details><summary>{len(failed)} failed, the first {min(len(failed), MAX_FAILURES)}</summary>"
    yield ""
    for line in failed[:MAX_FAILURES]:
        said = line["error"]["message"] if line["verdict"] == ERROR else headline(line).partition(": ")[2]
        yield f"- `{code(line['id'])}` **{line['verdict']}** {plain(said)}"
    yield ""
    yield "</details>"
    yield ""
    yield f"All of them: `memfail show {code(record.path)}`"


def plain(text: str, limit: int = 160) -> str:
    """Text of others as text: no markup, no HTML, and nobody is mentioned."""
    text = one_line(text, limit).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = re.sub(r"([\\`*_{}\[\]()#+!|~])", r"\\\1", text)
    return re.sub(r"(@|\bhttps?:|\bwww\.)", lambda m: m[0][0] + "\u200b" + m[0][1:], text)


def code(text: str) -> str:
    """Text inside backticks."""
    return one_line(text, 200).replace("`", "'").replace("|", "\\|")
