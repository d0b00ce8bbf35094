"""Ask models on behalf of a memory system, through the same client as judges and test-takers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from pytest_memfail.core import SEARCHING, ChatReply, UsageError

if TYPE_CHECKING:
    from pytest_memfail.llm.client import ModelClient

MEMORY_STAGE: Final = "memory"
"""The ledger's name for what a memory system asks while it stores."""
SEARCH_STAGE: Final = "memory search"
"""The same for what it asks to answer a query."""


class SystemChat:
    """`SystemContext.chat`; used only on the client's event loop."""

    def __init__(
        self, client: ModelClient, model: str | None = None, parameters: Mapping[str, Any] | None = None
    ) -> None:
        """Ask `model` unless a call names another; requests carry only the parameters given here."""
        self._client, self._model, self._parameters = client, model, parameters

    async def __call__(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = (), *, model: str = ""
    ) -> ChatReply:
        """Return the model's next turn. Raise a `ModelCallError`, or `UsageError` if no model is named."""
        asked = model or self._model
        if asked is None:
            raise UsageError("the memory system asks a model, and none is named; give --memfail-model")
        stage = SEARCH_STAGE if SEARCHING.get() else MEMORY_STAGE
        reply = await self._client.ask(
            model=asked, messages=messages, tools=tools, stage=stage, parameters=self._parameters
        )
        return ChatReply(reply.text, reply.calls)
