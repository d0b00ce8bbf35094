"""The record: where it is, what it holds, and what it never overwrites."""

from __future__ import annotations

from typing import Any

import pytest

from plugin.project import ALL, LONG_HOP, RECORD, Project, slowly_both_ways

INTERRUPT = """
seen = []

def pytest_runtest_logreport(report):
    if report.when == "call" and report.nodeid.startswith("memfail/"):
        seen.append(report.nodeid)
        if len(seen) == 3:
            raise KeyboardInterrupt
"""


def comparable(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without order and times."""
    kept = []
    for line in lines:
        left = {name: value for name, value in line.items() if name not in ("started", "seconds", "fill_seconds")}
        kept.append(left)
    return sorted(kept, key=lambda line: (line["type"], line.get("id", ""), line.get("store", "")))


@slowly_both_ways
def test_in_pytests_cache(any_project: Project) -> None:
    any_project.script(lh_1="not_retrieved", ce_1="raise")
    result = any_project.run()
    assert result.ret == 1
    result.stdout.fnmatch_lines([f"record: {RECORD}"])
    header, *lines, _ = any_project.record()
    assert header["type"] == "header"
    assert header["schema_version"] == 1
    assert {name: header[name] for name in ("system", "judge", "protocol", "k", "seed", "limit")} == {
        "system": "toy",
        "judge": "script",
        "protocol": "ours",
        "k": [5],
        "seed": 42,
        "limit": None,
    }
    assert {name: task["questions"] for name, task in header["tasks"].items()} == {
        "conditional_facts_easy": 4,
        "coexisting_facts": 6,
        "persona_retrieval": 8,
        "long_hop": 4,
    }
    assert all(len(task["data_hash"]) == 64 for task in header["tasks"].values())
    assert any_project.end() == (1, True)
    questions = {line["id"]: line for line in lines if line["type"] == "question"}
    assert sorted(questions) == sorted(ALL)
    assert questions["memfail/long_hop::lh-1"]["verdict"] == "not_retrieved"
    error = questions["memfail/coexisting_facts::ce-1"]
    assert error["verdict"] == "error"
    assert error["error"]["message"] == "the judge's storage() raised RuntimeError: the judge is out of order"
    good = questions["memfail/long_hop::lh-2"]
    assert good["gold"] == ["a walk"]
    assert good["row"] == "long_hop.csv:10"
    assert len(good["retrieved"]) == 5
    assert [fact["verdict"] for fact in good["facts"]] == ["correct", "correct"]
    stores = {line["store"]: line for line in lines if line["type"] == "store"}
    assert {name: (s["conversations"], s["memories"]) for name, s in stores.items()} == {
        "conditional_facts_easy": (4, 4),
        "coexisting_facts": (12, 12),
        "persona_retrieval": (4, 8),
        "long_hop": (8, 8),
    }
    assert len(stores["long_hop"]["listings"][0]) == 8


def test_a_store_that_is_listed_late_gives_no_trustworthy_result(project: Project) -> None:
    project.conftest(
        """
        class Late(Toy):
            listings = 0

            def get_all_memories(self):
                self.listings += 1
                return self.memories[: 1 if self.listings == 1 else None]

            def retrieve_memories(self, query, conversation, k):
                return self.memories[:1]

        def pytest_memfail_make_system(config, name):
            return lambda context: Late(context, config.rootpath / "events.log")
        """
    )
    result = project.run("--memfail-tasks=long_hop")
    assert result.ret == 6
    result.stdout.fnmatch_lines(
        ["memfail: no trustworthy result: *listed only after the first question*most 10% are trusted)"]
    )


def test_a_path_of_ones_own(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project.file("sub/nothing.txt", "").parent)
    result = project.run("memfail/long_hop", "--memfail-record=here.jsonl")
    result.stdout.fnmatch_lines(["record: sub/here.jsonl"])
    assert len(project.record("sub/here.jsonl")) == 1 + 4 + 1 + 1
    # an earlier record may be replaced
    assert project.run("memfail/long_hop::lh-1", "--memfail-record=here.jsonl").ret == 0
    assert len(project.record("sub/here.jsonl")) == 1 + 1 + 1 + 1


def test_the_same_with_workers(project: Project) -> None:
    project.script(ce_1="not_stored", ce_2="summary_error", lh_1="not_retrieved", co_1="ungraded", pe_1_q1="raise")
    alone = project.run("--memfail-record=alone.jsonl")
    spread = project.run("--memfail-record=spread.jsonl", n=2)
    assert (alone.ret, spread.ret) == (1, 1)
    assert comparable(project.record("alone.jsonl")) == comparable(project.record("spread.jsonl"))


@pytest.mark.parametrize("place", ["folder", "missing/record.jsonl", "notes.txt", "other.jsonl", "empty_line.jsonl"])
def test_refuses(project: Project, place: str) -> None:
    (project.path / "folder").mkdir()
    foreign = {"notes.txt": "Buy milk.\n", "other.jsonl": '{"type": "header"}\n', "empty_line.jsonl": "\n"}
    for name, text in foreign.items():
        project.file(name, text)
    result = project.run("memfail/long_hop", f"--memfail-record={place}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = [line for line in result.errlines if line.strip()]
    assert "--memfail-record" in line
    assert place.split("/")[0] in line
    assert project.events() == []
    assert {name: (project.path / name).read_text() for name in foreign} == foreign
    assert not (project.path / "missing").exists()


def test_refuses_under_xdist(project2: Project) -> None:
    project2.file("notes.txt", "Buy milk.\n")
    result = project2.run("memfail/long_hop", "--memfail-record=notes.txt")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert len([line for line in result.errlines if line.strip()]) == 1
    assert (project2.path / "notes.txt").read_text() == "Buy milk.\n"


def test_an_empty_file_may_be_written(project: Project) -> None:
    project.file("record.jsonl", "")  # as mktemp leaves it
    assert project.run("memfail/long_hop", "--memfail-record=record.jsonl").ret == 0
    assert len(project.record("record.jsonl")) == 7


@slowly_both_ways
def test_an_interrupted_run_leaves_a_record(any_project: Project) -> None:
    any_project.conftest(INTERRUPT)
    result = any_project.run_apart() if any_project.n is None else any_project.run()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    header, *lines, _ = any_project.record()
    assert header["type"] == "header"
    questions = [line for line in lines if line["type"] == "question"]
    assert len(questions) >= 3
    assert {line["verdict"] for line in questions} == {"correct"}
    assert any_project.end() == (2, False)
    result.stdout.fnmatch_lines(["record: *"])


def test_a_killed_run_leaves_a_record(project: Project) -> None:
    options = ("--memfail-system-option=die_store=lh-1", "--memfail-system-option=stores=1")
    project.run_apart("memfail/coexisting_facts", "memfail/long_hop", *options)
    # what was reported before the death, line by line
    header, *lines = project.record()
    assert header["type"] == "header"
    assert [line["type"] for line in lines] == ["question"] * 6 + ["store"]


@pytest.mark.parametrize(
    "words", [["--collect-only"], ["--memfail-k=0"], ["test_own.py"], ["memfail/nothing"], ["--setup-plan"]]
)
def test_a_run_without_results_keeps_the_last_record(project: Project, words: list[str]) -> None:
    project.file("test_own.py", "def test_own(): pass")
    project.run("memfail/long_hop", "--memfail-record=kept.jsonl")
    before = (project.path / "kept.jsonl").read_bytes()
    runs = project.runs()
    project.pytester.runpytest_inprocess("--memfail-system=toy", *words)
    assert project.runs() == runs
    project.pytester.runpytest_inprocess("--memfail-system=toy", "--memfail-record=kept.jsonl", *words)
    assert (project.path / "kept.jsonl").read_bytes() == before
    assert project.runs() == runs


def test_a_secret_is_not_recorded(project: Project) -> None:
    secret = "--memfail-system-option=api_key=sk-verysecret"
    result = project.run("memfail/long_hop", secret, "--memfail-record=r.jsonl", "--junitxml=out.xml")
    assert result.ret == 0
    assert "sk-verysecret" not in result.stdout.str()
    for name in ("r.jsonl", "out.xml"):
        assert "sk-verysecret" not in (project.path / name).read_text()
    assert project.record("r.jsonl")[0]["system_options"] == {"api_key": "***"}


def test_ids_of_a_record_paste_back(project: Project) -> None:
    project.run("memfail/long_hop")
    ids = list(project.verdicts())
    assert project.run(*ids).ret == 0
    assert sorted(project.ran()) == sorted(LONG_HOP)
