"""Judge MEME's facts and answers: criteria for a model, and finders and graders that need no model."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from pytest_memfail.core import AnswerKind, Fact, Found, Kind, Question, StageResult
from pytest_memfail.grading import (
    Entries,
    Hit,
    contains,
    entries_of,
    hedged,
    is_doubtful,
    is_hypothetical,
    longest_run,
    marks_applied,
    marks_condition,
    marks_idea,
    marks_other,
    marks_past,
    marks_present,
    marks_removal,
    names,
    ordered,
    share,
    verbatim,
)
from pytest_memfail.texts import content, fold, words

STALE: Final = "stale_value"
LEAKED: Final = "leaked"
UNCERTAIN: Final = "uncertain"
PRESENT: Final = 0.6
"""The minimum share of a value's words for a version of it to count as stored."""
REQUEST: Final = 2
"""The number of words that a statement about a subject must share with it, or with the request to forget it."""
LITTLE: Final = 0.2
"""The minimum share where the sentence also says what the value is of."""
BARE: Final = 2
"""The most other words of a sentence that says little more than that a value holds."""
REVERSED: Final = frozenset(("unless", "except"))
"""Words that turn a condition into its opposite."""
_REMARK: Final = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
CONDITIONS: Final = frozenset("if should when whenever once unless day".split())


@dataclass(frozen=True, slots=True)
class Gold:
    """The value of an entity, and what a finder must know to recognise it."""

    value: str
    subject: str
    """The entity in words."""
    asked: str
    """The question."""
    others: tuple[str, ...] = ()
    """Values that were stated later; of an order all values, in it."""
    requests: tuple[str, ...] = ()
    """The user's sentences that ask to forget the value."""
    derived: tuple[str, ...] = ()
    """Values that follow from the change; a store that states one as current holds the fact."""
    mentions: tuple[str, ...] = ()
    """Sentences of the sessions that name the new or a derived value without stating it as current."""
    condition: str = ""
    """The sentences that state what the value depends on."""
    depends_on: tuple[str, ...] = ()
    """What the value depends on, by name and by value."""


# -- finders -------------------------------------------------------------------------------------------------------------


def find_value(fact: Fact, texts: Sequence[str]) -> Found:
    """Find a value of an entity; a later value of it must not be stated as current beside it."""
    entries, value = entries_of(texts), fact.gold.value
    hits = [hit for hit in entries.hits(value) if not _of_another(fact, entries, hit)]
    if not hits:
        return _part(fact, entries)
    for hit in hits:
        said = entries.sentence(hit)
        other = next((v for v in fact.gold.others if contains(v, said) and not is_hypothetical(said)), None)
        if other is None:
            return Found(True, True, "the value is stated", (hit.entry,))
    return Found(True, False, f"the value stands beside a later one, stated as current: {other}", (hits[0].entry,))


def find_verbatim(fact: Fact, texts: Sequence[str]) -> Found:
    """Find a text verbatim."""
    entries, value = entries_of(texts), fact.gold.value
    if places := entries.verbatim(value):
        return Found(True, True, "the text is there to the letter", tuple(places))
    found = _part(fact, entries)
    return replace(found, reason="the text is there, but not to the letter") if found.present else found


def find_order(fact: Fact, texts: Sequence[str]) -> Found:
    """Find the order of the values of an entity.

    The order is that of the store or of one entry that names them all, or follows from words such as "now" and "before".
    """
    entries, steps = entries_of(texts), fact.gold.others
    places = [entries.hits(step) for step in steps]
    known = [hits for hits in places if hits]
    if len(known) < 2:
        return Found(False, False, f"{len(known)} of {len(steps)} values are found, so there is no order to check")
    firsts = [hits[0] for hits in known]
    relied = tuple(dict.fromkeys(hit.entry for hit in firsts))
    rising = all(one.first < other.first for one, other in itertools.pairwise(firsts))
    if rising or any(ordered([s for s, h in zip(steps, places, strict=True) if h], text) for text in entries.texts):
        return Found(True, True, "the values are there in their order", relied)
    latest, others = known[-1][-1], firsts[:-1]
    others_rise = all(one.first < other.first for one, other in itertools.pairwise(others))
    if others_rise and marks_present(entries.sentence(latest)) and latest.entry not in [hit.entry for hit in others]:
        return Found(True, True, "the latest value is named as such", relied)
    falling = all(one.first > other.first for one, other in itertools.pairwise(firsts))
    if falling and len(relied) == 1 and marks_past(entries.texts[relied[0]]):
        return Found(True, True, "one entry names the values from the latest to the first", relied)
    return Found(True, False, "the values are there in another order", relied, (fact.gold.value,))


