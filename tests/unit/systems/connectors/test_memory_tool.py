"""The six commands of the memory tool."""

from __future__ import annotations

import pytest

from pytest_memfail.systems.connectors.memory_tool import COMMANDS, MemoryFolder, schemas
from pytest_memfail.systems.tool_loop import ToolFailedError


@pytest.fixture
def tool(tmp_path):
    folder = tmp_path / "memory"
    folder.mkdir()
    memory = MemoryFolder(folder)
    return lambda name, **arguments: memory.call(name, arguments)


def test_a_file_is_created_viewed_changed_moved_and_deleted(tool):
    assert tool("view", path="/memories") == "the folder is empty"
    tool("create", path="/memories/people/ida.md", file_text="Ida\nlikes tea\n")
    assert tool("view", path="/memories") == "/memories/people/ida.md"
    tool("str_replace", path="/memories/people/ida.md", old_str="tea", new_str="coffee")
    tool("insert", path="/memories/people/ida.md", insert_line=1, insert_text="lives in Lodz")
    assert tool("view", path="/memories/people/ida.md") == "1\tIda\n2\tlives in Lodz\n3\tlikes coffee"
    tool("rename", old_path="/memories/people/ida.md", new_path="/memories/ida.md")
    assert tool("view", path="/memories/") == "/memories/ida.md"
    tool("delete", path="/memories/people")
    tool("delete", path="/memories/ida.md")
    assert tool("view", path="/memories") == "the folder is empty"


FAULTS = [
    ("look", {"path": "/memories"}, "no command 'look'; expected view, create"),
    ("view", {}, r"view got nothing; expected path \(string\)"),
    ("view", {"path": 3}, r"view got path; expected path \(string\)"),
    ("view", {"path": "/etc/passwd"}, "expected one that begins with /memories/"),
    ("view", {"path": "/memories/../../secret"}, "leads out of /memories"),
    ("view", {"path": "/memories/link/secret"}, "leads out of /memories"),
    ("create", {"path": "/memories/link/x", "file_text": "x"}, "leads out of /memories"),
    ("view", {"path": "/memories/none.md"}, "there is no file '/memories/none.md'; view /memories lists"),
    ("str_replace", {"path": "/memories/a.md", "old_str": "a", "new_str": "b"}, "occurs 2 times in '/memories/a.md'"),
    ("str_replace", {"path": "/memories/a.md", "old_str": "", "new_str": "b"}, "occurs 0 times"),
    ("insert", {"path": "/memories/a.md", "insert_line": 9, "insert_text": "x"}, "got line 9; expected 0 to 1"),
    ("insert", {"path": "/memories/a.md", "insert_line": True, "insert_text": "x"}, "insert got path"),
    ("delete", {"path": "/memories"}, "nothing to delete"),
    ("rename", {"old_path": "/memories/a.md", "new_path": "/memories/a.md"}, "cannot rename"),
    ("create", {"path": "/memories/a.md/b.md", "file_text": "x"}, "create failed: "),
    ("view", {"path": "/memories/a\0b"}, "view failed: ValueError"),
]


@pytest.mark.parametrize(("name", "arguments", "message"), FAULTS)
def test_what_cannot_be_carried_out_says_why_and_changes_nothing(tmp_path, tool, name, arguments, message):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("outside")
    (tmp_path / "memory" / "link").symlink_to(outside)
    tool("create", path="/memories/a.md", file_text="a a\n")
    with pytest.raises(ToolFailedError, match=message):
        tool(name, **arguments)
    assert tool("view", path="/memories/a.md") == "1\ta a"
    assert [path.name for path in outside.iterdir()] == ["secret"]


def test_the_schemas_name_every_command():
    assert [tool["function"]["name"] for tool in schemas()] == list(COMMANDS)
