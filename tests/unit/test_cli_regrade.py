"""`memfail regrade`: recorded memories before another judge."""

from __future__ import annotations

import json
import shutil

import pytest
from whole_runs import run_pytest_in

from pytest_memfail.cli import main
from pytest_memfail.records import to_json
from pytest_memfail.results import load_record

JUDGES = """
from pytest_memfail.core import StageResult

PASSED = StageResult("passed", "as it should be")

class Kind:
    inline = True
    def storage(self, evidence, store):
        assert store.memories and store.memories[0].id is not None
        return PASSED
    def summary(self, evidence, store):
        return PASSED
    def retrieval(self, evidence, question, shown):
        assert len(shown) == 5 and shown[0].score is not None
        return PASSED
    def answer(self, question, evidence, reply):
        return StageResult("failed", "I do not like it")

class Broken(Kind):
    def storage(self, evidence, store):
        raise RuntimeError("out of order")
"""


RUN = "--memfail-system=bm25 --memfail-record=run.jsonl"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The record of a real run over ten questions."""
    folder = tmp_path_factory.mktemp("run")
    words = f"{RUN} --memfail-tasks=long_hop --memfail-limit=10"
    code, output = run_pytest_in(folder, ["-q", *words.split()])
    assert code == 1, output
    return folder / "run.jsonl"


@pytest.fixture
def judges(tmp_path, monkeypatch):
    """A module of judges of one's own."""
    (tmp_path / "my_judges.py").write_text(JUDGES, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))


def lines_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_same_judge_says_the_same(run, tmp_path, capsys):
    out = tmp_path / "again.jsonl"
    assert main(["regrade", str(run), "--judge", "offline", "-o", str(out)]) == 0
    assert capsys.readouterr().out.endswith("0 of 10 verdicts changed\n")
    before, after = lines_of(run), lines_of(out)
    assert after[0]["regraded"]["judge"] == "offline"
    by_id = {line["id"]: line for line in before if line["type"] == "question"}
    assert {line["id"]: line for line in after if line["type"] == "question"} == by_id
    assert [line for line in after if line["type"] == "store"] == [line for line in before if line["type"] == "store"]


def test_another_judge(run, tmp_path, judges, capsys):
    out = tmp_path / "kind.jsonl"
    assert main(["regrade", str(run), "--judge", "my_judges:Kind", "-o", str(out)]) == 0
    assert "10 of 10 verdicts changed" in capsys.readouterr().out
    record = load_record(out)
    assert record.header.judge == "my_judges:Kind"
    assert record.complete
    assert {asked.verdict for asked in record.questions} == {"reasoning_error"}
    assert main(["compare", str(run), str(out)]) == 0
    assert "note: kind differs from run in: judge" in capsys.readouterr().out


@pytest.fixture(scope="module")
def lossy_run(tmp_path_factory):
    """The record of a run that is compared with the reference."""
    folder = tmp_path_factory.mktemp("lossy")
    words = f"{RUN} --memfail-tasks=conditional_facts_easy --memfail-limit=10".replace("bm25", "lossy")
    code, output = run_pytest_in(folder, ["-q", *words.split()])
    assert code == 1, output
    return folder / "run.jsonl"


def test_the_reference_of_another_judge_is_said_as_in_a_run(lossy_run, tmp_path, capsys):
    out, again = tmp_path / "out.jsonl", tmp_path / "again.jsonl"
    note = "reference bm25: judged by offline, this run by offline encoder=off"
    assert main(["regrade", str(lossy_run), "--judge=offline", "--judge-option=encoder=off", "-o", str(out)]) == 0
    assert note in capsys.readouterr().out.splitlines()
    assert main(["regrade", str(out), "--judge=offline", "-o", str(again)]) == 0
    assert "judged by" not in capsys.readouterr().out
    assert load_record(again).footer.reference == load_record(lossy_run).footer.reference


def test_a_model(run, tmp_path, capsys, monkeypatch):
    from pytest_memfail.testing import LocalEndpoint, answer_by_rule

    out = tmp_path / "model.jsonl"
    monkeypatch.chdir(tmp_path)  # the replies are kept here
    with LocalEndpoint(answer_by_rule) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        assert main(["regrade", str(run), "--judge", "some-model", "-o", str(out)]) == 0
        asked = endpoint.calls
        again = ["regrade", str(run), "--judge", "some-model", "-o", str(tmp_path / "again.jsonl")]
        assert main(again) == 0
        assert endpoint.calls == asked > 0
        assert main([*again[:-1], str(tmp_path / "seeded.jsonl"), "--model-option", "seed=7"]) == 0
        assert endpoint.calls > asked
        assert endpoint.requests[-1]["seed"] == 7
    spent = load_record(out).footer.models
    assert {row["model"] for row in spent} == {"some-model"}
    assert all(row["calls"] > 0 for row in spent)


