"""`memfail case`: cases from records and logs, which fail the same way when they run."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from whole_runs import run_pytest_in

from pytest_memfail.cli import main
from pytest_memfail.cli.case_of_log import written
from pytest_memfail.results import load_record
from pytest_memfail.suites import read_custom

sys.path.insert(0, str(Path(__file__).parent / "report"))
from recorded_runs import verdicts


def run(folder, *words):
    code, output = run_pytest_in(folder, ["-q", "--memfail-record=run.jsonl", *words])
    assert code in (0, 1), output
    return load_record(folder / "run.jsonl").questions


@pytest.fixture
def in_this_process(monkeypatch):
    """Run in this process what the command starts in one of its own, which imports all anew."""

    def run(command, *, env, **_):
        assert command[:3] == [sys.executable, "-m", "pytest"]
        code, output = run_pytest_in(Path.cwd(), command[3:], env)
        return subprocess.CompletedProcess(command, code, output, "")

    monkeypatch.setattr("pytest_memfail.cli.case.subprocess", SimpleNamespace(run=run))


@pytest.mark.parametrize(
    ("system", "task", "verdict"),
    [("lossy", "conditional_facts_easy", "summary_error"), ("misdirected", "coexisting_facts", "not_retrieved")],
)
def test_a_case_of_a_record_fails_the_same_way(tmp_path, monkeypatch, capsys, in_this_process, system, task, verdict):
    monkeypatch.chdir(tmp_path)
    few = (f"--memfail-tasks={task}", "--memfail-limit=8", "--memfail-haystack=sample")
    asked = run(tmp_path, f"--memfail-system={system}", *few)
    failed = next(question for question in asked if question.verdict == verdict)
    assert main(["case", "run.jsonl", failed.id]) == 0
    wrote, ran, again = capsys.readouterr().out.splitlines()
    file = wrote.removeprefix("wrote ")
    assert ran == f"it fails against {system}: {verdict}"
    assert again == f"run it: pytest {file} --memfail-system={system}"


NEWEST = """
class Newest:
    '''Forgets the newest fifth of what it was told.'''

    calls_model = False

    def __init__(self):
        self.told = []

    def store_conversation(self, conversation):
        self.told.append("\\n".join(message.content for message in conversation.messages))

    def get_all_memories(self):
        return self.told[: len(self.told) - len(self.told) // 5]

    def retrieve_memories(self, query, conversation, k):
        words = set(query.lower().split())
        return sorted(self.get_all_memories(), key=lambda text: -len(words & set(text.lower().split())))[:k]


def pytest_memfail_make_system(name):
    return (lambda context: Newest()) if name == "newest" else None
"""


def test_cases_of_a_memory_that_forgets_its_newest_fail(tmp_path, monkeypatch, capsys, in_this_process):
    """Each fails only if its evidence is as late in its store as it was in the run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "conftest.py").write_text(NEWEST, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --memfail-fail-on=correct<0.9\nmemfail_report = x.json\n")
    few = ("--memfail-system=newest", "--memfail-tasks=conditional_facts_easy,updated_facts", "--memfail-limit=9")
    asked = run(tmp_path, *few, "--memfail-haystack=full", "-oaddopts=")
    (tmp_path / "x.json").unlink()
    lost = [question for question in asked if question.verdict == "not_stored"]
    stored = {store.task: store.conversations for store in load_record(tmp_path / "run.jsonl").stores}
    assert {question.task for question in lost} == set(stored)
    for question in lost[-1:]:
        limit, count = 40, stored[question.task]
        assert main(["case", "run.jsonl", question.id, f"--conversations={limit}"]) == 0
        wrote, kept, ran, _ = capsys.readouterr().out.splitlines()
        assert ran == "it fails against newest: not_stored"
        assert kept.startswith(f"note: {limit} of the store's {count} conversations, in their order")
        case = yaml.safe_load((tmp_path / wrote.removeprefix("wrote ")).read_text(encoding="utf-8"))
        assert len(case["conversations"]) == limit
        (expected,) = case["expected"]
        assert expected["conversation"] > 0.75 * limit
        dates = [one["date"] for one in case["conversations"]]
        assert dates == sorted(dates)
    assert not (tmp_path / "x.json").exists()
    assert main(["case", "run.jsonl", lost[0].id, "-o", "a.memfail.yaml", "--system=bm25", "--conversations=40"]) == 1
    said = capsys.readouterr().out
    assert "warning: it does not fail against bm25 (no_answer); keep more of the store" in said
    assert main(["case", "run.jsonl", lost[0].id, "-o", "b.memfail.yaml", "--system=nobody"]) == 0
    assert re.search(r"note: it could not be run here against nobody: ERROR: .*'nobody'", capsys.readouterr().out)


@pytest.mark.parametrize(
    ("wanted", "says"),
    [("q-00", "no question 'q-00' in"), ("q", "which is part of 2 ids in")],
)
def test_an_id_of_no_or_several_questions_names_the_record(tmp_path, capsys, wanted, says):
    record = verdicts(tmp_path / "r.jsonl", "not_stored", "not_stored")
    ids = [question.id for question in load_record(record).questions]
    assert main(["case", str(record), wanted]) == 4
    err = capsys.readouterr().err
    assert says in err
    assert str(record) in err
    assert ids[0] in err
    assert err.count("\n") == 1


def test_an_id_alone_is_one_of_the_last_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    kept = tmp_path / ".pytest_cache/d/memfail/runs"
    few = ("--memfail-system=no-memory", "--memfail-tasks=long_hop", "--memfail-limit=2")
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *few], capture_output=True, check=False
    )  # with pytest's cache
    (record,) = kept.glob("*/record.jsonl")
    asked = load_record(record).questions[0]
    assert main(["case", asked.question, "--no-run"]) == 0
    assert (tmp_path / f"{asked.question}.memfail.yaml").is_file()
    capsys.readouterr()
    for words, got in (
        ([], "no NODE_ID"),
        (["last"], "RECORD last without a NODE_ID"),
        ([str(record)], f"RECORD {record} without a NODE_ID"),
    ):
        assert main(["case", *words]) == 4
        assert f"case: got {got}, expected RECORD and NODE_ID, NODE_ID of the last run, or" in capsys.readouterr().err
    assert main(["case", "nothing"]) == 4
    assert "no question 'nothing' in " in capsys.readouterr().err


