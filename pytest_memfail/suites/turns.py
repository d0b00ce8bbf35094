"""Turns of a chat as facts, for benchmarks that mark the turns that an answer needs.

A question needs only a part of a turn: what the turn says that the answer rests on. A store that keeps the turn, or the
sentences that `needed_of` chooses, certainly holds that part. For other stores, words give an estimate, and a model decides.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import lru_cache
from typing import Final, Literal

from pytest_memfail.core import (
    DATE_LOST,
    ERROR,
    Claim,
    Fact,
    FactVerdict,
    Found,
    Kind,
    Part,
    QuestionRecord,
    Score,
    moment_said,
)
from pytest_memfail.texts import content, fold, sentences

RECALLED: Final = 0.6
"""The share of the words of a turn, or of a sentence of it, that must be stored."""
REPEATED: Final = 0.33
"""The share of the words that a question needs of a turn from which another turn may repeat it."""
KEPT_TEXTS: Final = 16384
KEPT_INDEXES: Final = 16
NO_MODEL: Final = (
    "needs a model as judge, MODEL or offline+MODEL: of reworded memories the offline judge only estimates"
)
_POSSESSIVE: Final = re.compile(r"['\u2019]s?\b")
_PRONOUNS: Final = frozenset({"i", "im", "ive", "ill", "id"})
_DATE: Final = re.compile(r"(\d{4})/(\d\d?)/(\d\d?)(?: \(\w+\))?(?: (\d\d?):(\d\d))?")
_ID: Final = re.compile(r".*\.(?P<session>s\d+)-t\d+-(?P<role>[a-z]+)")


def read_date(text: str) -> datetime | None:
    """Return the time at the start of a text, such as `2023/05/30 (Tue) 23:40`, in UTC; None if there is none."""
    match = _DATE.match(text)
    try:
        return None if match is None else datetime(*map(int, match.groups("0")), tzinfo=timezone.utc)  # type: ignore[misc, arg-type]
    except ValueError:
        return None


# -- facts -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TurnGold:
    """What makes a turn evidence: the question that needs it, and the right answer."""

    asked: str
    answer: str
    date: str
    """The day of its session, such as `2023-05-08 (Monday)`; empty without one."""
    needed: tuple[str, ...]
    """The sentences of the turn that certainly hold all that the answer needs; see `needed_of`."""


def turn_fact(
    text: str,
    name: str,
    *,
    session: int,
    turn: int,
    speaker: str,
    said: datetime | None,
    conversation_id: str,
    asked: str,
    answer: str,
    is_temporal: bool = False,
    owner: str | None = None,
) -> Fact:
    """Return a turn as a fact of one question; `name` is unique to store and question, `is_temporal` says if it needs the date."""
    wanted = content(asked) | content(answer)
    about = [sentence for sentence in sentences(text) if wanted & content(sentence)] or [text]
    needed = needed_of(text, about, "" if is_temporal else answer)
    moment = None
    if is_temporal and said is not None:
        # a time in a sentence without words of the question may be that of something else
        moment = moment_said("\n".join(about), said.date())
        moment = moment if moment.named else moment_said("\n".join(needed), said.date())
    date = "" if said is None else f"{said:%Y-%m-%d (%A)}"
    return Fact(
        id=f"{name}.s{session:02}-t{turn:02}-{speaker}",
        kind=TURN,
        text=text,
        source=text,
        conversation_id=conversation_id,
        claim=Claim(parts=tuple(map(Part, about)), source="\n".join(about), moment=moment, owner=owner),
        gold=TurnGold(asked, answer, date, needed),
    )


def needed_of(text: str, about: Sequence[str], answer: str) -> tuple[str, ...]:
    """Return the sentences of a turn that certainly hold all that an answer needs of it.

    Those about the question suffice only if they have each word of the answer, and it has no number. Another answer is
    inferred, perhaps from a sentence without a word of it, so all count but questions without a number or a name.

    >>> needed_of("I bake. I made rolls. Any tips?", ["I bake."], "rolls"), needed_of("I bake. So?", ["I bake."], "bake")
    (('I bake.', 'I made rolls.'), ('I bake.',))
    """
    words = content(answer)
    if words and words <= frozenset().union(*map(content, about)) and not any(map(str.isdigit, "".join(words))):
        return tuple(about)
    said = (one for one in sentences(text) if one in about or not one.endswith("?") or particulars(one))
    return tuple(said) or (text,)


def session_of(fact: str) -> str:
    """Return the number of the session in the id of a turn's fact."""
    return match["session"] if (match := _ID.fullmatch(fact)) else ""


