"""The gate on a copy of the quickstart project: one change loses memories, the other does not."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_memfail.core import FAILURES

REPOSITORY = Path(__file__).parents[2]
BASELINE = "memfail-baseline.jsonl"
SYSTEM = (
    "--memfail-system=toymem",
    "--memfail-system-option=keep=50",
    "--memfail-tasks=conditional_facts_easy,persona_retrieval",
    "--memfail-limit=50",
)
GATE = (f"--memfail-baseline={BASELINE}", "--memfail-fail-on", "regressions:p<0.05")
SUMMARISER = '            self.notes.append(" ".join(sentences[: self.keep]))\n'
DROPS_QUALIFIERS = """\
            note = " ".join(sentences[: self.keep])
            self.notes.append(re.sub(r",? (only|unless|except|as long as) [^.,;]*", "", note))
"""
REORDERED = """\
            kept = sentences[: self.keep]
            note = " ".join(kept)
            self.notes.append(note)
"""
Run = Callable[..., Any]


@pytest.fixture
def main(tmp_path: Path, run_pytest: Run) -> Path:
    """The project as it is on its main branch, with its baseline."""
    project = Path(shutil.copytree(REPOSITORY / "examples" / "quickstart", tmp_path / "quickstart"))
    done = run_pytest(*SYSTEM, f"--memfail-save-baseline={BASELINE}", "-q", "--tb=no", cwd=project)
    assert done.code == 1  # it is no perfect memory; that is what a baseline is for
    assert f"memfail: baseline saved: {BASELINE}, {len(done.verdicts)} verdicts" in done.output
    return project


def pull_request(project: Path, summariser: str, *, move_methods: bool = False) -> None:
    path = project / "toymem.py"
    text = path.read_text()
    assert SUMMARISER in text
    text = text.replace(SUMMARISER, summariser)
    if move_methods:
        head, store, retrieve, listing = re.split(r"^    (?=def )", text, flags=re.MULTILINE)
        text = head + "".join(f"    {method.rstrip()}\n\n" for method in (listing, retrieve, store))
    path.write_text(text)


@pytest.mark.parametrize(
    "workers", [pytest.param((), id="alone"), pytest.param(("-n", "2"), id="n2", marks=pytest.mark.slow)]
)
def test_a_summariser_that_drops_qualifiers_is_stopped(run_pytest: Run, main: Path, workers: tuple[str, ...]) -> None:
    pull_request(main, DROPS_QUALIFIERS)
    done = run_pytest(*SYSTEM, *GATE, *workers, "-v", cwd=main)
    assert done.code == 1
    assert "memfail gate: failed" in done.output
    shown = re.search(r"regressions:p<0.05 +FAILED +(\d+) worse, (\d+) better of \d+, p 0\.00", done.output)
    assert shown is not None, done.output
    flips = re.findall(r"^  (memfail/\S+) (\w+) -> (\w+)$", done.output, re.MULTILINE)
    worse = {node_id: new for node_id, old, new in flips if old == "no_answer" and new in FAILURES}
    assert len(worse) == int(shown[1])
    assert worse["memfail/conditional_facts_easy::cfe-011"] == "summary_error"
    assert worse.items() <= done.verdicts.items()
    # the reviewer reads what was lost of each, and nothing of what failed before
    assert "the fact is stored, but what a right answer needs was dropped" in done.output
    told = set(re.findall(r"^rerun +pytest (\S+)", done.output, re.MULTILINE))
    assert told == {node_id for node_id, old, new in flips if new in FAILURES and old not in FAILURES}
    assert told >= worse.keys()
    assert "Traceback" not in done.output


@pytest.mark.slow
def test_code_that_is_only_reordered_passes(run_pytest: Run, main: Path) -> None:
    pull_request(main, REORDERED, move_methods=True)
    done = run_pytest(*SYSTEM, *GATE, "-q", cwd=main)
    assert done.code == 0, done.output
    assert re.search(r"regressions:p<0.05 +ok +0 worse, 0 better of \d+, p 1\.0000", done.output)
    assert " -> " not in done.output.partition("memfail gate")[2]
