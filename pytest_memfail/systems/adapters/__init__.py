"""Adapters of published memory systems, one file each; their packages are imported only when a store is opened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pytest_memfail.systems.adapters.factory import AdapterFactory, Setting, versions

ADAPTERS: Final[Mapping[str, str]] = {
    "mem0": "Mem0, facts extracted by a model (infer=true) or verbatim (infer=false)",
    "langmem": "LangMem's store manager: a model adds to and rewrites memories",
    "a-mem": "A-MEM's agentic memory: notes annotated and linked by a model",
    "simplemem": "SimpleMem: conversations compressed into statements by a model",
}
"""The adapters, each with a description; the extra of the same name installs its packages."""


def adapter(name: str) -> AdapterFactory:
    """Return the factory of an adapter.

    Raises `KeyError` for a name not in `ADAPTERS`.
    """
    if name == "mem0":
        from pytest_memfail.systems.adapters.mem0 import FACTORY
    elif name == "langmem":
        from pytest_memfail.systems.adapters.langmem import FACTORY
    elif name == "a-mem":
        from pytest_memfail.systems.adapters.a_mem import FACTORY
    elif name == "simplemem":
        from pytest_memfail.systems.adapters.simplemem import FACTORY
    else:
        raise KeyError(name)
    return FACTORY


__all__ = ["ADAPTERS", "AdapterFactory", "Setting", "adapter", "versions"]
