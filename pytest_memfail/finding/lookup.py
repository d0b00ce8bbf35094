"""Find a system, judge or task by name: a hook, an entry point, a built-in, or `module:attribute`."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Final

from pytest_memfail.core import UnknownNameError, UsageError, one_line

SUITES: Final = "pytest_memfail.suites"
"""The group of the entry points of suites."""


def find(
    what: str,
    name: str,
    *,
    option: str,
    group: str,
    built_in: Mapping[str, Callable[[], Any]],
    hook: Callable[[], Any] = lambda: None,
    hook_name: str = "",
    rootdir: Path | None = None,
) -> Any:
    """Return the object with this name: from the hook, else an entry point of the group, else a built-in, else an
    import.

    Raises `UsageError` with the option, the valid names and the closest one.
    """
    found = find_or_none(name, option=option, group=group, built_in=built_in, hook=hook, rootdir=rootdir)
    if found is None:
        hint = f"or module:attribute, an entry point of {group}, or the hook {hook_name}"
        raise UnknownNameError(what, name, [*built_in, *names(group)], hint)
    return found


def find_or_none(
    name: str,
    *,
    option: str,
    group: str,
    built_in: Mapping[str, Callable[[], Any]],
    hook: Callable[[], Any] = lambda: None,
    rootdir: Path | None = None,
    imports: bool = True,
) -> Any:
    """Return the same as `find`, but None for an unknown name; `imports` says whether the name may be `module:attribute`."""
    if (found := hook()) is not None:
        return found
    for point in _points(group):
        if point.name == name:
            return _load(point)
    if name in built_in:
        return built_in[name]()
    return import_object(name, option, rootdir) if imports and ":" in name else None


def names(group: str) -> list[str]:
    """Return the names of the entry points of a group."""
    return [point.name for point in _points(group)]


def load_all(group: str) -> Iterable[tuple[str, Any]]:
    """Load every entry point of a group; yield its name and the object.

    Raises `UsageError` for one that fails.
    """
    for point in _points(group):
        yield point.name, _load(point)


def import_object(name: str, option: str, rootdir: Path | None = None) -> Any:
    """Import `module:attribute` (or `module:attribute.attribute`), also from the rootdir.

    Raises `UsageError` if there is no such module or attribute, or the import fails.
    """
    module_name, _, path = name.partition(":")
    if not module_name or not path:
        raise UsageError(f"{option}: got {name!r}, expected module:attribute")
    if module_name.endswith(".py"):
        module = ".".join(Path(module_name[:-3]).parts)
        raise UsageError(f"{option}: got {name!r}, the name of a file, expected that of a module: {module}:{path}")
    if rootdir is not None and str(rootdir) not in sys.path:
        # tests run in the memory system's own repository, installed or not
        sys.path.insert(0, str(rootdir))
    try:
        found: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name and (module_name == error.name or module_name.startswith(f"{error.name}.")):
            raise UsageError(
                f"{option}: no module named {error.name!r} (from {name!r}); install it, or run in its repository"
            ) from None
        raise UsageError(f"{option}: importing {module_name!r} failed: {one_line(error)}") from error
    except (Exception, SystemExit) as error:
        raise UsageError(
            f"{option}: importing {module_name!r} failed: {type(error).__name__}: {one_line(error)}"
        ) from error
    for part in path.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise UnknownNameError(
                f"attribute of {module_name} for {option}", part, [n for n in dir(found) if not n.startswith("_")]
            ) from None
    return found


def _points(group: str) -> Iterable[EntryPoint]:
    found: Iterable[EntryPoint] = _installed(tuple(sys.path)).select(group=group)
    return found


@lru_cache(maxsize=1)
def _installed(path: tuple[str, ...]) -> Any:  # noqa: ARG001 - a longer path finds more
    """Return all entry points: reading those of every package takes as long for one group as for all."""
    return entry_points()


def _load(point: EntryPoint) -> Any:
    try:
        return point.load()
    except Exception as error:
        what = f"the entry point {point.name!r} ({point.group}: {point.value})"
        raise UsageError(f"{what} cannot be loaded: {type(error).__name__}: {one_line(error)}") from error
