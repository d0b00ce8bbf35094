"""`memfail judge-check`: what it prints, refuses and exits with."""

from __future__ import annotations

import json
import re
import signal

import pytest

from pytest_memfail.calibration import cases_folder
from pytest_memfail.cli import main
from pytest_memfail.judges import weights_in_use
from pytest_memfail.suites.memfail import SUITE as MEMFAIL

ROW = {
    "preference_category": "soups",
    "preferences": ["gazpacho", "borscht"],
    "preference_facts": ["Gazpacho saves my July.", "Borscht is what I want when it snows."],
    "question": "What should the canteen ladle out for me over the year?",
    "ground_truth_answer": "gazpacho, borscht",
}
BROKEN_JUDGE = """
class Broken:
    def storage(self, evidence, store):
        raise RuntimeError("out of order")
    summary = retrieval = answer = storage
"""


def case(name, split, labels, store=("Gazpacho saves my July.",)):
    return {
        "case_id": name,
        "task": "coexisting_facts",
        "split": split,
        "row": ROW,
        "store": list(store),
        "retrieved": list(range(len(store))),
        "facts": [{"label": label, "kind": "a kind"} for label in labels],
    }


@pytest.fixture
def cases(tmp_path):
    """Two cases: the rules are right about the first, and can only be wrong about the second's second label."""
    path = tmp_path / "cases.jsonl"
    lines = [case("right", "dev", ["ok", "not_stored"]), case("wrong", "test", ["ok", "not_retrieved"])]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


def test_the_table_has_tasks_halves_and_all(cases, capsys):
    assert main(["judge-check", str(cases)]) == 0
    out = capsys.readouterr().out
    rows = {line.split("  ")[0]: line.split() for line in out.splitlines()}
    assert rows["all"][1:6] == ["2", "4", "75.0%", "75.0%", "100.0%"]
    assert rows["all, dev half"][-5:-3] == ["100.0%", "100.0%"]
    assert rows["all, test half"][-5:-3] == ["50.0%", "100.0%"]
    assert "wrong fact 2: not_retrieved, judged not_stored" in out
    assert "[a kind]" in out
    assert "why: " in out
    assert max(map(len, out.splitlines())) <= 100


