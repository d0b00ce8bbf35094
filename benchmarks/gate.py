"""Measure how often the gate is wrong: simulated pairs of runs, with and without a true regression.

`python benchmarks/gate.py` prints the tables of docs/gate.md; README.md explains them.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from pytest_memfail.core import CORRECT, NOT_STORED, QuestionRecord, StageResult, holm
from pytest_memfail.results import (
    ANCHOR_DEFAULT,
    DEFAULT,
    by_row,
    compare,
    evaluate,
    parse_expressions,
    power,
    smallest_detectable,
    summarize,
)

SHIPPED = {
    "conditional_facts_easy": 100,
    "conditional_facts_hard": 100,
    "coexisting_facts": 100,
    "persona_retrieval": 300,
    "long_hop": 96,
    "updated_facts": 100,
}
PERSONA = {"persona_retrieval": 300}
QUESTIONS_OF_A_ROW = {"persona_retrieval": 3}
FAILING = 0.3
"""The share that fails before. Irrelevant for false alarms: failures are misread as often as successes."""
ALPHA = 0.05
"""The accepted share of failing runs without a change."""
OVERALL, EACH = (expression.text for expression in parse_expressions(DEFAULT))
LEVEL, EACH_LEVEL = (expression.number for expression in parse_expressions(DEFAULT))
ANCHOR_LEVEL, ANCHOR_EACH_LEVEL = (expression.number for expression in parse_expressions(ANCHOR_DEFAULT))
COUNTED = "regressions>0"
BY_QUESTION = "p by question"
BOTH = "the default"
WITH_ANCHOR = "with an anchor"
STEPS = 10
"""The number of consecutive changes, each losing one point."""
REPLAYED = 5
"""The number of pairs per scenario that also go through the gate itself, which must agree with the arrays."""


@dataclass(frozen=True)
class Scenario:
    """The effect of a change, and the reliability of verdicts."""

    name: str
    tasks: dict[str, int]
    rows: bool = True
    """Whether questions share rows as in the shipped sets; else each has its own row."""
    noise: float = 0.03
    """The chance that a verdict is misread, independent in each run."""
    linked: bool = False
    """Whether the questions of a row are misread together."""
    drop: float = 0.0
    """The share of all questions in `dropped` that pass before and truly fail after."""
    dropped: tuple[str, ...] | None = None
    scattered: bool = False
    """Whether at most one question of a row is lost; else whole rows are lost."""

    def size(self, task: str) -> int:
        """Return the number of questions per row."""
        return QUESTIONS_OF_A_ROW.get(task, 1) if self.rows else 1


ONE_EACH = Scenario("300 questions, one a row", PERSONA, rows=False)
SHARED = Scenario("300 questions in 100 rows", PERSONA)
ALL = Scenario("796 questions in 596 rows", SHIPPED)
NO_CHANGE = (
    ALL,
    replace(ALL, name="the same, 10% misread", noise=0.10),
    replace(ALL, name="the same, rows misread whole", linked=True),
    ONE_EACH,
    replace(SHARED, name="300 in 100 rows, rows misread whole", linked=True),
)
REGRESSIONS = (
    *(replace(ONE_EACH, name=f"{drop:.0%} of 300, one a row", drop=drop) for drop in (0.02, 0.03, 0.05, 0.10)),
    replace(SHARED, name="5% of 300 in 100 rows, scattered", drop=0.05, scattered=True),
    replace(SHARED, name="5% of 300 in 100 rows, whole rows", drop=0.05),
    *(replace(ALL, name=f"{drop:.0%} of 796, whole rows", drop=drop) for drop in (0.02, 0.03, 0.05)),
    replace(ALL, name="5% of the 300 only, of 796", drop=0.05, dropped=("persona_retrieval",), scattered=True),
)
DESCENTS = (
    replace(ALL, name="of all 796"),
    replace(ALL, name="of one task of 300", dropped=("persona_retrieval",), scattered=True),
)


def simulate(scenario: Scenario, pairs: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return whether each question fails before and after, in each pair of runs."""
    before, after = [], []
    for task, n in scenario.tasks.items():
        failing = np.zeros((pairs, n), dtype=bool)
        failing[:, : round(FAILING * n)] = True  # questions of a row are adjacent, so whole rows fail
        failing_after = failing.copy()
        if scenario.dropped is None or task in scenario.dropped:
            step = scenario.size(task) if scenario.scattered else 1
            failing_after[:, n - step * round(scenario.drop * n) :: step] = True
        linked = scenario.size(task) if scenario.linked else 1
        misread = np.repeat(rng.random((2, pairs, n // linked)) < scenario.noise, linked, axis=2)
        before.append(failing ^ misread[0])
        after.append(failing_after ^ misread[1])
    return np.concatenate(before, axis=1), np.concatenate(after, axis=1)


@cache
def p_value(counts: tuple[int, ...], least: int) -> float:
    return by_row([least + i for i, n in enumerate(counts) for _ in range(n)], one_sided=True)


def p_values(balances: np.ndarray) -> np.ndarray:
    """Return the p of each pair of runs, from regressions minus fixes per row."""
    least = int(balances.min())
    counts = np.stack([(balances == value).sum(1) for value in range(least, int(balances.max()) + 1)], axis=1)
    if least <= 0 < least + counts.shape[1]:
        counts[:, -least] = 0  # rows without a change have no effect
    return np.array([p_value(tuple(row), least) for row in counts.tolist()])


def tested(scenario: Scenario, before: np.ndarray, after: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the p of each pair of runs: over all rows, the least over the tasks (Holm), and with independent
    questions.
    """
    change = after.astype(int) - before
    ends = np.cumsum(list(scenario.tasks.values()))[:-1]
    rows = [
        part.reshape(len(change), -1, scenario.size(task)).sum(2)
        for task, part in zip(scenario.tasks, np.split(change, ends, axis=1), strict=True)
    ]
    each = np.stack([p_values(balances) for balances in rows], axis=1)
    least = np.array([min(holm(values)) for values in each.tolist()])
    return p_values(np.concatenate(rows, axis=1)), least, p_values(change)


def fired(scenario: Scenario, before: np.ndarray, after: np.ndarray) -> dict[str, np.ndarray]:
    """Return in which pairs each expression fails the gate; the last assumes independent questions."""
    overall, each, by_question = tested(scenario, before, after)
    return {
        BOTH: (overall < LEVEL) | (each < EACH_LEVEL),
        OVERALL: overall < LEVEL,
        EACH: each < EACH_LEVEL,
        COUNTED: (after & ~before).any(1),
        BY_QUESTION: by_question < LEVEL,
    }


def anchored(scenario: Scenario, anchor: np.ndarray, before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Return in which runs the default fails, with the baseline or the anchor."""
    overall, each, _ = tested(scenario, anchor, after)
    return fired(scenario, before, after)[BOTH] | (overall < ANCHOR_LEVEL) | (each < ANCHOR_EACH_LEVEL)


def descend(scenario: Scenario, pairs: int, seed: int) -> list[tuple[float, float]]:
    """Return, for ten changes that lose one point each, the share stopped so far with a baseline only and with an
    anchor.

    The baseline is always the run before, as if every push to main saved a new one.
    """
    rng = np.random.default_rng(seed)
    runs = [simulate(replace(scenario, drop=step / 100), pairs, rng)[1] for step in range(STEPS + 1)]
    rolling, golden = np.zeros(pairs, dtype=bool), np.zeros(pairs, dtype=bool)
    found = []
    for step in range(1, STEPS + 1):
        rolling |= fired(scenario, runs[step - 1], runs[step])[BOTH]
        golden |= anchored(scenario, runs[0], runs[step - 1], runs[step])
        found.append((float(rolling.mean()), float(golden.mean())))
    return found


def replay(scenario: Scenario, before: Sequence[bool], after: Sequence[bool]) -> dict[str, bool]:
    """Return the decisions of the gate itself about a pair of runs."""
    runs = []
    for failing in (before, after):
        names = [(task, i) for task, n in scenario.tasks.items() for i in range(n)]
        asked = [
            QuestionRecord(
                id=f"memfail/{task}::q-{i}",
                task=task,
                store=task,
                question=f"q-{i}",
                k=5,
                kind="open",
                stratum="",
                text="",
                gold=(),
                row=f"{task}.csv:{2 + i // scenario.size(task)}",
                verdict=NOT_STORED if fails else CORRECT,
                memory_held=not fails,
                answer=StageResult(outcome="passed"),
            )
            for (task, i), fails in zip(names, failing, strict=True)
        ]
        runs.append({question.key: question for question in asked})
    comparison = compare(runs[0], runs[1], list(scenario.tasks), "ours")
    summary = summarize(runs[1].values(), ())
    return {
        text: evaluate(parse_expressions(text), summary, comparison).outcome == "failed"
        for text in (OVERALL, EACH, COUNTED)
    }


def measured(scenario: Scenario, pairs: int, seed: int) -> dict[str, Any]:
    """Return the share of pairs in which each expression fires."""
    rng = np.random.default_rng(seed)
    before, after = simulate(scenario, pairs, rng)
    found = fired(scenario, before, after)
    found[WITH_ANCHOR] = anchored(scenario, simulate(scenario, pairs, rng)[0], before, after)
    for i in range(min(REPLAYED, pairs)):
        decided = replay(scenario, before[i].tolist(), after[i].tolist())
        if decided != {text: bool(found[text][i]) for text in decided}:
            raise SystemExit(f"{scenario.name}, pair {i}: the gate says {decided}, the simulation does not")
    flips = (before != after).sum(1)
    return {
        "scenario": scenario.name,
        "questions": sum(scenario.tasks.values()),
        "flips": float(flips.mean()),
        **{text: float(fires.mean()) for text, fires in found.items()},
    }


def expected(scenario: Scenario) -> float:
    """Return the power from the formula behind the summary's last line."""
    n, noise = sum(scenario.tasks.values()), scenario.noise
    lost = sum(round(scenario.drop * size) for size in scenario.tasks.values()) / n
    by_chance = noise * (1 - noise)
    worse = lost * (1 - noise) ** 2 + (1 - lost) * by_chance
    better = lost * noise**2 + (1 - lost) * by_chance
    return power(n, worse - better, noise=better, alpha=LEVEL)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=2000, help="simulated pairs of runs for each row")
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--json", type=Path, help="file for all figures")
    options = parser.parse_args()
    alarms = [measured(scenario, options.pairs, options.seed) for scenario in NO_CHANGE]
    shown = (BOTH, WITH_ANCHOR, OVERALL, EACH, BY_QUESTION, COUNTED)
    print(f"{'no true change':<36}{'flips':>6}" + "".join(f"{text:>{len(text) + 2}}" for text in shown))
    for row in alarms:
        shares = "".join(f"{row[text]:>{len(text) + 2}.1%}" for text in shown)
        print(f"{row['scenario']:<36}{row['flips']:>6.1f}{shares}")
    print()
    shown = (BOTH, WITH_ANCHOR, OVERALL, EACH)
    print(
        f"{'a true regression':<36}{'flips':>6}" + "".join(f"{text:>{len(text) + 2}}" for text in (*shown, "formula"))
    )
    found = []
    for scenario in REGRESSIONS:
        row = measured(scenario, options.pairs, options.seed)
        row["formula"] = expected(scenario) if scenario.rows is False else None
        found.append(row)
        shares = "".join(f"{row[text]:>{len(text) + 2}.1%}" for text in shown)
        formula = "" if row["formula"] is None else f"{row['formula']:>9.1%}"
        print(f"{row['scenario']:<36}{row['flips']:>6.1f}{shares}{formula}")
    print()
    print("ten changes that lose one point each" + "".join(f"{step:>7}" for step in range(1, STEPS + 1)))
    descents = {}
    for scenario in DESCENTS:
        stopped = descents[scenario.name] = descend(scenario, options.pairs, options.seed)
        for i, name in enumerate(("baseline alone", WITH_ANCHOR)):
            shares = "".join(f"{step[i]:>7.1%}" for step in stopped)
            print(f"{f'{scenario.name}, {name}':<36}{shares}")
    print()
    for n in (100, 300, 596):
        least = smallest_detectable(n, noise=0.03, alpha=LEVEL)
        print(f"smallest true drop that {n} rows show in four of five runs: {100 * (least or 1):.1f} points")
    if options.json:
        options.json.write_text(
            json.dumps({"false_alarms": alarms, "power": found, "descents": descents}, indent=2), encoding="utf-8"
        )
    for row in alarms:
        if max(row[BOTH], row[WITH_ANCHOR]) > ALPHA:
            raise SystemExit(
                f"{row['scenario']}: without a change {row[BOTH]:.1%} of runs fail, with an anchor {row[WITH_ANCHOR]:.1%}, "
                f"at most {ALPHA:.0%} may"
            )


if __name__ == "__main__":
    main()