def find_change(fact: Fact, texts: Sequence[str]) -> Found:
    """Find the new value of the root; a condition that only names the value does not count."""
    entries, value = entries_of(texts), fact.gold.value
    if (drawn := _drawn(fact, entries)) is not None:
        return drawn
    unsaid = [fold(decoy) for decoy in fact.gold.mentions]
    topic = content(" ".join([fact.gold.subject, fact.text, fact.source, *fact.claim.replaced]))
    for least in (1.0, PRESENT):
        for hit in entries.hits(value, least):
            said = fold(entries.sentence(hit))
            if any(one in said for one in unsaid) or is_hypothetical(entries.clause(hit)):
                continue
            # a sentence that names both values is the rule in short, unless it says that they hold
            sentence = entries.sentence(hit)
            if any(names(new, sentence) for new in fact.gold.derived) and not marks_present(sentence):
                continue
            if marks_idea(entries.clause(hit)) or _of_another(fact, entries, hit):
                continue
            if least < 1.0:
                return Found(True, False, "part of the new value is stated", (hit.entry,), (value,))
            # "User has high blood pressure" has no word of the subject, and needs none
            is_bare = len(content(entries.sentence(hit)) - content(value)) <= BARE
            if is_bare or entries.near(hit) & topic - set(words(value)):
                return Found(True, True, "the new value is stated", (hit.entry,))
    return _absent(fact, entries, f"nothing states that it became {value}")


def find_dependency(fact: Fact, texts: Sequence[str]) -> Found:
    """Find a value together with the condition that it depends on."""
    entries, value = entries_of(texts), fact.gold.value
    if (drawn := _drawn(fact, entries)) is not None:
        return drawn
    hits = entries.hits(value)
    if not hits:
        found = _part(fact, entries)
        return found if found.present else _absent(fact, entries, found.reason)
    if not fact.gold.depends_on:
        return Found(True, True, "the value is stated, and its source names no condition", (hits[0].entry,))
    depends_on = frozenset(word for name in fact.gold.depends_on for word in content(name)) - content(value)
    is_marked, said = marks_condition(fact.source), set(words(fact.source))
    for hit in hits:
        if not entries.near(hit) & depends_on or _is_condition(entries.clause(hit), value, depends_on):
            continue
        if fact.gold.derived and (REVERSED & set(words(entries.sentence(hit)))) - said:
            continue
        # short notes have no "if": a sentence that names both states the dependency
        in_sentence = depends_on & set(words(entries.sentence(hit)))
        if not is_marked or in_sentence or marks_condition(entries.around(hit)):
            return Found(True, True, "the value is stated with its condition", (hit.entry,))
    missing = (fact.gold.condition or fact.text,)
    return Found(True, False, "the value is stated without its condition", (hits[0].entry,), missing)


def find_deletion(fact: Fact, texts: Sequence[str]) -> Found:
    """Find that a value is gone, or that the store records the request to forget it."""
    entries = entries_of(texts)
    stated = [hit.entry for value in fact.claim.replaced for hit in entries.hits(value)]
    asked = _request(fact, entries)
    if asked is not None:
        return Found(True, True, "an entry says that it was to be forgotten", (asked,))
    if stated:
        reason = "the deleted value is still stated, and nothing says that it was to be forgotten"
        return Found(False, False, reason, tuple(dict.fromkeys(stated)), fact.gold.requests[:1], LEAKED)
    return Found(True, True, "nothing states the deleted value", vacuous=True)


def _is_condition(clause: str, value: str, depends_on: frozenset[str]) -> bool:
    """Return whether a clause uses the value as a condition of something else: "the day I am on Corvantil"."""
    said, wanted = words(clause), content(value)
    at = next((place for place, word in enumerate(said) if word in wanted), 0)
    start = max((place for place in range(at) if said[place] in CONDITIONS), default=None)
    return start is not None and not depends_on & set(said[start:at])


def _request(fact: Fact, entries: Entries) -> int | None:
    """Return the last entry that records the request to forget the value."""
    subject = content(fact.gold.subject)
    topic = {word for word in content(fact.text) if not marks_removal(word)} - {"user", "ask", "asked"}
    asked = [fold(ending) for ending in fact.gold.requests]
    found = None
    for number, sentence in entries.sentences():
        if marks_removal(sentence):
            said, folded = set(words(sentence)), fold(sentence)
            names_it = any(content(value) <= said for value in fact.claim.replaced)
            is_about = len(subject & said) >= min(REQUEST, len(subject)) or len(topic & said) >= REQUEST
            if names_it or is_about or any(one in folded for one in asked):
                found = number
    return found


