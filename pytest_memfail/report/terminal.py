"""Format the last screen of a run: failures by cause, the verdict table, the largest loss, and the next step."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Final

from pytest_memfail.core import (
    ERROR,
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
from pytest_memfail.results import Summary, Tally
from pytest_memfail.safety import escape_controls

MOST_TEXTS: Final = 10
"""Failures shown in full by default."""
EXAMPLES: Final = 3
"""Failures shown per task and verdict."""

WORSE, OTHER, EARLIER, CEILING = range(4)
"""The rank of a failure: one that the baseline did not have, another, one of a question that the reference loses at a later
stage, and one that the reference has too."""

VERBATIM: Final = "bm25"
"""The reference that keeps every message."""

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

    is_beyond: bool = False
    """Whether the reference held what was lost here."""
    rank: int = OTHER

    @property
    def clearness(self) -> tuple[int, float, int, str]:
        """Sort key: by rank; then the surest verdicts first, then the shortest."""
        return self.rank, -self.confidence, self.length, self.id


def failed_questions(questions: Iterable[QuestionRecord], results: Summary) -> list[Failed]:
    """Return the failed questions of a run as its end shows them."""
    worse = {flip.id for flip in results.gate.worse} if results.gate is not None else set()
    found = (failed_question(question, is_worse=question.id in worse) for question in questions)
    return [failed for failed in found if failed is not None]


def failed_question(question: QuestionRecord, *, is_worse: bool = False) -> Failed | None:
    """Return a failed question as the end of a run shows it; None if it did not fail."""
    if not question.failed:
        return None
    rank = WORSE if is_worse else CEILING if question.at_ceiling else EARLIER if question.loses_earlier else OTHER
    verdict, source = question.verdict, ""
    if verdict in MEMORY_FAILURES:
        failed = [fact for fact in question.facts if fact.verdict == verdict]
        # a record written by another program may have no facts
        sure, source = max(((_confidence(fact.deciding), fact.source) for fact in failed), default=(-1.0, ""))
    else:
        sure = _confidence(question.answer)
    length = len(question.text) + len(source)
    reason, is_beyond = headline(question), question.beyond_verbatim
    return Failed(question.id, question.group, verdict, reason, sure, length, is_beyond, rank)


def _confidence(stage: StageResult) -> float:
    return -1.0 if stage.confidence is None else stage.confidence


def causes(failures: Iterable[Failed]) -> list[list[Failed]]:
    """Return the failures grouped by task and verdict: by the number of regressions, then of losses beyond the reference.

    In each group the clearest are first.
    """
    groups: dict[tuple[str, str], list[Failed]] = {}
    for failed in failures:
        groups.setdefault((failed.task, failed.verdict), []).append(failed)

    def order(cause: tuple[str, str]) -> tuple[Any, ...]:
        ranks = Counter(failed.rank for failed in groups[cause])
        return *(-ranks[rank] for rank in (WORSE, OTHER, EARLIER, CEILING)), cause

    return [sorted(groups[cause], key=lambda failed: failed.clearness) for cause in sorted(groups, key=order)]


def worst_first(failures: Iterable[Failed], most: int = MOST_TEXTS) -> list[str]:
    """Return the ids of at most `most` failures of the best ranks: the clearest of each group in turn, listed by group."""
    groups = causes(failures)
    in_turn = [failed for turn in zip_longest(*groups) for failed in turn if failed is not None]
    chosen = {failed.id for failed in sorted(in_turn, key=lambda failed: failed.rank)[:most]}
    return [failed.id for group in groups for failed in group if failed.id in chosen]


def cause_lines(failures: Sequence[Failed], results: Summary, *, every: bool = False) -> Iterator[str]:
    """Yield a line per task and verdict with its count, and under it the clearest examples, each with its reason.

    Of a group that the reference loses too, only the count. With `every`, yield all failures, in the order given.
    """
    asked = {tally.name: tally.n for tally in results.tasks}
    place = {failed.id: i for i, failed in enumerate(failures)}
    for group in causes(failures):
        first, beyond = group[0], sum(failed.is_beyond for failed in group)
        shown = sorted(group, key=lambda failed: place[failed.id]) if every else group[:EXAMPLES]
        count = f"{first.verdict.upper()} {len(group)} of {asked[first.task]} in {first.task}"
        if first.rank == CEILING:
            count += f", all lost by {reference_name(results)} too"
            shown = shown if every else []
        elif beyond:
            count += f", {beyond} beyond verbatim"
        yield count + (f"; the {len(shown)} clearest:" if 0 < len(shown) < len(group) else ":" if shown else "")
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


def headlines(results: Summary, failures: Collection[Failed], run: str | None = None) -> list[str]:
    """Return the likely cause, if there is one, and where most is lost; regressions go first.

    With `run`, add the command that shows the questions of the cause.
    """
    shows = f"; memfail show {run} --clue 1" if run is not None else ""
    clues = [f"{clue_line(c)} ({counted(len(c.questions), 'failed question')}{shows})" for c in results.clues[:1]]
    lost = most_lost(results, failures)
    return [lost, *clues] if any(failed.rank == WORSE for failed in failures) else [*clues, lost]


def most_lost(results: Summary, failures: Collection[Failed]) -> str:
    """Return one sentence that names the stage and the task where most is lost.

    Regressions go before losses beyond the reference; what the reference loses too is named only if there is nothing else.
    """
    asked = counted(results.total.n, "question")
    if not failures:
        return _nothing_lost(results.total)
    rank, group, lost = _leading(failures)
    verdict, task = group[0].verdict, group[0].task
    if rank == CEILING:
        return _nothing_lost(results.total, f" beyond {reference_name(results)}")
    where = f"{PLACES[verdict]} ({verdict})"
    if rank == WORSE:
        worse = sum(failed.rank == WORSE for failed in failures)
        said = f"worse than before: {worse} of {asked}, most in {where}: {len(lost)}"
    else:
        count, beyond = sum(failed.is_beyond for failed in lost), ""
        if rank == EARLIER:
            beyond = f", which {reference_name(results)} loses later"
        elif count:
            beyond = f"{'' if count == len(lost) else f', {count} of them'} beyond {reference_name(results)}"
        said = f"loses most in {where}: {len(lost)} of {results.total.n}{beyond}"
    if len(results.tasks) > 1:
        said += f"; all in {task}" if len(group) == len(lost) else f"; of these {len(group)} in {task}"
    return said


def _nothing_lost(total: Tally, beyond: str = "") -> str:
    """Say that nothing was lost, and of how many questions that is not known."""
    asked = counted(total.n, "question")
    unknown = ((total.states[ERROR], "ended in an error"), (total.undecided, "could not be judged"))
    said = [f"{count} of {asked} {how}" for count, how in unknown if count]
    return ", ".join([*said, f"nothing lost{beyond} among {'the others' if said else asked}"])


def _leading(failures: Collection[Failed]) -> tuple[int, list[Failed], list[Failed]]:
    """Return the best rank of the failures, those of the leading task, and all of that rank with the leading verdict."""
    rank = min(failed.rank for failed in failures)
    ranked = [failed for failed in failures if failed.rank == rank]
    verdicts = Counter(failed.verdict for failed in ranked)
    lost = [failed for failed in ranked if failed.verdict == max(FAILURES, key=lambda name: verdicts[name])]
    task = Counter(failed.task for failed in lost).most_common(1)[0][0]
    return rank, [failed for failed in lost if failed.task == task], lost


def first_look(results: Summary, failures: Collection[Failed]) -> dict[str, str]:
    """Return what selects the failures to look at first: the regressions, the first clue, or where most is lost."""
    rank, group, _ = _leading(failures) if failures else (OTHER, [], [])
    if rank == WORSE:
        return {"change": "worse"}
    if results.clues:
        return {"clue": "1"}
    beyond = {"reference": "beyond"} if group and all(failed.is_beyond for failed in group) else {}
    return {"verdict": group[0].verdict, "task": group[0].task, **beyond} if group else {}


def reference_name(results: Summary) -> str:
    """Return the reference in words."""
    named = results.reference
    return "a verbatim store" if named is None or named.system == VERBATIM else f"the reference {named.system}"


def reference_lines(results: Summary, failures: Collection[Failed]) -> list[str]:
    """Return what the run was compared with, and how much of what it lost is the limit of the benchmark."""
    reference = results.reference
    if reference is None:
        return []
    if reference.is_itself:
        return [
            f"{reference.system} is the reference itself: what it loses, any verbatim store with a word search loses"
        ]
    said = []
    lost = [failed for failed in failures if failed.verdict in MEMORY_FAILURES]
    if ceiling := Counter(failed.task for failed in failures if failed.rank == CEILING):
        tasks = ", ".join(f"{count} in {task}" for task, count in ceiling.most_common(3))
        more = ", …" if len(ceiling) > 3 else ""
        said.append(
            f"the benchmark's ceiling: {ceiling.total()} of {len(lost)} lost are lost by {reference_name(results)} "
            f"({reference.system}) too: {tasks}{more}"
        )
    if reference.note:
        said.append(f"{'reference' if reference.outcomes else 'no reference'} {reference.system}: {reference.note}")
    return said


def closing(results: Summary, failures: Collection[Failed], run: str | None, *, trusted: bool = True) -> Iterator[str]:
    """Yield the last screen of a run: the verdicts, the largest loss, the path of the record, and the next steps.

    `run` is the name of the run for `memfail show`; None if the run is not kept.
    """
    yield from verdict_table(results)
    if trusted and results.total.n:
        yield ""
        for said in (*headlines(results, failures, run), *reference_lines(results, failures)):
            yield from textwrap.wrap(escape_controls(said), WIDTH, subsequent_indent="  ", break_on_hyphens=False)
        if run is not None and failures:
            yield f"next: {_next(results, failures, run)}"
            yield f"all failures: memfail show {run} --all"
    if results.record:
        yield f"record: {results.record}"


def _next(results: Summary, failures: Collection[Failed], run: str) -> str:
    where = first_look(results, failures)
    named = [f"--{name} {where[name]}" for name in ("task", "verdict", "clue") if name in where]
    return " ".join(["memfail show", run, *(named or ["--worse"])])
