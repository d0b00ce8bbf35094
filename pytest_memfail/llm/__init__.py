"""Language models; the only part that may use a network.

Names load on first use, so importing this package loads no SDK and no tokeniser.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_memfail.llm.address import PLACEHOLDER_KEY, check_address, check_sdk
    from pytest_memfail.llm.cache import CacheSummary, ResponseCache
    from pytest_memfail.llm.chat import SystemChat
    from pytest_memfail.llm.client import ModelClient
    from pytest_memfail.llm.completion import Completion, Usage
    from pytest_memfail.llm.errors import (
        AuthError,
        BudgetError,
        CacheMissError,
        ContextLengthError,
        EndpointError,
        ModelCallError,
        ModelError,
        RateLimitError,
        RefusalError,
        ReplyError,
        RequestError,
        WaitError,
    )
    from pytest_memfail.llm.ledger import Ledger, Spent, Totals
    from pytest_memfail.llm.patience import Clock
    from pytest_memfail.llm.prices import Price, Prices
    from pytest_memfail.llm.proxy import Proxy, StoreCalls
    from pytest_memfail.llm.replay_ignore import check_patterns
    from pytest_memfail.llm.test_taker import ModelTestTaker
    from pytest_memfail.llm.tokens import count_tokens, first_tokens, last_tokens, why_approximate

__all__ = [
    "PLACEHOLDER_KEY",
    "AuthError",
    "BudgetError",
    "CacheMissError",
    "CacheSummary",
    "Clock",
    "Completion",
    "ContextLengthError",
    "EndpointError",
    "Ledger",
    "ModelCallError",
    "ModelClient",
    "ModelError",
    "ModelTestTaker",
    "Price",
    "Prices",
    "Proxy",
    "RateLimitError",
    "RefusalError",
    "ReplyError",
    "RequestError",
    "ResponseCache",
    "Spent",
    "StoreCalls",
    "SystemChat",
    "Totals",
    "Usage",
    "WaitError",
    "check_address",
    "check_patterns",
    "check_sdk",
    "count_tokens",
    "first_tokens",
    "last_tokens",
    "why_approximate",
]

_HOMES = {
    "PLACEHOLDER_KEY": "address",
    "CacheSummary": "cache",
    "Clock": "patience",
    "Completion": "completion",
    "Ledger": "ledger",
    "ModelClient": "client",
    "ModelTestTaker": "test_taker",
    "Price": "prices",
    "Prices": "prices",
    "Proxy": "proxy",
    "ResponseCache": "cache",
    "Spent": "ledger",
    "StoreCalls": "proxy",
    "SystemChat": "chat",
    "Totals": "ledger",
    "Usage": "completion",
    "check_patterns": "replay_ignore",
    "check_address": "address",
    "check_sdk": "address",
    "count_tokens": "tokens",
    "first_tokens": "tokens",
    "last_tokens": "tokens",
    "why_approximate": "tokens",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOMES.get(name, "errors")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value
