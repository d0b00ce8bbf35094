"""Which paths may be written, and that files are written atomically with owner-only permissions."""

from __future__ import annotations

import json
import os
import socket
import stat
from pathlib import Path

import pytest

from pytest_memfail.core import (
    UsageError,
    append_text,
    check_can_be_made,
    check_place,
    check_regular,
    is_same_place,
    json_of,
    put_in_place,
    replacing,
    write_whole,
)

OPTION = "--memfail-record"
NULL = os.makedev(1, 3)


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_device(path: Path) -> None:
    try:
        os.mknod(path, stat.S_IFCHR | 0o600, NULL)
    except PermissionError:
        pytest.skip("only root makes devices")


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


def make_link_to_a_device(path: Path) -> None:
    make_device(path.with_name("node"))
    path.symlink_to("node")


IRREGULAR = {
    "a named pipe": make_pipe,
    "a device": make_device,
    "a socket": make_socket,
    "a device through a link": make_link_to_a_device,
}
irregular = pytest.mark.parametrize("kind", IRREGULAR)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def umask():
    """Set the usual umask, under which new files are readable by everyone unless the code restricts them."""
    before = os.umask(0o022)
    yield
    os.umask(before)


@irregular
def test_only_regular_files_may_be_written(tmp_path, kind):
    path = tmp_path / "out.jsonl"
    IRREGULAR[kind](path)
    before = path.lstat()
    for check in (check_place, check_regular):
        with pytest.raises(
            UsageError, match=rf"--memfail-record: .*out\.jsonl is {kind.removesuffix(' through a link')}"
        ):
            check(path, OPTION)
    assert os.path.samestat(before, path.lstat())


@irregular
def test_a_special_file_created_after_the_check_is_not_replaced(tmp_path, kind):
    path = tmp_path / "out.jsonl"
    check_place(path, OPTION)

    def write() -> None:
        with replacing(path) as handle:
            os.write(handle, b"content")
            IRREGULAR[kind](path)

    with pytest.raises(OSError, match=r"not a regular file"):
        write()
    assert not stat.S_ISREG(path.stat().st_mode)
    assert list(tmp_path.glob(".memfail-*")) == []


@irregular
def test_nothing_is_appended_to_a_special_file(tmp_path, kind):
    path = tmp_path / "out.md"
    IRREGULAR[kind](path)
    with pytest.raises(OSError):
        append_text(path, "more")


def test_a_finished_file_does_not_replace_a_special_file(tmp_path):
    (tmp_path / "new").write_text("rows")
    os.mkfifo(tmp_path / "rows.csv")
    with pytest.raises(OSError, match="a named pipe"):
        put_in_place(tmp_path / "new", tmp_path / "rows.csv")
    assert stat.S_ISFIFO((tmp_path / "rows.csv").stat().st_mode)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("folder", "got the folder"),
        ("nowhere/out.jsonl", "does not exist; create it first"),
        ("file.txt/out.jsonl", "Not a directory"),
        ("n" * 300, "name too long"),
        ("dangling", "does not exist; create it first"),
        ("circle", "symbolic links"),
        ("null\0byte", "null"),
    ],
)
def test_an_unwritable_path_is_a_one_line_error(tmp_path, name, says):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file.txt").touch()
    (tmp_path / "dangling").symlink_to("nowhere/else")
    (tmp_path / "circle").symlink_to("circle")
    before = sorted(tmp_path.iterdir())
    with pytest.raises(UsageError) as caught:
        check_place(tmp_path / name, OPTION)
    assert says.lower() in str(caught.value).lower()
    assert str(caught.value).startswith(f"{OPTION}: ")
    assert "\n" not in str(caught.value)
    assert sorted(tmp_path.iterdir()) == before


def test_a_read_only_place_is_refused(tmp_path, monkeypatch):
    # root can write everywhere except on a read-only file system
    monkeypatch.setattr(os, "access", lambda path, how: Path(path) != tmp_path)
    with pytest.raises(UsageError, match="no permission to write"):
        check_place(tmp_path / "out.jsonl", OPTION)


@pytest.mark.parametrize("length", [1, 250, 255])
def test_a_file_name_may_have_the_maximum_length(tmp_path, length):
    path = tmp_path / ("n" * length)
    check_place(path, OPTION)
    for content in ("first", "second"):
        write_whole(path, content)
        assert path.read_text() == content
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_is_readable_by_its_owner_alone(tmp_path, umask):
    write_whole(tmp_path / "new", "x")
    append_text(tmp_path / "log", "x")
    assert (mode(tmp_path / "new"), mode(tmp_path / "log")) == (0o600, 0o600)


def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path, umask):
    path = tmp_path / "page.html"
    path.touch()
    path.chmod(0o664)
    write_whole(path, "x")
    assert mode(path) == 0o664


def test_links_are_followed(tmp_path):
    (tmp_path / "link").symlink_to("real")
    write_whole(tmp_path / "link", "x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "x"


def test_a_block_that_fails_changes_nothing(tmp_path):
    (tmp_path / "kept").write_text("old")
    with pytest.raises(ZeroDivisionError), replacing(tmp_path / "kept"):
        raise ZeroDivisionError
    assert (tmp_path / "kept").read_text() == "old"
    assert list(tmp_path.iterdir()) == [tmp_path / "kept"]


def test_files_are_written_without_hard_links(tmp_path, monkeypatch):
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", refuse)
    write_whole(tmp_path / "new", "x")
    assert (tmp_path / "new").read_text() == "x"


def test_appending_adds_to_the_end(tmp_path):
    for _ in range(2):
        append_text(tmp_path / "log", "ä\n")
    assert (tmp_path / "log").read_text(encoding="utf-8") == "ä\nä\n"


def test_missing_folders_may_be_created_but_a_file_may_not_be_a_parent(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    check_can_be_made(tmp_path / "a/b/replies.sqlite", OPTION)
    with pytest.raises(UsageError, match=r"is a file, expected a folder|Not a directory"):
        check_can_be_made(tmp_path / "file/b/replies.sqlite", OPTION)
    monkeypatch.setattr(os, "access", lambda path, how: Path(path) != tmp_path)
    with pytest.raises(UsageError, match="no permission to write"):
        check_can_be_made(tmp_path / "a/b/replies.sqlite", OPTION)
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("text", ["[" * 200_000, '{"n": ' + "9" * 5000 + "}", b'{"n": "\xff"}', "", "[1"])
def test_what_cannot_be_read_as_json_is_a_decode_error(text):
    with pytest.raises(json.JSONDecodeError):
        json_of(text)


def test_a_link_that_leads_to_itself_is_a_place(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    assert is_same_place(tmp_path / "loop", tmp_path / "." / "loop")
    assert not is_same_place(tmp_path / "loop", tmp_path / "other")
