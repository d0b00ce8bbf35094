"""suites/mab/plan.py, chunks.py, facts.py: what is stored, and the fact that each question needs."""

from __future__ import annotations

import pytest
from mab_rows import FACTS, row, write

from pytest_memfail.core import SuiteRequest
from pytest_memfail.llm import count_tokens
from pytest_memfail.suites.mab import SUITE
from pytest_memfail.suites.mab.chunks import chunks_of
from pytest_memfail.suites.mab.facts import FactList, names_in


def load(folder, *rows, name="Conflict_Resolution.json", **request):
    write(folder, *rows, name=name)
    (task,) = SUITE.load(SuiteRequest(folder, "all", **request))
    return task


def fact(task, question):
    (found,) = (q for q in task.questions if q.id == question)
    return [task.evidence[each] for each in found.evidence]


# -- chunks --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [24, 40, 512])
def test_chunks_hold_all_lines_whole_and_are_full(size):
    chunks = chunks_of(FACTS, size)
    assert "\n".join(chunks) == FACTS
    assert all(count_tokens([chunk]) <= size for chunk in chunks)
    following = [chunk.splitlines()[0] for chunk in chunks[1:]]
    joined = [f"{chunk}\n{line}\n" for chunk, line in zip(chunks, following, strict=False)]
    assert all(count_tokens([text]) > size - 2 for text in joined)


def test_a_long_line_is_cut_between_sentences_and_then_between_words():
    text = "One two three four. Five six seven eight. " + "nine " * 50
    chunks = chunks_of(text, 12)
    assert chunks[0].split() == "One two three four. Five six seven eight.".split()
    assert " ".join(chunks).split() == text.split()
    assert all(count_tokens([chunk]) <= 12 for chunk in chunks)


def test_a_text_without_blanks_is_cut_too():
    chunks = chunks_of("x1" * 100, 10)
    assert "".join(chunk.replace(" ", "") for chunk in chunks) == "x1" * 100
    assert len(chunks) > 5


# -- stores --------------------------------------------------------------------------------------------------------------


def test_rows_of_one_context_share_a_store(tmp_path):
    other = FACTS.replace("Varda", "Varna")
    task = load(tmp_path, row(), row("factconsolidation_mh_6k"), row(context=other))
    assert [[q.id for q in store.questions] for store in task.stores] == [["sh-no0", "mh-no0"], ["sh-no0"]]
    assert all(store.id.startswith("facts_6k-") for store in task.stores)
    assert len({store.id for store in task.stores}) == 2


def test_a_store_has_chunks_of_one_message_each(tmp_path):
    task = load(tmp_path, row("factconsolidation_sh_6k", "\n".join(f"{i}. Fact {i} is value {i}." for i in range(400))))
    (store,) = task.stores
    assert len(store.read_conversations()) > 5
    for conversation in store.read_conversations():
        (message,) = conversation.messages
        assert (message.role, message.timestamp) == ("user", None)
        assert count_tokens([message.content]) <= 512
    assert len({conversation.id for conversation in store.read_conversations()}) == len(store.read_conversations())


def test_the_variant_gives_the_size_of_chunks(tmp_path):
    write(tmp_path, row("factconsolidation_sh_6k", "\n".join(f"{i}. Fact {i} is value {i}." for i in range(400))))
    (task,) = SUITE.load(SuiteRequest(tmp_path, "all-4096"))
    (conversation,) = task.stores[0].read_conversations()
    assert 512 < count_tokens([conversation.text]) < 4096
    assert task.variant == "all-4096"


def test_questions(tmp_path):
    (question,) = load(tmp_path, row()).questions
    assert question.query == "What is the capital of Selm?"
    assert question.text.startswith("What is the capital of Selm?\nWhere two facts contradict each other")
    assert (question.kind, question.part, question.stratum) == ("mab_substring", "sh_6k", "replaced")


# -- FactConsolidation -------------------------------------------------------------------------------------------------


def test_the_fact_of_a_question_and_what_it_replaces(tmp_path):
    task = load(tmp_path, row())
    (found,) = fact(task, "sh-no0")
    assert (found.kind, found.source, found.gold.beginning, found.gold.value) == (
        "numbered_fact",
        "3. The capital of Selm is Ostry.",
        "The capital of Selm is",
        "Ostry",
    )
    assert (found.claim.replaced, found.claim.earlier) == (("Varda",), "0. The capital of Selm is Varda.")
    assert found.conversation_id == task.stores[0].read_conversations()[0].id


def test_the_words_of_the_question_choose_among_facts_with_one_value(tmp_path):
    asked = [
        ("Where was goalball created?", ["Selm"]),
        ("Of which country is Ulla Brandt a citizen?", ["Selm"]),
        ("Where does Rand al'Tor work?", ["Ostry, S.C."]),
    ]
    task = load(tmp_path, row(asked=asked))
    sources = [found.source for q in task.questions for found in fact(task, q.id)]
    assert sources == [
        "2. goalball was created in the country of Selm.",
        "5. Ulla Brandt is a citizen of Selm.",
        "6. Rand al'Tor works in the city of Ostry, S.C..",
    ]
    assert {q.stratum for q in task.questions} == {"alone"}


