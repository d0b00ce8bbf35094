"""A user's own code: type-checked against the installed package by `.ci/package`."""

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
    """A factory, as the hook in a conftest returns it."""
    return MyMemory(context)


def failed(verdict: Verdict) -> list[str]:
    """Facts that were lost: nothing of the package is `Any` here."""
    if sys.version_info >= (3, 11):
        assert_type(verdict.name, str)
    return [fact.name for fact in verdict.facts if fact.name != "correct"]


def check() -> str:
    """The contract, and an endpoint."""
    check_memory_system(make)
    with LocalEndpoint() as endpoint:
        return endpoint.url
