"""The fixtures, in benchmark items and in tests of the user's own."""

from __future__ import annotations

import pytest

from plugin.project import COEXISTING, LONG_HOP, Project, both_ways, slowly_both_ways

OVERRIDE = """
import pytest

@pytest.fixture(scope="{scope}")
def memfail_system(pytestconfig):
    def make(context):
        toy = Toy(context, pytestconfig.rootpath / "events.log")
        toy.happened("mine", "made")
        return toy
    return make
"""
WRAP = """
import pytest

@pytest.fixture(scope="session")
def memfail_system(memfail_system, pytestconfig):
    def make(context):
        toy = memfail_system(context)
        toy.happened("wrapped", type(toy).__name__)
        return toy
    yield make
    (pytestconfig.rootpath / "finalised").write_text("yes")
"""
OWN = """
import pytest

pytestmark = pytest.mark.memfail(task="long_hop")

def test_all(memfail_question, memfail_trace, memfail_store, memfail_verdict):
    assert memfail_question.id.startswith("lh-")
    assert memfail_trace.question is memfail_question
    assert len(memfail_trace.shown) == 5
    assert memfail_store.task == "long_hop"
    assert len(memfail_store.memories) == 8
    assert memfail_verdict.name == "correct", memfail_question.id

def test_one(memfail_verdict):
    pass
"""


@slowly_both_ways
def test_memfail_system_of_the_conftest(any_project: Project) -> None:
    any_project.conftest(OVERRIDE.format(scope="session"))
    result = any_project.run("memfail/long_hop", system="fixture")
    assert result.ret == 0
    result.assert_outcomes(passed=4)
    assert any_project.events("mine") == ["made"]


def test_memfail_system_of_the_conftest_goes_before_the_named_one(project: Project) -> None:
    project.conftest(OVERRIDE.format(scope="session"))
    assert project.run("memfail/long_hop").ret == 0
    assert project.events("mine") == ["made"]


def test_memfail_system_wrapped(any_project: Project) -> None:
    any_project.conftest(WRAP)
    result = any_project.run("memfail/long_hop", "memfail/coexisting_facts", system="async-toy")
    assert result.ret == 0
    assert any_project.events("wrapped") == ["AsyncToy", "AsyncToy"]
    assert (any_project.path / "finalised").exists()


def test_package_scope_serves_too(project: Project) -> None:
    project.conftest(OVERRIDE.format(scope="package"))
    result = project.run("memfail/long_hop", "memfail/coexisting_facts", system="fixture")
    assert result.ret == 0
    assert len(project.events("fill")) == 2


@pytest.mark.parametrize("scope", ["function", "class", "module"])
def test_a_scope_too_narrow(project: Project, scope: str) -> None:
    project.conftest(OVERRIDE.format(scope=scope))
    result = project.run("memfail/long_hop", system="fixture")
    assert result.ret == 6
    result.assert_outcomes(errors=4)
    result.stdout.fnmatch_lines([f"the fixture memfail_system has {scope} scope, expected session: *"])
    assert project.events() == []


def test_fixture_without_a_fixture(any_project: Project) -> None:
    result = any_project.run("memfail/long_hop", system="fixture")
    assert result.ret == 6
    result.assert_outcomes(errors=4)
    result.stdout.fnmatch_lines(["--memfail-system=fixture needs a session fixture memfail_system in *conftest.py"])


def test_a_fixture_that_gives_no_factory(project: Project) -> None:
    project.conftest("import pytest\n@pytest.fixture(scope='session')\ndef memfail_system(): return 'chroma'")
    result = project.run("memfail/long_hop", system="fixture")
    result.assert_outcomes(errors=4)
    result.stdout.fnmatch_lines(["the fixture memfail_system gave str, expected a factory: *"])


def test_a_fixture_that_raises(project: Project) -> None:
    project.conftest(
        "import pytest\n@pytest.fixture(scope='session')\ndef memfail_system(): raise OSError('no server')"
    )
    result = project.run("memfail/long_hop", system="fixture")
    assert result.ret == 6
    result.assert_outcomes(errors=4)
    result.stdout.fnmatch_lines(["E   OSError: no server"])


