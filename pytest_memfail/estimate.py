"""Estimate the cost of a run: run it against a verbatim store, building every prompt and sending none."""

from __future__ import annotations

import json
import tempfile
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pytest_memfail.core import Conversation, Judge, Memory, Message, Question, Reply, Suite, SystemContext, Task
from pytest_memfail.engine import Ask, Engine, StoreJob
from pytest_memfail.finding import kinds_of
from pytest_memfail.hosting import Resources
from pytest_memfail.judges import CascadeJudge, ModelJudge, OfflineJudge
from pytest_memfail.llm import Completion, ModelClient, ModelTestTaker, Prices, Usage, count_tokens
from pytest_memfail.systems import built_in_system
from pytest_memfail.testing import answer_by_rule

if TYPE_CHECKING:
    from pydantic import BaseModel

    from pytest_memfail.core import ProtocolName

CASCADE = "offline+"
COUNTED = ("calls", "cache_hits", "prompt_tokens", "cached_tokens", "completion_tokens")


@dataclass(frozen=True, slots=True)
class Stored:
    """The amount that the stores of a run are filled with."""

    stores: int
    conversations: int
    tokens: int
    """Tokens of all messages: a text counts as often as it is stored."""

    def __str__(self) -> str:
        size = f"{self.tokens / 1e6:,.1f} M" if self.tokens >= 1e6 else f"{self.tokens:,}"
        return f"{self.stores:,} stores, {self.conversations:,} conversations, {size} tokens"


def stored(tasks: Sequence[Task]) -> Stored:
    """Return the amount that a run of these tasks stores; reads one store at a time."""
    known: dict[int, int] = {}
    tokens = 0
    plans = [plan for task in tasks for plan in task.stores]
    for plan in plans:
        for text in (message.content for talk in plan.read_conversations() for message in talk.messages):
            key = hash(text)
            if key not in known:  # counting takes longer than all else
                known[key] = count_tokens([text])
            tokens += known[key]
    return Stored(len(plans), sum(plan.size for plan in plans), tokens)


@dataclass(slots=True)
class _CountingClient:
    """Counts calls and answers by rule; implements the only client method that judges and test-takers use.

    A repeated request counts as a cache hit, as in a run.
    """

    seen: set[str] = field(default_factory=set)
    rows: dict[tuple[str, str], Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    async def ask(
        self,
        *,
        model: str,
        messages: Sequence[Mapping[str, str]],
        stage: str,
        schema: type[BaseModel] | None = None,
        parameters: Mapping[str, Any] | None = None,  # noqa: ARG002  # the client's signature
        repeat: int = 0,
        may_be_cut: bool = False,  # noqa: ARG002
    ) -> Completion:
        text = answer_by_rule({"messages": messages})
        row = self.rows[stage, model]
        request = json.dumps([model, [dict(message) for message in messages], schema and schema.__name__, repeat])
        if request in self.seen:
            row["cache_hits"] += 1
        else:
            self.seen.add(request)
            row["calls"] += 1
            row["prompt_tokens"] += count_tokens([message["content"] for message in messages])
            row["completion_tokens"] += count_tokens([text])
        return Completion(text, None if schema is None else schema.model_validate_json(text))


class _Assisted(ModelTestTaker):
    """A test-taker whose turns in the storage phase are counted but not written by rule, because they must not contain facts."""

    async def answer(self, question: Question, shown: Sequence[Memory]) -> Reply:
        reply = await super().answer(question, shown)
        # a different answer each time: how often a model repeats itself is unknown, and the judge would ask nothing
        # then
        return replace(reply, text=reply.text + " again" * self._repeat)

    async def respond(self, conversation: Conversation, history: Sequence[Message]) -> str:
        await super().respond(conversation, history)
        return "Noted."


def _wraps_nothing(name: str) -> Any:
    raise KeyError(name)


def estimate(
    tasks: Sequence[Task],
    *,
    judge: str,
    model: str | None,
    k: int | None,
    protocol: ProtocolName,
    prices: Prices,
    repeats: int = 1,
    vary: str = "all",
    suites: Sequence[Suite] = (),
) -> list[dict[str, Any]]:
    """Return calls, tokens and USD by stage and model, for a system that stores every message verbatim.

    Ignores caching by providers, so the cost is an upper bound for such a system. Our own cache of replies is taken
    into account. `judge` is offline, a model, or offline+MODEL; `repeats` and `vary` are those of the run.
    """
    client = _CountingClient()
    asked = cast("ModelClient", client)
    kinds = kinds_of(suites)

    def deciding(repeat: int) -> Judge:
        if judge == "offline":
            return OfflineJudge(protocol, **kinds)
        by_model = ModelJudge(asked, judge.removeprefix(CASCADE), protocol, repeat=repeat, **kinds)
        return CascadeJudge(OfflineJudge(protocol, **kinds), by_model) if judge.startswith(CASCADE) else by_model

    def taking(repeat: int) -> _Assisted | None:
        return None if model is None else _Assisted(asked, model, repeat=repeat)

    resources = Resources(
        judge=deciding(0),
        test_taker=taking(0),
        assistant_turns=protocol == "paper",
        again=[
            (deciding(0 if vary == "answers" else repeat), taking(0 if vary == "judge" else repeat))
            for repeat in range(1, repeats)
        ],
    )
    engine = Engine(resources)
    try:
        with tempfile.TemporaryDirectory(prefix="memfail-estimate-") as folder:
            plans = [(task, plan) for task in tasks for plan in task.stores]
            for number, (task, plan) in enumerate(plans):
                path = Path(folder, str(number))
                path.mkdir()
                asks = tuple(Ask(q.id, q, q.k or k or task.k or 5) for q in plan.questions)
                factory = built_in_system("bm25", _wraps_nothing)
                context = SystemContext("estimate", f"store-{number}", path)
                job = StoreJob(
                    id=plan.id,
                    task=task.name,
                    plan=plan,
                    evidence=task.evidence,
                    factory=factory,
                    context=context,
                    asks=asks,
                )
                run = engine.begin(job)
                for ask in asks:
                    if (error := engine.wait(run.result(ask.key)).error) is not None:
                        raise error
                engine.wait(run.finish())
    finally:
        engine.close()
    return [
        {
            "stage": stage,
            "model": name,
            **{column: row[column] for column in COUNTED},
            "cost": prices.cost(name, Usage(row["prompt_tokens"], row["completion_tokens"])),
        }
        for (stage, name), row in sorted(client.rows.items())
    ]
