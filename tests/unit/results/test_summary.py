"""What a run adds up to."""

from __future__ import annotations

import made_records
import pytest
from made_records import store

from pytest_memfail.core import (
    CORRECT,
    ERROR,
    FACT_HELD,
    NOT_RETRIEVED,
    NOT_STORED,
    REASONING_ERROR,
    STATES,
    SUMMARY_ERROR,
    UNGRADED,
    Doubt,
    QuestionRecord,
)
from pytest_memfail.records import Footer, TaskRecord
from pytest_memfail.results import MAX_ERROR_SHARE, summarize, wilson
from pytest_memfail.results.duplicates import duplicates

NUMBER = iter(range(10**9))


def line(verdict, task="t", question=None, *, held=None, vacuous=False, answer="ungraded", **more):
    """One finished question."""
    name = question or f"q-{next(NUMBER)}"
    given = {"id": f"{task}::{name}", "task": task, "store": task, "question": name, "verdict": verdict}
    if verdict != ERROR:
        given |= {
            "vacuous": vacuous,
            "memory_held": None if vacuous else held if held is not None else verdict == CORRECT,
            "facts": [{"verdict": verdict}],
            "answer": {"outcome": answer},
            "seconds": {"retrieve": 0.01},
        }
    return made_records.question(**{**given, **more})


def built(*records, **options):
    questions = [record for record in records if isinstance(record, QuestionRecord)]
    return summarize(questions, [record for record in records if not isinstance(record, QuestionRecord)], **options)


def test_verdicts_are_counted_for_each_task_and_for_all():
    summary = built(line(CORRECT, "a"), line(NOT_STORED, "a"), line(NOT_STORED, "b"), line(ERROR, "b"))
    assert [tally.name for tally in summary.tasks] == ["a", "b"]
    assert summary.tasks[0].states == {**dict.fromkeys(STATES, 0), CORRECT: 1, NOT_STORED: 1}
    assert summary.total.states == {**dict.fromkeys(STATES, 0), CORRECT: 1, NOT_STORED: 2, ERROR: 1}
    assert (summary.total.n, summary.total.graded) == (4, 3)


def test_tasks_come_in_the_order_asked_for_and_others_follow():
    tasks = dict.fromkeys(["a", "b", "none of these"], TaskRecord(data_hash="x"))
    summary = built(line(CORRECT, "z"), line(CORRECT, "b"), line(CORRECT, "a"), tasks=tasks)
    assert [tally.name for tally in summary.tasks] == ["a", "b", "z"]


def test_errors_and_ungraded_count_neither_right_nor_wrong():
    verdicts = [CORRECT] * 3 + [NOT_STORED]
    without = built(*map(line, verdicts)).total
    with_errors = built(*map(line, [*verdicts, *[ERROR] * 5, *[UNGRADED] * 4])).total
    assert with_errors.share(CORRECT, with_vacuous=True) == without.share(CORRECT, with_vacuous=True) == wilson(3, 4)


def test_errors_do_not_count_as_lost_memories():
    total = built(line(CORRECT), line(NOT_STORED), line(ERROR)).total
    assert total.memory_held == wilson(1, 2)


def test_an_ungraded_answer_over_a_memory_that_held_counts_for_the_memory():
    total = built(line(UNGRADED, held=True), line(NOT_RETRIEVED)).total
    assert total.memory_held == wilson(1, 2)
    assert total.share(CORRECT, with_vacuous=True) == wilson(0, 1)


def test_vacuous_passes_are_in_the_papers_rate_and_left_out_of_ours():
    total = built(line(CORRECT), line(NOT_STORED), line(CORRECT, vacuous=True), line(CORRECT, vacuous=True)).total
    assert total.vacuous == 2
    assert total.share(CORRECT, with_vacuous=True) == wilson(3, 4)
    assert total.share(CORRECT, with_vacuous=False) == wilson(1, 2)
    assert total.memory_held == wilson(1, 2)


def test_nothing_but_vacuous_passes_has_no_rate_of_its_own():
    total = built(*(line(CORRECT, vacuous=True) for _ in range(5))).total
    assert total.share(CORRECT, with_vacuous=False).value is None
    assert total.memory_held.value is None


def test_all_errors_give_no_rate_at_all_and_never_0_percent():
    total = built(*(line(ERROR) for _ in range(20))).total
    assert total.share(CORRECT, with_vacuous=True).value is None
    assert total.share(CORRECT, with_vacuous=False).value is None
    assert total.memory_held.value is None


def test_all_errors_are_no_result():
    assert built(*(line(ERROR) for _ in range(20))).untrusted == ("no verdict: 20 of 20 questions are errors")
    assert built(line(ERROR)).untrusted == "no verdict: 1 of 1 question is an error"


