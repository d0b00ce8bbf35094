"""The tools through which a model edits notes: they reach the notes and nothing else."""

from __future__ import annotations

import json

import pytest

from pytest_memfail.systems.note_tools import SCHEMAS, Draft
from pytest_memfail.systems.tool_loop import ToolFailedError


def call(draft, name, **arguments):
    return draft.call(name, json.dumps(arguments))


def test_notes_are_read_with_their_numbers():
    assert call(Draft(["tea", "jam"]), "read_memory") == "1 tea\n2 jam"
    assert Draft([]).call("read_memory", "") == "the file is empty"


def test_a_note_is_added_at_the_end():
    draft = Draft(["tea"])
    assert call(draft, "append_line", text="jam") == "ok, line 2"
    assert draft.lines() == ["tea", "jam"]


def test_a_note_takes_one_line():
    draft = Draft([])
    call(draft, "append_line", text=" two\nlines\r\n- and\u2028more ")
    assert draft.lines() == ["two lines - and more"]


def test_numbers_stay_while_notes_go():
    draft = Draft(["tea", "jam", "bread"])
    call(draft, "delete_line", number=1)
    call(draft, "replace_line", number=3, text="rye bread")
    assert call(draft, "read_memory") == "2 jam\n3 rye bread"
    assert draft.lines() == ["jam", "rye bread"]


def test_keeping_nothing_changes_nothing():
    draft = Draft(["tea"])
    assert call(draft, "keep_nothing") == "ok"
    assert draft.lines() == ["tea"]


def test_the_list_given_is_left_as_it_is():
    lines = ["tea"]
    call(Draft(lines), "delete_line", number=1)
    assert lines == ["tea"]


@pytest.mark.parametrize(
    ("name", "arguments", "fault"),
    [
        (
            "write_file",
            '{"path": "/etc/passwd", "text": "x"}',
            "no tool 'write_file'; expected read_memory, append_line",
        ),
        ("__init__", '{"lines": []}', "no tool '__init__'"),
        ("lines", "{}", "no tool 'lines'"),
        ("read_memory", '{"path": "../../secrets"}', "read_memory got path; expected nothing"),
        ("append_line", '{"text": "x", "file": "../x"}', "append_line got text, file; expected text"),
        ("append_line", "{}", "append_line got nothing; expected text"),
        ("append_line", "", "append_line got nothing; expected text"),
        ("append_line", '["x"]', "append_line got list; expected text"),
        ("append_line", '{"text": "x"', "the arguments of append_line are not JSON"),
        ("append_line", '{"text": 5}', "text of append_line is 5; expected a text"),
        ("append_line", '{"text": " \\n "}', "the text is empty; to remove a line, call delete_line"),
        ("replace_line", '{"number": "1", "text": "x"}', "number of replace_line is '1'; expected a whole number"),
        ("delete_line", '{"number": true}', "number of delete_line is True; expected a whole number"),
        ("delete_line", '{"number": 0}', "no line 0; read_memory shows the existing lines"),
        ("delete_line", '{"number": -1}', "no line -1"),
        ("delete_line", '{"number": 3}', "no line 3"),
        ("replace_line", '{"number": 2, "text": "x"}', "no line 2"),
    ],
)
def test_what_cannot_be_done_is_said_and_changes_nothing(name, arguments, fault):
    draft = Draft(["tea", "jam"])
    call(draft, "delete_line", number=2)
    with pytest.raises(ToolFailedError) as error:
        draft.call(name, arguments)
    assert fault in str(error.value)
    assert draft.lines() == ["tea"]


def test_nested_arguments_without_end_are_no_json_that_can_be_read():
    with pytest.raises(ToolFailedError, match="not JSON"):
        Draft([]).call("append_line", "[" * 200_000)


def test_the_schemas_are_strict():
    for tool in SCHEMAS:
        parameters = tool["function"]["parameters"]
        assert parameters["additionalProperties"] is False
        assert set(parameters["required"]) == set(parameters["properties"])
