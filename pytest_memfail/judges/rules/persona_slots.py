"""Another word in the place of a needed one: nitrile gloves for cotton gloves, Wednesday for Sunday."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from pytest_memfail.judges.rules.associations import contrast
from pytest_memfail.judges.rules.finding import written
from pytest_memfail.judges.rules.persona_essay import Concept, Essay, Item
from pytest_memfail.judges.rules.persona_match import found
from pytest_memfail.judges.rules.persona_partners import APART, AWAY, surface
from pytest_memfail.judges.rules.persona_refusals import REFUSALS
from pytest_memfail.judges.rules.related import ROOT, related
from pytest_memfail.judges.rules.text import Sentence, fold, weight

PLACING: Final = frozenset(
    "before after during at in on with for from of by to under over into onto near than as".split()
)
"""What ties a word to the one before it."""
CLOSED: Final = tuple(
    frozenset(fold(word) for word in group.split())
    for group in (
        "monday tuesday wednesday thursday friday saturday sunday",
        "january february march april may june july august september october november december",
        "spring summer autumn winter",
        "morning afternoon evening",
        "morning afternoon night",
        "red orange yellow green blue purple pink brown black white grey",
        "north south east west",
        "left right",
        "breakfast lunch dinner",
        "weekday weekend",
        "mother father brother sister son daughter",
        "cash transfer cheque paypal",
    )
)
"""Kinds with few members: of two of them one is not the other. The evening may be called night."""
MATERIALS: Final = frozenset(
    fold(word)
    for word in """cotton linen silk wool velvet denim canvas felt fleece flannel satin hemp jute burlap leather suede fur
    nylon polyester spandex vinyl nitrile latex rubber silicone neoprene plastic acrylic resin foam cork wood wooden bamboo
    oak pine walnut cherry maple birch cedar teak mahogany ebony steel stainless iron brass copper bronze silver gold
    golden platinum titanium aluminium aluminum tin pewter lead nickel chrome glass crystal porcelain ceramic clay
    earthenware stoneware enamel marble granite slate stone concrete brick paper cardboard vellum parchment ivory bone""".split()
)
"""What things are made of: in one place stands one of them."""


def replaced(item: Item, stored: Iterable[Sentence], essay: Essay, least: float) -> str:
    """What stands where a needed word of the detail should; empty if nothing does."""
    stored = tuple(stored)
    keys = frozenset().union(*(s.keys for s in stored))
    source = essay.stated[item.at].sentence
    for concept in item.concepts:
        if concept.weight >= least and found(concept, keys):
            other = next((o for s in stored if (o := _nearer_member(concept, item, s))), "")
            if other and not _nearer_member(concept, item, source):
                return _instead(other, concept, stored, source)
        elif concept.weight >= least:
            other = _other_member(concept, keys, source) or _in_its_place(concept, stored, item, essay)
            if other:
                return _instead(other, concept, stored, source)
    return ""


def _instead(other: str, concept: Concept, stored: Iterable[Sentence], source: Sentence) -> str:
    """Both words as they are written."""
    return f"'{written(other, stored)}' instead of '{surface(source, concept.keys[-1])}'"


def _other_member(concept: Concept, keys: frozenset[str], source: Sentence) -> str:
    """Another one of a kind with few members."""
    for kind in CLOSED:
        if not kind.isdisjoint(concept.keys):
            return min((kind & keys) - source.keys, default="")
    return ""


def _nearer_member(concept: Concept, item: Item, stored: Sentence) -> str:
    """The other one of a kind with few members that stands closer to the detail's words, where both are told."""
    kind = next((kind for kind in CLOSED if not kind.isdisjoint(concept.keys)), frozenset())
    members = [(at, w.key) for at, w in enumerate(stored.words) if w.key in kind]
    if len({key for _, key in members}) < 2:
        return ""
    told = {k for c in item.concepts for k in c.keys}
    nearest = {
        min(members, key=lambda m: abs(m[0] - at))[1] for at, w in enumerate(stored.words) if w.key in told - kind
    }
    return "" if len(nearest) != 1 or nearest & told else nearest.pop()


def _in_its_place(concept: Concept, stored: Iterable[Sentence], item: Item, essay: Essay) -> str:
    """A word that the essay does not have, tied to the same neighbour."""
    if not REFUSALS.isdisjoint(concept.keys):
        # Whether it is still refused, in whatever words, is judged elsewhere.
        return ""
    source = essay.stated[item.at].sentence
    places = {(side, joint, neighbour) for key, side, joint, neighbour in _ties(source) if key in concept.keys}
    for sentence in stored:
        for key, side, joint, neighbour in _ties(sentence):
            strange = (
                key not in essay.keys and key not in item.told and item.at not in essay.read(key) and key not in AWAY
            )
            if strange and key not in essay.ignored and weight(key) >= 1.0:
                for its_side, its_joint, its_neighbour in places:
                    if (
                        (side, joint) == (its_side, its_joint)
                        and its_neighbour == neighbour
                        and weight(neighbour) >= 1.0
                        and any(_excludes(k, key) for k in concept.keys)
                    ):
                        return key
    return ""


def _excludes(one: str, other: str) -> bool:
    """Whether in one place only one of the two can be meant: another word alone may be the same in other words."""
    if related(one, other) or one[:ROOT] == other[:ROOT]:
        return False
    return (one in MATERIALS and other in MATERIALS) or contrast(one, other)


def _ties(sentence: Sentence) -> Iterator[tuple[str, str, str, str]]:
    """The word, and what it is tied to: the next word, or by a preposition the one before."""
    words = sentence.words
    for at, word in enumerate(words):
        if not word.key or word.key[0].isdigit():
            continue
        if (
            at + 1 < len(words)
            and words[at + 1].key
            and not APART.search(sentence.text[word.end : words[at + 1].start])
        ):
            yield word.key, "of", "", words[at + 1].key
        if at and words[at - 1].key and not APART.search(sentence.text[words[at - 1].end : word.start]):
            yield word.key, "behind", "", words[at - 1].key
        back = at - 1
        while back > 0 and words[back].lower in ("a", "an", "the", "his", "her", "their"):
            back -= 1
        if back > 0 and words[back].lower in PLACING and words[back - 1].key:
            yield word.key, "to", words[back].lower, words[back - 1].key
