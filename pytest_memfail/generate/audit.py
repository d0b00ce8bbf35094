"""Which chains would spoil one another in one memory: asked of all at once, then of overlapping windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Final

from pydantic import BaseModel

from pytest_memfail.generate import prompts
from pytest_memfail.generate.asking import MOST_PROBLEMS, Session, as_json, converse, together
from pytest_memfail.generate.texts import LONG, Line, quoted, text_faults
from pytest_memfail.llm import ModelCallError

WINDOW: Final = 20
STEP: Final = 10
"""Windows overlap by half, so that each chain meets its neighbours on both sides."""
Facts = Mapping[str, Sequence[str]]


class Removal(BaseModel):
    """One chain to remove."""

    id: Line
    reason: Line


class AuditReply(BaseModel):
    """What an audit says."""

    remove: list[Removal]


class AuditBatch:
    """Some chains that are looked at together."""

    def __init__(self, chains: Facts) -> None:
        """Nothing is asked yet."""
        self._chains = chains
        self._accepted: AuditReply | None = None
        self.problems: list[str] = []

    def messages(self) -> prompts.Messages | None:
        """The chains with their facts."""
        if self._accepted is not None:
            return None
        asked = {"chains": [{"id": key, "facts": list(facts)} for key, facts in self._chains.items()]}
        return prompts.messages(prompts.AUDIT, asked, {"the list": self.problems} if self.problems else {})

    def take(self, reply: BaseModel) -> None:
        """Accept a list of known ids that leaves more than half."""
        assert isinstance(reply, AuditReply)
        named = {removal.id for removal in reply.remove}
        unknown = sorted(named - set(self._chains))
        self.problems = [f"remove: there is no chain {quoted(key)}" for key in unknown[:MOST_PROBLEMS]]
        if len(reply.remove) > max(1, len(self._chains) // 2):
            # of a pair only one has to go
            self.problems.append(
                f"remove: got {len(reply.remove)} of {len(self._chains)} chains, expected half of them at most"
            )
        for removal in reply.remove:  # reasons are shown and kept
            self.problems += text_faults("reason", removal.reason, LONG)
        del self.problems[MOST_PROBLEMS:]
        if not self.problems:
            self._accepted = reply

    @property
    def fruitful(self) -> bool:
        """Whether a list was accepted."""
        return self._accepted is not None

    @property
    def problem(self) -> str:
        """What was wrong with the last try."""
        return "; ".join(self.problems)

    def result(self) -> AuditReply | None:
        """What was accepted."""
        return self._accepted

    def fail(self, problem: str) -> None:
        """There was no usable reply."""
        self.problems = [problem]


async def audited(session: Session, chains: Facts) -> list[str]:
    """The keys of the chains that may stay.

    Raises `ModelCallError` if an audit gives no usable reply: chains that nobody compared must not pass for compared.
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
        batch = AuditBatch(chains)
        await converse(session, "audit", AuditReply, batch)
        reply = batch.result()
        if reply is None:
            raise ModelCallError(
                f"the audit of {len(chains)} chains got no usable reply of {session.model}: {batch.problem}; "
                "run again to go on, or use another model"
            )
        session.raw.add("audit", key, reply)
    session.given_up.update(
        {f"chain {removal.id}": f"audit: {removal.reason}" for removal in reply.remove if removal.id in chains}
    )
    return {removal.id for removal in reply.remove}
