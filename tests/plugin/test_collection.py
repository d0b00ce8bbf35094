"""What is collected, and everything that selects, reorders or stops."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from plugin.project import (
    ALL,
    COEXISTING,
    CONDITIONAL,
    LONG_HOP,
    MISLEADING,
    PERSONA,
    ROWS,
    Project,
    collected,
    slowly_both_ways,
    with_a_worker,
)
from pytest_memfail.plugin.options import task_markers
from pytest_memfail.suites import BUILT_IN, built_in_suite

OWN = "def test_own(): pass"
TWO_STORES = """
def pytest_memfail_tasks(config):
    return [make_task("two_stores", {"alpha": 3, "beta": 2})]
"""


def co(project: Project, *args: str) -> list[str]:
    result = project.run("--collect-only", "-q", *args, n=None)
    assert result.ret == 0, result.stdout.str()
    return collected(result)


def passes(project: Project, *args: str, ran: list[str], own: int = 0) -> pytest.RunResult:
    """A run that passes and asks exactly these."""
    result = project.run(*args)
    assert result.ret == 0
    result.assert_outcomes(passed=len(ran) + own)
    assert sorted(project.ran()) == sorted(ran)
    assert sorted(project.events("ask")) == sorted(ran)  # and nothing else: a question may cost money
    return result


# -- ids -------------------------------------------------------------------------------------------------------------


def test_ids(project: Project) -> None:
    assert sorted(co(project)) == sorted(ALL)
    assert project.events() == []


def test_ids_of_a_task_with_several_stores(project: Project) -> None:
    project.conftest(TWO_STORES)
    ids = co(project, "--memfail-tasks=two_stores")
    assert ids == [f"memfail/two_stores::{s}::{s}-{i}" for s, n in (("alpha", 3), ("beta", 2)) for i in range(1, n + 1)]


def test_ids_with_several_k(project: Project) -> None:
    ids = co(project, "memfail/long_hop", "--memfail-k=1,10")
    assert sorted(ids) == sorted(f"memfail/long_hop::{name}[k={k}]" for name in LONG_HOP for k in (1, 10))


def test_several_k_ask_one_store(any_project: Project) -> None:
    result = any_project.run("memfail/long_hop", "--memfail-k=1,2")
    assert result.ret == 0
    result.assert_outcomes(passed=8)
    assert len(any_project.events("fill")) == 1
    lines = [line for line in any_project.record() if line["type"] == "question"]
    assert {(line["k"], len(line["retrieved"])) for line in lines} == {(1, 1), (2, 2)}


def test_an_id_with_k_pastes_back(project: Project) -> None:
    result = project.run("memfail/long_hop::lh-2[k=2]", "--memfail-k=1,2")
    result.assert_outcomes(passed=1)
    assert list(project.verdicts()) == ["memfail/long_hop::lh-2[k=2]"]


# -- arguments -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["memfail"], [*CONDITIONAL, *COEXISTING, *PERSONA, *LONG_HOP]),
        (["memfail/long_hop"], LONG_HOP),
        (["memfail::long_hop"], LONG_HOP),
        (["memfail/long_hop::lh-2"], ["lh-2"]),
        (["memfail/long_hop::lh-2", "memfail/coexisting_facts"], ["lh-2", *COEXISTING]),
        (["memfail/long_hop::lh-2", "memfail/long_hop::lh-2", "memfail/long_hop"], LONG_HOP),
        (["./memfail/long_hop"], LONG_HOP),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) and len(value) < 3 else None,
)
def test_arguments(project: Project, arguments: list[str], expected: list[str]) -> None:
    assert sorted(i.rpartition("::")[2] for i in co(project, *arguments)) == sorted(expected)


def test_arguments_run(any_project: Project) -> None:
    passes(any_project, "memfail/long_hop::lh-2", "memfail/coexisting_facts", ran=["lh-2", *COEXISTING])
    # only what is asked is filled
    assert len(any_project.events("fill")) == 2


def test_a_store_as_argument(any_project: Project) -> None:
    any_project.conftest(TWO_STORES)
    tasks = "--memfail-tasks=two_stores"
    passes(any_project, tasks, "memfail/two_stores", ran=["alpha-1", "alpha-2", "alpha-3", "beta-1", "beta-2"])
    if any_project.n is None:
        passes(any_project, tasks, "memfail/two_stores::beta", ran=["beta-1", "beta-2"])
        passes(any_project, tasks, "memfail/two_stores::alpha::alpha-3", ran=["alpha-3"])


@slowly_both_ways
def test_a_pasted_id_from_a_sub_directory(any_project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    any_project.file("sub/deeper/test_below.py", OWN)
    monkeypatch.chdir(any_project.path / "sub" / "deeper")
    passes(any_project, "memfail/persona_retrieval::pe-3-q1", ran=["pe-3-q1"])


@pytest.mark.parametrize("where", [".", "sub"])
def test_no_path_runs_the_benchmark_alone(project: Project, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    project.file("sub/test_below.py", OWN)
    project.file("test_above.py", OWN)
    monkeypatch.chdir(project.path / where)
    ids = co(project, "--memfail-tasks=long_hop")
    assert sorted(ids) == ["memfail/long_hop::" + name for name in LONG_HOP]


def test_own_tests_beside(any_project: Project) -> None:
    any_project.file("tests/test_a.py", OWN)
    any_project.file("tests/test_b.py", OWN)
    passes(any_project, "tests", "memfail/long_hop", ran=LONG_HOP, own=2)
    # a run that may cost money runs what was asked for
    passes(any_project, "tests/test_a.py", ran=[], own=1)
    assert any_project.events() == []


def test_an_explicit_own_path_says_nothing_of_the_benchmark(project: Project) -> None:
    project.file("test_a.py", OWN)
    result = project.run("test_a.py")
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("=*= memfail =*=")
    assert not (project.path / ".pytest_cache/d/memfail").exists()


def test_testpaths_are_no_paths_given(project: Project) -> None:
    project.file("tests/test_a.py", OWN)
    project.ini("testpaths = tests")
    passes(project, "--memfail-tasks=long_hop", ran=LONG_HOP)


LEFT_OUT = "memfail: only the benchmark runs; your own tests{} are left out (add a path: pytest {} memfail)"


@pytest.mark.parametrize(
    ("testpaths", "where", "paths"), [("", "", "."), ("testpaths = tests more/", " in tests/, more/", "tests more")]
)
def test_a_bare_command_line_says_what_it_leaves_out(project: Project, testpaths: str, where: str, paths: str) -> None:
    project.file("tests/test_a.py", OWN)
    project.file("more/test_b.py", OWN)
    project.ini(testpaths)
    result = passes(project, "--memfail-tasks=long_hop", ran=LONG_HOP)
    assert LEFT_OUT.format(where, paths) in result.outlines
    # what the line says to type
    result = passes(project, "--memfail-tasks=long_hop", *paths.split(), "memfail", ran=LONG_HOP, own=2)
    result.stdout.no_fnmatch_line("*left out*")


@pytest.mark.parametrize("testpaths", ["", "testpaths = tests"])
@pytest.mark.parametrize("standing", ["memfail_system = toy", "addopts = --memfail-system=toy", "environment"])
def test_a_system_of_the_ini_file_runs_own_tests_too(
    project: Project, standing: str, testpaths: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.file("tests/test_a.py", OWN)
    if standing == "environment":
        monkeypatch.setenv("PYTEST_ADDOPTS", "--memfail-system=toy")
    lines = [line for line in (standing, testpaths) if "=" in line]
    project.file("pytest.ini", "\n".join(["[pytest]", "memfail_data = data", "memfail_judge = script", *lines]))
    result = project.run("--memfail-tasks=long_hop", system=None)
    assert result.ret == 0
    result.assert_outcomes(passed=len(LONG_HOP) + 1)
    assert sorted(project.ran()) == LONG_HOP
    result.stdout.no_fnmatch_line("*left out*")
    # a path says what to run
    project.run("tests", system=None).assert_outcomes(passed=1)
    assert project.events() == []


@pytest.mark.slow
def test_a_system_of_the_ini_file_under_xdist(project2: Project) -> None:
    project2.file("tests/test_a.py", OWN)
    project2.ini("memfail_system = toy", "testpaths = tests")
    project2.run("--memfail-tasks=long_hop", system=None).assert_outcomes(passed=len(LONG_HOP) + 1)
    project2.run("--memfail-tasks=long_hop").assert_outcomes(passed=len(LONG_HOP))


def test_a_bare_command_line_beside_a_system_of_the_ini_file(project: Project) -> None:
    project.file("test_a.py", OWN)
    project.ini("memfail_system = bm25")
    result = passes(project, "--memfail-tasks=long_hop", ran=LONG_HOP)
    result.stdout.fnmatch_lines(["memfail: system toy, *", "memfail: only the benchmark runs; your own tests*"])
    result = project.run(system="")
    result.assert_outcomes(passed=1)
    assert project.events() == []


def test_no_test_file_at_all(project: Project) -> None:
    assert project.run("--memfail-tasks=long_hop").ret == 0


@pytest.mark.parametrize(
    ("argument", "hint"),
    [
        ("memfail/long_hop::lh-9", "did you mean memfail/long_hop::lh-"),
        ("memfail/long_hops", "did you mean memfail/long_hop?"),
        ("memfail/long_hop::lh-1::more", "did you mean memfail/long_hop::lh-1?"),
        ("memfail/zzz", "tasks: conditional_facts_easy"),
    ],
)
def test_an_unknown_id(project: Project, argument: str, hint: str) -> None:
    result = project.run(argument)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = [line for line in result.errlines if line.strip()]
    assert argument in line
    assert hint in line
    assert project.events() == []


def test_an_unknown_id_under_xdist(project2: Project) -> None:
    result = project2.run("memfail/long_hop::lh-9")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = [line for line in result.errlines if line.strip()]
    assert "did you mean memfail/long_hop::lh-" in line


def test_a_real_folder_called_memfail(project: Project) -> None:
    project.file("memfail/test_inside.py", OWN)
    passes(project, "memfail/", "memfail/long_hop::lh-1", ran=["lh-1"], own=1)
    passes(project, "memfail/", ran=[], own=1)
    passes(project, "memfail/test_inside.py::test_own", ran=[], own=1)
    passes(project, "memfail/long_hop", ran=LONG_HOP)
    passes(project, ".", "memfail/long_hop", ran=LONG_HOP, own=1)


# -- selection by pytest's own options -------------------------------------------------------------------------------


def test_keyword(project: Project) -> None:
    passes(project, "-k", "long_hop and not lh-1", ran=["lh-2", "lh-3", "lh-4"])
    assert len(project.events("fill")) == 1


def test_task_marker(any_project: Project) -> None:
    passes(any_project, "-m", "long_hop", ran=LONG_HOP)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("memfail(task='long_hop')", LONG_HOP),
        ("memfail(task='long_hop') or memfail(task='coexisting_facts')", [*LONG_HOP, *COEXISTING]),
        ("memfail(k=6)", []),
        ("memfail and not persona_retrieval and not coexisting_facts", [*CONDITIONAL, *LONG_HOP]),
    ],
)
def test_marker_with_arguments(project: Project, expression: str, expected: list[str]) -> None:
    result = project.run("--collect-only", "-q", "-m", expression)
    assert sorted(i.rpartition("::")[2] for i in collected(result)) == sorted(expected)


@with_a_worker
def test_verdict_marker(any_project: Project) -> None:
    if any_project.n is None:  # nothing is recorded: the tasks made for it
        result = any_project.run("--collect-only", "-m", "summary_error")
        result.stdout.fnmatch_lines(["memfail: -m selects what each task is designed to provoke, as no verdict of*"])
        result = any_project.run("--collect-only", "-q", "-m", "summary_error")
        assert sorted(i.rpartition("::")[2] for i in collected(result)) == sorted([*CONDITIONAL, *PERSONA])
    any_project.script(ce_1="summary_error", pe_2_q1="summary_error", lh_1="not_retrieved")
    assert any_project.run().ret == 1
    # what failed that way
    result = any_project.run("-m", "summary_error")
    result.stdout.fnmatch_lines(
        ["memfail: -m selects by recorded verdicts: 22 of 22 questions have one (22 in pytest's cache)"]
    )
    result.assert_outcomes(failed=2)
    assert sorted(any_project.ran()) == ["ce-1", "pe-2-q1"]
    if any_project.n is not None:
        return
    # a partial run keeps what is known of the others
    assert any_project.run("-m", "not_retrieved").ret == 1
    assert any_project.ran() == ["lh-1"]


EVERY = {
    "not_stored": "ce-1",
    "summary_error": "ce-2",
    "not_retrieved": "lh-1",
    "reasoning_error": "lh-2",
    "no_answer": "co-1",
    "vacuous": "pe-1-q2",
    "error": "co-2",
}


def test_every_verdict_is_a_marker(project: Project) -> None:
    words = {"error": "raise", "no_answer": "ungraded", "vacuous": "not_stored"}
    project.script(**{i.replace("-", "_"): words.get(state, state) for state, i in EVERY.items()})
    result = project.run("--collect-only", "-m", "summary_error or correct or error")
    result.stdout.fnmatch_lines(
        [
            "memfail: -m selects what each task is designed to provoke, and nothing as correct or error, as no verdict of*"
        ]
    )
    assert not collected(project.run("--collect-only", "-q", "-m", "correct or error or no_answer"))
    project.run()
    for verdict, name in EVERY.items():
        found = collected(project.run("--collect-only", "-q", "-m", verdict))
        assert [i.rpartition("::")[2] for i in found] == [name]
    correct = collected(project.run("--collect-only", "-q", "-m", "correct"))
    assert len(correct) == len(ALL) - len(EVERY)
    # what is mended is no longer selected as failed
    project.script()
    project.run("-m", "summary_error")
    assert not collected(project.run("--collect-only", "-q", "-m", "summary_error"))
    assert len(collected(project.run("--collect-only", "-q", "-m", "correct"))) == len(correct) + 1


CUSTOM = """\
conversations: [In cu-1 I keep bees.]
question: What do I keep in cu-1?
answer: bees
expected: [{fact: The user keeps bees.}]
"""


def test_every_task_is_a_marker(project: Project) -> None:
    project.file("lost.memfail.yaml", CUSTOM)
    names = ["mine", "my-task", "my task", "not", "_hidden", "skip", "correct", "memfail", "a:b"]
    tasks = ", ".join(f"make_task({name!r}, {{'s{chr(97 + i)}': 1}})" for i, name in enumerate(names))
    project.conftest(f"def pytest_memfail_tasks(config):\n    return [{tasks}]")
    project.file("test_marked.py", "import pytest\n@pytest.mark.mine\ndef test_own(): pass")
    # the ini file has --strict-markers
    result = project.run(".", "memfail")
    result.assert_outcomes(passed=len(ALL) + len(names) + 2)
    for task in ("mine", "my-task", "custom"):
        found = collected(project.run("memfail", "--collect-only", "-q", "-m", task))
        assert [i.split("::")[0] for i in found] == [f"memfail/{task}"]
    found = collected(project.run("memfail", "--collect-only", "-q", "-m", "memfail(task='skip')"))
    assert len(found) == 1


def test_shipped_tasks_are_markers(pytester: pytest.Pytester) -> None:
    words = ("--memfail-system=bm25", "--memfail-limit=2", "--collect-only", "-q", "--strict-markers", "-m")
    result = pytester.runpytest_inprocess(*words, "updated_facts or conditional_facts_hard")
    tasks = {i.split("::")[0] for i in collected(result)}
    assert tasks == {"memfail/updated_facts", "memfail/conditional_facts_hard"}
    suites = map(built_in_suite, BUILT_IN)
    assert set(task_markers()) == {"custom", *(name for suite in suites for name in suite.parts)}


def test_verdict_marker_after_a_sample(any_project: Project) -> None:
    # what has no verdict yet is not selected, whatever its task is made for
    any_project.script(ce_1="summary_error", pe_2_q1="summary_error", lh_1="not_retrieved")
    assert any_project.run("memfail/coexisting_facts", "memfail/long_hop").ret == 1
    result = any_project.run("-m", "summary_error")
    result.stdout.fnmatch_lines(
        [
            "memfail: -m selects by recorded verdicts: 10 of 22 questions have one (10 in pytest's cache); the other 12 are not*"
        ]
    )
    assert any_project.ran() == ["ce-1"]


@pytest.mark.parametrize("other", ["option", "rows", "selection"])
def test_verdicts_of_something_else_do_not_count(project: Project, other: str) -> None:
    project.script(pe_1_q1="summary_error")
    project.run("memfail/persona_retrieval")
    words = ["memfail/persona_retrieval"]
    if other == "option":
        words.append("--memfail-system-option=new=1")
    elif other == "rows":
        project.write_rows("persona_retrieval", [*ROWS["persona_retrieval"]()[:3]])
    else:
        words = ["memfail/conditional_facts_easy"]
    result = project.run("--collect-only", "-q", "-m", "summary_error", *words)
    assert len(collected(result)) == {"option": 8, "rows": 6, "selection": 4}[other]


def test_deselect(any_project: Project) -> None:
    arguments = ("memfail/long_hop", "memfail/coexisting_facts", "--deselect", "memfail/coexisting_facts")
    passes(any_project, *arguments, "--deselect", "memfail/long_hop::lh-4", ran=["lh-1", "lh-2", "lh-3"])


@slowly_both_ways
def test_last_failed(any_project: Project) -> None:
    any_project.file("test_own.py", "def test_a(): assert 0\ndef test_b(): pass")
    any_project.script(ce_1="not_stored", lh_3="raise")
    any_project.run(".", "memfail").assert_outcomes(passed=21, failed=2, errors=1)
    any_project.run("--lf", ".", "memfail").assert_outcomes(failed=2, errors=1)
    assert sorted(any_project.ran()) == ["ce-1", "lh-3"]
    # filled as if all were asked, since a store is the same whatever is asked of it
    assert len(any_project.events("store")) == 20
    assert sorted(any_project.events("ask")) == ["ce-1", "lh-3"]
    if any_project.n is None:
        any_project.script()
        passes(any_project, "--lf", "memfail", ran=["ce-1", "lh-3"])


def test_failed_first(project: Project) -> None:
    project.script(lh_3="not_retrieved")
    project.run().assert_outcomes(passed=21, failed=1)
    project.run("--ff").assert_outcomes(passed=21, failed=1)
    # a store's questions stay together: the failed one's store goes first
    assert project.ran()[0] == "lh-3"
    assert set(project.ran()[:4]) == set(LONG_HOP)
    assert len(project.events("fill")) == 4


def test_new_first(project: Project) -> None:
    result = project.run("--nf", "memfail/long_hop", "memfail/coexisting_facts")
    result.assert_outcomes(passed=10)
    assert len(project.events("fill")) == 2


def test_stepwise(project: Project) -> None:
    first, second, third, fourth = (i.rpartition("::")[2] for i in co(project, "memfail/long_hop"))
    project.script(**{second.replace("-", "_"): "not_retrieved"})
    project.run("memfail/long_hop", "--sw").assert_outcomes(passed=1, failed=1)
    assert project.ran() == [first, second]
    project.script()
    project.run("memfail/long_hop", "--sw").assert_outcomes(passed=3, deselected=1)
    assert project.ran() == [second, third, fourth]


@pytest.mark.parametrize(("option", "failed"), [("-x", 1), ("--maxfail=2", 2)])
def test_stops_early(project: Project, option: str, failed: int) -> None:
    project.script(**{name.replace("-", "_"): "not_stored" for name in COEXISTING})
    result = project.run("memfail/coexisting_facts", option)
    assert result.ret == pytest.ExitCode.TESTS_FAILED  # what did not run was not lost
    result.assert_outcomes(failed=failed)
    assert project.record()[-1]["complete"] is False


def test_stops_at_an_error(project: Project) -> None:
    project.script(**{name.replace("-", "_"): "raise" for name in COEXISTING})
    result = project.run("memfail/coexisting_facts", "-x")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(errors=1)


def test_collect_only_under_xdist(project2: Project) -> None:
    result = project2.run("--collect-only", "-q", "memfail/long_hop")
    assert sorted(collected(result)) == ["memfail/long_hop::" + name for name in LONG_HOP]
    assert project2.events() == []


@pytest.mark.parametrize("option", ["--setup-plan", "--setup-only"])
def test_setup_plan_stores_nothing(project: Project, option: str) -> None:
    assert project.run("memfail/long_hop", option).ret == 0
    assert project.events() == []


def test_fixtures_per_test(project: Project) -> None:
    result = project.run("memfail/long_hop", "--fixtures-per-test")
    assert "INTERNALERROR" not in result.stdout.str()


def test_junit(any_project: Project) -> None:
    any_project.script(lh_1="not_retrieved", lh_2="ungraded", lh_3="raise", ce_1="not_stored", pe_1_q2="not_stored")
    any_project.conftest(TWO_STORES)
    result = any_project.run("memfail", "--memfail-tasks=long_hop,coexisting_facts,two_stores", "--junitxml=out.xml")
    assert result.ret == 1
    root = ET.fromstring(Path(any_project.path, "out.xml").read_bytes())
    cases = {(case.get("classname"), case.get("name")): case for case in root.iter("testcase")}
    expected = {("memfail.long_hop", name) for name in LONG_HOP}
    expected |= {("memfail.coexisting_facts", name) for name in COEXISTING}
    expected |= {("memfail.two_stores.alpha", f"alpha-{i}") for i in (1, 2, 3)}
    expected |= {("memfail.two_stores.beta", f"beta-{i}") for i in (1, 2)}
    assert set(cases) == expected
    children = {name: [c.tag for c in case if c.tag != "properties"] for (_, name), case in cases.items()}
    said = {
        name: {p.get("name"): p.get("value") for p in case.iter("property")}
        for (folder, name), case in cases.items()
        if folder == "memfail.long_hop"
    }
    verdicts = {"lh-1": "not_retrieved", "lh-2": "no_answer", "lh-3": "error", "lh-4": "correct"}
    assert said == {
        name: {"memfail_task": "long_hop", "memfail_k": "5", "memfail_verdict": verdict}
        for name, verdict in verdicts.items()
    }
    assert children["lh-1"] == ["failure"]
    assert children["lh-2"] == ["skipped"]
    assert children["lh-3"] == ["error"]
    assert children["lh-4"] == []
    failure = cases["memfail.long_hop", "lh-1"].find("failure")
    assert failure is not None
    assert str(failure.get("message")).startswith("the script says not_retrieved")
    assert str(failure.text).startswith("not_retrieved: ")


def test_misleading_rows_are_there(project: Project) -> None:
    assert {f"memfail/persona_retrieval::{name}" for name in MISLEADING} <= set(co(project))
