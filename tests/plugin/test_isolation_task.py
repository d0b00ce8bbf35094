"""The task `isolation` in a run: two users of one service, and a measure instead of an error."""

from __future__ import annotations

from plugin.project import Project, collected

LEAKY = """
import pytest
from pytest_memfail.systems.bm25 import FACTORY

SHARED = []  # by all users, who list only what is theirs


class Leaky:
    def __init__(self, context):
        self.own = []

    def store_conversation(self, conversation):
        self.own += [message.content for message in conversation.messages]
        SHARED.extend(message.content for message in conversation.messages)

    def retrieve_memories(self, query, conversation, k):
        words = set(query.lower().split())
        return sorted(SHARED, key=lambda text: -len(words & set(text.lower().split())))[:k]

    def get_all_memories(self):
        return list(self.own)


@pytest.hookimpl(optionalhook=True)
def pytest_memfail_make_system(config, name):
    return Leaky if name == "leaky" else None
"""


def test_a_leak_is_a_verdict_and_a_score(project: Project) -> None:
    project.conftest(LEAKY)
    result = project.run(
        "--memfail-tasks=isolation",
        "--memfail-limit=12",
        "--memfail-judge=offline",
        "--memfail-fail-on=isolation.leaks>0",
        system="leaky",
    )
    questions = [line for line in project.record() if line["type"] == "question"]
    assert len(questions) == 12
    assert {line["task"] for line in questions} == {"isolation"}
    assert not any(line["verdict"] == "error" for line in questions)
    leaked = [line for line in questions if line["verdict"] == "wrongly_held"]
    assert len(leaked) > 6
    for line in leaked:
        (other,) = [fact for fact in line["facts"] if fact.get("is_distractor")]
        assert (other["verdict"], other["decided_by"]) == ("wrongly_held", "retrieval")
    result.stdout.fnmatch_lines(
        [
            f"leaks * % ({len(leaked)} of 12: 0 listed, {len(leaked)} only shown)",
            "loses most in forgetting and isolation*",
        ]
    )
    result.stdout.fnmatch_lines(["*isolation.leaks>0 *FAILED*"])
    # the command that a failure names asks the same question
    command = next(line for line in result.outlines if line.startswith("rerun")).split()
    assert "--memfail-suite=memfail,own,isolation" in command
    assert len(collected(project.run("--collect-only", "-q", *command[2:], system="leaky"))) == 1
