"""Embed texts without running a model: look words up in a table, or hash character n-grams."""

from __future__ import annotations

import logging
import zlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_memfail.texts import runs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = NDArray[Any]

DIMENSIONS: Final = 2048
SIZES: Final = (3, 4, 5)


def embed(name: str, texts: list[str]) -> Vectors:
    """Return one vector per text, of length 1 (0 for a text without words), by the embedding `ngrams` or
    `wordllama`.
    """
    import numpy as np

    rows = _wordllama().embed(texts) if name == "wordllama" else _ngrams(texts)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), dtype=np.float32)


def _ngrams(texts: list[str]) -> Vectors:
    """Return hashed counts of each word's character n-grams: near for shared stems and misspellings, blind to
    synonyms.
    """
    import numpy as np

    rows = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
    for row, text in zip(rows, texts, strict=True):
        for word in runs(text.casefold()):
            for gram in _grams(f" {word} "):
                number = zlib.crc32(gram.encode())
                # half of the n-grams count negatively, so that collisions cancel out instead of adding up
                row[number % DIMENSIONS] += 1 if number & 0x8000_0000 else -1
    return np.sign(rows) * np.sqrt(np.abs(rows))  # the tenth occurrence adds less than the first


def _grams(word: str) -> list[str]:
    return [word[start : start + size] for size in SIZES for start in range(max(1, len(word) - size + 1))]


@cache
def _wordllama() -> Any:
    """Return the vectors that the package ships."""
    root = logging.getLogger()
    before = root.level, root.handlers[:]
    import wordllama

    # the import redirects the logs of the whole process to stderr; undo that
    root.setLevel(before[0])
    root.handlers[:] = before[1]
    # by default it looks for its tokenizer in a folder that the package lacks, and then downloads it
    home = Path(wordllama.__file__).parent
    return wordllama.WordLlama.load(cache_dir=home, disable_download=True)
