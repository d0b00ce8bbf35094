"""Any judge runs over cases as in a run: in stages, sync or async, with failures as errors."""

from __future__ import annotations

import asyncio

import pytest

from pytest_memfail.calibration import judge_cases, planted_cases
from pytest_memfail.core import StageResult
from pytest_memfail.judges import OfflineJudge
from pytest_memfail.suites import TaskRequest, load_tasks
from pytest_memfail.suites.memfail.plants import PLANTS


@pytest.fixture(scope="module")
def cases():
    return planted_cases(PLANTS, load_tasks(TaskRequest(("long_hop",), limit=3)))


class Passing:
    """Finds everything."""

    def storage(self, evidence, store):
        return StageResult("passed", "there", confidence=0.8)

    def summary(self, evidence, store):
        return StageResult("passed", "whole", confidence=0.7)

    def retrieval(self, evidence, question, shown):
        return StageResult("passed", "shown", confidence=0.9)

    def answer(self, question, evidence, reply):
        return StageResult("ungraded")


class Losing(Passing):
    """Finds everything damaged."""

    async def summary(self, evidence, store):
        await asyncio.sleep(0)
        return StageResult("failed", "damaged", confidence=0.6)


class Broken(Passing):
    """Fails on a small store."""

    def retrieval(self, evidence, question, shown):
        raise RuntimeError("out of order")


def test_passes_become_ok_with_the_least_confidence(cases):
    found = judge_cases(Passing(), cases)
    assert {label for result in found for label in result.predictions} == {"ok"}
    assert {sure for result in found for sure in result.confidences} == {0.7}


def test_an_async_judge_is_staged_too(cases):
    found = judge_cases(Losing(), cases, concurrency=4)
    assert {(r.predictions, r.reasons, r.confidences) for r in found} == {(("summary_error",), ("damaged",), (0.6,))}


def test_a_broken_judge_is_an_error_of_the_case(cases):
    found = judge_cases(Broken(), cases)
    assert {result.error for result in found} == {"the judge's retrieval() raised RuntimeError: out of order"}
    assert {result.predictions for result in found} == {()}


def test_results_come_in_the_order_of_the_cases(cases):
    done = []
    found = judge_cases(OfflineJudge(), cases, progress=done.append)
    assert [result.case for result in found] == cases
    assert done == list(range(1, len(cases) + 1))
