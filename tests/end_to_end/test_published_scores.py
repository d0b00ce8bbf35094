"""The pages on the published scores: their figures are what their commands give on the published rows."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("published.md", "protocols.md", "paper_tables.md")
PLACES = {
    "conditional_facts_easy": "conditional_facts/easy/conditional_facts_dataset_easy.csv",
    "conditional_facts_hard": "conditional_facts/hard/conditional_facts_dataset_hard.csv",
    "coexisting_facts": "coexisting_facts/coexisting_facts_dataset.csv",
    "persona_retrieval": "custom_persona_retrieval/persona_dataset.csv",
    "long_hop": "long_hop/long_hop_chains.csv",
}
ELSEWHERE = re.compile(r"git |export |pytest .*gpt-|memfail (?:report|compare) mem0")
"""Commands that need a network or a key, and those on their records."""
Run = Callable[[str], tuple[str, list[dict[str, Any]]]]
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


def commands(page: str) -> list[str]:
    """The commands of a page, in its blocks and in its text."""
    text = (DOCS / page).read_text(encoding="utf-8").replace("\\\n", " ")
    return [*re.findall(r"^\$ (.*)$", text, re.MULTILINE), *re.findall(r"`(memfail validate .*?)`", text)]


@pytest.fixture(scope="module")
def ran(published: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Runs a command beside a clone of the published repository, once; returns its output and record."""
    home = tmp_path_factory.mktemp("beside")
    for name, place in PLACES.items():
        path = home / "memfail" / "datasets" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(published / f"{name}.csv", path)
    modules = {"pytest": ("pytest", "-q", "-pno:cacheprovider"), "memfail": ("pytest_memfail.cli",)}
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "OPENAI_"))}

    @cache
    def run(command: str) -> tuple[str, list[dict[str, Any]]]:
        tool, *words = shlex.split(command)
        named = [word.partition("=")[2] for word in words if word.startswith("--memfail-record=")]
        record = home / (named[0] if named else "record.jsonl")
        if tool == "pytest" and not named:
            words.append("--memfail-record=record.jsonl")
        record.unlink(missing_ok=True)
        start = [sys.executable, "-m", *modules[tool], *words]
        done = subprocess.run(start, cwd=home, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode in (0, 1), done.stdout + done.stderr
        lines = record.read_text(encoding="utf-8").splitlines() if record.exists() else []
        return done.stdout, [json.loads(line) for line in lines]

    return run


def one(page: str, *words: str) -> str:
    """The command of a page that has all these words."""
    (found,) = {command for command in commands(page) if all(word in command for word in words)}
    return found


def questions(record: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [line for line in record if line["type"] == "question"]


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_the_page_run(ran: Run, page: str) -> None:
    here = [command for command in commands(page) if not ELSEWHERE.match(command)]
    assert here
    for command in here:
        output, record = ran(command)
        assert output
        assert not [line for line in questions(record) if line["verdict"] == "error"]


def test_a_verbatim_store_on_the_published_rows(ran: Run) -> None:
    ranked = ran(one("published.md", "bm25", "5,10,15"))[1]
    shares = held(ranked)
    everything = held(ran(one("published.md", "full-context"))[1])
    counts = Counter((line["task"], line["verdict"]) for line in questions(ranked) if line["k"] == 5)
    shown = table("What was run")
    assert shown.keys() == ROWS.keys()
    for name, task in ROWS.items():
        failed = [str(counts[task, verdict]) for verdict in ("not_stored", "summary_error", "not_retrieved")]
        expected = [*failed, ", ".join(shares[task, k] for k in (5, 10, 15))]
        assert shown[name][1:5] == expected
        assert shown[name][5] == everything[task, 5]
        assert table("The published scores")[name][-1] == shares[task, 5]
    vacuous = Counter(line["k"] for line in questions(ranked) if line.get("vacuous"))
    assert [vacuous[k] for k in (5, 10, 15)] == [79, 49, 30]


def test_an_empty_memory_passes_the_misleading_questions(ran: Run) -> None:
    passed = Counter(line["verdict"] for line in questions(ran(one("published.md", "no-memory"))[1]))
    assert passed["correct"] == 157
    for page in ("published.md", "protocols.md"):
        assert re.search(r"157 of (?:the )?300", (DOCS / page).read_text(encoding="utf-8"))


def test_details_that_the_essays_never_state(ran: Run) -> None:
    output, _ = ran(one("published.md", "memfail validate"))
    assert "the essay never states the condition's number in 36 of 54 rows" in output
    assert "the essay states no exclusivity in 39 of 51 rows" in output
    published, protocols = ((DOCS / page).read_text(encoding="utf-8") for page in ("published.md", "protocols.md"))
    assert re.search(r"in 36 of the 54\srows .* in 39 of the 51 rows", published, re.DOTALL)
    assert "Of the 54 published hard rows with a number in their condition, 36 never" in protocols


def test_the_options_of_a_long_hop_question_lead_to_its_answer(ran: Run) -> None:
    last = []
    for protocol in ("paper", "ours"):
        found = questions(ran(one("published.md", "long_hop", f"protocol={protocol}"))[1])
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


def test_the_estimates_of_the_page(ran: Run) -> None:
    page = (DOCS / "paper_tables.md").read_text(encoding="utf-8")
    shown = re.search(r"^\$ (memfail estimate .*)\n```\n\n```text\n(.*?)```", page, re.MULTILINE | re.DOTALL)
    assert shown is not None
    assert ran(shown[1])[0].startswith(shown[2])
    others = re.findall(r"^\| with `(--\w+) (\S+)`.* \| (\S+) \|$", page, re.MULTILINE)
    assert len(others) == 2
    for option, value, cost in others:
        (total,) = re.findall(r"^all .* (\S+)$", ran(f"{shown[1]} {option} {value}")[0], re.MULTILINE)
        assert f"{float(total):.2f}" == cost