def test_a_fixture_that_skips(project: Project) -> None:
    project.conftest("import pytest\n@pytest.fixture(scope='session')\ndef memfail_system(): pytest.skip('no server')")
    result = project.run("memfail/long_hop", "-rs", system="fixture")
    result.assert_outcomes(skipped=4)
    result.stdout.fnmatch_lines(["SKIPPED *no server"])


# -- the user's own tests --------------------------------------------------------------------------------------------


def test_own_tests_over_a_task(any_project: Project) -> None:
    any_project.file("test_own.py", OWN)
    any_project.file("test_plain.py", "def test_plain(): pass")
    any_project.script(lh_2="not_stored")
    result = any_project.run("test_own.py", "test_plain.py", "-rf")
    assert result.ret == 1
    # the test decides: one of the two looks at the verdict
    result.assert_outcomes(passed=8, failed=1)
    result.stdout.fnmatch_lines(["FAILED test_own.py::test_all[[]long_hop/lh-2[]] - *"])
    assert len(any_project.events("fill")) == 1


@both_ways
def test_own_tests_and_the_benchmark_share_a_store(any_project: Project) -> None:
    any_project.file("test_own.py", OWN)
    result = any_project.run(".", "memfail/long_hop", "memfail/coexisting_facts")
    assert result.ret == 0
    result.assert_outcomes(passed=8 + 4 + 6)
    assert len(any_project.events("fill")) == 2
    result.stdout.fnmatch_lines(["coexisting_facts *6 *", "long_hop *4 *"])


def test_own_test_by_id(project: Project) -> None:
    project.file("test_own.py", OWN)
    result = project.run("test_own.py::test_all[long_hop/lh-2]")
    result.assert_outcomes(passed=1)
    assert project.events("ask") == ["lh-2"]


def test_own_test_with_several_k(project: Project) -> None:
    project.file("test_own.py", OWN.replace("== 5", "in (1, 3)"))
    result = project.run("test_own.py", "--memfail-k=1,3", "-v")
    result.assert_outcomes(passed=16)
    result.stdout.fnmatch_lines(["test_own.py::test_all[[]long_hop/lh-1[[]k=3[]][]] PASSED*"])


def test_own_test_over_a_store_of_several(project: Project) -> None:
    project.conftest(
        'def pytest_memfail_tasks(config): return [make_task("two_stores", {"alpha": 2, "beta": 2})]\n',
    )
    project.file(
        "test_own.py",
        """
        import pytest

        @pytest.mark.memfail(task="two_stores")
        def test_own(memfail_question, memfail_store, memfail_verdict):
            assert memfail_question.id.startswith(memfail_store.id)
        """,
    )
    result = project.run("test_own.py", "--memfail-tasks=two_stores")
    result.assert_outcomes(passed=4)
    assert len(project.events("fill")) == 2


def test_a_marked_test_that_asks_nothing(project: Project) -> None:
    project.file("test_own.py", "import pytest\n@pytest.mark.memfail(task='long_hop')\ndef test_own(): pass")
    result = project.run("test_own.py")
    # it is told how to ask; without a system it simply passes
    assert "memfail_question" in result.stdout.str()
    project.run("test_own.py", system=None).assert_outcomes(passed=1)


def test_own_tests_without_a_system(any_project: Project) -> None:
    any_project.file("test_own.py", OWN)
    any_project.file("test_plain.py", "def test_plain(): pass")
    result = any_project.run("-rs", system=None)
    assert result.ret == 0
    result.assert_outcomes(passed=1, skipped=2)
    result.stdout.fnmatch_lines(["SKIPPED *no memory system to test: give --memfail-system=NAME"])


def test_own_tests_of_a_task_that_is_not_run(project: Project) -> None:
    project.file("test_own.py", OWN)
    result = project.run("test_own.py", "--memfail-tasks=coexisting_facts", "-rs")
    assert result.ret == 0
    result.assert_outcomes(skipped=2)
    result.stdout.fnmatch_lines(["SKIPPED *the task long_hop is not among --memfail-tasks"])


