"""Two users of one service over HTTP: the example service, and services that mix its users up."""

from __future__ import annotations

import importlib.util
import threading
from pathlib import Path

import pytest
from engine_fakes import names

from pytest_memfail.core import SuiteRequest, SystemContext
from pytest_memfail.engine import Ask, StoreJob
from pytest_memfail.judges.offline import OfflineJudge
from pytest_memfail.suites.isolation import SUITE
from pytest_memfail.suites.kinds import KINDS
from pytest_memfail.suites.shipped import shipped_sample
from pytest_memfail.systems import yaml_system

PAIRS = 8
EXAMPLES = Path(__file__).parents[3] / "examples" / "connectors"


@pytest.fixture(scope="module")
def service():
    spec = importlib.util.spec_from_file_location("service", EXAMPLES / "service.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def serve(service, tmp_path, monkeypatch):
    """`serve(*mixed)` starts a service that mixes its users up when it lists or searches, and returns its factory."""
    monkeypatch.setenv("MEMORY_KEY", "any-word")
    servers = []

    class Mixed(service.Notes):
        def __init__(self, mixed):
            super().__init__()
            self.mixed, self.doing = mixed, "list"

        def of(self, user):
            users = list(self._notes) if self.doing in self.mixed else [user]
            return [note for one in users for note in super(Mixed, self).of(one)]

        def search(self, user, query, limit):
            self.doing = "search"
            try:
                return super().search(user, query, limit)
            finally:
                self.doing = "list"

    def start(*mixed):
        server = service.serve(0, Mixed(mixed))
        servers.append(server)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        path = tmp_path / "memory.yaml"
        # one call at a time, as the service is told what it is doing
        text = (EXAMPLES / "notes_service.yaml").read_text().replace(":8765", f":{server.server_port}")
        path.write_text(f"{text}\nconcurrent_reads: 1\n")
        return yaml_system(path)

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    ("mixed", "value", "where"),
    [((), 0.0, ""), (("list", "search"), 1.0, "listed"), (("list",), 1.0, "listed"), (("search",), None, "only shown")],
)
def test_a_service_that_mixes_its_users_up_leaks(make_bench, serve, tmp_path, mixed, value, where):
    few = shipped_sample("isolation").joinpath("isolation.jsonl").read_text(encoding="utf-8").splitlines()[:PAIRS]
    (tmp_path / "isolation.jsonl").write_text("\n".join(few), encoding="utf-8")
    (task,) = SUITE.load(SuiteRequest(tmp_path))
    plan = task.stores[0]
    bench = make_bench(judge=OfflineJudge(kinds={**KINDS, **SUITE.kinds}))
    (tmp_path / "s").mkdir()
    run = bench.engine.begin(
        StoreJob(
            id="s",
            task=task.name,
            plan=plan,
            evidence=task.evidence,
            factory=serve(*mixed),
            context=SystemContext("run", "s", tmp_path / "s"),
            asks=tuple(Ask(question.id, question, 5) for question in plan.questions),
        )
    )
    results = bench.all(run)
    assert set(names(results)) <= {"no_answer", "not_retrieved", "wrongly_held"}
    score = SUITE.measures[0].of([result.verdict for result in results])
    assert score.n == PAIRS
    if value is None:  # where a search brings up the other's fact among five
        assert 0.5 < score.value <= 1
    else:
        assert score.value == value
    assert where in score.note
