"""Recipes of ARCHITECTURE.md, done in a copy of the package: they name every file that has to change."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pytest_memfail
from plugin.project import Project

PACKAGE = Path(pytest_memfail.__file__).parent
EXAMPLE = PACKAGE.parent / "examples" / "own_suite" / "memfail_receipts.py"
SYSTEM = '''\
"""`newest`: keeps every message, and retrieves the newest ones."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_memfail.core import Conversation, SystemContext
from pytest_memfail.systems.factory import SystemFactory


class Newest:
    """Retrieves what shares most words with the query, the newest first."""

    def __init__(self, context: SystemContext, settings: Mapping[str, str]) -> None:
        self._texts: list[str] = []

    def store_conversation(self, conversation: Conversation) -> None:
        """Keep every message."""
        self._texts += [message.content for message in conversation.messages]

    def retrieve_memories(self, query: str, conversation: Conversation, k: int) -> list[str]:
        """Return the messages that share most words with the query."""
        asked = set(query.split())
        return sorted(self._texts[::-1], key=lambda text: -len(asked & set(text.split())))[:k]

    def get_all_memories(self) -> list[str]:
        """Return all messages."""
        return self._texts


FACTORY = SystemFactory("newest", Newest)
'''


@pytest.fixture
def library(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the package that pytest loads instead of the real one."""
    folder = tmp_path_factory.mktemp("library")
    copy = Path(shutil.copytree(PACKAGE, folder / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__")))
    if not (copy / "_datasets").exists():
        (folder / "datasets").symlink_to(PACKAGE.parent / "datasets")
    monkeypatch.setenv("PYTHONPATH", str(folder))
    return copy


def put_before(path: Path, line: str, more: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(line) == 1
    path.write_text(text.replace(line, more + line), encoding="utf-8")


def test_a_memory_system(library: Path, project: Project) -> None:
    systems = library / "systems"
    (systems / "newest.py").write_text(SYSTEM, encoding="utf-8")
    put_before(systems / "__init__.py", '    "no-memory": "no_memory:FACTORY",\n', '    "newest": "newest:FACTORY",\n')
    result = project.run_apart("memfail/long_hop", system="newest")
    result.stdout.fnmatch_lines(["memfail: system newest, *"])
    assert result.ret in (0, 1)
    words = [sys.executable, "-c", "from pytest_memfail.cli import main; exit(main(['check-system', 'newest']))"]
    done = subprocess.run(words, cwd=project.path, env=dict(os.environ), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_suite(library: Path, project: Project) -> None:
    folder = library / "suites" / "receipts"
    folder.mkdir()
    shutil.copy(EXAMPLE, folder / "__init__.py")
    load = library / "suites" / "load.py"
    text = load.read_text(encoding="utf-8")
    assert text.count("BUILT_IN: Final = (") == 1
    load.write_text(text.replace("BUILT_IN: Final = (", 'BUILT_IN: Final = ("receipts", '), encoding="utf-8")
    result = project.run_apart("--memfail-suite=receipts", system="bm25")
    result.stdout.fnmatch_lines(["receipts.corrected * 100.0 *", "corrections held 1.00"])
