"""Whose link a stretch of a store tells: the speaker's, the named person's, or somebody else's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from pytest_memfail.judges.rules.anchor_words import CAUSING, SOMEBODY, Token
from pytest_memfail.judges.rules.given_names import GIVEN
from pytest_memfail.judges.rules.kinds import is_person
from pytest_memfail.judges.rules.kinship import kin
from pytest_memfail.judges.rules.lexicon import lookup
from pytest_memfail.judges.rules.stretches import is_row, speaker_is_named, subjects, title
from pytest_memfail.judges.rules.stretches import tokens as tokens_in
from pytest_memfail.judges.rules.text import fold
from pytest_memfail.judges.rules.view import AFTER_NAME, View
from pytest_memfail.judges.rules.words import OPENERS, STOP

SPEAKER: Final = frozenset("user users user's i me my i'm i've i'd i'll myself speaker we our".split())
SUBJECTS: Final = frozenset("user i he she they we who".split())
FIRST: Final = frozenset("user i".split())
PLACES: Final = frozenset("from in at near to around like unlike".split())
BESIDE: Final = frozenset("for with".split())
"""Whoever stands behind these does it as little, but where a sentence opens with them: "For Nina, rain means tea"."""
ADVERBS: Final = frozenset("always sometimes afterwards nowadays besides perhaps".split())
TELLING: Final = frozenset("tells told telling informs informed assures assured reminds reminded to".split())
"""Whoever is told something does not do it."""
TOWARDS: Final = frozenset("with by to for of from at on about over after without than between among".split())
DETERMINERS: Final = frozenset("the his her their my some other many several most all these those a few user's".split())
NOBODY: Final = frozenset("favourite favorite favourites favorites self own inner".split())
"""Their sense of a person is not meant behind a possessive."""
FIELD: Final = 4
"""Words of a field that names somebody: "Name: Ada Byron"."""
BEING: Final = frozenset("is was has gets always often usually".split())
"""Behind somebody they begin what is said of them …"""
DONE_TO: Final = re.compile(r"\w+(?:ed|en|wn|ld|ung|ught)")
"""… but not what is done to them: "is shown"."""
SECOND: Final = 2
OWN, OPEN, OTHER = 1, 0, -1


def whose(
    tokens: Sequence[Token], place: tuple[int, int], mine: frozenset[str], known: frozenset[str], view: View
) -> int:
    """Whose doing stands at the place; `mine`: the words that name whose link it is, `known`: all words of its source."""
    for at in range(place[0] + 1, min(place[1] + 4, len(tokens))):
        if at > place[1] and (tokens[at].breaks or tokens[at - 1].lower != "by"):
            continue
        if _actor(tokens, at, mine, known, view) == OTHER:
            return OTHER
    for at in range(place[0], -1, -1):
        found = _actor(tokens, at, mine, known, view)
        if found:
            return found
        if at < place[0] and _act(tokens, at, place[0], known):
            return OTHER
        if tokens[at].gap and ("|" in tokens[at].gap) and at < place[0] - 1 and not mine:
            continue
    return OPEN


def next_actor(tokens: Sequence[Token], start: int, mine: frozenset[str], known: frozenset[str], view: View) -> int:
    """Whose doing is told first from here on."""
    return next((found for at in range(start, len(tokens)) if (found := _actor(tokens, at, mine, known, view))), OPEN)


def headed(view: View, at: int, mine: frozenset[str], known: frozenset[str]) -> int:
    """Whose the entry is by what comes before the sentence: "Ada | hobby | …", and with a known name "Name: Ada; hobby: …"."""
    in_row = is_row(view, view.entry[at])
    for heading in (title(view, view.entry[at]), title(view, view.entry[at], last=True) if in_row else ()):
        if any(t.lower.removesuffix("'s") in mine for t in heading):
            return OWN
        if heading and not (mine is SPEAKER and speaker_is_named(view)):
            in_rows = in_row and not subjects(view).isdisjoint(mine)
            if all(_heads(heading, i, in_rows=in_rows) and heading[i].lower not in known for i in range(len(heading))):
                return OTHER
    if mine is SPEAKER:
        return OPEN
    for back in range(at - 1, view.first[view.entry[at]] - 1, -1):
        tokens = tokens_in(view, (back,))
        if not 2 <= len(tokens) <= FIELD or ":" not in tokens[1].gap:
            continue
        if any(t.lower.removesuffix("'s") in mine for t in tokens):
            return OWN
        if any(is_name(tokens, i) and tokens[i].lower.removesuffix("'s") not in known for i in range(1, len(tokens))):
            return OTHER
    return OPEN


def _heads(heading: Sequence[Token], at: int, *, in_rows: bool) -> bool:
    """Whether a word at the head of an entry is somebody's name, which may be in lower case where rows begin with names."""
    entry = lookup(heading[at].key)
    unknown = in_rows and not (entry.same or entry.general or entry.close)
    return unknown or heading[at].lower in GIVEN or is_name(heading, at)