ALIKE = """\
0. Tom Wick is a citizen of Selm.
1. The Wicks was created in the country of Selm.
2. Wick was created in the country of Selm.
3. Wick Tom is a citizen of Selm.
4. Tom Wick died in the city of Selm.
5. Ulla's was founded by Rand.
6. Ulla was founded by Rand.
7. Song of a Bird was performed by Rand.
8. Song Bird was performed by Rand.
9. Heron 2049 was performed by Rand.
10. Heron was performed by Rand.
11. goalball was created in the country of Selm.
12. beach goalball was created in the country of Selm.
13. Ada Moor is a citizen of Selm.
14. Ada Moor was created in the country of Selm.
15. Tom Wick's child is Rand.
16. Tom Wicks was founded by Rand.
17. The headquarters of ropax is located in the city of Ostry.
18. The school where bell hooks was educated is Ostry.
19. The capital of New Selm is Ostry.
20. The capital of Selm is Ostry."""


@pytest.mark.parametrize(
    ("question", "gold", "number"),
    [
        ("What is the country of citizenship of Tom Wick?", "Selm", 0),
        ("What is Tom Wick's country of citizenship?", "Selm", 0),
        ("Which country was The Wicks created in?", "Selm", 1),
        ("Which country was Wick created in?", "Selm", 2),
        ("What is the country of citizenship of Wick Tom?", "Selm", 3),
        ("Which city did Tom Wick die in?", "Selm", 4),
        ("Who founded Ulla's?", "Rand", 5),
        ("Who founded Ulla?", "Rand", 6),
        ("Who performed Song of a Bird?", "Rand", 7),
        ("Who performed Song Bird?", "Rand", 8),
        ("Who performed Heron 2049?", "Rand", 9),
        ("Who performed Heron?", "Rand", 10),
        ("Which country was goalball created in?", "Selm", 11),
        ("Which country was beach goalball created in?", "Selm", 12),
        ("What is the country of citizenship of Ada Moor?", "Selm", 13),
        ("Who is Tom Wick's child?", "Rand", 15),
        ("Who is the child of Tom Wick?", "Rand", 15),
        ("Who founded Tom Wicks?", "Rand", 16),
        ("Which city is the headquarter of ropax located in?", "Ostry", 17),
        ("Which school was bell hooks educated at?", "Ostry", 18),
        ("What is the capital of New Selm?", "Ostry", 19),
        ("What is the capital of Selm?", "Ostry", 20),
        # no fact is about these, though a longer or shorter name has the value
        ("Which country was Tom created in?", "Selm", None),
        ("Which country was Ada Wick created in?", "Selm", None),
        ("Which country was Wicks Moor created in?", "Selm", None),
    ],
)
def test_a_fact_about_a_name_that_looks_alike_is_not_the_one_asked_for(question, gold, number):
    found = FactList(ALIKE).asked(question, [gold])
    assert (found and found.line.number) == number


@pytest.mark.parametrize(
    ("fact", "question"),
    [
        ("The Wicks was created in the country of Selm.", "What is the country of citizenship of Tom Wick?"),
        ("Wick was created in the country of Selm.", "Which country was The Wicks created in?"),
        ("Wick Tom is a citizen of Selm.", "What is the country of citizenship of Tom Wick?"),
        ("Wick is a citizen of Selm.", "What is the country of citizenship of Tom Wick?"),
        ("Tom Wick is a citizen of Selm.", "What is the country of citizenship of Wick?"),
        ("Wick's was founded by Selm.", "Who founded Wick?"),
        ("Song Bird was performed by Selm.", "Who performed Song of a Bird?"),
    ],
)
def test_a_fact_about_a_name_that_looks_alike_never_takes_the_place_of_the_right_one(fact, question):
    assert FactList(f"0. {fact}").asked(question, ["Selm"]) is None


def test_a_gold_that_was_replaced_has_no_stale_values(tmp_path):
    task = load(tmp_path, row(asked=[("What is the capital of Selm?", ["Varda"])]))
    (found,) = fact(task, "sh-no0")
    assert (found.gold.value, found.claim.replaced) == ("Varda", ())


def test_a_chain_has_the_facts_that_end_in_its_answer(tmp_path):
    asked = [
        ("Of which country is the author of A Long Walk?", ["Selm"]),
        ("Which?", ["Varda"]),
        ("Which?", ["Nobody"]),
    ]
    task = load(tmp_path, row("factconsolidation_mh_6k", asked=asked))
    (found,) = fact(task, "mh-no0")
    assert found.kind == "last_fact"
    assert found.gold.any_of == ("goalball was created in the country of Selm", "Ulla Brandt is a citizen of Selm")
    # one that was replaced stands only where no other ends in the answer
    assert fact(task, "mh-no1")[0].gold.any_of == ("The capital of Selm is Varda",)
    assert fact(task, "mh-no2") == []


