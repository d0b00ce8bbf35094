"""`memfail check-system`."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest
from whole_runs import in_this_process

from pytest_memfail.cli import main

MEMORY = """\
    class MyMemory:
        def __init__(self, context):
            self.notes, self.page = [], int(context.options.get("page", 1000))

        def store_conversation(self, conversation):
            self.notes += [message.content for message in conversation.messages]

        def retrieve_memories(self, query, conversation, k):
            words = set(query.split())
            return sorted(self.notes, key=lambda note: -len(words & set(note.split())))[:k]

        def get_all_memories(self):
            return self.notes[: self.page]
"""
HOOK = """
    def pytest_memfail_make_system(config, name):
        from mymem import MyMemory

        return MyMemory if name == "mine" else None
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "mymem.py").write_text(textwrap.dedent(MEMORY), encoding="utf-8")
    return tmp_path


def check(project, *arguments):
    """In this process, for a project without a conftest.py."""
    code, out, errors = in_this_process(lambda: main(["check-system", *arguments]), project)
    return subprocess.CompletedProcess(arguments, code, out, errors)


def check_apart(project, *arguments):
    """In a process of its own: pytest is asked for the conftest.py."""
    words = [sys.executable, "-m", "pytest_memfail.cli", "check-system", *arguments]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    return subprocess.run(words, cwd=project, env=environment, capture_output=True, text=True, check=False)


def test_a_built_in_system_passes_and_prints_a_row_for_each_check(project):
    done = check(project, "bm25")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0].startswith("passed   methods ")
    assert done.stdout.splitlines()[-1] == "16 passed, 0 failed, 4 skipped"


def test_a_system_that_only_the_conftest_knows(project):
    (project / "conftest.py").write_text(textwrap.dedent(HOOK), encoding="utf-8")
    (project / "pytest.ini").write_text("[pytest]\naddopts = -n 2\nfilterwarnings = error\n", encoding="utf-8")
    done = check_apart(project, "mine")
    assert (done.returncode, done.stderr) == (0, "")
    assert "passed   round-trip" in done.stdout


def test_a_failed_check_exits_with_1_and_says_why(project):
    done = check(project, "mymem:MyMemory", "--option", "page=10", "--checks", "listing")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.splitlines()[0].startswith("failed   listing ")
    assert "list all, not a page" in " ".join(done.stdout.split())
    assert done.stdout.splitlines()[-1] == "0 passed, 1 failed, 0 skipped"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["bm52"], "unknown memory system 'bm52'; did you mean 'bm25'?"),
        (["mymem:Nothing"], "unknown attribute of mymem for NAME 'Nothing'"),
        (["bm25", "--option", "page"], "--option: got 'page', expected KEY=VALUE"),
        (["bm25", "--timeout", "0"], "--timeout: got 0, expected a number of seconds above 0"),
        (["bm25", "--checks", "unicorn"], "unknown check 'unicorn'; did you mean 'unicode'?"),
        (["lossy", "--option", "rate=2"], "rate: got 2, expected a share between 0 and 1"),
    ],
)
def test_a_wrong_call_is_one_line_and_exits_with_4(project, arguments, said):
    done = check(project, *arguments)
    assert (done.returncode, done.stdout) == (4, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_conftest_that_cannot_be_read_is_said(project):
    (project / "conftest.py").write_text("import nothing_of_that_name\n", encoding="utf-8")
    done = check_apart(project, "mine")
    assert done.returncode == 4
    assert done.stderr.splitlines()[-1].startswith("memfail: pytest cannot start in ")


def test_a_hook_that_raises_is_said(project):
    (project / "conftest.py").write_text(
        "def pytest_memfail_make_system(config, name):\n    raise KeyError(name)\n", encoding="utf-8"
    )
    done = check_apart(project, "mine")
    assert done.returncode == 4
    assert done.stderr == "memfail: pytest_memfail_make_system('mine') raised KeyError: 'mine'\n"


def test_it_is_among_the_commands(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "check-system" in capsys.readouterr().out
