"""The replies that each check expects from a model. Other replies are requested again, then an error.

Reasons come first, so that a model states them before it decides. Class docstrings are sent with the schema: changing one
changes the requests, and cached replies no longer match.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import ClassVar, Final, Literal

from pydantic import BaseModel, ConfigDict

from pytest_memfail.core import Part

FORM_WORDS: Final = frozenset({"", "one short sentence", "short sentence", "true or false"})
"""What stands in the forms of our prompts in place of a text, without its dots and quotes."""

CRITERION_LETTERS: Final = 30
"""The shortest text in which a detail and the criteria can hardly agree by chance."""


class JudgeReply(BaseModel):
    """The fields that all replies share."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    reason: str


class EntriesReply(JudgeReply):
    """A reply about entries."""

    entries: list[int]
    decides: ClassVar[tuple[str, ...]]
    """The fields that say whether nothing was found wrong; the first says whether the fact was found, in any state."""

    @property
    def passed(self) -> bool:
        """Return whether nothing was found wrong."""
        return all(getattr(self, name) for name in self.decides)

    @property
    def found(self) -> bool:
        """Return whether the fact was found, in any state."""
        return bool(getattr(self, self.decides[0]))


class MissingReply(EntriesReply):
    """A reply that names lost details."""

    missing: list[str]


class StoredReply(MissingReply):
    """Storage and summary together."""

    present: bool
    faithful: bool
    decides = ("present", "faithful")


class StateReply(StoredReply):
    """Storage and summary of a fact that may have replaced another."""

    outdated: bool
    """Whether only the replaced state is stored, or it is stated as current."""


class PresentReply(EntriesReply):
    """Storage alone (`paper`)."""

    present: bool
    decides = ("present",)


class FaithfulReply(MissingReply):
    """Summary alone (`paper`, and the part of an essay that one question needs)."""

    faithful: bool
    decides = ("faithful",)


class RetrievedReply(MissingReply):
    """Retrieval."""

    recoverable: bool
    decides = ("recoverable",)


class LabelledRetrieval(RetrievedReply):
    """Retrieval of a kind of evidence with labels."""

    label: str | None = None


class Support(BaseModel):
    """What the dialogue says of one memory."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    entry: int
    support: Literal[0, 1, 2]
    target: bool
    """Whether it is about what the points tell."""


class AddedReply(JudgeReply):
    """What the dialogue says of each memory that was added."""

    memories: list[Support]


class AnswerReply(JudgeReply):
    """The answer stage."""

    missing: list[str]
    right: bool


class LabelledReply(AnswerReply):
    """The answer stage of a kind of question with labels."""

    label: str | None = None


def problem_of(
    reply: JudgeReply, shown: Collection[int], labels: Collection[str] = (), must_keep: Collection[Part] = ()
) -> str | None:
    """Return why a reply contradicts itself or names entries or a label not shown, in words for the model; None if it
    is consistent.

    `must_keep` has the details that decide: a fact that lacks one is not kept.
    """
    if isinstance(reply, EntriesReply) and (unknown := [number for number in reply.entries if number not in shown]):
        return f'"entries" names {unknown[:5]}, but no entry with such a number was shown'
    if isinstance(reply, StoredReply) and reply.faithful and not reply.present:
        return '"faithful" is true although "present" is false'
    if isinstance(reply, StateReply) and reply.faithful and reply.outdated:
        return '"faithful" is true although "outdated" is true'
    if isinstance(reply, MissingReply) and reply.passed:
        for detail in must_keep:
            if any(_names(lost, wording) for lost in reply.missing for wording in detail.wordings):
                return (
                    f'"missing" names {detail.wordings[0]!r}, which is in "must_keep", although nothing else is wrong'
                )
    if isinstance(reply, AnswerReply) and reply.right and reply.missing:
        return '"right" is true although "missing" is not empty'
    if isinstance(reply, AddedReply) and sorted(one.entry for one in reply.memories) != sorted(shown):
        return '"memories" does not have each entry shown exactly once'
    if isinstance(reply, LabelledReply | LabelledRetrieval) and reply.label is not None and reply.label not in labels:
        return f'"label" is neither null nor one of {", ".join(labels)}'
    return None


def echo_of(reply: object, prompt: str = "") -> str | None:
    """Return which field of a reply repeats the form or the prompt's criteria, in words for the model; else None.

    Small models copy the `"..."` of the form, or a criterion as a lost detail, and then a verdict of no meaning.

    >>> class Reply(BaseModel):
    ...     reason: str
    >>> echo_of(Reply(reason="..."))
    '"reason" repeats "..." of the form'
    >>> echo_of(Reply(reason="Entry 3 says so."))
    """
    for name, value in reply if isinstance(reply, BaseModel) else ():
        for text in value if isinstance(value, list | tuple) else [value]:
            if isinstance(text, str) and text and text.strip(" .\u2026\"'").casefold() in FORM_WORDS:
                return f'"{name}" repeats "{text[:40]}" of the form'
    if isinstance(reply, MissingReply):
        criteria = _letters(prompt.rpartition("</")[2])  # they follow the blocks, which contain no `<`
        for lost in reply.missing:
            if _letters(lost) == _letters(reply.reason):
                return '"missing" repeats "reason", but each of its texts is a detail of the fact'
            if len(_letters(lost)) >= CRITERION_LETTERS and _letters(lost) in criteria:
                return '"missing" repeats the criteria, but each of its texts is a detail of the fact'
    return None


def _letters(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def _names(lost: str, wording: str) -> bool:
    """Return whether a lost detail is this wording or contains it as words."""
    return re.search(rf"(?<!\w){re.escape(wording.strip())}(?!\w)", lost, re.IGNORECASE) is not None
