"""Generate more rows.

Generate more rows of a suite with any OpenAI-compatible model (OPENAI_BASE_URL, OPENAI_API_KEY). Rows are checked, and
near-duplicates dropped. Repeat the command to continue an interrupted run.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_memfail.cli.arguments import PRICES, Arguments
from pytest_memfail.cli.judging import INTERRUPTED, show
from pytest_memfail.core import UsageError, counted

if TYPE_CHECKING:
    from pytest_memfail.authoring import DrawnRecipe, Generation, Report
    from pytest_memfail.llm import Ledger, Prices

TIMEOUT_SECONDS: Final = 300.0
"""A batch of essays from a reasoning model takes minutes."""
SHOWN: Final = 5


def add(argument: Arguments) -> None:
    """Declare the arguments of the command."""
    argument(
        "task TASK",
        "what to generate: a suite's recipe, such as conditional_facts, meme (episodes) or mab_forgetting (numbered facts); "
        "a wrong name lists all",
    )
    argument("-n --n N", "number of rows or episodes", int)
    argument("--model NAME", "the model that writes the rows")
    argument("--facts N", "mab_forgetting: number of facts", int)
    argument("-o --out DIR", "the folder for the rows", Path, required=True)
    argument("--seed S", "selects the subjects of the rows", int, 42)
    said = "ours: one essay per name, and no essay about a stranger in a question; paper: the published 30 names"
    argument("--design", said, ("ours", "paper"), "ours")
    argument("--estimate", "only print calls, tokens and cost")
    argument("--max-cost USD", "never spend more than this", float)
    argument(*PRICES)
    argument("--batch-size N", "rows per request (default: depends on the task)", int)
    argument("--fillers N", "meme: sessions without facts per episode", int, 4)
    argument("--concurrency N", "calls in flight", int, 8)
    argument("--force", "overwrite existing rows")


def run(options: argparse.Namespace) -> int:
    """Print the estimate, generate the rows, and print the result."""
    from pytest_memfail.authoring import DrawnRecipe, Generation, Request
    from pytest_memfail.finding import find_recipe
    from pytest_memfail.llm import Ledger, Prices

    suite, recipe = find_recipe(options.task)
    if isinstance(recipe, DrawnRecipe):
        return _draw(recipe, options)
    given = {"-n/--n": options.n, "--model": options.model}
    if missing := [name for name, value in given.items() if value is None]:
        options.error(f"the following arguments are required: {', '.join(missing)}")
    if options.facts is not None:
        raise UsageError(f"--facts: got {options.facts} for {options.task}, whose rows a model writes; expected -n")
    prices = Prices.from_file(options.prices) if options.prices else Prices()
    request = Request(
        options.task, options.n, options.model, options.seed, options.design, options.batch_size, options.fillers
    )
    generation = Generation(suite, recipe, request, options.out, force=options.force or options.estimate)
    ledger = Ledger(max_cost=options.max_cost, prices=prices)
    try:
        print(_estimated(generation, prices, options), flush=True)
        if options.estimate:
            return 0
        report = asyncio.run(_asked(generation, ledger, options.concurrency))
    except KeyboardInterrupt:
        print("\nmemfail: interrupted; repeat the command to continue", file=sys.stderr)
        return INTERRUPTED
    finally:
        show("")
        ledger_line = _spent(ledger)
        ledger.close()
        if ledger_line:
            print(ledger_line)
    return _print_report(report, options.out)


def _draw(recipe: DrawnRecipe, options: argparse.Namespace) -> int:
    """Write numbered facts and questions about them, without a model."""
    for name, value in {"-n": options.n, "--model": options.model}.items():
        if value is not None:
            raise UsageError(f"{name}: got {value} for {options.task}, expected --facts: no model writes these rows")
    if options.facts is None:
        raise UsageError(f"--facts: got nothing for {options.task}, expected the number of facts, such as --facts 455")
    for source, questions in recipe.write(options.out, options.facts, options.seed, options.force):
        print(f"{source}: {counted(questions, 'question')} about {counted(options.facts, 'fact')}")
    return 0


def _estimated(generation: Generation, prices: Prices, options: argparse.Namespace) -> str:
    if options.max_cost is not None and prices.of(options.model) is None:
        raise UsageError(
            f"--max-cost: the price of {options.model!r} is unknown (table of {prices.date}); give its USD per million tokens in a "
            "file (--prices)"
        )
    from pytest_memfail.llm import why_approximate

    estimate = generation.estimate(prices)
    if options.max_cost is not None and not options.estimate and (estimate.cost or 0.0) > options.max_cost:
        raise UsageError(
            f"--max-cost: got {options.max_cost:g} USD, expected at least {estimate.cost:.4f}, the estimate; "
            "raise it, lower -n, or use a cheaper model"
        )
    why = why_approximate()
    return str(estimate) if why is None else f"{estimate}\n≈ tokens and USD are approximate: {why}"


async def _asked(generation: Generation, ledger: Ledger, concurrency: int) -> Report:
    from pytest_memfail.llm import ModelClient

    client = ModelClient(ledger=ledger, concurrency=concurrency, timeout_seconds=TIMEOUT_SECONDS)
    try:
        return await generation.run(client, lambda stage, done, total: show(f"{stage}: {done} of {total}"))
    finally:
        await client.close()


def _spent(ledger: Ledger) -> str:
    totals = ledger.totals()
    if not totals.calls:
        return ""
    cost = "unknown price" if totals.cost is None else f"{totals.cost:.4f} USD"
    return f"{counted(totals.calls, 'call')}, {totals.prompt_tokens} tokens in, {totals.completion_tokens} out, {cost}"


def _print_report(report: Report, folder: Path) -> int:
    made = report.made
    for what, why in list(report.given_up.items())[:SHOWN]:
        print(f"left out: {what}: {why}")
    if (more := len(report.given_up) - SHOWN) > 0:
        print(f"left out: {more} more, listed in {folder / 'generation_config.json'}")
    for warning in report.warnings:
        print(f"{Path(warning.file).name}: warning: {warning.place}: {warning.problem}")
    print(made.summary)
    for name, rows in made.files.items():
        print(f"{folder / name}: {counted(len(rows), 'row')}")
    return 0
