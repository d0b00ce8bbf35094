"""Check the design of our own data sets, as far as a program can.

A folder declares this design in its `generation_config.json` (`"design": "pytest-memfail"`). Other folders, such as a
clone of the published rows, get only the general checks. The rules come from the paper's section 4 and appendix B, and
from the data card.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from pytest_memfail.core import SuiteFault, json_of
from pytest_memfail.rows import near_duplicates, shared_runs
from pytest_memfail.suites.memfail.options import wrong_ends
from pytest_memfail.suites.memfail.plan import USER
from pytest_memfail.suites.memfail.row_models import (
    LETTERS,
    CoexistingRow,
    ConditionalRow,
    LongHopRow,
    PersonaRow,
    UpdatedRow,
)
from pytest_memfail.suites.memfail.rows import Rows, warn
from pytest_memfail.texts import essay_sentences, in_plain_words, plain_words

DESIGN: Final = "pytest-memfail"
FULL: Final = 90
"""From this number of rows on, a set must also pass the checks that need a full set."""
ESSAY_LIKENESS: Final = 0.8
LIKENESS: Final = 0.7
LEAVES_OUT: Final = re.compile(r'"([^"]+)" leaves out ([^.]+)\.')
ROW_ID: Final = re.compile(r"\bce-\d+\b")
EASY_SENTENCES: Final = (5, 8)
HARD_SENTENCES: Final = (8, 12)
PERSONA_SENTENCES: Final = (10, 15)
HEDGE: Final = re.compile(
    r"\b(?:mostly|usually|generally|normally|typically|often|sometimes|occasionally|commonly|mainly|largely|probably|perhaps|maybe"
    r"|tend(?:s|ed)? to|as a rule|by and large|on the whole|by all accounts|as far as (?:I|we|anyone)|at times|now and (?:then|again)"
    r"|from time to time|every so often|once in a while|more often than not|most (?:of the time|times|days)|the usual thing)\b",
    re.IGNORECASE,
)
"""Hedges, after which neither a flat yes nor a flat no follows."""
PER_TYPE: Final = 3
UNEVEN: Final = 2
"""The largest accepted difference between row counts that should be equal."""
OPTION_WORDS: Final = 2
"""How many words a distractor may be longer or shorter than the right option."""


def declares_design(folder: Path) -> bool:
    """Return whether the folder declares this design."""
    try:
        config = json_of((folder / "generation_config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(config, dict) and config.get("design") == DESIGN


def design_faults(rows: Mapping[str, Rows[Any]]) -> Iterator[SuiteFault]:
    """Report where rows break the design, as warnings, because the rows can still be run."""
    for name, checks in CHECKS.items():
        for check in checks if name in rows else ():
            yield from check(rows[name])
    yield from _names(rows)
    yield from _repeats(rows)


def _conditional(rows: Rows[ConditionalRow], span: tuple[int, int]) -> Iterator[SuiteFault]:
    from pytest_memfail.suites.memfail import pools  # a run does not need them

    for row, line in zip(rows.rows, rows.lines, strict=True):
        count = len(essay_sentences(" ".join(row.entity_facts)))
        if not span[0] <= count <= span[1]:
            yield warn(rows, line, "entity_facts", f"has {count} sentences, expected {span[0]} to {span[1]}")
        if row.condition_type not in pools.CONDITION_TYPES:
            yield warn(rows, line, "condition_type", f"got {row.condition_type!r}, expected one of the paper's table 3")
        if row.entity_category == "pet" and row.condition_type not in pools.PET_CONDITION_TYPES:
            yield warn(rows, line, "condition_type", f"{row.condition_type!r} of a pet cannot be seen from outside")
        yield from _other_case(rows, row, line)
        for said in _tying(row):
            if hedge := HEDGE.search(said):
                yield warn(
                    rows, line, "entity_facts", f"hedges the rule with {hedge[0]!r} under a flat {row.condition_met}"
                )
        if not any(detail.part == "behavior" for detail in row.evidence_details or ()):
            yield warn(rows, line, "evidence_details", "lists no detail of the behaviour")
    if len(rows.rows) < FULL:
        return
    met = Counter(row.condition_met for row in rows.rows)
    if met["yes"] != met["no"]:
        yield warn(rows, None, "condition_met", f"got {met['yes']} yes and {met['no']} no, expected the same number")
    types = Counter(row.condition_type for row in rows.rows)
    rare = sorted(name for name in pools.CONDITION_TYPES if types[name] < PER_TYPE)
    if rare:
        yield warn(rows, None, "condition_type", f"fewer than {PER_TYPE} rows of {', '.join(rare)}")
    # the 23 types that no pet has need 69 rows about other entities, so pets cannot make up a third of a hundred rows
    categories = Counter(row.entity_category for row in rows.rows)
    if max(categories.values()) - min(categories.values()) > 0.05 * len(rows.rows) or len(categories) != 3:
        yield warn(rows, None, "entity_category", f"unbalanced: {dict(sorted(categories.items()))}")


def _tying(row: ConditionalRow) -> list[str]:
    """Return the sentences that connect behaviour and condition: the link of a hard essay, or those of an easy one with
    both.
    """
    said = essay_sentences(" ".join(row.entity_facts))
    if row.rule_sentences:
        return said[row.rule_sentences.get("link", 0) :][:1]
    wordings_of = {
        part: [d.wordings[0].casefold() for d in row.evidence_details or () if d.part == part]
        for part in ("behavior", "condition")
    }
    return [
        text for text in said if all(any(w in text.casefold() for w in wordings) for wordings in wordings_of.values())
    ]


def _other_case(rows: Rows[ConditionalRow], row: ConditionalRow, line: int) -> Iterator[SuiteFault]:
    """Report a "no" without exclusivity or a stated other case (a second condition), and a "yes" with either."""
    parts = Counter(detail.part for detail in row.evidence_details or ())
    if row.condition_met == "yes" and parts["exclusivity"]:
        yield warn(rows, line, "evidence_details", "exclusivity: expected none where the answer is yes")
    if row.condition_met == "no" and not parts["exclusivity"] and parts["condition"] < 2:
        problem = "exclusivity: expected one where the answer is no, or a second condition for the other case"
        yield warn(rows, line, "evidence_details", problem)


def _spread(rows: Rows[ConditionalRow]) -> Iterator[SuiteFault]:
    """Report hard essays whose behaviour, condition and link are not in three separate, non-adjacent sentences
    (B.3).
    """
    for row, line in zip(rows.rows, rows.lines, strict=True):
        places = row.rule_sentences
        if places is None:
            problem = "got nothing, expected the sentence numbers of behavior, condition and link"
            yield warn(rows, line, "rule_sentences", problem)
            continue
        said = essay_sentences(" ".join(row.entity_facts))
        if sorted(places) != ["behavior", "condition", "link"] or max(places.values()) >= len(said):
            yield warn(
                rows, line, "rule_sentences", f"got {places}, expected behavior, condition and link below {len(said)}"
            )
            continue
        at = sorted(places.values())
        if at[1] - at[0] < 2 or at[2] - at[1] < 2:
            yield warn(rows, line, "rule_sentences", f"sentences {at} are neighbours")
        # the core of the behaviour beside the condition would make it the easy variant
        for detail in row.evidence_details or ():
            if detail.part in ("behavior", "condition"):
                other = said[places["condition" if detail.part == "behavior" else "behavior"]]
                if detail.wordings[0].casefold() in other.casefold():
                    yield warn(
                        rows, line, "entity_facts", f"{detail.wordings[0]!r} is in the sentence of the other part"
                    )


def _coexisting(rows: Rows[CoexistingRow]) -> Iterator[SuiteFault]:
    for row, line in zip(rows.rows, rows.lines, strict=True):
        for i, fact in enumerate(row.preference_facts):
            for j, sibling in enumerate(row.preferences):
                if i != j and in_plain_words(sibling, fact):
                    yield warn(rows, line, f"preference_facts.{i}", f"mentions its sibling {sibling!r}")
        for preference in row.preferences:
            if in_plain_words(preference, row.question):
                yield warn(rows, line, "question", f"names {preference!r}")
    yield from _narrowed(rows)
    if len(rows.rows) >= FULL:
        sizes = Counter(len(row.preferences) for row in rows.rows)
        if len(set(sizes.values())) != 1 or sorted(sizes) != [2, 3, 4, 5]:
            yield warn(
                rows, None, "preferences", f"unbalanced: {dict(sorted(sizes.items()))} rows by number of preferences"
            )
        for category, count in Counter(row.preference_category for row in rows.rows).items():
            if count > 1:
                yield warn(rows, None, "preference_category", f"{category!r} in {count} rows, expected one")


def _persona(rows: Rows[PersonaRow]) -> Iterator[SuiteFault]:
    stored = {row.entity for row in rows.rows}
    for row, line in zip(rows.rows, rows.lines, strict=True):
        essay = " ".join(row.entity_facts)
        count = len(essay_sentences(essay))
        if not PERSONA_SENTENCES[0] <= count <= PERSONA_SENTENCES[1]:
            problem = f"has {count} sentences, expected {PERSONA_SENTENCES[0]} to {PERSONA_SENTENCES[1]}"
            yield warn(rows, line, "entity_facts", problem)
        for number, asked in enumerate(row.questions):
            named = asked.distractor or "" if asked.is_misleading else row.entity
            if named not in asked.text:
                yield warn(rows, line, f"questions.{number}", f"does not name {named!r}")
            if asked.is_misleading and row.entity in asked.text:
                yield warn(rows, line, f"questions.{number}", f"names {row.entity!r}, who is in the essay")
            if asked.kind == "other_person" and asked.look_alike not in stored - {row.entity}:
                yield warn(rows, line, f"questions.{number}", f"look_alike: {asked.look_alike!r} has no essay")
            details = (row.evidence_details or [[]] * len(row.questions))[number]
            if bool(details) == asked.is_misleading:
                wanted = "none" if asked.is_misleading else "what the answer needs"
                yield warn(rows, line, f"evidence_details.{number}", f"expected {wanted}")
            if asked.is_misleading and not asked.borrows:
                problem = "borrows: expected the sentences of the essay that would answer it"
                yield warn(rows, line, f"questions.{number}", problem)
            if details and all(in_plain_words(detail.wordings[0], asked.text) for detail in details):
                yield warn(rows, line, f"questions.{number}", "contains everything that its answer needs")


def _chains(rows: Rows[LongHopRow]) -> Iterator[SuiteFault]:
    homes: dict[str, str] = {}
    for row, row_id, line in zip(rows.rows, rows.ids, rows.lines, strict=True):
        for j, fact in enumerate(row.facts):
            for i, anchor in enumerate(row.anchors):
                if i not in (j, j + 1) and in_plain_words(anchor, fact):
                    yield warn(rows, line, f"fact_{j + 1}", f"contains {anchor!r}, which is not an anchor of this fact")
        if not in_plain_words(row.anchors[0], row.stem):
            last = row.anchors[0].split()[-1]
            if not in_plain_words(last, row.stem):
                yield warn(rows, line, "graded_question", f"does not name the head anchor {row.anchors[0]!r}")
        for anchor in row.anchors[1:]:
            if in_plain_words(anchor, row.stem):
                yield warn(rows, line, "graded_question", f"names {anchor!r}, which is not the head")
        yield from _options(rows, row, line)
        for anchor in row.anchors:
            other = homes.setdefault(anchor.casefold(), row_id)
            if other != row_id:
                yield warn(rows, line, "chain_1", f"{anchor!r} is an anchor of {other} too")
    yield from wrong_ends(rows)
    if len(rows.rows) >= FULL:
        for name in ("hop_count", "correct_choice"):
            counts = Counter(str(getattr(row, name)) for row in rows.rows)
            if max(counts.values()) - min(counts.values()) > UNEVEN:
                yield warn(rows, None, name, f"unbalanced: {dict(sorted(counts.items()))}")


def _options(rows: Rows[LongHopRow], row: LongHopRow, line: int) -> Iterator[SuiteFault]:
    """Report distractors that differ in shape from the right option or share words with the chain (B.6)."""
    right = plain_words(row.ground_truth_answer)
    counts = Counter(word for choice in row.choices for word in set(plain_words(choice)))
    # words that most options share are their shape ("counts every stair", "dusts every shelf")
    shape = {word for word, count in counts.items() if count > len(row.choices) / 2}
    chain = {word for anchor in row.anchors for word in plain_words(anchor) if len(word) > 3} - shape
    for letter, choice in zip(LETTERS, row.choices, strict=True):
        if letter == row.correct_choice:
            continue
        words = plain_words(choice)
        if abs(len(words) - len(right)) > OPTION_WORDS or is_gerund(words[0]) != is_gerund(right[0]):
            yield warn(
                rows, line, f"choice_{letter.lower()}", f"{choice!r} differs in shape from {row.ground_truth_answer!r}"
            )
        if common := sorted(chain & set(words)):
            yield warn(rows, line, f"choice_{letter.lower()}", f"{choice!r} shares {common[0]!r} with the chain")


def is_gerund(word: str) -> bool:
    """Return whether the word looks like a verb in -ing, unlike "string".

    >>> [is_gerund(word) for word in ("counting", "string")]
    [True, False]
    """
    return word.endswith("ing") and any(letter in "aeiouy" for letter in word[:-3])


def _updated(rows: Rows[UpdatedRow]) -> Iterator[SuiteFault]:
    for row, line in zip(rows.rows, rows.lines, strict=True):
        for field, value in (("old_value", row.old_value), ("current_value", row.current_value)):
            if value and in_plain_words(value, row.question):
                yield warn(rows, line, "question", f"names the {field} {value!r}")
        if row.kind == "control" and row.decoy_index is None:
            yield warn(rows, line, "decoy_index", "got nothing, expected the message that looks like an update")


def _narrowed(rows: Rows[CoexistingRow]) -> Iterator[SuiteFault]:
    """Report notes of the form '"words" leaves out … of ce-008.' whose words the question lacks, or that name no
    row.
    """
    for row, row_id, line in zip(rows.rows, rows.ids, rows.lines, strict=True):
        for words, others in LEAVES_OUT.findall(row.notes):
            if not in_plain_words(words, row.question):
                yield warn(rows, line, "question", f"lacks {words!r}, without which {others} would answer it too")
            named = ROW_ID.findall(others)
            if not named or row_id in named or not set(named) <= set(rows.ids):
                yield warn(rows, line, "notes", f"got {others!r}, expected the facts of other rows, by their ids")


def _names(tasks: Mapping[str, Rows[Any]]) -> Iterator[SuiteFault]:
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


def _repeats(tasks: Mapping[str, Rows[Any]]) -> Iterator[SuiteFault]:
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


CHECKS: Final[dict[str, Sequence[Callable[[Rows[Any]], Iterator[SuiteFault]]]]] = {
    "conditional_facts_easy": [partial(_conditional, span=EASY_SENTENCES)],
    "conditional_facts_hard": [partial(_conditional, span=HARD_SENTENCES), _spread],
    "coexisting_facts": [_coexisting],
    "persona_retrieval": [_persona],
    "long_hop": [_chains],
    "updated_facts": [_updated],
}
