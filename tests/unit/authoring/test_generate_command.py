"""`memfail generate` end to end, against an endpoint that writes valid rows."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest
import row_writer
from pydantic import BaseModel
from row_writer import task_of

from pytest_memfail.authoring import Item, Recipe, SingleStage, Stage
from pytest_memfail.cli import main
from pytest_memfail.core import Source, Suite, SuiteFault
from pytest_memfail.finding import suites
from pytest_memfail.suites import TaskRequest, load_tasks, validate
from pytest_memfail.suites.memfail.recipes.samplers import apart, person_specs, preference_specs, rule_specs

TASKS = {
    "conditional_facts": ["conditional_facts_easy", "conditional_facts_hard"],
    "coexisting_facts": ["coexisting_facts"],
    "persona_retrieval": ["persona_retrieval"],
    "long_hop": ["long_hop"],
}


@pytest.mark.parametrize("task", TASKS)
def test_rows_load_and_pass_validation(generate, task):
    ran = generate(task, 12)
    assert ran.code == 0, ran.err
    assert validate(ran.folder) == []
    tasks = load_tasks(TaskRequest(tuple(TASKS[task]), ran.folder))
    assert [loaded.name for loaded in tasks] == TASKS[task]
    assert all(len(ran.rows(name)) == 12 for name in TASKS[task])
    assert "12 rows" in ran.out.splitlines()[-1]


def test_easy_and_hard_are_one_rule_in_two_essays(generate):
    ran = generate("conditional_facts", 11)
    easy, hard = ran.rows("conditional_facts_easy"), ran.rows("conditional_facts_hard")
    own = {"id", "entity_facts", "rule_sentences"}
    for one, other, spec in zip(easy, hard, rule_specs(11, 42), strict=True):
        assert {k: v for k, v in one.items() if k not in own} == {k: v for k, v in other.items() if k not in own}
        assert one["entity_facts"] != other["entity_facts"]
        wanted = (spec.entity_category, spec.condition_type, spec.condition_met)
        assert (one["entity_category"], one["condition_type"], one["condition_met"]) == wanted
    assert [row["id"] for row in hard[:2]] == ["cfh-g42-001", "cfh-g42-002"]
    assert json.loads(hard[0]["rule_sentences"]) == {"behavior": 1, "condition": 4, "link": 7}


def test_what_holds_otherwise_is_said_under_both_answers(generate):
    """Neither the essay nor the sentences of its rule may reveal the answer alone."""
    ran = generate("conditional_facts", 100, "--batch-size", "20")
    assert ran.code == 0, ran.err
    for variant in ("easy", "hard"):
        rows = ran.rows(f"conditional_facts_{variant}")
        excludes = Counter(
            row["condition_met"] for row in rows if re.search("at no other time|never apart", row["entity_facts"])
        )
        assert excludes == {"yes": 25, "no": 25}
    assert [finding for finding in validate(ran.folder) if "alone give" in finding.message] == []


def test_each_batch_of_rules_is_told_what_the_others_took(generate):
    ran = generate("conditional_facts", 25)
    rules = [request for request in ran.requests if row_writer.kind_of(request) == "rules"]
    assert [len(row_writer.task_of(request)["taken"]["entity"]) for request in rules] == [0, 10, 20]


def test_preferences_are_those_that_were_drawn(generate):
    ran = generate("coexisting_facts", 12)
    for row, spec in zip(ran.rows("coexisting_facts"), preference_specs(12, 42), strict=True):
        assert row["preference_category"] == spec.category
        assert len(json.loads(row["preferences"])) == spec.count
        assert row["ground_truth_answer"] == ", ".join(json.loads(row["preferences"]))


@pytest.mark.parametrize("design", ["ours", "paper"])
def test_people_have_the_drawn_slots(generate, design):
    ran = generate("persona_retrieval", 8, "--design", design)
    assert ran.code == 0
    drawn = person_specs(8, 42)
    for row, spec in zip(ran.rows("persona_retrieval"), drawn if design == "paper" else apart(drawn, 42), strict=True):
        assert row["entity"] == spec.entity
        questions = json.loads(row["questions"])
        assert tuple(question["distractor"] for question in questions) == spec.distractors
        for question in questions:
            if question["is_misleading"]:
                assert question["ground_truth_answer"] == f"I don't have information about {question['distractor']}."


def test_chains_are_shared_out_and_letters_balanced(generate):
    ran = generate("long_hop", 14)
    rows = ran.rows("long_hop")
    assert Counter(row["hop_count"] for row in rows) == {"1": 5, "2": 5, "3": 4}
    assert set(Counter(row["correct_choice"] for row in rows).values()) == {2, 3}
    first = rows[0]
    assert first["graded_question"].endswith(f"E. {first['choice_e']}")
    counts = ran.account("long_hop")["counts"]
    assert (counts["proposed"], counts["spare"], counts["kept"]) == (19, 5, 14)


def test_the_account_says_how_the_rows_came_about(generate):
    account = generate("coexisting_facts", 12, "--seed", "7").account("coexisting_facts")
    assert (account["seed"], account["model"], account["rows_asked_for"]) == (7, "gpt-5-mini", 12)
    assert account["deduplication"]["thresholds"] == {"question": 0.7}
    assert account["counts"]["before_deduplication"] == account["counts"]["after_deduplication"] == 12
    assert account["files"]["coexisting_facts.csv"]["rows"] == 12
    assert account["last_run"]["calls"] == 2
    assert account["git_commit"] is None or len(account["git_commit"]) == 40


def test_tasks_share_a_folder_and_its_config(generate):
    generate("coexisting_facts", 3)
    ran = generate("long_hop", 6)
    config = json.loads((ran.folder / "generation_config.json").read_text())
    assert list(config["generated"]) == ["coexisting_facts", "long_hop"]
    assert sorted(path.name for path in ran.folder.iterdir()) == [
        "coexisting_facts.csv",
        "generation_config.json",
        "long_hop.csv",
        "raw",
    ]


def test_another_seed_gives_other_rows_and_the_same_seed_the_same(generate):
    one = generate("coexisting_facts", 5, out="one").rows("coexisting_facts")
    same = generate("coexisting_facts", 5, out="same").rows("coexisting_facts")
    other = generate("coexisting_facts", 5, "--seed", "1", out="other").rows("coexisting_facts")
    assert one == same
    assert one != other


# -- near-duplicates -------------------------------------------------------------------------------------------------


def test_near_duplicates_are_dropped_and_named(generate):
    def answer(request):
        reply = row_writer.write(request)
        for row in reply["rows"]:
            if row["row"] in (4, 9):
                row["question"] = "Which of them should I take along to my sister's hut for the first week of May?"
        return reply

    ran = generate("coexisting_facts", 10, answer=answer)
    assert [row["id"][-3:] for row in ran.rows("coexisting_facts")] == [f"{i:03d}" for i in range(1, 11) if i != 9]
    account = ran.account("coexisting_facts")
    assert account["counts"]["near_duplicates"] == 1
    assert account["near_duplicates"] == ["row 9 is 1.00 like row 4"]


def test_a_hard_essay_told_twice_takes_its_easy_twin_along(generate):
    same = [f"Item {i} of the same list says {' '.join(f'{w}{i}' for w in row_writer.WORDS[:20])}." for i in range(8)]

    def answer(request):
        reply = row_writer.write(request)
        if row_writer.kind_of(request) == "hard":
            for row in reply["rows"]:
                said = row["essay"].split("\n\n")
                for place, text in zip((0, 2, 3, 5, 6, 8, 9, 10), same, strict=True):
                    said[place] = text if row["row"] in (2, 3) else said[place]
                row["essay"] = " ".join(said)
        return reply

    ran = generate("conditional_facts", 4, answer=answer)
    for variant in ("easy", "hard"):
        assert [row["pair_id"][-3:] for row in ran.rows(f"conditional_facts_{variant}")] == ["001", "002", "004"]
    account = ran.account("conditional_facts")
    assert account["counts"]["near_duplicates"] == 1
    assert account["near_duplicates"][0].startswith("hard row 3 is 0.")


def test_a_chain_with_a_fact_told_before_is_dropped_whole(generate):
    told = "The {a} on the sill of my late grandmother's winter room always puts me in mind of {b}."

    def answer(request):
        reply = row_writer.write(request)
        if row_writer.kind_of(request) == "chains" and row_writer.task_of(request)["K"] == 1:
            for i, chain in enumerate(reply["chains"][:2]):
                chain["anchors"] = [f"tin{i}", "lamp", f"mending end{i}"]
                chain["facts"] = [told.format(a=f"tin{i}", b="lamp"), f"A lamp sets me mending end{i}."]
                chain["question"], chain["answer"] = f"Where does tin{i} lead me?", f"mending end{i}"
        return reply

    ran = generate("long_hop", 6, answer=answer)
    counts = ran.account("long_hop")["counts"]
    assert counts["near_duplicates"] == 1
    assert counts["kept"] == 6


# -- resuming --------------------------------------------------------------------------------------------------------


def test_an_interrupted_run_goes_on_and_pays_nothing_twice(generate):
    first = generate("conditional_facts", 20, faults=[None] * 4 + [row_writer.STOP])
    assert first.code == 4
    assert not (first.folder / "conditional_facts_easy.csv").exists()
    kept = [json.loads(line) for line in (first.folder / "raw/conditional_facts.jsonl").read_text().splitlines()]
    paid = Counter(line["stage"] for line in kept if "item" in line)
    assert paid["rules"] == 20
    second = generate("conditional_facts", 20)
    assert second.code == 0, second.err
    assert "rules" not in second.kinds
    asked = sum(len(row_writer.task_of(request)["rows"]) for request in second.requests)
    assert asked == 60 - sum(paid.values())
    whole = generate("conditional_facts", 20, out="whole")
    for variant in ("easy", "hard"):
        assert second.rows(f"conditional_facts_{variant}") == whole.rows(f"conditional_facts_{variant}")


def test_long_hop_goes_on_too(generate):
    first = generate("long_hop", 9, faults=[None] * 2 + [row_writer.STOP])
    assert first.code == 4
    paid = (first.folder / "raw/long_hop.jsonl").read_text().splitlines()
    second = generate("long_hop", 9)
    assert second.code == 0, second.err
    assert Counter(second.kinds)["chains"] == 1
    assert (second.folder / "raw/long_hop.jsonl").read_text().splitlines()[: len(paid)] == paid


def test_what_a_killed_run_had_begun_to_write_is_asked_again(generate):
    first = generate("coexisting_facts", 10)
    raw = first.folder / "raw/coexisting_facts.jsonl"
    content = raw.read_bytes()
    raw.write_bytes(content[:-30])
    (first.folder / "coexisting_facts.csv").unlink()
    second = generate("coexisting_facts", 10)
    assert [row["row"] for request in second.requests for row in row_writer.task_of(request)["rows"]] == [10]
    assert raw.read_bytes() == content


def test_more_rows_later_cost_only_the_new_ones(generate):
    first = generate("coexisting_facts", 6).rows("coexisting_facts")
    second = generate("coexisting_facts", 9, "--force")
    assert second.rows("coexisting_facts")[:6] == first
    assert [row["row"] for request in second.requests for row in row_writer.task_of(request)["rows"]] == [7, 8, 9]


def test_rows_are_never_written_over_unasked(generate):
    first = generate("coexisting_facts", 3)
    before = {path: path.read_bytes() for path in first.folder.rglob("*") if path.is_file()}
    second = generate("coexisting_facts", 5)
    assert second.code == 4
    assert second.requests == []
    assert "already has coexisting_facts.csv; give another --out, or --force" in second.err
    assert {path: path.read_bytes() for path in first.folder.rglob("*") if path.is_file()} == before


def test_a_raw_file_of_other_settings_is_not_gone_on_with(generate):
    first = generate("coexisting_facts", 3)
    (first.folder / "coexisting_facts.csv").unlink()
    second = generate("coexisting_facts", 3, "--seed", "9", model="gpt-5")
    assert second.code == 4
    assert "other settings: got seed 42, model 'gpt-5-mini', expected seed 9, model 'gpt-5'" in second.err
    third = generate("coexisting_facts", 3, "--seed", "9", "--force", model="gpt-5")
    assert third.code == 0
    assert len(third.requests) == 1


def test_a_foreign_config_is_kept(generate, tmp_path):
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows/generation_config.json").write_text('{"mine": 1}')
    generate("coexisting_facts", 2)
    config = json.loads((tmp_path / "rows/generation_config.json").read_text())
    assert config["mine"] == 1
    assert "coexisting_facts" in config["generated"]


def test_an_essay_of_a_rule_that_was_changed_by_hand_is_written_anew(generate):
    first = generate("conditional_facts", 4)
    raw = first.folder / "raw/conditional_facts.jsonl"
    name = first.rows("conditional_facts_easy")[1]["entity"]
    lines = raw.read_text(encoding="utf-8").splitlines()
    lines = [line.replace(name, "Ottoline") if '"stage": "rules"' in line else line for line in lines]
    raw.write_text("\n".join(lines) + "\n", encoding="utf-8")
    second = generate("conditional_facts", 4, "--force")
    assert sorted(second.kinds) == ["easy", "hard"]
    assert second.rows("conditional_facts_hard")[1]["entity"] == "Ottoline"


# -- what it costs ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", TASKS)
def test_the_estimate_asks_and_writes_nothing(generate, task):
    ran = generate(task, 100, "--estimate")
    assert ran.code == 0
    assert ran.requests == []
    assert not ran.folder.exists()
    assert len(ran.out.splitlines()) == 1
    assert ran.out.startswith("estimate for gpt-5-mini: ")
    assert "USD (prices of " in ran.out


@pytest.mark.parametrize(("task", "n"), [("conditional_facts", 30), ("coexisting_facts", 30), ("long_hop", 30)])
def test_the_estimated_calls_are_those_made(generate, task, n):
    ran = generate(task, n)
    estimated = int(ran.out.split("estimate for gpt-5-mini: ")[1].split(" calls")[0])
    assert abs(estimated - len(ran.requests)) <= 2


def test_what_was_paid_for_is_not_estimated_again(generate):
    generate("coexisting_facts", 30)
    ran = generate("coexisting_facts", 30, "--estimate")
    assert " 0 calls, 0 tokens in, 0 out, 0.0000 USD" in ran.out


def test_an_estimate_above_the_limit_asks_nothing(generate):
    ran = generate("coexisting_facts", 100, "--max-cost", "0.001")
    assert ran.code == 4
    assert ran.requests == []
    assert "--max-cost: got 0.001 USD, expected" in ran.err


def test_the_budget_ends_a_run_that_goes_on_with_more(generate):
    first = generate("conditional_facts", 30, "--max-cost", "0.04", "--concurrency", "1", answer=long)
    assert first.code == 4
    assert "budget: 0.04 USD used up" in first.err
    second = generate("conditional_facts", 30, "--max-cost", "1", answer=long)
    assert second.code == 0, second.err
    assert 0 < len(second.requests) < 15


def long(request):
    """Return the reply with blanks that cost tokens."""
    return json.dumps(row_writer.write(request)) + "\n \n" * 2500


def test_an_unknown_price_is_said_and_no_budget_can_be_held(generate):
    ran = generate("coexisting_facts", 2, model="house-model")
    assert ran.code == 0
    assert "unknown cost" in ran.out
    ran = generate("coexisting_facts", 2, "--max-cost", "1", model="house-model", out="other")
    assert ran.code == 4
    assert "--max-cost: the price of 'house-model' is unknown" in ran.err


# -- wrong calls -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["updated_facts", "-n", "3"],
            "updated_facts has no recipe; expected conditional_facts,",
        ),
        (["coexisting", "-n", "3"], "unknown task to generate 'coexisting'; did you mean 'coexisting_facts'?"),
        (["long_hop", "-n", "0"], "-n: got 0, expected 1 to 3600"),
        (["long_hop", "-n", "6", "--batch-size", "0"], "--batch-size: got 0, expected 1 or more"),
        (["long_hop", "-n", "6", "--max-cost", "-1"], "got a budget of -1"),
        (["long_hop", "-n", "6", "--concurrency", "0"], "got a concurrency of 0"),
        (["long_hop", "-n", "6", "--prices", "none.json"], "none.json: not a price file"),
    ],
)
def test_a_wrong_call_is_one_line_and_4(tmp_path, capsys, arguments, said):
    assert main(["generate", *arguments, "--model", "gpt-5", "--out", str(tmp_path / "out")]) == 4
    err = capsys.readouterr().err
    assert err.startswith("memfail: ")
    assert said in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("content", ["no json", "[]", '{"generated": 3}'])
def test_a_config_that_is_none_is_not_written_over(generate, tmp_path, content):
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows/generation_config.json").write_text(content)
    ran = generate("coexisting_facts", 2, "--force")
    assert ran.code == 4
    assert "generation_config.json: " in ran.err
    assert ran.requests == []


def test_a_file_is_no_folder(generate, tmp_path):
    (tmp_path / "rows").write_text("")
    ran = generate("coexisting_facts", 2)
    assert ran.code == 4
    assert "expected a folder" in ran.err


def test_a_suite_brings_its_own_recipe(generate, monkeypatch):
    class Name(Item):
        name: str

    class Names(BaseModel):
        rows: list[Name]

    def begin(request):
        stage = Stage("names", Name, Names, "Name a being.", lambda number: {}, lambda number, item: (), 2, 5, 5)
        return SingleStage(request, stage, lambda number, item: {"id": str(number), "name": item.name}, "name", 0.9)

    def faults(folder):
        return [SuiteFault(str(folder / "toy.csv"), "name", "is odd", is_error=False)]

    source = Source("https://example.org", "MIT", {})
    toy = Suite("toys", source, lambda request: (), faults=faults, recipes=lambda: {"toy": Recipe(begin, ("toy.csv",))})
    monkeypatch.setattr(suites, "load_all", lambda group: [("toys", toy)])
    names = {1: "Ulla", 2: "Otto", 3: "Ulla"}
    ran = generate(
        "toy", 3, answer=lambda r: {"rows": [{**row, "name": names[row["row"]]} for row in task_of(r)["rows"]]}
    )
    assert ran.code == 0, ran.err
    assert ran.rows("toy") == [{"id": "1", "name": "Ulla"}, {"id": "2", "name": "Otto"}]
    assert "toy.csv: warning: name: is odd" in ran.out
