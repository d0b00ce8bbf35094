"""Where the rows that ship with the package are."""

from __future__ import annotations

from pathlib import Path

from pytest_memfail.core import UsageError


def shipped_data() -> Path:
    """The folder of the shipped rows: inside an installed wheel, else the top level of a checkout.

    Raises `UsageError` where neither is there.
    """
    package = Path(__file__).parent.parent
    for folder in (package / "_datasets", package.parent / "datasets"):
        if (folder / "generation_config.json").is_file():
            return folder
    raise UsageError(
        "the shipped rows are missing from this installation; reinstall pytest-memfail or give --memfail-data DIR"
    )
