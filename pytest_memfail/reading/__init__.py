"""Read files of rows and say where each fault is; knows no benchmark."""

from __future__ import annotations

from pytest_memfail.reading.faults import place_of, row_faults, short
from pytest_memfail.reading.ids import digest, numbered, slug
from pytest_memfail.reading.json_rows import JsonRow, read_json_rows, read_row_again
from pytest_memfail.reading.yaml_files import YamlError, read_yaml

__all__ = [
    "JsonRow",
    "YamlError",
    "digest",
    "numbered",
    "place_of",
    "read_json_rows",
    "read_row_again",
    "read_yaml",
    "row_faults",
    "short",
    "slug",
]
