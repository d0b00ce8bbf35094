"""Load tasks by name, pattern and folder."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from row_files import MAKERS, asked, conditional, folder, long_hop, persona, write

from pytest_memfail.core import (
    Conversation,
    Fact,
    Ingest,
    Message,
    Probe,
    Question,
    RowError,
    StorePlan,
    SystemContext,
    Task,
    UnknownNameError,
    UsageError,
)
from pytest_memfail.suites import DEFAULT, HAYSTACKS, TaskRequest, choose_suites, load_tasks, sample, with_users_tasks
from pytest_memfail.suites.memfail import MEMFAIL_TASKS, TASK_NAMES
from pytest_memfail.suites.memfail.plan import OUTPUT_INSTRUCTION
from pytest_memfail.systems.bm25 import BM25


@pytest.fixture
def rows(tmp_path):
    return folder(tmp_path)


def names(rows, *patterns, extra=()):
    suites = with_users_tasks(choose_suites(DEFAULT), lambda: extra)
    return [task.name for task in load_tasks(TaskRequest(patterns, data=rows, suites=suites))]


def own_task(name="mine"):
    """Return a task as a plugin's hook might provide it."""
    return Task(name, (), (), {}, "MIT", "0" * 64)


def test_no_pattern_means_all_tasks_in_the_papers_order(rows):
    assert names(rows) == list(TASK_NAMES)


def test_a_glob_takes_all_that_match_in_the_papers_order(rows):
    assert names(rows, "long*", "conditional_*") == ["conditional_facts_easy", "conditional_facts_hard", "long_hop"]


def test_a_task_named_twice_is_loaded_once(rows):
    assert names(rows, "long_hop", "long_*") == ["long_hop"]


@pytest.mark.parametrize(
    ("pattern", "guess"),
    [
        ("longhop", "long_hop"),
        ("persona_retreival", "persona_retrieval"),
        ("mined", "mine"),
        ("isolatio", "isolation"),  # of suites that are not chosen
        ("mab_forgeting", "mab_forgetting"),
    ],
)
def test_an_unknown_name_gets_a_guess(rows, pattern, guess):
    with pytest.raises(UnknownNameError, match=f"unknown task '{pattern}'.*did you mean '{guess}'") as caught:
        names(rows, pattern, extra=[own_task()])
    assert "\n" not in str(caught.value)


def test_one_unknown_name_among_known_ones_is_an_error(rows):
    with pytest.raises(UnknownNameError, match="nothing"):
        names(rows, "long_hop", "nothing")


def test_a_glob_that_matches_nothing_is_an_error(rows):
    with pytest.raises(UnknownNameError, match=r"x\*"):
        names(rows, "x*")


def test_tasks_of_others_come_after_our_own(rows):
    assert names(rows, extra=[own_task()]) == [*TASK_NAMES, "mine"]
    assert names(rows, "mine", extra=[own_task()]) == ["mine"]


def test_a_task_of_others_may_replace_one_of_ours(rows):
    task = own_task("long_hop")
    suites = with_users_tasks(choose_suites(DEFAULT), lambda: [task])
    assert load_tasks(TaskRequest(("long_hop",), data=rows, suites=suites)) == (replace(task, suite="own", k=5),)


def test_a_folder_with_some_of_the_tasks_gives_those(rows):
    (rows / "long_hop.csv").unlink()
    assert names(rows) == [name for name in TASK_NAMES if name != "long_hop"]


def test_a_task_that_is_named_must_have_its_file(rows):
    (rows / "long_hop.csv").unlink()
    with pytest.raises(UsageError, match=r"'long_hop'.*long_hop\.csv is missing"):
        names(rows, "long_hop")


def test_a_folder_without_rows_is_an_error(tmp_path):
    with pytest.raises(UsageError, match=r"is missing \(--memfail-data"):
        names(tmp_path)


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(UsageError, match=r"--memfail-data: got .*nowhere"):
        names(tmp_path / "nowhere")


def test_one_faulty_row_stops_the_loading(rows):
    write(rows / "long_hop.csv", long_hop(0), long_hop(1, correct_choice="X"))
    with pytest.raises(RowError, match="correct_choice"):
        names(rows)


def test_a_faulty_file_of_a_task_that_is_not_wanted_does_not_matter(rows):
    (rows / "long_hop.csv").write_text("nonsense", encoding="utf-8")
    assert names(rows, "persona_retrieval") == ["persona_retrieval"]


def test_without_a_folder_the_shipped_rows_are_loaded():
    assert [task.name for task in load_tasks(TaskRequest())] == list(TASK_NAMES)


# -- protocols --------------------------------------------------------------------------------------------------------


def task_of(rows, name, protocol, **request):
    (task,) = load_tasks(TaskRequest((name,), data=rows, protocol=protocol, **request))
    return task


