"""tools/check_package.py sees what a wheel or sdist lacks, and what does not belong there."""

from __future__ import annotations

import importlib.util
import io
import tarfile
import zipfile
from pathlib import Path

import pytest

SPEC = importlib.util.spec_from_file_location("check_package", Path(__file__).parents[2] / "tools" / "check_package.py")
assert SPEC is not None
assert SPEC.loader is not None
check_package = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(check_package)

ROWS = {"datasets/long_hop.csv", "datasets/generation_config.json"}
TRACKED = {"pytest_memfail/__init__.py", "pytest_memfail/py.typed", "tests/test_a.py", "docs/index.md", *ROWS}
WHEEL = {"pytest_memfail/__init__.py", "pytest_memfail/py.typed", *(f"pytest_memfail/_{name}" for name in ROWS)}


def wheel_faults(folder, names, tracked=TRACKED):
    path = folder / "x.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for name in (*names, "x.dist-info/METADATA"):
            wheel.writestr(name, "")
    return list(check_package.faults_of(path, tracked))


def sdist_faults(folder, names):
    path = folder / "x.tar.gz"
    with tarfile.open(path, "w:gz") as sdist:
        for name in (*names, "PKG-INFO"):
            sdist.addfile(tarfile.TarInfo(f"x-1/{name}"), io.BytesIO())
    return list(check_package.faults_of(path, TRACKED))


def test_a_sound_one(tmp_path):
    assert wheel_faults(tmp_path, WHEEL) == []
    assert sdist_faults(tmp_path, TRACKED) == []


@pytest.mark.parametrize("name", sorted(WHEEL))
def test_a_wheel_that_lacks_something(tmp_path, name):
    assert f"{name} is missing" in wheel_faults(tmp_path, WHEEL - {name})


def test_a_wheel_with_too_much(tmp_path):
    assert wheel_faults(tmp_path, {*WHEEL, "tests/test_a.py"}) == ["tests/test_a.py does not belong there"]


def test_rows_are_no_package(tmp_path):
    wheel, tracked = {*WHEEL, "pytest_memfail/_datasets/__init__.py"}, {*TRACKED, "datasets/__init__.py"}
    assert wheel_faults(tmp_path, wheel, tracked) == ["pytest_memfail/_datasets/__init__.py: the rows are no package"]


def test_types_are_published(tmp_path):
    name = "pytest_memfail/py.typed"
    assert wheel_faults(tmp_path, WHEEL - {name}, TRACKED - {name}) == [f"{name} is missing"]


def test_an_sdist_that_lacks_the_docs(tmp_path):
    assert sdist_faults(tmp_path, TRACKED - {"docs/index.md"}) == ["docs/index.md is missing"]
