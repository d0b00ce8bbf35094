"""A user's code, which `.ci/package` type-checks against the installed package."""

from __future__ import annotations

import sys

from pytest_memfail import Conversation, MemorySystem, SystemContext, Verdict
from pytest_memfail.testing import LocalEndpoint, check_memory_system

if sys.version_info >= (3, 11):
    from typing import assert_type


class MyMemory:
    """A memory system."""

    def __init__(self, context: SystemContext) -> None:
        self.said: list[str] = [context.store_id]

    def store_conversation(self, conversation: Conversation) -> None:
        self.said += [message.content for message in conversation.messages]

    def retrieve_memories(self, query: str, conversation: Conversation, k: int) -> list[str]:
        return self.said[:k]

    def get_all_memories(self) -> list[str]:
        return self.said


def make(context: SystemContext) -> MemorySystem:
    """Return a memory system, like the hook in a conftest."""
    return MyMemory(context)


def failed(verdict: Verdict) -> list[str]:
    """Return the lost facts; no type of the package is `Any` here."""
    if sys.version_info >= (3, 11):
        assert_type(verdict.name, str)
    return [fact.name for fact in verdict.facts if fact.name != "correct"]


def check() -> str:
    """Use the contract kit and the endpoint."""
    check_memory_system(make)
    with LocalEndpoint() as endpoint:
        return endpoint.url
