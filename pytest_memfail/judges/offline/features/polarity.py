"""Negation, exclusivity, order, frequency and liking: differences between the best statement and the source."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache

from pytest_memfail.judges.offline import lexicon
from pytest_memfail.judges.offline.english import Token, key_of
from pytest_memfail.judges.offline.match import Match, is_near_copy
from pytest_memfail.judges.offline.reading import Reading
from pytest_memfail.judges.offline.statements import MYSELF, Statement, read_entry

MARKERS = {
    "negation": "no not never nor without cannot neither none nobody nothing nowhere hardly barely stop stops stopped stopping quit "
    "quits abandon abandoned abandons discontinue cease ceased",
    "only": "only solely exclusively just unless except strictly must nowhere alone",
    "unless": "unless except excepting barring",
    "hedge": "sometimes occasionally often usually maybe perhaps might may tends generally mostly typically regularly "
    "frequently somewhat roughly about around approximately probably seldom rarely",
    "always": "always every each all any ever whenever everyone everything anywhere",
    "before": "before until till prior ahead earlier",
    "after": "after since following afterwards later once past",
    "above": "above over more exceeds exceed least minimum beyond greater higher longer warmer",
    "below": "below under less fewer most maximum beneath lower shorter colder within",
    "past": "formerly previously used once former old ex earlier originally was were had previous until",
    "now": "now currently current new present nowadays today since moved switched changed",
    "vague": "some something someone somewhere certain various several kind kinds sort sorts stuff things many few lot lots "
    "particular specific",
}
"""Closed classes of function words."""
PARTICLES = frozenset("up off out down away over on in back".split())
LIKING = "like love enjoy prefer favour adore favourite fond keen fan crave cherish pleasure delight"
DISLIKING = (
    "dislike hate loathe detest avoid refuse despise abhor reject shun resent bother annoy tolerate allergic intolerant"
)
CLASSES = (*MARKERS, "liking", "disliking")
NOT = frozenset("no not never cannot".split())
"""Words that turn a statement into its contrary if nothing else in it changes; those in "n't" too."""
FORMERLY = frozenset("formerly previously".split())
"""Words that turn it into what was."""
MEANT = frozenset(
    "plan plans planned planning want wants wanted intend intends hope hopes hoping consider considers considering might wish "
    "wishes".split()
)
"""Words that tell what somebody would do, not what is."""
LIGHT = MYSELF | frozenset("do does did a an the to".split())
NEARLY = 0.75
"""The least similarity of two statements that are the same apart from a negation."""
ENTRY = ("only", "negation", "past", "now")
"""Classes that are also counted in the whole entry."""
NAMES = {
    **{f"{name}_more": f"words of class '{name}' that only the best statement has, not the source" for name in MARKERS},
    **{f"{name}_less": f"words of class '{name}' that only the source has, not the best statement" for name in MARKERS},
    **{f"{name}_entry_less": f"words of class '{name}' that only the source has, not the whole entry"
       for name in ENTRY},
    "negation_turned": "exactly one of best statement and source sentence is negated",
    "liking_turned": "the best statement likes what the source dislikes, or the reverse",
    "liking_lost": "the source likes or dislikes something, the best statement does neither",
    "before_turned": "'before' instead of the source's 'after', or the reverse",
    "above_turned": "'above' instead of the source's 'below', or the reverse",
    "opposite": "number of needed words whose opposite the best statement has",
}  # fmt: skip


@cache
def _classes() -> dict[str, tuple[str, ...]]:
    """Return the classes of each lower-case word or base form."""
    found: dict[str, list[str]] = {}
    for name, words in MARKERS.items():
        for word in words.split():
            found.setdefault(word, []).append(name)
    for name, words in (("liking", LIKING), ("disliking", DISLIKING)):
        for word in words.split():
            key = key_of(word) or word
            for other in {key} | lexicon.lookup(key).close:
                found.setdefault(other, []).append(name)
    return {word: tuple(dict.fromkeys(names)) for word, names in found.items()}


def counts(statements: Iterable[Statement]) -> dict[str, int]:
    """Return the number of words of each class in the statements."""
    classes, found = _classes(), dict.fromkeys(CLASSES, 0)
    for statement in statements:
        last = ""
        for token in statement.tokens:
            names = _of(token, classes)
            if last and not names and token.lower in PARTICLES:
                names = _of_phrase(f"{last} {token.lower}")
            for name in names:
                found[name] += 1
            last = token.key
    return found


@lru_cache(maxsize=4096)
def _of_phrase(words: str) -> tuple[str, ...]:
    """Return the classes of a phrasal verb's meaning: to give up is to stop."""
    classes = _classes()
    return tuple(dict.fromkeys(name for word in sorted(lexicon.phrase(words)) for name in classes.get(word, ())))


