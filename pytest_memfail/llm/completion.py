"""A model's reply."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from pytest_memfail.core import ToolCall

if TYPE_CHECKING:
    from pydantic import BaseModel


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one reply as the endpoint counts them; 0 if it does not report them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    """The prompt tokens that the provider had in its own prompt cache."""
    is_reported: bool = field(default=True, compare=False)
    """Whether the endpoint reported all of this as whole numbers."""

    def or_expected(self, expected: Callable[[], Usage]) -> Usage:
        """Return this usage with the expected one in place of what was not reported: a budget must fill all the same."""
        if self.is_reported:
            return self
        instead = expected()
        prompt = self.prompt_tokens or instead.prompt_tokens
        completion = self.completion_tokens or instead.completion_tokens
        # embeddings report no second one
        is_reported = (prompt, completion) == (self.prompt_tokens, self.completion_tokens)
        return Usage(prompt, completion, self.cached_tokens, is_reported)


UNREPORTED: Final = Usage(is_reported=False)


@dataclass(frozen=True, slots=True)
class Completion:
    """One reply of a model."""

    text: str
    parsed: BaseModel | None = None
    """The text validated by the requested schema; None without a schema."""
    calls: tuple[ToolCall, ...] = ()
    """The tool calls that the model requests; none unless the request offers tools."""
    first: Mapping[str, float] = field(default_factory=dict)
    """The log probabilities of the tokens that the reply could begin with; empty unless the parameter `logprobs` asks for them."""
    usage: Usage = Usage()
    """The usage of this reply alone; the ledger also counts unusable replies."""
    from_cache: bool = False
    """Whether no call was made: from the response cache, or shared with an identical call in flight."""
    key: str | None = None
    """The key of the reply in the response cache; None if none is used."""
