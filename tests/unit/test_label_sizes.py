"""How many facts of each verdict a person labels."""

from __future__ import annotations

import pytest

from pytest_memfail.labelling import _sizes

STRATA = {"ok": 57, "not_retrieved": 19, "summary_error": 4, "not_stored": 1}


@pytest.mark.parametrize("number", [4, 5, 12, 50, 80, 81, 200])
def test_no_fact_is_left_out_for_a_verdict_that_is_rare(number):
    sizes = _sizes(STRATA, number)
    assert sum(sizes.values()) == min(number, 81)
    assert all(1 <= sizes[name] <= STRATA[name] for name in STRATA)


def test_each_verdict_gets_its_share_but_a_few_facts_at_least():
    assert _sizes(STRATA, 40) == {"ok": 25, "not_retrieved": 10, "summary_error": 4, "not_stored": 1}
    assert _sizes(STRATA, 2) == dict.fromkeys(STRATA, 1)
    assert _sizes({"ok": 50, "not_stored": 50}, 10) == {"ok": 5, "not_stored": 5}
