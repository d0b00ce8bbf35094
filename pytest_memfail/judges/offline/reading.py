"""A claim prepared for comparison: the words to find, the sentences that state it, its quantities."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from pytest_memfail.core import Claim
from pytest_memfail.judges.offline import lexicon
from pytest_memfail.judges.offline.english import STOP, plain, tokens_of
from pytest_memfail.judges.offline.numbers import Quantity, quantities
from pytest_memfail.judges.offline.statements import USER, Statement, read_entry

SAID: Final = 0.7
"""The similarity from which the source counts as stating a word of a part."""
MOST_SENTENCES: Final = 3
ENOUGH: Final = 0.95
LEAST_GAIN: Final = 0.15
"""The share of the parts that a further source sentence must add."""
LONG: Final = 4
"""A source with this many sentences is long: other parts of it may be stored without the fact."""
ASKING: Final = frozenset("what which who when where why how".split())


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """A claim as the features see it. Keys are base forms; names have no marker."""

    claim: Claim
    owner: frozenset[str]
    """Lower-case words of the owner's name; empty for the user."""
    user: frozenset[str]
    """Lower-case words of the user's name; empty if unknown."""
    relatives: frozenset[str]
    """Whom of the user's relatives and friends the claim is about, as statements name them; empty if the user's name is unknown."""
    names: frozenset[str]
    """Lower-case names in the source."""
    core: tuple[str, ...]
    context: tuple[str, ...]
    """Keys of the condition, topic or cause that are not in the core."""
    said: tuple[Statement, ...]
    """The sentences of the source that state the parts, in order."""
    said_keys: tuple[str, ...]
    """The keys of these sentences, in order, each once, without the owner's name."""
    full: frozenset[str]
    """All keys of source and parts."""
    core_numbers: tuple[Quantity, ...]
    context_numbers: tuple[Quantity, ...]
    said_numbers: tuple[Quantity, ...]
    siblings: tuple[tuple[str, ...], ...]
    """For each sibling, the keys that the claim lacks."""
    replaced: tuple[tuple[str, ...], ...]
    """For each replaced value, the keys that the claim lacks."""
    decoys: tuple[tuple[str, ...], ...]
    earlier: tuple[str, ...]
    rest: tuple[tuple[str, ...], ...]
    """Keys of each other sentence of the source, without the owner's name."""
    wanted: tuple[str, ...]
    """All keys to find, core first."""

    def weigh(self, keys: Iterable[str]) -> float:
        """Return how informative the keys are together."""
        return sum(map(lexicon.weight, keys))


