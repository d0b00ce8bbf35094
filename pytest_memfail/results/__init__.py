"""What a run leaves: its record, its summary, and the statistics of both."""

from __future__ import annotations

from pytest_memfail.results.baseline import (
    Baseline,
    BaselineRefused,
    Entry,
    check_baseline,
    check_baseline_place,
    notes,
    read_baseline,
    write_baseline,
)
from pytest_memfail.results.comparison import Comparison, Flip, change_of, compare, shown
from pytest_memfail.results.expressions import DEFAULT, Expression, check_tasks, parse_expressions
from pytest_memfail.results.gate import (
    NO_TRUSTWORTHY_RESULT,
    Check,
    Gate,
    decide,
    evaluate,
    gate_line,
    in_ci,
    read_gate,
)
from pytest_memfail.results.kept import Kept, read_kept
from pytest_memfail.results.loaded import Loaded, labels, load_record
from pytest_memfail.results.merging import merge
from pytest_memfail.results.record import (
    SCHEMA_VERSION,
    Line,
    RecordWriter,
    check_writable,
    question_line,
    read_record,
    store_line,
)
from pytest_memfail.results.side_by_side import HELD, Flips, Row, SideBySide, side_by_side, success
from pytest_memfail.results.statistics import (
    Paired,
    Rate,
    by_row,
    correct_together,
    fewest_flips,
    holm,
    mcnemar,
    power,
    smallest_detectable,
    wilson,
)
from pytest_memfail.results.summary import MAX_ERROR_SHARE, StoreFigures, Summary, SummaryBuilder, Tally

__all__ = [
    "DEFAULT",
    "HELD",
    "MAX_ERROR_SHARE",
    "NO_TRUSTWORTHY_RESULT",
    "SCHEMA_VERSION",
    "Baseline",
    "BaselineRefused",
    "Check",
    "Comparison",
    "Entry",
    "Expression",
    "Flip",
    "Flips",
    "Gate",
    "Kept",
    "Line",
    "Loaded",
    "Paired",
    "Rate",
    "RecordWriter",
    "Row",
    "SideBySide",
    "StoreFigures",
    "Summary",
    "SummaryBuilder",
    "Tally",
    "by_row",
    "change_of",
    "check_baseline",
    "check_baseline_place",
    "check_tasks",
    "check_writable",
    "compare",
    "correct_together",
    "decide",
    "evaluate",
    "fewest_flips",
    "gate_line",
    "holm",
    "in_ci",
    "labels",
    "load_record",
    "mcnemar",
    "merge",
    "notes",
    "parse_expressions",
    "power",
    "question_line",
    "read_baseline",
    "read_gate",
    "read_kept",
    "read_record",
    "shown",
    "side_by_side",
    "smallest_detectable",
    "store_line",
    "success",
    "wilson",
    "write_baseline",
]
