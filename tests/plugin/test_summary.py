"""The section at the end of a run, its rates, and the exit code."""

from __future__ import annotations

import json
import re

import pytest

from plugin.project import COEXISTING, LONG_HOP, MISLEADING, RECORD, Project, slowly_both_ways

HOOKS = """
import os

def _note(config, text):
    with open(config.rootpath / "hooks.log", "a") as stream:
        stream.write(f"{text} {os.environ.get('PYTEST_XDIST_WORKER', 'main') if hasattr(config, 'workerinput') else 'main'}\\n")

def pytest_memfail_verdict(item, verdict):
    _note(item.config, f"verdict {item.name} {verdict.name}")

def pytest_memfail_summary(config, summary):
    _note(config, f"summary {summary.total.n} {summary.total.states['not_stored']}")
"""


def row(result: pytest.RunResult, task: str) -> list[str]:
    """The cells of a task's row."""
    (line,) = [line for line in result.outlines if re.match(rf"{task} +\d+ ", line)][-1:]
    return re.split(r" {2,}", line.strip())


def has_section(result: pytest.RunResult) -> bool:
    return any(re.fullmatch(r"=+ memfail =+", line) for line in result.outlines)


@slowly_both_ways
def test_table(any_project: Project) -> None:
    any_project.script(ce_1="not_stored", ce_2="summary_error", lh_1="not_retrieved", pe_1_q2="not_stored")
    result = any_project.run()
    result.stdout.fnmatch_lines(
        [
            "=* memfail =*",
            "vacuous passes: 1 in persona_retrieval*",
            "store *conversations*",
            "*correct %*not*summary*",
            "task * n *95 % interval*correct*stored*error*retrieved*",
            "conditional_facts_easy *4 *100.0 *",
            "coexisting_facts *6 *66.7 [[]30, 90[]] *4 *1 *1 *0*",
            "persona_retrieval *8 *100.0 *",
            "long_hop *4 *75.0 *",
            "all *22 *",
            f"record: {RECORD}",
        ]
    )
    # a vacuous pass is no success of the memory: 7 of 7
    assert "65, 100" in " ".join(row(result, "persona_retrieval"))


def test_fits_100_columns(project: Project) -> None:
    project.script(**{name.replace("-", "_"): "not_stored" for name in MISLEADING}, lh_1="ungraded", lh_2="raise")
    result = project.run("--memfail-system-option=writes=1", "--memfail-summary=full")
    start = next(i for i, line in enumerate(result.outlines) if re.fullmatch(r"=+ memfail =+", line))
    end = next(i for i, line in enumerate(result.outlines) if line.startswith("record:"))
    assert [line for line in result.outlines[start + 1 : end + 1] if len(line) > 100] == []


def test_columns_only_where_needed(project: Project) -> None:
    result = project.run("memfail/long_hop")
    (_, header) = [line for line in result.outlines if line.startswith("task ")]
    assert not {"answer", "ungraded"} & set(header.split())
    project.script(lh_1="ungraded", lh_2="raise")
    result = project.run("memfail/long_hop", "memfail/persona_retrieval")
    (_, header) = [line for line in result.outlines if line.startswith("task ")]
    assert header.split()[-2:] == ["answer", "error"]


def test_rates_are_over_graded_questions(any_project: Project) -> None:
    any_project.script(ce_1="not_stored", lh_1="not_retrieved", lh_2="not_retrieved")
    good = any_project.run()
    any_project.script(ce_1="not_stored", lh_1="not_retrieved", lh_2="not_retrieved", lh_3="raise")
    bad = any_project.run()
    assert (good.ret, bad.ret) == (1, 1)
    for task in ("conditional_facts_easy", "coexisting_facts", "persona_retrieval"):
        assert row(good, task)[:4] == row(bad, task)[:4]
    # one of three that were graded
    assert row(bad, "long_hop")[2].startswith("33.3")
    tasks = {line["task"] for line in any_project.record() if line["type"] == "question" and line["verdict"] == "error"}
    assert tasks == {"long_hop"}


def test_nothing_but_errors(any_project: Project) -> None:
    result = any_project.run("memfail/long_hop", "--memfail-system-option=raise_at=all", "--memfail-system-option=x=y")
    assert result.ret == 6
    result.assert_outcomes(errors=4)
    cells = row(result, "long_hop")
    assert "%" not in " ".join(cells)
    assert not re.search(r"\b0\.0\b", " ".join(cells))
    assert cells[2] == "-"
    result.stdout.fnmatch_lines(["memfail: no trustworthy result: no verdict: 4 of 4 questions are errors*"])


