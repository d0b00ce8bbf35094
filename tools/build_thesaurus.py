"""Make the judge's table of everyday paraphrases (`pytest_memfail/judges/rules/thesaurus.tsv.gz`) from `tools/thesaurus.tsv`.

`python tools/build_thesaurus.py`. A line of the source, which was written by hand, holds a word and, separated by tabs, lists of what
says the same, of what belongs to it but says less, and of what looks near but makes another fact. A line of the table holds a key
(a folded word) and the same three, as keys.
"""

from __future__ import annotations

import gzip
import re
from collections import defaultdict
from pathlib import Path

from pytest_memfail.judges.rules.text import fold
from pytest_memfail.judges.rules.words import STOP

SOURCE = Path(__file__).parent / "thesaurus.tsv"
OUT = Path(__file__).parent.parent / "pytest_memfail" / "judges" / "rules" / "thesaurus.tsv.gz"
WORD = re.compile(r"[a-z]{2,}")


def keys(listed: str) -> set[str]:
    """The folded single words of a list."""
    words = (item.strip() for item in listed.split(","))
    return {fold(word) for word in words if WORD.fullmatch(word) and word not in STOP}


def main() -> None:
    """Read the source and write the table: what holds of a pair holds from either side."""
    same: dict[str, set[str]] = defaultdict(set)
    near: dict[str, set[str]] = defaultdict(set)
    other: dict[str, set[str]] = defaultdict(set)
    for line in SOURCE.read_text(encoding="utf-8").splitlines():
        word, *lists = line.split("\t")
        for key in keys(word):
            for pairs, listed in zip((same, near, other), lists, strict=True):
                for held in keys(listed) - {key}:
                    pairs[key].add(held)
                    pairs[held].add(key)
    lines = []
    for key in sorted({*same, *near, *other}):
        near[key] -= same[key]
        other[key] -= same[key] | near[key]
        lines.append("\t".join([key, *(" ".join(sorted(some[key])) for some in (same, near, other))]))
    with OUT.open("wb") as file, gzip.GzipFile(fileobj=file, mode="wb", mtime=0, filename="") as packed:
        packed.write("\n".join(lines).encode())
    print(f"{OUT.name}: {len(lines)} keys, {OUT.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
