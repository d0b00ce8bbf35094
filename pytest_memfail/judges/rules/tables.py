"""The word tables of the package: one line a key, its fields behind tabs. `lexicon.LICENSE` holds the licence of WordNet."""

from __future__ import annotations

import gzip
from functools import cache
from importlib.resources import files


@cache
def table(name: str) -> dict[str, str]:
    """What stands behind each key of `NAME.tsv.gz`; read when it is first asked for."""
    packed = files(__package__).joinpath(f"{name}.tsv.gz").read_bytes()
    return dict(line.split("\t", 1) for line in gzip.decompress(packed).decode().split("\n"))
