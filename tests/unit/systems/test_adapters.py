"""The adapters without their packages: settings, messages about missing packages, and the extras of pyproject.toml."""

from __future__ import annotations

import importlib.metadata
import sys
from datetime import datetime, timezone
from functools import partial
from pathlib import Path

import pytest

from pytest_memfail.core import Conversation, Message, UnknownNameError, UsageError
from pytest_memfail.systems import BUILT_IN, SYSTEMS, built_in_system, factory as factories
from pytest_memfail.systems.adapters.outages import Watched
from pytest_memfail.systems.adapters.texts import turns_of

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = pytest.importorskip("tomli")

adapter = partial(built_in_system, make_inner=lambda name: name)
PYPROJECT = Path(__file__).parents[3] / "pyproject.toml"
INSTALLED = {
    "mem0ai": "2.2.1",
    "chromadb": "1.5.9",
    "langmem": "0.0.30",
    "langchain-openai": "1.7.3",
    "a-mem": "0.2.6",
    "simplemem": "0.1.0",
}


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Pretend that these packages are installed, with their versions."""
    found = dict(INSTALLED)

    def version(name: str) -> str:
        if name not in found:
            raise importlib.metadata.PackageNotFoundError(name)
        return found[name]

    monkeypatch.setattr(factories, "version", version)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    return found


@pytest.mark.parametrize("name", sorted(SYSTEMS.keys() - BUILT_IN.keys()))
def test_every_adapter_has_an_extra_of_its_name_with_the_versions_that_it_checks(name: str) -> None:
    extras = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    factory = adapter(name)
    stores = factory.settings["store"].choices if "store" in factory.settings else ("",)
    needed = {part for store in stores for part in factory.requires(factory.read({"store": store} if store else {}))}
    assert set(extras[name]) == needed


def test_another_name_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        adapter("mem1")


def test_a_missing_package_is_one_line_that_names_the_extra(installed: dict[str, str]) -> None:
    del installed["mem0ai"]
    with pytest.raises(UsageError) as failure:
        adapter("mem0").check_options({})
    assert str(failure.value) == (
        "--memfail-system=mem0 needs mem0ai<3,>=2, which is not installed; run: pip install 'pytest-memfail[mem0]'"
    )


def test_a_package_of_another_version_is_named_with_its_version(installed: dict[str, str]) -> None:
    installed["langmem"] = "0.1.0"
    with pytest.raises(UsageError, match=r"needs langmem<0\.1,>=0\.0\.30, and 0\.1\.0 is installed; run: pip install"):
        adapter("langmem").check_options({})


def test_only_the_vector_store_that_is_used_is_needed(installed: dict[str, str]) -> None:
    adapter("mem0").check_options({"store": "chroma"})
    with pytest.raises(UsageError, match="needs faiss-cpu"):
        adapter("mem0").check_options({"store": "faiss"})


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("name", ["mem0", "langmem", "a-mem"])
def test_without_a_key_the_variable_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(
        UsageError, match=r"OPENAI_API_KEY is not set; set it \(to any word if the endpoint needs no key\)"
    ):
        adapter(name).check_options({})


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"infer": "no"}, "--memfail-system-option infer of mem0: got 'no', expected true or false"),
        (
            {"store": "milvus"},
            "--memfail-system-option store of mem0: got 'milvus', expected chroma or faiss or qdrant",
        ),
        (
            {"dimensions": "0"},
            "--memfail-system-option dimensions of mem0: got '0', expected a whole number of at least 1",
        ),
        (
            {"dimensions": "x"},
            "--memfail-system-option dimensions of mem0: got 'x', expected a whole number of at least 1",
        ),
    ],
)
def test_a_setting_that_cannot_be(options: dict[str, str], told: str) -> None:
    with pytest.raises(UsageError) as failure:
        adapter("mem0").check_options(options)
    assert str(failure.value) == told


def test_an_unknown_setting_is_told_with_the_closest_one() -> None:
    with pytest.raises(UnknownNameError, match="unknown --memfail-system-option of mem0 'infre'; did you mean 'infer'"):
        adapter("mem0").read({"infre": "true"})


def test_turns_have_their_own_time_or_that_of_the_conversation_and_empty_ones_are_left_out() -> None:
    nine, ten = (datetime(2024, 5, 1, hour, tzinfo=timezone.utc) for hour in (9, 10))
    said = (Message("user", "Ada bakes.", ten), Message("user", " \n"), Message("assistant", "Fine."))
    assert [turn.stamped for turn in turns_of(Conversation("c", said, nine))] == [
        "[2024-05-01 10:00] Ada bakes.",
        "[2024-05-01 09:00] Fine.",
    ]
    assert [turn.stamped for turn in turns_of(Conversation("c", said[1:]))] == ["Fine."]


def test_a_lone_surrogate_is_made_sendable() -> None:
    assert turns_of(Conversation("c", (Message("user", "a\ud800b — 東京"),)))[0].content == "a?b — 東京"


def test_an_outage_that_was_swallowed_is_raised_once_and_not_after_a_success() -> None:
    replies = iter([ConnectionError("down"), ConnectionError("down"), "yes"])

    def ask() -> str:
        if isinstance(reply := next(replies), Exception):
            raise reply
        return reply

    asking = Watched(ask)
    with pytest.raises(ConnectionError):
        asking()
    with pytest.raises(ConnectionError):
        asking.check()
    asking.check()
    with pytest.raises(ConnectionError):
        asking()
    assert asking() == "yes"
    asking.check()
