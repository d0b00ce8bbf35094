"""For the tests of adapter authors: a model endpoint on this machine, and checks of a memory system."""

from __future__ import annotations

from pytest_memfail.testing.answers import answer_by_rule
from pytest_memfail.testing.endpoint import LocalEndpoint
from pytest_memfail.testing.faults import FAULT_KINDS, Fault, Reply, ToolCall

__all__ = ["FAULT_KINDS", "Fault", "LocalEndpoint", "Reply", "ToolCall", "answer_by_rule"]
