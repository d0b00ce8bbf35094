"""With workers: the same results, each store filled once, and what a worker's death costs."""

from __future__ import annotations

import re
import shutil
import sys
import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from plugin.project import ALL, COEXISTING, LONG_HOP, PERSONA, Project, slowly_both_ways
from pytest_memfail.plugin.xdist import StoreScheduling

OWN = "import os, pytest\n@pytest.mark.parametrize('i', range({n}))\ndef test_own(i, request): pass\n"


def table(result: pytest.RunResult) -> list[str]:
    """The verdict table of the summary."""
    lines = result.outlines
    start = next(i for i, line in enumerate(lines) if re.fullmatch(r"=+ memfail =+", line))
    return [line.rstrip() for line in lines[start + 1 : lines.index("", start + 2)] if line]


def processes(project: Project, what: str) -> dict[str, set[str]]:
    """Which processes had an event, by what it was about."""
    found: dict[str, set[str]] = defaultdict(set)
    for line in (project.path / "events.log").read_text().splitlines():
        event, about, process = line.split()
        if event == what:
            found[about].add(process)
    return found


@pytest.mark.parametrize("numbers", [(2,), pytest.param((0, 4), marks=pytest.mark.slow)], ids=str)
def test_the_same_results_and_each_store_is_filled_once(project: Project, numbers: tuple[int, ...]) -> None:
    project.script(
        ce_1="not_stored",
        ce_2="summary_error",
        lh_1="not_retrieved",
        lh_2="reasoning_error",
        co_1="ungraded",
        co_2="raise",
        pe_1_q2="not_stored",
    )
    project.file("test_own.py", OWN.format(n=40))
    # two facts of each coexisting and long-hop row, one conversation of each other
    stored = Counter(dict.fromkeys((*COEXISTING, *LONG_HOP), 2))
    stored.update([f"{kind}-{i}" for kind in ("pe", "co") for i in range(1, 5)])
    runs = []
    for n in (None, *numbers):
        result = project.run(".", "memfail", "-v", n=n)
        runs.append((result.ret, result.parseoutcomes(), table(result), project.verdicts()))
        assert len(project.events("fill")) == 4
        assert project.fills() == stored
        asked = processes(project, "ask")
        assert len({next(iter(asked[name])) for name in LONG_HOP}) == 1
        assert len({next(iter(asked[name])) for name in PERSONA}) == 1
    assert sorted(runs[0][3]) == sorted(ALL)
    assert runs[0][1]["passed"] == len(ALL) - 7 + 40
    for run in runs[1:]:
        assert run == runs[0]


def test_own_tests_are_distributed_when_there_is_nothing_else(project2: Project) -> None:
    project2.file("test_own.py", OWN.format(n=40))
    result = project2.run("test_own.py", "-v")
    result.assert_outcomes(passed=40)
    assert len(set(re.findall(r"\[(gw\d)\] .* PASSED", result.stdout.str()))) == 2


@pytest.mark.parametrize("mode", [pytest.param("load", marks=pytest.mark.slow), "loadscope"])
def test_a_mode_of_ones_own_is_kept(project2: Project, mode: str) -> None:
    result = project2.run("memfail/long_hop", "memfail/coexisting_facts", "--dist", mode, "-v")
    assert result.ret == 0
    result.assert_outcomes(passed=10)
    assert "StoreScheduling" not in result.stdout.str()


def far_copy(project: Project, name: str) -> Path:
    """The repository as checked out on another machine: a folder of its own, in which nothing has run."""
    project.script(lh_1="not_retrieved")
    there = project.path.parent / f"{project.path.name}-{name}"
    return Path(shutil.copytree(project.path, there))


