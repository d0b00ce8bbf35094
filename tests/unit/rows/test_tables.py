"""CSV files are read as programs and Excel save them."""

from __future__ import annotations

import pytest

from pytest_memfail.rows import read_table

ROWS = [(2, {"id": "a", "text": "one, two; three"}), (3, {"id": "b", "text": '"four"\nfive'})]


def text(separator, end="\n"):
    cells = [("id", "text"), ("a", '"one, two; three"'), ("b", '"""four""\nfive"')]
    return "".join(separator.join(pair) + end for pair in cells)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_every_separator_is_read(tmp_path, separator, end, mark):
    path = tmp_path / "rows.csv"
    path.write_bytes((mark + text(separator, end)).encode())
    table = read_table(path)
    assert (table.rows, table.errors, table.warnings) == (ROWS, [], [])


@pytest.mark.parametrize("told", ["sep=|", '"sep=|"', "SEP=|\r"])
def test_a_line_that_tells_the_separator_is_no_header(tmp_path, told):
    path = tmp_path / "rows.csv"
    path.write_bytes(f"{told}\n{text('|')}".encode())
    table = read_table(path)
    assert table.rows == [(line + 1, row) for line, row in ROWS]
    assert table.errors == []


def test_rows_and_columns_without_text_are_left_out(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("id,text,,\na,x,,\n,,,\n\n , ,,\nb,y\n")
    table = read_table(path)
    assert table.rows == [(2, {"id": "a", "text": "x"}), (6, {"id": "b", "text": "y"})]
    assert [str(warning) for warning in table.warnings] == [
        f"{path}:3: row: 2 rows without any value left out (lines 3, 5)"
    ]
    assert table.errors == []


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("id,text\na,x,,more", "2: row: got 2 more cells than the header has columns"),
        ("id,text\na", "2: text: no cell: the row is shorter than the header"),
        ("id,text,id\na,x,b", "1: id: got this column twice, expected it once"),
        ('id,text\na,x\nb,"y', "3: row: not CSV (unexpected end of data)"),
    ],
)
def test_faults_name_their_line(tmp_path, content, said):
    path = tmp_path / "rows.csv"
    path.write_text(content)
    assert [str(error) for error in read_table(path).errors] == [f"{path}:{said}"]
