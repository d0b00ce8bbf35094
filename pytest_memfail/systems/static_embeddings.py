"""Texts as vectors without a model that runs: a table is looked up, or character n-grams are hashed."""

from __future__ import annotations

import logging
import re
import zlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = NDArray[Any]

DIMENSIONS: Final = 2048
SIZES: Final = (3, 4, 5)


def embed(name: str, texts: list[str]) -> Vectors:
    """A row of length 1 (or 0, of a text without words) for each text, by the embedding `ngrams` or `wordllama`."""
    import numpy as np

    rows = _wordllama().embed(texts) if name == "wordllama" else _ngrams(texts)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), dtype=np.float32)


def _ngrams(texts: list[str]) -> Vectors:
    """Counts of the character n-grams of each word, hashed: near for shared word stems and misspellings, blind to synonyms."""
    import numpy as np

    rows = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
    for row, text in zip(rows, texts, strict=True):
        for word in re.findall(r"\w+", text.casefold()):
            for gram in _grams(f" {word} "):
                number = zlib.crc32(gram.encode())
                # half of the n-grams count down, so that those which share a place cancel out instead of adding up
                row[number % DIMENSIONS] += 1 if number & 0x8000_0000 else -1
    return np.sign(rows) * np.sqrt(np.abs(rows))  # the tenth occurrence says less than the first


def _grams(word: str) -> list[str]:
    return [word[start : start + size] for size in SIZES for start in range(max(1, len(word) - size + 1))]


@cache
def _wordllama() -> Any:
    """The vectors that the package brings along."""
    root = logging.getLogger()
    before = root.level, root.handlers[:]
    import wordllama

    # its import sends the log of the whole process to stderr
    root.setLevel(before[0])
    root.handlers[:] = before[1]
    # left to itself it looks for its tokenizer in a folder that the package has not, and then downloads it
    home = Path(wordllama.__file__).parent
    return wordllama.WordLlama.load(cache_dir=home, disable_download=True)