@pytest.mark.parametrize("name", TASK_NAMES)
def test_ours_gives_every_conversation_its_own_day_in_order(rows, name):
    days = [c.timestamp for c in task_of(rows, name, "ours").stores[0].read_conversations()]
    assert None not in days
    assert days == sorted(set(days))


@pytest.mark.parametrize("name", MEMFAIL_TASKS)
def test_paper_has_no_times(rows, name):
    for conversation in task_of(rows, name, "paper").stores[0].read_conversations():
        assert conversation.timestamp is None
        assert all(message.timestamp is None for message in conversation.messages)


@pytest.mark.parametrize("protocol", ["ours", "paper"])
@pytest.mark.parametrize("name", TASK_NAMES)
def test_every_expected_fact_was_said_in_its_conversation(rows, name, protocol):
    task = task_of(rows, name, protocol)
    conversations = {c.id: c for c in task.stores[0].read_conversations()}
    assert len(conversations) == len(task.stores[0].read_conversations())
    for question in task.questions:
        assert question.evidence
        for fact_id in question.evidence:
            fact = task.evidence[fact_id]
            assert fact.id == fact_id
            assert fact.source in conversations[fact.conversation_id].text


@pytest.mark.parametrize("protocol", ["ours", "paper"])
@pytest.mark.parametrize("name", TASK_NAMES)
def test_the_same_rows_are_asked_under_both_protocols(rows, name, protocol):
    task = task_of(rows, name, protocol)
    assert Counter(q.id for q in task.questions) == Counter(q.id for q in task_of(rows, name, "ours").questions)
    assert all(q.task == name and q.file == str(rows / f"{name}.csv") for q in task.questions)


@pytest.mark.parametrize("name", TASK_NAMES)
def test_ours_does_not_depend_on_the_order_of_the_file(rows, name):
    before = task_of(rows, name, "ours")
    write(rows / f"{name}.csv", *(MAKERS[name](n) for n in reversed(range(6))))
    after = task_of(rows, name, "ours")
    assert after.stores[0].read_conversations() == before.stores[0].read_conversations()
    assert [q.id for q in after.questions] == [q.id for q in before.questions]


@pytest.mark.parametrize("protocol", ["ours", "paper"])
@pytest.mark.parametrize("name", TASK_NAMES)
def test_the_seed_changes_the_order(rows, name, protocol):
    orders = {tuple(q.id for q in task_of(rows, name, protocol, seed=seed).questions) for seed in range(4)}
    assert len(orders) > 1


def test_long_hop_retrieves_with_the_stem_alone_under_ours(rows):
    for question in task_of(rows, "long_hop", "ours").questions:
        assert "Options" not in question.query
        assert question.text.startswith(question.query)
        assert not any(option in question.query for option in question.options)


def test_long_hop_retrieves_with_the_whole_prompt_under_paper(rows):
    for question in task_of(rows, "long_hop", "paper").questions:
        assert question.query == question.text + OUTPUT_INSTRUCTION
        assert question.gold[0] in question.query


def test_long_hop_has_one_fact_a_conversation_and_one_link_a_fact(rows):
    write(rows / "long_hop.csv", long_hop(0, hops=3), long_hop(1, hops=2))
    task = task_of(rows, "long_hop", "ours")
    assert len(task.stores[0].read_conversations()) == 7
    question = next(q for q in task.questions if q.id == "chain-0")
    facts = [task.evidence[name] for name in question.evidence]
    assert [fact.gold.anchors for fact in facts] == [(f"anchor0x{i}", f"anchor0x{i + 1}") for i in range(4)]
    assert (question.letter, question.stratum) == ("A", "K=3")


def test_persona_expects_what_each_question_needs_under_ours(rows):
    task = task_of(rows, "persona_retrieval", "ours")
    assert len({q.evidence for q in task.questions}) == len(task.questions)
    for question in task.questions:
        gold = task.evidence[question.evidence[0]].gold
        assert (gold and gold.needed) == (question.gold[0] if question.kind == "direct" else None)
        assert question.must_not_use == (question.kind == "misleading")


def test_persona_expects_the_whole_essay_once_a_row_under_paper(rows):
    task = task_of(rows, "persona_retrieval", "paper")
    assert len(task.evidence) == 6
    assert all(fact.gold is None and fact.claim.listed == () for fact in task.evidence.values())
    assert Counter(q.evidence for q in task.questions) == Counter(
        dict.fromkeys({q.evidence for q in task.questions}, 3)
    )


def test_persona_marks_misleading_questions_and_their_distractor(rows):
    kinds = Counter(q.kind for q in task_of(rows, "persona_retrieval", "ours").questions)
    assert kinds == {"direct": 12, "misleading": 6}
    for question in task_of(rows, "persona_retrieval", "ours").questions:
        assert ("distractor" in question.keys) == (question.kind == "misleading")


