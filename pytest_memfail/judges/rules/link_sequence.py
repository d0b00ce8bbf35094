"""Which of two things comes first where it is told by what follows upon what, and by no word that names a cause."""

from __future__ import annotations

import re
from typing import Final

from pytest_memfail.judges.rules.irregular import IRREGULAR

_MET: Final = (
    r"(?:respond|react|answer|follow|credit|meet|greet|counter|reward|celebrat|mark|honou?r|treat|sooth|fight|cur|eas|reliev|battl|"
    r"combat|cop|deal|offset|tackl|handl|crown|top|round|fend|ward|vent|voic|releas|channel|channell|express|show|address|beat|"
    r"conquer|overcom|banish|dispel|chas|curb|indulg|satisf|quench|manag|"
    r"(?:work|shak|burn|let|bring|tak|walk|sleep|danc|liv|act|blow)(?:s|es?|ing)? (?:off|out|through))"
    r"(?:s|es?|ed|d|ies|ied|ing|t)?|met|fought|overcame|repl(?:y|ies|ied|ying)|remed(?:y|ies|ied|ying)|gets? (?:over|rid of)"
)
ANSWERED: Final = re.compile(
    rf"\b(?:{_MET})(?: to| with| on| up| off)?(?: (?:the|a|an|his|her|their|my|such|any|every|some|user's))?$"
)
"""What comes next is met with what follows."""
ANSWERING: Final = re.compile(r"^(?:(?:spirits?|moods?|feelings?|state) )?(?:\w+ly )?(?:up )?(?:with|by|through|via)\b")
WHICH_MEETS: Final = re.compile(
    rf"\b(?:{_MET})(?: (?:with|to|on))?(?: (?:it|this|that|these|those|them))? "
    r"(?:with|by|through|via)(?: (?:a|an|the|some|his|her|their|my))?$"
)
"""What stands before is met with what follows: "stress, which is dealt with by"."""
COPING: Final = re.compile(r"\b(?:cop|deal|liv)(?:es?|s|ing)? with$")
"""What comes next is met with what stands before: "how she deals with"."""
IS_WHEN: Final = re.compile(
    r"^-?(?:(?!(?:and|or|but|that|which|as|when|if|after|because)\b)\w+ ){0,2}(?:is|are|was|were)(?: \w+ly)? when\b"
)
"""What stands before is the time of what stands behind: "quiet evenings are when" …"""
TIME_FOR: Final = re.compile(r"\b(?:times?|moments?|hours?) (?:for|to)\b[^,|]*$")
"""… and the other way round, what there is time for."""
NEEDED: Final = re.compile(r"^(?:needs?|takes?|wants?|(?:calls?|asks?) for)(?: (?:a|an|the|some|his|her|their|my))?$")
FIRST: Final = re.compile(r"first\b")
_WHO: Final = "(?:the )?(?:user|i|me|he|him|she|her|they|them|we|us)"
AGAINST: Final = re.compile(
    rf"(?:(?:^|\bhelps? (?:{_WHO} )?)against|\bhow {_WHO} (?:\w+ly )?(?:copes?|deals?) with|\b(?:to|for) cop(?:e|ing) with"
    rf"|\bwhat {_WHO} (?:\w+ly )?do(?:es)? about)(?: (?:a|an|the|his|her|their|my|such))?$"
)
"""What stands before is done about what stands behind, which was there first."""
ADJUNCT: Final = re.compile(
    r"\b(?:(?:soon|right|straight|just|shortly|long|immediately|directly|well|even) )?"
    r"(?:before|after|until|till|by|around|past|at) "
    r"(?:getting up|waking(?: up)?|rising|wake|bed(?:time)?|dinner|lunch|breakfast|supper|tea ?time|work|dark|hours|midnight|noon|"
    r"sunset|sunrise|sundown|sunup|dawn|dusk|school|class|nightfall|daybreak|meals?|a meal|"
    r"(?:any|every)thing else|long|lunchtime|dinnertime)\b"
)
"""When it is, and not what it comes before or after."""
AND_WHEN: Final = re.compile(
    r"(?:[,;|] ?and|\band)(?: then)? (?=(?:once|when|whenever|after|as soon as|if|because|since|as)\b)"
)
"""Another clause begins, which has a time of its own."""
AND_THERE: Final = re.compile(r"^, and(?: (?:a|an|the|some|his|her|their|my|that|its))?$")
ARRIVES: Final = re.compile(
    r"^(?:(?:soon|then|quickly|promptly|always|usually|often) )?(?:(?:\w+ )?(?:is|are) (?:what follows|next|not far|sure to follow)"
    r"|(?:\w+ )?(?:gets?|is|are) (?:\w+(?:ed|en)|built|made|sung|drawn|sent|written|brewed|bought|lit|sought)\b"
    r"|(?:comes?|settles?|follows?|sets? in|descends?|wash(?:es)?|fills?|takes? over|arrives?|results?|ensues?|appears?|happens?|"
    r"sinks? in|spreads?|rises?|returns?|reigns?)\b)"
)
"""It is told to be there then: "a page of poems, and calm settles over her"."""
LISTED: Final = re.compile(
    r"\b(?:topics?|subjects?|themes?|keywords?|tags?|things|items?|mention\w*|list|interests|points|agenda|discussed|talked about|"
    r"covered|owned|words)\b[^:|;]*:[^:|;]*$"
)
JOINED: Final = re.compile(
    r",(?:.*,)?(?: (?:and|or|the|a|an|some|his|her|their|my|user's))*(?: \w+ing)?$|(?:and|or|&|/)(?: (?:the|a|an))?$"
)
"""Items of a list, that have nothing to do with each other."""
ALONGSIDE: Final = re.compile(
    r"^(?:\w+ly |always |often |never without )?(?:(?:goes|go|comes?) (?:\w+ in \w+|along|together)|goes|go|coincides?|"
    r"pairs?|(?:is |are )paired) with(?: (?:the|a|an|his|her|their|my|some|user's))*$"
)
"""The one is done with the other, whichever led to it."""
DOING_SO: Final = re.compile(r"(?:^|, ?)(?!during\b)\w+ing\b[^,|]*$")
"""A clause that says what is done meanwhile."""


