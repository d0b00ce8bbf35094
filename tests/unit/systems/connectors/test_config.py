"""What a YAML file may say, and the errors it gets."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from pytest_memfail.core import UsageError
from pytest_memfail.safety import KNOWN, mask_known
from pytest_memfail.systems import yaml_schema, yaml_system
from pytest_memfail.systems.connectors.config import Command

ROOT = Path(__file__).parents[4]

HTTP = "kind: http\nwrite: {{}}\nsearch: {{}}\nlist: {{}}\n"
BOMB = "  A0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"  A{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 9)
)
FAULTS = {
    "kind: fils": "unknown kind in {file} 'fils'; did you mean 'files'?",
    "kind: [files]": "{file}: kind: got ['files'], expected one of files",
    "- kind: files": "{file}: got list, expected a mapping",
    "kind: {": "{file}:1: not YAML (",
    "kind: files\n---\nkind: files": "{file}: got 2 documents (---), expected one mapping",
    "kind: command\nenv: {{SINCE: 2024-02-30}}": "{file}:1: not YAML (ValueError: day",
    "kind: files\nlines: !!int abc": "{file}:1: not YAML (ValueError: invalid literal",
    f"kind: files\nlines: {'9' * 5000}": "{file}:1: not YAML (ValueError: Exceeds the limit",
    "kind: command\ncommand: &a [python, *a]": "{file}:2: an alias (*) names a value that contains it",
    "kind: command\nenv: &a\n  <<: *a": "{file}:2: an alias (*) names a value that contains it",
    f"kind: {'[' * 5000}": "{file}:1: nested too deeply",
    "kind: command\ncommand: x\nenv:\n" + BOMB: "{file}:1: its aliases (*) repeat more than 100,000 values",
    **(
        {"kind: files\nglob: '**x/*'": "{file}: glob: got '**x/*', expected a pattern of files"}
        if sys.version_info < (3, 13)  # a pattern since
        else {}
    ),
    "kind: files\nglob: '.'": "{file}: glob: got '.', expected a pattern of files",
    'kind: files\nglob: "a\\0"': "{file}: glob: got 'a\\x00', expected a pattern",
    'kind: command\ncommand: ["a\\0"]': "{file}: command.0: got 'a\\x00', expected a text without NUL",
    'kind: command\ncommand: ["a\\ud800"]': "{file}: command.0: got half a character",
    "kind: command\ncommand: x\nenv: {{'A=B': c}}": "{file}: env.A=B.[key]: expected the name of a variable, without =",
    'kind: command\ncommand: x\nenv: {{A: "c\\0"}}': "{file}: env.A: expected a text without NUL",
    f"{HTTP}url: http://x:999999": "{file}: url: got 'http://x:999999', expected an address (Port out of range",
    f"{HTTP}url: 'http://x y'": "{file}: url: got 'http://x y', expected an address that begins",
    f"{HTTP}url: http://x\nheaders: {{{{K: 'quiet harbour é'}}}}": "{file}: headers.K: expected a header's value on one",
    f'{HTTP}url: http://x\nheaders: {{{{K: "a\\nb"}}}}': "{file}: headers.K: expected a header's value on one line",
    f"{HTTP}url: http://x\nheaders: {{{{'K K': b}}}}": "{file}: headers.K K.[key]: expected the name of a header",
    f"{HTTP}url: http://x\nopen: {{{{body: {{{{since: 2026-01-02}}}}}}}}": "{file}: open.body: got "
    "{{'since': datetime.date(2026, 1, 2)}}, expected what JSON can hold; put quotes around a date",
    "kind: files\nretreive: first": "{file}: retreive: unknown key; did you mean 'retrieve'?",
    "kind: files\nlines: many": "{file}: lines: got 'many', expected",
    "kind: files\nlines: 0": "{file}: lines: got 0, expected greater than or equal to 1",
    "kind: files\nglob: /etc/*": "{file}: glob: got '/etc/*', expected",
    "kind: files\ntimeout: .nan": "{file}: timeout: got nan, expected",
    "kind: command": "{file}: command: got nothing, expected a value",
    "kind: command\ncomand: x": "{file}: comand: unknown key; did you mean 'command'?",
    "kind: files\nglob: 3": "{file}: glob: got 3, expected a string",
    "kind: files\nlines: 1.5": "{file}: lines: got 1.5, expected an integer",
    "kind: http\nurl: http://x\nwrite: add\nsearch: {{}}\nlist: {{}}": "{file}: write: got 'add', expected a mapping",
    "kind: command\ncommand: x\nenv: a": "{file}: env: got 'a', expected a mapping",
    "kind: command\ncommand: x\nsettle: 5": "{file}: settle: got 5, expected a mapping",
    "kind: http\nurl: localhost:1\nwrite: {{}}\nsearch: {{}}\nlist: {{}}": "{file}: url: got 'localhost:1', expected an address "
    "that begins with http:// or https://",
    "kind: command\ncommand: sh -c 'x": '{file}: command: got "sh -c \'x", expected a text whose quotes are closed, or a list',
    "kind: command\ncommand: []": "{file}: command: got [], expected ",
    "kind: command\ncommand: 'x {stor}'": "unknown variable in {file}: command 'stor'; did you mean 'store'?",
    "kind: command\ncommand: x\nenv: {{A: '${{MEMFAIL_TEST_UNSET}}'}}": "{file}: env: the environment variable "
    "'MEMFAIL_TEST_UNSET' is not set; expected a value: export MEMFAIL_TEST_UNSET=...",
}


@pytest.mark.parametrize("text", FAULTS, ids=lambda text: text[:40])
def test_a_wrong_file_is_one_line_that_names_file_and_key(describe, text):
    path = describe(text.replace("{{", "{").replace("}}", "}"))
    with pytest.raises(UsageError) as caught:
        yaml_system(path)
    message = str(caught.value)
    assert message.startswith(FAULTS[text].format(file=path))
    assert "\n" not in message


def test_a_command_keeps_quoted_blanks_and_backslashes_together():
    words = TypeAdapter(Command).validate_python
    assert words(r"""sh -c 'echo "a b" # c' C:\dir""") == ["sh", "-c", 'echo "a b" # c', r"C:\dir"]
    assert words(["a b"]) == ["a b"]


def test_a_key_in_the_file_itself_is_masked(describe):
    service = (
        "kind: http\nurl: http://x\nwrite: {query: {key: k3y-literal}, body: {api_key: pine}}\nsearch: {}\nlist: {}\n"
    )
    yaml_system(describe(service + "headers: {X-Functions-Key: fn-77-literal}"))
    assert mask_known("k3y-literal, pine, fn-77-literal") == "***, ***, ***"


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(UsageError, match=r"none\.yaml cannot be read \(No such file"):
        yaml_system(tmp_path / "none.yaml")


def test_a_program_that_is_not_there_is_seen_before_anything_is_stored(describe, monkeypatch):
    path = describe("kind: command\ncommand: [no-such-program-here]")
    monkeypatch.chdir(path.parent)  # the error names the file as the user did
    factory = yaml_system(Path(path.name))
    with pytest.raises(
        UsageError, match=r"^memory\.yaml: command: got 'no-such-program-here', expected an executable program"
    ):
        factory.check_options({})


def test_the_file_takes_no_options_besides(describe):
    with pytest.raises(UsageError, match=r"unknown --memfail-system-option of memory\.yaml 'lines'"):
        yaml_system(describe("kind: files")).check_options({"lines": "3"})


def test_a_variable_of_the_environment_is_a_secret_whatever_its_name(describe, monkeypatch):
    monkeypatch.setenv("MEMFAIL_TEST_PLACE", "quiet-harbour-71")
    factory = yaml_system(describe("kind: command\ncommand: x\nenv: {A: 'at ${MEMFAIL_TEST_PLACE}'}"))
    assert factory.config.env == {"A": "at quiet-harbour-71"}
    assert mask_known("it said quiet-harbour-71.") == "it said ***."


@pytest.mark.parametrize(
    ("variable", "key", "value", "is_secret"),
    [
        ("MEMFAIL_TEST_LEVEL", "LOG_LEVEL", "warning", False),
        ("MEMFAIL_TEST_LEVEL", "LOG_LEVEL", "swordfish", True),
        ("MEMFAIL_TEST_LEVEL", "API_KEY", "warning", True),
        ("MEMFAIL_TEST_PASSWORD", "LOGIN", "warning", True),
    ],
)
def test_a_word_with_which_programs_are_set_up_is_a_secret_only_by_a_name(
    describe, monkeypatch, variable, key, value, is_secret
):
    before = KNOWN.snapshot()
    try:
        monkeypatch.setenv(variable, value)
        yaml_system(describe(f"kind: command\ncommand: x\nenv: {{{key}: '${{{variable}}}'}}"))
        assert mask_known(f"{value}.jsonl") == ("***.jsonl" if is_secret else f"{value}.jsonl")
    finally:
        KNOWN.restore(before)


@pytest.mark.parametrize("path", sorted((ROOT / "examples" / "connectors").glob("*.yaml")), ids=lambda path: path.name)
def test_the_examples_can_be_read_and_keep_the_schema(path, monkeypatch):
    jsonschema = pytest.importorskip("jsonschema", reason="comes with the extra mcp")
    yaml = pytest.importorskip("yaml")
    monkeypatch.setenv("MEMORY_KEY", "none")
    yaml_system(path)
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    jsonschema.validate(data, yaml_schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**data, "no_such_key": 1}, yaml_schema())
