"""What all tests have in common."""

from __future__ import annotations

import gc
import os
import ssl
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib.metadata import Distribution, PathDistribution
from pathlib import Path
from typing import Any

import pytest

from pytest_memfail.suites import shipped_data
from pytest_memfail.suites.memfail import plan


def pytest_collection_finish() -> None:
    """Leave modules and tests out of garbage collection: to go through all of them takes a quarter of a second."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def certificates_are_read_once() -> Iterator[None]:
    """Share what TLS needs: each client of a model reads the certificates of the machine, and those of tests use none."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl, "create_default_context", cache(ssl.create_default_context))
        yield


@pytest.fixture(autouse=True, scope="session")
def packages_are_read_once() -> Iterator[None]:
    """Share what is known of each installed package: a run inside this process asks three times what all of them offer."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("entry_points", "files"):
            patch.setattr(Distribution, name, property(_once_a_place(getattr(Distribution, name).fget)))
        yield


@pytest.fixture(autouse=True, scope="session")
def shipped_rows_are_read_once() -> Iterator[None]:
    """Share the rows that ship with the package, and what is made of them, which nothing changes: most runs load them."""
    rows: dict[Path, Any] = {}
    read = plan.read_rows

    def read_once(path: Path, *how: Any) -> Any:
        if path.parent != shipped_data():
            return read(path, *how)
        if path not in rows:
            rows[path] = read(path, *how)
        return rows[path]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "read_rows", read_once)
        for name, one in plan.TASKS.items():
            patch.setitem(plan.TASKS, name, replace(one, build=_built_once(one.build, rows)))
        yield


def _built_once(build: Callable[..., Any], shared: Mapping[Path, Any]) -> Callable[..., Any]:
    known: dict[tuple[Any, ...], Any] = {}

    def built(name: str, rows: Any, *how: Any) -> Any:
        if rows is not shared.get(rows.path):
            return build(name, rows, *how)
        if (name, *how) not in known:
            known[(name, *how)] = build(name, rows, *how)
        return known[(name, *how)]

    return built


def _once_a_place(read: Callable[[Distribution], Any]) -> Callable[[Distribution], Any]:
    known: dict[Path, Any] = {}

    def found(package: Distribution) -> Any:
        place = getattr(package, "_path", None)
        if type(package) is not PathDistribution or "site-packages" not in str(place):  # made by a test
            return read(package)
        if place not in known:
            known[place] = read(package)
        return known[place]

    return found


@pytest.fixture(autouse=True)
def no_module_of_another_test(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Forget the modules that a test wrote into its folder: the next test writes others of the same names."""
    before = set(sys.modules)
    yield
    folders = f"{tmp_path_factory.getbasetemp().parent}{os.sep}"
    for name in sys.modules.keys() - before:
        file = getattr(sys.modules[name], "__file__", None)
        if isinstance(file, str) and file.startswith(folders):
            del sys.modules[name]
