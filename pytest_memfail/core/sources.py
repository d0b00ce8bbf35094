"""The code that a memory system consists of: a digest of each source file or package, the version of each installed one."""

from __future__ import annotations

import hashlib
import os
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

DIGITS: Final = 16
"""How much of a digest is kept for each source."""
PROGRAMS: Final = frozenset({".cjs", ".go", ".js", ".lua", ".mjs", ".php", ".pl", ".py", ".rb", ".sh", ".ts"})
_OWN: Final = Path(__file__).resolve().parents[1]
_IMPORT: Final = re.compile(rb"^[ \t]*(?:from[ \t]+(\w+)|import[ \t]+(\w[\w., \t]*))", re.MULTILINE)


def sources_of(modules: Iterable[str], files: Iterable[Path] = (), base: Path | None = None) -> dict[str, str]:
    """Return what these modules and files consist of, by a name that is the same on every machine.

    Imports are followed, also those within functions. For a module all files beside it count, for a package all its files,
    for an installed package its version, and for any other file the programs in its folder that it names.

    Args:
        modules: names of modules; they need not be loaded.
        files: further files, such as a conftest.py.
        base: the folder that names are relative to; what lies elsewhere is named by its folder and file.
    """
    found: dict[str, str] = {}
    names, places = list(modules), [file.resolve() for file in files]
    known: set[str | Path] = {"", "__main__", *sys.stdlib_module_names}
    while names or places:
        if not names:
            place = places.pop()
            if place not in known:
                known.add(place)
                within, others = _read(place, found, base)
                names += within
                places += others
        elif (top := names.pop().partition(".")[0]) not in known:
            known.add(top)
            if (origin := _origin(top)) is not None and _is_installed(origin):
                found[top] = _version(top)
            elif origin is not None:
                places.append(origin)
    return dict(sorted(found.items()))


def described_apart(old: Iterable[Mapping[str, Any]], new: Iterable[Mapping[str, Any]]) -> str | None:
    """Return what `describe()` gave for all stores of one run and otherwise for all of another; None if nothing.

    What differs between the stores of a run says nothing about its code.
    """
    before, now = _given_for_all(old), _given_for_all(new)
    changed = (name for name in sorted(before.keys() & now) if before[name] != now[name])
    return next((f"{name} of describe() was {before[name]!r}, is {now[name]!r}" for name in changed), None)


def _given_for_all(described: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    given = [{(name, str(one[name])) for name in one} for one in described]
    return dict(set.intersection(*given)) if given else {}


def _read(place: Path, found: dict[str, str], base: Path | None) -> tuple[list[str], list[Path]]:
    """Add a file or a package to what was found; return the modules that it imports, and the files that it names."""
    if place.is_dir():
        name = f"{_name(place, base)}/"
        if (
            place == _OWN
        ):  # what it imports is no code of the user's: its adapters import their packages when they are chosen
            found[name] = _own_digest()
            return [], []
        contents = _contents(place)
        found[name] = _digest_of(contents)
        return [module for content in contents.values() for module in _imports(content)], []
    if place.suffix == ".py" and (place.parent / "__init__.py").exists():
        return [], [place.parent]
    for path in {place, *(place.parent.glob("*.py") if place.suffix == ".py" else ())}:
        if path.is_file():
            found[_name(path, base)] = _digest(_content(path))
    return ([], list(_named(place))) if place.suffix != ".py" else (list(_imports(_content(place))), [])


def _contents(package: Path) -> dict[str, bytes]:
    return {path.relative_to(package).as_posix(): _content(path) for path in sorted(package.rglob("*.py"))}


def _digest_of(contents: Mapping[str, bytes]) -> str:
    lines = "".join(f"{name} {_digest(content)}\n" for name, content in contents.items())
    return _digest(lines.encode())


@lru_cache(maxsize=1)
def _own_digest() -> str:
    """Return the digest of this package, read once: a process that runs it does not load it anew."""
    return _digest_of(_contents(_OWN))


def _imports(content: bytes) -> Iterator[str]:
    for one, several in _IMPORT.findall(content):
        yield from (
            [one.decode()] if one else (part.split()[0].decode() for part in several.split(b",") if part.split())
        )


def _named(file: Path) -> Iterator[Path]:
    """Yield the programs beside a file of settings that it names. Other files may be the memory itself, which changes."""
    for word in set(re.findall(r"[\w./-]+", _content(file).decode("utf-8", "replace"))):
        for path in (file.parent / word, file.parent / f"{word}.py"):
            is_program = path.is_file() and (path.suffix in PROGRAMS or os.access(path, os.X_OK))
            if file.parent in path.parents and (is_program or (path / "__main__.py").is_file()):
                yield path.resolve()


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes().replace(b"\r\n", b"\n")  # a checkout on another platform is the same code
    except OSError:  # removed meanwhile, or of another user
        return b""


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:DIGITS]


def _name(path: Path, base: Path | None) -> str:
    if base is not None and path.is_relative_to(base):
        return path.relative_to(base).as_posix()
    return path.name if path.is_dir() else f"{path.parent.name}/{path.name}"


def _origin(name: str) -> Path | None:
    """Return the file of a module or the folder of a package; None for what is built in, made in memory or not there."""
    try:
        spec = find_spec(name)
    except (ImportError, ValueError, AttributeError):  # a module that was put in place of another
        return None
    if spec is None:
        return None
    if spec.submodule_search_locations:
        folder = Path(next(iter(spec.submodule_search_locations))).resolve()
        # a folder without code is no package, whatever a word after "from" says
        return folder if spec.origin or any(folder.glob("*.py")) or any(folder.glob("*/*.py")) else None
    return Path(spec.origin).resolve() if spec.has_location and spec.origin else None


def _is_installed(path: Path) -> bool:
    """Return whether a file belongs to the standard library or to an installed package."""
    places = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib")}
    return bool({"site-packages", "dist-packages"} & set(path.parts)) or any(
        place is not None and path.is_relative_to(Path(place).resolve()) for place in places
    )


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        distributions = _distributions().get(name, ())
        return version(distributions[0]) if distributions else str(getattr(sys.modules.get(name), "__version__", ""))


@lru_cache(maxsize=1)
def _distributions() -> dict[str, list[str]]:
    return dict(packages_distributions())
