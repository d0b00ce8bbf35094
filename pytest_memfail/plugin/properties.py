"""What an item's report says of it to other tools: properties in junitxml, and wherever else they are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from pytest_memfail.results import QuestionRecord

PREFIX: Final = "memfail_"
FIELDS: Final = ("task", "k", "verdict")


def note(item: pytest.Item, report: Any, question: QuestionRecord) -> None:
    """Add the properties to this report and to those that follow; junitxml takes them from the last one."""
    ours: list[tuple[str, object]] = [(PREFIX + name, str(getattr(question, name))) for name in FIELDS]
    for properties in (item.user_properties, report.user_properties):
        # not twice for an item that is run again
        properties[:] = [*(pair for pair in properties if not pair[0].startswith(PREFIX)), *ours]
