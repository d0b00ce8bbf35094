"""Turn rows into tasks: what to store, what to ask, and in which order."""

from __future__ import annotations

from pytest_memfail.suites.custom import NAME as CUSTOM
from pytest_memfail.suites.custom import find_custom, read_custom
from pytest_memfail.suites.haystacks import HaystackFinder
from pytest_memfail.suites.load import (
    HAYSTACKS,
    Haystack,
    TaskRequest,
    load_tasks,
    match_tasks,
    sample,
)
from pytest_memfail.suites.memfail import (
    LETTERS,
    MEMFAIL_TASKS,
    MODELS,
    PROTOCOLS,
    TASK_NAMES,
    Protocol,
    shipped_data,
    task_of_row,
    task_of_rows,
)
from pytest_memfail.suites.memfail.validate import (
    CONNECTIVES,
    EASY_SENTENCES,
    ESSAY_LIKENESS,
    EXCLUSIVE,
    HARD_SENTENCES,
    LIKENESS,
    OPTION_WORDS,
    PERSONA_SENTENCES,
    STATES_EXCLUSIVITY,
    Finding,
    is_gerund,
    near_duplicates,
    numbers_in,
    sentences,
    stands,
    validate,
    words_of,
)

__all__ = [
    "CONNECTIVES",
    "CUSTOM",
    "EASY_SENTENCES",
    "ESSAY_LIKENESS",
    "EXCLUSIVE",
    "HARD_SENTENCES",
    "HAYSTACKS",
    "LETTERS",
    "LIKENESS",
    "MEMFAIL_TASKS",
    "MODELS",
    "OPTION_WORDS",
    "PERSONA_SENTENCES",
    "PROTOCOLS",
    "STATES_EXCLUSIVITY",
    "TASK_NAMES",
    "Finding",
    "Haystack",
    "HaystackFinder",
    "Protocol",
    "TaskRequest",
    "find_custom",
    "is_gerund",
    "load_tasks",
    "match_tasks",
    "near_duplicates",
    "numbers_in",
    "read_custom",
    "sample",
    "sentences",
    "shipped_data",
    "stands",
    "task_of_row",
    "task_of_rows",
    "validate",
    "words_of",
]