def test_a_case_of_a_log_that_does_not_fail_is_told_what_it_can_do(tmp_path, monkeypatch, capsys, in_this_process):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, TURNS)))
    assert main(["case", "--from", "log.jsonl", "--answer", "only on Thursdays", "--system=bm25"]) == 1
    _, *_, warning, _ = capsys.readouterr().out.splitlines()
    assert warning == "warning: it does not fail against bm25 (no_answer); correct what it expects (fact, details)"


def test_a_case_of_rows_that_are_not_at_hand_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    task = {"data_hash": "0" * 64, "licence": "CC0", "questions": 1, "suite": "memfail"}
    record = verdicts(tmp_path / "r.jsonl", "not_stored", tasks={"t": task})
    assert main(["case", str(record), "q-0", "--no-run"]) == 0
    said = capsys.readouterr().out
    assert "note: the rows of the run cannot be read (" in said
    assert "may not fail in the same way" in said


TURNS = [
    {"role": "user", "content": "I take the tablets at 7, only on Thursdays.", "session_id": "a"},
    {"role": "assistant", "content": "Noted.", "session_id": "a"},
    {"role": "user", "content": "The cat is called Miso.", "session_id": "b"},
    {"role": "user", "content": "On which days do I take the tablets?", "session_id": "c"},
]


def attributes(**given):
    return {name.replace("__", "."): value for name, value in given.items()}


def spans():
    first = [{"role": "user", "parts": [{"type": "text", "content": TURNS[0]["content"]}]}]
    return [
        {"name": "chat m", "attributes": attributes(gen_ai__operation__name="chat", gen_ai__conversation__id="a",
         gen_ai__input__messages=json.dumps(first))},
        {"name": "create_memory", "attributes": attributes(gen_ai__operation__name="create_memory",
         gen_ai__memory__records=json.dumps([{"id": "1", "content": "takes tablets at 7"}]))},
        {"resourceSpans": [{"scopeSpans": [{"spans": [{"name": "search_memory", "attributes": [
            {"key": "gen_ai.operation.name", "value": {"stringValue": "search_memory"}},
            {"key": "gen_ai.memory.query.text", "value": {"stringValue": TURNS[3]["content"]}},
        ]}]}]}]},
    ]  # fmt: skip


@pytest.mark.parametrize("lines", [TURNS, spans()], ids=["turns", "spans"])
def test_a_case_of_a_log(tmp_path, monkeypatch, capsys, lines):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert main(["case", "--from", "log.jsonl", "--answer", "only on Thursdays", "-o", "tablets.memfail.yaml"]) == 0
    case = yaml.safe_load((tmp_path / "tablets.memfail.yaml").read_text())
    assert case["question"] == TURNS[3]["content"]
    assert case["expected"] == [{"fact": TURNS[0]["content"], "conversation": 1, "details": [["only on Thursdays"]]}]


