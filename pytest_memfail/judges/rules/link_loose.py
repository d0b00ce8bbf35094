"""A link told thoroughly reworded in a small store, where what its ends have in common with a sentence is little but fits."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

from pytest_memfail.judges.rules.actors import OTHER, is_name
from pytest_memfail.judges.rules.anchor_match import IN_GENERAL, NEGATING, is_somebody, matches_of
from pytest_memfail.judges.rules.anchor_words import CAUSING, LIGHT, Token
from pytest_memfail.judges.rules.anchors import Anchor, Place, by_wording, places
from pytest_memfail.judges.rules.apart import alternatives, apart, poles
from pytest_memfail.judges.rules.finding import Finding
from pytest_memfail.judges.rules.kinship import FIRM, PHRASAL, Kin, kin
from pytest_memfail.judges.rules.lexicon import paraphrases
from pytest_memfail.judges.rules.link_likeness import likeness
from pytest_memfail.judges.rules.link_negation import negated
from pytest_memfail.judges.rules.link_part import is_of_another, is_small
from pytest_memfail.judges.rules.link_person import named, tie_found
from pytest_memfail.judges.rules.link_sides import sides
from pytest_memfail.judges.rules.links import Link, whose_is
from pytest_memfail.judges.rules.relations import relate
from pytest_memfail.judges.rules.stretches import tokens as tokens_in
from pytest_memfail.judges.rules.view import View

Signs = Mapping[int, Sequence[tuple[int, float]]]
"""By word of the sentence, the parts of an end that it may stand for, and how well."""
WEAK: Final = 0.5
"""Parts of an end that weigh less may be anywhere."""
LEAST: Final = 0.4
"""Share of an end that is enough, and of a sibling's that explains the words otherwise."""
TOGETHER: Final = 1.2
"""What both ends must have between them."""
ALONE: Final = 0.52
"""How well the only word of an end must be told."""
SURE: Final = 0.58
"""From here on nothing else in the sentence is taken for the part's rival."""
FIRMLY: Final = 0.65
"""Share of the other end that shows that the one has been replaced, or that both have changed places."""
REACH: Final = 6
"""So many words around what is told of an end may belong to it."""
BEING: Final = frozenset("is are was were has have".split())
VAGUE: Final = frozenset("something anything things stuff somebody someone".split())
WORSE: Final = frozenset(("general", "opposite", "number"))
"""What may have become of a part that makes it another one."""


def read_loosely(link: Link, view: View) -> Finding | None:
    """The link where both ends are told by words near to theirs, the right way round, and nothing else explains these.

    Where one of them is told, and something in the place of the other that it cannot be, the link is damaged.
    """
    if not is_small(view):
        return None
    best: tuple[float, Finding] | None = None
    for at in range(len(view.sentences)):
        for tokens in _clauses(tokens_in(view, (at,))):
            found = (_read if link.person is None else _read_person)(link, view, at, tokens)
            if found is not None and (best is None or found[0] > best[0]):
                best = found
    return best[1] if best else None


def _clauses(tokens: tuple[Token, ...]) -> Iterator[tuple[Token, ...]]:
    """The sentence, and what stands between its walls."""
    yield tokens
    walls = [i for i, token in enumerate(tokens) if i and token.wall]
    if walls:
        for start, end in pairwise((0, *walls, len(tokens))):
            yield tokens[start:end]