def test_errors_and_ungraded_alone_are_no_result():
    lines = [line(ERROR), line(UNGRADED, memory_held=None)]
    assert built(*lines).untrusted == "no verdict: 1 of 2 questions is an error, the others ungraded"


def test_a_memory_that_held_everything_is_a_result_without_any_answer():
    assert built(*(line(UNGRADED, held=True) for _ in range(5))).untrusted is None


@pytest.mark.parametrize(("errors", "trusted"), [(0, True), (10, True), (11, False), (99, False)])
def test_up_to_a_tenth_of_errors_is_trusted(errors, trusted):
    assert MAX_ERROR_SHARE == 0.1
    summary = built(*(line(ERROR) for _ in range(errors)), *(line(CORRECT) for _ in range(100 - errors)))
    assert (summary.untrusted is None) == trusted
    if not trusted:
        assert f"{errors} of 100" in summary.untrusted


def test_a_run_without_questions_is_not_untrusted():
    assert built().untrusted is None
    assert built().tasks == ()


def test_a_rerun_replaces_what_it_was():
    total = built(line(ERROR, question="a"), line(NOT_STORED, question="b"), line(CORRECT, question="a")).total
    assert total.n == 2
    assert (total.states[CORRECT], total.states[NOT_STORED], total.states[ERROR]) == (1, 1, 0)


def test_a_rerun_under_another_node_id_replaces_it_too():
    own = line(CORRECT, question="a", id="test_mine.py::test[a]")
    assert built(line(NOT_STORED, question="a"), own).total.n == 1


@pytest.mark.parametrize("changes", [{"k": 10}, {"store": "other"}, {"task": "other", "store": "t"}])
def test_the_same_question_at_another_k_store_or_task_is_another(changes):
    assert built(line(CORRECT, question="a"), line(CORRECT, question="a", **changes)).total.n == 2


def test_what_a_sample_left_out_of_the_tasks_asked_is_warned_of():
    tasks = {name: TaskRecord(data_hash="x", left_out=n) for name, n in {"a": 3, "b": 4, "not asked": 50}.items()}
    (warning,) = built(line(CORRECT, "a"), line(CORRECT, "b"), tasks=tasks).warnings
    assert "leaves out 7 conversations" in warning


def test_a_run_adds_up_once_however_it_ends():
    run = made_records.run(line(CORRECT), line(NOT_STORED), store())
    counted = run.summary()
    ended = run.ended(Footer(exit_code=1, complete=True, models=({"stage": "judge", "model": "m"},)))
    assert run.summary() is counted
    assert ended.summary().total is counted.total
    assert (counted.models, ended.summary().models) == ((), ({"stage": "judge", "model": "m"},))


@pytest.mark.parametrize(
    ("outcomes", "answered"),
    [(["ungraded"], False), (["not_reached"], False), (["ungraded", "failed"], True), (["passed"], True)],
)
def test_a_run_counts_as_answered_once_an_answer_was_judged(outcomes, answered):
    assert built(*(line(CORRECT, answer=outcome) for outcome in outcomes)).answered is answered


def test_facts_are_counted_by_stratum_where_questions_have_several():
    def with_facts(stratum, *verdicts):
        return line(NOT_STORED, stratum=stratum, facts=[{"verdict": verdict} for verdict in verdicts])

    (tally,) = built(
        with_facts("N=3", CORRECT, CORRECT, NOT_STORED),
        with_facts("N=2", CORRECT, NOT_STORED),
        with_facts("N=3", NOT_STORED, NOT_STORED, NOT_STORED),
        with_facts("N=1", CORRECT),
    ).tasks
    assert list(tally.facts) == ["N=2", "N=3"]
    assert tally.facts["N=3"] == {FACT_HELD: 2, NOT_STORED: 4}


def test_the_figures_of_a_tasks_stores_are_added_up():
    figures = built(line(CORRECT), store(), store(fill_seconds=3.0)).stores[0]
    assert (figures.stores, figures.conversations, figures.memories, figures.tokens) == (2, 20, 40, 200)
    assert figures.fill_seconds == 5.0


def test_tokens_are_unknown_if_those_of_one_store_are():
    assert built(line(CORRECT), store(), store(tokens=None)).stores[0].tokens is None


def test_a_task_without_a_store_line_has_no_figures():
    figures = built(line(ERROR)).stores[0]
    assert (figures.stores, figures.tokens, figures.retrieve_p50, figures.retrieve_p95) == (0, None, None, None)


def test_retrieval_times_are_given_as_median_and_95th_percentile():
    lines = [line(CORRECT, seconds={"retrieve": i / 100}) for i in range(101)]
    figures = built(*lines).stores[0]
    assert (figures.retrieve_p50, figures.retrieve_p95) == (0.5, 0.95)


