"""Find a memory system by its name, for pytest and for the memfail command."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from pytest_memfail.core import UsageError
from pytest_memfail.discovery import find

GROUP: Final = "pytest_memfail.systems"


def find_system(
    name: str, *, option: str, base: Path, rootdir: Path, hook: Callable[[str], Any], hook_name: str = ""
) -> Any:
    """Return the factory of that name: one of the user's, a built-in or adapter, an installed one, or that of a YAML file.

    Args:
        name: the name.
        option: the option that names it, for errors.
        base: the folder that paths of YAML files start from.
        rootdir: where modules of the user's are imported from.
        hook: returns the user's own factory of a name; None if there is none.
        hook_name: the name of that hook, for errors.

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
            hook_name=hook_name,
            rootdir=rootdir,
        )
        if not callable(factory):
            raise UsageError(
                f"{option}: {name!r} is {type(factory).__name__}, expected a factory: factory(context) -> system"
            )
        return factory

    return found(name)