def test_numbers_may_start_anywhere_but_not_skip():
    assert FactList("4. A is b.\n5. C is d.").gap() is None
    assert FactList("4. A is b.\n6. C is d.").gap() == (6, 5)


@pytest.mark.parametrize(
    ("beginning", "names"),
    [
        ("The capital of Selm is", ("Selm",)),
        ("goalball was created in the country of", ("goalball",)),
        ("Rand al'Tor works in the city of", ("Rand", "al'Tor")),
        ("The author of A Long Walk is", ("Long", "Walk")),
    ],
)
def test_names(beginning, names):
    assert names_in(beginning) == names


# -- other families ----------------------------------------------------------------------------------------------------


def test_an_answer_in_documents_is_a_string(tmp_path):
    text = "\n".join(f"Document {i}:\nThe mill of place {i} was built by builder {i}x." for i in range(200))
    asked = [("Who built it?", ["Builder 7x"]), ("Was it?", ["yes"]), ("Who?", ["nobody"]), ("How many?", ["7"])]
    task = load(tmp_path, row("ruler_qa1_197K", text, asked), name="Accurate_Retrieval.json")
    (found,) = fact(task, "qa1-no0")
    assert (found.kind, found.gold.value) == ("gold_string", "Builder 7x")
    home = next(c for c in task.stores[0].read_conversations() if c.id == found.conversation_id)
    assert "builder 7x" in home.text
    # what any text contains says nothing
    assert [fact(task, f"qa1-no{i}") for i in (1, 2, 3)] == [[], [], []]


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("longmemeval_s*", "Accurate_Retrieval.json"),
        ("icl_nlu_8296shot_balance", "Test_Time_Learning.json"),
        ("infbench_sum_eng_shots2", "Long_Range_Understanding.json"),
    ],
)
def test_where_the_data_reveals_no_fact_only_the_answer_is_judged(tmp_path, source, name):
    task = load(tmp_path, row(source), name=name)
    assert [question.evidence for question in task.questions] == [()]


TOLD = [
    {"role": "user", "content": "I left the Ostrava at Dr. Hale's.\nIt cost me 240 crowns.", "has_answer": True},
    {"role": "assistant", "content": "Then call her tomorrow.", "has_answer": False},
]
CHAT = f"Chat Time: 2024/03/04 (Mon) 18:20\n{TOLD!r}\n"
ASKED = [("What did it cost?", ["240 crowns"]), ("Where is my garage?", ["It cannot be known"])]
DATED = {
    "question_types": ["single-session-user", None],
    "question_dates": ["2024/05/20 (Mon) 09:05", "some day"],
    "haystack_sessions": [[TOLD], []],
}


def chats(tmp_path, **metadata):
    found = row("longmemeval_s*", CHAT, ASKED, **{**DATED, **metadata})
    return load(tmp_path, found, name="Accurate_Retrieval.json")


def test_turns_that_carry_an_answer_are_its_facts(tmp_path):
    task = chats(tmp_path)
    first, second = task.questions
    ((told,), nothing) = fact(task, first.id), fact(task, second.id)
    assert (told.kind, told.text, nothing) == ("turn", TOLD[0]["content"], [])
    assert told.conversation_id == task.stores[0].read_conversations()[0].id
    assert (first.stratum, second.stratum) == ("single-session-user", "")
    assert (f"{first.asked_at:%Y-%m-%d %H:%M %Z}", second.asked_at) == ("2024-05-20 09:05 UTC", None)


@pytest.mark.parametrize("sessions", [None, [], [[TOLD]], [[TOLD], [], []]])
def test_turns_that_no_question_is_named_for_are_no_facts(tmp_path, sessions):
    assert not chats(tmp_path, haystack_sessions=sessions).evidence


def test_a_turn_that_the_text_does_not_have_is_no_fact(tmp_path):
    other = {"role": "user", "content": "The heron stood in Wick Sallow.", "has_answer": True}
    assert not chats(tmp_path, haystack_sessions=[[[other]], []]).evidence


@pytest.mark.parametrize(
    ("source", "golds", "context"),
    [
        ("detective_qa", ["C. Miss Obrey"], "It was Miss Obrey all along."),
        ("eventqa_full", ["the lamp went dark"], "At two the lamp went dark."),
    ],
)
def test_where_only_the_answer_is_known_its_string_is_looked_for(tmp_path, source, golds, context):
    name = "Long_Range_Understanding.json" if source == "detective_qa" else "Accurate_Retrieval.json"
    task = load(tmp_path, row(source, context, [("Who or what?", golds)]), name=name)
    assert [each.kind for each in task.evidence.values()] == ["gold_string"]


def test_a_place_names_the_question_and_a_cluster_is_one_question(tmp_path):
    task = chats(tmp_path)
    assert [(q.line, q.place) for q in task.questions] == [(2, "questions.0"), (2, "questions.1")]
    assert len({q.cluster for q in task.questions}) == 2
