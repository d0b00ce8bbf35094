"""Figures made from records: the summary, comparisons, the gate, and their statistics."""

from __future__ import annotations

from pytest_memfail.results.compare import HELD, Row, SideBySide, change_of, compare, shown, side_by_side, success
from pytest_memfail.results.expressions import (
    ANCHOR_DEFAULT,
    DEFAULT,
    SHOWN_TOKENS,
    Expression,
    check_tasks,
    measures_of,
    parse_expressions,
)
from pytest_memfail.results.gate import NO_TRUSTWORTHY_RESULT, decide, evaluate, in_ci
from pytest_memfail.results.runs import Loaded, labels, load_record, merge
from pytest_memfail.results.seeds import OverSeeds, SeedMean, over_seeds, seed_mean
from pytest_memfail.results.statistics import (
    by_row,
    clustered,
    correct_together,
    fewest_flips,
    holm,
    mcnemar,
    power,
    smallest_detectable,
    t_quantile,
    wilson,
)
from pytest_memfail.results.summary import (
    MAX_ERROR_SHARE,
    Block,
    StoreFigures,
    Summary,
    Tally,
    is_unsure,
    suite_records,
    summarize,
)

__all__ = [
    "ANCHOR_DEFAULT",
    "DEFAULT",
    "HELD",
    "MAX_ERROR_SHARE",
    "NO_TRUSTWORTHY_RESULT",
    "SHOWN_TOKENS",
    "Block",
    "Expression",
    "Loaded",
    "OverSeeds",
    "Row",
    "SeedMean",
    "SideBySide",
    "StoreFigures",
    "Summary",
    "Tally",
    "by_row",
    "change_of",
    "check_tasks",
    "clustered",
    "compare",
    "correct_together",
    "decide",
    "evaluate",
    "fewest_flips",
    "holm",
    "in_ci",
    "is_unsure",
    "labels",
    "load_record",
    "mcnemar",
    "measures_of",
    "merge",
    "over_seeds",
    "parse_expressions",
    "power",
    "seed_mean",
    "shown",
    "side_by_side",
    "smallest_detectable",
    "success",
    "suite_records",
    "summarize",
    "t_quantile",
    "wilson",
]
