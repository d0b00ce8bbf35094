"""`memfail case`: cases from records and logs, which fail the same way when they run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from pytest_memfail.cli import main
from pytest_memfail.results import load_record

sys.path.insert(0, str(Path(__file__).parent / "report"))
from recorded_runs import verdicts

LEFT_OUT = ("-pno:cacheprovider", "-pno:hypothesispytest", "-pno:anyio")


def run(folder, *words):
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *LEFT_OUT, "--memfail-record=run.jsonl", *words],
        cwd=folder, env=env, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return load_record(folder / "run.jsonl").questions


@pytest.mark.parametrize(
    ("system", "verdict"),
    [("forgetful", "not_stored"), ("lossy", "summary_error"), ("misdirected", "not_retrieved")],
)
def test_a_case_of_a_record_fails_the_same_way(tmp_path, monkeypatch, capsys, system, verdict):
    monkeypatch.chdir(tmp_path)
    few = ("--memfail-tasks=coexisting_facts", "--memfail-limit=8", "--memfail-haystack=sample")
    asked = run(tmp_path, f"--memfail-system={system}", *few)
    (tmp_path / "run.jsonl").rename("before.jsonl")
    failed = next(question for question in asked if question.verdict == verdict)
    assert main(["case", "before.jsonl", failed.id]) == 0
    wrote, again = capsys.readouterr().out.splitlines()
    file = wrote.removeprefix("wrote ")
    assert again == f"run it: pytest {file} --memfail-system={system}"
    (found,) = run(tmp_path, file, f"--memfail-system={system}")
    assert (found.task, found.verdict) == ("custom", verdict)
    if verdict != "not_retrieved":  # nothing but this system loses it
        (sound,) = run(tmp_path, file, "--memfail-system=bm25")
        assert sound.verdict == "ungraded"


@pytest.mark.parametrize(
    ("wanted", "says"),
    [("q-00", "no question 'q-00' in"), ("q", "which is part of 2 ids in")],
)
def test_an_id_of_no_or_several_questions_names_the_record(tmp_path, capsys, wanted, says):
    record = verdicts(tmp_path / "r.jsonl", "not_stored", "not_stored")
    ids = [question.id for question in load_record(record).questions]
    assert main(["case", str(record), wanted]) == 4
    err = capsys.readouterr().err
    assert says in err
    assert str(record) in err
    assert ids[0] in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(("suite", "is_said"), [("mab", True), ("memfail", False)])
def test_a_case_of_lines_of_longer_texts_says_so(tmp_path, monkeypatch, capsys, suite, is_said):
    monkeypatch.chdir(tmp_path)
    task = {"data_hash": "0" * 64, "licence": "CC0", "questions": 1, "suite": suite}
    record = verdicts(tmp_path / "r.jsonl", "not_stored", tasks={"t": task})
    assert main(["case", str(record), "q-0"]) == 0
    assert ("may not fail in the same way" in capsys.readouterr().out) == is_said


TURNS = [
    {"role": "user", "content": "I take the tablets at 7, only on Thursdays.", "session_id": "a"},
    {"role": "assistant", "content": "Noted.", "session_id": "a"},
    {"role": "user", "content": "The cat is called Miso.", "session_id": "b"},
    {"role": "user", "content": "On which days do I take the tablets?", "session_id": "c"},
]


def attributes(**given):
    return {name.replace("__", "."): value for name, value in given.items()}


def spans():
    first = [{"role": "user", "parts": [{"type": "text", "content": TURNS[0]["content"]}]}]
    return [
        {"name": "chat m", "attributes": attributes(gen_ai__operation__name="chat", gen_ai__conversation__id="a",
         gen_ai__input__messages=json.dumps(first))},
        {"name": "create_memory", "attributes": attributes(gen_ai__operation__name="create_memory",
         gen_ai__memory__records=json.dumps([{"id": "1", "content": "takes tablets at 7"}]))},
        {"resourceSpans": [{"scopeSpans": [{"spans": [{"name": "search_memory", "attributes": [
            {"key": "gen_ai.operation.name", "value": {"stringValue": "search_memory"}},
            {"key": "gen_ai.memory.query.text", "value": {"stringValue": TURNS[3]["content"]}},
        ]}]}]}]},
    ]  # fmt: skip


@pytest.mark.parametrize("lines", [TURNS, spans()], ids=["turns", "spans"])
def test_a_case_of_a_log(tmp_path, monkeypatch, capsys, lines):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert main(["case", "--from", "log.jsonl", "--answer", "only on Thursdays", "-o", "tablets.memfail.yaml"]) == 0
    case = yaml.safe_load((tmp_path / "tablets.memfail.yaml").read_text())
    assert case["question"] == TURNS[3]["content"]
    assert case["expected"] == [{"fact": TURNS[0]["content"], "conversation": 1, "details": [["only on Thursdays"]]}]
    (lost,) = run(tmp_path, "tablets.memfail.yaml", "--memfail-system=lossy")
    assert lost.verdict == "summary_error"
    (held,) = run(tmp_path, "tablets.memfail.yaml", "--memfail-system=bm25")
    assert held.verdict == "ungraded"


@pytest.mark.parametrize(
    ("text", "words", "says"),
    [
        ("{}", [], "--from needs --answer"),
        ('{"role": "user", "content": "Hi"}\nnot json', ["--answer=x"], "log.jsonl:2: got no JSON"),
        ('{"level": "info"}', ["--answer=x"], "expected a turn with role and content, or a span"),
        ('{"role": "user", "content": "Only asked?"}', ["--answer=x"], "has no conversation before the question"),
    ],
)
def test_a_wrong_log_is_one_line(tmp_path, monkeypatch, capsys, text, words, says):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.jsonl").write_text(text)
    assert main(["case", "--from", "log.jsonl", *words]) == 4
    err = capsys.readouterr().err
    assert says in err
    assert err.count("\n") == 1
    assert list(tmp_path.glob("*.yaml")) == []
