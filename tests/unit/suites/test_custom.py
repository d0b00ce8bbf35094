"""Custom cases in YAML: what is read, and file, line and key of every fault."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from row_files import folder

from pytest_memfail.core import Folders, Ingest, Listing, Memory, Probe, RowError, wrong_times
from pytest_memfail.suites import HaystackFinder, read_custom, validate
from pytest_memfail.suites.load import sample
from pytest_memfail.suites.own import SUITE

CASE = """\
conversations:
  - I'm allergic to penicillin.
  - date: 2026-03-02
    messages:
      - user: We moved to Lisbon.
      - assistant: Noted!
question: Which antibiotic must I not be given?
answer: penicillin
expected:
  - fact: The user is allergic to penicillin.
    conversation: 1
    entity: Ana
    details: [[allergic, allergy], penicillin]
    forbidden: [no known allergies]
k: 3
"""


def read(tmp_path, text, name="lost-allergy.memfail.yaml"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_custom([path], tmp_path)


def test_a_case_is_a_store_of_its_own(tmp_path):
    task = read(tmp_path, CASE)
    (store,) = task.stores
    first, second = (step.conversation for step in store.steps if isinstance(step, Ingest))
    (question,) = store.questions
    assert (task.name, store.id, question.id) == ("custom", "lost-allergy", "lost-allergy")
    assert (question.gold, question.k, question.line) == (("penicillin",), 3, 1)
    assert first.text == "I'm allergic to penicillin."
    assert [(m.role, m.content) for m in second.messages] == [("user", "We moved to Lisbon."), ("assistant", "Noted!")]
    assert second.timestamp.date().isoformat() == "2026-03-02"


def test_an_expected_fact_has_details_and_forbidden_values(tmp_path):
    (fact,) = read(tmp_path, CASE).evidence.values()
    assert fact.source == "I'm allergic to penicillin."
    assert [detail.wordings for detail in fact.claim.listed] == [("allergic", "allergy"), ("penicillin",)]
    assert fact.claim.replaced == ("no known allergies",)
    assert fact.claim.owner == "Ana"


@pytest.mark.parametrize(
    ("date", "forbidden", "earlier", "is_dated"),
    [
        ("2026-01-05", "Tuesday", "My gym day is Tuesday.", True),
        ("2026-03-11", "The user's gym day is Tuesday.", "My gym day is Tuesday.", False),
        ("2026-01-05", "Sunday", None, False),
    ],
)
def test_what_must_no_longer_hold_is_looked_for_in_earlier_conversations(tmp_path, date, forbidden, earlier, is_dated):
    text = f"""\
conversations:
  - {{date: {date}, messages: [{{user: I row. My gym day is Tuesday.}}]}}
  - {{date: 2026-03-11, messages: [{{user: My gym day is Friday.}}]}}
  - {{date: 2026-03-12, messages: [{{user: The gym is closed on Tuesday.}}]}}
