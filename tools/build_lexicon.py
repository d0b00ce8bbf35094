"""Make the judge's lexicon (`pytest_memfail/judges/rules/lexicon.tsv.gz`) from the database files of WordNet 3.0 or 3.1.

`python tools/build_lexicon.py /usr/share/wordnet` (Debian's package `wordnet-base`). A line of the lexicon holds a key (a folded
word) and, separated by tabs: keys of the same meaning, keys close in meaning, more general keys, opposite keys.
"""

from __future__ import annotations

import gzip
import re
import sys
from collections import defaultdict
from pathlib import Path

from pytest_memfail.judges.rules.text import fold
from pytest_memfail.judges.rules.words import STOP

PARTS = ("noun", "verb", "adj", "adv")
SENSES = {"noun": 4, "verb": 5, "adj": 4, "adv": 3}
"""Senses of a word that are looked at, commonest first."""
WORD = re.compile(r"[a-z]{2,}")
CLOSE = {"&", "^", "+", "\\", "=", "<"}
"""Pointers: similar to, see also, derivationally related, pertains to, attribute, participle of."""
KIND = {"n": "noun", "v": "verb", "a": "adj", "s": "adj", "r": "adv"}
GENERAL_LEVELS = 2
APART = ({"autumn", "fall"},)
"""Synonyms in one sense that are kept apart: leaves and prices fall. "In the fall" is read as autumn before (`words.PHRASES`)."""
OUT = Path(__file__).parent.parent / "pytest_memfail" / "judges" / "rules" / "lexicon.tsv.gz"


class Synset:
    """One line of a data file."""

    def __init__(self, line: str) -> None:
        fields = line.split(" | ", 1)[0].split()
        count = int(fields[3], 16)
        self.words = [re.sub(r"\(.*\)$", "", fields[4 + 2 * i]).casefold() for i in range(count)]
        at = 4 + 2 * count
        self.pointers = [
            (fields[at + 1 + 4 * i], KIND[fields[at + 3 + 4 * i]], fields[at + 2 + 4 * i], fields[at + 4 + 4 * i])
            for i in range(int(fields[at]))
        ]


def keys(words: list[str]) -> set[str]:
    """The folded single words."""
    return {fold(word) for word in words if WORD.fullmatch(word) and word not in STOP}


def main(folder: Path) -> None:
    """Read the database and write the lexicon."""
    synsets: dict[tuple[str, str], Synset] = {}
    for part in PARTS:
        for line in (folder / f"data.{part}").read_text(encoding="latin-1").splitlines():
            if not line.startswith(" "):
                synsets[part, line.split(" ", 1)[0]] = Synset(line)
    table: dict[str, list[set[str]]] = defaultdict(lambda: [set(), set(), set(), set()])
    for part in PARTS:
        for line in (folder / f"index.{part}").read_text(encoding="latin-1").splitlines():
            fields = line.split()
            if line.startswith(" ") or not WORD.fullmatch(fields[0]) or fields[0] in STOP:
                continue
            offsets = fields[6 + int(fields[3]) :]
            add(table[fold(fields[0])], fields[0], part, offsets[: SENSES[part]], synsets)
    lines = []
    for key in sorted(table):
        same, close, general, opposite = table[key]
        opposite -= {key}
        same -= {other for pair in APART if key in pair for other in pair}
        same -= {key} | opposite
        close -= {key} | same | opposite
        general -= {key} | same | close
        if same or close or general or opposite:
            lines.append("\t".join([key, *(" ".join(sorted(some)) for some in (same, close, general, opposite))]))
    with OUT.open("wb") as file, gzip.GzipFile(fileobj=file, mode="wb", mtime=0, filename="") as packed:
        packed.write("\n".join(lines).encode())
    print(f"{OUT.name}: {len(lines)} keys, {OUT.stat().st_size / 1e6:.2f} MB")


def add(
    entry: list[set[str]], word: str, part: str, offsets: list[str], synsets: dict[tuple[str, str], Synset]
) -> None:
    """What the senses of a word say about it."""
    same, close, general, opposite = entry
    for offset in offsets:
        synset = synsets[part, offset]
        same |= keys(synset.words)
        for kind, other_part, other, places in synset.pointers:
            source = int(places[:2], 16)
            mine = not source or synset.words[source - 1] == word
            if kind == "!" and mine:
                opposite |= keys([synsets[other_part, other].words[int(places[2:], 16) - 1]])
            elif kind in CLOSE and mine:
                target = int(places[2:], 16)
                words = synsets[other_part, other].words
                close |= keys([words[target - 1]] if target else words)
        level = [synset]
        for _ in range(GENERAL_LEVELS):
            level = [synsets[p, o] for s in level for kind, p, o, _ in s.pointers if kind in ("@", "@i")]
            for above in level:
                general |= keys(above.words)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