@pytest.mark.parametrize("changed", [[2, 0], [0, 3]])
def test_a_store_that_changed_while_asked_is_a_warning(changed):
    (warning,) = built(line(CORRECT), store(changed_by_queries=changed)).warnings
    assert f"+{changed[0]} -{changed[1]}" in warning
    assert "must not write" in warning


def test_entries_that_came_late_are_no_writes_of_queries():
    assert built(line(CORRECT), store(changed_by_queries=[2, 0], late=2)).warnings == ()


def test_shared_state_is_named_as_that():
    (warning,) = built(line(CORRECT), store(changed_by_queries=[2, 0], shared_with="t::other")).warnings
    assert "and t::other share state (+2 -0 entries while asked)" in warning
    assert "must not write" not in warning


def test_a_store_that_did_not_change_is_none():
    assert built(line(CORRECT), store()).warnings == ()


def facts(*verdicts):
    return [{"verdict": verdict} for verdict in verdicts]


def test_misleading_questions_are_left_out_of_memory_held():
    """Else a memory that loses more is tested by fewer of them, and looks better than it is."""
    direct = [line(NOT_STORED) for _ in range(3)] + [line(UNGRADED, held=True, facts=facts(CORRECT)) for _ in range(7)]
    lost = [line(CORRECT, vacuous=True, must_not_use=True) for _ in range(3)]
    kept = [line(UNGRADED, held=True, must_not_use=True) for _ in range(7)]
    total = built(*direct, *lost, *kept).total
    assert total.memory_held == wilson(7, 10)
    assert total.facts_held.count / total.facts_held.n == 0.7
    assert (total.n, total.vacuous, total.misleading) == (20, 3, 10)


def test_abstention_is_over_the_misleading_questions_with_a_verdict():
    lines = [
        line(CORRECT, vacuous=True, must_not_use=True),
        line(CORRECT, must_not_use=True, answer="passed"),
        line(REASONING_ERROR, held=True, must_not_use=True, answer="failed"),
        line(SUMMARY_ERROR, must_not_use=True),
        line(UNGRADED, held=True, must_not_use=True),
        line(ERROR, must_not_use=True),
        line(CORRECT, kind="direct"),
    ]
    total = built(*lines).total
    assert (total.abstention, total.misleading) == (wilson(2, 4), 6)


def test_a_run_of_misleading_questions_alone_is_a_result():
    assert built(line(UNGRADED, held=True, must_not_use=True)).untrusted is None


def test_facts_are_counted_one_by_one():
    """At a small k no question has all its facts, and only single facts tell two systems apart."""
    lines = [
        line(NOT_RETRIEVED, facts=facts(CORRECT, NOT_RETRIEVED), row="r.csv:2"),
        line(NOT_RETRIEVED, facts=facts(NOT_RETRIEVED, NOT_STORED), row="r.csv:3"),
        line(UNGRADED, facts=facts(CORRECT, UNGRADED), row="r.csv:4", held=None),
        line(ERROR, row="r.csv:5"),
    ]
    rate = built(*lines).total.facts_held
    assert (rate.count, rate.n) == (2, 5)
    assert 0 < rate.low < 0.4 < rate.high < 1


def test_a_state_that_is_gone_is_no_fact_that_held():
    gone = {"verdict": CORRECT, "retrieval": {"outcome": "passed", "vacuous": True}}
    total = built(line(CORRECT, vacuous=True, facts=[gone]), line(CORRECT)).total
    assert total.facts_held == wilson(1, 1)


def test_tokens_shown_are_a_mean_and_a_share_of_each_store():
    lines = [line(CORRECT, shown_tokens=100, store_tokens=1000), line(CORRECT, shown_tokens=300, store_tokens=1000)]
    total = built(*lines, line(ERROR), line(CORRECT)).total
    assert (total.shown_tokens, total.shown_share) == (200, 0.2)
    assert built(line(CORRECT)).total.shown_tokens is None
    empty = built(line(CORRECT, shown_tokens=0, store_tokens=0)).total
    assert (empty.shown_tokens, empty.shown_share) == (0, None)  # nothing of nothing is no share


@pytest.mark.parametrize(
    ("texts", "repeated"),
    [
        ((), 0),
        (("Ada bakes rye bread.", "Ada knits."), 0),
        (("Ada bakes rye bread.", "ada  bakes rye bread."), 1),
        (("Ada bakes rye bread.",) * 5, 4),
        (("Ada bakes rye bread here.", "[user] Ada bakes rye bread here"), 1),
        (("The old tram leaves the harbour at 7.", "The old tram leaves the harbour at 9."), 0),
        (("He eats the red apples on Sunday", "He never eats the red apples on Sunday"), 0),
        (("Ann rides a big red bicycle to work every day", "Bob rides a big red bicycle to work every day"), 0),
    ],
)
def test_a_memory_that_repeats_a_better_ranked_one_is_a_duplicate(texts, repeated):
    assert duplicates(texts) == repeated


