"""Record the calls of all processes in a run with their cost, and enforce their common budget."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final

from pytest_memfail.core import UsageError
from pytest_memfail.llm.completion import Usage
from pytest_memfail.llm.database import Database
from pytest_memfail.llm.errors import BudgetError
from pytest_memfail.llm.prices import Prices

WHAT: Final = "a ledger of model calls"
KIND: Final = 0x4D464C32
SCHEMA: Final = """
CREATE TABLE spent (
    stage TEXT NOT NULL,
    model TEXT NOT NULL,
    calls INTEGER NOT NULL DEFAULT 0,
    prompt_tokens INTEGER NOT NULL DEFAULT 0,
    completion_tokens INTEGER NOT NULL DEFAULT 0,
    cached_tokens INTEGER NOT NULL DEFAULT 0,
    cache_hits INTEGER NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0,
    seconds REAL NOT NULL DEFAULT 0,
    estimated INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (stage, model)
);
CREATE TABLE reserved (id INTEGER PRIMARY KEY, tokens INTEGER NOT NULL, cost REAL NOT NULL, expires REAL NOT NULL);
CREATE TABLE stopped (budget TEXT PRIMARY KEY);
CREATE TABLE given_up (said TEXT NOT NULL)
"""


@dataclass(frozen=True, slots=True)
class Spent:
    """The calls of one stage to one model."""

    stage: str
    model: str
    calls: int = 0
    """Replies received, including unusable ones; replies from the response cache are not calls."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    """Prompt tokens that the provider had in its own prompt cache; a part of `prompt_tokens`."""
    cache_hits: int = 0
    """Replies from the response cache, or shared with an identical call in flight."""
    failures: int = 0
    """Requests without a reply: refused, dropped, timed out. Includes those whose retry succeeded."""
    seconds: float = 0.0
    """Time spent waiting for replies, summed over parallel calls."""
    estimated: int = 0
    """Replies without a usable count of tokens, whose tokens are those that were expected."""
    cost: float | None = 0.0
    """USD; None if the model's price is unknown."""


