"""Find what the failures of a run have in common, test it, and say it in one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from pytest_memfail.clues.cases import Evidence
from pytest_memfail.clues.kept import kept_tests
from pytest_memfail.clues.search import search_tests
from pytest_memfail.clues.tests import Test
from pytest_memfail.clues.times import time_tests
from pytest_memfail.core import QuestionRecord, holm
from pytest_memfail.records import Clue, StoreRecord

ALPHA: Final = 0.01
"""The greatest chance of any false clue in a run."""


def find_clues(questions: Iterable[QuestionRecord], stores: Iterable[StoreRecord]) -> tuple[Clue, ...]:
    """Return the clues of a run, the one that explains most failed questions first.

    Every test made counts for the correction, whether it says anything or not.
    """
    evidence = Evidence(questions, stores)
    tests = [*kept_tests(evidence), *search_tests(evidence), *time_tests(evidence)]
    found = []
    for test, p in zip(tests, holm([test.p for test in tests]), strict=True):
        asked = evidence.asked(test.cases)
        if p < ALPHA and test.is_strong and asked:
            clue = Clue(
                name=test.name,
                text=test.text,
                verdict=_verdict(test),
                explained=len(test.cases),
                lost=test.lost,
                p=p,
                questions=asked,
            )
            found.append((test, clue))
    found.sort(key=lambda one: (-len(one[1].questions), one[0].is_vague, one[1].p))
    return tuple(_without_repeats(found))


def _verdict(test: Test) -> str:
    """Return the failure of most of the facts that a test explains."""
    found = Counter(case.fact.verdict for case in test.cases).most_common(1)
    return found[0][0] if found else test.verdict


def _without_repeats(found: Sequence[tuple[Test, Clue]]) -> Iterable[Clue]:
    """Yield the clues without the vague ones about questions that a specific one explains."""
    for test, clue in found:
        specific = {q for other, one in found if not other.is_vague for q in one.questions}
        if not test.is_vague or len(specific & set(clue.questions)) < len(clue.questions) / 2:
            yield clue
