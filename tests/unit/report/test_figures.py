"""Plots as files."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ET

import pytest
from recorded_runs import question, store, verdicts, write

from pytest_memfail.cli import main

pytest.importorskip("matplotlib")


@pytest.fixture
def record(tmp_path):
    return verdicts(tmp_path / "r.jsonl", "correct", "correct", "summary_error", "not_retrieved")


def texts(path):
    """What a reader sees written: glyphs stand in comments of the SVG."""
    return path.read_text(encoding="utf-8")


def test_bars_of_one_record(record, tmp_path, capsys):
    assert main(["report", str(record), "-o", str(tmp_path / "x.svg")]) == 0
    assert capsys.readouterr().out == f"wrote {tmp_path / 'x.svg'}\n"
    ET.parse(tmp_path / "x.svg")
    drawn = texts(tmp_path / "x.svg")
    for name in ("correct", "summary error", "not retrieved", "% of questions"):
        assert f"<!-- {name} -->" in drawn
    assert "<!-- k -->" not in drawn
    assert "<!-- tokens per memory -->" not in drawn


def test_several_records_stand_together_task_by_task(tmp_path):
    lines = [question(i, "correct", task=task) for i, task in enumerate(("a", "b"))]
    paths = [str(write(tmp_path / f"{name}.jsonl", *lines, store(), system=name)) for name in ("one", "two")]
    assert main(["report", *paths, "-o", str(tmp_path / "x.svg")]) == 0
    ticks = re.findall(r"<!-- ([ab]: \w+) -->", texts(tmp_path / "x.svg"))
    assert ticks == ["a: one", "a: two", "b: one", "b: two"]


def test_success_against_k_and_tokens(record, tmp_path):
    lines = [question(i, "correct", k=k) for k in (5, 10) for i in range(2)]
    other = write(tmp_path / "o.jsonl", *lines, store(), k=[5, 10])
    assert main(["report", str(record), str(other), "-o", str(tmp_path / "x.svg")]) == 0
    drawn = texts(tmp_path / "x.svg")
    assert "<!-- k -->" in drawn
    assert "<!-- tokens per memory -->" in drawn


def test_each_task_has_a_panel_over_k_and_a_bar_at_each_k(tmp_path):
    lines = [
        question(i, "correct" if i < k // 5 else "not_retrieved", k=k, task=task)
        for task in ("a", "b")
        for k in (5, 10)
        for i in range(3)
    ]
    paths = [str(write(tmp_path / f"{name}.jsonl", *lines, store(), k=[5, 10], system=name)) for name in ("one", "two")]
    for name in ("x.svg", "x.html"):
        assert main(["report", *paths, "-o", str(tmp_path / name)]) == 0
    assert main(["report", paths[0], "-o", str(tmp_path / "x.md")]) == 0
    drawn = texts(tmp_path / "x.svg")
    assert re.findall(r"<!-- ([ab] k=\d+: \w+) -->", drawn) == [
        f"{task} k={k}: {name}" for task in ("a", "b") for name in ("one", "two") for k in (5, 10)
    ]
    assert re.findall(r"<!-- (a|b|all) -->", drawn) == ["a", "b", "all"]  # titles of panels
    table = re.findall(r"^\| ((?:a|b|all) k=\d+) \| (\d) \|", texts(tmp_path / "x.md"), re.MULTILINE)
    assert table == [(f"{t} k={k}", n) for t, n in (("a", "3"), ("b", "3"), ("all", "6")) for k in (5, 10)]
    page = texts(tmp_path / "x.html")
    plots = re.findall(r'aria-label="(\w+): correct % against k: (.*?)"', page)
    said = "one k=5 33.3 % [6, 79]; one k=10 66.7 % [21, 94]; two k=5 33.3 % [6, 79]; two k=10 66.7 % [21, 94]"
    assert [task for task, _ in plots] == ["a", "b", "all"]
    assert plots[0][1] == said
    bars = re.findall(r'aria-label="([ab] k=\d+): correct (\d)', page)
    assert bars == 2 * [("a k=5", "1"), ("a k=10", "2"), ("b k=5", "1"), ("b k=10", "2")]
    rows = re.findall(r'<th scope="row">((?:a|b|all) k=\d+)</th><td>(\d)</td>', page)
    assert rows[:6] == [(f"{t} k={k}", n) for t, n in (("a", "3"), ("b", "3"), ("all", "6")) for k in (5, 10)]


def test_a_png_is_one_and_may_be_replaced(record, tmp_path):
    path = tmp_path / "x.png"
    for _ in range(2):
        assert main(["report", str(record), "-o", str(path)]) == 0
    assert path.read_bytes().startswith(b"\x89PNG")


def test_a_picture_of_somebody_else_is_left_alone(record, tmp_path, capsys):
    (tmp_path / "x.svg").write_text("<svg/>")
    assert main(["report", str(record), "-o", str(tmp_path / "x.svg")]) == 4
    assert "is not a report of memfail" in capsys.readouterr().err
    assert (tmp_path / "x.svg").read_text() == "<svg/>"


@pytest.mark.parametrize("name", ["$x^$ $", "a & <b>", "\\frac"])
def test_names_are_drawn_as_they_are(tmp_path, name):
    records = [verdicts(tmp_path / f"{i}.jsonl", "correct", "not_stored", system=f"{name}{i}") for i in range(2)]
    assert main(["report", *map(str, records), "-o", str(tmp_path / "x.svg")]) == 0
    ET.parse(tmp_path / "x.svg")


def test_without_matplotlib(record, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["report", str(record), "-o", str(tmp_path / "x.png")]) == 4
    assert "pip install 'pytest-memfail[plots]'" in capsys.readouterr().err
    assert not (tmp_path / "x.png").exists()
