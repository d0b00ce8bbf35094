"""Check whether names that are absent from the store reveal questions about strangers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_memfail.suites.memfail.row_models import PersonaRow
from pytest_memfail.suites.memfail.rows import Rows
from pytest_memfail.suites.memfail.validate.finding import Finding, warn
from pytest_memfail.texts import plain_words

ABSENT: Final = 0.1
"""The largest accepted share of misleading questions about a person who shares no name with the store."""


def absent_names(rows: Rows[PersonaRow]) -> Iterator[Finding]:
    """Report if looking up names in the store separates most misleading questions from direct ones."""
    stored = {word for row in rows.rows for text in (row.entity, *row.entity_facts) for word in plain_words(text)}
    strangers = [asked.distractor or "" for row in rows.rows for asked in row.questions if asked.is_misleading]
    absent = [name for name in strangers if not stored.intersection(plain_words(name))]
    if len(absent) > ABSENT * len(strangers):
        yield warn(
            rows,
            None,
            "distractor",
            f"{len(absent)} of {len(strangers)} misleading questions name a person none of whose names is in the store, "
            f"such as {absent[0]!r}; give them a first or last name that the store has",
        )
