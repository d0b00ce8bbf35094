"""A suite in one file: a user states amounts, corrects some, and is asked about them before and after.

It has every part of a suite: parts of a task, questions in the middle of a stream, a question that needs another's verdict, its
own kind of fact with a finder, answers graded without a model, a label and a measure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_memfail.core import (
    NOT_RETRIEVED,
    NOT_STORED,
    OURS,
    AnswerKind,
    Claim,
    Conversation,
    Fact,
    Found,
    Ingest,
    Kind,
    Measure,
    Message,
    Probe,
    Question,
    QuestionRecord,
    Score,
    Source,
    StageResult,
    StorePlan,
    Suite,
    SuiteRequest,
    Task,
    TaskPart,
)

TASK = "receipts"
# shop, first amount, corrected amount
ROWS = (("Harlow Bakery", "12.40", "14.20"), ("Pinewood Tools", "88.15", "81.85"), ("Cafe Mirabel", "7.05", "7.50"))


@dataclass(frozen=True)
class Amount:
    """The gold value of a fact. A model as judge sees the field `value`, because it is among the fields of `Kind.gold`."""

    value: str


def load(request: SuiteRequest) -> Sequence[Task]:
    """Return the one task; the rows are in this file, so nothing is read."""
    facts: dict[str, Fact] = {}
    stores = []
    for shop, first, corrected in ROWS:
        name = shop.split()[0].lower()
        told = Conversation(f"{name}-1", (Message("user", f"I paid {first} at {shop} today."),))
        later = Conversation(f"{name}-2", (Message("user", f"I misread the receipt from {shop}: it was {corrected}."),))
        for when, talk, amount, stale in (("first", told, first, ()), ("corrected", later, corrected, (first,))):
            facts[f"{name}-{when}"] = Fact(
                id=f"{name}-{when}",
                kind="amount",
                text=f"The receipt from {shop} is over {amount}.",
                source=talk.text,
                conversation_id=talk.id,
                claim=Claim(owner=shop, replaced=stale),
                gold=Amount(amount),
            )
        ask = f"How much did I pay at {shop}?"
        before, after = (
            Question(
                id=f"{part}-{name}",
                task=TASK,
                text=ask,
                query=ask,
                gold=(amount,),
                evidence=(f"{name}-{part}",),
                kind="amount",
                part=part,
                needs=needs,
                cluster=name,
            )
            for part, amount, needs in (("first", first, ()), ("corrected", corrected, (f"first-{name}",)))
        )
        # asked once before the correction, and once after it
        stores.append(StorePlan(name, (Ingest(told), Probe((before,)), Ingest(later), Probe((after,)))))
    return [
        Task(
            name=TASK,
            targets=(NOT_STORED, NOT_RETRIEVED),
            stores=tuple(stores),
            evidence=facts,
            licence="MIT",
            data_hash="1",
            suite="receipts",
            variant=OURS,
        )
    ]


def find(fact: Fact, texts: Sequence[str]) -> Found:
    """Return whether a memory has the shop together with the amount, and no newer one has the old amount."""
    shop, amount = str(fact.claim.owner), fact.gold.value
    places = [i for i, text in enumerate(texts) if shop.lower() in text.lower()]
    right = [i for i in places if amount in texts[i]]
    old = [i for i in places if any(value in texts[i] for value in fact.claim.replaced)]
    if right and (not old or max(right) >= max(old)):
        return Found(True, True, f"{amount} is there", (right[-1],))
    label = "old_amount" if old else None
    return Found(bool(places), False, f"{amount} is not there", tuple(places), (amount,), label)


def grade(question: Question, facts: Sequence[Fact], reply: str) -> StageResult:
    """Return whether the reply names the amount and no other."""
    amounts = set(re.findall(r"\d+\.\d\d", reply))
    if amounts == set(question.gold):
        return StageResult("passed", "the amount is right")
    stale = {value for fact in facts for value in fact.claim.replaced}
    label = "old_amount" if amounts & stale else None
    return StageResult("failed", f"got {', '.join(sorted(amounts)) or 'no amount'}", missing=question.gold, label=label)


def corrected(questions: Sequence[QuestionRecord]) -> Score:
    """Return the share of corrections that memory held."""
    decided = [q.memory_held for q in questions if q.part == "corrected" and q.memory_held is not None]
    if not decided:
        return Score(None, 0, lacks="no correction was asked for")
    return Score(sum(decided) / len(decided), len(decided))


SUITE = Suite(
    name="receipts",
    source=Source(url="", licence="MIT", files={OURS: ()}),
    load=load,
    parts={
        TASK: (
            TaskPart("first", "an amount, before it is corrected", (NOT_STORED,)),
            TaskPart("corrected", "the amount that holds after a correction", (NOT_RETRIEVED,)),
        )
    },
    kinds={
        "amount": Kind(
            present="the shop is named together with some amount.",
            faithful="and the amount is the one in the fact, to the cent; it is plain which amount holds if an older one is there.",
            recoverable="the amount that holds can be read from these entries.",
            find=find,
            outdated=True,
        )
    },
    answers={"amount": AnswerKind(right="", grade=grade, settles=True)},
    measures=(Measure("corrected", "corrections held", corrected),),
    labels={"old_amount": "the amount from before the correction"},
    sample="three receipts",
)
