"""Stores made of the published rows, which never enter the repository: tests that need them skip where they are absent."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from pytest_memfail.core import Evidence, Listing, Memory, Question, Task
from pytest_memfail.judges import RulesJudge
from pytest_memfail.tasks import TaskRequest, load_tasks

FOLDER = Path(__file__).parents[4] / "shared" / "data" / "memfail"
needs_published_rows = pytest.mark.skipif(not FOLDER.is_dir(), reason=f"the published rows are not at {FOLDER}")
SENTENCE = re.compile(r"(?<=[.!?])(?<![ap]\.m\.) +")
GRANULARITIES = ("verbatim", "sentences", "ten_messages")


@cache
def task(name: str) -> Task:
    """A published task."""
    return {t.name: t for t in load_tasks(TaskRequest(data=FOLDER))}[name]


@dataclass(frozen=True)
class Store:
    """A store and where each conversation stands in it."""

    texts: tuple[str, ...]
    own: dict[str, tuple[int, ...]]
    conversations: dict[str, str]
    granularity: str

    @property
    def listing(self) -> Listing:
        return Listing("s", tuple(Memory(text) for text in self.texts))

    def without(self, conversation: str) -> Listing:
        """The store as if that conversation had never been stored."""
        if self.granularity == "ten_messages":
            (at,) = self.own[conversation]
            line = f"user: {self.conversations[conversation]}"
            kept = "\n".join(
                part for part in self.texts[at].split("\nuser: ") if f"user: {part.removeprefix('user: ')}" != line
            )
            texts = [*self.texts[:at], kept, *self.texts[at + 1 :]]
        else:
            texts = [text for i, text in enumerate(self.texts) if i not in self.own[conversation]]
        return Listing("without", tuple(Memory(text) for text in texts))

    def with_text(self, conversation: str, text: str) -> Listing:
        """A verbatim store in which that conversation's entry reads otherwise."""
        (at,) = self.own[conversation]
        return Listing("changed", tuple(Memory(text if i == at else old) for i, old in enumerate(self.texts)))

    def shown(self, conversation: str, rng: random.Random, *, own: bool) -> list[Memory]:
        """The conversation's own entries with four others, or five others."""
        mine = self.own[conversation]
        others = [i for i in range(len(self.texts)) if i not in mine]
        chosen = [*mine, *rng.sample(others, min(4, len(others)))] if own else rng.sample(others, min(5, len(others)))
        return [Memory(self.texts[i]) for i in chosen]


def build(name: str, granularity: str) -> Store:
    """All conversations of a task as entries of that granularity."""
    texts: list[str] = []
    own: dict[str, tuple[int, ...]] = {}
    conversations = {c.id: c.text for store in task(name).stores for c in store.conversations}
    ids = list(conversations)
    if granularity == "ten_messages":
        for at in range(0, len(ids), 10):
            own.update({i: (len(texts),) for i in ids[at : at + 10]})
            texts.append("\n".join(f"user: {conversations[i]}" for i in ids[at : at + 10]))
    elif granularity == "one_entry":
        own = dict.fromkeys(ids, (0,))
        texts = ["\n".join(conversations.values())]
    else:
        for i in ids:
            parts = [conversations[i]] if granularity == "verbatim" else SENTENCE.split(conversations[i])
            own[i] = tuple(range(len(texts), len(texts) + len(parts)))
            texts.extend(parts)
    return Store(tuple(texts), own, conversations, granularity)


def facts(name: str, every: int = 1) -> Iterator[tuple[Evidence, Question]]:
    """The expected facts of every so-manyth question, with their questions."""
    for question in task(name).questions[::every]:
        for fact in question.evidence:
            yield task(name).evidence[fact], question


def verdict(judge: RulesJudge, evidence: Evidence, question: Question, store: Listing, shown: list[Memory]) -> str:
    """The first stage that fails."""
    if judge.storage(evidence, store).outcome == "failed":
        return "not_stored"
    if judge.summary(evidence, store).outcome == "failed":
        return "summary_error"
    return "correct" if judge.retrieval(evidence, question, shown).outcome == "passed" else "not_retrieved"
