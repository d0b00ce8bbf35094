"""A small repository that tests its memory: rows, toy systems and a scripted judge, run by pytest."""

from __future__ import annotations

import contextlib
import csv
import hashlib
import json
import os
import shutil
import textwrap
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

TOYS = Path(__file__).parent / "toys.py"

RUNS = ".pytest_cache/d/memfail/runs"
RECORD = f"{RUNS}/*/record.jsonl"
"""The record of a run, as a pattern."""
LEFT_OUT = (
    "hypothesispytest anyio rerunfailures timeout doctest legacypath pastebin faulthandler recwarn subtests unittest"
).split()
"""Plugins that the runs of the tests do without: some import much at the start, and `rerunfailures` leaves a thread at the end."""
NO_GARBAGE = ("-p", "no:unraisableexception")
"""Garbage is not collected at the end of a run inside this process either; in others it takes a tenth of their time."""
BARE_INI = f"""\
[pytest]
addopts = --strict-markers --strict-config {" ".join(f"-p no:{name}" for name in LEFT_OUT)}
filterwarnings = error
"""
INI = f"{BARE_INI}memfail_data = data\nmemfail_judge = script\nmemfail_reference = none\n"

COEXISTING = [f"ce-{i}" for i in range(1, 7)]
LONG_HOP = [f"lh-{i}" for i in range(1, 5)]
PERSONA = [f"pe-{i}-q{j}" for i in range(1, 5) for j in (1, 2)]
CONDITIONAL = [f"co-{i}" for i in range(1, 5)]
QUESTIONS = {
    "conditional_facts_easy": CONDITIONAL,
    "coexisting_facts": COEXISTING,
    "persona_retrieval": PERSONA,
    "long_hop": LONG_HOP,
}
ALL = [f"memfail/{task}::{name}" for task, names in QUESTIONS.items() for name in names]
MISLEADING = [name for name in PERSONA if name.endswith("q2")]


def coexisting_rows() -> list[dict[str, object]]:
    return [
        {
            "id": i,
            "preference_category": "soups",
            "preferences": json.dumps(["leek soup", "pea soup"]),
            "preference_facts": json.dumps([f"In {i} I like leek soup.", f"In {i} I like pea soup, too."]),
            "question": f"Which soups for {i}?",
            "ground_truth_answer": "leek soup, pea soup",
        }
        for i in COEXISTING
    ]


def long_hop_rows() -> list[dict[str, object]]:
    return [
        {
            "id": i,
            "hop_count": 1,
            "fact_1": f"In {i} the bell brings plum jam.",
            "fact_2": f"In {i} plum jam brings a walk.",
            "fact_3": "",
            "fact_4": "",
            "chain_1": "the bell",
            "chain_2": "plum jam",
            "chain_3": "a walk",
            "chain_4": "",
            "chain_5": "",
            "graded_question": f"What does the bell bring in {i}?\n\nOptions:\nA. a walk\nB. b\nC. c\nD. d\nE. e",
            "ground_truth_answer": "a walk",
            "choice_a": "a walk",
            "choice_b": "b",
            "choice_c": "c",
            "choice_d": "d",
            "choice_e": "e",
            "correct_choice": "A",
        }
        for i in LONG_HOP
    ]


def persona_rows() -> list[dict[str, object]]:
    return [
        {
            "id": f"pe-{n}",
            "entity": f"Ada{n}",
            "entity_facts": json.dumps([f"Ada{n} of pe-{n} keeps bees.", f"Her lost boat is blue, says pe-{n}."]),
            "questions": json.dumps(
                [
                    {
                        "text": f"What does Ada{n} keep (pe-{n}-q1)?",
                        "is_misleading": False,
                        "distractor": None,
                        "ground_truth_answer": "bees",
                    },
                    {
                        "text": f"What does Bob keep (pe-{n}-q2)?",
                        "is_misleading": True,
                        "distractor": "Bob",
                        "ground_truth_answer": "unknown",
                    },
                ]
            ),
        }
        for n in range(1, 5)
    ]


def conditional_rows() -> list[dict[str, object]]:
    return [
        {
            "id": i,
            "entity": "Cleo",
            "entity_category": "baker",
            "behavior": "bakes rye bread",
            "condition_type": "weather",
            "condition": "only when it rains",
            "entity_facts": json.dumps([f"In {i} Cleo bakes rye bread only when it rains."]),
            "question": f"It is dry in {i}. Does Cleo bake?",
            "question_context": "It is dry.",
            "condition_met": "yes" if i in CONDITIONAL[:2] else "no",
            "ground_truth_answer": "yes" if i in CONDITIONAL[:2] else "no",
        }
        for i in CONDITIONAL
    ]


ROWS = {
    "coexisting_facts": coexisting_rows,
    "long_hop": long_hop_rows,
    "persona_retrieval": persona_rows,
    "conditional_facts_easy": conditional_rows,
}


both_ways = pytest.mark.parametrize("any_project", [None, 2], ids=["alone", "n2"], indirect=True)
"""For a test that every run of the tests does without xdist and with two workers."""
with_a_worker = pytest.mark.parametrize("any_project", [None, 1], ids=["alone", "n1"], indirect=True)
"""The same with one worker, where what passes between the processes is the subject, and not what each of them gets."""
slowly_both_ways = pytest.mark.parametrize(
    "any_project", [None, pytest.param(2, marks=pytest.mark.slow)], ids=["alone", "n2"], indirect=True
)
"""For a test that is done with two workers only where slow tests run, because others show that workers change nothing."""


