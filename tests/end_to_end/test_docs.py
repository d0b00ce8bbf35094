"""The pages: links lead somewhere, samples run, and what they list is what there is."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_memfail.cli import BROKEN, USAGE
from pytest_memfail.cli.generate import INTERRUPTED
from pytest_memfail.core import Claim, Fact, Listing, Memory, Part, Question, Reply
from pytest_memfail.plugin import hookspecs
from pytest_memfail.results import NO_TRUSTWORTHY_RESULT
from pytest_memfail.systems import BUILT_IN, SYSTEMS

REPOSITORY = Path(__file__).parents[2]
PATTERNS = ("*.md", "llms.txt", "docs/*.md", "*/README.md", "examples/**/*.md")
PAGES = sorted({path for pattern in PATTERNS for path in REPOSITORY.glob(pattern)})
Run = Callable[..., Any]


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def anchors(page: Path) -> set[str]:
    """As GitHub makes them of headings."""
    headings = re.findall(r"^#+ +(.+)$", re.sub(r"```.*?```", "", text_of(page), flags=re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_links_lead_somewhere(page: Path) -> None:
    wrong = []
    for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"```.*?```", "", text_of(page), flags=re.DOTALL)):
        if re.match(r"[a-z]+:", link):
            continue
        target, _, anchor = link.partition("#")
        file = (page.parent / target).resolve() if target else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            wrong.append(link)
    assert not wrong


def test_pages_named_in_messages_exist() -> None:
    folders = ("pytest_memfail", "examples", "benchmarks", "tools")
    sources = [
        path
        for folder in folders
        for path in (REPOSITORY / folder).rglob("*")
        if path.suffix in (".py", ".toml", ".yml", ".yaml", ".html")
    ]
    named = {name for path in sources for name in re.findall(r"\bdocs/[\w/-]+\.(?:md|css)", text_of(path))}
    assert all((REPOSITORY / name).is_file() for name in named)
    assert named


def test_no_page_or_recipe_installs_from_an_index_what_is_on_none() -> None:
    files = [*PAGES, REPOSITORY / "action.yml", *(REPOSITORY / "examples").rglob("*.yml")]
    plain = re.compile(
        r"pip install(?: -\S+)* [\"']?pytest-memfail(?!\[| @ git\+)"
    )  # an extra installs into what is there
    assert [str(file.relative_to(REPOSITORY)) for file in files if plain.search(text_of(file))] == []
    assert plain.search("python -m pip install pytest-memfail -e .")
    assert plain.search('pip install -q "pytest-memfail"')


def test_every_page_is_in_the_index() -> None:
    listed = set(re.findall(r"\]\(([a-z_]+\.md)\)", text_of(REPOSITORY / "docs" / "index.md")))
    assert listed == {page.name for page in (REPOSITORY / "docs").glob("*.md")} - {"index.md"}


def test_the_tutorial_connects_a_system(run_pytest: Run, tmp_path: Path) -> None:
    (sample,) = re.findall(r"```python\n(.*?)```", text_of(REPOSITORY / "docs" / "tutorial.md"), re.DOTALL)
    (tmp_path / "conftest.py").write_text(sample, encoding="utf-8")
    shutil.copy(REPOSITORY / "examples" / "quickstart" / "toymem.py", tmp_path)
    done = run_pytest("--memfail-system=mymem", "--memfail-limit=2")
    assert sum(done.counts().values()) == 12
    assert done.counts()["error"] == 0


def test_the_table_of_the_tutorial_is_that_of_its_command(run_pytest: Run) -> None:
    (table,) = re.findall(r"```text\n( +memory held.*?)\n```", text_of(REPOSITORY / "docs" / "tutorial.md"), re.DOTALL)
    assert (
        table
        in run_pytest("--memfail-system=bm25", "--memfail-limit=20", "--memfail-haystack=sample", "--tb=no").output
    )


def test_the_samples_of_tests_run(run_pytest: Run, tmp_path: Path) -> None:
    samples = re.findall(r"```python\n(.*?)```", text_of(REPOSITORY / "docs" / "extending.md"), re.DOTALL)
    assert len(samples) == 2
    (tmp_path / "test_sample.py").write_text("import pytest\n\n\n" + "\n\n".join(samples), encoding="utf-8")
    done = run_pytest("test_sample.py", "--memfail-system=full-context", "--memfail-limit=3", "-q")
    assert done.code == 0
    assert "6 passed" in done.output


def test_the_judge_of_the_page_judges(run_pytest: Run, tmp_path: Path) -> None:
    (sample,) = re.findall(r"```python\n(.*?)```", text_of(REPOSITORY / "docs" / "custom_judge.md"), re.DOTALL)
    (tmp_path / "strict_numbers.py").write_text(sample, encoding="utf-8")
    arguments = ("--memfail-system=bm25", "--memfail-limit=3", "--memfail-haystack=sample")
    by_rules = run_pytest(*arguments).verdicts
    own = run_pytest(*arguments, "--memfail-judge=strict_numbers:StrictNumbers")
    assert own.verdicts == by_rules  # a verbatim store keeps every digit

    found: dict[str, Any] = {}
    exec(sample, found)
    judge = found["StrictNumbers"]()
    rule = "Ada whistles only when it is colder than 12 degrees."
    condition = Part("only when it is colder than 12 degrees", "condition")
    fact = Fact("f", "rule", rule, rule, "c", Claim((Part("whistles"), condition), owner="Ada"))
    for text, outcome, missing in ((rule, "passed", ()), (rule.replace("12", "twelve"), "failed", ("12",))):
        result = judge.summary(fact, Listing("s", (Memory(text),)))
        assert (result.outcome, result.missing) == (outcome, missing)
    question = Question(
        "q", "conditional_facts_easy", "It is 5 degrees. Does Ada whistle?", "", ("Yes — it is.",), ("f",), "yes_no"
    )
    assert judge.answer(question, [fact], Reply("Yes, she does.")).outcome == "passed"
    assert judge.answer(question, [fact], Reply("No.")).outcome == "failed"
    assert judge.answer(question, [fact], None).outcome == "ungraded"


@pytest.mark.slow
def test_the_commands_for_shards_give_what_one_run_gives(tmp_path: Path) -> None:
    page = text_of(REPOSITORY / "docs" / "machines.md").partition("## Shards")[2].partition("\n## ")[0]
    commands = [re.sub(r"\s+#.*", "", line) for line in re.findall(r"^\$ (.*)$", page, re.MULTILINE)]
    assert [command.split()[0] for command in commands] == ["pytest"] * 3 + ["memfail"] * 2
    project = shutil.copytree(REPOSITORY / "examples" / "quickstart", tmp_path / "project")
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "OPENAI_", "GITHUB_"))}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

    def run(command: str) -> subprocess.CompletedProcess[str]:
        line = command.replace("--memfail-system=mymem", "--memfail-system=toymem --memfail-limit=4")
        return subprocess.run(
            shlex.split(line), cwd=project, env={**clean, "PATH": path}, capture_output=True, text=True, check=False
        )

    assert all(run(command).returncode == 1 for command in commands[:3])  # the toy forgets
    assert run("memfail merge -o part.jsonl shard-1.jsonl shard-3.jsonl").returncode == 1
    merged = run(commands[3])
    assert merged.returncode == 0, merged.stdout
    saved = run("memfail gate all.jsonl --save-baseline memfail-baseline.jsonl")
    assert saved.returncode == 0, saved.stdout
    decided = run(commands[4])
    assert decided.returncode == 0, decided.stdout
    assert (project / "memfail.html").is_file()
    whole = run("pytest --memfail-system=mymem --memfail-record=whole.jsonl --memfail-baseline=memfail-baseline.jsonl")
    assert whole.returncode == 0, whole.stdout
    assert re.search(r"0 worse, 0 better of 2\d\b", whole.stdout)  # a vacuous pass is not counted


def fields_of(page: Path) -> dict[str, set[str]]:
    """The fields that a page lists in tables, by heading."""
    found = {}
    for part in text_of(page).split("\n## ")[1:]:
        rows = re.findall(r"^\| (`[^|]*`) \|", part, re.MULTILINE)
        found[part.partition("\n")[0]] = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    return found


def test_the_schema_of_records_is_that_of_a_record(run_pytest: Run, tmp_path: Path) -> None:
    fields = fields_of(REPOSITORY / "docs" / "record_schema.md")
    (tmp_path / "conftest.py").write_text(
        "def pytest_memfail_make_system(config, name):\n    return Broken if name == 'broken' else None\n\n\n"
        "class Broken:\n    def __init__(self): self.said = []\n"
        "    def store_conversation(self, conversation): self.said.append(conversation.messages[0].content)\n"
        "    def get_all_memories(self): return self.said\n"
        "    def extracted_since(self, conversation): return self.said[-1:]\n"
        "    def retrieve_memories(self, query, conversation, k): raise OSError('gone')\n",
        encoding="utf-8",
    )
    seen: dict[str, set[str]] = {}
    always: dict[str, set[str]] = {}

    def see(kind: str, line: dict[str, Any]) -> None:
        seen[kind] = seen.get(kind, set()) | line.keys()
        always[kind] = always.get(kind, set(line)) & line.keys()

    of_suite = ["--memfail-system=bm25", "--memfail-suite=meme,halumem"]
    of_rows = ["--memfail-system=bm25", "--memfail-repeats=2"]
    for arguments in (of_rows, of_suite, ["--memfail-system=broken", "--memfail-tasks=long_hop"]):
        for line in run_pytest("--memfail-limit=4", "--memfail-haystack=sample", *arguments).record:
            see("error" if line.get("error") else line["type"], line)
            if line["type"] == "store":
                for memory in line["listings"][-1] if line["listings"] else line["history"][-1]["added"]:
                    see("memory", memory)
            for memory in line.get("retrieved", ()):
                see("memory", memory)
            for fact in line.get("facts", ()):
                see("fact", fact)
                for stage in ("storage", "summary", "retrieval"):
                    see("stage", fact[stage])
    for kind in ("header", "question", "fact", "store", "footer"):
        # a score takes a model, and settings are of a suite that has some: see tests/plugin/test_mab.py
        no_case = {"error", "score", "suite_options", "model_calls", "doubts", "clues", "kept", "likely"}
        assert fields[kind] - no_case == seen[kind] - {"doubts"}, kind
    assert seen["error"] <= fields["question"]
    for kind, at_least in (("memory", {"text"}), ("stage", {"outcome"})):
        assert at_least <= always[kind]
        assert seen[kind] <= fields[kind]


def test_the_sample_that_reads_a_record_runs(run_pytest: Run, tmp_path: Path) -> None:
    (sample,) = re.findall(r"```python\n(.*?)```", text_of(REPOSITORY / "docs" / "record_schema.md"), re.DOTALL)
    run_pytest("--memfail-system=lossy", "--memfail-limit=10", "--memfail-tasks=conditional_facts_easy")
    done = subprocess.run(
        [sys.executable, "-c", sample], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    assert re.search(r"^memfail/conditional_facts_easy::cfe-\d+ \[\[.+\]\]$", done, re.MULTILINE)


def test_exit_codes_are_those_that_there_are() -> None:
    page = text_of(REPOSITORY / "docs" / "exit_codes.md")
    of_pytest, of_memfail = (
        set(map(int, re.findall(r"^\| (\d+) \|", part, re.MULTILINE))) for part in page.split("## memfail")
    )
    assert of_pytest == {*map(int, pytest.ExitCode), NO_TRUSTWORTHY_RESULT}
    assert of_memfail == {0, 1, BROKEN, USAGE, NO_TRUSTWORTHY_RESULT, INTERRUPTED}


def test_pages_name_all_hooks_and_systems() -> None:
    hooks = {name for name in vars(hookspecs) if name.startswith("pytest_memfail_")}
    assert set(re.findall(r"`(pytest_memfail_\w+)\(", text_of(REPOSITORY / "docs" / "extending.md"))) == hooks
    page = text_of(REPOSITORY / "docs" / "adapter.md")
    assert all(f"`{name}`" in page for name in SYSTEMS)
    assert all(
        f"| `{name}` |" in text_of(REPOSITORY / "docs" / "systems.md") for name in SYSTEMS.keys() - BUILT_IN.keys()
    )


SYSTEMS_OF_PAPERS = {
    "MemFail": "Mem0, A-MEM, SimpleMem, StructMem",
    "MEME": "BM25, text-embedding-3-small, Mem0, Graphiti, Karpathy Wiki, MD-flat, in-context",
    "MemoryAgentBench": "GPT-4o, GPT-4o-mini, GPT-4.1-mini, Gemini-2.0-Flash, Claude-3.7-Sonnet, BM25, Contriever, "
    "Text-Embed-3-Small, Text-Embed-3-Large, Qwen3-Embedding-4B, RAPTOR, GraphRAG, MemoRAG, HippoRAG-v2, Mem0, "
    "Cognee, Zep, Self-RAG, MemGPT, MIRIX, MIRIX (4.1-mini)",
    "HaluMem": "Mem0, Mem0-Graph, Memobase, Supermemory, Zep, MemOS",
}
"""The rows of the papers' tables of systems."""