def test_too_many_errors(project: Project) -> None:
    project.script(ce_1="raise")
    result = project.run("memfail/coexisting_facts")
    assert result.ret == 6
    result.stdout.fnmatch_lines(["memfail: no trustworthy result: too many errors: 1 of 6 questions*"])
    assert project.record()[-1]["exit_code"] == 6


def test_nothing_but_ungraded_memory(project: Project) -> None:
    project.script(**{name.replace("-", "_"): "ungraded_storage" for name in LONG_HOP})
    result = project.run("memfail/long_hop")
    assert result.ret == 6
    result.assert_outcomes(skipped=4)


def test_memory_held_without_a_test_taker(project: Project) -> None:
    project.script(**{name.replace("-", "_"): "ungraded" for name in LONG_HOP}, ce_1="not_stored")
    project.script(**{name.replace("-", "_"): "ungraded" for name in (*LONG_HOP, *COEXISTING[1:])}, ce_1="not_stored")
    result = project.run("memfail/long_hop", "memfail/coexisting_facts")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*memory held %*", "coexisting_facts *6 *83.3 *"])


@pytest.mark.parametrize("option", ["--memfail-summary=none", "-p no:terminalreporter"])
def test_none(project: Project, option: str) -> None:
    result = project.run("memfail/long_hop", *option.split())
    assert result.ret == 0
    assert not has_section(result)


def test_none_still_says_what_is_wrong(project: Project) -> None:
    result = project.run("memfail/long_hop", "--memfail-summary=none", "--memfail-system-option=raise_at=all")
    assert result.ret == 6
    assert not has_section(result)
    result.stdout.fnmatch_lines(["memfail: no trustworthy result: *"])


def test_short_and_full(project: Project) -> None:
    facts = "facts of long_hop, K=1: 8 held"
    assert facts not in project.run("memfail/long_hop", "--memfail-summary=short").outlines
    assert facts in project.run("memfail/long_hop", "--memfail-summary=full").outlines
    assert facts in project.run("memfail/long_hop", "-v").outlines


@slowly_both_ways
def test_warns_of_retrieval_that_writes(any_project: Project) -> None:
    result = any_project.run("memfail/long_hop", "memfail/coexisting_facts", "--memfail-system-option=writes=1")
    result.stdout.fnmatch_lines(["warning: the store of coexisting_facts changed while asked (+6 -0)*"])
    result.stdout.fnmatch_lines(["warning: the store of long_hop changed while asked (+4 -0)*"])
    result = any_project.run("memfail/long_hop", n=None)
    assert "warning: the store" not in result.stdout.str()


def test_hooks(any_project: Project) -> None:
    any_project.conftest(HOOKS)
    any_project.script(lh_1="not_stored")
    assert any_project.run("memfail/long_hop", "memfail/coexisting_facts").ret == 1
    lines = [line.split() for line in (any_project.path / "hooks.log").read_text().splitlines()]
    assert [line for line in lines if line[0] == "summary"] == [["summary", "10", "1", "main"]]
    verdicts = {name: (verdict, where) for what, name, verdict, where in lines if what == "verdict"}
    assert set(verdicts) == {*LONG_HOP, *COEXISTING}
    assert verdicts["lh-1"][0] == "not_stored"
    where = {place for _, place in verdicts.values()}
    assert where == ({"main"} if any_project.n is None else {"gw0", "gw1"})


@slowly_both_ways
def test_what_the_verdict_hook_adds_reaches_junit(any_project: Project) -> None:
    any_project.conftest(
        """
        def pytest_memfail_verdict(item, verdict):
            item.user_properties.append(("verdict", verdict.name))
        """
    )
    any_project.script(lh_1="not_stored")
    any_project.run("memfail/long_hop", "--junitxml=out.xml")
    text = (any_project.path / "out.xml").read_text()
    assert text.count('<property name="verdict" value="correct"') == 3
    assert text.count('<property name="verdict" value="not_stored"') == 1


def test_a_hook_that_raises_is_not_silent(project: Project) -> None:
    project.conftest("def pytest_memfail_summary(config, summary): raise ValueError('no network')")
    result = project.run("memfail/long_hop")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["memfail: pytest_memfail_summary() raised ValueError: no network*"])
    # the record of what was paid for is whole
    assert json.dumps(project.verdicts()).count("correct") == 4


def test_no_cache_no_record(project: Project) -> None:
    result = project.run("memfail/long_hop", "-p", "no:cacheprovider")
    assert result.ret == 0
    assert has_section(result)
    assert not any(line.startswith("record:") for line in result.outlines)
    assert not (project.path / ".pytest_cache").exists()
