"""The section at the end of a run."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from importlib import resources

import pytest

from pytest_memfail.core import (
    CORRECT,
    ERROR,
    FACT_HELD,
    NO_ANSWER,
    NOT_RETRIEVED,
    NOT_STORED,
    REASONING_ERROR,
    STATES,
    SUMMARY_ERROR,
    UNGRADED,
    VACUOUS,
)
from pytest_memfail.report import details, summary, verdict_table
from pytest_memfail.results import StoreFigures, Summary, Tally, wilson
from pytest_memfail.suites.memfail import TASK_NAMES


def tally(name="t", held=0, tested=0, facts=None, **states):
    return Tally(name, {**dict.fromkeys(STATES, 0), **states}, held, tested, facts or {})


def results(*tallies, answered=False, protocol="ours", **more):
    total = tally(
        "all",
        sum(t.held for t in tallies),
        sum(t.tested for t in tallies),
        **{state: sum(t.states[state] for t in tallies) for state in STATES},
    )
    given = {"stores": (), "warnings": ()} | more
    return Summary(tuple(tallies), total, answered=answered, protocol=protocol, **given)


def both(given, full=False):
    """All of it, the verdicts first."""
    return [*verdict_table(given), "", *details(given, full=full)]


EVERYTHING = {state: 80 + i for i, state in enumerate(STATES)}


def row(lines, name):
    """The row of the task in the table of verdicts."""
    return rows(lines, name)[0]


def rows(lines, name):
    """All rows of that name: of verdicts, and of what stands beside them."""
    return [line for line in lines if line.startswith(f"{name} ")]


def test_the_table_fits_100_columns_with_every_column():
    tallies = [tally(name, held=99, tested=100, **EVERYTHING | {"wrongly_held": 0}) for name in TASK_NAMES]
    lines = both(results(*tallies, answered=True))
    assert [line for line in lines if len(line) > 100] == []
    heads = " ".join(line for line in lines if line.startswith(("task ", " ")))
    for word in ("correct", "stored", "summary", "retrieved", "reasoning", "vacuous", "answer", "ungraded", "error"):
        assert word in heads


def test_numbers_stand_under_their_own_columns():
    lines = list(verdict_table(results(tally(held=32, tested=100, **EVERYTHING))))
    graded, others = STATES[:6], STATES[6:]
    assert lines[1].split("]")[1].split() == ["of", "correct", "held", "stored", "error", "retrieved", "error"]
    assert lines[2].split("]")[1].split() == ["100", *(str(EVERYTHING[state]) for state in graded)]
    assert lines[5].split() == ["task", "vacuous", "answer", "ungraded", "error"]
    assert lines[6].split() == ["t", *(str(EVERYTHING[state]) for state in others)]
    ends = [[found.end() for found in re.finditer(r"\S+", line)] for line in (*lines[1:3], *lines[5:7])]
    assert (ends[0][-7:], ends[2][1:]) == (ends[1][-7:], ends[3][1:])


def test_zeroes_go_if_there_is_no_room():
    names = {CORRECT: 1, NOT_RETRIEVED: 2, VACUOUS: 3, UNGRADED: 4, ERROR: 5}
    lines = list(verdict_table(results(tally(**names), answered=True)))
    assert lines[1].split("]")[1].split() == ["of", "correct", "retrieved", "vacuous", "ungraded", "error"]
    assert lines[2].split()[-5:] == ["1", "2", "3", "4", "5"]


def test_a_name_longer_than_the_column_shifts_no_row():
    given = results(
        tally("retrieval.of_a_part_with_a_long_name", **EVERYTHING), tally("t", **EVERYTHING), answered=True
    )
    for table in (list(verdict_table(given)), details(given)):
        long, short = row(table, "retrieval.of_a_part_with_a_long_name"), row(table, "t")
        assert len(long) == len(short)


@pytest.mark.parametrize("answered", [True, False])
def test_wrong_answers_have_a_column_once_answers_were_judged(answered):
    lines = both(results(tally(**{CORRECT: 5}), answered=answered))
    assert any("reasoning" in line for line in lines) == answered


@pytest.mark.parametrize(
    ("verdict", "answered", "word"),
    [(UNGRADED, True, "ungraded"), (NO_ANSWER, False, "answer"), (ERROR, True, "error"), (ERROR, False, "error")],
)
def test_ungraded_and_errors_have_a_column_where_there_are_any(verdict, answered, word):
    def heads(n):
        lines = both(results(tally(**{CORRECT: 5, verdict: n}), answered=answered))
        return lines[1].split().count(word)

    assert heads(1) == heads(0) + 1


def test_without_answers_nothing_is_counted_as_correct():
    given = results(tally(held=95, tested=95, **{VACUOUS: 1, NO_ANSWER: 99}))
    lines = list(verdict_table(given))
    assert "correct" not in f"{lines[0]}{lines[1]}"
    assert lines[1].split()[-5:] == ["stored", "error", "retrieved", "vacuous", "answer"]
    assert lines[2].split()[-6:] == ["95", "0", "0", "0", "1", "99"]
    assert lines[3].startswith("no answer (pytest says skipped): ")
    assert lines[3].endswith("(--memfail-model=NAME)")


def test_what_the_judge_left_open_is_ungraded():
    given = results(tally(**{NOT_STORED: 2, UNGRADED: 3}))
    for more in ({}, {"replied": True}, {"answered": True}):
        lines = list(verdict_table(replace(given, **more)))
        assert lines[1].split()[-1] == "ungraded"
        (said,) = lines[3:]
        assert said.startswith("ungraded (pytest says skipped): ")
        assert ("--memfail-judge=MODEL" in said) == ("answered" not in more)


def test_the_mean_over_tasks_stands_under_the_total():
    given = results(tally("a", held=1, tested=4, **{NO_ANSWER: 4}), tally("b", held=9, tested=10, **{NO_ANSWER: 20}))
    lines = list(verdict_table(given))
    assert row(lines, "all").split()[1:3] == ["24", "71.4"]
    assert row(lines, "mean of 2 tasks").split()[-1] == "57.5"
    untested = replace(given, tasks=(given.tasks[0], tally("c", **{NO_ANSWER: 1})))
    assert not any(line.startswith("mean of") for line in verdict_table(untested))


def test_with_several_k_each_has_a_row_of_its_own():
    one, two = tally("a", held=1, tested=4, **{NOT_RETRIEVED: 3, UNGRADED: 1}), tally("b", **{NOT_STORED: 2})
    better = tally("a", held=3, tested=4, **{NOT_RETRIEVED: 1, UNGRADED: 3})
    given = results(tally("a", **{NOT_RETRIEVED: 4, UNGRADED: 4}), two)
    given = replace(given, by_k={1: {"a": one, "b": two, "all": one}, 10: {"a": better, "all": better}})
    cells = [line.split() for line in verdict_table(given)][2:]
    assert [words[0] for words in cells[:8]] == ["a", "k=1", "k=10", "b", "k=1", "all", "k=1", "k=10"]
    assert [words[1:3] for words in cells[1:3]] == [["4", "25.0"], ["4", "75.0"]]
    assert cells[0] == ["a"]  # what is pooled over k means nothing
    assert [line.split()[0] for line in details(given)[2:5]] == ["a", "k=1", "k=10"]


def test_a_rate_has_its_n_and_its_interval():
    line = row(both(results(tally(held=32, tested=100, **{NO_ANSWER: 82, NOT_STORED: 68}))), "t")
    assert line.split()[:5] == ["t", "150", "32.0", "[24,", "42]"]
    assert line.split()[5] == "100"


def test_without_answers_the_rate_is_that_of_the_memory():
    lines = both(results(tally(held=1, tested=4, **{CORRECT: 1, UNGRADED: 3})))
    assert "memory held %" in lines[0]
    assert "25.0 [" in row(lines, "t")


def test_with_answers_the_rate_is_that_of_correct_ones_without_vacuous_passes():
    given = tally(held=1, tested=2, **{CORRECT: 1, VACUOUS: 2, NOT_STORED: 1})
    lines = both(results(given, answered=True))
    assert "correct %" in lines[0]
    assert "50.0 [" in row(lines, "t")


def test_under_paper_vacuous_passes_count():
    given = tally(held=1, tested=2, **{CORRECT: 1, VACUOUS: 2, NOT_STORED: 1})
    lines = both(results(given, answered=True, protocol="paper"))
    assert "75.0 [" in row(lines, "t")


@pytest.mark.parametrize("answered", [True, False])
def test_all_errors_give_no_rate_and_never_0_percent(answered):
    lines = both(results(tally(**{ERROR: 20}), answered=answered))
    assert "0.0" not in row(lines, "t")
    assert re.search(r"\s-\s", row(lines, "t"))


def test_one_task_needs_no_total():
    assert not any(line.startswith("all ") for line in both(results(tally("a", **{CORRECT: 1}))))
    lines = both(results(tally("a", **{CORRECT: 1}), tally("b", **{NOT_STORED: 2})))
    assert row(lines, "all").split()[1] == "3"


@pytest.mark.parametrize(("protocol", "how"), [("ours", "left out of the rates"), ("paper", "counted as correct")])
def test_vacuous_passes_are_told_apart(protocol, how):
    lines = both(results(tally("persona_retrieval", **{VACUOUS: 3, CORRECT: 2}), protocol=protocol))
    (line,) = [line for line in lines if line.startswith("vacuous passes")]
    assert "3 in persona_retrieval" in line
    assert how in line


def test_without_vacuous_passes_nothing_is_said_of_them():
    assert not any("vacuous" in line for line in both(results(tally(**{CORRECT: 5}))))


def test_facts_by_stratum_are_shown_when_asked_for():
    given = results(tally("coexisting_facts", facts={"N=2": {FACT_HELD: 3, SUMMARY_ERROR: 1}, "N=3": {NOT_STORED: 2}}))
    assert not any(line.startswith("facts of") for line in both(given))
    assert [line for line in both(given, full=True) if line.startswith("facts of")] == [
        "facts of coexisting_facts, N=2: 3 held, 1 summary_error",
        "facts of coexisting_facts, N=3: 2 not_stored",
    ]


def figures(**changes):
    given = {
        "task": "conditional_facts_easy",
        "stores": 1,
        "conversations": 100,
        "memories": 1000,
        "tokens": 25_000,
        "fill_seconds": 5.0,
        "retrieve_p50": 0.0125,
        "retrieve_p95": 0.1,
    }
    return StoreFigures(**{**given, **changes})


def test_the_stores_cost_and_hold():
    lines = both(results(tally(**{CORRECT: 1}), stores=(figures(),)))
    assert row(lines, "conditional_facts_easy").split() == [
        "conditional_facts_easy",
        "100",
        "0.0500",
        "1000",
        "25.0",
        "12.5",
        "ms",
        "100.0",
        "ms",
    ]


def test_the_stores_table_fits_100_columns():
    large = figures(conversations=10**6, memories=10**8, tokens=10**12, fill_seconds=10.0**9, retrieve_p95=10.0**4)
    lines = both(results(tally(**{CORRECT: 1}), stores=(large,)))
    assert [line for line in lines if len(line) > 100] == []


def test_what_is_unknown_of_a_store_is_a_dash():
    empty = figures(conversations=0, memories=0, tokens=None, retrieve_p50=None, retrieve_p95=None)
    line = row(both(results(tally(**{CORRECT: 1}), stores=(empty,))), "conditional_facts_easy")
    assert line.split() == ["conditional_facts_easy", "0", "-", "0", "-", "-", "-"]


def test_without_a_store_there_is_no_table_of_stores():
    assert not any(
        line.startswith("store ") for line in both(results(tally(**{CORRECT: 1}), stores=(figures(stores=0),)))
    )


def test_the_verdicts_stand_last_and_the_record_under_them():
    given = results(tally(**{CORRECT: 1}), warnings=("it changed",), record="run.jsonl")
    assert summary(given) == [*details(given), "", *verdict_table(given), "record: run.jsonl"]


def test_warnings_come_last():
    lines = both(results(tally(**{CORRECT: 1}), warnings=("it changed",)))
    assert lines[-1] == "warning: it changed"


def test_every_failure_is_counted_in_its_row():
    given = {CORRECT: 11, NOT_STORED: 22, SUMMARY_ERROR: 33, NOT_RETRIEVED: 44, REASONING_ERROR: 55}
    line = row(both(results(tally(**given), answered=True)), "t")
    assert line.split()[1] == "165"
    assert line.split()[-5:] == ["11", "22", "33", "44", "55"]


def test_facts_and_tokens_stand_beside_memory_held():
    given = replace(tally(held=1, tested=4), facts_held=wilson(6, 8), shown_tokens=1234.5, shown_share=0.0625)
    line = rows(both(results(given)), "t")[1]
    assert line.split() == ["t", "8", "75.0", "[41,", "93]", "1234", "6.2"]


def test_what_was_not_counted_is_a_dash():
    assert rows(both(results(tally())), "t")[1].split() == ["t", "0", "-", "-", "-"]


def test_abstention_has_a_line_of_its_own():
    given = replace(tally("p", **{CORRECT: 140}), misleading=150, abstention=wilson(131, 150))
    assert "abstention 87.3 % [81, 92] of 150 misleading questions of p" in both(results(given, answered=True))
    assert "abstention not judged: 150 misleading questions of p, not in memory held" in both(results(given))
    some = replace(given, abstention=wilson(131, 148))
    assert any(line.endswith("(2 more have no verdict)") for line in both(results(some, answered=True)))
    assert not any("abstention" in line for line in both(results(tally(), answered=True)))


def unsure_line(*tasks, judge="offline"):
    found = details(results(*(tally(name, correct=3) for name in tasks), unsure=2, judge=judge))
    return " ".join(" ".join(found).split())


@pytest.mark.parametrize("judge", ["offline", "offline encoder=on"])
def test_what_the_judge_is_unsure_of_stands_beside_how_often_that_is_right(judge):
    known = json.loads((resources.files("pytest_memfail.report") / "unsure.json").read_bytes())[judge]
    one = known["updated_facts"].values()
    right, n = (sum(counts[at] for counts in one) for at in (0, 1))
    said = unsure_line("updated_facts", "a task of mine", judge=judge)
    share = f"such verdicts are right for {100 * right / n:.0f} % of {n} labelled facts of these tasks;"
    assert f"{judge} judge unsure of 2 of 6 verdicts (confidence below 0.8); {share}" in said
    n = sum(n for styles in known.values() for _, n in styles.values())
    assert f" of {n} labelled facts of these tasks (" in unsure_line(*known, judge=judge)


def test_the_styles_with_the_lowest_and_the_highest_share_stand_beside_it():
    known = json.loads((resources.files("pytest_memfail.report") / "unsure.json").read_bytes())["offline"]
    said = unsure_line(*known)
    assert f" ({share_of(known, 'paragraph')} in paragraph memories, " in said
    assert f", {share_of(known, 'quotes')} in quotes memories); " in said


def share_of(known, style):
    right, n = (sum(styles[style][at] for styles in known.values()) for at in (0, 1))
    return f"{100 * right / n:.0f} % of {n}"


@pytest.mark.parametrize(
    ("task", "judge"),
    [("a task of mine", "offline"), ("updated_facts", "nli:model"), ("a task of mine", "offline encoder=on")],
)
def test_nothing_is_said_of_tasks_without_labelled_facts_or_of_other_judges(task, judge):
    said = unsure_line(task, judge=judge)
    assert f"{judge} judge unsure of 2 of 3 verdicts (confidence below 0.8); --memfail-judge=offline+MODEL" in said
