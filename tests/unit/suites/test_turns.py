"""suites/turns.py: turns of a chat as facts, whether memories hold them, and the measures of retrieval."""

from __future__ import annotations

import asyncio
import math
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone

import pytest

from pytest_memfail.core import FactVerdict, Listing, Memory, Question, StageResult, has_moment
from pytest_memfail.engine.grade import Grader
from pytest_memfail.judges import OfflineJudge
from pytest_memfail.suites.turns import KINDS, find_needed, recall, session_of, share_shown, speaker_of, turn_fact

SAID = datetime(2023, 5, 8, 13, 40, tzinfo=timezone.utc)
TURN = "Thanks, that helps. I bought a red kayak for $420 at Dunmore's. Can you plan my lunch?"


def fact(text: str = TURN, *, is_temporal: bool = False, asked: str = "What colour is my kayak?", answer: str = "red"):
    return turn_fact(
        text,
        "q1",
        session=3,
        turn=2,
        speaker="user",
        said=SAID,
        conversation_id="c-1",
        asked=asked,
        answer=answer,
        is_temporal=is_temporal,
    )


def test_a_fact_names_its_place_and_the_sentences_that_the_question_needs():
    found = fact()
    assert (session_of(found.id), speaker_of(found.id)) == ("s03", "user")
    assert found.gold.needed == ("I bought a red kayak for $420 at Dunmore's.",)
    assert found.gold.date == "2023-05-08 (Monday)"
    assert found.claim.moment is None
    assert fact(is_temporal=True).claim.moment.day == SAID.date()
    assert fact("Yes!").gold.needed == ("Yes!",)
    assert (session_of("another.id"), speaker_of("")) == ("", "")


@pytest.mark.parametrize(
    "texts",
    [
        [TURN],
        ["user: hello", f"user: {TURN}\nassistant: Sure."],
        ["i bought  a red kayak for $420 at Dunmore\u2019s."],  # the needed sentence alone
    ],
)
def test_words_that_stand_there_are_certain(texts):
    found = find_needed(fact(), texts)
    assert (found.present, found.faithful) == (True, True)


@pytest.mark.parametrize(
    "text",
    ["The user bought a red kayak for $420 at Dunmore's.", "I bought a red kayak for $42", "The user likes tea."],
)
def test_other_words_are_left_to_the_judge(text):
    assert find_needed(fact(), [text]) is None
    assert grade(fact(), [Memory(text)]).storage.estimated


AGE = "I want to train, at my age. By the way, I just turned 32 last week. I sold a bike. Can you suggest a workout?"


@pytest.mark.parametrize(
    ("text", "asked", "answer", "lost"),
    [
        (AGE, "What is the average age of my sister and me?", "33.5", "By the way, I just turned 32 last week. "),
        (AGE, "What is the average age of my sister and me?", "33.5", "I sold a bike. "),
        ("I use flour. I made a baguette.", "How often did I use flour?", "4", "I made a baguette."),
        ("I like my mixer. It was in repair.", "Which broke first?", "The mixer", "It was in repair."),
    ],
)
def test_a_sentence_from_which_the_answer_is_inferred_is_needed_though_it_has_no_word_of_it(text, asked, answer, lost):
    assert lost in text
    of = fact(text, asked=asked, answer=answer, is_temporal=asked.startswith("Which"))
    assert find_needed(of, [text.replace(lost, "")]) is None
    assert find_needed(of, [text.replace(" Can you suggest a workout?", "")]).faithful


def test_the_time_of_what_was_asked_comes_before_that_of_another_sentence():
    said = "I met Ida yesterday."
    one = fact(f"{said} We row next month.", asked="When did I meet Ida?", answer="May 7", is_temporal=True)
    assert one.claim.moment == fact(said, asked="When did I meet Ida?", is_temporal=True).claim.moment
    other = fact("I own a kettle. I got it yesterday.", asked="When did I buy a kettle?", is_temporal=True)
    assert has_moment(other.claim.moment, [Memory("Kettle bought on 7 May 2023")])


def test_all_entries_with_the_words_count():
    assert find_needed(fact(), ["Hello.", TURN, f"He said: {TURN}"]).entries == (1, 2)


def grade(of, memories, shown=None, *, is_verbatim=False):
    """Return the verdict of the offline judge on a fact."""
    judge = OfflineJudge(kinds=KINDS, answers={})
    question = Question("q1", "t", "What?", "What?", ("red",), (of.id,), "kind")
    listing = Listing("s", tuple(memories), said=(is_verbatim,) * len(memories))
    with ThreadPoolExecutor(1) as pool:
        found = Grader(judge, pool).grade(question, [of], listing, listing.memories if shown is None else shown, None)
        return asyncio.run(found).facts[0]


NOW, THEN = "2026-11-29T12:00:00+00:00", SAID.isoformat()


@pytest.mark.parametrize(
    ("is_temporal", "stamp", "label"),
    [
        (True, THEN, None),
        (True, NOW, "date_lost"),
        (True, None, "date_lost"),
        (True, "2023-05-09T13:40:00+00:00", "date_lost"),
        (False, NOW, None),
        (False, None, None),
    ],
)
def test_the_day_is_lost_only_where_the_question_needs_it(is_temporal, stamp, label):
    found = grade(fact(is_temporal=is_temporal), [Memory(TURN, timestamp=stamp)])
    assert (found.verdict, found.label) == ("summary_error" if label else "correct", label)
    # what was shown counts for recall, whatever became of the date
    assert found.retrieval.outcome == "passed"
    assert not any(stage.estimated for stage in found.stages)


