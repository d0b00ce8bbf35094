"""Count the lines of code of the package by folder: without blank lines, comments and docstrings.

python tools/count_lines.py            # each folder
python tools/count_lines.py --files    # each file too
python tools/count_lines.py --limits   # exit with 1 if a folder exceeds its limit
"""

from __future__ import annotations

import argparse
import ast
import io
import sys
import tokenize
from collections.abc import Sequence
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "pytest_memfail"
LIMITS = {
    "plugin": 1925,
    "running": 1410,
    "engine": 1050,
    "hosting": 1195,
    "records": 1085,
    "clues": 900,
    "results": 1420,
    "judges/offline": 3000,
    "judges/encoder": 300,
}
"""The maximum lines of a folder, including its subfolders."""
NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


def count_lines(source: str) -> int:
    """Return the number of source lines with code; every line of a multi-line string counts.

    A docstring is any statement that consists of a string: of a module, class, function or attribute.

    Raises `SyntaxError` for text that is no Python.
    """
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            docstrings.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in NO_CODE or (token.type == tokenize.STRING and token.start[0] in docstrings):
            continue
        lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines)


def counts(package: Path) -> dict[Path, int]:
    """Return the lines of each Python file below a folder, by its relative path."""
    return {
        path.relative_to(package): count_lines(path.read_text(encoding="utf-8"))
        for path in sorted(package.rglob("*.py"))
    }


def of_folder(found: dict[Path, int], folder: str) -> tuple[int, int]:
    """Return the lines and the number of files in a folder and its subfolders."""
    inside = [lines for path, lines in found.items() if path.is_relative_to(folder)]
    return sum(inside), len(inside)


def beyond(found: dict[Path, int], limits: dict[str, int] = LIMITS) -> list[str]:
    """Return a line for each folder that exceeds its limit or is missing."""
    faults = []
    for folder, most in limits.items():
        lines, files = of_folder(found, folder)
        if not files:
            faults.append(f"{folder}: no such folder, expected one of at most {most} lines")
        if lines > most:
            faults.append(f"{folder}: got {lines} lines, expected {most} at most")
    return faults


def main(words: Sequence[str] | None = None) -> int:
    """Print the counts; with `--limits`, return 1 if a limit is exceeded."""
    parser = argparse.ArgumentParser(description="Count lines of code without blank lines, comments and docstrings.")
    parser.add_argument("--files", action="store_true", help="each file too")
    parser.add_argument("--limits", action="store_true", help="exit with 1 if a folder exceeds its limit")
    options = parser.parse_args(words)
    found = counts(PACKAGE)
    folders = dict.fromkeys(path.parts[0] for path in found if len(path.parts) > 1)
    for folder in (*folders, *(name for name in LIMITS if "/" in name)):
        lines, files = of_folder(found, folder)
        limit = f"   at most {LIMITS[folder]}" if folder in LIMITS else ""
        print(f"{folder + '/':<20}{lines:>7} lines in {files:>3} files{limit}")
    print(f"{'all':<20}{sum(found.values()):>7} lines in {len(found):>3} files")
    if options.files:
        for path, lines in found.items():
            print(f"{lines:>6} {path.as_posix()}")
    if not options.limits:
        return 0
    faults = beyond(found)
    print("\n".join(faults) or "within all limits")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
