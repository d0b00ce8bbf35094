"""An episode in the published format, with what a system listed and retrieved of it: plan, facts, stages and score.

The stages and verdicts are labelled by hand, question by question, from the texts alone.
"""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from pytest_memfail.core import (
    CORRECT,
    Ingest,
    Listing,
    Memory,
    Probe,
    Reply,
    RowError,
    StageResult,
    SuiteRequest,
    Task,
    Trace,
)
from pytest_memfail.engine import Grader, Needed, Past
from pytest_memfail.judges import OfflineJudge
from pytest_memfail.records import question_record
from pytest_memfail.suites.meme import SUITE

TOLD = [
    "Our database is Quellstore. For the log: every commit title ends with a plus sign (+).",
    "The ORM is Pinmap. If the database ever becomes Narrowbase, the ORM becomes Tessera.",
    "Migrations run with Stepwise. If the ORM ever becomes Tessera, the migration tool becomes Ladderfall.",
    "Backups run at 02:30, only because Quellstore is idle then. The CI runner is Ashlane. Staging's password is rook-71.",
    "How do I centre a heading?",
    "We moved the CI runner to Birchline. Reviews go to Oda Brandvik, and demos are on Thursdays.",
    "Done: the database is Narrowbase now.",
    "And the CI runner is Corvane as of today.",
    "Please forget the password of staging.",
    "What is a good name for a branch?",
]


def gold(number: int, entity: str, value: Any, text: str, notes: Any = None, turn: Any = 0) -> dict[str, Any]:
    return {
        "fact_id": f"f{number:03}",
        "entity": entity,
        "value": value,
        "fact_text": text,
        "conveyed_in_turn": turn,
        "notes": notes,
    }


GOLD: dict[int, list[dict[str, Any]]] = {
    0: [
        gold(1, "database", "Quellstore", "The project's database is Quellstore."),
        gold(2, "commit_rule", "every commit title ends with a plus sign (+)", "The commit rule.", "verbatim"),
    ],
    1: [
        gold(3, "orm", "Pinmap", "The ORM is Pinmap."),
        gold(4, "orm", "Tessera", "If the database becomes Narrowbase, the ORM becomes Tessera.", "dependency rule"),
    ],
    2: [
        gold(5, "migration_tool", "Stepwise", "Migrations run with Stepwise."),
        gold(6, "migration_tool", "Ladderfall", "If the ORM becomes Tessera, the migration tool becomes Ladderfall."),
    ],
    3: [
        gold(7, "backup_window", "02:30", "Backups run at 02:30, only because Quellstore is idle then."),
        gold(8, "ci_runner", "Ashlane", "The CI runner is Ashlane.", None, None),
        gold(9, "staging_password", "rook-71", "The password of staging is rook-71."),
    ],
    5: [
        gold(10, "ci_runner", "Birchline", "The CI runner is now Birchline."),
        gold(11, "reviewer", "Oda Brandvik", "Reviews go to Oda Brandvik."),
        gold(12, "demo_day", "Thursdays", "Demos are on Thursdays."),
    ],
    6: [gold(13, "database", "Narrowbase", "The database is now Narrowbase.")],
    7: [gold(14, "ci_runner", "Corvane", "The CI runner is now Corvane.")],
    8: [gold(15, "staging_password", "DELETED", "The user asks to forget the password of staging.", "deletion")],
}


def asked(kind: str, entity: list[str], values: Any, text: str, **answer: str) -> dict[str, Any]:
    """A question as the file has it: no hop, and its type under an older name."""
    return {"task_type": kind, "entity": entity, "entity_values": values, "question": text, **answer}


