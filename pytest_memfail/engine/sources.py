"""What code a memory system is made of, as far as that can be seen: so that a changed one does not pass for the old one."""

from __future__ import annotations

import hashlib
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

DEPTH: Final = 2
"""An adapter holds the memory, which holds its parts."""


def code_of(system: Any, factory: Any) -> str:
    """A digest of the source files of the system, of what it holds in its attributes, and of its factory.

    Of a package all files count, of a single module those beside it; of an installed package its `__version__` only.
    """
    modules = {module for kind in _kinds(system, DEPTH) for module in (base.__module__ for base in kind.__mro__)}
    modules.add(getattr(factory, "__module__", None) or type(factory).__module__)
    digest = hashlib.sha256()
    trees: set[Path] = set()
    versions: set[str] = set()
    for name in modules:
        top = sys.modules.get(name.partition(".")[0])
        file = getattr(sys.modules.get(name), "__file__", None)
        if file is None or top is None:
            continue  # built in, or made in memory
        path = Path(file).resolve()
        if _is_installed(path):
            versions.add(f"{top.__name__} {getattr(top, '__version__', '')}")
        else:
            package = getattr(top, "__path__", None)
            trees.update(_below(Path(next(iter(package))).resolve()) if package else path.parent.glob("*.py"))
    for version in sorted(versions):
        digest.update(version.encode())
    for path in sorted(trees, key=lambda path: (path.name, str(path))):
        digest.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _kinds(thing: Any, depth: int) -> Iterator[type]:
    yield type(thing)
    if depth:
        for value in getattr(thing, "__dict__", {}).values():
            yield from _kinds(value, depth - 1)


def _below(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*.py") if path.is_file())


def _is_installed(path: Path) -> bool:
    """Whether it is of the standard library, or in a place where packages are installed."""
    places = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib")}
    return bool({"site-packages", "dist-packages"} & set(path.parts)) or any(
        place is not None and path.is_relative_to(Path(place).resolve()) for place in places
    )
