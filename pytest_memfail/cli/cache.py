"""`memfail cache`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from pytest_memfail.core import UsageError

DAY = 86_400.0
DEFAULT_CACHE = Path(".pytest_cache/d/memfail/responses.sqlite")


def add(commands: Any) -> None:
    """Its options."""
    parser = commands.add_parser(
        "cache",
        help="show or prune the kept replies of models",
        description="Show the kept replies of models, or prune them.",
    )
    parser.add_argument(
        "path", metavar="PATH", type=Path, nargs="?", default=DEFAULT_CACHE, help=f"default: {DEFAULT_CACHE}"
    )
    parser.add_argument(
        "--prune", metavar="DAYS", type=float, help="remove what is older than so many days (0: everything)"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print what the cache holds."""
    from pytest_memfail.llm import ResponseCache

    path = options.path
    if not path.is_file():
        raise UsageError(f"{path}: there is no response cache; give the path of one (--memfail-cache-path of the run)")
    cache = ResponseCache(path)
    try:
        if options.prune is not None:
            print(f"removed {cache.prune(older_than_seconds=options.prune * DAY)} replies")
        found = cache.summary()
    finally:
        cache.close()
    print(f"{path}: {found.entries} replies, {found.bytes / 1e6:.1f} MB")
    for model, count in found.models.items():
        print(f"  {model}: {count}")
    return 0