COUNTS: Final = tuple(field.name for field in fields(Spent))[2:-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals(Spent):
    """The calls and cost of a run so far: the sums, and what they are sums of."""

    rows: tuple[Spent, ...]
    """By stage and model, sorted."""

    @classmethod
    def of(cls, rows: tuple[Spent, ...]) -> Totals:
        """Add up the rows; the cost is None if a called model has no known price, because a partial sum would look complete."""
        costs = [row.cost for row in rows if row.calls]
        cost = None if None in costs else sum(cost for cost in costs if cost is not None)
        sums: dict[str, Any] = {name: sum(getattr(row, name) for row in rows) for name in COUNTS}
        return cls("", "", **sums, cost=cost, rows=rows)

    def plain(self) -> list[dict[str, Any]]:
        """Return the rows as plain values."""
        names = ("stage", "model", "calls", "cache_hits", "failures", "estimated", "prompt_tokens", "cached_tokens")
        return [{name: getattr(row, name) for name in (*names, "completion_tokens", "cost")} for row in self.rows]


class Ledger:
    """Counts calls and grants them within the budget. Thread-safe."""

    def __init__(
        self,
        path: Path | str | None = None,
        *,
        max_cost: float | None = None,
        max_tokens: int | None = None,
        prices: Prices | None = None,
    ) -> None:
        """Open or create the file that the processes of a run share; None keeps the ledger in memory.

        Args:
            path: a separate file for each run.
            max_cost: USD that all processes together may spend.
            max_tokens: tokens, sent and received, that they may use.
            prices: the prices of models.

        Raises `UsageError` for an invalid budget, or a file that is not a ledger.
        """
        for name, value in (("cost", max_cost), ("tokens", max_tokens)):
            if value is not None and not (math.isfinite(value) and value >= 0):
                raise UsageError(f"got a budget of {value} ({name}), expected a number of 0 or more")
        self.path = None if path is None else Path(path)
        self.prices = prices or Prices()
        self.max_cost = max_cost
        self.max_tokens = max_tokens
        self._given_up: str | None = None
        self._database = Database(self.path, kind=KIND, what=WHAT, schema=SCHEMA)

    @property
    def has_budget(self) -> bool:
        """Return whether calls must be reserved."""
        return self.max_cost is not None or self.max_tokens is not None

    def check_prices(self, models: Iterable[str]) -> None:
        """Raise `UsageError` if the budget is in USD and the price of one of the models is unknown. Call it at the
        start.
        """
        if self.max_cost is None:
            return
        for model in models:
            if self.prices.of(model) is None:
                raise UsageError(
                    f"a budget of {self.max_cost:g} USD cannot be enforced: the price of {model!r} is unknown (table of "
                    f"{self.prices.date}); give its USD per million tokens in a price file (--memfail-prices), or set a "
                    "budget in tokens "
                    "(--memfail-max-tokens)"
                )

    # -- budget ------------------------------------------------------------------------------------------------------

    def reserve(self, model: str, usage: Usage, *, seconds: float) -> int | None:
        """Reserve the expected usage of a call; return a number for `release`, or None for "not yet".

        "Not yet" means that the call fits only after calls in flight have finished; try again then. A reservation
        lapses after
        `seconds`, so that a killed process does not hold it forever.
        Raises `BudgetError` when the budget is used up, and from then on in all processes.
        """
        self.check_prices([model])
        tokens = usage.prompt_tokens + usage.completion_tokens
        cost = self.prices.cost(model, usage) or 0.0
        budget = f"{self.max_cost}/{self.max_tokens}"
        with self._database.transaction() as run:
            if run("SELECT 1 FROM stopped WHERE budget = ?", (budget,)).fetchone():
                raise BudgetError(self._message())
            used_tokens, used_cost = self._used(run)
            if self._exceeds(used_tokens + tokens, used_cost + cost):
                run("INSERT INTO stopped VALUES (?)", (budget,))
                raise BudgetError(self._message())
            now = time.time()
            run("DELETE FROM reserved WHERE expires <= ?", (now,))
            held = run("SELECT coalesce(sum(tokens), 0), coalesce(sum(cost), 0) FROM reserved").fetchone()
            if self._exceeds(used_tokens + tokens + held[0], used_cost + cost + held[1]):
                return None
            row = (tokens, cost, now + seconds)
            return run("INSERT INTO reserved (tokens, cost, expires) VALUES (?, ?, ?)", row).lastrowid

    def release(self, reservation: int) -> None:
        """Release a reservation after the call's actual usage is recorded."""
        self._database.run("DELETE FROM reserved WHERE id = ?", (reservation,))

    # -- the end of waiting -------------------------------------------------------------------------------------------

    def give_up(self, said: str) -> str:
        """Record for all processes that the endpoint is given up; return the first reason recorded."""
        self._database.run("INSERT INTO given_up SELECT ? WHERE NOT EXISTS (SELECT 1 FROM given_up)", (said,))
        return self.given_up() or said

    def given_up(self) -> str | None:
        """Return why the endpoint was given up; None if it was not."""
        if self._given_up is None:
            said = self._database.run("SELECT said FROM given_up")
            self._given_up = str(said[0][0]) if said else None
        return self._given_up

    # -- books -------------------------------------------------------------------------------------------------------

    def record_call(self, stage: str, model: str, usage: Usage, seconds: float) -> None:
        """Record a received reply."""
        self._add(
            stage,
            model,
            calls=1,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            cached_tokens=usage.cached_tokens,
            seconds=seconds,
            estimated=int(not usage.is_reported),
        )

    def record_hit(self, stage: str, model: str) -> None:
        """Record a reply that needed no call."""
        self._add(stage, model, cache_hits=1)

    def record_failure(self, stage: str, model: str) -> None:
        """Record a request without a reply."""
        self._add(stage, model, failures=1)

    def totals(self) -> Totals:
        """Return what all processes have used so far."""
        rows = self._database.run(f"SELECT stage, model, {', '.join(COUNTS)} FROM spent ORDER BY stage, model")
        return Totals.of(tuple(replace(Spent(*row), cost=self.prices.cost(row[1], Usage(*row[3:6]))) for row in rows))

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def _add(self, stage: str, model: str, **amounts: float) -> None:
        names = ", ".join(amounts)
        marks = ", ".join("?" * len(amounts))
        sums = ", ".join(f"{name} = {name} + excluded.{name}" for name in amounts)
        self._database.run(
            f"INSERT INTO spent (stage, model, {names}) VALUES (?, ?, {marks}) "
            f"ON CONFLICT (stage, model) DO UPDATE SET {sums}",
            (stage, model, *amounts.values()),
        )

    def _used(self, run: Callable[..., Any]) -> tuple[int, float]:
        tokens, cost = 0, 0.0
        fields = "sum(prompt_tokens), sum(completion_tokens), sum(cached_tokens)"
        for model, *sums in run(f"SELECT model, {fields} FROM spent GROUP BY model"):
            usage = Usage(*sums)
            tokens += usage.prompt_tokens + usage.completion_tokens
            cost += self.prices.cost(model, usage) or 0.0
        return tokens, cost

    def _exceeds(self, tokens: int, cost: float) -> bool:
        return (self.max_tokens is not None and tokens > self.max_tokens) or (
            self.max_cost is not None and cost > self.max_cost
        )

    def _message(self) -> str:
        limits = [f"{self.max_cost:g} USD"] if self.max_cost is not None else []
        limits += [f"{self.max_tokens} tokens"] if self.max_tokens is not None else []
        return f"budget: {' or '.join(limits)} used up; not asked"
