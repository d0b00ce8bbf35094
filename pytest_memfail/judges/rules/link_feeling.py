"""How a person is said to feel for a thing in figures of speech, which name no liking: "crazy about", "a pet peeve"."""

from __future__ import annotations

import re
from typing import Final

from pytest_memfail.judges.rules.attitude import LIKED

COLD: Final = re.compile(
    r"\b(?:not|isn't|aren't|never|hardly) (?:really |quite |exactly )?[\w']+ (?:thing|cup of tea|cup|style|bag|scene)\b"
    r"|\b(?:shudder|recoil|cring|winc|groan|bristl|grat|infuriat|peev|displeas|ril|vex|repel|repuls|appal|nauseat)(?:e?s|ed|ing|e)?\b"
    r"|\bpet (?:peeve|hate)\b|\b(?:puts?|turns?|ticks?|gets?) [\w']+ (?:right )?(?:off|down)\b|\bsets? [\w']+ teeth\b"
    r"|\b(?:on|under) [\w']+ (?:nerves|skin)\b|\b(?:bane|nightmare|horror|phobia|torment|torture|ordeal|misery)\b"
    r"|\b(?:can't|cannot|can not|couldn't) (?:abide|face|take|stick|handle|cope)\b|\bwrong way\b|\bup the wall\b"
    r"|\b(?:doesn't|does not|don't|didn't) (?:much |really )?care (?:much )?for\b"
    r"|\b(?:drives?|drove) [\w']+ (?:mad|crazy|nuts|insane)\b"
    r"|\bbugs\b|\bcross (?:about|at|with|over)\b|\b(?:worked|wound) up (?:about|over|by)\b"
    r"|\bnothing worse\b|\bgives? [\w']+ the creeps\b"
    r"|\bleaves? [\w']+ (?:cold|unmoved|flat)\b|\b(?:as|is|are) an? (?:real )?chore\b"
    r"|\b(?:tedious|oppressive|unbearable|insufferable|wearisome|nuisance|irksome|drudgery)\b"
    r"|\b(?:ruins?|spoils?|sours?|dampens?) [\w']+ (?:day|mood|morning|evening|afternoon|fun)\b"
    r"|\b(?:makes?|leaves?) [\w']+ (?:miserable|unhappy|sad|gloomy|grumpy|cranky|wince|shudder|cringe)\b"
    r"|\b(?:can|could) (?:happily |gladly )?do without\b|\ba rise out of\b|\bheart sinks?\b|\brather (?:not|do anything)\b"
    r"|\b(?:sick|tired) of\b|\b(?:had|has) enough of\b|\bgets? [\w']+ down\b|\bweighs? on\b"
    r"|\bdistaste\b"
    r"|\b(?:takes?|gets?|finds?|sees?|has|derives?) (?:no|little|hardly any) (?:\w+ )?"
    r"(?:pleasure|joy|charm|delight|fun|appeal)\b"
    r"|\bfrowns (?:on|upon|at)\b|\blikes? (?:nothing |little )?less\b|\bnothing [\w']+ (?:likes?|enjoys?) less\b"
    r"|\b(?:little|nothing) [\w']+ hates? more\b"
    r"|\bno love lost\b|\bnot (?:mad|crazy|wild|big|nuts) (?:about|on)\b|\bthe last thing\b|\ba (?:real |big )?pain\b"
)
WARM: Final = re.compile(
    r"\bkick out of\b|\b(?:can't|cannot|can never|never) gets? enough\b"
    r"|\bbig on\b|\b(?:mad|crazy|wild|nuts|daft|bonkers|gaga) (?:about|for|over)\b"
    r"|\b(?:lives?|living) for\b|\b(?:addicted|attached|devoted|dear|precious) to\b"
    r"|\benamou?red\b|\bhighly of\b|\brelish(?:es|ed|ing)?\b"
    r"|\bsavou?r(?:s|ed|ing)?\b|\bpriz(?:es|ed)\b|\b(?:holds?|held) (?:\w+ ){0,2}dear\b|\bvalu(?:es|ed)\b|\ba thing for\b"
    r"|\bnever (?:says? no|tires|tired|passes up|turns down)\b"
    r"|\bright up [\w']+ (?:street|alley)\b|\brevel(?:s|led|ed)?\b|\bdot(?:es|ed|ing)? on\b"
    r"|\b(?:can't|cannot|can never|never) resist\b|\bobsess\w*|\binfatuat\w*"
    r"|\bsmitten\b|\bworships?\b|\bin love with\b|\b(?:heaven|bliss)\b"
    r"|\b(?:[a-z]+'s|user's|their|his|her) (?:thing|cup of tea|jam|scene|idea of fun|great love|passion)\b"
    r"|\bwins? (?:every time|hands down)\b|\bgo-to\b|\bat (?:his|her|their) happiest\b|\bin (?:his|her|their) element\b"
    r"|\bnothing (?:beats|tops|compares|better)\b|\b(?:makes?|made) [\w']+ (?:day|happy|smile|beam|glad)\b|\bprecious\b"
    r"|\b(?:joy|pleasure|delight|enjoyment|satisfaction|happiness) (?:out of|from|in)\b|\b(?:satisfying|rewarding|soothing|blissful)\b"
    r"|\bdrawn to\b|\bsold on\b|\bpartial to\b|\bof choice\b|\bfirst (?:choice|pick)\b|\bany day of the week\b|\bsoft spot\b"
    r"|\blights up at\b|\bthrives on\b|\bsets? (?:\w+ )?store by\b|\braves? about\b"
    r"|\bspeaks? (?:\w+ )?(?:fondly|warmly) of\b|\bin (?:high|great) (?:regard|esteem)\b"
    r"|\bthe world of\b|\b(?:fondness|liking|fancy|penchant|predilection) (?:for|to)\b"
    r"|\b(?:do|does) [\w']+ (?:a world of )?good\b|\b(?:pleasures|joys|delights|favou?rites)\b"
    r"|\bpure (?:happiness|joy|bliss|pleasure)\b|\bnever have enough\b|\bgoes in for\b"
    r"|\bgets? (?:a lot|so much|much|a great deal) out of\b"
    r"|\b(?:wouldn't|would not|would never|would hardly) (?:want to )?"
    r"(?:miss|trade|swap|give up|be without|go without|do without)\b"
    r"|\b(?:can't|cannot|can not|couldn't|could not) (?:live|do|be|go a day) without\b"
    r"|\beager(?:ly)?\b|\bto (?:the )?[\w']+ (?:taste|liking)\b"
    r"|\bgoes wild\b|\blaps? up\b|\beats? up\b"
)
"""Looked for where nothing cold was found: "isn't crazy about"."""


