"""Which way a link goes: the order of cause and effect, and the words between them."""

from __future__ import annotations

from pytest_memfail.judges.offline import lexicon
from pytest_memfail.judges.offline.match import Match
from pytest_memfail.judges.offline.reading import Reading
from pytest_memfail.judges.offline.statements import Statement

LEADS = frozenset("leads lead leading led makes make made causes cause gets sends prompts triggers brings means then so therefore "
                  "results into before sets turns pushes until".split())  # fmt: skip
"""The first of two ends leads to the second with one of these between them."""
FOLLOWS = frozenset(
    "after because since from when whenever once if as due following by owing comes caused triggered prompted".split()
)
"""The second of two ends leads to the first with one of these between them; the first to the second where it opens the sentence."""
NAMES = {
    "ends_found": "share of both ends in the best statement, the smaller one",
    "order_turned": "the ends stand in another order than in the source, without words that make up for it",
    "way": "which way the best statement goes: 1 cause to effect, -1 effect to cause, 0 not told",
    "way_turned": "the way differs from the source's",
    "way_lost": "the source tells the way, the best statement does not",
    "ends_apart": "words between the ends in the best statement",
    "between_same": "the ends stand in another order, and this share of the source's words between them is between them still",
    "linked": "a word that links stands in the best statement",
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
        told = _way(source, theirs)
        turned = (mine[0] < mine[1]) != (theirs[0] < theirs[1])
        found["order_turned"] = float(turned and way == told)
        if turned:
            between, still = _between(source, theirs), _between(best, mine)
            found["between_same"] = len(between & still) / len(between) if between else 0.5
        found["way_turned"] = float(way * told < 0)
        found["way_lost"] = float(bool(told) and not way)
    return found


def _ends(reading: Reading, statement: Statement) -> tuple[float, float] | None:
    """Return where the words of the context and of the core stand, on average; None if either is not there."""
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
    """Return the words between the two ends, base forms where they have one."""
    low, high = sorted(ends)
    return {t.key or t.lower for at, t in enumerate(statement.tokens) if low < at < high}


def _way(statement: Statement, ends: tuple[float, float]) -> float:
    """Return 1 where the words say that the context leads to the core, -1 for the reverse, 0 where nothing says so."""
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
