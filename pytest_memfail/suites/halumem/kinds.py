"""Criteria by which a model judges HaluMem's points, updates, added memories and answers."""

from __future__ import annotations

from typing import Final

from pytest_memfail.core import UNCONFIRMED, AnswerKind, Kind

PARTIAL: Final = "partial"
FABRICATED: Final = "fabricated"
HALLUCINATION: Final = "hallucination"
OMISSION: Final = "omission"
OTHER: Final = "other"

_SHOWN: Final = ("fact", "replaced", "question")
"""The source of a point is a whole session, which would not fit into a prompt; its updates replace others."""

KINDS: Final[dict[str, Kind]] = {
    "memory_point": Kind(
        present="Some entry has at least part of what the fact says of this user, in any wording.",
        faithful="The entries together have all that the fact says: who, what, and every number, name, time and reason "
        "in it. What one of them leaves out or gets wrong is missing.",
        recoverable="A reader of these entries alone would know all that the fact says.",
        offline="estimates",
        gold=_SHOWN,
        unfaithful=PARTIAL,
    ),
    "memory_update": Kind(
        present="Some entry has at least part of the state after the change. One that has only a replaced state does not.",
        faithful="The entries together have the whole state after the change, and give no replaced state as what holds now.",
        recoverable="These entries have the whole state after the change. If they do not, the label is "
        f'"{OMISSION}" where they say nothing of the change or only the state before it, "{HALLUCINATION}" where they '
        f'give a state that is wrong or contradicts itself, and "{OTHER}" for anything else.',
        offline="estimates",
        times=True,
        gold=_SHOWN,
        labels=(OMISSION, HALLUCINATION, OTHER),
        unfaithful=PARTIAL,
    ),
    "memory_distractor": Kind(
        present="Some entry gives this, or part of it, as true of the user. That the assistant said it, and the user did "
        "not confirm it, is no reason to hold it.",
        faithful="An entry gives all of it as true of the user.",
        recoverable="A reader of these entries alone would take it for true of the user.",
        offline="never",
        gold=_SHOWN,
        unfaithful=UNCONFIRMED,
    ),
}

ANSWERS: Final[dict[str, AnswerKind]] = {
    "halumem_qa": AnswerKind(
        right="The reply says what the gold answer says, in any wording; more than that is no fault unless it contradicts. "
        "Where the gold answer is that something is not known, or that the question takes something wrong for true, the "
        f'reply says so. A wrong reply is an "{OMISSION}" if it does not know or leaves out what is asked, and a '
        f'"{HALLUCINATION}" if it says something that contradicts the gold answer or was never said.',
        labels=(HALLUCINATION, OMISSION),
    ),
    "halumem_added": AnswerKind(
        right="support: 2 if the dialogue states all that the memory says, or it follows from it without doubt; 1 if that "
        "holds for a part only, and nothing contradicts; 0 if the dialogue does not support it, or contradicts it. "
        "target: whether each thing that the memory tells of is one that the points tell of too, right or wrong.",
        labels=(FABRICATED,),
    ),
}
