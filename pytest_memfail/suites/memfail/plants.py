"""Faults that `memfail judge-check --planted` plants into the stores of MemFail's tasks, one at a time."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from typing import Final

from pytest_memfail.core import Fact, PlantedFault, Plants, Question

STRANGER: Final = "Bartholomew"
"""The person to whom facts about somebody else are attributed."""

SENTENCE: Final = re.compile(r"(?<=[.!?])(?<![ap]\.m\.) +")
WORD: Final = re.compile(r"[^\W\d_]{3,}|\d+")
TITLES: Final = frozenset("captain the sir lady lord dr doctor professor mr mrs miss king queen of old".split())
CONNECTIVE: Final = re.compile(
    r",?\s*(?:but )?\b(?:only |right |immediately |straight |just |never |exactly )*"
    r"\b(?:when|whenever|if|unless|until|after|during|before|while|as|at|between|from|in|under|inside|within|near|on|once|but)\b",
    re.IGNORECASE,
)
ONLY: Final = re.compile(r"\b(?:only|exclusively|solely) ", re.IGNORECASE)
OTHERWISE: Final = re.compile(
    r"\b(?:otherwise|reserved?|never|unless|except|others?|else|certain|rest of|no)\b", re.IGNORECASE
)
"""Phrases that state by themselves that the rule applies at no other time."""
BACK: Final = re.compile(
    r"(?:^|\b(?:in|on|at|by|to|of|from|with|under|amid|around|about|during|before|after|once|when|while|than|for|like) (?:all )?)"
    r"(?:that|those|these|this|such)\b"
    r"|\b(?:then|otherwise|usually|typically)\b|\b(?:it's|it’s|it is) (?:\w+ ){0,2}(?:often|always|mostly|generally)",
    re.IGNORECASE,
)
"""References to an earlier statement."""
NUMBER_WORDS: Final = "zero one two three four five six seven eight nine ten eleven twelve".split()
NUMBER: Final = re.compile(rf"\b(\d+)(?=\b|%|°|[ap]m)|\b({'|'.join(NUMBER_WORDS[2:11])})\b", re.IGNORECASE)
SCALE: Final = re.compile(r"(?:out of |scale of |1 to |\d/)$")
"""Words before the end of a scale, which is not a threshold."""
IN_WORDS: Final = {12: re.compile(r"\b(?:noon|midnight|dozen)\b", re.IGNORECASE)}
"""Numbers that may be written without digits."""
OPPOSITES: Final = (
    ("before", "after"),
    ("above", "below"),
    ("more than", "fewer than"),
    ("over", "under"),
    ("morning", "evening"),
    ("hotter", "colder"),
    ("louder", "quieter"),
    ("warmer", "cooler"),
    ("indoors", "outdoors"),
    ("inside", "outside"),
    ("sunrise", "sunset"),
)
DONE_TO: Final = re.compile(
    r"[a-z]+s (?P<whose>(?:the|a|an|his|her|its|their|some) )?"
    r"(?:(?!(?:on|in|at|to|with|into|onto|under|over|by|of|for|from|up|out|off|down|away|instead)\b)[\w'-]+ )*?"
    r"(?P<thing>(?!(?:across|aloud|upside|down|instead|twice|\w+ly|\w+wards)\b)[a-z]{4,})"
    r"(?= (?:on|in|at|to|with|into|onto|under|over|by|of|for|from|and)\b|,|$)"
)
"""The object of a behaviour: the last word before a preposition."""
THINGS: Final = ("umbrella", "turnip", "ladder", "kettle")
"""Replacements for an object."""
STOP: Final = frozenset(
    """the and for with his her their has have are was when who that this from only after before while whenever during than
    more""".split()
)
ENDING: Final = re.compile(r"(?:ings?|ied|ies|ed|es|s|e|y)$")
LEAST: Final = 0.5
"""The minimum share of the behaviour's words in a sentence that states it."""


