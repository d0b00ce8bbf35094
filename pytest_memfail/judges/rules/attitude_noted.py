"""What is noted of a thing in a word, a mark or a field: "karaoke: no thanks", "karaoke 1/5", "sentiment: negative"."""

from __future__ import annotations

import re
from typing import Final

TOO: Final = (
    r"too (?!(?:good|tempting|lovely|beautiful|precious|cute|nice|fun|few|late|rare|rarely|seldom|because|since|when|if|as|for"
    r"|and|but|with|in|on|at|so|to|after|before|while)\b)\w+\b"
    r"(?! (?:to (?:miss|resist|pass|skip)|for words))"
)
"""A thing that is too much so is not liked, but for "too good to miss"."""
VERDICT: Final = re.compile(
    r"(?: (?:places?|ones?|stuff|things|restaurants?|food|drinks?|music|shows|films|games|classes))?"
    r"(?:\s*[:=(|\u2013\u2014\u2192,]|\s*-+>?\s|\s(?:is|are|was|were|gets?|remains?|stays?)\b)[\s\"']*"
    r"(?:(?:an?|still|simply|just|really|strictly|definitely|firmly|absolutely|hard|big|clear|now|rather) )*"
    r"(?:(?:no(?:-go|pe|ne)?|nah|never(?: again| ever)?|pass|skip|out|meh|yuck|ugh|bah|last|unloved|unwanted|taboo)"
    r"(?=\s*(?:$|[.,;:!)|/\"'\u2013\u2014]|(?:from|for|with|to|on) (?:the )?(?:user|me|her|him|them)\b))"
    r"|no(?:t,)? (?:thanks|thank you|way|chance|sirree)|not (?:for|(?:my|his|her|their|the user's|user's) (?:thing"
    r"|cup|taste|style))\b"
    r"|(?:thumbs?[- ]down|two thumbs down|turn-?off|no-no|deal-?breaker|off the (?:list|menu|table|cards)|off-limits"
    r"|(?:crossed|struck|scratched|taken) off|ruled out|banned|bottom of the (?:list|pile)|on (?:the|\w+) blacklist)\b"
    rf"|never (?:caught on|took off|clicked|appealed|grew on)\b|{TOO})",
    re.IGNORECASE,
)
"""What is noted behind a thing in a word or two: "karaoke: no thanks", "karaoke = a no-go"."""
FIELD: Final = (
    r"stance|attitude|opinion|feelings?|views?|rating|verdict|sentiment|preference|liking|polarity|likes?\?|liked"
    r"|enjoy(?:s|ed)|favou?rite|fan"
)
STANCE: Final = re.compile(rf"\W*(?:{FIELD}|mood)[\"']?\s*[:=](?P<said>.*)", re.IGNORECASE)
"""The field of a note that says how its subject is liked."""
NOTED: Final = re.compile(
    rf"(?:^|[|,;(\"'\]]\s*)[\"']?(?:{FIELD})[\"']?\s*[:=]\W*"
    r"(?:no|none|never|negative|against|anti|contra|bad|low|poor|con|minus|averse|false|hates?|dislikes?"
    r"|disliked)\s*(?:$|[\"'.,;|)}\]])",
    re.IGNORECASE,
)
"""A field that says it is not."""
LOW: Final = re.compile(
    r"[\s:=(,\"'\u2013\u2014-]*(?:(?:[\"']?(?:rating|score|stars|rated|grade|liking)[\"']?[\s:=]*)?"
    r"(?:[012]\s?(?:/|out of)\s?5|[0-4]\s?(?:/|out of)\s?10|(?:0|1|one|zero) stars?)\b(?!\s*[/.]\d)"
    r"|[\"']?(?:rating|score|stars|liking)[\"']?\s*[:=]\s*[\"']?(?:-\d|[012])\b(?!\s*[/.]?\s*\d))"
    r"|\s*:-?[(\[](?!\w)|\s*\([-\u2013\u2212]\)"
    r"|[\s:=-]*[\U0001f44e\u274c\U0001f6ab\U0001f92e\U0001f922\U0001f494\u2717\u2718]",
    re.IGNORECASE,
)
"""A low mark behind a thing."""
LISTED: Final = re.compile(
    r"\b(?:no-?gos?|no-?nos?|pet peeves?|turn-?offs|deal-?breakers|bugbears?|(?:hard )?nos|nopes?|blacklist(?:ed)?"
    r"|cons|thumbs[ -]down)"
    r"[\"']?\s*(?:[:=]|->|\u2192)[^.;:=|{}]*$|[\U0001f44e\u274c\U0001f6ab\u2717\u2718]\W*$",
    re.IGNORECASE,
)
"""What heads a list of things that are not liked."""


def marked_down(before: str, after: str) -> bool:
    """Whether the thing between the two texts has a low mark, or stands where things do that are not liked."""
    return LOW.match(after) is not None or LISTED.search(before) is not None or noted_against(after)


def noted_against(text: str) -> bool:
    """Whether a field of the note says that its subject is not liked.

    >>> noted_against('", "sentiment": "negative"}')
    True
    """
    return NOTED.search(text) is not None
