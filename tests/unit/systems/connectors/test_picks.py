"""The pages of a listing: which end it, and which show that a server ignores them."""

from __future__ import annotations

import asyncio

import pytest

from pytest_memfail.core import MemorySystemError
from pytest_memfail.systems.connectors.picks import MOST_PAGES, Pages, Pick, all_pages

NOTES = [f"Fact {i}." for i in range(40)]


def read(answer, **pages):
    """Return the texts of a listing whose server answers with `answer(page, offset, cursor)`, and the number of calls."""
    calls = []

    async def fetch(place):
        calls.append(place)
        return answer(**place)

    found = asyncio.run(all_pages(fetch, Pages(**pages), Pick(entries="notes"), "list"))
    return [entry["text"] for entry in found], len(calls)


def part(start):
    return {"notes": NOTES[start : start + 10]}


def test_the_last_page_again_is_the_end():
    assert read(lambda page, **_: part(min(page - 1, 3) * 10), size=10) == (NOTES, 5)
    assert read(lambda page, **_: part(10 * page - 10), size=10) == (NOTES, 5)


@pytest.mark.parametrize(
    ("answer", "pages", "said"),
    [
        (lambda **_: part(0), {"size": 10}, "the same page came twice"),
        (lambda page, **_: part(page % 3 * 10), {"size": 10}, "the same page came twice"),
        (lambda **_: {**part(0), "next": "a"}, {"cursor": "next"}, "the cursor 'a' came twice"),
        (
            lambda cursor, **_: {"notes": [f"after {cursor}"], "next": "a" if cursor == "b" else "b"},
            {"cursor": "next"},
            "the cursor 'b' came twice",
        ),
        (lambda cursor, **_: {"notes": [], "next": "a"}, {"cursor": "next"}, "the cursor 'a' came twice"),
        (
            lambda cursor, **_: {"notes": [f"after {cursor}"], "next": (cursor or 0) + 1},
            {"cursor": "next"},
            f"got {MOST_PAGES:,} pages and no end",
        ),
        (lambda page, **_: {"notes": [f"{page} {i}" for i in range(10)]}, {"size": 10}, "pages and no end"),
    ],
    ids=[
        "ignored",
        "in a circle",
        "cursor ignored",
        "cursors alternate",
        "empty pages",
        "cursors count",
        "pages count",
    ],
)
def test_a_listing_without_an_end_is_an_error(answer, pages, said):
    with pytest.raises(MemorySystemError, match=f"^list: .*{said}"):
        read(answer, **pages)


def test_an_empty_page_with_a_cursor_is_no_end():
    pages = [{**part(0), "next": "b"}, {"notes": [], "next": "c"}, {**part(10), "next": ""}]
    assert read(lambda cursor, **_: pages[" bc".index(cursor or " ")], cursor="next") == (NOTES[:20], 3)