@pytest.mark.parametrize(
    "shares_folder",
    [pytest.param(True, id="same machine", marks=pytest.mark.slow), pytest.param(False, id="another machine")],
)
def test_workers_in_checkouts_of_their_own(project: Project, shares_folder: bool) -> None:
    places = [far_copy(project, name) for name in ("alice", "bob")]
    if not shares_folder:  # what a worker on another machine is told is no folder there
        project.conftest(
            """
            import pytest

            @pytest.hookimpl(optionalhook=True, trylast=True)
            def pytest_configure_node(node):
                node.workerinput["memfail"]["journals"] = "/nowhere/of/this/machine"
            """
        )
    words = [f"--tx=popen//python={sys.executable}//chdir={there}" for there in places]
    result = project.run_apart("-d", *words, "memfail/long_hop", "memfail/coexisting_facts")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=9, failed=1)
    assert sorted(project.ran()) == sorted([*COEXISTING, *LONG_HOP])
    assert project.end() == (1, True)
    # it all happened there, and each store was filled by one of them
    assert project.events() == []
    fills = [line for there in places for line in (there / "events.log").read_text().splitlines() if "fill" in line]
    assert len(fills) == 2


# -- death -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("system", ["toy", pytest.param("async-toy", marks=pytest.mark.slow)])
def test_a_death_costs_the_question_that_caused_it(project2: Project, system: str) -> None:
    project2.file("test_own.py", OWN.format(n=6))
    result = project2.run(
        ".",
        "memfail/persona_retrieval",
        "memfail/coexisting_facts",
        "--memfail-system-option=die_at=pe-3-q1",
        "--junitxml=out.xml",
        system=system,
    )
    outcomes, passed = result.parseoutcomes(), len(PERSONA) + len(COEXISTING) - 1 + 6
    assert (outcomes["errors"], outcomes["passed"]) == (1, passed)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert sorted(project2.ran()) == sorted((*PERSONA, *COEXISTING))
    errors = [name for name, verdict in project2.verdicts().items() if verdict == "error"]
    assert errors == ["memfail/persona_retrieval::pe-3-q1"]
    result.stdout.fnmatch_lines(["ERROR memfail/persona_retrieval::pe-3-q1*"])
    assert "the process died while this question was asked" in result.stdout.str()
    root = ET.fromstring((project2.path / "out.xml").read_bytes())
    assert [case.get("name") for case in root.iter("testcase") if case.find("error") is not None] == ["pe-3-q1"]
    assert len(named(root)) == passed + 1
    # the first death names nobody, the second the right one
    assert project2.events("ask").count("pe-3-q1") == 2
    assert project2.fills()["pe-1"] <= 3
    assert project2.fills()["ce-1"] == 2


def test_the_death_of_an_own_test_is_its_own(project2: Project) -> None:
    project2.file("test_own.py", "import os\ndef test_good(): pass\ndef test_dies(): os._exit(3)\n")
    result = project2.run(".", "memfail/long_hop", "memfail/coexisting_facts", n=1)
    result.assert_outcomes(failed=1, passed=11)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert set(project2.verdicts().values()) == {"correct"}


def test_a_store_that_kills_its_worker_is_given_up(project2: Project) -> None:
    result = project2.run(
        "memfail/long_hop", "memfail/coexisting_facts", "--memfail-system-option=die_store=lh-2", "-rE", n=1
    )
    verdicts = project2.verdicts()
    assert {verdicts[f"memfail/coexisting_facts::{name}"] for name in COEXISTING} == {"correct"}
    assert {verdicts[f"memfail/long_hop::{name}"] for name in LONG_HOP} == {"error"}
    result.assert_outcomes(errors=4, passed=6)
    assert result.ret == 6  # four of ten
    # the second time is the last
    assert project2.events("store").count("lh-2") == 2
    assert "it is not filled again" in result.stdout.str()


def named(root: ET.Element) -> list[str]:
    """The names in a JUnit file; each testcase has one of its own."""
    names = [case.get("name", "") for case in root.iter("testcase")]
    assert all(count == 1 and name for name, count in Counter(names).items()), names
    return names


DIES_AT_ONCE = """
import pathlib, pytest

@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item):  # the report of the setup is sent, that of the call is not
    died = pathlib.Path(__file__).with_name("died")
    if item.name == "lh-1" and not died.exists():
        died.touch()
        os._exit(3)
"""


def test_an_item_that_was_only_set_up_by_a_dead_worker_is_once_in_the_junit_file(project2: Project) -> None:
    project2.conftest(DIES_AT_ONCE)
    project2.run("memfail/long_hop", "--junitxml=out.xml", n=1)
    assert (project2.path / "died").exists()
    assert sorted(named(ET.parse(project2.path / "out.xml").getroot())) == LONG_HOP
    assert sorted(project2.ran()) == LONG_HOP


