"""Suites by name, where no pytest run has found them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pytest_memfail.core import UnknownNameError
from pytest_memfail.discovery import SUITES, find, names

if TYPE_CHECKING:
    from pytest_memfail.core import Suite
    from pytest_memfail.results import Header
    from pytest_memfail.suites import Chosen


def find_suite(name: str) -> Suite:
    """Return the suite of that name: one of this package, or an installed one.

    Raises `UsageError` for a name nobody knows.
    """
    from pytest_memfail.suites import BUILT_IN, MEMFAIL, built_in_suite

    if name in BUILT_IN:
        return built_in_suite(name)
    if name not in (known := names(SUITES)):
        raise UnknownNameError("suite", name, [MEMFAIL, *BUILT_IN, *known], f"or an entry point of {SUITES}")
    suite: Suite = find("suite", name, option="--suite", group=SUITES, built_in={})
    return suite


def chosen_suites(given: Sequence[str] | None) -> tuple[Chosen, ...]:
    """Return the suites that a record's header, or an option, names; None for those that run by default."""
    from pytest_memfail.suites import MEMFAIL, OWN, choose_suites

    return choose_suites(given or (MEMFAIL, OWN), find_suite)


def suites_of(header: Header) -> tuple[list[Suite], list[str]]:
    """Return the suites of a record that have measures, labels or kinds of their own, and the names of those missing here.

    Missing are those that are not installed, and those that a conftest.py gives.
    """
    from pytest_memfail.suites import MEMFAIL, OWN

    found: list[Suite] = []
    missing: list[str] = []
    for name in (given.partition(":")[0] for given in header.suite or ()):
        if name in (MEMFAIL, OWN):
            continue
        try:
            found.append(find_suite(name))
        except UnknownNameError:
            missing.append(name)
    return found, missing
