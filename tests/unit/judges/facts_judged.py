"""Expected facts of every kind, stores that keep or damage them, and the verdict of a judge.

The names of people are in no dictionary, so that tests can replace them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_memfail.core import Claim, Fact, Listing, Memory, Part, Question
from pytest_memfail.judges import OfflineJudge

QUESTION = Question("q", "t", "?", "?", ("x",), ("e",), "open")


def claimed(evidence: Fact, **changes: Any) -> Fact:
    """Return the fact with another claim."""
    return replace(evidence, claim=replace(evidence.claim, **changes))


def rule(owner: str, behavior: str, condition: str, source: str) -> Fact:
    claim = Claim((Part(behavior), Part(condition, "condition")), owner=owner)
    return Fact("e", "rule", f"{owner} {behavior} {condition}.", source, "c", claim)


def preference(name: str, source: str, category: str | None = None, siblings: tuple[str, ...] = ()) -> Fact:
    topic = [Part(category, "topic", required=False)] if category else []
    return Fact("e", "preference", source, source, "c", Claim((Part(name), *topic), siblings=siblings))


def persona(owner: str, source: str, asked: str, *needs: str) -> Fact:
    return Fact("e", "persona", source, source, "c", Claim((*map(Part, needs), Part(asked, "topic")), owner=owner))


def link(source: str, first: str, second: str, listed: tuple[Part, ...] = ()) -> Fact:
    return Fact("e", "link", source, source, "c", Claim((Part(second), Part(first, "cause"), *listed)))


def state(source: str, value: str, subject: str, stale: tuple[str, ...] = (), owner: str | None = None) -> Fact:
    claim = Claim((Part(value), Part(subject, "topic")), owner=owner, replaced=stale)
    return Fact("e", "fact", source, source, "c", claim)


def point(text: str, source: str, owner: str | None = None) -> Fact:
    return Fact("e", "point", text, source, "c", Claim(owner=owner))


@dataclass(frozen=True)
class Told:
    """An expected fact with stores that may keep it; says nothing about the right verdicts."""

    name: str
    evidence: Fact
    reworded: tuple[str, ...]
    damaged: tuple[str, ...]
    people: tuple[str, ...] = ()
    """The words of all people's names in the fact and the stores."""

    @property
    def stores(self) -> dict[str, tuple[str, ...]]:
        """Return the entries of each store: verbatim, reworded and damaged, each among other notes."""
        return {
            "as said": (BESIDE[0], self.evidence.source, BESIDE[1]),
            "reworded": (*BESIDE, *self.reworded),
            "damaged": (*self.damaged, *BESIDE),
        }


BESIDE = (
    "User's sister Keziah repairs accordions in Tromsø.",
    "User parks the camper van behind the bakery on weekdays.",
)
"""Other notes in every store, which no fact needs."""

