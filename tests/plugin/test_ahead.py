"""Questions are asked ahead of the items that wait for them; what that must not change."""

from __future__ import annotations

import re

import pytest

from plugin.project import COEXISTING, LONG_HOP, Project, slowly_both_ways

TASKS = """
def pytest_memfail_tasks(config):
    return [make_task({name!r}, {stores!r})]
"""


def only(project: Project, more: str = "", **stores: int) -> str:
    """Gives the project a task of these stores, and more in its conftest.py; the option that selects the task."""
    project.conftest(TASKS.format(name="boxes", stores=stores) + more)
    return "--memfail-tasks=boxes"


def peak(project: Project) -> int:
    """The most questions in flight at once."""
    return max(map(int, project.events("flying")))


@slowly_both_ways
def test_questions_overlap(any_project: Project) -> None:
    result = any_project.run(only(any_project, alpha=20), system="async-toy")
    assert result.ret == 0
    result.assert_outcomes(passed=20)
    assert peak(any_project) > 1


@pytest.mark.parametrize(("option", "most"), [("--memfail-concurrency=1", 1), ("--memfail-concurrency=3", 3)])
def test_concurrency_bounds_the_overlap(project: Project, option: str, most: int) -> None:
    result = project.run(only(project, alpha=10), option, system="async-toy")
    result.assert_outcomes(passed=10)
    assert peak(project) == most


@pytest.mark.parametrize("reads", [1, 2])
def test_a_system_bounds_the_overlap(project: Project, reads: int) -> None:
    option = f"--memfail-system-option=reads={reads}"
    result = project.run(only(project, alpha=10), option, system="async-toy")
    result.assert_outcomes(passed=10)
    assert peak(project) == reads


def test_concurrency_of_one_is_over_all_stores(project: Project) -> None:
    result = project.run(only(project, alpha=5, beta=5), "--memfail-concurrency=1", system="async-toy")
    result.assert_outcomes(passed=10)
    assert peak(project) == 1


# -- stopping --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "system"), [(None, "toy"), (None, "async-toy"), (1, "async-toy")])
def test_a_stop_stops_the_asking(pytester: pytest.Pytester, system: str, n: int | None) -> None:
    project = Project(pytester, n)
    project.script(alpha_1="not_stored")
    options = ("--memfail-concurrency=8", "--memfail-system-option=seconds=0.002", "-x")
    result = project.run(only(project, alpha=400), *options, system=system)
    assert result.ret in (pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED)
    assert "alpha-1" in project.ran()
    # a window of 64 ahead, what is in flight, and what xdist had sent
    assert len(project.events("ask")) < 200
    assert project.events("ask").count("alpha-1") == 1


def test_an_interrupt_stops_the_asking(project: Project) -> None:
    interrupt = """
def pytest_runtest_logreport(report):
    if report.nodeid.endswith("alpha-2"):
        raise KeyboardInterrupt
"""
    option = only(project, interrupt, alpha=400)
    options = ("--memfail-concurrency=8", "--memfail-system-option=seconds=0.002")
    result = project.run_apart(option, *options, system="async-toy")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert len(project.events("ask")) < 200
    assert "Task was destroyed" not in result.stderr.str() + result.stdout.str()


def test_finalisers_come_after_the_questions(project: Project) -> None:
    server = """
import pytest

@pytest.fixture(scope="session")
def memfail_system(pytestconfig):
    toys = []
    def make(context):
        toys.append(AsyncToy(context, pytestconfig.rootpath / "events.log"))
        return toys[-1]
    yield make
    toys[0].happened("server", "ended")
"""
    option = only(project, server, alpha=200)
    project.script(alpha_1="not_stored")
    result = project.run(option, "-x", "--memfail-system-option=seconds=0.01", system="fixture")
    assert result.ret == 1
    events = project.events()
    after = events[events.index("server ended") + 1 :]
    assert [event for event in after if event.startswith(("ask", "flying"))] == []


