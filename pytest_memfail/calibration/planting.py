"""Known faults, planted one at a time into verbatim stores: a judge must name each (its mutation score)."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pytest_memfail.calibration.cases import Case, Label, LabelName
from pytest_memfail.core import Evidence, Listing, Memory, Question, Task

SHOWN: Final = 5
"""Memories shown for a question."""
STRANGER: Final = "Bartholomew"
"""Whoever a fact is given to instead."""

SENTENCE: Final = re.compile(r"(?<=[.!?])(?<![ap]\.m\.) +")
WORD: Final = re.compile(r"[^\W\d_]{3,}|\d+")
TITLES: Final = frozenset("captain the sir lady lord dr doctor professor mr mrs miss king queen of old".split())
CONNECTIVE: Final = re.compile(
    r",?\s*(?:but )?\b(?:only |right |immediately |just )*"
    r"\b(?:when|whenever|if|after|during|before|while|at|between|in|under|inside|near|on|once)\b",
    re.IGNORECASE,
)
ONLY: Final = re.compile(r"\b(?:only|exclusively|solely) ", re.IGNORECASE)
NUMBER_WORDS: Final = "zero one two three four five six seven eight nine ten eleven twelve".split()
NUMBER: Final = re.compile(rf"\b(\d+)(?=\b|%|°|[ap]m)|\b({'|'.join(NUMBER_WORDS[2:11])})\b", re.IGNORECASE)
SCALE: Final = re.compile(r"(?:out of|scale of|1 to) $")
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
STOP: Final = frozenset(
    "the and for with his her their has have are was when who that this from only after before".split()
)


@dataclass(frozen=True, slots=True)
class Fault:
    """One kind of fault."""

    name: str
    kinds: tuple[str, ...]
    """The kinds of evidence that it can befall."""
    label: LabelName
    damage: Callable[[Evidence, Question, str], str | None]
    """The text as it stands in the store instead; None where this fault cannot be planted, empty where nothing stands."""
    accept: tuple[LabelName, ...] = ()
    shown: bool = True
    """Whether what is left of the fact is shown."""


def planted_cases(tasks: Sequence[Task], seed: int = 42, every: int = 1) -> list[Case]:
    """A case for each fact and each fault that can befall it, in a store that holds all conversations of its task.

    Args:
        tasks: rows as tasks; stores are verbatim, one entry a conversation.
        seed: for what else is shown beside the fact.
        every: takes each so-manyth fact only.
    """
    return [case for task in tasks for case in _of_task(task, random.Random(seed), every)]


def _of_task(task: Task, rng: random.Random, every: int) -> Iterator[Case]:
    texts = {c.id: c.text for store in task.stores for c in store.conversations}
    memories = {id: Memory(text) for id, text in texts.items()}
    pairs = [(q, task.evidence[e]) for q in task.questions if q.kind != "misleading" for e in q.evidence]
    for question, fact in pairs[::every]:
        own = fact.conversation_id
        others = rng.sample([id for id in texts if id != own], min(SHOWN, len(texts) - 1))
        for fault in FAULTS:
            if fact.kind not in fault.kinds:
                continue
            text = fault.damage(fact, question, texts[own])
            if text is None or (text == texts[own] and fault.label == "summary_error"):
                continue
            mine = (Memory(text),) if text else ()
            store = tuple(m for id, memory in memories.items() for m in (mine if id == own else (memory,)))
            around = tuple(memories[id] for id in others)
            yield Case(
                f"{fact.id}:{fault.name}",
                task.name,
                None,
                question,
                (fact,),
                Listing(f"{fact.id}:{fault.name}", store),
                (*mine, *around)[:SHOWN] if fault.shown else around,
                (Label(label=fault.label, accept=fault.accept, kind=fault.name),),
            )


def _same(evidence: Evidence, question: Question, text: str) -> str:
    return text


def _nothing(evidence: Evidence, question: Question, text: str) -> str:
    return ""


def _condition_dropped(evidence: Evidence, question: Question, text: str) -> str | None:
    """The rule's sentence ends before its condition; where that has sentences of its own, these go."""
    sentences = SENTENCE.split(text)
    behavior, condition = _words(evidence.behavior), _words(evidence.condition)
    alone = condition - behavior
    at = _best(sentences, behavior)
    if _words(sentences[at]) & alone:
        for match in CONNECTIVE.finditer(sentences[at]):
            head = sentences[at][: match.start()]
            lost = _words(sentences[at]) - _words(head)
            if _words(head) & behavior == _words(sentences[at]) & behavior and lost & alone:
                sentences[at] = ONLY.sub("", head).strip(" ,") + "."
                return " ".join(sentences)
        return None
    kept = [sentence for i, sentence in enumerate(sentences) if i == at or not _words(sentence) & alone]
    left = " ".join(kept)
    # whom the rest is about must still be told: else it would be another fault
    return left if len(kept) < len(sentences) and _words(evidence.entity) <= _words(left) else None


def _exclusivity_dropped(evidence: Evidence, question: Question, text: str) -> str | None:
    """No "only" is left in the rule's sentence, where the answer hangs on it."""
    if question.metadata.get("condition_met") != "no":
        return None
    sentences = SENTENCE.split(text)
    at = _best(sentences, _words(evidence.behavior) | _words(evidence.condition))
    without = ONLY.sub("", sentences[at])
    sentences[at] = without[:1].upper() + without[1:]
    return " ".join(sentences)


