"""Kinds of facts and answers that any suite may use, and those of a user's own cases: criteria for a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pytest_memfail.core import AnswerKind, Fact, Found, Kind, Staged
from pytest_memfail.texts import spelled

NEVER_SAID: Final = "never_said"
"""The kind of a question whose right answer is that it is not known."""
UNWANTED: Final = "unwanted"
"""The kind of a fact that memory must not hold."""
UNSAID: Final = 'What "said" does not state is not missing.'
_STATE_SHOWN: Final = """\
these entries tell the current state, and, where they also hold a replaced one, what marks that as past."""

KINDS: Final[dict[str, Kind]] = {
    "fact": Kind(
        present="""\
the entries tell the current state. It is absent if only a state in "replaced" is there, or one that was taken \
back still stands as if it held.""",
        faithful="""\
and it is whole, and where a replaced state is there as well, something (their order, their <times>, a word like \
"formerly") tells which one holds now. Keeping the old state as history is fine.""",
        recoverable=_STATE_SHOWN,
        times=True,
        outdated=True,
        still_held="stale_value",
        note=UNSAID,
        gold=(
            "entity",
            "fact",
            "value",
            "about",
            "replaced",
            "taken_back",
            "said_before",
            "said",
            "must_keep",
            "question",
        ),
        paper=Staged(
            storage="present: the entries tell the current state, and not only a replaced one.",
            summary="""\
The fact is known to be stored. faithful: it is whole, and where a replaced state is there as well, something tells \
which one holds now.""",
            retrieval=f"recoverable: {_STATE_SHOWN}",
        ),
    ),
    "point": Kind(
        present="some entry has at least part of the fact, of the same person or thing, in any wording.",
        faithful="""\
and the entries together have all of it: who, what, and every number, name, time, reason and condition in it. What is \
left out, vaguer or wrong is missing.""",
        recoverable="a reader of these entries alone would know all that the fact says.",
        gold=("entity", "fact", "said", "question"),
    ),
}
"""`fact` is what holds now of something that may change; `point` is a plain statement."""

_OPEN: Final = AnswerKind(
    right="""\
the reply agrees with the gold answer, whole and up to date; a state in "replaced" given as current is wrong.""",
    gold=("gold", "facts", "replaced"),
)
ANSWERS: Final[dict[str, AnswerKind]] = {
    "all_of": AnswerKind(
        right="""\
the reply mentions or plainly covers each item of the gold list; a synonym or an equivalent wording covers an \
item, the category alone does not. List the items not covered as missing.""",
        gold=("gold",),
        restated=True,
    ),
    "multiple_choice": _OPEN,
    "open": _OPEN,
}


def find_wordings(fact: Fact, texts: Sequence[str]) -> Found | None:
    """Find the entries that have a wording of each listed detail as whole words; leave a fact without details to the judge."""
    if not fact.claim.listed:
        return None
    wanted = [[spelled(wording) for wording in part.wordings] for part in fact.claim.listed]
    held = [spelled(text) for text in texts]
    entries = tuple(at for at, text in enumerate(held) if all(any(one in text for one in some) for some in wanted))
    what = " and ".join(repr(part.text) for part in fact.claim.listed)
    reason = f"an entry has {what}" if entries else f"no entry has {what}"
    return Found(bool(entries), bool(entries), reason, entries)


UNWANTED_KINDS: Final[dict[str, Kind]] = {
    UNWANTED: Kind(
        present="""\
some entry tells this of the same person, in any wording, with what sets it apart: its name, number, place or time. One that \
only asks to forget it tells it if it repeats it. One about the same thing with another value does not. If "must_keep" lists \
wordings, an entry with one of each tells it.""",
        faithful="a reader of the entries would know it.",
        recoverable="a reader of these entries alone would know it.",
        find=find_wordings,
        gold=("entity", "fact", "must_keep"),
    ),
}
OWN_ANSWERS: Final[dict[str, AnswerKind]] = {
    NEVER_SAID: AnswerKind(
        right="""\
what is asked was never said or no longer holds, and the reply says that it is not known, whatever else it tells; the gold \
answer may say why. A reply that gives an answer, even a guess, is wrong.""",
        gold=("gold",),
    ),
}
"""Kinds of answers that only a user's own cases have."""