# -- what a question writes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "system"), [(None, "toy"), (None, "async-toy"), (1, "toy")])
def test_prints_and_logs_stay_with_their_item(pytester: pytest.Pytester, system: str, n: int | None) -> None:
    project = Project(pytester, n)
    project.script(ce_2="not_stored", ce_5="not_retrieved")
    words = ("memfail/coexisting_facts", "memfail/long_hop", "--memfail-system-option=talk=1")
    result = project.run(*words, system=system)
    result.assert_outcomes(failed=2, passed=8)
    text = result.stdout.str()
    for name in ("ce-2", "ce-5"):
        start = re.search(rf"^_+ {name} _+$", text, re.MULTILINE)
        assert start is not None
        own = re.split(r"^(?:_+ ce-\d _+|=+ memfail =+)$", text[start.end() :], maxsplit=1, flags=re.MULTILINE)[0]
        assert re.findall(r"print of (\S+)", own) == [name]
        assert re.findall(r"log of (\S+)", own) == [name]
    assert len(re.findall("print of", text)) == len(re.findall("log of", text)) == 2


def test_prints_come_in_order_without_capture(project: Project) -> None:
    words = ("memfail/coexisting_facts", "-s", "-v", "--memfail-system-option=talk=1")
    result = project.run(*words, system="async-toy")
    result.assert_outcomes(passed=6)
    printed = re.findall(r"print of (\S+)", result.stdout.str())
    assert printed == project.ran()
    assert sorted(printed) == sorted(COEXISTING)


@pytest.mark.parametrize(
    "capture",
    ["fd", pytest.param("sys", marks=pytest.mark.slow), "tee-sys", pytest.param("no", marks=pytest.mark.slow)],
)
def test_a_printed_surrogate_makes_no_error(project: Project, capture: str) -> None:
    words = ("memfail/long_hop", f"--capture={capture}", "--memfail-system-option=surrogate_at=lh-1")
    # in a process of its own: pytester's streams take anything
    result = project.run_apart(*words)
    result.assert_outcomes(passed=4)


def test_prints_of_a_user_test_are_left_alone(project: Project) -> None:
    project.file("test_own.py", "def test_own():\n    print('mine')\n    assert 0")
    project.file(
        "test_later.py", "def test_later(capsys):\n    print('x')\n    assert capsys.readouterr().out == 'x\\n'"
    )
    result = project.run("test_own.py", "memfail/long_hop", "test_later.py", "--memfail-system-option=talk=1")
    result.assert_outcomes(failed=1, passed=5)
    assert result.outlines.count("mine") == 1
    assert "print of" not in result.stdout.str()


def test_logs_live(project: Project) -> None:
    words = ("memfail/long_hop", "--memfail-system-option=talk=1", "--log-cli-level=WARNING")
    result = project.run(*words, system="async-toy")
    result.assert_outcomes(passed=4)
    assert re.findall(r"log of (\S+)", result.stdout.str()) == project.ran()


def test_prints_while_filling_go_to_the_first_item(project: Project) -> None:
    project.conftest(
        """
        import pytest

        class Chatty(Toy):
            def store_conversation(self, conversation):
                print("storing", ids_in(conversation.text)[0])
                super().store_conversation(conversation)

        @pytest.fixture(scope="session")
        def memfail_system(pytestconfig):
            return lambda context: Chatty(context, pytestconfig.rootpath / "events.log")
        """
    )
    project.script(**{name.replace("-", "_"): "not_retrieved" for name in LONG_HOP})
    result = project.run("memfail/long_hop", system="fixture")
    _, *parts = re.split(r"^_+ (lh-\d) _+$", result.stdout.str(), flags=re.MULTILINE)
    printed = {name: text.count("storing lh-") for name, text in zip(parts[::2], parts[1::2], strict=True)}
    first, *others = project.ran()
    assert printed == {first: 8, **dict.fromkeys(others, 0)}


@slowly_both_ways
def test_durations_are_the_questions_own(any_project: Project) -> None:
    words = ("memfail/long_hop", "--durations=0", "--memfail-system-option=seconds=0.05")
    result = any_project.run(*words, system="async-toy")
    result.assert_outcomes(passed=4)
    # pytest waited for the first alone, and lists what took more than 5 ms
    for name in LONG_HOP:
        result.stdout.fnmatch_lines([f"*s call *memfail/long_hop::{name}"])


# -- the next store --------------------------------------------------------------------------------------------------


