"""The names of the tasks."""

from __future__ import annotations

from typing import Final

MEMFAIL_TASKS: Final = (
    "conditional_facts_easy",
    "conditional_facts_hard",
    "coexisting_facts",
    "persona_retrieval",
    "long_hop",
)
"""The five tasks of the MemFail paper in its order."""
TASK_NAMES: Final = (*MEMFAIL_TASKS, "updated_facts")
"""The same, and our own."""
