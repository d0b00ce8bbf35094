"""The name of the one a fact is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pytest_memfail.judges.rules.text import Sentence, Word, plain
from pytest_memfail.judges.rules.words import OPENERS, STOP

TITLES: Final = frozenset(
    "captain sir lady lord dr doctor professor prof mr mrs ms miss the of king queen prince old".split()
)


@dataclass(frozen=True, slots=True)
class Name:
    """The name of the one a fact is about."""

    full: str
    parts: frozenset[str]
    """Its telling words, lower case: any of them names the entity."""
    first: str
    known: frozenset[str] = frozenset()
    """Words of the source: a sentence that opens with one of them does not name somebody else."""

    @staticmethod
    def of(full: str | None, known: frozenset[str] = frozenset()) -> Name | None:
        """The name, or None where there is none."""
        parts = [w.casefold().strip(".,'\"") for w in plain(full or "").split()]
        telling = [p for p in parts if p and p not in TITLES and p not in STOP] or [p for p in parts if p]
        return Name(full or "", frozenset(telling), telling[0], known) if telling else None

    def words_of(self, sentence: Sentence) -> list[Word]:
        """Where the sentence has a word of the name."""
        lowers = sentence.lowers
        if self.parts.isdisjoint(lowers) and not any(f"{part}'s" in lowers for part in self.parts):
            return []
        return [word for word in sentence.words if word.lower.removesuffix("'s") in self.parts]


def is_surname(surface: str, lower: str, name: Name) -> bool:
    """Whether the word behind the first name makes somebody else of it."""
    bare = lower.removesuffix("'s")
    if len(bare) == 1 and any(part.startswith(bare) for part in name.parts - {name.first}):
        return False  # "Sasha P."
    return surface[0].isupper() and bare not in name.parts and bare not in STOP and bare not in OPENERS
