"""Kind `files`."""

from __future__ import annotations

import os
import shutil

import pytest

from pytest_memfail.core import MemorySystemError
from pytest_memfail.systems import yaml_system
from pytest_memfail.testing import check_memory_system


def test_it_keeps_the_contract(describe):
    report = check_memory_system(yaml_system(describe("kind: files")))
    assert [result.name for result in report.results if result.outcome == "passed"].count("snapshot") == 1


def test_conversations_become_files_and_their_paragraphs_are_found(use, talk, tmp_path):
    async def work(system):
        await system.store_conversation(talk("a/../b", "The boat is blue.", "Ida is allergic to penicillin."))
        await system.store_conversation(talk("c", "The train leaves at nine."))
        found = await system.retrieve_memories("Which allergic reactions?", talk("q"), 1)
        return await system.get_all_memories(), found

    listed, found = use("kind: files", work)
    assert [entry["text"] for entry in listed] == [
        "[2026-03-02 12:00] user: The boat is blue.",
        "[2026-03-02 12:00] user: Ida is allergic to penicillin.",
        "[2026-03-02 12:00] user: The train leaves at nine.",
    ]
    assert [entry["text"] for entry in found] == [listed[1]["text"]]
    names = sorted(path.name for path in (tmp_path / "store-1" / "memory").iterdir())
    assert names == ["00001-a-..-b.md", "00002-c.md"]


def test_the_first_lines_are_loaded_whatever_the_question(use, talk):
    async def work(system):
        for i in range(4):
            await system.store_conversation(talk(f"c{i}", f"Fact {i}."))
        return await system.retrieve_memories("anything", talk("q"), 1), system.unlimited_k

    found, unlimited = use("kind: files\nretrieve: first\nlines: 3\nentry: line", work)
    assert [entry["text"][-7:] for entry in found] == ["Fact 0.", "Fact 1.", "Fact 2."]
    assert unlimited


WRITER = """
import json, pathlib, sys
conversation = json.load(sys.stdin)
if len(sys.argv) > 2:
    sys.exit("the disk is full")
print("Error: busy")
with open(pathlib.Path(sys.argv[1]) / "MEMORY.md", "a") as file:
    file.writelines(m["content"].upper() + "\\n" for m in conversation["messages"])
"""


def test_a_program_can_keep_the_files(use, talk, tmp_path):
    (tmp_path / "writer.py").write_text(WRITER)

    async def work(system):
        said = await system.store_conversation(talk("a", "One.", "Two."))
        assert said == "Error: busy", "a run looks at it for refusals"
        await system.store_conversation(talk("b", "Three."))
        return [entry["text"] for entry in await system.get_all_memories()]

    assert use("kind: files\nentry: line\nwrite: [PYTHON, writer.py, '{folder}']", work) == ["ONE.", "TWO.", "THREE."]
    with pytest.raises(
        MemorySystemError,
        match=r"^the command '\S+ writer\.py \{folder\} now' ended with exit code 1, on stderr 'the disk is full'",
    ):
        use("kind: files\nwrite: [PYTHON, writer.py, '{folder}', now]", work, "store-2")


@pytest.mark.parametrize(
    ("keys", "advice"),
    [
        ("glob: '*.txt'", "`glob` is '*.txt' and leaves out 1 file, such as '00001-a.md'; correct it"),
        ("write: [PYTHON, -c, pass]", "let the program `write` keep text in files of {folder}"),
    ],
)
def test_an_empty_listing_says_what_to_do(use, talk, keys, advice):
    async def work(system):
        await system.store_conversation(talk("a", "The boat is blue."))
        return await system.get_all_memories(), system.empty_listing

    assert use(f"kind: files\n{keys}", work) == ([], advice)


def test_a_file_that_is_no_text_and_a_link_out_of_the_folder(use, talk, tmp_path):
    (tmp_path / "secret.md").write_text("outside")

    async def work(system):
        folder = tmp_path / "store-1" / "memory"
        (folder / "link.md").symlink_to(tmp_path / "secret.md")
        assert await system.get_all_memories() == []
        (folder / "binary.md").write_bytes(b"\xff\xfe")
        await system.get_all_memories()

    with pytest.raises(MemorySystemError, match=r"the file 'binary\.md' is not UTF-8"):
        use("kind: files", work)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_snapshot_copies_nothing_from_outside_the_folder(use, talk, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.md").write_text("outside")
    folder = tmp_path / "store-1" / "memory"

    async def work(system):
        await system.store_conversation(talk("a", "The boat is blue."))
        for name, aim in {"out": tmp_path / "outside", "gone": "/no/such/place", "loop": "."}.items():
            (folder / name).symlink_to(aim)
        (folder / "latest.md").symlink_to(folder / "00001-a.md")
        os.mkfifo(folder / "pipe.md")
        listed = await system.get_all_memories()
        (tmp_path / "kept").mkdir()
        await system.snapshot(tmp_path / "kept")
        copied = sorted(path for path in (tmp_path / "kept").rglob("*.md") if not path.is_symlink())
        assert [path.name for path in copied] == ["00001-a.md"]
        assert (tmp_path / "kept" / "memory" / "out").is_symlink()
        shutil.rmtree(folder)
        folder.mkdir()
        await system.restore(tmp_path / "kept")
        assert await system.get_all_memories() == listed
        assert len(listed) == 2, "a link within the folder is part of the memory"
        assert (folder / "latest.md").resolve() == folder.resolve() / "00001-a.md"
        shutil.rmtree(folder)
        folder.symlink_to(tmp_path / "outside")
        with pytest.raises(OSError, match="is a link, not a folder"):
            await system.snapshot(tmp_path / "kept")

    use("kind: files", work)
