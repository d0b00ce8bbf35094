"""Measure calls, tokens and time of models: the five tasks against a local endpoint with a latency.

`python benchmarks/llm_path.py` prints the tables; README.md explains them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pytest_memfail.testing import LocalEndpoint, answer_by_rule
from pytest_memfail.testing.answers import BLOCK

MODEL: Final = "m"
JUDGES: Final = {"ours": MODEL, "cascade": f"offline+{MODEL}"}
JUDGE_STAGES: Final = ("warm", "storage", "summary", "retrieval", "answer")
PUBLISHED: Final = (
    "the published harness, as measured on 2 cores with the published rows: 4,299 calls; tokens in 13.97 M, of which judge "
    "13.16 M\n(storage 6.01, summary 6.12, retrieval 0.83, last stage 0.19); 545 s at 200 ms; ideal at 200 ms: 27.0 s at "
    "32, 13.6 s at 64"
)
GOALS: Final = {"ours": 2_600_000, "cascade": 1_000_000}
"""The most judge input tokens, with the published rows."""
GOAL_RATIO: Final = 1.5


# -- the endpoint, in a separate process so that its CPU time does not slow the client -------------------------------


def serve(latency: float) -> None:
    """Answer until standard input ends; for each line of it, report the requests since the last."""
    arrived: list[tuple[float, str, str]] = []

    def answer(request: dict[str, Any]) -> str:
        arrived.append((time.monotonic(), *_kind(request)))
        return answer_by_rule(request)

    with LocalEndpoint(answer, latency_seconds=latency, keep_requests=1) as endpoint:
        print(json.dumps({"url": endpoint.url}), flush=True)
        before = time.process_time()
        for _ in sys.stdin:
            now = time.process_time()
            known = {"calls": endpoint.calls, "peak": endpoint.peak_in_flight, "cpu": now - before, "arrived": arrived}
            print(json.dumps(known), flush=True)
            arrived.clear()
            endpoint.reset_counters()
            before = now


def _kind(request: Mapping[str, Any]) -> tuple[str, str]:
    """Return the stage of a request, and its subject: a fact's source or a question."""
    blocks = dict(BLOCK.findall(request["messages"][1]["content"]))
    if "fact" in blocks:
        fact = json.loads(blocks["fact"])
        return ("retrieval" if fact["check"] == "retrieval" else "storage"), fact["said"]
    if "facts" in blocks:
        return "answer", json.loads(blocks["facts"])["question"]
    if "question" in blocks:
        return "test_taker", json.loads(blocks["question"])
    return "warm", ""


class Endpoint:
    """The endpoint's process."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self._process = process
        self.url = url

    def since_last(self) -> dict[str, Any]:
        """Return the requests since the last call."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return dict(json.loads(self._process.stdout.readline()))


