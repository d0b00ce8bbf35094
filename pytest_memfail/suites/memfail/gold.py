"""The gold values of MemFail's facts, which its criteria show to a model by the names of their fields."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that holds only under a condition."""

    behavior: str
    condition: str


@dataclass(frozen=True, slots=True)
class Preference:
    """Something that the user likes."""

    preference: str


@dataclass(frozen=True, slots=True)
class Link:
    """A link of a chain: the first anchor leads to the second."""

    anchors: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Persona:
    """What one question needs of an essay about a person."""

    needed: str
    """The right answer; for a question about somebody else, the sentences that a wrong answer would use."""


@dataclass(frozen=True, slots=True)
class State:
    """What currently holds of something."""

    value: str | None
    """None if the state was only taken back."""
    about: str
