"""Turn each pair of people into a store, and each question into a question about the turns that it needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal

from pytest_memfail.core import (
    Conversation,
    Fact,
    Ingest,
    Message,
    Probe,
    Question,
    Role,
    StorePlan,
    Task,
)
from pytest_memfail.rows import JsonRow, digest
from pytest_memfail.suites.locomo.files import ADVERSARIAL, CATEGORIES, NAME, TEMPORAL, Errata, Item, Sample, TurnId
from pytest_memfail.suites.turns import turn_fact

SMALL: Final = f"{NAME}.small"
OF_SMALL: Final[Mapping[str, frozenset[int]]] = {
    name: frozenset(map(int, numbers.split()))
    for name, numbers in {
        "conv-26": "7 14 24 25 27 36 39 41 50 51 52 58 71 73 74 78 82 85 87 89 91 102 103 105 112 124 128 133 134 140 "
        "143 159 163 166 167 168 173 181 182 184 185 196",
        "conv-30": "2 10 15 22 25 26 39 42 56 59 62 70 75 77 78 80 86 94 98",
        "conv-49": "8 19 34 35 40 42 45 47 51 70 72 73 78 82 83 86 88 98 109 110 113 119 121 122 126 130 138 151 152 "
        "154 166 167 171 174 177 188 191 192 194",
    }.items()
}
"""The questions of `locomo.small`, which never change: 14, 16, 5, 42 and 23 of the categories, as many as their share of all.
They need 3 of 10 stores, no audited error is among them, and each has its evidence."""
NEVER_SAID: Final = "Nothing in the conversations answers this: it was never said, or it was said of the other person."
User = Literal["a", "b", "both"]
"""Who is stored as the user; the other is the assistant."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The user's settings of the suite."""

    user: User = "a"
    is_lenient: bool = False
    errata: Errata = field(default_factory=Errata)


def filled(empty: Task, rows: Sequence[JsonRow[Sample]], path: Path, settings: Settings) -> Task:
    """Return a task with a store per row and its questions; `locomo.small` has only the rows that it has questions of.

    Raises `RowError` for corrections of another file.
    """
    stores: list[StorePlan] = []
    evidence: dict[str, Fact] = {}
    for row, items in zip(rows, settings.errata.applied([row.value for row in rows]), strict=True):
        few = OF_SMALL.get(row.value.sample_id, frozenset())
        if chosen := [item for item in items if empty.name != SMALL or item[0] in few]:
            plan = _Plan(empty.name, row.value, str(path), row.line, settings)
            stores.append(StorePlan(row.value.sample_id, plan.steps(chosen)))
            evidence |= plan.evidence
    return replace(empty, stores=tuple(stores), evidence=evidence)


@dataclass(slots=True)
class _Plan:
    """Builds the steps and the evidence of one row."""

    task: str
    sample: Sample
    file: str
    line: int
    settings: Settings
    evidence: dict[str, Fact] = field(default_factory=dict)
    conversations: dict[int, Conversation] = field(default_factory=dict)

    def steps(self, items: Sequence[tuple[int, Item]]) -> tuple[Ingest | Probe, ...]:
        """Return the sessions that have turns, in the order of their numbers, and then all questions."""
        for number, session in self.sample.conversation.sessions.items():
            messages = tuple(
                Message(self._role(turn.speaker), turn.said, session.date_time) for turn in session.turns if turn.said
            )
            if messages:
                text = "\n".join(message.content for message in messages)
                name = f"c-{digest(f'{NAME}:{self.sample.sample_id}:{number}:{text}', 10)}"
                self.conversations[number] = Conversation(name, messages, session.date_time)
        return (*map(Ingest, self.conversations.values()), Probe(tuple(self._questions(items))))

    def _role(self, speaker: str) -> Role:
        is_a = speaker == self.sample.conversation.speaker_a
        return "user" if self.settings.user == "both" or is_a == (self.settings.user == "a") else "assistant"

    def _questions(self, items: Sequence[tuple[int, Item]]) -> Iterator[Question]:
        known = self.sample.turns
        for number, item in items:
            is_trap = item.category == ADVERSARIAL
            name = f"{self.sample.sample_id}-q{number:03d}"
            needed = [] if is_trap else [turn for turn in self.sample.evidence(item) if known[turn].said]
            yield Question(
                id=name,
                task=self.task,
                text=item.question,
                query=item.question,
                gold=(item.answer or NEVER_SAID,),
                evidence=tuple(self._fact(name, item, turn) for turn in needed),
                kind=f"{NAME}_{'never_said' if is_trap else 'lenient' if self.settings.is_lenient else 'strict'}",
                file=self.file,
                line=self.line,
                place=f"qa.{number}",
                part=CATEGORIES[item.category],
                is_independent=True,
                keys={"trap": item.adversarial_answer} if is_trap else {},
            )

    def _fact(self, name: str, item: Item, place: TurnId) -> str:
        session, turn = place
        said = self.sample.turns[place]
        fact = turn_fact(
            said.said,
            name,
            session=session,
            turn=turn,
            speaker=self._role(said.speaker),
            said=self.sample.conversation.sessions[session].date_time,
            conversation_id=self.conversations[session].id,
            asked=item.question,
            answer=item.answer,
            is_temporal=item.category == TEMPORAL,
            owner=said.speaker,
        )
        self.evidence[fact.id] = fact
        return fact.id
