"""A planted secret of every shape is looked for in everything that a run and the commands over its record write."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from plugin.project import Project
from pytest_memfail.cli import main
from pytest_memfail.testing import LocalEndpoint

OPTIONS = {
    "dsn": "postgres://u:leak01aa@h/db",
    "url": "https://u:leak02aa@h",
    "pw": "leak03aa",
    "bearer": "leak04aa",
    "cookie": "sid=leak05aa; other=leak06aa",
    "sas": "leak07aa",
    "conn": "Server=h;Pwd=leak08,aa&aa;Database=d",
    "odd": "odd+x://u:leak09%40aa@h:1/x",
    "blob": "https://h/c?sv=2020&sig=leak10aa&se=2",
    "nested": json.dumps({"a": [{"password": "leak11aa"}], "mode": "fast"}),
    "unlabelled": "Xk3f9Qm2Lz8Rt5Vw1Bn7",
    "index": "kept-in-sight",
}
MODEL_OPTIONS = {
    "user_token": '"leak12aa"',
    "extra_headers": json.dumps({"Authorization": "Bearer leak13aa", "X-Corp": "leak14aa"}),
    "extra_body": json.dumps({"options": {"api_key": "leak15aa"}, "effort": "kept-too"}),
}
ENVIRONMENT = {
    "OPENAI_API_KEY": "leak16aa-of-the-endpoint",
    "SOME_SERVICE_TOKEN": "leak17aa-of-a-service",
    "SOME_DATABASE_URL": "mysql://u:leak18aa@h/db",
}
UNSEEN = ("leak19aa", "leak20aa", "leak21aa", "leak22aa")
"""Only in an exception's text: nobody has told the plugin."""
SECRETS = (*(f"leak{i:02}" for i in range(1, 23)), "Xk3f9Qm2Lz8Rt5Vw1Bn7")

LEAKY = """
    import warnings

    ALL = {all!r}

    class Leaky(Toy):
        def store_conversation(self, conversation):
            print("storing with", ALL)
            logging.getLogger("toy").warning("storing with %s", ALL)
            super().store_conversation(conversation)
            self.memories.append(ids_in(conversation.text)[0] + " was told " + ALL)

        def retrieve_memories(self, query, conversation, k):
            print("asking with", ALL)
            logging.getLogger("toy").warning("asking with %s", ALL)
            warnings.warn("insecure: " + ALL)
            if self.options.get("breaks") and self.hit("breaks", query):
                headers = {{"Authorization": "Bearer leak19aa", "X-Api-Key": "leak20aa"}}
                raise ConnectionError(f"cannot reach pg://u:leak21aa@h?token=leak22aa with {{headers}} or {{ALL}}")
            found = super().retrieve_memories(query, conversation, k)
            return [{{"text": text, "metadata": {{"of": ALL, ALL: 1}}, "id": ALL}} for text in found]

        def describe(self):
            return {{"dsn": self.options["dsn"], "said": ALL, "kind": "leaky"}}

    def pytest_memfail_make_system(config, name):
        if name == "broken":
            raise RuntimeError("no such host " + ALL)
        return lambda context: Leaky(context, config.rootpath / "events.log")
"""


def plain(value: str) -> str:
    """An option's secrets as a program says them: decoded."""
    return value.replace("%40", "@")


@pytest.fixture
def leaky(project: Project, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    """A project whose system, model and judge tell all secrets wherever they can."""
    known = [*OPTIONS.values(), *MODEL_OPTIONS.values(), *ENVIRONMENT.values()]
    said = " ".join(re.findall(r"leak(?!19|20|21|22)\d\d[\w,&%@-]*|Xk3f\w+", " ".join(map(plain, known))))
    project.conftest(LEAKY.format(all=said))
    project.script(ce_1="not_retrieved", ce_2="reasoning_error")
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)

    def echo(request: object) -> str:
        if "ce-4" in json.dumps(request):
            raise RuntimeError(f"refused: {said}")
        return f"You are {said}."

    with LocalEndpoint(echo) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        yield project


def options() -> list[str]:
    given = [f"--memfail-system-option={name}={value}" for name, value in OPTIONS.items()]
    given += [f"--memfail-model-option={name}={value}" for name, value in MODEL_OPTIONS.items()]
    return [*given, "--memfail-model=m", "--memfail-cache=off", "memfail/coexisting_facts"]


OURS = ("conftest.py", "events.log", "conftest.cpython", "stdout", "stderr")


