"""Prices: the table, snapshots, and the user's own."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from pytest_memfail.core import UsageError
from pytest_memfail.llm import Price, Prices, Usage
from pytest_memfail.llm.prices import PRICES


def test_the_table_is_dated_and_plausible() -> None:
    assert date.fromisoformat(Prices.date) <= date.today()
    for model, price in PRICES.items():
        if "embedding" in model:
            assert 0 == price.output < price.input, model
            continue
        assert price.cached_input is not None, model
        assert 0 < price.cached_input <= price.input < price.output, model


def test_a_snapshot_costs_what_its_family_costs() -> None:
    assert Prices().of("gpt-5-mini-2025-08-07") == Prices().of("gpt-5-mini") != None  # noqa: E711 - in one line


@pytest.mark.parametrize("model", ["llama3.1:8b", "gpt-5-mini-turbo", ""])
def test_an_unknown_model_has_no_price(model: str) -> None:
    assert Prices().of(model) is None
    assert Prices().cost(model, Usage(1, 1)) is None


def test_the_cost_tells_cached_from_fresh_input() -> None:
    usage = Usage(prompt_tokens=1_000_000, completion_tokens=100_000, cached_tokens=600_000)
    assert Price(input=1.0, cached_input=0.1, output=5.0).of(usage) == pytest.approx(0.4 + 0.06 + 0.5)
    assert Price(input=1.0, output=5.0).of(usage) == pytest.approx(1.0 + 0.5)


def test_own_prices_come_first() -> None:
    prices = Prices({"gpt-5-mini": {"input": 9, "output": 9}, "mine": {"input": 0, "output": 0}})
    assert prices.of("gpt-5-mini") == Price(input=9, output=9)
    assert prices.cost("mine", Usage(10, 10)) == 0
    assert prices.of("gpt-5") is not None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("prices.json", json.dumps({"my.model": {"input": 0.5, "cached_input": 0.1, "output": 2}})),
        ("prices.toml", '["my.model"]\ninput = 0.5\ncached_input = 0.1\noutput = 2\n'),
    ],
)
def test_own_prices_are_read_from_a_file(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert Prices.from_file(tmp_path / name).of("my.model") == Price(input=0.5, cached_input=0.1, output=2)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not a price file"),
        ("[]", "got list"),
        ('{"m": 1}', "m: got 1"),
        ('{"m": {"input": 1}}', "output is missing"),
        ('{"m": {"input": 1, "output": "2"}}', "output: got '2'"),
        ('{"m": {"input": -1, "output": 2}}', "input: got -1"),
        ('{"m": {"input": true, "output": 2}}', "input: got True"),
        ('{"m": {"input": NaN, "output": 2}}', "input: got nan"),
        ('{"m": {"input": 1, "output": 2, "price": 3}}', "unknown price"),
    ],
)
def test_a_bad_price_file_is_a_usage_error_that_names_the_place(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "prices.json"
    file.write_text(text)
    with pytest.raises(UsageError) as caught:
        Prices.from_file(file)
    assert str(file) in str(caught.value)
    assert said in str(caught.value)


def test_a_missing_price_file_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.toml: not a price file: No such file or directory$"):
        Prices.from_file(tmp_path / "none.toml")


def test_a_dotted_name_without_quotes_is_explained(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text("[gpt-9.1]\ninput = 1\noutput = 2\n")
    with pytest.raises(UsageError, match="in quotes"):
        Prices.from_file(tmp_path / "p.toml")