def test_a_misleading_question_needs_nothing_about_the_distractor(rows):
    question = {**asked(0, 0, misleading=True), "text": "What does Somebody 0 keep?", "borrows": ["3 bees"]}
    write(rows / "persona_retrieval.csv", persona(0, questions=json.dumps([question])))
    (fact,) = task_of(rows, "persona_retrieval", "ours").evidence.values()
    assert fact.claim.texts("topic") == ("What does Person 0 keep?",)


def test_curated_details_belong_to_their_own_direct_question(rows):
    details = '[[{"wordings": ["three bees", "3 bees"]}], [], [{"wordings": ["of the distractor"]}]]'
    write(rows / "persona_retrieval.csv", persona(0, evidence_details=details))
    ours = task_of(rows, "persona_retrieval", "ours")
    found = {q.id[-2:]: ours.evidence[q.evidence[0]].claim.listed for q in ours.questions}
    assert found["q1"][0].wordings == ("three bees", "3 bees")
    assert found["q2"] == found["q3"] == ()


def test_what_a_misleading_question_borrows_comes_from_its_row(rows):
    questions = [asked(0, 0, misleading=False), {**asked(0, 1, misleading=True), "borrows": ["keeps 3 bees"]}]
    write(rows / "persona_retrieval.csv", persona(0, questions=json.dumps(questions)))
    ours = task_of(rows, "persona_retrieval", "ours")
    (borrowing,) = (ours.evidence[q.evidence[0]] for q in ours.questions if q.kind == "misleading")
    assert (borrowing.gold.needed, borrowing.claim.texts("core")) == ("keeps 3 bees", ("keeps 3 bees",))
    paper = task_of(rows, "persona_retrieval", "paper")
    assert [fact.gold for fact in paper.evidence.values()] == [None]


@pytest.mark.parametrize("protocol", ["ours", "paper"])
def test_coexisting_stores_one_statement_a_conversation(rows, protocol):
    task = task_of(rows, "coexisting_facts", protocol)
    assert [len(c.messages) for c in task.stores[0].read_conversations()] == [1] * 12


@pytest.mark.parametrize("name", ["conditional_facts_easy", "conditional_facts_hard"])
def test_conditional_expects_the_rule_with_its_parts(rows, name):
    task = task_of(rows, name, "ours")
    question = next(q for q in task.questions if "Ada1 " in q.text)
    rule = task.evidence[question.evidence[0]]
    assert (rule.kind, rule.claim.owner, rule.gold.behavior) == ("rule", "Ada1", "bakes bread number 1")
    assert rule.gold.condition == "only when it rains"
    assert (question.kind, question.stratum, question.gold) == ("yes_no", "no", ("No, she does not.",))
    assert "condition" not in question.query


# -- a sample ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def many(tmp_path):
    return folder(tmp_path, rows=30)


def chosen(rows, name, limit, **request):
    return {q.id for q in task_of(rows, name, "ours", limit=limit, **request).questions}


@pytest.mark.parametrize("name", TASK_NAMES)
def test_a_limit_is_kept_to(many, name):
    for limit in (1, 2, 7, 29):
        assert len(chosen(many, name, limit)) == limit


@pytest.mark.parametrize("name", TASK_NAMES)
def test_a_larger_limit_keeps_what_a_smaller_one_chose(many, name):
    samples = [chosen(many, name, limit) for limit in range(1, 30)]
    assert all(small < large for small, large in pairwise(samples))


def test_a_limit_beyond_all_questions_takes_all(many):
    assert task_of(many, "long_hop", "ours", limit=1000) == task_of(many, "long_hop", "ours")


def test_the_limit_counts_for_each_task(many):
    assert [len(t.questions) for t in load_tasks(TaskRequest(data=many, limit=3))] == [3] * 6


def test_a_sample_is_balanced_over_the_strata(many):
    write(many / "long_hop.csv", *(long_hop(n, hops=1 if n < 24 else 2 if n < 27 else 3) for n in range(30)))
    task = task_of(many, "long_hop", "ours", limit=9)
    assert Counter(q.stratum for q in task.questions) == {"K=1": 3, "K=2": 3, "K=3": 3}


def test_a_sample_takes_from_the_others_where_a_stratum_is_used_up(many):
    write(many / "long_hop.csv", *(long_hop(n, hops=1 if n < 29 else 3) for n in range(30)))
    task = task_of(many, "long_hop", "ours", limit=9)
    assert Counter(q.stratum for q in task.questions) == {"K=1": 8, "K=3": 1}


def test_the_sample_depends_on_the_seed(many):
    assert len({frozenset(chosen(many, "long_hop", 5, seed=seed)) for seed in range(4)}) > 1


