"""Suites: the same verdicts however they are run, what reference systems get, and what a mistake says."""

from __future__ import annotations

import json
import signal
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from whole_runs import run_pytest_in

from plugin.project import BARE_INI, Project, collected, made_once
from plugin.test_resume import KILL
from pytest_memfail.cli import main as memfail
from pytest_memfail.report.published import SummaryModel
from pytest_memfail.suites import shipped_data
from pytest_memfail.suites.meme import shipped_episodes
from pytest_memfail.testing import LocalEndpoint, answer_by_rule

MEME = "--memfail-suite=meme"
AFTER = ("recall", "aggregation", "tracking", "deletion", "cascade", "absence")
PARTS = ("before", *AFTER)
FEW = "--memfail-limit=2"
"""Two questions of each part, of two episodes."""
CASCADE = "memfail/meme::pl_901::after-cas-commute"
BEFORE = "memfail/meme::pl_901::before-cas-commute"

NOTES = '''
from pytest_memfail.suites.meme import shipped_episodes


class Notes:
    """Keeps a note of each fact that a conversation states, as the file has it; `does` says how it goes wrong."""

    unlimited_k = True
    calls_model = False

    def __init__(self, context):
        self.does = context.options.get("does", "keep")
        self.most = int(context.options.get("most", "1000"))
        self.notes = []
        episodes = json.loads(shipped_episodes().read_text(encoding="utf-8"))
        sessions = [session for episode in episodes for session in episode["sessions"]]
        self.facts = {self.key(turn["content"] for turn in s["conversation"]): s["gold_facts"] or () for s in sessions}

    def key(self, texts):
        return "\\n".join(texts)

    def store_conversation(self, conversation):
        for fact in self.facts[self.key(message.content for message in conversation.messages)]:
            is_request = fact["notes"] == "deletion"
            if is_request and self.does == "delete":
                self.notes = [note for note in self.notes if note["entity"] != fact["entity"]]
            if self.does == "overwrite" and not is_request and fact["notes"] != "rule":
                self.notes = [note for note in self.notes if not self.is_older(note, fact)]
            if not is_request or self.does in ("keep", "overwrite"):
                self.notes.append(fact)
        self.notes = self.notes[-self.most :]

    def is_older(self, note, fact):
        return note["entity"] == fact["entity"] and note["notes"] != "rule" and note["value"] != fact["value"]

    def get_all_memories(self):
        return [note["fact_text"] for note in self.notes]

    def retrieve_memories(self, query, conversation, k):
        return self.get_all_memories()[::-1]


make_toy = pytest_memfail_make_system


def pytest_memfail_make_system(config, name):
    return Notes if name == "notes" else make_toy(config, name)
'''
SAY_MODULES = """
import sys

def pytest_unconfigure(config):
    print("\\nof ours:", *sorted(name for name in sys.modules if name.startswith("pytest_memfail")))
"""

Line = dict[str, Any]


def lines(result: pytest.RunResult) -> list[str]:
    return [line for line in (*result.outlines, *result.errlines) if line.strip()]


def questions_in(record: Iterable[Line]) -> dict[str, Line]:
    """The question lines of a record by their id, without times."""
    found = (line for line in record if line["type"] == "question")
    return {line["id"]: {name: value for name, value in line.items() if name != "seconds"} for line in found}


