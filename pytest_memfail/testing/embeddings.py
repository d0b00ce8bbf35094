"""Embeddings without a model: a hashed bag of words, the same on every machine, or the word vectors of a package."""

from __future__ import annotations

import base64
import math
import struct
from collections import Counter
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final

from pytest_memfail.texts import runs

DIMENSIONS: Final = 256


def embed(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    """Return a vector of length 1 (zeros for a text without words); texts that share words are close."""
    vector = [0.0] * dimensions
    for word, times in Counter(runs(text.casefold())).items():
        number = _number(word)
        # signs keep words with the same position from adding up
        vector[(number >> 1) % dimensions] += times if number & 1 else -times
    length = math.sqrt(sum(value * value for value in vector))
    return [value / length for value in vector] if length else vector


def of_words(texts: list[str], dimensions: int | None = None) -> list[list[float]]:
    """Return the hashed bag of words of each text."""
    return [embed(text, int(dimensions or DIMENSIONS)) for text in texts]


def package_vectors(texts: list[str], dimensions: int | None = None) -> list[list[float]]:  # noqa: ARG001 - of one size
    """Return the vector of each text from the package wordllama, in which related words are near."""
    from pytest_memfail import systems

    return systems.package_vectors(texts)


def encoded(vector: list[float], encoding: str) -> Any:
    """Return the vector in the request's `encoding_format`: numbers, or `base64` of 32-bit floats."""
    if encoding != "base64":
        return vector
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode("ascii")


@lru_cache(maxsize=65536)
def _number(word: str) -> int:
    return int.from_bytes(blake2b(word.encode("utf-8", "replace"), digest_size=8).digest(), "big")