DIES_CLOSING = """
import pytest

class Dying(Toy):
    def close(self):
        if "lh-1" in str(self.memories):
            os._exit(3)
        super().close()

@pytest.fixture(scope="session")
def memfail_system(pytestconfig):
    return lambda context: Dying(context, pytestconfig.rootpath / "events.log")
"""


def test_a_death_while_a_store_is_closed_is_an_error_beside_the_verdicts(project2: Project) -> None:
    project2.conftest(DIES_CLOSING)
    result = project2.run(
        "memfail/long_hop", "memfail/coexisting_facts", "--junitxml=out.xml", "-rE", system="fixture", n=1
    )
    result.assert_outcomes(passed=10, errors=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*ERROR at teardown of memfail/long_hop*", "*the process died after this question*"])
    assert set(project2.verdicts().values()) == {"correct"}
    assert sorted(project2.ran()) == sorted([*LONG_HOP, *COEXISTING])
    assert sorted(named(ET.parse(project2.path / "out.xml").getroot())) == sorted([*LONG_HOP, *COEXISTING])
    assert project2.fills()["lh-1"] == 2  # each of its conversations once


class Worker:
    """What the scheduler uses of a worker of xdist."""

    shutting_down = False

    def __init__(self, name: str) -> None:
        self.gateway = SimpleNamespace(id=name)
        self.sent: list[int] = []

    def send_runtest_some(self, indices: Sequence[int]) -> None:
        self.sent += indices

    def shutdown(self) -> None:
        self.shutting_down = True


class Deaths:
    """A scheduler with one worker, which dies at a moment that a test chooses."""

    IDS = ("a::1", "a::2", "a::3", "b::1", "b::2", "own")

    def __init__(self, folder: Path) -> None:
        self.folder, self.reported, self.number = folder, set[str](), 0
        config: Any = SimpleNamespace(getvalue=lambda name: ["popen"], getoption=lambda name: ["popen"])
        self.scheduler = StoreScheduling(
            config, store_of=lambda i: i[0] if "::" in i else None, journals=folder, reported=self.reported
        )
        self.start()

    def start(self) -> None:
        """Start the worker, or one in place of a dead one."""
        self.worker = Worker(f"gw{self.number}")
        self.number += 1
        self.scheduler.add_node(self.worker)
        self.scheduler.add_node_collection(self.worker, list(self.IDS))
        self.scheduler.schedule()

    def finish(self, *names: str) -> None:
        """Report these items, and complete them."""
        self.reported.update(names)
        for name in names:
            self.scheduler.mark_test_complete(self.worker, self.IDS.index(name))

    def die(self, *in_flight: str) -> str | None:
        """Return who is blamed for a death while these questions were in flight."""
        journal = "".join(f"S {name}\n" for name in in_flight)
        (self.folder / f"{self.worker.gateway.id}.journal").write_text(journal)
        blamed = self.scheduler.remove_node(self.worker)
        self.start()
        return blamed

    def again(self) -> list[str]:
        """What the new worker gets."""
        return [self.IDS[index] for index in self.worker.sent]


def test_what_is_reported_is_not_run_again(tmp_path: Path) -> None:
    deaths = Deaths(tmp_path)
    deaths.finish("a::1")
    deaths.reported.add("a::2")  # and the worker dies before it says that the item is complete
    assert deaths.die() is None
    assert deaths.again() == ["a::3", "b::1", "b::2"]


def test_the_one_question_in_flight_is_blamed_and_not_the_reported_one(tmp_path: Path) -> None:
    deaths = Deaths(tmp_path)
    deaths.reported.add("a::1")
    assert deaths.die("a::3") == "a::3"
    assert deaths.again() == ["a::2", "b::1", "b::2"]


def test_the_last_item_of_a_store_is_blamed_once_it_is_reported(tmp_path: Path) -> None:
    deaths = Deaths(tmp_path)
    deaths.finish("a::1", "a::2")
    deaths.reported.add("a::3")
    assert deaths.die() == "a::3"
    assert deaths.again() == ["b::1", "b::2"]
    deaths.finish("b::1")
    assert deaths.die() is None  # its store had no part in the first death, and is tried once more
    assert deaths.again() == ["b::2", "own"]


def test_an_own_test_is_blamed_for_its_end_and_not_run_again(tmp_path: Path) -> None:
    deaths = Deaths(tmp_path)
    deaths.finish("a::1", "a::2", "a::3", "b::1", "b::2")
    deaths.reported.add("own")
    assert deaths.die() == "own"
    assert deaths.again() == []


# -- what models and systems send ------------------------------------------------------------------------------------


@slowly_both_ways
def test_a_lone_surrogate_loses_nothing(any_project: Project) -> None:
    any_project.script(ce_1="not_stored", ce_2="not_retrieved")
    option = "--memfail-system-option=surrogate_at=all"
    result = any_project.run("memfail/coexisting_facts", "memfail/long_hop", option, "--junitxml=out.xml")
    assert result.ret == 1
    result.assert_outcomes(failed=2, passed=8)
    assert len(any_project.verdicts()) == 10
    assert any_project.record()[-1]["complete"] is True
    ET.fromstring((any_project.path / "out.xml").read_bytes())
    assert result.stdout.str().count("remembered \\ud83d") == 2
    assert result.stdout.str().count("printed ") >= 2


def test_a_lone_surrogate_in_an_error_loses_nothing(project2: Project) -> None:
    project2.conftest(
        """
        import pytest

        class Rude(Toy):
            def retrieve_memories(self, query, conversation, k):
                if "ce-1" in query:
                    raise ValueError("no " + SURROGATE)
                return super().retrieve_memories(query, conversation, k)

        @pytest.fixture(scope="session")
        def memfail_system(pytestconfig):
            return lambda context: Rude(context, pytestconfig.rootpath / "events.log")
        """
    )
    result = project2.run("memfail/coexisting_facts", "memfail/persona_retrieval", system="fixture", n=1)
    result.assert_outcomes(errors=1, passed=13)
    assert result.ret == 1


def test_stops_at_the_first_failure(project2: Project) -> None:
    project2.script(**{name.replace("-", "_"): "not_stored" for name in (*COEXISTING, *LONG_HOP)})
    result = project2.run("-x", n=1)
    assert result.ret == pytest.ExitCode.INTERRUPTED  # xdist's word for it
    assert result.parseoutcomes()["failed"] >= 1
    assert "no trustworthy result" not in result.stdout.str()
    assert project2.record()[-1]["complete"] is False


# -- completeness ----------------------------------------------------------------------------------------------------


def test_a_lost_result_is_no_success(project2: Project) -> None:
    project2.conftest(
        """
        import pytest

        @pytest.hookimpl(trylast=True)
        def pytest_sessionstart(session):
            distributed = session.config.pluginmanager.get_plugin("dsession")
            if distributed is None:
                return
            take = distributed.worker_testreport

            def lose_one(node, rep):
                if not rep.nodeid.endswith("lh-3"):
                    take(node=node, rep=rep)

            distributed.worker_testreport = lose_one
        """
    )
    result = project2.run("memfail/long_hop", "memfail/coexisting_facts", n=1)
    result.assert_outcomes(passed=9)
    assert result.ret == 6
    result.stdout.fnmatch_lines(
        [
            "memfail: no trustworthy result: 1 of 10 selected questions have no result, e.g. memfail/long_hop::lh-3*",
        ]
    )
    assert project2.end() == (6, False)


def test_an_item_that_did_not_run_is_no_success(project: Project) -> None:
    project.conftest(
        """
        def pytest_runtest_protocol(item):
            return True if item.name == "lh-3" else None
        """
    )
    result = project.run("memfail/long_hop", "memfail/coexisting_facts")
    result.assert_outcomes(passed=9)
    assert result.ret == 6


def test_a_worker_that_ends_without_a_word(project2: Project) -> None:
    # an internal error near the end of a worker's run: xdist itself may end with exit code 0
    project2.conftest(
        """
        import os

        def pytest_runtest_logreport(report):
            if "PYTEST_XDIST_WORKER" in os.environ and report.nodeid.endswith("lh-2") and report.when == "call":
                raise RuntimeError("the worker is out of order")
        """
    )
    result = project2.run("memfail/long_hop", "memfail/coexisting_facts", n=1)
    assert result.ret not in (0, 1)
