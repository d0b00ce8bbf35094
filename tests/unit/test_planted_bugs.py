"""tools/planted_bugs.py runs damaged systems, and its grades are strict."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "planted_bugs.py"
SPEC = importlib.util.spec_from_file_location("planted_bugs", TOOL)
assert SPEC is not None
assert SPEC.loader is not None
planted_bugs = importlib.util.module_from_spec(SPEC)
sys.modules["planted_bugs"] = planted_bugs  # its dataclasses look their module up
SPEC.loader.exec_module(planted_bugs)

BUG = planted_bugs.Bug("b", "drops", "own", planted_bugs.Planted, ("left no entry",), ("not_stored",))
KEYS = [("t", "s", f"q{i}") for i in range(10)]
IDS = {f"memfail/t::{key[2]}": key for key in KEYS}
HEALTHY = ["not_retrieved"] * 4 + ["ungraded"] * 6
DAMAGED = ["not_retrieved"] * 4 + ["not_stored"] * 5 + ["ungraded"]


def run(verdicts: list[str], clues: list[dict[str, Any]] | None = None) -> Any:
    """Return a run with these verdicts, which says nothing."""
    return planted_bugs.Run(
        "", "", "", clues or [], dict(zip(KEYS, verdicts, strict=True)), IDS, frozenset(KEYS[4:]), frozenset()
    )


@pytest.mark.parametrize(
    ("line", "clue", "grade"),
    [
        pytest.param("5 conversations left no entry", KEYS[4:9], "cause", id="cause"),
        pytest.param("5 conversations left no entry", KEYS[:4], "wrong", id="cause-of-other-rows"),
        pytest.param("numbers are lost", KEYS[4:9], "wrong", id="other-clue"),
        pytest.param("loses most in storage (not_stored): 5 of 10", None, "stage", id="stage"),
        pytest.param("loses most in retrieval (not_retrieved): 4 of 10", None, "wrong", id="other-stage"),
        pytest.param("memory held 50 % of 10", None, "nothing", id="nothing"),
    ],
)
def test_a_line_is_graded_by_its_words_and_its_rows(line: str, clue: list[Any] | None, grade: str) -> None:
    rows = planted_bugs.Rows(set(KEYS[4:]), set(KEYS[4:9]))
    found = run(DAMAGED, [{"text": line, "questions": [name for name in IDS if IDS[name] in clue]}] if clue else None)
    assert planted_bugs.graded(line, BUG, rows, found, run(HEALTHY)) == grade


def test_the_right_stage_with_the_rows_of_a_healthy_system_names_nothing() -> None:
    bug = planted_bugs.Bug("b", "", "own", planted_bugs.Planted, ("rank",), ("not_retrieved",))
    rows = planted_bugs.Rows(set(KEYS[4:6]), set(KEYS[4:6]))
    found = run(["not_retrieved"] * 6 + ["ungraded"] * 4)
    assert planted_bugs.graded("loses most in retrieval: 6 of 10", bug, rows, found, run(HEALTHY)) == "nothing"
    # the same, beyond what the healthy system loses
    assert (
        planted_bugs.graded("loses most in retrieval: 2 of 10 beyond a verbatim store", bug, rows, found, run(HEALTHY))
        == "stage"
    )


def test_the_first_line_stands_between_the_last_table_and_the_next_steps() -> None:
    said = "all  3  1\n\nloses most in storage: 2 of 3;\n  all in t\nmore\nnext: memfail show\nrecord: r"
    assert planted_bugs.first_line(said) == "loses most in storage: 2 of 3; all in t"


def test_the_first_line_of_a_comment_follows_its_mark() -> None:
    assert planted_bugs.first_of_comment("<!-- mark -->\n### lost in not\\_stored\n\nmore") == "### lost in not_stored"


def test_bugs_have_a_name_of_their_own_and_a_healthy_system() -> None:
    bugs = planted_bugs.all_bugs(None).values()
    assert [sum(bug.seen is seen for bug in bugs) for seen in (True, False)] == [20, 20]
    assert {bug.system for bug in bugs} <= set(planted_bugs.SYSTEMS)


def test_a_real_run_of_a_bug_knows_its_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bugs = tmp_path / "bugs.py"
    bugs.write_text(
        "from planted_bugs import Bug, EveryTenth\n"
        "class EveryFourth(EveryTenth):\n"
        "    def kept(self, conversation):\n"
        "        self.told += 1\n"
        "        return None if self.told % 4 == 0 else conversation\n"
        "BUGS = (Bug('fourth', 'drops a quarter', 'own', EveryFourth, ('no entry',), ('not_stored',), 'locomo'),)\n"
    )
    kept = tmp_path / "reports.json"
    planted_bugs.main(["--bugs", str(bugs), "--only", "fourth", "--json", str(kept)])
    healthy, bug = json.loads(kept.read_text())
    assert healthy["grade"] == "nothing"
    assert 5 <= bug["held before"] <= bug["affected"] <= bug["touched"] < 64
    assert set(bug["verdicts"]) >= {"not_stored"}
    assert all(bug["lines"].values())
    assert "fourth: " in capsys.readouterr().out


def test_the_table_has_the_bugs_before_and_after_and_counts_each_place() -> None:
    lines = {"terminal": "likely cause: x (2 failed questions; memfail show r --clue 1)", "comment": "", "page": ""}
    one = {"name": "b", "says": "drops", "system": "own", "suite": "meme", "seen": False, "affected": 3, "lines": lines}
    before = {**one, "grade": "wrong", "grades": dict.fromkeys(lines, "wrong")}
    after = {**one, "grade": "cause", "grades": dict.fromkeys(lines, "cause")}
    said = planted_bugs.table([before], [after])
    assert "| drops | own, meme | 3 | wrong | cause | likely cause: x |" in said
    assert "| page | 0 → 1 | 0 → 0 | 0 → 0 | 1 → 0 |" in said
    assert "| worst of the three | 0 → 1 | 0 → 0 | 0 → 0 | 1 → 0 |" in said
