"""The words that carry an answer: a misleading question may say what it borrows of an essay; a list tells it of the published ones.

The list holds where words begin and end, and digests in the place of essays and questions: nothing of the published rows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from typing import Final

from pytest_memfail.tasks.row_models import PersonaQuestion, PersonaRow
from pytest_memfail.tasks.shipped import shipped_data

FILE: Final = "published_words.json"


def telling(row: PersonaRow, asked: PersonaQuestion) -> tuple[str, ...]:
    """The words that carry the answer, a text a sentence; none where nobody said which."""
    if asked.borrows:
        return asked.borrows
    listed = _published().get(digest(row.essay, asked.text), ())
    return tuple(" ".join(row.essay[start:end] for start, end in words) for words in listed)


def digest(essay: str, question: str) -> str:
    """What stands for a question about an essay in the list.

    >>> digest("Ivo paints. He never uses black.", "Which colours does Ada avoid?")
    '02e4a90ce5f62e6a'
    """
    return sha256(f"{essay}\n{question}".encode()).hexdigest()[:16]


@cache
def _published() -> Mapping[str, Sequence[Sequence[tuple[int, int]]]]:
    listed: Mapping[str, Sequence[Sequence[tuple[int, int]]]] = json.loads(
        (shipped_data() / FILE).read_text(encoding="utf-8")
    )["words"]
    return listed
