"""A fault that pydantic finds reads as our own errors do."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from pytest_memfail.core import first_problem, problem_of


def _refused(word: str) -> str:
    raise ValueError("got one, expected two" if word == "y" else "a word of two")


class Inner(BaseModel):
    name: str


class Row(BaseModel):
    model_config = ConfigDict(extra="forbid")

    a: Annotated[str, Field(min_length=2)] = "ab"
    b: Annotated[int, Field(ge=1)] = 1
    c: Annotated[list[str], Field(min_length=1)] = ["x"]
    d: Inner = Inner(name="x")
    f: Annotated[str, Field(pattern="^a+$")] = "a"
    g: Annotated[str, AfterValidator(_refused)] = "a"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"a": 3}, 'got 3, expected: a text in quotes, such as "3"'),
        ({"a": 1.5}, 'got 1.5, expected: a text in quotes, such as "1.5"'),
        ({"a": False}, 'got False, expected: a text in quotes, such as "no"'),
        ({"a": True}, 'got True, expected: a text in quotes, such as "yes"'),
        ({"a": date(2026, 1, 5)}, 'got 2026-01-05, expected: a text in quotes, such as "2026-01-05"'),
        ({"a": []}, "got [], expected: a valid string"),
        ({"a": "x"}, "got 'x', expected: a string with at least 2 characters"),
        ({"b": 0}, "got 0, expected: greater than or equal to 1"),
        ({"c": []}, "got [], expected: a list with at least 1 item"),
        ({"c": "x"}, "got 'x', expected: a valid list"),
        ({"d": "x"}, "got 'x', expected: a mapping"),
        ({"d": {}}, "got nothing, expected a value"),
        ({"e": 1}, "no such field"),
        ({"namen": 1}, "no such field; did you mean 'name'?"),
        ({"b": "x"}, "got 'x', expected: a valid integer"),
        ({"b": 1.5}, "got 1.5, expected: a valid integer"),
        ({"f": "b"}, "got 'b', expected: a string that matches '^a+$'"),
        ({"g": "x"}, "got 'x', expected: a word of two"),
        ({"g": "y"}, "got one, expected two"),
    ],
)
def test_it_says_what_was_got_and_expected(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Row.model_validate(given)
    assert problem_of(caught.value.errors()[0], ["name", "b"]) == said


def test_a_misspelt_name_is_told_before_the_value_that_it_lacks() -> None:
    with pytest.raises(ValidationError) as caught:
        Row.model_validate({"d": {}, "dd": 1})
    assert first_problem(caught.value, ["d"]) == ("dd", "no such field; did you mean 'd'?")


def test_the_value_is_cut() -> None:
    with pytest.raises(ValidationError) as caught:
        Row.model_validate({"b": "x" * 999})
    assert len(problem_of(caught.value.errors()[0])) < 150


def test_what_is_no_json_is_said_as_it_is() -> None:
    with pytest.raises(ValidationError) as caught:
        Row.model_validate_json("{")
    assert problem_of(caught.value.errors()[0]).startswith("invalid JSON: EOF")


def test_a_value_may_be_nested_too_deeply_to_be_shown() -> None:
    value: Any = 1
    for _ in range(100_000):
        value = [value]
    fault = {"type": "string_type", "msg": "Input should be a valid string", "input": value}
    assert problem_of(fault) == "got a list nested too deeply, expected: a valid string"