def leaks(project: Project, *texts: str) -> list[tuple[str, str]]:
    """Which secret is in which text or file of the project."""
    places = {f"text {i}": text for i, text in enumerate(texts)}
    for path in project.path.rglob("*"):
        if path.is_file() and not path.name.startswith(OURS):
            name, text = str(path.relative_to(project.path)), path.read_bytes().decode("utf-8", "replace")
            places[name] = text
            for packed in re.findall(r'id="data">(.*?)</script>', text):
                places[f"data of {name}"] = gzip.decompress(base64.b64decode(packed)).decode("utf-8")
    return [(secret, place) for place, text in places.items() for secret in SECRETS if secret in text]


REPORTS = [f"--memfail-report=x.{ending}" for ending in ("html", "md", "json")]


@pytest.mark.parametrize("n", [None, 1])
def test_no_output_of_a_run_holds_a_secret(
    leaky: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, n: int | None
) -> None:
    words = [
        *options(),
        "--memfail-system-option=breaks=ce-3",
        "-v",
        "-rA",
        "-Wdefault",
        "--junitxml=x.xml",
        "-ojunit_logging=all",
    ]
    result = leaky.run(*words, *REPORTS, "--memfail-record=r.jsonl", system="leaky", n=n)
    result.assert_outcomes(passed=2, failed=2, errors=2)
    said = result.stdout.str() + result.stderr.str()
    assert leaks(leaky, said) == []
    for kept in (
        "kept-in-sight",
        "kept-too",
        "postgres://***@h/db",
        "Pwd=***;Database=d",
        "asking with ***",
        "insecure: ***",
    ):
        assert kept in said
    assert "cannot reach pg://***@h" in said

    monkeypatch.chdir(leaky.path)
    capsys.readouterr()
    record = "r.jsonl"
    for command in (["show", record, "--verdict=error"], ["show", record], ["report", record, "-o", "y.html", "-o", "y.md"],
                    ["compare", record, record], ["gate", record, "--fail-on=correct<0.9"]):  # fmt: skip
        main(command)
    shown = capsys.readouterr()
    assert "cannot reach pg://***@h" in shown.out
    assert leaks(leaky, shown.out, shown.err) == []


def test_neither_a_baseline_nor_the_gate_holds_a_secret(leaky: Project) -> None:
    words = [word for word in options() if word not in ("memfail/coexisting_facts", "--memfail-model=m")]
    words += ["--memfail-tasks=long_hop", "-Wdefault"]
    saved = leaky.run(*words, "--memfail-save-baseline=b.jsonl", system="leaky")
    assert "baseline saved" in saved.stdout.str()
    leaky.script(lh_1="not_retrieved")
    words += ["--memfail-baseline=b.jsonl", "--memfail-system-option=mode=leak03aa"]
    compared = leaky.run(*words, "--memfail-fail-on=regressions>0", system="leaky")
    assert "mode=***" in compared.stdout.str()
    assert leaks(leaky, saved.stdout.str(), compared.stdout.str(), compared.stderr.str()) == []


@pytest.mark.parametrize(
    "wrong",
    [
        ["--memfail-system-option=password:leak03aa"],
        ["--memfail-k=leak03aa"],
        ["memfail/coexisting_facts::leak03aa"],
        ["--memfail-system=broken"],
    ],
    ids=["pair", "k", "id", "hook"],
)
def test_no_usage_error_holds_a_secret(leaky: Project, wrong: list[str]) -> None:
    result = leaky.run(*options(), *wrong, system="leaky")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert leaks(leaky, result.stdout.str(), result.stderr.str()) == []
    assert "***" in result.stderr.str()


def test_a_memory_that_only_looks_like_a_secret_is_recorded_as_it_is(project: Project) -> None:
    text = "ce-1 says: wifi password=hunter2, door token Qm2Lz8Rt5Vw1Bn7Xk3f9, pg://u:p@h"
    project.conftest(
        f"""
        class Wifi(Toy):
            def retrieve_memories(self, query, conversation, k):
                return [{text!r}]

            def get_all_memories(self):
                return [{text!r}]

        def pytest_memfail_make_system(config, name):
            return lambda context: Wifi(context, config.rootpath / "events.log")
        """
    )
    project.run("memfail/coexisting_facts::ce-1", "--memfail-record=r.jsonl", system="wifi")
    (line,) = [line for line in project.record("r.jsonl") if line["type"] == "question"]
    assert line["retrieved"] == [{"text": text}]


def test_a_run_leaves_no_secret_to_the_next_one(project: Project, tmp_path: Path) -> None:
    project.run("memfail/coexisting_facts::ce-1", "--memfail-system-option=password=leek soup")
    project.run("memfail/coexisting_facts::ce-1", "--memfail-record=r.jsonl")
    assert "leek soup" in (project.path / "r.jsonl").read_text()
