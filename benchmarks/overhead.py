"""Measure the overhead of the plugin: an instant memory system, compared with as many trivial tests in plain pytest.

`python benchmarks/overhead.py` prints a table; README.md explains it. The hooks of the measured projects are in this
file too: their `conftest.py` imports them from here.
"""

# ruff: noqa: ARG001, ARG002 - hooks, judges and memory systems implement a given signature

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from pytest_memfail import Conversation, Fact, Judge, Listing, Memory, Message, Question, Reply, StageResult, Task
from pytest_memfail.core import NOT_STORED, Claim, Ingest, Part, Probe, StorePlan

HERE: Final = Path(__file__).resolve().parent
QUESTIONS: Final = "OVERHEAD_QUESTIONS"
PER_STORE: Final = "OVERHEAD_PER_STORE"
"""The environment variables that set the task size of a measured project."""
DEFAULT_PER_STORE: Final = 100
K: Final = 5
ONCE_ABOVE: Final = 20_000
"""Larger sizes are measured only once, because a run takes minutes."""
SLOW: Final = 100_000
"""From this size on, the offline judge is not measured under xdist."""

# -- the task: short facts in the first person, distinguished by four slots ------------------------------------------

DRINKS: Final = (
    "jasmine tea,black coffee,ginger ale,almond milk,tomato juice,hot chocolate,mint lemonade,barley water,plum brandy,"
    "coconut water,elderflower cordial,iced matcha,carrot juice,oat latte,apple cider,rooibos tea,sparkling water,"
    "cherry soda,pear nectar,goat milk"
).split(",")
VESSELS: Final = (
    "a chipped enamel mug,a tall crystal glass,a wooden bowl,a tin flask,a clay beaker,a porcelain cup,a copper tumbler,"
    "a paper carton,a steel thermos,a painted jar,a bamboo cup,a silver goblet,a travel bottle,a stoneware pitcher,"
    "a glass teapot,a leather canteen,a striped tankard,a soup plate,a plastic beaker,a marble chalice"
).split(",")
PLACES: Final = (
    "on the balcony,in the library,beside the harbour,under the chestnut tree,at the railway station,in my workshop,"
    "by the frozen lake,on the night bus,behind the theatre,in the greenhouse,at the climbing gym,near the lighthouse,"
    "in the attic,on the village square,at the laundromat,in the cinema foyer,along the canal,at the dentist,"
    "in the vineyard,on the ferry"
).split(",")
REASONS: Final = (
    "because my grandmother taught me so,since the noise calms me,as my doctor advised it,because the neighbours complain,"
    "since I lost a bet,as it reminds me of Lisbon,because the heating is broken,since my brother works there,"
    "as nobody disturbs me,because the light is soft,since it saves money,as my old dog insists,because I write letters then,"
    "since the choir rehearses,as I practise Finnish,because my knee hurts,since the baker opens early,as the wifi is bad,"
    "because I like the smell,since school taught me"
).split(",")


def make_task(questions: int, per_store: int) -> Task:
    """Return a task with this many questions, one fact each, in stores of about `per_store` conversations."""
    evidence: dict[str, Fact] = {}
    stores = []
    for start in range(0, questions, per_store):
        steps, asked = [], []
        for i in range(start, min(start + per_store, questions)):
            fact, preference, query = _fact(i)
            name = f"q{i:06}"
            conversation = Conversation(f"c{i:06}", (Message("user", fact),))
            evidence[name] = Fact(name, "preference", fact, fact, conversation.id, Claim((Part(preference),)))
            asked.append(Question(name, "generated", query, query, (preference,), (name,), "open"))
            steps.append(Ingest(conversation))
        stores.append(StorePlan(f"s{start // per_store:04}", (*steps, Probe(tuple(asked)))))
    return Task("generated", (NOT_STORED,), tuple(stores), evidence, licence="CC0-1.0", data_hash="generated")


def _fact(i: int) -> tuple[str, str, str]:
    slots = []
    rest = i
    for words in (DRINKS, VESSELS, PLACES, REASONS):
        rest, at = divmod(rest, len(words))
        slots.append(words[at])
    drink, vessel, place, reason = slots
    preference = f"{drink} from {vessel} {place}"
    return f"I always enjoy {preference}, {reason}.", preference, f"What do I drink from {vessel} {place}? ({i})"


