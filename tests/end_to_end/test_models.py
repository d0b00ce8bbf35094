"""Whole runs with a model as judge and test-taker: the same verdicts however it is asked, and never a wrong one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pytest_memfail.testing import Fault, LocalEndpoint, answer_by_rule

Run = Callable[..., Any]

KEY = "sk-planted-0123456789abcdef"
SAMPLE = ("--memfail-limit=4", "--memfail-haystack=sample", "-q")
# few calls at once: with all questions in flight together none may be through half way
TWO_TASKS = ("--memfail-limit=6", "--memfail-concurrency=2", "--memfail-tasks=long_hop,conditional_facts_hard", "-q")
JUDGED = ("storage", "summary", "retrieval", "answer", "warm")


class Asking:
    """Runs pytest with a model behind one endpoint."""

    def __init__(self, run: Run, endpoint: LocalEndpoint | None) -> None:
        self._run = run
        self._env = {} if endpoint is None else {"OPENAI_BASE_URL": endpoint.url, "OPENAI_API_KEY": KEY}

    def __call__(
        self, *arguments: str, judge: str = "m", cache: str = "off", env: Mapping[str, str] | None = None
    ) -> Any:
        given = ("--memfail-system=bm25", "--memfail-model=m", f"--memfail-judge={judge}", f"--memfail-cache={cache}")
        return self._run(*given, *arguments, env=self._env if env is None else env)


@pytest.fixture
def asking(run_pytest: Run) -> Iterator[Callable[..., tuple[LocalEndpoint, Asking]]]:
    """Makes an endpoint that behaves as told, and what runs pytest with it."""
    endpoints = []

    def make(answer: Callable[..., Any] = answer_by_rule, **behaviour: Any) -> tuple[LocalEndpoint, Asking]:
        endpoint = LocalEndpoint(answer, **behaviour).start()
        endpoints.append(endpoint)
        return endpoint, Asking(run_pytest, endpoint)

    yield make
    for endpoint in endpoints:
        endpoint.close()


Make = Callable[..., tuple[LocalEndpoint, Asking]]


@dataclass(frozen=True)
class Shared:
    """A run that several tests look at, and what they repeat it with."""

    done: Any
    calls: int
    """Those that the endpoint has seen of this run."""
    endpoint: LocalEndpoint
    run: Asking
    cache: str
    """Where the replies are kept, as an option."""


def shared_run(run_once: Run, endpoint: LocalEndpoint, kept: Path, *arguments: str) -> Shared:
    run, cache = Asking(run_once, endpoint), f"--memfail-cache-path={kept / 'replies.sqlite'}"
    done = run(*arguments, cache, cache="on")
    return Shared(done, endpoint.calls, endpoint, run, cache)


@pytest.fixture(scope="module")
def sample(run_once: Run, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    """The sample, as many calls at once as may be."""
    with LocalEndpoint(answer_by_rule) as endpoint:
        yield shared_run(run_once, endpoint, tmp_path_factory.mktemp("kept"), *SAMPLE, "--memfail-concurrency=64")


@pytest.fixture(scope="module")
def with_workers(run_once: Run, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    """The sample with two workers."""
    with LocalEndpoint(answer_by_rule) as endpoint:
        yield shared_run(run_once, endpoint, tmp_path_factory.mktemp("kept"), *SAMPLE, "-n", "2")


@pytest.fixture(scope="module")
def two_tasks(run_once: Run, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    """Two tasks, a few calls at once."""
    with LocalEndpoint(answer_by_rule) as endpoint:
        yield shared_run(run_once, endpoint, tmp_path_factory.mktemp("kept"), *TWO_TASKS)


def judgements(done: Any) -> dict[str, Any]:
    """What was decided of each question and each of its facts, and the reply it was decided on."""
    return {
        node_id: (
            line["verdict"],
            line.get("label"),
            [(fact["id"], fact["verdict"], fact["missing"]) for fact in line.get("facts", ())],
            line.get("reply"),
        )
        for node_id, line in done.questions.items()
    }


def errors(done: Any) -> list[str]:
    """The messages of the items that are errors."""
    return [line["error"]["message"] for line in done.questions.values() if line["verdict"] == "error"]


def judge_calls(done: Any) -> int:
    """Calls of the judge, by the books."""
    return sum(row["calls"] for row in done.record[-1]["models"] if row["stage"] in JUDGED)


def usage_error(done: Any) -> str:
    """The one line that a run is refused with."""
    assert done.code == pytest.ExitCode.USAGE_ERROR, done.output
    assert done.record == []
    (line,) = [line for line in done.output.splitlines() if line.strip()]
    assert line.startswith("ERROR: ")
    return str(line)


# -- verdicts --------------------------------------------------------------------------------------------------------


def test_a_model_gives_reasoning_errors_and_the_account_of_its_calls(sample: Shared) -> None:
    done = sample.done
    assert done.code == 1
    counts = done.counts()
    assert counts["reasoning_error"] > 0 < counts["correct"]
    assert counts["ungraded"] == counts["error"] == 0
    models = done.record[-1]["models"]
    assert sum(row["calls"] for row in models) == sample.calls > 0
    assert {"storage", "retrieval", "answer", "test_taker"} <= {row["stage"] for row in models}
    assert all(row["cost"] is None for row in models)  # the price of `m` is unknown, not nothing
    (header,) = [line for line in done.output.splitlines() if line.startswith("model calls")]
    assert header.split() == "model calls calls cache hits tokens in (cached) out USD".split()
    (total,) = [line.split() for line in done.output.splitlines() if line.startswith("all  ") and "unknown" in line]
    assert total[1] == str(sample.calls)


@pytest.mark.parametrize(
    ("vary", "anew", "kept"),
    [pytest.param("judge", "storage", "test_taker", marks=pytest.mark.slow), ("answers", "test_taker", "storage")],
)
def test_what_varies_is_asked_anew_and_the_other_is_kept(asking: Make, vary: str, anew: str, kept: str) -> None:
    _, run = asking()
    task = ("memfail/updated_facts", "--memfail-limit=4", "-q")  # of a state that replaced another no rule decides

    def calls(done: Any) -> dict[str, int]:
        found: Counter[str] = Counter()
        for row in done.record[-1]["models"]:
            found[row["stage"]] += row["calls"]
        return found

    once = calls(run(*task, cache="on"))
    more = calls(run(*task, "--memfail-repeats=3", f"--memfail-vary={vary}", cache="on"))
    assert once[anew] > 0 < once[kept]
    assert (more[anew], more[kept]) == (2 * once[anew], 0)  # the first time, and all of the other, is in the cache


def test_what_varies_must_be_asked_and_kept(run_pytest: Run) -> None:
    line = usage_error(run_pytest("--memfail-system=bm25", "--memfail-vary=judge", "--memfail-repeats=3"))
    assert "--memfail-vary=judge needs a model as judge (--memfail-judge), --memfail-repeats above 1" in line


def assert_the_same(one: Any, other: Any) -> None:
    assert judgements(other) == judgements(one)
    assert other.table == one.table != ""
    assert other.code == one.code == 1


def test_the_same_verdicts_at_any_concurrency_and_number_of_workers(
    asking: Make, sample: Shared, with_workers: Shared
) -> None:
    _, run = asking()
    alone = run(*SAMPLE, "--memfail-concurrency=1")
    assert_the_same(alone, sample.done)
    assert_the_same(alone, with_workers.done)


@pytest.mark.slow
@pytest.mark.parametrize("judge", ["m", "offline+m"])
def test_four_workers_give_the_same_verdicts(asking: Make, judge: str) -> None:
    _, run = asking()
    alone = run(*SAMPLE, "--memfail-concurrency=1", judge=judge)
    for arguments in (("--memfail-concurrency=64",), ("-n", "4")):
        assert_the_same(alone, run(*SAMPLE, *arguments, judge=judge))


def test_workers_add_their_calls_to_one_account(with_workers: Shared) -> None:
    assert sum(row["calls"] for row in with_workers.done.record[-1]["models"]) == with_workers.calls > 0


def test_the_cascade_asks_the_model_far_less_and_decides_the_same(asking: Make, sample: Shared) -> None:
    _, run = asking()
    cascade = run(*SAMPLE, judge="offline+m")
    assert cascade.verdicts == sample.done.verdicts
    assert 0 < judge_calls(cascade) < judge_calls(sample.done) / 2


def test_the_paper_protocol_stores_the_assistants_turns(asking: Make) -> None:
    _, run = asking()
    done = run("--memfail-protocol=paper", "--memfail-limit=2", "--memfail-tasks=long_hop,conditional_facts_easy", "-q")
    assert done.record[0]["assistant_turns"] is True
    stores = [line for line in done.record if line["type"] == "store"]
    for store in stores:
        said = [memory["text"] for memory in store["listings"][-1]]
        turns = sum("Thank you, I will remember that." in text for text in said)
        assert turns >= store["conversations"] > 0
    assert len(stores) == 2
    assert done.counts()["error"] == 0


# -- the cache -------------------------------------------------------------------------------------------------------


def test_a_second_run_makes_no_call(sample: Shared) -> None:
    before = sample.endpoint.calls
    second = sample.run(*SAMPLE, sample.cache, cache="on")
    assert sample.endpoint.calls == before > 0
    assert judgements(second) == judgements(sample.done)


@pytest.mark.parametrize(
    "workers", ["0", pytest.param("2", marks=pytest.mark.slow)]
)  # test_runs_of_md_file.py replays with two
def test_a_replay_needs_no_key(sample: Shared, workers: str) -> None:
    before = sample.endpoint.calls
    url = {"OPENAI_BASE_URL": sample.endpoint.url}  # it is a part of what a reply is kept under
    replayed = sample.run(*SAMPLE, sample.cache, "-n", workers, cache="only", env=url)
    assert sample.endpoint.calls == before > 0
    assert judgements(replayed) == judgements(sample.done)
    assert sum(row["calls"] for row in replayed.record[-1]["models"]) == 0


def test_a_replay_without_a_recording_is_refused(run_pytest: Run, tmp_path: Path) -> None:
    run = Asking(run_pytest, None)
    line = usage_error(run(*SAMPLE, f"--memfail-cache-path={tmp_path / 'fresh.sqlite'}", cache="only"))
    assert "--memfail-cache=only" in line
    assert "fresh.sqlite" in line
    assert not (tmp_path / "fresh.sqlite").exists()


def test_what_a_replay_does_not_hold_is_an_error(two_tasks: Shared) -> None:
    before = two_tasks.endpoint.calls
    more = ("--memfail-limit=6", "--memfail-tasks=long_hop,conditional_facts_hard,coex*", "-q", two_tasks.cache)
    replayed = two_tasks.run(*more, cache="only")
    assert two_tasks.endpoint.calls == before
    graded = {node_id: verdict for node_id, verdict in replayed.verdicts.items() if verdict != "error"}
    assert graded == two_tasks.done.verdicts
    assert replayed.code == 6
    assert all("has no reply of 'm'" in message for message in errors(replayed))


# -- faults ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", ["0", pytest.param("2", marks=pytest.mark.slow)])
def test_an_endpoint_that_dies_half_way_spoils_no_verdict(asking: Make, two_tasks: Shared, workers: str) -> None:
    healthy = two_tasks.done
    _, run = asking(dies_after=two_tasks.calls // 2)
    done = run(*TWO_TASKS, "--memfail-max-wait=1", "-n", workers)
    assert done.questions.keys() == healthy.questions.keys()
    failed = done.counts()["error"]
    assert 0 < failed < len(done.questions)
    for node_id, judged in judgements(done).items():
        assert judged[0] == "error" or judged == judgements(healthy)[node_id]
    assert done.code == (6 if failed > 0.1 * len(done.questions) else 1)
    assert done.record[-1]["type"] == "footer"
    assert done.record[-1]["exit_code"] == done.code
    assert done.record[-1]["complete"] is True
    assert all("127.0.0.1" in message for message in errors(done))


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "drop"},
        pytest.param({"status": 503}, marks=pytest.mark.slow),
        pytest.param({"status": 429, "retry_after": 0.1}, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_an_endpoint_that_is_down_at_first_costs_no_question(asking: Make, fault: Mapping[str, Any]) -> None:
    _, run = asking(faults=[Fault(**fault)] * 4)  # the last is that of a probe
    done = run("--memfail-limit=4", "--memfail-tasks=long_hop", "-q")
    assert done.counts()["error"] == 0, errors(done)
    assert done.code in (0, 1)
    assert sum(row["failures"] for row in done.record[-1]["models"]) == 4


@pytest.mark.parametrize("workers", ["0", pytest.param("2", marks=pytest.mark.slow)])
def test_a_lasting_rate_limit_ends_the_run_with_its_reason(asking: Make, workers: str) -> None:
    endpoint, run = asking(faults=[Fault(status=429, retry_after=1_000_000_000, every=1)])
    done = run(*SAMPLE, "--memfail-max-wait=1.5", "--memfail-keep-going", "-n", workers)
    assert done.code == 6
    assert set(done.verdicts.values()) == {"error"}
    (said,) = {message for message in errors(done) if "waiting" in message}
    assert errors(done).count(said) == len(done.questions)
    assert said.startswith(f"127.0.0.1:{endpoint.port} answered 429 (too many requests): ")
    assert "gave up after waiting 2 s in all (see --memfail-max-wait); not asked" in said
    n = len(done.questions)
    (line,) = [line for line in done.output.splitlines() if "no trustworthy result" in line]
    assert line == f"memfail: no trustworthy result: {said}: {n} of {n} questions are errors"
    assert endpoint.calls <= 2 * 32  # and none later


@pytest.mark.parametrize("workers", ["0", pytest.param("2", marks=pytest.mark.slow)])
def test_a_wrong_key_is_told_and_never_shown(asking: Make, tmp_path: Path, workers: str) -> None:
    endpoint, run = asking(api_key="another")
    report = tmp_path / "report.xml"
    done = run(*SAMPLE, f"--junitxml={report}", "-n", workers, "-vv", "--showlocals")
    assert done.code == 6
    assert endpoint.calls == 0
    assert set(done.verdicts.values()) == {"error"}
    for message in errors(done):
        assert "\n" not in message
        assert "OPENAI_API_KEY" in message
    for text in (done.output, json.dumps(done.record), report.read_text()):
        assert KEY not in text
        assert KEY.removeprefix("sk-") not in text


@pytest.mark.parametrize("workers", ["0", pytest.param("2", marks=pytest.mark.slow)])
def test_a_used_up_budget_ends_the_asking(asking: Make, workers: str) -> None:
    endpoint, run = asking()
    budget = 15_000
    done = run(*SAMPLE, f"--memfail-max-tokens={budget}", "-n", workers)
    spent = sum(row["prompt_tokens"] + row["completion_tokens"] for row in done.record[-1]["models"])
    assert 0 < spent <= budget
    assert sum(row["calls"] for row in done.record[-1]["models"]) == endpoint.calls
    assert done.code == 6
    assert len(errors(done)) > 3
    assert all("budget" in message for message in errors(done))


@pytest.mark.slow
def test_no_budget_at_all_makes_no_call(asking: Make) -> None:
    endpoint, run = asking()
    done = run(*SAMPLE, "--memfail-max-tokens=0")
    assert endpoint.calls == 0
    assert set(done.verdicts.values()) == {"error"}
    assert done.code == 6


@pytest.mark.slow
def test_a_budget_that_stopped_a_run_spoils_no_verdict(asking: Make) -> None:
    _, run = asking()
    whole = judgements(run(*SAMPLE))
    stopped = judgements(run(*SAMPLE, "--memfail-max-tokens=60000"))
    graded = {node_id: judged for node_id, judged in stopped.items() if judged[0] != "error"}
    assert graded == {node_id: whole[node_id] for node_id in graded}


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param({"status": 429, "retry_after": 0.05}, marks=pytest.mark.slow),
        {"status": 429},
        pytest.param({"status": 500}, marks=pytest.mark.slow),
        pytest.param({"kind": "drop"}, marks=pytest.mark.slow),
        pytest.param({"kind": "drop_mid_body"}, marks=pytest.mark.slow),
        pytest.param({"kind": "empty"}, marks=pytest.mark.slow),
        pytest.param({"kind": "truncated"}, marks=pytest.mark.slow),
        pytest.param({"kind": "invalid_json"}, marks=pytest.mark.slow),
    ],
    ids=lambda fault: "-".join(map(str, fault.values())),
)
def test_faults_that_pass_change_no_verdict(asking: Make, two_tasks: Shared, fault: Mapping[str, Any]) -> None:
    healthy = two_tasks.done
    struck: list[str] = []

    def strikes(request: Mapping[str, Any]) -> bool:
        # any text is a reply to a question in free text, broken JSON too
        if len(struck) == 4 or (fault.get("kind") == "invalid_json" and "response_format" not in request):
            return False
        asked = str(request["messages"])
        if asked in struck:  # or all four may strike one request, which then is an error, and rightly so
            return False
        struck.append(asked)
        return True

    _, run = asking(faults=[Fault(**fault, when=strikes)])
    done = run(*TWO_TASKS)
    assert len(struck) == 4
    assert judgements(done) == judgements(healthy)
    assert done.code == healthy.code == 1


def test_a_judge_that_never_replies_as_asked_gives_errors(asking: Make) -> None:
    def about_the_store(request: Mapping[str, Any]) -> bool:
        return "<fact>" in str(request["messages"])

    _, run = asking(faults=[Fault("wrong_schema", when=about_the_store)])
    # what stands in the store word for word needs no model
    done = run("--memfail-system=lossy", "--memfail-limit=2", "--memfail-tasks=long_hop,conditional_facts_hard", "-q")
    assert set(done.verdicts.values()) == {"error"}
    assert done.code == 6


# -- refused before anything is stored -------------------------------------------------------------------------------


def test_a_judge_model_without_a_key_is_refused(run_pytest: Run) -> None:
    line = usage_error(run_pytest("--memfail-system=bm25", "--memfail-judge=gpt-9"))
    assert "--memfail-judge: the model 'gpt-9' needs OPENAI_API_KEY" in line
    assert "OPENAI_API_KEY" in line


def test_a_test_taker_without_a_key_is_refused(run_pytest: Run) -> None:
    line = usage_error(run_pytest("--memfail-system=bm25", "--memfail-model=gpt-9"))
    assert "'gpt-9' needs OPENAI_API_KEY" in line


def test_a_budget_in_dollars_for_a_model_of_unknown_price_is_refused(asking: Make) -> None:
    endpoint, run = asking()
    line = usage_error(run(*SAMPLE, "--memfail-max-cost=1"))
    assert "the price of 'm' is unknown" in line
    assert "price file" in line
    assert "budget in tokens" in line
    assert endpoint.calls == 0


# -- repeats -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("judge", ["m", pytest.param("offline", marks=pytest.mark.slow)])
def test_each_time_that_a_question_is_asked_has_replies_of_its_own_in_the_cache(asking: Make, judge: str) -> None:
    endpoint, run = asking()
    task = ("memfail/long_hop", "--memfail-limit=6", "-q")
    once = run(*task, judge=judge, cache="on")
    calls = endpoint.calls
    twice = run(*task, "--memfail-repeats=2", judge=judge, cache="on")
    assert endpoint.calls == 2 * calls > 0  # the first time was paid for
    again = run(*task, "--memfail-repeats=2", judge=judge, cache="only")
    assert endpoint.calls == 2 * calls
    assert judgements(once) == judgements(twice) == judgements(again)
    assert all(line["repeats"] == [line["verdict"]] * 2 for line in again.questions.values())
