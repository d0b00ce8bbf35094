"""`memfail estimate`: what a run will ask, without asking."""

from __future__ import annotations

import pytest
from whole_runs import run_pytest_in

from pytest_memfail.cli import main
from pytest_memfail.core import Conversation, Ingest, Message, StorePlan, Task
from pytest_memfail.estimate import Stored, estimate, stored
from pytest_memfail.llm import Prices, count_tokens
from pytest_memfail.results import load_record
from pytest_memfail.suites import BUILT_IN, TaskRequest, built_in_suite, choose_suites, load_tasks
from pytest_memfail.testing import LocalEndpoint, answer_by_rule

TASKS = ("updated_facts", "coexisting_facts")
"""Rules decide the facts of the second that a store holds word for word; a model is asked for the first."""


def estimated(judge="m", model="m", repeats=1, vary="all"):
    """By stage: the calls, and the replies that the cache gives."""
    tasks = load_tasks(TaskRequest(TASKS, limit=3))
    rows = estimate(tasks, judge=judge, model=model, k=5, protocol="ours", prices=Prices(), repeats=repeats, vary=vary)
    return {row["stage"]: (row["calls"], row["cache_hits"]) for row in rows}


def run(folder, monkeypatch, *options):
    """The same figures from the books of a run."""
    words = [
        "--memfail-system=bm25",
        "--memfail-model=m",
        "--memfail-record=r.jsonl",
        "--memfail-limit=3",
        "-q",
        "--memfail-haystack=sample",
    ]
    words += [f"--memfail-tasks={','.join(TASKS)}", "--memfail-cache-path=replies", *options]
    with LocalEndpoint(answer_by_rule) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        code, output = run_pytest_in(folder, words)
    assert code in (0, 1), output
    return {row["stage"]: (row["calls"], row["cache_hits"]) for row in load_record(folder / "r.jsonl").footer.models}


def test_it_is_what_a_run_asks(tmp_path, monkeypatch):
    assert estimated() == run(tmp_path, monkeypatch, "--memfail-judge=m")


def test_the_cascade_asks_less():
    alone, cascade = estimated(), estimated(judge="offline+m")
    assert cascade.get("storage", (0, 0))[0] < alone["storage"][0]


def test_repeats_are_reckoned_with():
    once, thrice = estimated(), estimated(repeats=3)
    assert thrice == {stage: (3 * calls, 3 * hits) for stage, (calls, hits) in once.items()}


def test_what_is_kept_fixed_comes_from_the_cache(tmp_path, monkeypatch):
    once = estimated()
    judge, answers = estimated(repeats=2, vary="judge"), estimated(repeats=2, vary="answers")
    assert judge["test_taker"] == (once["test_taker"][0], once["test_taker"][0])
    assert judge["storage"][0] == 2 * once["storage"][0]
    assert answers["test_taker"][0] == 2 * once["test_taker"][0]
    assert answers["storage"][0] == once["storage"][0]
    # the answers may be others each time, and are judged anew: more than this is never asked
    assert answers["answer"][0] == 2 * once["answer"][0]
    options = ("--memfail-judge=m", "--memfail-repeats=2", "--memfail-vary=judge")
    assert judge == run(tmp_path, monkeypatch, *options)


OWN = "; calls to models by the system itself are not counted; --system NAME shows those of its last run with the proxy"


def test_without_a_model_the_systems_own_calls_are_left(capsys):
    assert main(["estimate", "--tasks=long_hop", "--limit=2"]) == 0
    assert capsys.readouterr().out == f"2 questions: no model is asked, so the run costs nothing{OWN}\n"


def test_the_command(capsys):
    words = ["estimate", "--model=m", "--judge=m", "--tasks=long_hop", "--limit=2", "--repeats=3", "--vary=judge"]
    assert main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    taker = next(line.split() for line in lines if line.startswith("test_taker by m"))
    assert taker[3:5] == ["2", "4"]
    assert lines[-1].startswith("2 questions, each asked 3 times; ")
    assert lines[-1].endswith(OWN)


def test_what_the_assistants_turns_are_reckoned_at_is_said(capsys):
    words = ["estimate", "--model=m", "--judge=m", "--tasks=long_hop", "--limit=2"]
    said = "; the assistant's turns count 8 tokens each: longer ones cost more, and make memories longer; calls to"
    for protocol in ("ours", "paper"):
        assert main([*words, f"--protocol={protocol}"]) == 0
        assert (said in capsys.readouterr().out.splitlines()[-1]) is (protocol == "paper")


@pytest.mark.parametrize("number", ["0", "-1"])
def test_a_wrong_number(capsys, number):
    assert main(["estimate", "--model=m", f"--repeats={number}"]) == 4
    assert capsys.readouterr().err.splitlines() == [f"memfail: --repeats: got {number}, expected 1 or more"]


def test_a_suite_says_what_it_stores(capsys):
    assert main(["estimate", "--suite", "mab", "--model", "gpt-4o-mini", "--judge", "offline+gpt-4o-mini"]) == 0
    lines = capsys.readouterr().out.splitlines()
    tasks = load_tasks(TaskRequest(suites=choose_suites(["mab"], built_in_suite)))
    texts = [c.text for task in tasks for plan in task.stores for c in plan.read_conversations()]
    assert lines[0].startswith(
        f"stored: 8 stores, {len(texts)} conversations, {count_tokens(texts):,} tokens (a system that"
    )
    assert any(line.startswith("answer by gpt-4o-mini") for line in lines)


SHIPPED = [name for name in BUILT_IN if name != "own"]
"""`own` has no data but a user's cases."""


@pytest.mark.parametrize("judge", ["m", "offline+m"])
@pytest.mark.parametrize("suite", [*SHIPPED, "locomo:ours", "memfail --protocol=paper", "longmemeval --protocol=paper"])
def test_every_shipped_suite_can_be_estimated(capsys, suite, judge):
    assert main(["estimate", "--model=t", "--limit=2", f"--judge={judge}", "--suite", *suite.split()]) == 0
    assert "answer by m " in capsys.readouterr().out


def test_a_text_counts_as_often_as_it_is_stored():
    talk = Conversation("c", (Message("user", "The door is teal."),))
    other = Conversation("d", (Message("user", "The gate is red."), Message("assistant", "The door is teal.")))
    twice = Conversation("e", (*other.messages, Message("user", "The gate is red.")))
    plans = (StorePlan("a", (Ingest(talk),)), StorePlan("b", (Ingest(talk), Ingest(twice))))
    task = Task("t", (), plans, {}, "MIT", "")
    door, gate = (count_tokens([message.content]) for message in other.messages[::-1])
    assert stored([task, task]) == Stored(4, 6, 2 * (3 * door + 2 * gate))
    assert str(Stored(1200, 1, 8_460_000)) == "1,200 stores, 1 conversations, 8.5 M tokens"


@pytest.mark.parametrize("judge", ["test_judge_names:takes_none", "offline"])
def test_a_judge_that_is_no_model_costs_nothing(capsys, judge):
    assert main(["estimate", "--tasks=long_hop", "--limit=2", f"--judge={judge}"]) == 0
    assert capsys.readouterr().out.startswith("2 questions: no model is asked")


@pytest.mark.parametrize("judge", ["nope:Nope", "offline+offline"])
def test_a_judge_that_is_not_found_is_no_model(capsys, judge):
    assert main(["estimate", "--tasks=long_hop", "--limit=2", f"--judge={judge}"]) == 4
    assert capsys.readouterr().err.startswith("memfail: --judge: ")
