"""grading/answers.py: a value may be written in many ways, but never with another number, name or negation."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings, strategies as st

from pytest_memfail.grading import Entries, contains, names, same

NAMES = "Bramwell Corvane Dunlop Esker Fenwick Garrow Hollin Idris Jessop Kestrel Lorne Marlow".split()
THINGS = "lantern gravel ribbon copper saddle harbour willow candle marble basket".split()
NUMBERS = {3: "three", 7: "seven", 12: "twelve", 19: "nineteen", 34: "thirty-four", 58: "fifty-eight", 81: "eighty-one"}
"""Without round tens: "twenty three" is 23."""

name, thing = st.sampled_from(NAMES), st.sampled_from(THINGS)
number = st.sampled_from(sorted(NUMBERS))
part = st.one_of(name, thing, number)
value = st.lists(part, min_size=2, max_size=5, unique=True)
around = st.sampled_from(
    ["{}", "The plan is {}.", "Noted: {}", "## Setup\n- {}\n- more below", "it is {} these days, they say"]
)
join = st.sampled_from([" ", ", ", " and ", " + ", " & ", "; ", " / ", " (", ": ", " - "])


def written(parts, joins, *, spelled, article, upper):
    """One way to write the parts of a value."""
    words = [str(NUMBERS[p] if spelled and isinstance(p, int) else p) for p in parts]
    text = words[0] + "".join(a + b for a, b in zip(joins, words[1:], strict=True))
    text += ")" * text.count("(")
    return (
        (f"{article} {text}" if article else text).replace("  ", " ").upper() if upper else f"{article} {text}".strip()
    )


ways = st.fixed_dictionaries(
    {"spelled": st.booleans(), "article": st.sampled_from(["", "the", "a"]), "upper": st.booleans()}
)


@settings(deadline=None, max_examples=200)
@given(value, st.lists(join, min_size=4, max_size=4), st.lists(join, min_size=4, max_size=4), ways, ways, around)
def test_the_same_value_in_another_spelling(parts, ones, others, way, other_way, text):
    one = written(parts, ones[: len(parts) - 1], **way)
    other = written(parts, others[: len(parts) - 1], **other_way)
    assert same(one, other), (one, other)
    assert contains(one, text.format(other)), (one, other)


@settings(deadline=None, max_examples=200)
@given(value, st.data(), st.lists(join, min_size=4, max_size=4), ways, around)
def test_a_changed_part_never_passes(parts, data, joins, way, text):
    """One name, number or thing is exchanged, or two change places."""
    at = data.draw(st.integers(0, len(parts) - 1))
    kind = {int: number, str: name if parts[at] in NAMES else thing}[type(parts[at])]
    other = [*parts]
    other[at] = data.draw(kind)
    assume(other[at] not in parts)
    one, changed = written(parts, joins[: len(parts) - 1], **way), written(other, joins[: len(parts) - 1], **way)
    assert not same(one, changed)
    assert not contains(one, text.format(changed))
    assert Entries([text.format(changed)]).hits(one) == []


@settings(deadline=None, max_examples=200)
@given(
    value,
    st.lists(join, min_size=4, max_size=4),
    ways,
    st.sampled_from(["not {}", "no {}", "never {}", "without {}", "it isn't {}", "we do not use the {}", "neither {}"]),
)
def test_a_denied_value_never_passes(parts, joins, way, denial):
    one = written(parts, joins[: len(parts) - 1], **way)
    assert not same(one, denial.format(one))
    assert not contains(one, denial.format(one))
    assert Entries([denial.format(one)]).hits(one) == []
    assert names(one, denial.format(one))


@settings(deadline=None, max_examples=100)
@given(value, st.data(), st.sampled_from(["not", "never", "without"]))
def test_a_negation_within_never_passes_nor_goes_missing(parts, data, negation):
    at = data.draw(st.integers(1, len(parts) - 1))
    words = [str(part) for part in parts]
    plain, denied = " ".join(words), " ".join([*words[:at], negation, *words[at:]])
    for wanted, text in ((plain, denied), (denied, plain)):
        assert not same(wanted, text)
        assert not contains(wanted, text)
        assert Entries([text]).hits(wanted) == []
    assert contains(denied, f"They say {denied}.")


@pytest.mark.parametrize(
    ("value", "text", "gives"),
    [
        ("3.5 GB", "3.5GB of it", True),
        ("3.5 GB", "3 to 5 GB", False),
        ("1,200 GB", "1200 GB", True),
        ("1,200 GB", "12,000 GB", False),
        ("-18 degrees", "18 degrees", False),
        ("50+ guests", "50 guests", False),
        ("C++", "C", False),
        ("15%", "15 percent", True),
        ("twenty-one days", "21 days", True),
        ("twenty, one song", "21 song", False),
        ("9:00", "at 09:00", True),
        ("12", "1 2", False),
        ("on-call pair", "oncall pair", True),
        ("follow-the-sun", "follow the sun", True),
        ("primary + secondary", "primary or secondary", False),
        ("James Lorrigan", "James Petch and Anna Lorrigan", False),
        ("James Lorrigan", "Anna Lorrigan, James Petch", False),
        ("James Lorrigan", "Lorrigan, James", True),
        ("two parts flour, three parts oats", "three parts flour, two parts oats", False),
        ("Lissom", "not the Brannock but the Lissom", True),
        ("Lissom", "not only the Lissom", True),
        ("Lissom", "don't forget the Lissom", True),
    ],
)
def test_values_in_memories(value, text, gives):
    assert bool(Entries([text]).hits(value)) is gives


@pytest.mark.parametrize("text", ["no longer the Lissom", "the Lissom is no longer used", "the Lissom isn't used"])
def test_a_reply_does_not_give_what_it_says_has_ended_but_a_history_holds_it(text):
    assert not contains("the Lissom", text)
    assert Entries([text]).hits("the Lissom")
