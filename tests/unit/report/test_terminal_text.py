"""Failures grouped by cause, the clearest first, and the sentence that says where most is lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from record_lines import failed
from recorded_runs import gate, question

from pytest_memfail.core import (
    FAILURES,
    NOT_RETRIEVED,
    NOT_STORED,
    SUMMARY_ERROR,
    ErrorRecord,
    QuestionRecord,
    StageResult,
)
from pytest_memfail.records import Gate, Reference
from pytest_memfail.report import Failed, cause_lines, closing, failed_question, failed_questions, worst_first
from pytest_memfail.report.terminal import most_lost
from pytest_memfail.results import Summary, summarize


def failures(task: str, verdict: str, count: int, confidence: float = 0.9, length: int = 10) -> list[Failed]:
    name = f"memfail/{task}::{verdict}"
    return [Failed(f"{name}-{i}", task, verdict, f"reason {i}", confidence, length) for i in range(count)]


def summary_of(given: Iterable[Failed], held: int = 0, record: str | None = None) -> Summary:
    """The summary of a run with these failures, and so many questions of each task that held."""
    given = list(given)
    asked = [question(number, one.verdict, task=one.task) for number, one in enumerate(given)]
    tasks = dict.fromkeys(one.task for one in given)
    asked += [question(1000 + number, "correct", task=task) for task in tasks for number in range(held)]
    return summarize(asked, (), record=record)


# -- one question --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verdict", ["not_stored", "summary_error", "not_retrieved"])
def test_a_failure_keeps_what_the_end_of_the_run_needs(verdict):
    found = failed_question(question(1, verdict, lost="nine", source="Ada bakes at nine.", text="When?"))
    assert found is not None
    assert (found.id, found.task, found.verdict) == ("memfail/t::q-1", "t", verdict)
    assert found.confidence == -1  # the judge gave none
    assert found.length == len("When?") + len("Ada bakes at nine.")


def test_the_surest_of_the_facts_that_failed_counts():
    given = failed("summary_error", "summary_error", "not_retrieved")
    facts = tuple(
        replace(fact, **{fact.decided_by: replace(fact.deciding, confidence=confidence)})
        for fact, confidence in zip(given.facts, (0.4, 0.8, 0.99), strict=True)
    )
    found = failed_question(replace(given, facts=facts))
    assert found is not None
    assert (found.verdict, found.confidence) == ("summary_error", 0.8)


def test_a_wrong_answer_has_the_confidence_of_its_answer():
    given = failed("correct", reply="No.")
    assert given.verdict == "reasoning_error"
    found = failed_question(replace(given, answer=StageResult(outcome="failed", confidence=0.7)))
    assert found is not None
    assert found.confidence == 0.7


def test_a_question_that_did_not_fail_is_none():
    assert failed_question(question(1, "correct")) is None
    error = replace(question(1, "correct"), verdict="error", error=ErrorRecord(type="E", message="m"))
    assert failed_question(error) is None


def test_a_failure_without_facts_in_a_record_of_another_program_is_shown_too():
    found = failed_question(replace(question(1, "not_stored"), facts=()))
    assert found is not None
    assert found.confidence == -1


# -- causes --------------------------------------------------------------------------------------------------------------


def test_a_group_for_each_task_and_verdict_with_its_count_and_its_clearest_examples():
    given = [*failures("a", NOT_STORED, 2), *failures("b", SUMMARY_ERROR, 5, 0.5), *failures("a", SUMMARY_ERROR, 1)]
    given += [Failed("memfail/b::sure", "b", SUMMARY_ERROR, "the surest", 0.99, 80)]
    given += [Failed("memfail/b::short", "b", SUMMARY_ERROR, "the shortest", 0.5, 1)]
    lines = list(cause_lines(given, summary_of(given, held=3)))
    assert lines == [
        "SUMMARY_ERROR 7 of 10 in b; the 3 clearest:",
        "  memfail/b::sure",
        "    the surest",
        "  memfail/b::short",
        "    the shortest",
        "  memfail/b::summary_error-0",
        "    reason 0",
        "NOT_STORED 2 of 6 in a:",
        "  memfail/a::not_stored-0",
        "    reason 0",
        "  memfail/a::not_stored-1",
        "    reason 1",
        "SUMMARY_ERROR 1 of 6 in a:",
        "  memfail/a::summary_error-0",
        "    reason 0",
    ]


def test_every_failure_in_the_order_given():
    given = failures("a", NOT_STORED, 5)[::-1]
    lines = list(cause_lines(given, summary_of(given), every=True))
    assert lines[0] == "NOT_STORED 5 of 5 in a:"
    assert lines[1::2] == [f"  memfail/a::not_stored-{i}" for i in (4, 3, 2, 1, 0)]


def test_a_reason_stands_whole_on_lines_of_its_own():
    reason = " ".join(f"word{i}" for i in range(60))
    one = Failed("memfail/t::q-1", "t", NOT_STORED, reason, 0.9, 9)
    _, _, *shown = cause_lines([one], summary_of([one]))
    assert len(shown) > 1
    assert " ".join(line.strip() for line in shown) == reason
    assert max(map(len, shown)) <= 100


def test_control_characters_are_written_out():
    one = Failed("memfail/t::q\x1b[2J", "t", NOT_STORED, "it \x1b]52;c; is", 0.9, 9)
    assert "\x1b" not in "".join(cause_lines([one], summary_of([one])))


# -- the texts that are shown --------------------------------------------------------------------------------------------


def test_the_worst_are_spread_over_tasks_and_verdicts():
    given = [
        *failures("a", NOT_STORED, 100, 0.99),
        *failures("b", SUMMARY_ERROR, 30, 0.5),
        *failures("c", NOT_STORED, 2),
    ]
    shown = worst_first(given)
    assert len(shown) == len(set(shown)) == 10
    groups = [name.rpartition("-")[0] for name in shown]
    assert Counter(groups) == {"memfail/a::not_stored": 4, "memfail/b::summary_error": 4, "memfail/c::not_stored": 2}
    assert groups == sorted(groups)  # those of a group stand together, the largest group first


def test_within_a_group_the_surest_then_the_shortest_come_first():
    given = [
        Failed("long", "t", NOT_STORED, "", 0.9, 50),
        Failed("unknown", "t", NOT_STORED, "", -1, 1),
        Failed("short", "t", NOT_STORED, "", 0.9, 5),
        Failed("sure", "t", NOT_STORED, "", 1.0, 500),
    ]
    assert worst_first(given) == ["sure", "short", "long", "unknown"]
    assert worst_first(given, 2) == ["sure", "short"]
    assert worst_first([]) == []


# -- beside a reference ------------------------------------------------------------------------------------------------


def beside(
    reference: str | None, here: str = NOT_RETRIEVED, *, count: int = 4, task: str = "a"
) -> list[QuestionRecord]:
    """Questions that fail here, and that the reference holds, or loses with this verdict."""
    return [
        replace(
            question(number, here, task=task),
            id=f"memfail/{task}::{here}-{reference}-{number}",
            question=f"{here}-{reference}-{number}",
            reference_held=reference is None,
            reference_verdict=reference,
            memory_held=False,
        )
        for number in range(count)
    ]


def at_the_end(asked: Sequence[QuestionRecord], gate: Gate | None = None, **about: Any) -> list[str]:
    reference = Reference(**{"system": "bm25", "judge": "offline", "outcomes": {"x": "correct"}, **about})
    results = replace(summarize(asked, ()), reference=reference, gate=gate)
    return [line for line in closing(results, failed_questions(asked, results), "run") if not line.startswith(" ")]


def test_what_the_reference_holds_leads_however_little_it_is() -> None:
    asked = [*beside(NOT_RETRIEVED, count=30), *beside(None, NOT_STORED, count=3, task="b")]
    *_, headline, ceiling, first, _ = at_the_end(asked)
    assert headline == "loses most in storage (not_stored): 3 of 33 beyond a verbatim store; all in b"
    assert ceiling == "the benchmark's ceiling: 30 of 33 lost are lost by a verbatim store (bm25) too: 30 in a"
    assert first == "next: memfail show run --task b --verdict not_stored"
    failures = failed_questions(asked, summarize(asked, ()))
    assert all("::not_stored" in name for name in worst_first(failures, 3))
    lines = list(cause_lines(failures, summarize(asked, ())))
    assert lines[0] == "NOT_STORED 3 of 3 in b, 3 beyond verbatim:"
    assert lines[-1] == "NOT_RETRIEVED 30 of 30 in a, all lost by a verbatim store too"


def test_a_loss_before_that_of_the_reference_comes_before_the_ceiling() -> None:
    asked = [*beside(NOT_RETRIEVED, count=30), *beside(NOT_RETRIEVED, NOT_STORED, count=3)]
    *_, headline, ceiling, _, _ = at_the_end(asked)
    assert headline == "loses most in storage (not_stored): 3 of 33, which a verbatim store loses later"
    assert ceiling.startswith("the benchmark's ceiling: 30 of 33 lost")


def test_what_the_reference_was_not_judged_on_is_counted_apart() -> None:
    asked = [*beside(None, count=3), question(1, NOT_RETRIEVED, task="a")]
    *_, headline, _, _ = at_the_end(asked)
    assert headline == "loses most in retrieval (not_retrieved): 4 of 4, 3 of them beyond a verbatim store"


def test_what_any_verbatim_store_loses_is_no_fault() -> None:
    *_, headline, ceiling, _, _ = at_the_end(beside(NOT_RETRIEVED, count=30))
    assert headline == "nothing lost beyond a verbatim store among 30 questions"
    assert ceiling.startswith("the benchmark's ceiling: 30 of 30 lost")


def test_regressions_go_before_everything_else() -> None:
    asked = [*beside(None, NOT_STORED, count=9), *(replace(question(i, NOT_RETRIEVED), task="t") for i in range(2))]
    *_, headline, first, _ = at_the_end(asked, gate(2))
    assert headline == "worse than before: 2 of 11 questions, most in retrieval (not_retrieved): 2; all in t"
    assert first == "next: memfail show run --worse"


@pytest.mark.parametrize(
    ("about", "said"),
    [
        (
            {"is_itself": True},
            "bm25 is the reference itself: what it loses, any verbatim store with a word search loses",
        ),
        ({"outcomes": {}, "note": "too large"}, "no reference bm25: too large"),
        ({"note": "judged by offline, this run by m"}, "reference bm25: judged by offline, this run by m"),
    ],
)
def test_the_reference_is_named_if_there_is_something_to_say(about: dict[str, Any], said: str) -> None:
    assert said in at_the_end([question(1, NOT_STORED)], **about)


# -- the headline --------------------------------------------------------------------------------------------------------


def test_the_headline_names_the_stage_the_count_and_the_task():
    given = [*failures("a", SUMMARY_ERROR, 3), *failures("b", SUMMARY_ERROR, 5), *failures("a", NOT_STORED, 7)]
    said = most_lost(summary_of(given, held=10), given)
    assert said == "loses most in summaries (summary_error): 8 of 35; of these 5 in b"


@pytest.mark.parametrize(
    ("verdict", "place"),
    [
        (NOT_STORED, "storage"),
        (SUMMARY_ERROR, "summaries"),
        (NOT_RETRIEVED, "retrieval"),
        ("reasoning_error", "answers"),
    ],
)
def test_each_verdict_has_its_place(verdict, place):
    assert verdict in FAILURES
    asked = [replace(question(number, "correct"), verdict=verdict) for number in range(2)]
    found = summarize(asked, ())
    said = most_lost(found, failed_questions(asked, found))
    assert said == f"loses most in {place} ({verdict}): 2 of 2"


def test_in_one_task_of_several():
    asked: list[QuestionRecord] = []
    for number in range(3):
        asked += [question(number, NOT_STORED, task="a"), question(number, "correct", task="b")]
    found = summarize(asked, ())
    assert most_lost(found, failed_questions(asked, found)) == "loses most in storage (not_stored): 3 of 6; all in a"


def test_without_failures_the_headline_says_so():
    found = summarize([question(1, "correct")], ())
    assert most_lost(found, []) == "nothing lost among 1 question"
    broken = summarize(
        [
            question(1, "correct"),
            replace(question(2, "correct"), verdict="error", error=ErrorRecord("StoreError", "down")),
        ],
        (),
    )
    assert most_lost(broken, []) == "1 of 2 questions ended in an error, nothing lost among the others"
    assert list(closing(found, [], "run"))[-1] == "nothing lost among 1 question"


def test_nothing_is_lost_only_among_the_questions_that_were_judged():
    undecided = [replace(question(i, "correct"), verdict="ungraded", memory_held=None) for i in range(2)]
    found = summarize([*undecided, question(3, "correct")], ())
    assert most_lost(found, []) == "2 of 3 questions could not be judged, nothing lost among the others"
    *_, headline, _, _, _ = at_the_end([*undecided, *beside(NOT_RETRIEVED, count=30)[2:]])
    assert headline == "2 of 30 questions could not be judged, nothing lost beyond a verbatim store among the others"
    open_answer = replace(question(4, "correct"), verdict="ungraded", memory_held=True)
    assert most_lost(summarize([open_answer], ()), []) == "nothing lost among 1 question"


# -- the last screen -----------------------------------------------------------------------------------------------------


def test_the_last_screen_is_table_headline_how_to_go_on_and_record():
    given = failures("a", NOT_STORED, 3)
    lines = list(closing(summary_of(given, held=1, record="x/record.jsonl"), given, "2026-ab"))
    assert "correct %" in lines[0]
    assert lines[2].startswith("a  ")
    assert lines[3:] == [
        "",
        "loses most in storage (not_stored): 3 of 4",
        "next: memfail show 2026-ab --task a --verdict not_stored",
        "all failures: memfail show 2026-ab --all",
        "record: x/record.jsonl",
    ]


def test_a_run_that_is_not_kept_names_no_command():
    given = failures("a", NOT_STORED, 3)
    assert not any("memfail show" in line for line in closing(summary_of(given), given, None))


def test_numbers_that_mean_nothing_have_no_headline():
    given = failures("a", NOT_STORED, 3)
    lines = list(closing(summary_of(given, record="r.jsonl"), given, "run", trusted=False))
    assert not any("loses" in line for line in lines)
    assert lines[-1] == "record: r.jsonl"
