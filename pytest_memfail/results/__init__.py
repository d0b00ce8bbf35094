"""What a run leaves: its record, its summary, and the statistics of both."""

from __future__ import annotations

from pytest_memfail.results.record import (
    SCHEMA_VERSION,
    RecordWriter,
    check_writable,
    question_line,
    read_record,
    store_line,
)
from pytest_memfail.results.statistics import Rate, wilson
from pytest_memfail.results.summary import MAX_ERROR_SHARE, StoreFigures, Summary, SummaryBuilder, Tally

__all__ = [
    "MAX_ERROR_SHARE",
    "SCHEMA_VERSION",
    "Rate",
    "RecordWriter",
    "StoreFigures",
    "Summary",
    "SummaryBuilder",
    "Tally",
    "check_writable",
    "question_line",
    "read_record",
    "store_line",
    "wilson",
]
