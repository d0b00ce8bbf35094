"""Questions that were narrowed, so that other rows of the same store do not answer them too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pytest_memfail.suites.memfail.row_models import CoexistingRow
from pytest_memfail.suites.memfail.rows import Rows
from pytest_memfail.suites.memfail.validate.finding import Finding, warn
from pytest_memfail.texts import in_plain_words

LEAVES_OUT: Final = re.compile(r'"([^"]+)" leaves out ([^.]+)\.')
ROW_ID: Final = re.compile(r"\bce-\d+\b")


def narrowed_questions(rows: Rows[CoexistingRow]) -> Iterator[Finding]:
    """Report notes of the form '"words" leaves out … of ce-008.' whose words the question lacks, or that name no
    row.
    """
    for row, row_id, line in zip(rows.rows, rows.ids, rows.lines, strict=True):
        for words, others in LEAVES_OUT.findall(row.notes):
            if not in_plain_words(words, row.question):
                yield warn(rows, line, "question", f"lacks {words!r}, without which {others} would answer it too")
            named = ROW_ID.findall(others)
            if not named or row_id in named or not set(named) <= set(rows.ids):
                yield warn(rows, line, "notes", f"got {others!r}, expected the facts of other rows, by their ids")