def _is_stated(fact: Fact, text: str) -> bool:
    """Return whether a text states a preference or link word for word."""
    parts = fact.gold.anchors if fact.kind == "link" else [fact.gold.preference] if fact.kind == "preference" else []
    return bool(parts) and all(part.casefold() in text.casefold() for part in parts)


def _same(evidence: Fact, question: Question, text: str) -> str:
    return text


def _nothing(evidence: Fact, question: Question, text: str) -> str:
    return ""


def _condition_dropped(evidence: Fact, question: Question, text: str) -> str | None:
    """End the rule's sentence before its condition, or remove the sentences that state the condition.

    Also remove sentences that refer back to it: "It is in those hours that ..." states a condition too.
    """
    sentences = SENTENCE.split(text)
    name = _words(evidence.claim.owner)
    behavior = _words(evidence.gold.behavior) - name
    alone = _words(evidence.gold.condition) - behavior - name
    places = question.keys.get("rule_sentences") or {}
    at = places.get("behavior", _best(sentences, behavior, alone))
    gone = {places[part] for part in places if part != "behavior"}
    if not places and _words(sentences[at]) & alone:
        head = _before_condition(sentences[at], behavior, alone)
        if head is None:
            return None
        sentences[at] = ONLY.sub("", head).strip(" ,;:—") + "."
        again = {i for i, s in enumerate(sentences) if _words(s) & behavior and _words(s) & alone}
        gone = again | {i for i, sentence in enumerate(sentences) if i > at and BACK.search(sentence)}
    elif not places:
        if len(_words(sentences[at]) & behavior) < LEAST * len(behavior) or BACK.search(sentences[at]):
            return None  # the sentence with the behaviour cannot be identified
        words_of = [_words(sentence) for sentence in sentences]
        # the sentence that introduces the entity may mention the behaviour
        again = {i for i, words in enumerate(words_of) if words & behavior and not name <= words}
        gone = {i for i, words in enumerate(words_of) if words & alone or BACK.search(sentences[i])} | again
        gone -= {at}
        if not any(_words(sentences[i]) & alone for i in gone):
            return None
    left = " ".join(sentence for i, sentence in enumerate(sentences) if i not in gone)
    # the rest must still name the entity, or it would be a different fault
    return left if name <= _words(left) else None


def _before_condition(sentence: str, behavior: set[str], alone: set[str]) -> str | None:
    """Return the sentence up to its condition; None if it does not end with the condition."""
    whole = _words(sentence)
    for match in CONNECTIVE.finditer(sentence):
        head = sentence[: match.start()]
        if whole & behavior <= _words(head) and not _words(head) & alone:
            return head
    return None


def _exclusivity_dropped(evidence: Fact, question: Question, text: str) -> str | None:
    """Remove "only" from the rule's sentence, if the answer depends on it and nothing else states it."""
    if question.keys.get("condition_met") != "no" or OTHERWISE.search(text):
        return None
    sentences = SENTENCE.split(text)
    at = _best(sentences, _words(evidence.gold.behavior) | _words(evidence.gold.condition))
    alone = _words(evidence.gold.condition) - _words(evidence.gold.behavior)
    if len(_words(sentences[at]) & alone) < LEAST * len(alone):
        return None  # its "only" refers to something else
    without = ONLY.sub("", sentences[at])
    sentences[at] = without[:1].upper() + without[1:]
    return " ".join(sentences)


def _condition_inverted(evidence: Fact, question: Question, text: str) -> str | None:
    """Turn before into after, and so on, in the sentence that connects condition and behaviour."""
    sentences = SENTENCE.split(text)
    name = _words(evidence.claim.owner)
    behavior = _words(evidence.gold.behavior) - name
    wanted = (behavior | _words(evidence.gold.condition)) - name
    places = set((question.keys.get("rule_sentences") or {}).values())
    tying = [s if i in places or _words(s) & behavior else "" for i, s in enumerate(sentences)]
    stated = evidence.gold.condition.casefold()
    for pair in OPPOSITES:
        for old, new in (pair, pair[::-1]):
            word = re.compile(rf"\b{old}\b", re.IGNORECASE)
            at = _best([sentence if word.search(sentence) else "" for sentence in tying], wanted)
            if word.search(stated) and word.search(tying[at]):
                sentences[at] = word.sub(new, sentences[at])
                return " ".join(sentences)
    return None


