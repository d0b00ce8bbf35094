"""`memfail cache`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from pytest_memfail.core import UsageError, counted

DAY = 86_400.0
DEFAULT_CACHE = Path(".pytest_cache/d/memfail/responses.sqlite")


def add(commands: Any) -> None:
    """Add the sub-command and its options."""
    parser = commands.add_parser(
        "cache",
        help="show or prune the cached replies of models",
        description="Show the cached replies of models, or prune them.",
    )
    parser.add_argument(
        "path", metavar="PATH", type=Path, nargs="?", default=DEFAULT_CACHE, help=f"default: {DEFAULT_CACHE}"
    )
    parser.add_argument("--prune", metavar="DAYS", type=float, help="remove replies older than this many days (0: all)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the contents of the cache."""
    from pytest_memfail.llm import ResponseCache

    path = options.path
    if not path.is_file():
        raise UsageError(f"{path}: no response cache; give the path of one (the run's --memfail-cache-path)")
    cache = ResponseCache(path)
    try:
        if options.prune is not None:
            print(f"removed {counted(cache.prune(older_than_seconds=options.prune * DAY), 'reply')}")
        found = cache.summary()
    finally:
        cache.close()
    print(f"{path}: {counted(found.entries, 'reply')}, {found.bytes / 1e6:.1f} MB")
    for model, count in found.models.items():
        print(f"  {model}: {count}")
    return 0
