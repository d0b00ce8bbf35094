"""Build the offline judge's word tables (`pytest_memfail/judges/offline/tables/`) from the database files of WordNet
3.0.

`python tools/build_wordnet.py /usr/share/wordnet` (Debian's package `wordnet-base`). There are three tables with one
entry per line and tab-separated fields:

* `words`: base form, count, weight, part of speech, lexicographer file, synonyms, close words, parents, general words,
  opposites, words of its definitions
* `forms`: irregular form, base form
* `phrases`: two base forms, single words of the same meaning
"""

from __future__ import annotations

import gzip
import math
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

from pytest_memfail.judges.offline.english import STOP
from pytest_memfail.judges.offline.lexicon import base_form

PARTS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
PART_OF = {"n": "noun", "v": "verb", "a": "adj", "s": "adj", "r": "adv"}
SENSES = {"noun": 2, "verb": 2, "adj": 2, "adv": 1}
"""The number of senses used per word, most common first."""
LEAST_SHARE = 0.2
"""Leave out senses with a lower share of a word's occurrences, if those are known."""
LEVELS = 5
BROADEST = 500
"""A synset with more kinds below it is too broad to replace any of them."""
CLOSE = {"&", "^", "+", "\\", "=", "<"}
"""Similar to, see also, derived from, pertains to, attribute, participle of."""
WORD = re.compile(r"[a-z]{2,}")
GLOSS_WORDS = 10
SCALE = 7.0
"""The natural logarithm of rarity at which a word has full weight."""
TABLES = Path(__file__).parent.parent / "pytest_memfail" / "judges" / "offline" / "tables"


class Synset:
    """One line of a data file."""

    def __init__(self, line: str) -> None:
        head, _, gloss = line.partition(" | ")
        fields = head.split()
        count = int(fields[3], 16)
        self.file = int(fields[1])
        self.words = [re.sub(r"\(.*\)$", "", fields[4 + 2 * i]) for i in range(count)]
        at = 4 + 2 * count
        self.pointers = [
            (fields[at + 1 + 4 * i], (PART_OF[fields[at + 3 + 4 * i]], fields[at + 2 + 4 * i]), fields[at + 4 + 4 * i])
            for i in range(int(fields[at]))
        ]
        self.gloss = gloss.casefold()
        self.definition = self.gloss.split('"')[0]


def main(folder: Path) -> None:
    """Read the database and write the three tables."""
    synsets = {}
    for part in PARTS:
        for line in (folder / f"data.{part}").read_text(encoding="latin-1").splitlines():
            if not line.startswith(" "):
                synsets[part, line.split(" ", 1)[0]] = Synset(line)
    tagged = Counter[tuple[str, str]]()
    by_sense: dict[tuple[str, str], dict[int, int]] = defaultdict(dict)
    for line in (folder / "cntlist.rev").read_text(encoding="latin-1").splitlines():
        sense, number, count = line.split()
        lemma, _, rest = sense.partition("%")
        part = {"1": "noun", "2": "verb", "3": "adj", "4": "adv", "5": "adj"}[rest[0]]
        tagged[lemma, part] += int(count)
        by_sense[lemma, part][int(number)] = int(count)
    senses: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for part in PARTS:
        for line in (folder / f"index.{part}").read_text(encoding="latin-1").splitlines():
            if not line.startswith(" "):
                fields = line.split()
                senses[fields[0], part] = [(part, offset) for offset in fields[6 + int(fields[3]) :]]
    proper = proper_names(synsets)
    counts = Counter[str]()
    for lemma, part in senses:
        if WORD.fullmatch(lemma) and lemma not in STOP and lemma not in proper:
            counts[lemma] += tagged[lemma, part] + 1
    forms = irregular_forms(folder, counts)

    def base(word: str) -> str:
        return base_form(word, counts, forms)

    used = Counter(
        key for synset in synsets.values() for key in {base(w) for w in WORD.findall(synset.gloss) if w not in STOP}
    )
    kinds_below = descendants(synsets)
    lines = []
    for lemma in sorted(counts):
        same, close, parents, general, opposite, gloss = (dict[str, None]() for _ in range(6))
        for part in PARTS:
            for synset_id in chosen(lemma, part, senses, by_sense):
                synset = synsets[synset_id]
                same.update(dict.fromkeys(single(synset.words)))
                gloss.update(dict.fromkeys(base(w) for w in WORD.findall(synset.definition) if w not in STOP))
                for kind, target, places in synset.pointers:
                    source, index = int(places[:2], 16), int(places[2:], 16)
                    if source and synset.words[source - 1].casefold() != lemma:
                        continue
                    words = synsets[target].words
                    if kind == "!":
                        opposite.update(dict.fromkeys(single([words[index - 1]] if index else words)))
                    elif kind in CLOSE:
                        close.update(dict.fromkeys(single([words[index - 1]] if index else words)))
                level = [synset_id]
                for depth in range(LEVELS if part == "noun" else 1):
                    level = [t for s in level for kind, t, _ in synsets[s].pointers if kind == "@"]
                    for above in level:
                        if kinds_below[above] <= BROADEST:
                            (general if depth else parents).update(
                                dict.fromkeys(single(synsets[above].words, last=True))
                            )
        fields = [set(some) - {lemma} for some in (same, close, parents, general, opposite)]
        same_, close_, parents_, general_, opposite_ = fields
        close_ -= same_ | opposite_
        parents_ -= same_
        general_ -= same_ | parents_
        words = [
            w
            for w in gloss
            if w in counts and w != lemma and w not in same_ | close_ and weight(used[w], len(synsets)) >= 60
        ]
        first = chosen(lemma, "noun", senses, by_sense)[:1]
        totals = {part: tagged[lemma, part] + 0.5 for part in PARTS if (lemma, part) in senses}
        part = max(totals, key=lambda part: totals[part])
        is_noun = first and totals["noun"] * 3 >= sum(totals.values())
        field = synsets[first[0]].file if is_noun else -1
        lines.append(
            "\t".join(
                [lemma, str(counts[lemma]), str(weight(used[lemma], len(synsets))), PARTS[part], str(field)]
                + [" ".join(sorted(some)) for some in (same_, close_, parents_, general_, opposite_)]
                + [" ".join(sorted(words[:GLOSS_WORDS]))]
            )
        )
    write("words", lines)
    write("forms", [f"{form}\t{lemma}" for form, lemma in sorted(forms.items())])
    write("phrases", phrases(senses, synsets, by_sense, base))


