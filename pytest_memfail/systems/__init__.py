"""Reference memory systems without extra dependencies, and adapters for published ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_memfail.core import Fact, StorePlan, SystemContext

if TYPE_CHECKING:
    from pytest_memfail.systems.connectors import ConnectorFactory

BUILT_IN: Final[Mapping[str, str]] = {
    "bm25": "bm25:FACTORY",
    "dense": "dense:FACTORY",
    "sqlite-hybrid": "sqlite_hybrid:FACTORY",
    "md-file": "md_file:FACTORY",
    "memory-tool": "connectors:MEMORY_TOOL",
    "full-context": "full_context:FACTORY",
    "gold-facts": "gold_facts:FACTORY",
    "no-memory": "no_memory:FACTORY",
    "forgetful": "failing:Forgetful",
    "lossy": "failing:Lossy",
    "misdirected": "failing:Misdirected",
}
"""The built-in systems, each with the place of its factory, or of the class that wraps another system."""
SYSTEMS: Final[Mapping[str, str]] = {
    **BUILT_IN,
    "mem0": "adapters.mem0:FACTORY",
    "langmem": "adapters.langmem:FACTORY",
    "a-mem": "adapters.a_mem:FACTORY",
    "simplemem": "adapters.simplemem:FACTORY",
}
"""The built-in systems and the adapters of published ones; the extra of the same name installs an adapter's packages."""


def built_in_system(
    name: str, make_inner: Callable[[str], Callable[[SystemContext], Any]]
) -> Callable[[SystemContext], Any]:
    """Return the factory of a built-in system or an adapter; `make_inner` finds the factory of a wrapped system.

    Raises `KeyError` for a name not in `SYSTEMS`.
    """
    module, _, attribute = SYSTEMS[name].partition(":")
    found = getattr(import_module(f"{__name__}.{module}"), attribute)
    if module == "failing":
        from pytest_memfail.systems.failing import FailingFactory

        return FailingFactory(found, make_inner)
    factory: Callable[[SystemContext], Any] = found
    return factory


def for_store(factory: Any, plan: StorePlan, evidence: Mapping[str, Fact]) -> Any:
    """Return the factory of one store: that of `gold-facts` gets the gold data, any other is returned unchanged."""
    from pytest_memfail.systems.gold_facts import FACTORY, GoldFacts

    return replace(FACTORY, make=lambda *_: GoldFacts(plan, evidence)) if factory is FACTORY else factory


def package_vectors(texts: list[str]) -> list[list[float]]:
    """Return the vector of each text, by the word vectors of the package wordllama."""
    from pytest_memfail.systems.static_embeddings import embed

    return [[float(number) for number in vector] for vector in embed("wordllama", texts)]


def is_yaml(name: str) -> bool:
    """Return whether the name of a system is that of a YAML file."""
    return name.endswith((".yaml", ".yml"))


def yaml_system(path: Path) -> ConnectorFactory:
    """Return the factory of the memory that a YAML file describes.

    Raises `UsageError` if the file is invalid.
    """
    from pytest_memfail.systems.connectors import ConnectorFactory, read

    return ConnectorFactory(read(path))


def yaml_schema() -> dict[str, Any]:
    """Return the JSON schema of the YAML files that describe a memory."""
    from pytest_memfail.systems.connectors import json_schema

    return json_schema()


__all__ = [
    "BUILT_IN",
    "SYSTEMS",
    "built_in_system",
    "for_store",
    "is_yaml",
    "package_vectors",
    "yaml_schema",
    "yaml_system",
]
