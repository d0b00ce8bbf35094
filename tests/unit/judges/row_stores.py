"""Stores made verbatim from the conversations of benchmark rows.

The shipped rows are always present. The published rows are not part of the repository; tests that need them are skipped
without.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from pytest_memfail.core import Fact, Listing, Memory, Question, Task
from pytest_memfail.judges import OfflineJudge
from pytest_memfail.suites import TaskRequest, load_tasks
from pytest_memfail.suites.memfail import MEMFAIL_TASKS

PUBLISHED = Path(__file__).parents[4] / "shared" / "data" / "memfail"
needs_published_rows = pytest.mark.skipif(not PUBLISHED.is_dir(), reason=f"the published rows are not at {PUBLISHED}")
ROWS = ["shipped", pytest.param("published", marks=needs_published_rows)]
SENTENCE = re.compile(r"(?<=[.!?])(?<![ap]\.m\.) +")


SPELLED_OUT = {"can't": "can not", "won't": "will not", "shan't": "shall not"}
IRREGULAR = re.compile("\\b(can't|won't|shan't)", re.IGNORECASE)


@cache
def task(name: str, rows: str) -> Task:
    """Return a task of the shipped or the published rows."""
    request = TaskRequest(data=PUBLISHED) if rows == "published" else TaskRequest(MEMFAIL_TASKS)
    return {t.name: t for t in load_tasks(request)}[name]


def verbatim(name: str, texts: Sequence[str]) -> Listing:
    """Return a listing each sentence of which was said."""
    return Listing(name, tuple(map(Memory, texts)), said=(True,) * len(texts))


@dataclass(frozen=True)
class Store:
    """A store, with the positions of each conversation's entries."""

    texts: tuple[str, ...]
    own: dict[str, tuple[int, ...]]
    conversations: dict[str, str]
    granularity: str

    @property
    def listing(self) -> Listing:
        return verbatim("s", self.texts)

    def without(self, conversations: Iterable[str]) -> Listing:
        """Return the store without those conversations."""
        texts = list(self.texts)
        gone: set[int] = set()
        for conversation in conversations:
            if self.granularity == "ten_messages":
                (at,) = self.own[conversation]
                line = f"user: {self.conversations[conversation]}"
                parts = (f"user: {part.removeprefix('user: ')}" for part in texts[at].split("\nuser: "))
                texts[at] = "\n".join(part for part in parts if part != line)
            else:
                gone.update(self.own[conversation])
        return verbatim("without", [text for at, text in enumerate(texts) if at not in gone])

    def shown(self, conversation: str, rng: random.Random, *, own: bool) -> list[Memory]:
        """Return the conversation's own entries plus four others, or five others without its own."""
        mine = self.own[conversation]
        others = [i for i in range(len(self.texts)) if i not in mine]
        chosen = [*mine, *rng.sample(others, min(4, len(others)))] if own else rng.sample(others, min(5, len(others)))
        return [Memory(self.texts[i]) for i in chosen]


@cache
def build(name: str, rows: str, granularity: str) -> Store:
    """Return all conversations of a task as entries of this granularity."""
    texts: list[str] = []
    own: dict[str, tuple[int, ...]] = {}
    conversations = {c.id: c.text for store in task(name, rows).stores for c in store.read_conversations()}
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
            text = conversations[i]
            parts = SENTENCE.split(text) if granularity == "sentences" else [text]
            if granularity == "spelled_out":
                parts = [IRREGULAR.sub(lambda m: SPELLED_OUT[m[1].lower()], text).replace("n't", " not")]
            own[i] = tuple(range(len(texts), len(texts) + len(parts)))
            texts.extend(parts)
    return Store(tuple(texts), own, conversations, granularity)


def facts(name: str, rows: str, every: int = 1) -> Iterator[tuple[Fact, Question]]:
    """Return every Nth expected fact of a task with its question."""
    pairs = [(fact, question) for question in task(name, rows).questions for fact in question.evidence]
    for fact, question in pairs[::every]:
        yield task(name, rows).evidence[fact], question


def verdict(judge: OfflineJudge, evidence: Fact, question: Question, store: Listing, shown: list[Memory]) -> str:
    """Return the first stage that fails."""
    if judge.storage(evidence, store).outcome == "failed":
        return "not_stored"
    if judge.summary(evidence, store).outcome == "failed":
        return "summary_error"
    return "correct" if judge.retrieval(evidence, question, shown).outcome == "passed" else "not_retrieved"
