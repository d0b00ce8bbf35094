"""Find the rows that ship with the package."""

from __future__ import annotations

from pathlib import Path

from pytest_memfail.core import UsageError


def shipped_data() -> Path:
    """Return the folder of the shipped rows, from an installed wheel or the top level of a checkout.

    Raises `UsageError` if it is missing.
    """
    package = Path(__file__).parents[1]
    for folder in (package / "_datasets", package.parent / "datasets"):
        if (folder / "generation_config.json").is_file():
            return folder
    raise UsageError(
        "the shipped rows are missing from this installation; reinstall pytest-memfail or give --memfail-data DIR"
    )


def shipped_sample(suite: str) -> Path:
    """Return the folder of the rows that we wrote for a suite.

    Raises `UsageError` if it is missing.
    """
    folder = shipped_data() / "suites" / suite
    if not folder.is_dir():
        raise UsageError(
            f"the sample of {suite} is missing from this installation; reinstall pytest-memfail or give --memfail-data DIR"
        )
    return folder
