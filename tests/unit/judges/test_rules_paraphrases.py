"""Stores as real systems write them: compressed, in the third person, split or merged. Every case is made up here."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from pytest_memfail.core import (
    CORRECT,
    NOT_STORED,
    SUMMARY_ERROR,
    Detail,
    Evidence,
    Listing,
    Memory,
    Question,
    fact_verdict,
)
from pytest_memfail.judges import RulesJudge

OTHERS = (
    "Ottoline collects brass buttons and keeps them in a biscuit tin.",
    "User takes the ferry to work on Mondays.",
    "Barnaby the tortoise naps on the warm stones by the pond.",
    "User's sister Wilhelmina teaches the cello to beginners.",
    "User is learning how to repair accordions.",
)
QUESTION = Question("q", "t", "?", "?", (), ("e",), "open")


def rule(entity: str, behavior: str, condition: str, source: str, value: str = "Yes") -> Evidence:
    return Evidence(
        id="e",
        kind="rule",
        task="t",
        text=f"{entity} {behavior} {condition}.",
        source=source,
        conversation_id="c",
        entity=entity,
        behavior=behavior,
        condition=condition,
        value=value,
    )


def preference(named: str, source: str) -> Evidence:
    return Evidence(
        id="e", kind="preference", task="t", text=source, source=source, conversation_id="c", preference=named
    )


def link(first: str, second: str, source: str) -> Evidence:
    return Evidence(
        id="e", kind="link", task="t", text=source, source=source, conversation_id="c", anchors=(first, second)
    )


def persona(entity: str, value: str | None, source: str) -> Evidence:
    return Evidence(
        id="e", kind="persona", task="t", text=source, source=source, conversation_id="c", entity=entity, value=value
    )


MINT = rule(
    "Quillon",
    "polishes the copper kettle",
    "only when his stress is at least 8 out of 10",
    "Quillon lives above a print shop and hums while he works. He keeps ledgers for three bakeries. "
    "Quillon polishes the copper kettle only when his stress is at least 8 out of 10. On Sundays he feeds the swans.",
    "No — he only polishes it when his stress is at least 8.",
)
RAIN = rule(
    "Bramble",
    "drags her blanket into the hallway",
    "when it is raining",
    "Bramble is a spaniel with a torn ear. She adores cheese rinds. "
    "Bramble drags her blanket into the hallway whenever it is raining. She sleeps on the stairs otherwise.",
)
TRAIN = rule(
    "Ingrith",
    "whistles sea shanties",
    "after missing the train",
    "Ingrith repairs clocks for the town hall. Ingrith whistles sea shanties after she has missed the train. "
    "Her gloves never match, and she owns two umbrellas.",
)
HIDDEN = rule(
    "Corwin",
    "bakes cardamom buns",
    "only on nights with a full moon",
    "Corwin keeps bees behind the chapel. He is known for his cardamom buns, which he bakes in a borrowed oven. "
    "He keeps an almanac by the sink and circles some dates in red. "
    "It's usually on those nights with a full moon that the oven glows until dawn. He is afraid of geese.",
)
GRAVEL = preference("gravel cycling", "Gravel cycling is my favourite way to clear my head after a long week.")
LATTE = preference("oat milk latte", "An oat milk latte is what I order when I need a slow start to the day.")
BATH = link("cold baths", "sharp focus", "Cold baths give me sharp focus.")
TEA = link(
    "peppermint tea", "calls her aunt", "Peppermint tea makes Odile call her aunt because it reminds her of home."
)
DESK = persona(
    "Tamsin Okello",
    "Bring a linen cloth and no perfume, because she is allergic to lavender.",
    "Tamsin Okello restores violins in a former bakery. She is allergic to lavender and asks guests not to wear perfume. "
    "Every instrument is wiped with a linen cloth before it is touched. She keeps 14 tuning forks in a cigar box. "
    "Her cat is called Pizzicato. She never works after 9 p.m.",
)
STRANGER = persona("Tamsin Okello", None, DESK.source)


@dataclass(frozen=True)
class Case:
    name: str
    evidence: Evidence
    stored: tuple[str, ...]
    verdicts: tuple[str, ...]


CASES = [
    Case(
        "third person",
        MINT,
        ("Quillon only polishes his copper kettle if his stress reaches 8/10 or higher.",),
        (CORRECT,),
    ),
    Case(
        "number word", MINT, ("Quillon: polishes copper kettle only at stress of eight out of ten or more",), (CORRECT,)
    ),
    Case(
        "split over entries",
        MINT,
        (
            "Quillon has a copper kettle that he polishes.",
            "Quillon's kettle polishing happens only when stress is at least 8/10.",
        ),
        (CORRECT,),
    ),
    Case(
        "number changed",
        MINT,
        ("Quillon polishes the copper kettle only when his stress is at least 6 out of 10.",),
        (SUMMARY_ERROR,),
    ),
    Case(
        "number blurred",
        MINT,
        ("Quillon polishes the copper kettle only when he is highly stressed.",),
        (SUMMARY_ERROR,),
    ),
    Case(
        "side changed",
        MINT,
        ("Quillon polishes the copper kettle only when his stress is below 8 out of 10.",),
        (SUMMARY_ERROR,),
    ),
    Case(
        "condition dropped", MINT, ("Quillon polishes a copper kettle and feeds swans on Sundays.",), (SUMMARY_ERROR,)
    ),
    Case(
        "only dropped",
        MINT,
        ("Quillon polishes the copper kettle when his stress is at least 8 out of 10.",),
        (SUMMARY_ERROR,),
    ),
    Case(
        "somebody else's",
        MINT,
        ("Ottoline polishes the copper kettle only when her stress is at least 8 out of 10.",),
        (SUMMARY_ERROR, NOT_STORED),
    ),
    Case(
        "rest of the essay only",
        MINT,
        ("Quillon keeps ledgers for bakeries.", "Quillon feeds the swans on Sundays."),
        (NOT_STORED,),
    ),
    Case("reordered", RAIN, ("When it rains, Bramble (a spaniel) drags her blanket to the hallway.",), (CORRECT,)),
    Case(
        "pronoun in a merged entry",
        RAIN,
        (
            "User has a spaniel named Bramble. She loves cheese rinds. On rainy days she drags her blanket into the hallway.",
        ),
        (CORRECT,),
    ),
    Case("generalised", RAIN, ("Bramble drags her blanket into the hallway in bad weather.",), (SUMMARY_ERROR,)),
    Case(
        "inverted", RAIN, ("Bramble drags her blanket into the hallway except when it is raining.",), (SUMMARY_ERROR,)
    ),
    Case("negated", RAIN, ("Bramble never drags her blanket into the hallway when it is raining.",), (SUMMARY_ERROR,)),
    Case("missed", TRAIN, ("[2025-02-03] Ingrith whistles sea shanties after missing her train",), (CORRECT,)),
    Case("before for after", TRAIN, ("Ingrith whistles sea shanties before missing the train.",), (SUMMARY_ERROR,)),
    Case("hidden condition kept", HIDDEN, ("Corwin bakes cardamom buns on full moon nights.",), (CORRECT,)),
    Case(
        "hidden condition apart",
        HIDDEN,
        ("Corwin is known for baking cardamom buns.", "Corwin's oven glows until dawn on nights with a full moon."),
        (CORRECT,),
    ),
    Case(
        "hidden condition lost",
        HIDDEN,
        ("Corwin keeps bees, is afraid of geese and bakes cardamom buns.",),
        (SUMMARY_ERROR,),
    ),
    Case("preference", GRAVEL, ("User enjoys gravel cycling to unwind after long weeks.",), (CORRECT,)),
    Case(
        "preference in a list", GRAVEL, ("Hobbies: accordion repair, gravel cycling, chess, birdwatching",), (CORRECT,)
    ),
    Case("preference merged away", GRAVEL, ("User enjoys cycling.",), (SUMMARY_ERROR, NOT_STORED)),
    Case("preference turned", GRAVEL, ("User dislikes gravel cycling after a long week.",), (SUMMARY_ERROR,)),
    Case("preference missing", GRAVEL, (), (NOT_STORED,)),
    Case("inflected preference", LATTE, ("User prefers oat-milk lattes for slow mornings.",), (CORRECT,)),
    Case("other preference of the kind", LATTE, ("User orders a flat white when in a hurry.",), (NOT_STORED,)),
    Case("link", BATH, ("Taking cold baths helps the user focus sharply.",), (CORRECT,)),
    Case("link told backwards", BATH, ("User's sharp focus comes from cold baths.",), (CORRECT,)),
    Case("link reversed", BATH, ("Sharp focus makes the user take cold baths.",), (SUMMARY_ERROR,)),
    Case("link without a relation", BATH, ("User mentioned cold baths and sharp focus.",), (SUMMARY_ERROR,)),
    Case("half a link", BATH, ("User takes cold baths.",), (NOT_STORED,)),
    Case(
        "link merged in a chain",
        BATH,
        ("Cold baths give user sharp focus, which leads user to tidy the attic.",),
        (CORRECT,),
    ),
    Case("somebody's link", TEA, ("When Odile drinks peppermint tea, she calls her aunt.",), (CORRECT,)),
    Case(
        "persona in atomic facts",
        DESK,
        (
            "Tamsin Okello restores violins.",
            "Tamsin Okello is allergic to lavender; guests must not wear perfume.",
            "Tamsin wipes each instrument with a linen cloth before touching it.",
        ),
        (CORRECT,),
    ),
    Case(
        "persona without what is needed",
        DESK,
        ("Tamsin Okello restores violins in an old bakery, has a cat named Pizzicato and owns 14 tuning forks.",),
        (SUMMARY_ERROR,),
    ),
    Case(
        "persona of somebody else",
        DESK,
        ("Wilhelmina Brandt is allergic to lavender, so no perfume; instruments are wiped with a linen cloth.",),
        (SUMMARY_ERROR, NOT_STORED),
    ),
    Case("persona gone", DESK, (), (NOT_STORED,)),
    Case(
        "fair share of a persona",
        STRANGER,
        (
            "Tamsin Okello is a violin restorer working in a former bakery who owns 14 tuning forks and a cat, Pizzicato. "
            "She is allergic to lavender.",
        ),
        (CORRECT,),
    ),
    Case(
        "hardly anything of a persona",
        STRANGER,
        ("Tamsin Okello works with instruments.",),
        (NOT_STORED, SUMMARY_ERROR),
    ),
]


def verdict(evidence: Evidence, texts: tuple[str, ...]) -> tuple[str, str]:
    judge = RulesJudge()
    store = Listing("s", tuple(Memory(text) for text in (*OTHERS[:3], *texts, *OTHERS[3:])))
    storage = judge.storage(evidence, store)
    if storage.outcome == "failed":
        return fact_verdict("e", storage).name, storage.reason
    summary = judge.summary(evidence, store)
    if summary.outcome == "failed":
        return fact_verdict("e", storage, summary).name, summary.reason
    retrieval = judge.retrieval(evidence, QUESTION, [Memory(text) for text in (*texts, *OTHERS[:2])])
    return fact_verdict("e", storage, summary, retrieval).name, retrieval.reason


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.evidence.kind}: {case.name}")
def test_paraphrase(case: Case) -> None:
    name, reason = verdict(case.evidence, case.stored)
    assert name in case.verdicts, reason


CURATED = Evidence(
    id="e",
    kind="rule",
    task="t",
    text="Vesper answers letters only on Thursdays.",
    source="Vesper keeps a parrot. Vesper answers letters only on Thursdays.",
    conversation_id="c",
    entity="Vesper",
    behavior="answers letters",
    condition="only on Thursdays",
    value="No — it is a Tuesday, and Vesper answers letters only on Thursdays.",
    details=(
        Detail(("answers letters", "replies to mail", "answers her post"), "behavior"),
        Detail(("on Thursdays", "every Thursday"), "condition"),
        Detail(("only", "no other day"), "exclusivity"),
    ),
)


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        ("Vesper replies to mail on Thursdays and on no other day.", CORRECT),
        ("Vesper exclusively answers letters every Thursday.", CORRECT),
        ("Vesper replies to mail on Thursdays.", SUMMARY_ERROR),
        ("Vesper replies to mail.", SUMMARY_ERROR),
        ("Vesper keeps a parrot.", NOT_STORED),
    ],
)
def test_curated_wordings_decide(stored: str, expected: str) -> None:
    name, reason = verdict(CURATED, (stored,))
    assert name == expected, reason


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        (
            ("Vesper deals with her correspondence each Thursday, and else never.",),
            CORRECT,
        ),  # no listed wording, yet kept
        (("Vesper keeps a parrot.", "Dora answers letters only on Thursdays."), SUMMARY_ERROR),
        (("Vesper answers letters.", "Only on Thursdays is the market held."), SUMMARY_ERROR),
        (("Vesper keeps a parrot.", "The post comes on Thursdays."), NOT_STORED),
    ],
)
def test_wordings_of_a_row_add_to_what_the_rules_know(stored: tuple[str, ...], expected: str) -> None:
    name, reason = verdict(CURATED, stored)
    assert name == expected, reason
