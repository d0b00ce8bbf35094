"""Format the agreement of a judge with labelled cases as plain text of at most 100 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any, Final

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
LEGEND: Final = "strict: the label itself; accepted: any label that can be defended; ok/fail: whether it failed"


def judge_check(measures: Mapping[str, Any], *, shown: int) -> list[str]:
    """Return the measures of `memfail judge-check` with at most `shown` disagreements, all if negative."""
    return list(_lines(measures, shown))


def _lines(measures: Mapping[str, Any], shown: int) -> Iterator[str]:
    yield f"judge {measures['judge']}, protocol {measures['protocol']}"
    yield ""
    wide = _name_width(measures)
    yield f"{'':{wide}}" + "".join(f"{title:>9}" for _, title in COLUMNS)
    for task, found in measures["tasks"].items():
        yield _row(task, found, wide)
    for half, found in measures.get("splits", {}).items():
        yield _row(f"all, {half} half", found, wide)
    yield _row("all", measures["overall"], wide)
    yield LEGEND
    yield ""
    confusion = measures["overall"]["confusion"]
    yield f"{'label (down), judge':{NAME}}" + "".join(f"{name:>15}" for name in next(iter(confusion.values())))
    for label, said in confusion.items():
        yield f"{label:{NAME}}" + "".join(f"{count:>15}" for count in said.values())
    if measures["bands"]:
        yield ""
        yield f"{'confidence':{NAME}}{'facts':>9}{'accepted':>10}"
        for band in measures["bands"]:
            yield f"{band['from']:.2f} to {band['to']:.2f}{'':{NAME - 12}}{band['facts']:>9}{band['accepted']:>10.1%}"
    if "replies" in measures:
        yield from _replies(measures["replies"], _name_width(measures))
    if "mutation_score" in measures:
        yield from _kinds(measures)
    yield from _cases(measures, shown)


def _replies(found: Mapping[str, Any], least: int) -> Iterator[str]:
    wide = max([least, *map(len, found["groups"])])
    yield ""
    yield f"{'replies':{wide}}{'n':>9}{'decided':>9}{'right':>9}"
    for name, row in found["groups"].items():
        yield f"{name:{wide}}{row['n']:>9}{row['decided']:>9}{row['right']:>9}"
    yield "decided: not left to a model; right: of these, graded as labelled"
    for wrong in found["disagreements"]:
        yield from _wrapped(f"{wrong['case_id']}: {wrong['label']}, graded {wrong['outcome']}: {wrong['reason']}", "  ")


def _kinds(measures: Mapping[str, Any]) -> Iterator[str]:
    wide = _name_width(measures)
    yield ""
    yield f"{'planted fault':32}{'task':{wide}}{'facts':>9}{'named':>10}"
    for found in measures["kinds"]:
        yield f"{found['kind']:32}{found['task']:{wide}}{found['facts']:>9}{found['accepted']:>10.1%}"
    score = measures["mutation_score"]
    yield f"{'mutation score (faults named)':{32 + wide + 9}}" + (f"{'-':>10}" if score is None else f"{score:>10.1%}")


def _name_width(measures: Mapping[str, Any]) -> int:
    return max([NAME, *map(len, measures["tasks"])])


def _row(name: str, found: Mapping[str, Any], wide: int) -> str:
    cells = ""
    for key, _ in COLUMNS:
        value = found[key]
        if value is None:
            cells += f"{'-':>9}"
        elif isinstance(value, int):
            cells += f"{value:>9}"
        else:
            cells += f"{value:>9.2f}" if key in ("kappa", "macro_f1", "median_ms") else f"{value:>9.1%}"
    return f"{name:{wide}}{cells}"


def _cases(measures: Mapping[str, Any], shown: int) -> Iterator[str]:
    errors, wrong = measures["errors"], measures["disagreements"]
    if errors:
        yield ""
        yield f"the judge failed on {len(errors)} cases, which count neither as right nor as wrong:"
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