def keys_of(text: str, without: frozenset[str] = frozenset(), names: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """Return the keys of a text in order, each once, except those in `without`."""
    keys = (token.key.lstrip("@") for token in tokens_of(plain(text), names) if token.key)
    return tuple(dict.fromkeys(key for key in keys if key and key not in without))


@lru_cache(maxsize=8192)
def read_claim(claim: Claim) -> Reading:
    """Return the prepared claim; the same object for the same claim."""
    source = read_entry(claim.source)
    owner, user = _name(claim.owner), _name(claim.user)
    whose = owner | user
    names = whose | {t.lower.removesuffix("'s") for s in source for t in s.tokens if t.is_name}
    all_source = frozenset(key for s in source for key in s.keys)
    core_texts, context_texts = claim.texts("core"), claim.texts("condition", "topic", "cause")
    if claim.has_ended:
        core_texts = (_telling(source, (*context_texts, *claim.replaced), whose),)
    context = _keys(context_texts, whose, names)
    core = _keys(core_texts, whose, names)
    if claim.texts("topic") and len(core) > len(set(core) - set(context)) > 0:
        core = tuple(key for key in core if key not in context)  # an answer repeats words of the question
    if not core:
        core = context or _keys((claim.source,), whose, names)
    context = tuple(key for key in context if key not in core)
    if not claim.holds_unsaid:
        core = _stated(core, all_source) or core
        if not claim.texts("topic"):
            context = _stated(context, all_source)
    said = _said(source, core, context)
    said_keys = tuple(dict.fromkeys(k for s in said for t in s.tokens if (k := t.key.lstrip("@")) and k not in whose))
    mine = frozenset((*core, *context, *said_keys))
    full = all_source | mine | frozenset(_keys(core_texts + context_texts, frozenset(), names))
    core_numbers, said_numbers = _numbers(core_texts), tuple(q for s in said for q in quantities(s.text, s.tokens))
    context_numbers = _numbers(() if claim.texts("topic") else context_texts)
    if not claim.holds_unsaid:
        core_numbers = tuple(q for q in core_numbers if any(q.same(other) for other in said_numbers))
        context_numbers = tuple(q for q in context_numbers if any(q.same(other) for other in said_numbers))
    return Reading(
        claim,
        owner,
        user,
        _relatives(core_texts) if user else frozenset(),
        frozenset(names),
        core,
        context,
        said,
        said_keys,
        full,
        core_numbers,
        context_numbers,
        said_numbers,
        tuple(keys_of(text, mine | whose) for text in claim.siblings),
        tuple(keys_of(text, frozenset(core) | whose) or keys_of(text, whose) for text in claim.replaced),
        tuple(keys_of(text, frozenset(core) | whose) for text in claim.decoys),
        keys_of(claim.earlier or "", whose),
        _rest(source, said, whose | mine),
        tuple(dict.fromkeys((*core, *context, *said_keys))),
    )


def _name(text: str | None) -> frozenset[str]:
    """Return the lower-case words of a name."""
    return frozenset(t.lower.removesuffix("'s") for t in tokens_of(plain(text or "")) if t.lower not in STOP)


def _relatives(texts: Iterable[str]) -> frozenset[str]:
    """Return the owners of statements about a relative or friend ("Ulla's sister Kit")."""
    owners = (s.owner for text in texts for s in read_entry(text) if any(part.startswith("~") for part in s.owner))
    return frozenset().union(*owners)


def _telling(source: tuple[Statement, ...], texts: Iterable[str], owner: frozenset[str]) -> str:
    """Return the source sentence closest to some texts: only part of a message may state that something ended."""
    wanted = _keys(texts, owner, frozenset())
    if not source:
        return ""
    return max(source, key=lambda s: sum(lexicon.weight(key) for key in wanted if key in s.keys)).text


def _rest(
    source: tuple[Statement, ...], said: tuple[Statement, ...], without: frozenset[str]
) -> tuple[tuple[str, ...], ...]:
    """Return the keys of the other sentences of a long source."""
    if len(source) < LONG:
        return ()
    return tuple(tuple(key for key in s.in_order if key not in without) for s in source if s not in said)


def _keys(texts: Iterable[str], owner: frozenset[str], names: frozenset[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(key for text in texts for key in keys_of(text, owner | ASKING, names)))


def _numbers(texts: Iterable[str]) -> tuple[Quantity, ...]:
    return tuple(q for text in texts for q in quantities(plain(text), tokens_of(plain(text))))


def _stated(keys: tuple[str, ...], source: frozenset[str]) -> tuple[str, ...]:
    """Return the keys that the source states in the same or similar words: only stated information can be lost."""
    return tuple(
        key for key in keys if key in source or any(lexicon.similarity(key, other) >= SAID for other in source)
    )


def _said(source: tuple[Statement, ...], core: tuple[str, ...], context: tuple[str, ...]) -> tuple[Statement, ...]:
    """Return the fewest sentences of the source that state the parts together, in order."""
    if len(source) <= 1:
        return source
    weights = {key: lexicon.weight(key) * 0.6 for key in context} | {key: lexicon.weight(key) for key in core}
    vocabulary = frozenset().union(*(s.keys for s in source))
    like = {
        key: {k for k in lexicon.perhaps_similar(key, vocabulary) if lexicon.similarity(key, k) >= SAID}
        for key in weights
    }
    covers = [{key for key in weights if not s.keys.isdisjoint(like[key])} for s in source]
    chosen: list[int] = []
    left = dict(weights)
    total = sum(weights.values())
    while left and len(chosen) < MOST_SENTENCES:
        gains = [
            sum(left.get(key, 0.0) for key in cover) - 0.02 * len(source[i].tokens) / 20
            for i, cover in enumerate(covers)
        ]
        best = max(range(len(gains)), key=lambda i: (gains[i], -i))
        if gains[best] <= LEAST_GAIN * total or best in chosen:
            break
        chosen.append(best)
        left = {key: w for key, w in left.items() if key not in covers[best]}
        if sum(left.values()) <= (1 - ENOUGH) * total:
            break
    return tuple(source[i] for i in sorted(chosen)) or source[:1]


@lru_cache(maxsize=16384)
def owner_relation(reading: Reading, owner: tuple[str, ...]) -> float:
    """Return how a statement's owner relates to the claim's: 1 the same, 0.5 not stated, 0 somebody else.

    A namesake (a name that shares a part with the owner's and adds another) is 0.25.
    """
    if not owner:
        return 0.5
    if any(part.startswith("~") for part in owner):
        return 1.0 if (reading.owner | reading.relatives) & set(owner) else 0.0
    if owner == (USER,):
        return 1.0 if not reading.owner or reading.owner <= reading.user else 0.0
    wanted = reading.owner or reading.user
    if wanted & set(owner):
        return 1.0 if set(owner) <= wanted or wanted <= set(owner) else 0.25
    return 0.75 if not reading.owner and reading.names & set(owner) else 0.0
