"""Plain mistakes in a conftest.py or an ini file: one line that says what to do, never a traceback of pytest's."""

from __future__ import annotations

from pathlib import Path

import pytest

from plugin.project import LONG_HOP, Project
from plugin.test_usage_errors import refused

MAKE_SYSTEM = "def pytest_memfail_make_system(config, name):\n    "
MAKE_JUDGE = "def pytest_memfail_make_judge(config, name):\n    "
TASKS = "def pytest_memfail_tasks(config):\n    "


def own_conftest(project: Project, text: str) -> None:
    """A conftest.py without the toys."""
    project.file("pytest.ini", "[pytest]\nfilterwarnings = error\nmemfail_data = data\n")
    project.file("conftest.py", text)


@pytest.mark.parametrize(
    ("hook", "said"),
    [
        (
            MAKE_SYSTEM + "import nothing_of_that_name",
            "pytest_memfail_make_system('mine') raised ModuleNotFoundError: No module named 'nothing_of_that_name' "
            "(conftest.py:2)",
        ),
        (
            MAKE_SYSTEM + "raise SystemExit(3)",
            "pytest_memfail_make_system('mine') raised SystemExit: 3 (conftest.py:2)",
        ),
        (MAKE_SYSTEM + "__import__('pytest').skip('no')", "pytest_memfail_make_system('mine') raised Skipped: no"),
        (MAKE_SYSTEM + "return 3", "--memfail-system: 'mine' is int, expected a factory: factory(context) -> system"),
        (TASKS + "return 3", "pytest_memfail_tasks() gave int, expected a list of Task"),
        (TASKS + "return ['mine']", "pytest_memfail_tasks() gave str 'mine', expected a Task"),
        (TASKS + "yield {}['mine']", "pytest_memfail_tasks() raised KeyError: 'mine' (conftest.py:2)"),
        (
            "def pytest_memfail_make_system(config, names):\n    pass",
            "Argument(s) {'names'} are declared in the hookimpl but can not be found in the hookspec",
        ),
    ],
)
def test_a_hook_that_goes_wrong_is_one_line(project: Project, hook: str, said: str) -> None:
    own_conftest(project, hook)
    assert said in refused(project, system="mine")


@pytest.mark.parametrize(
    ("hook", "said"),
    [
        (MAKE_JUDGE + "1 / 0", "pytest_memfail_make_judge('mine') raised ZeroDivisionError: division by zero"),
        (MAKE_JUDGE + "return 3", "--memfail-judge: 'mine' has no storage(), summary(), retrieval(), answer()"),
        (
            MAKE_JUDGE + "return lambda config: None",
            "--memfail-judge: making the judge 'mine' raised TypeError: ",
        ),
    ],
)
def test_a_judges_hook_that_goes_wrong_is_one_line(project: Project, hook: str, said: str) -> None:
    own_conftest(project, hook)
    assert said in refused(project, "--memfail-judge=mine", system="bm25")


def test_a_factory_whose_checks_raise_is_one_line(project: Project) -> None:
    project.file(
        "mine.py",
        """
        class Unchecked:
            @staticmethod
            def check_options(options):
                return options["url"]

        class Unnamed:
            @staticmethod
            def models(options, model):
                return options["model"]
        """,
    )
    assert "check_options() of mine:Unchecked raised KeyError: 'url' (mine.py:5)" in refused(
        project, system="mine:Unchecked"
    )
    assert "models() of mine:Unnamed raised KeyError: 'model' (mine.py:10)" in refused(project, system="mine:Unnamed")


def test_a_failing_hook_under_xdist(project2: Project) -> None:
    own_conftest(project2, MAKE_SYSTEM + "import nothing_of_that_name")
    assert "raised ModuleNotFoundError" in refused(project2, system="mine")


def test_a_summary_hook_that_raises_costs_no_record(project: Project) -> None:
    project.conftest("def pytest_memfail_summary(config, summary):\n    raise OSError('no upload')")
    result = project.run("memfail/long_hop", "--memfail-report=x.json")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=len(LONG_HOP))
    (line,) = [line for line in result.outlines if "pytest_memfail_summary" in line]
    assert line.startswith("memfail: pytest_memfail_summary() raised OSError: no upload (conftest.py:")
    assert project.end() == (1, True)
    assert (project.path / "x.json").is_file()


NATIVE = pytest.mark.skipif(pytest.version_tuple < (9,), reason="pytest before 9 does not read this table")


