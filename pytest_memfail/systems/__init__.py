"""Reference memory systems without extra dependencies, and adapters for published ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_memfail.core import Fact, StorePlan, SystemContext
from pytest_memfail.systems.adapters import ADAPTERS, adapter

if TYPE_CHECKING:
    from pytest_memfail.systems.connectors import ConnectorFactory

BUILT_IN: Final[Mapping[str, str]] = {
    "bm25": "every message verbatim in SQLite, ranked by BM25",
    "dense": "every message verbatim in SQLite, ranked by the vectors of an embedding endpoint",
    "sqlite-hybrid": "every message verbatim in SQLite, ranked by BM25 and static embeddings together",
    "md-file": "one Markdown file that a model keeps by calling tools, searched by BM25",
    "memory-tool": "a folder of files that a model keeps with the six commands of the memory tool",
    "full-context": "everything is shown, in the order of storing",
    "gold-facts": "exactly the facts that each question needs: the upper bound of memory",
    "no-memory": "stores nothing",
    "forgetful": "drops conversations (not_stored)",
    "lossy": "drops qualifying clauses, numbers and names (summary_error)",
    "misdirected": "ranks wrongly (not_retrieved)",
}
"""The built-in systems, each with a description."""
SYSTEMS: Final[Mapping[str, str]] = {**BUILT_IN, **ADAPTERS}
"""The built-in systems and the adapters of published ones, whose packages may be missing."""


def built_in_system(
    name: str, make_inner: Callable[[str], Callable[[SystemContext], Any]]
) -> Callable[[SystemContext], Any]:
    """Return the factory of a built-in system or an adapter; `make_inner` finds the factory of a wrapped system.

    Raises `KeyError` for a name not in `SYSTEMS`.
    """
    if name in ("forgetful", "lossy", "misdirected"):
        from pytest_memfail.systems import failing

        kind = {"forgetful": failing.Forgetful, "lossy": failing.Lossy, "misdirected": failing.Misdirected}[name]
        return failing.FailingFactory(kind, make_inner)
    if name == "bm25":
        from pytest_memfail.systems.bm25 import FACTORY as BY_WORDS

        return BY_WORDS
    if name == "dense":
        from pytest_memfail.systems.dense import FACTORY as BY_VECTORS

        return BY_VECTORS
    if name == "sqlite-hybrid":
        from pytest_memfail.systems.sqlite_hybrid import FACTORY

        return FACTORY
    if name == "md-file":
        from pytest_memfail.systems.md_file import FACTORY as MD_FILE

        return MD_FILE
    if name == "memory-tool":
        from pytest_memfail.systems.connectors import memory_tool

        return memory_tool()
    if name == "gold-facts":
        from pytest_memfail.systems.gold_facts import GoldFactsFactory

        return GoldFactsFactory()
    if name == "full-context":
        from pytest_memfail.systems.full_context import FullContext

        return FullContext
    if name == "no-memory":
        from pytest_memfail.systems.no_memory import NoMemory

        return NoMemory
    return adapter(name)


def for_store(factory: Any, plan: StorePlan, evidence: Mapping[str, Fact]) -> Any:
    """Return the factory of one store: that of `gold-facts` gets the gold data, any other is returned unchanged."""
    from pytest_memfail.systems.gold_facts import GoldFactsFactory

    return factory.with_gold(plan, evidence) if isinstance(factory, GoldFactsFactory) else factory


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