# -- the system and the judges do as little as possible --------------------------------------------------------------


class InstantMemory:
    """A dict. Retrieval finds the number at the end of the query and returns that fact and the next ones: O(k)."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._first = 0

    def store_conversation(self, conversation: Conversation) -> None:
        if not self._texts:
            self._first = int(conversation.id[1:])
        self._texts.append(conversation.text)

    def retrieve_memories(self, query: str, conversation: Conversation, k: int) -> list[str]:
        if not query.endswith(")"):
            return self._texts[:k]
        at = int(query[query.rindex("(") + 1 : -1]) - self._first
        return self._texts[at : at + k]

    def get_all_memories(self) -> list[str]:
        return list(self._texts)


class InstantJudge:
    """Passes every memory stage; returns the given result for the answer stage."""

    inline = True

    def __init__(self, answer: StageResult) -> None:
        self._passed = StageResult("passed", "constant")
        self._answer = answer

    def storage(self, evidence: Fact, store: Listing) -> StageResult:
        return self._passed

    def summary(self, evidence: Fact, store: Listing) -> StageResult:
        return self._passed

    def retrieval(self, evidence: Fact, question: Question, shown: Sequence[Memory]) -> StageResult:
        return self._passed

    def answer(self, question: Question, evidence: Sequence[Fact], reply: Reply | None) -> StageResult:
        return self._answer


def pytest_memfail_tasks(config: Any) -> list[Task]:
    return [make_task(int(os.environ[QUESTIONS]), int(os.environ[PER_STORE]))]


def pytest_memfail_make_system(config: Any, name: str) -> Any:
    return InstantMemory if name == "instant" else None


def pytest_memfail_make_judge(config: Any, name: str) -> Judge | None:
    answers = {"passes": StageResult("passed", "constant"), "leaves-open": StageResult("ungraded", "constant")}
    return InstantJudge(answers[name]) if name in answers else None


# -- the measurement -------------------------------------------------------------------------------------------------

CONFTEST: Final = """\
from overhead import pytest_memfail_make_judge, pytest_memfail_make_system, pytest_memfail_tasks
"""
FLOOR: Final = f"""\
import os

import pytest


@pytest.mark.parametrize("i", range(int(os.environ[{QUESTIONS!r}])))
def test_nothing(i):
    pass
"""


@dataclass(frozen=True, slots=True)
class Condition:
    """A command line that is measured at several sizes."""

    name: str
    judge: str | None
    """None: plain pytest."""
    single_store: bool = False
    smallest_only: bool = False
    """Whether to measure it only at the smallest size."""
    reference: str = "none"
    """`made` in the run, or `kept` by an earlier one."""

    def arguments(self) -> list[str]:
        if self.judge is None:
            return ["-p", "no:memfail"]
        return ["-p", "pytest_memfail.plugin", "--memfail-system=instant", "--memfail-tasks=generated",
                f"--memfail-k={K}", f"--memfail-judge={self.judge}",
                *["--memfail-reference=none"] * (self.reference == "none")]  # fmt: skip


FLOOR_CONDITION: Final = Condition("plain pytest", None)
CONDITIONS: Final = (
    FLOOR_CONDITION,
    Condition("instant judge", "passes"),
    Condition("instant judge, one store", "passes", single_store=True, smallest_only=True),
    Condition("instant judge, ungraded", "leaves-open", smallest_only=True),
    Condition("offline judge", "offline"),
    Condition("offline, reference kept", "offline", smallest_only=True, reference="kept"),
    Condition("offline, reference made", "offline", smallest_only=True, reference="made"),
)


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one process and its children."""

    cpu: float
    wall: float
    peak_mb: float
    """Of the largest process."""


class Failed(Exception):
    """A measured run failed; the message quotes its output."""


