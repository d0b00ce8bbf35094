"""What a run prints: its failures by cause, the worst of them in full, and the result on the last screen."""

from __future__ import annotations

import re

import pytest

from plugin.project import ALL, COEXISTING, CONDITIONAL, LONG_HOP, PERSONA, Project

CAUSES = re.compile(r"(\w+) (\d+) of (\d+) in (\w+)(?:; the 3 clearest)?:")
DIRECT = [name for name in PERSONA if name.endswith("q1")]


def fail(project: Project, *names: str, verdict: str = "not_stored") -> None:
    project.script(**{name.replace("-", "_"): verdict for name in names})


def texts(result: pytest.RunResult) -> list[str]:
    """The headings of the failures that are shown in full, in order."""
    return re.findall(r"^_+ (?:\[\w+\] )?(\S.*?) _+$", result.stdout.str(), re.MULTILINE)


def causes(result: pytest.RunResult) -> list[tuple[str, ...]]:
    """Verdict, count, questions and task of each group."""
    return [found.groups() for line in result.outlines if (found := CAUSES.fullmatch(line))]


def examples(result: pytest.RunResult) -> list[str]:
    """The ids under the groups."""
    return [line.strip() for line in result.outlines if re.fullmatch(r"  memfail/\S+", line)]


def test_errors_of_a_store_at_its_end_are_told_from_those_of_questions(project: Project) -> None:
    project.conftest(
        """
        class Stuck(Toy):
            def close(self):
                raise OSError("the file is locked")

        def pytest_memfail_make_system(config, name):
            return lambda context: Stuck(context, config.rootpath / "events.log")
        """
    )
    result = project.run("--memfail-tasks=long_hop")
    result.assert_outcomes(passed=4, errors=1)
    line = "memfail: 1 error of pytest's count came when a store was listed or closed at its end, from no question"
    assert line in result.stdout.lines


def test_failures_are_grouped_by_task_and_verdict(any_project: Project) -> None:
    any_project.script(
        **{name.replace("-", "_"): "summary_error" for name in COEXISTING[:5]}, lh_1="not_stored", ce_6="not_stored"
    )
    result = any_project.run()
    assert result.ret == 1
    assert causes(result) == [
        ("SUMMARY_ERROR", "5", "6", "coexisting_facts"),
        ("NOT_STORED", "1", "6", "coexisting_facts"),
        ("NOT_STORED", "1", "4", "long_hop"),
    ]
    assert len(examples(result)) == 5
    result.stdout.fnmatch_lines(["  memfail/long_hop::lh-1", "    the script says not_stored of lh-1*"])
    assert result.parseoutcomes() == {"failed": 7, "passed": 15}
    assert not any(line.startswith("NOT_STORED memfail/") for line in result.outlines)


def test_all_are_listed_in_the_order_of_the_rows(any_project: Project) -> None:
    fail(any_project, *COEXISTING, *LONG_HOP)
    result = any_project.run("-v")
    assert examples(result) == [name for name in ALL if name.rpartition("::")[2] in (*COEXISTING, *LONG_HOP)]
    assert texts(result) == [*COEXISTING, *LONG_HOP]
    assert [count for _, count, *_ in causes(result)] == ["6", "4"]


def test_failures_that_are_few_are_shown_in_the_order_of_the_rows(any_project: Project) -> None:
    fail(any_project, *COEXISTING, *LONG_HOP)
    assert texts(any_project.run()) == [*COEXISTING, *LONG_HOP]


def test_the_first_error_of_each_kind_leads_and_few_that_follow_are_listed(project: Project) -> None:
    every = [*COEXISTING, *LONG_HOP, *DIRECT]
    fail(project, *every, verdict="raise")
    project.ini("memfail_keep_going = true")
    result = project.run("--memfail-system-option=raise_at=ce-4")
    first, second, *others = texts(result)
    first_of_all = next(name for name in project.ran() if name in every)
    assert {first, second} >= {f"ERROR at setup of {first_of_all}", "ERROR at setup of ce-4"}
    assert others[-1] == "ERROR at setup of 4 more errors"
    assert len(others) == 9
    assert result.parseoutcomes()["errors"] == 14
    result = project.run("--memfail-system-option=raise_at=ce-4", "-v")
    assert len(texts(result)) == 14


def test_at_most_ten_texts_spread_over_the_groups(any_project: Project) -> None:
    every = [*COEXISTING, *LONG_HOP, *CONDITIONAL, *DIRECT]
    fail(any_project, *every)
    any_project.ini("memfail_k = 2,3")
    result = any_project.run()
    assert result.parseoutcomes()["failed"] == 2 * len(every) == 36
    shown = texts(result)
    assert shown[-1] == "26 more failures"
    assert len(set(shown[:-1])) == 10
    assert {name.partition("-")[0] for name in shown[:-1]} == {"ce", "lh", "co", "pe"}
    result.stdout.fnmatch_lines(["26 more: -v shows them; these are the clearest"])
    result = any_project.run("-v")
    assert len(texts(result)) == 36
    assert result.parseoutcomes()["failed"] == 36