@pytest.mark.parametrize("mark", ["task='long_hops'", "'long_hops'"])
def test_own_tests_of_an_unknown_task(project: Project, mark: str) -> None:
    project.file("test_own.py", f"import pytest\n@pytest.mark.memfail({mark})\ndef test_own(memfail_verdict): pass")
    result = project.run("test_own.py")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["unknown task 'long_hops'; did you mean 'long_hop'? Known: *"])
    assert project.events() == []


def test_the_fixtures_need_the_mark(project: Project) -> None:
    project.file("test_own.py", "def test_own(memfail_verdict): pass")
    result = project.run("test_own.py")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["the memfail_* fixtures need a question: mark the test with @pytest.mark.memfail*"])


def test_a_failed_assertion_shows_the_users_own_text(project: Project) -> None:
    project.file("test_own.py", OWN)
    project.script(lh_2="not_stored")
    result = project.run("test_own.py::test_all")
    result.stdout.fnmatch_lines([">*assert memfail_verdict.name == *", "E *AssertionError: lh-2"])


def test_an_error_in_an_own_test_is_short(project: Project) -> None:
    project.file("test_own.py", OWN)
    project.script(lh_2="raise")
    result = project.run("test_own.py::test_all")
    result.assert_outcomes(passed=3, errors=1)
    result.stdout.fnmatch_lines(["the judge's storage() raised RuntimeError: the judge is out of order"])
    assert "pytest_memfail" not in "".join(line for line in result.outlines if "File" in line)


# -- conftest ----------------------------------------------------------------------------------------------------------


def test_autouse_fixtures_do_not_wrap_items(any_project: Project) -> None:
    any_project.conftest(
        """
        import pytest

        @pytest.fixture(autouse=True)
        def no_network(request):
            with open(request.config.rootpath / "wrapped.log", "a") as stream:
                stream.write(request.node.name + "\\n")
            yield
        """
    )
    any_project.file("test_own.py", "def test_own(): pass")
    any_project.run(".", "memfail/long_hop").assert_outcomes(passed=5)
    assert (any_project.path / "wrapped.log").read_text().split() == ["test_own"]


@slowly_both_ways
def test_conftest_hooks_see_the_items(any_project: Project) -> None:
    any_project.conftest(
        """
        def note(item, text):
            with open(item.config.rootpath / "hooks.log", "a") as stream:
                stream.write(f"{text}\\n")

        def pytest_runtest_setup(item):
            mark = item.get_closest_marker("memfail")
            note(item, f"setup {item.name} {mark.kwargs['task']} {mark.kwargs['store']} {mark.kwargs['k']}")

        def pytest_runtest_teardown(item):
            note(item, f"teardown {item.name}")
        """
    )
    any_project.run("memfail/long_hop").assert_outcomes(passed=4)
    lines = (any_project.path / "hooks.log").read_text().splitlines()
    expected = [f"setup {name} long_hop long_hop 5" for name in LONG_HOP] + [f"teardown {name}" for name in LONG_HOP]
    assert sorted(lines) == sorted(expected)


def test_a_conftest_hook_may_skip_and_deselect(project: Project) -> None:
    project.conftest(
        """
        import pytest

        def pytest_collection_modifyitems(items):
            for item in items:
                if item.name == "ce-1":
                    item.add_marker(pytest.mark.skip(reason="known to be slow"))
                if item.name == "ce-2":
                    item.add_marker(pytest.mark.xfail(reason="known to be lost", strict=True))
            items[:] = [item for item in items if item.name != "ce-3"]
        """
    )
    project.script(ce_2="not_stored")
    result = project.run("memfail/coexisting_facts")
    assert result.ret == 0
    result.assert_outcomes(passed=3, skipped=1, xfailed=1)
    assert "ce-3" not in project.events("ask")
    assert set(project.ran()) <= set(COEXISTING)