def test_an_option_of_the_judge(run, tmp_path, capsys, monkeypatch):
    from pytest_memfail.testing import LocalEndpoint

    out = tmp_path / "yes.jsonl"
    monkeypatch.chdir(tmp_path)
    with LocalEndpoint(lambda _: "Yes") as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        given = ["regrade", str(run), "-o", str(out), "--judge"]
        assert main([*given, "checker", "--judge-option", "form=yesno"]) == 0
    header = load_record(out).header
    assert (header.judge, header.judge_options, header.judge_weights) == ("checker", {"form": "yesno"}, "yesno")
    assert main([*given, "offline", "--judge-option", "form=yesno"]) == 4
    assert "--judge-option: got form=yesno, expected weights=PATH" in capsys.readouterr().err


def test_a_judge_that_fails_makes_errors(run, tmp_path, judges, capsys):
    out = tmp_path / "broken.jsonl"
    assert main(["regrade", str(run), "--judge", "my_judges:Broken", "-o", str(out)]) == 1
    printed = capsys.readouterr().out
    assert "the judge failed on 10 questions, e.g. memfail/long_hop::" in printed
    assert "0 of 0 verdicts changed\n" in printed
    assert "out of order" in printed


def test_errors_stay(run, tmp_path, capsys):
    lines = lines_of(run)
    first = next(line for line in lines if line["type"] == "question")
    for name in first.keys() - {
        "type",
        "id",
        "task",
        "store",
        "question",
        "k",
        "kind",
        "stratum",
        "text",
        "gold",
        "row",
    }:
        del first[name]
    first |= {"verdict": "error", "error": {"type": "MemorySystemError", "message": "it broke"}}
    with_error = tmp_path / "with_error.jsonl"
    with_error.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    out = tmp_path / "out.jsonl"
    assert main(["regrade", str(with_error), "--judge", "offline", "-o", str(out)]) == 0
    assert "0 of 9 verdicts changed; with nothing to judge: 1 error" in capsys.readouterr().out
    assert next(to_json(asked) for asked in load_record(out).questions if asked.id == first["id"]) == first


def changed(run, tmp_path, change):
    lines = [line for line in map(change, lines_of(run)) if line is not None]
    path = tmp_path / "changed.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def other_data(line):
    if line["type"] == "header":
        line["tasks"]["long_hop"]["data_hash"] = "f" * 64
    return line


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (other_data, "long_hop was run on other rows (hash ffffffffffff"),
        (lambda line: None if line["type"] == "store" else line, "lacks the listing of the store long_hop"),
        (lambda line: None if line["type"] == "question" else line, "nothing to judge"),
    ],
)
def test_what_cannot_be_judged_is_refused(run, tmp_path, capsys, change, says):
    out = tmp_path / "out.jsonl"
    assert main(["regrade", str(changed(run, tmp_path, change)), "--judge", "offline", "-o", str(out)]) == 4
    printed, err = capsys.readouterr()
    assert says in err
    assert (printed, len(err.splitlines())) == ("", 1)
    assert not out.exists()


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("--concurrency=0", "--concurrency: got 0, expected 1 or more"),
        (
            "--model-option=temperature=0",
            "--model-option: got temperature=0 with --judge=offline, expected a judge that asks",
        ),
    ],
)
def test_an_option_that_cannot_be_used_is_one_line(run, tmp_path, capsys, option, says):
    assert main(["regrade", str(run), "--judge", "offline", "-o", str(tmp_path / "out.jsonl"), option]) == 4
    printed, err = capsys.readouterr()
    assert says in err
    assert (printed, len(err.splitlines())) == ("", 1)


INCIDENTS = """
conversations: [I am allergic to penicillin.]
question: Which antibiotic must I not be given?
answer: penicillin
expected: [{fact: The user is allergic to penicillin., details: [[penicillin]]}]
---
id: moved
conversations: [We moved to Lisbon in May., forget: where we lived before]
must_not_hold: [Porto]
question: Where do we live?
answer: Lisbon
expected: [{fact: The user lives in Lisbon., details: [[Lisbon]]}]
"""