def test_a_sample_does_not_depend_on_the_rows_left_out(many):
    before = chosen(many, "conditional_facts_easy", 6)
    ids = {n: f"ada{n}-bakes-bread-number-{n}" for n in range(30)}
    gone = next(n for n, row_id in ids.items() if row_id not in before)
    write(many / "conditional_facts_easy.csv", *(conditional(n) for n in range(30) if n != gone))
    assert chosen(many, "conditional_facts_easy", 6) == before


@pytest.mark.parametrize("name", TASK_NAMES)
def test_a_sample_stores_only_the_conversations_it_needs_in_the_same_order(many, name):
    whole, part = task_of(many, name, "ours"), task_of(many, name, "ours", limit=4)
    facts = [part.evidence[e] for q in part.questions for e in q.evidence]
    needed = {c for fact in facts for c in (fact.conversation_id, *fact.history)}
    stored = [c.id for c in part.stores[0].read_conversations()]
    assert set(stored) == needed
    assert stored == [c.id for c in whole.stores[0].read_conversations() if c.id in needed]
    assert [q.id for q in part.questions] == [q.id for q in whole.questions if q in part.questions]


def mid_stream_task() -> Task:
    """Return a task with two stores, one of them probed twice."""

    def said(name):
        return Ingest(Conversation(name, (Message("user", name),)))

    def probe(*names):
        return Probe(tuple(Question(n, "t", n, n, (), (f"e-{n}",), "open") for n in names))

    evidence = {f"e-{n}": Fact(f"e-{n}", "fact", n, n, f"c-{n}") for n in ("a", "b", "d")}
    first = StorePlan("one", (said("c-a"), probe("a"), said("c-b"), probe("b")))
    return Task("t", (), (first, StorePlan("two", (said("c-d"), probe("d")))), evidence, "", "")


@pytest.mark.parametrize("seed", range(6))
def test_a_sample_leaves_out_stores_and_probes_without_a_question(seed):
    task = sample(mid_stream_task(), 1, seed)
    (store,) = task.stores
    assert len(store.read_conversations()) == len(store.questions) == 1
    assert store.read_conversations()[0].id == f"c-{store.questions[0].id}"


def test_a_sample_keeps_everything_else_of_the_task():
    task = mid_stream_task()
    assert replace(sample(task, 1, 0), stores=task.stores, left_out=0) == task


@pytest.mark.parametrize("name", ["a\x1b[2Jb", "a\nb", "a\u202eb", "a\rb"])
def test_a_task_of_others_with_an_id_that_steers_a_terminal_is_refused(rows, name):
    with pytest.raises(UsageError, match="expected an id without control characters") as error:
        names(rows, extra=[own_task(name)])
    assert str(error.value).isprintable()


@pytest.mark.parametrize("name", TASK_NAMES)
def test_a_full_haystack_stores_all_conversations_for_the_same_questions(many, name):
    whole = task_of(many, name, "ours")
    thin, full = (task_of(many, name, "ours", limit=4, haystack=haystack) for haystack in HAYSTACKS[::-1])
    assert full.questions == thin.questions
    assert full.stores[0].read_conversations() == whole.stores[0].read_conversations()
    assert full.left_out == whole.left_out == 0
    assert thin.left_out == len(whole.stores[0].read_conversations()) - len(thin.stores[0].read_conversations()) > 0


def test_a_sample_keeps_the_conversations_that_its_wrong_options_come_from():
    (task,) = load_tasks(TaskRequest(("long_hop",), limit=6))
    (whole,) = load_tasks(TaskRequest(("long_hop",)))
    said, all_said = ([c.text.casefold() for c in some.stores[0].read_conversations()] for some in (task, whole))
    wrong = {option.casefold() for q in task.questions for option in q.options if option not in q.gold}
    told = {option for option in wrong if any(option in text for text in all_said)}
    assert len(told) > len(wrong) / 2
    assert all(any(option in text for text in said) for option in told)
    assert task.left_out > 0


def test_the_published_query_is_as_hard_for_a_ranking_by_words_as_the_harness_makes_it(tmp_path):
    """Without an instruction in the query `bm25` holds 35 of the 92 published chains; with the published one, 12."""
    published = Path(__file__).parents[4] / "shared" / "data" / "memfail"
    if not (published / "long_hop.csv").is_file():
        pytest.skip(f"the published rows are not here: {published}")
    task = task_of(published, "long_hop", "paper")
    system = BM25(SystemContext("run", "store", tmp_path))
    for conversation in task.stores[0].read_conversations():
        system.store_conversation(conversation)
    held = last = 0
    for question in task.questions:
        found = {entry["text"] for entry in system.retrieve_memories(question.query, Conversation("q", ()), 5)}
        links = [task.evidence[name].source for name in question.evidence]
        held += found.issuperset(links)
        last += links[-1] in found
    assert len(task.questions) == 92
    assert 10 <= held <= 15
    assert 68 <= last <= 75
