"""A needed detail told vaguer than it was: wood for walnut, some kinds of fruit for stone fruit."""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import pairwise
from typing import Final

from pytest_memfail.judges.rules.lexicon import lookup
from pytest_memfail.judges.rules.persona_essay import NAMED_TOO, Essay, Item
from pytest_memfail.judges.rules.persona_match import Kept, found
from pytest_memfail.judges.rules.persona_partners import surface
from pytest_memfail.judges.rules.text import Sentence, fold, weight
from pytest_memfail.judges.rules.view import View

SOME_KINDS: Final = re.compile(
    r"\b(?:some|certain|particular|various|a few|several)(?: (?:kinds?|types?|sorts?|forms?) of)? ", re.IGNORECASE
)
"""What leaves open which ones are meant."""
DOING: Final = frozenset(
    fold(word) for word in "bring take give make move put get keep go send do have use hold set turn".split()
)
"""What one does with anything is no kind of what is done."""


def vaguer(item: Item, kept: Kept, keys: frozenset[str], view: View, essay: Essay) -> str:
    """What of the detail is told in general only; empty if nothing."""
    return _generalised(item, keys, essay) or _some(item, kept, keys, view, essay)


def _generalised(item: Item, keys: frozenset[str], essay: Essay) -> str:
    """A more general word in the place of a telling one: wood for walnut."""
    for concept in item.concepts:
        if concept.weight >= NAMED_TOO and not found(concept, keys):
            general = frozenset().union(*(lookup(k).general for k in concept.keys)) & keys
            wider = sorted(k for k in general - DOING if weight(k) >= 1.0 and k not in essay.keys | item.told)
            if wider:
                return f"'{surface(essay.stated[item.at].sentence, concept.keys[-1])}' is only '{wider[0]}'"
    return ""


def _some(item: Item, kept: Kept, keys: frozenset[str], view: View, essay: Essay) -> str:
    """Some kinds of what is told apart in the source: "some kinds of fruit" for stone fruit."""
    source = essay.stated[item.at].sentence
    for at in kept.where if not SOME_KINDS.search(source.text) else ():
        sentence = view.sentences[at]
        for match in SOME_KINDS.finditer(sentence.text):
            kind = next((w.key for w in sentence.words if w.start >= match.end() and w.key), "")
            inside = [c for c in item.concepts if kind in c.keys]
            lost = [c for c in item.concepts if not found(c, keys) and _before(c.keys, kind, source)]
            if inside and lost:
                return f"'{surface(source, lost[0].keys[-1])} {surface(source, kind)}' are only '{match[0]}{surface(sentence, kind)}'"
    return ""


def _before(keys: Collection[str], kind: str, source: Sentence) -> bool:
    """Whether one of the keys stands right before the kind."""
    return any(before.key in keys and word.key == kind for before, word in pairwise(source.words))