LATE = [
    *TURNS,
    {"role": "assistant", "content": "On which days? Only on Mondays, I think.", "session_id": "c"},
    {"role": "user", "content": "Wrong, only on Thursdays.", "session_id": "c"},
]


def case_of(folder, lines, *words):
    (folder / "log.jsonl").write_text("\n".join(map(json.dumps, lines)))
    code = main(["case", "--from", "log.jsonl", "-o", "x.memfail.yaml", *words])
    return code, yaml.safe_load((folder / "x.memfail.yaml").read_text()) if code == 0 else None


def test_a_log_that_ends_with_the_wrong_answer_ends_before_its_question(tmp_path, monkeypatch, capsys):
    """Its case is run as users run it, in a process of its own."""
    monkeypatch.chdir(tmp_path)
    code, case = case_of(tmp_path, LATE, "--answer=only on Thursdays", "--system=lossy")
    assert code == 0
    assert case["question"] == TURNS[3]["content"]
    assert case["conversations"] == [
        {"messages": [{"user": TURNS[0]["content"]}, {"assistant": "Noted."}]},
        {"messages": [{"user": TURNS[2]["content"]}]},
    ]
    assert case["expected"] == [{"fact": TURNS[0]["content"], "conversation": 1, "details": [["only on Thursdays"]]}]
    said = capsys.readouterr().out
    assert "note: turns left out: 2 after the question" in said
    assert "it fails against lossy: summary_error" in said


@pytest.mark.parametrize(
    ("answer", "number", "says"),
    [
        ("7", 2, "1 (user) 'I take the tablets at 7, only on Thursdays.'; 3 (user) 'Dinner is at 7.'"),
        ("blue", 0, "got no turns before the question that state 'blue'"),
    ],
)
def test_turns_to_choose_from_are_listed(tmp_path, monkeypatch, capsys, answer, number, says):
    monkeypatch.chdir(tmp_path)
    turns = [*TURNS[:2], {"role": "user", "content": "Dinner is at 7."}, {"role": "user", "content": "17 or 70?"}]
    code, _ = case_of(tmp_path, turns, f"--answer={answer}")
    err = capsys.readouterr().err
    assert code == 4
    assert f"got {number or 'no'} turns" in err
    assert says in err
    assert err.count("\n") == 1
    code, case = case_of(tmp_path, turns, f"--answer={answer}", "--turn=1")
    assert (code, case["expected"][0]["fact"]) == (0, TURNS[0]["content"])


SEVEN = [
    {"role": "user", "content": "Please book a table for my anniversary."},
    {"role": "assistant", "content": "No problem. For how many people?"},
    {"role": "user", "content": "Seven."},
    {"role": "user", "content": "I cancelled the Oslo trip."},
    {"role": "user", "content": "I'm vegan."},
    {"role": "user", "content": "For how many people is the table?"},
]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--answer=Seven"], "got the fact 'Seven.', expected a sentence"),
        (["--answer=Seven"], "give it with --turn 3 --fact TEXT"),
        (["--answer=No"], "got no turns before the question that state 'No', expected one; choose it with --turn N"),
        (
            ["--answer=No", "--question=Am I going to Oslo?"],
            "with --turn N, such as 4 (user) 'I cancelled the Oslo trip.'",
        ),
    ],
)
def test_a_word_or_two_are_no_fact(tmp_path, monkeypatch, capsys, words, says):
    monkeypatch.chdir(tmp_path)
    assert case_of(tmp_path, SEVEN, *words) == (4, None)
    err = capsys.readouterr().err
    assert says in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "fact", "details"),
    [
        (["--answer=Seven", "--turn=3", "--fact=The table is for seven."], "The table is for seven.", [["Seven"]]),
        (["--answer=No", "--turn=4"], "I cancelled the Oslo trip.", None),
        (["--answer=no", "--turn=2"], "No problem. For how many people?", None),
        (["--answer=vegan"], "I'm vegan.", [["vegan"]]),
    ],
)
def test_a_short_answer_with_its_fact(tmp_path, monkeypatch, words, fact, details):
    monkeypatch.chdir(tmp_path)
    code, case = case_of(tmp_path, SEVEN, *words)
    assert code == 0
    assert (case["expected"][0]["fact"], case["expected"][0].get("details")) == (fact, details)


