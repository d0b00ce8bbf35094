"""Expected facts of lists, chains and essays, and what the rules make of them."""

from __future__ import annotations

from pytest_memfail.core import Evidence, Listing, Memory
from pytest_memfail.judges.rules.judge import RulesJudge


def preference(name: str, statement: str, category: str | None = None) -> Evidence:
    return Evidence(
        id="p", kind="preference", task="coexisting_facts", text=statement, source=statement, conversation_id="c",
        preference=name, category=category,
    )  # fmt: skip


def link(statement: str, first: str, second: str) -> Evidence:
    return Evidence(
        id="l",
        kind="link",
        task="long_hop",
        text=statement,
        source=statement,
        conversation_id="c",
        anchors=(first, second),
    )


def persona(essay: str, entity: str, asked: str, value: str | None, telling: tuple[str, ...] = ()) -> Evidence:
    return Evidence(
        id="e",
        kind="persona",
        task="t",
        text=essay,
        source=essay,
        conversation_id="c",
        entity=entity,
        value=value,
        asked=asked,
        telling=telling,
    )


def rule(entity: str, behavior: str, condition: str, source: str, value: str = "Yes") -> Evidence:
    text = f"{entity} {behavior} {condition}."
    return Evidence("e", "rule", "t", text, source, "c", entity, behavior=behavior, condition=condition, value=value)


def verdict(evidence: Evidence, *entries: str) -> str:
    """What the rules say of the fact in a store of these entries: missing, damaged or faithful."""
    stored, faithful = judged(evidence, *entries)
    return "faithful" if faithful else "damaged" if stored else "missing"


def judged(evidence: Evidence, *entries: str) -> tuple[bool, bool]:
    """Whether the fact is stored, and faithfully."""
    judge = RulesJudge()
    listing = Listing("s", tuple(Memory(entry) for entry in entries))
    stored = judge.storage(evidence, listing).outcome == "passed"
    return stored, stored and judge.summary(evidence, listing).outcome == "passed"
