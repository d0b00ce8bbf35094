"""Compounds that one writes as a word and another as two: hardhat and hard hat, screwdriver and screw driver."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from types import MappingProxyType

from pytest_memfail.judges.rules.text import Sentence, fold


@lru_cache(maxsize=16384)
def compounds(sentence: Sentence) -> Mapping[str, tuple[str, str]]:
    """Neighbouring words run together, each with the keys of the two.

    >>> from pytest_memfail.judges.rules.text import sentences_of
    >>> compounds(sentences_of("a yellow hard hat")[0])["hardhat"]
    ('hard', 'hat')
    """
    return MappingProxyType(
        {
            fold(one.lower + other.lower): (one.key, other.key)
            for one, other in pairwise(sentence.words)
            if one.key.isalpha() and other.key.isalpha() and other.start - one.end <= 1
        }
    )
