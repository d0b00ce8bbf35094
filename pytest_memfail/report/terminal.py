"""Format the last screen of a run: failures by cause, the verdict table, the largest loss, and the next step."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

from pytest_memfail.core import (
    FAILURES,
    MEMORY_FAILURES,
    NOT_RETRIEVED,
    NOT_STORED,
    REASONING_ERROR,
    SUMMARY_ERROR,
    WRONGLY_HELD,
    QuestionRecord,
    StageResult,
    counted,
)
from pytest_memfail.records import Clue
from pytest_memfail.report.text import WIDTH, headline, verdict_table
from pytest_memfail.results import Summary
from pytest_memfail.safety import escape_controls

MOST_TEXTS: Final = 20
"""Failures shown in full by default."""
EXAMPLES: Final = 3
"""Failures shown per task and verdict."""

PLACES: Final[Mapping[str, str]] = {
    WRONGLY_HELD: "forgetting and isolation",
    NOT_STORED: "storage",
    SUMMARY_ERROR: "summaries",
    NOT_RETRIEVED: "retrieval",
    REASONING_ERROR: "answers",
}
"""The part of a memory system that a verdict blames."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A failed question as the end of a run shows it."""

    id: str
    task: str
    """A task, or `task.part`."""
    verdict: str
    reason: str
    confidence: float
    """The highest among the facts that failed; -1 if the judge gives none."""
    length: int
    """Characters of the question and of that fact."""

    @property
    def clearness(self) -> tuple[float, int, str]:
        """Sort key: the surest verdicts first, then the shortest."""
        return -self.confidence, self.length, self.id


def failed_question(question: QuestionRecord) -> Failed | None:
    """Return a failed question as the end of a run shows it; None if it did not fail."""
    if not question.failed:
        return None
    verdict, source = question.verdict, ""
    if verdict in MEMORY_FAILURES:
        failed = [fact for fact in question.facts if fact.verdict == verdict]
        # a record written by another program may have no facts
        sure, source = max(((_confidence(fact.deciding), fact.source) for fact in failed), default=(-1.0, ""))
    else:
        sure = _confidence(question.answer)
    length = len(question.text) + len(source)
    return Failed(question.id, question.group, verdict, headline(question), sure, length)


def _confidence(stage: StageResult) -> float:
    return -1.0 if stage.confidence is None else stage.confidence


def causes(failures: Iterable[Failed]) -> list[list[Failed]]:
    """Return the failures grouped by task and verdict: the largest group first, in each the clearest first."""
    groups: dict[tuple[str, str], list[Failed]] = {}
    for failed in failures:
        groups.setdefault((failed.task, failed.verdict), []).append(failed)
    ordered = sorted(groups, key=lambda cause: (-len(groups[cause]), cause))
    return [sorted(groups[cause], key=lambda failed: failed.clearness) for cause in ordered]


def worst_first(failures: Iterable[Failed], most: int = MOST_TEXTS) -> list[str]:
    """Return the ids of at most `most` failures: the clearest of each group in turn, listed group by group."""
    groups = causes(failures)
    in_turn = [failed for turn in zip_longest(*groups) for failed in turn if failed is not None]
    chosen = {failed.id for failed in in_turn[:most]}
    return [failed.id for group in groups for failed in group if failed.id in chosen]


def cause_lines(failures: Sequence[Failed], results: Summary, *, every: bool = False) -> Iterator[str]:
    """Yield a line per task and verdict with its count, and under it the clearest examples, each with its reason.

    With `every`, yield all failures, in the order given.
    """
    asked = {tally.name: tally.n for tally in results.tasks}
    place = {failed.id: i for i, failed in enumerate(failures)}
    for group in causes(failures):
        first = group[0]
        shown = sorted(group, key=lambda failed: place[failed.id]) if every else group[:EXAMPLES]
        more = f"; the {len(shown)} clearest:" if len(shown) < len(group) else ":"
        yield f"{first.verdict.upper()} {len(group)} of {asked[first.task]} in {first.task}{more}"
        for failed in shown:
            yield f"  {escape_controls(failed.id)}"  # never cut an id, because it is pasted into commands
            yield from textwrap.wrap(
                escape_controls(failed.reason),
                WIDTH,
                initial_indent="    ",
                subsequent_indent="    ",
                break_on_hyphens=False,
            )


def clue_line(clue: Clue) -> str:
    """Return a clue as every report says it."""
    return f"likely cause: {clue.text}"


def most_lost(results: Summary) -> str:
    """Return one sentence that names the stage and the task where most is lost."""
    lost = results.total.verdicts
    verdict = max(FAILURES, key=lambda name: lost[name])
    if not lost[verdict]:
        return f"nothing lost: no failure among {counted(results.total.n, 'question')}"
    said = f"loses most in {PLACES[verdict]} ({verdict}): {lost[verdict]} of {results.total.n}"
    task = max(results.tasks, key=lambda tally: tally.verdicts[verdict])
    if len(results.tasks) > 1:
        count = task.verdicts[verdict]
        said += f"; all in {task.name}" if count == lost[verdict] else f"; of these {count} in {task.name}"
    return said


def most_lost_in(results: Summary) -> dict[str, str]:
    """Return the verdict and the task where most is lost."""
    verdict = max(FAILURES, key=lambda name: results.total.verdicts[name])
    return {"verdict": verdict, "task": max(results.tasks, key=lambda tally: tally.verdicts[verdict]).name}


def closing(results: Summary, failures: Collection[Failed], run: str | None, *, trusted: bool = True) -> Iterator[str]:
    """Yield the last screen of a run: the verdicts, the largest loss, the path of the record, and the next steps.

    `run` is the name of the run for `memfail show`; None if the run is not kept.
    """
    yield from verdict_table(results)
    if trusted and results.total.n:
        yield ""
        for number, clue in enumerate(results.clues[:1], 1):
            shows = f"; memfail show {run} --clue {number}" if run is not None else ""
            said = f"{clue_line(clue)} ({counted(len(clue.questions), 'failed question')}{shows})"
            yield from textwrap.wrap(escape_controls(said), WIDTH, subsequent_indent="  ", break_on_hyphens=False)
        yield from textwrap.wrap(most_lost(results), WIDTH, subsequent_indent="  ", break_on_hyphens=False)
        if run is not None and failures:
            yield f"next: {_first_look(results, run)}"
            yield f"all failures: memfail show {run} --all"
    if results.record:
        yield f"record: {results.record}"


def _first_look(results: Summary, run: str) -> str:
    where = most_lost_in(results)
    return f"memfail show {run} --task {where['task']} --verdict {where['verdict']}"
