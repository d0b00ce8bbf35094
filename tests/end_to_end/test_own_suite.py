"""The example of a suite of one file, as an installed package and from a conftest.py."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from whole_runs import in_this_process

from pytest_memfail.cli import main
from pytest_memfail.testing import LocalEndpoint, answer_by_rule

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_suite"
SUITE = "--memfail-suite=receipts"
TABLE = """\
                           memory held %           not summary       not     no
task                     n [95 % interval]   of stored   error retrieved answer
receipts.first           3 100.0 [44, 100]    3      0       0         0      3
receipts.corrected       3 100.0 [44, 100]    3      0       0         0      3
all                      6 100.0 [61, 100]    6      0       0         0      6
mean of 2 tasks            100.0
corrections held 1.00
"""
FIRST = """
class First:
    def __init__(self, context):
        self.memories = []

    def store_conversation(self, conversation):
        text = conversation.text
        if "misread" not in text:
            self.memories.append(text)

    def retrieve_memories(self, query, conversation, k):
        shop = query.split()[-1].rstrip("?")
        return [text for text in self.memories if shop in text][:k]

    def get_all_memories(self):
        return self.memories

def pytest_memfail_make_system(config, name):
    return First if name == "first" else None
"""
"""A system that keeps the first amount."""
HOOK = """
import memfail_receipts

def pytest_memfail_suites(config):
    return [memfail_receipts.SUITE]
"""

Run = Callable[..., Any]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment with the package, as an installer leaves it."""
    site = tmp_path_factory.mktemp("site")
    about = site / "memfail_receipts-0.1.0.dist-info"
    about.mkdir(parents=True)
    shutil.copy(EXAMPLE / "memfail_receipts.py", site)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: memfail-receipts\nVersion: 0.1.0\n")
    (about / "entry_points.txt").write_text("[pytest_memfail.suites]\nreceipts = memfail_receipts:SUITE\n")
    return {"PYTHONPATH": os.pathsep.join(filter(None, (str(site), os.environ.get("PYTHONPATH"))))}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "pytest.ini").write_text("[pytest]\n")
    return folder


def memfail(folder: Path, *words: str, env: dict[str, str] | None = None) -> tuple[int, str]:
    """Exit code and output of the command; without `env` the suite is not installed."""
    code, output, errors = in_this_process(lambda: main([*words]), folder, {**os.environ, **(env or {})})
    return code, output + errors


def test_the_names_are_those_of_the_project_file() -> None:
    text = (EXAMPLE / "pyproject.toml").read_text(encoding="utf-8")
    assert '[project.entry-points."pytest_memfail.suites"]\nreceipts = "memfail_receipts:SUITE"\n' in text


@pytest.mark.parametrize("workers", [(), pytest.param(("-n", "2"), marks=pytest.mark.slow)])
def test_the_installed_package_runs(
    run_pytest: Run, repository: Path, installed: dict[str, str], workers: tuple[str, ...]
) -> None:
    done = run_pytest("--memfail-system=bm25", SUITE, *workers, cwd=repository, env=installed)
    assert done.code == 0, done.output
    assert TABLE in done.output
    assert "memfail: receipts (three receipts)\n" in done.output
    assert {line["part"] for line in done.questions.values()} == {"first", "corrected"}


def test_the_suite_of_a_conftest_runs_too(run_pytest: Run, repository: Path) -> None:
    shutil.copy(EXAMPLE / "memfail_receipts.py", repository)
    (repository / "conftest.py").write_text(HOOK)
    done = run_pytest("--memfail-system=bm25", SUITE, "-m", "corrected", cwd=repository)
    assert done.code == 0, done.output
    assert [line["part"] for line in done.questions.values()] == ["corrected"] * 3
    done = run_pytest("--memfail-system=bm25", "--memfail-suite=receits", cwd=repository)
    assert (done.code, "did you mean 'receipts'?" in done.output) == (4, True)


def test_its_measure_and_its_label_are_gated_on(run_pytest: Run, repository: Path, installed: dict[str, str]) -> None:
    (repository / "conftest.py").write_text(FIRST)
    gate = "--memfail-fail-on=receipts.corrected<0.5,receipts.old_amount>0.9,receipts.first.memory_held<1"
    done = run_pytest("--memfail-system=first", SUITE, gate, cwd=repository, env=installed)
    assert done.code == 1
    checks = [line.split()[:3] for line in done.output.splitlines() if line.startswith("  receipts.") and "<" in line]
    assert checks == [["receipts.corrected<0.5", "FAILED", "0.000"], ["receipts.first.memory_held<1", "ok", "1.000"]]
    assert "  receipts.old_amount>0.9                        ok        0.500 [0.19, 0.81] of 6" in done.output
    assert "corrections held 0.00\nlabels: old_amount 3\n" in done.output
    assert "summary_error (old_amount): " in done.output
    failed = [line for line in done.questions.values() if line["part"] == "corrected"]
    assert {(line["verdict"], line["label"]) for line in failed} == {("summary_error", "old_amount")}
    done = run_pytest(
        "--memfail-system=first", SUITE, "--memfail-fail-on=receipts.corected<1", cwd=repository, env=installed
    )
    assert (done.code, "did you mean 'corrected'?" in done.output) == (4, True)


