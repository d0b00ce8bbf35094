"""What a run leaves: its record, its summary, and the statistics of both."""

from __future__ import annotations

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
from pytest_memfail.results.statistics import Rate, wilson
from pytest_memfail.results.summary import MAX_ERROR_SHARE, StoreFigures, Summary, SummaryBuilder, Tally

__all__ = [
    "HELD",
    "MAX_ERROR_SHARE",
    "SCHEMA_VERSION",
    "Flips",
    "Kept",
    "Line",
    "Loaded",
    "Rate",
    "RecordWriter",
    "Row",
    "SideBySide",
    "StoreFigures",
    "Summary",
    "SummaryBuilder",
    "Tally",
    "check_writable",
    "labels",
    "load_record",
    "merge",
    "question_line",
    "read_kept",
    "read_record",
    "side_by_side",
    "store_line",
    "success",
    "wilson",
]
