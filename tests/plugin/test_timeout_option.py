"""`--memfail-timeout`: what a system that hangs costs, and what the user sees meanwhile."""

from __future__ import annotations

import pytest

from plugin.project import LONG_HOP, Project

HANGING = """
import os
import signal
import threading

import pytest

class HangingThread(Toy):
    def retrieve_memories(self, query, conversation, k):
        if "lh-1" in query:
            {before}
            threading.Event().wait({seconds})
        return super().retrieve_memories(query, conversation, k)

class HangingTask(Toy):
    async def retrieve_memories(self, query, conversation, k):
        if "lh-1" in query:
            await asyncio.Event().wait()
        return super().retrieve_memories(query, conversation, k)

@pytest.fixture(scope="session")
def memfail_system(pytestconfig):
    return lambda context: {kind}(context, pytestconfig.rootpath / "events.log")
"""


def hanging(project: Project, kind: str, before: str = "pass", seconds: str = "", more: str = "") -> None:
    """Gives the project a system that never answers lh-1."""
    project.conftest(HANGING.format(kind=kind, before=before, seconds=seconds) + more)


@pytest.mark.parametrize(
    ("kind", "fills", "more"), [("HangingThread", 2, ["-ptimeout", "--timeout=60"]), ("HangingTask", 1, [])]
)
def test_a_question_that_hangs_is_an_error_and_the_process_ends(
    project: Project, kind: str, fills: int, more: list[str]
) -> None:
    hanging(project, kind)
    words = ("memfail/long_hop", "memfail/coexisting_facts", "--memfail-timeout=60,0.2")
    result = project.run_apart(*words, *more, system="fixture", patience=60)
    result.assert_outcomes(errors=1, passed=9)
    assert result.ret == 1
    assert project.verdicts()["memfail/long_hop::lh-1"] == "error"
    result.stdout.fnmatch_lines(
        ["*retrieve_memories() of the store long_hop did not return within 0.2 s;*(question lh-1)"]
    )
    assert project.fills()["lh-1"] == 2 * fills  # two facts each


@pytest.mark.parametrize(
    ("given", "expected"), [("", (300, 60)), ("10", (10, 10)), ("2.5,0", (2.5, 0)), ("0", (0, 0)), (" 1 , 2 ", (1, 2))]
)
def test_what_is_given(project: Project, given: str, expected: tuple[float, float]) -> None:
    seen = """
        def pytest_memfail_summary(config):
            from pytest_memfail.plugin.stash import RUN
            (config.rootpath / "timeout.txt").write_text(repr(config.stash[RUN].settings.timeout))
    """
    project.conftest(seen)
    assert project.run("memfail/long_hop", *([f"--memfail-timeout={given}"] if given else [])).ret == 0
    assert eval((project.path / "timeout.txt").read_text()) == expected


@pytest.mark.parametrize("given", ["soon", "-1", "1,2,3", "nan", "inf", "1e400", ","])
def test_what_is_refused(project: Project, given: str) -> None:
    result = project.run(f"--memfail-timeout={given}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = [line for line in result.errlines if line.strip()]
    assert f"--memfail-timeout: got {given!r}, expected seconds for storing and for retrieving, such as 300,60" in line


def test_the_ini_file_sets_it(project: Project) -> None:
    hanging(project, "HangingTask")
    project.ini("memfail_timeout = 60,0.2")
    result = project.run("memfail/long_hop", system="fixture")
    result.assert_outcomes(errors=1, passed=3)


def test_an_interrupt_says_where_it_stood_and_how_to_go_on(project: Project) -> None:
    begun = """
import time

STARTED = threading.Event()
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it, and so do its children

def pytest_runtest_logstart(nodeid):
    if nodeid.endswith("lh-1"):
        STARTED.set()
"""
    before = "STARTED.wait(30), time.sleep(1), os.kill(os.getpid(), signal.SIGINT)"
    hanging(project, "HangingThread", before=before, more=begun)
    words = [f"memfail/long_hop::{name}" for name in (LONG_HOP[1], LONG_HOP[0], *LONG_HOP[2:])]
    result = project.run_apart(*words, system="fixture", patience=60)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.re_match_lines(
        [
            r"memfail: interrupted, 3 of 4 questions not finished \(long_hop: asking \d of 4, \d+ s\)",
            r"memfail: to continue, run the same command with --memfail-resume",
        ]
    )


def test_a_wait_that_is_long_is_shown(project: Project) -> None:
    watching = """
from pytest_memfail.plugin import execution
from pytest_memfail.running import stores

stores.SHOWN_AFTER = 0

def shown(self, text):
    with open(self._config.rootpath / "shown.txt", "a") as stream:
        stream.write(text + "\\n")

execution.Execution.show = shown
"""
    hanging(project, "HangingThread", seconds="0.7", more=watching)
    assert project.run_apart("memfail/long_hop", system="fixture").ret == 0
    lines = (project.path / "shown.txt").read_text().splitlines()
    assert [line for line in lines if line.startswith("long_hop: asking ") and " of 4, " in line]
    assert lines[-1] == ""
