"""Measure how well answers can be guessed from the questions, without any memory."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from pytest_memfail.core import holm
from pytest_memfail.texts import plain_words

LEVEL: Final = 0.01
"""The significance level for all guesses together; only guesses that chance does not explain are reported."""

Guess = Callable[[str, Sequence[str]], int]


def by_words(questions: Sequence[str], answers: Sequence[str]) -> float:
    """Return the share of answers that naive Bayes, trained on the words of all other questions, guesses right."""
    documents = [set(plain_words(question)) for question in questions]
    totals = Counter(answers)
    counts = {answer: Counter[str]() for answer in totals}
    for words, answer in zip(documents, answers, strict=True):
        counts[answer].update(words)
    right = 0
    for words, truth in zip(documents, answers, strict=True):

        def score(answer: str, words: set[str] = words, truth: str = truth) -> float:
            own = answer == truth  # leave the question itself out
            n = totals[answer] - own
            seen = sum(math.log((counts[answer][word] - own + 1) / (n + 2)) for word in words)
            return seen + math.log(max(n, 1))

        right += max(sorted(totals), key=score) == truth
    return right / len(answers)


def _longest(stem: str, options: Sequence[str]) -> int:
    del stem
    return max(range(len(options)), key=lambda i: len(options[i]))


def _shortest(stem: str, options: Sequence[str]) -> int:
    del stem
    return min(range(len(options)), key=lambda i: len(options[i]))


def _nearest(stem: str, options: Sequence[str]) -> int:
    """Return the option that shares the most words with the stem; ties go to the first."""
    asked = set(plain_words(stem))
    return max(range(len(options)), key=lambda i: (len(asked & set(plain_words(options[i]))), -i))


def _odd_one_out(stem: str, options: Sequence[str]) -> int:
    """Return the option whose length is farthest from the mean."""
    del stem
    mean = sum(map(len, options)) / len(options)
    return max(range(len(options)), key=lambda i: (abs(len(options[i]) - mean), -i))


GUESSES: Final[dict[str, Guess]] = {
    "the longest option": _longest,
    "the shortest option": _shortest,
    "the option nearest to the question": _nearest,
    "the option with the most unusual length": _odd_one_out,
}


def above_chance(share: float, chance: float, n: int) -> bool:
    """Return whether a share is more than three standard errors above chance."""
    return share > chance + 3 * math.sqrt(chance * (1 - chance) / n)


def tail(right: int, n: int, chance: float) -> float:
    """Return the probability of at least this many right answers by chance."""
    return min(1.0, math.fsum(math.comb(n, k) * chance**k * (1 - chance) ** (n - k) for k in range(right, n + 1)))


def rejected(probabilities: Sequence[float]) -> list[int]:
    """Return the indices of the guesses that chance does not explain (Holm's correction), least probable first.

    >>> rejected([0.5, 0.001, 0.004])
    [1, 2]
    """
    corrected = holm(probabilities)
    return sorted((i for i, p in enumerate(corrected) if p <= LEVEL), key=probabilities.__getitem__)
