"""Facts of every kind with stores that keep, damage or lack them, and judges that ask a local endpoint."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from pytest_memfail.core import Claim, Fact, Listing, Memory, Part, Question
from pytest_memfail.finding.judges import kinds_of
from pytest_memfail.judges import OfflineJudge
from pytest_memfail.judges.cascade import CascadeJudge
from pytest_memfail.judges.model import ModelJudge
from pytest_memfail.llm import Ledger, ModelClient
from pytest_memfail.suites.memfail.gold import Link, Persona, Preference, Rule, State
from pytest_memfail.testing import LocalEndpoint
from pytest_memfail.testing.answers import answer_by_rule

Answer = Callable[[dict[str, Any]], Any]


@dataclass(frozen=True)
class Case:
    """One expected fact."""

    evidence: Fact
    kept: str
    """Under a label, so that no rule decides it and the model is asked."""
    damaged: str


def _evidence(kind: str, source: str, *parts: Part, text: str = "", gold: Any = None, **claim: Any) -> Fact:
    return Fact("e", kind, text or source, source, "c", Claim(parts, **claim), gold)


_ESSAY = (
    "Odalys Pruitt repairs church organs in the hill villages. She never drinks milk, because it gave her hives as a child. "
    "Her van is painted the colour of rust, and she counts pipes aloud in Welsh. On Fridays she swims in the reservoir."
)

KETTLE = Rule("polishes the copper kettle", "only when his stress is at least 8 out of 10")
NO_MILK = "No milk: it gave her hives as a child."

CASES = {
    "rule": Case(
        _evidence(
            "rule",
            "Quillon lives above a print shop. Quillon polishes the copper kettle only when his stress is at least 8 out of 10.",
            Part(KETTLE.behavior),
            Part(KETTLE.condition, "condition"),
            text="Quillon polishes the copper kettle only when his stress is at least 8 out of 10.",
            gold=KETTLE,
            owner="Quillon",
        ),
        "Noted: Quillon polishes the copper kettle only when his stress is at least 8 out of 10.",
        "Quillon polishes the copper kettle.",
    ),
    "preference": Case(
        _evidence(
            "preference",
            "I love spaghetti carbonara after a long day of climbing.",
            Part("spaghetti carbonara"),
            gold=Preference("spaghetti carbonara"),
        ),
        "Noted: I love spaghetti carbonara after a long day of climbing.",
        "I love spaghetti after a long day of climbing.",
    ),
    "persona": Case(
        _evidence("persona", _ESSAY, Part(NO_MILK), gold=Persona(NO_MILK), owner="Odalys Pruitt"),
        f"Noted: {_ESSAY}",
        "Odalys Pruitt repairs church organs in the hill villages. On Fridays she swims in the reservoir.",
    ),
    "essay": Case(
        _evidence("persona", _ESSAY, owner="Odalys Pruitt"),
        f"Noted: {_ESSAY}",
        "Odalys Pruitt repairs church organs in the hill villages.",
    ),
    "link": Case(
        _evidence(
            "link",
            "Heavy fog makes Ruben bake cinnamon rolls.",
            Part("bake cinnamon rolls"),
            Part("heavy fog", "cause"),
            gold=Link(("heavy fog", "bake cinnamon rolls")),
        ),
        "Noted: Heavy fog makes Ruben bake cinnamon rolls.",
        "Baking cinnamon rolls makes heavy fog for Ruben.",
    ),
    "fact": Case(
        _evidence(
            "fact",
            "Ines moved to Bergen in March.",
            Part("Bergen"),
            gold=State("Bergen", ""),
            owner="Ines",
            replaced=("Oslo",),
        ),
        "Ines moved to Bergen in March.",
        "Ines lives in Oslo.",
    ),
}

FILLERS = (
    "Ottoline collects brass buttons and keeps them in a biscuit tin.",
    "Barnaby the tortoise naps on the warm stones by the pond.",
    "Wilhelmina teaches the cello to beginners on Mondays.",
    "Perpetua grows quinces against the south wall.",
    "Leopold restores globes and hates the smell of varnish.",
)


def listing(*texts: str, fillers: int = 0) -> Listing:
    """Return a store of these texts after some fillers."""
    others = [f"{FILLERS[i % len(FILLERS)]} Note {i}." for i in range(fillers)]
    return Listing("s", tuple(Memory(text) for text in (*others, *texts)))


def question(kind: Any = "open", **gold: Any) -> Question:
    """Return a question of this kind."""
    text = gold.pop("text", "What is asked?")
    return Question("q", "t", text, text, gold.pop("gold", ("gold",)), ("e",), kind, **gold)


@dataclass
class Asked:
    """A result, and the requests to the endpoint."""

    result: Any
    requests: list[dict[str, Any]]
    peak: int

    @property
    def prompts(self) -> list[str]:
        """Return the last user message of each request."""
        return [request["messages"][-1]["content"] for request in self.requests]

    @property
    def shown(self) -> list[list[int]]:
        """Return the entry numbers of each request."""
        return [numbers(request) for request in self.requests]


OF_MEMFAIL = kinds_of([])


def run(
    work: Callable[[ModelJudge], Awaitable[Any]],
    answer: Answer = answer_by_rule,
    *,
    context_tokens: int | None = None,
    latency_seconds: float = 0.0,
    overflow: str = "openai",
    port: int = 0,
    **options: Any,
) -> Asked:
    """Run the work with a judge that asks a fresh endpoint; return its result or its error."""
    endpoint = LocalEndpoint(
        answer, context_tokens=context_tokens, latency_seconds=latency_seconds, overflow=overflow, port=port
    )
    with endpoint:
        result = asyncio.run(_with_judge(work, endpoint.url, options))
    return Asked(result, list(endpoint.requests), endpoint.peak_in_flight)


async def _with_judge(work: Callable[[ModelJudge], Awaitable[Any]], url: str, options: dict[str, Any]) -> Any:
    ledger = Ledger()
    cache = options.pop("cache", None)
    client = ModelClient(ledger=ledger, cache=cache, base_url=url, api_key="any", max_retries=0, backoff_seconds=0.01)
    try:
        return await work(ModelJudge(client, "judge", **{**OF_MEMFAIL, **options}))
    except Exception as error:
        return error
    finally:
        await client.close()
        ledger.close()


def cascade(model: ModelJudge, sure: float = 0.9) -> CascadeJudge:
    """Put the offline judge in front of the model."""
    return CascadeJudge(OfflineJudge(model.protocol), model, sure)


def block(request: dict[str, Any], name: str) -> str:
    """Return the lines of a marked block of the first user message."""
    content = request["messages"][1]["content"]
    found = re.findall(rf"^<{name}>\n(.*?)\n?^</{name}>$", content, re.DOTALL | re.MULTILINE)
    assert len(found) == 1, f"{len(found)} blocks <{name}> in:\n{content}"
    return str(found[0])


def texts(request: dict[str, Any]) -> dict[int, str]:
    """Return the entries shown, by number."""
    lines = [line.partition(" ") for line in block(request, "memories").split("\n") if line]
    return {int(number): json.loads(text) for number, _, text in lines}


def numbers(request: dict[str, Any]) -> list[int]:
    """Return the numbers of the entries shown."""
    return list(texts(request)) if "<memories>" in request["messages"][1]["content"] else []


def stored(present: bool, faithful: bool, entries: list[int] | None = None, **more: Any) -> dict[str, Any]:
    """Return a reply about storage and summary."""
    reply = {"reason": "because", "entries": entries or [], "missing": [], "present": present, "faithful": faithful}
    return {**reply, **more}
