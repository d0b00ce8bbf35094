"""Stores with traps for a judge by words: the share that is judged as labelled, here and in docs/meme.md."""

from __future__ import annotations

import more_traps
import pytest
import traps
from episodes import episode, fact, question

from pytest_memfail.core import Probe, StorePlan, SystemContext
from pytest_memfail.engine import Ask, Engine, StoreJob
from pytest_memfail.grading import names
from pytest_memfail.hosting import Resources
from pytest_memfail.judges.offline import OfflineJudge
from pytest_memfail.records import question_record
from pytest_memfail.suites.meme import SUITE
from pytest_memfail.suites.meme.files import Episode
from pytest_memfail.suites.meme.kinds import KINDS
from pytest_memfail.suites.meme.plan import _Plan

NAMES = ("SPELLED", "CHANGED", "DERIVED", "ONLY_THE_RULE", "OTHERS", "GARBLED", "LITTLE_LEFT", "FORGOTTEN")
WORST = ("missing", "damaged", "ok")


def session(at, texts, facts):
    return {
        "session_id": f"s{at}",
        "type": "evidence",
        "timestamp": f"2024/01/{at + 1:02} (Mon) 09:00",
        "conversation": [{"role": "user", "content": text} for text in texts],
        "gold_facts": facts,
    }


def evidence_of(sessions, before, after, entities, edges=(), root="", change=("", "")):
    """The facts of the last question of an episode."""
    made = episode(
        sessions=sessions,
        root=root,
        root_change={"before": change[0], "after": change[1]},
        entities=entities,
        dependency_edges_used=list(edges),
        before_questions={"position_after_session": 0, "questions": before},
        after_questions={"position_after_session": len(sessions) - 1, "questions": after},
    )
    plan = _Plan(Episode.model_validate(made), "f", 1)
    asked = [q for step in plan.steps() if isinstance(step, Probe) for q in step.questions]
    return [plan.evidence[name] for name in asked[-1].evidence]


def facts_of(row, trap):
    what = row.entity.replace("_", " ")
    if isinstance(row, traps.Rule):
        root = row.root.replace("_", " ")
        base = f"The {what} is {row.old}, and the {root} is {row.root_old}."
        first = [
            fact(row.root, row.root_old, f"The {root} is {row.root_old}."),
            fact(row.entity, row.old, f"The {what} is {row.old}."),
            fact(row.entity, row.new, row.rule, "rule", turn=1),
        ]
        return evidence_of(
            [session(0, [base, row.rule], first), session(1, [row.change], [fact(row.root, row.root_new, row.change)])],
            [question("Cas", row.entity, [row.old], row.old, "before")],
            [question("Cas", [row.entity], [row.new], row.new, hop=1)],
            {
                row.root: {"before": row.root_old, "after": row.root_new},
                row.entity: {"before": row.old, "after": row.new},
            },
            [{"source": row.root, "target": row.entity, "hop": 1, "pattern": "cascade"}],
            row.root,
            (row.root_old, row.root_new),
        )
    told = session(0, [row.said], [fact(row.entity, row.value, row.said)])
    before = [question("ER", [row.entity], [row.value], row.value, "before")]
    if trap != "FORGOTTEN":
        return evidence_of([told], before, [], {row.entity: {"before": row.value, "after": row.value}})
    asked = session(1, [f"Please forget my {what}."], [fact(row.entity, None, f"The user asks to forget the {what}.")])
    after = [question("Del", [row.entity], [row.value], "No information")]
    return evidence_of([told, asked], before, after, {row.entity: {"before": row.value, "after": None}})


def judged(facts, store):
    """The label that the judge without a model gives a store: that of its worst fact."""
    found = [KINDS[each.kind].find(each, store) for each in facts]
    return min((("ok" if f.faithful else "damaged") if f.present else "missing" for f in found), key=WORST.index)


def agreement(rows):
    """How many stores there are, how many are labelled alike, and how many of these alike as `ok` or not."""
    pairs = [(row.label, judged(facts_of(row, trap), row.store)) for trap in NAMES for row in getattr(rows, trap)]
    return len(pairs), sum(a == b for a, b in pairs), sum((a == "ok") == (b == "ok") for a, b in pairs)


@pytest.mark.parametrize(("rows", "expected"), [(traps, (103, 91, 98)), (more_traps, (48, 46, 48))])
def test_stores_with_traps_are_judged_as_labelled(rows, expected):
    n, alike, held = agreement(rows)
    assert n == expected[0]
    assert alike >= expected[1]
    assert held >= expected[2]


@pytest.mark.parametrize(
    "row",
    [row for rows in (traps, more_traps) for row in rows.DERIVED if row.entity not in ("pager", "signing")],
    ids=lambda row: row.entity,
)
def test_an_entry_with_the_derived_value_alone_shows_it(row):
    """The change may stand in another entry that was not retrieved: the answer needs only what follows from it."""
    shown = [text for text in row.store if names(row.new, text)]
    assert judged(facts_of(row, "DERIVED"), shown) == "ok"


# -- values that are replaced between two probes -------------------------------------------------------------------------


class LastValue:
    """Keeps the last message alone, and says what each conversation added."""

    concurrent_stores = 1

    def __init__(self):
        self.text = ""

    def store_conversation(self, conversation):
        self.text = conversation.messages[0].content

    def extracted_since(self, conversation):
        return [self.text]

    def retrieve_memories(self, query, conversation, k):
        return [self.text]

    def get_all_memories(self):
        return [self.text]


class Silent(LastValue):
    extracted_since = None


@pytest.mark.parametrize(("system", "encoded"), [(LastValue, 1.0), (Silent, 0.0)])
def test_a_value_replaced_between_two_probes_was_encoded(system, encoded, tmp_path):
    """`encoded` means stored at some time, and a history is no longer in the store as a whole."""
    found = []
    for entity, values, texts in traps.REPLACED:
        sessions = [
            session(0, ["Hello there."], None),
            *(session(at, [t], [fact(entity, v, t)]) for at, (v, t) in enumerate(zip(values, texts, strict=True), 1)),
        ]
        made = episode(
            sessions=sessions,
            root="",
            entities={entity: {"before": values[0], "after": values[-1]}},
            dependency_edges_used=[],
            before_questions={"position_after_session": 0, "questions": []},
            after_questions={
                "position_after_session": 3,
                "questions": [question("Tr", [entity], [list(values)], " \u2192 ".join(values))],
            },
        )
        plan = _Plan(Episode.model_validate(made), "f", 1)
        store = StorePlan(entity, tuple(plan.steps()))
        (asked,) = store.questions
        engine = Engine(Resources(judge=OfflineJudge(kinds=SUITE.kinds, answers=SUITE.answers)))
        job = StoreJob(
            id=entity,
            task="meme",
            plan=store,
            evidence=plan.evidence,
            factory=system,
            context=SystemContext("run", entity, tmp_path),
            asks=(Ask("q", asked, 5),),
        )
        run = engine.begin(job)
        result = run.result("q").result(timeout=10)
        run.finish().result(timeout=10)
        engine.close()
        assert result.error is None
        assert result.verdict.name == "not_stored"
        found.append(question_record("id", entity, asked, 5, trace=result.trace, verdict=result.verdict))
    assert sum(len(values) - 1 for _, values, _ in traps.REPLACED) >= 12
    encoding, maintained = (next(m for m in SUITE.measures if m.name == name) for name in ("encoded", "maintained"))
    assert encoding.of(found).value == encoded
    assert maintained.of(found).value == 0.0
