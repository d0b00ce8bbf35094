"""What the fixture `memfail_store` gives."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_memfail.core import Memory


@dataclass(frozen=True)
class FilledStore:
    """A store after its last conversation."""

    id: str
    task: str
    memories: tuple[Memory, ...]
    """What `get_all_memories()` returned when this item's question was asked."""
