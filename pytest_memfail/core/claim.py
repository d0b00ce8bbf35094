"""A claim: what a judge looks for, in one form for the facts of every benchmark. A suite says it where it reads a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from pytest_memfail.core.days import Moment

PartRole = Literal["core", "condition", "topic", "cause"]
"""`core`: must be found. `condition`: when the core holds. `topic`: what it is about. `cause`: what leads to it."""


@dataclass(frozen=True, slots=True)
class Part:
    """One statement within a claim."""

    text: str
    role: PartRole = "core"
    wordings: tuple[str, ...] = ()
    """Wordings that keep the part, the source's own first; empty unless the row lists them."""
    vaguer: tuple[str, ...] = ()
    """Wordings that mention the part but lose its specifics: a memory with only these generalises it."""
    required: bool = True
    """Whether the claim is lost without this part."""
    name: str = "detail"
    """What the row calls a part with listed wordings: behavior, exclusivity, detail."""


@dataclass(frozen=True, slots=True)
class Claim:
    """An expected fact as a judge reads it, whatever benchmark it is of."""

    parts: tuple[Part, ...] = ()
    """Empty: the text of the fact as a whole."""
    source: str = ""
    """The full text of the conversation that states the fact. Empty: the source of the fact."""
    owner: str | None = None
    """The person or thing that the claim is about; None for the user."""
    user: str | None = None
    """The user's name, if known. A memory that names the user, who says only "I", is about the user."""
    siblings: tuple[str, ...] = ()
    """Sources of the other facts in the row, which a memory may describe instead."""
    replaced: tuple[str, ...] = ()
    """Values that were replaced or retracted."""
    earlier: str | None = None
    """The earlier statement that no longer holds."""
    is_dated: bool = False
    """Whether it was stated on a later day than the earlier statement, each with its time."""
    moment: Moment | None = None
    """When it was, if a right answer needs that: an entry that keeps the claim must say so, by its timestamp or its text."""
    decoys: tuple[str, ...] = ()
    """Later statements that only look like an update."""
    endings: tuple[str, ...] = ()
    """Wordings that state that something has ended; none of them has to be stored."""
    has_ended: bool = False
    """Whether the claim is only that an earlier state has ended; the store may then hold nothing about it."""
    is_composed: bool = False
    """Whether several statements each contain a part of the fact; the published protocol then checks the parts."""
    holds_unsaid: bool = False
    """Whether to require words of a part even if the source never states them; a judge sets it for the published protocol."""

    def texts(self, *roles: PartRole) -> tuple[str, ...]:
        """Return the texts of the parts with these roles, of all without roles, except parts with listed wordings."""
        return tuple(part.text for part in self.parts if not part.wordings and (not roles or part.role in roles))

    @property
    def listed(self) -> tuple[Part, ...]:
        """Return the parts whose wordings the row lists."""
        return tuple(part for part in self.parts if part.wordings)


TEXT_ALONE: Final = Claim()
"""The claim of a fact that is only its text, stated by its source."""
