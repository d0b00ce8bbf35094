"""Align the columns of a table of plain text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]], widths: Sequence[int], *, left: int = 1) -> Iterator[str]:
    """Yield the line of titles, then a line for each row, without blanks at the end.

    Args:
        head: the titles of the columns.
        rows: the cells of each row, one for each title.
        widths: the least width of each column; one that needs more is wider, so that no name is cut or runs into a number.
        left: how many of the first columns are aligned to the left; the others are aligned to the right.

    >>> list(table(["task", "n"], [["subjects", "96"], ["all", "796"]], [4, 3]))
    ['task       n', 'subjects  96', 'all      796']
    """
    lines = [tuple(head), *map(tuple, rows)]
    wide = [
        # a blank in front of a number, and behind a name that another name follows
        max(least, *(len(line[i]) + (i >= left or i < left - 1) for line in lines))
        for i, least in enumerate(widths)
    ]
    for line in lines:
        cells = zip(line, wide, strict=True)
        yield "".join(
            f"{text:<{width}}" if i < left else f"{text:>{width}}" for i, (text, width) in enumerate(cells)
        ).rstrip()


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table in Markdown, whose columns after the first are aligned to the right.

    >>> list(markdown_table(["task", "n"], [["subjects", "96"]]))
    ['| task | n |', '| --- | ---: |', '| subjects | 96 |']
    """
    for line in (head, ["---", *("---:" for _ in head[1:])], *rows):
        yield "|" + "".join(f" {cell} |" if cell else " |" for cell in line)
