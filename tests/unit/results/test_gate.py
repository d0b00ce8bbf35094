"""What comes of each expression, and of all of them."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from itertools import pairwise

import pytest
from made_records import header, question, run

from pytest_memfail.core import CORRECT, ERROR, NOT_RETRIEVED, NOT_STORED, REASONING_ERROR, UNGRADED, WRONGLY_HELD
from pytest_memfail.records import Baseline, Entry, Footer, SuiteRecord, TaskRecord, from_json, to_json
from pytest_memfail.report import gate as gate_lines, gate_outcome
from pytest_memfail.results import compare, decide, evaluate, parse_expressions, smallest_detectable, summarize, wilson

TASKS = ("a", "b")


def ran(protocol="ours", *, answer="passed", **tasks):
    """A run: `a={"correct": 8, "not_stored": 2}`; "held" is left open with memory held, "vacuous" a vacuous pass."""
    made = []
    for task, counts in tasks.items():
        verdicts = [verdict for verdict, count in counts.items() for _ in range(count)]
        for i, verdict in enumerate(verdicts):
            named = {"held": UNGRADED, "open": UNGRADED, "vacuous": CORRECT}.get(verdict, verdict)
            held = {"held": True, "open": None, "vacuous": None, CORRECT: True, REASONING_ERROR: True}.get(
                verdict, False
            )
            given = {
                "id": f"memfail/{task}::q-{i}",
                "task": task,
                "store": task,
                "question": f"q-{i}",
                "verdict": named,
            }
            judged = {
                "vacuous": verdict == "vacuous",
                "memory_held": held,
                "facts": [{"verdict": named}],
                "shown_tokens": 100 * (i + 1),
                "store_tokens": 10_000,
                "answer": {"outcome": "ungraded" if named == UNGRADED else answer},
            }
            made.append(question(**given, **({} if named == ERROR else judged)))
    return run(*made, protocol=protocol, tasks={task: {"data_hash": "x"} for task in TASKS})


def gate(text, now, before=None, protocol="ours"):
    comparison = None if before is None else compare(before.outcomes, now.outcomes, TASKS, protocol)
    return evaluate(parse_expressions(text), now.summary(), comparison)


def checks(text, now, before=None):
    return [(check.task, check.outcome) for check in gate(text, now, before).checks]


GOOD = ran(a={CORRECT: 8, NOT_STORED: 2}, b={CORRECT: 5, NOT_RETRIEVED: 5})
PERFECT = ran(a={CORRECT: 10}, b={CORRECT: 10})


# -- rates -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("correct<0.65", "passed"),
        ("correct<0.66", "failed"),
        ("correct<=0.65", "failed"),
        ("a.correct<0.8", "passed"),
        ("a.correct<0.81", "failed"),
        ("not_stored>0.1", "passed"),
        ("a.not_stored>0.1", "failed"),
        ("b.not_stored>0", "passed"),
        ("memory_held<0.7", "failed"),
        ("reasoning_error>0", "passed"),
    ],
)
def test_a_rate_over_graded_questions(text, outcome):
    assert gate(text, GOOD).outcome == outcome


def test_a_rate_comes_with_its_n_and_its_interval():
    (check,) = gate("a.correct<0.8", GOOD).checks
    assert check.rate == wilson(8, 10)


def test_errors_and_open_answers_are_no_part_of_a_rate():
    with_errors = ran(a={CORRECT: 8, NOT_STORED: 2, ERROR: 1, "open": 5})
    assert gate("correct<0.8", with_errors).checks[-1].rate == wilson(8, 10)


def test_vacuous_passes_count_in_the_published_reading_only():
    counts = {CORRECT: 2, NOT_STORED: 2, "vacuous": 6}
    assert gate("correct<0.6", ran(a=counts)).checks[0].rate == wilson(2, 4)
    assert gate("correct<0.6", ran("paper", a=counts), protocol="paper").checks[0].rate == wilson(8, 10)


def test_without_judged_answers_failures_are_shares_of_what_was_tested():
    offline = ran(answer="ungraded", a={"held": 6, NOT_STORED: 2, "open": 3})
    assert gate("not_stored>0.3", offline).checks[0].rate == wilson(2, 8)
    assert gate("memory_held<0.7", offline).checks[0].rate == wilson(6, 8)


def half_estimated(**others):
    """A run of 20 questions of task a, 12 of them estimated: 4 of 10 that memory held, and 8 of 10 that are not stored."""
    whole = ran(answer="ungraded", a={"held": 10, NOT_STORED: 10}, **others)
    made = list(whole.questions)
    for at in range(6, 18):
        (fact,) = made[at].facts
        guess = replace(fact, storage=replace(fact.storage, estimated=True))
        made[at] = replace(made[at], facts=(guess,))
    return replace(whole, questions=tuple(made))


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("memory_held<0.85", "undecided"),
        ("memory_held<0.3", "passed"),  # at least 6 of 20
        ("memory_held<0.95", "failed"),  # at most 18 of 20
        ("facts_held<0.5", "undecided"),
        ("not_stored>0.5", "undecided"),  # between 2 and 14 of 20
        ("not_stored>0.05", "failed"),
        ("summary_error>0.7", "passed"),
        ("wrongly_held>0", "passed"),
    ],
)
def test_estimates_decide_a_gate_only_where_they_cannot_change_it(text, outcome):
    assert gate(text, half_estimated()).outcome == outcome


def test_an_undecided_gate_says_how_many_are_estimated():
    found = gate("memory_held<0.85", half_estimated())
    assert "12 of 20 are only estimated, so it is between 0.300 and 0.900; give --memfail-judge" in found.undecided


def test_a_task_that_estimates_leave_undecided_holds_up_the_others():
    now = half_estimated(b={"held": 10}, c={"open": 3})
    assert checks("*.memory_held<0.85", now) == [("a", "undecided"), ("b", "passed")]
    assert checks("*.memory_held<0.3", now) == [("a", "passed"), ("b", "passed")]
    said = gate("*.memory_held<0.85", now)
    assert said.undecided.startswith("*.memory_held<0.85 (a): 12 of 20 are only estimated")
    assert "*.memory_held<0.85 (a) UNDECIDED 12 of 20 are only" in " ".join(" ".join(gate_lines(said)).split())


def test_a_comparison_says_how_many_of_its_questions_are_estimated():
    before = ran(answer="ungraded", a={"held": 20})
    found = gate("regressions>0", half_estimated(), before)
    assert (found.outcome, found.comparison.estimated) == ("failed", 12)
    assert "  the judge only estimated 12 of the questions compared" in gate_lines(found)
    assert not any("estimated" in line for line in gate_lines(gate("regressions>0", before, before)))


@pytest.mark.parametrize("measure", ["correct", "reasoning_error"])
def test_without_judged_answers_nobody_knows_what_is_correct(measure):
    found = gate(f"{measure}>0.5", ran(answer="ungraded", a={"held": 6, NOT_STORED: 2}))
    assert found.outcome == "undecided"
    assert "no answer was judged" in found.undecided
    assert "memory_held" in found.undecided


def test_a_task_of_which_nothing_was_asked_is_undecided():
    found = gate("b.correct<0.5", ran(a={CORRECT: 3}))
    assert (found.outcome, found.undecided) == ("undecided", "b.correct<0.5: no question of b was asked")


def test_a_task_without_a_result_is_undecided():
    found = gate("b.correct<0.5", ran(a={CORRECT: 3}, b={"open": 3}))
    assert found.undecided == "b.correct<0.5: no question was graded"


def test_each_task():
    assert checks("*.correct<0.6", GOOD) == [("a", "passed"), ("b", "failed")]


def test_a_task_that_says_nothing_does_not_hold_up_the_others():
    assert checks("*.correct<0.6", ran(a={CORRECT: 3}, b={"open": 3})) == [("a", "passed")]
    assert checks("*.memory_held<0.6", ran(a={"open": 3}, b={"open": 3})) == [("a", "undecided")]


# -- regressions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("regressions>6", "failed"),
        ("regressions>7", "passed"),
        ("a.regressions>1", "failed"),
        ("a.regressions>2", "passed"),
        ("regressions:p<0.05", "failed"),
        ("regressions:p<0.001", "passed"),
        ("b.regressions:p<0.05", "failed"),
        ("a.regressions:p<0.05", "passed"),
    ],
)
def test_regressions_against_a_baseline(text, outcome):
    assert gate(text, GOOD, PERFECT).outcome == outcome


def test_each_task_is_corrected_for_there_being_several():
    found = gate("*.regressions:p<0.05", GOOD, PERFECT).checks
    assert [check.outcome for check in found] == ["passed", "passed"]  # 5 of 5 is 1/32, times two tests
    assert [check.paired.corrected for check in found] == [0.25, 0.0625]


def test_a_number_of_regressions_of_each_task_is_not_corrected():
    assert checks("*.regressions>2", GOOD, PERFECT) == [("a", "passed"), ("b", "failed")]


def test_a_better_run_passes():
    assert gate("regressions:p<0.05, regressions>0", PERFECT, GOOD).outcome == "passed"


def test_without_a_baseline_regressions_are_skipped_and_the_rest_decided():
    found = gate("regressions:p<0.05, correct<0.66", GOOD)
    assert [check.outcome for check in found.checks] == ["skipped", "failed"]
    assert found.outcome == "failed"
    assert gate("regressions>0", GOOD).outcome == "skipped"


def test_nothing_in_common_is_undecided():
    found = gate("regressions>0", ran(a={CORRECT: 3}), ran(b={CORRECT: 3}))
    assert found.undecided == "regressions>0: no question in common with the baseline"


# -- all of them -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("correct<0.1, not_stored>0.9", "passed"),
        ("correct<0.1, not_stored>0", "failed"),
        # nobody should trust the rest of a gate that could not be decided
        ("c.correct<0.1, not_stored>0", "undecided"),
        # what was checked must not speak for a rule that could not be
        ("regressions>0, correct<0.1", "skipped"),
        ("regressions>0, correct<0.8", "failed"),
    ],
)
def test_the_worst_of_all_is_what_comes_out(text, outcome):
    assert gate(text, GOOD).outcome == outcome


@pytest.mark.parametrize("before", [None, PERFECT])
def test_an_error_fails_whatever_is_asked(before):
    now = ran(a={CORRECT: 10}, b={CORRECT: 9, ERROR: 1})
    found = decided(now, before, text="regressions>0, correct<0.1")
    assert found.outcome == "failed"
    assert [check.expression for check in found.checks] == ["errors", "regressions>0", "correct<0.1"]
    assert gate_outcome(written(found)) == "gate: failed, errors: got 1 of 20 questions, expected none"
    assert decided(now) is None  # nothing is asked
    assert decided(now, anchor=PERFECT).outcome == "failed"


def test_the_smallest_drop_that_could_have_been_found():
    noisy = ran(a={NOT_STORED: 2, CORRECT: 8}, b={CORRECT: 10})
    found = gate("regressions:p<0.01", PERFECT, noisy)
    assert found.detectable == smallest_detectable(20, noise=2 / 20, alpha=0.01)
    assert gate("correct<0.5", PERFECT).detectable is None


def test_where_nothing_passed_before_no_drop_could_have_been_found():
    failing = ran(a={NOT_STORED: 60}, b={NOT_STORED: 36, CORRECT: 4})
    found = gate("regressions>0", failing, failing)
    assert found.detectable is None
    said = "no true drop shows in four of five runs of 100 such questions: only 4 of 100 passed before"
    assert gate_lines(found)[-1] == said
    assert gate("regressions>0", PERFECT, PERFECT).detectable == smallest_detectable(20)


# -- the default -------------------------------------------------------------------------------------------------------


HEADER = header(tasks={task: {"data_hash": "x"} for task in TASKS})
ANCHORED = header(tasks={}, anchor={"reason": "release 1.2", "moved": "2026-01-01", "before": []})


def saved(run):
    """The verdicts of a run as its baseline has them."""
    names = [field.name for field in fields(Entry)]
    return {key: Entry(**{name: getattr(one, name) for name in names}) for key, one in run.outcomes.items()}


def written(gate):
    """A gate that went through the footer of a record."""
    line = json.loads(json.dumps(to_json(Footer(exit_code=0, complete=True, gate=gate))))
    assert line["gate"]["outcome"] == gate.outcome
    return from_json(Footer, line).gate


def lossy(a, b=0, *, wavering=0, n=(100, 700)):
    """A run that lost so many questions of each task; `wavering` of b fail now, and as many others failed before."""
    lost = {NOT_STORED: b + wavering, CORRECT: n[1] - b - wavering}
    return ran(a={NOT_STORED: a, CORRECT: n[0] - a}, b=lost)


def decided(now, before=None, anchor=None, text=""):
    return decide(
        parse_expressions(text) if text else [],
        now.summary(),
        now.outcomes,
        HEADER,
        None if before is None else Baseline(HEADER, saved(before)),
        anchor=None if anchor is None else Baseline(ANCHORED, saved(anchor)),
        anchor_shown="anchor.jsonl",
    )


def test_the_default_fails_for_a_clear_loss_in_one_task_that_all_together_hide():
    # 13 lost in a, none won; in b 30 won and 25 lost: over all questions that could be chance
    before = ran(a={CORRECT: 100}, b={NOT_STORED: 30, CORRECT: 670})
    now = ran(a={NOT_STORED: 13, CORRECT: 87}, b={CORRECT: 675, NOT_STORED: 25})
    overall, *tasks = decided(now, before).checks
    assert (overall.task, overall.outcome) == (None, "passed")
    assert [(check.task, check.outcome) for check in tasks] == [("a", "failed"), ("b", "passed")]
    assert tasks[0].paired.corrected < 0.001


def test_the_default_fails_for_a_loss_over_all_that_no_task_shows():
    now = ran(a={NOT_STORED: 3, CORRECT: 97}, b={NOT_STORED: 3, CORRECT: 97})
    found = decided(now, ran(a={CORRECT: 100}, b={CORRECT: 100}))
    assert [(check.task, check.outcome) for check in found.checks] == [
        (None, "failed"),
        ("a", "passed"),
        ("b", "passed"),
    ]


# -- the anchor --------------------------------------------------------------------------------------------------------


def test_ten_losses_of_one_point_each_pass_the_baseline_and_are_stopped_by_the_anchor():
    runs = [lossy(lost, n=(100, 0)) for lost in range(11)]
    assert [decided(now, before).outcome for before, now in pairwise(runs)] == ["passed"] * 10
    outcomes = [decided(now, before, runs[0]).outcome for before, now in pairwise(runs)]
    assert outcomes == ["passed"] * 6 + ["failed"] * 4
    stopped = decided(runs[7], runs[6], runs[0])
    assert {check.anchored for check in stopped.checks if check.outcome == "failed"} == {True}


def test_the_anchor_is_asked_what_the_user_asked_of_regressions_and_nothing_else():
    found = decided(lossy(2), lossy(2), lossy(0), "regressions>1,memory_held<0.5")
    assert [(check.expression, check.anchored, check.outcome) for check in found.checks] == [
        ("regressions>1", False, "passed"),
        ("memory_held<0.5", False, "passed"),
        ("regressions>1", True, "failed"),
    ]


def test_an_anchor_needs_no_baseline():
    assert decided(lossy(10), None, lossy(0)).outcome == "failed"
    assert decided(lossy(0), None, lossy(0)).outcome == "passed"
    assert not any(check.outcome == "skipped" for check in decided(lossy(0), None, lossy(0), "regressions>0").checks)


def test_a_gate_with_an_anchor_is_read_back_from_a_record():
    found = decided(lossy(10), lossy(9), lossy(0))
    assert found.anchor.reason == "release 1.2"
    assert written(found) == found


@pytest.mark.parametrize(
    ("text", "outcomes"),
    [
        ("shown_tokens>400", [(None, "failed")]),  # 100 to 1,000 in each of the two tasks: 550
        ("shown_tokens>550", [(None, "passed")]),
        ("a.shown_tokens<551", [("a", "failed")]),
        ("*.shown_tokens>600", [("a", "passed"), ("b", "passed")]),
        ("facts_held<0.65", [(None, "passed")]),
        ("facts_held<0.66", [(None, "failed")]),
        ("b.facts_held<0.6", [("b", "failed")]),
    ],
)
def test_tokens_shown_and_single_facts(text, outcomes):
    assert checks(text, GOOD) == outcomes


def test_the_tokens_of_a_check_come_back_from_a_record():
    decided = gate("shown_tokens>400", GOOD)
    assert written(decided) == decided
    assert decided.checks[0].value == 550


def test_tokens_that_were_not_counted_decide_nothing():
    (check,) = gate("shown_tokens>400", run(question())).checks
    assert (check.outcome, check.reason) == ("undecided", "no tokens were counted")


def test_verdicts_of_misleading_questions_are_shares_of_all_that_were_decided():
    asked = [
        question(id=f"q-{i}", question=f"q-{i}", must_not_use=True, verdict="summary_error", memory_held=False)
        for i in range(4)
    ]
    assert gate("summary_error>0.99", run(*asked)).checks[0].rate == wilson(4, 4)


def never_said(name, verdict, *, vacuous=False):
    """A question of a user's own that only names what memory must not hold."""
    fact = {"verdict": verdict, "is_distractor": True}
    return question(question=name, verdict=verdict, vacuous=vacuous, facts=[fact], memory_held=None)


