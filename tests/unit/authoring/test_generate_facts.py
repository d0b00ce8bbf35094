"""`memfail generate mab_forgetting`: numbered facts without a model."""

from __future__ import annotations

import json

import pytest

from pytest_memfail.cli import main
from pytest_memfail.core import SuiteRequest, UsageError
from pytest_memfail.suites.mab import SUITE
from pytest_memfail.suites.mab.facts import FactList
from pytest_memfail.suites.mab.recipe import RELATIONS, numbered_facts

COMMAND = ["generate", "mab_forgetting", "--facts", "455"]


def test_the_command_writes_rows_that_load(tmp_path, capsys):
    assert main([*COMMAND, "--seed", "42", "-o", str(tmp_path / "rows")]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "factconsolidation_sh_6k: 100 questions about 455 facts",
        "factconsolidation_mh_6k: 100 questions about 455 facts",
    ]
    (task,) = SUITE.load(SuiteRequest(tmp_path / "rows"))
    assert len(task.stores) == 1
    assert len(task.evidence) == len(task.questions) == 200
    assert main(["validate", str(tmp_path / "rows")]) == 0
    config = json.loads((tmp_path / "rows" / "generation_config.json").read_text(encoding="utf-8"))
    assert config["method"] == "memfail generate mab_forgetting --facts 455 --seed 42"


def test_a_seed_gives_the_same_rows_and_another_gives_others():
    assert numbered_facts(100, 1) == numbered_facts(100, 1)
    assert numbered_facts(100, 1)[0]["context"] != numbered_facts(100, 2)[0]["context"]


@pytest.mark.parametrize(("facts", "seed"), [(40, 1), (60, 42), (455, 3), (2000, 7)])
def test_facts_and_answers(facts, seed):
    single, chained = numbered_facts(facts, seed)
    assert single["context"] == chained["context"]
    found = FactList(single["context"])
    assert (len(found.lines), found.gap()) == (facts, None)
    assert len(single["questions"]) >= min(facts // 3, 100)
    assert len(chained["questions"]) >= 8
    for question, golds in zip(single["questions"], single["answers"], strict=True):
        fact = found.asked(question, golds)
        assert fact.is_latest
        assert len(fact.rivals) <= 1
    replaced = sum(bool(found.asked(*one).rivals) for one in zip(single["questions"], single["answers"], strict=True))
    assert replaced / len(single["questions"]) >= 0.5


def test_chains_end_in_the_answer_that_holds_now():
    """Follow each chain by its phrases through the facts that hold, and through those that were replaced."""
    (_, row) = numbered_facts(455, 5)
    lines = FactList(row["context"]).lines

    def follow(question, order):
        thing, relations, rest = "", [], question.removesuffix("?").split(" is ", 1)[1]
        while relation := next((r for r in RELATIONS if rest.startswith(r.phrase.format(""))), None):
            relations.append(relation)
            rest = rest.removeprefix(relation.phrase.format(""))
        thing = rest
        for relation in reversed(relations):
            start = relation.fact.format(thing) + " "
            values = [line.text.removeprefix(start) for line in lines if line.text.startswith(start)]
            if not values:
                return None
            thing = values[order]
        return thing

    for question, (gold,) in zip(row["questions"], row["answers"], strict=True):
        assert follow(question, -1) == gold
        assert follow(question, 0) != gold


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["generate", "mab_forgetting"], "--facts: got nothing for mab_forgetting, expected the number of facts"),
        ([*COMMAND, "-n", "4"], "-n: got 4 for mab_forgetting, expected --facts"),
        ([*COMMAND, "--model", "m"], "--model: got m for mab_forgetting, expected --facts"),
        (["generate", "mab_forgetting", "--facts", "4"], "--facts: got 4, expected 40 to 40000"),
        (["generate", "long_hop", "-n", "4", "--model", "m", "--facts", "4"], "--facts: got 4 for long_hop"),
    ],
)
def test_mistakes(arguments, problem, tmp_path, capsys):
    assert main([*arguments, "--out", str(tmp_path)]) == 4
    assert problem in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_task_with_a_model_still_requires_its_arguments(tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["generate", "long_hop", "--out", str(tmp_path)])
    assert stop.value.code == 2
    assert "the following arguments are required: -n/--n, --model" in capsys.readouterr().err


def test_rows_are_not_overwritten(tmp_path, capsys):
    assert main([*COMMAND, "-o", str(tmp_path)]) == 0
    assert main([*COMMAND, "--seed", "1", "-o", str(tmp_path)]) == 4
    assert "already has Conflict_Resolution.json; give another --out, or --force" in capsys.readouterr().err
    before = (tmp_path / "Conflict_Resolution.json").read_text(encoding="utf-8")
    assert main([*COMMAND, "--seed", "1", "-o", str(tmp_path), "--force"]) == 0
    assert (tmp_path / "Conflict_Resolution.json").read_text(encoding="utf-8") != before


def test_too_many_facts():
    with pytest.raises(UsageError, match="--facts: got 40001, expected 40 to 40000"):
        numbered_facts(40001, 1)
