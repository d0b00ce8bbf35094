"""Runs made up for clues: conversations that are told to a store of our own, and the facts that a simple rule finds in it."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone

from pytest_memfail.core import (
    CORRECT,
    NOT_RETRIEVED,
    NOT_STORED,
    SUMMARY_ERROR,
    Conversation,
    Fact,
    FactVerdict,
    Listing,
    Memory,
    Message,
    QuestionRecord,
    StageResult,
    find_origins,
    told_of,
)
from pytest_memfail.records import StoreRecord

START = datetime(2025, 1, 6, 9, tzinfo=timezone.utc)
PASSED = StageResult("passed")
SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu".split()


def word(number: int) -> str:
    """A word of its own for each number."""
    return "".join(SYLLABLES[number // 20**place % 20] for place in range(3))


def price(number: int) -> str:
    """A number in digits, or for every third conversation none."""
    return str(number + 20) if number % 3 else "few"


def conversation(number: int, text: str | None = None, *, first: bool = False) -> Conversation:
    """A conversation whose second sentence, or first, states its fact."""
    unlike = [word(1000 + 7 * number + i) for i in range(4)]
    parts = [
        f"{f'{unlike[0]} ' * (1 + number % 5)}{unlike[1]} sings",
        f"The {word(number)} of {word(2000 + number).title()} costs {price(number)} coins",
        f"{unlike[2]} {unlike[3]} rests in the attic",
    ]
    said = text or ". ".join([parts[1], parts[0], parts[2]] if first else parts) + "."
    when = START + timedelta(days=7 * number)
    return Conversation(f"c-{number}", (Message("user", said, when),), when)


@dataclass
class Made:
    """A store of `n` conversations, one fact each, and what a system keeps and finds."""

    n: int = 60
    keep: Callable[[int, str], str | None] = lambda number, text: text
    """The entry of a conversation; None for no entry."""
    finds: Callable[[int, int], bool] = lambda place, size: True
    """Whether the search finds the entry at a place of the listing."""
    when: Callable[[datetime], datetime | None] = lambda told: told
    needed: str = "costs"
    """What the entry must have, or the fact is not faithful."""
    needs: Callable[[int], Sequence[str]] = lambda number: (price(number),)
    states: Callable[[int], int] = lambda number: 1
    """The sentence of a conversation that states its fact."""
    task: str = "t"

    def run(self, seed: int | None = None, share: float = 0.0) -> tuple[list[QuestionRecord], list[StoreRecord]]:
        """Return its questions and its store; with a seed, a share of the facts is lost at random."""
        chance = random.Random(seed)
        told = [conversation(number, first=not self.states(number)) for number in range(self.n)]
        memories: list[Memory] = []
        entry: dict[int, int] = {}
        for number, one in enumerate(told):
            text = self.keep(number, one.text)
            if text is not None and not (seed is not None and chance.random() < share):
                entry[number] = len(memories)
                when = None if one.timestamp is None else self.when(one.timestamp)
                memories.append(Memory(text, f"m-{number}", None, None if when is None else when.isoformat()))
        facts = [
            Fact(f"f-{number}", "k", said := one.text.split(". ")[self.states(number)], said, one.id)
            for number, one in enumerate(told)
        ]
        questions = [self._question(number, facts[number], entry.get(number), memories) for number in range(self.n)]
        store = StoreRecord(
            store=self.task,
            task=self.task,
            conversations=self.n,
            fill_seconds=0.0,
            memories=len(memories),
            tokens=None,
            changed_by_queries=(0, 0),
            listings=(),
            told=told_of(told, listed(memories, told), facts),
        )
        return questions, [store]

    def _question(self, number: int, fact: Fact, place: int | None, memories: Sequence[Memory]) -> QuestionRecord:
        found = FactVerdict(fact.id, CORRECT, PASSED, PASSED, PASSED, fact.text, fact.source)
        found_too = [(7 * number + 13 * i) % len(memories) for i in range(9)]
        places = tuple(dict.fromkeys(at for at in found_too if self.finds(at, len(memories))))[:4]
        if place is None:
            found = replace(found, verdict=NOT_STORED, storage=StageResult("failed"))
        else:
            missing = tuple(part for part in self.needs(number) if part not in memories[place].text)
            stored = StageResult("passed", entries=(place,))
            found = replace(found, storage=stored, summary=stored)
            if missing:
                found = replace(found, verdict=SUMMARY_ERROR, summary=StageResult("failed", missing=missing))
            elif not self.finds(place, len(memories)):
                found = replace(found, verdict=NOT_RETRIEVED, retrieval=StageResult("failed"))
            else:
                places = (place, *places)
        return QuestionRecord(
            verdict=found.verdict,
            facts=(found,),
            memory_held=found.verdict == CORRECT,
            id=f"{self.task}::{number}",
            task=self.task,
            store=self.task,
            question=f"q-{number}",
            k=5,
            kind="open",
            stratum="",
            text=f"What is the price of the {word(number)}?",
            gold=(),
            row=None,
            retrieved=tuple(memories[at] for at in places[:5]),
            places=places[:5],
        )


def listed(memories: Sequence[Memory], told: Sequence[Conversation]) -> Listing:
    """A listing whose entries are linked to their conversations."""
    return Listing("t", tuple(memories), origins=find_origins(memories, told, {}))
