"""`gold-facts`: exactly the facts that each question needs, in the words of the gold data. The upper bound of memory.

It is the only system that sees gold data: the run gives its factory the plan and the evidence of each store.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_memfail.core import Conversation, Evidence, Ingest, MemorySystemError, StorePlan, SystemContext, UsageError
from pytest_memfail.systems.base import Entry, no_options


class GoldFacts:
    """Knows which facts a question needs by what is stored when it is asked, and by its query."""

    concurrent_reads = 8
    unlimited_k = True
    oldest_first = True

    def __init__(self, plan: StorePlan, evidence: Mapping[str, Evidence]) -> None:
        self._facts: dict[str, list[tuple[str, str]]] = {}
        """Conversation to the ids and texts of its facts."""
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
                self._asked.setdefault((stored, question.query), set()).update(question.evidence)
                self._parts[question.query] = question.part
        needed = dict.fromkeys(name for question in plan.all_questions for name in question.evidence)
        for fact in (evidence[name] for name in needed):
            if not fact.is_distractor:
                # a rule in gold words lacks what its essay says, such as an "only"
                text = fact.source if fact.behavior else fact.text
                self._facts.setdefault(fact.conversation_id, []).append((fact.id, text))
        self._stored = 0
        self._entries: list[Entry] = []

    def store_conversation(self, conversation: Conversation) -> None:
        """Keep the facts of the conversation that any question needs."""
        self._stored += 1
        when = conversation.timestamp or next((m.timestamp for m in conversation.messages if m.timestamp), None)
        time = when.isoformat() if when else None
        self._entries += [Entry(name, text, time) for name, text in self._facts.get(conversation.id, ())]

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


class GoldFactsFactory:
    """Create the systems of one store, once the run has given its gold data."""

    calls_model = False
    check_options = staticmethod(no_options("gold-facts"))

    def __init__(self, plan: StorePlan | None = None, evidence: Mapping[str, Evidence] | None = None) -> None:
        self._plan, self._evidence = plan, evidence or {}

    def with_gold(self, plan: StorePlan, evidence: Mapping[str, Evidence]) -> GoldFactsFactory:
        """Return the factory of a store with these steps and facts."""
        return GoldFactsFactory(plan, evidence)

    def __call__(self, context: SystemContext) -> GoldFacts:
        """Create an empty system. Raises `UsageError` outside a run."""
        if self._plan is None:
            raise UsageError("gold-facts shows the facts of a run's rows; run pytest --memfail-system=gold-facts")
        return GoldFacts(self._plan, self._evidence)
