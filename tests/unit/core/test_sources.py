"""What a memory system consists of: its files, what they import, its packages, and what else it names."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from pytest_memfail.core import described_apart, sources_of


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A conftest.py whose factory imports a package of the project, which imports a module of its own."""
    files = {
        "tests/conftest.py": "def factory(context):\n    from memsrcs.core import Memory\n    return Memory()\n",
        "tests/helper.py": "K = 5\n",
        "memsrcs/__init__.py": "",
        "memsrcs/core.py": "import memsrc_prompts as p, pytest\n",
        "memsrcs/deep/er.py": "",
        "memsrc_prompts.py": "PROMPT = 'a'\n",
        "store.yaml": "kind: command\ncommand: [python, server.py]\n",
        "server.py": "import memsrc_prompts\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    return tmp_path


def of(project: Path, *files: str) -> dict[str, str]:
    return sources_of([], [project / name for name in files], project)


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ("tests/conftest.py", "tests/conftest.py"),
        ("tests/helper.py", "tests/helper.py"),
        ("memsrcs/core.py", "memsrcs/"),
        ("memsrcs/deep/er.py", "memsrcs/"),
        ("memsrc_prompts.py", "memsrc_prompts.py"),
    ],
)
def test_a_change_is_seen_where_it_was_made(project, changed, name):
    before = of(project, "tests/conftest.py")
    assert of(project, "tests/conftest.py") == before
    (project / changed).write_text("# changed\n" + (project / changed).read_text())
    after = of(project, "tests/conftest.py")
    assert [one for one in before if before[one] != after.get(one)] == [name]


def test_an_installed_package_counts_by_its_version(project):
    assert of(project, "tests/conftest.py")["pytest"] == pytest.__version__


def test_a_yaml_file_consists_of_itself_and_of_the_program_that_it_names(project):
    with (project / "store.yaml").open("a") as file:
        file.write("env: {DB: memories.db}\n")
    (project / "memories.db").write_text("")
    before = of(project, "store.yaml")
    (project / "server.py").write_text("# changed\n")
    (project / "memories.db").write_text("what it stored")
    after = of(project, "store.yaml")
    assert "store.yaml" in before
    assert {one for one in before if before[one] != after.get(one)} == {"server.py"}
    assert before["store.yaml"] == after["store.yaml"]


def test_a_checkout_on_another_platform_and_in_another_folder_is_the_same_code(project, tmp_path):
    before = of(project, "store.yaml", "tests/helper.py")
    (project / "server.py").write_bytes((project / "server.py").read_bytes().replace(b"\n", b"\r\n"))
    assert of(project, "store.yaml", "tests/helper.py") == before
    assert not any(str(tmp_path) in name for name in before)


def test_what_is_not_there_or_built_in_is_no_source(tmp_path):
    assert sources_of(["builtins", "json", "__main__", "memsrc_nowhere", ""], [tmp_path / "gone.py"]) == {}


@pytest.mark.parametrize(
    ("old", "new", "apart"),
    [
        ([{"version": "1"}], [{"version": "2"}], "version of describe() was '1', is '2'"),
        ([{"version": "1"}], [{"version": "1"}], None),
        ([{"path": "a"}, {"path": "b"}], [{"path": "c"}], None),
        ([], [{"version": "2"}], None),
        ([{}], [{"version": "2"}], None),
    ],
)
def test_only_what_all_stores_of_a_run_say_tells_systems_apart(old, new, apart):
    assert described_apart(old, new) == apart
