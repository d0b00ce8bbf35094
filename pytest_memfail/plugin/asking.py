"""Ask the question of an item: one of the benchmark, or of a user's own test over a task."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_memfail.core import MemorySystemError
from pytest_memfail.plugin.stash import FINISHED, RESULT, RUNTIME
from pytest_memfail.records import question_record
from pytest_memfail.running import Asked, fresh, replay

if TYPE_CHECKING:
    from pytest_memfail.core import SystemFactory, Trace, Verdict


def ask_question(request: pytest.FixtureRequest, asked: Asked) -> Trace:
    """Wait for the result of an item's question, keep it with the item, and return what happened.

    Raises the error of the question, or of the fill of its store.
    """
    item = request.node

    def prepare(name: str) -> tuple[SystemFactory, Path]:
        # once per store: to resolve a fixture takes pytest as long as a trivial test
        system = request.getfixturevalue("memfail_system")
        if not callable(system):
            raise MemorySystemError(
                f"the fixture memfail_system gave {type(system).__name__}, expected a factory: factory(context) -> system"
            )
        return system, request.getfixturevalue("tmp_path_factory").mktemp(name)

    result = request.config.stash[RUNTIME].result(item.nodeid, asked, prepare)
    item.stash[RESULT] = result
    replay(result.captured)
    if result.error is not None:
        raise fresh(result.error)
    item.stash[FINISHED] = question_record(
        item.nodeid,
        asked.unit.plan.id,
        asked.question,
        asked.k,
        trace=result.trace,
        verdict=result.verdict,
        listing=result.listing,
        repeats=result.repeats,
    )
    trace: Trace | None = result.trace
    assert trace is not None
    return trace


def verdict_of(request: pytest.FixtureRequest) -> Verdict:
    """Return the verdict on a question that was asked, and hand it to the user's hooks."""
    verdict: Verdict = request.node.stash[RESULT].verdict
    request.config.hook.pytest_memfail_verdict(item=request.node, verdict=verdict)
    return verdict
