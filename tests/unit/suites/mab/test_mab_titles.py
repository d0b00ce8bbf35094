"""suites/mab/titles.py: the titles of a table, what an answer recommends, and Recall@5."""

from __future__ import annotations

import json
from random import Random

import pytest

from pytest_memfail.suites.mab import shipped_rows
from pytest_memfail.suites.mab.titles import Titles, distance, read_titles, recall, recommended, title_in

TABLE = Titles({"The Salt Road (1998)": 7, "<http://pages.example/Odero_(film)>": 9, "Odera": 11, "Eel-Lane": 13})
KNOWN = json.loads((shipped_rows() / "entity2id.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("The Salt Road (1998)", "The Salt Road"),
        ("<http://pages.example/resource/Nine_Winters-in_Hask>", "Nine Winters in Hask"),
        ("  Half  a   Comet ", "Half a Comet"),
    ],
)
def test_title(name, title):
    assert title_in(name) == title


@pytest.mark.parametrize(
    ("answer", "names"),
    [
        ("1. Odero\n2. Eel Lane", ["Odero", "Eel Lane"]),
        ("Gladly:\n\n1) **Odero** (1998)\n\n2) *Eel Lane*\n", ["Odero", "Eel Lane"]),
        ("Odero, Eel Lane", ["Odero", "Eel Lane"]),
        ("- Odero\n- 12 Angry Geese", ["Odero", "12 Angry Geese"]),
        ("1. 9 Winters\n2. Apollo 11.", ["9 Winters", "Apollo 11."]),
        ("", []),
    ],
)
def test_recommended(answer, names):
    assert recommended(answer) == names


def test_nearest_is_by_edits_and_then_by_the_order_of_the_file():
    assert [TABLE.nearest(name) for name in ("odero", "ODERA", "Salt Road", "eel lanes")] == [
        "Odero",
        "Odera",
        "The Salt Road",
        "Eel Lane",
    ]
    assert TABLE.nearest("Oder") == TABLE.nearest("Odery") == "Odero"
    assert Titles({"Odera": 1, "Odero": 2}).nearest("Oder") == "Odera"


def by_table(one, other):
    """The edit distance as its definition has it."""
    rows = [[i + j if not i or not j else 0 for j in range(len(other) + 1)] for i in range(len(one) + 1)]
    for i, a in enumerate(one, 1):
        for j, b in enumerate(other, 1):
            rows[i][j] = min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (a != b))
    return rows[-1][-1]


def test_distance_is_that_of_its_definition():
    random = Random(3)
    for _ in range(2000):
        one, other = ("".join(random.choice("abc\u00e9") for _ in range(random.randrange(9))) for _ in range(2))
        assert distance(one, other) == by_table(one, other)
    long = "the salt road " * 9
    assert distance(long, long[5:] + "x") == by_table(long, long[5:] + "x")


def test_the_bounds_leave_no_nearer_title_out():
    table, random = read_titles(shipped_rows() / "entity2id.json"), Random(7)
    titles = list(table.by_id.values())
    for _ in range(60):
        letters = list(random.choice(titles))
        for _ in range(random.randrange(9)):
            letters[random.randrange(len(letters))] = random.choice("abcdefg \u00e9")
        name = "".join(letters)
        assert table.nearest(name) == min(titles, key=lambda title: distance(name.lower(), title.lower()))


def test_recall_counts_the_first_five():
    fifth = "1. Eel Lane\n2. Eel Lane\n3. Eel Lane\n4. Eel Lane\n5. Odero\n6. Odera"
    assert recall(TABLE, ("Odero", "Odera"), fifth) == 0.5
    assert recall(TABLE, ("The Salt Road",), "1. The Saltroad (1998)") == 1.0
    assert recall(TABLE, ("Odero",), "") == 0.0
