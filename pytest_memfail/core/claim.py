"""A claim: what a judge looks for, in one form for the facts of every task."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from pytest_memfail.core.model import Detail, Fact

PartRole = Literal["core", "condition", "topic", "cause"]
"""`core`: must be found. `condition`: when the core holds. `topic`: what it is about. `cause`: what leads to it."""


@dataclass(frozen=True, slots=True)
class Part:
    """One statement within a claim."""

    text: str
    role: PartRole
    wordings: tuple[str, ...] = ()
    """Alternative wordings that keep the part; empty unless the row lists them."""
    vaguer: tuple[str, ...] = ()
    """Wordings that mention the part but lose its specifics."""
    required: bool = True
    """Whether the claim is lost without this part."""


@dataclass(frozen=True, slots=True)
class Claim:
    """An expected fact as a judge reads it, independent of the task."""

    parts: tuple[Part, ...]
    source: str
    """The full text of the conversation that states the fact."""
    owner: str | None = None
    """The person or thing that the claim is about; None for the user."""
    user: str | None = None
    """The user's name, if known. A memory that names the user is about the user."""
    siblings: tuple[str, ...] = ()
    """Sources of the other facts in the row, which a memory may describe instead."""
    replaced: tuple[str, ...] = ()
    """Outdated values."""
    earlier: str | None = None
    """The earlier statement that no longer holds."""
    decoys: tuple[str, ...] = ()
    """Later statements that only look like an update."""
    endings: tuple[str, ...] = ()
    """Wordings that state that something has ended."""
    has_ended: bool = False
    """Whether the claim is only that an earlier state has ended; the store may then hold nothing about it."""
    holds_unsaid: bool = False
    """Whether to require words of a part even if the source never states them (the published protocol)."""
    needs_condition: bool = False
    """Whether the fact counts as stored only together with its condition (the published protocol, a rule stated as a
    whole)."""

    def texts(self, *roles: PartRole) -> tuple[str, ...]:
        """Return the texts of the parts with these roles, except parts with listed wordings."""
        return tuple(part.text for part in self.parts if part.role in roles and not part.wordings)

    @property
    def listed(self) -> tuple[Part, ...]:
        """Return the parts whose wordings the row lists."""
        return tuple(part for part in self.parts if part.wordings)


_ROLES: Final[dict[str, PartRole]] = {"condition": "condition", "exclusivity": "condition"}


@lru_cache(maxsize=65536)
def claim_of(evidence: Fact, protocol: str = "ours") -> Claim:
    """Return the claim that the gold fields of an expected fact describe.

    Args:
        evidence: an expected fact. If it has only `text` and `source`, the claim has one part.
        protocol: `ours`, or `paper` for the published protocol (MemFail, appendix D.3).
    """
    parts = _parts(evidence)
    published = protocol == "paper"
    return Claim(
        parts=tuple(part for part in parts if part.text),
        source=evidence.source or evidence.text,
        owner=evidence.entity,
        user=evidence.user,
        siblings=evidence.siblings,
        replaced=evidence.stale_values,
        earlier=evidence.earlier,
        decoys=evidence.decoys,
        endings=evidence.endings,
        has_ended=evidence.taken_back,
        holds_unsaid=published,
        needs_condition=published and bool(evidence.behavior) and not evidence.is_composed,
    )


def _parts(evidence: Fact) -> list[Part]:
    """Return the parts of the claim, by the fields that the evidence has; those with listed wordings come last."""
    details = evidence.details
    if evidence.behavior:
        parts = [Part(evidence.behavior, "core"), Part(evidence.condition or "", "condition")]
    elif evidence.preference:
        parts = [Part(evidence.preference, "core"), Part(evidence.category or "", "topic", required=False)]
    elif len(evidence.anchors) == 2:
        parts = [Part(evidence.anchors[1], "core"), Part(evidence.anchors[0], "cause")]
        if len(details) == 2:
            return [*parts, _listed(details[0], "cause"), _listed(details[1], "core")]
    elif evidence.telling or evidence.asked:
        statements = evidence.telling or ((evidence.value,) if evidence.value else ())
        parts = [*(Part(text, "core") for text in statements), Part(evidence.asked or "", "topic")]
    elif evidence.value or evidence.taken_back:
        parts = [Part(evidence.value or evidence.source, "core"), Part(evidence.subject or "", "topic")]
    else:
        parts = [Part(evidence.text, "core")]
    return [*parts, *(_listed(detail, _ROLES.get(detail.part, "core")) for detail in details)]


def _listed(detail: Detail, role: PartRole) -> Part:
    return Part(detail.wordings[0], role, detail.wordings, detail.vaguer)
