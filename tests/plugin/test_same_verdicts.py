"""Samples of the suites besides MEME: the same verdicts at any number of workers, alone, resumed, in shards, again."""

from __future__ import annotations

from typing import Any

import pytest

from plugin.project import BARE_INI, Project
from pytest_memfail.cli import main as memfail

SAMPLES = {
    "mab": ("--memfail-suite=mab", "--memfail-limit=2"),
    "halumem": ("--memfail-suite=halumem", "--memfail-tasks=halumem.update,halumem.qa"),
}


class Sample:
    """A repository without rows of its own, which runs a part of a suite's sample with bm25."""

    def __init__(self, project: Project, words: tuple[str, ...]) -> None:
        self.project, self.words = project, words
        project.file("pytest.ini", BARE_INI)

    def run(self, *words: str, n: int | None = None) -> dict[str, Any]:
        """The questions of a run, without times."""
        self.project.run(*self.words, *words, system="bm25", n=n)
        return self.questions()

    def questions(self, path: str | None = None) -> dict[str, Any]:
        lines = self.project.record(path)
        return {q["id"]: {**q, "seconds": None} for q in lines if q["type"] == "question"}


@pytest.mark.slow
@pytest.mark.parametrize("suite", SAMPLES)
def test_a_verdict_does_not_depend_on_how_it_is_run(
    project: Project, suite: str, capsys: pytest.CaptureFixture[str]
) -> None:
    sample = Sample(project, SAMPLES[suite])
    whole = sample.run()
    failed = {name: line for name, line in whole.items() if line["verdict"] not in ("no_answer", "correct")}
    assert 0 < len(failed) < len(whole)
    assert sample.run(n=2) == whole
    assert sample.run("--lf") == failed != {}
    # the last probe of a store and the first, each alone
    for name in (list(whole)[-1], next(iter(whole))):
        assert sample.run(name) == {name: whole[name]}
    # resumed after a part
    few = list(whole)[1::3]
    record = "--memfail-record=run.jsonl"
    sample.run(record, *few)
    assert sample.questions("run.jsonl").keys() == set(few)
    sample.run(record, "--memfail-resume")
    assert sample.questions("run.jsonl") == whole
    # in shards
    for shard in (1, 2):
        sample.run(f"--memfail-shard={shard}/2", f"--memfail-record={shard}.jsonl")
    paths = [str(project.path / f"{name}.jsonl") for name in ("1", "2", "joint", "again")]
    assert memfail(["merge", *paths[:2], "-o", paths[2]]) == 0
    assert sample.questions("joint.jsonl") == whole
    # judged again
    capsys.readouterr()
    assert memfail(["regrade", paths[2], "--judge=offline", "-o", paths[3]]) == 0
    assert f"0 of {len(whole)} verdicts changed" in capsys.readouterr().out
    assert sample.questions("again.jsonl") == whole
