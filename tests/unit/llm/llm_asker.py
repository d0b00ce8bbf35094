"""Clients of a local endpoint."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from pydantic import BaseModel

from pytest_memfail.llm import Completion, Ledger, ModelClient
from pytest_memfail.testing import LocalEndpoint

KEY = "sk-planted-5ecret-key-0123456789"


class Finding(BaseModel):
    """The reply schema of the tests."""

    present: bool
    reason: str


GOOD = {"present": True, "reason": "entry 3"}


def good(_: dict[str, Any]) -> dict[str, Any]:
    """Return a valid reply."""
    return GOOD


class Asker:
    """Asks one endpoint, with short waits so that retries cost no time."""

    def __init__(self, endpoint: LocalEndpoint | str, **options: Any) -> None:
        url = endpoint if isinstance(endpoint, str) else endpoint.url
        options = {"ledger": Ledger(), "api_key": KEY, "backoff_seconds": 0.002, "timeout_seconds": 60.0} | options
        self.client = ModelClient(base_url=url, **options)
        self.ledger: Ledger = options["ledger"]

    async def ask(self, text: str = "Is it there?", **options: Any) -> Completion:
        """Ask one question, with the schema by default."""
        options = {"model": "m", "stage": "storage", "schema": Finding} | options
        return await self.client.ask(messages=[{"role": "user", "content": text}], **options)

    async def ask_all(self, count: int, **options: Any) -> list[Completion | BaseException]:
        """Ask this many different questions at once."""
        asks = (self.ask(f"Is entry {i} there?", **options) for i in range(count))
        return await asyncio.gather(*asks, return_exceptions=True)


def run(asker: Asker, work: Callable[[], Awaitable[Any]]) -> Any:
    """Run the work on its own event loop and close the client there."""

    async def main() -> Any:
        try:
            return await work()
        finally:
            await asker.client.close()

    return asyncio.run(main())
