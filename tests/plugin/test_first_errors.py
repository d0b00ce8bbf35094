"""A system that always raises says so at once, and builds no traceback that nobody sees."""

from __future__ import annotations

import re

import pytest

from plugin.project import Project, slowly_both_ways, with_a_worker
from plugin.test_ahead import only
from pytest_memfail.plugin.outcome import without_subject

FACTORY = """
import pytest

@pytest.fixture(scope="session")
def memfail_system(pytestconfig):
    def make(context):
        raise OSError("no server")
    return make
"""


def stopped(result: pytest.RunResult) -> str:
    """The line that says why a run was stopped."""
    assert result.ret == 6, result.stdout.str()
    (line,) = [line for line in result.outlines if "--memfail-keep-going" in line]
    assert line.startswith("memfail: no trustworthy result: ")
    return line


@slowly_both_ways
def test_a_first_store_that_cannot_be_opened_ends_the_run(any_project: Project) -> None:
    result = any_project.run(only(any_project, FACTORY, alpha=40, beta=40), system="fixture")
    assert "the first store could not be opened: the factory raised OSError: no server; fix it" in stopped(result)
    # without xdist at once; a worker still runs what it was sent
    assert len(any_project.ran()) == 1 if any_project.n is None else len(any_project.ran()) < 80
    assert any_project.end() == (6, False)


@with_a_worker
def test_the_first_ten_with_the_same_error_end_the_run(any_project: Project) -> None:
    option = only(any_project, alpha=60, beta=60)
    result = any_project.run(option, "--memfail-system-option=raise_at=all")
    line = stopped(result)
    assert "the first 10 questions all ended with the same error: retrieve_memories() raised ValueError" in line
    assert len(any_project.ran()) == 10 if any_project.n is None else len(any_project.ran()) < 120


def test_keep_going(project: Project) -> None:
    option = only(project, alpha=20)
    for words in (["--memfail-keep-going"], []):
        result = project.run(option, "--memfail-system-option=raise_at=all", *words)
        assert result.ret == 6
        assert len(project.ran()) == 20
        result.assert_outcomes(errors=20)
        project.ini("memfail_keep_going = true")


def test_other_errors_or_a_single_verdict_let_it_go_on(project: Project) -> None:
    option = only(project, alpha=20)
    project.script(**{f"alpha_{i}": "raise" for i in range(2, 21)})
    result = project.run(option)
    assert len(project.ran()) == 20
    assert "keep-going" not in result.stdout.str()


def test_ten_of_ten_are_no_reason_to_stop(project: Project) -> None:
    result = project.run(only(project, alpha=10), "--memfail-system-option=raise_at=all")
    assert result.ret == 6
    assert project.end() == (6, True)
    assert "keep-going" not in result.stdout.str()


def test_no_traceback_is_built_that_is_not_shown(project: Project) -> None:
    counting = """
        from _pytest._code.code import ExceptionInfo

        built = []
        getrepr = ExceptionInfo.getrepr

        def counted(self, *args, **kwargs):
            built.append(1)
            return getrepr(self, *args, **kwargs)

        ExceptionInfo.getrepr = counted

        def pytest_unconfigure(config):
            ExceptionInfo.getrepr = getrepr
            (config.rootpath / "built.txt").write_text(str(len(built)))
    """
    option = only(project, counting.replace("\n        ", "\n"), alpha=30)
    project.run(option, "--memfail-system-option=raise_at=all", "--memfail-keep-going")
    assert (project.path / "built.txt").read_text() == "0"


def test_the_error_of_a_whole_store_does_not_grow_with_its_questions(project: Project) -> None:
    measuring = """
        import traceback

        def pytest_runtest_makereport(item, call):
            if call.excinfo is not None:
                depth = len(traceback.extract_tb(call.excinfo.value.__traceback__))
                with open(item.config.rootpath / "depths.txt", "a") as stream:
                    stream.write(f"{depth}\\n")
    """
    option = only(project, measuring.replace("\n        ", "\n"), alpha=30)
    project.run(option, "--memfail-system-option=raise_store=alpha-3", "--memfail-keep-going")
    depths = [int(line) for line in (project.path / "depths.txt").read_text().split()]
    assert len(depths) == 30
    assert max(depths[1:]) == min(depths[1:])


@pytest.mark.parametrize(
    ("style", "frames"), [("no", 0), ("line", 0), ("short", 2), ("long", 2), ("native", 2), ("auto", 2)]
)
def test_the_style_of_tracebacks_is_respected(project: Project, style: str, frames: int) -> None:
    result = project.run(only(project, alpha=3), "--memfail-system-option=raise_at=all", f"--tb={style}")
    result.assert_outcomes(errors=3)
    text = result.stdout.str()
    assert len(re.findall(r"^  File ", text, re.MULTILINE)) == frames
    if style != "no":
        assert "retrieve_memories() raised ValueError: the index is broken (question alpha-" in text


def test_a_full_trace_is_pytests_own(project: Project) -> None:
    result = project.run(only(project, alpha=2), "--memfail-system-option=raise_at=all", "--full-trace")
    assert "hosting/calls.py" in result.stdout.str()


def test_a_recursion_shows_its_last_frames(project: Project) -> None:
    recursing = """
        import pytest

        def left(n):
            return right(n + 1)

        def right(n):
            return left(n + 1)

        class Recursing(Toy):
            def retrieve_memories(self, query, conversation, k):
                return left(0)

        @pytest.fixture(scope="session")
        def memfail_system(pytestconfig):
            return lambda context: Recursing(context, pytestconfig.rootpath / "events.log")
    """
    result = project.run(only(project, recursing.replace("\n        ", "\n"), alpha=2), system="fixture")
    result.assert_outcomes(errors=2)
    assert sum("in left" in line or "in right" in line for line in result.outlines) == 10
    assert "retrieve_memories() raised RecursionError" in result.stdout.str()


def test_a_user_test_over_a_task_shows_the_same_line(project: Project) -> None:
    project.file(
        "test_own.py",
        """
        import pytest

        @pytest.mark.memfail(task="boxes")
        def test_it(memfail_verdict):
            pass
        """,
    )
    result = project.run(only(project, alpha=3), "test_own.py", "--memfail-system-option=raise_at=all")
    result.assert_outcomes(errors=3)
    assert "nodes.py" not in result.stdout.str()
    assert len(re.findall(r"^as test_own.py::", result.stdout.str(), re.MULTILINE)) == 2


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        (
            "returned str 'The canoe is…; expected a list (question q-1)",
            'returned str "It\'s here"; expected a list (question q-2)',
            True,
        ),
        (
            "returned tuple ('The canoe', 0.93) at index 0 (question q-1)",
            "returned tuple ('A kite', 0.1) at index 0 (question q-2)",
            True,
        ),
        ("raised OSError: no server (question q-1)", "raised ValueError: no server (question q-2)", False),
        ("returned str 'a'; expected a list", "returned int 5; expected a list", False),
    ],
)
def test_errors_are_alike_whatever_they_quote(one: str, other: str, alike: bool) -> None:
    assert (without_subject(one) == without_subject(other)) is alike
