"""A small memory for assistants: notes about a user, in one SQLite file."""

from __future__ import annotations

from mymem.memory import Memory, Note
from mymem.summariser import Draft, LLMSummariser, RuleSummariser, Summariser

__version__ = "0.1.0"

__all__ = ["Draft", "LLMSummariser", "Memory", "Note", "RuleSummariser", "Summariser"]