def proper_names(synsets: dict[tuple[str, str], Synset]) -> set[str]:
    """Return the words that WordNet spells with a capital more often than not."""
    cases = Counter[str]()
    for synset in synsets.values():
        for word in synset.words:
            cases[word.casefold()] += 1 if word[:1].isupper() else -1
    return {word for word, balance in cases.items() if balance > 0 and not is_calendar(word)}


def is_calendar(word: str) -> bool:
    """Return whether a capitalised word is a day or a month."""
    from pytest_memfail.judges.offline.english import DAYS, MONTHS

    return word in DAYS or word in MONTHS


def irregular_forms(folder: Path, counts: Counter[str]) -> dict[str, str]:
    """Return the irregular forms of all parts of speech; the commonest base form wins."""
    found: dict[str, str] = {}
    for part in PARTS:
        for line in (folder / f"{part}.exc").read_text(encoding="latin-1").splitlines():
            form, *bases = line.split()
            for lemma in bases[:1]:
                if WORD.fullmatch(form) and lemma in counts and counts[lemma] > counts[found.get(form, "")]:
                    found[form] = lemma
    return {form: lemma for form, lemma in found.items() if form != lemma}


def chosen(
    lemma: str,
    part: str,
    senses: dict[tuple[str, str], list[tuple[str, str]]],
    by_sense: dict[tuple[str, str], dict[int, int]],
) -> list[tuple[str, str]]:
    """Return the synsets of the commonest senses of a word."""
    found = senses.get((lemma, part), [])[: SENSES[part]]
    tagged = by_sense.get((lemma, part), {})
    total = sum(tagged.values())
    if total < 10:
        return found
    return [one for number, one in enumerate(found, 1) if tagged.get(number, 0) >= LEAST_SHARE * total]


def single(words: list[str], *, last: bool = False) -> list[str]:
    """Return the single words of a synset in lower case; with `last`, also the last word of longer ones."""
    low = [word.casefold() for word in words]
    low = [word.split("_")[-1] for word in low] if last else low
    return [word for word in low if WORD.fullmatch(word) and word not in STOP]


def weight(used: int, total: int) -> int:
    """Return how informative a word is, in hundredths: rare words of definitions and examples are informative."""
    return round(100 * min(1.0, max(0.25, math.log(total / (used + 5)) / SCALE)))


def descendants(synsets: dict[tuple[str, str], Synset]) -> dict[tuple[str, str], int]:
    """Return the number of synsets below each."""
    below: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for synset_id, synset in synsets.items():
        for kind, target, _ in synset.pointers:
            if kind == "@":
                below[target].append(synset_id)
    found: dict[tuple[str, str], int] = {}

    def count(synset_id: tuple[str, str]) -> int:
        if synset_id not in found:
            found[synset_id] = 0
            found[synset_id] = sum(1 + count(each) for each in below.get(synset_id, ()))
        return found[synset_id]

    sys.setrecursionlimit(10000)
    for synset_id in synsets:
        count(synset_id)
    return found


def phrases(senses, synsets, by_sense, base) -> list[str]:  # type: ignore[no-untyped-def]
    """Return names of two words with the single words of the same meaning."""
    found: dict[str, set[str]] = defaultdict(set)
    for lemma, part in senses:
        words = lemma.split("_")
        if len(words) != 2 or not all(WORD.fullmatch(word) for word in words):
            continue
        for synset_id in chosen(lemma, part, senses, by_sense)[:2]:
            if lemma in synsets[synset_id].words:
                found[" ".join(base(word) for word in words)] |= set(single(synsets[synset_id].words))
    return [f"{words}\t{' '.join(sorted(same))}" for words, same in sorted(found.items()) if same]


def write(name: str, lines: list[str]) -> None:
    """Write a table; the same lines give the same bytes."""
    TABLES.mkdir(exist_ok=True)
    path = TABLES / f"{name}.tsv.gz"
    with path.open("wb") as file, gzip.GzipFile(fileobj=file, mode="wb", mtime=0, filename="") as packed:
        packed.write("\n".join(lines).encode())
    print(f"{path.name}: {len(lines)} lines, {path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
