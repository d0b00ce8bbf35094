"""Judge MemoryAgentBench's facts and answers: finders over an index of statements, and graders."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from pytest_memfail.core import AnswerKind, Fact, Found, Kind, Question, StageResult
from pytest_memfail.suites.mab.facts import subjects_of
from pytest_memfail.suites.mab.scores import exact_match, has_all, label_match, norm, substring_match
from pytest_memfail.suites.mab.summaries import ask_summary, grade_empty
from pytest_memfail.suites.mab.titles import recall, recommended
from pytest_memfail.suites.turns import find_turn
from pytest_memfail.texts import content, sentences

STALE: Final = "stale_value"
RELATION: Final = 0.5
"""The share of the words before a value that a reworded statement must have."""
KEPT_TEXTS: Final = 16384
KEPT_INDEXES: Final = 16
_NUMBERED: Final = re.compile(r"(\d+)\.\s+(.*)", re.S)
_BEFORE_NUMBER: Final = re.compile(r"\n+|(?<=[.!?])\s+(?=\d+\.\s+\S)")
_POSSESSIVE: Final = re.compile(r"['\u2019]s?\b")


@dataclass(frozen=True, slots=True)
class Gold:
    """The value that a fact needs, and where it stands."""

    value: str
    beginning: str = ""
    """The words of a numbered fact before its value."""
    any_of: tuple[str, ...] = ()
    """Sentences, or strings, any of which is enough."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One statement of an entry: a numbered line, or a sentence."""

    number: int | None
    text: str
    """Normalised, between two blanks."""


@lru_cache(maxsize=KEPT_TEXTS)
def _sentences_of(text: str) -> tuple[Sentence, ...]:
    found = []
    for piece in _BEFORE_NUMBER.split(text):
        match = _NUMBERED.fullmatch(piece.strip())
        for said in [match[2]] if match else sentences(piece):
            if words := _plain(said):
                found.append(Sentence(int(match[1]) if match else None, f" {words} "))
    return tuple(found)


@lru_cache(maxsize=KEPT_TEXTS)
def _plain(text: str) -> str:
    return norm(_POSSESSIVE.sub("", text))


class Sentences:
    """The statements of some memories, in store order, found by their words."""

    def __init__(self, texts: Sequence[str]) -> None:
        """Index the texts, in time linear in their length."""
        self.all: list[Sentence] = []
        self.entry: list[int] = []
        self._places: dict[str, list[int]] = {}
        for number, text in enumerate(texts):
            for statement in _sentences_of(text):
                for word in set(statement.text.split()):
                    self._places.setdefault(word, []).append(len(self.all))
                self.all.append(statement)
                self.entry.append(number)

    def stating(self, beginning: str, value: str, longer: Sequence[str] = ()) -> list[int]:
        """Return the statements that give a subject this value, verbatim or reworded.

        A reworded statement has the value, the name of the subject word for word, and half of the other words. `longer` are other
        values of the same subject: a statement of "United States of America" does not state "United States".
        """
        start, wanted = _plain(beginning), _plain(value)
        name = _plain(" ".join(subjects_of(beginning)[0]))
        relation = {_plain(word) for word in content(beginning)} - {""}
        exact = f" {start} {wanted} "
        others = [
            f" {words} " for other in longer if wanted != (words := _plain(other)) and f" {wanted} " in f" {words} "
        ]
        found = []
        for at in self._with({*wanted.split(), *name.split()}):
            text = self.all[at].text
            if f" {wanted} " not in text or any(other in text for other in others):
                continue
            has_name = not name or f" {name} " in text
            if exact in text or (has_name and len(relation & set(text.split())) >= RELATION * len(relation)):
                found.append(at)
        return found

    def _with(self, words: set[str]) -> Iterator[int]:
        """Yield the statements that have all words."""
        places = [self._places.get(word) for word in words]
        if not places or None in places:
            return
        rarest = min((found for found in places if found), key=len)
        for at in rarest:
            text = self.all[at].text
            if all(f" {word} " in text for word in words):
                yield at


@lru_cache(maxsize=KEPT_INDEXES)
def _index(texts: tuple[str, ...]) -> Sentences:
    return Sentences(texts)


# -- finders -----------------------------------------------------------------------------------------------------------


def find_fact(fact: Fact, texts: Sequence[str]) -> Found:
    """Find a fact, and check that no replaced value of the same subject appears to be newer.

    The number of the fact shows that it is the newest. Without a number, the later statement is newer.
    """
    gold: Gold = fact.gold
    index, value, beginning, replaced = _index(tuple(texts)), gold.value, gold.beginning, fact.claim.replaced
    values = (value, *replaced)
    current = index.stating(beginning, value, values)
    old = [(at, stale) for stale in replaced for at in index.stating(beginning, stale, values)]
    latest, given = max(old, default=(-1, ""))
    stated = tuple(dict.fromkeys(index.entry[at] for at in reversed(current)))
    entries = tuple(dict.fromkeys([*stated, *(index.entry[at] for at, _ in old)]))
    if not current:
        if old:
            reason = f"only a replaced value is stated: {given}"
            return Found(False, False, reason, entries, (value,), STALE)
        return Found(False, False, "nothing states the fact", missing=(fact.text,))
    own = _NUMBERED.match(fact.source)
    if max(current) >= latest or (own and any(index.all[at].number == int(own[1]) for at in current)):
        return Found(True, True, "the fact is stated, as the newest of its kind", stated)
    reason = f"a replaced value comes later, and no number shows that it is older: {given}"
    return Found(True, False, reason, entries, (value,), STALE)


