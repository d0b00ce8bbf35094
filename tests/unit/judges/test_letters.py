"""The option letter of a reply."""

from __future__ import annotations

import pytest

from pytest_memfail.judges import parse_letter


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ('{"selected_choice": "B"}', "B"),
        ('  {"answer": "c"}\n', "C"),
        ('{"choice": "D. water the plants"}', "D"),
        ('{"answer": "Option E"}', "E"),
        ('I weighed A and B. {"selected_choice": "C"} Done, A.', "C"),
        ('{"selected_choice": "A"} no, rather {"selected_choice": "B"}', "B"),
        ('{"thought": {"choice": "A"}}', "A"),
        ("First A, then B; the answer is D.", "D"),
        ("**E**", "E"),
        ("(b)", None),
        ("F", None),
        ("Definitely the last", None),
        ("", None),
        ("{" * 5000, None),
        ('{"answer": null} C', "C"),
        ('["A"]', "A"),
        ("\ud800 B", "B"),
    ],
)
def test_parse_letter(reply: str, letter: str | None) -> None:
    assert parse_letter(reply) == letter
