"""Whether somebody to whom an end of a link is done is told to do it: "my sister texts", "moves his aunt to ring him"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pytest_memfail.judges.rules.anchor_match import is_somebody
from pytest_memfail.judges.rules.anchor_words import Part, Token
from pytest_memfail.judges.rules.kinship import kin

CLOSE: Final = 0.58
"""A word that stands for a verb as well as this is no chance."""
OBJECTS: Final = frozenset("user me him her them us".split())
OWNERS: Final = frozenset("a an the his her their my its one some user user's of".split())
BEFORE_VERB: Final = frozenset("to then will would".split())


def acted_by_object(text: str, parts: Sequence[Part], tokens: Sequence[Token], at: tuple[int, ...]) -> bool:
    """Whether somebody to whom it is done does it: my sister texts, the dentist cancels.

    Args:
        text: the end, which opens with a verb.
        parts: its words.
        tokens: the words of the stretch.
        at: those of them that stand for the end.
    """
    verb, others = parts[0].key, {part.key for part in parts[1:]}
    for i in at[1:]:
        token, before = tokens[i], tokens[i - 1]
        if not token.key:
            continue
        if any(kin(other, token.key)[1] for other in others):
            by = tokens[next((k for k in range(i - 1, at[0], -1) if tokens[k].lower not in OWNERS), at[0])].lower
            done = by == "by" or (by == "from" and at[0] and tokens[at[0] - 1].lower in OWNERS and by not in text)
            if done and is_somebody(token.key) and kin(verb, tokens[at[0]].key)[1] >= CLOSE:
                return True
            continue
        if _is_done_to_the_person(tokens, i) and any(is_somebody(tokens[k].key) for k in at if k < i):
            return True
        bare = token.lower.rstrip("e") == token.key.rstrip("e")
        active = bare or (token.lower.endswith("s") and not token.lower.endswith("ings"))
        if active and i - 1 in at and not token.gap and kin(verb, token.key)[1]:
            return is_somebody(before.key)
    return False


def _is_done_to_the_person(tokens: Sequence[Token], at: int) -> bool:
    """Whether the verb, in the infinitive or right behind who does it, has behind it the user, a pronoun or a name."""
    if at + 1 >= len(tokens) or tokens[at + 1].breaks:
        return False
    if tokens[at - 1].lower not in BEFORE_VERB and not is_somebody(tokens[at - 1].key):
        return False
    whom = tokens[at + 1]
    return whom.lower in OBJECTS or (whom.surface[0].isupper() and not whom.lower.endswith("'s"))