TOLD = (
    Told(
        "a rule with a number",
        rule(
            "Quillon",
            "polishes the copper kettle",
            "only after 9 pm",
            "Quillon hums all day. Quillon polishes the copper kettle only after 9 pm. He never whistles.",
        ),
        ("Quillon hums.", "The copper kettle gets its polish from Quillon, but never before 21:00."),
        ("Quillon polishes the copper kettle.", "Quillon hums all day."),
        ("Quillon",),
    ),
    Told(
        "a rule in a conversation",
        rule(
            "Brannoch",
            "closes the west sluice",
            "when the gauge at the mill reads more than 2 metres",
            "Brannoch looks after the weir by the old mill. His boots are older than his dog. When the gauge at the mill "
            "reads more than 2 metres, Brannoch closes the west sluice. Otherwise he lets the river be.",
        ),
        ("Brannoch (weir keeper): shuts the sluice on the west side if the mill's gauge is above two metres.",),
        ("Brannoch shuts the sluice on the west side if the mill's gauge is above three metres.",),
        ("Brannoch",),
    ),
    Told(
        "a rule with an exception",
        rule(
            "Ottoline Brackenhurst",
            "waters the orchids",
            "unless it has rained overnight",
            "Ottoline Brackenhurst waters the orchids every morning unless it has rained overnight.",
        ),
        ("Ottoline waters her orchids each morning, except when there was rain in the night.",),
        ("Ottoline waters her orchids each morning.",),
        ("Ottoline", "Brackenhurst"),
    ),
    Told(
        "a preference",
        preference("rye bread", "I adore rye bread, the darker the better.", "kinds of bread", ("I like a warm baguette.",)),
        ("The user loves dark rye bread.", "The user likes a warm baguette."),
        ("The user loves bread.", "The user likes a warm baguette."),
    ),
    Told(
        "what somebody is like",
        persona(
            "Tadeusz",
            "Tadeusz drives the night tram in Poznan. He collects brass buttons from old uniforms. On Sundays he bakes "
            "poppy seed cake for the depot. He is afraid of geese.",
            "What does Tadeusz collect?",
            "He collects brass buttons from old uniforms.",
        ),
        ("Tadeusz: tram driver; has a collection of uniform buttons made of brass; fears geese",),
        ("Tadeusz: tram driver; has a collection of uniform badges made of tin; fears geese",),
        ("Tadeusz",),
    ),
    Told(
        "a link",
        link("Cold baths at dawn give me a clear head.", "cold baths at dawn", "a clear head"),
        ("A cold bath at daybreak clears the user's head.",),
        ("A clear head makes the user take cold baths at dawn.",),
    ),
    Told(
        "a link with listed wordings",
        link(
            "Counting the stock always leads me to rearrange the shelves.",
            "counting the stock",
            "rearrange the shelves",
            (
                Part("counting the stock", "cause", ("counting the stock", "stocktaking"), ("work",)),
                Part("rearrange the shelves", "core", ("rearrange the shelves", "shelves in a new order"), ("tidy up",)),
            ),
        ),
        ("After stocktaking the user puts the shelves in a new order.",),
        ("After stocktaking the user tidies up.",),
    ),
    Told(
        "a state that replaced another",
        state("I live in Porto now.", "Porto", "where the user lives", ("Lisbon",)),
        ("The user's home is in Porto.",),
        ("The user's home is in Lisbon.",),
    ),
    Told(
        "a state",
        state(
            "Nesrin keeps the spare key under the third flowerpot.",
            "under the third flowerpot",
            "where Nesrin keeps the spare key",
            owner="Nesrin",
        ),
        ("Nesrin's spare key is hidden beneath flowerpot number three.",),
        ("Nesrin's spare key is hidden somewhere in the garden.",),
        ("Nesrin",),
    ),
    Told(
        "a point about the user",
        point(
            "The user's dentist appointment is on 14 March at 8:30.",
            "Remind me that my dentist appointment is on 14 March at 8:30. I always forget these.",
        ),
        ("Dentist on March 14, half past eight in the morning (user).",),
        ("Dentist on March 15, half past eight in the morning (user).",),
    ),
    Told(
        "a point about somebody",
        point(
            "Pavel is allergic to walnuts.",
            "We are seven on Friday. Pavel is allergic to walnuts, so no baklava. Sunniva brings the wine.",
            "Pavel",
        ),
        ("Friday dinner: seven guests, walnut allergy (Pavel), Sunniva brings wine.",),
        ("Friday dinner: seven guests, walnut allergy (Sunniva), Pavel brings wine.",),
        ("Pavel", "Sunniva"),
    ),
)  # fmt: skip
STEADY = tuple(told for told in TOLD if not told.evidence.claim.replaced)
"""Facts without an earlier value, for which the order of entries is irrelevant."""


def in_stores(facts: Sequence[Told] = TOLD) -> list[tuple[Told, tuple[str, ...]]]:
    """Return the entries of each store of each fact."""
    return [(told, entries) for told in facts for entries in told.stores.values()]


def of_each(cases: Sequence[tuple[object, ...]]) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """Make one test of a check and all cases: a test of each would cost more than the check."""

    def one_test(check: Callable[..., None]) -> Callable[[], None]:
        def test() -> None:
            for case in cases:
                check(*case)

        test.__name__ = check.__name__
        return test

    return one_test


def listing(*entries: str) -> Listing:
    return Listing("s", tuple(Memory(entry) for entry in entries))


def verdict(evidence: Fact, entries: Sequence[str], shown: Sequence[str] | None = None) -> str:
    """Return the first stage that fails; everything stored is shown unless `shown` is given."""
    judge, store = OfflineJudge(), listing(*entries)
    if judge.storage(evidence, store).outcome == "failed":
        return "not_stored"
    if judge.summary(evidence, store).outcome == "failed":
        return "summary_error"
    memories = store.memories if shown is None else [Memory(text) for text in shown]
    return "ok" if judge.retrieval(evidence, QUESTION, memories).outcome == "passed" else "not_retrieved"