def _of(token: Token, classes: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    if token.lower.endswith("n't"):
        return ("negation",)
    return classes.get(token.lower) or classes.get(token.key, ())


def compute(match: Match) -> dict[str, float]:
    """Return the features of this group by name."""
    found = dict.fromkeys(NAMES, 0.0)
    if match.best is None:
        return found
    said, best = counts(match.reading.said), counts([match.best.statement])
    source = counts([match.source]) if match.source else said
    entry = counts(match.entry_statements)
    for name in MARKERS:
        found[f"{name}_more"] = float(max(0, best[name] - said[name]))
        found[f"{name}_less"] = float(max(0, said[name] - best[name]))
    for name in ENTRY:
        found[f"{name}_entry_less"] = float(max(0, said[name] - entry[name]))
    found["negation_turned"] = float(source["negation"] % 2 != best["negation"] % 2)
    found["liking_turned"] = _turned(source, best, "liking", "disliking")
    feels, felt = (some["liking"] + some["disliking"] > 0 for some in (best, source))
    found["liking_lost"] = float(felt and not feels)
    found["before_turned"] = _turned(source, best, "before", "after")
    found["above_turned"] = _turned(source, best, "above", "below")
    keys = match.best.statement.keys
    for wanted in (*match.reading.core, *match.reading.context):
        if match.held.get(wanted, 0.0) < 0.7 and wanted[:1].isalpha():
            found["opposite"] += not lexicon.lookup(wanted).opposite.isdisjoint(keys)
    return found


def is_turned(match: Match) -> bool:
    """Return whether statements say the claim again with a negation added or lost, or only ask it, and none says it as it is.

    They have the same words with content, nearly in the same order, and the same words of every class but past and present.
    """
    reading = match.reading
    claim = " ".join(reading.claim.texts())
    wanted = [(statement, _content(statement, reading)) for statement in read_entry(claim)]
    same = [
        (_Said(candidate.statement, reading), _Said(statement, reading))
        for candidate in match.together
        for statement, keys in wanted
        # first, because it costs least and few have the same
        if keys == _content(candidate.statement, reading)
        and not (len(keys) == 1 and candidate.statement.text.endswith("?"))  # "Flying? She never does."
    ]
    alike = [(one, other) for one, other in same if one.classes == other.classes]
    is_clear = all(one.turns != other.turns or one.is_asked for one, other in alike)
    return is_clear and any(is_near_copy(one.words, other.words, NEARLY) for one, other in alike)


def _content(statement: Statement, reading: Reading) -> frozenset[str]:
    """Return the words of a statement with content, without persons and words that say that it is over or only meant."""
    return statement.keys - reading.names - FORMERLY - MEANT - MYSELF


class _Said:
    """A statement apart from persons, the words that turn it, and those of past and present."""

    def __init__(self, statement: Statement, reading: Reading) -> None:
        self.words: list[str] = []
        negations = formerly = meant = 0
        for token, after in zip(statement.tokens, (*statement.tokens[1:], None), strict=True):
            if token.lower in NOT or token.lower.endswith("n't"):
                negations += not (after and after.lower[0].isdigit())  # "no. 5"
            elif token.lower in FORMERLY:
                formerly += 1
            elif token.lower in MEANT:
                meant += 1
            elif token.lower not in LIGHT and token.key.lstrip("@") not in reading.names:
                self.words.append(token.key or token.lower)
        self.turns = (negations + formerly > 0, meant > 0)
        self.is_asked = statement.text.endswith("?")
        classes = counts([statement])
        classes["negation"] -= negations
        classes["hedge"] -= sum(token.lower == "might" for token in statement.tokens)
        self.classes = {name: number for name, number in classes.items() if name not in ("past", "now")}


def _turned(source: dict[str, int], best: dict[str, int], one: str, other: str) -> float:
    """Return 1 if the source has words of one class alone, and the best statement those of the other alone."""
    has_one, had_one = best[one] > 0, source[one] > 0
    return float(has_one != had_one and has_one != (best[other] > 0) and had_one != (source[other] > 0))
