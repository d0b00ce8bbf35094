"""Everything about language models; the only place that may use a network."""

from __future__ import annotations

from pytest_memfail.llm.tokens import count_tokens

__all__ = ["count_tokens"]
