"""Check that the installed versions are the lowest ones that pyproject.toml allows, and print them.

    python tools/floors.py

A minimum version is wrong if it cannot be installed: another package needs a later one, or it was withdrawn.
"""

from __future__ import annotations

import sys
from importlib.metadata import requires, version

from packaging.requirements import Requirement
from packaging.version import Version


def floor_of(requirement: Requirement) -> Version:
    """Return the version after `>=`."""
    found = [Version(each.version) for each in requirement.specifier if each.operator == ">="]
    if len(found) != 1:
        raise SystemExit(f"{requirement}: got no minimum version, expected one >=")
    return found[0]


def main() -> int:
    """Print a line per dependency; return 1 if an installed version differs from the minimum."""
    wrong = 0
    for line in requires("pytest-memfail") or ():
        requirement = Requirement(line)
        if requirement.marker is not None:  # belongs to an extra
            continue
        floor, installed = floor_of(requirement), Version(version(requirement.name))
        # 3.6.1 is the lowest of 3.6 if 3.6.0 was withdrawn
        same = installed.release[: len(floor.release)] == floor.release
        wrong += not same
        print(
            f"{requirement.name:<18}{installed!s:<10}" + ("" if same else f"  not {floor}: raise it in pyproject.toml")
        )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
