"""`gold-facts`: exactly the facts that each question needs. The upper bound of memory.

A fact is shown as it was said, if one message says it; else in the words of the gold data.

It is the only system that sees gold data: the run gives its factory the plan and the evidence of each store.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pytest_memfail.core import Conversation, Fact, Ingest, MemorySystemError, StorePlan, SystemContext, UsageError
from pytest_memfail.systems.base import Entry
from pytest_memfail.systems.factory import SystemFactory


class GoldFacts:
    """Knows which facts a question needs by what is stored when it is asked, and by its query."""

    concurrent_reads = 8
    unlimited_k = True
    oldest_first = True

    def __init__(self, plan: StorePlan, evidence: Mapping[str, Fact]) -> None:
        self._facts: dict[str, list[Fact]] = {}
        """Conversation to its facts."""
        self._asked: dict[tuple[int, str], set[str]] = {}
        """Number of conversations stored and query to the ids of the facts needed."""
        self._named = {question.part for question in plan.all_questions if question.evidence}
        self._parts: dict[str, str] = {}
        stored = 0
        for step in plan.steps:
            if isinstance(step, Ingest):
                stored += 1
                continue
            for question in step.questions:
                needed = _said_once([evidence[name] for name in question.evidence])
                self._asked.setdefault((stored, question.query), set()).update(fact.id for fact in needed)
                self._parts[question.query] = question.part
        for name in sorted(set[str]().union(*self._asked.values())):
            if not evidence[name].is_distractor:
                self._facts.setdefault(evidence[name].conversation_id, []).append(evidence[name])
        self._stored = 0
        self._entries: list[Entry] = []

    def store_conversation(self, conversation: Conversation) -> None:
        """Keep the facts of the conversation that any question needs."""
        self._stored += 1
        time = conversation.began.isoformat() if conversation.began else None
        said = [message.content for message in conversation.messages]
        for fact in self._facts.get(conversation.id, ()):
            is_said = fact.source and any(fact.source in text for text in said)
            self._entries.append(Entry(fact.id, fact.source if is_said else fact.text, time))

    def retrieve_memories(self, query: str, conversation: Conversation, k: int) -> list[dict[str, Any]]:
        """Return the facts that the question needs, in storage order, each text once; k is ignored.

        Raises `MemorySystemError` if the rows name no facts for questions of its part.
        """
        part = self._parts.get(query)
        if part is not None and part not in self._named:
            raise MemorySystemError(
                f"gold-facts: the rows name no facts for the questions of {part or 'this task'}, so there is nothing to show; leave "
                "them out with --memfail-tasks"
            )
        wanted = self._asked.get((self._stored, query), set())
        return list({entry.text: entry.plain() for entry in self._entries if entry.id in wanted}.values())

    def get_all_memories(self) -> list[dict[str, Any]]:
        """Return the facts stored so far, in storage order."""
        return [entry.plain() for entry in self._entries]

    def describe(self) -> Mapping[str, str]:
        """Return the description for the record."""
        return {"system": "gold-facts"}


def _said_once(facts: Sequence[Fact]) -> list[Fact]:
    """Leave out facts whose source is only that of several others, such as the order of values: their dates show it."""

    def repeats(fact: Fact) -> bool:
        parts = dict.fromkeys(other.source for other in facts if other is not fact and other.source != fact.source)
        return "\n".join(part for part in parts if part in fact.source) == fact.source

    return [fact for fact in facts if not (fact.source and repeats(fact))]


def _without_gold(context: SystemContext, settings: Mapping[str, str]) -> GoldFacts:
    raise UsageError("gold-facts shows the facts of a run's rows; run pytest --memfail-system=gold-facts")


FACTORY: Final = SystemFactory("gold-facts", _without_gold)
