"""Turn rows into tasks: what to store, what to ask, and in which order."""

from __future__ import annotations

from pytest_memfail.suites.custom import NAME as CUSTOM, find_custom, needed_files, read_custom
from pytest_memfail.suites.haystacks import HaystackFinder
from pytest_memfail.suites.load import (
    BUILT_IN,
    MEMFAIL,
    OWN,
    Chosen,
    TaskRequest,
    built_in_suite,
    choose_suites,
    load_tasks,
    match_tasks,
    suite_in,
    suites_with_recipes,
    with_options,
)
from pytest_memfail.suites.memfail import (
    LETTERS,
    MEMFAIL_ANSWERS,
    MEMFAIL_KINDS,
    MEMFAIL_TASKS,
    MODELS,
    PROTOCOLS,
    TASK_NAMES,
    shipped_data,
    task_of_row,
    task_of_rows,
)
from pytest_memfail.suites.memfail.validate import (
    OPTION_WORDS,
    Finding,
    validate,
)
from pytest_memfail.suites.sampling import HAYSTACKS, Haystack, in_turn, keep_questions, sample, sample_stores

__all__ = [
    "BUILT_IN",
    "CUSTOM",
    "HAYSTACKS",
    "LETTERS",
    "MEMFAIL",
    "MEMFAIL_ANSWERS",
    "MEMFAIL_KINDS",
    "MEMFAIL_TASKS",
    "MODELS",
    "OPTION_WORDS",
    "OWN",
    "PROTOCOLS",
    "TASK_NAMES",
    "Chosen",
    "Finding",
    "Haystack",
    "HaystackFinder",
    "TaskRequest",
    "built_in_suite",
    "choose_suites",
    "find_custom",
    "in_turn",
    "keep_questions",
    "load_tasks",
    "match_tasks",
    "needed_files",
    "read_custom",
    "sample",
    "sample_stores",
    "shipped_data",
    "suite_in",
    "suites_with_recipes",
    "task_of_row",
    "task_of_rows",
    "validate",
    "with_options",
]
