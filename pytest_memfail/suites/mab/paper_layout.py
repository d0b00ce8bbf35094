"""Cut chunks as the paper's code does: nltk sentences, o200k_base tokens, and a reply after each chunk."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha1
from pathlib import Path
from typing import Final

from pytest_memfail.core import Message, UsageError

OPTION: Final = "--memfail-protocol=paper"
TABLE: Final = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
"""The address whose hash is the name of tiktoken's file."""
READ: Final = "This is the next part of what I am reading. Keep it in mind, I will ask about it later.\n{}"
KEPT: Final = "I have read this part and will remember it."


def chunks_of_paper(context: str, size: int) -> list[str]:
    """Return the chunks of a context; a sentence stays whole, even one that is longer than a chunk.

    Raises `UsageError` if nltk, its data or the table of the encoding is missing; nothing is downloaded.
    """
    sentences, count = paper_tools()
    return list(packed(sentences(context), count, size))


def packed(sentences: Iterable[str], count: Callable[[str], int], size: int) -> Iterator[str]:
    """Yield groups of sentences joined by blanks, with at most `size` tokens; tokens are counted per sentence."""
    kept: list[str] = []
    used = 0
    for sentence in sentences:
        tokens = count(sentence)
        if kept and used + tokens > size:
            yield " ".join(kept)
            kept, used = [], 0
        kept.append(sentence)
        used += tokens
    if kept:
        yield " ".join(kept)


def exchange(chunk: str) -> tuple[Message, Message]:
    """Return the messages that give a chunk to a system."""
    return Message("user", READ.format(chunk)), Message("assistant", KEPT)


def paper_tools() -> tuple[Callable[[str], list[str]], Callable[[str], int]]:
    """Return the sentence splitter and the token counter. Raises `UsageError` if either is missing."""
    try:
        from nltk.tokenize import sent_tokenize

        sent_tokenize("One. Two.")
    except (ImportError, LookupError):
        raise UsageError(
            f"{OPTION}: the suite mab splits sentences with nltk and its data, which are missing: pip install nltk, then "
            "python -m nltk.downloader punkt_tab"
        ) from None
    folder = os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR"))
    file = Path(folder or Path(tempfile.gettempdir(), "data-gym-cache"), sha1(TABLE.encode()).hexdigest())
    if not file.is_file():
        raise UsageError(
            f"{OPTION}: the suite mab counts tokens of o200k_base, whose table tiktoken has not stored: with a network, "
            "python -c \"import tiktoken; tiktoken.get_encoding('o200k_base')\" (TIKTOKEN_CACHE_DIR names the folder)"
        )
    import tiktoken

    encoding = tiktoken.get_encoding("o200k_base")
    return sent_tokenize, lambda text: len(encoding.encode_ordinary(text))