@pytest.mark.parametrize(
    ("style", "has"),
    [
        ("auto", ("question ", "retrieved ", "rerun ")),
        ("long", ("question ", "retrieved ", "rerun ")),
        ("short", ("question ", "reason ", "rerun ")),
        ("line", ()),
        ("no", ()),
    ],
)
def test_the_style_of_tracebacks_is_respected(project: Project, style: str, has: tuple[str, ...]) -> None:
    fail(project, "ce-1")
    result = project.run("memfail/coexisting_facts", f"--tb={style}")
    labels = ("question ", "expected ", "storage ", "reason ", "retrieved ", "row ", "rerun ")
    found = [label for label in labels if any(line.startswith(label) for line in result.outlines)]
    assert set(has) <= set(found)
    if style in ("short", "line", "no"):
        assert set(found) == set(has)
    place = [line for line in result.outlines if "coexisting_facts.csv:2: the script says" in line]
    assert len(place) == (style == "line")


@pytest.mark.parametrize("words", [[], ["-q"], ["-qq"], ["-v"], ["--tb=no"], ["-rf"]])
def test_the_last_screen_is_the_result(any_project: Project, words: list[str]) -> None:
    fail(any_project, *COEXISTING)
    lines = any_project.run("memfail/coexisting_facts", "memfail/long_hop", *words).outlines
    run = any_project.runs()[-1].name
    at = next(i for i, line in enumerate(lines) if line.startswith("loses most"))
    assert lines[at : at + 4] == [
        "loses most in storage (not_stored): 6 of 10; all in coexisting_facts",
        f"next: memfail show {run} --task coexisting_facts --verdict not_stored",
        f"all failures: memfail show {run} --all",
        f"record: .pytest_cache/d/memfail/runs/{run}/record.jsonl",
    ]
    assert len([line for line in lines[at + 4 :] if line]) <= 1  # pytest's own count
    table = [i for i, line in enumerate(lines) if line.startswith("mean of 2 tasks")]
    assert table[-1] == at - 2


def test_own_tests_stay_in_pytests_own_list(project: Project) -> None:
    project.file("test_own.py", "def test_own():\n    assert 1 == 2\n")
    fail(project, "lh-1", "lh-2")
    result = project.run("test_own.py", "memfail/long_hop")
    assert [line for line in result.outlines if line.startswith("FAILED")] == [
        "FAILED test_own.py::test_own - assert 1 == 2"
    ]
    assert texts(result) == ["test_own", "lh-1", "lh-2"]
    assert causes(result) == [("NOT_STORED", "2", "4", "long_hop")]
    assert result.parseoutcomes() == {"failed": 3, "passed": 2}


OLDER = pytest.mark.skipif(pytest.version_tuple < (9, 1), reason="pytest before 9.1 prints no plugin's summary then")


@pytest.mark.parametrize("words", [["-rN"], ["-rs"], pytest.param(["--no-summary"], marks=OLDER)])
def test_who_wants_no_list_of_failures_gets_none(project: Project, words: list[str]) -> None:
    fail(project, "lh-1")
    result = project.run("memfail/long_hop", *words)
    assert causes(result) == []
    result.stdout.fnmatch_lines(["loses most in storage (not_stored): 1 of 4"])


def test_several_k_have_a_row_each(any_project: Project) -> None:
    fail(any_project, "lh-1")
    lines = any_project.run("memfail/long_hop", "--memfail-k=2,5").outlines
    at = max(i for i, line in enumerate(lines) if line.startswith("task "))
    assert [line.split()[:3] for line in lines[at + 1 : at + 4]] == [
        ["long_hop"],
        ["k=2", "4", "75.0"],
        ["k=5", "4", "75.0"],
    ]


def test_one_is_singular(project: Project) -> None:
    result = project.run("memfail/long_hop::lh-1")
    result.stdout.fnmatch_lines(["nothing lost among 1 question"])
    header = project.run("--memfail-tasks=long_hop", "--memfail-limit=1")
    header.stdout.fnmatch_lines(["memfail: 1 task, 1 question in 1 store, rows of data"])


HOOK = "pytest_memfail_make_system"


@pytest.mark.parametrize(
    ("conftest", "says"),
    [
        (
            None,
            f"unknown memory system 'mymem'; did you mean 'mem0'? * the hook {HOOK} of a conftest.py; there is none in *",
        ),
        ("", f"*conftest.py was loaded and gave no system 'mymem': it has no hook {HOOK}. *"),
        (f"def {HOOK}(name): return None", f"*gave no system 'mymem': its {HOOK} returned None for that name. *"),
        (
            f"import pytest\n@pytest.hookimpl(optionalhook=True)\ndef {HOOK[:-1]}(name): return list",
            f"*gave no system 'mymem': it defines {HOOK[:-1]}, and the hook is called {HOOK}. *",
        ),
    ],
)
def test_an_unknown_system_says_where_it_was_looked_for(project: Project, conftest: str | None, says: str) -> None:
    (project.path / "conftest.py").unlink()
    if conftest is not None:
        (project.path / "conftest.py").write_text(conftest)
    project.file("pytest.ini", "[pytest]\n")
    project.run(system="mymem").stderr.fnmatch_lines([f"ERROR: *{says}"])


def test_an_interrupt_counts_what_was_not_asked(project: Project) -> None:
    project.conftest(
        """
        def pytest_runtest_logreport(report):
            if report.when == "teardown" and report.nodeid.endswith("lh-2"):
                raise KeyboardInterrupt
        """
    )
    result = project.run_apart("memfail/long_hop")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    done = len(project.ran())
    assert done in (2, 3, 4)  # the next ones may be asked ahead, but only what was reported counts
    result.stdout.fnmatch_lines(
        [
            f"memfail: interrupted, {4 - done} of 4 questions not finished (*)",
            "memfail: to continue, run the same command with --memfail-resume",
        ]
    )
