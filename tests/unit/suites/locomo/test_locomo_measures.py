"""suites/locomo: F1 as published, the criteria of answers, and the figures of outcomes made by hand."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest
from pydantic import ValidationError

from pytest_memfail.core import Question, StageResult
from pytest_memfail.results.summary import counted_by
from pytest_memfail.suites.locomo import SUITE
from pytest_memfail.suites.locomo.kinds import ANSWERS, Grades
from pytest_memfail.suites.locomo.measures import published_f1, token_f1

MEASURES = {measure.name: measure for measure in SUITE.measures}
UNANSWERED = StageResult("ungraded")


@pytest.fixture
def nltk():
    pytest.importorskip("nltk", reason="needs nltk (pip install 'pytest-memfail[locomo]')")


def value(name, *questions):
    return MEASURES[name].of(counted_by(MEASURES[name], questions))


@dataclass
class Outcome:
    part: str
    answer: StageResult = UNANSWERED
    reply: str | None = None
    gold: tuple = ("a cat",)
    verdict: str = "correct"
    facts: tuple = ()
    credited: bool | None = None
    group: str = "locomo"


def judged(part, strict, lenient, **more):
    metrics = {"strict": float(strict), "lenient": float(lenient)}
    return Outcome(part, StageResult("passed" if strict else "failed", metrics=metrics), reply="Answer: x", **more)


# -- token F1 ----------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("nltk")
@pytest.mark.parametrize(
    ("answer", "gold", "expected"),
    [
        ("She paints the cats.", "painting a cat", 0.8),  # she paint cat, paint cat: 2/3 and 2/2
        ("A cat and the dog", "cat, dog", 1.0),
        ("Cat cat cat", "cat", 0.5),  # a word counts as often as both have it: 1/3 and 1/1
        ("7 May 2023", "8 May 2023", 2 / 3),
        ("no idea", "cat", 0.0),
        ("", "cat", 0.0),
        ("cat", "the", 0.0),
    ],
)
def test_token_f1(answer, gold, expected):
    assert token_f1(answer, gold) == pytest.approx(expected)


@pytest.mark.usefixtures("nltk")
@pytest.mark.parametrize(
    ("part", "answer", "gold", "expected"),
    [
        # each part of the gold answer by the part of the reply that fits best: 1, 1, and 0
        ("multi_hop", "a dog, a cat", "cat, dog, canoe", 2 / 3),
        ("multi_hop", "a dog and a cat", "cat, dog", 2 / 3),  # one part, with half of its words in each
        ("single_hop", "a dog, a cat", "cat, dog", 1.0),
        ("open_domain", "no", "No; her canoe sank", 1.0),
        ("temporal", "no", "No; her canoe sank", 0.4),  # 1/1 and 1/4
    ],
)
def test_f1_of_a_category(part, answer, gold, expected):
    assert published_f1(part, answer, gold) == pytest.approx(expected)


@pytest.mark.usefixtures("nltk")
def test_f1_reads_the_answer_alone_and_counts_no_errors():
    right = Outcome("single_hop", reply="Memories used: a dog\nAnswer: cat")
    wrong = Outcome("temporal", reply="Answer: cat cat cat")
    broken = Outcome("temporal", verdict="error")
    assert value("f1_single_hop", right, wrong, broken).value == pytest.approx(1.0)
    assert value("f1", right, wrong, broken).value == pytest.approx((1 + 0.5) / 2)
    assert value("f1_temporal", wrong, broken).n == 1


def test_without_nltk_f1_says_what_it_lacks(monkeypatch):
    monkeypatch.setattr("pytest_memfail.suites.locomo.measures.find_spec", lambda _: None)
    score = value("f1", Outcome("temporal", reply="Answer: cat"))
    assert (score.value, score.lacks) == (None, "needs nltk: pip install 'pytest-memfail[locomo]'")


def test_nltk_is_loaded_only_when_something_is_computed():
    assert MEASURES["accuracy"].of([]).lacks == "no question of it"
    assert MEASURES["f1"].of([Outcome("temporal")]).lacks in (
        "needs a model that answers",
        "needs nltk: pip install 'pytest-memfail[locomo]'",
    )


# -- judged answers ----------------------------------------------------------------------------------------------------


def test_accuracy_is_over_four_categories_by_both_criteria():
    asked = (
        judged("multi_hop", True, True),
        judged("temporal", False, True),
        judged("temporal", False, False),
        judged("single_hop", False, False, verdict="error"),
        Outcome("adversarial", StageResult("passed"), reply="Answer: I do not know"),
    )
    found = {
        name: (value(name, *asked).value, value(name, *asked).n) for name in MEASURES if name.startswith(("acc", "len"))
    }
    assert found == {
        "accuracy": (pytest.approx(1 / 3), 3),
        "accuracy_multi_hop": (1.0, 1),
        "accuracy_temporal": (0.0, 2),
        "accuracy_open_domain": (None, 0),
        "accuracy_single_hop": (None, 0),
        "lenient": (pytest.approx(2 / 3), 3),
        "lenient_multi_hop": (1.0, 1),
        "lenient_temporal": (0.5, 2),
        "lenient_open_domain": (None, 0),
        "lenient_single_hop": (None, 0),
    }


def test_what_was_never_said_is_counted_apart_by_a_judge_and_by_the_published_phrases():
    asked = (
        Outcome("adversarial", StageResult("passed"), reply="Memories used: not mentioned\nAnswer: I do not know"),
        Outcome("adversarial", StageResult("passed"), reply="Answer: It is Not Mentioned."),
        Outcome("adversarial", StageResult("failed", label="trap_answer"), reply="Answer: Miro"),
        judged("temporal", True, True),
    )
    assert value("adversarial", *asked).value == pytest.approx(2 / 3)
    assert value("adversarial_phrase", *asked).value == pytest.approx(1 / 3)


@pytest.mark.parametrize("name", ["accuracy", "lenient", "adversarial"])
def test_answers_that_no_model_judged_give_no_figure(name):
    part = "adversarial" if name == "adversarial" else "temporal"
    assert value(name, Outcome(part, reply="Answer: x")).lacks == "needs models that answer and judge"
    assert value(name, Outcome(part)).lacks == "needs models that answer and judge"


def question(kind="locomo_strict"):
    return Question("q", "locomo", "What has Jorn?", "What has Jorn?", ("a cat",), (), kind)


def asking(*, strict, lenient):
    """A model that gives these grades, and what it was shown."""
    shown = []

    async def ask(criteria, material, reply, check):
        shown.append((criteria, material))
        found = reply(reason="It is so.", strict=strict, lenient=lenient)
        if problem := check(found):
            raise ValueError(problem)
        return found

    return ask, shown


@pytest.mark.parametrize(
    ("kind", "strict", "lenient", "outcome"),
    [
        ("locomo_strict", True, True, "passed"),
        ("locomo_strict", False, True, "failed"),
        ("locomo_lenient", False, True, "passed"),
        ("locomo_lenient", False, False, "failed"),
    ],
)
def test_one_call_grades_by_both_criteria_and_the_setting_decides(kind, strict, lenient, outcome):
    ask, shown = asking(strict=strict, lenient=lenient)
    found = asyncio.run(ANSWERS[kind].ask(ask, question(kind), (), "a pet"))
    assert found.outcome == outcome
    assert found.metrics == {"strict": float(strict), "lenient": float(lenient)}
    assert found.missing == (() if outcome == "passed" else ("a cat",))
    assert shown[0][1] == {"asked": ["What has Jorn?"], "right_answer": ("a cat",), "reply": ["a pet"]}


def test_a_reply_that_is_strictly_but_not_leniently_right_is_asked_for_again():
    ask, _ = asking(strict=True, lenient=False)
    with pytest.raises(ValueError, match='"strict" is true, but "lenient" is false'):
        asyncio.run(ANSWERS["locomo_strict"].ask(ask, question(), (), "a cat"))
    with pytest.raises(ValidationError):
        Grades.model_validate({"reason": "x", "strict": 1, "lenient": True})


def test_an_empty_reply_is_wrong_by_both_criteria_without_a_model():
    found = ANSWERS["locomo_lenient"].grade(question("locomo_lenient"), (), "")
    assert (found.outcome, found.metrics) == ("failed", {"strict": 0.0, "lenient": 0.0})
    assert ANSWERS["locomo_strict"].grade(question(), (), "a cat") is None


# -- evidence turns ----------------------------------------------------------------------------------------------------


@dataclass
class Turn:
    id: str
    retrieval: StageResult
    deciding: StageResult = field(default_factory=lambda: StageResult("passed"))


def test_the_share_of_evidence_turns_is_a_mean_over_questions():
    shown, lost = StageResult("passed", entries=(0,)), StageResult("failed")
    both = Outcome("multi_hop", facts=(Turn("a.s01-t01-user", shown), Turn("a.s01-t02-user", lost)))
    one = Outcome("multi_hop", facts=(Turn("b.s01-t01-user", shown),))
    other = Outcome("temporal", facts=(Turn("c.s01-t01-user", lost),))
    assert value("turns_shown_multi_hop", both, one, other).value == pytest.approx(0.75)
    assert value("turns_shown", both, one, other).value == pytest.approx(0.5)
    guessed = Turn("d.s01-t01-user", shown, StageResult("passed", estimated=True))
    assert "needs a model as judge" in value("turns_shown", Outcome("temporal", facts=(guessed,))).lacks
