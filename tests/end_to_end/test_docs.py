"""The pages: links lead somewhere, samples run, and what they list is what there is."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_memfail.plugin import hookspecs
from pytest_memfail.systems import BUILT_IN, SYSTEMS

REPOSITORY = Path(__file__).parents[2]
PATTERNS = ("*.md", "docs/*.md", "*/README.md", "examples/**/*.md")
PAGES = sorted({path for pattern in PATTERNS for path in REPOSITORY.glob(pattern)})
Run = Callable[..., Any]


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def anchors(page: Path) -> set[str]:
    """As GitHub makes them of headings."""
    headings = re.findall(r"^#+ +(.+)$", re.sub(r"```.*?```", "", text_of(page), flags=re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_links_lead_somewhere(page: Path) -> None:
    wrong = []
    for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"```.*?```", "", text_of(page), flags=re.DOTALL)):
        if re.match(r"[a-z]+:", link):
            continue
        target, _, anchor = link.partition("#")
        file = (page.parent / target).resolve() if target else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            wrong.append(link)
    assert not wrong


def test_pages_named_in_messages_exist() -> None:
    sources = "".join(text_of(path) for path in (REPOSITORY / "pytest_memfail").rglob("*.py"))
    named = set(re.findall(r"docs/[a-z_]+\.md", sources))
    assert all((REPOSITORY / name).is_file() for name in named)


def test_every_page_is_in_the_index() -> None:
    listed = set(re.findall(r"\]\(([a-z_]+\.md)\)", text_of(REPOSITORY / "docs" / "index.md")))
    assert listed == {page.name for page in (REPOSITORY / "docs").glob("*.md")} - {"index.md"}


def test_the_tutorial_connects_a_system(run_pytest: Run, tmp_path: Path) -> None:
    (sample,) = re.findall(r"```python\n(.*?)```", text_of(REPOSITORY / "docs" / "tutorial.md"), re.DOTALL)
    (tmp_path / "conftest.py").write_text(sample, encoding="utf-8")
    shutil.copy(REPOSITORY / "examples" / "quickstart" / "toymem.py", tmp_path)
    done = run_pytest("--memfail-system=mymem", "--memfail-limit=2")
    assert sum(done.counts().values()) == 12
    assert done.counts()["error"] == 0


def test_the_sample_of_a_test_runs(run_pytest: Run, tmp_path: Path) -> None:
    (sample,) = re.findall(r"```python\n(.*?)```", text_of(REPOSITORY / "docs" / "extending.md"), re.DOTALL)
    (tmp_path / "test_sample.py").write_text("import pytest\n\n\n" + sample, encoding="utf-8")
    done = run_pytest("test_sample.py", "--memfail-system=bm25", "--memfail-limit=3", "-q")
    assert "3 passed" in done.output


def test_pages_name_all_hooks_and_systems() -> None:
    hooks = {name for name in vars(hookspecs) if name.startswith("pytest_memfail_")}
    assert set(re.findall(r"`(pytest_memfail_\w+)\(", text_of(REPOSITORY / "docs" / "extending.md"))) == hooks
    page = text_of(REPOSITORY / "docs" / "adapter.md")
    assert all(f"`{name}`" in page for name in SYSTEMS)
    assert all(
        f"| `{name}` |" in text_of(REPOSITORY / "docs" / "systems.md") for name in SYSTEMS.keys() - BUILT_IN.keys()
    )


def test_commands_of_the_project_that_pages_name_exist() -> None:
    named = set(re.findall(r"\.ci/[a-z]+", "".join(map(text_of, PAGES))))
    assert named == {f".ci/{path.name}" for path in (REPOSITORY / ".ci").iterdir()}
    assert all(os.access(REPOSITORY / name, os.X_OK) for name in named)
