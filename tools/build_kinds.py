"""Make the table of kinds (`pytest_memfail/judges/rules/kinds.tsv.gz`) from the noun files of WordNet 3.0.

`python tools/build_kinds.py /usr/share/wordnet`. A line holds a key (a folded noun) and, after a tab, the keys of what it is a
kind of, near to far; the last word stands for a name of several ("game" for "court game").
"""

from __future__ import annotations

import gzip
import re
import sys
from pathlib import Path

from pytest_memfail.judges.rules.text import fold

SENSES = 3
LEVELS = 6
TOP = 4
"""So many levels at the top of the hierarchy say nothing: entity, object, unit, act."""
WORD = re.compile(r"[a-z]{3,}")
OUT = Path(__file__).parent.parent / "pytest_memfail" / "judges" / "rules" / "kinds.tsv.gz"


def read(folder: Path) -> dict[str, tuple[list[str], list[str]]]:
    """Every noun synset: its lemmas and its hypernyms."""
    found = {}
    for line in (folder / "data.noun").read_text(encoding="latin-1").splitlines():
        if line.startswith(" "):
            continue
        fields = line.split(" | ", 1)[0].split()
        count = int(fields[3], 16)
        at = 5 + 2 * count
        pointers = [fields[at + 4 * i : at + 4 * i + 2] for i in range(int(fields[at - 1]))]
        found[fields[0]] = (fields[4 : at - 1 : 2], [to for kind, to in pointers if kind in ("@", "@i")])
    return found


def paths(synset: str, synsets: dict[str, tuple[list[str], list[str]]]) -> list[list[str]]:
    """The ways from a synset up to the root, without the synset itself."""
    above = synsets[synset][1]
    return [[one, *rest] for one in above for rest in (paths(one, synsets) or [[]])]


def main(folder: Path) -> None:
    """Read the nouns and write the table."""
    synsets = read(folder)
    table: dict[str, dict[str, None]] = {}
    for line in (folder / "index.noun").read_text(encoding="latin-1").splitlines():
        fields = line.split()
        if line.startswith(" ") or not WORD.fullmatch(fields[0]):
            continue
        kinds = table.setdefault(fold(fields[0]), {})
        for synset in fields[6 + int(fields[3]) :][:SENSES]:
            for path in paths(synset, synsets):
                for one in path[: min(LEVELS, len(path) - TOP)]:
                    last = (lemma.casefold().split("_")[-1] for lemma in synsets[one][0])
                    kinds.update(dict.fromkeys(fold(word) for word in last if WORD.fullmatch(word)))
    lines = [
        f"{key}\t{' '.join(kind for kind in kinds if kind != key)}" for key, kinds in sorted(table.items()) if kinds
    ]
    with OUT.open("wb") as file, gzip.GzipFile(fileobj=file, mode="wb", mtime=0, filename="") as packed:
        packed.write("\n".join(lines).encode())
    print(f"{OUT.name}: {len(lines)} keys, {OUT.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