def test_the_next_store_is_begun_while_this_one_is_asked(project: Project) -> None:
    result = project.run(only(project, alpha=20, beta=3), "--memfail-concurrency=2", system="async-toy")
    result.assert_outcomes(passed=23)
    events = project.events()
    asked = [i for i, event in enumerate(events) if event.startswith("ask alpha")]
    second_fill = [i for i, event in enumerate(events) if event.startswith("fill ")][1]
    assert second_fill < asked[-1]
    # each once, whatever was begun when
    assert len(project.events("fill")) == len(project.events("close")) == 2
    assert len(project.events("ask")) == 23


def test_no_more_stores_than_the_system_can_bear(project: Project) -> None:
    option = "--memfail-system-option=stores=1"
    result = project.run(only(project, alpha=3, beta=3, gamma=3), option, system="async-toy")
    result.assert_outcomes(passed=9)
    kinds = [event.split()[0] for event in project.events() if event.startswith(("fill", "close"))]
    assert kinds == ["fill", "close"] * 3


def test_at_most_two_stores_are_open(project: Project) -> None:
    result = project.run(only(project, alpha=3, beta=3, gamma=3, delta=3))
    result.assert_outcomes(passed=12)
    opened = most = 0
    for event in project.events():
        opened += event.startswith("fill") - event.startswith("close")
        most = max(most, opened)
    assert most <= 2
    assert opened == 0


def test_no_store_is_begun_that_a_stop_may_make_useless(project: Project) -> None:
    project.script(alpha_3="not_stored")
    result = project.run(only(project, alpha=3, beta=3), "--maxfail=1")
    assert result.ret == 1
    assert len(project.events("fill")) == 1


def test_a_store_that_is_not_selected_is_not_begun(project: Project) -> None:
    option = only(project, alpha=3, beta=3, gamma=3)
    result = project.run(option, "-k", "alpha or gamma")
    result.assert_outcomes(passed=6)
    assert len(project.events("fill")) == 2
    assert "beta-1" not in project.events("store")


# -- time ------------------------------------------------------------------------------------------------------------

SLOW = """
import time

class Slow(Toy):
    def store_conversation(self, conversation):
        time.sleep(0.2)
        super().store_conversation(conversation)

class Hanging(Toy):
    async def retrieve_memories(self, query, conversation, k):
        if "lh-1" in query:
            await asyncio.sleep(3600)
        return super().retrieve_memories(query, conversation, k)

class HangingThread(Toy):
    def retrieve_memories(self, query, conversation, k):
        if "lh-1" in query:
            time.sleep(3600)
        return super().retrieve_memories(query, conversation, k)

import pytest

@pytest.fixture(scope="session")
def memfail_system(pytestconfig):
    kind = {{"Slow": Slow, "Hanging": Hanging, "HangingThread": HangingThread}}[{kind!r}]
    return lambda context: kind(context, pytestconfig.rootpath / "events.log")
"""


def test_a_slow_fill_is_not_the_first_questions_fault(project: Project) -> None:
    project.conftest(SLOW.format(kind="Slow"))
    result = project.run_apart("memfail/long_hop", "-ptimeout", "--timeout=1", system="fixture")
    assert result.ret == 0
    result.assert_outcomes(passed=4)


@pytest.mark.parametrize("kind", [pytest.param("Hanging", marks=pytest.mark.slow), "HangingThread"])
def test_a_question_that_hangs_ends_by_its_timeout(project: Project, kind: str) -> None:
    project.conftest(SLOW.format(kind=kind))
    # neither the store's first item, which is exempt, nor its last
    words = ("memfail/long_hop::lh-3", "memfail/long_hop::lh-1", "memfail/long_hop::lh-4", "memfail/coexisting_facts")
    option = "--memfail-system-option=reads=8"
    result = project.run_apart(*words, option, "-ptimeout", "--timeout=3", system="fixture", patience=60)
    assert project.verdicts()["memfail/long_hop::lh-4"] == "correct"
    result.assert_outcomes(passed=8, errors=1)
    assert result.ret == 6  # one error of nine is more than a tenth


def test_a_hanging_question_does_not_hang_the_end_of_its_store(project: Project) -> None:
    project.conftest(SLOW.format(kind="Hanging"))
    words = ("memfail/long_hop::lh-3", "memfail/long_hop::lh-1", "memfail/coexisting_facts")
    result = project.run_apart(*words, "-ptimeout", "--timeout=1", system="fixture", patience=20)
    result.assert_outcomes(passed=7, errors=1)