@pytest.mark.parametrize(
    ("stamp", "text", "got"),
    [
        (THEN, TURN, None),
        (None, f"8 May 2023: {TURN}", None),
        (None, TURN, "got no timestamp"),
        ("2020-01-01", TURN, "got 2020-01-01"),
    ],
)
def test_the_search_must_show_the_day_as_the_listing_does(stamp, text, got):
    shown = (Memory("Hello.", timestamp=THEN), Memory(text, timestamp=stamp))
    listed = [Memory(text, timestamp=THEN)]
    found = grade(fact(is_temporal=True), listed, shown=shown)
    assert (found.verdict, found.label) == ("not_retrieved", "date_lost") if got else ("correct", None)
    assert found.retrieval.reason.endswith(got or "")
    assert grade(fact(), listed, shown=shown).verdict == "correct"
    lost = grade(fact(is_temporal=True), [Memory(text)], shown=shown)
    assert lost.verdict == ("summary_error" if text == TURN else "correct")  # counted once


def test_a_store_that_keeps_the_words_is_searched_by_words():
    other = Memory("I bought a red kayak for $420 at Dunmore's, you know.")
    found = grade(fact(), [Memory(TURN), other], shown=(other,))
    assert found.verdict == "not_retrieved"
    assert not found.retrieval.estimated
    assert grade(fact(), [other]).verdict == "correct"
    assert grade(fact(), [other]).storage.estimated


def test_an_empty_store_is_certain():
    found = grade(fact(), [])
    assert found.verdict == "not_stored"
    assert not found.storage.estimated


@pytest.mark.parametrize(
    ("text", "is_verbatim", "estimated"),
    [
        ("Sounds lovely. Shall we eat at noon?", True, False),
        ("Kayak, lovely.", True, False),
        ("Congratulations on the red kayak from Dunmore's!", True, True),  # another turn repeats it
        ("Sounds lovely. Shall we eat at noon?", False, True),
    ],
)
def test_a_turn_that_a_verbatim_store_lacks_is_certainly_lost(text, is_verbatim, estimated):
    found = grade(fact(), [Memory(text)], is_verbatim=is_verbatim)
    assert found.deciding.outcome == "failed"
    assert found.deciding.estimated == estimated


# -- measures ----------------------------------------------------------------------------------------------------------

PASSED, FAILED = StageResult("passed"), StageResult("failed")


class Asked:
    """The fields of a finished question that the measures read."""

    def __init__(self, *ranks: tuple[str, int | None], k: int = 5, estimated: bool = False) -> None:
        self.k, self.verdict = k, "correct"
        self.facts = tuple(
            FactVerdict(
                f"q.{session}-t0{at}-user",
                "correct" if rank is not None else "not_retrieved",
                StageResult("passed", estimated=estimated),
                PASSED,
                FAILED if rank is None else StageResult("passed", entries=(rank,)),
            )
            for at, (session, rank) in enumerate(ranks)
        )


def test_recall_by_turn_and_by_session():
    one, two, three = Asked(("s01", 0), ("s01", None)), Asked(("s01", 2), ("s02", 1)), Asked(("s01", None))
    found = {
        (which, unit): recall(which, unit)([one, two, three]).value
        for which in ("any", "all", "ndcg")
        for unit in ("turn", "session")
    }
    assert found["any", "turn"] == pytest.approx(2 / 3)
    assert found["all", "turn"] == pytest.approx(1 / 3)
    assert found["any", "session"] == found["all", "session"] == pytest.approx(2 / 3)
    # the first: 1 of an ideal of 1 + 1; the second: 1 + 1 / log2(3) of 2; the third: 0
    assert found["ndcg", "turn"] == pytest.approx((1 / 2 + (1 + 1 / math.log2(3)) / 2) / 3)
    assert found["ndcg", "session"] == pytest.approx((1 + (1 + 1 / math.log2(3)) / 2) / 3)
    assert share_shown([one, two, three]).value == pytest.approx((1 / 2 + 1 + 0) / 3)


def test_words_shown_without_their_day_count_for_recall():
    asked = Asked(("s01", None))
    shown = StageResult("failed", entries=(1,), label="date_lost")
    asked.facts = (FactVerdict("q.s01-t00-user", "not_retrieved", PASSED, PASSED, shown),)
    assert share_shown([asked]).value == recall("any", "turn")([asked]).value == 1


def test_estimates_enter_no_measure():
    facts = [Asked(("s01", 0)), Asked(("s01", None), estimated=True)]
    assert recall("any", "turn")(facts).value == 1 / 2  # its retrieval was decided
    failed = Asked(("s01", 0))
    failed.facts = (FactVerdict("q.s01-t00-user", "not_stored", StageResult("failed", estimated=True)),)
    for measure in (recall("all", "turn"), share_shown):
        assert measure([*facts, failed]).value is None
        assert "needs a model" in (measure([*facts, failed]).lacks or "")
        assert measure([]).lacks == "no question with evidence"
