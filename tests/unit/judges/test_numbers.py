"""Quantities: the same number in other words, its unit, the side of a limit, and the time of day."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from pytest_memfail.judges.offline.english import plain, tokens_of
from pytest_memfail.judges.offline.numbers import Quantity, quantities

FEW = settings(max_examples=60, deadline=None, database=None, derandomize=True)


def read(text: str) -> tuple[Quantity, ...]:
    text = plain(text)
    return quantities(text, tokens_of(text))


def one(text: str) -> Quantity:
    (found,) = read(text)
    return found


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("at 9 pm", "at 21:00"),
        ("at 9 p.m.", "at 9pm"),
        ("at 9:30 p.m.", "at 21:30"),
        ("at half past eight", "at 8:30"),
        ("at quarter to nine", "at 8:45"),
        ("at noon", "at 12 pm"),
        ("at midnight", "at 12 am"),
        ("two hours", "120 minutes"),
        ("half an hour", "30 minutes"),
        ("two and a half hours", "150 minutes"),
        ("a fortnight", "14 days"),
        ("2.5 km", "2,500 metres"),
        ("5 kg", "5000 grams"),
        ("twenty-one days", "three weeks"),
        ("two hundred and five pages", "205 pages"),
        ("£20", "20 pounds"),
        ("20 %", "twenty percent"),
        ("-5 degrees", "minus five degrees"),
        ("a dozen eggs", "12 eggs"),
        ("the third floor", "the 3rd floor"),
        ("14 March", "March 14"),
    ],
)
def test_the_same_quantity_in_other_words(text: str, other: str) -> None:
    assert one(text).same(one(other))
    assert one(other).same(one(text))


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("at 9 pm", "at 9 am"),
        ("at 9:30 p.m.", "at 9:30 a.m."),
        ("at 21:00", "at 22:00"),
        ("at half past eight", "at 8 pm"),
        ("two hours", "two days"),
        ("5 kg", "5 metres"),
        ("5 kg", "6 kg"),
        ("-5 degrees", "5 degrees"),
        ("20 %", "20 km"),
        ("three eggs", "four eggs"),
        ("twenty-one days", "twenty days"),
        ("1,000 pages", "1 page"),
    ],
)
def test_another_quantity(text: str, other: str) -> None:
    assert not one(text).same(one(other))
    assert not one(other).same(one(text))


@pytest.mark.parametrize("word", ["at least", "more than", "over", "no fewer than", "no less than", "above"])
def test_a_lower_limit(word: str) -> None:
    assert one(f"it takes {word} 5 kg").side == 1


@pytest.mark.parametrize("word", ["at most", "less than", "under", "up to", "no more than", "not more than", "below"])
def test_an_upper_limit(word: str) -> None:
    assert one(f"it takes {word} 5 kg").side == -1


@pytest.mark.parametrize(
    ("text", "side"), [("5 or more", 1), ("5 or fewer", -1), ("5 kg", 0), ("> 5 kg", 1), ("≤ 5 kg", -1)]
)
def test_a_limit_behind_the_number_or_as_a_sign(text: str, side: int) -> None:
    assert one(text).side == side


@pytest.mark.parametrize(
    ("text", "side"), [("before 9 pm", -1), ("after 9 pm", 1), ("until 21:00", -1), ("not before 9 pm", 1)]
)
def test_a_limit_of_time(text: str, side: int) -> None:
    assert one(text).side == side


def test_the_limit_of_one_number_is_not_that_of_the_next() -> None:
    first, second = read("at least two eggs and then later on 5 kg of flour")
    assert (first.side, second.side) == (1, 0)


@pytest.mark.parametrize("text", ["a second chance came", "hold on a second", "Quillon bakes", "room", "", "per cent"])
def test_no_quantity(text: str) -> None:
    assert [q for q in read(text) if q.unit in ("time", "%")] == []


def test_quantities_come_in_order_with_their_text() -> None:
    text = "Two eggs at 9 pm, then 5 kg of flour in 30 minutes."
    assert [q.text for q in read(text)] == ["Two", "9 pm", "5 kg", "30 minutes"]
    assert [q.at for q in read(text)] == sorted(q.at for q in read(text))


def test_only_quantities_of_one_measure_contradict_each_other() -> None:
    assert one("5 kg").comparable(one("6 grams"))
    assert not one("5 kg").comparable(one("6 metres"))
    assert one("at 9 pm").comparable(one("at 10:30"))
    assert one("three eggs").comparable(one("four eggs"))
    assert not one("three eggs").comparable(one("four geese"))


@pytest.mark.parametrize(
    "text",
    ["9" * 400, "1,2,3.4.5:6:7", "1e999", "12:", "9:75", "½ ²³", "٣:١٥", "hundred " * 400, "million " * 60, "25:99 pm"],
)
def test_odd_numbers_are_read_without_an_error(text: str) -> None:
    for found in read(f"at least {text} kg"):
        assert found.same(found) or found.value in (float("inf"), float("-inf"))


@FEW
@given(st.integers(0, 23), st.integers(0, 59))
def test_every_time_of_day_is_the_same_on_both_clocks(hour: int, minute: int) -> None:
    half = "am" if hour < 12 else "pm"
    assert one(f"at {hour:02}:{minute:02}").same(one(f"at {hour % 12 or 12}:{minute:02} {half}"))
    assert not one(f"at {hour % 12 or 12}:{minute:02} am").same(one(f"at {hour % 12 or 12}:{minute:02} pm"))


UNITS = st.sampled_from(
    ["kg", "grams", "km", "minutes", "hours", "days", "litres", "euros", "%", "degrees", "eggs", "pages"]
)


@FEW
@given(st.integers(2, 9999), UNITS)
def test_a_quantity_is_the_same_as_itself_and_no_other(number: int, unit: str) -> None:
    assert one(f"{number} {unit}").same(one(f"about {number} {unit}"))
    assert not one(f"{number} {unit}").same(one(f"{number * 2} {unit}"))


@FEW
@given(st.text("0123456789 :.,-%£kgpam half past to and hundred", max_size=40))
def test_any_text_is_read_without_an_error(text: str) -> None:
    for found in read(text):
        assert found.side in (-1, 0, 1)
        assert found.text in plain(text)
