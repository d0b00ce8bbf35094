"""suites/halumem/measures.py: the paper's numbers on outcomes made by hand."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from pytest_memfail.core import UNREACHED
from pytest_memfail.grading import f1 as f1_score
from pytest_memfail.suites.halumem import SUITE

MEASURES = {measure.name: measure for measure in SUITE.measures}
PAPER = {measure.name: measure for measure in SUITE.paper_measures}


@dataclass
class Stage:
    outcome: str = "passed"
    label: str | None = None
    estimated: bool = False
    metrics: dict = field(default_factory=dict)


@dataclass
class Fact:
    verdict: str
    storage: Stage = field(default_factory=Stage)
    summary: Stage = field(default_factory=Stage)
    retrieval: Stage = field(default_factory=Stage)
    label: str | None = None


@dataclass
class Outcome:
    part: str
    verdict: str
    facts: list = field(default_factory=list)
    answer: Stage = UNREACHED
    weight: float = 1.0
    retrieved: tuple = ("something",)
    stratum: str = "Event"
    vacuous: bool = False


SCORES = {2: "correct", 1: "summary_error", 0: "not_stored"}


def point(score, weight=1.0, **more):
    verdict = "error" if score is None else SCORES[score]
    return Outcome("points", verdict, [] if score is None else [Fact(verdict)], weight=weight, **more)


def distractor(score, **more):
    if score is None:
        return Outcome("distractors", "error", **more)
    verdict = "wrongly_held" if score else "correct"
    return Outcome("distractors", verdict, [Fact(verdict, storage=Stage(metrics={"score": score}))], **more)


def update(kind, verdict="correct", **more):
    shown = Stage() if kind == "correct" else Stage("failed", kind)
    return Outcome("update", verdict, [Fact(verdict, retrieval=shown)], **more)


def qa(kind):
    if kind is None:
        return Outcome("qa", "error")
    return Outcome("qa", "not_stored", answer=Stage() if kind == "correct" else Stage("failed", kind))


def added(n, support, target, target_support):
    metrics = {"added": n, "added_support": support, "target": target, "target_support": target_support}
    return Outcome("added", "correct", answer=Stage(metrics=metrics))


BROKEN = Outcome("update", "error")


def value(name, outcomes, measures=MEASURES):
    score = measures[name].of(outcomes)
    return score.lacks if score.value is None else round(score.value, 4)


def test_names_are_unique_and_both_protocols_have_the_same():
    assert len(MEASURES) == len(SUITE.measures) == len(SUITE.paper_measures)
    assert MEASURES.keys() == PAPER.keys()
    assert not MEASURES.keys() & SUITE.labels.keys()


@pytest.mark.parametrize(("measures", "held"), [(MEASURES, "store"), (PAPER, "additions")])
def test_a_title_says_what_points_are_judged_by(measures, held):
    for name in ("recall", "weighted_recall", "fmr"):
        assert measures[name].title.endswith(f"({held})")
        assert measures[f"{name}_valid"].title.endswith(f"({held})")


def test_right_answers_by_type_of_question():
    boundary, other = "Memory Boundary", "Generalization & Application"
    some = [replace(qa(kind), stratum=boundary) for kind in ("correct", "omission", "correct", None)]
    some.append(replace(qa("hallucination"), stratum=other))
    rows = {
        name: measure for name, measure in MEASURES.items() if measure.title.endswith(": correct") and measure.line > 7
    }
    assert len(rows) == len({measure.line for measure in rows.values()}) == 6
    score = MEASURES["qa_memory_boundary"].of(some)
    assert (score.value, score.note) == (0.5, "of 4")
    assert value("qa_generalization_application", some) == 0.0
    assert value("qa_multi_hop_inference", some) == "no question"


def test_recall_counts_whole_points_and_weighted_recall_halves_by_importance():
    points = [point(2, 1.0), point(1, 0.5), point(0, 0.5), point(None, 1.0)]
    assert value("recall", points) == 0.25
    assert value("recall_valid", points) == 0.3333
    assert value("weighted_recall", points) == round((1.0 + 0.25) / 3.0, 4)
    assert value("weighted_recall_valid", points) == round(1.25 / 2.0, 4)


def test_a_point_that_the_offline_judge_estimates_is_no_recall():
    estimated = Outcome("points", "ungraded", [Fact("correct", storage=Stage(estimated=True))])
    assert "needs a model" in value("recall", [estimated])
    lost = Outcome("points", "not_stored", [Fact("not_stored", storage=Stage("failed", estimated=True))])
    assert "needs a model" in value("recall", [point(2), lost])
    assert "needs a model" in value("f1", [point(2), lost, added(1, 2, 1, 2)])


def test_resistance_counts_distractors_of_which_nothing_is_held():
    some = [distractor(0), distractor(1), distractor(2), distractor(None)]
    assert value("fmr", some) == 0.25
    assert value("fmr_valid", some) == 0.3333
    assert MEASURES["fmr"].of(some).note is None


def test_a_store_that_keeps_nothing_says_why_its_resistance_is_full():
    asked = [point(0), distractor(0, vacuous=True), Outcome("added", "correct", answer=Stage(metrics={"added": 0}))]
    score = MEASURES["fmr"].of(asked)
    assert (score.value, value("recall", asked)) == (1.0, 0.0)
    assert score.note == "nothing false is held, because nothing is held at all: read it beside R"
    assert value("accuracy", asked) == "no memory was added"


def test_accuracy_and_target_precision_count_each_memory_once():
    sessions = [added(4, 6, 2, 4), added(1, 0, 1, 0), Outcome("added", "error")]
    assert value("accuracy", sessions) == 0.6
    assert value("precision", sessions) == 0.6667
    assert MEASURES["accuracy"].of(sessions).note == "of 5, without 1 session that ended with an error"
    assert MEASURES["accuracy"].of(sessions[:2]).note == "of 5"
    assert value("precision", [added(2, 1, 0, 0)]) == "no memory was added about what the points tell"


def test_a_broken_reply_of_the_judge_is_not_a_memory_that_adds_nothing():
    nothing, broken = Outcome("added", "correct", answer=Stage(metrics={"added": 0})), Outcome("added", "error")
    assert value("accuracy", [nothing]) == "no memory was added"
    assert value("accuracy", [nothing, broken]) == "1 of 2 sessions ended with an error"
    assert value("precision", [broken, broken]) == "2 of 2 sessions ended with an error"
    assert value("f1", [point(2), broken]) == "1 of 1 session ended with an error"


def test_a_model_that_never_answered_gives_no_figure_of_the_memory():
    assert value("update_correct", [BROKEN, BROKEN]) == "all 2 ended with an error"
    assert value("recall", [point(None)]) == value("recall_valid", [point(None)]) == "all 1 ended with an error"
    assert value("fmr", [distractor(None)]) == "all 1 ended with an error"
    assert value("recall", [point(None), point(2)]) == 0.5  # as in the paper, which also has the figure without them


def test_updates_are_what_a_search_shows():
    some = [update("correct"), update("hallucination"), update("omission"), update("other"), update(None), BROKEN]
    found = [value(f"update_{name}", some) for name in ("correct", "hallucination", "omission", "other")]
    assert found == [round(n / 6, 4) for n in (1, 1, 2, 1)]
    assert value("update_correct_valid", some) == 0.2


def test_what_was_graded_beside_an_error_counts():
    """A reply of the judge about the store may break although the search, or the answer, was graded."""
    some = [replace(update(kind), verdict="error") for kind in ("correct", "omission")]
    assert [value(name, [*some, BROKEN]) for name in ("update_correct", "update_correct_valid")] == [0.3333, 0.5]
    some = [replace(qa(kind), verdict="error") for kind in ("correct", "omission")]
    assert [value(name, [*some, qa(None)]) for name in ("qa_correct", "qa_correct_valid")] == [0.3333, 0.5]


def test_the_paper_takes_an_error_without_search_results_for_a_broken_point():
    nothing = replace(update("omission", retrieved=()), verdict="error")
    assert [value("update_correct", [nothing, update("correct")], of) for of in (MEASURES, PAPER)] == [0.5, 1.0]
    assert value("recall", [nothing, point(2)], PAPER) == 0.5
    assert value("recall_valid", [nothing, point(2)], PAPER) == 1.0


def test_the_paper_counts_an_update_without_search_results_as_a_point():
    some = [update("correct"), update(None, "not_stored", retrieved=()), point(2)]
    assert [value("update_correct", some, of) for of in (MEASURES, PAPER)] == [0.5, 1.0]
    assert [value("recall", some, of) for of in (MEASURES, PAPER)] == [1.0, 0.5]
    held = [update(None, "not_retrieved", retrieved=()), point(0)]
    assert value("recall", held, PAPER) == 0.5


def test_answers_count_whatever_their_memory_stages_say():
    some = [qa("correct"), qa("hallucination"), qa("omission"), qa(None)]
    assert [value(f"qa_{name}", some) for name in ("correct", "hallucination", "omission")] == [0.25] * 3
    assert value("qa_correct_valid", some) == 0.3333
    assert "needs models that answer" in value("qa_correct", [Outcome("qa", "ungraded", answer=Stage("ungraded"))])


def test_accuracy_by_type_with_and_without_distractors():
    some = [point(2), point(1), update("correct"), distractor(2), distractor(0), point(2, stratum="Persona")]
    assert value("type_event", some) == 0.6667
    assert value("type_event_distractors", some) == 0.6
    assert value("type_persona", some) == 1.0
    assert value("type_relationship", some) == "nothing to count"


@pytest.mark.parametrize(
    ("name", "text"),
    [("recall", "no point"), ("fmr", "no distractor"), ("update_correct", "no update"), ("qa_correct", "no question"),
     ("accuracy", "no session"), ("f1", "no point")],
)  # fmt: skip
def test_nothing_to_count_is_said_and_is_no_zero(name, text):
    assert value(name, []) == text


def test_errors_alone_are_no_zero():
    assert value("recall", [point(None)]) == value("recall_valid", [point(None)]) == "all 1 ended with an error"
    assert value("weighted_recall", [point(None), point(None)]) == "all 2 ended with an error"
    assert value("fmr", [distractor(None)]) == "all 1 ended with an error"
    asked = [point(2), added(1, 2, 1, 2), qa(None), qa(None)]  # the test-taker failed
    assert [value(f"qa_{name}", asked) for name in ("correct", "hallucination", "omission")] == [
        "all 2 ended with an error"
    ] * 3
    assert value("f1", [point(None), added(1, 2, 1, 2)]) == "all 1 ended with an error"


@pytest.mark.parametrize(
    ("recall", "precision", "f1"),
    [
        # R and target precision of table 3, Medium then Long; F1 in percent
        (42.91, 86.26, 57.31),
        (43.28, 87.20, 57.85),
        (14.55, 92.24, 25.14),
        (41.53, 90.32, 56.90),
        (3.23, 88.01, 6.23),
        (2.24, 87.32, 4.37),
        (6.18, 88.56, 11.55),
        (53.02, 85.82, 65.55),
    ],
)
def test_f1_of_the_papers_main_table(recall, precision, f1):
    assert round(100 * f1_score(precision / 100, recall / 100), 2) == f1
    assert f1_score(0.0, 0.0) == 0.0
