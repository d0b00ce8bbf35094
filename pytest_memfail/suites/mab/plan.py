"""Turn rows into stores: one per context, filled chunk by chunk and then asked the questions of its rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from pytest_memfail.core import (
    NOT_RETRIEVED,
    NOT_STORED,
    REASONING_ERROR,
    Claim,
    Conversation,
    Fact,
    Ingest,
    Message,
    Probe,
    Question,
    RowError,
    StorePlan,
    Task,
)
from pytest_memfail.rows import JsonRow, digest
from pytest_memfail.suites.mab.chunks import chunks_of
from pytest_memfail.suites.mab.facts import FactList, NumberedFact
from pytest_memfail.suites.mab.files import FORGETTING, LEARNING, NAME, RETRIEVAL, UNDERSTANDING, Row, read_context
from pytest_memfail.suites.mab.kinds import Gold
from pytest_memfail.suites.mab.paper_layout import chunks_of_paper, exchange
from pytest_memfail.suites.mab.scores import norm
from pytest_memfail.suites.mab.titles import Titles
from pytest_memfail.suites.turns import find_turn

DESCRIPTIONS: Final = {
    RETRIEVAL: "answers stated somewhere in a long text",
    LEARNING: "labels learned from examples in a long text",
    UNDERSTANDING: "questions about a whole novel",
    FORGETTING: "numbered facts, where later facts replace earlier ones",
}
FORMS: Final = {
    FORGETTING: "Where two facts contradict each other, the one with the higher number holds, whatever you know yourself. "
    "Give only the name or term that is asked for.",
    "mab_substring": "Give only the name or term that is asked for.",
    "mab_exact": "Give the answer alone, in the form that the question or the examples have.",
    "mab_label": "Give the label alone, as the examples have it.",
    "mab_titles": 'Recommend 20 titles as a numbered list after "Answer:", the best first, one title a line and nothing else.',
    "mab_summary": 'Write the summary after "Answer:".',
    "mab_events": "Repeat the right one to the letter.",
}
"""Instructions for the test-taker on the form of the answer, by task or kind of question."""
REGISTER: Final = """\
Act as the keeper of a register of facts. Every entry of the register begins with its serial number, and of two entries \
the one with the larger number was written later.
Where entries contradict each other, settle it by taking the one that was written last, and answer the question below by \
that rule. Keep the answer as short as it can be, with nothing around it, and take it **only** from the register that you \
have stored, never from what holds in the real world.
An example:
[Register]
Question: Going by the register, who leads the choir of Town Q at present?
Answer: Singer M.
The question to answer now: Going by the register, {}
Answer:"""
"""FactConsolidation's query under the protocol `paper`: the rules and an example, as long as in the published query."""
WHOLE: Final = ("mab_events", "mab_label", "mab_open", "mab_exact", "mab_summary")
"""Kinds of questions for which the paper's code uses the whole instruction as the query."""
BY_STRING: Final = ("mab_substring", "mab_events", "mab_exact")
"""Kinds of questions without an annotated fact, so the answer is searched for as a string."""
_OPTION: Final = re.compile(r"^\(?[A-Z][.)]\s+")
SHORTEST: Final = 3
"""The shortest gold answer that is searched for as a string, in letters."""


def gold_ids(golds: Sequence[str]) -> list[int]:
    """Return the title ids in gold answers, separated by commas. Raises `ValueError` for an id that is no whole number."""
    return [int(one) for gold in golds for one in gold.split(",")]


@dataclass(frozen=True, slots=True)
class Origin:
    """A row and the file that it comes from."""

    file: str
    row: JsonRow[Row]

    @property
    def value(self) -> Row:
        """Return the row."""
        return self.row.value