@pytest.fixture(scope="module")
def run_of_own_cases(tmp_path_factory):
    """The folder of a run over a task of rows and own cases."""
    folder = tmp_path_factory.mktemp("own") / "mine"
    (folder / "incidents").mkdir(parents=True)
    (folder / "incidents" / "allergy.memfail.yaml").write_text(INCIDENTS, encoding="utf-8")
    words = f"{RUN} --memfail-tasks=long_hop,custom --memfail-limit=2 --memfail-haystack=sample"
    run_pytest_in(folder, ["-q", *words.split()])
    return folder


@pytest.fixture
def own(run_of_own_cases, tmp_path, monkeypatch):
    """The record of that run, with the cases below the current folder."""
    folder = shutil.copytree(run_of_own_cases, tmp_path / "mine")
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("where", [[], ["--cases", "incidents"], ["--cases", "nowhere", "--cases", "incidents"]])
def test_own_cases_are_judged_again(own, capsys, where):
    assert main(["regrade", "run.jsonl", "--judge", "offline", "-o", "out.jsonl", *where]) == 0
    assert capsys.readouterr().out.endswith("0 of 4 verdicts changed\n")
    again = load_record(own / "out.jsonl").questions
    assert again == load_record(own / "run.jsonl").questions
    assert sum(asked.task == "custom" for asked in again) == 2
    (unwanted,) = (fact for asked in again for fact in asked.facts if fact.is_distractor)
    assert unwanted.vacuous  # no listing before had it


def test_own_cases_that_are_not_there(own, capsys, monkeypatch):
    assert main(["regrade", "run.jsonl", "--judge", "offline", "-o", "out.jsonl", "--cases", "nowhere"]) == 4
    (said,) = capsys.readouterr().err.splitlines()
    assert said.endswith(f"there is no *.memfail.yaml below {own / 'nowhere'}; name their folder with --cases")


def test_own_cases_that_were_changed(own, capsys):
    (own / "incidents" / "allergy.memfail.yaml").write_text(INCIDENTS.replace("May", "June"), encoding="utf-8")
    assert main(["regrade", "run.jsonl", "--judge", "offline", "-o", "out.jsonl"]) == 4
    (said,) = capsys.readouterr().err.splitlines()
    assert "custom was run on other rows (hash " in said
    assert said.endswith("name the folder of its cases with --cases")


def test_the_record_itself_is_not_replaced(run, capsys):
    before = run.read_bytes()
    assert main(["regrade", str(run), "--judge", "offline", "-o", str(run)]) == 4
    assert "is the record to judge" in capsys.readouterr().err
    assert run.read_bytes() == before


def test_an_unknown_judge(run, tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert main(["regrade", str(run), "--judge", "ruels", "-o", str(tmp_path / "out.jsonl")]) == 4
    assert "offline" in capsys.readouterr().err


FORGETTING = """
class LastTwo:
    calls_model = False
    def __init__(self): self.texts = []
    def store_conversation(self, conversation): self.texts = [*self.texts, conversation.text][-2:]
    def extracted_since(self, conversation): return [conversation.text]
    def get_all_memories(self): return self.texts
    def retrieve_memories(self, query, conversation, k): return self.texts[:k]

def pytest_memfail_make_system(config, name):
    return LastTwo if name == "last-two" else None
"""


def test_what_the_system_said_it_added_is_judged_again(tmp_path, capsys):
    """A fact that was replaced before the next listing is lost later in the record alone, too."""
    (tmp_path / "conftest.py").write_text(FORGETTING, encoding="utf-8")
    words = "--memfail-system=last-two --memfail-suite=meme --memfail-limit=1 --memfail-record=run.jsonl -p no:cacheprovider"
    run_pytest_in(tmp_path, ["-q", *words.split()])
    out = tmp_path / "again.jsonl"
    assert main(["regrade", str(tmp_path / "run.jsonl"), "--judge", "offline", "-o", str(out)]) == 0
    assert " of " in capsys.readouterr().out
    labels = [
        {line["id"]: line["label"] for line in lines_of(path) if line["type"] == "question"}
        for path in (tmp_path / "run.jsonl", out)
    ]
    assert labels[0] == labels[1]
    assert "lost_later" in labels[0].values()
