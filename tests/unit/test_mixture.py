"""Verdicts of more than one memory system in a run: what makes them so, and that nobody trusts them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pytest_memfail.core import Doubt
from pytest_memfail.running import Run


@pytest.mark.parametrize(("died", "code", "changed"), [(True, "b", True), (True, "a", False), (False, "b", False)])
def test_a_process_that_takes_the_place_of_a_dead_one_must_read_the_same_code(
    died: bool, code: str, changed: bool
) -> None:
    settings: Any = SimpleNamespace(shard=None, replay_ignore=(), judge="offline", judge_options={})
    run = Run(settings, [], [])
    run.sources, run.code = {"mymem.py": "a", "b.py": "b"}, lambda: {"mymem.py": code, "b.py": "b"}
    doubts: tuple[Doubt, ...] = run.mixture([], died=died)
    assert [doubt.is_fatal for doubt in doubts] == [True] * changed
    assert all("its successor read changed code: mymem.py" in doubt.line for doubt in doubts)