def test_json_has_everything(cases, capsys):
    assert main(["judge-check", str(cases), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["overall"]["accuracy"] == 0.75
    assert found["splits"]["dev"]["accuracy"] == 1.0
    assert found["judge"] == "offline"
    (wrong,) = found["disagreements"]
    assert (wrong["case_id"], wrong["fact"], wrong["label"]) == ("wrong", 1, "not_retrieved")


def test_the_judge_is_named_as_in_records(cases, capsys, tmp_path):
    mine = tmp_path / "mine.json"
    content = {"base": weights_in_use(), "heads": {"kept": [1, 0], "absent": [1, 0]}}
    mine.write_text(json.dumps(content), encoding="utf-8")
    command = ["judge-check", str(cases), "--show", "0"]
    for option, name in ((f"weights={mine}", "weights=mine.json"), ("encoder=off", "encoder=off")):
        main([*command, "--judge-option", option, "--json"])
        found = json.loads(capsys.readouterr().out)
        assert (found["judge"], found["judge_options"]) == ("offline", dict([name.split("=")]))
        assert found["judge_weights"].startswith(weights_in_use())
        main([*command, "--judge-option", option])
        said = f"judge offline {name}, weights {found['judge_weights']}, protocol ours"
        assert capsys.readouterr().out.splitlines()[0] == said


def test_good_facts_that_failed_and_damaged_ones_that_passed_stand_below_the_table(tmp_path, capsys):
    kept, gone = ["Gazpacho saves my July."], ["The ferry leaves at nine."]
    rows = [
        case("kept", "dev", ["ok", "not_stored"], kept),
        case("wrongly", "dev", ["not_stored", "not_stored"], kept),
        case("gone", "dev", ["ok", "not_stored"], gone),
        case("again", "dev", ["ok", "not_stored"], gone),
    ]
    path = tmp_path / "four.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    main(["judge-check", str(path)])
    said = "good facts failed: 66.7% of 3; damaged or lost facts passed: 20.0% of 5"
    assert said in capsys.readouterr().out.splitlines()


def test_one_half_alone(cases, capsys):
    assert main(["judge-check", str(cases), "--split", "dev", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["overall"]["cases"] == 1
    assert "splits" not in found


@pytest.mark.parametrize(("least", "code"), [("0.7", 0), ("0.8", 1)])
def test_too_little_agreement_exits_with_1(cases, least, code):
    assert main(["judge-check", str(cases), "--fail-under", least]) == code


def test_disagreements_are_cut_to_what_is_asked_for(cases, capsys):
    main(["judge-check", str(cases), "--show", "0"])
    assert "why: " not in capsys.readouterr().out


def test_a_broken_judge_is_no_disagreement(cases, capsys, tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(BROKEN_JUDGE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main(["judge-check", str(cases), "--judge", "mine:Broken"]) == 1
    out = capsys.readouterr().out
    assert "the judge failed on 2 cases, which count neither as right nor as wrong" in out
    assert "right: the judge's storage() raised RuntimeError: out of order" in out
    assert "disagreements" not in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none.jsonl"], "none.jsonl: cannot be read as labelled cases"),
        (["--judge", "ofline"], "unknown judge 'ofline'; did you mean 'offline'?"),
        (["--planted", "--split", "dev"], "--planted makes its own cases"),
        (["--every", "2"], "--data and --every need --planted"),
        (["--tasks", "long_hop"], "no case is left after --split and --tasks"),
        (["--tasks", "soups"], "unknown task 'soups'"),
        (["--taks", "long_hop"], "unrecognized arguments: --taks long_hop; did you mean --tasks?"),
        (["--xyzzy"], "unrecognized arguments: --xyzzy; `memfail judge-check --help` lists its options"),
        (["--planted", "--every", "0"], "--every: got 0, expected 1 or more"),
        *(
            (["--fail-under", share], f"--fail-under: got {share}, expected a share from 0 to 1, such as 0.9")
            for share in ("90", "-0.1", "nan")
        ),
        (
            ["--model-option", "temperature=0"],
            "--model-option: got temperature=0 with --judge=offline, expected a judge that asks a model, such as "
            "--judge=offline+MODEL",
        ),
        (["--limit", "0"], "--limit: got 0, expected 1 or more"),
    ],
)
def test_a_wrong_call_is_one_line_and_4(cases, capsys, monkeypatch, arguments, said):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    files = [] if "--planted" in arguments or "none.jsonl" in arguments else [str(cases)]
    assert main(["judge-check", *files, *arguments]) == 4
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("memfail: ")
    assert said in err
    assert len(err.splitlines()) == 1


def test_an_option_before_the_command_is_told_where_it_goes(capsys):
    assert main(["--json", "judge-check"]) == 4
    assert capsys.readouterr().err == "memfail: unrecognized arguments: --json; --json goes after judge-check\n"


def test_planted_faults_by_kind_and_task(capsys):
    assert main(["judge-check", "--planted", "--tasks", "long_hop", "--every", "60"]) == 0
    out = capsys.readouterr().out
    row = re.search(r"^never stored +long_hop +\d+ +([\d.]+)%$", out, re.MULTILINE)
    assert row is not None
    assert float(row[1]) > 80
    assert "mutation score (faults named)" in out


STOPS = """
import signal
from pytest_memfail.judges import OfflineJudge

class Stops:
    asked = 0

    def __init__(self):
        self.offline = OfflineJudge()

    async def storage(self, evidence, store):
        Stops.asked += 1
        if Stops.asked > 20:
            signal.raise_signal(signal.SIGINT)
        return self.offline.storage(evidence, store)

    async def summary(self, evidence, store):
        return self.offline.summary(evidence, store)

    async def retrieval(self, evidence, question, shown):
        return self.offline.retrieval(evidence, question, shown)

    async def answer(self, question, evidence, reply):
        return self.offline.answer(question, evidence, reply)
"""


@pytest.fixture
def endpoint(tmp_path, monkeypatch):
    """A local endpoint that judges by rule; the replies are kept below the test's folder."""
    from pytest_memfail.testing import LocalEndpoint, answer_by_rule

    monkeypatch.chdir(tmp_path)
    with LocalEndpoint(answer_by_rule) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        yield endpoint


def test_a_model_judges_the_cases(cases, capsys, endpoint):
    assert main(["judge-check", str(cases), "--judge", "some-model"]) == 0
    out = capsys.readouterr().out
    assert "judge some-model" in out
    assert re.fullmatch(r"[1-9]\d* calls?, [1-9]\d* prompt tokens", out.splitlines()[-1])


def test_a_model_is_asked_once_for_the_same(cases, capsys, endpoint, tmp_path):
    command = ["judge-check", str(cases), "--judge", "some-model", "--model-option", "seed=7", "--concurrency", "1"]
    assert main(command) == 0
    asked, first = endpoint.calls, capsys.readouterr().out
    assert asked > 0
    assert endpoint.requests[0]["seed"] == 7
    assert main(command) == 0  # from the replies kept
    assert endpoint.calls == asked
    tables = [out.partition("label (down)")[2].splitlines()[:5] for out in (first, capsys.readouterr().out)]
    assert tables[0] == tables[1] != []
    assert main([*command, "--model-option", "seed=8"]) == 0
    assert endpoint.calls == 2 * asked
    assert main([*command, "--cache-path", str(tmp_path / "other.sqlite")]) == 0
    assert endpoint.calls == 3 * asked
    assert main([*command, "--cache", "off"]) == 0
    assert endpoint.calls >= 4 * asked  # not even equal calls of one command share a reply


def test_a_limit_takes_the_same_cases_of_every_task_and_label(capsys, tmp_path):
    lines = (cases_folder(MEMFAIL) / "dev.jsonl").read_text(encoding="utf-8").splitlines()[::4]
    (tmp_path / "few.jsonl").write_text("\n".join(lines), encoding="utf-8")

    def judged(limit):
        assert main(["judge-check", str(tmp_path / "few.jsonl"), "--limit", str(limit), "--show", "-1", "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    few, same, more = judged(30), judged(30), judged(45)
    assert few["overall"]["cases"] == 30
    assert few["overall"]["confusion"] == same["overall"]["confusion"]
    assert set(few["tasks"]) >= {"long_hop", "points", "updated_facts", "conditional_facts_hard"}
    assert all(sum(row.values()) >= 3 for row in few["overall"]["confusion"].values())
    names = [{one["case_id"] for one in found["disagreements"]} for found in (few, more)]
    assert names[0] <= names[1]


def test_a_limit_of_the_cases_of_a_suite(capsys):
    assert main(["judge-check", "--suite", "meme", "--limit", "12", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["overall"]["cases"], found["replies"]["groups"]["all"]["n"]) == (12, 12)


def test_ctrl_c_shows_what_was_judged(capsys, tmp_path, monkeypatch):
    (tmp_path / "stopping.py").write_text(STOPS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    command = ["judge-check", "--judge", "stopping:Stops", "--limit", "60", "--concurrency", "1"]
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    try:
        assert main(command) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    out, err = capsys.readouterr()
    said = re.fullmatch(r"memfail: interrupted after (\d+) of 60 cases\n", err)
    assert said is not None
    (total,) = [line.split() for line in out.splitlines() if line.startswith("all ")]
    assert 0 < int(said[1]) == int(total[1]) < 60


def test_a_sample_of_the_shipped_cases_needs_no_rows_beside_it(capsys, tmp_path):
    lines = (cases_folder(MEMFAIL) / "dev.jsonl").read_text(encoding="utf-8").splitlines()[:40:4]
    sample = tmp_path / "sample.jsonl"
    sample.write_text("\n".join(lines), encoding="utf-8")
    assert main(["judge-check", str(sample), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["overall"]["cases"] == 10


@pytest.mark.skipif(not (cases_folder(MEMFAIL) / "train.jsonl").is_file(), reason="a wheel has no train.jsonl")
def test_the_balance_of_the_shipped_cases_has_every_split(capsys):
    assert main(["judge-check", "--data-report"]) == 0
    assert capsys.readouterr().out.splitlines()[0].split() == ["train", "dev", "test", "all"]