@contextmanager
def endpoint_process(latency: float) -> Iterator[Endpoint]:
    """Serve until the block ends."""
    process = subprocess.Popen(
        [sys.executable, __file__, "--serve", str(latency)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield Endpoint(process, json.loads(process.stdout.readline())["url"])
    finally:
        process.stdin.close()
        process.wait(10)


# -- one run ---------------------------------------------------------------------------------------------------------


@dataclass
class Finished:
    """The cost of one pytest run."""

    wall: float
    cpu: float
    served: dict[str, Any]
    record: list[dict[str, Any]]

    @property
    def questions(self) -> list[dict[str, Any]]:
        return [line for line in self.record if line["type"] == "question"]

    @property
    def verdicts(self) -> dict[str, str]:
        return {line["id"]: line["verdict"] for line in self.questions}

    def tokens(self, *stages: str) -> int:
        """Return the input tokens of these stages, or of all."""
        rows = self.record[-1]["models"]
        return sum(row["prompt_tokens"] for row in rows if not stages or row["stage"] in stages)

    def asking(self, latency: float) -> float:
        """Return the seconds from the first request to the last reply, without start-up, collection and summary."""
        times = [at for at, *_ in self.served["arrived"]]
        return max(times) - min(times) + latency if times else 0.0

    def chain(self) -> int:
        """Return the longest chain of sequential calls for one question, including shared ones."""
        counts: Counter[tuple[str, str]] = Counter((kind, about) for _, kind, about in self.served["arrived"])
        asked_about: Counter[str] = Counter()
        for line in self.questions:
            asked_about.update(fact["source"] for fact in line["facts"])
        longest = 0
        for line in self.questions:
            calls = 0.0
            for fact in line["facts"]:
                about = fact["source"]
                stored = counts["storage", about]
                # an essay's retrieval checks: one per question about it
                checks = counts["retrieval", about] / max(1, asked_about[about])
                calls += stored + checks
            calls += bool(counts["test_taker", line["text"]]) + bool(counts["answer", line["text"]])
            longest = max(longest, round(calls))
        return longest

    def by_task(self, latency: float) -> list[tuple[str, int, float, float]]:
        """Return the calls of each task with the times of the first request and the last reply; shared calls are
        separate.
        """
        tasks: defaultdict[str, set[str]] = defaultdict(set)
        for line in self.questions:
            for text in (line["text"], *(fact["source"] for fact in line["facts"])):
                tasks[text].add(line["task"])
        times: defaultdict[str, list[float]] = defaultdict(list)
        for at, _, about in self.served["arrived"]:
            if about in tasks:
                times[" or ".join(sorted(tasks[about]))].append(at)
        start = min((at for at, *_ in self.served["arrived"]), default=0.0)
        return [(task, len(at), min(at) - start, max(at) - start + latency) for task, at in times.items()]


def run(endpoint: Endpoint, folder: Path, data: Path | None, judge: str, concurrency: int, *cache: str) -> Finished:
    """Run pytest in a process, as a user does."""
    record = folder / "record.jsonl"
    record.unlink(missing_ok=True)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "OPENAI_"))}
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--memfail-system=bm25", "--memfail-k=5"),
        *(f"--memfail-model={MODEL}", f"--memfail-judge={JUDGES[judge]}", f"--memfail-concurrency={concurrency}"),
        *(f"--memfail-record={record}", *cache),
    ]
    if data is not None:
        command.append(f"--memfail-data={data}")
    endpoint.since_last()
    began = time.perf_counter()
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment | {"OPENAI_BASE_URL": endpoint.url, "OPENAI_API_KEY": "any"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    output: list[str] = []
    reader = threading.Thread(target=lambda: output.append(process.stdout.read()))  # type: ignore[union-attr]
    reader.start()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    reader.join()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)}\nended with {process.returncode}:\n{output[0][-4000:]}")
    lines = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]
    return Finished(wall, usage.ru_utime + usage.ru_stime, endpoint.since_last(), lines)


# -- the tables ------------------------------------------------------------------------------------------------------

HEAD: Final = (
    f"{'judge':8} {'latency':>7} {'at once':>7} {'calls':>6} {'whole s':>8} {'asking s':>8} {'ideal s':>8} {'chain s':>8} "
    f"{'whole/ideal':>11} {'asking/ideal':>12} {'peak':>5} {'mean':>5} {'CPU s':>6} {'endpoint CPU s':>14}"
)


def line_of(judge: str, latency: float, concurrency: int, done: Finished) -> str:
    """One row of the table of times."""
    calls, asking = done.served["calls"], done.asking(latency)
    ideal = calls * latency / concurrency
    whole, pure = (f"{s / ideal:.2f}" if ideal else "-" for s in (done.wall, asking))
    mean = f"{calls * latency / asking:.1f}" if asking and latency else "-"
    return (
        f"{judge:8} {latency * 1000:>4.0f} ms {concurrency:>7} {calls:>6} {done.wall:>8.1f} {asking:>8.1f} {ideal:>8.1f} "
        f"{done.chain() * latency:>8.1f} {whole:>11} {pure:>12} {done.served['peak']:>5} {mean:>5} {done.cpu:>6.1f} "
        f"{done.served['cpu']:>14.1f}"
    )


def show_tokens(judge: str, done: Finished) -> None:
    """Calls and tokens of each stage."""
    print(f"\n{judge}: tokens by stage")
    for row in done.record[-1]["models"]:
        print(
            f"  {row['stage']:12}{row['calls']:>6} calls {row['prompt_tokens']:>10,} in {row['completion_tokens']:>8,} out"
        )
    print(
        f"  {'judge':12}{'':>12} {done.tokens(*JUDGE_STAGES):>10,} in (goal with the published rows: {GOALS[judge]:,})"
    )
    print(f"  {'all':12}{'':>12} {done.tokens():>10,} in")