def speaker_of(fact: str) -> str:
    """Return the speaker in the id of a turn's fact."""
    return match["role"] if (match := _ID.fullmatch(fact)) else ""


# -- finders -----------------------------------------------------------------------------------------------------------


class Turns:
    """An index of the words of some memories, to find turns of a chat in them."""

    def __init__(self, texts: Sequence[str]) -> None:
        """Index the texts; line breaks and quotes may be escaped, as in a list of turns printed as text."""
        self._words = [_words(text) for text in texts]
        self._places: dict[str, list[int]] = {}
        for number, words in enumerate(self._words):
            for word in words:
                self._places.setdefault(word, []).append(number)

    def relied_on(self, turn: str) -> list[int]:
        """Return, for each sentence of a turn, the text with most of its words, if it has at least `RECALLED` of them."""
        found = []
        for sentence in sentences(turn):
            wanted = _words(sentence)
            shared = Counter(at for word in wanted for at in self._places.get(word, ()))
            best = min(shared, key=lambda at: (-shared[at], at), default=None)
            if best is not None and shared[best] >= RECALLED * len(wanted):
                found.append(best)
        return list(dict.fromkeys(found))

    def words_of(self, places: Iterable[int]) -> frozenset[str]:
        """Return all words of some texts."""
        return frozenset().union(*(self._words[at] for at in places))


@lru_cache(maxsize=KEPT_TEXTS)
def _words(text: str) -> frozenset[str]:
    return content(_POSSESSIVE.sub("", text.replace("\\n", " ").replace("\\'", "'")))


@lru_cache(maxsize=KEPT_INDEXES)
def _turns(texts: tuple[str, ...]) -> Turns:
    return Turns(texts)


def particulars(turn: str) -> frozenset[str]:
    """Return the numbers and names of a turn, as `content` returns words; they must not change when it is stored.

    >>> sorted(particulars("Yesterday I met Ragna at the pier, 40 minutes late."))
    ['40', 'ragna']
    """
    inner = [word for sentence in sentences(turn) for word in sentence.split()[1:] if word[:1].isupper()]
    with_digits = [word for word in turn.split() if any(map(str.isdigit, word))]
    names = (*with_digits, *(word for word in inner if len(word.strip(".,!?'")) > 1))
    return frozenset(word for name in names for word in _words(name) if word not in _PRONOUNS)


def find_turn(fact: Fact, texts: Sequence[str]) -> Found:
    """Find a turn by its words; it is faithful if its numbers and names are kept."""
    index, wanted = _turns(tuple(texts)), _words(fact.source)
    entries = tuple(index.relied_on(fact.source))
    held = index.words_of(entries)
    if len(wanted & held) < RECALLED * len(wanted) or not wanted:
        return Found(False, False, "no entry has the words of the turn", entries, (fact.text,))
    if lost := sorted(particulars(fact.source) - held):
        return Found(True, False, f"the turn is there without {', '.join(lost[:5])}", entries, tuple(lost))
    return Found(True, True, "the turn is there, with its numbers and names", entries)


def find_needed(fact: Fact, texts: Sequence[str]) -> Found | None:
    """Find a turn, or what the question needs of it, word for word; None if memories may hold it in other words."""
    held = [_folded(text) for text in texts]
    for wanted in ((fact.source,), fact.gold.needed):
        places = [[at for at, text in enumerate(held) if _folded(each) in text] for each in wanted]
        if all(places):
            # all entries: the same may be said on several days
            entries = tuple(dict.fromkeys(at for found in places for at in found))
            return Found(True, True, "the turn is there word for word", entries)
    return None if texts else Found(False, False, "nothing is there")


def find_unsaid(fact: Fact, texts: Sequence[str]) -> Found | None:
    """Say that a turn is lost if no text, all of which were said, has many of the words that the question needs of it.

    With many of them, what somebody else said may repeat the turn.
    """
    wanted = frozenset().union(*(_words(each) for each in fact.gold.needed))
    if not wanted or any(len(wanted & _words(text)) >= REPEATED * len(wanted) for text in texts):
        return None
    return Found(False, False, "the store keeps what was said word for word, and this turn is not there")