EPISODE: dict[str, Any] = {
    "episode_id": "sw_033",
    "domain": "software_project",
    "root": "database",
    "root_change": {"before": "Quellstore", "after": "Narrowbase"},
    "entities": {
        "database": {"before": "Quellstore", "after": "Narrowbase", "task": "root"},
        "orm": {"before": "Pinmap", "after": "Tessera", "task": "Cascade-D"},
        "migration_tool": {"before": "Stepwise", "after": "Ladderfall", "task": "Cascade-D"},
        "backup_window": {"before": "02:30", "after": None, "task": "Cascade-U"},
        "ci_runner": {"before": "Ashlane", "after": ["Birchline", "Corvane"], "task": "Multiple-update"},
        "staging_password": {"before": "rook-71", "after": None, "task": "Deletion"},
    },
    "dependency_edges_used": [
        {"source": "database", "target": "orm", "hop": 1, "pattern": "rule"},
        {"source": "orm", "target": "migration_tool", "hop": 2, "pattern": "rule"},
        {"source": "database", "target": "backup_window", "hop": 1, "pattern": None},
    ],
    "tasks": ["Exact", "Multi-hop", "Multiple-update", "Deletion", "Cascade-D", "Cascade-U"],
    "evidence_session_indices": [0, 1, 2, 3, 5, 6, 7, 8],
    "sessions": [
        {
            "session_id": f"sw_033_{at:03}",
            "type": "evidence" if at in GOLD else "filler",
            "timestamp": f"2023/03/{13 + at} (Mon) 09:22",
            "conversation": [{"role": "user", "content": text}, {"role": "assistant", "content": "Noted."}],
            "gold_facts": GOLD.get(at),
        }
        for at, text in enumerate(TOLD)
    ],
    "before_questions": {
        "timestamp": "2023/03/17 (Fri) 18:00",
        "position_after_session": 4,
        "questions": [
            asked("Cascade-D (1-hop)", ["orm"], {"orm": "Pinmap"}, "Which ORM do we use?", expected_answer="Pinmap"),
            asked(
                "Cascade-D (2-hop)",
                ["migration_tool"],
                {"migration_tool": ["Stepwise"]},
                "What runs our migrations?",
                expected_answer="Stepwise",
            ),
            asked("Cascade-U (1-hop)", ["backup_window"], None, "When do backups run?", expected_answer="02:30"),
            asked(
                "Deletion (before delete)",
                ["staging_password"],
                {"staging_password": "rook-71"},
                "What is the password of staging?",
                expected_answer="rook-71",
            ),
        ],
    },
    "after_questions": {
        "timestamp": "2023/03/21 (Tue) 18:00",
        "position_after_session": 8,
        "questions": [
            asked(
                "Exact (verbatim)",
                ["commit_rule"],
                {"commit_rule": "every commit title ends with a plus sign (+)"},
                "Repeat our commit rule.",
                gold_answer="every commit title ends with a plus sign (+)",
            ),
            asked(
                "Multi-hop (2 entities)",
                ["reviewer", "demo_day"],
                {"reviewer": ["Oda Brandvik"], "demo_day": "Thursdays"},
                "Who reviews, and when are demos?",
                gold_answer="Oda Brandvik; Thursdays",
            ),
            asked(
                "Multiple-update (3 values)",
                ["ci_runner"],
                {"ci_runner": ["Ashlane", "Birchline", "Corvane"]},
                "Which CI runners did we have, in order?",
                gold_answer="Ashlane -> Birchline -> Corvane",
            ),
            asked(
                "Deletion (after delete)",
                ["staging_password"],
                {"staging_password": "DELETED"},
                "What is the password of staging?",
                gold_answer="I do not have it any more.",
            ),
            asked("Cascade-D (1-hop)", ["orm"], {"orm": "Tessera"}, "Which ORM do we use?", gold_answer="Tessera"),
            asked(
                "Cascade-D (2-hop)",
                ["migration_tool"],
                {"migration_tool": ["Stepwise", "Ladderfall"]},
                "What runs our migrations?",
                gold_answer="Ladderfall",
            ),
            asked(
                "Cascade-U (1-hop)",
                ["backup_window"],
                {"backup_window": None},
                "When do backups run?",
                gold_answer="Uncertain \u2014 previously '02:30', but database changed",
            ),
        ],
    },
}