@pytest.mark.parametrize(("copies", "warned"), [(0, False), (1, False), (2, True)])
def test_more_than_a_fifth_of_duplicates_is_warned_of(copies, warned):
    shown = ["Ada bakes.", "Bo runs.", "Cy swims.", "Di sings.", "Ed reads."][: 5 - copies] + ["Ada bakes."] * copies
    summary = built(line(CORRECT, retrieved=[{"text": text} for text in shown]), line(ERROR))
    assert summary.total.duplicate_share == copies / 5
    assert warned == any("repeat one that is ranked better (40 % in t)" in text for text in summary.warnings)
    assert built(line(CORRECT)).total.duplicate_share is None


@pytest.mark.parametrize(("shown", "warned"), [(500, False), (510, True)])
def test_showing_more_than_half_of_the_store_is_warned_of(shown, warned):
    warnings = built(line(CORRECT, "a", shown_tokens=shown, store_tokens=1000), line(CORRECT, "b")).warnings
    assert warned == any("more than half of the store is shown per question (51 % in a)" in text for text in warnings)


def test_entries_beyond_k_are_told():
    lines = [line(CORRECT, cut=3), line(CORRECT, cut=4), line(CORRECT)]
    assert (
        "the system returned more than k entries for 2 questions; 7 entries beyond k were cut" in built(*lines).warnings
    )


def test_tallies_at_each_k_where_there_are_several():
    asked = [line(verdict, question="a", k=k) for k, verdict in ((10, CORRECT), (2, NOT_STORED))]
    summary = built(*asked)
    (task,) = summary.tasks
    assert list(summary.by_k) == [2, 10]
    assert {k: found[task.name].states[CORRECT] for k, found in summary.by_k.items()} == {2: 0, 10: 1}
    assert [found["all"].n for found in summary.by_k.values()] == [1, 1]
    assert built(asked[0]).by_k == {}


def refused(n):
    """A store of which this many of 20 writes were refused."""
    doubt = {"kind": "refusals", "text": "refused", "affected": n, "of": 20, "unit": "write", "limit": 0.1}
    return store(doubts=[doubt])


def test_doubts_of_stores_and_of_the_run_are_added_up():
    asked = [line(CORRECT) for _ in range(3)]
    stores = [refused(n) for n in (1, 2)]
    calm = built(*asked, *stores)
    assert (calm.untrusted, calm.warnings) == (None, ("refused (3 of 40 writes)",))
    worse = calm.with_doubts([Doubt("refusals", "refused", 2, 5, "write", 0.1)])
    assert (worse.untrusted, worse.warnings) == ("refused (5 of 45 writes, at most 10% are trusted)", ())


def test_a_doubt_that_affects_nothing_is_not_told():
    summary = built(line(CORRECT), refused(0))
    assert (summary.untrusted, summary.warnings) == (None, ())


def test_what_the_judge_could_not_read_is_warned_of_up_to_a_tenth_and_no_result_above():
    unread = {"verdict": UNGRADED, "decided_by": "storage", "storage": {"outcome": "ungraded", "label": "unread"}}
    unknown = [line(UNGRADED, facts=[{"verdict": CORRECT}, unread], memory_held=None) for _ in range(2)]
    read = [line(NOT_STORED) for _ in range(9)]
    said = "ungraded: the offline judge reads only English facts and entries; use --memfail-judge=MODEL (1 of 10 questions)"
    some = built(*unknown[1:], *read)
    assert ([warning for warning in some.warnings if "English" in warning], some.untrusted) == ([said], None)
    assert some.total.undecided == 1
    many = built(*unknown, *read)
    assert many.untrusted == said.replace("1 of 10 questions", "2 of 11 questions, at most 10% are trusted")
    assert not any("English" in warning for warning in many.warnings)
    no_question_of_its_kind = built(*(line(UNGRADED, memory_held=None) for _ in range(9)), line(CORRECT))
    assert (no_question_of_its_kind.untrusted, no_question_of_its_kind.total.undecided) == (None, 9)
    lost = line(NOT_STORED, facts=[{"verdict": NOT_STORED}, unread])  # failed whatever the other fact is
    assert not any("English" in warning for warning in built(lost).warnings)
    assert not any("English" in warning for warning in built(line(CORRECT), line(UNGRADED)).warnings)


def test_a_question_of_what_must_not_be_held_says_nothing_of_the_answers_of_others():
    unwanted = line(CORRECT, answer="passed", facts=[{"verdict": CORRECT, "is_distractor": True}])
    assert not built(unwanted, line(NOT_RETRIEVED)).answered
    assert built(unwanted).answered
