"""Fixtures of the reference systems' tests."""

from __future__ import annotations

import pytest

from pytest_memfail.core import SystemContext


@pytest.fixture
def open_store(tmp_path):
    """Create systems in named folders, repeatedly if needed; close them at the end of the test."""
    made = []

    def open_store(factory, name="store", **options):
        (tmp_path / name).mkdir(exist_ok=True)
        made.append(factory(SystemContext("run", name, tmp_path / name, options)))
        return made[-1]

    yield open_store
    for system in made:
        system.close()
