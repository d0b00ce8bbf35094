"""Make the judge's table of names (`pytest_memfail/judges/rules/names.tsv.gz`) from WordNet 3.0.

`python tools/build_names.py /usr/share/wordnet`. A line holds a noun of one to three folded words and, after a tab, what else the
thing is called, separated by commas, where either has more than one word: "surnam" and "last name,family name".
"""

from __future__ import annotations

import gzip
import re
import sys
from collections import defaultdict
from pathlib import Path

from pytest_memfail.judges.rules.text import fold
from pytest_memfail.judges.rules.words import STOP

SENSES = {1: 1, 2: 2, 3: 2}
"""Senses of a name that are looked at, by its number of words."""
NAME = re.compile(r"[a-z]{2,}(?:[_-][a-z]{2,}){0,2}")
OUT = Path(__file__).parent.parent / "pytest_memfail" / "judges" / "rules" / "names.tsv.gz"


def words_of(name: str) -> list[str]:
    """The words of a name."""
    return re.split(r"[_-]", name)


def key_of(name: str) -> str:
    """The name with its words folded."""
    return " ".join(fold(word) for word in words_of(name))


def is_other(name: set[str], other: set[str]) -> bool:
    """Whether it is a name of its own, of several words if the first has one, and not the first cut short."""
    own, others = {fold(word) for word in name}, {fold(word) for word in other}
    return len(name) + len(other) > 2 and not other & STOP and not own <= others and not others <= own


def main(folder: Path) -> None:
    """Read the nouns and write the table."""
    lemmas: dict[str, list[str]] = {}
    for line in (folder / "data.noun").read_text(encoding="latin-1").splitlines():
        if not line.startswith(" "):
            fields = line.split(" | ", 1)[0].split()
            lemmas[fields[0]] = [fields[4 + 2 * i] for i in range(int(fields[3], 16))]
    table: dict[str, dict[str, None]] = defaultdict(dict)
    for line in (folder / "index.noun").read_text(encoding="latin-1").splitlines():
        if line.startswith(" "):
            continue
        name, _, count, *rest = line.split()
        if not NAME.fullmatch(name) or set(words_of(name)) & STOP:
            continue
        for offset in rest[-int(count) :][: SENSES[len(words_of(name))]]:
            if name not in lemmas[offset]:
                continue  # it is a proper name
            for other in lemmas[offset]:
                if NAME.fullmatch(other) and is_other(set(words_of(name)), set(words_of(other))):
                    table[key_of(name)][re.sub("[_-]", " ", other)] = None
    lines = [f"{name}\t{','.join(others)}" for name, others in sorted(table.items()) if others]
    with OUT.open("wb") as file, gzip.GzipFile(fileobj=file, mode="wb", mtime=0, filename="") as packed:
        packed.write("\n".join(lines).encode())
    print(f"{OUT.name}: {len(lines)} names, {OUT.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