class Meme:
    """A repository without rows of its own, which runs MEME."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.path = project.path
        project.file("pytest.ini", BARE_INI)

    def run(self, *words: str | Path, system: str = "bm25", n: int | None = None) -> pytest.RunResult:
        return self.project.run(MEME, *words, system=system, n=n)

    def questions(self, path: str | None = None) -> dict[str, Line]:
        """The question lines of a record, by default of the last run, without times."""
        return questions_in(self.project.record(path))

    def chosen(self, *words: str) -> set[str]:
        """The ids that a run would ask."""
        return set(collected(self.run("--collect-only", "-q", *words)))

    def parts(self) -> dict[str, Counter[str]]:
        """How often each verdict occurs in the last run, by part."""
        counts: dict[str, Counter[str]] = {part: Counter() for part in PARTS}
        for line in self.questions().values():
            counts[line["part"]][line["verdict"]] += 1
        return {part: count for part, count in counts.items() if count}

    def labels(self, path: str | None = None) -> dict[str, str]:
        return {name: line["label"] for name, line in self.questions(path).items() if line.get("label")}

    def not_held(self) -> dict[str, int]:
        """How many questions of each part were not held, of those parts that have some."""
        return dict(Counter(q["part"] for q in self.questions().values() if q.get("memory_held") is not True))

    def refused(self, *words: str, system: str = "bm25") -> str:
        """The one line that a run is refused with."""
        result = self.project.run(*words, system=system)
        assert result.ret == pytest.ExitCode.USAGE_ERROR, result.stdout.str()
        (line,) = lines(result)
        assert line.startswith("ERROR: ")
        return line


@pytest.fixture
def meme(project: Project) -> Meme:
    return Meme(project)


@pytest.fixture
def notes(meme: Meme) -> Meme:
    """With a system that keeps notes of facts."""
    meme.project.conftest(NOTES)
    return meme


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalEndpoint]:
    with LocalEndpoint(answer_by_rule) as started:
        monkeypatch.setenv("OPENAI_BASE_URL", started.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-local")
        yield started


ASK = ("--memfail-model=m", "--memfail-judge=offline+m", "--memfail-cache=off")

# -- the same verdicts, however it is run ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int, str]:
    """The whole sample with bm25, alone and in one go: its record, exit code and output."""

    def run(folder: Path) -> None:
        folder.mkdir()
        (folder / "pytest.ini").write_text(BARE_INI)
        done = run_pytest_in(folder, ["--memfail-system=bm25", MEME, "--memfail-record=r.jsonl"])
        (folder / "done.json").write_text(json.dumps(done))

    folder = made_once(tmp_path_factory.getbasetemp(), "whole-meme", run)
    code, output = json.loads((folder / "done.json").read_text())
    return folder / "r.jsonl", code, output


@pytest.fixture(scope="module")
def whole(whole_run: tuple[Path, int, str]) -> dict[str, Line]:
    """What its questions got."""
    return questions_in([json.loads(line) for line in whole_run[0].read_text().splitlines()])


def test_the_sample_has_every_part_and_bm25_loses_some(whole: dict[str, Line]) -> None:
    counts = Counter(line["part"] for line in whole.values())
    assert set(counts) == set(PARTS)
    assert len({line["store"] for line in whole.values()}) == 8
    assert {line["verdict"] for line in whole.values()} == {"not_retrieved", "no_answer"}
    held = Counter(line["part"] for line in whole.values() if line["memory_held"])
    assert held["cascade"] < counts["cascade"] / 2
    assert held["before"] > counts["before"] / 2


def test_what_is_printed_of_it(whole_run: tuple[Path, int, str]) -> None:
    _, code, output = whole_run
    assert code == 1
    pytest.LineMatcher(output.splitlines()).fnmatch_lines(
        [
            "memfail: meme (our sample: 8 episodes; not the published rows: do not compare its figures with a paper's)",
            "task  *n [[]95 % interval[]] *of stored   error retrieved answer",
            *[f"meme.{part} *" for part in PARTS],
            "all  *116 *",
            "encoded 100.0 %  maintained 100.0 %  retrieved *",
            "score (macro of 6) - *",
            "labels: stale_value *",
        ]
    )


@pytest.mark.parametrize("n", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_with_workers(meme: Meme, whole: dict[str, Line], n: int) -> None:
    assert meme.run(n=n).ret == 1
    assert meme.questions() == whole


@pytest.mark.parametrize("n", [None, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("part", AFTER)
def test_an_after_question_alone(meme: Meme, whole: dict[str, Line], part: str, n: int | None) -> None:
    name = next(name for name, line in whole.items() if line["part"] == part)
    meme.run(name, n=n)
    assert meme.questions() == {name: whole[name]}


@pytest.mark.slow
@pytest.mark.parametrize("n", [None, pytest.param(2, marks=pytest.mark.slow)])
def test_last_failed(meme: Meme, whole: dict[str, Line], n: int | None) -> None:
    meme.run(n=n)
    meme.run("--lf", n=n)
    failed = {name: line for name, line in whole.items() if line["verdict"] != "no_answer"}
    assert meme.questions() == failed != {}


@pytest.mark.parametrize("n", [None, pytest.param(2, marks=pytest.mark.slow)])
def test_resumed_after_a_kill(meme: Meme, whole: dict[str, Line], n: int | None) -> None:
    meme.project.conftest("import pytest\n" + KILL)
    meme.project.file("kill", "40")
    record = "--memfail-record=run.jsonl"
    run = meme.project.run_apart if n is None else meme.project.run
    more = {} if n is None else {"n": n}
    assert run(MEME, record, system="bm25", **more).ret == -signal.SIGKILL
    before = meme.questions("run.jsonl")
    assert 40 <= len(before) < len(whole)
    result = meme.run(record, "--memfail-resume", n=n)
    assert result.ret == 1
    assert meme.questions("run.jsonl") == whole
    (footer,) = [line for line in meme.project.record("run.jsonl") if line["type"] == "footer"]
    assert {score["name"]: score["value"] for score in footer["suites"][0]["scores"]}["encoded"] == 1.0


def test_a_question_that_needs_a_recorded_one_is_not_asked_twice(meme: Meme, whole: dict[str, Line]) -> None:
    record = "--memfail-record=run.jsonl"
    meme.run(record, CASCADE)
    meme.run(record, "--memfail-resume", CASCADE, BEFORE)
    assert meme.questions("run.jsonl") == {name: whole[name] for name in (CASCADE, BEFORE)}


def test_shards_and_merge(meme: Meme, whole: dict[str, Line], capsys: pytest.CaptureFixture[str]) -> None:
    for shard in (1, 2):
        meme.run(FEW, f"--memfail-shard={shard}/2", f"--memfail-record={shard}.jsonl")
    halves = [meme.questions(f"{shard}.jsonl") for shard in (1, 2)]
    assert not halves[0].keys() & halves[1].keys()
    capsys.readouterr()
    names = [str(meme.path / f"{name}.jsonl") for name in ("1", "2", "joint")]
    assert memfail(["merge", *names[:2], "-o", names[2]]) == 0
    assert "encoded 100.0 %" in capsys.readouterr().out
    joint = meme.questions("joint.jsonl")
    assert joint == {name: whole[name] for name in (*halves[0], *halves[1])}
    assert Counter(line["part"] for line in joint.values()) == dict.fromkeys(PARTS, 2)
    outputs = [meme.path / f"x.{kind}" for kind in ("html", "md", "json")]
    assert memfail(["report", names[2], *(word for path in outputs for word in ("-o", str(path)))]) == 0
    for path in outputs[:2]:
        assert "encoded 100.0 %" in path.read_text("utf-8")
    (record,) = SummaryModel.model_validate_json(outputs[2].read_text("utf-8")).records
    assert {one.name: one.value for one in record.suites[0].measures}["encoded"] == 1.0


def test_regraded_by_the_same_judge(
    meme: Meme, whole_run: tuple[Path, int, str], whole: dict[str, Line], capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    old, new = str(whole_run[0]), str(meme.path / "new.jsonl")
    assert memfail(["regrade", old, "--judge=offline", "-o", new]) == 0
    assert f"0 of {len(whole)} verdicts changed" in capsys.readouterr().out
    assert meme.questions("new.jsonl") == whole
    footers = [meme.project.record(name)[-1]["suites"] for name in (old, new)]
    assert footers[0] == footers[1] != []


@pytest.mark.slow
@pytest.mark.parametrize("words", [("--memfail-tasks=meme.cascade,meme.tracking", FEW), ("-m", "tracking", FEW)])
def test_a_part_of_it_is_regraded(meme: Meme, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    meme.run(*words, "--memfail-record=run.jsonl")
    capsys.readouterr()
    old, new = (str(meme.path / name) for name in ("run.jsonl", "new.jsonl"))
    assert memfail(["regrade", old, "--judge=offline", "-o", new]) == 0
    assert meme.questions("new.jsonl") == meme.questions("run.jsonl") != {}


# -- reference systems -------------------------------------------------------------------------------------------------


def test_full_context_holds_everything(meme: Meme) -> None:
    assert meme.run(FEW, system="full-context").ret == 0
    assert meme.not_held() == {}
    assert {line["verdict"] for line in meme.questions().values()} == {"no_answer"}


def test_gold_facts_hold_everything_with_few_tokens(meme: Meme) -> None:
    assert meme.run(FEW, system="gold-facts").ret == 0
    assert meme.not_held() == {}
    shown = [line["shown_tokens"] for line in meme.questions().values()]
    assert sum(shown) / len(shown) < 200  # of about 3,100 tokens said


def test_no_memory_holds_nothing_and_gets_no_credit(meme: Meme) -> None:
    result = meme.run(FEW, system="no-memory")
    assert set(meme.not_held()) == set(PARTS)
    assert [line["verdict"] for line in meme.questions().values() if not line.get("vacuous")] == ["not_stored"] * 12
    vacuous = {line["part"] for line in meme.questions().values() if line.get("vacuous")}
    assert vacuous == {"deletion"}  # nothing to leak, and nothing proven by it
    result.stdout.fnmatch_lines(
        [
            "encoded 0.0 % (of 10)  maintained 0.0 %  retrieved 0.0 %  answered 0.0 %",
            "score (macro of 6) -  trivial passes, not credited 2 (needs models that answer and judge: * of*",
        ]
    )


@pytest.mark.slow
def test_no_memory_gets_no_credit_for_answers_either(meme: Meme, endpoint: LocalEndpoint) -> None:
    result = meme.run(*ASK, system="no-memory")
    assert {line["verdict"] for line in meme.questions().values() if not line.get("vacuous")} == {"not_stored"}
    result.stdout.fnmatch_lines(["score (macro of 6) 0.00 *"])


@pytest.mark.parametrize(
    ("system", "verdicts"),
    [
        ("forgetful", {"not_stored"}),
        ("lossy", {"summary_error", "not_stored"}),  # it drops names, which are the values here
        ("misdirected", {"not_retrieved"}),
    ],
)
def test_each_failing_system_shows_as_its_own_verdict(meme: Meme, system: str, verdicts: set[str]) -> None:
    meme.run(FEW, "--memfail-system-option=inner=full-context", system=system)
    lost = {line["verdict"] for line in meme.questions().values() if line.get("memory_held") is False}
    assert lost == verdicts


def test_notes_of_all_facts_hold_everything(notes: Meme) -> None:
    assert notes.run(FEW, system="notes").ret == 0
    assert notes.not_held() == {}


def test_a_value_that_is_deleted_without_a_trace_passes_fully(notes: Meme) -> None:
    assert notes.run(FEW, "--memfail-system-option=does=delete", system="notes").ret == 0
    assert notes.not_held() == {}
    assert not any(line.get("vacuous") for line in notes.questions().values())


def test_deleted_values_that_are_kept_are_leaked(notes: Meme) -> None:
    result = notes.run(FEW, "--memfail-system-option=does=ignore", system="notes")
    assert notes.not_held() == {"deletion": 2}
    of_deletion = [line for line in notes.questions().values() if line["part"] == "deletion"]
    assert {(line["verdict"], line["label"]) for line in of_deletion} == {("not_stored", "leaked")}
    result.stdout.fnmatch_lines(
        [
            "not_stored (leaked): an expected fact is nowhere in the store",
            "expected   No information (the user asked to delete it)",
            "storage    the deleted value is still stated, and nothing says that it was to be forgotten",
            "labels: leaked 2",
        ]
    )


def test_the_request_that_was_not_kept_is_marked_where_it_was_said(notes: Meme) -> None:
    words = ("memfail/meme::pl_901::after-del-spare_key", "--memfail-system-option=does=ignore")
    notes.run(*words, system="notes").stdout.fnmatch_lines(
        [
            "said       … [[]can you forget the place i told you we keep the spare key, please.[]] …",
            "closest    The user's spare house key is kept under the cracked watering can.",
        ]
    )


def test_what_is_overwritten_is_missing_from_tracking_alone(notes: Meme) -> None:
    notes.run(FEW, "--memfail-system-option=does=overwrite", system="notes")
    assert notes.not_held() == {"tracking": 2}
    assert notes.parts()["tracking"] == {"not_stored": 2}


def places(store: str) -> dict[str, int]:
    """The session that states each value of an episode last."""
    (episode,) = [e for e in json.loads(shipped_episodes().read_text("utf-8")) if e["episode_id"] == store]
    return {
        fact["entity"]: at for at, session in enumerate(episode["sessions"]) for fact in session["gold_facts"] or ()
    }


def test_what_is_forgotten_later_was_lost_later(notes: Meme) -> None:
    result = notes.run("memfail/meme::pl_901", "--memfail-system-option=most=8", system="notes")
    labels = notes.labels()
    # of twenty notes the last eight stay: the swimming club was there when it was first asked, the blinds were not
    assert labels["memfail/meme::pl_901::after-abs-gym"] == "lost_later"
    recall = "memfail/meme::pl_901::after-er-chip_number"
    assert (notes.questions()[recall]["verdict"], labels.get(recall)) == ("not_stored", None)
    assert places("pl_901")["chip_number"] < places("pl_901")["gym"] <= 7
    result.stdout.fnmatch_lines(
        [
            "not_stored (lost_later): an expected fact is nowhere in the store",
            "storage    nothing states the value; an earlier listing had it",
            "labels: *lost_later *",
        ]
    )


SELECTED = [
    ("memfail/meme::pl_901::after-abs-gym",),
    ("--memfail-tasks=meme.absence,meme.tracking", "--memfail-limit=4"),
]


def test_what_was_lost_later_does_not_depend_on_what_else_is_asked(notes: Meme) -> None:
    few = "--memfail-system-option=most=8"
    notes.run(few, system="notes")
    whole = notes.questions()
    for words in SELECTED:
        notes.run(few, *words, system="notes")
        assert notes.labels(), words
        for name, line in notes.questions().items():
            assert (line["verdict"], line.get("label")) == (whole[name]["verdict"], whole[name].get("label"))
            assert line["facts"] == whole[name]["facts"]


# -- with a model ------------------------------------------------------------------------------------------------------


def test_with_a_model_the_score_appears(meme: Meme, endpoint: LocalEndpoint) -> None:
    result = meme.run(*ASK, system="full-context")
    result.stdout.re_match_lines(
        [
            r"task +n \[95 % interval\] +of correct stored   error retrieved     error",
            r"encoded 100\.0 %  maintained 100\.0 %  retrieved 100\.0 %  answered \d+\.\d %$",
            r"score \(macro of 6\) 0\.\d\d \[0\.\d\d, 0\.\d\d\]  trivial passes, not credited \d+$",
            r"deletion: real \d+  trivial \d+  knew but failed \d+  never knew \d+$",
            r"cascade: real \d+  trivial \d+  knew but failed \d+  never knew \d+$",
            r"absence: real \d+  trivial \d+  knew but failed \d+  never knew \d+$",
            r"tracking: mean share in order [01]\.\d\d$",
            r"labels: stale_value \d+  leaked \d+",
        ]
    )
    asked = meme.questions().values()
    rates = [[q["verdict"] == "correct" and not q.get("vacuous") for q in asked if q["part"] == part] for part in AFTER]
    expected = sum(sum(part) / len(part) for part in rates) / len(AFTER)
    (suite,) = meme.project.record()[-1]["suites"]
    scores = {score["name"]: score["value"] for score in suite["scores"]}
    assert scores["score"] == pytest.approx(expected, abs=1e-4)
    assert 0 < scores["score"] < 1
    # the endpoint repeats what it is shown, and everything is shown
    leaked = [q for q in asked if q.get("label") == "leaked"]
    assert {(q["part"], q["verdict"]) for q in leaked} == {("deletion", "reasoning_error")}
    check_alone(meme)


def check_alone(meme: Meme, n: int | None = None) -> None:
    """Check that a trivial pass and a real one get their verdict alone too, although it depends on another question."""
    whole = meme.questions()
    right = [name for name, line in whole.items() if line["part"] == "cascade" and line["verdict"] == "correct"]
    names = {("trivial_pass" if whole[name].get("vacuous") else "real"): name for name in right}
    assert set(names) == {"trivial_pass", "real"}
    meme.run(*ASK, *names.values(), system="full-context", n=n)
    assert meme.questions() == {name: whole[name] for name in names.values()}


@pytest.mark.slow
def test_with_a_model_and_workers_a_question_alone_has_the_same_verdict(meme: Meme, endpoint: LocalEndpoint) -> None:
    meme.run(*ASK, system="full-context", n=2)
    check_alone(meme, n=2)


# -- the gate ----------------------------------------------------------------------------------------------------------


def gate(result: pytest.RunResult) -> list[str]:
    start = result.outlines.index(next(line for line in result.outlines if line.startswith("memfail gate: ")))
    return [line for line in result.outlines[start:] if line.startswith(("memfail gate: ", "  meme"))]


def test_a_score_without_a_model_is_undecided(meme: Meme) -> None:
    result = meme.run(FEW, "--memfail-fail-on=meme.score<0.3")
    assert result.ret == 6
    said, check = gate(result)[:2]
    assert said == "memfail gate: undecided"
    assert check.split() == ["meme.score<0.3", "UNDECIDED"]
    assert result.outlines[result.outlines.index(check) + 1].strip().startswith("needs models that answer and judge")
    result.stdout.fnmatch_lines(["memfail: no trustworthy result: *needs models that answer and judge*"])


OUTCOMES = {
    "meme.cascade.memory_held<0.5": "FAILED",
    "meme.before.memory_held<0.1": "ok",
    "meme.leaked>0.1": "ok",
    "meme.stale_value>0.1": "FAILED",
    "meme.retrieved<0.9": "FAILED",
    "meme.encoded<0.9": "ok",
    "meme.memory_held<0.9": "FAILED",
    "meme.trivial_passes>0": "ok",
}


def test_parts_measures_and_labels(meme: Meme) -> None:
    result = meme.run(FEW, f"--memfail-fail-on={','.join(OUTCOMES)}")
    assert result.ret == 1
    said, *checks = gate(result)[: len(OUTCOMES) + 1]
    assert said == "memfail gate: failed"
    assert {name: outcome for name, outcome, *_ in map(str.split, checks)} == OUTCOMES


def test_a_leak_fails_the_gate(notes: Meme) -> None:
    words = (FEW, "--memfail-fail-on=meme.leaked>0.1", "--memfail-system-option=does=ignore")
    result = notes.run(*words, system="notes")
    assert (result.ret, gate(result)[0]) == (1, "memfail gate: failed")


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("meme.scor<0.3", "'scor'"),
        ("meme.leakd>0.1", "'leakd'"),
        ("meme.cascad.memory_held<0.5", "'meme.cascad'"),
    ],
)
def test_an_unknown_measure_names_the_nearest(meme: Meme, expression: str, said: str) -> None:
    line = meme.refused(MEME, f"--memfail-fail-on={expression}")
    assert said in line
    nearest = {"scor": "score", "leakd": "leaked", "meme.cascad": "meme.cascade"}[said.strip("'")]
    assert f"did you mean {nearest!r}" in line


def test_a_measure_without_its_suite_says_where_it_belongs(meme: Meme) -> None:
    line = meme.refused(MEME, "--memfail-fail-on=score<0.3")
    assert "got 'score', expected 'meme.score'" in line


def test_a_baseline_with_parts(meme: Meme) -> None:
    result = meme.run(FEW, "--memfail-save-baseline=base.jsonl")
    result.stdout.fnmatch_lines(["memfail: baseline saved: base.jsonl, 14 verdicts"])
    entries = [json.loads(line) for line in (meme.path / "base.jsonl").read_text().splitlines()][1:]
    assert {entry["part"] for entry in entries} == set(PARTS)
    same = meme.run(FEW, "--memfail-baseline=base.jsonl")
    assert same.ret == 0
    worse = meme.run(
        FEW, "--memfail-baseline=base.jsonl", "--memfail-fail-on=meme.before.regressions>0", system="no-memory"
    )
    assert worse.ret == 1
    worse.stdout.fnmatch_lines(
        ["memfail gate: failed", "  meme.before.regressions>0 *FAILED *", "baseline: base.jsonl, 12 questions compared"]
    )
    assert [line.split()[0] for line in worse.outlines if line.startswith("meme.") and "->" in line]


def test_a_baseline_of_another_suite_is_refused(meme: Meme) -> None:
    meme.run(FEW, "--memfail-save-baseline=base.jsonl")
    result = meme.project.run(FEW, "--memfail-tasks=long_hop", "--memfail-baseline=base.jsonl", system="bm25")
    assert result.ret == 6
    (line,) = [line for line in lines(result) if "no trustworthy result" in line]
    assert "base.jsonl" in line


# -- mistakes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--memfail-suite=mem"], "unknown suite 'mem'; did you mean 'meme'?"),
        (["--memfail-suite=meme:32"], "--memfail-suite: the suite 'meme' has no variant '32' (did you mean '32k'?)"),
        (["--memfail-suite=meme,meme"], "--memfail-suite: got the suite 'meme' twice, expected it once"),
        (["--memfail-suite=meme,meme:32k"], "--memfail-suite: got the suite 'meme' twice, expected it once"),
        (["--memfail-suite=own:x"], "--memfail-suite: got 'own:x', expected 'own': it has no variants"),
        (["--memfail-suite=memfail:x"], "--memfail-suite: the suite 'memfail' has no variant 'x' (it has ours)"),
        (["--memfail-tasks=meme.cascade"], "'meme.cascade' is of the suite meme: --memfail-suite=meme"),
        ([MEME, "--memfail-tasks=long_hop"], "'long_hop' is of the suite memfail: --memfail-suite=memfail"),
        (["--memfail-data=meem=rows"], "--memfail-data: unknown suite 'meem'; did you mean 'meme'?"),
        (
            ["--memfail-data=own=rows"],
            "--memfail-data: got 'own', which has no rows: your cases are found like test files",
        ),
        (["--memfail-data=a", "--memfail-data=b"], "besides"),
        ([MEME, "--memfail-tasks=meme.cascades"], "unknown task 'meme.cascades'; did you mean 'meme.cascade'?"),
        (
            [MEME, "memfail/meme::pl_91"],
            "no such benchmark item: memfail/meme::pl_91 (did you mean memfail/meme::pl_901?)",
        ),
        (
            ["--memfail-suite=meme:128k"],
            "no file of meme:128k without --memfail-data DIR; expected meme_filler128k.json (40 episodes, CC BY 4.0, not "
            "shipped) from https://huggingface.co/datasets/meme-benchmark/MEME",
        ),
    ],
)
def test_a_mistake_is_one_line(meme: Meme, words: list[str], said: str) -> None:
    assert said in meme.refused(*words)


def test_a_folder_without_the_file(meme: Meme) -> None:
    (meme.path / "rows").mkdir()
    line = meme.refused(MEME, "--memfail-data=rows")
    assert f"no file of meme:32k in {meme.path / 'rows'}; expected meme_filler32k.json (100 episodes" in line


@pytest.fixture
def faulty(meme: Meme) -> Meme:
    """With a file of episodes that has two faults."""
    episodes = json.loads(shipped_episodes().read_text("utf-8"))
    del episodes[2]["sessions"][3]["timestamp"]
    episodes[4]["after_questions"]["position_after_session"] = 99
    meme.project.file("rows/meme_nofiller.json", json.dumps(episodes))
    return meme


def test_a_faulty_file_stops_the_run(faulty: Meme) -> None:
    line = faulty.refused("--memfail-suite=meme:nofiller", "--memfail-data=rows")
    assert "meme_nofiller.json" in line
    assert "episode pl_903: sessions.3.timestamp" in line


def test_validate_lists_all_faults(faulty: Meme, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert memfail(["validate", str(faulty.path / "rows")]) == 1
    *found, total = capsys.readouterr().out.splitlines()
    errors = [line for line in found if ": error: " in line]
    assert ["episode pl_903: sessions.3.timestamp: " in line for line in errors].count(True) == 1
    assert [
        "episode sw_901: after_questions.position_after_session: got 99, expected the number of a session, 0 to 12"
        in line
        for line in errors
    ].count(True) == 1
    assert total == f"{faulty.path / 'rows'}: {len(errors)} errors, {len(found) - len(errors)} warnings"


def test_published_files_run_too(meme: Meme) -> None:
    episodes = json.loads(shipped_episodes().read_text("utf-8"))
    meme.project.file("rows/meme/meme_filler128k.json", json.dumps(episodes[:1]))
    result = meme.run("--memfail-data=rows", "--memfail-data=mab=other", "--memfail-suite=meme:128k")
    result.stdout.fnmatch_lines(
        [
            "memfail: *, rows of rows",
            "memfail: meme (published, 128k: 1 store, 14 questions; CC BY 4.0)",
            "memfail: --memfail-data=mab=... is not used: --memfail-suite does not choose mab",
        ]
    )
    header = meme.project.record()[0]
    assert (header["suite"], header["tasks"]["meme"]["variant"]) == (["meme:128k"], "128k")


def test_a_suite_has_a_folder_of_its_own(meme: Meme, capsys: pytest.CaptureFixture[str]) -> None:
    episodes = json.loads(shipped_episodes().read_text("utf-8"))
    meme.project.file("published/meme_nofiller.json", json.dumps(episodes[:1]))
    meme.project.file("rows/memfail/long_hop.csv", (Path(shipped_data()) / "long_hop.csv").read_text("utf-8"))
    meme.project.file("pytest.ini", BARE_INI + "memfail_data =\n    rows\n    meme = published\n")
    words = ("--memfail-suite=memfail,meme:nofiller", "--memfail-tasks=long_hop,meme.recall", "--memfail-limit=1")
    result = meme.run(*words)
    result.stdout.fnmatch_lines(
        [
            "memfail: *, rows of rows, meme=published",
            "memfail: meme (published, nofiller: 1 store, 1 question; CC BY 4.0)",
        ]
    )
    header = meme.project.record()[0]
    assert header["data"] == "rows, meme=published"
    assert header["rerun"][2:4] == ["--memfail-data=rows", "--memfail-data=meme=published"]
    assert [task["questions"] for task in header["tasks"].values()] == [1, 1]
    folders = [f"--data={meme.path / 'rows'}", f"--data=meme={meme.path / 'published'}"]
    record, again = str(meme.project.record_file()), str(meme.path / "again.jsonl")
    capsys.readouterr()
    assert memfail(["regrade", record, "--judge=offline", "-o", again, *folders]) == 0
    assert "0 of 2 verdicts changed" in capsys.readouterr().out
    assert memfail(["estimate", "--suite=memfail,meme:nofiller", "--tasks=long_hop,meme.recall", *folders]) == 0
    assert memfail(["regrade", record, "--judge=offline", "-o", str(meme.path / "x"), "--data=mem=rows"]) == 4
    assert "--data: unknown suite 'mem'; did you mean 'meme'?" in capsys.readouterr().err


# -- choosing questions ------------------------------------------------------------------------------------------------


def of_part(questions: Iterable[Line]) -> set[str]:
    return {line["part"] for line in questions}


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["-m", "cascade"], {"cascade"}),
        (["-m", "meme and not before"], set(AFTER)),
        (["-k", "after-cas"], {"cascade"}),
        (["--memfail-tasks=meme.cascade,meme.absence"], {"cascade", "absence"}),
        (["--memfail-tasks=meme.*", "-m", "recall or tracking"], {"recall", "tracking"}),
    ],
)
def test_parts_are_chosen(meme: Meme, whole: dict[str, Line], words: list[str], parts: set[str]) -> None:
    assert meme.chosen(*words) == {name for name, line in whole.items() if line["part"] in parts}


def test_ids_begin_with_their_type(meme: Meme, whole: dict[str, Line]) -> None:
    assert meme.chosen("-k", "cas") == {name for name in whole if "-cas-" in name}


def test_the_limit_counts_for_each_part(meme: Meme) -> None:
    meme.run("--memfail-limit=1")
    assert Counter(line["part"] for line in meme.questions().values()) == dict.fromkeys(PARTS, 1)


def test_two_suites_in_one_run(meme: Meme) -> None:
    result = meme.run("--memfail-suite=memfail,meme", "--memfail-tasks=long_hop,coexisting_facts,meme.*", FEW)
    tasks = Counter(line["task"] for line in meme.questions().values())
    assert tasks == {**dict.fromkeys(set(tasks) - {"meme"}, 2), "meme": 14}
    assert len(tasks) == 3
    first, second = [
        line for line in result.outlines if line.startswith(("memfail  ", "meme  ")) and "memory held" in line
    ]
    assert (first.split()[0], second.split()[0]) == ("memfail", "meme")
    rows = [
        line.split()[0]
        for line in result.outlines
        if line.startswith(("all memfail", "all meme", "long_hop", "meme.cas"))
    ]
    assert "long_hop" in rows
    result.stdout.fnmatch_lines(["all memfail *", "meme.cascade *", "all meme *", "encoded *"])
    header = meme.project.record()[0]
    assert header["suite"] == ["memfail", "meme"]
    assert {name: task["suite"] for name, task in header["tasks"].items() if name in ("long_hop", "meme")} == {
        "long_hop": "memfail",
        "meme": "meme",
    }


# -- without one -------------------------------------------------------------------------------------------------------


def test_a_run_of_memfail_loads_nothing_of_other_suites(meme: Meme) -> None:
    meme.project.conftest(SAY_MODULES)
    result = meme.project.run_apart("--memfail-tasks=long_hop", "--memfail-limit=2", system="bm25")
    (ours,) = [line for line in result.outlines if line.startswith("of ours:")]
    loaded = ours.split()[2:]
    assert "pytest_memfail.suites" in loaded
    assert [name for name in loaded if ".suites.meme" in name] == []


def test_a_record_of_tasks_without_parts_has_no_field_for_them(meme: Meme) -> None:
    meme.project.run("--memfail-tasks=long_hop,persona_retrieval", "--memfail-limit=2", system="bm25")
    found = meme.project.record()
    assert {line["type"] for line in found} == {"header", "question", "store", "footer"}
    for line in found:
        assert not {"part", "listing", "history", "suites", "suite", "hidden", "cluster"} & set(line)
    assert not any({"variant", "parts", "stands_alone"} & set(task) for task in found[0]["tasks"].values())


def test_a_kind_of_facts_under_a_taken_name_is_refused(meme: Meme) -> None:
    meme.project.conftest(
        """
        from dataclasses import replace
        from pytest_memfail.core import Kind
        from pytest_memfail.suites import built_in_suite

        def pytest_memfail_suites(config):
            suite = built_in_suite("meme")
            return [replace(suite, name="mine", kinds={**suite.kinds, "fact": Kind("a", "b", "c")})]
        """
    )
    said = "the suite 'mine' defines 'fact', which another suite has as another kind"
    assert said in meme.refused("--memfail-suite=mine")


def test_a_suite_has_a_k_of_its_own(meme: Meme) -> None:
    meme.project.conftest(
        """
        from dataclasses import replace
        from pytest_memfail.suites import built_in_suite

        def pytest_memfail_suites(config):
            suite = built_in_suite("meme")

            def load(request):
                return [replace(task, k=None) for task in suite.load(request)]

            return [replace(suite, name="seven", k=7, load=load)]
        """
    )
    words = ("--memfail-suite=seven", "--memfail-tasks=meme.recall", "--memfail-limit=2")
    result = meme.project.run(*words, system="bm25")
    result.stdout.fnmatch_lines(["memfail: system bm25, * k=7"])
    assert {line["k"] for line in meme.project.record() if line["type"] == "question"} == {7}
    result = meme.project.run(*words, "--memfail-k=3", system="bm25")
    result.stdout.fnmatch_lines(["memfail: system bm25, * k=3"])