def task_of(
    name: str,
    origins: Sequence[Origin],
    sha: str,
    variant: str,
    chunk: int | None,
    licence: str,
    titles: Titles | None = None,
    *,
    is_paper: bool = False,
) -> Task:
    """Return a task with one store per context; `chunk` is the chunk size in tokens; None for the paper's size of each
    family. `is_paper` cuts and asks as the paper's code does.
    """
    by_store: dict[str, list[Origin]] = {}
    for origin in origins:
        by_store.setdefault(origin.value.store, []).append(origin)
    evidence: dict[str, Fact] = {}
    stores = []
    for store, asked in by_store.items():
        plan = _Plan(store, asked, chunk, titles, is_paper)
        questions = tuple(plan.questions())
        names = (Ingest(Conversation(each.id, ())) for each in plan.conversations)
        size, characters = plan.size, sum(len(each.text) for each in plan.conversations)
        row = asked[0].row
        place: JsonRow[Any] = JsonRow(None, row.line, row.start, row.end)
        opens = partial(_read_again, Path(asked[0].file), place, store, size, is_paper)
        stores.append(StorePlan(store, (*names, Probe(questions)), opens, characters))
        evidence |= plan.evidence
    return Task(
        name=name,
        targets=(NOT_STORED, NOT_RETRIEVED, REASONING_ERROR),
        stores=tuple(stores),
        evidence=evidence,
        licence=licence,
        data_hash=sha,
        description=DESCRIPTIONS[name],
        suite=NAME,
        variant=variant,
    )


def _read_again(path: Path, row: JsonRow[Any], store: str, size: int, is_paper: bool) -> dict[str, Conversation]:
    """Return the conversations of a store by id, from the file of its row.

    Raises `RowError` if the file has changed since it was read.
    """
    context = read_context(path, row)
    if not store.endswith(digest(context, 8)):
        raise RowError(str(path), row.line, "file", "has changed since it was read; start the run again")
    return {conversation.id: conversation for conversation in _conversations(store, context, size, is_paper)}


def _conversations(store: str, context: str, size: int, is_paper: bool) -> Iterator[Conversation]:
    """Yield the chunks of a context, each as a conversation."""
    for at, chunk in enumerate((chunks_of_paper if is_paper else chunks_of)(context, size)):
        messages = exchange(chunk) if is_paper else (Message("user", chunk),)
        yield Conversation(f"c-{digest(f'{NAME}:{store}:{at}', 10)}", messages)


