"""Compare an answer with gold values."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_memfail.grading.text import content, fold, is_hypothetical, sentences, words


def verbatim(gold: str, answer: str) -> bool:
    """Return whether an answer repeats a text verbatim, ignoring case, whitespace and the style of quotes.

    Quotes around the text and its final full stop are ignored.

    >>> verbatim("Spun slowly.", 'It says: "spun\\nslowly"')
    True
    """
    wanted = fold(gold).strip("\"'").rstrip(".")
    return bool(wanted) and wanted in fold(answer)


def _places(value: Sequence[str], said: Sequence[str]) -> list[int]:
    """Return the positions in an answer at which the words of a value start, contiguously."""
    size = len(value)
    return [
        at for at in range(len(said) - size + 1) if said[at] == value[0] and list(said[at : at + size]) == list(value)
    ]


def contains(value: str, answer: str) -> bool:
    """Return whether an answer contains the words of a value contiguously, ignoring case, articles and endings.

    >>> contains("the Lissom automatic", "You drive your Lissom automatic.")
    True
    """
    return bool(value) and bool(_places(_bare(value), words(answer)))


def asserts(text: str, value: str) -> bool:
    """Return whether a sentence of a text states a value as a fact, not as a possibility.

    >>> asserts("If it breaks, we take Tugrope.", "Tugrope"), asserts("We take Tugrope.", "Tugrope")
    (False, True)
    """
    said = (sentence for sentence in sentences(text) if contains(value, sentence) or verbatim(value, sentence))
    return any(not is_hypothetical(sentence) for sentence in said)


def share(value: str, answer: str) -> float:
    """Return the share of a value's meaningful words that an answer contains."""
    wanted = content(value)
    return len(wanted & set(words(answer))) / len(wanted) if wanted else 0.0


def ordered(values: Sequence[str], answer: str) -> bool:
    """Return whether an answer names all values in order."""
    return bool(values) and longest_run(values, answer) == len(values)


def longest_run(values: Sequence[str], answer: str) -> int:
    """Return the length of the longest run of consecutive values of the history that an answer names in order.

    >>> longest_run(["Tollund", "Vessary", "Amber"], "First Vessary, then Amber.")
    2
    """
    said, best = words(answer), 0
    places = [_places(_bare(value), said) if value else [] for value in values]
    for first in range(len(values)):
        at, run = -1, 0
        for found in places[first:]:
            after = next((place for place in found if place > at), None)
            if after is None:
                break
            at, run = after, run + 1
        best = max(best, run)
    return best


def _bare(value: str) -> list[str]:
    """Return the words of a value without a leading article."""
    found = words(value)
    return found[1:] if len(found) > 1 and found[0] in ("the", "a", "an") else found


def f1(precision: float, recall: float) -> float:
    """Return the harmonic mean of precision and recall; 0 if both are 0."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
