"""The pages on the published scores: their figures are what their commands give on the published rows."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[2] / "docs"
ROWS = {
    "Conditional-Facts": "conditional_facts_easy",
    "Conditional-Facts (Hard)": "conditional_facts_hard",
    "Coexisting-Facts": "coexisting_facts",
    "Persona-Retrieval": "persona_retrieval",
    "Long-Hop": "long_hop",
}


def table(heading: str) -> dict[str, list[str]]:
    """The table below a heading of the page, by its first column."""
    part = (DOCS / "published.md").read_text(encoding="utf-8").partition(f"## {heading}\n")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in part.split("\n") if line.startswith("| ")]
    return {row[0]: row[1:] for row in rows[2:]}


def held(record: list[dict[str, Any]]) -> dict[tuple[str, int], str]:
    """The share of questions whose facts were all there, in % as the page has it, by task and k."""
    found = defaultdict(list)
    for line in record:
        if line["type"] == "question" and line["memory_held"] is not None and line["kind"] != "misleading":
            found[line["task"], line["k"]].append(line["memory_held"])
    shares = {key: 100 * sum(values) / len(values) for key, values in found.items()}
    return {key: f"{share:.1f}" if 99.5 <= share < 100 else f"{share:.0f}" for key, share in shares.items()}


def test_a_verbatim_store_on_the_published_rows(run_pytest: Run, published: Path) -> None:
    arguments = ("--memfail-protocol=paper", f"--memfail-data={published}", "-q")
    ranked = run_pytest("--memfail-system=bm25", "--memfail-k=5,10,15", *arguments)
    shares = held(ranked.record)
    everything = held(run_pytest("--memfail-system=full-context", *arguments).record)
    counts = Counter((line["task"], line["verdict"]) for line in ranked.questions.values() if line["k"] == 5)
    shown = table("What was run")
    assert shown.keys() == ROWS.keys()
    for name, task in ROWS.items():
        failed = [str(counts[task, verdict]) for verdict in ("not_stored", "summary_error", "not_retrieved")]
        expected = [*failed, ", ".join(shares[task, k] for k in (5, 10, 15))]
        assert shown[name][1:5] == expected
        assert shown[name][5] == everything[task, 5]
        assert table("The published scores")[name][-1] == shares[task, 5]
    vacuous = Counter(line["k"] for line in ranked.questions.values() if line.get("vacuous"))
    assert [vacuous[k] for k in (5, 10, 15)] == [79, 49, 30]


def test_the_options_of_a_long_hop_question_lead_to_its_answer(run_pytest: Run, published: Path) -> None:
    arguments = ("--memfail-system=bm25", f"--memfail-data={published}", "--memfail-tasks=long_hop", "-q")
    last = []
    for protocol in ("paper", "ours"):
        found = run_pytest(*arguments, f"--memfail-protocol={protocol}").questions.values()
        last.append(sum(line["facts"][-1]["verdict"] == "correct" for line in found))
    assert last == [74, 24]
    assert "the last fact of 74 of 92 published chains" in (DOCS / "protocols.md").read_text(encoding="utf-8")


def test_the_published_scores_are_copied_right(published: Path) -> None:
    scores: dict[str, dict[str, list[str]]] = {}
    name = ""
    for line in (published / "published_scores.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip(" *") for cell in line.strip("|").split("|")]
        if len(cells) == 14 and cells[1] in ("Mem0", "SimpleMem", "A-MEM", "StructMem"):
            name = cells[0] or name
            scores.setdefault(name, {})[cells[1]] = cells[2:]
    shown = table("The published scores")
    for name, systems in scores.items():
        at_5 = [[round(100 * float(cell)) for cell in cells[::3]] for cells in systems.values()]
        assert shown[name][:4] == [f"{min(values)} to {max(values)}" for values in at_5]


def test_the_estimate_of_the_page(published: Path) -> None:
    page = (DOCS / "paper_tables.md").read_text(encoding="utf-8")
    shown = re.search(r"^\$ memfail (estimate .*)\n```\n\n```text\n(.*?)```", page, re.MULTILINE | re.DOTALL)
    assert shown is not None
    words = shown[1].replace("memfail/data", str(published)).split()
    done = subprocess.run(
        [sys.executable, "-m", "pytest_memfail.cli", *words], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(shown[2])
