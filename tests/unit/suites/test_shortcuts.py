"""Shortcuts: rules that predict answers from the evidence or the question alone are reported; chance results are
not.
"""

from __future__ import annotations

import csv
import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
from row_files import asked, conditional, persona, updated, write

from pytest_memfail.suites import shipped_data, validate
from pytest_memfail.suites.memfail.plan import TASKS
from pytest_memfail.suites.memfail.shortcuts import (
    EXCLUSIVITY,
    HIGHEST,
    mean_score,
    probability,
    rejected,
    rules_of,
    shortcut_faults,
    sources_of,
)

PUBLISHED = Path(__file__).parents[4] / "shared" / "data" / "memfail"
WORDS = "amber bramble cinder dahlia ember fennel garnet hazel indigo juniper kelp lantern marble nutmeg opal".split()


def told(path, *names):
    """Return the findings for these files of a folder."""
    tasks = {name: TASKS[name].read(path / f"{name}.csv") for name in names}
    return [finding.problem for finding in shortcut_faults(tasks)]


def rows(count, essay, question="Ada{n} hears {word} bells. Will she bake?"):
    """Write rows with filled-in essay and question; `{other}` states exclusivity."""
    rng = random.Random(5)
    for n in range(count):
        word = rng.choice(WORDS)
        filled = essay(n).format(n=n, word=word)
        yield conditional(n, entity_facts=json.dumps([filled]), question=question.format(n=n, word=rng.choice(WORDS)))


def only_where_no(n):
    return "Ada{n} bakes {word} bread" + (" only in the rain." if n % 2 else " in the rain.")


def only_in_every_other_pair(n):
    return "Ada{n} bakes {word} bread" + (" only in the rain." if n % 4 < 2 else " in the rain.")


@pytest.mark.parametrize("task", ["conditional_facts_easy", "conditional_facts_hard"])
@pytest.mark.parametrize("count", [100, 40])
def test_exclusivity_that_stands_where_the_answer_is_no_is_reported(tmp_path, task, count):
    write(tmp_path / f"{task}.csv", *rows(count, only_where_no))
    found = [
        message for message in told(tmp_path, task) if message.startswith("words of exclusivity in the essay alone")
    ]
    share = "100% of the answers, expected 60% at most" if count == 100 else "20 of 20 of the answers, more than chance"
    assert found == [
        f"words of exclusivity in the essay alone give {share} (trained on one half of the rows, scored on the other)"
    ]


@pytest.mark.parametrize("count", [100, 40])
def test_exclusivity_that_stands_under_both_answers_is_fine(tmp_path, count):
    write(tmp_path / "conditional_facts_easy.csv", *rows(count, only_in_every_other_pair))
    assert told(tmp_path, "conditional_facts_easy") == []


def test_a_single_word_of_the_essay_that_gives_the_answer_is_reported(tmp_path):
    write(
        tmp_path / "conditional_facts_easy.csv",
        *rows(100, lambda n: "Ada{n} bakes {word} " + ("rye." if n % 2 else "oats.")),
    )
    found = told(tmp_path, "conditional_facts_easy")
    assert any(message.startswith("the occurrences of a single word in the essay alone give 100%") for message in found)
    assert any(message.startswith("all words (naive Bayes) in the essay alone give") for message in found)


def test_the_sentences_of_the_rule_are_looked_at_by_themselves(tmp_path):
    """An "only" elsewhere in the essay does not hide anything."""
    essay = "An only child named {word} lives next door. "
    write(tmp_path / "conditional_facts_easy.csv", *rows(100, lambda n: essay + only_where_no(n)))
    found = [
        message for message in told(tmp_path, "conditional_facts_easy") if message.startswith("words of exclusivity")
    ]
    assert [message.partition(" alone")[0] for message in found] == [
        "words of exclusivity in the sentences of the rule"
    ]


def test_a_question_that_gives_the_answer_is_reported_in_a_small_folder_too(tmp_path):
    written = list(rows(40, only_in_every_other_pair))
    for n, row in enumerate(written):
        row["question"] = ("Hardly: " if n % 2 else "Surely: ") + row["question"]
    write(tmp_path / "conditional_facts_easy.csv", *written)
    assert any("in the question alone give 20 of 20" in message for message in told(tmp_path, "conditional_facts_easy"))


