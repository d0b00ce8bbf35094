"""Find chains that would conflict in one memory: ask about all at once, then about overlapping windows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from typing import Final

from pydantic import BaseModel

from pytest_memfail.authoring import LONG, Line, Session, WholeReply, as_json, converse, quoted, text_faults, together
from pytest_memfail.llm import ModelCallError
from pytest_memfail.suites.memfail.recipes import prompts

WINDOW: Final = 20
STEP: Final = 10
"""Windows overlap by half, so that each chain is compared with its neighbours on both sides."""
Facts = Mapping[str, Sequence[str]]


class Removal(BaseModel):
    """One chain to remove."""

    id: Line
    reason: Line


class AuditReply(BaseModel):
    """The result of an audit."""

    remove: list[Removal]


def audit_faults(chains: Facts, reply: AuditReply) -> Iterator[str]:
    """Report faults of a list of chains to remove: unknown ids, or more than half of the chains."""
    for key in sorted({removal.id for removal in reply.remove} - set(chains)):
        yield f"remove: there is no chain {quoted(key)}"
    if len(reply.remove) > max(1, len(chains) // 2):
        # only one chain of a pair has to go
        yield f"remove: got {len(reply.remove)} of {len(chains)} chains, expected half of them at most"
    for removal in reply.remove:  # reasons are shown and kept
        yield from text_faults("reason", removal.reason, LONG)


async def audited(session: Session, chains: Facts) -> list[str]:
    """Return the keys of the chains that may stay.

    Raises `ModelCallError` if an audit gives no usable reply, because unaudited chains must not count as audited.
    """
    keys = list(chains)
    if len(keys) < 2:
        return keys
    removed = await _audit(session, chains)
    keys = [key for key in keys if key not in removed]
    if len(keys) > 2:
        windows = [keys[at : at + WINDOW] for at in range(0, max(1, len(keys) - STEP), STEP)]
        if len(windows) > 1 or removed:
            found = await together(_audit(session, {key: chains[key] for key in window}) for window in windows)
            removed = removed.union(*found)
    return [key for key in keys if key not in removed]


async def _audit(session: Session, chains: Facts) -> set[str]:
    key = sha256(as_json([[name, list(facts)] for name, facts in chains.items()]).encode()).hexdigest()[:16]
    reply = session.raw.get("audit", key, AuditReply)
    if reply is None:
        asked = {"chains": [{"id": name, "facts": list(facts)} for name, facts in chains.items()]}
        batch = WholeReply(prompts.AUDIT, asked, "the list", partial(audit_faults, chains))
        await converse(session, "audit", AuditReply, batch)
        reply = batch.accepted
        if reply is None:
            raise ModelCallError(
                f"the audit of {len(chains)} chains got no usable reply from {session.model}:  {batch.problem}; "
                "run again to continue, or use another model"
            )
        session.raw.add("audit", key, reply)
    session.given_up.update(
        {f"chain {removal.id}": f"audit: {removal.reason}" for removal in reply.remove if removal.id in chains}
    )
    return {removal.id for removal in reply.remove}