def _read(link: Link, view: View, at: int, tokens: tuple[Token, ...]) -> tuple[float, Finding] | None:
    signs = [_signs(link, end, tokens) for end in link.ends]
    if not any(signs):
        return None
    # A word of the one end, though it tells little of it, is no sign of the other: "love songs" are not tender.
    for found, end, other in zip(signs, link.ends, link.ends[::-1], strict=True):
        for i in [i for i in found if tokens[i].key in other.keys - end.keys]:
            del found[i]
    # What stands for both stands for the one that it tells better.
    for i in sorted(signs[0].keys() & signs[1].keys()):
        del signs[max(v for _, v in signs[0][i]) >= max(v for _, v in signs[1][i])][i]
    shares = [_share(end, found) for end, found in zip(link.ends, signs, strict=True)]
    lost = min((0, 1), key=lambda number: shares[number])
    if not _enough(link.ends[lost], shares[lost], signs[lost]):
        rival = _rival(link, link.ends[lost], signs[1 - lost], tokens)
        if rival is None or shares[1 - lost] < FIRMLY:
            return None
        signs[lost].setdefault(rival, [])
    else:
        sides_of = tuple(zip(link.ends, signs, signs[::-1], strict=True))
        rivals = [_rival(link, end, taken, tokens, found) for end, found, taken in sides_of]
        rival = next((at for at in rivals if at is not None), None)
        if rival is not None:
            lost = int(rivals[0] is None)
        elif any(_lacks(link, end, found, taken, tokens) for end, found, taken in sides_of):
            return None
    spans = [_span(found) for found in signs]
    hull = tokens[min(first for first, _ in spans) : max(last for _, last in spans) + 1]
    keys = link.ends[0].keys | link.ends[1].keys
    if max((_explained(others - keys, hull) for others in link.siblings), default=0.0) >= max(min(shares), LEAST):
        return None
    if any(
        found and is_of_another(link, tokens, Place(*s, tuple(sorted(found)), 0.0, 0.0, 0.0))
        for s, found in zip(spans, signs, strict=True)
    ):
        return None
    one, two = (Place(*s, tuple(range(s[0], s[1] + 1)), 0.0, 0.0, 0.0) for s in spans)
    turn = relate(tokens, *spans)
    entries = view.entries_of((at,))
    if any(whose_is(link, view, tokens, place) == OTHER for place in (one, two)):
        if rival is not None or turn != link.direction or min(shares) < FIRMLY:
            return None
        reason = f"the link from {link.wordings[0]!r} to {link.wordings[1]!r} seems to be told, but as somebody else's"
        return sum(shares) - 1.0, Finding(True, False, reason, entries, (), link.wordings, confidence=0.6)
    if not link.negative and negated(tokens, (one, two)) and rival is None:
        reason = f"the link from {link.wordings[0]!r} to {link.wordings[1]!r} seems to be told, but negated"
        return sum(shares) - 1.0, Finding(True, False, reason, entries, (), link.wordings, confidence=0.6)
    if turn == -link.direction and rival is None and min(shares) >= FIRMLY:
        reason = f"the link from {link.wordings[0]!r} to {link.wordings[1]!r} seems to be told the other way round"
        return sum(shares) - 1.0, Finding(True, False, reason, entries, (), link.wordings, confidence=0.6)
    if turn != link.direction or (_described(tokens, spans) and not any(any(sides(tokens, p)) for p in spans)):
        return None
    if rival is not None:
        reason = f"{link.wordings[1 - lost]!r} is stored with {tokens[rival].lower!r} in the place of {link.wordings[lost]!r}"
        return sum(shares) - 1.0, Finding(True, False, reason, entries, (), link.wordings, confidence=0.6)
    reason = f"the link from {link.wordings[0]!r} to {link.wordings[1]!r} seems to be told in other words"
    if sum(shares) < TOGETHER:
        return None
    return sum(shares), Finding(True, True, reason, entries, link.wordings, confidence=0.6)


def _described(tokens: Sequence[Token], spans: Sequence[tuple[int, int]]) -> bool:
    """Whether the first is said to be, or to have, the second."""
    left, right = sorted(spans)
    return any(token.lower in BEING for token in tokens[left[1] + 1 : right[0]])


def _read_person(link: Link, view: View, at: int, tokens: tuple[Token, ...]) -> tuple[float, Finding] | None:
    """What a person does with a thing, or feels for it, where the thing is told by words near to its own."""
    assert link.person is not None
    thing = link.ends[1 - link.person]
    signs = _signs(link, thing, tokens)
    share = _share(thing, signs)
    if (
        not _enough(thing, share, signs)
        or _lacks(link, thing, signs, (), tokens)
        or _rival(link, thing, (), tokens, signs) is not None
    ):
        return None
    if max((_explained(keys - thing.keys, tokens) for keys in link.siblings), default=0.0) >= LEAST:
        return None
    place = Place(*_span(signs), tuple(sorted(signs)), share, 0.0, share)
    if not named(link, view, (at,), tokens) or whose_is(link, view, tokens, place) == OTHER:
        return None
    tie = tie_found(link, view, (at,), tokens, place)
    if not tie or not link.relation:
        return None
    entries, owner, wanted = view.entries_of((at,)), link.wordings[link.person], link.wordings[1 - link.person]
    if tie < 0:
        reason = f"{owner}'s link with {wanted!r} seems to be stored the other way round"
        return share - 1.0, Finding(True, False, reason, entries, (), link.wordings, confidence=0.6)
    reason = f"{owner}'s link with {wanted!r} seems to be told in other words"
    return share, Finding(True, True, reason, entries, link.wordings, confidence=0.6)


def _span(found: Signs) -> tuple[int, int]:
    """From the first to the last of the words that stand best for a part each."""
    best = _best(found)
    at = [i for i, signs in found.items() if not signs or any(value >= best[number] for number, value in signs)]
    return min(at), max(at)


def _enough(end: Anchor, share: float, found: Signs) -> bool:
    """Whether enough of an end is told; a word near to another is little where it is all there is."""
    return share >= LEAST and (end.telling > 1 or max(_best(found).values(), default=0.0) >= ALONE)


