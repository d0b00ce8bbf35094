"""The direction of a link: the order of cause and effect, the words between them, and who does it to whom."""

from __future__ import annotations

from collections import Counter

from pytest_memfail.judges.offline import lexicon
from pytest_memfail.judges.offline.english import Token
from pytest_memfail.judges.offline.match import Match
from pytest_memfail.judges.offline.reading import Reading
from pytest_memfail.judges.offline.statements import FIRST_PERSON, USER, Statement, read_entry

LEADS = frozenset("leads lead leading led makes make made causes cause gets sends prompts triggers brings means then so therefore "
                  "results into before sets turns pushes until".split())  # fmt: skip
"""Between two ends, one of these says that the first leads to the second."""
FOLLOWS = frozenset(
    "after because since from when whenever once if as due following by owing comes caused triggered prompted".split()
)
"""Between two ends, one of these says that the second leads to the first; at the start of the sentence, the reverse."""
UNTOLD = frozenset("a an the dr mr mrs ms".split())
"""Words that leave open what part a person has in a sentence."""
MUTUAL = frozenset(
    """and or with between both same marry wed meet know cousin sibling brother sister twin neighbour neighbor friend colleague
    partner spouse flatmate roommate teammate classmate date differ resemble share together""".split()
)
"""Words of a sentence that two persons may change places in."""
NAMES = {
    "ends_found": "the smaller share of the two ends of the link in the best statement",
    "order_turned": "the ends are in another order than in the source, and no words make up for it",
    "way": "direction in the best statement: 1 cause to effect, -1 effect to cause, 0 not stated",
    "way_turned": "the direction is the reverse of the source's",
    "way_lost": "the source states the direction, the best statement does not",
    "ends_apart": "number of words between the ends in the best statement",
    "between_same": "for ends in another order: share of the source's words between them still there",
    "linked": "the best statement has a linking word",
}


def compute(match: Match) -> dict[str, float]:
    """Return the features of this group by name."""
    found = dict.fromkeys(NAMES, 0.0)
    reading = match.reading
    if (
        match.best is None
        or not reading.context
        or not any(p.role in ("cause", "condition") for p in reading.claim.parts)
    ):
        return found
    best, source = match.best.statement, match.source
    mine, theirs = _ends(reading, best), _ends(reading, source) if source else None
    if mine is None:
        return found
    kept = [sum(match.held.get(key, 0.0) >= 0.7 for key in keys) for keys in (reading.core, reading.context)]
    found["ends_found"] = min(kept) / max(1, min(len(reading.core), len(reading.context)))
    way = _way(best, mine)
    found["way"] = way
    found["ends_apart"] = abs(mine[0] - mine[1]) / 10
    found["linked"] = float(any(t.lower in LEADS or t.lower in FOLLOWS for t in best.tokens))
    if theirs is not None and source is not None:
        source_way = _way(source, theirs)
        turned = (mine[0] < mine[1]) != (theirs[0] < theirs[1])
        found["order_turned"] = float(turned and way == source_way)
        if turned:
            between, still = _between(source, theirs), _between(best, mine)
            found["between_same"] = len(between & still) / len(between) if between else 0.5
        found["way_turned"] = float(way * source_way < 0)
        found["way_lost"] = float(bool(source_way) and not way)
    return found


def _ends(reading: Reading, statement: Statement) -> tuple[float, float] | None:
    """Return the mean positions of the context's and the core's words; None if either is missing."""
    places: tuple[list[int], list[int]] = ([], [])
    for at, token in enumerate(statement.tokens):
        key = token.key.lstrip("@")
        if not key:
            continue
        nears = [
            max((lexicon.similarity(k, key) for k in keys), default=0.0) for keys in (reading.context, reading.core)
        ]
        if max(nears) >= 0.5 and nears[0] != nears[1]:
            places[int(nears[1] > nears[0])].append(at)
    if not places[0] or not places[1]:
        return None
    return sum(places[0]) / len(places[0]), sum(places[1]) / len(places[1])


def _between(statement: Statement, ends: tuple[float, float]) -> set[str]:
    """Return the words between the two ends, as base forms if they have one."""
    low, high = sorted(ends)
    return {t.key or t.lower for at, t in enumerate(statement.tokens) if low < at < high}


def _way(statement: Statement, ends: tuple[float, float]) -> float:
    """Return 1 if words say that the context leads to the core, -1 for the reverse, 0 if nothing says so."""
    cause, effect = ends
    low, high = sorted(ends)
    order = 1.0 if cause < effect else -1.0
    words = [token.lower for token in statement.tokens]
    score = 0.0
    for at, word in enumerate(words):
        if at < low and word in FOLLOWS:
            score += order
        elif low < at < high:
            score += order * ((word in LEADS) - (word in FOLLOWS))
    return float((score > 0) - (score < 0))


def is_swapped(match: Match) -> bool:
    """Return whether statements say the claim again with two persons in each other's place, and none says it as it is."""
    reading = match.reading
    pairs = [
        (candidate.statement, statement)
        for statement in read_entry(" ".join(reading.claim.texts()))
        for candidate in match.together
        # first, because it costs least and few have the same
        if candidate.statement.keys - {USER} == statement.keys - {USER}
    ]
    named = {_bare(token) for pair in pairs for statement in pair for token in statement.tokens if token.is_name}
    rows = [(_roles(one, named, reading.user), _roles(other, named, reading.user)) for one, other in pairs]
    same = [(mine[1], its[1]) for mine, its in rows if mine[0] == its[0] and MUTUAL.isdisjoint(its[0])]
    return bool(same) and all(_is_swap(one, other) for one, other in same)


def _bare(token: Token) -> str:
    return token.lower.removesuffix("'s")


def _roles(statement: Statement, named: set[str], user: frozenset[str]) -> tuple[Counter[str], dict[str, str]]:
    """Return the words of a statement without persons, and for each person the word before."""
    words: Counter[str] = Counter()
    roles: dict[str, str] = {}
    person: list[str] = []
    before = ""
    for token in statement.tokens:
        name = _bare(token)
        if name in named or name in FIRST_PERSON or name == USER:
            person.append(USER if name in FIRST_PERSON or name in user else name)
            roles.pop(" ".join(person[:-1]), None)
            roles[" ".join(person)] = before
        elif name not in UNTOLD:
            before, person = token.key or name, []
            words[before] += 1
    return words, roles


def _is_swap(one: dict[str, str], other: dict[str, str]) -> bool:
    """Return whether exactly two persons have each other's place, and the places are not alike."""
    moved = [name for name in other if one.get(name) != other[name]]
    if one.keys() != other.keys() or len(moved) != 2:
        return False
    first, second = moved
    return one[first] == other[second] and one[second] == other[first]
