"""The option letter of a reply."""

from __future__ import annotations

import pytest

from pytest_memfail.core import UNSURE, Question, Reply
from pytest_memfail.judges import OfflineJudge, parse_letter


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
        ("(b)", "B"),
        ("d", "D"),
        ("D. A chain of three facts leads there.", "D"),
        ("D: A is unsupported.", "D"),
        ("D, because A is wrong.", "D"),
        ("**D** A chain leads there.", "D"),
        ("Answer: D\nA is wrong, since nothing in memory supports it.", "D"),
        ("**Answer:** d", "D"),
        ("The answer is **D**. A has no support.", "D"),
        ("I choose option D over A.", "D"),
        ("D is the right option; A is wrong.", "D"),
        ("I choose 'D'.", "D"),
        ("{'selected_choice': 'D', 'reason': 'A is wrong'}", "D"),
        ('{"selected_choice": "D", "reason": "A is wr', "D"),
        ('{"selected_choice": ["D"], "reason": "A is wrong"}', "D"),
        ('{"answer": "A feud with the electrician"}', None),
        ("A feud with the electrician", None),
        ("A is right", "A"),
        ("A-level chemistry", None),
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


@pytest.mark.parametrize(
    ("reply", "outcome", "reason", "is_sure"),
    [
        ("D. A chain of three facts leads there.", "passed", "chose D, which is right", True),
        ("Neither B nor D", "passed", "seems to choose D, which is right", False),
        ("It could be D, perhaps A", "failed", "seems to choose A, but D is right", False),
        ("It is not A.", "failed", "seems to choose A, but D is right", False),
        ("D. It leads there. The answer is B.", "failed", "seems to choose B, but D is right", False),
        ("It is A.", "failed", "chose A, but D is right", True),
        ("A feud with the electrician", "failed", "no option letter in the reply; D is right", False),
        ("I do not know.", "failed", "no option letter in the reply; D is right", True),
    ],
)
def test_a_letter_that_is_not_told_with_certainty_is_graded_without(
    reply: str, outcome: str, reason: str, is_sure: bool
) -> None:
    question = Question("q", "t", "What awaits me?", "what awaits", ("D",), (), "open", letter="D")
    graded = OfflineJudge().answer(question, (), Reply(reply))
    assert (graded.outcome, graded.reason) == (outcome, reason)
    assert graded.confidence is not None
    assert (graded.confidence >= UNSURE) is is_sure
