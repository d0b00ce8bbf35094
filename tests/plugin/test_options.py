"""An option is declared once: everything else follows from its declaration."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pytest_memfail
from plugin.project import Project

PACKAGE = Path(pytest_memfail.__file__).parent
TOOLS = Path(__file__).parents[2] / "tools"
FIRST = "    def __init__(self, values"
"""What follows the last declaration."""
DECLARATION = """\
    @option("red|blue", default="red", identifies="verdicts")
    def ink_colour(given: Given) -> str:
        \"\"\"Colour of the ink\"\"\"
        return given.choice("red", "blue", "green")

"""
USE = """
    import pytest

    def pytest_collection_finish(session):
        from pytest_memfail.plugin.stash import RUN
        process = getattr(session.config, "workerinput", {"workerid": "alone"})["workerid"]
        (session.config.rootpath / f"{process}.txt").write_text(session.config.stash[RUN].settings.ink_colour)

    @pytest.hookimpl(trylast=True, optionalhook=True)
    def pytest_configure_node(node):
        node.workerinput["memfail"]["settings"]["ink_colour"] = "green"
"""


@pytest.fixture
def scratch(project: Project, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project whose pytest loads a copy of the package with one more option."""
    library = tmp_path_factory.mktemp("library")
    shutil.copytree(PACKAGE, library / PACKAGE.name)  # with the compiled modules, or all would be compiled again
    options = library / PACKAGE.name / "options.py"
    text = options.read_text(encoding="utf-8")
    assert text.count(FIRST) == 1
    options.write_text(text.replace(FIRST, DECLARATION + FIRST), encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(library))
    project.conftest(USE)
    return project


def test_one_declaration_is_an_option(scratch: Project) -> None:
    scratch.script(lh_1="not_stored")
    said = scratch.run_apart("--help", system=None).stdout.str()
    assert "--memfail-ink-colour=red|blue" in said
    assert "  memfail_ink_colour (string):" in said

    # the ini twin, the header of the record, and the command that asks a question again
    scratch.ini("memfail_ink_colour = blue", "memfail_tasks = long_hop")
    result = scratch.run_apart("--memfail-save-baseline=base.jsonl")
    assert (scratch.path / "alone.txt").read_text() == "blue"
    header = scratch.record()[0]
    assert (header["ink_colour"], header["identity"]["ink_colour"]) == ("blue", "verdicts")
    assert "--memfail-ink-colour=blue" in header["rerun"]
    result.stdout.fnmatch_lines(["rerun * memfail/long_hop::lh-1 * --memfail-ink-colour=blue*"])

    # a worker takes what it is handed, whatever it reads itself
    scratch.run("--memfail-ink-colour=red", n=1)
    assert (scratch.path / "gw0.txt").read_text() == "green"
    header = scratch.record()[0]
    assert header["ink_colour"] == "red"
    assert not [word for word in header["rerun"] if "ink" in word]  # it is the default

    # it identifies the run
    result = scratch.run_apart("--memfail-ink-colour=red", "--memfail-baseline=base.jsonl")
    assert result.ret == 6
    assert "ink_colour is 'red', in the baseline 'blue'" in result.stdout.str() + result.stderr.str()

    result = scratch.run_apart("--memfail-ink-colour=mauve")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "--memfail-ink-colour: got 'mauve', expected red or blue or green" in result.stderr.str()

    code = "import reference_pages; print(*reference_pages.options_part(), sep='\\n')"
    page = subprocess.run([sys.executable, "-c", code], cwd=TOOLS, capture_output=True, text=True, check=True).stdout
    assert "| `--memfail-ink-colour red\\|blue` | Colour of the ink |" in page.splitlines()
