"""Where a source states a rule: behaviour and condition together, or the sentence that ties the two; and in which words."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from pytest_memfail.judges.rules.finding import keys_of, passage, quote
from pytest_memfail.judges.rules.quantities import Quantity
from pytest_memfail.judges.rules.rule_likeness import SAME, coverage, said
from pytest_memfail.judges.rules.rule_numbers import alike, stated_numbers
from pytest_memfail.judges.rules.text import Sentence, fold, sentences_of, weight

LIGHT: Final = frozenset(
    fold(word)
    for word in """
    immediate immediately right directly just given give inside outside within hear see notice feel come fall
    drop rise climb go happen start experience reach run level amount number day days usually often typically
    stretch spell moment time times hour occasion night evening morning current currently say present mood
    state actually left remain remaining
    """.split()
)
"""Words around a trigger that tell little of it."""
LIGHT_WEIGHT: Final = 0.3
POINTING: Final = frozenset("that those these this such".split())
POINTS_AT: Final = 4
POINTS_TO: Final = 0.3
TIED_BEHAVIOR: Final = 0.3
TIED_CONDITION: Final = 0.5
TRIGGERS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"^(?:it's|it is|that's|that is) |^(?:around|by the time|most of the time|most often|most nights|most days|at exactly)\b",
        r"^(?:usually|typically|often|during|on those|in those|at those|right after|right when|after|once|when|in that|at that)\b",
        r"^(?:amid|under|beneath|with|in|on|at|near|beside|by|along|through|throughout|within|around) (?:that|those|these|this|such)\b"
        r"|^(?:amid|amidst|while|whenever|as soon as|as|the (?:moment|minute|instant|day|night|hour)|(?:each|every|any) time)\b",
    )
)
"""How a sentence opens that tells when, in essays that state no condition outright (appendix B.3); plainer ones first."""
CLAUSE_END: Final = re.compile(
    r"(?<!\bon )(?<!\bin )(?<!\bat )(?<!\bduring )(?<!\baround )(?<!\bafter )\bthat\b|\b(?:he|she|they)\b",
    re.IGNORECASE,
)
"""Where the trigger ends: at "that", but not at "on that morning"."""
CLEFT_OPENING: Final = re.compile(r"(?:it's|it is|that's|that is|it has|most \w+ it is)\b", re.IGNORECASE)
CLEFT: Final = re.compile(
    r"(?<!\bon )(?<!\bin )(?<!\bat )(?<!\bduring )(?<!\baround )(?<!\bafter )(?<!\bwhile )\bthat\b", re.IGNORECASE
)
"""Where the trigger of "it is while he waits that ..." ends, whoever is spoken of in it."""
SUBJECT: Final = re.compile(r",? (?<!of )(?<!at )(?<!in )(?<!on )(?<!with )(?<!from )(?:the|his|her|its|their) ")
"""Where it ends if whoever does it comes next without a comma."""
COMMA: Final = re.compile(",")
SHORTEST: Final = 12
"""A trigger has so many characters at least."""


def weighed(keys: Collection[str]) -> dict[str, float]:
    return {key: LIGHT_WEIGHT if key in LIGHT else weight(key) for key in sorted(keys) if key and not key[0].isdigit()}


def place_of(
    told: Sequence[Sentence], behavior: Mapping[str, float], wanted: Mapping[str, float], numbers: Sequence[Quantity]
) -> int | None:
    """The sentence that states behaviour and condition together, if one does."""
    if not wanted and not numbers:
        return None
    best: tuple[float, int] | None = None
    doing = frozenset(behavior).difference(wanted)  # a ship that is painted is no vessel to be aboard
    for i, sentence in enumerate(told):
        stated = stated_numbers(sentence) if numbers else ()
        if not all(any(alike(q, o) for o in stated) for q in numbers):
            continue
        does = coverage(behavior, (sentence,), least=TIED_BEHAVIOR)
        if does < TIED_BEHAVIOR:
            continue
        holds = coverage(wanted, (sentence,), doing)
        if holds < TIED_CONDITION and not numbers:
            continue
        if best is None or does + holds > best[0]:
            best = (does + holds, i)
    return None if best is None else best[1]


def link_of(
    told: Sequence[Sentence], behavior: Mapping[str, float], wanted: Mapping[str, float], home: int
) -> int | None:
    """The sentence that says when the behaviour shows, where none states behaviour and condition together."""
    for opening in TRIGGERS:
        found = [i for i in range(1, len(told)) if opening.match(told[i].text)]
        if found:
            return max(found, key=lambda i: (coverage(behavior, (told[i],)), -i))
    # Else a sentence that points back, and speaks of both a little.
    pointing = [i for i, s in enumerate(told) if i != home and any(w.lower in POINTING for w in s.words[:POINTS_AT])]
    return max(
        (i for i in pointing if coverage(wanted, (told[i],)) >= POINTS_TO),
        key=lambda i: (coverage(wanted, (told[i],)) + coverage(behavior, (told[i],)), -i),
        default=None,
    )


def trigger_of(sentence: Sentence) -> set[str]:
    for opening in TRIGGERS:
        if match := opening.match(sentence.text):
            clause = sentence.text[match.end() :].lstrip()
            cleft = (CLEFT,) if CLEFT_OPENING.match(sentence.text) else ()
            end = next((end for end in (*cleft, CLAUSE_END, SUBJECT) if end.search(clause, SHORTEST)), COMMA)
            match = end.search(clause, SHORTEST)
            return keys_of(clause[: match.start()] if match else clause)
    return set()


def condition_wording(
    text: str,
    told: Sequence[Sentence],
    place: int | None,
    conditions: Sequence[Mapping[str, float]],
    numbers: Sequence[Quantity],
) -> str:
    if place is None:
        return ""
    keys = {key for need in conditions for key in need} | {w for q in numbers for w in keys_of(q.text)}
    return passage(text, told[place], keys)


def number_wording(text: str, stated: Sequence[Quantity], wanted: Quantity) -> str:
    for quantity in stated:
        if alike(wanted, quantity):
            return quote(text, [w for s in sentences_of(quantity.text) for w in s.words]) or quantity.text
    return wanted.text


def goes_on(sentence: Sentence) -> bool:
    """Whether the sentence may go on with the one beside it: it says when, or is no more than a piece of a line."""
    return bool(sentence.lowers & _MARKER) or sentence.text[:1].islower()


def explains(sentence: Sentence) -> bool:
    """Whether the sentence says when or why something happens that was told right before."""
    return bool(EXPLAINS.search(sentence.text))


def takes_up(sentence: Sentence) -> bool:
    """Whether the sentence says of what was told right before that it is when something happens."""
    return bool(TAKES_UP.search(sentence.text) or COMES_THERE.search(sentence.text))


COMES_THERE: Final = re.compile(
    r"\b(?:comes?|comes? out|appears?|happens?|shows? up|takes? place|done|made|does (?:it|so|this)) (?:\w+ )?(?:there|then)\b",
    re.IGNORECASE,
)
TAKES_UP: Final = re.compile(
    r"^\W*(?:that|this|it|those|these)(?:'s| is| was| are| were) (?:\w+ )?(?:when|then|where|the only|his|her|its"
    r"|the (?:\w+ )?(?:time|hour|moment|place|spot|slot|days?))\b"
    r"|^\W*(?:only )?(?:then|there|at that (?:time|hour|moment)|at those (?:times|hours)|in that (?:time|hour|place|slot))\b",
    re.IGNORECASE,
)
_MARKER: Final = frozenset("when whenever if after during only unless while before once until otherwise then".split())
EXPLAINS: Final = re.compile(
    r"^\W*(?:this|that|it|which) (?:only |always |usually )?"
    r"(?:is|was|happens?|occurs?|takes place|comes|goes|holds|applies|depends)\b"
    r"|^\W*(?:(?:the|its|his|her|one|only) )?(?:\w+ )?(?:reason|cause|trigger|occasion|condition)\b"
    r"|^\W*(?:s?he|they|it) (?:only )?does (?:so|it|this|that)\b"
    r"|\bis (?:what|why|when)\b",
    re.IGNORECASE,
)


def besides(
    told: Sequence[Sentence],
    rule_at: set[int],
    without: set[int],
    conditions: Sequence[Mapping[str, float]],
    ignore: set[str],
) -> frozenset[frozenset[str]]:
    """The words of what is left without the rule's sentences and each that tells a word of the condition better than those before."""
    taken = rule_at - without
    at = [told[i] for i in taken]
    known = {key: said(key, at) for key in (conditions[0] if conditions else ())}
    open_to = [key for key, share in known.items() if share < SAME]
    shares = {i: [said(key, (told[i],)) for key in open_to] for i in range(len(told)) if i not in rule_at}
    for i in sorted(shares, key=lambda i: (-sum(shares[i]), i)) if open_to else ():
        if any(share > known[key] for key, share in zip(open_to, shares[i], strict=True)):
            taken.add(i)
            known.update({key: max(share, known[key]) for key, share in zip(open_to, shares[i], strict=True)})
    return frozenset(frozenset(s.keys - ignore) for i, s in enumerate(told) if i not in taken)