def _number_changed(evidence: Fact, question: Question, text: str) -> str | None:
    """Change every number of the fact."""
    gold = evidence.gold.condition if evidence.kind == "rule" else evidence.gold.needed
    if evidence.kind == "persona" and evidence.claim.listed:
        gold = ". ".join(detail.text for detail in evidence.claim.listed)  # the answer may state more than is needed
    wanted = {_value(match) for match in NUMBER.finditer(gold) if not SCALE.search(gold[: match.start()])}
    if any(IN_WORDS[number].search(text) for number in wanted & IN_WORDS.keys()):
        return None

    def change(match: re.Match[str]) -> str:
        if _value(match) not in wanted or SCALE.search(text[: match.start()]):
            return match[0]
        return str(_value(match) + 15) if match[1] else NUMBER_WORDS[_value(match) + 2]

    return NUMBER.sub(change, text)


def _thing_exchanged(evidence: Fact, question: Question, text: str) -> str | None:
    """Replace the fact's object by another one: "waters the umbrella"."""
    things = _things(evidence, question, text)
    other = next((thing for thing in THINGS if not re.search(rf"\b{thing}", text, re.IGNORECASE)), None)
    if not things or other is None:
        return None
    return WORD.sub(lambda m: other if _stem(m[0].casefold()) in things else m[0], text)


def _things(evidence: Fact, question: Question, text: str) -> set[str]:
    """Return the objects that the fact cannot be stated without."""
    if evidence.kind == "rule":
        match = DONE_TO.match(evidence.gold.behavior)
        if match is None or not (match["whose"] or match["thing"].endswith("s")):
            return set()
        sentences = SENTENCE.split(text)
        places = question.keys.get("rule_sentences") or {}
        at = places.get("behavior", _best(sentences, _words(evidence.gold.behavior), _words(evidence.gold.condition)))
        thing = _stem(match["thing"].casefold())
        return {thing} if thing in _words(sentences[at]) else set()  # elsewhere the behaviour is stated without it
    if evidence.kind == "persona":
        parts = [detail.text for detail in evidence.claim.listed]
    else:
        parts = [evidence.gold.preference if evidence.kind == "preference" else evidence.gold.anchors[-1]]
    last = [WORD.findall(part)[-1] for part in parts if WORD.search(part)]
    return {_stem(word) for word in last if word.islower() and word.isalpha() and len(word) > 3}


def _given_to_another(evidence: Fact, question: Question, text: str) -> str | None:
    """Replace the entity's name by somebody else's."""
    if not evidence.claim.owner:
        return None
    for part in evidence.claim.owner.split():
        if part.casefold() not in TITLES:
            text = re.sub(rf"\b{re.escape(part)}\b", STRANGER, text)
    return re.sub(rf"{STRANGER} {STRANGER}", STRANGER, text)


def _answer_dropped(evidence: Fact, question: Question, text: str) -> str | None:
    """Remove the sentences that state what the question needs."""
    sentences = SENTENCE.split(text)
    first = [detail.text.casefold() for detail in evidence.claim.listed]
    gone = {i for i, sentence in enumerate(sentences) if any(wording in sentence.casefold() for wording in first)}
    if not gone:
        asked = _words(evidence.gold.needed) - _words(evidence.claim.owner)
        most = len(_words(sentences[_best(sentences, asked)]) & asked)
        gone = {i for i, sentence in enumerate(sentences) if len(_words(sentence) & asked) >= min(2, most)}
    return " ".join(sentence for i, sentence in enumerate(sentences) if i not in gone)


