"""Make the judge's table of phrasal verbs (`pytest_memfail/judges/rules/phrasal.tsv.gz`) from WordNet 3.0.

`python tools/build_phrasal.py /usr/share/wordnet`. A line holds a folded verb with its particle and, after a tab, the keys of single
verbs of the same meaning: "call off" and "cancel".
"""

from __future__ import annotations

import gzip
import re
import sys
from collections import defaultdict
from pathlib import Path

from build_lexicon import Synset, keys

from pytest_memfail.judges.rules.text import fold

PHRASE = re.compile(
    r"[a-z]+_(?:off|on|up|down|out|over|through|away|back|in|into|around|along|by|apart|together|asleep)"
)
OUT = Path(__file__).parent.parent / "pytest_memfail" / "judges" / "rules" / "phrasal.tsv.gz"


def main(folder: Path) -> None:
    """Read the verbs and write the table."""
    table: dict[str, set[str]] = defaultdict(set)
    for line in (folder / "data.verb").read_text(encoding="latin-1").splitlines():
        if line.startswith(" "):
            continue
        words = Synset(line).words
        for word in words:
            if PHRASE.fullmatch(word):
                verb, particle = word.split("_")
                table[f"{fold(verb)} {particle}"] |= keys(words)
    lines = [f"{phrase}\t{' '.join(sorted(same))}" for phrase, same in sorted(table.items()) if same]
    with OUT.open("wb") as file, gzip.GzipFile(fileobj=file, mode="wb", mtime=0, filename="") as packed:
        packed.write("\n".join(lines).encode())
    print(f"{OUT.name}: {len(lines)} phrases, {OUT.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
