"""The raw file: replies that were paid for survive the run."""

from __future__ import annotations

import json

import pytest
from pydantic import BaseModel

from pytest_memfail.authoring.raw import Raw
from pytest_memfail.core import UsageError

SETTINGS = {"task": "t", "seed": 1}


class Thing(BaseModel):
    name: str


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "raw" / "t.jsonl"
    with Raw(path, SETTINGS) as raw:
        raw.add("stage", "1", Thing(name="ä\u2028b"))
        raw.give_up("stage", "2", "no\nuse")
        raw.add("stage", "3", Thing(name="c"))
    return path


def test_nothing_is_written_before_there_is_something(tmp_path):
    with Raw(tmp_path / "raw" / "t.jsonl", SETTINGS):
        pass
    assert not list(tmp_path.iterdir())


def test_what_was_kept_is_there_again(path):
    raw = Raw(path, SETTINGS)
    assert raw.get("stage", "1", Thing) == Thing(name="ä\u2028b")
    assert raw.get("stage", "2", Thing) is None
    assert raw.count("stage") == 2
    assert raw.count("other") == 0
    assert len(path.read_bytes().splitlines()) == 4


def test_a_line_that_was_begun_is_cut_off(path):
    with path.open("ab") as file:
        file.write(b'{"stage": "stage", "key": "9", "it')
    with Raw(path, SETTINGS) as raw:
        assert raw.count("stage") == 2
        raw.add("stage", "9", Thing(name="d"))
    assert [json.loads(line)["key"] for line in path.read_bytes().split(b"\n")[1:-1]] == ["1", "2", "3", "9"]


@pytest.mark.parametrize("content", [b"", b'{"memfail_gen'])
def test_a_file_without_a_whole_line_is_begun_anew(path, content):
    path.write_bytes(content)
    with Raw(path, SETTINGS) as raw:
        raw.add("stage", "1", Thing(name="x"))
    assert Raw(path, SETTINGS).count("stage") == 1


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"no json\n", "raw/t.jsonl:5: got b'no json', expected a JSON object; remove the line"),
        (b"\xff\n", "raw/t.jsonl:5: got "),
        (b"[]\n", "raw/t.jsonl:5: got b'[]', expected a JSON object"),
    ],
)
def test_a_damaged_line_is_named(path, line, said):
    with path.open("ab") as file:
        file.write(line)
    with pytest.raises(UsageError, match="remove the line") as caught:
        Raw(path, SETTINGS)
    assert said in str(caught.value)


def test_an_item_that_is_none_is_named(path):
    with path.open("ab") as file:
        file.write(b'{"stage": "stage", "key": "7", "item": {"nam": 1}}\n')
    with pytest.raises(UsageError, match="stage 7: name: got nothing, expected a value; correct the line"):
        Raw(path, SETTINGS).get("stage", "7", Thing)


def test_other_settings_are_refused_or_replaced(path):
    with pytest.raises(UsageError, match="got seed 1, expected seed 2; give another --out, or --force"):
        Raw(path, {**SETTINGS, "seed": 2})
    with Raw(path, {**SETTINGS, "seed": 2}, replace=True) as raw:
        assert raw.count("stage") == 0
        assert path.read_bytes().startswith(b'{"memfail_generate": 1, "task": "t", "seed": 1}')
        raw.add("stage", "1", Thing(name="x"))
    assert Raw(path, {**SETTINGS, "seed": 2}).count("stage") == 1
