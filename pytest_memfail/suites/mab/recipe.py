"""Draw numbered facts that contradict each other, and questions about them, without a model (FactConsolidation)."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pytest_memfail.authoring import CONFIG, DrawnRecipe
from pytest_memfail.core import UsageError, check_regular
from pytest_memfail.llm import count_tokens

TASK: Final = "mab_forgetting"
FILE: Final = "Conflict_Resolution.json"
LEAST: Final = 40
"""The minimum number of facts; fewer leave too few chains to ask about."""
MOST: Final = 40_000
REPLACED: Final = 0.7
"""The share of subjects with two facts, the later of which replaces the earlier."""
QUESTIONS: Final = 100
HEADER: Final = "Facts, numbered in the order in which they became known:"
SIZES: Final = ((3_000, "1k"), (19_000, "6k"), (48_000, "32k"), (160_000, "64k"), (10**9, "262k"))
"""Maximum numbers of tokens of the named list sizes."""
CONSONANTS: Final = "bdfgklmnprstvz"
VOWELS: Final = "aeiou"
NAMES: Final = {
    "person": "{} {}",
    "city": "{}",
    "country": "{}",
    "firm": "{} & {}",
    "book": "Letters to {}",
    "language": "{}ish",
    "sport": "{}ball",
}
"""Kind of thing to its name pattern; each word is used for one thing only."""


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation that a fact can state about a thing."""

    subject: str
    value: str
    fact: str
    phrase: str
    """A noun phrase for the value."""


RELATIONS: Final = (
    Relation("person", "city", "{} has a home in", "the home city of {}"),
    Relation("person", "firm", "{} earns a living at", "the employer of {}"),
    Relation("person", "sport", "{} spends each weekend on", "the weekend sport of {}"),
    Relation("firm", "city", "{} keeps its main office in", "the main office city of {}"),
    Relation("firm", "person", "{} takes its orders from director", "the director of {}"),
    Relation("city", "country", "{} pays its taxes to the country", "the tax country of {}"),
    Relation("city", "sport", "{} builds its arenas for", "the arena sport of {}"),
    Relation("country", "language", "{} prints its laws in", "the law language of {}"),
    Relation("country", "person", "{} bows to its ruler", "the ruler of {}"),
    Relation("book", "person", "{} came from the writer", "the writer of {}"),
    Relation("sport", "country", "{} had its first match in the country", "the first match country of {}"),
)