def test_what_is_wrongly_held_is_a_share_of_all_that_could_have_it():
    only = run(never_said("a", WRONGLY_HELD))
    assert gate("wrongly_held>0", only).checks[0].rate == wilson(1, 1)
    others = [question(question=f"q-{i}", verdict="no_answer", facts=[{}], memory_held=True) for i in range(5)]
    asked = [never_said("a", WRONGLY_HELD), never_said("b", WRONGLY_HELD), *others]
    unknown = question(question="u", verdict="no_answer", memory_held=None)  # expects nothing
    left_out = [never_said("v", CORRECT, vacuous=True), question(question="e", verdict=ERROR)]
    assert gate("wrongly_held>0", run(*asked, unknown, *left_out)).checks[1].rate == wilson(2, 8)


def test_a_label_of_a_suite_is_a_share_of_the_questions_at_the_same_k():
    asked = [question(question=f"q-{i}", k=k, label="stale" if i < 2 else None) for k in (5, 10) for i in range(4)]
    suite = SuiteRecord(name="meme", k=5, scores=(), labels={"stale": 2})
    summary = replace(
        summarize(asked, [], tasks={"t": from_json(TaskRecord, {"data_hash": "x", "suite": "meme"})}), suites=(suite,)
    )
    expression = parse_expressions("meme.stale>0.4", {"meme": ["stale"]})
    assert evaluate(expression, summary, None).checks[0].rate == wilson(2, 4)
