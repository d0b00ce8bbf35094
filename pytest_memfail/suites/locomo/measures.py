"""Compute LoCoMo's figures from finished questions: token F1 as published, judged accuracy, and evidence turns shown."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from importlib import util
from typing import Any, Final

from pytest_memfail.core import Measure, QuestionRecord, Score, answer_in
from pytest_memfail.grading import f1
from pytest_memfail.suites.answers import NO_ANSWER, NO_JUDGE, known_anyway
from pytest_memfail.suites.locomo.files import ADVERSARIAL, CATEGORIES
from pytest_memfail.suites.locomo.kinds import LENIENT, STRICT
from pytest_memfail.suites.turns import share_shown

NO_STEMS: Final = "needs nltk: pip install 'pytest-memfail[locomo]'"
UNKNOWN: Final = ("no information available", "not mentioned")
"""What an answer to what was never said must contain, by the published code."""
_PUNCTUATION: Final = str.maketrans("", "", string.punctuation)
_SMALL_WORDS: Final = re.compile(r"\b(?:a|an|the|and)\b")

find_spec = lru_cache(maxsize=1)(util.find_spec)  # asked for each draw of a bootstrap
Of = Callable[[Sequence[QuestionRecord]], Score]
Value = Callable[[QuestionRecord], float | None]


# -- token F1 ----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    from nltk.stem import PorterStemmer

    return PorterStemmer()


def stems(text: str) -> Counter[str]:
    """Return the Porter stems of a text, without case, punctuation and small words."""
    words = _SMALL_WORDS.sub(" ", text.lower().translate(_PUNCTUATION)).split()
    return Counter(_stemmer().stem(word) for word in words)


def token_f1(answer: str, gold: str) -> float:
    """Return F1 of the stems of an answer and a gold answer."""
    said, wanted = stems(answer), stems(gold)
    shared = (said & wanted).total()
    return f1(shared / said.total(), shared / wanted.total()) if shared else 0.0


@lru_cache(maxsize=65536)  # as for `answer_in`
def published_f1(part: str, answer: str, gold: str) -> float:
    """Return the F1 of a category as its authors compute it.

    The parts of a multi-hop answer are divided by commas, and each counts by the part of the answer that fits best. An
    open-domain gold answer ends at a semicolon, where its reason begins.
    """
    if part == "open_domain":
        return token_f1(answer, gold.partition(";")[0])
    if part != "multi_hop":
        return token_f1(answer, gold)
    wanted, said = gold.split(","), answer.split(",")
    return sum(max(token_f1(one, each) for one in said) for each in wanted) / len(wanted)


# -- measures ----------------------------------------------------------------------------------------------------------


def mean(value: Value, *parts: str, is_judged: bool = True) -> Of:
    """Return a measure: the mean of a number of each question of some categories.

    `value` returns None for an answer that has no such number. `is_judged` says if a model has to judge the answers.
    """

    def of(questions: Sequence[QuestionRecord]) -> Score:
        asked = [question for question in questions if question.part in parts]
        if not asked:
            return Score(None, 0, lacks="no question of it")
        if all(question.reply is None for question in asked):
            return Score(None, len(asked), lacks=NO_JUDGE if is_judged else NO_ANSWER)
        values = [value(question) for question in asked]
        known = [one for one in values if one is not None]
        if len(known) < len(values):
            return Score(None, len(asked), lacks=NO_JUDGE if is_judged else NO_ANSWER)
        return Score(sum(known) / len(known), len(known))

    return of


def graded(strictness: str) -> Value:
    """Return whether a model judged an answer right, strictly or leniently."""
    return lambda question: question.answer.metrics.get(strictness)


def recognised(question: QuestionRecord) -> float | None:
    """Return whether an answer says that this was never said, as a model judges."""
    outcome = question.answer.outcome
    return float(outcome == "passed") if outcome in ("passed", "failed") else None


def _has_phrase(_: QuestionRecord, said: str) -> bool:
    return any(text in said.lower() for text in UNKNOWN)


def f1_of(*parts: str) -> Of:
    """Return a measure: the mean token F1 of the answers to some categories."""
    of = mean(_by_reply(lambda q, said: published_f1(q.part, said, q.gold[0])), *parts, is_judged=False)
    return lambda questions: of(questions) if find_spec("nltk") else Score(None, len(questions), lacks=NO_STEMS)


def _by_reply(value: Callable[[QuestionRecord, str], float]) -> Value:
    return lambda question: None if question.reply is None else value(question, answer_in(question.reply))


def turns_shown(*parts: str) -> Of:
    """Return a measure: the mean share of a question's evidence turns that the memories shown hold."""
    return lambda questions: share_shown([question for question in questions if question.part in parts])


def _line(name: str, title: str, measure: Callable[..., Of], line: int) -> Iterator[Measure]:
    """Yield a measure over the categories 1 to 4, and then of each of them."""
    every = {number: part for number, part in CATEGORIES.items() if number != ADVERSARIAL}
    groups = {"": (f"{title} (1-4)", list(every.values()))}
    groups |= {f"_{part}": (f"{number} {part.replace('_', '-')}", [part]) for number, part in every.items()}
    for ending, (text, parts) in groups.items():
        yield Measure(f"{name}{ending}", text, measure(*parts), line=line, unit="percent")


def _of_traps(name: str, title: str, value: Value, *, is_judged: bool = True) -> Measure:
    of = mean(value, CATEGORIES[ADVERSARIAL], is_judged=is_judged)
    return Measure(name, title, of, line=3, unit="percent")


MEASURES: Final[tuple[Measure, ...]] = (
    *_line("accuracy", "accuracy, strict", partial(mean, graded(STRICT)), 1),
    *_line("lenient", "accuracy, lenient", partial(mean, graded(LENIENT)), 2),
    _of_traps("adversarial", "5 adversarial: recognised", recognised),
    _of_traps("adversarial_phrase", "by the published phrases", _by_reply(_has_phrase), is_judged=False),
    Measure("known_anyway", "right without the facts", known_anyway, line=3, unit="count"),
    *_line("f1", "token F1", f1_of, 4),
    *_line("turns_shown", "evidence turns shown", turns_shown, 5),
)
