"""Add pages to the site that live elsewhere in the repository. A hook of MkDocs, named in mkdocs.yml.

Every page is written to be read in the repository, as GitHub shows it. This hook turns links to other pages into links
within the site, links to anything else (code, folders) into plain text, and escapes a `|` in code in a table for
MkDocs.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parents[1]
OUTSIDE = {
    "overview.md": "README.md",
    **{f"{path.stem.lower()}.md": path.name for path in REPOSITORY.glob("*.md") if path.stem != "README"},
    **{
        f"{readme.parent.relative_to(REPOSITORY).as_posix()}.md": readme.relative_to(REPOSITORY).as_posix()
        for pattern in ("datasets/README.md", "benchmarks/README.md", "examples/*/README.md")
        for readme in REPOSITORY.glob(pattern)
    },
}
"""Pages of the site and their files in the repository. mkdocs.yml gives each its place."""
FENCE = re.compile(r"(^```.*?^```)", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\|.*$", re.MULTILINE)
INLINE = re.compile(r"`[^`\n]+`")
BADGES = re.compile(r"^(?:\[!\[[^\]]*\]\(https://[^)]*\)\]\([^)]*\) ?)+\n+", re.MULTILINE)
"""Pictures of other sites, which the site does not load."""
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")


def on_config(config: Any) -> Any:
    """Name headings as GitHub does, so that links to them work in both places."""
    from pymdownx.slugs import slugify

    config.mdx_configs.setdefault("toc", {})["slugify"] = slugify(case="lower")
    return config


def on_files(files: Any, *, config: Any) -> Any:
    """Add the pages from outside docs/."""
    from mkdocs.structure.files import File

    for page, source in OUTSIDE.items():
        files.append(File.generated(config, page, abs_src_path=str(REPOSITORY / source)))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Convert the repository's text for the site."""
    return site_text(markdown, page.file.src_uri)


def site_text(markdown: str, page: str) -> str:
    """Return the text of a page for the site, with adapted links."""
    parts = FENCE.split(BADGES.sub("", markdown))
    parts[::2] = [ROW.sub(_row, LINK.sub(lambda m: _link(m, page), part)) for part in parts[::2]]
    return "".join(parts)


def _row(match: re.Match[str]) -> str:
    return INLINE.sub(lambda code: code[0].replace("\\|", "|"), match[0])


def _link(match: re.Match[str], page: str) -> str:
    image, label, link = match.groups()
    target, _, anchor = link.partition("#")
    if not target or re.match(r"[a-z]+:", link):
        return match[0]
    source = posixpath.dirname(OUTSIDE.get(page, f"docs/{page}"))
    file = posixpath.normpath(posixpath.join(source, target))
    found = file.removeprefix("docs/") if image else _page_of(file)
    if found is None:
        return label
    there = posixpath.relpath(found, posixpath.dirname(page) or ".")
    return f"{image}[{label}]({there}{'#' if anchor else ''}{anchor})"


def _page_of(file: str) -> str | None:
    pages = {source: page for page, source in OUTSIDE.items()}
    inside = file.removeprefix("docs/")
    if inside != file and (REPOSITORY / file).suffix == ".md":
        return inside
    return pages.get(file) or pages.get(posixpath.join(file, "README.md"))
