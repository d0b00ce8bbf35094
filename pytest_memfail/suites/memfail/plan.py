"""What is stored and asked of each task's rows, and in which order.

`paper` repeats the published layout (section 5.1 and appendix B.6; the seeds are our own). `ours` sorts by a digest of
seed and row id, so that adding or removing a row does not move any other.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from pytest_memfail.core import (
    MORNING,
    NOT_RETRIEVED,
    NOT_STORED,
    SUMMARY_ERROR,
    Claim,
    Conversation,
    Fact,
    Ingest,
    Message,
    Part,
    PartRole,
    Probe,
    ProtocolName,
    Question,
    Step,
    StorePlan,
    Task,
)
from pytest_memfail.rows import digest
from pytest_memfail.suites.memfail.gold import Link, Persona, Preference, Rule, State
from pytest_memfail.suites.memfail.row_models import (
    CoexistingRow,
    ConditionalRow,
    LongHopRow,
    PersonaRow,
    Row,
    UpdatedRow,
)
from pytest_memfail.suites.memfail.rows import Rows, read_rows, single_row
from pytest_memfail.suites.sampling import by_digest

PAPER_FACT_SALT: Final = 0xF1AC
PAPER_QUESTION_SALT: Final = 0x5EED
R = TypeVar("R", bound=Row)

FIRST_DAY: Final = datetime(2025, 1, 6, 9, 0, tzinfo=timezone.utc)
COMPOSED: Final = "conditional_facts_hard"
"""The variant in which other statements stand between a behavior and its condition."""
OUTPUT_INSTRUCTION: Final = """

