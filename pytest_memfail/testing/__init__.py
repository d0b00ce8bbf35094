"""Tools for the tests of adapter authors: a local model endpoint, and checks of a memory system."""

from __future__ import annotations

from pytest_memfail.testing.answers import answer_by_rule
from pytest_memfail.testing.conftest_systems import system_of_conftest
from pytest_memfail.testing.contract import CheckResult, ContractError, ContractReport, check_memory_system
from pytest_memfail.testing.endpoint import LocalEndpoint
from pytest_memfail.testing.extraction import reply_by_rule
from pytest_memfail.testing.faults import FAULT_KINDS, Fault, Reply, ToolCall

__all__ = [
    "FAULT_KINDS",
    "CheckResult",
    "ContractError",
    "ContractReport",
    "Fault",
    "LocalEndpoint",
    "Reply",
    "ToolCall",
    "answer_by_rule",
    "check_memory_system",
    "reply_by_rule",
    "system_of_conftest",
]