RULE = "If the database becomes Narrowbase, the ORM will be Tessera"
THEN = "Once the ORM is Tessera, migrations will run with Ladderfall"
BACKUP = "Backups at 02:30 because Quellstore is idle at that time"
EARLY = [
    "Database: Quellstore",
    "Commit rule: every commit title ends with a plus sign (+)",
    "ORM in use: Pinmap",
    RULE,
    "Migrations are run with Stepwise",
    THEN,
    BACKUP,
    "CI runner: Ashlane",
    "Staging password: rook-71",
]
LATE = [
    *(entry for entry in EARLY if entry not in ("Commit rule: every commit title ends with a plus sign (+)", EARLY[0])),
    "CI runner moved to Birchline",
    "Reviewer: Oda Brandvik",
    "Demo day: Thursdays",
    "The database is now Narrowbase",
    "CI runner is Corvane now",
]
"""The commit rule was lost later, the first database replaced, and the request to forget the password never noted."""

NOW = "The database is now Narrowbase"
TOP_FIVE = {
    "before-cas-orm": ["ORM in use: Pinmap", RULE, "Database: Quellstore", THEN, BACKUP],
    "before-cas-migration_tool": ["Migrations are run with Stepwise", THEN, RULE, "ORM in use: Pinmap", BACKUP],
    "before-abs-backup_window": ["CI runner: Ashlane", "Database: Quellstore", "ORM in use: Pinmap", RULE, THEN],
    "before-del-staging_password": ["Staging password: rook-71", "CI runner: Ashlane", RULE, THEN, BACKUP],
    "after-er-commit_rule": ["Demo day: Thursdays", "Reviewer: Oda Brandvik", RULE, THEN, BACKUP],
    "after-agg-reviewer-demo_day": ["Reviewer: Oda Brandvik", "Demo day: Thursdays", RULE, THEN, BACKUP],
    "after-tr-ci_runner": ["CI runner is Corvane now", "CI runner moved to Birchline", NOW, RULE, THEN],
    "after-del-staging_password": ["Staging password: rook-71", "CI runner: Ashlane", RULE, THEN, BACKUP],
    "after-cas-orm": ["ORM in use: Pinmap", RULE, NOW, THEN, BACKUP],
    "after-cas-migration_tool": ["Migrations are run with Stepwise", THEN, RULE, "ORM in use: Pinmap", BACKUP],
    "after-abs-backup_window": [BACKUP, NOW, "CI runner: Ashlane", RULE, THEN],
}
REPLIES = {
    "before-cas-orm": ("Pinmap.", None),
    "before-cas-migration_tool": ("Stepwise.", None),
    "before-abs-backup_window": ("I do not know.", None),
    "before-del-staging_password": ("rook-71", None),
    "after-er-commit_rule": ("Titles end with a plus sign.", None),
    "after-agg-reviewer-demo_day": ("Oda Brandvik reviews; demos are on Thursdays.", None),
    "after-tr-ci_runner": ("Birchline, then Corvane.", None),
    "after-del-staging_password": ("It is rook-71.", None),
    "after-cas-orm": ("Tessera.", None),
    "after-cas-migration_tool": ("Stepwise.", None),
    "after-abs-backup_window": ("Nobody knows since the database moved.", "passed"),
}
"""What was answered, and the recorded evaluation where only a model can tell."""
LABELLED = {
    "before-cas-orm": (CORRECT, None),
    "before-cas-migration_tool": (CORRECT, None),
    "before-abs-backup_window": ("not_retrieved", None),
    "before-del-staging_password": (CORRECT, None),
    "after-er-commit_rule": ("not_stored", "lost_later"),
    "after-agg-reviewer-demo_day": (CORRECT, None),
    "after-tr-ci_runner": ("not_retrieved", None),
    "after-del-staging_password": ("not_stored", "leaked"),
    "after-cas-orm": (CORRECT, None),
    "after-cas-migration_tool": ("not_retrieved", "stale_value"),
    "after-abs-backup_window": (CORRECT, "trivial_pass"),
}


class Recorded(OfflineJudge):
    """The offline judge, with the recorded evaluation of an answer that it leaves open."""

    def answer(self, question: Any, evidence: Any, reply: Any) -> StageResult:
        found = super().answer(question, evidence, reply)
        evaluation = REPLIES[question.id][1]
        return StageResult(evaluation) if found.outcome == "ungraded" and evaluation else found  # type: ignore[arg-type]


