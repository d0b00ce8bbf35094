"""The memories within a reply, and the pages of a listing. Paths are JMESPath."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, Final

import jmespath
from jmespath.exceptions import JMESPathError
from pydantic import AfterValidator, Field, model_validator

from pytest_memfail.core import MemorySystemError, WrongTypeError, one_line
from pytest_memfail.systems.connectors.config import JmesPath, Part

MOST_PAGES: Final = 1_000


def _expression(value: str) -> str:
    try:
        re.compile(value)
    except re.error as error:
        raise ValueError(f"a regular expression ({error})") from None
    return value


class Pick(Part):
    """Where a reply has the memories."""

    entries: Annotated[JmesPath, Field(description="The list of memories")] = "@"
    split: Annotated[
        Annotated[str, AfterValidator(_expression)] | None,
        Field(description="A regular expression that separates memories, where `entries` is a text"),
    ] = None
    text: Annotated[JmesPath, Field(description="The text, in an entry")] = "not_null(text, memory, content)"
    id: JmesPath | None = "id"
    score: Annotated[JmesPath | None, Field(description="Higher is better; null where lower is")] = "score"
    time: JmesPath | None = "not_null(timestamp, created_at)"


class Pages(Part):
    """How to get the next page of a listing: by `cursor`, or until a page has fewer than `size` entries."""

    cursor: Annotated[JmesPath | None, Field(description="Where a reply has the {cursor} of the next page")] = None
    size: Annotated[int | None, Field(ge=1, description="Entries of a full page; use {page} or {offset}")] = None
    first: Annotated[int, Field(ge=0, description="The number of the first {page}")] = 1

    @model_validator(mode="after")
    def _one_way(self) -> Pages:
        if (self.cursor is None) == (self.size is None):
            raise ValueError("one of `cursor` and `size`")
        return self


def picked(reply: Any, pick: Pick, what: str) -> list[dict[str, Any]]:
    """Return the memories within a reply; `what` names the call in errors.

    Raises `WrongTypeError` if the reply does not have the form that the pick expects, because it must not look like an empty memory.
    """
    entries = _at(reply, pick.entries, what)
    if isinstance(entries, str) and pick.split is not None:
        entries = [part.strip() for part in re.split(pick.split, entries) if part.strip()]
    if not isinstance(entries, list):
        raise WrongTypeError(
            f"{what}: the pick {pick.entries!r} finds {_shown(entries)} in {_shown(reply)}; expected a list of memories"
        )
    return [_entry(entry, i, pick, what) for i, entry in enumerate(entries)]


async def all_pages(
    fetch: Callable[[Mapping[str, Any]], Awaitable[Any]], pages: Pages | None, pick: Pick, what: str
) -> list[dict[str, Any]]:
    """Return the memories of all pages; `fetch` gets the variables `page`, `offset` and `cursor`.

    Beyond the end many servers give the last page again, which ends a listing of numbered pages. Raises
    `MemorySystemError` if a page or cursor comes twice otherwise, because the server then ignores the variables.
    """
    found: list[dict[str, Any]] = []
    place: dict[str, Any] = {"page": pages.first if pages else 1, "offset": 0, "cursor": None}
    last: list[dict[str, Any]] = []
    seen: set[str] = set()
    for number in range(MOST_PAGES):
        reply = await fetch(place)
        page = picked(reply, pick, what)
        if pages is None:
            return page
        if pages.cursor is None:
            cursor, mark, is_last = None, repr(page), len(page) < (pages.size or 1)
            if page == last and number > 1:
                return found
        else:
            cursor = _at(reply, pages.cursor, what)
            mark, is_last = repr(cursor), not cursor
        if (page and page == last) or mark in seen:
            twice = "the same page" if cursor is None or mark not in seen else f"the cursor {_shown(cursor)}"
            raise MemorySystemError(
                f"{what}: {twice} came twice; expected the next one: check how its arguments use `pages`"
            )
        found += page
        if is_last:
            return found
        seen.add(mark)
        last, place = page, {"page": place["page"] + 1, "offset": place["offset"] + len(page), "cursor": cursor}
    raise MemorySystemError(
        f"{what}: got {MOST_PAGES:,} pages and no end; check how `pages` finds the last one, or ask for larger pages"
    )


def check_ok(reply: Any, ok: str, what: str) -> None:
    """Raise `MemorySystemError` unless the path is true in a reply."""
    if not _at(reply, ok, what):
        raise MemorySystemError(f"{what}: got {one_line(repr(reply), 160)}, expected a reply in which `{ok}` is true")


def _entry(entry: Any, i: int, pick: Pick, what: str) -> dict[str, Any]:
    if isinstance(entry, str):
        entry = {"text": entry}
    text = _at(entry, pick.text, what)
    if not isinstance(text, str):
        raise WrongTypeError(
            f"{what}: the pick `text: {pick.text}` finds {_shown(text)} in the entry {i}, {_shown(entry)}; expected a text"
        )
    values = {"id": pick.id, "score": pick.score, "timestamp": pick.time}
    return {"text": text, **{name: _at(entry, path, what) for name, path in values.items() if path is not None}}


def _at(value: Any, path: str, what: str) -> Any:
    try:
        return jmespath.search(path, value)
    except JMESPathError as error:
        raise WrongTypeError(f"{what}: the pick {path!r} fails in {_shown(value)}: {one_line(error, 120)}") from None


def _shown(value: Any) -> str:
    return one_line(repr(value), 80)
