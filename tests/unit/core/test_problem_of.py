"""A fault that pydantic finds reads as our own errors do."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pytest_memfail.core import problem_of


class Inner(BaseModel):
    name: str


class Row(BaseModel):
    model_config = ConfigDict(extra="forbid")

    a: Annotated[str, Field(min_length=2)] = "ab"
    b: Annotated[int, Field(ge=1)] = 1
    c: Annotated[list[str], Field(min_length=1)] = ["x"]
    d: Inner = Inner(name="x")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"a": 3}, "got 3, expected: a valid string"),
        ({"a": "x"}, "got 'x', expected: a string with at least 2 characters"),
        ({"b": 0}, "got 0, expected: greater than or equal to 1"),
        ({"c": []}, "got [], expected: a list with at least 1 item"),
        ({"c": "x"}, "got 'x', expected: a valid list"),
        ({"d": "x"}, "got 'x', expected: a mapping"),
        ({"d": {}}, "got nothing, expected a value"),
        ({"e": 1}, "no such field"),
    ],
)
def test_it_says_what_was_got_and_expected(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Row.model_validate(given)
    assert problem_of(caught.value.errors()[0]) == said


def test_the_value_is_cut_to_one_line() -> None:
    with pytest.raises(ValidationError) as caught:
        Row.model_validate({"b": "x\n" * 999})
    said = problem_of(caught.value.errors()[0])
    assert "\n" not in said
    assert len(said) < 150
