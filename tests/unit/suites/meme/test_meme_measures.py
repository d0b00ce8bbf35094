"""suites/meme/measures.py: the paper's numbers on outcomes made by hand."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from pytest_memfail.core import UNREACHED
from pytest_memfail.suites.meme import SUITE
from pytest_memfail.suites.meme.measures import PARTS, macro_mean

MEASURES = {measure.name: measure for measure in SUITE.measures}


@dataclass
class Fact:
    verdict: str
    label: str | None = None
    id: str = ""
    text: str = ""


@dataclass
class Outcome:
    part: str
    verdict: str
    facts: list = field(default_factory=lambda: [Fact("correct")])
    question: str = ""
    store: str = "pl_1"
    label: str | None = None
    vacuous: bool = False
    task: str = "meme"
    k: int = 5
    stratum: str = "PL"
    memory_held: bool | None = None
    reply: str | None = None
    credited: bool | None = None
    answer: object = UNREACHED


@dataclass
class Answer:
    outcome: str


RIGHT = ("correct", [Fact("correct")])
WRONG = ("reasoning_error", [Fact("correct")])
OPEN = ("ungraded", [Fact("correct")])


def of(name, outcomes):
    return MEASURES[name].of(outcomes)


def lost(verdict, label=None):
    return (verdict, [Fact(verdict, label)])


def answered(made, right):
    """The same outcome, with an answer that was judged whatever became of the facts."""
    return {"credited": right, "answer": Answer("passed" if right else "failed"), "verdict": made[0], "facts": made[1]}


def all_parts(*verdicts, store="pl_1"):
    """One outcome per part, in the order of the table."""
    return [Outcome(part, *made, store=store) for part, made in zip(PARTS, verdicts, strict=True)]


def test_names_are_unique_and_every_part_is_known():
    assert len(MEASURES) == len(SUITE.measures)
    # `meme.leaked>0.1` is the share of a label
    assert not set(MEASURES) & set(SUITE.labels)
    assert ["before", *PARTS] == [part.name for part in SUITE.parts["meme"]]


def test_stages_are_cumulative():
    outcomes = all_parts(
        lost("not_stored"), lost("not_stored", "lost_later"), lost("summary_error"), lost("not_retrieved"), WRONG, RIGHT
    )
    assert [of(n, outcomes).value for n in ("encoded", "maintained", "retrieved", "answered")] == [
        pytest.approx(share / 6) for share in (5, 3, 2, 1)
    ]
    assert of("encoded", outcomes).n == 6


def test_a_question_needs_all_its_facts():
    outcomes = [Outcome("cascade", "not_stored", [Fact("correct"), Fact("not_stored")])]
    assert of("encoded", outcomes).value == 0.0


def test_questions_before_the_change_enter_no_stage():
    outcomes = [Outcome("before", *lost("not_stored")), Outcome("recall", *RIGHT)]
    assert (of("encoded", outcomes).value, of("encoded", outcomes).n) == (1.0, 1)


def test_what_nobody_judged_and_errors_do_not_count():
    outcomes = [Outcome("recall", "ungraded", [Fact("ungraded")]), Outcome("recall", "error", [])]
    assert of("encoded", outcomes).lacks == "no fact was judged"
    assert of("encoded", []).value is None


def test_a_deletion_of_which_nothing_is_there_says_nothing_of_a_stage():
    outcomes = [Outcome("deletion", *RIGHT, vacuous=True), Outcome("recall", *lost("not_stored"))]
    assert (of("encoded", outcomes).value, of("encoded", outcomes).n) == (0.0, 1)
    trivial = Outcome("deletion", *RIGHT, vacuous=True, label="trivial_pass")
    assert (of("retrieved", [trivial]).value, of("answered", [trivial]).value) == (1.0, 0.0)


def test_the_four_shares_are_of_the_same_questions():
    """Else an answer would seem to be lost of a question that says nothing about a stage."""
    vacuous = Outcome("deletion", *RIGHT, vacuous=True)
    unjudged = Outcome("recall", "ungraded", [Fact("ungraded")])
    outcomes = [*all_parts(*[RIGHT] * 6), vacuous, unjudged]
    found = [of(n, outcomes) for n in ("encoded", "maintained", "retrieved", "answered")]
    assert [(share.value, share.n) for share in found] == [(1.0, 6)] * 4
    assert [share.note for share in found] == ["of 6", None, None, None]
    assert of("encoded", outcomes[:6]).note is None


def test_answers_that_nobody_judged_are_lacking():
    outcomes = all_parts(OPEN, RIGHT, RIGHT, RIGHT, RIGHT, lost("not_stored"))
    for name, open_ in (("answered", 1), ("score", 2)):  # a lost fact may be answered right all the same
        assert of(name, outcomes).value is None
        assert of(name, outcomes).lacks == f"needs models that answer and judge: {open_} of 6 have none"


def test_a_right_answer_counts_whatever_the_stages_say():
    outcomes = [Outcome(part, **answered(lost("not_stored"), right=True)) for part in PARTS]
    assert (of("score", outcomes).value, of("answered", outcomes).value, of("encoded", outcomes).value) == (1, 0, 0)
    outcomes[0] = Outcome("recall", **answered(lost("not_retrieved"), right=False))
    assert of("score", outcomes).value == pytest.approx(5 / 6)


def test_right_answers_although_a_stage_failed_are_counted():
    outcomes = [Outcome(part, **answered(lost("not_stored"), right=True), memory_held=False) for part in PARTS]
    before = Outcome("before", **answered(lost("not_stored"), right=True), memory_held=False)
    assert of("known_anyway", [*outcomes, before]).value == 6


@pytest.mark.parametrize(
    ("known_before", "right_after", "value"), [(True, True, 1), (False, True, 0), (True, False, 0), (False, False, 0)]
)
def test_a_right_answer_needs_a_right_one_before_whatever_the_stages_say(known_before, right_after, value):
    """A trivial pass stays one where a stage failed too."""
    before = Outcome("before", **answered(lost("not_stored"), known_before), question="before-cas-commute")
    after = Outcome("cascade", **answered(lost("not_stored"), right_after), question="after-cas-commute")
    if not known_before and right_after:
        after.credited = False
    others = [Outcome(part, *RIGHT) for part in PARTS if part != "cascade"]
    assert of("score", [before, after, *others]).value == pytest.approx((5 + value) / 6)
    assert of("trivial_passes", [before, after]).value == (right_after and not known_before)
    names = {(1, 1): "real", (0, 1): "trivial", (1, 0): "knew_but_failed", (0, 0): "never_knew"}
    assert of(f"cascade_{names[known_before, right_after]}", [before, after]).value == 1


def test_the_score_is_the_plain_mean_of_six_rates():
    outcomes = [
        *all_parts(RIGHT, RIGHT, RIGHT, RIGHT, WRONG, WRONG),
        *[Outcome("recall", *WRONG) for _ in range(3)],  # a large part weighs no more than a small one
    ]
    assert of("score", outcomes).value == pytest.approx((1 / 4 + 3) / 6)
    assert macro_mean([0.6, 0.0]) == pytest.approx(0.3)


def test_a_vacuous_pass_is_a_failure():
    outcomes = all_parts(RIGHT, RIGHT, RIGHT, RIGHT, RIGHT, RIGHT)
    for outcome in outcomes[3:]:
        outcome.vacuous = True
    assert of("score", outcomes).value == pytest.approx(0.5)
    assert of("trivial_passes", outcomes).value == 3


def test_the_score_needs_all_parts():
    score = of("score", all_parts(*[RIGHT] * 6)[:5])
    assert (score.value, score.lacks) == (None, "no question of absence")


def test_a_store_that_keeps_nothing_scores_nothing():
    outcomes = [Outcome(part, **answered(lost("not_stored"), right=False)) for part in PARTS]
    outcomes[3] = Outcome("deletion", *RIGHT, vacuous=True)
    assert of("score", outcomes).value == 0.0
    assert of("encoded", outcomes).value == 0.0


def test_the_interval_is_over_stores():
    good, bad = all_parts(*[RIGHT] * 6, store="a"), all_parts(*[WRONG] * 6, store="b")
    score = of("score", good + bad)
    # both stores deviate by half: the variance of the mean is (0.25² + 0.25²) · 2
    assert score.value == pytest.approx(0.5)
    assert score.low == pytest.approx(0.0)
    assert score.high == pytest.approx(min(1.0, 0.5 + 1.959964 * 0.25**0.5))
    many = [o for at in range(50) for o in all_parts(*[RIGHT if at % 2 else WRONG] * 6, store=str(at))]
    half = 1.959964 * (50 * 0.01**2 * 50 / 49) ** 0.5
    assert of("score", many).low == pytest.approx(0.5 - half)
    assert of("score", many).high == pytest.approx(0.5 + half)


def test_no_interval_where_stores_do_not_differ():
    score = of("score", all_parts(*[RIGHT] * 6) + all_parts(*[RIGHT] * 6, store="b"))
    assert (score.value, score.low, score.high) == (1.0, None, None)


def pair(before, after, entity="commute", **more):
    return [
        Outcome("before", *before, question=f"before-cas-{entity}"),
        Outcome("cascade", *after, question=f"after-cas-{entity}", **more),
    ]


def test_what_was_known_before():
    outcomes = [
        *pair(RIGHT, RIGHT, "a"),
        *pair(WRONG, RIGHT, "b", vacuous=True, label="trivial_pass"),
        *pair(RIGHT, WRONG, "c"),
        *pair(RIGHT, WRONG, "d"),
        *pair(WRONG, WRONG, "e"),
    ]
    counts = {n: of(f"cascade_{n}", outcomes).value for n in ("real", "trivial", "knew_but_failed", "never_knew")}
    assert counts == {"real": 1, "trivial": 1, "knew_but_failed": 2, "never_knew": 1}
    assert of("absence_real", outcomes).value is None


def test_the_last_question_about_an_entity_counts():
    outcomes = [
        Outcome("before", *WRONG, question="before-cas-a"),
        Outcome("before", *RIGHT, question="before-cas-a-2"),
        Outcome("cascade", *RIGHT, question="after-cas-a"),
    ]
    assert of("cascade_real", outcomes).value == 1


def test_an_answer_before_the_change_that_nobody_judged_is_lacking():
    assert of("cascade_real", pair(OPEN, RIGHT)).lacks.endswith("1 of 1 have none")


def test_what_was_not_asked_before_the_change_is_not_known():
    outcomes = [*pair(RIGHT, WRONG, "a"), *pair(RIGHT, WRONG, "b")]
    outcomes[0].store = "other"
    for name in ("knew_but_failed", "never_knew"):
        assert of(f"cascade_{name}", outcomes).value is None
        assert of(f"cascade_{name}", outcomes).lacks == "1 of 2 were not asked before the change"
    assert (of("cascade_real", outcomes).value, of("cascade_trivial", outcomes).value) == (0, 0)


def test_a_right_answer_says_itself_whether_the_same_was_known_before():
    real, trivial = pair(RIGHT, RIGHT, "a")[1], pair(WRONG, RIGHT, "b", vacuous=True, label="trivial_pass")[1]
    assert (of("cascade_real", [real, trivial]).value, of("cascade_trivial", [real, trivial]).value) == (1, 1)
    assert of("cascade_never_knew", [real, trivial]).value == 0


def history(reply, verdict="reasoning_error", steps="Tollund \u2192 Vessary \u2192 Amber"):
    order = Fact("correct", id="e.after-tr-ringtone.4-order", text=f"ringtone, in order: {steps}")
    return Outcome(
        "tracking", verdict, [Fact("correct", id="e.after-tr-ringtone.1-value", text="Tollund"), order], reply=reply
    )


@pytest.mark.parametrize(
    ("reply", "share"),
    [
        ("First Tollund, then Vessary, now Amber.", 1.0),
        ("Vessary, then Amber.", 2 / 3),
        ("Tollund first; now Amber.", 1 / 3),  # not in a row: the step between is missing
        ("Amber.", 1 / 3),
        ("I do not know.", 0.0),
        ("", 0.0),
    ],
)
def test_a_history_may_be_partly_right(reply, share):
    assert of("tracking_partial", [history(reply)]).value == pytest.approx(share)


def test_the_partly_right_are_a_mean_whatever_the_memory_held():
    outcomes = [history("Amber.", "not_retrieved"), history("Now Amber, before it Vessary and Tollund.", "correct")]
    found = of("tracking_partial", [*outcomes, Outcome("recall", *RIGHT), Outcome("tracking", "error", [])])
    assert (found.value, found.n) == (pytest.approx(2 / 3), 2)


def test_a_history_needs_an_answer():
    assert (
        of("tracking_partial", [history(None), history("x")]).lacks
        == "needs a model that answers: 1 of 2 have no answer"
    )
    assert of("tracking_partial", []).lacks == "no question"
    assert of("tracking_partial", [Outcome("tracking", *RIGHT, reply="x")]).lacks == "no question"  # of no order