def test_a_question_that_has_the_answer_is_noted(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    turns = [
        {"role": "user", "content": "My locker code is 9023.", "session_id": "a"},
        {"role": "user", "content": "What is my locker code?", "session_id": "b"},
        {"role": "assistant", "content": "It is 4417.", "session_id": "b"},
        {"role": "user", "content": "No, it is 9023! Why did you forget it?", "session_id": "b"},
    ]
    note = "note: the question has the answer '9023'; if it complains, give the one asked: --question TEXT"
    assert case_of(tmp_path, turns, "--answer=9023")[0] == 0
    assert note in capsys.readouterr().out.splitlines()
    (tmp_path / "x.memfail.yaml").unlink()
    _, case = case_of(tmp_path, turns, "--answer=9023", "--question=What is my locker code?")
    assert note not in capsys.readouterr().out
    assert len(case["conversations"]) == 1


def test_an_answer_in_a_script_without_blanks_is_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = "\u6211\u6bcf\u5468\u56db\u665a\u4e0a\u6253\u7403\u3002"
    _, case = case_of(tmp_path, [{"role": "user", "content": said}, TURNS[3]], "--answer=\u5468\u56db")
    assert case["expected"] == [{"fact": said, "conversation": 1, "details": [["\u5468\u56db"]]}]


def test_the_times_of_turns_are_dates_of_the_case(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    turns = [
        {"role": "user", "content": "My plot is 41.", "timestamp": "2026-01-05T08:00:01Z"},
        {"role": "user", "content": "I gave up 41 and have plot 7.", "created_at": 1772668800},
        {"role": "user", "content": "Which plot is mine?", "date": "2026-04-05"},
    ]
    _, case = case_of(tmp_path, turns, "--answer=7")
    assert [str(one["date"]) for one in case["conversations"]] == ["2026-01-05", "2026-03-05"]
    assert case["expected"][0]["conversation"] == 2


@pytest.mark.parametrize(
    ("text", "words", "says"),
    [
        ("{}", [], "--from needs --answer"),
        ('{"role": "user", "content": "Hi"}\nnot json', ["--answer=x"], "log.jsonl:2: file: not JSON (Expecting value"),
        ('{"level": "info"}', ["--answer=x"], "expected a turn with role and content, a conversation with messages"),
        ('{"role": "user", "content": "Only asked?"}', ["--answer=x"], "has no conversation before the question"),
    ],
)
def test_a_wrong_log_is_one_line(tmp_path, monkeypatch, capsys, text, words, says):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.jsonl").write_text(text)
    assert main(["case", "--from", "log.jsonl", *words]) == 4
    err = capsys.readouterr().err
    assert says in err
    assert err.count("\n") == 1
    assert list(tmp_path.glob("*.yaml")) == []


def test_a_case_keeps_the_time_of_day(tmp_path):
    starts = [datetime(2026, 3, 1, 14, 30, tzinfo=timezone.utc), datetime(2026, 3, 2, 9, tzinfo=timezone.utc), None]
    text = yaml.safe_dump(
        {
            "conversations": [written(start, [("user", "I am Ada.")]) for start in starts],
            "question": "Who am I?",
            "answer": "Ada",
            "expected": [],
        }
    )
    assert "2026-03-02 09" not in text
    path = tmp_path / "a.memfail.yaml"
    path.write_text(text)
    (store,) = read_custom([path], tmp_path).stores
    assert [conversation.timestamp for conversation in store.read_conversations()] == starts


def test_a_case_of_what_was_not_forgotten_fails_the_same_way(tmp_path, monkeypatch, capsys, in_this_process):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kept.memfail.yaml").write_text(
        "conversations: [I take aspirin., {forget: I take aspirin., date: 2026-03-02}]\n"
        "other_user: [My dog is called Bo.]\nquestion: What do I take?\nmust_not_hold: [aspirin, Bo]\n"
    )
    (asked,) = run(tmp_path, "kept.memfail.yaml", "--memfail-system=bm25")
    assert asked.verdict == "wrongly_held"
    assert main(["case", "run.jsonl", asked.id, "-o", "again.memfail.yaml"]) == 0
    assert "it fails against bm25: wrongly_held" in capsys.readouterr().out
    case = yaml.safe_load((tmp_path / "again.memfail.yaml").read_text())
    assert [one.get("forget") for one in case["conversations"]] == [None, "I take aspirin."]
    assert [fact["details"] for fact in case["must_not_hold"]] == [[["aspirin"]], [["Bo"]]]
    assert (case["expected"], len(case["other_user"]), "answer" in case) == ([], 1, False)
