"""Make the table of associated words (`pytest_memfail/judges/rules/associations.tsv.gz`) from WordNet 3.0 and a sentence encoder.

`python tools/build_associations.py /usr/share/wordnet MODEL`: MODEL is the folder of all-MiniLM-L6-v2 (or its name, where the hub
can be reached), read through sentence-transformers. A word stands for itself and for the definition of its commonest sense; two words
are as related as their vectors are close. A line holds a key (a folded word) and, separated by tabs: related keys, nearest first, each
with its strength in hundredths (`seasid=65`), and contrasting keys: near by the vectors, but opposite, or another kind of the same.

Takes minutes. `associations.LICENSE` names the sources.
"""

from __future__ import annotations

import gzip
import re
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_memfail.judges.rules.lexicon import nearness
from pytest_memfail.judges.rules.text import fold
from pytest_memfail.judges.rules.words import STOP

PARTS = ("noun", "verb", "adj", "adv")
WORD = re.compile(r"[a-z]{3,}")
PLAIN_FIELDS = {4, 6, 10, 13, 15, *range(29, 44)}
"""WordNet's fields of acts, things, communication, food and places, and of verbs: their rarer words are kept too."""
LIKENED = 0.45
CONTRASTED = 0.30
NEAREST = 20
LOOKALIKE = 3
"""Words with so many first letters in common look alike to the encoder; their definitions have to agree as well."""
DEFINED_ALIKE = 0.25
COMMON_DIRECTIONS = 2
BATCH = 512
KIND = {"n": "noun", "v": "verb", "a": "adj", "s": "adj", "r": "adv"}
OUT = Path(__file__).parent.parent / "pytest_memfail" / "judges" / "rules" / "associations.tsv.gz"


@dataclass
class Sense:
    """A synset: its field, definition, hypernyms and antonyms."""

    field: int
    definition: str
    words: list[str]
    above: set[str]
    opposite: set[str]


def read(folder: Path) -> tuple[dict[str, Sense], dict[str, list[str]]]:
    """Every synset, and the synsets of every word: those of its commonest part of speech first."""
    senses: dict[str, Sense] = {}
    for part in PARTS:
        for line in (folder / f"data.{part}").read_text(encoding="latin-1").splitlines():
            if line.startswith(" "):
                continue
            head, _, gloss = line.partition(" | ")
            fields = head.split()
            at = 5 + 2 * int(fields[3], 16)
            pointers = [fields[at + 4 * i : at + 4 * i + 3] for i in range(int(fields[at - 1]))]
            senses[part + fields[0]] = Sense(
                int(fields[1]),
                gloss.split(";")[0].strip(),
                fields[4 : at - 1 : 2],
                {KIND[p] + to for kind, to, p in pointers if kind in ("@", "@i")},
                {KIND[p] + to for kind, to, p in pointers if kind == "!"},
            )
    found: dict[str, list[tuple[int, list[str]]]] = defaultdict(list)
    for part in PARTS:
        for line in (folder / f"index.{part}").read_text(encoding="latin-1").splitlines():
            fields = line.split()
            if not line.startswith(" ") and WORD.fullmatch(fields[0]) and fields[0] not in STOP:
                at = 4 + int(fields[3])
                found[fields[0]].append((-int(fields[at + 1]), [part + offset for offset in fields[at + 2 :]]))
    return senses, {word: [one for _, some in sorted(parts) for one in some] for word, parts in found.items()}


def common(senses: dict[str, Sense], words: dict[str, list[str]]) -> list[str]:
    """The words worth a line: no names, and in use in the definitions or of the plain fields."""
    used = Counter(word for sense in senses.values() for word in set(WORD.findall(sense.definition)))
    names = Counter()
    for sense in senses.values():
        names.update({word.casefold(): 1 if word[0].isupper() else -1 for word in sense.words})
    return sorted(
        word
        for word, own in words.items()
        if names[word] <= 0 and (used[word] >= 2 or senses[own[0]].field in PLAIN_FIELDS)
    )


def vectors(model: Any, texts: list[str]) -> Any:
    """Unit vectors, without the directions that all of them share."""
    import numpy

    found = model.encode(texts, batch_size=128, normalize_embeddings=True)
    found = found - found.mean(axis=0)
    shared = numpy.linalg.svd(found[::5], full_matrices=False)[2][:COMMON_DIRECTIONS]
    found = found - (found @ shared.T) @ shared
    return found / numpy.linalg.norm(found, axis=1, keepdims=True)


def contrasting(one: str, other: str, senses: dict[str, Sense], words: dict[str, list[str]]) -> bool:
    """Whether two words are opposites, or different kinds of the same."""
    mine, theirs = words[one][:3], words[other][:3]
    if set(mine) & set(theirs):
        return False
    if any(senses[sense].opposite & set(theirs) for sense in mine) or any(
        senses[sense].opposite & set(mine) for sense in theirs
    ):
        return True
    above = {up for sense in mine[:2] for up in senses[sense].above}
    beside = {up for sense in theirs[:2] for up in senses[sense].above}
    return bool(above & beside) and not (above & set(theirs) or beside & set(mine))


def main(folder: Path, name: str) -> None:
    """Read the database, encode its words and write the table."""
    import numpy
    from sentence_transformers import SentenceTransformer

    senses, words = read(folder)
    listed = common(senses, words)
    model = SentenceTransformer(name)
    spelt = vectors(model, listed)
    defined = vectors(model, [f"{word}: {senses[words[word][0]].definition}"[:120] for word in listed])
    both = (spelt + defined) / numpy.linalg.norm(spelt + defined, axis=1, keepdims=True)
    related: dict[str, dict[str, float]] = defaultdict(dict)
    contrasts: dict[str, dict[str, float]] = defaultdict(dict)
    for i, word in enumerate(listed):
        if not i % BATCH:
            batch = slice(i, i + BATCH)
            strengths = numpy.maximum(spelt[batch] @ spelt.T, both[batch] @ both.T)
            candidates = numpy.argpartition(-strengths, 3 * NEAREST)[:, : 3 * NEAREST]
        key = fold(word)
        for j in candidates[i % BATCH]:
            other, near = listed[j], float(strengths[i % BATCH, j])
            held = fold(other)
            if held == key or near < CONTRASTED:
                continue
            if word[:LOOKALIKE] == other[:LOOKALIKE] and defined[i] @ defined[j] < DEFINED_ALIKE:
                continue
            if contrasting(word, other, senses, words):
                contrasts[key][held] = max(near, contrasts[key].get(held, 0))
            elif near >= LIKENED and nearness(key, held) == 0.0:
                related[key][held] = max(near, related[key].get(held, 0))
    lines = []
    for key in sorted(related.keys() | contrasts.keys()):
        near_by = [item for item in nearest(related[key]) if item[0] not in contrasts[key]]
        apart = [held for held, _ in nearest(contrasts[key])]
        shown = " ".join(f"{held}={strength * 100:.0f}" for held, strength in near_by)
        lines.append(f"{key}\t{shown}\t{' '.join(apart)}")
    with OUT.open("wb") as file, gzip.GzipFile(fileobj=file, mode="wb", mtime=0, filename="") as packed:
        packed.write("\n".join(lines).encode())
    print(f"{OUT.name}: {len(lines)} keys, {OUT.stat().st_size / 1e6:.2f} MB")


def nearest(found: dict[str, float]) -> list[tuple[str, float]]:
    """The strongest, strongest first."""
    return sorted(found.items(), key=lambda item: (-item[1], item[0]))[:NEAREST]


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