def measure(command: Sequence[str], cwd: Path, env: Mapping[str, str], timeout: float, expected: str = "") -> Cost:
    """Run a command to its end.

    Raises `Failed` if it fails, takes too long, or does not print the expected text.
    """
    with tempfile.TemporaryFile() as output:
        began = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=cwd, env=env, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
        late = threading.Event()

        def stop() -> None:
            late.set()
            os.killpg(process.pid, signal.SIGKILL)

        timer = threading.Timer(timeout, stop)
        timer.start()
        try:
            # only this process with its children; getrusage(RUSAGE_CHILDREN) would include all earlier runs
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:  # interrupted: the measured processes have a session of their own, and would keep running
            os.killpg(process.pid, signal.SIGKILL)
            raise
        finally:
            timer.cancel()
        wall = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode(errors="replace")
    if late.is_set():
        raise Failed(f"took more than {timeout:.0f} s")
    if process.returncode != 0 or expected not in text:
        raise Failed(f"exit code {process.returncode}, expected {expected!r} in:\n{text[-2000:]}")
    unit = 1 if sys.platform == "darwin" else 1024
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss * unit / 2**20)


class Bench:
    """Two projects in a temporary folder, and their measurements."""

    def __init__(self, folder: Path, timeout: float) -> None:
        self._timeout = timeout
        self._folder = folder
        self._kept: dict[int, bytes] = {}
        """The reference that an earlier run has made, by size."""
        for name, file, text in (("plain", "test_floor.py", FLOOR), ("memfail", "conftest.py", CONFTEST)):
            (folder / name).mkdir()
            (folder / name / file).write_text(text)
            (folder / name / "pytest.ini").write_text("[pytest]\n")
        (folder / "tmp").mkdir()

    def environment(self, **more: str) -> dict[str, str]:
        # PYTHONDONTWRITEBYTECODE would compile the plugin anew at each start
        left_out = ("PYTEST_", "CI", "GITHUB_", "PYTHONDONTWRITEBYTECODE")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
        path = os.pathsep.join(filter(None, (str(HERE), os.environ.get("PYTHONPATH", ""))))
        # no colours, no other plugins, a separate folder for temporary files
        return kept | {"PYTHONPATH": path, "PYTHONHASHSEED": "0", "TERM": "dumb",
                       "PYTEST_DEBUG_TEMPROOT": str(self._folder / "tmp"), **more}  # fmt: skip

    def run(self, condition: Condition, n: int, workers: int, *, collect: bool) -> Cost:
        """Run one condition from a clean cache."""
        project = self._folder / ("plain" if condition.judge is None else "memfail")
        shutil.rmtree(project / ".pytest_cache", ignore_errors=True)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "xdist.plugin", f"-n{workers}", *condition.arguments()]
        env = self.environment(
            PYTEST_DISABLE_PLUGIN_AUTOLOAD="1",
            **{QUESTIONS: str(n), PER_STORE: str(n if condition.single_store else DEFAULT_PER_STORE)},
        )
        if collect:
            tests = "test" if n == 1 else "tests"
            return measure([*command, "--collect-only"], project, env, self._timeout, f"{n} {tests} collected")
        if condition.reference == "kept":
            kept = project / ".pytest_cache/d/memfail/reference.json"
            if n not in self._kept:
                subprocess.run(command, cwd=project, env=env, capture_output=True, check=False, timeout=self._timeout)
                self._kept[n] = kept.read_bytes()
                shutil.rmtree(project / ".pytest_cache")
            kept.parent.mkdir(parents=True)
            kept.write_bytes(self._kept[n])
        outcome = "passed" if condition.judge in (None, "passes") else "skipped"
        return measure(command, project, env, self._timeout, f"{n} {outcome}")

    def startup(self, repeats: int) -> dict[str, list[Cost]]:
        """Measure one trivial test with the plugin installed but not used, and with it blocked, alternately."""
        env = self.environment(**{QUESTIONS: "1"})
        commands = {
            "not installed (-p no:memfail)": ["-p", "no:memfail"],
            "installed, not used": [],
        }
        costs: dict[str, list[Cost]] = {name: [] for name in commands}
        for _ in range(repeats + 1):
            for name, more in commands.items():
                costs[name].append(
                    measure([sys.executable, "-m", "pytest", "-q", *more], self._folder / "plain", env, 60, "1 passed")
                )
        return {name: some[1:] for name, some in costs.items()}  # the first of each warms up


