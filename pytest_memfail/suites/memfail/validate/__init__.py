"""`memfail validate`: check a folder of rows for errors, and for weaknesses that make its numbers less meaningful."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from pytest_memfail.core import RowError, UsageError
from pytest_memfail.suites.custom import find_custom
from pytest_memfail.suites.memfail import (
    coexisting_facts,
    conditional_facts,
    long_hop,
    persona_retrieval,
    updated_facts,
)
from pytest_memfail.suites.memfail.files import files_by_name, files_of_memfail
from pytest_memfail.suites.memfail.row_models import (
    MODELS,
    CoexistingRow,
    ConditionalRow,
    DetailRow,
    LongHopRow,
    PersonaRow,
    UpdatedRow,
)
from pytest_memfail.suites.memfail.rows import Rows, row_faults_of
from pytest_memfail.suites.memfail.validate.across import ESSAY_LIKENESS, LIKENESS
from pytest_memfail.suites.memfail.validate.cases import case_findings
from pytest_memfail.suites.memfail.validate.design import (
    EASY_SENTENCES,
    HARD_SENTENCES,
    OPTION_WORDS,
    PERSONA_SENTENCES,
    declares_design,
    design_findings,
    is_gerund,
)
from pytest_memfail.suites.memfail.validate.finding import Finding
from pytest_memfail.suites.memfail.validate.options import option_shortcuts
from pytest_memfail.suites.memfail.validate.shortcuts import shortcut_findings
from pytest_memfail.suites.memfail.validate.strangers import absent_names
from pytest_memfail.suites.places import better_said, elsewhere
from pytest_memfail.texts import content

READERS: Final[dict[str, Callable[[Path], Rows[Any]]]] = {
    "conditional_facts_easy": conditional_facts.read,
    "conditional_facts_hard": conditional_facts.read,
    "coexisting_facts": coexisting_facts.read,
    "persona_retrieval": persona_retrieval.read,
    "long_hop": long_hop.read,
    "updated_facts": updated_facts.read,
}

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

_ONES = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
    "nineteen twenty"
).split()
NUMBER_WORDS: Final = {
    **{word: str(i) for i, word in enumerate(_ONES, 1)},
    **{word: str(10 * i) for i, word in enumerate("thirty forty fifty sixty seventy eighty ninety".split(), 3)},
}


__all__ = [
    "CONNECTIVES",
    "EASY_SENTENCES",
    "ESSAY_LIKENESS",
    "EXCLUSIVE",
    "HARD_SENTENCES",
    "LIKENESS",
    "OPTION_WORDS",
    "PERSONA_SENTENCES",
    "STATES_EXCLUSIVITY",
    "Finding",
    "is_gerund",
    "numbers_in",
    "validate",
]


def validate(folder: Path) -> list[Finding]:
    """Return all findings for a folder of rows and for the cases (`*.memfail.yaml`) below it.

    Raises `UsageError` if it holds neither.
    """
    if not folder.is_dir():
        raise UsageError(
            f"got {folder}, expected a folder with the rows of the tasks ({', '.join(f'{n}.csv' for n in MODELS)})"
        )
    cases = find_custom([folder])
    # beside cases, other tables are not ours to judge
    present = files_by_name(folder) if cases else files_of_memfail(folder)
    if not present and not cases:
        names = ", ".join(f"{name}.csv" for name in MODELS)
        raise UsageError(f"{folder} has no rows; expected one of {names}, or cases in *.memfail.yaml")
    findings = case_findings(cases, folder)
    sound = set()
    for name, path in present.items():
        errors, warnings = row_faults_of(path, MODELS[name])
        findings += [Finding("error", e.file, e.line, e.field, e.problem) for e in errors]
        findings += [Finding("warning", w.file, w.line, w.field, w.problem) for w in warnings]
        if not errors:
            sound.add(name)
    for name in present:
        if name in sound:
            try:
                findings += _warnings(name, present, sound)
            except RowError as error:  # repeated ids
                findings.append(Finding("error", error.file, error.line, error.field, error.problem))
                sound.discard(name)
    findings += shortcut_findings({name: READERS[name](present[name]) for name in present if name in sound})
    if declares_design(folder) and not any(finding.severity == "error" for finding in findings):
        findings += design_findings({name: READERS[name](path) for name, path in present.items()})
    return findings


def _warnings(name: str, paths: dict[str, Path], sound: set[str]) -> Iterator[Finding]:
    path = paths[name]
    if name.startswith("conditional_facts"):
        rows = conditional_facts.read(path)
        yield from _conditional(rows)
        if name.endswith("_hard"):
            yield from _hard(rows)
            if "conditional_facts_easy" in sound:
                yield from _pairs(conditional_facts.read(paths["conditional_facts_easy"]), rows)
    elif name == "coexisting_facts":
        yield from _coexisting(coexisting_facts.read(path))
    elif name == "persona_retrieval":
        persons = persona_retrieval.read(path)
        yield from _persona(persons)
        yield from absent_names(persons)
    elif name == "long_hop":
        chains = long_hop.read(path)
        yield from _long_hop(chains)
        yield from option_shortcuts(chains)
    else:
        yield from _updated(updated_facts.read(path))
    yield from _details(name, path)


def _conditional(rows: Rows[ConditionalRow]) -> Iterator[Finding]:
    file = str(rows.path)
    met = Counter(row.condition_met for row in rows.rows)
    if abs(met["yes"] / len(rows.rows) - 0.5) > BALANCE:
        most, count = met.most_common(1)[0]
        yield Finding(
            "warning",
            file,
            None,
            "condition_met",
            f"unbalanced: {met['yes']} yes, {met['no']} no; always answering {most} scores {count / len(rows.rows):.0%}",
        )
    for row, line in zip(rows.rows, rows.lines, strict=True):
        said = re.match(r"\W*(yes|no)\b", row.ground_truth_answer, re.IGNORECASE)
        if said and said[1].casefold() != row.condition_met:
            yield Finding(
                "warning",
                file,
                line,
                "condition_met",
                f"is {row.condition_met!r}, but the ground truth begins with {said[1]!r}",
            )


def _hard(rows: Rows[ConditionalRow]) -> Iterator[Finding]:
    file = str(rows.path)
    numbers = exclusives = 0
    unstated: list[int] = []
    unexclusive: list[int] = []
    for row, line in zip(rows.rows, rows.lines, strict=True):
        essay = " ".join(row.entity_facts)
        if found := CONNECTIVES.findall(essay):
            yield Finding("warning", file, line, "entity_facts", f"a hard essay uses the connective {found[0]!r}")
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
        yield Finding(
            "warning",
            file,
            None,
            "condition",
            f"the essay never states the condition's number in {len(unstated)} of {numbers} rows with one "
            f"(lines {_some(unstated)})",
        )
    if unexclusive:
        yield Finding(
            "warning",
            file,
            None,
            "condition",
            f"the essay states no exclusivity in {len(unexclusive)} of {exclusives} rows that answer no because the condition "
            f"or the ground truth says 'only' (lines {_some(unexclusive)})",
        )


def _pairs(easy: Rows[ConditionalRow], hard: Rows[ConditionalRow]) -> Iterator[Finding]:
    rules = {(row.entity, row.behavior, row.condition, row.question) for row in easy.rows}
    shared = sum((row.entity, row.behavior, row.condition, row.question) in rules for row in hard.rows)
    if shared < len(hard.rows):
        behaviors = {row.behavior for row in easy.rows}
        yield Finding(
            "warning",
            str(hard.path),
            None,
            "pairs",
            f"easy and hard are not paired: {shared} of {len(hard.rows)} rules and questions are shared, "
            f"{len({row.behavior for row in hard.rows} & behaviors)} behaviours",
        )


def _coexisting(rows: Rows[CoexistingRow]) -> Iterator[Finding]:
    """Report preferences that another fact of the row states than the one at their place."""
    for row, line in zip(rows.rows, rows.lines, strict=True):
        said = [(str(number), content(fact)) for number, fact in enumerate(row.preference_facts)]
        for number, preference in enumerate(row.preferences):
            if (found := better_said(content(preference), said[number][1], said)) and found[1]:
                fault = f"{preference!r} is not in preference_facts.{number}, but in preference_facts.{found[1]}"
                yield Finding("warning", str(rows.path), line, f"preferences.{number}", fault)


def _persona(rows: Rows[PersonaRow]) -> Iterator[Finding]:
    file = str(rows.path)
    names = Counter(row.entity for row in rows.rows)
    asked = [(row, question) for row in rows.rows for question in row.questions]
    misleading = [(row, q) for row, q in asked if q.is_misleading]
    direct = [(row, q) for row, q in asked if not q.is_misleading]
    stored = sum(q.distractor in names for _, q in misleading)
    if stored:
        yield Finding(
            "warning",
            file,
            None,
            "distractor",
            f"{stored} of {len(misleading)} misleading questions name someone who has an essay in the same store",
        )
    shared = sum(names[row.entity] > 1 for row, _ in direct)
    if shared:
        yield Finding(
            "warning",
            file,
            None,
            "entity",
            f"{shared} of {len(direct)} direct questions name a person with several essays "
            f"({len(names)} names for {len(rows.rows)} essays)",
        )
    if abs(len(misleading) / len(asked) - 0.5) > BALANCE:
        yield Finding(
            "warning", file, None, "is_misleading", f"unbalanced: {len(misleading)} of {len(asked)} questions mislead"
        )
    for row, line in zip(rows.rows, rows.lines, strict=True):
        for number, question in enumerate(row.questions):
            for word in " ".join(question.borrows).split():
                if word not in row.essay:
                    field = f"questions.{number}.borrows"
                    yield Finding("warning", file, line, field, f"{word!r} is not in the essay")


def _long_hop(rows: Rows[LongHopRow]) -> Iterator[Finding]:
    file = str(rows.path)
    for row, line in zip(rows.rows, rows.lines, strict=True):
        for j, fact in enumerate(row.facts):
            for anchor in row.anchors[j : j + 2]:
                if anchor.casefold() not in fact.casefold():
                    yield Finding("warning", file, line, f"fact_{j + 1}", f"does not contain its anchor {anchor!r}")
    letters = Counter(row.correct_choice for row in rows.rows)
    letter, count = letters.most_common(1)[0]
    if len(rows.rows) >= 10 and count / len(rows.rows) > 0.2 + 2 * BALANCE:
        yield Finding(
            "warning", file, None, "correct_choice", f"unbalanced: {letter} is right in {count} of {len(rows.rows)}"
        )


def _updated(rows: Rows[UpdatedRow]) -> Iterator[Finding]:
    """Report values that their own message does not contain, which no store could keep."""
    file = str(rows.path)
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
                yield Finding("warning", file, line, field, f"{value!r} is not in message {at}{more}")


def _details(name: str, path: Path) -> Iterator[Finding]:
    """Report details that their source does not contain, and wordings that are both acceptable and too vague."""
    for line, texts, at, detail in _worded(name, path):
        wording = detail.wordings[0]
        if wording.casefold() not in texts[at].casefold():
            fault = f"{wording!r} is not in the source{_in_text(wording, texts)}"
            yield Finding("warning", str(path), line, "evidence_details", fault)
        for vaguer in {v.casefold() for v in detail.vaguer} & {w.casefold() for w in detail.wordings}:
            fault = f"{vaguer!r} is both a wording and a vaguer wording of {wording!r}"
            yield Finding("warning", str(path), line, "evidence_details", fault)


def _in_text(wording: str, texts: Sequence[str]) -> str:
    """Return which text of a row has a wording; empty if none has it."""
    found = elsewhere([wording], "", ((str(number), text) for number, text in enumerate(texts)))
    return f"; the row's text {found} (from 0) has it" if found else ""


def _worded(name: str, path: Path) -> Iterator[tuple[int, Sequence[str], int, DetailRow]]:
    """Yield each detail with its line, the texts of its row, and the number of the text that should state it."""
    rows = READERS[name](path)
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
    words = re.findall(r"[a-z]+", text.casefold())
    return set(re.findall(r"\d+(?:[.,:]\d+)?", text)) | {NUMBER_WORDS[word] for word in words if word in NUMBER_WORDS}


def _some(lines: Iterable[int], n: int = 5) -> str:
    listed = list(lines)
    return ", ".join(map(str, listed[:n])) + (", …" if len(listed) > n else "")
