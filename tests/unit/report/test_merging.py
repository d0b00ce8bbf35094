"""`memfail merge`: the records of shards as one."""

from __future__ import annotations

import json

import pytest
from recorded_runs import question, store, write

from pytest_memfail.cli import main
from pytest_memfail.results import load_record

STORES = {"a": 2, "b": 1}
TASKS = {name: {"data_hash": "0" * 64, "licence": "CC0", "questions": n} for name, n in STORES.items()}


@pytest.fixture
def shards(tmp_path):
    """Two shards that make up a run."""
    whole = {"tasks": TASKS, "stores": STORES}
    first = [question(i, "correct", task="a") for i in range(2)]
    return (
        write(tmp_path / "1.jsonl", *first, store("a"), shard="1/2", **whole),
        write(tmp_path / "2.jsonl", question(0, "not_stored", task="b"), store("b"), shard="2/2", **whole),
    )


def merge(out, *paths):
    return main(["merge", "-o", str(out), *map(str, paths)])


def test_a_whole_run(shards, tmp_path, capsys):
    out = tmp_path / "all.jsonl"
    assert merge(out, *shards) == 0
    printed = capsys.readouterr().out
    assert "missing" not in printed
    assert "all                      3  66.7 [21, 94]" in printed
    joint = load_record(out)
    assert joint.complete
    assert [asked.id for asked in joint.questions] == ["memfail/a::q-0", "memfail/a::q-1", "memfail/b::q-0"]
    assert [store.store for store in joint.stores] == ["a", "b"]
    assert joint.header.shard is None
    assert joint.header.extra["merged"] == ["1/2", "2/2"]


def test_a_missing_shard_is_named(shards, tmp_path, capsys):
    out = tmp_path / "all.jsonl"
    assert merge(out, shards[0]) == 1
    printed = capsys.readouterr().out.splitlines()
    assert printed[-2:] == ["missing: shard 2/2", "missing: 1 of 1 question of b"]
    assert not load_record(out).complete


def test_costs_add_up(shards, tmp_path):
    names = ("calls", "cache_hits", "prompt_tokens", "cached_tokens", "completion_tokens")
    row = {"stage": "judge", "model": "m", **dict.fromkeys(names, 2)}
    for path, cost in zip(shards, (0.5, None), strict=True):
        *lines, last = path.read_text().splitlines(keepends=True)
        assert last.count("[]") == 1
        path.write_text("".join(lines) + last.replace("[]", json.dumps([{**row, "cost": cost}])))
    merge(tmp_path / "all.jsonl", *shards)
    footer = load_record(tmp_path / "all.jsonl").footer
    assert footer.models == ({"stage": "judge", "model": "m", **dict.fromkeys(names, 4), "cost": None},)


def refused(capsys):
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    return err


def test_an_overlap_is_refused(shards, tmp_path, capsys):
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(shards[0].read_bytes())
    assert merge(tmp_path / "all.jsonl", *shards, copy) == 4
    assert "overlap: both hold memfail/a::q-0" in refused(capsys)
    assert not (tmp_path / "all.jsonl").exists()


def test_another_run_is_refused(shards, tmp_path, capsys):
    other = write(tmp_path / "other.jsonl", tasks=TASKS, stores=STORES, shard="2/2", judge="gpt")
    assert merge(tmp_path / "all.jsonl", shards[0], other) == 4
    assert "judge is 'gpt'" in refused(capsys)


def test_other_numbers_of_shards_are_refused(shards, tmp_path, capsys):
    other = write(tmp_path / "other.jsonl", tasks=TASKS, stores=STORES, shard="2/3")
    assert merge(tmp_path / "all.jsonl", shards[0], other) == 4
    assert "different numbers of shards: 1/2, 2/3" in refused(capsys)


def test_nothing_foreign_and_no_input_is_overwritten(shards, tmp_path, capsys):
    notes = tmp_path / "notes.txt"
    notes.write_text("Buy milk.\n")
    before = shards[0].read_bytes()
    assert merge(notes, *shards) == 4
    assert "is not a record of memfail" in refused(capsys)
    assert merge(shards[0], *shards) == 4
    assert "is one of the records" in refused(capsys)
    assert notes.read_text() == "Buy milk.\n"
    assert shards[0].read_bytes() == before


@pytest.mark.parametrize(
    ("line", "name", "value", "says"),
    [
        (0, "sources", {"mymem.py": "b"}, "code of mymem.py is 'b', in"),
        (0, "system_version", "2", "system_version is '2', in"),
        (-2, "system", {"version": "2"}, "version of describe() was '1', is '2'"),
    ],
)
def test_shards_of_other_code_are_refused(shards, tmp_path, capsys, line, name, value, says):
    given = {"sources": {"mymem.py": "a"}, "system_version": "1", "system": {"version": "1"}}
    for path in shards:
        lines = [json.loads(text) for text in path.read_text().splitlines()]
        lines[0] |= {
            "identity": {"system_version": "subject"},
            **{key: given[key] for key in ("sources", "system_version")},
        }
        lines[-2]["system"] = given["system"]
        if path == shards[1]:
            lines[line][name] = value
        path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    assert merge(tmp_path / "all.jsonl", *shards) == 4
    assert says in refused(capsys)


def test_records_joined_by_hand_are_refused(shards, tmp_path, capsys):
    (tmp_path / "both.jsonl").write_text("".join(path.read_text() for path in shards))
    assert main(["gate", str(tmp_path / "both.jsonl"), "--fail-on", "correct<0.1"]) == 4
    assert "join shards with memfail merge" in refused(capsys)