def _signs(link: Link, end: Anchor, tokens: Sequence[Token]) -> dict[int, list[tuple[int, float]]]:
    """Which words may stand for which parts of the end, and how well."""
    found: dict[int, list[tuple[int, float]]] = {}
    named = {i for i in range(len(tokens)) if is_name(tokens, i)}
    for i, number, value in (*matches_of(end.parts, tokens, link.stated), *by_wording(end, tokens)):
        if value > IN_GENERAL and i not in named and end.parts[number].weight >= WEAK:
            found.setdefault(i, []).append((number, value))
    for i, token in enumerate(tokens):
        if i in named or not token.key or token.key in LIGHT | CAUSING:
            continue
        for number, part in enumerate(end.parts):
            value = likeness(part.key, token.key) if part.weight >= WEAK else 0.0
            if value and all(other.key != token.key for other in end.parts):
                found.setdefault(i, []).append((number, value))
    return {i: _told_by_one(parts) for i, parts in found.items()}


def _told_by_one(parts: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
    """What a word stands for: a word near to several parts of an end, "music" to the singing of folk songs, tells but one."""
    best = max(parts, key=lambda part: part[1])
    return [part for part in parts if part[1] >= PHRASAL or part == best]


def _lacks(link: Link, end: Anchor, found: Signs, taken: Collection[int], tokens: Sequence[Token]) -> bool:
    """Whether something of the end is left out, or told in general."""
    best = _best(found)
    place = next(iter(places(end, tokens, link.stated)), None)
    gaps = place.gaps if place is not None else ()
    heads = {part.key for part in end.parts if part.kind == "head"}
    # Rock music for ambient music: what is liked is named, and something else stands where the word for its kind stood.
    named = place.at if link.person is not None and place is not None else ()
    if any(fate == "rival" for _, fate in gaps) and any(
        i and tokens[i].key in heads and tokens[i - 1].key for i in named
    ):
        return True
    if end.numbers or (end.text, "rival") in gaps or WORSE.intersection(fate for _, fate in gaps):
        return True
    around = tokens[max(0, min(found) - REACH) : max(found) + REACH + 1]
    head = max((best.get(number, 0.0) for number, part in enumerate(end.parts) if part.kind == "head"), default=0.0)
    if head < FIRM and any(t.lower in VAGUE and t.lower not in link.known for t in around):
        return True
    told = any(i not in taken and tokens[i].key not in link.stated for i in _beside(found, tokens))
    return any(
        number not in best
        and (part.kind == "head" or part.key in NEGATING or ((part.surface, "dropped") in gaps and not told))
        for number, part in enumerate(end.parts)
        if part.kind != "light"
    )


def _rival(
    link: Link, end: Anchor, taken: Collection[int], tokens: Sequence[Token], found: Signs | None = None
) -> int | None:
    """What stands in the place of a word of the end, and cannot be it; of what is `found` of it, beside that alone."""
    best = _best(found or {})
    among: Collection[int] = range(len(tokens))
    if found:
        among = [*_beside(found, tokens), *(i for i in found if max(v for _, v in found[i]) < SURE)]
    for number, part in enumerate(end.parts):
        if part.kind == "light" or best.get(number, 0.0) >= SURE or not (found or part.kind == "head"):
            continue
        for i in among:
            token = tokens[i]
            if i in taken or not token.key or token.key in link.stated or is_name(tokens, i):
                continue
            if not found:
                other = kin(part.key, token.key)[0] is Kin.OPPOSITE or poles(part.key, token.key)
            elif part.kind == "verb":
                other = apart(part.key, token.key)
            else:
                other = excludes(part.key, token.key) or alternatives(part.key, token.key)
            if other:
                return i
    return None


def _beside(found: Collection[int], tokens: Sequence[Token]) -> list[int]:
    """The words with content around what is found of an end."""
    first, last = max(0, min(found) - REACH), max(found) + REACH
    return [
        i
        for i, t in enumerate(tokens[first : last + 1], first)
        if i not in found and t.key and t.key not in LIGHT | CAUSING and not is_name(tokens, i)
    ]


@lru_cache(maxsize=65536)
def excludes(wanted: str, held: str) -> bool:
    """Whether what is the one is not the other, or not all of it."""
    kind, value = kin(wanted, held)
    if value:
        return False
    return (
        kind is not Kin.NONE
        or (is_somebody(wanted) and is_somebody(held))
        or apart(wanted, held)
        or held in paraphrases(wanted).other
        or wanted in paraphrases(held).other
    )


def _best(found: Signs) -> dict[int, float]:
    best: dict[int, float] = {}
    for signs in found.values():
        for number, value in signs:
            best[number] = max(best.get(number, 0.0), value)
    return best


def _share(end: Anchor, found: Signs) -> float:
    """Of the end's weight, what is told."""
    best = _best(found)
    told = sum(end.parts[number].weight * min(1.0, value / PHRASAL) for number, value in best.items())
    return told / (sum(p.weight for p in end.parts if p.kind != "light") or 1.0)


def _explained(keys: frozenset[str], tokens: Sequence[Token]) -> float:
    held = [t.key for t in tokens if t.key and t.key not in LIGHT | CAUSING]
    return sum(max((likeness(key, other) for other in held), default=0.0) for key in keys) / (len(keys) or 1)
