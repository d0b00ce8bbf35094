"""`memfail plan`, `memfail merge` into a folder, and `memfail compare --over-seeds`."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from pytest_memfail.cli import main
from pytest_memfail.results import over_seeds, seed_mean, t_quantile

sys.path.insert(0, str(Path(__file__).parent / "report"))
from recorded_runs import verdicts

from pytest_memfail.results import load_record


def plan(capsys, *words):
    assert main(["plan", *words]) == 0
    return capsys.readouterr().out


def test_one_line_is_one_command_and_one_record(capsys):
    lines = plan(capsys, "--systems=a,pkg.mod:B", "--seeds=2", "--k=5,20", "--shards=2", "--", "--memfail-limit=4")
    found = [json.loads(line) for line in lines.splitlines()]
    assert len(found) == len({line["record"] for line in found}) == 8
    assert found[5]["record"] == "records/pkg-mod-B-s42-2of2.jsonl"
    words = shlex.split(found[5]["command"].removeprefix("mkdir -p records; ").removesuffix(" || test $? -eq 1"))
    assert words == [
        "pytest", "--memfail-system=pkg.mod:B", "--memfail-seed=42", "--memfail-k=5,20", "--memfail-shard=2/2",
        "--memfail-limit=4", "--memfail-record=records/pkg-mod-B-s42-2of2.jsonl",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--systems=,"], "--systems: got ','"),
        (["--systems=a.b,a-b"], "names that differ"),
        (["--systems=a", "--seeds=some"], "--seeds: got 'some', expected how many (3) or a list (1,2,3)"),
        (["--systems=a", "--k=5,x"], "--k: got 'x', expected whole numbers from 1 to"),
        (["--systems=a", "--format=k8s"], "--format: got k8s without --image"),
        (["--systems=a", "--", "--memfail-record=x"], "--: got --memfail-record, which the plan sets"),
        (["--systems=a", "--shards=0"], "--shards: got 0, expected 1 or more"),
    ],
)
def test_a_wrong_plan_is_one_line(capsys, words, says):
    assert main(["plan", *words]) == 4
    err = capsys.readouterr().err
    assert says in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--shards=1"], "1 run. Then: memfail show records/a-s42.jsonl\n"),
        (["--shards=2"], "2 runs. Then: memfail merge records/*.jsonl -o joined/ && "),
    ],
)
def test_a_plan_says_what_comes_after_it(capsys, words, says):
    assert main(["plan", "--systems=a", *words]) == 0
    assert capsys.readouterr().err.startswith(says)


def test_a_github_matrix(capsys):
    (line,) = plan(capsys, "--systems=a", "--seeds=7,9", "--format=github").splitlines()
    assert [one["name"] for one in json.loads(line)["include"]] == ["a-s7", "a-s9"]


@pytest.mark.parametrize(
    ("kind", "variable", "first"), [("slurm", "SLURM_ARRAY_TASK_ID", 1), ("k8s", "JOB_COMPLETION_INDEX", 0)]
)
def test_the_script_of_an_array_runs_the_command_of_its_number(capsys, tmp_path, kind, variable, first):
    text = plan(capsys, "--systems=a,b", "--seeds=2", f"--format={kind}", "--image=mymem:1")
    if kind == "k8s":
        job = yaml.safe_load(text)["spec"]
        assert (job["completions"], job["completionMode"]) == (4, "Indexed")
        (text,) = job["template"]["spec"]["containers"][0]["args"]
    pretend = tmp_path / "pytest"
    pretend.write_text('#!/bin/sh\necho "$@"\nexit 1\n')
    pretend.chmod(0o755)

    def ran(number):
        env = {"PATH": f"{tmp_path}:{os.environ['PATH']}", variable: str(number)}
        return subprocess.run(["sh", "-c", text], cwd=tmp_path, env=env, capture_output=True, text=True)

    found = [ran(first + i) for i in range(4)]
    assert [done.returncode for done in found] == [0] * 4  # 1 of pytest says that questions failed
    records = [re.search(r"record=(\S+)", done.stdout)[1] for done in found]
    assert records == ["records/a-s42.jsonl", "records/a-s43.jsonl", "records/b-s42.jsonl", "records/b-s43.jsonl"]
    assert ran(first + 4).returncode == 2


# -- over seeds ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("freedom", [1, 2, 3, 7, 30, 200])
def test_the_quantile_is_that_of_scipy(freedom):
    stats = pytest.importorskip("scipy.stats")
    assert t_quantile(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), abs=1e-4)


def test_the_interval_is_that_of_scipy():
    stats = pytest.importorskip("scipy.stats")
    values = [0.3, 0.5, 0.45, 0.6]
    low, high = stats.t.interval(0.95, 3, loc=0.4625, scale=stats.sem(values))
    found = seed_mean(values)
    assert (found.mean, found.low, found.high) == pytest.approx((0.4625, low, high), abs=1e-5)


@pytest.fixture
def six(tmp_path):
    """Two systems, three seeds each: one right 2, 3, 4 times of 4, the other 1, 2, 3 times."""

    def one(system, seed, right):
        names = ["correct"] * right + ["not_stored"] * (4 - right)
        return verdicts(tmp_path / f"{system}-s{seed}.jsonl", *names, system=system, seed=seed)

    return [one(system, seed, more + seed) for system, more in (("a", 1), ("b", 0)) for seed in (1, 2, 3)]


def test_differences_are_paired_by_seed(six, capsys):
    first, second = over_seeds([load_record(path) for path in six]).rows
    assert (first.success.mean, first.success.n, first.difference) == (0.75, 3, None)
    assert (second.success.mean, second.difference.mean) == (0.5, -0.25)
    assert second.difference.high - second.difference.low < 1e-9  # each seed differs by the same
    assert main(["compare", "--over-seeds", *map(str, six)]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^t +a +3  75\.0 \[12\.9, 100\.0\]  ", out, re.MULTILINE)
    assert re.search(r"^ +b +3  50\.0 .* -25\.0 \[-25\.0, -25\.0\]$", out, re.MULTILINE)


def test_shares_stay_possible_and_columns_apart(tmp_path, capsys):
    rights = {"a": (4, 4), "b": (4, 1)}
    paths = [
        verdicts(
            tmp_path / f"{system}{seed}.jsonl", *["correct"] * n, *["not_stored"] * (4 - n), system=system, seed=seed
        )
        for system, ns in rights.items()
        for seed, n in enumerate(ns)
    ]
    assert main(["compare", "--over-seeds", *map(str, paths)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "100.0 [100.0, 100.0]  " in lines[1]
    assert "62.5 [0.0, 100.0]  " in lines[2]
    assert lines[2].endswith("-37.5 [-100.0, +100.0]")


def test_the_same_seed_twice_is_refused(six, tmp_path, capsys):
    again = verdicts(tmp_path / "again.jsonl", "correct", system="a", seed=1)
    assert main(["compare", "--over-seeds", *map(str, six), str(again)]) == 4
    assert "are runs of the same system and seed" in capsys.readouterr().err


# -- the whole way -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_planned_run_joined_and_compared(tmp_path):
    """Three systems, three seeds and two shards, by the commands of docs/machines.md."""
    page = (Path(__file__).parents[2] / "docs/machines.md").read_text(encoding="utf-8")
    commands = re.findall(
        r"^\$ (.*)$", page.partition("## Many systems and seeds")[2].partition("```\n")[0], re.MULTILINE
    )
    wanted = "--systems=mymem,bm25,lossy --seeds=3 --k=5,20 --shards=2"
    assert wanted in commands[0]
    words = "--systems=misdirected,bm25,lossy --seeds=3 --k=5,20 --shards=2"
    commands[0] = f"{commands[0].replace(wanted, words)} --memfail-tasks=updated_facts,long_hop --memfail-limit=2 -q"
    env = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    env["PYTEST_ADDOPTS"] = "-p no:cacheprovider"
    done = None
    for command in commands:
        command = re.sub(r"\bmemfail (?=plan|merge|compare)", f"{sys.executable} -m pytest_memfail.cli ", command)
        done = subprocess.run(["sh", "-c", command], cwd=tmp_path, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    assert len(list((tmp_path / "records").iterdir())) == 18
    assert len(list((tmp_path / "joined").iterdir())) == 9
    systems = re.findall(r"\b(bm25|lossy|misdirected) +3 ", done.stdout)
    assert systems == ["bm25", "lossy", "misdirected"] * 3  # two tasks and all