def show_tasks(judge: str, latency: float, concurrency: int, done: Finished) -> None:
    """Print when in the run each task was asked."""
    print(f"\n{judge}, {latency * 1000:.0f} ms, {concurrency} at once: from the first request on")
    for task, calls, first, last in done.by_task(latency):
        mean = calls * latency / (last - first)
        print(f"  from {first:>5.1f} s to {last:>5.1f} s {calls:>5} calls, {mean:>5.1f} in flight on average: {task}")


def digest(verdicts: Mapping[str, str]) -> str:
    """Return a few letters that are equal for equal verdicts."""
    return hashlib.sha256(json.dumps(sorted(verdicts.items())).encode()).hexdigest()[:8]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run and print; return 1 if verdicts of a judge differed or the cache was incomplete."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--latency", default="0,0.2", help="seconds per call, comma-separated (default: %(default)s)")
    parser.add_argument("--concurrency", default="32,64", help="questions in flight at once (default: %(default)s)")
    parser.add_argument("--judge", default="ours,cascade", help="ours, cascade (default: both)")
    parser.add_argument("--data", type=Path, help="folder of rows (default: the shipped ones)")
    parser.add_argument("--serve", type=float, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.serve is not None:
        serve(given.serve)
        return 0
    latencies = [float(part) for part in given.latency.split(",")]
    concurrencies = [int(part) for part in given.concurrency.split(",")]
    judges = given.judge.split(",")
    if unknown := set(judges) - set(JUDGES):
        parser.error(f"unknown judge {', '.join(unknown)}; expected ours or cascade")
    data = None if given.data is None else given.data.resolve()

    print(f"rows: {data or 'shipped'}; system bm25, k = 5; {os.cpu_count()} cores\n\n{HEAD}", flush=True)
    details: dict[str, tuple[float, int, Finished]] = {}
    seen: dict[str, dict[str, str]] = {judge: {} for judge in judges}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for latency in latencies:
            with endpoint_process(latency) as endpoint:
                for judge in judges:
                    for concurrency in concurrencies:
                        done = run(endpoint, folder, data, judge, concurrency, "--memfail-cache=off")
                        print(line_of(judge, latency, concurrency, done), flush=True)
                        seen[judge][f"{latency:g} s, {concurrency}"] = digest(done.verdicts)
                        if judge not in details or latency > details[judge][0]:
                            details[judge] = (latency, concurrency, done)
        cached: dict[str, list[Finished]] = {}
        with endpoint_process(min(latencies)) as endpoint:
            for judge in judges:
                cache = ("--memfail-cache=on", f"--memfail-cache-path={folder / judge}.sqlite")
                cached[judge] = [run(endpoint, folder, data, judge, concurrencies[0], *cache) for _ in range(2)]
                seen[judge] |= {f"cache, run {i}": digest(one.verdicts) for i, one in enumerate(cached[judge], 1)}
    for judge, (latency, concurrency, done) in details.items():
        show_tokens(judge, done)
        if latency:
            show_tasks(judge, latency, concurrency, done)
    print()
    for judge, (first, second) in cached.items():
        print(
            f"{judge}, cache on: first run {first.served['calls']} calls, {first.wall:.1f} s, {first.cpu:.1f} CPU s; "
            f"second run {second.served['calls']} calls, {second.wall:.1f} s, {second.cpu:.1f} CPU s"
        )
    differ = {judge: runs for judge, runs in seen.items() if len(set(runs.values())) > 1}
    for judge, runs in differ.items():
        print(f"{judge}: VERDICTS DIFFER: {'; '.join(f'{name}: {value}' for name, value in runs.items())}")
    print("" if differ else "verdicts: the same in all runs of a judge")
    print(f"\n{PUBLISHED}")
    return 0 if not differ and not any(second.served["calls"] for _, second in cached.values()) else 1


if __name__ == "__main__":
    raise SystemExit(main())
