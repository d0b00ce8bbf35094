"""Detect English words of doubt, condition, past and removal."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

from pytest_memfail.texts import fold


def _marker(phrases: Iterable[str]) -> Callable[[str], bool]:
    pattern = re.compile(r"(?<!\w)(?:" + "|".join(phrases) + r")(?!\w)")
    return lambda text: pattern.search(fold(text)) is not None


_HEDGES: Final = (
    "may (?:be|have|now|still|not|no)",
    "might|maybe|perhaps|possibl[ey]|probabl[ey]|presumably|likely|unlikely|could be|could have|seems?|appears?|i guess",
    "uncertain|unsure|unclear|unknown|undetermined|unspecified|not (?:sure|certain|clear|known|specified|stated|confirmed)",
    "(?:do not|don't|doesn't|does not|cannot|can't|can not|couldn't|unable to) "
    "(?:know|say|tell|confirm|determine|be sure|recall|remember|find|have)",
    "no (?:information|record|memory|details?|longer (?:clear|certain|sure|known))|if|unless|assuming|depends",
)
_PAST: Final = (
    "was|were|used to|previously|formerly|before|earlier|once had|no longer|any ?more|instead of|replaced|stopped|ended|"
    "left|until|outdated|changed|old|initially|originally|first|not valid",
)

hedged: Final = _marker(_HEDGES)
"""`hedged(text)`: whether an answer hedges or says that it does not know."""
marks_past: Final = _marker(_PAST)
"""`marks_past(text)`: whether a text describes a past state."""
marks_present: Final = _marker(
    ["now|current(?:ly)?|at present|presently|latest|newest|today|these days|since|as of|became"]
)
"""`marks_present(text)`: whether a text describes a current state."""
marks_removal: Final = _marker(
    [
        "forget|forgotten|forgot|delet(?:e|ed|es|ing|ion)|remov(?:e|ed|es|ing|al)|eras(?:e|ed|es|ing|ure)|wip(?:e|ed|es|ing)",
        "scrub(?:bed|bing)?|str(?:ike|uck)|discard(?:ed)?|redact(?:ed)?|retract(?:ed)?|withdr(?:aw|awn|ew)|purged?|cross out",
        "take (?:it|that|this|him|her|them) out|drop (?:it|that|this|the)|"
        "(?:not|don't|no longer) (?:to )?(?:keep|stored?|mention|retain|repeat)",
        "want(?:s|ed)? [\\w ]{1,40} (?:gone|forgotten|deleted|removed)",
    ]
)
"""`marks_removal(text)`: whether a text asks to forget something, or records such a request."""
marks_condition: Final = _marker(
    [
        "if|should|ever|when|whenever|once|the day|as long as|so long as|long as|only|solely|purely|while|because|until|"
        "unless|depends?|dependent|depending|tied|linked|requires?|provided|otherwise|except|since|due to|means|becomes?|"
        "contingent|conditional|in case|in the event|thanks to|exists|comes with|for as long|must|whoever|within|reserved"
    ]
)
"""`marks_condition(text)`: whether a text makes one thing depend on another."""
is_hypothetical: Final = _marker(
    [
        "if|should|ever|whenever|once|unless|would|were to|in case|suppose|in the event|could|might|will|becomes?|the day|"
        "(?:changes|switches|moves|turns) (?:in)?to"
    ]
)
"""`is_hypothetical(text)`: whether a clause describes a possibility."""

marks_applied: Final = _marker(
    [
        "per (?:the |user's |the user's )?rule|rule applied|derived|(?:auto-?)?updated|supersed(?:es|ed|ing)|triggered|previous|"
        "consequen(?:ce|tly)|because|therefore|hence|(?:changed|switched|moved) (?:to|from)"
    ]
)
"""`marks_applied(text)`: whether a text says that something follows from what has happened."""
marks_idea: Final = _marker(
    [
        "mention(?:ed|s)?|consider(?:ed|s|ing)?|suggest(?:ed|s|ing|ion)?|recommend(?:ed|s|ing|ation)?|discuss(?:ed|es|ing)?",
        "propos(?:ed|es|ing|al)|planned|planning|look(?:ed|s|ing)? (?:at|into)|prefer(?:s|red)?|likes?|wants?|hopes?|exists as",
        "candidate|option|alternative|for sale|somebody|someone",
    ]
)
"""`marks_idea(text)`: whether a text names something only as an idea, a plan or a wish."""
marks_other: Final = _marker(
    [
        "(?:sister|brother|mother|father|mom|mum|dad|aunt|uncle|cousin|grand(?:mother|father|ma|pa|parents)|gran|son|daughter|"
        "parents|in-laws?|friend|neighbou?r|roommate|flatmate|boss|manager|colleague|coworker|co-worker|classmate|competitor|"
        "vendor|supplier|client|customer|rival|assistant|landlord|stranger|ex|wife|husband|partner)(?:'s|s')?"
    ]
)
"""`marks_other(text)`: whether a text speaks of somebody besides the user."""


def is_doubtful(text: str) -> bool:
    """Return whether an answer states a value as uncertain, or as a past state."""
    return hedged(text) or marks_past(text)