def _condition_inverted(evidence: Evidence, question: Question, text: str) -> str | None:
    """Before becomes after, and so on, in the sentence that states the condition."""
    sentences = SENTENCE.split(text)
    at = _best(sentences, _words(evidence.behavior) | _words(evidence.condition))
    stated = (evidence.condition or "").casefold()
    for pair in OPPOSITES:
        for old, new in (pair, pair[::-1]):
            if re.search(rf"\b{old}\b", stated) and re.search(rf"\b{old}\b", sentences[at], re.IGNORECASE):
                sentences[at] = re.sub(rf"\b{old}\b", new, sentences[at], flags=re.IGNORECASE)
                return " ".join(sentences)
    return None


def _number_changed(evidence: Evidence, question: Question, text: str) -> str:
    """Every number of the fact is another one."""
    gold = evidence.condition if evidence.kind == "rule" else evidence.value
    wanted = {_value(match) for match in NUMBER.finditer(gold or "")}

    def change(match: re.Match[str]) -> str:
        if _value(match) not in wanted or SCALE.search(text[: match.start()]):
            return match[0]
        return str(_value(match) + 15) if match[1] else NUMBER_WORDS[_value(match) + 2]

    return NUMBER.sub(change, text)


def _given_to_another(evidence: Evidence, question: Question, text: str) -> str | None:
    """Somebody else's name stands wherever the entity's did."""
    if not evidence.entity:
        return None
    for part in evidence.entity.split():
        if part.casefold() not in TITLES:
            text = re.sub(rf"\b{re.escape(part)}\b", STRANGER, text)
    return re.sub(rf"{STRANGER} {STRANGER}", STRANGER, text)


def _answer_dropped(evidence: Evidence, question: Question, text: str) -> str | None:
    """The sentences that hold what the question needs are gone."""
    if not evidence.value:
        return None
    sentences = SENTENCE.split(text)
    first = [detail.wordings[0].casefold() for detail in evidence.details]
    gone = {i for i, sentence in enumerate(sentences) if any(wording in sentence.casefold() for wording in first)}
    if not gone:
        gone = {_best(sentences, _words(evidence.value) - _words(evidence.entity))}
    return " ".join(sentence for i, sentence in enumerate(sentences) if i not in gone)


def _generalised(evidence: Evidence, question: Question, text: str) -> str | None:
    """The category stands where the preference did."""
    category = str(question.metadata.get("category", "such things"))
    return re.sub(rf"\b{re.escape(evidence.preference or '')}(?:s|ing)?\b", category, text, flags=re.IGNORECASE)


def _disliked(evidence: Evidence, question: Question, text: str) -> str:
    """The preference is stored as a dislike."""
    return f"The user can't stand {evidence.preference}."


def _reversed(evidence: Evidence, question: Question, text: str) -> str | None:
    """The two ends of the link change places."""
    found = _ends(evidence, text)
    if found is None:
        return None
    (i, first), (j, second) = found
    turned = text[:i] + second + text[i + len(first) : j] + first + text[j + len(second) :]
    return turned[0].upper() + turned[1:]


def _end_lost(evidence: Evidence, question: Question, text: str) -> str | None:
    """Something vague stands where the link's later end did."""
    found = _ends(evidence, text)
    if found is None:
        return None
    j, second = found[1]
    return text[:j] + "something" + text[j + len(second) :]


def _ends(evidence: Evidence, text: str) -> tuple[tuple[int, str], tuple[int, str]] | None:
    """The link's anchors with their places, the earlier first."""
    low = text.casefold()
    places = sorted((low.find(anchor.casefold()), anchor) for anchor in evidence.anchors)
    if len(places) != 2 or places[0][0] < 0 or places[1][0] < places[0][0] + len(places[0][1]):
        return None
    return places[0], places[1]


def _words(text: str | None) -> set[str]:
    return {word.casefold().rstrip("s") for word in WORD.findall(text or "")} - STOP


def _best(sentences: Sequence[str], wanted: set[str]) -> int:
    """The sentence with most of the words, the first of several."""
    return max(range(len(sentences)), key=lambda i: (len(_words(sentences[i]) & wanted), -i))


def _value(match: re.Match[str]) -> int:
    return int(match[1]) if match[1] else NUMBER_WORDS.index(match[2].casefold())


ALL: Final = ("rule", "preference", "persona", "link")
LOST: Final[tuple[LabelName, ...]] = ("summary_error", "not_stored")
FAULTS: Final = (
    Fault("stored and shown (no fault)", ALL, "ok", _same),
    Fault("never stored", ALL, "not_stored", _nothing),
    Fault("not shown", ALL, "not_retrieved", _same, shown=False),
    Fault("given to another", ("rule", "persona", "link"), "summary_error", _given_to_another, LOST),
    Fault("condition dropped", ("rule",), "summary_error", _condition_dropped),
    Fault("condition inverted", ("rule",), "summary_error", _condition_inverted),
    Fault("exclusivity dropped", ("rule",), "summary_error", _exclusivity_dropped),
    Fault("number changed", ("rule", "persona"), "summary_error", _number_changed),
    Fault("answer dropped", ("persona",), "summary_error", _answer_dropped),
    Fault("generalised", ("preference",), "summary_error", _generalised, LOST),
    Fault("turned into a dislike", ("preference",), "summary_error", _disliked, LOST),
    Fault("link reversed", ("link",), "summary_error", _reversed),
    Fault("end of link lost", ("link",), "summary_error", _end_lost, LOST),
)
