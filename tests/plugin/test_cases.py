"""Own cases in YAML: which of them paths on the command line name, and what is stored around them."""

from __future__ import annotations

import pytest

from plugin.project import COEXISTING, Project, collected, slowly_both_ways

CASE = """\
    conversations:
      - Mrs Abara is allergic to {name}.
    question: What is Mrs Abara allergic to?
    answer: {name}
    expected:
      - fact: Mrs Abara is allergic to {name}.
    """


@pytest.fixture(autouse=True)
def _incidents(pytester: pytest.Pytester) -> None:
    for path in ("incidents/latex", "incidents/later/wool", "elsewhere/nuts"):
        file = pytester.path / f"{path}.memfail.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(line[4:] for line in CASE.format(name=file.name.split(".")[0]).splitlines(True)))


LATEX, WOOL, NUTS = (f"memfail/custom::{name}::{name}" for name in ("latex", "wool", "nuts"))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["incidents/"], [LATEX, WOOL]),
        (["incidents/latex.memfail.yaml"], [LATEX]),
        (["incidents/latex.memfail.yaml::latex"], [LATEX]),
        (["incidents/later", "elsewhere/nuts.memfail.yaml"], [NUTS, WOOL]),
        (["incidents", "memfail/coexisting_facts::ce-1"], [LATEX, WOOL, "memfail/coexisting_facts::ce-1"]),
        (["."], [LATEX, NUTS, WOOL, "test_own.py::test_own"]),
        (["test_own.py"], ["test_own.py::test_own"]),
    ],
    ids=lambda value: " ".join(value) if "memfail/" not in value[0] else "",
)
def test_a_path_names_the_cases_below_it(project: Project, arguments: list[str], expected: list[str]) -> None:
    project.file("test_own.py", "def test_own(): pass")
    assert sorted(collected(project.run("--collect-only", "-q", *arguments))) == sorted(expected)


@slowly_both_ways
def test_a_path_runs_its_cases(any_project: Project) -> None:
    result = any_project.run("incidents/", system="bm25")
    assert sorted(any_project.ran()) == ["latex", "wool"]
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["memfail: 1 task, 2 questions in 2 stores, rows of data"])


def test_a_path_from_a_sub_directory(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project.path / "incidents")
    project.run("later", system="bm25")
    assert project.ran() == ["wool"]


@slowly_both_ways
def test_tests_beside_the_cases_run_too(any_project: Project) -> None:
    any_project.file("incidents/test_own.py", "def test_own(): pass")
    any_project.run("incidents", system="bm25").assert_outcomes(passed=3)
    assert sorted(any_project.ran()) == ["latex", "wool"]


@slowly_both_ways
def test_a_path_outside_the_testpaths(any_project: Project) -> None:
    any_project.ini("testpaths = incidents")
    any_project.run("elsewhere", system="bm25")
    assert any_project.ran() == ["nuts"]


def test_a_file_by_two_ways_is_read_once(project: Project) -> None:
    (project.path / "link").symlink_to(project.path / "incidents", target_is_directory=True)
    project.run("link/latex.memfail.yaml", system="bm25")
    assert project.ran() == ["latex"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["incidents/latex.memfail.yaml::wool"], "latex.memfail.yaml::wool (its cases: latex)"),
        (["incidents", "--memfail-tasks=coexisting_facts"], "(--memfail-tasks or --memfail-limit leaves it out)"),
    ],
)
def test_a_case_that_there_is_not(project: Project, arguments: list[str], said: str) -> None:
    result = project.run(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: no such case: *{said.replace('(', '?').replace(')', '?')}"])


def test_a_case_without_a_system_says_what_it_needs(project: Project) -> None:
    result = project.run("incidents/latex.memfail.yaml", system=None)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            "ERROR: incidents/latex.memfail.yaml: a case needs a memory system to test; give --memfail-system=NAME (bm25, say)"
        ]
    )


@slowly_both_ways
def test_a_haystack_is_stored_around_the_case(any_project: Project) -> None:
    path = any_project.path / "incidents" / "latex.memfail.yaml"
    path.write_text(f"{path.read_text()}haystack: coexisting_facts\n")
    any_project.run("incidents/latex.memfail.yaml", system="bm25")
    (store,) = [line for line in any_project.record() if line["type"] == "store"]
    assert store["conversations"] == 1 + 2 * len(COEXISTING)
    assert any_project.ran() == ["latex"]


def test_an_unknown_haystack_is_refused_before_anything_is_stored(project: Project) -> None:
    path = project.path / "incidents" / "latex.memfail.yaml"
    path.write_text(f"{path.read_text()}haystack: coexisting_fact\n")
    result = project.run("incidents")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*latex.memfail.yaml:7: haystack: *did you mean 'coexisting_facts'?"])
    assert project.events() == []


FAULTY = "left out: *wool.memfail.yaml:1: file: *"


@pytest.mark.parametrize(
    "words", [["incidents/latex.memfail.yaml"], ["memfail/custom::latex"], ["--memfail-tasks=long_hop"]]
)
def test_a_faulty_file_stops_no_run_of_others(project: Project, words: list[str]) -> None:
    project.file("incidents/later/wool.memfail.yaml", "- no case")
    result = project.run("--collect-only", "-q", *words)
    assert result.ret == 0
    assert (LATEX in collected(result)) == ("latex" in words[0])


def test_a_faulty_file_that_is_left_out_is_named(project: Project) -> None:
    project.file("incidents/later/wool.memfail.yaml", "- no case")
    result = project.run("incidents/latex.memfail.yaml", system="bm25")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines([f"memfail: own: {FAULTY}"])


@pytest.mark.parametrize("words", [[], ["incidents"], ["memfail/custom"], ["incidents/later/wool.memfail.yaml"]])
def test_a_faulty_file_stops_a_run_of_it(project: Project, words: list[str]) -> None:
    project.file("incidents/later/wool.memfail.yaml", "- no case")
    result = project.run("--collect-only", "-q", *words)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*wool.memfail.yaml:1: file: *"])