@pytest.mark.parametrize("head", ["tool.pytest.ini_options", pytest.param("tool.pytest", marks=NATIVE)])
@pytest.mark.parametrize(
    "line",
    [
        'memfail_tasks = ["long_hop", "coexisting_facts"]',
        "memfail_k = [5, 10]",
        'memfail_data = ["data"]',  # a text, one folder a line
        'memfail_resume = "maybe"',
        "memfail_report = [1, 2]",
        "memfail_system_option = {keep = 1}",
    ],
)
def test_a_value_of_an_unexpected_type_in_toml_is_one_line(project: Project, line: str, head: str) -> None:
    (project.path / "pytest.ini").unlink()
    project.file("pyproject.toml", f"[{head}]\nfilterwarnings = ['error']\n{line}\n")
    said = refused(project).replace("-", "_")
    assert line.partition(" ")[0] in said


def test_a_list_of_names_says_how_to_write_it(project: Project) -> None:
    (project.path / "pytest.ini").unlink()
    project.file("pyproject.toml", '[tool.pytest.ini_options]\nmemfail_tasks = ["long_hop", "coexisting_facts"]\n')
    assert refused(project).endswith('expected a text, such as "long_hop,coexisting_facts"')


@pytest.mark.parametrize("digits", [8, 5000])
def test_more_memories_than_any_store_has(project: Project, digits: int) -> None:
    line = refused(project, f"--memfail-k={'9' * digits}")
    assert "expected whole numbers from 1 to 1000000" in line
    assert len(line) < 250


REPOSITORY = Path(__file__).parents[2]


def test_a_documented_conftest_runs_without_the_plugin(project: Project) -> None:
    conftest = (REPOSITORY / "examples/quickstart/conftest.py").read_text(encoding="utf-8")
    own_conftest(project, conftest)
    project.file("pytest.ini", "[pytest]\n")
    project.file("toymem.py", (REPOSITORY / "examples/quickstart/toymem.py").read_text(encoding="utf-8"))
    project.file("test_own.py", "def test_own(): pass")
    result = project.run_apart("-p", "no:memfail", system=None)
    assert result.ret == 0
    result.assert_outcomes(passed=1)


def test_every_documented_hook_is_optional() -> None:
    pages = [*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/*.md"), *REPOSITORY.glob("examples/*/*.md")]
    pages += [*REPOSITORY.glob("examples/*/conftest.py"), REPOSITORY / "pytest_memfail/plugin/hookspecs.py"]
    shown, bare = 0, []
    for page in pages:
        lines = page.read_text(encoding="utf-8").splitlines()
        for before, line in zip(["", *lines], lines, strict=False):
            # a signature alone, without a body, is none to copy
            if line.strip().startswith("def pytest_memfail_") and line.rstrip().endswith(":") and " -> " not in line:
                shown += 1
                if not before.strip().startswith("@pytest.hookimpl(optionalhook=True)"):
                    bare.append(f"{page.name}: {line.strip()}")
    assert shown > 8
    assert bare == []


def test_two_ctrl_c_end_as_interrupted(project: Project) -> None:
    project.conftest(
        """
        def pytest_runtest_logreport(report):
            if report.when == "teardown":
                raise KeyboardInterrupt

        def pytest_keyboard_interrupt(excinfo):
            raise KeyboardInterrupt
        """
    )
    project.run_apart("memfail/long_hop")
    assert project.end() == (pytest.ExitCode.INTERRUPTED, False)


def test_a_system_that_leaves_the_process_is_no_success(project: Project) -> None:
    project.conftest(
        """
        class Leaving(Toy):
            def store_conversation(self, conversation):
                if os.fork() == 0:
                    os._exit(0)  # a process of its own may end as it likes
                os.wait()
                os._exit(0)

        def pytest_memfail_make_system(config, name):
            return lambda context: Leaving(context, config.rootpath / "events.log")
        """
    )
    result = project.run_apart("memfail/long_hop")
    assert result.ret == 6
    result.stderr.fnmatch_lines(["memfail: no trustworthy result: os._exit(0) ended the run: *conftest.py*"])
    assert result.stderr.str().count("ended the run") == 1


def test_a_process_for_each_item_is_refused(project: Project) -> None:
    project.conftest(
        'def pytest_addoption(parser): parser.addoption("--forked", action="store_true")  # as pytest-forked'
    )
    result = project.run("memfail/long_hop", "--forked")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --forked: a process for each item, expected one for all items of a store; *"])


def test_a_plugin_may_read_the_function_of_any_item(project: Project) -> None:
    project.conftest("def pytest_collection_modifyitems(items): [item.obj for item in items]  # as pytest-trio")
    project.run("memfail/long_hop").assert_outcomes(passed=4)