LEANING: Final = re.compile(
    r"\bgiven (?:the|a|half a|any) (?:choice|chance|option|opportunity)\b|\bif (?:it is|it's|it were|it was) up to\b"
    r"|\bif [\w']+ (?:can|could) choose\b"
    r"|\bleft to (?:himself|herself|themselves|[\w']+ own devices)\b|\bwhenever (?:he|she|they) (?:can|may)\b"
)
"""What somebody does then, they like to do."""
DENYING: Final = re.compile(r"(?:\b(?:not|never|no longer|hardly)|n't)(?: \w+)?(?: an?)? $")


CHOOSING: Final = r"\b(?:choos(?:es?|ing)|chose|pick(?:s|ed|ing)?|opt(?:s|ed|ing)? for|reach(?:es|ed|ing)? for)\b"
CHOSEN_THEN: Final = re.compile(rf"{CHOOSING}(?! (?:over|above|first|every|most|when|if|again)\b)\W+\w", re.IGNORECASE)
"""Behind a thing: something else is chosen."""
CHOSEN_WHEN: Final = re.compile(
    rf"{CHOOSING}[^,.;]* (?:on|when|whenever|if|during)(?: (?:a|an|the|any|such))?\W*$", re.IGNORECASE
)
"""Before a thing: it is but when something else is chosen."""
FRONTED: Final = re.compile(r"\b(?:what|which|that|the (?:thing|one|ones|kind|sort|time))\b", re.IGNORECASE)


def chosen_then(ahead: str, behind: str) -> bool:
    """Whether all that is liked is something else, which is chosen when the thing between the two is there.

    >>> chosen_then("On ", ", Ada picks a red hat"), chosen_then("", " are what Ada picks"), chosen_then("Ada picks ", "")
    (True, False, False)
    """
    if CHOSEN_WHEN.search(ahead) is not None:
        return LIKED.search(CHOSEN_WHEN.sub("", ahead) + behind) is None
    found = CHOSEN_THEN.search(behind)
    if found is None or FRONTED.search(behind[: found.start()]) is not None:
        return False
    return LIKED.search(ahead + "|" + behind[: found.start()] + "|" + behind[found.end() - 1 :]) is None


def leaning(said: str) -> int:
    """1 where somebody does what they are free to choose, else 0.

    >>> leaning("given the choice she goes for"), leaning("she goes for")
    (1, 0)
    """
    return int(LEANING.search(said) is not None)


def figured(said: str) -> int:
    """1 where a figure of speech tells of liking, -1 of dislike, 0 where none does.

    >>> figured("she is crazy about"), figured("she isn't crazy about"), figured("is her pet peeve")
    (1, -1, -1)
    """
    if COLD.search(said):
        return -1
    found = WARM.search(said)
    if found is None:
        return 0
    return -1 if DENYING.search(said[: found.start()]) else 1
