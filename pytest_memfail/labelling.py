"""Draw facts of a run for a person to label, write them as cases for `memfail judge-check`, and evaluate the labels."""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from pytest_memfail.calibration import POINTS
from pytest_memfail.core import CORRECT, UNGRADED, UNSURE, Fact, counted
from pytest_memfail.regrade import Recorded
from pytest_memfail.results import Loaded
from pytest_memfail.rows import read_table

Z95: Final = 1.96
NEAR: Final = 8
"""The number of entries shown to the person: those closest to the fact."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A fact to label."""

    question: Recorded
    at: int
    """Its index among the facts of the question."""
    judged: str
    """The verdict of the run's judge, as a label."""
    confidence: float | None
    weight: float
    """The number of facts of the run that it represents; 0 if it was not drawn at random."""

    @property
    def evidence(self) -> Fact:
        """Return the expected fact."""
        return self.question.evidence[self.at]


def draw(questions: Sequence[Recorded], number: int, seed: int, *, unsure: bool = False) -> list[Drawn]:
    """Return facts to label, in random order.

    By default a random sample, stratified by verdict: each verdict gets its share, but at least a few facts. With
    `unsure`, the facts that the judge was least sure of, which are not representative.
    """
    rng = random.Random(seed)
    facts = [fact for question in questions for fact in _facts(question)]
    if unsure:
        known = [fact for fact in facts if fact.confidence is not None and fact.confidence < UNSURE]
        return sorted(known, key=lambda fact: (fact.confidence or 0.0, fact.evidence.id))[:number]
    strata: dict[str, list[Drawn]] = defaultdict(list)
    for fact in facts:
        strata[fact.judged].append(fact)
    drawn: list[Drawn] = []
    for name, size in _sizes({name: len(some) for name, some in strata.items()}, number).items():
        some = rng.sample(strata[name], size)
        drawn += [replace(fact, weight=len(strata[name]) / size) for fact in some]
    rng.shuffle(drawn)
    return drawn


def _facts(question: Recorded) -> list[Drawn]:
    found = []
    for at, fact in enumerate(question.asked.facts):
        if fact.verdict == UNGRADED or fact.is_distractor:  # the labels are those of expected facts
            continue
        judged = "ok" if fact.verdict == CORRECT else fact.verdict
        found.append(Drawn(question, at, judged, fact.confidence, 0.0))
    return found


def _sizes(strata: Mapping[str, int], number: int) -> dict[str, int]:
    """Return the number of facts to draw per verdict: a quarter of the total equally, the rest by their shares.

    Each verdict gets at least one. What a verdict has too few facts for goes to the others.
    """
    total = sum(strata.values())
    number = min(number, total)
    share = {name: 0.25 * number / len(strata) + 0.75 * number * size / total for name, size in strata.items()}
    sizes = dict.fromkeys(sorted(strata), 1)
    while sum(sizes.values()) < number:
        sizes[
            max((name for name in sizes if sizes[name] < strata[name]), key=lambda name: share[name] - sizes[name])
        ] += 1
    return sizes


def case_of(fact: Drawn, label: str, number: int, record: Loaded) -> dict[str, Any]:
    """Return a labelled fact of a record as a line for `memfail judge-check`.

    The only fact of a question is written with its row, if its suite makes tasks of single rows. One of several is written as
    a plain point, because the others have no label.
    """
    question, evidence = fact.question, fact.evidence
    store = [memory.text for memory in question.judged_by.memories]
    places = {text: at for at, text in reversed(list(enumerate(store)))}
    line: dict[str, Any] = {"case_id": f"{evidence.id}#{number}"}
    asked = question.trace.question
    make = next((suite.row_task for suite in record.suites if asked.task in suite.parts), None)
    if make is not None and len(question.evidence) == 1:
        row = _row(Path(asked.file), asked.line)
        line |= {"task": asked.task, "row": row}
        of_row = make(asked.task, row, record.header.protocol, Path(asked.file), asked.line).questions
        if len(of_row) > 1:
            line["question_index"] = [one.text for one in sorted(of_row, key=lambda one: one.id)].index(asked.text)
    else:
        claim = evidence.claim
        more = {
            "details": [part.wordings for part in claim.listed],
            "replaced": claim.replaced,
            "earlier": claim.earlier,
        }
        row = {"owner": claim.owner or "the user", "source": evidence.source, "points": [evidence.text]}
        line |= {"task": POINTS, "row": row | {name: value for name, value in more.items() if value}}
    retrieved = [places[memory.text] for memory in question.trace.shown if memory.text in places]
    kind = f"judged {fact.judged}" + ("" if fact.confidence is None else f" at {fact.confidence:.2f}")
    return {
        **line,
        "store": store,
        "retrieved": list(dict.fromkeys(retrieved)),
        "facts": [{"label": label, "kind": kind}],
    }


def _row(path: Path, line: int) -> dict[str, Any]:
    """Return the cells of the row that starts on this line."""
    for start, cells in read_table(path).rows:
        if start == line:
            return dict(cells)  # an empty one too: that of a required column says that there is no value
    raise ValueError(f"{path} has no record on line {line}")


def closest_entries(fact: Drawn) -> list[tuple[int, str, bool]]:
    """Return the entries of the store closest to the fact: number from 1, text, and whether it was shown."""
    from pytest_memfail.judges import closest

    texts = [memory.text for memory in fact.question.judged_by.memories]
    shown = {memory.text for memory in fact.question.trace.shown}
    near = closest(fact.evidence, texts, NEAR)
    return [(at + 1, texts[at], texts[at] in shown) for at in near]


def estimate_of(labelled: Sequence[tuple[Drawn, str]]) -> str:
    """Return one sentence: the estimated share of the run's fact verdicts that are right, with its 95 % interval."""
    strata: dict[str, list[bool]] = defaultdict(list)
    weights: Counter[str] = Counter()
    for fact, label in labelled:
        if fact.weight:
            strata[fact.judged].append(label == fact.judged)
            weights[fact.judged] = max(weights[fact.judged], fact.weight)  # type: ignore[assignment]
    total = sum(weights[name] * len(right) for name, right in strata.items())
    if not total:
        return "no label counts towards an estimate: these facts were not drawn at random"
    n = sum(map(len, strata.values()))
    share = variance = 0.0
    for name, right in strata.items():
        part = weights[name] * len(right) / total
        mean = (sum(right) + 0.5) / (len(right) + 1)  # so that a stratum with all labels right has a variance too
        share += part * sum(right) / len(right)
        variance += part**2 * mean * (1 - mean) / len(right)
    error = Z95 * math.sqrt(variance)
    low, high = max(0.0, share - error), min(1.0, share + error)
    return f"the judge is right about {share:.0%} of the facts of this run [{low:.0%}, {high:.0%}], by {counted(n, 'label')}"
