"""A trait of which only the topic is left: rules about the garage, a certain drink, something for luck."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from pytest_memfail.judges.rules.persona_essay import Essay, Item
from pytest_memfail.judges.rules.persona_match import Kept, Made, stands
from pytest_memfail.judges.rules.persona_trait import ASKED
from pytest_memfail.judges.rules.view import View

TELLS: Final = 0.34
"""The share of what the trait tells beside what is asked that is more than its topic."""
LEAST: Final = 2
"""So many words a trait must tell for them to be lost."""
PART: Final = 1.0
"""How much of the trait's sentence another one has that may tell the rest of it."""
_KNOWN: Final = (
    r"(?:rules?|habits?|views?|opinions?|polic(?:y|ies)|preferences?|ideas?|guidelines?|routines?|rituals?|tastes?|standards?"
    r"|requirements?|principles?|customs?|methods?|systems?|limits?|restrictions?|conditions?|demands?|wishes|needs"
    r"|expectations?|concerns?|feelings?|thoughts|convictions?|superstitions?|practices?|procedures?|techniques?|tricks?"
    r"|exercises?|precautions?|measures?|arrangements?|instructions?|strateg(?:y|ies)|approach(?:es)?)"
)
VAGUE: Final = re.compile(
    r"\b(?:certain|various|particular|specific|suitable|proper|appropriate|sensible|assorted|miscellaneous|general(?:ly)?"
    r"|some(?:thing|how|where|times?|body|one)?|several|a few|a (?:bit|kind|sort|type|number|range|variety|selection|couple"
    r"|handful|lot|set|mix|piece|form|little) of|(?:kinds?|sorts?|types?) of|things?|stuff|items?|special|the (?:right|usual)"
    r"|(?:her|his|their|its) own|a (?:fixed|set|given|certain|flat) \w+|(?:fixed|set|regular) (?:times?|hours|days?|prices?|amounts?)"
    rf"|(?:strong|firm|clear|strict|fixed|definite|special|many|has|have|with|follows?|keeps?|an?|own) {_KNOWN}"
    rf"|{_KNOWN} (?:about|on|regarding|concerning|when|around|for|over|as to|to do with)"
    r"|(?:particular|careful|fussy|picky|choosy|selective|strict|cautious|sensitive|superstitious|finicky|exacting|demanding"
    r"|serious|mindful|conscious|meticulous|thorough|deliberate|passionate|knowledgeable|experienced|skilled) (?:about|with|when"
    r"|in|over|of|on|where|regarding|before|around)"
    r"|(?:seriously|carefully|attention to|cares? (?:about|for)|takes? care|safety|health|equipment|gear|supplies"
    r"|accessor(?:y|ies)|belongings|necessities|essentials|ingredients|materials|tools)"
    r"|(?:about|on|in|over|of|as to) (?:which|what|how|when|where|who|whom))\b",
    re.IGNORECASE,
)
"""What stands for a detail that is not told."""


def hollowed(item: Item, kept: Kept, own: Iterable[Made], view: View, essay: Essay) -> str:
    """What the trait tells, if the sentences that keep it only have vague words in its place; empty if it is told."""
    rest = [c for c in item.concepts if c.weight < ASKED]
    whole = sum(c.weight for c in rest)
    if whole < LEAST or (item.numbers and not kept.missing):
        return ""
    source = essay.stated[item.at].sentence
    texts = [view.sentences[at].text for at in kept.where]
    if not all(any(m[0].lower() not in source.text.lower() for m in VAGUE.finditer(text)) for text in texts):
        return ""
    near = (m.at for m in own if m.stated == item.at or m.by.get(item.at, 0.0) >= PART)
    keys = frozenset().union(*(view.sentences[at].keys for at in (*kept.where, *near)))
    told = sum(c.weight for c in rest if stands(c, item, keys, essay))
    return "" if told >= TELLS * whole else f"of '{item.wording}' only the topic is left"
