"""Write the parts of the reference that come from the code into docs/: `python tools/reference_pages.py`.

A part is between two comments, `<!-- NAME: written by tools/reference_pages.py -->` and `<!-- end -->`. A test checks
that the pages are up to date.
"""

from __future__ import annotations

import argparse
import inspect
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from pytest_memfail.cli import _parsers
from pytest_memfail.cli.arguments import RECORD_HELP
from pytest_memfail.options import OPTIONS
from pytest_memfail.plugin import hookspecs
from pytest_memfail.suites.own.files import case_schema
from pytest_memfail.systems import yaml_schema

DOCS = Path(__file__).parents[1] / "docs"
PART = re.compile(r"(<!-- (\w+): written by tools/reference_pages\.py -->\n).*?(<!-- end -->)", re.DOTALL)


def options_part() -> Iterator[str]:
    """Yield the table of pytest options, as in `pytest --help` and `pytest.ini`."""
    yield "| option | meaning |"
    yield "| --- | --- |"
    for option in OPTIONS:
        value = f"[={option.metavar}]" if option.bare is not None else f" {option.metavar}"
        many = "; repeatable, in the ini file one per line" if option.many else ""
        yield f"| {_code(f'{option.flag}{value}'.strip())} | {_cell(option.help + many)} |"


def command_part() -> Iterator[str]:
    """Yield the sub-commands of `memfail` with their options; options that several take alike are described once, at the top."""
    _, commands = _parsers()
    rows = {
        name: {
            _written(action): _cell(action.help % vars(action))
            for action in parser._actions
            if action.help and "-h" not in action.option_strings
        }
        for name, parser in commands.choices.items()
    }
    uses = Counter(row for options in rows.values() for row in options.items())
    shared = {row for row, number in uses.items() if number > 1}
    yield "Options that several commands take:"
    yield ""
    yield from _table(sorted(shared, key=lambda row: row[0].lstrip("-").lower()))
    for name, parser in commands.choices.items():
        yield f"## memfail {name}"
        yield ""
        yield _cell(str(parser.description)).strip()
        yield ""
        own = [row for row in rows[name].items() if row not in shared]
        if own:
            yield from _table(own)
        also = [_code(option.partition(" ")[0]) for option, text in rows[name].items() if (option, text) in shared]
        if also:
            yield f"{'Also' if own else 'Takes'}: {', '.join(also)}."
            yield ""


def _table(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    yield "| option | meaning |"
    yield "| --- | --- |"
    for option, text in rows:
        yield f"| {_code(option)} | {text.replace(RECORD, 'a record')} |"
    yield ""


def _written(action: argparse.Action) -> str:
    given = action.metavar or ("|".join(map(str, action.choices)) if action.choices else action.dest.upper())
    value = "" if action.nargs == 0 else given if isinstance(given, str) else " ".join(given)
    if action.nargs in ("*", "+", argparse.REMAINDER):
        value += "..."
    return f"{', '.join(action.option_strings)} {value}".strip()


def hooks_part() -> Iterator[str]:
    """Yield the signature and explanation of each hook."""
    for name, hook in vars(hookspecs).items():
        if not name.startswith("pytest_memfail_"):
            continue
        text, _, sample = str(inspect.getdoc(hook)).partition("\n\n::\n")
        signature = str(inspect.signature(hook)).replace("'", "")
        yield f"## {name}"
        yield ""
        yield from ["```python", f"def {name}{signature}", "```", ""]
        asked = " The first implementation that returns something decides." if hook.pytest_spec["firstresult"] else ""
        yield text.replace("\n", " ") + asked
        yield ""
        yield from ["```python", inspect.cleandoc(sample), "```", ""]


def _code(text: str) -> str:
    return "`" + text.replace("|", "\\|") + "`"


def _cell(text: str) -> str:
    return re.sub(r"(?<![`\w])(--[\w-]*\w|memfail_\w+)", r"`\1`", text).replace("|", "\\|")


RECORD = _cell(RECORD_HELP)
"""What `memfail show` explains, and other commands refer to."""
PARTS: dict[str, Callable[[], Iterator[str]]] = {
    "options": options_part,
    "command": command_part,
    "hooks": hooks_part,
}


SCHEMAS: dict[str, Callable[[], dict[str, Any]]] = {"memory.schema.json": yaml_schema, "case.schema.json": case_schema}
"""The JSON schemas of the YAML files that users write."""


def written(text: str) -> str:
    """Return a page with its generated parts up to date."""
    return PART.sub(lambda m: f"{m[1]}\n" + "\n".join(PARTS[m[2]]()).rstrip() + f"\n\n{m[3]}", text)


if __name__ == "__main__":
    for page in sorted(DOCS.glob("*.md")):
        before = page.read_text(encoding="utf-8")
        if (after := written(before)) != before:
            page.write_text(after, encoding="utf-8")
            print(f"{page.name}: written")
    for name, schema in SCHEMAS.items():
        (DOCS / name).write_text(json.dumps(schema(), indent=2) + "\n", encoding="utf-8")