def test_misleading_questions_with_a_voice_of_their_own_are_reported(tmp_path):
    def question(n, i):
        made = asked(n, i, misleading=(n + i) % 2 == 0)
        return {**made, "text": f"{'Do you know whether' if made['is_misleading'] else 'Does'} person {n} hum?"}

    written = [persona(n, questions=json.dumps([question(n, i) for i in range(2)])) for n in range(100)]
    write(tmp_path / "persona_retrieval.csv", *written)
    found = told(tmp_path, "persona_retrieval")
    assert any("in the question alone give 100% of who is misled and who is not" in message for message in found)


def test_questions_that_tell_what_has_ended_are_reported(tmp_path):
    ended = [updated(n, question=f"Where {'was' if n % 4 == 2 else 'is'} boat {n}?") for n in range(100)]
    write(tmp_path / "updated_facts.csv", *ended)
    found = told(tmp_path, "updated_facts")
    assert any("in the question alone give 100% of what has ended and what has not" in message for message in found)


def test_rows_that_all_have_one_answer_are_passed_over(tmp_path):
    write(tmp_path / "conditional_facts_easy.csv", *(conditional(2 * n) for n in range(20)))
    assert told(tmp_path, "conditional_facts_easy") == []


def test_the_order_of_the_rows_changes_nothing(tmp_path):
    tasks = {
        "conditional_facts_easy": TASKS["conditional_facts_easy"].read(shipped_data() / "conditional_facts_easy.csv")
    }
    (essays, *_) = sources_of(tasks)
    turned = essays.texts[::-1]
    scores = [
        [mean_score(rule, texts) for rule in rules_of([text.text for text in texts]).values()]
        for texts in (essays.texts, turned)
    ]
    assert scores[0] == pytest.approx(scores[1])


def test_answers_drawn_by_lot_are_not_reported():
    """The level is 1% for all rules of a folder together."""
    easy = TASKS["conditional_facts_easy"].read(shipped_data() / "conditional_facts_easy.csv")
    sources = [source.texts[:40] for source in sources_of({"conditional_facts_easy": easy})]
    rules = [rules_of([text.text for text in texts]) for texts in sources]
    alarms = 0
    for seed in range(100):
        drawn = random.Random(seed).choices((True, False), k=40)
        found = [
            probability(rule, [replace(text, answer=answer) for text, answer in zip(texts, drawn, strict=True)])[2]
            for texts, tried in zip(sources, rules, strict=True)
            for rule in tried.values()
        ]
        alarms += bool(rejected(found))
    assert alarms <= 4  # 1 is expected; more than 4 occur once in 300 times


def test_no_rule_answers_the_shipped_rows():
    names = ("conditional_facts_easy", "conditional_facts_hard", "updated_facts")
    scores = {
        (source.rows.path.stem, source.name, name): mean_score(rule, source.texts)
        for source in sources_of({name: TASKS[name].read(shipped_data() / f"{name}.csv") for name in names})
        for name, rule in rules_of([text.text for text in source.texts]).items()
    }
    assert len(scores) == 21
    assert {where: score for where, score in scores.items() if score > HIGHEST} == {}


def test_exclusivity_is_stated_under_both_answers_of_the_shipped_rows():
    """Half of the rows state it, and yes and no are balanced among them to within a tenth of the rows."""
    with (shipped_data() / "conditional_facts_easy.csv").open(encoding="utf-8", newline="") as file:
        said = [row["condition_met"] for row in csv.DictReader(file) if EXCLUSIVITY.search(row["entity_facts"])]
    assert len(said) >= 50
    assert abs(said.count("yes") - said.count("no")) <= 10


def test_the_published_questions_show_who_is_misled():
    if not PUBLISHED.is_dir():
        pytest.skip(f"the published rows are not here: {PUBLISHED}")
    found = [finding.problem for finding in validate(PUBLISHED)]
    assert [message.partition(" of who")[0] for message in found if "misled" in message] == [
        "the occurrences of a single word in the question alone give 73%",
        "all words (naive Bayes) in the question alone give 74%",
    ]
