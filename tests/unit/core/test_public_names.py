"""The names that the packages export."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest

import pytest_memfail

DOORS = ["", *(path.parent.name for path in sorted(Path(pytest_memfail.__file__).parent.glob("*/__init__.pyi")))]
"""The package, and its folders that list their names in a stub."""


@pytest.mark.parametrize("door", DOORS)
def test_every_name_of_all_is_there_and_none_is_there_twice(door):
    module = importlib.import_module(f"pytest_memfail.{door}".rstrip("."))
    assert len(set(module.__all__)) == len(module.__all__)
    assert [name for name in module.__all__ if not hasattr(module, name)] == []


@pytest.mark.parametrize("door", ["", "core"])
def test_all_lists_exactly_the_exports(door):
    module = importlib.import_module(f"pytest_memfail.{door}".rstrip("."))
    offered = {
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and name not in ("annotations", "TYPE_CHECKING", "Any", "import_module")
        and not isinstance(value, ModuleType)
    }
    # names load on first use, so only those that a test has used are present
    assert offered <= set(module.__all__)


def test_the_package_exports_the_objects_of_core():
    for name in set(pytest_memfail.__all__) - {"__version__"}:
        assert getattr(pytest_memfail, name) is getattr(pytest_memfail.core, name)


def test_the_version_is_a_string_of_numbers():
    assert pytest_memfail.__version__.split(".")[0].isdecimal()


def test_an_unknown_name_of_the_package_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        pytest_memfail.nothing  # noqa: B018
