"""Checks across rows and tasks: unique names, no repeated text, no answers that can be guessed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pytest_memfail.rows import near_duplicates, shared_runs
from pytest_memfail.suites.memfail.rows import Rows
from pytest_memfail.suites.memfail.updated_facts import USER
from pytest_memfail.suites.memfail.validate import guessing
from pytest_memfail.suites.memfail.validate.finding import Finding, warn
from pytest_memfail.texts import in_plain_words

FULL: Final = 90
"""From this number of rows on, a set must also pass the checks that need a full set."""
ESSAY_LIKENESS: Final = 0.8
LIKENESS: Final = 0.7


def names(tasks: Mapping[str, Rows[Any]]) -> Iterator[Finding]:
    """Report names of several entities in all tasks (except twins of easy and hard), and distractors that have an
    essay.
    """
    seen: dict[str, str] = {}
    for rows, line, name in _named(tasks):
        here = f"{rows.path.name}:{line}"
        if (other := seen.setdefault(name, here)) != here:
            yield warn(rows, line, "entity", f"{name!r} is also in {other}")
    chains = tasks.get("long_hop")
    if chains is None:
        return
    for chain, line in zip(chains.rows, chains.lines, strict=True):
        for name, other in seen.items():
            if any(name in fact and in_plain_words(name, fact) for fact in chain.facts):
                yield warn(chains, line, "fact_1", f"{name!r} is also in {other}")


def _named(tasks: Mapping[str, Rows[Any]]) -> Iterator[tuple[Rows[Any], int, str]]:
    for task in ("conditional_facts_easy", "persona_retrieval", "updated_facts"):
        rows = tasks.get(task)
        if rows is None:
            continue
        for row, line in zip(rows.rows, rows.lines, strict=True):
            if row.entity != USER:
                yield rows, line, row.entity
            for asked in getattr(row, "questions", ()):
                if asked.distractor:
                    yield rows, line, asked.distractor


def repeats(tasks: Mapping[str, Rows[Any]]) -> Iterator[Finding]:
    """Report near-duplicates within a task (appendix B.1), and runs of eight words that two rows share."""
    everything: dict[str, str] = {}
    homes: dict[str, str] = {}
    for task, rows in tasks.items():
        texts: dict[str, str] = {}
        for row, row_id in zip(rows.rows, rows.ids, strict=True):
            for number, text in enumerate(_texts(row), 1):
                key = f"{task}/{row_id}:{number}"
                texts[key] = text
                homes[key] = row.pair_id or key.rpartition(":")[0]  # twins may use the same words
        essays = task.startswith("conditional_facts")
        for one, other, alike in near_duplicates(texts, ESSAY_LIKENESS if essays else LIKENESS):
            if homes[one] != homes[other]:
                yield warn(rows, None, "text", f"{homes[other]} is {alike:.0%} similar to {homes[one]}")
        everything.update(texts)
    for one, other, run in shared_runs(everything, homes):
        rows = tasks[other.partition("/")[0]]
        yield warn(rows, None, "text", f"{homes[other]} shares {run!r} with {homes[one]}")


def _texts(row: Any) -> list[str]:
    """Return the texts that a row stores."""
    for field in ("entity_facts", "preference_facts", "facts"):
        if (texts := getattr(row, field, None)) is not None:
            return list(texts)
    return [message.text for message in row.messages]


def guessed(tasks: Mapping[str, Rows[Any]]) -> Iterator[Finding]:
    """Report answers that can be guessed above chance without any memory."""
    easy = tasks.get("conditional_facts_easy")
    if easy and len(easy.rows) >= FULL:
        share = guessing.by_words([row.question for row in easy.rows], [row.condition_met for row in easy.rows])
        if guessing.above_chance(share, 0.5, len(easy.rows)):
            yield warn(easy, None, "question", f"the words of the question alone give {share:.0%} of the answers")
