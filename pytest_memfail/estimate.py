"""What a run would cost: the run itself against a verbatim store, with every prompt built and none sent."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pytest_memfail.core import Conversation, Judge, Message, SystemContext, Task
from pytest_memfail.engine import Ask, Engine, StoreJob
from pytest_memfail.judges import CascadeJudge, ModelJudge, RulesJudge
from pytest_memfail.llm import Completion, ModelClient, ModelTestTaker, Prices, Usage, count_tokens
from pytest_memfail.systems import built_in_system
from pytest_memfail.testing import answer_by_rule

if TYPE_CHECKING:
    from pydantic import BaseModel

    from pytest_memfail.tasks import Protocol

CASCADE = "rules+"


@dataclass(slots=True)
class _Row:
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(slots=True)
class _CountingClient:
    """Has the one method of a client that judges and test-takers use; counts, and answers by rule."""

    rows: dict[tuple[str, str], _Row] = field(default_factory=dict)

    async def ask(
        self,
        *,
        model: str,
        messages: Sequence[Mapping[str, str]],
        stage: str,
        schema: type[BaseModel] | None = None,
        parameters: Mapping[str, Any] | None = None,  # noqa: ARG002  # the client's signature
        repeat: int = 0,  # noqa: ARG002
    ) -> Completion:
        text = answer_by_rule({"messages": messages})
        row = self.rows.setdefault((stage, model), _Row())
        row.calls += 1
        row.prompt_tokens += count_tokens([message["content"] for message in messages])
        row.completion_tokens += count_tokens([text])
        return Completion(text, None if schema is None else schema.model_validate_json(text))


class _Assisted(ModelTestTaker):
    """Its turns in the storage phase are counted, not made by rule: no fact may come from them."""

    async def respond(self, conversation: Conversation, history: Sequence[Message]) -> str:
        await super().respond(conversation, history)
        return "Noted."


def _wraps_nothing(name: str) -> Any:
    raise KeyError(name)


def estimate(
    tasks: Sequence[Task], *, judge: str, model: str | None, k: int, protocol: Protocol, prices: Prices
) -> list[dict[str, Any]]:
    """Calls, tokens and USD by stage and model, of a system that stores every message as it is.

    Provider-side caching is left out, so the cost is an upper bound for such a system.
    """
    client = _CountingClient()
    asked = cast("ModelClient", client)
    deciding: Judge = RulesJudge(protocol)
    if judge != "rules":
        deciding = ModelJudge(asked, judge.removeprefix(CASCADE), protocol)
        if judge.startswith(CASCADE):
            deciding = CascadeJudge(RulesJudge(protocol), deciding)
    taker = None if model is None else _Assisted(asked, model)
    engine = Engine(judge=deciding, test_taker=taker, assistant_turns=protocol == "paper")
    try:
        with tempfile.TemporaryDirectory(prefix="memfail-estimate-") as folder:
            plans = [(task, plan) for task in tasks for plan in task.stores]
            for number, (task, plan) in enumerate(plans):
                path = Path(folder, str(number))
                path.mkdir()
                asks = tuple(Ask(q.id, q, q.k or k) for q in plan.questions)
                factory = built_in_system("bm25", _wraps_nothing)
                context = SystemContext("estimate", f"store-{number}", path)
                run = engine.begin(StoreJob(plan.id, task.name, plan, task.evidence, factory, context, asks))
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
            "calls": row.calls,
            "cache_hits": 0,
            "prompt_tokens": row.prompt_tokens,
            "cached_tokens": 0,
            "completion_tokens": row.completion_tokens,
            "cost": prices.cost(name, Usage(row.prompt_tokens, row.completion_tokens)),
        }
        for (stage, name), row in sorted(client.rows.items())
    ]
