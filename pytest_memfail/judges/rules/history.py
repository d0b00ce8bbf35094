"""What tells which of two states holds now: wording, order within an entry, and time."""

from __future__ import annotations

import re
from typing import Final

from pytest_memfail.judges.rules.text import Sentence, plain
from pytest_memfail.judges.rules.view import View

PAST: Final = re.compile(
    r"\b(?:formerly|previously|originally|initially|used to|no longer|not any ?more|any ?more|any longer|instead of"
    r"|rather than|ex-|(?:the|an?|his|her|their|my|its|user's) (?:former|previous|ex)\b|former\b|previous\b|prior\b"
    r"|gave up|giv(?:es?|en|ing) up|stopped|quit|cancel\w*|ended|discontinued|abandon\w*|retract\w*|withdr[ae]w\w*"
    r"|revoked|lapsed?|expired|sold|closed|replac\w*|superseded?|outdated|obsolete|out of date|corrected|correction"
    r"|mistak\w*|incorrect\w*|wrong(?:ly)?|erroneous\w*|mishear\w*|misheard|misread|misspoke|misremember\w*"
    r"|mixed .{0,12}up|muddled|mix-up|confus\w*|in error|switched|swapp?\w*|traded|moved (?:out|away|on|from|over)"
    r"|transferred|converted|changed|upgraded|downgraded|dropped|left behind|got rid|repaid|paid (?:\w+ ){0,2}(?:back|off)"
    r"|handed (?:back|over|in)"
    r"|gave (?:\w+ ){0,2}(?:back|away)|given (?:back|away)"
    r"|donated|stepped down|done with|in the past|back then"
    r"|at first|until (?:then|recently|\d|january|february|march|april|may|june|july|august|september|october"
    r"|november|december|last|early|late|mid|spring|summer|autumn|winter|christmas|easter))\b"
    r"|\((?:was|were|old|ex|until|till|before|earlier|prior|previously|not|past)\b|\b(?:was|before|old|prev\.?|earlier)\s*[:=]"
    r"|->|→|=>|\bnot\b[^.;]{0,60}\bbut\b|\b(?:old|past|deprecated|historic\w*)\)|~~|\[(?:old|past|outdated|superseded)\]",
    re.IGNORECASE,
)
"""Said of a state, it tells that it is over, or never was."""
PAST_BEFORE: Final = re.compile(
    r"\b(?:was|were|wasn't|weren't|isn't|aren't|not|never|had|until|from|once|old|no more|before|earlier|than|lived|worked"
    r"|drove|took|kept|paid|studied|taught|played|sang|swam|wore|drank|ate|owned|ran|belonged|believed|thought|said|told"
    r"|stated|noted|heard|claimed|assumed|over from)\s+(?:[\w'£$€.:-]+\s+){0,4}$",
    re.IGNORECASE,
)
"""The same where it stands close before the old value."""
PAST_AFTER: Final = re.compile(
    r"^\W{0,3}(?:[\w'-]+\s+){0,3}(?:until|before|at the time|back then|is over|is off|belongs? to"
    r"|was (?:a |an )?(?:slip|mistake|error)"
    r"|is (?:gone|history|done)|has (?:ended|gone))\b",
    re.IGNORECASE,
)
CHANGE: Final = re.compile(
    r"\b(?:now|nowadays|currently|these days|at present|presently|as of|as from|from now"
    r"|from (?:this|next|today|tonight|tomorrow|the)\b"
    r"|from \w+ on(?:wards)?|from here on|any ?more|any longer|no longer|since|instead|recently|lately|latest|updated?"
    r"|turn(?:s|ed) out|in fact|actually|correct(?:ed|ion|s)?|put right|wrong|mistak\w*|mishear\w*|misheard|misread\w*"
    r"|misspoke|mixed|muddled|mix-up|mistyped|transposed|all along|from the (?:start|beginning)"
    r"|always (?:was|were|has|have|had|did)|(?:has|have|had) (?:only )?(?:always|ever|never)|never was|switched"
    r"|chang(?:ed|es|ing)|moved|swapped|replac\w*|transferred|traded|converted|upgraded|became|become"
    r"|promoted|postponed|rescheduled|recalculated|reshuffled|(?:put|pushed|moved) (?:off|back|forward|up|down)"
    r"|go(?:ne|es)? (?:over|up|down|back)|went (?:up|down|over)|(?:gave|given|gives) up|stopped|quit|cancel\w*"
    r"|used to|formerly|previous(?:ly)?|originally|former|strike|scrap|forget|disregard|ignore what|at last|finally"
    r"|new|longer|anew|again like|told you|i said|i'd said|i gave you|so much for|in (?:its|her|his|their|my) place"
    r"|(?:my|his|her|their|the|our|user's) (?:old|last|other|bigger|smaller) (?!\w*day|week|month|year|time|one)\w+"
    r"|the (?:bigger|smaller|other) (?:figure|number|one)|is (?:over|off)|cut (?:down|back)|reduced|raised|increased"
    r"|has(?:n't| not)\b[^.;]{0,40}\bfor (?:an? |\w+ )?(?:days?|weeks?|months?|years?)|all (?:week|month|year)|a better \w+"
    r"|back to being|in future|henceforth|hereafter|after all|r[au]n out|moved on|gone over)\b|->|→|=>|\(was\b|\bwas\s*[:=]",
    re.IGNORECASE,
)
"""Said with a state, it tells that it came after another."""
MONTHS: Final = "jan feb mar apr may jun jul aug sep oct nov dec".split()
MONTH: Final = rf"({'|'.join(MONTHS)})[a-z]*\.?"
NAMED_DATE: Final = re.compile(
    rf"\b(?:(\d{{1,2}})(?:st|nd|rd|th)?\s+)?{MONTH}\s+(?:(\d{{1,2}})(?:st|nd|rd|th)?,?\s+)?((?:19|20)\d\d)\b",
    re.IGNORECASE,
)
NUMBER_DATE: Final = re.compile(r"\b((?:19|20)\d\d)[-/.](\d{1,2})(?:[-/.](\d{1,2}))?\b")


