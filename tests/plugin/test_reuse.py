"""`--memfail-reuse-stores`: what one run has filled, the next restores, and nothing else passes for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plugin.project import Project, with_a_worker

STORES = ".pytest_cache/d/memfail/stores"
BARE = "--memfail-reuse-stores"
REUSE = f"{BARE}=on"

KEEPING = """
class KeepingToy(Toy):
    def snapshot(self, path):
        self.happened("snapshot", "it")
        (path / "memories.json").write_text(json.dumps(self.memories))

    def restore(self, path):
        self.happened("restore", "it")
        if self.options.get("raise_restore"):
            raise ValueError("the index is of another version")
        self.memories = json.loads((path / "memories.json").read_text())

    def describe(self):
        return {"version": "1"}

def pytest_memfail_make_system(config, name):
    kind = {"toy": KeepingToy, "plain": Toy}[name]
    return lambda context: kind(context, config.rootpath / "events.log")
"""


@pytest.fixture
def keeping(any_project: Project) -> Project:
    any_project.conftest(KEEPING)
    return any_project


@pytest.fixture
def alone(project: Project) -> Project:
    project.conftest(KEEPING)
    return project


def kept(project: Project) -> list[Path]:
    return sorted((project.path / STORES).iterdir())


def restored(project: Project) -> list[bool]:
    return [line["restored"] for line in project.record() if line["type"] == "store"]


@with_a_worker
def test_a_second_run_restores_every_store_and_judges_the_same(keeping: Project) -> None:
    first = keeping.run(BARE)
    first.stdout.fnmatch_lines([f"memfail: filled stores are kept in {STORES} (0 so far) and reused"])
    filled, verdicts = keeping.fills(), keeping.verdicts()
    assert filled
    assert keeping.events("restore") == []
    assert restored(keeping) == [False] * len(kept(keeping))
    second = keeping.run(REUSE)
    assert keeping.fills() == {}
    assert keeping.verdicts() == verdicts
    assert restored(keeping) == [True] * len(kept(keeping))
    second.stdout.fnmatch_lines(
        [
            "memfail: filled stores are kept in * (4 so far) and reused",
            "restored, not filled: 4 of 4 stores (seconds are of restoring)",
        ]
    )


def test_runs_at_several_k_fill_once(keeping: Project) -> None:
    fills = []
    for k in (1, 3, 5):
        keeping.run(REUSE, "memfail/coexisting_facts", f"--memfail-k={k}")
        fills.append(sum(keeping.fills().values()))
    assert fills[0] > 0
    assert fills[1:] == [0, 0]
    assert len(kept(keeping)) == 1


def test_without_the_option_nothing_is_kept_and_nothing_restored(alone: Project) -> None:
    alone.run(REUSE, "memfail/long_hop")
    alone.run("memfail/long_hop")
    assert sum(alone.fills().values()) > 0
    assert len(kept(alone)) == 1


def test_another_setting_of_the_system_fills_again(alone: Project) -> None:
    for options, fills_again in ((["a=1"], True), (["a=2"], True), (["a=1"], False)):
        alone.run(REUSE, "memfail/long_hop", *[f"--memfail-system-option={o}" for o in options])
        assert bool(alone.fills()) is fills_again


def test_another_version_that_the_system_gives_fills_again(alone: Project) -> None:
    # the version is in a file that is no code, so that nothing but describe() tells
    alone.conftest(KEEPING.replace('{"version": "1"}', '{"version": open("version.txt").read()}'))
    for version, fills_again in (("1", True), ("2", True), ("1", False)):
        alone.file("version.txt", version)
        alone.run(REUSE, "memfail/long_hop")
        assert bool(alone.fills()) is fills_again


def test_changed_code_fills_again(keeping: Project) -> None:
    keeping.run(REUSE, "memfail/long_hop")
    keeping.conftest(KEEPING + "\n# another\n")
    keeping.run(REUSE, "memfail/long_hop")
    assert sum(keeping.fills().values()) > 0
    assert len(kept(keeping)) == 2


def test_changed_rows_fill_their_store_again_and_no_other(keeping: Project) -> None:
    keeping.run(REUSE)
    path = keeping.path / "data" / "long_hop.csv"
    path.write_text(path.read_text(encoding="utf-8").replace("plum jam", "quince jam"), encoding="utf-8")
    keeping.run(REUSE)
    assert {name.partition("-")[0] for name in keeping.fills()} == {"lh"}
    assert sorted(restored(keeping)) == [False, True, True, True]


def test_a_restore_that_fails_is_an_error_that_names_the_folder(keeping: Project) -> None:
    setting = "--memfail-system-option=raise_restore=1"
    keeping.run(REUSE, "memfail/long_hop", setting)
    (folder,) = kept(keeping)
    done = keeping.run(REUSE, "memfail/long_hop", setting)
    assert done.ret == 6
    done.assert_outcomes(errors=4)
    assert "restore() raised ValueError: the index is of another version; the kept store is" in done.stdout.str()
    assert folder.name in done.stdout.str()
    assert keeping.fills() == {}


def changed(folder: Path) -> None:
    (folder / "store" / "memories.json").write_text("[]", encoding="utf-8")


def removed(folder: Path) -> None:
    (folder / "store" / "memories.json").unlink()


def added(folder: Path) -> None:
    (folder / "store" / "more.json").write_text("[]", encoding="utf-8")


def half_written(folder: Path) -> None:
    text = (folder / "manifest.json").read_text(encoding="utf-8")
    (folder / "manifest.json").write_text(text[: len(text) // 2], encoding="utf-8")


def without_manifest(folder: Path) -> None:
    (folder / "manifest.json").unlink()


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (changed, "the file memories.json has changed"),
        (removed, "the file memories.json is missing"),
        (added, "the file more.json was added"),
        (half_written, "JSONDecodeError in reading it"),
        (without_manifest, "FileNotFoundError in reading it"),
    ],
)
def test_a_damaged_store_is_refused(alone: Project, damage, said: str) -> None:
    alone.run(REUSE, "memfail/long_hop")
    (folder,) = kept(alone)
    damage(folder)
    done = alone.run(REUSE, "memfail/long_hop")
    done.assert_outcomes(errors=4)
    assert f"{folder.name} is damaged: {said}; remove that folder" in done.stdout.str()
    assert alone.fills() == {}
    assert alone.events("restore") == []


def test_a_store_that_comes_back_as_another_is_refused(alone: Project) -> None:
    alone.conftest(KEEPING.replace('"memories.json").read_text())', '"memories.json").read_text())[1:]'))
    alone.run(REUSE, "memfail/long_hop")
    done = alone.run(REUSE, "memfail/long_hop")
    done.assert_outcomes(errors=4)
    assert "entries that are not those kept; fix restore()" in done.stdout.str()


def test_a_snapshot_of_nothing_is_refused(alone: Project) -> None:
    alone.conftest(KEEPING.replace('(path / "memories.json").write_text(json.dumps(self.memories))', "pass"))
    done = alone.run(REUSE, "memfail/long_hop")
    done.assert_outcomes(errors=4)
    assert "snapshot(path) of 'toy' left the folder empty" in done.stdout.str()
    assert kept(alone) == []


def test_a_system_may_go_on_in_the_folder_it_restores(alone: Project) -> None:
    alone.conftest(KEEPING.replace("self.memories = json", "(path / 'lock').touch(); self.memories = json"))
    for _ in range(3):
        done = alone.run(REUSE, "memfail/long_hop")
        assert "errors" not in done.parseoutcomes()


def test_a_fill_that_fails_keeps_nothing(alone: Project) -> None:
    alone.run(REUSE, "memfail/long_hop", "--memfail-system-option=raise_store=lh-3")
    assert not (alone.path / STORES).exists()


def test_a_system_without_snapshots_is_refused(keeping: Project) -> None:
    done = keeping.run(REUSE, "memfail/long_hop", system="plain")
    assert done.ret == 6  # the first store cannot be opened, so none is asked for in vain
    assert done.parseoutcomes().keys() <= {"error", "errors"}
    assert "--memfail-reuse-stores: the memory system 'plain' has no snapshot() and no restore()" in done.stdout.str()
    assert keeping.fills() == {}


def test_a_class_without_snapshots_is_refused_before_anything_begins(project: Project) -> None:
    project.file("mine.py", "class Plain:\n    def __init__(self, context): pass")
    done = project.run(REUSE, system="mine:Plain")
    assert done.ret == 4
    done.stderr.fnmatch_lines(["ERROR: --memfail-reuse-stores: the memory system 'mine:Plain' has no snapshot*"])


def test_the_folder_can_be_named(keeping: Project) -> None:
    for fills_again in (True, False):
        keeping.run(f"{BARE}=kept", "memfail/long_hop")
        assert bool(keeping.fills()) is fills_again
    assert not (keeping.path / STORES).exists()
    assert len(list((keeping.path / "kept").iterdir())) == 1


def test_clearing_the_cache_of_pytest_removes_what_is_kept_there_and_nowhere_else(alone: Project) -> None:
    alone.run(REUSE, "memfail/long_hop", "--memfail-system-option=a=1")
    alone.run(f"{BARE}=elsewhere", "memfail/long_hop")
    replies = (alone.path / STORES).with_name("responses.sqlite")
    replies.write_text("paid for", encoding="utf-8")
    alone.run(REUSE, "memfail/long_hop", "--cache-clear")
    assert sum(alone.fills().values()) > 0
    assert len(kept(alone)) == 1  # of this run
    assert not replies.exists()
    assert len(list((alone.path / "elsewhere").iterdir())) == 1


@pytest.mark.parametrize(("value", "keeps"), [("on", True), ("true", True), ("off", False), ("", False)])
def test_the_ini_file_can_say_so(alone: Project, value: str, keeps: bool) -> None:
    alone.ini(f"memfail_reuse_stores = {value}")
    alone.run("memfail/long_hop")
    assert (alone.path / STORES).exists() is keeps


@pytest.mark.parametrize("word", ["memfail/long_hop", "data", "tests/test_a.py::test_b", "conftest.py"])
def test_the_bare_option_does_not_take_what_was_to_be_run(alone: Project, word: str) -> None:
    done = alone.run(BARE, word)
    assert done.ret == 4
    done.stderr.fnmatch_lines([f"ERROR: --memfail-reuse-stores: got '{word}', expected a folder that is new, *"])


def test_two_workers_that_fill_the_same_store_keep_one(project2: Project) -> None:
    project2.conftest(KEEPING)
    project2.file(
        "test_own.py",
        """
        import pytest

        @pytest.mark.memfail(task="coexisting_facts")
        def test_it(memfail_verdict):
            pass
        """,
    )
    for _ in range(2):
        done = project2.run(REUSE, "test_own.py", "--dist=load", "--maxschedchunk=1")
        done.assert_outcomes(passed=6)
    assert project2.fills() == {}
    (folder,) = kept(project2)
    assert json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["conversations"] > 0


def test_the_manifest_holds_no_setting(alone: Project) -> None:
    alone.run(REUSE, "memfail/long_hop", "--memfail-system-option=api_key=sk-planted-0123456789")
    (folder,) = kept(alone)
    assert "sk-planted" not in (folder / "manifest.json").read_text(encoding="utf-8")
    assert (record := alone.record_file()) is not None
    assert "sk-planted" not in record.read_text(encoding="utf-8")
