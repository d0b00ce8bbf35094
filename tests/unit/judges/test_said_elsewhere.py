"""A store of which each sentence was said lacks a fact whose sentences it lacks, unless the same was said again."""

from __future__ import annotations

import pytest
from facts_judged import QUESTION, link

from pytest_memfail.core import Fact, Listing, Memory
from pytest_memfail.judges import OfflineJudge

SAID = "Petra adores evening rowing."
LIKE = "Evening rowing makes Petra cook a big supper."
OTHER = "Petra keeps two goats."


def of(*texts: str, is_verbatim: bool = True) -> Listing:
    return Listing("s", tuple(map(Memory, texts)), said=(is_verbatim,) * len(texts))


@pytest.fixture(scope="module")
def fact() -> Fact:
    return link(SAID, "Petra", "evening rowing")


@pytest.mark.parametrize("texts", [(LIKE, OTHER), (f"{LIKE}\n{OTHER}",)])
def test_another_row_that_looks_alike_does_not_hold_it(fact: Fact, texts: tuple[str, ...]) -> None:
    assert OfflineJudge().storage(fact, of(*texts, is_verbatim=False)).outcome == "passed"
    lost = OfflineJudge().storage(fact, of(*texts))
    assert (lost.outcome, lost.confidence) == ("failed", 0.7)
    assert lost.reason == "no entry has the sentence that says it"


def test_another_row_that_looks_alike_does_not_show_it(fact: Fact) -> None:
    for is_verbatim in (False, True):
        judge, store = OfflineJudge(), of(SAID, LIKE, OTHER, is_verbatim=is_verbatim)
        assert judge.summary(fact, store).outcome == "passed"
        shown = judge.retrieval(fact, QUESTION, (Memory(LIKE), Memory(OTHER)))
        assert shown.outcome == ("failed" if is_verbatim else "passed")
    assert shown.reason == "the entry that says it was not shown"
    assert judge.retrieval(fact, QUESTION, (Memory(LIKE), Memory(SAID))).outcome == "passed"


@pytest.mark.parametrize("held", ["Petra adores evening", "Petra adores evening rowing, and says so to everybody."])
def test_a_part_of_the_sentence_is_left_to_the_model(fact: Fact, held: str) -> None:
    found = OfflineJudge().storage(fact, of(held, OTHER))
    assert found.reason != "no entry has the sentence that says it"


def test_what_was_said_again_holds_it(fact: Fact) -> None:
    assert OfflineJudge().summary(fact, of("I adore evening rowing, says Petra.", OTHER)).outcome == "passed"


def test_an_entry_in_other_words_leaves_it_to_the_model_only_where_it_is_close(fact: Fact) -> None:
    far = Listing("s", (*of(LIKE, OTHER).memories, Memory("The lamp in the hall is broken.")), said=(True, True, False))
    near = Listing("s", (*of(LIKE, OTHER).memories, Memory("Petra rows.")), said=(True, True, False))
    assert OfflineJudge().storage(fact, far).reason == "no entry has the sentence that says it"
    assert OfflineJudge().storage(fact, near).reason != "no entry has the sentence that says it"