def load(folder: Any, episode: Any) -> Task:
    (folder / "meme_filler32k.json").write_text(json.dumps([episode]), encoding="utf-8")
    (task,) = SUITE.load(SuiteRequest(folder))
    return task


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Task:
    return load(tmp_path_factory.mktemp("meme"), EPISODE)


def facts(task: Task, question: str) -> list[Any]:
    (found,) = (q for q in task.questions if q.id == question)
    return [task.evidence[name] for name in found.evidence]


def test_sessions_after_the_last_probe_are_not_stored(task: Task) -> None:
    (plan,) = task.stores
    assert "".join("S" if isinstance(step, Ingest) else "P" for step in plan.steps) == "SSSSSPSSSSP"
    assert [q.id for q in plan.questions] == list(TOP_FIVE)
    assert [len(step.questions) for step in plan.steps if isinstance(step, Probe)] == [4, 7]
    assert {q.part: q.stratum for q in plan.questions} | {"cascade": ""} == {
        "before": "SW",
        "recall": "SW",
        "aggregation": "SW",
        "tracking": "SW",
        "deletion": "SW",
        "cascade": "",
        "absence": "SW 1-hop",
    }
    assert [q.stratum for q in plan.questions if q.part == "cascade"] == ["SW 1-hop", "SW 2-hop"]


def test_facts_come_from_what_was_told_and_not_from_marks(task: Task) -> None:
    (deletion,) = facts(task, "after-del-staging_password")
    assert (deletion.stale_values, deletion.source) == (("rook-71",), TOLD[8])
    assert [fact.value for fact in facts(task, "after-tr-ci_runner")][:3] == ["Ashlane", "Birchline", "Corvane"]
    assert [fact.value for fact in facts(task, "before-abs-backup_window")] == ["02:30"]
    change, first, second = facts(task, "after-cas-migration_tool")
    assert (change.value, change.source) == ("Narrowbase", TOLD[6])
    assert {first.value, second.value} == {"Ladderfall", "Tessera"}
    assert {first.source, second.source} == {TOLD[1], TOLD[2]}
    change, rule = facts(task, "after-abs-backup_window")
    assert (rule.value, rule.source) == ("02:30", TOLD[3])


async def graded(task: Task) -> list[Any]:
    (plan,) = task.stores
    early, late = (Listing("s", tuple(map(Memory, texts)), at) for at, texts in enumerate((EARLY, LATE)))
    ids = frozenset(conversation.id for conversation in plan.conversations[:5])
    found: dict[str, Any] = {}
    with ThreadPoolExecutor(1) as pool:
        grader = Grader(Recorded(kinds=SUITE.kinds, answers=SUITE.answers), pool)
        for question in plan.questions:
            is_before = question.part == "before"
            listing, earlier = (early, ()) if is_before else (late, (Past(early, ids),))
            evidence = [task.evidence[name] for name in question.evidence]
            shown, reply = tuple(map(Memory, TOP_FIVE[question.id])), Reply(REPLIES[question.id][0])
            needed = [Needed(found[name].verdict, found[name].memory_held) for name in question.needs]
            verdict = await grader.grade(question, evidence, listing, shown, reply, earlier=earlier, needed=needed)
            trace = Trace(question, 5, shown, reply)
            found[question.id] = question_record(
                question.id, plan.id, question, 5, evidence, trace=trace, verdict=verdict, listing=listing
            )
    return list(found.values())


@pytest.fixture(scope="module")
def outcomes(task: Task) -> list[Any]:
    return asyncio.run(graded(task))


@pytest.mark.parametrize("name", LABELLED)
def test_a_question_has_the_verdict_that_was_labelled(outcomes: list[Any], name: str) -> None:
    (found,) = (q for q in outcomes if q.question == name)
    assert (found.verdict, found.label) == LABELLED[name], [(f.text, f.verdict, f.deciding.reason) for f in found.facts]


