"""Everyday phrases by which somebody has no use for a thing, whoever they are called."""

from __future__ import annotations

import re
from typing import Final

WHOM: Final = (
    r"(?:(?:the|this|that|our|my) )?(?:[\w-]+ )?(?:user|me|her|him|them|person"
    r"|[a-z]+er|[a-z]+or|[a-z]+ant|[a-z]+ent)"
)
WHOSE: Final = r"(?:(?:the|this|that) )?(?:[\w-]+(?:'s|s') |my |her |his |their )"
AVERSE: Final = re.compile(
    rf"\b(?:(?:(?:not|never|hardly|scarcely)\b|n't\b) (?:(?:really|quite|at all|exactly|much|to|just|always) )*{WHOSE}"
    r"(?:sort of |kind of |idea of )?(?:thing|cup|scene|style|taste|tastes|bag|world|forte|fun|liking|preference|choice)\b"
    rf"|leaves? {WHOM} (?:\w+ )?(?:cold|flat|indifferent|unmoved|unimpressed|uneasy|queasy)"
    rf"|(?:goes|went|going) (?:\w+ )?too far|do(?:es)? nothing for {WHOM}"
    r"|no (?:\w+ )?(?:desire|wish|intention|inclination|urge|longing|plans?|ambition)s? (?:to|of|for)"
    r"(?! (?:miss|missing|giv|stop|quit|los|chang|part|skip|end|leav|drop)\w*)"
    r"|(?:regarded|considered|treated|written off|dismissed|thought of|viewed|seen) as (?:\w+ )?(?:done|finished|over|closed|silly"
    r"|childish|dull|boring|crude|vulgar|noise|dated|a (?:waste|bore|chore|nuisance))"
    r"|(?:dismissed|written off|waved away|brushed aside)"
    r"|(?:gets?|got|is|are|feels?|grows?|left) (?:\w+ )?(?:bored|restless|impatient|queasy)(?! (?:when|if|without|on|at home|after)\b)"
    r"|a closed chapter|unappealing|unattractive|uninteresting|(?:strik\w+|struck) "
    rf"{WHOM} as (?:\w+ )?(?:tasteless|dull|silly|boring|crude|childish|vulgar|pointless|cruel|lazy|dreary|fake|cold|ugly|bland)"
    r"|caught dead|(?:see|sees|seeing|understand|understands|grasp|grasps) what (?:others|people|anyone|everyone|the fuss)\b"
    rf"|(?:could|can|would) (?:\w+ )?(?:live|manage) without|fails? to (?:\w+ )?(?:amuse|please|interest|impress|excite|move|grip"
    rf"|convince|appeal|charm|win)|best left to others|rubs? {WHOM} (?:up )?the wrong way"
    r"|ha(?:s|ve|d) (?:\w+ )?(?:their|her|his|my|its) (?:fill|day)\b|(?:anything|everything) to (?:get out|keep out) of"
    r"|(?:struck|crossed|scratched|taken) off|over and done|little (?:to|in) (?:like|offer)"
    r"|(?:drains?|exhausts|stresses|depresses|repels|repulses|wearies|bores|irks|scares|frightens|unsettles|overwhelms|saddens) "
    rf"(?:{WHOM}\b|rather than)"
    r"|(?:considered|called|found|judged|thought|deemed) (?:\w+ )?(?:vulgar|crude|silly|dull|boring|pointless|childish|tasteless|cruel"
    r"|overrated|tedious|ugly|kitsch|kitschy|unpleasant|stressful|tiring|too \w+)"
    r"|escapes? (?:user|me|her|him|them)\b|had it up to here with|cool(?:s|ed) (?:on|towards?)|(?:loses?"
    r"|lost) patience with"
    r"|(?:get|gets|getting|got) out of (?=\w+ing\b)|begged off|(?:groan|sigh|winc|cring|grimac)e?s (?:when(?:ever)?"
    r"|if|at the (?:thought|idea|mention) of))",
    re.IGNORECASE,
)
