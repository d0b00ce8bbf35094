"""A claim: what a judge looks for, stated in the same way for facts of every task."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from pytest_memfail.core.model import Detail, Evidence

PartRole = Literal["core", "condition", "topic", "cause"]
"""`core`: what must be found. `condition`: when it holds. `topic`: what it is about. `cause`: what leads to the core."""


@dataclass(frozen=True, slots=True)
class Part:
    """One thing that a claim says."""

    text: str
    role: PartRole
    wordings: tuple[str, ...] = ()
    """Wordings that keep the part, where the row lists them."""
    vaguer: tuple[str, ...] = ()
    """Wordings that cover the part and lose what is particular."""
    required: bool = True
    """Whether the claim is lost without it."""


@dataclass(frozen=True, slots=True)
class Claim:
    """An expected fact as a judge reads it; nothing in it depends on a task."""

    parts: tuple[Part, ...]
    source: str
    """Everything that was said in the conversation the fact comes from."""
    owner: str | None = None
    """The name of the person or thing that the claim is about; None for the user."""
    siblings: tuple[str, ...] = ()
    """Sources of other facts of the same row, which a memory may be about instead."""
    replaced: tuple[str, ...] = ()
    """Values that no longer hold."""
    earlier: str | None = None
    """What was said before and no longer holds."""
    decoys: tuple[str, ...] = ()
    """What was said later and only looks like an update."""
    endings: tuple[str, ...] = ()
    """Wordings that say that a state has ended."""
    has_ended: bool = False
    """Whether the claim is only that an earlier state has ended; a store may then hold nothing of it."""
    holds_unsaid: bool = False
    """Whether words of a part that the source never states are required too (the published reading)."""
    needs_condition: bool = False
    """Whether the fact counts as stored only with its condition (the published reading of easy conditional facts)."""

    def texts(self, *roles: PartRole) -> tuple[str, ...]:
        """Return the texts of the parts with these roles that no list of wordings stands for."""
        return tuple(part.text for part in self.parts if part.role in roles and not part.wordings)

    @property
    def listed(self) -> tuple[Part, ...]:
        """The parts whose wordings the row lists."""
        return tuple(part for part in self.parts if part.wordings)


_ROLES: Final[dict[str, PartRole]] = {"condition": "condition", "exclusivity": "condition"}


@lru_cache(maxsize=65536)
def claim_of(evidence: Evidence, protocol: str = "ours") -> Claim:
    """Return what a judge looks for, from the gold fields of an expected fact.

    Args:
        evidence: any expected fact; one that has no fields beyond `text` and `source` becomes a claim of one part.
        protocol: `ours`, or `paper` for the published readings (MemFail, appendix D.3).
    """
    parts = _parts(evidence)
    published = protocol == "paper"
    return Claim(
        parts=tuple(part for part in parts if part.text),
        source=evidence.source or evidence.text,
        owner=evidence.entity,
        siblings=evidence.siblings,
        replaced=evidence.stale_values,
        earlier=evidence.earlier,
        decoys=evidence.decoys,
        endings=evidence.endings,
        has_ended=evidence.taken_back,
        holds_unsaid=published,
        needs_condition=published and evidence.kind == "rule" and evidence.task.endswith("easy"),
    )


def _parts(evidence: Evidence) -> list[Part]:
    """Return the parts of the claim, then those whose wordings the row lists."""
    kind, details = evidence.kind, evidence.details
    if kind == "rule":
        parts = [Part(evidence.behavior or evidence.text, "core"), Part(evidence.condition or "", "condition")]
    elif kind == "preference":
        parts = [
            Part(evidence.preference or evidence.text, "core"),
            Part(evidence.category or "", "topic", required=False),
        ]
    elif kind == "persona":
        needed = evidence.telling or (
            (evidence.value,) if evidence.value else () if evidence.asked else (evidence.source,)
        )
        parts = [*(Part(text, "core") for text in needed), Part(evidence.asked or "", "topic")]
    elif kind == "link" and len(evidence.anchors) == 2:
        parts = [Part(evidence.anchors[1], "core"), Part(evidence.anchors[0], "cause")]
        if len(details) == 2:
            return [*parts, _listed(details[0], "cause"), _listed(details[1], "core")]
    elif kind == "fact" and (evidence.value or evidence.taken_back):
        parts = [Part(evidence.value or evidence.source, "core"), Part(evidence.subject or "", "topic")]
    else:
        parts = [Part(evidence.text, "core")]
    return [*parts, *(_listed(detail, _ROLES.get(detail.part, "core")) for detail in details)]


def _listed(detail: Detail, role: PartRole) -> Part:
    return Part(detail.wordings[0], role, detail.wordings, detail.vaguer)
