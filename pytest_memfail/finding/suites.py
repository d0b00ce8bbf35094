"""Find a suite by its name, for pytest and for the memfail command."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from pytest_memfail.core import UnknownNameError, UsageError
from pytest_memfail.finding.lookup import SUITES, find, load_all, names

if TYPE_CHECKING:
    from pytest_memfail.authoring import DrawnRecipe, Recipe
    from pytest_memfail.core import Folders, Suite
    from pytest_memfail.records import Header
    from pytest_memfail.suites import Chosen


def find_suite(name: str, *, option: str = "--suite", given: Sequence[Suite] = (), hook: str = "") -> Suite:
    """Return the suite of that name: given, of this package, or installed.

    Args:
        name: the name of a suite, without its variant.
        option: the option that names it, for errors.
        given: suites of the user's `conftest.py`.
        hook: the name of the hook that gives these, for errors; empty if no hook is asked.

    Raises `UsageError` for an unknown name.
    """
    from pytest_memfail.suites import BUILT_IN, built_in_suite

    for suite in given:
        if getattr(suite, "name", None) == name:
            return suite
    if name in BUILT_IN:
        return built_in_suite(name)
    if name not in (installed := names(SUITES)):
        known = [*BUILT_IN, *(suite.name for suite in given), *installed]
        others = f"or an entry point of {SUITES}" + (f", or the hook {hook}" if hook else "")
        raise UnknownNameError("suite", name, known, others)
    found: Suite = find("suite", name, option=option, group=SUITES, built_in={})
    return found


def check_folders(folders: Folders, option: str, find: Callable[[str], Suite] = find_suite) -> Folders:
    """Return the folders. Raise `UsageError` if one is of a suite nobody knows."""
    for name in folders.own:
        try:
            has_files = bool(find(name).source.files)
        except UnknownNameError as error:
            raise UsageError(f"{option}: {error}") from None
        if not has_files:
            raise UsageError(f"{option}: got {name!r}, which has no rows: your cases are found like test files")
    return folders


def chosen_suites(given: Sequence[str] | None, options: Mapping[str, str] | None = None) -> tuple[Chosen, ...]:
    """Return the suites that a record's header or an option names, with their settings; None for the default suites."""
    from pytest_memfail.suites import DEFAULT, choose_suites, with_options

    return with_options(choose_suites(given or DEFAULT, find_suite), options or {})


def suites_of(header: Header) -> tuple[list[Suite], list[str]]:
    """Return the suites of a record, and the names of missing suites.

    A suite is missing if it is not installed, or if a conftest.py provides it.
    """
    from pytest_memfail.suites import DEFAULT

    found: list[Suite] = []
    missing: list[str] = []
    for name in (given.partition(":")[0] for given in header.suite or DEFAULT):
        try:
            found.append(find_suite(name))
        except UnknownNameError:
            missing.append(name)
    return found, missing


def find_recipe(name: str) -> tuple[Suite, Recipe | DrawnRecipe]:
    """Return what makes the rows of that name, with the suite that they are of.

    Raises `UsageError` for a task without a recipe, or an unknown name.
    """
    from pytest_memfail.suites import BUILT_IN, built_in_suite

    suites: list[Suite] = []
    found: dict[str, tuple[Suite, Recipe | DrawnRecipe]] = {}
    # a broken installed suite does not matter to a recipe of this package
    for some in (lambda: [built_in_suite(each) for each in BUILT_IN], lambda: [suite for _, suite in load_all(SUITES)]):
        suites += some()
        found |= {
            each: (suite, recipe) for suite in suites if suite.recipes for each, recipe in suite.recipes().items()
        }
        if name in found:
            return found[name]
    if any(name in suite.parts for suite in suites):
        raise UsageError(f"{name} has no recipe; expected {', '.join(found)}")
    raise UnknownNameError("task to generate", name, found)
