"""Fixtures of the engine's tests."""

from __future__ import annotations

import pytest
from engine_fakes import Bench


@pytest.fixture
def make_bench(tmp_path):
    """Makes engines that are closed at the end of the test."""
    made = []

    def make(**options):
        made.append(Bench(tmp_path, **options))
        return made[-1]

    yield make
    for bench in made:
        bench.engine.close()


@pytest.fixture
def bench(make_bench):
    """An engine with the exact judge."""
    return make_bench()