Answer with exactly one of the five options. Put the relevant facts from memory together step by step: only one option follows \
from them, and nothing in memory leads to the other four. Write one JSON object on a single line and no other text, in exactly \
this form: {"selected_choice": "A, B, C, D or E"}"""
"""The counterpart of the instruction in the published harness's queries (paper, D.2), in our own words. Ranking by
words or by meaning is distracted by it."""
USER = "the user"


def paper_rows(n: int, seed: int) -> tuple[list[int], random.Random]:
    """Return the row indices in the order of the published harness, and the random generator for further draws."""
    rng = random.Random(seed)
    order = list(range(n))
    rng.shuffle(order)
    return order, rng


def conversation(key: str, texts: Sequence[str], day: int | None) -> Conversation:
    """Return a conversation of user messages with an id that does not reveal the task.

    `day` counts from `FIRST_DAY`; None means no time.
    """
    start = None if day is None else FIRST_DAY + timedelta(days=day)
    messages = tuple(
        Message("user", text, None if start is None else start + timedelta(minutes=i)) for i, text in enumerate(texts)
    )
    return Conversation(f"c-{digest(key, 10)}", messages, start)


class Plan(Generic[R]):
    """Collects the questions of a task and the facts that they need. All are asked once all conversations are stored."""

    def __init__(self, name: str, rows: Rows[R]) -> None:
        self._name, self._rows = name, rows
        self._questions: list[Question] = []
        self._facts: dict[str, Fact] = {}

    def ask(self, i: int, text: str, gold: Iterable[str], facts: Sequence[Fact], **fields: Any) -> None:
        """Add a question of a row, with its facts; `fields` are more fields of `Question`."""
        self._facts |= {fact.id: fact for fact in facts}
        fields = {"id": self._rows.ids[i], "query": text, **fields}
        self._questions.append(
            Question(
                task=self._name,
                text=text,
                gold=tuple(gold),
                evidence=tuple(fact.id for fact in facts),
                file=str(self._rows.path),
                line=self._rows.lines[i],
                **fields,
            )
        )

    def task(self, conversations: Iterable[Conversation], targets: tuple[str, ...], description: str) -> Task:
        """Return the task that stores these conversations."""
        steps: list[Step] = [*map(Ingest, conversations), Probe(tuple(self._questions))]
        return Task(
            name=self._name,
            targets=targets,
            stores=(StorePlan(self._name, tuple(steps)),),
            evidence=self._facts,
            licence="see the data card of the folder",
            data_hash=self._rows.sha256,
            description=description,
        )


def conditional_facts(name: str, rows: Rows[ConditionalRow], protocol: ProtocolName, seed: int) -> Task:
    """Return the task with one essay per conversation and one yes/no question per row."""
    n = len(rows.rows)
    if protocol == "paper":
        stored, rng = paper_rows(n, seed)
        asked = list(range(n))
        rng.shuffle(asked)
    else:
        stored = by_digest(range(n), seed, [f"store:{i}" for i in rows.ids])
        asked = by_digest(range(n), seed, [f"ask:{i}" for i in rows.ids])
    conversations = {
        i: conversation(f"{name}:{rows.ids[i]}", rows.rows[i].entity_facts, None if protocol == "paper" else day)
        for day, i in enumerate(stored)
    }
    plan = Plan(name, rows)
    for i in asked:
        row, row_id = rows.rows[i], rows.ids[i]
        details = (detail.part_of_claim() for detail in row.evidence_details or ())
        claim = Claim(
            (Part(row.behavior), Part(row.condition, "condition"), *details),
            owner=row.entity,
            is_composed=name == COMPOSED,
        )
        text, gold = f"{row.entity} {row.behavior} {row.condition}.", Rule(row.behavior, row.condition)
        fact = Fact(row_id, "rule", text, "\n".join(row.entity_facts), conversations[i].id, claim, gold)
        keys = {
            "condition_met": row.condition_met,
            "condition_type": row.condition_type,
            "rule_sentences": row.rule_sentences,
        }
        gold_answers = (row.ground_truth_answer,)
        plan.ask(i, row.question, gold_answers, [fact], kind="yes_no", stratum=row.condition_met, keys=keys)
    return plan.task(
        conversations.values(), (SUMMARY_ERROR,), "rules that apply only under a condition, hidden in essays"
    )


def coexisting_facts(name: str, rows: Rows[CoexistingRow], protocol: ProtocolName, seed: int) -> Task:
    """Return the task with one statement per conversation and one question per row."""
    n = len(rows.rows)
    pairs = [(i, j) for i, row in enumerate(rows.rows) for j in range(len(row.preference_facts))]
    if protocol == "paper":
        rng = random.Random(seed)
        rng.shuffle(pairs)
        asked = list(range(n))
        rng.shuffle(asked)
    else:
        pairs = by_digest(pairs, seed, [f"store:{rows.ids[i]}:{j}" for i, j in pairs])
        asked = by_digest(range(n), seed, [f"ask:{i}" for i in rows.ids])
    conversations = {
        (i, j): conversation(
            f"{name}:{rows.ids[i]}:{j}", [rows.rows[i].preference_facts[j]], None if protocol == "paper" else day
        )
        for day, (i, j) in enumerate(pairs)
    }
    plan = Plan(name, rows)
    for i in asked:
        row, facts = rows.rows[i], []
        for j, (preference, fact) in enumerate(zip(row.preferences, row.preference_facts, strict=True)):
            details = row.evidence_details[j] if row.evidence_details else []
            topic = Part(row.preference_category, "topic", required=False)
            claim = Claim(
                (Part(preference), topic, *(detail.part_of_claim() for detail in details)),
                siblings=tuple(row.preference_facts[:j] + row.preference_facts[j + 1 :]),
            )
            home, gold = conversations[i, j].id, Preference(preference)
            facts.append(Fact(f"{rows.ids[i]}:{j + 1}", "preference", fact, fact, home, claim, gold))
        kind, stratum, keys = "all_of", f"N={len(facts)}", {"category": row.preference_category}
        plan.ask(i, row.question, row.preferences, facts, kind=kind, stratum=stratum, keys=keys)
    return plan.task(
        conversations.values(),
        (NOT_STORED, NOT_RETRIEVED),
        "two to five preferences of one category that are true at the same time",
    )


def persona_retrieval(name: str, rows: Rows[PersonaRow], protocol: ProtocolName, seed: int) -> Task:
    """Return the task with one essay per conversation and three questions per row.

    Under `ours` each question expects the details that it needs, under `paper` the whole essay.
    """
    n = len(rows.rows)
    slots = [(i, j) for i, row in enumerate(rows.rows) for j in range(len(row.questions))]
    if protocol == "paper":
        stored, rng = paper_rows(n, seed)
        rng.shuffle(slots)
    else:
        stored = by_digest(range(n), seed, [f"store:{i}" for i in rows.ids])
        slots = by_digest(slots, seed, [f"ask:{rows.ids[i]}:{j}" for i, j in slots])
    conversations = {
        i: conversation(f"{name}:{rows.ids[i]}", rows.rows[i].entity_facts, None if protocol == "paper" else day)
        for day, i in enumerate(stored)
    }
    plan = Plan(name, rows)
    for i, j in slots:
        row, question_id = rows.rows[i], f"{rows.ids[i]}-q{j + 1}"
        asked = row.questions[j]
        kind = "misleading" if asked.is_misleading else "direct"
        fact_id, needs, parts = rows.ids[i], list[str](), list[Part]()
        if protocol == "ours":
            curated = row.evidence_details[j] if row.evidence_details else []
            listed = [] if asked.is_misleading else [detail.part_of_claim() for detail in curated]
            borrowed = [] if curated else list(asked.borrows)
            fact_id, needs = question_id, borrowed if asked.is_misleading else [asked.ground_truth_answer]
            # a misleading question names somebody whom nobody stores anything about: its topic is the same of the owner
            topic = asked.text.replace(asked.distractor, row.entity) if asked.distractor else asked.text
            parts = [*map(Part, needs), Part(topic, "topic"), *listed]
        claim, gold = Claim(tuple(parts), owner=row.entity), Persona("; ".join(needs)) if needs else None
        fact = Fact(fact_id, "persona", row.essay, row.essay, conversations[i].id, claim, gold)
        plan.ask(
            i,
            asked.text,
            (asked.ground_truth_answer,),
            [fact],
            id=question_id,
            kind=kind,
            stratum=asked.kind or kind,
            keys={"distractor": asked.distractor} if asked.distractor else {},
            must_not_use=asked.is_misleading,
        )
    return plan.task(
        conversations.values(), (NOT_STORED, SUMMARY_ERROR), "essays about people, asked about them and about others"
    )


def long_hop(name: str, rows: Rows[LongHopRow], protocol: ProtocolName, seed: int) -> Task:
    """Return the task with one fact per conversation and one multiple-choice question per chain.

    The retrieval query is the question without its options. Under `paper` it also has the options and the output
    instruction, as in the published harness.
    """
    n = len(rows.rows)
    if protocol == "paper":
        order = list(range(n))
        random.Random(seed).shuffle(order)
        links = [(i, j) for i in order for j in range(len(rows.rows[i].facts))]
        random.Random(seed ^ PAPER_FACT_SALT).shuffle(links)
        asked = order
        random.Random(seed ^ PAPER_QUESTION_SALT).shuffle(asked)
    else:
        links = [(i, j) for i, row in enumerate(rows.rows) for j in range(len(row.facts))]
        links = by_digest(links, seed, [f"store:{rows.ids[i]}:{j}" for i, j in links])
        asked = by_digest(range(n), seed, [f"ask:{i}" for i in rows.ids])
    conversations = {
        (i, j): conversation(f"{name}:{rows.ids[i]}:{j}", [rows.rows[i].facts[j]], None if protocol == "paper" else day)
        for day, (i, j) in enumerate(links)
    }
    plan = Plan(name, rows)
    for i in asked:
        row, facts = rows.rows[i], []
        for j, fact in enumerate(row.facts):
            start, end = row.anchors[j], row.anchors[j + 1]
            details = row.evidence_details[j] if row.evidence_details else []
            roles: Sequence[PartRole | None] = ("cause", "core") if len(details) == 2 else (None,) * len(details)
            listed = (detail.part_of_claim(role) for detail, role in zip(details, roles, strict=True))
            siblings = tuple(row.facts[:j] + row.facts[j + 1 :])
            claim = Claim((Part(end), Part(start, "cause"), *listed), siblings=siblings)
            home, gold = conversations[i, j].id, Link((start, end))
            facts.append(Fact(f"{rows.ids[i]}:{j + 1}", "link", fact, fact, home, claim, gold))
        plan.ask(
            i,
            row.graded_question,
            (row.ground_truth_answer,),
            facts,
            query=f"{row.graded_question}{OUTPUT_INSTRUCTION}" if protocol == "paper" else row.stem,
            kind="multiple_choice",
            options=tuple(row.choices),
            letter=row.correct_choice,
            stratum=f"K={row.hop_count}",
        )
    return plan.task(
        conversations.values(), (NOT_RETRIEVED,), "chains of one to three hops whose links are stored separately"
    )


def updated_facts(name: str, rows: Rows[UpdatedRow], protocol: ProtocolName, seed: int) -> Task:
    """Return the task with one message per conversation, ordered by date over all rows, and one question per row.

    The expected fact is the current state. Both protocols are the same, because no published harness has this task.
    """
    del protocol
    messages: list[tuple[datetime, str, Conversation]] = []
    homes: dict[tuple[int, int], str] = {}
    for i, row in enumerate(rows.rows):
        for j, message in enumerate(row.messages):
            key = digest(f"{name}:{rows.ids[i]}:{j}", 10)
            when = datetime.combine(message.date, MORNING)
            conversation = Conversation(f"c-{key}", (Message("user", message.text, when),), when)
            homes[i, j] = conversation.id
            messages.append((when, key, conversation))
    asked = by_digest(range(len(rows.rows)), seed, [f"ask:{i}" for i in rows.ids])
    plan = Plan(name, rows)
    for i in asked:
        row = rows.rows[i]
        fact = _state(rows, i, homes)
        plan.ask(i, row.question, (row.ground_truth_answer,), [fact], kind="open", stratum=row.kind)
    return plan.task(
        [conversation for *_, conversation in sorted(messages, key=lambda message: message[:2])],
        (NOT_STORED, SUMMARY_ERROR),
        "facts that were later updated, corrected or retracted, and some that only seem so",
    )


def _state(rows: Rows[UpdatedRow], i: int, homes: dict[tuple[int, int], str]) -> Fact:
    row = rows.rows[i]
    said = row.messages[row.fact_index].text
    old = None if row.old_index is None else row.messages[row.old_index]
    details = tuple(detail.part_of_claim() for detail in row.evidence_details or ())
    is_deleted = row.kind == "deletion"
    value = row.current_value or None
    return Fact(
        id=rows.ids[i],
        kind="fact",
        text=said,
        source=said,
        conversation_id=homes[i, row.fact_index],
        history=tuple(homes[i, j] for j in range(len(row.messages)) if j != row.fact_index),
        claim=Claim(
            # a retracted fact need not be stored, so no detail is required
            (Part(value or said), Part(row.subject, "topic"), *(() if is_deleted else details)),
            owner=None if row.entity == USER else row.entity,
            replaced=tuple(row.stale_values),
            earlier=None if old is None else old.text,
            is_dated=old is not None and old.date < row.messages[row.fact_index].date,
            decoys=() if row.decoy_index is None else (row.messages[row.decoy_index].text,),
            endings=details[-1].wordings if is_deleted and details else (),
            has_ended=is_deleted,
        ),
        gold=State(value, row.subject),
    )


@dataclass(frozen=True, slots=True)
class Format:
    """How the rows of a task are read, and what is made of them."""

    model: type[Row]
    make_id: Callable[[Any], str]
    make_key: Callable[[Any], str]
    build: Callable[[str, Rows[Any], ProtocolName, int], Task]
    """Returns the task with this name and these rows, under a protocol, in the order of a seed."""

    def read(self, path: Path) -> Rows[Any]:
        """Read the rows of a file. Raises `RowError` for the first fault."""
        return read_rows(path, self.model, self.make_id, self.make_key)


_RULES: Final = Format(
    ConditionalRow,
    lambda row: f"{row.entity} {row.behavior}",
    lambda row: f"{row.entity_facts}{row.question}",
    conditional_facts,
)
TASKS: Final[dict[str, Format]] = {
    "conditional_facts_easy": _RULES,
    "conditional_facts_hard": _RULES,
    "coexisting_facts": Format(
        CoexistingRow, lambda row: row.preference_category, lambda row: str(row.preference_facts), coexisting_facts
    ),
    "persona_retrieval": Format(
        PersonaRow, lambda row: row.entity, lambda row: str(row.entity_facts), persona_retrieval
    ),
    "long_hop": Format(LongHopRow, lambda row: row.id, lambda row: str(row.facts), long_hop),
    "updated_facts": Format(
        UpdatedRow, lambda row: f"{row.entity} {row.subject}", lambda row: str(row.messages), updated_facts
    ),
}
"""How each task's rows are read and stored."""


def task_of_rows(name: str, rows: Sequence[tuple[str, Mapping[str, Any]]], protocol: ProtocolName = "ours") -> Task:
    """Return the task of rows that come with ids instead of a file.

    Raises `RowError` for the first faulty row.
    """
    single = [single_row(Path(row_id), 1, row, TASKS[name].model) for row_id, row in rows]
    held = Rows(
        Path(name), "", tuple(one.rows[0] for one in single), tuple(row_id for row_id, _ in rows), (1,) * len(rows)
    )
    return TASKS[name].build(name, held, protocol, 0)
