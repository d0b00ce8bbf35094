"""What a model must reply at each check; anything else is asked for again, and then an error.

Reasons stand first, so that a model that writes before it thinks writes them before it decides.
"""

from __future__ import annotations

from collections.abc import Collection

from pydantic import BaseModel, ConfigDict


class JudgeReply(BaseModel):
    """The part that all replies share."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    reason: str


class EntriesReply(JudgeReply):
    """A reply about entries."""

    entries: list[int]

    @property
    def passed(self) -> bool:
        """Whether nothing was found wrong."""
        raise NotImplementedError

    @property
    def found(self) -> bool:
        """Whether the fact was found at all, in whatever state."""
        return self.passed

    @property
    def lost(self) -> tuple[str, ...]:
        """The details that are gone."""
        return ()

    def problem(self, shown: Collection[int]) -> str | None:
        """Entries that were not shown."""
        if unknown := [number for number in self.entries if number not in shown]:
            return f'"entries" names {unknown[:5]}, but no entry with such a number was shown'
        return None


class MissingReply(EntriesReply):
    """A reply that names what is lost."""

    missing: list[str]

    @property
    def lost(self) -> tuple[str, ...]:
        """The details that are gone."""
        return tuple(self.missing)


class StoredReply(MissingReply):
    """Storage and summary at once."""

    present: bool
    faithful: bool

    @property
    def passed(self) -> bool:
        """Stored, and faithfully."""
        return self.present and self.faithful

    @property
    def found(self) -> bool:
        """Stored in whatever state."""
        return self.present


class StateReply(StoredReply):
    """Storage and summary of a fact that may have replaced another."""

    outdated: bool
    """Only the replaced state is stored, or it is stated as if it still held."""


class PresentReply(EntriesReply):
    """Storage alone (`paper`)."""

    present: bool

    @property
    def passed(self) -> bool:
        """Stored."""
        return self.present


class FaithfulReply(MissingReply):
    """Summary alone (`paper`, and what one question needs of an essay)."""

    faithful: bool

    @property
    def passed(self) -> bool:
        """Stored faithfully."""
        return self.faithful


class RetrievedReply(MissingReply):
    """Retrieval."""

    recoverable: bool

    @property
    def passed(self) -> bool:
        """Recoverable from what was shown."""
        return self.recoverable


class AnswerReply(JudgeReply):
    """The last stage."""

    missing: list[str]
    right: bool


def problem_of(reply: JudgeReply, shown: Collection[int]) -> str | None:
    """Why a well-formed reply cannot be, given the numbers of the entries shown, in words for the model; else None."""
    if isinstance(reply, EntriesReply) and (unknown := [number for number in reply.entries if number not in shown]):
        return f'"entries" names {unknown[:5]}, but no entry with such a number was shown'
    if isinstance(reply, StoredReply) and reply.faithful and not reply.present:
        return '"faithful" is true although "present" is false'
    if isinstance(reply, AnswerReply) and reply.right and reply.missing:
        return '"right" is true although "missing" is not empty'
    return None
