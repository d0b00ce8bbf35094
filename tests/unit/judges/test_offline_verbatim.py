"""Conversations stored verbatim are found; deleted or hidden ones are reported missing."""

from __future__ import annotations

import random
from collections.abc import Iterable
from functools import cache

import pytest
from row_stores import ROWS, Store, build, facts, verdict

from pytest_memfail.core import Listing
from pytest_memfail.judges import OfflineJudge
from pytest_memfail.suites.memfail import MEMFAIL_TASKS

pytestmark = [pytest.mark.parametrize("name", MEMFAIL_TASKS), pytest.mark.parametrize("rows", ROWS)]
EVERY = {"conditional_facts_easy": 4, "conditional_facts_hard": 4}
"""Of the facts of a task every Nth is used, which keeps the suite quick; of the other tasks, which have more, every eighth."""
LEAST = {("shown", "published", "conditional_facts_easy"): 0.95}
"""The share reached instead where the goal of 0.99 is missed, because other rows are similar (docs/judges.md)."""
MISSED = {
    ("shown", "sentences", "shipped", "conditional_facts_hard"): 0.96,
    ("shown", "sentences", "shipped", "persona_retrieval"): 0.97,
    ("hidden", "sentences", "shipped", "conditional_facts_hard"): 0.96,
    ("hidden", "sentences", "shipped", "persona_retrieval"): 0.97,
    ("hidden", "ten_messages", "published", "conditional_facts_easy"): 0.96,
}
"""The share reached where it is below the goal or the share above. These tests are expected to fail."""
STORES = 4
"""The number of stores that each lack a part of the conversations, so that few stores have to be read."""
SLOW = [pytest.param(granularity, marks=pytest.mark.slow) for granularity in ("sentences", "ten_messages")]


@cache
def judge_and_store(name: str, rows: str, granularity: str) -> tuple[OfflineJudge, Store, Listing]:
    """Return a judge and a whole store, which is read once for all tests."""
    store = build(name, rows, granularity)
    return OfflineJudge(), store, store.listing


def assert_share(found: Iterable[tuple[str, str]], wanted: str, goal: float, missed: float | None) -> None:
    """Check the share of facts with the wanted verdict; name some of the others on failure.

    Where the goal is known to be missed, the test is expected to fail, but not by more than it did.
    """
    verdicts = list(found)
    others = [(fact, name) for fact, name in verdicts if name != wanted]
    assert len(verdicts) >= 20
    share = 1 - len(others) / len(verdicts)
    if missed is not None:
        assert missed <= share < goal, f"{share:.3f}, expected between {missed} and {goal}; see MISSED"
        pytest.xfail(f"{share:.3f} of {len(verdicts)} are {wanted}, goal {goal}")
    assert share >= goal, f"{share:.3f} of {len(verdicts)} are {wanted}; not so: {others[:5]}"


@pytest.mark.parametrize("granularity", ["verbatim", "one_entry", "spelled_out", *SLOW])
def test_stored_word_for_word_and_shown_is_correct(name: str, rows: str, granularity: str) -> None:
    (judge, store, listing), rng = judge_and_store(name, rows, granularity), random.Random(1)
    assert_share(
        (
            (e.id, verdict(judge, e, q, listing, store.shown(e.conversation_id, rng, own=True)))
            for e, q in facts(name, rows, EVERY.get(name, 8))
        ),
        "correct",
        LEAST.get(("shown", rows, name), 0.99),
        MISSED.get(("shown", granularity, rows, name)),
    )


@pytest.mark.parametrize("granularity", ["verbatim", *SLOW])
def test_other_entries_shown_is_not_retrieved(name: str, rows: str, granularity: str) -> None:
    (judge, store, listing), rng = judge_and_store(name, rows, granularity), random.Random(2)
    assert_share(
        (
            (e.id, verdict(judge, e, q, listing, store.shown(e.conversation_id, rng, own=False)))
            for e, q in facts(name, rows, EVERY.get(name, 8))
        ),
        "not_retrieved",
        0.99,
        MISSED.get(("hidden", granularity, rows, name)),
    )


@pytest.mark.parametrize("granularity", ["verbatim", *SLOW])
def test_a_deleted_conversation_is_not_stored(name: str, rows: str, granularity: str) -> None:
    judge, store = OfflineJudge(), build(name, rows, granularity)
    found = []
    for part in range(STORES):
        gone = set([*store.conversations][part::STORES])
        listing = store.without(gone)
        found += [
            (e.id, "stored" if judge.storage(e, listing).outcome == "passed" else "not_stored")
            for e, _ in facts(name, rows, EVERY.get(name, 8))
            if e.conversation_id in gone
        ]
    assert_share(found, "not_stored", 0.99, None)