question: When do I go to the gym?
answer: Friday
expected: [{{fact: The user's gym day is Friday., conversation: 2, details: [Friday], forbidden: ["{forbidden}"]}}]
"""
    (fact,) = read(tmp_path, text).evidence.values()
    assert (fact.claim.earlier, fact.claim.is_dated) == (earlier, is_dated)
    new, old = ("My gym day is Friday.", "My gym day is Tuesday.")
    swapped = Listing("s", (Memory(old, timestamp="2026-03-11"), Memory(new, timestamp="2026-01-05")))
    assert (wrong_times(fact, swapped) is not None) == is_dated
    right = Listing("s", (Memory(old, timestamp="2026-01-05"), Memory(new, timestamp="2026-03-11")))
    assert wrong_times(fact, right) is None


def test_a_state_that_was_told_before_is_not_the_earlier_one(tmp_path):
    told = {"2026-01-01": "I live in Leeds.", "2026-03-01": "I moved to Bath.", "2026-06-01": "I moved back to Leeds."}
    lines = [f"  - {{date: {date}, messages: [{{user: {text}}}]}}" for date, text in told.items()]
    text = (
        "\n".join(["conversations:", *lines])
        + """
question: Where do I live?
answer: Leeds
expected: [{fact: The user lives in Leeds., conversation: 3, details: [Leeds], forbidden: [Bath]}]
"""
    )
    (fact,) = read(tmp_path, text).evidence.values()
    assert (fact.claim.earlier, fact.claim.is_dated) == ("I moved to Bath.", True)
    held = ["The user lives in Leeds.", "I moved to Bath.", "I moved back to Leeds."]
    entries = [Memory(text, timestamp=date) for date, text in zip(told, held, strict=True)]
    assert wrong_times(fact, Listing("s", tuple(entries[:2]))) is not None
    assert wrong_times(fact, Listing("s", tuple(entries))) is None


@pytest.mark.parametrize(
    ("expected", "date", "is_needed"),
    [
        ("{fact: The user adopted Pepper on 3 March 2026.}", "2026-03-04", True),
        ("{fact: The user adopted Pepper., details: [[3 March, March 3]]}", "2026-03-04", True),
        ("{fact: The user adopted Pepper.}", "2026-03-04", True),  # the answer rests on it alone
        ("{fact: The user adopted Pepper.}, {fact: Pepper is a cat.}", "2026-03-04", False),
        ("{fact: The user adopted Pepper on 3 March 2026.}", "", False),
    ],
)
def test_a_fact_may_need_the_day_of_its_conversation(tmp_path, expected, date, is_needed):
    told = f"{{{f'date: {date}, ' if date else ''}messages: [{{user: Yesterday I adopted my cat Pepper.}}]}}"
    text = f"conversations: [{told}]\nquestion: When did I?\nanswer: on 3 March 2026\nexpected: [{expected}]\n"
    moments = [fact.claim.moment for fact in read(tmp_path, text).evidence.values()]
    assert [moment is not None for moment in moments] == [is_needed] * len(moments)
    if is_needed:
        assert moments[0].day.isoformat() == date


def test_a_file_may_hold_several_cases(tmp_path):
    task = read(tmp_path, f"id: one\n{CASE}---\nid: two\n{CASE}")
    assert [store.id for store in task.stores] == ["one", "two"]
    assert [question.line for question in task.questions] == [1, 18]


def test_no_file_is_no_task(tmp_path):
    assert read_custom([], tmp_path) is None


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("question:", "questoin:", "7: questoin: no such key; did you mean 'question'?"),
        ("    entity: Ana", "    colour: red", "12: expected.0.colour: no such key; known: fact, conversation"),
        ("    conversation: 1\n", "", "10: expected.0.conversation: got nothing, expected 1 to 2"),
        ("conversation: 1", "conversation: 7", "11: expected.0.conversation: got 7, expected 1 to 2"),
        (
            "conversation: 1",
            "conversation: x",
            "11: expected.0.conversation: got 'x', expected: a valid integer",
        ),
        ("answer: penicillin", "answer: [penicillin", "9: file: not YAML"),
        ("answer: penicillin", "answer:", "8: answer: got nothing, expected the right answer"),
        ("k: 3", "k: 0", "15: k: got 0, expected"),
        ("- user: We", "- usr: We", "5: conversations.1.messages.0.usr"),
        ("      - assistant: Noted!", "        assistant: Noted!", "4: conversations.1.messages: got"),
        ("answer: penicillin", "answer: no", '8: answer: got False, expected: a text in quotes, such as "no"'),
        (
            "- user: We moved to Lisbon.",
            "- user: yes",
            "5: conversations.1.messages.0.user: got True, expected: a text",
        ),
        ("- I'm allergic to penicillin.", "- 12", "2: conversations.0.messages.0.user: got 12, expected: a text in q"),
        (
            "allergy], penicillin",
            "allergy], 2026-01-05",
            "13: expected.0.details.1.0: got 2026-01-05, expected: a text",
        ),
        ("k: 3", "must_not_hold: [off]", "15: must_not_hold.0.fact: got False, expected: a text in quotes"),
        ("date: 2026-03-02", "date: soon", "3: conversations.1.date: got 'soon', expected"),
    ],
)
def test_a_fault_names_file_line_and_key(tmp_path, old, new, said):
    assert old in CASE
    with pytest.raises(RowError) as caught:
        read(tmp_path, CASE.replace(old, new, 1))
    assert str(caught.value).startswith(f"{tmp_path / 'lost-allergy.memfail.yaml'}:{said}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["- a\n- b\n", "just text\n", ""])
def test_other_yaml_is_refused(tmp_path, text):
    if not text:
        assert read(tmp_path, text) is None
        return
    with pytest.raises(RowError, match=r":1: file: got (list|str), expected a case"):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (CASE + "date: 2026-13-45\n", "1: file: not YAML (ValueError: month must be in 1..12)"),
        (CASE + 'k: !!int ""\n', "1: file: not YAML (IndexError: "),
        ("[" * 5000, "1: file: nested too deeply"),
        (CASE.replace("k: 3", "k: 10000000"), "15: k: got 10000000, expected: "),
    ],
)
def test_an_invalid_yaml_value_is_a_fault_of_its_file(tmp_path, text, said):
    with pytest.raises(RowError) as caught:
        read(tmp_path, text)
    assert f"lost-allergy.memfail.yaml:{said}" in str(caught.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    os.mkfifo(tmp_path / "pipe.memfail.yaml")
    (tmp_path / "link.memfail.yaml").symlink_to("nowhere")
    for name, why in (("pipe", "not a regular file"), ("link", "No such file or directory")):
        with pytest.raises(RowError, match=rf"{name}\.memfail\.yaml:1: file: cannot be read \({why}\)"):
            read_custom([tmp_path / f"{name}.memfail.yaml"], tmp_path)


def test_the_same_id_twice_is_refused(tmp_path):
    with pytest.raises(RowError, match=r":18: id: got 'one' again \(first at .*:1\).*; delete one or give it"):
        read(tmp_path, f"id: one\n{CASE}---\nid: one\n{CASE}")


def test_yaml_makes_no_objects(tmp_path):
    with pytest.raises(RowError, match="not YAML"):
        read(tmp_path, CASE.replace("answer: penicillin", "answer: !!python/object/apply:os.getcwd []"))


@pytest.mark.parametrize("name", ["../../x", "a/b", "a b", "..", "a\\x1b[2J", "a\\nb", "a\\n", "é"])
def test_an_id_is_made_of_letters_digits_and_marks(tmp_path, name):
    with pytest.raises(
        RowError, match=r"id: got .*, expected: only ASCII letters and digits, with \. _ - between them"
    ) as error:
        read(tmp_path, f'id: "{name}"\n{CASE}')
    assert len(str(error.value).splitlines()) == 1
    assert str(error.value).isprintable()


# -- malicious input --------------------------------------------------------------------------------------------------


def fault_in(tmp_path, text):
    with pytest.raises(RowError) as caught:
        read(tmp_path, text)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400
    return caught.value


@pytest.mark.parametrize("opening", ["[", "{a: ", "- "])
@pytest.mark.parametrize("depth", [100, 2_000])
def test_a_case_that_is_nested_deeply(tmp_path, opening, depth):
    closing = {"[": "]", "{a: ": "}", "- ": ""}[opening]
    error = fault_in(tmp_path, opening * depth + "x" + closing * depth)
    assert error.line == 1


def test_a_value_that_is_nested_deeply(tmp_path):
    error = fault_in(tmp_path, CASE.replace("answer: penicillin", f"answer: {'[' * 150}{']' * 150}"))
    assert error.line in (1, 8)


def test_a_case_that_holds_itself(tmp_path):
    error = fault_in(tmp_path, CASE.replace("answer: penicillin", "answer: &a [*a]"))
    assert (error.line, error.problem) == (8, "an alias (*) names a value that contains it")


def test_aliases_that_multiply(tmp_path, monkeypatch):
    lines = "".join(f"  - &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 9))
    error = fault_in(tmp_path, f"haystack:\n  - &a0 [x, x]\n{lines}{CASE}")
    assert error.problem == "its aliases (*) repeat more than 100,000 values"
    monkeypatch.setattr("pytest_memfail.rows.yaml_files.MOST_REPEATED", 0)
    assert read(tmp_path, CASE), "without aliases a file may have any size"


def test_k_of_5000_digits(tmp_path):
    error = fault_in(tmp_path, CASE.replace("k: 3", f"k: {'9' * 5000}"))
    assert "not YAML (ValueError: " in error.problem


def test_k_beyond_any_store(tmp_path):
    error = fault_in(tmp_path, CASE.replace("k: 3", f"k: {'9' * 50}"))
    assert (error.field, error.line) == ("k", 15)
    assert "expected: less than or equal to 1000000" in error.problem


@pytest.mark.parametrize(
    ("date", "time"),
    [
        ("2026-03-02", "2026-03-02T09:00:00+00:00"),
        ("'2026-03-02'", "2026-03-02T09:00:00+00:00"),
        ("2026-03-02 14:30", "2026-03-02T14:30:00+00:00"),
        ("2026-03-02 14:30:15", "2026-03-02T14:30:15+00:00"),
        ("2026-03-02T14:30Z", "2026-03-02T14:30:00+00:00"),
        ("2026-03-02T14:30:00+05:30", "2026-03-02T14:30:00+05:30"),
        ("2026-03-02 14:30-08:00", "2026-03-02T14:30:00-08:00"),
    ],
)
def test_a_date_may_have_a_time(tmp_path, date, time):
    (store,) = read(tmp_path, CASE.replace("date: 2026-03-02", f"date: {date}")).stores
    second = store.read_conversations()[1]
    assert second.timestamp.isoformat() == second.messages[0].timestamp.isoformat() == time
    assert (second.messages[1].timestamp - second.timestamp).total_seconds() == 60


@pytest.mark.parametrize("date", ["20260302", "14:30", "2026-03-02 25:00", "2026-03-02 14:30 CET", "true"])
def test_a_time_that_cannot_be_read(tmp_path, date):
    error = fault_in(tmp_path, CASE.replace("date: 2026-03-02", f"date: {date}"))
    assert (error.field, error.line) == ("conversations.1.date", 3)
    assert "expected: a day or a time, such as 2026-03-01 or 2026-03-01 14:30" in error.problem


@pytest.mark.parametrize("date", ["9999-12-31 20:00-08:00", "0001-01-01 03:00+08:00"])
def test_a_time_that_utc_has_not(tmp_path, date):
    assert "between the years 1 and 9999" in fault_in(tmp_path, CASE.replace("2026-03-02", date)).problem


def test_dates_out_of_order_are_a_warning(tmp_path):
    first = "  - {date: '2026-03-02 08:30DAY', messages: [user: I'm allergic to penicillin.]}"
    what = "a.memfail.yaml:3: warning: conversations.1.date: got 2026-03-02 09:00:00+00:00, before the 2026-03-02 08:30:00-02:00"
    for zone, said in (("-02:00", 1), ("", 0)):
        text = CASE.replace("  - I'm allergic to penicillin.", first.replace("DAY", zone))
        (tmp_path / "a.memfail.yaml").write_text(text, encoding="utf-8")
        found = [str(fault) for fault in validate(tmp_path) if "date" in fault.place]
        assert len(found) == said
        assert all(what in line for line in found)


def test_a_question_about_what_was_never_said(tmp_path):
    head, _, tail = CASE.partition("expected:")
    task = read(tmp_path, head + "expected: []\n" + tail[tail.index("k:") :])
    (question,) = task.questions
    assert (question.kind, question.evidence, task.evidence) == ("never_said", (), {})
    assert SUITE.answers[question.kind].grade is None  # only a model can decide
    assert fault_in(tmp_path, head).field == "expected"


FORGET = """\
conversations:
  - I'm allergic to penicillin.
  - {date: 2026-03-02, forget: I'm allergic to penicillin.}
  - We moved to Lisbon.
question: Which antibiotic must I not be given?
must_not_hold: [penicillin]
"""


def test_what_memory_must_not_hold(tmp_path):
    task = read(tmp_path, FORGET)
    (store,) = task.stores
    first, probe, asked, *_ = store.steps
    assert isinstance(first, Ingest)
    assert probe == Probe(())  # a listing: a memory that never held it has forgotten nothing
    assert asked.conversation.forgets == "I'm allergic to penicillin."
    assert [m.content for m in asked.conversation.messages] == ["Please forget this: I'm allergic to penicillin."]
    (question,) = store.questions
    assert question.evidence == ("lost-allergy:not-1",)
    assert (question.kind, question.stages) == ("never_said", ("storage", "summary", "retrieval"))
    fact = task.evidence["lost-allergy:not-1"]
    assert (fact.kind, fact.is_distractor, fact.may_hold_part) == ("unwanted", True, True)


@pytest.mark.parametrize(
    ("texts", "held"),
    [
        (["The user takes PENICILLIN."], (0,)),
        (["nothing", "Allergy: penicillin (severe)"], (1,)),
        (["penicillins are antibiotics", "a penicillin-like smell"], (1,)),
        (["allergic to something"], ()),
    ],
)
def test_words_that_no_entry_may_have_are_found_as_whole_words(tmp_path, texts, held):
    fact = read(tmp_path, FORGET).evidence["lost-allergy:not-1"]
    found = SUITE.kinds[fact.kind].find(fact, texts)
    assert (found.present, found.faithful, found.entries) == (bool(held), bool(held), held)
    assert "'penicillin'" in found.reason
    plain = read(tmp_path, FORGET.replace("[penicillin]", "[{fact: Ada is ill.}]")).evidence["lost-allergy:not-1"]
    assert SUITE.kinds[plain.kind].find(plain, texts) is None  # left to the judge


@pytest.mark.parametrize(
    ("more", "probes"),
    [
        ("", [1, 3]),
        ("answer: not known\nexpected: []\n", [1, 3]),
        ("answer: Lisbon\nexpected: [{fact: We moved to Lisbon., conversation: 3}]\n", [1, 3]),
        ("other_user: [I take penicillin.]\n", [1, 3]),
    ],
)
def test_what_was_to_be_forgotten_is_looked_for_before(tmp_path, more, probes):
    task = read(tmp_path, FORGET + more)
    (store,) = task.stores
    stored, found = 0, []
    for step in store.steps:
        stored += isinstance(step, Ingest)
        found += [] if isinstance(step, Ingest) else [stored]
    assert found == probes
    assert len(store.beside) == ("other_user" in more)
    (fact,) = (fact for fact in task.evidence.values() if fact.is_distractor)
    assert fact.conversation_id == (store.beside or store.read_conversations())[0].id


@pytest.mark.parametrize("bees", ["bees", "{fact: He keeps bees., conversation: 3}"])
def test_each_fact_is_looked_for_after_it_was_said(tmp_path, bees):
    text = FORGET.replace(
        "  - We moved to Lisbon.", "  - I keep bees.\n  - forget: I keep bees.\n  - I keep a dog.\n  - Hi."
    )
    facts = f"[penicillin, {bees}, {{fact: He keeps a dog., conversation: 5}}]"
    (store,) = read(tmp_path, text.replace("[penicillin]", facts)).stores
    said = [step.conversation.text if isinstance(step, Ingest) else None for step in store.steps]
    assert [said[at - 1] for at, text in enumerate(said) if text is None] == [
        "I'm allergic to penicillin.",
        "I keep bees.",
        "I keep a dog.",
        "Hi.",
    ]


def test_in_a_haystack_it_is_looked_for_at_the_same_place(tmp_path):
    chats = tmp_path / "chats"
    chats.mkdir()
    (chats / "a.yaml").write_text("- One.\n- Two.\n- Three.\n- Four.\n", encoding="utf-8")
    task = read(tmp_path, f"{FORGET}haystack: chats\n")
    (store,) = task.stores
    told = [step.conversation.text if isinstance(step, Ingest) else "?" for step in store.steps]
    assert len(told) == 3 + 4 + 2
    assert told[told.index("?") - 1] == "I'm allergic to penicillin."
    assert told[-1] == "?"
    assert sample(task, 1, 0).stores == task.stores


@pytest.mark.parametrize(
    ("old", "new", "field", "said"),
    [
        ("must_not_hold: [penicillin]", "", "expected", "got nothing, expected facts, or [] if"),
        ("must_not_hold: [penicillin]", "expected: []", "answer", "got nothing, expected the right answer"),
        (
            "must_not_hold: [penicillin]",
            "expected: []\nanswer: no idea\nother_user: [a]",
            "other_user",
            "got conversations without",
        ),
        ("[penicillin]", "[{fact: x, conversation: 4}]", "must_not_hold.0.conversation", "got 4, expected 1 to 3"),
        ("[penicillin]", "[{fakt: x}]", "must_not_hold.0.fakt", "no such key; did you mean 'fact'?"),
        (
            "forget: I'm",
            "messages: [user: Hi], forget: I'm",
            "conversations.1.messages",
            "got forget besides, expected",
        ),
        ("forget: I'm allergic to penicillin.", "", "conversations.1.messages", "got nothing, expected a value"),
        (
            "- I'm allergic to penicillin.\n  - {date: 2026-03-02, forget",
            "- {forget",
            "conversations.0.forget",
            "what was never said, expected a conversation before it",
        ),
        (
            "[penicillin]",
            "[{fact: x, conversation: 2}]",
            "must_not_hold.0.conversation",
            "got 2, a request to forget, expected one that states it",
        ),
    ],
)
def test_faults_of_what_must_not_be_held(tmp_path, old, new, field, said):
    assert old in FORGET
    error = fault_in(tmp_path, FORGET.replace(old, new, 1))
    assert error.field == field
    assert said in error.problem


def test_a_date_that_does_not_exist(tmp_path):
    assert "day is out of range" in fault_in(tmp_path, CASE.replace("2026-03-02", "2026-02-30")).problem


def test_more_messages_than_the_calendar_has_minutes(tmp_path):
    def last_day(n):
        messages = "".join(f"      - user: number {i}\n" for i in range(n))
        head, _, tail = CASE.replace("2026-03-02", "9999-12-31").partition("      - user: We moved to Lisbon.\n")
        return head + messages + tail.partition("Noted!\n")[2]

    error = fault_in(tmp_path, last_day(1000))
    assert (error.field, error.line) == ("conversations.1.date", 3)
    assert error.problem.startswith(
        "got 9999-12-31 for 1000 messages one minute apart from 09:00, expected a time between"
    )
    assert read(tmp_path, last_day(800)) is not None


# -- haystacks ---------------------------------------------------------------------------------------------------------

HAY = """\
- The geraniums need a new tub.
- date: 2020-01-01
  messages:
    - user: The bus leaves at eight.
    - assistant: Noted!
- I bought a red kettle.
"""


def in_haystack(tmp_path, text, seed=42, **options):
    path = tmp_path / "lost-allergy.memfail.yaml"
    path.write_text(text, encoding="utf-8")
    return read_custom([path], tmp_path, HaystackFinder(seed=seed, **options))


def stored(task):
    (store,) = task.stores
    return store.read_conversations()


def folder_of(tmp_path, **files):
    folder = tmp_path / "chats"
    folder.mkdir()
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text, encoding="utf-8")


def test_a_task_is_stored_around_the_own_conversations(tmp_path):
    alone = read(tmp_path, CASE)
    task = in_haystack(tmp_path, f"{CASE}haystack: conditional_facts_hard\n")
    texts = [conversation.text for conversation in stored(task)]
    assert len(texts) > 100
    first, second = (texts.index(c.text) for c in stored(alone))
    assert first < second
    assert (first, second) != (0, 1)
    assert [(q.id, q.text, q.gold, q.evidence, q.k) for q in task.questions] == [
        (q.id, q.text, q.gold, q.evidence, q.k) for q in alone.questions
    ]
    assert task.stores[0].id == alone.stores[0].id
    assert task.data_hash != alone.data_hash


def test_the_place_of_the_own_conversations_depends_on_the_seed_alone(tmp_path):
    text = f"{CASE}haystack: long_hop\n"
    again = [[c.id for c in stored(in_haystack(tmp_path, text))] for _ in range(2)]
    assert again[0] == again[1]
    own = {c.id for seed in range(3) for c in stored(in_haystack(tmp_path, text, seed)) if "penicillin" in c.text}
    assert len(own) == 1
    places = {
        next(i for i, c in enumerate(stored(in_haystack(tmp_path, text, seed))) if c.id in own) for seed in range(5)
    }
    assert len(places) > 2


def test_no_id_reveals_which_conversation_matters(tmp_path):
    ids = [c.id for c in stored(in_haystack(tmp_path, f"{CASE}haystack: conditional_facts_hard\n"))]
    assert len(set(ids)) == len(ids)
    assert {re.fullmatch(r"c-[0-9a-f]{10}", name) is not None for name in ids} == {True}


def test_evidence_is_where_the_fact_was_said(tmp_path):
    task = in_haystack(tmp_path, f"{CASE}haystack: conditional_facts_hard\n")
    (fact,) = task.evidence.values()
    (home,) = (c for c in stored(task) if c.id == fact.conversation_id)
    assert home.text == "I'm allergic to penicillin."


def test_a_folder_of_conversations_is_a_haystack(tmp_path):
    folder_of(
        tmp_path,
        a_yaml=HAY,
        b_json='{"conversations": ["We have a new cat.", "It rains."]}',
        c_memfail_yaml="not: read",
        d_md="# nor this",
    )
    task = in_haystack(tmp_path, f"{CASE}haystack: chats\n")
    texts = {conversation.text for conversation in stored(task)}
    assert len(texts) == 7
    assert {"The geraniums need a new tub.", "The bus leaves at eight.\nNoted!", "It rains."} < texts


def test_chats_as_programs_log_them_are_a_haystack(tmp_path):
    turns = [{"role": "system", "content": "You help."}, {"role": "user", "content": "Hi \U0001f600"}]
    folder_of(
        tmp_path,
        a_jsonl='{"role": "user", "content": "The bus leaves at eight."}\n{"role": "tool", "content": "saved"}',
        b_json=json.dumps([{"chat_messages": [{"sender": "human", "text": "It rains."}]}, {"messages": turns}]),
        c_json=json.dumps(["We have a new cat \U0001f600."]),
    )
    texts = {conversation.text for conversation in stored(in_haystack(tmp_path, f"{CASE}haystack: chats\n"))}
    assert {"The bus leaves at eight.", "It rains.", "Hi \U0001f600", "We have a new cat \U0001f600."} < texts
    assert len(texts) == 6


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.jsonl", "not JSON", "a.jsonl:1: file: not JSON (Expecting value at column 1)"),
        ("a.json", '[{"role": "Alice", "content": "Hi"}]', "a.json:1: role: got a turn of 'Alice'"),
        ("a.json", '["Hi \\ud83d"]', "a.json:1: 0: got half a character"),
    ],
)
def test_a_fault_of_chats_names_their_file(tmp_path, name, text, said):
    folder_of(tmp_path, **{name: text})
    with pytest.raises(RowError) as caught:
        in_haystack(tmp_path, f"{CASE}haystack: chats\n")
    assert said in str(caught.value)


def test_half_a_character_is_a_fault_with_its_line(tmp_path):
    with pytest.raises(RowError) as caught:
        read(tmp_path, CASE.replace("question: Which", 'question: "\\ud83d Which').replace("given?", 'given?"'))
    assert (caught.value.line, caught.value.field) == (7, "question")
    assert "got half a character" in caught.value.problem


# -- evidence in another conversation ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "conversation: 1",
            "conversation: 2",
            [
                "no wording of the detail 'allergic' is in conversation 2; conversation 1 has it",
                "no wording of the detail 'penicillin' is in conversation 2; conversation 1 has it",
            ],
        ),
        (
            "penicillin]",
            "aspirin]",
            ["no wording of the detail 'aspirin' is in conversation 1; no conversation of the case has it"],
        ),
        ("penicillin]", "[Penicillins, aspirin]]", []),
        (
            "penicillin]",
            "'7']",
            ["no wording of the detail '7' is in conversation 1; no conversation of the case has it"],
        ),
        ("[[allergic, allergy], penicillin]", "[]", []),
        (
            "conversation: 1\n    entity: Ana\n    details: [[allergic, allergy], penicillin]",
            "conversation: 2\n    entity: Ana",
            ["conversation 2 has 0% of the words of the fact; conversation 1 has it"],
        ),
    ],
)
@pytest.mark.parametrize("more", ["", "haystack: long_hop\n"])
def test_evidence_that_its_conversation_does_not_state_is_a_warning(tmp_path, old, new, said, more):
    assert old in CASE
    (tmp_path / "a.memfail.yaml").write_text(CASE.replace(old, new) + more, encoding="utf-8")
    found = [finding for finding in validate(tmp_path) if finding.place.startswith("expected")]
    assert [(finding.is_error, finding.line, finding.place, finding.problem) for finding in found] == [
        (False, 10, "expected.0", text) for text in said
    ]


def test_what_only_the_assistant_said_is_part_of_the_source(tmp_path):
    text = CASE.replace("conversation: 1", "conversation: 2").replace("[[allergic, allergy], penicillin]", "[Noted]")
    (fact,) = read(tmp_path, text).evidence.values()
    assert fact.source == "We moved to Lisbon.\nNoted!"


OPEN = "Yes, the pool is open on Sunday."


@pytest.mark.parametrize(
    ("user", "assistant", "detail", "source"),
    [
        ("Is the pool open on Sunday?", OPEN, "open", OPEN),
        ("Is the pool open on Sunday?", OPEN, "", OPEN),
        ("I swim. Is the pool open on Sunday?", OPEN, "open", f"I swim.\n{OPEN}"),
        ("The pool is open on Sunday, isn't it?", OPEN, "open", "The pool is open on Sunday, isn't it?"),
        ("Did you know that the pool is open on Sunday?", OPEN, "", "Did you know that the pool is open on Sunday?"),
        ("Is the pool open on Sunday?", "Yes.", "open", "Is the pool open on Sunday?"),
        ("When? The pool is open on Sunday.", "All day.", "open", "When? The pool is open on Sunday."),
    ],
)
def test_a_question_of_the_user_states_nothing(tmp_path, user, assistant, detail, source):
    expected = f"{{fact: The pool is open on Sunday., details: [{detail}]}}"
    text = f"""\
conversations: [{{messages: [{{user: "{user}"}}, {{assistant: "{assistant}"}}]}}]
question: Is the pool open on Sunday?
answer: "yes"
expected: [{expected}]
"""
    (fact,) = read(tmp_path, text).evidence.values()
    assert fact.source == source


def test_a_changed_haystack_is_other_data(tmp_path):
    folder_of(tmp_path, a_yaml=HAY)
    before = in_haystack(tmp_path, f"{CASE}haystack: chats\n").data_hash
    (tmp_path / "chats" / "a.yaml").write_text(f"{HAY}- And a blue one.\n", encoding="utf-8")
    assert in_haystack(tmp_path, f"{CASE}haystack: chats\n").data_hash != before


def test_dates_follow_the_storage_order(tmp_path):
    dated = CASE.replace("  - I'm allergic to penicillin.", "  - date: 2026-02-02\n    messages: [user: I'm allergic.]")
    dates = [c.timestamp for c in stored(in_haystack(tmp_path, f"{dated}haystack: long_hop\n"))]
    assert None not in dates
    assert dates == sorted(dates)
    told = {c.text: c.timestamp for c in stored(in_haystack(tmp_path, f"{dated}haystack: long_hop\n"))}
    assert told["I'm allergic."].date().isoformat() == "2026-02-02"
    assert told["We moved to Lisbon.\nNoted!"].date().isoformat() == "2026-03-02"


def test_where_the_case_has_no_dates_the_haystack_has_none(tmp_path):
    undated = CASE.replace("  - date: 2026-03-02\n    messages:", "  - messages:")
    conversations = stored(in_haystack(tmp_path, f"{undated}haystack: long_hop\n"))
    assert {c.timestamp for c in conversations} == {m.timestamp for c in conversations for m in c.messages} == {None}


@pytest.mark.parametrize("date", ["9999-12-31", "0001-01-01"])
def test_dates_at_the_end_of_time_are_a_fault(tmp_path, date):
    with pytest.raises(RowError, match="haystack: the dates of the conversations leave no room"):
        in_haystack(tmp_path, f"{CASE.replace('2026-03-02', date)}haystack: long_hop\n")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("conditional_fact_hard", "did you mean 'conditional_facts_hard'?"),
        ("chat", "did you mean 'chats/'?"),
        ("xyz", "tasks: conditional_facts_easy,"),
        ("custom", "expected a task or a folder of conversations"),
        ("empty", "a folder without conversations"),
    ],
)
def test_an_unknown_haystack_names_the_closest(tmp_path, name, said):
    folder_of(tmp_path, a_yaml=HAY)
    (tmp_path / "empty").mkdir()
    with pytest.raises(RowError) as caught:
        in_haystack(tmp_path, f"{CASE}haystack: {name}\n")
    assert str(caught.value).startswith(f"{tmp_path / 'lost-allergy.memfail.yaml'}:16: haystack: got '{name}'")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- a\n- messages: [usr: b]\n", "a.yaml:2: 1.messages.0.usr"),
        ("conversations:\n- dat: 2020-01-01\n", "a.yaml:2: conversations.0.dat: no such key; did you mean 'date'?"),
        ("just text\n", "a.yaml:1: file: got 'just text'"),
        ("", None),
        ("[]\n", "a.yaml:1: file"),
    ],
)
def test_a_fault_of_a_haystack_names_its_file(tmp_path, text, said):
    folder_of(tmp_path, a_yaml=text)
    if said is None:
        assert len(stored(in_haystack(tmp_path, f"{CASE}haystack: chats\n"))) == 2
        return
    with pytest.raises(RowError) as caught:
        in_haystack(tmp_path, f"{CASE}haystack: chats\n")
    assert f"chats/{said}" in str(caught.value).replace("\\", "/")


def test_a_sample_keeps_the_haystack_of_its_cases(tmp_path):
    text = f"id: one\n{CASE}haystack: long_hop\n---\nid: two\n{CASE}haystack: long_hop\n"
    task = in_haystack(tmp_path, text)
    (store,) = sample(task, 1, 42).stores
    (whole,) = (other for other in task.stores if other.id == store.id)
    assert store.read_conversations() == whole.read_conversations()


def test_own_rows_override_the_shipped_ones(tmp_path):
    rows = tmp_path / "rows"
    rows.mkdir()
    folder(rows, 1)
    task = in_haystack(tmp_path, f"{CASE}haystack: long_hop\n", data=Folders(rows))
    assert 3 < len(stored(task)) < 8


# -- validate ----------------------------------------------------------------------------------------------------------


def test_validate_reports_the_faults_of_cases(tmp_path):
    (tmp_path / "bad.memfail.yaml").write_text(f"{CASE}haystack: lung_hop\n", encoding="utf-8")
    (tmp_path / "worse.memfail.yaml").write_text(CASE.replace("answer", "anwser"), encoding="utf-8")
    (tmp_path / "small.memfail.yaml").write_text(CASE, encoding="utf-8")
    (tmp_path / "good.memfail.yaml").write_text(f"{CASE}haystack: long_hop\n", encoding="utf-8")
    findings = [str(finding).removeprefix(f"{tmp_path}/") for finding in validate(tmp_path)]
    assert findings == [
        "bad.memfail.yaml:16: error: haystack: got 'lung_hop', expected a task or a folder of conversations; did you "
        "mean 'long_hop'?",
        "worse.memfail.yaml:8: error: anwser: no such key; did you mean 'answer'?",
        "small.memfail.yaml:1: warning: haystack: the store has 3 messages and k is 3, so that retrieval cannot fail; "
        "name a haystack",
    ]


def test_validate_reports_all_faults_of_a_file(tmp_path):
    (tmp_path / "a.memfail.yaml").write_text(
        """\
conversations: [a, {date: soon, messages: [user: b]}]
questoin: Which?
expected: [{fact: a}]
---
[]
---
id: x
conversations: [a, b]
question: Which?
expected: [{fact: a}, {fact: b, conversation: 4}]
---
id: y
conversations: [a]
question: Which?
expected: []
answer: b
haystack: lung_hop
---
id: z
conversations: [a]
question: Which?
expected: []
answer: b
haystack: nowhere
""",
        encoding="utf-8",
    )
    assert [(finding.line, finding.place) for finding in validate(tmp_path)] == [
        (1, "conversations.1.date"),
        (2, "questoin"),
        (5, "file"),
        (7, "answer"),
        (10, "expected.0.conversation"),
        (10, "expected.1.conversation"),
        (17, "haystack"),
        (24, "haystack"),
    ]


def test_validate_reports_what_stands_before_and_beside_a_document_that_cannot_be_read(tmp_path):
    documents = [
        "[]\n",
        CASE.replace("answer", "anwser"),
        CASE.replace("Which", '"\\ud83d Which').replace("given?", 'given?"'),
    ]
    (tmp_path / "a.memfail.yaml").write_text("---\n".join([*documents, "- 1\n", "k: [\n", "- 2\n"]), encoding="utf-8")
    assert [(finding.line, finding.place) for finding in validate(tmp_path)] == [
        (1, "file"),
        (10, "anwser"),
        (25, "question"),
        (35, "file"),
        (38, "file"),
    ]


def test_validate_reports_all_faults_of_all_files_of_a_haystack(tmp_path):
    chats = {
        "a.yaml": "- a\n- messages: [usr: b]\n- {dat: x}\n---\n[]\n",
        "b.json": '[{"role": "Alice", "content": "Hi"}]',
    }
    folder_of(tmp_path, **chats)
    for name in "xy":
        (tmp_path / f"{name}.memfail.yaml").write_text(f"id: {name}\n{CASE}haystack: chats\n", encoding="utf-8")
    places = [(Path(finding.file).name, finding.line, finding.place) for finding in validate(tmp_path)]
    assert places == [
        ("a.yaml", 2, "1.messages.0.usr"),
        ("a.yaml", 3, "2.dat"),
        ("a.yaml", 5, "file"),
        ("b.json", 1, "role"),
    ]


def test_validate_counts_the_faults_after_the_first_twenty_of_a_file(tmp_path):
    (tmp_path / "a.memfail.yaml").write_text("---\n".join(["- 1\n"] * 25), encoding="utf-8")
    (tmp_path / "b.memfail.yaml").write_text(CASE.replace("answer", "anwser"), encoding="utf-8")
    *first, more, other = map(str, validate(tmp_path))
    assert len(first) == 20
    counted = "file: got 25 faults, of which 20 are listed; correct these and run it again"
    assert more == f"{tmp_path / 'a.memfail.yaml'}:41: error: {counted}"
    assert "anwser" in other


def test_the_name_of_the_user_reaches_the_claim(tmp_path):
    (named,) = read(tmp_path, CASE.replace("k: 3", "user: Ulla Brandt\nk: 3")).evidence.values()
    assert named.claim.user == "Ulla Brandt"