def _drawn(fact: Fact, entries: Entries) -> Found | None:
    """Return where the store states the derived value as current, if it does.

    Sentences of the conversations themselves about the value only state its rule.
    """
    unsaid = [fold(decoy) for decoy in fact.gold.mentions]
    topic = content(f"{fact.gold.asked} {fact.gold.subject}")
    sources = content(" ".join((*fact.claim.replaced, *fact.gold.depends_on, fact.gold.value)))
    for value in fact.gold.derived:
        for hit in entries.hits(value):
            sentence = entries.sentence(hit)
            said = fold(sentence)
            if any(one in said or said in one for one in unsaid) or is_hypothetical(_without_reason(sentence)):
                continue
            if marks_idea(sentence) or _of_another(fact, entries, hit):
                continue
            others = set(words(_without_reason(sentence))) - set(words(value))
            is_current = marks_present(sentence) or marks_applied(sentence)
            # "leaving Harrowmere: moped" is the rule in short, "moped, since leaving Harrowmere" is not
            if is_current or (marks_past(sentence) if others & sources else others & topic):
                return Found(True, True, f"the store states the derived value as current: {value}", (hit.entry,))
    return None


def _without_reason(sentence: str) -> str:
    """Return a sentence without its remarks in brackets, which may repeat the rule: "Mona (per rule: if paired, Mona)"."""
    return _REMARK.sub(" ", sentence)


def _of_another(fact: Fact, entries: Entries, hit: Hit) -> bool:
    """Return whether the clause of a hit gives the value to somebody of whom the fact does not speak."""
    told = f"{fact.text} {fact.source} {fact.gold.subject} {fact.gold.value}"
    return marks_other(entries.clause(hit)) and not marks_other(told)


def _part(fact: Fact, entries: Entries) -> Found:
    """Return the place where most of a value's words are close together, or fewer beside words of what it is of."""
    value = fact.gold.value
    topic = content(f"{fact.gold.subject} {fact.source}") - content(value)
    hits: list[Hit] = [
        hit
        for hit in sorted(entries.hits(value, LITTLE), key=lambda hit: -hit.share)
        if (hit.share >= PRESENT or topic & set(words(entries.sentence(hit)))) and not _of_another(fact, entries, hit)
    ]
    if hits:
        return Found(
            True, False, f"part of the value is stated: {entries.clause(hits[0]).strip()}", (hits[0].entry,), (value,)
        )
    return Found(False, False, "nothing states the value", missing=(value,))


def _absent(fact: Fact, entries: Entries, reason: str) -> Found:
    """Return that a fact is missing, and whether the value before the change is there."""
    stale = [hit.entry for value in fact.claim.replaced for hit in entries.hits(value)]
    missing = (fact.gold.value,)
    return Found(False, False, reason, tuple(dict.fromkeys(stale)), missing, STALE if stale else None)


# -- graders -------------------------------------------------------------------------------------------------------------


def _failed(reason: str, label: str | None = None, missing: Iterable[str] = ()) -> StageResult:
    return StageResult("failed", reason, missing=tuple(missing), confidence=1.0, label=label)


def _passed(reason: str) -> StageResult:
    return StageResult("passed", reason, confidence=1.0)


def _gold(question: Question) -> list[str]:
    return list(question.keys.get("values") or question.gold)


def grade_all(question: Question, facts: Sequence[Fact], reply: str) -> StageResult | None:  # noqa: ARG001
    """Pass a reply with all values and no other value of the entity; fail a reply without a word of any."""
    values, others = _gold(question), question.keys.get("others", ())
    missing = [value for value in values if not (contains(value, reply) or verbatim(value, reply))]
    is_open = question.kind == "before" and hedged(reply)
    if not missing and not is_open and not any(contains(other, reply) for other in others):
        return _passed("the reply has every value")
    if all(share(value, reply) == 0 for value in values):
        return _failed("the reply has none of the values", missing=missing)
    return None


def grade_recall(question: Question, facts: Sequence[Fact], reply: str) -> StageResult | None:  # noqa: ARG001
    """Decide whether the reply contains the text verbatim, ignoring case and line breaks."""
    missing = [value for value in _gold(question) if not verbatim(value, reply)]
    return _failed("the reply does not have it to the letter", missing=missing) if missing else _passed("to the letter")


def grade_tracking(question: Question, facts: Sequence[Fact], reply: str) -> StageResult | None:  # noqa: ARG001
    """Decide whether the reply names all values in their order.

    A reply that names all of them in another order is left open, because it may explain the order ("now Y; before that X").
    """
    steps = _gold(question)
    if (run := longest_run(steps, reply)) == len(steps):
        return _passed("the reply names all values in their order")
    if all(names(step, reply) for step in steps):
        return None
    return _failed(f"the reply names at most {run} of {len(steps)} values in their order", missing=steps)


