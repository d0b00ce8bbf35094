"""Kept stores: what the engine keeps before each probe, and what it restores instead of filling."""

from __future__ import annotations

import functools
import importlib
import json
import sys
from datetime import datetime, timezone

import pytest
from engine_fakes import Store, names, question, said

from pytest_memfail.core import Conversation, Ingest, Listing, Memory, Message, Probe, SnapshotError
from pytest_memfail.hosting import Shelf, is_ours, kept_in
from pytest_memfail.hosting.shelf import code_of, next_link

TWO_PROBES = (
    Ingest(said(0)),
    Ingest(said(1)),
    Probe((question(0),)),
    Ingest(said(2)),
    Probe((question(2),)),
)


class Keeping(Store):
    retries = 0  # no snapshots but those of the shelf

    made: list  # set by the fixture: one of the test alone

    def __init__(self):
        super().__init__()
        self.made.append(self)

    def flush(self):
        self.log.append("flush")

    def snapshot(self, path):
        self.log.append("snapshot")
        (path / "deep").mkdir()
        (path / "deep" / "texts.json").write_text(json.dumps(self.texts), encoding="utf-8")

    def restore(self, path):
        self.log.append("restore")
        self.texts = json.loads((path / "deep" / "texts.json").read_text(encoding="utf-8"))


@pytest.fixture
def keeping():
    class OfThisTest(Keeping):
        made: list = []  # noqa: RUF012

    return OfThisTest


@pytest.fixture
def shelf(tmp_path):
    return Shelf(tmp_path / "kept", "keeping", {"options": {}})


def did(system):
    return [entry for entry in system.log if entry.startswith(("store", "restore", "snapshot", "flush"))]


def test_each_probe_has_a_kept_store_and_a_second_run_restores_each(make_bench, keeping, shelf):
    for restores in (False, True):
        bench = make_bench()
        run = bench.begin(keeping, TWO_PROBES, shelf=shelf)
        assert names(bench.all(run)) == ["correct", "correct"]
        assert bench.finish(run).restored is restores
    first, second = map(did, keeping.made)
    assert first == ["store c-0", "store c-1", "flush", "snapshot", "store c-2", "flush", "snapshot"]
    assert second == ["restore", "restore"]
    assert kept_in(shelf.folder) == 2
    assert is_ours(shelf.folder)


def test_what_was_kept_before_a_probe_is_filled_further(make_bench, keeping, shelf):
    for plan in (TWO_PROBES[:3], TWO_PROBES):
        bench = make_bench()
        run = bench.begin(keeping, plan, shelf=shelf)
        bench.all(run)
        assert bench.finish(run).conversations == len([step for step in plan if isinstance(step, Ingest)])
    assert did(keeping.made[1]) == ["restore", "store c-2", "flush", "snapshot"]


def test_a_probe_that_nobody_asks_costs_nothing_where_a_later_one_was_kept(make_bench, keeping, shelf):
    for _ in range(2):
        bench = make_bench()
        run = bench.begin(keeping, TWO_PROBES, shelf=shelf, selected=lambda q: q.id == "q-2")
        assert names(bench.all(run)) == ["correct"]
        bench.finish(run)
    first, second = map(did, keeping.made)
    # the same flushes as in a whole run, so that the store is the same
    assert first == ["store c-0", "store c-1", "flush", "store c-2", "flush", "snapshot"]
    assert second == ["restore"]


def link(shelf, segments, described=None, code="code"):
    """The last link of the chain of keys."""
    return functools.reduce(next_link, segments, shelf.chain(described or {}, code))


@pytest.mark.parametrize(
    "other",
    [
        [[said(0)], [said(1)]],
        [[said(1), said(0)]],
        [[said(0), Conversation("c-1", said(1).messages, datetime(2024, 1, 1, tzinfo=timezone.utc))]],
        [[said(0), Conversation("c-1", (Message("assistant", said(1).text),))]],
        [[said(0)]],
        [[], [said(0), said(1)]],
    ],
)
def test_a_key_depends_on_the_conversations_their_order_times_and_flushes(shelf, other):
    assert link(shelf, [[said(0), said(1)]]) == link(shelf, [[said(0), said(1)]])
    assert link(shelf, other) != link(shelf, [[said(0), said(1)]])


