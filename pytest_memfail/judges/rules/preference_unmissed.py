"""Negated phrases that speak for a thing: what nobody would miss, give up or be without."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

TWISTED: Final = re.compile(
    r"\b(?:can(?:not|'t)|couldn't|could not) (?:\w+ )?(?:live|do|imagine|go|start|function|cope|be)\b[^,.;]*?\bwithout"
    r"|\bnever (?:\w+ )?without"
    r"|\b(?:can(?:not|'t)|never) (?:resist|get enough|have enough|get tired|tires?|gets? (?:old|bored|enough)|says? no)"
    r"|\bnever (?:tires?|gets?(?! (?:in)?to\b| around)|fails?|bored|misses|boring|dull)\b|\bnothing (?:beats|better"
    r"|compares|tops)|\bno(?:thing)? better"
    r"|\bnot (?:only|just|least)|\bdo(?:es)?n't (?:mind|miss|care how)|\bnever goes out"
    r"|\bnever lets? (?:the )?(?:user|them|him|her|me) down"
    r"|\bnever (?:\w+ )?turns?(?:ed)? (?:it |them )?down|\bregrets? not \w+ing"
    r"|\b(?:used to|no longer|stopped) (?:dislik|hat|avoid|dread|loath|shun|detest|fear)(?:e|es|ed|ing)?\b"
    r"|\b(?:since|because|as) (?:they|it) (?:hardly|rarely|seldom|barely|scarcely|never) (?:ever )?(?:wants?|needs?|asks?|requires?)\b"
    r"|\bnot without|\b(?:hates?|dislikes?) "
    r"(?:missing|losing|(?:being|going|doing) without|when there)"
    r"|\bnever (?:\w+ )?los(?:t|es?) (?:interest|enthusiasm)|\b(?:not|n't) (?:want|like|wish) to "
    r"(?:miss|lose|be without|give up)|(?<!tries )(?<!trying )(?<!prefers )(?<!likes )(?<!wants )(?<!wanting )\bto avoid\b"
    r"|(?:\b(?:not|never|no|nor|neither|nothing)|n't)(?: (?:get|gets|getting|feel|feels|be|is|being|been|really|too|so|very|at|all"
    r"|the|a|that|which|would|could|can|might|will|ever|once|user|them|her|him|me|to|makes?|leaves?|finds?|found)){0,3}"
    r" (?:irrit|stress|bor(?:e|ing)|tir(?:e|ing)|annoy|frustrat"
    r"|overwhelm|skip|miss|disappoint|tedious|dull|complain|regret|refus|upset|worr|hassl|fuss|exhaust|drain|distract"
    r"|hurt|harm|strain|ach(?:e|ing)|injur|damag|jar|suffer|spoil|fade|pall)\w*"
    r"|\b(?:wo|would|will|could|can|do|does)(?: not|n't| never) (?:\w+ )?(?:give (?:it )?up|trade|swap|exchange|part with"
    r"|cut out|do without|hear (?:a |any)(?:\w+ ){0,2}(?:word )?against|lets? (?:\w+ ){1,2}go\b)|\bwithout fail\b"
    r"|\bwithout\b[^.;]*?\b(?:hardly \w+|un(?:bear|think|imagin)\w+|incomplete|not (?:the same|complete|right|worth)|half as"
    r"|is nothing|unhappy|unhappier|worse|duller|poorer|grumpy|restless|miserable|impossible|lost|wasted|ruined)\b"
    r"|\brefus\w+ to (?:miss|skip|give up|stop|part|go without)"
    r"|\b(?:hates?|dislikes?|complains?|grumbles?|sulks?)(?: it)? (?:when|if)\b"
    r"|\bavoids? [^,.;]{1,40} by\b|\band avoids? (?!it\b|them\b)"
    r"|\bwithout (?:\w+ )?(?:irrit|stress|fuss|hassl|pressur|pain|strain|worr|bother|trouble|tir|bor"
    r"|annoy|distract|frustrat|overwhelm|upset|ruin|regret|disappoint)\w*"
    r"|\bno (?:desire|wish|intention|plans?|need) (?:to|of) (?:giv|miss|stop|quit|los|chang|part|skip|end|leav|drop)\w*"
    r"|\b(?:far|never|not) (?:from )?(?:too (?:far|\w+)|boring|dull)\b|\bnot for (?:the |every|those)"
    r"|\b(?:in no time|no end|no doubt|no wonder|by no means|no small)\b"
    r"|\bno matter|\bcan't wait|\bnever leaves?\b|\bcannot wait|\brather than\b|\binstead of\b"
    r"|\b(?:can(?:not|'t)|hard to) put\b[^,.;]*? down\b|\bnot to mention|\bno(?:t a)? problem|\bno trouble|\bcan(?:not|'t) stop"
    r"|\b(?:so as|in order) not to \w+|\bso (?:that )?(?!(?:the )?(?:user|he|she|i|it)\b)(?:no(?:body| one| \w+)|(?:\w+ ){1,4}?"
    r"(?:(?:(?:do(?:es)?|will|would|need|ca|can|should)(?: not|n't)|cannot|never|not)(?: \w+)?|(?:ha(?:s|ve)|with|go(?:es)?) no)) \w+"
    r"|(?:\b(?:not|never|hardly|barely|scarcely|without)|n't) (?:ha(?:ve|ving)|need(?:ing)?) to \w+"
    r"|(?:\b(?:no|not|never|nothing|cannot|hardly|dull|duller|boring|incomplete|unthinkable|lost|miserable|worse"
    r"|unhappy|poorer)\b|n't\b)[^,.;]*?\bwithout\b",
    re.IGNORECASE,
)
"""Negations that speak for a thing; what is set against it is left to the words around."""
_LOWER: Final = re.compile(TWISTED.pattern)
"""The same for lower case alone, which is found several times as fast."""


@lru_cache(maxsize=4096)
def untwisted(text: str) -> str:
    """The text with such phrases struck out, every other word where it was.

    >>> untwisted("Never tires of chess.")
    '~~~~~~~~~~~ of chess.'
    """
    lower = text.lower()
    alike = len(lower) == len(text)  # places must stay what they are
    for match in list((_LOWER if alike else TWISTED).finditer(lower if alike else text)):
        text = f"{text[: match.start()]}{'~' * len(match[0])}{text[match.end() :]}"
    return text