def _generalised(evidence: Fact, question: Question, text: str) -> str | None:
    """Replace the preference by its category."""
    category = str(question.keys.get("category", "such things"))
    return re.sub(rf"\b{re.escape(evidence.gold.preference)}(?:s|ing)?\b", category, text, flags=re.IGNORECASE)


def _disliked(evidence: Fact, question: Question, text: str) -> str:
    """Store the preference as a dislike."""
    return f"The user can't stand {evidence.gold.preference}."


def _reversed(evidence: Fact, question: Question, text: str) -> str | None:
    """Swap the two ends of the link."""
    found = _ends(evidence, text)
    if found is None:
        return None
    (i, first), (j, second) = found
    turned = text[:i] + second + text[i + len(first) : j] + first + text[j + len(second) :]
    return turned[0].upper() + turned[1:]


def _end_lost(evidence: Fact, question: Question, text: str) -> str | None:
    """Replace the link's later end by something vague."""
    found = _ends(evidence, text)
    if found is None:
        return None
    j, second = found[1]
    return text[:j] + "something" + text[j + len(second) :]


def _ends(evidence: Fact, text: str) -> tuple[tuple[int, str], tuple[int, str]] | None:
    """Return the link's anchors with their positions, the earlier first."""
    low = text.casefold()
    places = sorted((low.find(anchor.casefold()), anchor) for anchor in evidence.gold.anchors)
    if len(places) != 2 or places[0][0] < 0 or places[1][0] < places[0][0] + len(places[0][1]):
        return None
    return places[0], places[1]


def _words(text: str | None) -> set[str]:
    """Return the stems of the content words."""
    return {_stem(word.casefold()) for word in WORD.findall(text or "") if word.casefold() not in STOP}


def _stem(word: str) -> str:
    short = ENDING.sub("", word)
    return short if len(short) > 2 else word


def _best(sentences: Sequence[str], wanted: set[str], unwanted: Set[str] = frozenset()) -> int:
    """Return the sentence with most of the wanted words, then fewest of the unwanted, then the first."""
    found = [_words(sentence) for sentence in sentences]
    return max(range(len(found)), key=lambda i: (len(found[i] & wanted), -len(found[i] & unwanted), -i))


def _value(match: re.Match[str]) -> int:
    return int(match[1]) if match[1] else NUMBER_WORDS.index(match[2].casefold())


ALL: Final = ("rule", "preference", "persona", "link")
LOST: Final[tuple[str, ...]] = ("summary_error", "not_stored")
PLANTS: Final = Plants(
    (
        PlantedFault("stored and shown (no fault)", ALL, "ok", _same),
        PlantedFault("never stored", ALL, "not_stored", _nothing),
        PlantedFault("not shown", ALL, "not_retrieved", _same, shown=False),
        PlantedFault("given to another", ("rule", "persona", "link"), "summary_error", _given_to_another, LOST),
        PlantedFault("condition dropped", ("rule",), "summary_error", _condition_dropped),
        PlantedFault("condition inverted", ("rule",), "summary_error", _condition_inverted),
        PlantedFault("exclusivity dropped", ("rule",), "summary_error", _exclusivity_dropped),
        PlantedFault("number changed", ("rule", "persona"), "summary_error", _number_changed),
        PlantedFault("thing exchanged", ALL, "summary_error", _thing_exchanged, LOST),
        PlantedFault("answer dropped", ("persona",), "summary_error", _answer_dropped),
        PlantedFault("generalised", ("preference",), "summary_error", _generalised, LOST),
        PlantedFault("turned into a dislike", ("preference",), "summary_error", _disliked, LOST),
        PlantedFault("link reversed", ("link",), "summary_error", _reversed),
        PlantedFault("end of link lost", ("link",), "summary_error", _end_lost, LOST),
    ),
    _is_stated,
)