def find_last(fact: Fact, texts: Sequence[str]) -> Found:
    """Find any of the facts that may end a chain."""
    index, value = _index(tuple(texts)), fact.gold.value
    for said in fact.gold.any_of:
        if found := index.stating(said[: len(said) - len(value)], value):
            entries = tuple(dict.fromkeys(index.entry[at] for at in reversed(found)))
            return Found(True, True, f"a fact with the answer as its value is stated: {said}", entries)
    return Found(False, False, "no fact has the answer as its value", missing=(value,))


def find_string(fact: Fact, texts: Sequence[str]) -> Found:
    """Find an answer as a string; the sentence around it is not checked."""
    wanted = [f" {words} " for gold in fact.gold.any_of if (words := _plain(gold))]
    entries = tuple(at for at, text in enumerate(texts) if any(gold in f" {_plain(text)} " for gold in wanted))
    if entries:
        return Found(True, True, "the string of the answer is there", entries)
    return Found(False, False, "the string of the answer is nowhere", missing=(fact.gold.value,))


# -- graders -----------------------------------------------------------------------------------------------------------


def _result(question: Question, reply: str, *, right: bool, label: str | None = None) -> StageResult:
    if right:
        return StageResult("passed", "the answer matches", confidence=1.0)
    reason = f"the answer does not match: {reply[:80]}"
    return StageResult("failed", reason, missing=question.gold[:1], confidence=1.0, label=label)


def grade_substring(question: Question, facts: Sequence[Fact], reply: str) -> StageResult:
    """Pass an answer with a gold as a substring; label an answer with a replaced value."""
    replaced = [value for fact in facts for value in fact.claim.replaced]
    label = STALE if substring_match(replaced, reply) else None
    return _result(question, reply, right=substring_match(question.gold, reply), label=label)


def grade_exact(question: Question, facts: Sequence[Fact], reply: str) -> StageResult:  # noqa: ARG001
    """Pass an answer that is a gold."""
    return _result(question, reply, right=exact_match(question.gold, reply))


def grade_label(question: Question, facts: Sequence[Fact], reply: str) -> StageResult:  # noqa: ARG001
    """Pass an answer whose first line is the label."""
    return _result(question, reply, right=label_match(question.gold, reply))


def grade_titles(question: Question, facts: Sequence[Fact], reply: str) -> StageResult:  # noqa: ARG001
    """Score a list of titles by Recall@5; one right title among the first five passes."""
    score = recall(question.keys["titles"], question.gold, reply)
    given = ", ".join(recommended(reply)[:3]) or "nothing"
    reason = f"Recall@5 {score:.2f}: the list begins with {given[:80]}"
    missing = () if score else question.gold
    return StageResult("passed" if score else "failed", reason, missing=missing, confidence=1.0, score=score)


def grade_events(question: Question, facts: Sequence[Fact], reply: str) -> StageResult:  # noqa: ARG001
    """Pass an answer that repeats all golds."""
    return _result(question, reply, right=has_all(question.gold, reply))


KINDS: Final[dict[str, Kind]] = {
    "numbered_fact": Kind(
        present="Some entry states this fact, with or without its number, in any words.",
        faithful="The fact is stated with its value, and no other value of the same thing stands there as a newer one. A "
        "higher number is newer; without numbers, the later entry is.",
        recoverable="A reader of these entries alone could give the value, and would take no replaced value for it.",
        find=find_fact,
        outdated=True,
    ),
    "last_fact": Kind(
        present="Some entry states one of the given facts, all of which have the same value.",
        faithful="One of the given facts is stated with its value.",
        recoverable="A reader of these entries could read the value from one of the given facts.",
        find=find_last,
    ),
    "gold_string": Kind(
        present="Some entry has the answer.",
        faithful="The answer is there to the letter, apart from case and punctuation.",
        recoverable="A reader of these entries could read the answer from them.",
        find=find_string,
    ),
    "turn": Kind(
        present="Some entries convey what this turn of a chat says, in any words.",
        faithful="Everything in the turn that the question could be answered by is there, with its numbers, names and dates.",
        recoverable="A reader of these entries would know what the turn says that the question could be answered by.",
        find=find_turn,
        times=True,
    ),
}
"""Kinds of facts in addition to those that every judge knows; `numbered_fact` and `turn` are facts, the others are proxies."""

ANSWERS: Final[dict[str, AnswerKind]] = {
    "mab_substring": AnswerKind(right="", grade=grade_substring, settles=True),
    "mab_exact": AnswerKind(right="", grade=grade_exact, settles=True),
    "mab_label": AnswerKind(right="", grade=grade_label, settles=True),
    "mab_titles": AnswerKind(right="", grade=grade_titles, settles=True),
    "mab_summary": AnswerKind(right="", grade=grade_empty, ask=ask_summary, settles=True),
    "mab_events": AnswerKind(right="", grade=grade_events, settles=True),
    "mab_open": AnswerKind(
        right="The reply answers the question with what the right answer says; more than that is no fault. Of a value that "
        "changed it gives the present one. A count of days or weeks may be off by one. Where the right answer is that it "
        "cannot be known, the reply says so. Where it describes what the user would like, the reply fits that; it need not "
        "have every point of it.",
        settles=True,
    ),
}