def test_the_papers_numbers(outcomes: list[Any]) -> None:
    found = {measure.name: measure.of(outcomes) for measure in SUITE.measures}
    assert {name: found[name].value for name in ("encoded", "maintained", "retrieved", "answered", "score")} == {
        "encoded": pytest.approx(6 / 7),  # all but the deletion, whose request was never noted
        "maintained": pytest.approx(5 / 7),
        "retrieved": pytest.approx(3 / 7),
        "answered": pytest.approx(2 / 7),
        "score": pytest.approx((0 + 1 + 0 + 0 + 1 / 2 + 0) / 6),
    }
    counts = {name: found[name].value for name in found if name.startswith(("cascade_", "absence_", "deletion_"))}
    assert {name for name, count in counts.items() if count} == {
        "deletion_knew_but_failed",
        "cascade_real",
        "cascade_knew_but_failed",
        "absence_trivial",
    }
    assert found["tracking_partial"].value == pytest.approx(2 / 3)


# -- spellings of the same ---------------------------------------------------------------------------------------------


def after(kind: str) -> dict[str, Any]:
    return next(q for q in EPISODE["after_questions"]["questions"] if q["task_type"].startswith(kind))


def changed(kind: str, **fields: Any) -> dict[str, Any]:
    """The episode with another spelling of one question after the change."""
    made = json.loads(json.dumps(EPISODE))
    for question in made["after_questions"]["questions"]:
        if question == after(kind):
            question.update(fields)
    return made


@pytest.mark.parametrize(
    "values",
    [{}, None, {"ci_runner": None}, {"ci_runner": "Ashlane \u2192 Birchline \u2192 Corvane"}, {"ci_runner": "Corvane"}],
)
def test_a_history_is_found_however_it_is_given(tmp_path: Any, values: Any) -> None:
    task = load(tmp_path, changed("Multiple-update", entity_values=values))
    assert [fact.value for fact in facts(task, "after-tr-ci_runner")][:3] == ["Ashlane", "Birchline", "Corvane"]


@pytest.mark.parametrize("value", [None, "rook-71", ["rook-71", "[deleted]"], "None"])
def test_only_what_was_told_can_leak(tmp_path: Any, value: Any) -> None:
    task = load(tmp_path, changed("Deletion", entity_values={"staging_password": value}))
    assert facts(task, "after-del-staging_password")[0].stale_values == ("rook-71",)


def test_values_of_an_aggregation_may_be_missing(tmp_path: Any) -> None:
    task = load(tmp_path, changed("Multi-hop", entity_values={}, gold_answer=["Oda Brandvik", "Thursdays"]))
    assert [fact.value for fact in facts(task, "after-agg-reviewer-demo_day")] == ["Oda Brandvik", "Thursdays"]
    assert next(q for q in task.questions if q.part == "aggregation").gold == ("Oda Brandvik, Thursdays",)


@pytest.mark.parametrize(
    "answer",
    [
        "Uncertain \u2014 previously '02:30', but database changed from Quellstore to Narrowbase.",
        "Uncertain - previously \u201802:30\u2019, but the database has changed",
    ],
)
def test_an_absence_names_the_old_value(tmp_path: Any, answer: str) -> None:
    made = changed("Cascade-U", gold_answer=answer)
    del made["entities"]["backup_window"]
    made["before_questions"]["questions"][2]["entity_values"] = {"backup_window": ["02:30"]}
    assert facts(load(tmp_path, made), "after-abs-backup_window")[1].value == "02:30"


@pytest.mark.parametrize("block", [None, KeyError, {"position_after_session": 4, "questions": None}])
def test_an_episode_may_ask_nothing_before_the_change(tmp_path: Any, block: Any) -> None:
    made = json.loads(json.dumps(EPISODE)) | {"before_questions": block, "entities": None, "root_change": None}
    if block is KeyError:
        del made["before_questions"]
    with pytest.raises(
        RowError, match="got 'staging_password', expected an entity with a question in before_questions"
    ):
        load(tmp_path, made)
    made["after_questions"]["questions"] = made["after_questions"]["questions"][:3]
    (plan,) = load(tmp_path, made).stores
    assert [q.part for q in plan.questions] == ["recall", "aggregation", "tracking"]
    assert sum(isinstance(step, Probe) for step in plan.steps) == 1
