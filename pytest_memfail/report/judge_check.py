"""Format the agreement of a judge with labelled cases as plain text of at most 100 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pytest_memfail.core import NOT_STORED, SUMMARY_ERROR, counted
from pytest_memfail.records import judge_in_words
from pytest_memfail.report.tables import table

WIDTH: Final = 100
NAME: Final = 24
"""The minimum width of the column of names."""
COLUMNS: Final = (
    ("cases", "cases"),
    ("facts", "facts"),
    ("accuracy", "strict"),
    ("accepted", "accepted"),
    ("ok_versus_failure", "ok/fail"),
    ("macro_f1", "macro-F1"),
    ("kappa", "kappa"),
    ("median_ms", "ms/case"),
)
GOOD: Final = ("ok",)
DAMAGED: Final = (NOT_STORED, SUMMARY_ERROR)
"""The labels of facts that the store lacks, in part or in whole."""
LEGEND: Final = "strict: the label itself; accepted: any label that can be defended; ok/fail: whether it failed"


def judge_check(measures: Mapping[str, Any], *, shown: int) -> list[str]:
    """Return the measures of `memfail judge-check` with at most `shown` disagreements, all if negative."""
    return list(_lines(measures, shown))


def _lines(measures: Mapping[str, Any], shown: int) -> Iterator[str]:
    options, weights = measures["judge_options"], measures["judge_weights"]
    known = "" if weights in (None, options.get("form")) else f"weights {weights}, "
    yield f"judge {judge_in_words(measures['judge'], options)}, {known}protocol {measures['protocol']}"
    yield ""
    wide = _name_width(measures)
    groups = {**measures["tasks"], **{f"all, {half} half": found for half, found in measures.get("splits", {}).items()}}
    groups["all"] = measures["overall"]
    rows = [_row(name, found) for name, found in groups.items()]
    yield from table(["", *(title for _, title in COLUMNS)], rows, [wide, *(9 for _ in COLUMNS)])
    yield LEGEND
    overall = measures["overall"]
    shares = [
        f"{overall[key]:.1%} of {{}}" if overall[key] is not None else "-" for key in ("good_failed", "damaged_passed")
    ]
    confusion = overall["confusion"]
    good, damaged = (sum(sum(confusion[name].values()) for name in some) for some in (GOOD, DAMAGED))
    yield f"good facts failed: {shares[0].format(good)}; damaged or lost facts passed: {shares[1].format(damaged)}"
    yield ""
    names = list(next(iter(confusion.values())))
    rows = [[label, *map(str, said.values())] for label, said in confusion.items()]
    yield from table(["label (down), judge", *names], rows, [NAME, *(15 for _ in names)])
    if measures["bands"]:
        yield ""
        rows = [
            [f"{band['from']:.2f} to {band['to']:.2f}", str(band["facts"]), f"{band['accepted']:.1%}"]
            for band in measures["bands"]
        ]
        yield from table(["confidence", "facts", "accepted"], rows, [NAME, 9, 10])
    if "replies" in measures:
        yield from _replies(measures["replies"], _name_width(measures))
    if "mutation_score" in measures:
        yield from _kinds(measures)
    yield from _cases(measures, shown)


def _replies(found: Mapping[str, Any], least: int) -> Iterator[str]:
    rows = [[name, *(str(row[key]) for key in ("n", "decided", "right"))] for name, row in found["groups"].items()]
    yield ""
    yield from table(["replies", "n", "decided", "right"], rows, [least, 9, 9, 9])
    yield "decided: not left to a model; right: of these, graded as labelled"
    for wrong in found["disagreements"]:
        yield from _wrapped(f"{wrong['case_id']}: {wrong['label']}, graded {wrong['outcome']}: {wrong['reason']}", "  ")


def _kinds(measures: Mapping[str, Any]) -> Iterator[str]:
    score = measures["mutation_score"]
    rows = [[row["kind"], row["task"], str(row["facts"]), f"{row['accepted']:.1%}"] for row in measures["kinds"]]
    rows.append(["mutation score (faults named)", "", "", "-" if score is None else f"{score:.1%}"])
    yield ""
    yield from table(["planted fault", "task", "facts", "named"], rows, [32, _name_width(measures), 9, 10], left=2)


def _name_width(measures: Mapping[str, Any]) -> int:
    return max([NAME, *map(len, measures["tasks"])])


def _row(name: str, found: Mapping[str, Any]) -> list[str]:
    cells = [name]
    for key, _ in COLUMNS:
        value = found[key]
        if value is None:
            cells.append("-")
        elif isinstance(value, int):
            cells.append(str(value))
        else:
            cells.append(f"{value:.2f}" if key in ("kappa", "macro_f1", "median_ms") else f"{value:.1%}")
    return cells


def _cases(measures: Mapping[str, Any], shown: int) -> Iterator[str]:
    errors, wrong = measures["errors"], measures["disagreements"]
    if errors:
        yield ""
        yield f"the judge failed on {counted(len(errors), 'case')}, which count neither as right nor as wrong:"
        for error in errors[: max(shown, 1) if shown >= 0 else None]:
            yield from _wrapped(f"{error['case_id']}: {error['error']}", "  ")
    some = wrong[:shown] if shown >= 0 else wrong
    if some:
        yield ""
        yield "disagreements" + (f" ({len(some)} of {len(wrong)}; --show -1 for all)" if len(some) < len(wrong) else "")
    for case in some:
        fact = f" fact {case['fact'] + 1}" if case["facts"] > 1 else ""
        sure = "" if case["confidence"] is None else f" ({case['confidence']:.2f})"
        kind = f" [{case['kind']}]" if case["kind"] else ""
        yield from _wrapped(
            f"{case['case_id']}{fact}: {' or '.join(case['accept'])}, judged {case['predicted']}{sure}{kind}", "  "
        )
        yield from _wrapped(f"why: {case['reason']}", "      ")


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  ", break_long_words=True)
