"""What `memfail validate` says of rows: errors, and weaknesses that make their numbers less meaningful."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from pytest_memfail.core import RowError, SuiteFault, UsageError
from pytest_memfail.suites.memfail.design import declares_design, design_faults
from pytest_memfail.suites.memfail.files import files_of_memfail
from pytest_memfail.suites.memfail.options import option_shortcuts
from pytest_memfail.suites.memfail.plan import TASKS
from pytest_memfail.suites.memfail.row_models import (
    MODELS,
    CoexistingRow,
    ConditionalRow,
    DetailRow,
    LongHopRow,
    PersonaRow,
    UpdatedRow,
)
from pytest_memfail.suites.memfail.rows import Rows, row_faults_of, warn
from pytest_memfail.suites.memfail.shortcuts import shortcut_faults
from pytest_memfail.suites.places import better_said, elsewhere
from pytest_memfail.suites.published import as_faults
from pytest_memfail.texts import NUMBER_WORDS, content, plain_words

# Appendix B.3 forbids these in a hard essay; "as if" and "even if" state no condition.
CONNECTIVES: Final = re.compile(
    r"\b(only when|unless|except when|but only if|whenever|(?<!as )(?<!even )if|only after|only if)\b", re.IGNORECASE
)
EXCLUSIVE: Final = re.compile(r"\b(only|unless|exclusively|solely)\b", re.IGNORECASE)
"""Words that state exclusivity in any context."""
STATES_EXCLUSIVITY: Final = re.compile(
    r"\b(only|never|no other|nowhere else|exclusively|solely|unless|except|alone|nothing else|not (?:been )?a single|"
    r"like anyone else)\b",
    re.IGNORECASE,
)
BALANCE: Final = 0.1
"""The largest accepted distance of a share (yes, misleading) from one half."""

ABSENT: Final = 0.1
"""The largest accepted share of misleading questions about a person who shares no name with the store."""


def faults(folder: Path) -> Iterator[SuiteFault]:
    """Yield the faults of the rows in a folder.

    Raises `UsageError` if it has none.
    """
    if not folder.is_dir():
        raise UsageError(
            f"got {folder}, expected a folder with the rows of the tasks ({', '.join(f'{n}.csv' for n in MODELS)})"
        )
    present = files_of_memfail(folder)
    if not present:
        names = ", ".join(f"{name}.csv" for name in MODELS)
        raise UsageError(f"{folder} has no rows; expected one of {names}, or cases in *.memfail.yaml")
    sound: dict[str, Rows[Any]] = {}
    for name, path in present.items():
        errors, warnings = row_faults_of(path, MODELS[name])
        yield from as_faults(errors, warnings)
        if not errors:
            try:
                sound[name] = TASKS[name].read(path)
            except RowError as error:  # repeated ids
                yield from as_faults([error])
    for name, rows in sound.items():
        for check in CHECKS[name]:
            yield from check(rows)
        if name == "conditional_facts_hard" and (easy := sound.get("conditional_facts_easy")) is not None:
            yield from _pairs(easy, rows)
        yield from _details(rows)
    yield from shortcut_faults(sound)
    if declares_design(folder) and len(sound) == len(present):
        yield from design_faults(sound)


def _conditional(rows: Rows[ConditionalRow]) -> Iterator[SuiteFault]:
    met = Counter(row.condition_met for row in rows.rows)
    if abs(met["yes"] / len(rows.rows) - 0.5) > BALANCE:
        most, count = met.most_common(1)[0]
        problem = (
            f"unbalanced: {met['yes']} yes, {met['no']} no; always answering {most} scores {count / len(rows.rows):.0%}"
        )
        yield warn(rows, None, "condition_met", problem)
    for row, line in zip(rows.rows, rows.lines, strict=True):
        said = re.match(r"\W*(yes|no)\b", row.ground_truth_answer, re.IGNORECASE)
        if said and said[1].casefold() != row.condition_met:
            problem = f"is {row.condition_met!r}, but the ground truth begins with {said[1]!r}"
            yield warn(rows, line, "condition_met", problem)


def _hard(rows: Rows[ConditionalRow]) -> Iterator[SuiteFault]:
    numbers = exclusives = 0
    unstated: list[int] = []
    unexclusive: list[int] = []
    for row, line in zip(rows.rows, rows.lines, strict=True):
        essay = " ".join(row.entity_facts)
        if found := CONNECTIVES.findall(essay):
            yield warn(rows, line, "entity_facts", f"a hard essay uses the connective {found[0]!r}")
        if wanted := numbers_in(row.condition):
            numbers += 1
            if not wanted & numbers_in(essay):
                unstated.append(line)
        if row.condition_met == "no" and EXCLUSIVE.search(f"{row.condition} {row.ground_truth_answer}"):
            exclusives += 1
            stated = any(detail.part == "exclusivity" for detail in row.evidence_details or ())
            if not stated and not STATES_EXCLUSIVITY.search(essay):
                unexclusive.append(line)
    if unstated:
        yield warn(
            rows,
            None,
            "condition",
            f"the essay never states the condition's number in {len(unstated)} of {numbers} rows with one "
            f"(lines {_some(unstated)})",
        )
    if unexclusive:
        yield warn(
            rows,
            None,
            "condition",
            f"the essay states no exclusivity in {len(unexclusive)} of {exclusives} rows that answer no because the condition "
            f"or the ground truth says 'only' (lines {_some(unexclusive)})",
        )


def _pairs(easy: Rows[ConditionalRow], hard: Rows[ConditionalRow]) -> Iterator[SuiteFault]:
    rules = {(row.entity, row.behavior, row.condition, row.question) for row in easy.rows}
    shared = sum((row.entity, row.behavior, row.condition, row.question) in rules for row in hard.rows)
    if shared < len(hard.rows):
        behaviors = {row.behavior for row in easy.rows}
        yield warn(
            hard,
            None,
            "pairs",
            f"easy and hard are not paired: {shared} of {len(hard.rows)} rules and questions are shared, "
            f"{len({row.behavior for row in hard.rows} & behaviors)} behaviours",
        )


def _coexisting(rows: Rows[CoexistingRow]) -> Iterator[SuiteFault]:
    """Report preferences that another fact of the row states than the one at their place."""
    for row, line in zip(rows.rows, rows.lines, strict=True):
        said = [(str(number), content(fact)) for number, fact in enumerate(row.preference_facts)]
        for number, preference in enumerate(row.preferences):
            if (found := better_said(content(preference), said[number][1], said)) and found[1]:
                fault = f"{preference!r} is not in preference_facts.{number}, but in preference_facts.{found[1]}"
                yield warn(rows, line, f"preferences.{number}", fault)


def _persona(rows: Rows[PersonaRow]) -> Iterator[SuiteFault]:
    names = Counter(row.entity for row in rows.rows)
    asked = [(row, question) for row in rows.rows for question in row.questions]
    misleading = [(row, q) for row, q in asked if q.is_misleading]
    direct = [(row, q) for row, q in asked if not q.is_misleading]
    stored = sum(q.distractor in names for _, q in misleading)
    if stored:
        problem = f"{stored} of {len(misleading)} misleading questions name someone who has an essay in the same store"
        yield warn(rows, None, "distractor", problem)
    shared = sum(names[row.entity] > 1 for row, _ in direct)
    if shared:
        yield warn(
            rows,
            None,
            "entity",
            f"{shared} of {len(direct)} direct questions name a person with several essays "
            f"({len(names)} names for {len(rows.rows)} essays)",
        )
    if abs(len(misleading) / len(asked) - 0.5) > BALANCE:
        yield warn(rows, None, "is_misleading", f"unbalanced: {len(misleading)} of {len(asked)} questions mislead")
    for row, line in zip(rows.rows, rows.lines, strict=True):
        for number, question in enumerate(row.questions):
            for word in " ".join(question.borrows).split():
                if word not in row.essay:
                    field = f"questions.{number}.borrows"
                    yield warn(rows, line, field, f"{word!r} is not in the essay")


def absent_names(rows: Rows[PersonaRow]) -> Iterator[SuiteFault]:
    """Report if looking up names in the store separates most misleading questions from direct ones."""
    stored = {word for row in rows.rows for text in (row.entity, *row.entity_facts) for word in plain_words(text)}
    strangers = [asked.distractor or "" for row in rows.rows for asked in row.questions if asked.is_misleading]
    absent = [name for name in strangers if not stored.intersection(plain_words(name))]
    if len(absent) > ABSENT * len(strangers):
        yield warn(
            rows,
            None,
            "distractor",
            f"{len(absent)} of {len(strangers)} misleading questions name a person none of whose names is in the store, "
            f"such as {absent[0]!r}; give them a first or last name that the store has",
        )


def _long_hop(rows: Rows[LongHopRow]) -> Iterator[SuiteFault]:
    for row, line in zip(rows.rows, rows.lines, strict=True):
        for j, fact in enumerate(row.facts):
            for anchor in row.anchors[j : j + 2]:
                if anchor.casefold() not in fact.casefold():
                    yield warn(rows, line, f"fact_{j + 1}", f"does not contain its anchor {anchor!r}")
    letters = Counter(row.correct_choice for row in rows.rows)
    letter, count = letters.most_common(1)[0]
    if len(rows.rows) >= 10 and count / len(rows.rows) > 0.2 + 2 * BALANCE:
        yield warn(rows, None, "correct_choice", f"unbalanced: {letter} is right in {count} of {len(rows.rows)}")


def _updated(rows: Rows[UpdatedRow]) -> Iterator[SuiteFault]:
    """Report values that their own message does not contain, which no store could keep."""
    for row, line in zip(rows.rows, rows.lines, strict=True):
        wanted = [("current_value", row.current_value, row.fact_index)]
        if row.old_index is not None:
            wanted += [
                ("old_value", row.old_value, row.old_index),
                ("stale_values", row.stale_values[0], row.old_index),
            ]
        for field, value, at in wanted:
            if value.casefold() not in row.messages[at].text.casefold():
                more = _in_text(value, [message.text for message in row.messages])
                yield warn(rows, line, field, f"{value!r} is not in message {at}{more}")


def _details(rows: Rows[Any]) -> Iterator[SuiteFault]:
    """Report details that their source does not contain, and wordings that are both acceptable and too vague."""
    for line, texts, at, detail in _worded(rows):
        wording = detail.wordings[0]
        if wording.casefold() not in texts[at].casefold():
            fault = f"{wording!r} is not in the source{_in_text(wording, texts)}"
            yield warn(rows, line, "evidence_details", fault)
        for vaguer in {v.casefold() for v in detail.vaguer} & {w.casefold() for w in detail.wordings}:
            fault = f"{vaguer!r} is both a wording and a vaguer wording of {wording!r}"
            yield warn(rows, line, "evidence_details", fault)


def _in_text(wording: str, texts: Sequence[str]) -> str:
    """Return which text of a row has a wording; empty if none has it."""
    found = elsewhere([wording], "", ((str(number), text) for number, text in enumerate(texts)))
    return f"; the row's text {found} (from 0) has it" if found else ""


def _worded(rows: Rows[Any]) -> Iterator[tuple[int, Sequence[str], int, DetailRow]]:
    """Yield each detail with its line, the texts of its row, and the number of the text that should state it."""
    for row, line in zip(rows.rows, rows.lines, strict=True):
        details = row.evidence_details or ()
        if isinstance(row, ConditionalRow):
            texts, homes = ["\n".join(row.entity_facts)], [(0, detail) for detail in details]
        elif isinstance(row, UpdatedRow):
            texts, homes = [message.text for message in row.messages], [(row.fact_index, detail) for detail in details]
        elif isinstance(row, PersonaRow):
            texts, homes = [row.essay], [(0, detail) for of_question in details for detail in of_question]
        else:
            texts = row.preference_facts if isinstance(row, CoexistingRow) else row.facts
            homes = [(at, detail) for at, of_fact in enumerate(details) for detail in of_fact]
        yield from ((line, texts, at, detail) for at, detail in homes)


def numbers_in(text: str) -> set[str]:
    """Return the numbers in a text, written as digits or (up to ninety) as words.

    >>> sorted(numbers_in("three of 12"))
    ['12', '3']
    """
    in_words = {str(NUMBER_WORDS[word]) for word in plain_words(text) if NUMBER_WORDS.get(word)}
    return set(re.findall(r"\d+(?:[.,:]\d+)?", text)) | in_words


def _some(lines: Iterable[int], n: int = 5) -> str:
    listed = list(lines)
    return ", ".join(map(str, listed[:n])) + (", …" if len(listed) > n else "")


CHECKS: Final[dict[str, Sequence[Callable[[Rows[Any]], Iterator[SuiteFault]]]]] = {
    "conditional_facts_easy": [_conditional],
    "conditional_facts_hard": [_conditional, _hard],
    "coexisting_facts": [_coexisting],
    "persona_retrieval": [_persona, absent_names],
    "long_hop": [_long_hop, option_shortcuts],
    "updated_facts": [_updated],
}
"""Of each task, beside those of its details."""
