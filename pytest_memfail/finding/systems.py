"""Find a memory system by its name, for pytest and for the memfail command."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from pytest_memfail.core import UnknownNameError, UsageError
from pytest_memfail.finding.lookup import find

GROUP: Final = "pytest_memfail.systems"
TYPO: Final = 0.75
"""How similar an unknown name must be to one of ours to be a misspelling of it rather than a system of the user's."""
HOOK: Final = "pytest_memfail_make_system"


def find_system(
    name: str, *, option: str, base: Path, rootdir: Path, hook: Callable[[str], Any], places: Iterable[Path]
) -> Any:
    """Return the factory of that name: one of the user's, a built-in or adapter, an installed one, or that of a YAML file.

    Args:
        name: the name.
        option: the option that names it, for errors.
        base: the folder that paths of YAML files start from.
        rootdir: where modules of the user's are imported from.
        hook: returns the user's own factory of a name; None if there is none.
        places: the folders whose conftest.py may define that hook, for errors.

    Raises `UsageError` for a name nobody knows, for what is no factory, and for a YAML file that is wrong.
    """
    from pytest_memfail.systems import SYSTEMS, built_in_system, is_yaml, yaml_system

    def found(name: str) -> Any:
        if is_yaml(name):
            return yaml_system(base / name)
        factory = find(
            "memory system",
            name,
            option=option,
            group=GROUP,
            built_in={n: (lambda n=n: built_in_system(n, found)) for n in SYSTEMS},  # type: ignore[misc]  # a default binds n
            hook=lambda: hook(name),
            hook_name=f"{HOOK} of a conftest.py; there is none in {' or '.join(map(str, places))}",
            rootdir=rootdir,
        )
        if not callable(factory):
            raise UsageError(
                f"{option}: {name!r} is {type(factory).__name__}, expected a factory: factory(context) -> system"
            )
        return factory

    places = tuple(dict.fromkeys(places))
    try:
        return found(name)
    except UnknownNameError as error:
        files = [place / "conftest.py" for place in places if (place / "conftest.py").exists()]
        if error.got != name or not files or get_close_matches(name, error.known, 1, cutoff=TYPO):
            raise
        raise UsageError(
            f"{option}: {files[0]} was loaded and gave no system {name!r}: {_fault_of(files[0])}. Known besides: "
            f"{', '.join(error.known)}"
        ) from None


def _fault_of(conftest: Path) -> str:
    """Return why a conftest.py gave no system."""
    hooks = set(
        re.findall(r"^\s*def (pytest_\w+)", conftest.read_text(encoding="utf-8", errors="replace"), re.MULTILINE)
    )
    if HOOK in hooks:
        return f"its {HOOK} returned None for that name"
    close = get_close_matches(HOOK, hooks, 1, cutoff=0.8)
    return f"it defines {close[0]}, and the hook is called {HOOK}" if close else f"it has no hook {HOOK}"
