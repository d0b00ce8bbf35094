"""Generate rows: estimate the cost, reuse earlier replies, request the rest, write the files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from pytest_memfail.authoring import output
from pytest_memfail.authoring.asking import Session, Show
from pytest_memfail.authoring.raw import Raw
from pytest_memfail.authoring.recipe import Made, Recipe, Request, Work
from pytest_memfail.core import MemfailError, Suite, SuiteFault, UsageError, counted
from pytest_memfail.llm import ModelClient, Prices, Usage
from pytest_memfail.rows import PERMUTATIONS

MOST_ROWS: Final = 3600
"""The number of names for people; ids have no room for many more either."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The expected requests of a run."""

    work: tuple[Work, ...]
    model: str
    cost: float | None
    """USD; None if the price of the model is unknown."""
    prices_date: str

    @property
    def calls(self) -> int:
        """Return the number of calls if nothing is rejected."""
        return sum(work.calls for work in self.work)

    def __str__(self) -> str:
        prompt, reply = sum(w.prompt_tokens for w in self.work), sum(w.reply_tokens for w in self.work)
        cost = "unknown cost" if self.cost is None else f"{self.cost:.4f} USD (prices of {self.prices_date})"
        return (
            f"estimate for {self.model}: {counted(self.calls, 'call')}, {prompt} tokens in, {reply} out, {cost}; "
            "without reasoning tokens, and more if replies are rejected"
        )


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a run."""

    made: Made
    given_up: Mapping[str, str]
    """Items that were given up, and why."""
    warnings: tuple[SuiteFault, ...]
    """The warnings of `memfail validate` about the rows."""


class Generation:
    """One run of the generator in one folder."""

    def __init__(self, suite: Suite, recipe: Recipe, request: Request, folder: Path, *, force: bool = False) -> None:
        """Draw the subjects and read the replies of an earlier run, without requesting or writing anything.

        Raises `UsageError` for an invalid number, existing rows, or a raw file with other settings.
        """
        if not 1 <= request.n <= MOST_ROWS:
            raise UsageError(f"-n: got {request.n}, expected 1 to {MOST_ROWS}")
        if request.batch_size is not None and request.batch_size < 1:
            raise UsageError(f"--batch-size: got {request.batch_size}, expected 1 or more")
        output.check_free(folder, recipe.files, force=force)
        self._suite = suite
        self._request = request
        self._folder = folder
        self._maker = recipe.begin(request)
        settings = {"task": request.task, "seed": request.seed, "model": request.model, "design": request.design}
        self._raw = Raw(folder / "raw" / f"{request.task}.jsonl", settings, replace=force)

    def estimate(self, prices: Prices) -> Estimate:
        """Return the remaining requests and their possible cost."""
        work = tuple(self._maker.plan(self._raw))
        usage = Usage(sum(w.prompt_tokens for w in work), sum(w.reply_tokens for w in work))
        model = self._request.model
        return Estimate(work, model, prices.cost(model, usage), prices.date)

    async def run(self, client: ModelClient, show: Show | None = None) -> Report:
        """Request what is missing, and write the files.

        Raises `MemfailError`. The raw file keeps everything accepted until then, and the next run continues from it.
        """
        session = Session(client, self._request.model, self._raw, show)
        with self._raw:
            made = await self._maker.make(session)
        if not all(made.files.values()):
            raise MemfailError(f"no row is left to write ({made.summary}); try another model")
        account = self._account(made, session, client)
        warnings = output.write(self._folder, self._suite, self._request.task, made.files, account)
        return Report(made, session.given_up, tuple(warnings))

    def _account(self, made: Made, session: Session, client: ModelClient) -> dict[str, Any]:
        totals = client.ledger.totals()
        request = self._request
        return {
            "generator": f"pytest-memfail {version('pytest-memfail')}",
            "git_commit": output.git_commit(),
            "date": datetime.now(timezone.utc).date().isoformat(),
            "model": request.model,
            "seed": request.seed,
            "design": request.design,
            "rows_asked_for": request.n,
            "deduplication": {
                "method": "MinHash LSH",
                "permutations": PERMUTATIONS,
                "shingle": "3 words",
                "thresholds": dict(made.thresholds),
            },
            "counts": dict(made.counts),
            "near_duplicates": list(made.repeats),
            "given_up": dict(session.given_up),
            "last_run": {
                "calls": totals.calls,
                "prompt_tokens": totals.prompt_tokens,
                "completion_tokens": totals.completion_tokens,
                "cost_usd": totals.cost,
            },
        }
