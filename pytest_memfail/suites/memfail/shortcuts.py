"""Find shortcuts: rules that predict the answer from the evidence alone, or from the question alone.

Each rule is trained on one half of the rows and scored on the other, with both answers weighted equally. In a good set
no rule does better than chance, which is one half.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from pytest_memfail.core import SuiteFault, holm
from pytest_memfail.suites.memfail.row_models import ConditionalRow, PersonaRow, UpdatedRow
from pytest_memfail.suites.memfail.rows import Rows, warn
from pytest_memfail.texts import essay_sentences, plain_words

if TYPE_CHECKING:
    from numpy import bool_
    from numpy.typing import NDArray

    Flags = NDArray[bool_]

SPLITS: Final = 50
HIGHEST: Final = 0.6
"""The highest mean score over all splits that a rule may reach on 100 rows or more."""
LARGE: Final = 100
"""Smaller sets scatter too much for a fixed limit: a binomial test decides, with Holm's correction over all rules tried
on the folder."""
CHANCE: Final = 0.5
LEVEL: Final = 0.01
"""The significance level for all guesses together; only guesses that chance does not explain are reported."""
MOST_WORDS: Final = 5000
HOW: Final = "trained on one half of the rows, scored on the other"
EXCLUSIVITY: Final = re.compile(
    r"\b(?:only|alone|never|solely|exclusively|purely|strictly|unless|except|otherwise|elsewhere|nowhere|sole|single|confined"
    r"|at most|not until|nothing but|none but|no (?:\w+ ){0,2}(?:but|than)"
    r"|(?:no|not any|nothing|nobody|no one) (?:\w+ )?(?:other|others|else)|(?:no|not) (?:\w+ )?(?:more|less|fewer|sooner|before))\b",
    re.IGNORECASE,
)
"""Words of exclusivity: something is true then and at no other time."""


@dataclass(frozen=True, slots=True)
class Guessed:
    """One text that could reveal an answer."""

    text: str
    answer: bool
    group: str
    """Texts of a group stay in the same half: the questions of a row, the twins of a pair."""


@dataclass(frozen=True, slots=True)
class Source:
    """All texts of one kind in a file, and the answers they could reveal."""

    rows: Rows[Any]
    field: str
    name: str
    what: str
    texts: Sequence[Guessed]


def shortcut_faults(tasks: Mapping[str, Rows[Any]]) -> Iterator[SuiteFault]:
    """Report each rule that predicts answers from one source, more often than chance or the limit allows."""
    tests: list[tuple[float, SuiteFault]] = []
    for source in sources_of(tasks):
        if len({text.answer for text in source.texts}) < 2:
            continue
        large = len(source.rows.rows) >= LARGE
        for name, rule in rules_of([text.text for text in source.texts]).items():
            said = f"{name} in {source.name} alone give"
            if large:
                share = mean_score(rule, source.texts)
                if share > HIGHEST:
                    said += f" {share:.0%} of {source.what}, expected {HIGHEST:.0%} at most"
                    yield warn(source.rows, None, source.field, f"{said} ({HOW})")
            else:
                right, n, p = probability(rule, source.texts)
                said += f" {right} of {n} of {source.what}, more than chance ({HOW})"
                tests.append((p, warn(source.rows, None, source.field, said)))
    for i in rejected([p for p, _ in tests]):
        yield tests[i][1]


def sources_of(tasks: Mapping[str, Rows[Any]]) -> Iterator[Source]:
    """Yield each kind of text that could reveal an answer by itself."""
    for name, rows in tasks.items():
        if name.startswith("conditional_facts"):
            yield from _conditional(rows)
        elif name == "persona_retrieval":
            yield _persona(rows)
        elif name == "updated_facts":
            yield _updated(rows)


def _conditional(rows: Rows[ConditionalRow]) -> Iterator[Source]:
    def each(texts: Sequence[str]) -> list[Guessed]:
        answered = zip(texts, rows.rows, rows.ids, strict=True)
        return [Guessed(text, row.condition_met == "yes", row.pair_id or row_id) for text, row, row_id in answered]

    essays = [" ".join(row.entity_facts) for row in rows.rows]
    rules = [_rule_of(row, essay) for row, essay in zip(rows.rows, essays, strict=True)]
    yield Source(rows, "entity_facts", "the essay", "the answers", each(essays))
    yield Source(rows, "entity_facts", "the sentences of the rule", "the answers", each(rules))
    yield Source(rows, "question", "the question", "the answers", each([row.question for row in rows.rows]))


def _rule_of(row: ConditionalRow, essay: str) -> str:
    """Return the sentences that state the rule: those marked in the row, else the one with most words of behaviour and
    condition.
    """
    said = essay_sentences(essay)
    if row.rule_sentences:
        return " ".join(said[place] for place in sorted(row.rule_sentences.values()) if place < len(said))
    wanted = set(plain_words(f"{row.behavior} {row.condition}"))
    return max(said, key=lambda sentence: len(wanted.intersection(plain_words(sentence))))


def _persona(rows: Rows[PersonaRow]) -> Source:
    asked = [
        Guessed(question.text, question.is_misleading, row_id)
        for row, row_id in zip(rows.rows, rows.ids, strict=True)
        for question in row.questions
    ]
    return Source(rows, "questions", "the question", "who is misled and who is not", asked)


def _updated(rows: Rows[UpdatedRow]) -> Source:
    asked = [
        Guessed(row.question, row.kind == "deletion", row_id) for row, row_id in zip(rows.rows, rows.ids, strict=True)
    ]
    return Source(rows, "question", "the question", "what has ended and what has not", asked)


Rule: TypeAlias = "Callable[[Flags, Flags], Flags]"
"""Maps answers and the training texts to predictions for all texts, by the features of each text."""


def best_feature(features: Flags, truth: Flags, train: Flags) -> Flags:
    """Predict by the single feature whose rates under yes and no differ most."""
    met, unmet = _rates(features, truth, train)
    best = int(abs(met - unmet).argmax())
    has: Flags = features[:, best]
    return has if met[best] > unmet[best] else ~has


def naive_bayes(features: Flags, truth: Flags, train: Flags) -> Flags:
    """Predict by all features of a text."""
    import numpy

    met, unmet = _rates(features, truth, train)
    known = features[train].any(0)  # a word unseen in training would favour the rarer answer
    answers: Flags = features[:, known] @ (numpy.log(met) - numpy.log(unmet))[known] > 0
    return answers


def _rates(features: Flags, truth: Flags, train: Flags) -> tuple[Any, Any]:
    """Return how often each feature occurs under yes and under no, with add-one smoothing."""
    met, unmet = features[train & truth], features[train & ~truth]
    return (met.sum(0) + 1) / (len(met) + 2), (unmet.sum(0) + 1) / (len(unmet) + 2)


def rules_of(texts: Sequence[str]) -> dict[str, Rule]:
    """Return every rule to try, by the features that it uses."""
    import numpy

    said = [set(plain_words(text)) for text in texts]
    counts = Counter(word for words in said for word in words)
    # a word that occurs in only one text cannot be learnt from another
    place = {word: i for i, (word, count) in enumerate(counts.most_common(MOST_WORDS)) if count > 1}
    features = numpy.zeros((len(texts), len(place)), dtype=bool)
    for line, words in enumerate(said):
        features[line, [place[word] for word in words if word in place]] = True
    exclusive = numpy.array([[EXCLUSIVITY.search(text) is not None] for text in texts], dtype=bool)
    return {
        "words of exclusivity": partial(best_feature, exclusive),
        **({"the occurrences of a single word": partial(best_feature, features)} if place else {}),
        "all words (naive Bayes)": partial(naive_bayes, features),
    }


def mean_score(rule: Rule, texts: Sequence[Guessed]) -> float:
    """Return the mean balanced accuracy of a rule on the half it was not trained on."""
    scores = []
    for split in range(SPLITS):
        given, truth = held_out(rule, texts, split)
        if _both(truth):
            scores.append((given[truth].mean() + (~given[~truth]).mean()) / 2)
    return sum(map(float, scores)) / len(scores) if scores else CHANCE


def probability(rule: Rule, texts: Sequence[Guessed]) -> tuple[int, int, float]:
    """Return the right predictions of a rule on one held-out half, their total, and the probability of this many by
    chance.
    """
    given, truth = held_out(rule, texts, 0)
    n, yes, right = len(truth), int(truth.sum()), int((given == truth).sum())
    return right, n, tail(right, n, max(yes, n - yes) / n) if _both(truth) else 1.0


def held_out(rule: Rule, texts: Sequence[Guessed], split: int) -> tuple[Flags, Flags]:
    """Return a rule's predictions on one half of the groups, and the right answers, after training on the other
    half.
    """
    import numpy

    truth = numpy.array([text.answer for text in texts], dtype=bool)
    ordered = _shuffled(frozenset(text.group for text in texts), split)
    first = set(ordered[: len(ordered) // 2])
    train = numpy.array([text.group in first for text in texts], dtype=bool)
    if not _both(truth[train]):
        return ~truth[~train], truth[~train]
    return rule(truth, train)[~train], truth[~train]


@lru_cache(maxsize=4 * SPLITS)
def _shuffled(groups: frozenset[str], seed: int) -> list[str]:
    """Return the groups in an order that depends only on the seed and their names."""
    return sorted(groups, key=lambda group: sha256(f"{seed}:{group}".encode()).digest())


def _both(answers: Flags) -> bool:
    return bool(answers.any()) and not bool(answers.all())


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
