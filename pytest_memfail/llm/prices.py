"""The prices of models at a date; a user's own prices override them."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pytest_memfail.core import UsageError, json_of, os_reason
from pytest_memfail.llm.completion import Usage

FIELDS: Final = ("input", "cached_input", "output")
_SNAPSHOT: Final = re.compile(r"-\d{4}-\d{2}-\d{2}$")


@dataclass(frozen=True, slots=True)
class Price:
    """USD per million tokens."""

    input: float
    output: float
    cached_input: float | None = None
    """None if cached input has no discount."""

    def of(self, usage: Usage) -> float:
        """Return the cost of this usage, in USD."""
        cached = self.input if self.cached_input is None else self.cached_input
        fresh = usage.prompt_tokens - usage.cached_tokens
        return (fresh * self.input + usage.cached_tokens * cached + usage.completion_tokens * self.output) / 1e6


PRICES_DATE: Final = "2026-06-30"
PRICES: Final = {
    model: Price(**usd)
    for model, usd in json_of(Path(__file__).with_name("prices.json").read_text(encoding="utf-8")).items()
}
"""The providers' public list prices at that date, without batch, priority or regional rates."""


class Prices:
    """Looks up prices: the user's own first, then the table. An unknown model has None, never 0."""

    date: Final = PRICES_DATE
    """The date of the table (ISO 8601)."""

    def __init__(self, own: Mapping[str, Any] | None = None, *, origin: str = "prices") -> None:
        """Take the user's own prices: model name to `{"input": USD, "cached_input": USD, "output": USD}` per million.

        Raises `UsageError` for an invalid price; `origin` names the source in its message.
        """
        self._own = {model: _price(model, value, origin) for model, value in (own or {}).items()}

    @classmethod
    def from_file(cls, path: Path) -> Prices:
        """Read own prices from a `.json` or `.toml` file.

        Raises `UsageError` if it cannot be read.
        """
        try:
            text = path.read_text(encoding="utf-8")
            own = json_of(text) if path.suffix == ".json" else _parse_toml(text)
        except (OSError, ValueError) as error:  # the errors of both formats are ValueErrors
            raise UsageError(f"{path}: not a price file: {os_reason(error)}") from None
        if not isinstance(own, dict):
            raise UsageError(f"{path}: got {type(own).__name__}, expected a table of model names")
        return cls(own, origin=str(path))

    def of(self, model: str) -> Price | None:
        """Return the price of the model; a dated snapshot has the price of its family."""
        for name in (model, _SNAPSHOT.sub("", model)):
            if price := self._own.get(name) or PRICES.get(name):
                return price
        return None

    def cost(self, model: str, usage: Usage) -> float | None:
        """Return the cost of the usage in USD; None if the model's price is unknown."""
        price = self.of(model)
        return None if price is None else price.of(usage)


def _price(model: str, value: object, origin: str) -> Price:
    if isinstance(value, Price):
        return value
    where = f"{origin}: {model}"
    if not isinstance(value, Mapping):
        raise UsageError(f"{where}: got {value!r}, expected {', '.join(FIELDS)} in USD per million tokens")
    if unknown := sorted(set(value) - set(FIELDS)):
        hint = "; a name with a dot is written in quotes" if origin.endswith(".toml") else ""
        raise UsageError(f"{where}: unknown {', '.join(map(str, unknown))}; expected {', '.join(FIELDS)}{hint}")
    for name in ("input", "output"):
        if name not in value:
            raise UsageError(f"{where}: {name} is missing; expected USD per million tokens")
    for name, amount in value.items():
        if isinstance(amount, bool) or not isinstance(amount, int | float) or not math.isfinite(amount) or amount < 0:
            raise UsageError(f"{where}: {name}: got {amount!r}, expected USD per million tokens, 0 or more")
    return Price(**value)


def _parse_toml(text: str) -> Any:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib  # comes with pytest on Python 3.10
    return tomllib.loads(text)