@dataclass(slots=True)
class World:
    """Things, and the facts about them before and after the replacements."""

    rng: random.Random
    used: set[str] = field(default_factory=set)
    things: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    old: dict[tuple[str, Relation], str] = field(default_factory=dict)
    now: dict[tuple[str, Relation], str] = field(default_factory=dict)

    def fill(self, facts: int) -> None:
        """Draw facts about things up to the requested number, which includes the replaced ones."""
        for kind in NAMES:
            self.things[kind] = [self._name(kind) for _ in range(max(4, facts // 16))]
        slots = [(thing, relation) for relation in RELATIONS for thing in self.things[relation.subject]]
        self.rng.shuffle(slots)
        for thing, relation in slots:
            left = facts - len(self.old) - sum(self.old[key] != self.now[key] for key in self.old)
            if left <= 0:
                break
            first, second = self.rng.sample([one for one in self.things[relation.value] if one != thing], 2)
            self.old[thing, relation] = first
            self.now[thing, relation] = second if left > 1 and self.rng.random() < REPLACED else first

    def lines(self) -> list[str]:
        """Return all facts, each replaced fact before its replacement."""
        stated = [(key, value) for key in self.old for value in dict.fromkeys((self.old[key], self.now[key]))]
        places = list(range(len(stated)))
        self.rng.shuffle(places)
        by_key: dict[tuple[str, Relation], list[int]] = defaultdict(list)
        for (key, _), place in zip(stated, places, strict=True):
            by_key[key].append(place)
        ordered = [""] * len(stated)
        for key, found in by_key.items():
            for place, value in zip(sorted(found), dict.fromkeys((self.old[key], self.now[key])), strict=True):
                ordered[place] = f"{key[1].fact.format(key[0])} {value}."
        return [f"{number}. {text}" for number, text in enumerate(ordered)]

    def single(self, n: int) -> list[tuple[str, str]]:
        """Return questions about one fact each, up to three in four of them about replaced facts."""
        keys = list(self.now)
        self.rng.shuffle(keys)
        changed = [key for key in keys if self.old[key] != self.now[key]]
        same = [key for key in keys if self.old[key] == self.now[key]]
        of_changed = changed[: n - min(len(same), n // 4)]
        chosen = [*of_changed, *same[: n - len(of_changed)]]
        self.rng.shuffle(chosen)
        return [(_asked(relation, thing), self.now[thing, relation]) for thing, relation in chosen]

    def chained(self, n: int) -> list[tuple[str, str]]:
        """Return questions about chains of two or three facts whose answer a replacement changed."""
        starts = list(self.now)
        self.rng.shuffle(starts)
        found: list[tuple[str, str]] = []
        for thing, relation in starts:
            chains = list(self._chains(thing, relation))
            if chains and len(found) < n:
                found.append(self.rng.choice(chains))
        return found

    def _chains(self, thing: str, relation: Relation) -> Iterator[tuple[str, str]]:
        first, asked = self.now[thing, relation], relation.phrase.format(thing)
        was = self.old[thing, relation]
        for second in RELATIONS:
            if second.subject != relation.value or (first, second) not in self.now:
                continue
            value, before = self.now[first, second], self.old.get((was, second))
            phrase = second.phrase.format(asked)
            if value not in (before, thing):
                yield _asked(second, asked), value
            for third in RELATIONS:
                last = self.now.get((value, third))
                if third.subject == second.value and last not in (
                    None,
                    thing,
                    first,
                    self.old.get((before or "", third)),
                ):
                    yield _asked(third, phrase), str(last)

    def _name(self, kind: str) -> str:
        form = NAMES[kind]
        return form.format(*(self._word() for _ in range(form.count("{}"))))

    def _word(self) -> str:
        """Return an unused word; all words have the same length, so none is part of another."""
        while True:
            word = "".join(self.rng.choice(CONSONANTS) + self.rng.choice(VOWELS) for _ in range(3)).capitalize()
            if word not in self.used:
                self.used.add(word)
                return word


def _asked(relation: Relation, thing: str) -> str:
    return f"{'Who' if relation.value == 'person' else 'What'} is {relation.phrase.format(thing)}?"


def numbered_facts(facts: int, seed: int, single: int = QUESTIONS, chained: int = QUESTIONS) -> list[dict[str, Any]]:
    """Return two rows with the same facts: questions about one fact each, and about chains of facts.

    Raises `UsageError` for too few or too many facts.
    """
    if not LEAST <= facts <= MOST:
        raise UsageError(f"--facts: got {facts}, expected {LEAST} to {MOST}")
    world = World(random.Random(seed))
    world.fill(facts)
    context = "\n".join([HEADER, *world.lines()])
    tokens = count_tokens([context])
    size = next(name for most, name in SIZES if tokens < most)
    return [
        {
            "context": context,
            "questions": [question for question, _ in asked],
            "answers": [[gold] for _, gold in asked],
            "metadata": {
                "source": f"factconsolidation_{hops}_{size}",
                "qa_pair_ids": [f"factconsolidation_{hops}_{size}_no{at}" for at in range(len(asked))],
            },
        }
        for hops, asked in (("sh", world.single(single)), ("mh", world.chained(chained)))
    ]


def write_facts(folder: Path, facts: int, seed: int, force: bool) -> list[tuple[str, int]]:
    """Write the rows of `numbered_facts` to a folder; return each source with its number of questions.

    Raises `UsageError` if the folder has such a file already.
    """
    path = folder / FILE
    check_regular(path, "--out")
    if path.exists() and not force:
        raise UsageError(f"{folder} already has {FILE}; give another --out, or --force to replace it")
    rows = numbered_facts(facts, seed)
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(rows, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    counts = [(row["metadata"]["source"], len(row["questions"])) for row in rows]
    config = {
        "suite": "mab",
        "method": f"memfail generate {TASK} --facts {facts} --seed {seed}",
        "counts": dict(counts),
    }
    (folder / CONFIG).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    return counts


RECIPES: Final = {TASK: DrawnRecipe(write_facts)}
