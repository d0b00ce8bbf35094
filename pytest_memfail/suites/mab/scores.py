"""Compare an answer with gold answers as MemoryAgentBench does: without case, punctuation and articles."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable
from typing import Final

_PUNCTUATION: Final = str.maketrans("", "", string.punctuation)
_ARTICLE: Final = re.compile(r"\b(?:a|an|the)\b")
_LABEL: Final = re.compile(r"^\W*label\W+", re.I)


def norm(text: str) -> str:
    """Return a text in lower case, without punctuation and articles, with single blanks.

    >>> norm("The  capital: Oderzo.")
    'capital oderzo'
    """
    return " ".join(_ARTICLE.sub(" ", text.casefold().translate(_PUNCTUATION)).split())


def parsed(answer: str) -> str:
    """Return the first line of an answer, which is the answer itself if a reason follows."""
    return answer.partition("\n")[0].strip()


def substring_match(golds: Iterable[str], answer: str) -> bool:
    """Return whether an answer contains any of the golds as a substring; as published, word boundaries are ignored.

    >>> substring_match(["Oderzo", "Odero"], "It is Oderzo, since last year.")
    True
    """
    said = norm(answer)
    return any(wanted in said for gold in golds if (wanted := norm(gold)))


def exact_match(golds: Iterable[str], answer: str) -> bool:
    """Return whether an answer, or its first line, is one of the golds.

    >>> exact_match(["B. Oderzo"], "b. Oderzo\\nShe says so herself.")
    True
    """
    wanted = {norm(gold) for gold in golds} - {""}
    return norm(answer) in wanted or norm(parsed(answer)) in wanted


def label_match(golds: Iterable[str], answer: str) -> bool:
    """Return whether the first line of an answer is one of the golds; a leading word "label" is ignored.

    >>> label_match(["28"], "label: 28")
    True
    """
    return norm(_LABEL.sub("", parsed(answer))) in {norm(gold) for gold in golds} - {""}


def has_all(golds: Iterable[str], answer: str) -> bool:
    """Return whether an answer contains every gold verbatim, ignoring case."""
    said, wanted = answer.casefold(), [gold.strip().casefold() for gold in golds]
    return bool(wanted) and all(gold and gold in said for gold in wanted)