def test_a_key_depends_on_system_settings_description_and_code(tmp_path, shelf):
    keys = {
        link(shelf, []),
        link(shelf, [], {"version": "2"}),
        link(shelf, [], code="other code"),
        link(Shelf(tmp_path, "another", {"options": {}}), []),
        link(Shelf(tmp_path, "keeping", {"options": {"a": "b"}}), []),
        link(Shelf(tmp_path, "keeping", {"options": {}, "assistant_turns": {"model": "m"}}), []),
    }
    assert len(keys) == 6


def test_each_conversation_is_hashed_once_however_many_probes_follow(make_bench, keeping, shelf, monkeypatch):
    hashed = []

    def counted(before, segment):
        hashed.extend(conversation.id for conversation in segment)
        return next_link(before, segment)

    monkeypatch.setattr("pytest_memfail.hosting.shelf.next_link", counted)
    steps = [step for i in range(6) for step in (Ingest(said(i)), Probe((question(i),)))]
    bench = make_bench()
    run = bench.begin(keeping, tuple(steps), shelf=shelf)
    assert names(bench.all(run)) == ["correct"] * 6
    bench.finish(run)
    assert hashed == [f"c-{i}" for i in range(6)]
    assert kept_in(shelf.folder) == 6


def test_of_two_that_were_made_at_once_the_first_is_kept(shelf):
    listing = Listing("s", (Memory("one"),))
    made = [shelf.new(), shelf.new()]
    for i, folder in enumerate(made):
        (folder / "store" / "file").write_text(str(i), encoding="utf-8")
    for folder in made:
        shelf.put("0" * 32, folder, {}, 1, listing, [])
    assert kept_in(shelf.folder) == len(list(shelf.folder.iterdir())) == 1
    shelf.take("0" * 32, shelf.folder.parent / "copy")
    assert (shelf.folder.parent / "copy" / "file").read_text(encoding="utf-8") == "0"


def test_a_folder_with_other_files_is_not_ours(tmp_path):
    (tmp_path / "notes.txt").touch()
    assert not is_ours(tmp_path)
    assert kept_in(tmp_path) == 0


def test_a_folder_that_cannot_be_written_is_said(make_bench, keeping, tmp_path):
    (tmp_path / "file").touch()
    bench = make_bench()
    run = bench.begin(keeping, TWO_PROBES[:3], shelf=Shelf(tmp_path / "file" / "kept", "keeping", {}))
    error = bench.all(run)[0].error
    assert isinstance(error, SnapshotError)
    assert "the store cannot be kept in" in str(error)


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with a memory, and an adapter beside it that holds one."""
    folder = tmp_path / "mempackage"
    folder.mkdir()
    (folder / "__init__.py").write_text("class Memory:\n    pass\n", encoding="utf-8")
    (folder / "prompts.py").write_text("PROMPT = 'a'\n", encoding="utf-8")
    (tmp_path / "memadapter.py").write_text(
        "import mempackage\nclass Adapter:\n    def __init__(self):\n        self.memory = mempackage.Memory()\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in ("mempackage", "memadapter"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("file", ["memadapter.py", "mempackage/__init__.py", "mempackage/prompts.py"])
def test_the_code_of_an_adapter_is_also_that_of_what_it_holds(package, file):
    adapter = importlib.import_module("memadapter").Adapter
    before = code_of(adapter(), adapter)
    assert code_of(adapter(), adapter) == before
    with (package / file).open("a", encoding="utf-8") as stream:
        stream.write("# changed\n")
    assert code_of(adapter(), adapter) != before


def test_code_of_the_standard_library_and_of_built_ins_can_be_asked_for():
    assert code_of(object(), lambda: None) == code_of(object(), lambda: None)
    assert code_of(json.JSONDecoder(), dict)


def test_a_link_of_a_kept_store_is_kept_as_a_link(shelf, tmp_path):
    (tmp_path / "outside.txt").write_text("private")
    made = shelf.new()
    for name, aim in {"out.txt": tmp_path / "outside.txt", "gone": "/no/such/place", "loop": "."}.items():
        (made / "store" / name).symlink_to(aim)
    shelf.put("0" * 32, made, {}, 1, Listing("s", ()), [])
    (tmp_path / "outside.txt").write_text("private, changed")
    shelf.take("0" * 32, tmp_path / "copy")
    assert (tmp_path / "copy" / "out.txt").is_symlink()
    kept = [path.name for path in shelf.folder.rglob("*") if path.is_file() and not path.is_symlink()]
    assert kept == ["manifest.json"]
    (shelf.place("0" * 32) / "store" / "gone").unlink()
    with pytest.raises(SnapshotError, match="the file gone is missing"):
        shelf.take("0" * 32, tmp_path / "again")
