"""Where the rows of suites are: DIR for all, SUITE=DIR for one."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_memfail.core import Folders, UsageError


def read(*texts: str, base: Path = Path("/base")) -> Folders:
    return Folders.read(texts, base, "--data")


def test_one_folder_is_that_of_every_suite() -> None:
    folders = read("rows")
    assert folders.of("meme") == folders.of("mab") == Path("/base/rows")
    assert folders.written() == ["/base/rows"]


def test_a_suite_may_have_a_folder_of_its_own() -> None:
    folders = read("meme=a", "rows", "mab = /b", "")
    assert [folders.of(name) for name in ("meme", "mab", "memfail")] == [
        Path("/base/a"),
        Path("/b"),
        Path("/base/rows"),
    ]
    assert folders.written(lambda folder: folder.name) == ["rows", "meme=a", "mab=b"]
    assert read("meme=a").of("mab") is None


def test_a_home_is_found_in_either_form(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert read("~/rows", "meme=~/m") == Folders(tmp_path / "rows", {"meme": tmp_path / "m"})


def test_an_existing_folder_is_meant_whatever_its_name(tmp_path: Path) -> None:
    (tmp_path / "seed=42").mkdir()
    assert read("seed=42", base=tmp_path).every == tmp_path / "seed=42"
    assert read("../k=5/rows").every == Path("/base/../k=5/rows")


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (("a", "b"), "--data: got 'b' besides /base/a, expected one folder, or SUITE=DIR"),
        (("meme=a", "meme=b"), "--data: got two folders of the suite 'meme', expected meme=DIR once"),
        (("meme=",), "--data: got no folder of the suite 'meme', expected meme=DIR once"),
    ],
)
def test_a_mistake_says_what_was_expected(texts: tuple[str, ...], said: str) -> None:
    with pytest.raises(UsageError) as raised:
        read(*texts)
    assert str(raised.value) == said