class Project:
    """The repository, and how its tests are run.

    `n` None runs pytest in this process without xdist; a number runs it in a process of its own with `-n`.
    """

    def __init__(self, pytester: pytest.Pytester, n: int | None = None) -> None:
        self.pytester = pytester
        self.path = pytester.path
        self.n = n
        self.earlier: set[str] = set()
        pytester.makefile(".ini", pytest=INI)
        for task, rows in ROWS.items():
            self.write_rows(task, rows())
        self.conftest("")

    # -- what it holds -----------------------------------------------------------------------------------------------

    def write_rows(self, task: str, rows: Sequence[Mapping[str, object]]) -> Path:
        """The rows of a task, as published."""
        folder = self.path / "data"
        folder.mkdir(exist_ok=True)
        path = folder / f"{task}.csv"
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        return path

    def conftest(self, text: str) -> None:
        """The toys, followed by this text."""
        toys = TOYS.read_text(encoding="utf-8")
        (self.path / "conftest.py").write_text(toys + "\n\n" + textwrap.dedent(text), encoding="utf-8")

    def file(self, name: str, text: str) -> Path:
        """Any other file."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    def ini(self, *lines: str) -> None:
        """Further lines of the ini file."""
        (self.path / "pytest.ini").write_text(INI + "".join(f"{line}\n" for line in lines), encoding="utf-8")

    def script(self, **verdicts: str) -> None:
        """What the judge decides: `ce_1="not_stored"`."""
        script = {name.replace("_", "-"): verdict for name, verdict in verdicts.items()}
        self.file("verdicts.json", json.dumps(script))

    # -- running it --------------------------------------------------------------------------------------------------

    def run(self, *args: str | Path, system: str | None = "toy", n: int | None = None) -> pytest.RunResult:
        """Run pytest with a toy system."""
        n = self.n if n is None else n
        words = self._begin(system)
        if n is None:
            return self.pytester.runpytest_inprocess(*words, *args)
        return self.pytester.runpytest_subprocess("-n", str(n), *NO_GARBAGE, *words, *args, timeout=120)

    def run_apart(self, *args: str | Path, system: str | None = "toy", patience: int = 120) -> pytest.RunResult:
        """In a process of its own, without xdist; it is ended after that many seconds."""
        return self.pytester.runpytest_subprocess(*NO_GARBAGE, *self._begin(system), *args, timeout=patience)

    def run_once(self, *args: str) -> None:
        """Run pytest without xdist, for the files that the run leaves."""
        self.once(args, lambda: self.pytester.runpytest_inprocess(*self._begin("toy"), *args))

    def once(self, what: object, make: Callable[[], object]) -> None:
        """Make files, or copy those that the same work on the same files has left for an earlier test."""
        held = sorted(path for path in self.path.rglob("*") if path.is_file())
        contents = [(str(path.relative_to(self.path)), path.read_bytes()) for path in held]
        key = hashlib.sha256(repr((what, contents)).encode()).hexdigest()[:16]
        made_here = []

        def make_and_keep(folder: Path) -> None:
            made_here.append(make())
            shutil.copytree(self.path, folder, symlinks=True)

        left = made_once(self.path.parent, f"left-{key}", make_and_keep)
        if not made_here:
            shutil.copytree(left, self.path, symlinks=True, dirs_exist_ok=True)

    def _begin(self, system: str | None) -> list[str]:
        (self.path / "events.log").unlink(missing_ok=True)  # what is looked at is of this run
        self.earlier = {folder.name for folder in self.runs()}
        return [] if system is None else [f"--memfail-system={system}"]

    # -- what it left ------------------------------------------------------------------------------------------------

    def runs(self) -> list[Path]:
        """The folders of the runs that are kept, oldest first."""
        return sorted((self.path / RUNS).glob("[!.]*"))

    def record_file(self) -> Path | None:
        """The record of the last run, if it has left one."""
        new = [folder for folder in self.runs() if folder.name not in self.earlier]
        return new[-1] / "record.jsonl" if new else None

    def record(self, path: str | None = None) -> list[dict[str, Any]]:
        """The lines of a record, by default of the last run; none if there is no such file."""
        file = self.record_file() if path is None else self.path / path
        if file is None:
            return []
        return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []

    def end(self) -> tuple[int, bool]:
        """Of the last run: what its footer says of the exit code, and whether it was complete."""
        footer = self.record()[-1]
        assert footer["type"] == "footer"
        return footer["exit_code"], footer["complete"]

    def verdicts(self) -> dict[str, str]:
        """Of the last run: verdict by node id, in the order reported."""
        return {line["id"]: line["verdict"] for line in self.record() if line["type"] == "question"}

    def ran(self) -> list[str]:
        """The names of the questions of the last run, in the order reported."""
        return [line["question"] for line in self.record() if line["type"] == "question"]

    def events(self, what: str | None = None) -> list[str]:
        """What happened to the toys, in order: `ask ce-1`, or only `ce-1` of the events `what`."""
        path = self.path / "events.log"
        found = [line.rpartition(" ")[0] for line in path.read_text().splitlines()] if path.exists() else []
        return found if what is None else [e.partition(" ")[2] for e in found if e.startswith(f"{what} ")]

    def fills(self) -> Counter[str]:
        """How often each conversation was stored."""
        return Counter(self.events("store"))


def made_once(base: Path, name: str, make: Callable[[Path], None]) -> Path:
    """Return a folder that `make` fills, or has filled for an earlier test: of any worker, if `base` is pytest's folder."""
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    if not folder.is_dir():
        mine = base / f"{name}-in-the-making"
        make(mine)
        with contextlib.suppress(OSError):  # another worker was faster
            mine.rename(folder)
    return folder


def collected(result: pytest.RunResult) -> list[str]:
    """The ids that `--collect-only -q` shows."""
    return [line for line in result.outlines if "::" in line and " " not in line.strip()]
