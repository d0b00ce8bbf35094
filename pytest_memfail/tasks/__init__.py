"""Turn rows into tasks: what to store, what to ask, and in which order."""

from __future__ import annotations

from pytest_memfail.tasks.custom import NAME as CUSTOM
from pytest_memfail.tasks.custom import find_custom, read_custom
from pytest_memfail.tasks.haystacks import HaystackFinder
from pytest_memfail.tasks.layout import PROTOCOLS, Protocol
from pytest_memfail.tasks.load import (
    HAYSTACKS,
    MEMFAIL_TASKS,
    TASK_NAMES,
    Haystack,
    TaskRequest,
    load_tasks,
    match_tasks,
    sample,
    task_of_row,
    task_of_rows,
)
from pytest_memfail.tasks.row_models import LETTERS, MODELS
from pytest_memfail.tasks.shipped import shipped_data
from pytest_memfail.tasks.validate import (
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
