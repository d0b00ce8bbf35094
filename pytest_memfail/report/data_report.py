"""Format the balance of labelled cases as plain text of at most 100 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

NAME: Final = 30


def data_report(found: Sequence[Any]) -> Iterator[str]:
    """Yield the lines of `memfail judge-check --data-report`.

    Args:
        found: a `Balance` for each column.
    """
    yield f"{'':{NAME}}" + "".join(f"{one.split:>12}" for one in found)
    for title, field in (
        ("cases", "cases"),
        ("rows", "rows"),
        ("annotators", "authors"),
        ("domains", "domains"),
        ("facts", "facts"),
    ):
        yield f"{title:{NAME}}" + "".join(f"{getattr(one, field):>12,}" for one in found)
    yield f"{'entries a store':{NAME}}" + "".join(f"{'{} / {} / {}'.format(*one.entries):>12}" for one in found)
    yield f"{'rows that list wordings':{NAME}}" + "".join(_part(one.with_details, one.rows) for one in found)
    yield f"{'facts about a named owner':{NAME}}" + "".join(_part(one.named, one.facts) for one in found)
    yield f"{'facts with several labels':{NAME}}" + "".join(_part(one.several, one.facts) for one in found)
    for title, field in (("facts by label", "labels"), ("facts by task", "tasks"), ("facts by style", "styles")):
        yield ""
        yield f"{title:{NAME}}"
        for name in sorted({name for one in found for name in getattr(one, field)}):
            yield f"  {name or 'not given':{NAME - 2}}" + "".join(
                _part(getattr(one, field)[name], one.facts) for one in found
            )


def _part(count: int, total: int) -> str:
    return f"{count:>6,} {100 * count / total if total else 0:>3.0f} %"
