"""A record that was cut, edited or written by something else: one line that says where, never a traceback."""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from recorded_runs import HEADER, gate, question, store, write

from pytest_memfail.cli import main
from pytest_memfail.core import ErrorRecord, QuestionRecord, UsageError
from pytest_memfail.records import read_baseline

GONE = object()
VALUES = (GONE, None, 5, "x", [], {}, [5], {"x": 5})


def paths(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place of a nested value."""
    parts = value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else ()
    for name, part in parts:
        yield (*at, name)
        yield from paths(part, (*at, name))


def damaged(value: Any, at: tuple[Any, ...], new: Any) -> Any:
    found = copy.deepcopy(value)
    part = found
    for name in at[:-1]:
        part = part[name]
    if new is GONE:
        del part[at[-1]]
    else:
        part[at[-1]] = new
    return found


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """The lines of a sound record with something of everything."""
    lines = [question(i, verdict) for i, verdict in enumerate(["correct", "summary_error", "not_retrieved"])]
    fault = ErrorRecord(type="ValueError", message="no")
    asked = {name: getattr(lines[0], name) for name in ("task", "store", "k", "kind", "stratum", "text", "gold", "row")}
    error = QuestionRecord(id="memfail/t::q-9", question="q-9", verdict="error", error=fault, **asked)
    path = write(tmp_path_factory.mktemp("sound") / "r.jsonl", *lines, error, store(), gate=gate(1))
    return [json.loads(line) for line in path.read_text().splitlines()]


COMMANDS = [
    ["show", "r.jsonl"],
    ["report", "r.jsonl", "-o", "x.md", "-o", "x.html", "-o", "x.json"],
    ["merge", "r.jsonl", "-o", "m.jsonl"],
    ["compare", "r.jsonl", "sound.jsonl"],
    ["gate", "r.jsonl", "--fail-on", "correct<0.1"],
    ["regrade", "r.jsonl", "--judge", "offline", "-o", "n.jsonl"],
]


@pytest.mark.parametrize("every", [pytest.param(1, marks=pytest.mark.slow), 9])
@pytest.mark.parametrize("kind", ["header", "question", "error", "store", "footer"])
def test_any_field_may_be_damaged(sound, tmp_path, monkeypatch, capsys, kind, every):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    number = {"header": 0, "question": 2, "error": 4, "store": 5, "footer": 6}[kind]
    assert sound[number]["type"] == kind.replace("error", "question")
    (tmp_path / "sound.jsonl").write_text("".join(json.dumps(line) + "\n" for line in sound))
    faults = []
    for i, at in list(enumerate(paths(sound[number])))[::every]:
        for new in (GONE, VALUES[1 + i % (len(VALUES) - 1)]):
            line = damaged(sound[number], at, new)
            lines = [*sound[:number], line, *sound[number + 1 :]]
            (tmp_path / "r.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
            for words in COMMANDS if new is GONE else COMMANDS[:2]:
                try:
                    code: object = main(words)
                except Exception as error:
                    code = repr(error)
                out, err = capsys.readouterr()
                ended_well = code in (0, 1, 6) or (code == 4 and len(err.splitlines()) == 1)
                if not ended_well or "could not be written" in out:
                    faults.append((at, "removed" if new is GONE else new, words[0], code, out[-300:], err))
    assert faults == []


@pytest.mark.parametrize(
    ("number", "name", "says"),
    [
        (0, "tasks", "r.jsonl:1: header: tasks: got nothing, expected a value"),
        (2, "verdict", "r.jsonl:3: question: verdict: got nothing, expected a value"),
        (2, "facts", "r.jsonl:3: question: a verdict without 'facts'"),
        (4, "error", "r.jsonl:5: question: an error without its field 'error'"),
        (5, "listings", "r.jsonl:6: store: listings: got nothing, expected a value"),
        (6, "exit_code", "r.jsonl:7: footer: exit_code: got nothing, expected a value"),
    ],
)
def test_the_line_and_the_field_are_named(sound, tmp_path, monkeypatch, capsys, number, name, says):
    monkeypatch.chdir(tmp_path)
    lines = [*sound[:number], damaged(sound[number], (name,), GONE), *sound[number + 1 :]]
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert main(["report", "r.jsonl", "-o", "x.md"]) == 4
    err = capsys.readouterr().err
    assert err.startswith(f"memfail: {says}; the record is damaged")
    assert len(err.splitlines()) == 1


def test_a_sound_record_is_read(sound, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(line) + "\n" for line in sound))
    assert main(["show", "r.jsonl"]) == 0
    assert HEADER["system"] in capsys.readouterr().out


@pytest.mark.parametrize(
    "depth", [600 if sys.version_info < (3, 12) else 3000, 200_000]
)  # parsed but not walked; neither
def test_a_deep_line_is_no_json(sound, tmp_path, monkeypatch, capsys, depth):
    monkeypatch.chdir(tmp_path)
    lines = "".join(json.dumps(line) + "\n" for line in sound)
    deep = '{"a":' * depth + "1" + "}" * depth + "\n"
    (tmp_path / "r.jsonl").write_text(lines + deep)
    for words in (["compare", "r.jsonl", "r.jsonl"] if "compare" in words else words for words in COMMANDS):
        assert main(words) == 4
        assert capsys.readouterr().err == f"memfail: r.jsonl:{len(sound) + 1}: not JSON; the record is damaged\n"
    (tmp_path / "b.jsonl").write_text('{"type": "baseline", "schema_version": 1, "verdicts": 1}\n' + deep)
    with pytest.raises(UsageError, match=r"b\.jsonl:2: not a JSON object; the baseline is damaged"):
        read_baseline(tmp_path / "b.jsonl")
