"""Tell pytest-memfail how to create an empty memory; called once per store."""

from __future__ import annotations

import pytest
from toymem import ToyMemory


@pytest.hookimpl(optionalhook=True)  # this conftest.py still works where the plugin is not installed
def pytest_memfail_make_system(config, name):
    if name == "toymem":
        return lambda context: ToyMemory(keep=int(context.options.get("keep", 1)))
    return None
