"""Tells pytest-memfail how to make a fresh, empty memory; called once per store."""

from __future__ import annotations

from toymem import ToyMemory


def pytest_memfail_make_system(config, name):
    if name == "toymem":
        return lambda context: ToyMemory(keep=int(context.options.get("keep", 1)))
    return None
