"""Grade answers and find values in texts, without a model or word tables; knows no benchmark."""

from __future__ import annotations

from pytest_memfail.grading.answers import asserts, contains, f1, longest_run, names, ordered, same, share, verbatim
from pytest_memfail.grading.finders import Entries, Hit, entries_of
from pytest_memfail.grading.text import (
    STOP_WORDS,
    UNSPACED,
    content,
    fold,
    hedged,
    is_doubtful,
    is_hypothetical,
    marks_applied,
    marks_condition,
    marks_idea,
    marks_other,
    marks_past,
    marks_present,
    marks_removal,
    sentences,
    spelled,
    states,
    words,
)

__all__ = [
    "STOP_WORDS",
    "UNSPACED",
    "Entries",
    "Hit",
    "asserts",
    "contains",
    "content",
    "entries_of",
    "f1",
    "fold",
    "hedged",
    "is_doubtful",
    "is_hypothetical",
    "longest_run",
    "marks_applied",
    "marks_condition",
    "marks_idea",
    "marks_other",
    "marks_past",
    "marks_present",
    "marks_removal",
    "names",
    "ordered",
    "same",
    "sentences",
    "share",
    "spelled",
    "states",
    "verbatim",
    "words",
]
