"""The verdicts, their order and their meanings (paper, appendix D.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, Literal

ProtocolName = Literal["ours", "paper"]
"""How a benchmark is judged and counted: by the rules of this package, or as its paper does."""
NOT_STORED: Final = "not_stored"
SUMMARY_ERROR: Final = "summary_error"
NOT_RETRIEVED: Final = "not_retrieved"
WRONGLY_HELD: Final = "wrongly_held"
REASONING_ERROR: Final = "reasoning_error"
CORRECT: Final = "correct"
NO_ANSWER: Final = "no_answer"
UNGRADED: Final = "ungraded"
ERROR: Final = "error"

VACUOUS: Final = "vacuous"
"""Marks a correct verdict that proves nothing about the memory. Not a verdict: the record says `correct` and sets a
flag."""

FAILURES: Final = (WRONGLY_HELD, NOT_STORED, SUMMARY_ERROR, NOT_RETRIEVED, REASONING_ERROR)
"""Failure verdicts, worst first; a question with several facts takes the worst."""

MEMORY_FAILURES: Final = FAILURES[:-1]
"""Failures of the memory system; a reasoning error is the model's."""

GRADED: Final = (CORRECT, *FAILURES)
VERDICTS: Final = (CORRECT, *FAILURES, NO_ANSWER, UNGRADED, ERROR)
STATES: Final = (CORRECT, *FAILURES, VACUOUS, NO_ANSWER, UNGRADED, ERROR)
"""How a question ends, in the order of columns: a verdict, or `vacuous` for a pass that proves nothing.

Each has one name: reports, markers and filters say it with spaces (`in_words`)."""
FACT_HELD: Final = "held"
"""The state of a fact that passed every memory stage; what a model makes of it is not the fact's."""
LEFT_OPEN: Final = (NO_ANSWER, UNGRADED)
"""Verdicts of questions that count as neither right nor wrong although nothing broke."""

STAGES: Final = ("storage", "summary", "retrieval", "answer")

STAGE_FAILURE: Final[Mapping[str, str]] = MappingProxyType(dict(zip(STAGES, FAILURES[1:], strict=True)))
"""The verdict of an expected fact whose first failed stage is the key."""

MEANINGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        WRONGLY_HELD: "memory holds what it must not: what it was told to forget, or what another user said",
        NOT_STORED: "an expected fact is nowhere in the store",
        SUMMARY_ERROR: "the fact is stored, but what a right answer needs was dropped, generalised or garbled",
        NOT_RETRIEVED: "stored faithfully, but not recoverable from the memories retrieved",
        REASONING_ERROR: "stored faithfully and retrieved, but the answer is wrong",
        CORRECT: "every stage that was asked passed: the facts were stored faithfully, retrieved and used",
        NO_ANSWER: "every memory stage passed, and no model answered; counted as neither right nor wrong",
        UNGRADED: "no judge decided a needed stage; counted as neither right nor wrong",
        ERROR: "the memory system, the judge or the network failed; counted as neither right nor wrong",
        VACUOUS: "right, but only because there was nothing to misuse; proves nothing about the memory",
    }
)

LETTERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        WRONGLY_HELD: "H",
        NOT_STORED: "T",
        SUMMARY_ERROR: "S",
        NOT_RETRIEVED: "R",
        REASONING_ERROR: "A",
        VACUOUS: "v",
        NO_ANSWER: "n",
        UNGRADED: "u",
        CORRECT: ".",
    }
)
"""One letter for the progress line: Held, sTored, Summary, Retrieved, Answer."""


def in_words(state: str) -> str:
    """Return the name of a state as reports show it.

    >>> in_words("no_answer")
    'no answer'
    """
    return state.replace("_", " ")


def worst(verdicts: Iterable[str]) -> str:
    """Return the worst failure among the verdicts; else `ungraded` if any is; else `correct`.

    >>> worst(["correct", "not_retrieved", "summary_error"])
    'summary_error'
    """
    found = set(verdicts)
    for verdict in (*FAILURES, UNGRADED):
        if verdict in found:
            return verdict
    return CORRECT
