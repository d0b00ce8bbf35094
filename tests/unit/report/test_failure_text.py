"""What the reader of a failure sees."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from record_lines import STAGES, failed

from pytest_memfail.core import FAILURES, MEANINGS, MEMORY_FAILURES, Kept
from pytest_memfail.report import failure, headline
from pytest_memfail.report.excerpts import excerpt, mark

RERUN = "pytest 'memfail/t::q-1' --memfail-system=bm25"
LONG = "The quick brown fox jumps over the lazy dog and bakes a loaf of rye bread, then another one. " * 60
HOSTILE = [
    LONG,
    "x" * 5000,
    ("y" * 99 + " ") * 50,
    "a b " * 2000,
    "line\nafter\r\nline\x0b\x0c\x85\u2028\u2029 end",
    "\ud800 lone",
    "",
    "   ",
    "[only] when [it] rains (.*) \\1 {braces} %s",
    "\t" * 500,
    "é" * 300,
]


def shown(line):
    return failure(line, RERUN)


def assert_readable(lines):
    assert len(lines) <= 25, "\n".join(lines)
    assert [text for text in lines if len(text) > 100] == []
    assert [text for text in lines if len(text.splitlines()) > 1] == []


@pytest.mark.parametrize("reply", [None, "short", LONG], ids=["no-reply", "short-reply", "long-reply"])
@pytest.mark.parametrize("verdict", MEMORY_FAILURES)
def test_a_failure_fits_25_lines_of_100_columns_whatever_the_texts(verdict, reply):
    for text in HOSTILE:
        line = failed(
            verdict, text=text, gold=text, source=text, stored=text, reason=text, lost=text, reply=reply, shown=40
        )
        assert_readable(shown(line))


@pytest.mark.parametrize("reply", [None, LONG], ids=["no-reply", "long-reply"])
@pytest.mark.parametrize("retrieved", [0, 1, 2, 5, 50])
@pytest.mark.parametrize("verdict", MEMORY_FAILURES)
def test_a_failure_of_five_facts_fits_too(verdict, retrieved, reply):
    line = failed(
        *[verdict] * 5, text=LONG, gold=LONG, source=LONG, stored=LONG, reason=LONG, reply=reply, shown=retrieved
    )
    lines = shown(line)
    assert_readable(lines)
    assert any(re.search("and [34] more that failed", text) for text in lines)
    assert lines[-1] == f"rerun      {RERUN}"


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_wrong_answer_fits_too(text):
    line = failed("correct", text=text, gold=text, source=text, stored=text, reply=text, shown=40)
    assert line.verdict == "reasoning_error"
    assert_readable(shown(line))


@pytest.mark.parametrize("verdict", [*MEMORY_FAILURES, "correct"])
def test_a_failure_says_what_failed_and_how_to_run_it_again(verdict):
    line = failed(verdict, reply="She does.")
    lines = shown(line)
    assert lines[0] == f"{line.verdict}: {MEANINGS[line.verdict]}"
    assert "question   Does Ada bake today?" in lines
    assert "expected   Only when it rains." in lines
    assert "answer     She does." in lines
    assert re.fullmatch(r"row        rows\.csv:7 +k=5", lines[-2])
    assert lines[-1] == f"rerun      {RERUN}"


def test_the_rerun_command_is_never_cut():
    command = "pytest " + "x" * 300
    assert failure(failed("not_stored"), command)[-1] == f"rerun      {command}"


@pytest.mark.parametrize("verdict", ["not_stored", "summary_error"])
def test_what_was_lost_is_marked_where_it_was_said(verdict):
    assert "said       Ada bakes bread [only when it rains]." in shown(failed(verdict))


def test_what_was_lost_is_marked_in_the_middle_of_a_long_source():
    source = f"{LONG} Ada bakes bread only when it rains. {LONG}"
    (said,) = [text for text in shown(failed("summary_error", source=source)) if text.startswith("said")]
    assert "[only when it rains]" in said
    assert "… " in said


ESSAY = f"{'Nothing here is like it. ' * 8}A thin day is one that puts fewer than 4 names on the list at dawn. {'More follows. ' * 8}"
LOST = {"source": ESSAY, "lost": "fewer than 4 names"}


def stored_part(line):
    """What stands in the failure under "stored"."""
    return " ".join(" ".join(shown(line)).partition("stored     ")[2].partition("retrieved ")[0].split())


def test_of_a_long_entry_what_became_of_the_damaged_sentence_is_shown():
    line = failed("summary_error", stored=ESSAY.replace("fewer than 4 names", "some names"), **LOST)
    assert stored_part(line) == "… A thin day is one that puts some names on the list at dawn. …"


def test_a_long_entry_without_the_damaged_sentence_is_said_to_have_none():
    line = failed("summary_error", stored="The bread is of something else altogether. " * 9, **LOST)
    assert stored_part(line) == "no sentence near it in that entry"


def test_an_entry_that_lost_nothing_of_what_was_said_is_shown_by_what_was_found():
    stored = f"{'Nothing here is like it. ' * 8}Bread follows."
    assert stored_part(failed("summary_error", source=ESSAY, stored=stored, lost="the user")) == "… Bread follows."


def test_a_fact_that_was_not_retrieved_is_shown_as_it_is_stored():
    lines = shown(failed("not_retrieved", shown=0))
    assert not any(text.startswith("said") for text in lines)
    assert "stored     Ada bakes bread." in lines
    assert "           the stored entry is not among the entries shown" in lines
    assert "retrieved  nothing" in lines


def test_a_fact_shown_in_part_tells_its_rank():
    assert "           the stored entry is shown at rank 1, but not enough of it" in shown(failed("not_retrieved"))


def test_a_fact_shown_without_its_day_tells_what_to_do():
    found = failed("not_retrieved")
    facts = tuple(replace(fact, retrieval=replace(fact.retrieval, label="date_lost")) for fact in found.facts)
    wanted = "           the stored entry is shown at rank 1, without its day: return its timestamp"
    assert wanted in shown(replace(found, facts=facts))


def test_the_stages_that_held_are_told_before_the_one_that_failed():
    assert "summary    storage ok; the condition is gone" in shown(failed("summary_error"))
    assert "retrieval  storage ok, summary ok; the condition is gone" in shown(failed("not_retrieved"))
    assert "storage    the condition is gone" in shown(failed("not_stored"))


def test_the_closest_entry_is_not_called_stored_where_nothing_was():
    lines = shown(failed("not_stored"))
    assert "closest    Ada bakes bread." in lines
    assert not any(text.startswith("stored") for text in lines)


@pytest.mark.parametrize(
    ("kept", "expected"),
    [
        (Kept(), "kept of it nothing"),
        (Kept(is_likely=True), "kept of it nothing that shares its rare words"),
        (Kept((3,), ("Ada knits.",), is_likely=True), "kept of it 1 entry (likely): Ada knits."),
        (Kept((3, 4, 9), ("Ada knits.", "Ada runs.")), "kept of it 3 entries: Ada knits. / Ada runs."),
    ],
)
def test_what_the_store_kept_of_the_conversation_comes_before_the_closest_entry(kept, expected):
    question = failed("not_stored")
    lines = shown(replace(question, facts=(replace(question.facts[0], kept=kept),)))
    assert lines[lines.index("closest    Ada bakes bread.") - 1] == expected


def test_an_entry_kept_of_the_conversation_is_not_shown_again_as_the_closest():
    question = failed("not_stored")
    facts = (replace(question.facts[0], kept=Kept((0,), ("Ada bakes bread.",))),)
    lines = shown(replace(question, facts=facts))
    assert "kept of it 1 entry: Ada bakes bread." in lines
    assert not any(text.startswith("closest") for text in lines)


def test_the_facts_with_the_verdict_of_the_question_come_first():
    lines = shown(failed("not_retrieved", "not_retrieved", "not_stored"))
    assert lines.index("storage    the condition is gone") < lines.index(
        "retrieval  storage ok, summary ok; the condition is gone"
    )


def test_every_retrieved_entry_has_its_rank_and_score():
    lines = shown(failed("summary_error", shown=3))
    assert [text for text in lines if re.search(r"\d\. +-?\d\.\d{3} Ada bakes bread\.", text)] == [
        "retrieved  1.   1.500 Ada bakes bread.",
        "           2.   0.500 Ada bakes bread.",
        "           3.  -0.500 Ada bakes bread.",
    ]


def test_retrieved_entries_left_out_are_counted():
    lines = shown(failed("summary_error", shown=50))
    listed = sum(bool(re.match(r"^(retrieved)? +\d+\. ", text)) for text in lines)
    assert f"           … and {50 - listed} more" in lines


def test_several_facts_are_listed_with_their_verdicts():
    lines = shown(failed("correct", "summary_error", "not_stored"))
    assert "facts      1 correct, 2 summary_error, 3 not_stored" in lines


def test_the_answers_reason_follows_the_answer():
    lines = shown(failed("correct", reply="She does."))
    assert lines[lines.index("answer     She does.") + 1] == "           the answer contradicts the fact"


def test_the_options_of_a_question_are_left_out():
    lines = shown(failed("not_stored", text="Where does it lead?\n\nOptions:\nA. here\nB. there"))
    assert "question   Where does it lead?" in lines
    assert not any("Options" in text for text in lines)


def test_a_question_without_a_row_names_none():
    assert not any(text.startswith("row") for text in shown(failed("not_stored", file="")))


# -- the headline -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        ("not_stored", "the condition is gone"),
        ("summary_error", "lost 'only when it rains'; the condition is gone"),
        ("not_retrieved", "the condition is gone"),
    ],
)
def test_the_headline_is_the_reason(verdict, expected):
    assert headline(failed(verdict)) == expected


@pytest.mark.parametrize(
    ("reason", "lost", "expected"),
    [
        ("stored, but without 'at least 30 nights'", "at least 30 nights", "lost 'at least 30 nights'"),
        ("'the hut' is stored without 'one'", "one", "lost 'one'; 'the hut' is stored"),
        (
            "the behaviour 'sings' is stored, but not as Ada's",
            "Ada",
            "lost 'Ada'; the behaviour 'sings' is stored, but not as Ada's",
        ),
        ("'caves' is stored, but as disliked", "caves", "'caves' is stored, but as disliked"),
        (
            'the link to "aunt\'s ring" is stored the other way round',
            "aunt's ring",
            'the link to "aunt\'s ring" is stored the other way round',
        ),
        ("the entry drops it", " ", "the entry drops it"),
    ],
)
def test_the_headline_says_first_what_was_lost(reason, lost, expected):
    assert headline(failed("summary_error", reason=reason, lost=lost)) == expected


def test_the_headline_takes_the_fact_that_decided():
    line = failed("correct", "not_retrieved", "summary_error", reason="gone", lost="rain")
    assert headline(line) == "lost 'rain'; gone"


def test_the_headline_counts_facts_that_failed_alike():
    assert headline(failed("not_stored", "correct", "not_stored")) == "the condition is gone (and 1 more of 3 facts)"


@pytest.mark.parametrize("verdict", ["not_stored", "not_retrieved"])
def test_without_a_reason_the_headline_is_the_meaning(verdict):
    assert headline(failed(verdict, reason="")) == MEANINGS[verdict]


def test_the_headline_of_a_wrong_answer_is_its_meaning():
    assert headline(failed("correct", reply="no")) == MEANINGS["reasoning_error"]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_the_headline_is_one_line(text):
    line = headline(failed("summary_error", reason=text))
    assert len(line.splitlines()) == 1
    assert len(line) < 200


def test_every_failure_verdict_is_covered_here():
    assert {*STAGES, "reasoning_error"} == {*FAILURES, "correct"}


# -- marks and excerpts -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "details", "marked"),
    [
        ("only at 8 out of 10", ["8 out of 10"], "only at [8 out of 10]"),
        ("Only At Noon", ["at noon"], "Only [At Noon]"),
        ("no detail here", ["elsewhere"], "no detail here"),
        ("cat and concatenate", ["cat"], "[cat] and concatenate"),
        ("noon and noon", ["noon"], "[noon] and noon"),
        ("a.c and abc", ["a.c"], "[a.c] and abc"),
        ("rye bread", ["bread", "rye"], "[rye] [bread]"),
        ("half past 8", ["past 8", "8"], "half [past 8]"),
        ("$5 (five)", ["$5", "(five)"], "[$5] [(five)]"),
        ("anything", ["", " "], "anything"),
        ("back\\slash", ["back\\slash"], "[back\\slash]"),
    ],
)
def test_details_are_marked_where_they_stand(text, details, marked):
    assert mark(text, details) == marked


def test_a_short_source_is_its_own_excerpt():
    assert excerpt("one\n two", ["two"], "") == "one two"


def test_an_excerpt_holds_the_first_detail():
    source = f"{'Nothing here. ' * 30}She bakes at 5 pm. {'Nothing there. ' * 30}"
    assert excerpt(source, ["5 pm"], "") == "… She bakes at 5 pm. …"


def test_an_excerpt_without_a_detail_holds_the_sentence_most_alike():
    source = f"{'Nothing here. ' * 30}She bakes bread weekly. {'Nothing there. ' * 30}"
    assert excerpt(source, ["gone"], "bread is what she bakes") == "… She bakes bread weekly. …"


def test_an_excerpt_of_a_text_without_sentences_is_the_text():
    text = "word " * 100
    assert excerpt(text, [], "") == text.strip()


@pytest.mark.parametrize("text", ["." * 500, "?!" * 300, "x" * 500])
def test_an_excerpt_of_no_words_does_no_harm(text):
    assert excerpt(text, ["detail"], "near")