def test_its_grader_decides_answers(run_pytest: Run, repository: Path, installed: dict[str, str]) -> None:
    def answer(request: dict[str, Any]) -> str:
        """Answer with the first amount of the cafe, and of the others with all that is known."""
        used, _, _ = str(answer_by_rule(request)).partition("\nAnswer:")
        return f"{used}\nAnswer: {'It was 7.05.' if 'Cafe' in used else used}"

    with LocalEndpoint(answer) as endpoint:
        env = {**installed, "OPENAI_BASE_URL": endpoint.url, "OPENAI_API_KEY": "sk-local"}
        words = ("--memfail-system=full-context", SUITE, "--memfail-model=m", "--memfail-cache=off")
        done = run_pytest(*words, cwd=repository, env=env)
        # its graders need no model: the only calls are those of the test-taker
        assert endpoint.calls == 6
    verdicts = {line["question"]: (line["verdict"], line.get("label")) for line in done.questions.values()}
    assert verdicts["first-cafe"] == ("correct", None)
    assert verdicts["corrected-cafe"] == ("reasoning_error", "old_amount")
    assert Counter(line["part"] for line in done.questions.values() if line["verdict"] == "correct")["first"] == 3
    assert "got 7.05" in done.output


@pytest.fixture(scope="module")
def failed(run_once: Run, tmp_path_factory: pytest.TempPathFactory, installed: dict[str, str]) -> Path:
    """The record of a run that failed at all corrections."""
    folder = tmp_path_factory.mktemp("failed")
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "conftest.py").write_text(FIRST)
    run_once("--memfail-system=first", SUITE, "--memfail-record=kept.jsonl", cwd=folder, env=installed)
    return folder / "kept.jsonl"


@pytest.fixture
def record(failed: Path, repository: Path) -> Path:
    """A copy of that record, in a folder where other files may be written."""
    (repository / "conftest.py").write_text(FIRST)
    return Path(shutil.copy(failed, repository))


@pytest.mark.parametrize("is_installed", [True, False], ids=["installed", "missing"])
def test_its_record_is_read(record: Path, installed: dict[str, str], *, is_installed: bool) -> None:
    folder, env = record.parent, installed if is_installed else None
    code, output = memfail(folder, "show", record.name, env=env)
    assert code == 0
    assert "receipts.corrected       3   0.0 [0, 56]" in output
    assert "corrections held 0.00\nlabels: old_amount 3\n" in output
    code, output = memfail(folder, "report", record.name, "-o", "x.md", "-o", "x.html", "-o", "x.json", env=env)
    assert code == 0, output
    for name in ("x.md", "x.html"):
        text = (folder / name).read_text(encoding="utf-8")
        assert "receipts.corrected" in text
        assert "corrections held" in text
    (suite,) = json.loads((folder / "x.json").read_text(encoding="utf-8"))["records"][0]["suites"]
    assert suite["suite"] == "receipts"
    gated = {"receipts.corrected<0.5": 1, "receipts.first.memory_held<0.5": 0, "receipts.old_amount>0.4": 1}
    assert {text: memfail(folder, "gate", record.name, "--fail-on", text, env=env)[0] for text in gated} == gated


def test_without_the_suite_one_line_says_what_is_missing(record: Path, installed: dict[str, str]) -> None:
    folder = record.parent
    code, output = memfail(folder, "gate", record.name, "--fail-on", "receipts.old_amounts>0.4")
    assert (code, output.count("\n")) == (4, 1)
    assert output.endswith(
        "The suite receipts is not installed, so only its measures and labels in the record are known\n"
    )
    code, output = memfail(folder, "regrade", record.name, "--judge=offline", "-o", "new.jsonl")
    assert (code, output) == (
        4,
        "memfail: kept.jsonl is of the suite receipts, which is not installed; install it, because it defines how "
        "its facts are judged\n",
    )
    code, output = memfail(folder, "merge", record.name, "-o", "joint.jsonl")
    assert code == 0
    assert output.endswith("the suite receipts is not installed: its measures and labels are left out\n")
    assert "corrections held" not in output
    assert "corrections held" in memfail(folder, "merge", record.name, "-o", "joint.jsonl", env=installed)[1]


def test_its_record_is_regraded(record: Path, installed: dict[str, str]) -> None:
    words = ("regrade", record.name, "--judge=offline", "-o", "new.jsonl")
    code, output = memfail(record.parent, *words, env=installed)
    assert code == 0
    assert output.endswith("0 of 6 verdicts changed\n")
