"""The judge's word tables are made from a dictionary, not from benchmark rows; its code stays small and names no benchmark."""

from __future__ import annotations

import ast
import gzip
import io
import itertools
import json
import math
import random
import re
import tokenize
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import Path

import pytest
from row_stores import PUBLISHED, ROWS

from pytest_memfail.core import Fact, Task
from pytest_memfail.judges.offline.english import plain, tokens_of
from pytest_memfail.judges.offline.model import WEIGHTS
from pytest_memfail.suites import TaskRequest, load_tasks, shipped_data
from pytest_memfail.suites.memfail import TASK_NAMES
from pytest_memfail.suites.memfail.plan import task_of_rows

FOLDER = Path(str(files("pytest_memfail.judges.offline")))
TABLES = sorted(path.name.removesuffix(".tsv.gz") for path in (FOLDER / "tables").glob("*.tsv.gz"))
ONE_PERCENT = 2.326
"""Normal quantile of a one-sided test at 1 %."""
MOST_FILES, MOST_LINES = 26, 3000
SUITES = ("MemFail", "MEME", "HaluMem", "MemoryAgentBench", "MAB")


# -- where the tables come from ------------------------------------------------------------------------------------------


@cache
def table(name: str) -> frozenset[str]:
    """Return the words that a table knows."""
    lines = gzip.decompress((FOLDER / "tables" / f"{name}.tsv.gz").read_bytes()).decode().splitlines()
    return frozenset(line.split("\t", 1)[0] for line in lines)


@cache
def benchmark(rows: str) -> dict[str, Task]:
    """Return the tasks of the shipped or the published rows by name."""
    request = TaskRequest(data=PUBLISHED) if rows == "published" else TaskRequest(TASK_NAMES)
    return {task.name: task for task in load_tasks(request)}


@cache
def invented() -> dict[str, Task]:
    """Return the tasks of the rows that were invented for training, by name."""
    found: dict[str, list[tuple[str, dict[str, object]]]] = {name: [] for name in TASK_NAMES}
    for line in (Path(shipped_data(), "calibration") / "rows.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["task"] in found:
            found[row["task"]].append((row["id"], row["row"]))
    return {name: task_of_rows(name, rows) for name, rows in found.items() if rows}


def phrases_of(evidence: Fact) -> list[str]:
    """Return the phrases that a table made from rows would hold."""
    if evidence.kind == "persona":
        return []
    return list(evidence.claim.texts("core", "condition", "cause", *(["topic"] if evidence.kind == "fact" else [])))


@cache
def compared(rows: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return distinct phrases of benchmark rows, and as many of invented rows of the same kind."""
    theirs: list[str] = []
    control: list[str] = []
    for name, task in benchmark(rows).items():
        sets = [
            sorted({phrase for evidence in tasks.evidence.values() for phrase in phrases_of(evidence)})
            for tasks in (task, invented()[name])
        ]
        size = min(map(len, sets))
        for chosen, all_phrases in zip((theirs, control), sets, strict=True):
            chosen.extend(random.Random(name).sample(all_phrases, size))
    return tuple(theirs), tuple(control)


def words(phrases: tuple[str, ...]) -> list[str]:
    """Return the distinct content words of phrases, as they are written and without names."""
    tokens = (token for phrase in phrases for token in tokens_of(plain(phrase)))
    return sorted({token.lower for token in tokens if token.key[:1].isalpha() and not token.is_name})


def base_forms(phrases: tuple[str, ...]) -> list[str]:
    """Return the distinct base forms of the content words of phrases."""
    tokens = (token for phrase in phrases for token in tokens_of(plain(phrase)))
    return sorted({token.key for token in tokens if token.key[:1].isalpha()})


def pairs(phrases: tuple[str, ...]) -> list[str]:
    """Return the distinct pairs of words that follow each other, base forms where there is one."""
    runs = ([token.key or token.lower for token in tokens_of(plain(phrase))] for phrase in phrases)
    return sorted({f"{one} {other}" for run in runs for one, other in itertools.pairwise(run)})


ENTRIES: dict[str, Callable[[tuple[str, ...]], list[str]]] = {"words": base_forms, "phrases": pairs, "forms": words}
"""What each table is asked for."""


def difference(known: frozenset[str], theirs: list[str], control: list[str]) -> float:
    """Return z of the two-proportion test: how much more often a table knows theirs than the control's."""
    hits = [sum(word in known for word in some) for some in (theirs, control)]
    sizes = [len(theirs), len(control)]
    pooled = sum(hits) / sum(sizes)
    error = math.sqrt(pooled * (1 - pooled) * sum(1 / size for size in sizes))
    return (hits[0] / sizes[0] - hits[1] / sizes[1]) / error if error else 0.0


def test_every_table_is_compared() -> None:
    assert set(TABLES) == set(ENTRIES)


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("name", ENTRIES)
def test_a_table_knows_benchmark_rows_no_better_than_invented_rows(name: str, rows: str) -> None:
    theirs, control = map(ENTRIES[name], compared(rows))
    assert min(len(theirs), len(control)) >= 300
    assert difference(table(name), theirs, control) < ONE_PERCENT


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("name", ENTRIES)
def test_a_table_made_from_the_rows_would_be_noticed(name: str, rows: str) -> None:
    theirs, control = map(ENTRIES[name], compared(rows))
    assert difference(table(name) | set(theirs[::2]), theirs, control) > ONE_PERCENT


# -- the code --------------------------------------------------------------------------------------------------------


def sources() -> list[Path]:
    return sorted(FOLDER.rglob("*.py"))


def lines_of_code(source: str) -> int:
    """Return the number of lines with code: without blanks, comments and docstrings.

    >>> lines_of_code('"Doc."\\n\\nx = 1  # one\\n# two\\n')
    1
    """
    kinds = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    lines = {line for token in tokens if token.type not in kinds for line in range(token.start[0], token.end[0] + 1)}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def test_lines_of_code_are_counted() -> None:
    source = '"""Doc.\n\nMore."""\n\nx = 1  # one\n# two\ny = """a\nb"""\n"""About y."""\n\n\ndef f():\n    """Do."""\n    return x\n'
    assert lines_of_code(source) == 5


def test_the_judge_has_few_files() -> None:
    assert 10 <= len(sources()) <= MOST_FILES


def test_the_judge_has_few_lines() -> None:
    assert sum(lines_of_code(path.read_text(encoding="utf-8")) for path in sources()) <= MOST_LINES


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(FOLDER)))
def test_no_file_of_the_judge_names_a_task_or_a_suite(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    named = re.findall(rf"(?i:{'|'.join((*TASK_NAMES, 'conditional_facts'))})|\b(?:{'|'.join(SUITES)})\b", text)
    assert named == []


@pytest.mark.parametrize("name", WEIGHTS.values())
def test_the_weights_depend_on_no_task_or_suite(name: str) -> None:
    weights = json.loads(gzip.decompress((FOLDER / name).read_bytes()))
    names = " ".join(weights["features"])
    assert len(weights["features"]) > 20
    assert not re.search("|".join((*TASK_NAMES, *map(str.casefold, SUITES))), names)
