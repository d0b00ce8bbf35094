"""What comes back from a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_memfail.core import ToolCall

if TYPE_CHECKING:
    from pydantic import BaseModel


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one reply as the endpoint counts them; 0 where it does not say."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    """Those of the prompt tokens that the provider had in its own prompt cache."""


@dataclass(frozen=True, slots=True)
class Completion:
    """One reply of a model."""

    text: str
    parsed: BaseModel | None = None
    """The text validated by the schema that was asked for; None without one."""
    calls: tuple[ToolCall, ...] = ()
    """The tools that the model wants to be called; none unless the request offers some."""
    usage: Usage = Usage()
    """Of this reply alone; what replies that had to be asked again cost is in the ledger."""
    from_cache: bool = False
    """True if no call was made for it: from the response cache, or shared with an identical call in flight."""
