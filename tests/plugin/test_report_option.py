"""--memfail-report and --memfail-shard."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path

import pytest

from plugin.project import ALL, QUESTIONS, Project
from pytest_memfail.cli import main


@pytest.fixture(autouse=True)
def no_step_summary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)


def test_reports_at_the_end(any_project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    step = any_project.file("step.md", "")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(step))
    any_project.script(lh_1="not_retrieved")
    result = any_project.run(*(f"--memfail-report=x.{ending}" for ending in ("html", "md", "json")))
    assert result.ret == 1
    result.stdout.fnmatch_lines([f"memfail: report written: x.{ending}" for ending in ("html", "md", "json")])
    found = json.loads((any_project.path / "x.json").read_text())
    assert found["records"][0]["total"]["n"] == len(ALL)
    assert found["records"][0]["complete"] is True
    comment = (any_project.path / "x.md").read_text()
    assert "`memfail/long_hop::lh-1` **not_retrieved**" in comment
    assert step.read_text() == comment
    (ids, stores) = page_of(any_project.path / "x.html")
    assert "memfail/long_hop::lh-1" in ids
    assert stores  # the listings are only in the file of the record


@pytest.mark.parametrize("name", ["x.pdf", "README.md", "nowhere/x.md"])
def test_refuses_before_anything_is_stored(any_project: Project, name: str) -> None:
    any_project.file("README.md", "# Mine\n")
    result = any_project.run(f"--memfail-report={name}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = [line for line in result.errlines if line.strip()]
    assert "--memfail-report: " in line
    assert any_project.events() == []
    assert (any_project.path / "README.md").read_text() == "# Mine\n"


def test_without_a_record(project: Project) -> None:
    words = ("--memfail-system=toy", "--memfail-report=x.md", "-p", "no:cacheprovider")
    result = project.pytester.runpytest_subprocess(*words)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "--memfail-record" in "".join(result.errlines)


def test_a_secret_is_not_reported(project: Project) -> None:
    project.script(lh_1="not_retrieved")
    words = [f"--memfail-report=x.{ending}" for ending in ("html", "md", "json")]
    project.run("memfail/long_hop", "--memfail-system-option=api_key=sk-verysecret", *words)
    for ending in ("html", "md", "json"):
        assert "sk-verysecret" not in (project.path / f"x.{ending}").read_text()


def test_shards_join_to_the_whole(any_project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    any_project.script(lh_1="not_retrieved", ce_1="summary_error")
    held = []
    for number in (1, 2, 3):
        any_project.run(f"--memfail-shard={number}/3", f"--memfail-record={number}.jsonl")
        lines = any_project.record(f"{number}.jsonl")
        assert lines[0]["shard"] == f"{number}/3"
        held.append({line["store"] for line in lines if line["type"] == "store"})
    assert sorted(store for stores in held for store in stores) == sorted(QUESTIONS)
    assert all(held)
    # the heaviest first, each into the lightest: conversations and questions of each store are 12+6, 8+4, 4+8 and 4+4
    assert {"coexisting_facts"} in held
    paths = [str(any_project.path / f"{number}.jsonl") for number in (1, 2, 3)]
    assert main(["merge", "-o", str(any_project.path / "all.jsonl"), *paths]) == 0
    assert "missing" not in capsys.readouterr().out
    ids = [line["id"] for line in any_project.record("all.jsonl") if line["type"] == "question"]
    assert sorted(ids) == sorted(ALL)


def test_a_shard_is_no_baseline(project: Project) -> None:
    result = project.run("--memfail-shard=1/2", "--memfail-save-baseline=base.jsonl")
    assert result.ret == 6
    result.stdout.fnmatch_lines(
        ["memfail: no baseline is saved: a shard is a part of a run; join the shards with memfail merge first"]
    )
    assert not (project.path / "base.jsonl").exists()


def test_the_gate_is_reported(any_project: Project) -> None:
    any_project.run("--memfail-save-baseline=base.jsonl", n=None)
    any_project.script(**{f"ce_{i}": "not_stored" for i in range(1, 7)})
    words = ("--memfail-baseline=base.jsonl", "--memfail-report=x.md", "--memfail-record=r.jsonl")
    assert any_project.run(*words).ret == 1
    comment = (any_project.path / "x.md").read_text()
    assert "**Gate: failed**, against base.jsonl" in comment
    assert "- `memfail/coexisting_facts::ce-1` correct → **not\\_stored**: the script says" in comment
    assert any_project.record("r.jsonl")[-1]["gate"]["outcome"] == "failed"


@pytest.mark.parametrize(
    ("shard", "says"), [("0/2", "I/N"), ("3/2", "I/N"), ("two", "I/N"), ("1/9", "at most 4: a store is not divided")]
)
def test_wrong_shards(project: Project, shard: str, says: str) -> None:
    result = project.run(f"--memfail-shard={shard}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = [line for line in result.errlines if line.strip()]
    assert "--memfail-shard" in line
    assert says in line
    assert project.events() == []


def test_reports_are_made_from_what_the_run_holds(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is read back from the record, not even the listings that the page shows."""

    def refuse(*_: object) -> None:
        raise AssertionError("the record is read back")

    monkeypatch.setattr("pytest_memfail.results.runs.read_record", refuse)
    monkeypatch.setattr("pytest_memfail.records.RecordWriter.content", refuse)
    project.script(lh_1="not_retrieved")
    result = project.run("--memfail-report=x.json", "--memfail-report=x.html")
    result.stdout.fnmatch_lines(["memfail: report written: x.json", "memfail: report written: x.html"])
    total = json.loads((project.path / "x.json").read_text())["records"][0]["total"]
    assert (total["n"], total["states"]["not_retrieved"]) == (len(ALL), 1)
    ids, stores = page_of(project.path / "x.html")
    assert (len(ids), len(stores)) == (len(ALL), len({name.rpartition("::")[0] for name in ids}))


def page_of(path: Path) -> tuple[list[str], list[object]]:
    """The ids and the stores in the data of a page."""
    (packed,) = re.findall(r'id="data">(.*?)</script>', path.read_text(encoding="utf-8"))
    data = json.loads(gzip.decompress(base64.b64decode(packed)))
    return [question["id"] for question in data["questions"]], data["stores"]
