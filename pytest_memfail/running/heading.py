"""Describe a run in a few lines before it starts: the system, the questions and their rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from pytest_memfail.core import FAILURES, OURS, Suite, Task, counted
from pytest_memfail.records import judge_in_words
from pytest_memfail.running.plan import Run
from pytest_memfail.systems import is_yaml

PROTOCOLS: Final = {"ours": "ours (our prompts and criteria)", "paper": "paper (those of the published harness)"}


def heading(run: Run) -> list[str]:
    """Return the lines."""
    settings = run.settings
    questions = {unit: len(list(run.items_of(unit) if run.selection else run.all_of(unit))) for unit in run.units}
    units = [unit for unit, number in questions.items() if number]
    tasks = len({unit.task.name for unit in units})
    asked = [suite for suite in run.suites if any(task.suite == suite.name for task in run.tasks)]
    chosen = {name for suite in asked for name in (suite.name, *suite.haystacks)}
    used = replace(settings.data, own={name: path for name, path in settings.data.own.items() if name in chosen})
    folders = used.written(run.shown)
    rows = f"rows of {', '.join(folders)}" if folders else "shipped rows"
    shard = "" if settings.shard is None else " (shard {} of {})".format(*settings.shard)
    mode = f" (mode {settings.system_options.get('mode', 'direct')})" if is_yaml(settings.system) else ""
    lines = [
        f"system {settings.system}{mode}, judge {judge_in_words(settings.judge, settings.recorded()['judge_options'])}, "
        f"{f'answers by {settings.model}, ' if settings.model else ''}protocol {PROTOCOLS[settings.protocol]}, "
        f"k={','.join(map(str, run.k_values))}",
        f"{counted(tasks, 'task')}, {counted(sum(questions.values()), 'question')} in {counted(len(units), 'store')}{shard}, {rows}",
    ]
    if settings.shown_tokens is not None:
        lines[0] += f", at most {settings.shown_tokens} tokens shown"
    for suite in asked:
        if suite.stands_alone:
            of_suite = [task for task in run.tasks if task.suite == suite.name]
            lines.append(rows_of(suite, of_suite, own_data=settings.data.of(suite.name) is not None))
    unused = [name for name in settings.data.own if name not in chosen]
    lines += [f"--memfail-data={name}=... is not used: --memfail-suite does not choose {name}" for name in unused]
    lines += [f"{task.suite}: {task.note}" for task in run.tasks if task.note]
    if left_out := sum(task.left_out for task in run.tasks):
        lines.append(
            f"thinned haystack: {counted(left_out, 'conversation')} left out (--memfail-haystack=full stores them)"
        )
    return lines


def rows_of(suite: Suite, tasks: Sequence[Task], *, own_data: bool) -> str:
    """Return a description of a suite's rows: its own sample, or published ones."""
    if tasks[0].variant == OURS and not own_data:
        published = "; not the published rows: do not compare its figures with a paper's" if suite.source.url else ""
        return f"{suite.name} ({suite.sample}{published})"
    stores, questions = (
        sum(len(of) for of in found) for found in zip(*((t.stores, t.questions) for t in tasks), strict=True)
    )
    size = f"{counted(stores, 'store')}, {counted(questions, 'question')}"
    if tasks[0].variant == OURS:
        return f"{suite.name} (your own: {size}; not the published rows: do not compare its figures with a paper's)"
    return f"{suite.name} (published, {tasks[0].variant}: {size}; {tasks[0].licence})"


def selected_by(verdicts: Sequence[str], *, known: int, recorded: int, asked: int, baseline: str) -> str:
    """Return a sentence about what `-m VERDICT` selects by.

    Args:
        verdicts: the verdicts that `-m` names.
        known: the number of questions with a recorded verdict.
        recorded: the number of these from kept runs; the others are from the baseline.
        asked: the number of questions that the run selects.
        baseline: the path of the baseline.
    """
    if not known:
        selects = "what each task is designed to provoke"
        if provoked_by_none := [verdict for verdict in verdicts if verdict not in FAILURES]:
            selects = f"{selects}, and nothing as {' or '.join(provoked_by_none)}"
        return f"-m selects {selects}, as no verdict of this system is recorded yet"
    sources = [f"{recorded} in pytest's cache"] if recorded else []
    if more := known - recorded:
        sources.append(f"{more} in the baseline {baseline}")
    left = f"; the other {asked - known} are not selected" if asked > known else ""
    return f"-m selects by recorded verdicts: {known} of {asked} questions have one ({', '.join(sources)}){left}"
