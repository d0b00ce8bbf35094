"""Show or prune the cached replies of models.

Show the cached replies of models, or prune them.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_memfail.cli.arguments import Arguments
from pytest_memfail.core import UsageError, counted

DAY = 86_400.0
DEFAULT_CACHE = Path(".pytest_cache/d/memfail/responses.sqlite")


def add(argument: Arguments) -> None:
    """Declare the arguments of the command."""
    argument("path PATH", "", Path, DEFAULT_CACHE, nargs="?")
    argument("--prune DAYS", "remove replies older than this many days (0: all)", float)


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
