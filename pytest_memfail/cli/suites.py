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


def suites_of(header: Header) -> list[Suite]:
    """Return the suites of a record that have measures, labels or kinds of their own."""
    return [chosen.suite for chosen in chosen_suites(header.suite) if chosen.suite is not None]
