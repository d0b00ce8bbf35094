"""Turn rows into stores: one per context, filled chunk by chunk, then asked everything that its rows ask."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from pytest_memfail.core import (
    NOT_RETRIEVED,
    NOT_STORED,
    REASONING_ERROR,
    Conversation,
    Evidence,
    Ingest,
    Message,
    Probe,
    Question,
    StorePlan,
    Task,
)
from pytest_memfail.reading import JsonRow, digest
from pytest_memfail.suites.mab.chunks import chunks_of
from pytest_memfail.suites.mab.facts import Fact, FactList, names_in
from pytest_memfail.suites.mab.files import FORGETTING, LEARNING, NAME, RETRIEVAL, UNDERSTANDING, Row
from pytest_memfail.suites.mab.scores import norm

DESCRIPTIONS: Final = {
    RETRIEVAL: "answers that stand somewhere in a long text",
    LEARNING: "labels learned from examples in a long text",
    UNDERSTANDING: "questions about a whole novel",
    FORGETTING: "numbered facts, of which later ones replace earlier ones",
}
FORMS: Final = {
    FORGETTING: "Where two facts contradict each other, the one with the higher number holds, whatever you know yourself. "
    "Give only the name or term that is asked for.",
    "mab_substring": "Give only the name or term that is asked for.",
    "mab_exact": "Give the answer alone, in the form that the question or the examples have.",
    "mab_events": "Repeat the right one to the letter.",
}
"""What the test-taker is told of the answer, by the task or by the kind of question."""
SHORTEST: Final = 3
"""Letters of a gold answer from which it is looked for as a string."""


@dataclass(frozen=True, slots=True)
class Origin:
    """A row, with the file that it is from."""

    file: str
    row: JsonRow[Row]

    @property
    def value(self) -> Row:
        """Return the row."""
        return self.row.value


def task_of(name: str, origins: Sequence[Origin], sha: str, variant: str, chunk: int | None, licence: str) -> Task:
    """Return a task with one store per context; `chunk` is its tokens, None for the paper's own of each family."""
    by_store: dict[str, list[Origin]] = {}
    for origin in origins:
        by_store.setdefault(origin.value.store, []).append(origin)
    evidence: dict[str, Evidence] = {}
    stores = []
    for store, asked in by_store.items():
        plan = _Plan(store, asked, chunk)
        questions = tuple(plan.questions())
        stores.append(StorePlan(store, (*(Ingest(each) for each in plan.conversations), Probe(questions))))
        evidence |= plan.evidence
    return Task(
        name=name,
        targets=(NOT_STORED, NOT_RETRIEVED, REASONING_ERROR),
        stores=tuple(stores),
        evidence=evidence,
        licence=licence,
        data_hash=sha,
        description=DESCRIPTIONS[name],
        suite=NAME,
        k=10,
        variant=variant,
    )


@dataclass(slots=True)
class _Plan:
    """Builds the conversations, questions and evidence of one context."""

    store: str
    origins: Sequence[Origin]
    chunk: int | None
    evidence: dict[str, Evidence] = field(default_factory=dict)
    conversations: list[Conversation] = field(default_factory=list)
    facts: FactList | None = None
    plain: list[str] = field(default_factory=list)
    """The chunks, normalised."""
    homes: dict[int, str] = field(default_factory=dict)
    """Number of a fact to the conversation that has it."""

    def __post_init__(self) -> None:
        family = self.origins[0].value.family
        assert family is not None
        context = self.origins[0].value.context
        for at, chunk in enumerate(chunks_of(context, self.chunk or family.chunk)):
            name = f"c-{digest(f'{NAME}:{self.store}:{at}', 10)}"
            self.conversations.append(Conversation(name, (Message("user", chunk),)))
            if family.task == FORGETTING:
                self.homes |= {line.number: name for line in FactList(chunk).lines}
        if family.task == FORGETTING:
            self.facts = FactList(context)
        elif family.answer == "mab_substring":
            self.plain = [f" {norm(conversation.text)} " for conversation in self.conversations]

    def questions(self) -> Iterator[Question]:
        """Yield the questions of all rows."""
        for origin in self.origins:
            row, family = origin.value, origin.value.family
            assert family is not None
            form = FORMS.get(family.task) or FORMS.get(family.answer, "")
            asked = zip(row.question_ids(), row.questions, row.answers, strict=True)
            for at, (name, text, golds) in enumerate(asked):
                found = self._evidence(name, row.part, text, golds)
                if found is not None:
                    self.evidence[found.id] = found
                yield Question(
                    id=name,
                    task=family.task,
                    text=f"{text}\n{form}" if form else text,
                    query=text,
                    gold=tuple(golds),
                    evidence=(found.id,) if found else (),
                    kind=family.answer,
                    file=origin.file,
                    line=origin.row.line,
                    place=f"questions.{at}",
                    stratum=("replaced" if found.stale_values else "alone") if found and row.part[:3] == "sh_" else "",
                    part=row.part,
                    cluster=f"{self.store}:{name}",
                )

    def _evidence(self, name: str, part: str, question: str, golds: Sequence[str]) -> Evidence | None:
        """Return the fact that a question needs; None where the data does not reveal one."""
        if self.facts is None:
            return self._string(name, question, golds)
        if part.startswith("sh_"):
            fact = self.facts.asked(question, golds)
            return self._fact(name, question, fact) if fact else None
        return self._last(name, question, self.facts.holding(golds))

    def _fact(self, name: str, question: str, fact: Fact) -> Evidence:
        replaced = [line for line, _ in fact.replaced]
        return Evidence(
            id=f"{self.store}.{name}",
            kind="numbered_fact",
            task=FORGETTING,
            text=f"{fact.line.text}.",
            source=str(fact.line),
            conversation_id=self.homes[fact.line.number],
            subject=fact.beginning,
            value=fact.value,
            anchors=names_in(fact.beginning),
            stale_values=tuple(dict.fromkeys(value for _, value in fact.replaced)),
            earlier="\n".join(map(str, replaced)) or None,
            asked=question,
            history=tuple(dict.fromkeys(self.homes[line.number] for line in replaced)),
        )

    def _last(self, name: str, question: str, facts: Sequence[Fact]) -> Evidence | None:
        if not facts:
            return None
        return Evidence(
            id=f"{self.store}.{name}",
            kind="last_fact",
            task=FORGETTING,
            text=f"a fact with the value {facts[-1].value}: {facts[-1].line.text}."
            + (f" (or one of {len(facts) - 1} more with this value)" if len(facts) > 1 else ""),
            source="\n".join(str(fact.line) for fact in facts),
            conversation_id=self.homes[facts[-1].line.number],
            value=facts[-1].value,
            telling=tuple(fact.line.text for fact in facts),
            asked=question,
        )

    def _string(self, name: str, question: str, golds: Sequence[str]) -> Evidence | None:
        """Return an answer as a string; None if it is too short to mean anything, or if no chunk has it."""
        wanted = [gold for gold in golds if len(norm(gold)) >= SHORTEST and norm(gold) not in ("yes", "no")]
        for conversation, text in zip(self.conversations, self.plain, strict=False):
            if any(f" {norm(gold)} " in text for gold in wanted):
                return Evidence(
                    id=f"{self.store}.{name}",
                    kind="gold_string",
                    task=self.origins[0].value.family.task if self.origins[0].value.family else "",
                    text=" or ".join(dict.fromkeys(wanted)),
                    source=" or ".join(dict.fromkeys(wanted)),
                    conversation_id=conversation.id,
                    value=wanted[0],
                    telling=tuple(wanted),
                    asked=question,
                )
        return None
