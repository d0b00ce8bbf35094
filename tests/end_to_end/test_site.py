"""The docs as a site: every page has its place, and it builds without a warning."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

REPOSITORY = Path(__file__).parents[2]
DOCS = REPOSITORY / "docs"
SITE = yaml.safe_load((REPOSITORY / "mkdocs.yml").read_text(encoding="utf-8"))


def tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, REPOSITORY / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SITE_PAGES = tool("site_pages")


def in_nav(part: Any) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    else:
        for inner in part.values() if isinstance(part, dict) else part:
            yield from in_nav(inner)


def test_every_page_has_one_place_in_the_navigation() -> None:
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")} | SITE_PAGES.OUTSIDE.keys()
    assert sorted(in_nav(SITE["nav"])) == sorted(pages)


def test_pages_from_outside_docs_are_all_that_pages_lead_to() -> None:
    sources = [*DOCS.rglob("*.md"), *(REPOSITORY / source for source in SITE_PAGES.OUTSIDE.values())]
    linked = set()
    for source in sources:
        for link in re.findall(r"\]\(([^)#\s]+\.md)", source.read_text(encoding="utf-8")):
            if "://" not in link:
                linked.add((source.parent / link).resolve().relative_to(REPOSITORY).as_posix())
    outside = {name for name in linked if not name.startswith("docs/")}
    assert outside <= set(SITE_PAGES.OUTSIDE.values())


@pytest.mark.parametrize(
    ("page", "text", "expected"),
    [
        ("gate.md", "see [codes](exit_codes.md#pytest)", "see [codes](exit_codes.md#pytest)"),
        ("gate.md", "the [README](../README.md#options)", "the [README](overview.md#options)"),
        ("gate.md", "[CI](../examples/ci/README.md)", "[CI](examples/ci.md)"),
        ("overview.md", "[a folder](examples/mymem)", "[a folder](examples/mymem.md)"),
        ("overview.md", "[`Judge`](pytest_memfail/core/protocols.py)", "`Judge`"),
        ("examples/ci.md", "[gate](../../docs/gate.md)", "[gate](../gate.md)"),
        ("gate.md", "[paper](https://arxiv.org/abs/2605.26667)", "[paper](https://arxiv.org/abs/2605.26667)"),
        ("gate.md", "[below](#what-p-means)", "[below](#what-p-means)"),
        ("overview.md", "![The page](docs/pictures/page.png)", "![The page](pictures/page.png)"),
        ("gate.md", "```python\nx = y[0](z)\n```\n", "```python\nx = y[0](z)\n```\n"),
        ("gate.md", "| `on\\|off` | a\\|b |", "| `on|off` | a\\|b |"),
    ],
)
def test_links_of_the_repository_become_those_of_the_site(page: str, text: str, expected: str) -> None:
    assert SITE_PAGES.site_text(text, page) == expected


@pytest.mark.parametrize("page", ["options.md", "command.md", "hooks.md"])
def test_what_is_read_from_the_code_is_up_to_date(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    reference = tool("reference_pages")
    assert reference.PART.search(text)
    assert text == reference.written(text), "python tools/reference_pages.py writes it anew"


def test_a_list_after_a_paragraph_is_set_off() -> None:
    """GitHub takes it for a list all the same, MkDocs for more of the paragraph."""
    wrong = []
    for source in [*DOCS.rglob("*.md"), *(REPOSITORY / source for source in SITE_PAGES.OUTSIDE.values())]:
        lines = re.sub(r"```.*?```", "", source.read_text(encoding="utf-8"), flags=re.DOTALL).split("\n")
        for before, line in pairwise(lines):
            if re.match(r"([*-]|\d+\.) ", line) and before and not re.match(r"([*-]|\d+\.) |\s+\S", before):
                wrong.append(f"{source.name}: {line}")
    assert not wrong


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason='needs MkDocs: pip install -e ".[docs]"')
    pytest.importorskip("material", reason='needs the theme: pip install -e ".[docs]"')
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", tmp_path / "site"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for page in in_nav(SITE["nav"]):
        built = (tmp_path / "site" / page).with_suffix(".html").read_text(encoding="utf-8")
        assert not re.search(r"""<(?:script|link|img)[^>]*(?:src|href)=["']https?://""", built), page
