"""One place where a behaviour may be stored, and whether it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pytest_memfail.judges.rules.rule_condition import Kept

STORED: Final = 0.55
"""Share of the behaviour that shows it is stored by itself, and with its condition beside it."""
STORED_WITH_CONDITION: Final = 0.3
STORED_BY_SYNONYMS: Final = 0.45
CONDITION_THERE: Final = 0.55
ALL: Final = 0.85
MOST: Final = 0.7
"""Share that shows it though a number of the condition is gone, or the condition is told in a word of another kind."""
VERBATIM: Final = 0.9
"""Share that shows a place to be as good as word for word: there the rules are sure, elsewhere they are not."""
SEVERAL: Final = 2
"""So many words of the behaviour in one place show it."""
CONDITION_HINTED: Final = 0.3
FROM_SOURCE: Final = 0.35


@dataclass(frozen=True, slots=True)
class Match:
    """One place where the behaviour may be stored."""

    core: tuple[int, ...]
    share: float
    kept: Kept
    region: tuple[int, ...]
    own: bool
    """Whether it is the entity's there."""
    source: float = 1.0
    """The share of its words that are the source's."""
    words: tuple[int, bool, bool] = (1, True, True)
    """How many words of the behaviour are said outright there, whether a telling one is, and whether it has any."""
    told: bool = False
    """Whether one of its sentences was made from the rule's own, as far as its words tell."""

    @property
    def whole(self) -> bool:
        return self.kept.ok and not self.kept.turned


def is_stored(match: Match) -> bool:
    if not match.own or match.told:
        return True
    exact, telling, has_telling = match.words
    from_source = match.source >= FROM_SOURCE
    sure = match.kept.share >= CONDITION_HINTED or from_source
    # What another sentence of the source says of it by the way, without the condition, is not the rule.
    own = telling or not has_telling or match.kept.ok
    if (match.share >= ALL and own and (sure or len(match.core) == 1)) or (
        telling and sure and exact and match.share >= STORED
    ):
        return True
    if (
        exact >= SEVERAL
        and len(match.core) == 1
        and match.kept.share >= CONDITION_HINTED
        and (not match.kept.lost_numbers or match.share >= MOST)
    ):
        return True
    if exact and from_source and match.kept.ok and match.share >= MOST:
        return True
    there = match.kept.share >= CONDITION_THERE and not match.kept.lost_numbers
    return (
        match.share >= (STORED_WITH_CONDITION if exact else STORED_BY_SYNONYMS) and there and (telling or from_source)
    )