@lru_cache(maxsize=KEPT_TEXTS)
def _folded(text: str) -> str:
    return fold(text)


TURN: Final = "evidence_turn"
KINDS: Final[dict[str, Kind]] = {
    TURN: Kind(
        present='Some entry has at least part of what the answer to "asked" needs of this turn, in any words.',
        faithful='The entries keep everything of this turn that leads from "asked" to "answer": each name, number, amount and '
        "detail that the answer rests on, and whom it is about. The rest of the turn may be gone. A turn may hold only one of "
        "several parts of the answer: only that part counts. A time that the turn counts from its day, such as "
        '"last week", may be given as a date.',
        recoverable='A reader of these entries alone would know what this turn adds to the answer to "asked".',
        find=find_needed,
        find_said=find_unsaid,
        offline="estimates",
        times=True,
        gold=("said", "date", "asked", "answer"),
        note="That an entry says nothing of the day is no fault here: dates are checked apart. A wrong one is.",
    )
}


# -- measures of retrieval ---------------------------------------------------------------------------------------------

Recall = Literal["any", "all", "ndcg"]
Unit = Literal["turn", "session"]


def recall(
    which: Recall, unit: Unit, of: Callable[[QuestionRecord], bool] = lambda _: True, *, speaker: str = ""
) -> Callable[[Sequence[QuestionRecord]], Score]:
    """Return the mean over the questions chosen by `of` that have facts: is `any` or are `all` of their turns among the
    memories shown, or how high do they rank (`ndcg`)?

    A session is shown if one of its turns is. With a `speaker`, only turns of that speaker are facts.
    """

    def measure(questions: Sequence[QuestionRecord]) -> Score:
        chosen = [(q.k, _facts(q, speaker)) for q in questions if of(q)]
        asked = [(k, facts) for k, facts in chosen if facts]
        if lacks := _lacks([facts for _, facts in asked]):
            return Score(None, len(asked), lacks=lacks)
        values = [_of_ranks(which, _ranks(facts, unit), k) for k, facts in asked]
        return Score(sum(values) / len(values), len(values))

    return measure


def share_shown(questions: Sequence[QuestionRecord]) -> Score:
    """Return the mean share of a question's evidence turns that the memories shown hold."""
    asked = [facts for question in questions if (facts := _facts(question))]
    if lacks := _lacks(asked):
        return Score(None, len(asked), lacks=lacks)
    found = [[rank is not None for rank in _ranks(facts, "turn")] for facts in asked]
    return Score(sum(sum(one) / len(one) for one in found) / len(found), len(found))


def _facts(question: QuestionRecord, speaker: str = "") -> list[FactVerdict]:
    """Return the facts of a question that was judged, or those said by one speaker."""
    if question.verdict == ERROR:
        return []
    return [fact for fact in question.facts if speaker in ("", speaker_of(fact.id))]


def _lacks(asked: Sequence[Sequence[FactVerdict]]) -> str | None:
    """Return why retrieval has no figure for questions with these facts; None if it has one."""
    if any(fact.deciding.estimated for facts in asked for fact in facts):
        return NO_MODEL
    return None if asked else "no question with evidence"


def _ranks(facts: Sequence[FactVerdict], unit: Unit) -> list[int | None]:
    """Return the rank of each turn or session among the memories shown, from 0; None if it is not there."""
    found: dict[str, int | None] = {}
    for fact in facts:
        name = fact.id if unit == "turn" else session_of(fact.id)
        # the words count, even where they came without the day
        is_shown = fact.retrieval.outcome == "passed" or fact.retrieval.label == DATE_LOST
        shown = min(fact.retrieval.entries, default=0) if is_shown else None
        known = found.get(name)
        found[name] = shown if known is None else known if shown is None else min(known, shown)
    return list(found.values())


def _of_ranks(which: Recall, ranks: Sequence[int | None], k: int) -> float:
    shown = sorted(rank for rank in ranks if rank is not None)
    if which != "ndcg":
        return float(bool(shown) if which == "any" else len(shown) == len(ranks))
    return _gain(dict.fromkeys(shown)) / _gain(range(min(len(ranks), k)))


def _gain(ranks: Iterable[int]) -> float:
    """Return the discounted gain as published: the first two ranks count alike."""
    return sum(1.0 if rank == 0 else 1 / math.log2(rank + 1) for rank in ranks)
