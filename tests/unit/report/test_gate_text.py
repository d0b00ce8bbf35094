"""The gate as text: one line at the end, and how long its lists get."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_memfail.records import Check, Comparison, Flip, Gate, Paired
from pytest_memfail.report import gate, gate_outcome

PAIRED = Paired("all", 748, 339, 2, 0.0)
FAILED = Check("regressions:p<0.05", None, "failed", paired=PAIRED)


def flipped(**changes: int) -> Gate:
    flips = tuple(
        Flip(f"memfail/t::{change}-{i}", "t", "no_answer", "not_stored", change)
        for change, count in changes.items()
        for i in range(count)
    )
    return Gate((FAILED,), Comparison(PAIRED, (PAIRED,), {}, flips, 0, 0, 0, 0, 748), "b.jsonl")


@pytest.mark.parametrize(
    ("checks", "line"),
    [
        ((FAILED,), "gate: failed, regressions:p<0.05: 339 worse, 2 better of 748, p < 0.0001"),
        (
            (
                Check("*.correct<1", "long_hop", "failed", reason="low"),
                Check("correct<0.8", None, "passed", reason="fine"),
            ),
            "gate: failed, *.correct<1 (long_hop): low",
        ),
        (
            tuple(Check(f"correct<0.{i}", None, "passed", reason="fine") for i in range(1, 6)),
            "gate: passed, correct<0.1: fine, correct<0.2: fine, correct<0.3: fine, and 2 more",
        ),
        ((Check("regressions>0", None, "skipped", reason="no baseline"),), "gate: skipped, regressions>0: no baseline"),
        (
            (
                Check("a<1", None, "passed", reason="fine"),
                Check("regressions>0", None, "skipped", reason="no baseline"),
            ),
            "gate: skipped, regressions>0: no baseline",
        ),
    ],
)
def test_on_one_line(checks, line):
    assert gate_outcome(Gate(checks)) == line


def test_no_value_is_cut():
    of_task = Check("*.regressions:p<0.01", "conditional_facts_easy", "failed", paired=replace(PAIRED, corrected=0.0))
    lacks = "no answer was judged (give --memfail-model, or gate on memory_held)"
    long_name = f"longmemeval.single_session_preference.{'x' * 60}<0.1"
    lacking = [Check(name, None, "undecided", reason=lacks) for name in ("correct<0.8", long_name)]
    note = f"system_options is path={'/a-b' * 30}, in the baseline path={'/c-d' * 10} and limit=10"
    lines = gate(Gate((of_task, *lacking), Comparison(PAIRED, (), {}, (), 0, 0, 0, 0, 748), "b.jsonl", (note,)))
    assert lines[1:7] == [
        "  *.regressions:p<0.01 (conditional_facts_easy)  FAILED",
        "      339 worse, 2 better of 748, p (Holm) < 0.0001",
        f"  correct<0.8{' ' * 36}UNDECIDED",
        f"      {lacks}",
        f"  {long_name} UNDECIDED",
        f"      {lacks}",
    ]
    assert " ".join(word for line in lines[8:-1] for word in line.split()) == note
    assert not any("…" in line for line in lines)


def test_long_lists_are_cut():
    lines = gate(flipped(worse=21, better=20, other=1), record="last.jsonl")
    assert [line for line in lines if "…" in line] == ["  … and 1 more: memfail show last.jsonl"]
    assert sum(" no_answer -> not_stored" in line for line in lines) == 40
    assert "  … and 1 more: -v lists them" in gate(flipped(worse=21))


def test_in_full_all_are_listed():
    lines = gate(flipped(worse=21, better=20, other=1), full=True)
    assert sum(" no_answer -> not_stored" in line for line in lines) == 42
    assert not any("…" in line for line in lines)


def test_the_table_has_the_share_that_passed_before_and_now():
    pair = Paired("a", 200, 30, 10, 0.001, 0.002)
    compared = Comparison(pair, (pair,), {}, (), 0, 0, 0, 0, 200, failed_before={"all": 50, "a": 50})
    lines = gate(Gate((), compared, "b.jsonl"))
    head, row = (next(line for line in lines if line.startswith(start)) for start in ("passed, against", "a "))
    assert "before -> now, %" in head
    assert row.split() == ["a", "200", "75.0", "->", "65.0", "30", "10", "0.0010", "0.0020"]
    assert max(map(len, lines)) <= 100
    assert sum("McNemar" in line for line in lines) == 1


def test_what_could_not_be_compared_is_said_with_its_reason():
    compared = Comparison(PAIRED, (), {}, (), 0, 0, 0, 397, undecided=394)
    said = "  without comparable results: 397 questions; the judge could not read or decide 394 of them"
    assert said in gate(Gate((), compared, "b.jsonl"))
    assert "  without comparable results: 397 questions" in gate(Gate((), replace(compared, undecided=0), "b.jsonl"))


def test_where_nothing_changed_there_is_neither_table_nor_p():
    pair = Paired("a", 200, 0, 0, 1.0)
    text = "\n".join(gate(Gate((), Comparison(pair, (pair,), {}, (), 0, 0, 0, 0, 200), "b.jsonl")))
    assert "before -> now" not in text
    assert "McNemar" not in text