def text_of(view: View, entry: int) -> str:
    """The entry as it was read, without its stamps."""
    return " ".join(view.sentences[i].text for i in range(view.first[entry], view.first[entry + 1]))


def stamp_of(view: View, entry: int) -> str:
    """When the entry was written, or the state that it tells began, as far as it says so."""
    given = view.stamp(entry)
    if given:
        return given
    text = f"{view.edges(entry)} {text_of(view, entry)}"
    if match := NUMBER_DATE.search(text):
        return f"{match[1]}-{int(match[2]):02d}" + (f"-{int(match[3]):02d}" if match[3] else "")
    if match := NAMED_DATE.search(text):
        day = match[1] or match[3]
        month = MONTHS.index(match[2].casefold()) + 1
        return f"{match[4]}-{month:02d}" + (f"-{int(day):02d}" if day else "")
    return ""


def later(view: View, new: int, old: int) -> bool:
    """Whether the times of two entries tell that the one is the newer."""
    since, then = stamp_of(view, new), stamp_of(view, old)
    shared = min(len(since), len(then))
    return bool(shared) and then[:shared] < since[:shared]


def is_past(sentence: Sentence, value: re.Match[str] | None, told_before: str) -> bool:
    """Whether the sentence tells the state as history; words of what was once said of it as current do not."""
    said = plain(told_before).casefold()
    if any(match[0].casefold() not in said for match in PAST.finditer(sentence.text)):
        return True
    if value is None:
        return False
    before = PAST_BEFORE.search(sentence.text[: value.start()])
    if before and before[0].strip().casefold() not in said:
        return True
    return PAST_AFTER.search(sentence.text[value.end() :]) is not None


def tells_change(text: str, told_before: str = "") -> bool:
    """Whether the wording says that something changed or was put right."""
    said = plain(told_before).casefold()
    return any(match[0].casefold() not in said for match in CHANGE.finditer(text))
