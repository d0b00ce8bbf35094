"""Turn validation errors of a row into errors that name file, line, field and expectation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import Field, ValidationError

from pytest_memfail.core import RowError, problem_of
from pytest_memfail.rows.decoding import HALF

Text = Annotated[str, Field(min_length=1)]
"""A text of a row that must not be empty."""


def row_faults(file: str, line: int, error: ValidationError, fields: Sequence[str] = ()) -> Iterator[RowError]:
    """Yield one error per fault of a row; `fields` names the fields of nested values, to suggest one for a mistyped name."""
    for fault in error.errors(include_url=False):
        field = place_of(fault["loc"])
        message = fault["msg"].removeprefix("Value error, ")
        if own := re.match(r"([\w.]+): (got .*)", message):  # a rule across fields names its field itself
            field, message = f"{field}.{own[1]}".lstrip("."), own[2]
        elif fault["type"] == "extra_forbidden":
            message = problem_of(fault, fields)
        elif fault["type"] == "string_unicode":
            message = HALF
        elif not message.startswith(("got ", "not JSON")):
            message = problem_of(fault)
        yield RowError(file, line, field, message)


def place_of(path: Sequence[int | str]) -> str:
    """Return the path to a value within a row, as an error names it.

    >>> place_of(("questions", 0, "answer"))
    'questions.0.answer'
    """
    return ".".join(str(part) for part in path)
