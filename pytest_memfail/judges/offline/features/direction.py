"""The direction of a link: the order of cause and effect, and the words between them."""

from __future__ import annotations

from pytest_memfail.judges.offline import lexicon
from pytest_memfail.judges.offline.match import Match
from pytest_memfail.judges.offline.reading import Reading
from pytest_memfail.judges.offline.statements import Statement

LEADS = frozenset("leads lead leading led makes make made causes cause gets sends prompts triggers brings means then so therefore "
                  "results into before sets turns pushes until".split())  # fmt: skip
"""Between two ends, one of these says that the first leads to the second."""
FOLLOWS = frozenset(
    "after because since from when whenever once if as due following by owing comes caused triggered prompted".split()
)
"""Between two ends, one of these says that the second leads to the first; at the start of the sentence, the reverse."""
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
