"""The JSON schemas of the YAML files that users write, and the hook that checks their cases before a commit."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pydantic
import pytest
import yaml

from pytest_memfail.cli import main
from pytest_memfail.suites.own.files import case_schema
from pytest_memfail.systems import yaml_schema

ROOT = Path(__file__).parents[2]
CASES = sorted((ROOT / "examples").rglob("*.memfail.yaml"))


@pytest.mark.skipif(
    tuple(map(int, pydantic.VERSION.split(".")[:2])) < (2, 12), reason="older versions of pydantic write it otherwise"
)
@pytest.mark.parametrize(("name", "schema"), [("memory.schema.json", yaml_schema), ("case.schema.json", case_schema)])
def test_the_schema_in_the_docs_is_that_of_the_models(name, schema):
    written = json.loads((ROOT / "docs" / name).read_text(encoding="utf-8"))
    assert written == schema(), "python tools/reference_pages.py writes it anew"


def test_the_schema_accepts_the_examples_and_the_short_forms():
    jsonschema = pytest.importorskip("jsonschema", reason="comes with the extra mcp")
    assert CASES
    for path in CASES:
        case = json.loads(json.dumps(yaml.safe_load(path.read_text(encoding="utf-8")), default=str))
        jsonschema.validate(case, case_schema())
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**case, "no_such_key": 1}, case_schema())
    short = {"conversations": ["I moved."], "question": "?", "answer": "a"}
    jsonschema.validate({**short, "expected": [{"fact": "f", "details": ["moved", ["a", "b"]]}]}, case_schema())
    unwanted = ["Ulla takes aspirin.", {"fact": "f", "details": ["aspirin"]}]
    jsonschema.validate({**short, "expected": [], "must_not_hold": unwanted}, case_schema())
    for wrong in ({"expected": [{"fact": "f", "details": [["a"], 3]}]}, {"expected": [], "must_not_hold": [3]}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**short, **wrong}, case_schema())


def test_the_hook_for_pre_commit_stops_a_faulty_case(tmp_path, monkeypatch, capsys):
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    program, *arguments = [*shlex.split(hook["entry"]), *hook["args"]]
    assert program == "memfail"
    monkeypatch.chdir(tmp_path)
    case = tmp_path / "move.memfail.yaml"
    case.write_text(
        "conversations: [I moved to Lisbon.]\nquestion: Where?\nanswer: Lisbon\nexpected: [{fact: The user moved to Lisbon.}]\n"
    )
    assert main(arguments) == 0
    case.write_text(case.read_text().replace("answer: Lisbon\n", ""))
    assert main(arguments) == 1
    assert "move.memfail.yaml:1: error: answer: got nothing" in capsys.readouterr().out