def _actor(tokens: Sequence[Token], at: int, mine: frozenset[str], known: frozenset[str], view: View) -> int:
    token = tokens[at]
    bare = token.lower.removesuffix("'s")
    if bare in mine or token.lower in mine:
        # "User's sister" is not the user.
        following = tokens[at + 1] if at + 1 < len(tokens) else None
        somebody = (
            following is not None
            and (token.lower.endswith("'s") or token.lower == "my")
            and _is_anybody(following)
            and (not {following.lower, following.key} & known or _acts(tokens, at + 1, unless=CAUSING))
        )
        if somebody and _is_beside(tokens, at):
            return OPEN
        return OTHER if somebody or _is_somebodys(tokens, at, known) else OWN
    told = at > 0 and tokens[at - 1].lower in TELLING
    if mine is not SPEAKER and token.lower in FIRST and not told and at + 1 < len(tokens) and not tokens[at + 1].breaks:
        return OTHER
    if bare in known or token.key in known or bare in STOP or len(bare) < 2:
        return OPEN
    if token.key in SOMEBODY and not token.surface[0].isupper() and (token.lower.endswith("'s") or _acts(tokens, at)):
        return OTHER
    if _is_beside(tokens, at):
        return OPEN
    return OTHER if is_name(tokens, at) and not (mine is SPEAKER and speaker_is_named(view)) else OPEN


def _is_anybody(token: Token) -> bool:
    """Whether the word behind a possessive says who somebody is: "user's landlady", but not "user's favourite"."""
    return token.key in SOMEBODY or (is_person(token.key) and token.lower not in NOBODY)


def _is_beside(tokens: Sequence[Token], at: int) -> bool:
    """Whether somebody is only named for whom, with whom, or where it is done, or is told of it."""
    start = at - 1 if at and tokens[at - 1].lower in DETERMINERS and not tokens[at].breaks else at
    who = at + 1 < len(tokens) and tokens[at + 1].lower in ("who", "whom", "whose")
    if not start or tokens[start].breaks or who:
        return False
    before = tokens[start - 1].lower
    return before in PLACES | TELLING or (start > 1 and before in BESIDE)


def _is_somebodys(tokens: Sequence[Token], at: int, known: frozenset[str]) -> bool:
    """Whether the name but says whose somebody is: "Ada, a cousin of Ben"."""
    start = at - 1 if tokens[at - 1].lower in DETERMINERS else at
    if start < SECOND or tokens[start - 1].lower != "of" or any(t.breaks for t in tokens[start - 1 : at + 1]):
        return False
    somebody = tokens[start - 2]
    return somebody.key in SOMEBODY and not {somebody.lower, somebody.key} & known


def _acts(tokens: Sequence[Token], at: int, unless: frozenset[str] = frozenset()) -> bool:
    following = tokens[at + 1] if at + 1 < len(tokens) and not tokens[at + 1].breaks else None
    if following is not None and following.lower in BEING:
        if unless and at + 2 < len(tokens) and tokens[at + 2].key in unless:
            return False  # "calling my cousin always leads to"
        return at + 2 >= len(tokens) or not DONE_TO.fullmatch(tokens[at + 2].lower)
    if following is None or following.lower in STOP | ADVERBS or following.key in unless:
        return False
    return following.lower.endswith("s") and not following.lower.endswith("ss")


def _act(tokens: Sequence[Token], at: int, until: int, known: frozenset[str]) -> bool:
    """Whether some people do what follows, up to a place: "strangers come up and strike up a conversation"."""
    token, verb = tokens[at], tokens[at + 1]
    plural = token.lower.endswith("s") and not token.lower.endswith("ss")
    if not plural or token.lower in known or token.key in known or not is_person(token.key):
        return False
    if any(is_person(key) and kin(key, token.key)[1] for key in known):
        return False
    before = next((t.lower for t in reversed(tokens[:at]) if t.lower not in DETERMINERS), "")
    if before in TOWARDS | SUBJECTS or any(t.breaks for t in tokens[at + 1 : until + 1]):
        return False
    bare = verb.lower.startswith(verb.key) and len(verb.lower) <= len(verb.key) + 1 and not verb.lower.endswith("s")
    return bool(verb.key) and bare and verb.lower not in STOP | ADVERBS and verb.key not in CAUSING


def is_name(tokens: Sequence[Token], at: int) -> bool:
    """Whether a capitalised word names somebody, as far as one can tell."""
    token = tokens[at]
    bare = token.lower.removesuffix("'s")
    if (
        not token.surface[0].isupper()
        or bare in OPENERS
        or bare in STOP
        or token.surface.isupper()
        or bare.endswith("ing")
    ):
        return False
    opens = (
        at == 0
        or tokens[at - 1].inside != token.inside
        or "|" in token.gap
        or "]" in token.gap
        or ")" in token.gap
        or ">" in token.gap
        or ":" in token.gap
    )
    if bare in GIVEN:
        return True
    entry = lookup(fold(bare))
    if not opens:
        return not {"languag", "linguistic", "day", "month"} & entry.general
    dated = not {"day", "month", fold("weekday")}.isdisjoint(entry.general)
    # Of some names the lexicon knows a bearer.
    borne = is_person(fold(bare)) and not entry.close and token.key not in SOMEBODY and not dated
    if borne or not (entry.same or entry.general or entry.close):
        return not bare.endswith(("ing", "ed", "ly"))
    if token.lower.endswith("'s"):
        return not {"day", "month", "time", "period"} & entry.general
    following = tokens[at + 1] if at + 1 < len(tokens) else None
    return following is not None and not following.gap and following.lower in AFTER_NAME and not entry.close
