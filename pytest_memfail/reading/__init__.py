"""Read files of rows and say where each fault is; knows no benchmark."""

from __future__ import annotations

from pytest_memfail.reading.chats import Chat, Chats, Turn, is_chat, read_chats
from pytest_memfail.reading.faults import place_of, row_faults, short
from pytest_memfail.reading.ids import digest, numbered, slug
from pytest_memfail.reading.json_rows import JsonRow, read_json_rows, read_row_again
from pytest_memfail.reading.tables import Table, read_table
from pytest_memfail.reading.texts import HALF, half_character, may_be_cut
from pytest_memfail.reading.yaml_files import YamlError, read_yaml

__all__ = [
    "HALF",
    "Chat",
    "Chats",
    "JsonRow",
    "Table",
    "Turn",
    "YamlError",
    "digest",
    "half_character",
    "is_chat",
    "may_be_cut",
    "numbered",
    "place_of",
    "read_chats",
    "read_json_rows",
    "read_row_again",
    "read_table",
    "read_yaml",
    "row_faults",
    "short",
    "slug",
]