@dataclass(slots=True)
class _Plan:
    """Builds the conversations, questions and evidence of one context."""

    store: str
    origins: Sequence[Origin]
    chunk: int | None
    titles: Titles | None = None
    is_paper: bool = False
    evidence: dict[str, Fact] = field(default_factory=dict)
    conversations: list[Conversation] = field(default_factory=list)
    facts: FactList | None = None
    plain: list[str] = field(default_factory=list)
    """The chunks, normalised."""
    size: int = 0
    """The maximum number of tokens per chunk."""
    homes: dict[int, str] = field(default_factory=dict)
    """Number of a fact to the conversation that contains it."""

    def __post_init__(self) -> None:
        family = self.origins[0].value.family
        assert family is not None
        context = self.origins[0].value.context
        self.size = self.chunk or family.chunk
        self.conversations = list(_conversations(self.store, context, self.size, self.is_paper))
        if family.task == FORGETTING:
            self.facts = FactList(context)
            self.homes = dict(self._homes(self.facts))
        elif family.answer in BY_STRING:
            self.plain = [f" {norm(conversation.text)} " for conversation in self.conversations]

    def _homes(self, facts: FactList) -> Iterator[tuple[int, str]]:
        """Yield the number of each fact with its conversation; a fact that is cut starts in the last conversation found."""
        at = 0
        for line in facts.lines:
            found = (i for i in range(at, len(self.conversations)) if line.text in self.conversations[i].text)
            at = next(found, at)
            yield line.number, self.conversations[at].id

    def questions(self) -> Iterator[Question]:
        """Yield the questions of all rows."""
        for origin in self.origins:
            row, family = origin.value, origin.value.family
            assert family is not None
            form = FORMS.get(family.task) or FORMS.get(family.answer, "")
            asked = zip(row.question_ids(), row.questions, row.answers, strict=True)
            for at, (name, text, golds) in enumerate(asked):
                found = self._evidence(at, name, row, text, golds)
                self.evidence |= {fact.id: fact for fact in found}
                gold, keys = tuple(golds), dict[str, Any]()
                if self.titles is not None and family.answer == "mab_titles":
                    gold, keys = tuple(self.titles.by_id[one] for one in gold_ids(golds)), {"titles": self.titles}
                elif family.answer == "mab_summary":
                    keys = {"points": row.metadata.keypoints}
                yield Question(
                    id=name,
                    task=family.task,
                    text=f"{text}\n{form}" if form else text,
                    query=self._query(text, form) if self.is_paper else text,
                    gold=gold,
                    evidence=tuple(fact.id for fact in found),
                    kind=family.answer,
                    file=origin.file,
                    line=origin.row.line,
                    place=f"questions.{at}",
                    stratum=self._stratum(at, row, found),
                    part=row.part,
                    asked_at=row.asked_at(at),
                    cluster=f"{self.store}:{name}",
                    keys=keys,
                    reply_tokens=family.reply_tokens if self.is_paper else None,
                )

    def _query(self, text: str, form: str) -> str:
        """Return the query of a question as the paper's code sends it: with its instruction, in our words, or alone."""
        family = self.origins[0].value.family
        if self.facts is not None:
            return REGISTER.format(text)
        return f"{text}\n{form}" if form and family is not None and family.answer in WHOLE else text

    def _stratum(self, at: int, row: Row, found: Sequence[Fact]) -> str:
        if row.part.startswith("sh_"):
            return ("replaced" if found[0].claim.replaced else "alone") if found else ""
        return row.question_type(at)

    def _evidence(self, at: int, name: str, row: Row, question: str, golds: Sequence[str]) -> list[Fact]:
        """Return the evidence of a question; empty if the data does not say what it needs."""
        if self.facts is None:
            turns = [self._turn(f"{name}-{number}", turn) for number, turn in enumerate(row.turns(at))]
            found: Sequence[Fact | None] = turns or [self._string(name, golds)]
        elif row.part.startswith("sh_"):
            fact = self.facts.asked(question, golds)
            found = [self._fact(name, fact) if fact else None]
        else:
            found = [self._last(name, self.facts.holding(golds))]
        return [fact for fact in found if fact is not None]

    def _turn(self, name: str, turn: str) -> Fact | None:
        """Return the evidence for a turn of a chat that carries an answer; None if the context does not contain it."""
        fact = Fact(f"{self.store}.{name}", "turn", turn, turn, "")
        held = find_turn(fact, [conversation.text for conversation in self.conversations])
        return replace(fact, conversation_id=self.conversations[held.entries[0]].id) if held.present else None

    def _fact(self, name: str, fact: NumberedFact) -> Fact:
        replaced = [line for line, _ in fact.replaced]
        return Fact(
            id=f"{self.store}.{name}",
            kind="numbered_fact",
            text=f"{fact.line.text}.",
            source=str(fact.line),
            conversation_id=self.homes[fact.line.number],
            claim=Claim(
                replaced=tuple(dict.fromkeys(value for _, value in fact.replaced)),
                earlier="\n".join(map(str, replaced)) or None,
            ),
            gold=Gold(fact.value, beginning=fact.beginning),
            history=tuple(dict.fromkeys(self.homes[line.number] for line in replaced)),
        )

    def _last(self, name: str, facts: Sequence[NumberedFact]) -> Fact | None:
        if not facts:
            return None
        return Fact(
            id=f"{self.store}.{name}",
            kind="last_fact",
            text=f"a fact with the value {facts[-1].value}: {facts[-1].line.text}."
            + (f" (or one of {len(facts) - 1} more with this value)" if len(facts) > 1 else ""),
            source="\n".join(str(fact.line) for fact in facts),
            conversation_id=self.homes[facts[-1].line.number],
            gold=Gold(facts[-1].value, any_of=tuple(fact.line.text for fact in facts)),
        )

    def _string(self, name: str, golds: Sequence[str]) -> Fact | None:
        """Return the evidence for an answer as a string; None if it is too short, or if no chunk contains it."""
        # an answer that chooses an option repeats its letter
        golds = [_OPTION.sub("", gold) for gold in golds]
        wanted = [gold for gold in golds if len(norm(gold)) >= SHORTEST and norm(gold) not in ("yes", "no")]
        for conversation, text in zip(self.conversations, self.plain, strict=False):
            if any(f" {norm(gold)} " in text for gold in wanted):
                return Fact(
                    id=f"{self.store}.{name}",
                    kind="gold_string",
                    text=" or ".join(dict.fromkeys(wanted)),
                    source=" or ".join(dict.fromkeys(wanted)),
                    conversation_id=conversation.id,
                    gold=Gold(wanted[0], any_of=tuple(wanted)),
                )
        return None
