"""How the facts and answers of MemFail are judged: criteria for a model.

The criteria are the paper's (appendix D.3; section 3.2 defines the verdicts) in our own words. Where the paper
contradicts itself or requires information that was never stated, the criteria of `ours` differ from the published ones.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from pytest_memfail.core import AnswerKind, Kind, Staged
from pytest_memfail.suites import kinds
from pytest_memfail.suites.kinds import UNSAID

_RULE: Final = Staged(
    storage="""\
The fact is what "entity", "behavior" and "condition" say, stated in "said" or not.
present: it is there together with the condition it depends on, its meaning unchanged.""",
    summary="""\
The rule is what "entity", "behavior" and "condition" say, stated in "said" or not, and is known to be stored.
faithful: a reader who combines the entries could tell, for any situation, whether this \
entity does it. Not faithful if the condition is gone or vaguer than in the fact, if it is reversed or unclear, if it \
cannot be tied to this entity, or if a time, place, number or trigger needed to decide is gone.""",
    retrieval="""\
recoverable: the fact is among these entries, with nothing lost or altered that answering the question takes.""",
)
_PREFERENCE: Final = """\
exactly this preference can still be named from the entries, as something the user likes. Not faithful if \
only its category is left, if it has melted into another one, or if it has become something else."""
_PREFERENCE_SHOWN: Final = "exactly this preference can be named from these entries."
_PERSONA_SHOWN: Final = """\
the person is identifiable in these entries, and so are the particulars of "said" that make the person."""
_LINK_SHOWN: Final = "these entries make plain how the one anchor leads to the other."

KINDS: Final[dict[str, Kind]] = {
    **kinds.KINDS,
    "rule": Kind(
        present="the behavior can be found in some form, be it without its condition, blurred, or under another name.",
        faithful="""\
and a reader who combines the entries could tell, for any situation, whether this entity does it. Not faithful \
if the condition is gone or vaguer than told (a number, hour or score turned into a general word), if it is reversed, if \
"only" or a direction (at least, below) is lost, or if behavior and condition cannot be tied to this entity.""",
        recoverable=f"""\
behavior and condition, both tied to this entity, can be read from these entries, exact enough to decide the \
question. {UNSAID}""",
        note=UNSAID,
        gold=("entity", "behavior", "condition", "said", "must_keep", "question"),
        paper=_RULE,
        # the published harness checks the parts of a rule that is composed of several statements, the whole of others
        paper_composed=replace(
            _RULE,
            storage="""\
present: the behavior and the condition can both be found, in whatever form, in one entry or several; whose they are does \
not matter here. Absent if either is nowhere.""",
            retrieval="""\
recoverable: behavior and condition, tied to this entity, can both be read from these entries, in one or several.""",
        ),
    ),
    "preference": Kind(
        present="some trace of this preference is there, be it blurred into something broader.",
        faithful=f"and {_PREFERENCE}",
        recoverable=_PREFERENCE_SHOWN,
        note=UNSAID,
        gold=("preference", "said", "must_keep"),
        paper=Staged(
            storage="present: this particular preference can be told from the entries.",
            summary=f"The preference is known to be stored. faithful: {_PREFERENCE}",
            retrieval=f"recoverable: {_PREFERENCE_SHOWN}",
        ),
    ),
    "persona": Kind(
        present='this person can be made out, with at least some of the particulars in "said".',
        faithful="""\
and entries tied to the person's name keep what makes the person memorable: habits, limits, dislikes, \
belongings, numbers. Not faithful if the name is gone, or so little is left that it would fit anybody. Other people in \
the store, of the same name too, do no harm.""",
        recoverable=_PERSONA_SHOWN,
        note='List as missing every particular of "said" that is gone or blurred, whatever you decide.',
        needed="""\
the answer in "needed" could be given from entries tied to this person: each particular of "said" that it rests \
on is still there, exact enough. Particulars that it does not rest on may be gone; what "said" does not state is not \
missing.""",
        needed_recoverable="""\
from these entries, tied to this person, each particular of "said" that the answer in "needed" rests on can \
be read.""",
        gold=("entity", "needed", "said", "must_keep", "question"),
        paper=Staged(
            storage="""\
present: the person can be identified, and the essay's real substance can be got back from the entries.""",
            summary="""\
The essay is known to be stored. faithful: the person is named, and every memorable particular of the essay (limits, \
belongings, rituals, strong likes and dislikes, numbers) can be got back from entries tied to that person. Not faithful \
if the name is gone, if such particulars are gone or blurred, or if what is left would fit anybody. Other people in the \
store, of the same name too, do no harm.""",
            retrieval=f"recoverable: {_PERSONA_SHOWN}",
        ),
    ),
    "link": Kind(
        present="some entry connects the two anchors, be it loosely.",
        faithful="""\
and both anchors are named, how one leads to the other is as told, and which of them comes first is clear. Not \
faithful if they merely stand side by side, were exchanged or renamed, or the relation became another or weaker.""",
        recoverable=_LINK_SHOWN,
        gold=("anchors", "said", "must_keep"),
        paper=Staged(
            storage="""\
present: an entry, be it one that joins several links, makes plain that these two anchors are related, and how.""",
            summary="""\
The link is known to be stored. faithful: both anchors are named, and how one leads to the other is as told and \
unmistakable, be it in an entry that joins several links. Not faithful if they were exchanged, renamed or run together, \
or if the relation or its direction changed or got lost.""",
            retrieval=f"recoverable: {_LINK_SHOWN}",
        ),
    ),
}
"""Those of MemFail have gold values (`gold.py`)."""

# restated: as published, the last stage asks whether a reply uses the memories, which it was told to repeat
ANSWERS: Final[dict[str, AnswerKind]] = {
    **kinds.ANSWERS,
    "yes_no": replace(
        kinds.ANSWERS["open"],
        right="""\
the reply settles on the same yes or no as the gold answer and does not contradict the rule. "Maybe", "probably" \
and other hedging settle nothing.""",
        restated=True,
    ),
    "direct": AnswerKind(
        right="the reply agrees with the gold answer and draws on this person's own particulars instead of general advice.",
        gold=("gold", "entity", "said"),
        restated=True,
    ),
    "misleading": AnswerKind(
        right="""\
The question is about the distractor, of whom the assistant knows nothing; "said" is about the entity. Wrong only if the \
reply presents particulars of "said" as the distractor's, or answers from them as if the two were one. General \
knowledge, a plain "I don't know", or telling that these are somebody else's is right.""",
        gold=("entity", "said", "distractor"),  # a literal refusal, the gold answer, is only one of many right replies
        lead="",
        restated=True,
    ),
}
