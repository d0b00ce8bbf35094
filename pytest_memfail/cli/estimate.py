"""Estimate calls, tokens and cost before a run.

Estimate calls, tokens and cost of a run whose system stores every message verbatim. No model is called.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from pytest_memfail.cli.arguments import CACHE_DIR, PRICES, PROTOCOL, TASKS, Arguments
from pytest_memfail.cli.records import folders, listed, load, suite_options
from pytest_memfail.core import UsageError, counted

OWN_CALLS: Final = (
    "calls to models by the system itself are not counted; --system NAME shows those of its last run with the proxy"
)
MEMORY: Final = "memory"


def add(argument: Arguments) -> None:
    """Declare the arguments of the command."""
    argument("--model NAME", "the model that answers")
    argument("--judge NAME", "the judge of the run; one that is no model costs nothing", default="offline")
    argument.data()
    argument(*TASKS)
    argument("--k N", "number of memories to retrieve (default: 5, or the number in the paper of the suite)", int)
    argument("--limit N", "at most N questions of each task, or of each part", int)
    said = "with --limit: store all conversations, or only those that the questions need"
    argument("--haystack", said, ("full", "sample"), "sample")
    argument("--repeats N", "how often each question is asked", int, 1)
    said = "with --repeats: who is asked again; other replies come from the cache"
    argument("--vary", said, ("all", "judge", "answers"), "all")
    argument("--suite LIST", "suites separated by commas (default: memfail)")
    argument.suite_options()
    argument(*PROTOCOL)
    argument(*PRICES)
    argument("--system NAME", "show what the memory system's own model calls cost in its last kept run")
    argument(*CACHE_DIR)


def measured(system: str, cache: Path | None) -> str:
    """Return what the model calls of a memory system cost in its last kept run that made some."""
    for kept in reversed(listed(cache)):
        if kept.header.system != system or kept.state == "running":
            continue
        record = load(kept.record)
        summary = record.summary()
        rows = [row for row in summary.models if row["stage"].startswith(MEMORY)]
        if summary.untrusted is not None or not any(row["calls"] for row in rows):
            continue  # it was mostly errors, asked no model, was not watched, or was a replay
        total = {
            name: sum(row[name] for row in rows)
            for name in ("calls", "cache_hits", "prompt_tokens", "completion_tokens")
        }
        costs = [row["cost"] for row in rows if row["calls"]]
        usd = "an unknown cost" if None in costs else f"{sum(costs):.4f} USD"
        stored = sum(store.conversations for store in record.stores)
        return (
            f"{system} itself made {counted(total['calls'], 'call')} in the run {kept.id}, {total['cache_hits']} cache hits: "
            f"{total['prompt_tokens']} tokens in, {total['completion_tokens']} out, {usd}; that run stored "
            f"{counted(stored, 'conversation')} and asked {counted(len(record.questions), 'question')}"
        )
    return (
        f"what {system} itself asks models is not counted: no kept run of it made such calls with --memfail-proxy; try one with "
        "--memfail-limit=2"
    )


def run(options: argparse.Namespace) -> int:
    """Print the table of costs."""
    from pytest_memfail.estimate import estimate, stored
    from pytest_memfail.finding import NamedJudge, chosen_suites
    from pytest_memfail.llm import Prices, why_approximate
    from pytest_memfail.report import model_table
    from pytest_memfail.suites import TaskRequest, load_tasks

    chosen = chosen_suites(options.suite and options.suite.split(","), suite_options(options))
    request = TaskRequest(
        options.tasks, folders(options), options.protocol, 42, options.limit, options.haystack, chosen
    )
    tasks = load_tasks(request)
    asks = NamedJudge(options.judge, "--judge", rootdir=Path.cwd()).model(replays=True)
    prices = Prices.from_file(options.prices) if options.prices else Prices()
    if options.repeats < 1:
        raise UsageError(f"--repeats: got {options.repeats}, expected 1 or more")
    rows = estimate(
        tasks,
        judge="offline" if asks is None else options.judge,
        model=options.model,
        k=options.k,
        protocol=options.protocol,
        prices=prices,
        repeats=options.repeats,
        vary=options.vary,
        suites=[one.suite for one in chosen],
    )
    questions = sum(len(task.questions) for task in tasks)
    if options.suite:
        print(f"stored: {stored(tasks)} (a system that calls a model for each conversation pays for these)")
    for note in (task.note for task in tasks if task.note):
        print(f"note: {note}")
    own = OWN_CALLS if options.system is None else measured(options.system, options.cache_dir)
    if options.system is not None:
        size = stored(tasks)
        own += (
            f"; this run stores {counted(size.conversations, 'conversation')} and asks {counted(questions, 'question')}"
        )
    if not rows:
        nothing = (
            "no model is asked, so the run costs nothing"
            if options.system is None
            else "judge and answers ask no model"
        )
        print(f"{counted(questions, 'question')}: {nothing}; {own}")
        return 0
    for line in model_table(rows):
        print(line)
    if (why := why_approximate()) is not None:
        print(f"≈ tokens and USD are approximate: {why}")
    if (turns := next((row for row in rows if row["stage"] == "assistant"), None)) is not None:
        length = turns["completion_tokens"] // turns["calls"]
        own = (
            f"the assistant's turns count {length} tokens each: longer ones cost more, and make memories longer; {own}"
        )
    times = f", each asked {options.repeats} times" if options.repeats > 1 else ""
    print(
        f"{counted(questions, 'question')}{times}; prices of {prices.date}; a system that loses or rewrites memories needs more: "
        f"each fact not found is checked against its whole store; {own}"
    )
    return 0