def test_every_system_of_the_papers_has_a_row() -> None:
    section = text_of(REPOSITORY / "docs" / "systems.md").partition("## The papers' systems\n")[2].partition("\n## ")[0]
    rows = [re.split(r" \| ", line.strip("| "), maxsplit=2) for line in section.splitlines() if line.startswith("| ")][
        2:
    ]
    paper, named = "", {name: set[str]() for name in SYSTEMS_OF_PAPERS}
    for cells in rows:
        paper = cells[0] if len(cells) == 3 else paper
        names, here = cells[-2:]
        named[paper] |= set(re.sub(r" \(compared.*", "", names).split(", "))
        assert re.match(r"runs here|with (your key|a server of yours)|cannot run|untested|Zep as above", here), here
    assert named == {paper: set(names.split(", ")) for paper, names in SYSTEMS_OF_PAPERS.items()}


def test_examples_of_systems_say_in_their_first_line_whether_they_were_tested() -> None:
    folder = REPOSITORY / "examples" / "systems"
    listed = dict(
        re.findall(r"\| \[(\w+\.py)\]\(\1\) \|[^|]+\| (?:\*\*)?(tested|untested)", text_of(folder / "README.md"))
    )
    said = {
        path.name: re.search(r"\((tested|untested)\)", text_of(path).split("\n")[0]) for path in folder.glob("*.py")
    }
    assert {name: match and match[1] for name, match in said.items()} == listed


def test_commands_of_the_project_that_pages_name_exist() -> None:
    named = set(re.findall(r"\.ci/[a-z]+", "".join(map(text_of, PAGES))))
    assert named == {f".ci/{path.name}" for path in (REPOSITORY / ".ci").iterdir()}
    assert all(os.access(REPOSITORY / name, os.X_OK) for name in named)