REFERS_BACK: Final = re.compile(
    r"\b(?:from|out of|because of|due to|thanks to|as a result of|on account of|owing to|following|in response to)"
    r" (?:(?:it|them|which|doing so)\b"
    r"|(?:this|that|these|those)(?=,|\s+(?:user|he|she|they|i|comes?|gets?|has|have|draws?|takes?)\b))"
    r"|\band (?:user |then )?(?:comes?|walks?|gets?|goes|emerges?|returns?) (?:back |away |out |home |up )?(?:with|to)\b"
)
"""What comes next is had from what stands before, or after it."""


def refers_back(between: str) -> bool:
    """Whether a conjunction governs but a pronoun for what stands before.

    >>> refers_back("and from it user gets"), refers_back("because of that"), refers_back("and comes back with a")
    (True, False, True)
    """
    return REFERS_BACK.search(between) is not None


AWAITED: Final = re.compile(
    r"\b(?:until|till|unless|before|(?<!pass )(?<!passes )(?<!ends )(?<!goes by )without"
    r"(?! (?:getting|becoming|feeling|ending|breaking|bursting|falling|coming)\b))\b"
)
WAITING: Final = re.compile(r"(?:\b(?:no|not|never|nothing|cannot|unable|hardly|waits?|waiting)\b|n't\b)[^,|]*$")
"""Nothing comes before what it waits for."""


def is_awaited(clause: str, between: str) -> bool:
    """Whether the first does not come before the second has.

    >>> is_awaited("user won't", "until"), is_awaited("user can't", "without getting")
    (True, False)
    """
    awaited = AWAITED.search(between)
    return awaited is not None and WAITING.search(f"{clause} {between[: awaited.start()]}") is not None


ALIKE: Final = frozenset("come become overcome run cut put set hit let read hurt split".split())
"""Verbs whose participle is their base."""
HAVING: Final = re.compile(r"(?<=they) ha(?:ve|d)( (?:a|an|the))$|(?<=\w) ha(?:s|ve|d)(?: (\w+))?$")


def but_having(between: str, following: str) -> str:
    """The words without a "have" that makes nobody do what follows.

    >>> but_having("because they have", "called"), but_having("because they have a", "cold"), but_having("it has", "her")
    ('because they', 'because they', 'it has')
    """
    found = HAVING.search(between)
    if found is None:
        return between
    done = found[2] or following
    is_done = done.endswith("ed") or done in ALIKE or (done in IRREGULAR and not done.endswith(("s", "ing")))
    return between[: found.start()] if found[1] or is_done else between


def is_met(clause: str, between: str) -> bool:
    """Whether the first is what the second is an answer to.

    >>> is_met("she works off her", "by"), is_met("", ", which she deals with by"), is_met("it is easier to", "with")
    (True, True, False)
    """
    answered = ANSWERED.search(clause) is not None and ANSWERING.search(between) is not None
    return answered or (WHICH_MEETS.search(between) is not None and COPING.search(between) is None)


def order_told(clause: str, between: str, behind: str) -> int:
    """1 where the first is told to be the time of the second, -1 where it needs the second or is done about it, else 0.

    >>> order_told("", "is when user", ""), order_told("", "calls for", "first"), order_told("", "helps her against", "")
    (1, -1, -1)
    """
    if IS_WHEN.search(between):
        return -1 if TIME_FOR.search(clause) else 1
    return -1 if AGAINST.search(between) or (NEEDED.match(between) and FIRST.match(behind)) else 0


def is_alongside(between: str) -> bool:
    """Whether two things are told to go together, and not which leads to the other.

    >>> is_alongside("goes hand in hand with her"), is_alongside(", so user goes with")
    (True, False)
    """
    return ALONGSIDE.match(between) is not None


def are_listed(ahead: str, between: str) -> bool:
    """Whether the two are items of a list.

    >>> are_listed("topics of the day:", ", a"), are_listed("habit:", ", then")
    (True, False)
    """
    return JOINED.match(between) is not None and LISTED.search(ahead) is not None


def starts_anew(between: str) -> int:
    """Where a clause of its own begins, after which the second stands, or -1."""
    found = AND_WHEN.search(between)
    return found.end() if found else -1


def arrives(between: str, behind: str) -> bool:
    """Whether the second is told to be there once the first is.

    >>> arrives(", and", "settles over user"), arrives(", and", "on sundays")
    (True, False)
    """
    return AND_THERE.match(between) is not None and ARRIVES.match(behind) is not None
