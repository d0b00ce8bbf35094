"""Kinds of evidence and of questions as a suite defines them, for the judges' tests."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel

from pytest_memfail.core import AnswerKind, AskModel, Claim, Fact, Found, Kind, Question, StageResult


def find_word(evidence: Fact, texts: Any) -> Found:
    """Look for the value as a word, and for the first replaced one; faithful without an 'old' beside the value."""
    held = [i for i, text in enumerate(texts) if evidence.gold.value in text]
    if not held:
        stale = any(old in text for old in evidence.claim.replaced for text in texts)
        return Found(False, False, "the value is nowhere", label="stale_value" if stale else None)
    blurred = any("old" in texts[i] for i in held)
    return Found(True, not blurred, "the value is there", tuple(held), ("current",) if blurred else ())


def find_nothing(evidence: Fact, texts: Any) -> Found:
    """Recognise that the replaced value is gone."""
    if kept := tuple(i for i, text in enumerate(texts) if evidence.claim.replaced[0] in text):
        return Found(False, False, "it is still there", kept, label="leaked")
    return Found(True, True, "nothing of it is there", vacuous=True)


KINDS = {
    "value": Kind(
        "some entry names the colour.", "and the colour is exact.", "the colour can be read here.", find=find_word
    ),
    "deletion": Kind("the end is told.", "and wholly.", "the end can be read.", find=find_nothing, outdated=True),
    "step": Kind("the step is there.", "and in its place.", "the step can be read.", times=True, outdated=True),
    "plain": Kind("it is there.", "and whole.", "it can be read."),
}


def grade_words(question: Question, evidence: Any, reply: str) -> StageResult | None:
    """Pass the gold answer, fail a replaced one, leave the rest open."""
    if question.gold[0] in reply:
        return StageResult("passed", "it is the gold answer")
    if any(old in reply for fact in evidence for old in fact.claim.replaced):
        return StageResult("failed", "it was replaced", label="stale_value")
    return None


class Reason(BaseModel):
    reason: str


async def ask_once(ask_model: AskModel, question: Question, evidence: Any, reply: str) -> StageResult:
    """Fail a reply for the model's reason."""
    return StageResult("failed", (await ask_model("Why?", {"reply": [reply]}, Reason)).reason)


ANSWERS = {
    "colour": AnswerKind("the reply names the colour.", grade_words, ("omission", "hallucination")),
    "shade": AnswerKind("the reply names the colour."),
    "exact": AnswerKind("", grade_words, settles=True),
    "ring": AnswerKind("", ask=ask_once),
    "use": AnswerKind("the reply uses the fact.", restated=True),
}


@dataclass(frozen=True)
class Gold:
    value: str | None


COLOUR = Fact("e", "value", "The door is teal.", "I painted the door teal.", "c", gold=Gold("teal"))
REPAINTED = replace(COLOUR, claim=Claim(replaced=("ochre",)))
DELETED = replace(COLOUR, kind="deletion", gold=Gold(None), claim=Claim(replaced=("ochre",), has_ended=True))


def asked(kind: str, **changes: Any) -> Question:
    """Return the question about the door."""
    text = "Which colour is the door?"
    return replace(Question("q", "t", text, text, ("teal",), ("e",), kind), **changes)
