"""Format the comparison of several records as plain text of at most 100 columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from pytest_memfail.core import counted, one_line
from pytest_memfail.records import Rate
from pytest_memfail.report.gate import indented, p_value
from pytest_memfail.report.suites import score_text
from pytest_memfail.report.tables import table
from pytest_memfail.report.text import amount, tokens_each
from pytest_memfail.results import Flips, Moved, OverSeeds, Row, SeedMean, Shift, SideBySide

MOST_MOVED: Final = 5
"""Questions shown that got worse, and as many that got better."""
PER_MEMORY: Final = "tokens per memory"
BESIDE: Final[Mapping[str, Callable[[Row], str]]] = {
    "facts held %": lambda row: percent_of(row.tally.facts_held),
    "tokens shown": lambda row: amount(row.tally.shown_tokens, exact=not row.approximate),
    "% of the store": lambda row: amount(row.tally.shown_share, 100),
    "abstention %": lambda row: "-" if row.abstention is None else percent_of(row.abstention),
    PER_MEMORY: lambda row: tokens_each(row.tokens, 1, exact=not row.approximate),
}
"""The tables after the rates: title, and function that returns the cell of a task in a record."""
FLIP_COLUMNS: Final = ("n", "better", "worse", "p (exact, by row)")


def comparison(found: SideBySide) -> Iterator[str]:
    """Yield what got worse and better, then tables: rates, facts held, tokens, abstention, paired tests, success by k.

    A task that was asked at several k has a row for each: together, its questions would count several times.
    """
    letters = [chr(ord("A") + i) for i in range(len(found.labels))]
    for letter, label in zip(letters, found.labels, strict=True):
        yield f"{letter}  {one_line(label, 96)}"
    for note in found.notes:
        yield from indented(f"note: {note}", 0)
    yield ""
    yield from _moved(found)
    yield ""
    columns = list(found.rows[0].failures) if found.rows else []
    names = "".join(f"{name.removesuffix('_error').replace('_', ' '):<14}" for name in columns)
    wide = max(
        [
            23,
            *(1 + len(at_k(row.task, row.k)) for row in found.rows),
            *(1 + len(shift_name(found, one)) for one in found.shifts),
        ]
    )
    # without judged answers, failures are shares of more questions than memory held is
    own_n = any(rate.n != row.success.n for row in found.rows for rate in row.failures.values())
    yield f"{'% [95 % interval]':<{wide + 2}}{found.measure:<16}{'of':>5}  {names}{'of' if own_n else '':>3}".rstrip()
    before = ""
    for row in found.rows:
        shares = "".join(f"{percent(row.failures[name], 0):<14}" for name in columns)
        name, rate = at_k(row.task, row.k), row.success
        own = next(iter(row.failures.values())).n if own_n else ""
        yield f"{'' if name == before else name:<{wide}}{letters[row.record]:<2}{percent(rate):<16}{rate.n:>5}  {shares}{own:>3}"
        before = name
    for title, cell in BESIDE.items():
        of_stores = title == PER_MEMORY  # the same at every k
        values = {(row.task if of_stores else at_k(row.task, row.k), row.record): cell(row) for row in found.rows}
        if set(values.values()) == {"-"}:
            continue
        names_at_k = dict.fromkeys(name for name, _ in values)
        cells = {name: [values.get((name, i), "-") for i in range(len(letters))] for name in names_at_k}
        yield ""
        yield from _beside(title, letters, cells, wide + 1)
    yield ""
    yield from table(
        [f"paired, {found.measure}", *FLIP_COLUMNS],
        [
            [f"{at_k(flips.task, flips.k):<{wide}}{letters[0]}{letters[flips.record]}", *flip_cells(flips)]
            for flips in found.flips
        ],
        [wide + 2, 5, 9, 8, 20],
    )
    if not found.flips:
        yield "no question was decided in both"
    if found.suites:
        yield ""
        yield from beside_measures(found, letters)
    if found.shifts:
        yield ""
        yield f"{'measures, paired':<{wide + 2}}{'clusters':>9}  difference [95 % interval, bootstrap over clusters]"
        for shift in found.shifts:
            yield f"{shift_name(found, shift):<{wide}}{letters[0]}{letters[shift.record]}{shift.clusters:>9}  {shift_text(shift)}"
    if by_k := rows_by_k(found):
        ks = sorted({k for rates in by_k.values() for _, k in rates})
        yield ""
        yield from table(
            [f"{found.measure} % by k", *(f"k={k}" for k in ks)],
            [
                [f"{task:<{wide}}{letter}", *(percent(rates[i, k].success, 0) if (i, k) in rates else "-" for k in ks)]
                for task, rates in by_k.items()
                for i, letter in enumerate(letters)
            ],
            [wide + 2, *(14 for _ in ks)],
        )


def moved_text(found: SideBySide, moved: Moved) -> str:
    """Return how many questions got worse and better in a record, beside the number that both decided."""
    names = f"{found.labels[moved.record]} against {found.labels[0]}"
    counts = f"{counted(len(moved.worse), 'question')} worse, {len(moved.better)} better, of {moved.n} decided in both"
    return f"{names}: {counts}, p {p_value(moved.p)}" if moved.flips else f"{names}: {counts}"


def _moved(found: SideBySide) -> Iterator[str]:
    """Yield what got worse and better in each record, with the first questions of both."""
    for moved in found.moved:
        yield moved_text(found, moved)
        for change, flips in (("worse", moved.worse), ("better", moved.better)):
            yield from (f"  {change:<7}{flip.id}  {flip.old} → {flip.new}" for flip in flips[:MOST_MOVED])
            if len(flips) > MOST_MOVED:
                yield f"  and {len(flips) - MOST_MOVED} more {change}"


def at_k(task: str, k: int | None) -> str:
    """Return the name of a task, with its k if there are several."""
    return task if k is None else f"{task} k={k}"


def flip_cells(flips: Flips) -> list[str]:
    """Return the cells below `FLIP_COLUMNS`."""
    return [str(flips.n), str(flips.better), str(flips.worse), p_value(flips.p)]


def rows_by_k(found: SideBySide) -> dict[str, dict[tuple[int, int], Row]]:
    """Return the rows of each task that was asked at several k, by record and k."""
    by_k: dict[str, dict[tuple[int, int], Row]] = {}
    for row in found.rows:
        if row.k is not None:
            by_k.setdefault(row.task, {})[row.record, row.k] = row
    return by_k


def beside_measures(found: SideBySide, letters: Sequence[str]) -> Iterator[str]:
    """Yield a row for each measure of a suite that has a value, with that of each record."""
    ks = {suite.k for _, suite in found.suites}
    rows: dict[tuple[str, int, str], dict[int, str]] = {}
    for record, suite in found.suites:
        for score in suite.scores:
            if score.value is not None:
                rows.setdefault((suite.name, suite.k, score.name), {})[record] = score_text(score)
    cells = {
        f"{name}.{measure}" + (f" k={k}" if len(ks) > 1 else ""): [of.get(i, "-") for i in range(len(letters))]
        for (name, k, measure), of in rows.items()
    }
    yield from _beside("measures", letters, cells, 32)


def _beside(title: str, letters: Sequence[str], cells: Mapping[str, Sequence[str]], least: int) -> Iterator[str]:
    """Yield a table with a column of the same width for each record; the column of names has at least the given width."""
    width = max(9, 2 + max((len(text) for row in cells.values() for text in row), default=0))
    yield from table(
        [title, *letters], [[name, *row] for name, row in cells.items()], [least, *(width for _ in letters)]
    )


def shift_name(found: SideBySide, shift: Shift) -> str:
    """Return the name of a measure with its suite and, if there are several, its k."""
    return f"{shift.suite}.{shift.measure}" + (f" k={shift.k}" if len({one.k for one in found.shifts}) > 1 else "")


def shift_text(shift: Shift) -> str:
    """Return a difference with its interval, in points for a measure in percent."""
    times, digits, unit = (100, 1, " points") if shift.unit == "percent" else (1, 3, "")
    interval = ", ".join(f"{times * end:+.{digits}f}" for end in (shift.low, shift.high) if end is not None) or "-"
    return f"{times * shift.difference:+.{digits}f}{unit} [{interval}]"


def percent(rate: Rate, digits: int = 1, sign: str = "") -> str:
    """Return a rate and its interval, in percent; the sign stands after the rate."""
    if rate.value is None:
        return "-"
    return f"{100 * rate.value:.{digits}f}{sign} [{100 * rate.low:.0f}, {100 * rate.high:.0f}]"


def percent_of(rate: Rate, digits: int = 1, sign: str = "") -> str:
    """Return a rate and its interval, in percent, with the number that it is a share of."""
    return percent(rate) if rate.value is None else f"{percent(rate, digits, sign)} of {rate.n}"


def seed_lines(found: OverSeeds) -> Iterator[str]:
    """Yield the table of systems over seeds."""
    wide = max([24, *(1 + len(row.task) for row in found.rows)])
    width = max([6, *(len(row.system) for row in found.rows)])
    yield f"{'task':<{wide}}{'system':<{width}} {'seeds':>5}  {found.measure + ' %':<22}{'facts held %':<22}against the first"
    task = None
    for row in found.rows:
        n = row.success.n if row.success is not None else 0
        name = row.task if row.task != task else ""
        task = row.task
        cells = f"{_seed_cell(row.success):<22}{_seed_cell(row.facts_held):<22}{_seed_cell(row.difference, '+')}"
        yield f"{name:<{wide}}{row.system:<{width}} {n:>5}  {cells}"
    yield "in brackets: the 95 % t interval over seeds, cut to possible values; one seed has none"


def _seed_cell(found: SeedMean | None, sign: str = "") -> str:
    if found is None:
        return "-"
    mean = f"{100 * found.mean:{sign}.1f}"
    low, high = max(found.low, -1.0 if sign else 0.0), min(found.high, 1.0)
    return mean if found.n == 1 else f"{mean} [{100 * low:{sign}.1f}, {100 * high:{sign}.1f}]"