def best(costs: Sequence[Cost]) -> Cost:
    """Return the minimum of each figure, because other load only adds."""
    return Cost(min(c.cpu for c in costs), min(c.wall for c in costs), min(c.peak_mb for c in costs))


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table."""

    n: int
    condition: str
    workers: int
    collect: Cost | None
    run: Cost | None
    problem: str = ""


def plan(sizes: Sequence[int], workers: Sequence[int]) -> Iterator[tuple[int, Condition, int]]:
    """Yield what to measure; size 1 is the fixed cost that the figures per item exclude."""
    for n in (1, *sizes):
        for count in workers:
            for condition in CONDITIONS:
                if condition.smallest_only and n not in (1, min(sizes)):
                    continue
                if n >= SLOW and count > 0 and condition.judge == "offline":
                    continue
                yield n, condition, count


def measure_all(bench: Bench, sizes: Sequence[int], workers: Sequence[int], repeats: int) -> Iterator[Row]:
    """Yield every row, one size at a time; repeats alternate between conditions, so that other load affects all of
    them.
    """
    cells = list(plan(sizes, workers))
    for n in (1, *sizes):
        here = [(condition, count) for size, condition, count in cells if size == n]
        collected: dict[Any, list[Cost]] = {cell: [] for cell in here}
        ran: dict[Any, list[Cost]] = {cell: [] for cell in here}
        problems: dict[Any, str] = {}
        for round_ in range(1 if n > ONCE_ABOVE else max(repeats, 5) if n == 1 else repeats):
            for cell in here:
                if cell in problems:
                    continue
                condition, count = cell
                try:
                    collected[cell].append(bench.run(condition, n, count, collect=True))
                    ran[cell].append(bench.run(condition, n, count, collect=False))
                    how = f"{collected[cell][-1].cpu:.2f} s, {ran[cell][-1].cpu:.2f} s, {ran[cell][-1].peak_mb:.0f} MB"
                except Failed as error:
                    how = problems[cell] = str(error)
                print(f"n={n} {condition.name} -n {count}, round {round_ + 1}: {how}", file=sys.stderr, flush=True)
        for cell in here:
            condition, count = cell
            yield Row(
                n,
                condition.name,
                count,
                best(collected[cell]) if collected[cell] else None,
                best(ran[cell]) if ran[cell] else None,
                problems.get(cell, "").partition("\n")[0],
            )


def table(rows: Sequence[Row]) -> list[str]:
    """Return the rows as text, each compared with the floor of the same size and workers."""
    by_key = {(row.n, row.condition, row.workers): row for row in rows}
    lines = [
        f"{'':>7}  {'':<26}{'':>3}  {'collection':^22}  {'collection and run':^22}  {'peak':>6}  {'of the floor':^20}",
        f"{'n':>7}  {'condition':<26}{'-n':>3}  {'CPU s':>7}{'wall s':>7}{'us/item':>8}  "
        f"{'CPU s':>7}{'wall s':>7}{'us/item':>8}  {'MB':>6}  {'whole':>6}{'items':>7}{'wall':>7}",
    ]
    before = None
    for row in rows:
        if before not in (None, (row.n, row.workers)):
            lines.append("")
        before = (row.n, row.workers)
        start = f"{row.n:>7}  {row.condition:<26}{row.workers:>3}  "
        if row.collect is None or row.run is None:
            lines.append(start + f"not measured: {row.problem}")
            continue
        one, floor = by_key.get((1, row.condition, row.workers)), by_key.get((row.n, FLOOR_CONDITION.name, row.workers))
        floor_one = by_key.get((1, FLOOR_CONDITION.name, row.workers))
        collect_item, run_item = _per_item(row, one)
        _, floor_item = _per_item(floor, floor_one)
        whole = row.run.cpu / floor.run.cpu if floor and floor.run else None
        items = run_item / floor_item if run_item and floor_item else None
        wall = row.run.wall / floor.run.wall if floor and floor.run else None
        lines.append(
            start + f"{row.collect.cpu:7.2f}{row.collect.wall:7.2f}{_cell(collect_item, 1e6, 0):>8}  "
            f"{row.run.cpu:7.2f}{row.run.wall:7.2f}{_cell(run_item, 1e6, 0):>8}  {row.run.peak_mb:6.0f}  "
            f"{_cell(whole):>6}{_cell(items):>7}{_cell(wall):>7}"
        )
    return lines


def _per_item(row: Row | None, one: Row | None) -> tuple[float | None, float | None]:
    """Return the CPU seconds per item beyond the first, of collection and of collection plus run."""
    if row is None or one is None or row.n == 1 or not (row.collect and row.run and one.collect and one.run):
        return None, None
    return (row.collect.cpu - one.collect.cpu) / (row.n - 1), (row.run.cpu - one.run.cpu) / (row.n - 1)


def _cell(value: float | None, scale: float = 1, digits: int = 2) -> str:
    return "-" if value is None else f"{value * scale:.{digits}f}"


def startup_lines(costs: Mapping[str, Sequence[Cost]]) -> list[str]:
    """Return the start-up times as text, in milliseconds."""
    lines = [f"{'one trivial test':<32}{'CPU ms: least':>14}{'median':>9}{'wall ms: least':>16}{'median':>9}"]
    for name, some in costs.items():
        cpu, wall = ([1000 * getattr(c, what) for c in some] for what in ("cpu", "wall"))
        lines.append(
            f"{name:<32}{min(cpu):>14.1f}{statistics.median(cpu):>9.1f}{min(wall):>16.1f}{statistics.median(wall):>9.1f}"
        )
    without, with_ = costs.values()
    # the runs of each pair are adjacent
    pairs = [1000 * (b.wall - a.wall) for a, b in zip(without, with_, strict=True)]
    cpu_pairs = [1000 * (b.cpu - a.cpu) for a, b in zip(without, with_, strict=True)]
    lines.append(
        f"difference of neighbouring runs, median of {len(pairs)}: "
        f"{statistics.median(cpu_pairs):.1f} ms CPU, {statistics.median(pairs):.1f} ms wall"
    )
    return lines


def _numbers(text: str) -> list[int]:
    return [int(part.replace("_", "")) for part in text.split(",") if part]


def main() -> None:
    """Measure, print, and optionally write JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=_numbers, default=[692, 5000, 20000, 100000], help="numbers of questions")
    parser.add_argument("--workers", type=_numbers, default=[0, 2], help="values of xdist's -n")
    parser.add_argument(
        "--repeats", type=int, default=3, help=f"runs of each, the least counts (above {ONCE_ABOVE}: 1)"
    )
    parser.add_argument("--startup-repeats", type=int, default=40, help="pairs of runs for the start-up cost; 0: none")
    parser.add_argument("--timeout", type=float, default=900, help="seconds for one run")
    parser.add_argument("--json", type=Path, help="file for all figures")
    options = parser.parse_args()
    versions = {name: version(name) for name in ("pytest", "pytest-xdist", "pytest-memfail")}
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="overhead-") as folder:
        bench = Bench(Path(folder), options.timeout)
        startup = bench.startup(options.startup_repeats) if options.startup_repeats else {}
        try:
            for row in measure_all(bench, options.sizes, options.workers, options.repeats):
                rows.append(row)
        except KeyboardInterrupt:
            print("interrupted: what was finished follows", file=sys.stderr)
    about = ", ".join(f"{name} {number}" for name, number in versions.items())
    print(
        f"Python {platform.python_version()}, {about}, {os.cpu_count()} cores, {sys.platform}; least of {options.repeats}"
    )
    print()
    print("\n".join(table(rows)))
    if any(n >= SLOW for n in options.sizes) and any(options.workers):
        print(f"\nAbove n = {ONCE_ABOVE}, one run each; from {SLOW} on, the offline judge is not measured under xdist.")
    if startup:
        print("\n" + "\n".join(startup_lines(startup)))
    if options.json is not None:
        data = {
            "python": platform.python_version(),
            **versions,
            "cores": os.cpu_count(),
            "repeats": options.repeats,
            "rows": [asdict(row) for row in rows],
            "startup": {name: [asdict(cost) for cost in some] for name, some in startup.items()},
        }
        options.json.write_text(json.dumps(data, indent=1) + "\n")


if __name__ == "__main__":
    main()