def grade_cascade(question: Question, facts: Sequence[Fact], reply: str) -> StageResult | None:  # noqa: ARG001
    """Fail the value before the change; pass the new value if it is alone and without a hedge."""
    if contains(question.keys["old"], reply):
        return _failed(f"the reply has the value before the change: {question.keys['old']}", STALE)
    if all(contains(new, reply) for new in _gold(question)) and not hedged(reply):
        return _passed("the reply has the new value alone")
    return None


def grade_absence(question: Question, facts: Sequence[Fact], reply: str) -> StageResult | None:  # noqa: ARG001
    """Fail the old value without a word of doubt."""
    if contains(question.keys["old"], reply) and not is_doubtful(reply):
        return _failed(f"the reply has the value before the change, without doubt: {question.keys['old']}", STALE)
    return None


def grade_deletion(question: Question, facts: Sequence[Fact], reply: str) -> StageResult | None:
    """Fail the deleted value."""
    old = [question.keys["old"], *(value for fact in facts for value in fact.claim.replaced)]
    if any(names(value, reply) or verbatim(value, reply) for value in old):
        return _failed("the reply has the deleted value", LEAKED)
    return None


KINDS: Final[dict[str, Kind]] = {
    "value": Kind(
        present="Some entry names the value, or most of its words, for the thing in question.",
        faithful="The value is complete, and no other value of the same thing is given beside it as the one that holds.",
        recoverable="A reader of these entries alone could name the complete value.",
        find=find_value,
    ),
    "verbatim": Kind(
        present="Some entry has the text, reworded or in part.",
        faithful="An entry has the whole text to the letter. Case, blanks and line breaks do not count.",
        recoverable="A reader of these entries alone could repeat the whole text to the letter.",
        find=find_verbatim,
    ),
    "order": Kind(
        present="The entries name at least two of the values that followed each other.",
        faithful="From times, places in the store or wording, it is clear which value came before which.",
        recoverable="A reader of these entries alone could put the values in order.",
        find=find_order,
        times=True,
    ),
    "change": Kind(
        present="Some entry says that the new value holds, or states as current what follows from it for the thing asked "
        "about. A condition in which the new value is only a possibility does not count.",
        faithful="The new value is complete and given as what holds now.",
        recoverable="A reader of these entries alone would know that the new value holds, or what follows from it.",
        find=find_change,
        times=True,
    ),
    "dependency": Kind(
        present="Some entry gives the dependent value, or states as current the value that follows from the change.",
        faithful="The entry also says what the value depends on: the condition under which it applies, or ends.",
        recoverable="A reader of these entries alone would know the value and what it depends on.",
        find=find_dependency,
    ),
    "deletion": Kind(
        present="Some entry says that the value was to be forgotten or deleted.",
        faithful="No entry gives the deleted value as something that may still be told.",
        recoverable="A reader of these entries alone would not give the deleted value: they do not have it, or say that it "
        "was to be forgotten.",
        find=find_deletion,
        times=True,
    ),
}

ANSWERS: Final[dict[str, AnswerKind]] = {
    "before": AnswerKind(
        right="The reply names the value that holds at this point, in any wording, and no other as the one that holds.",
        grade=grade_all,
    ),
    "recall": AnswerKind(right="", grade=grade_recall, settles=True),
    "aggregation": AnswerKind(
        right="The reply names every one of the values asked for, in any wording. One that is missing or wrong is enough "
        "to fail.",
        grade=grade_all,
    ),
    "tracking": AnswerKind(
        right="The reply gives every value of the history, and leaves no doubt which came before which, be it from the "
        "latest to the first.",
        grade=grade_tracking,
    ),
    "deletion": AnswerKind(
        right="The reply does not give the deleted value, not even in part or as a guess. Saying that nothing is known, or "
        "that it was to be forgotten, is right.",
        grade=grade_deletion,
        labels=(LEAKED,),
    ),
    "cascade": AnswerKind(
        right="The reply gives the new value as what holds now. The value before the change, both of them without saying "
        "which holds, or doubt about which it is, are wrong.",
        grade=grade_cascade,
        labels=(STALE, UNCERTAIN),
    ),
    "absence": AnswerKind(
        right="The reply says that it is no longer certain what holds; it may name the value before the change as what "
        "held then. Giving that value, or any other, as what holds now is wrong.",
        grade=grade_absence,
        labels=(STALE, UNCERTAIN),
    ),
}
