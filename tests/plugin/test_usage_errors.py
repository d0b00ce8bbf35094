"""Bad input gets one clear line and exit code 4, before anything is stored; bad return types name the method."""

from __future__ import annotations

import json
import sys

import pytest

from plugin.project import (
    CONDITIONAL,
    LONG_HOP,
    Project,
    coexisting_rows,
    long_hop_rows,
    persona_rows,
    slowly_both_ways,
)


def refused(project: Project, *args: str, system: str | None = "toy") -> str:
    """The line that a run is refused with."""
    result = project.run(*args, system=system)
    assert result.ret == pytest.ExitCode.USAGE_ERROR, result.stdout.str()
    (line,) = [line for line in result.errlines if line.strip()]
    assert line.startswith("ERROR: ")
    assert project.events() == []
    assert project.record() == []
    return line


# -- packages ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["--memfail-model=m", "--memfail-judge=m"])
def test_a_model_without_the_package_that_asks_it(
    project: Project, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setitem(sys.modules, "openai", None)
    assert refused(project, option).endswith("the package openai is not installed; run: pip install openai")


# -- the endpoint -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["--memfail-model=m", "--memfail-judge=offline+m", "--memfail-proxy=on"])
@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("localhost:11434/v1", "base URL of the model endpoint is invalid; expected http(s)://HOST[:PORT]/PATH"),
        (
            "https://a.test/v1?api-version=1",
            "base URL of a.test has a query after `?`, which is not supported; remove it",
        ),
    ],
)
def test_an_address_that_cannot_be_asked(
    project: Project, monkeypatch: pytest.MonkeyPatch, option: str, url: str, said: str
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    assert refused(project, option).endswith(f"the {said}")


# -- secrets ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("secret", ["conditional", "memfail", "co-3"])
def test_a_secret_that_is_part_of_a_name(any_project: Project, secret: str) -> None:
    line = refused(any_project, f"--memfail-system-option=password={secret}")
    assert "a secret is also a part of the name '" in line
    assert "***" in line.partition("expected")[0]
    assert secret not in line


# -- names -----------------------------------------------------------------------------------------------------------


def test_unknown_names(any_project: Project) -> None:
    line = refused(any_project, system="bm26")
    assert (
        "unknown memory system 'bm26'; did you mean 'bm25'? Known: a-mem, bm25, dense, forgetful, full-context" in line
    )
    assert "pytest_memfail_make_system" in line
    if any_project.n is not None:
        return
    line = refused(any_project, "--memfail-tasks=long_hops")
    assert "unknown task 'long_hops'; did you mean 'long_hop'? Known: coexisting_facts, conditional_facts_easy" in line
    line = refused(any_project, "--memfail-judge=ofline")
    assert "unknown judge 'ofline'; did you mean 'offline'? Known: offline" in line


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (
            ["--memfail-judge=offline", "weight=mine.json"],
            "--memfail-judge-option: got weight=mine.json, expected weights=PATH or encoder=on",
        ),
        (
            ["--memfail-judge=offline", "encoder=yes"],
            "--memfail-judge-option: got encoder=yes, expected encoder=on or encoder=off",
        ),
        (
            ["--memfail-judge=offline", "weights=mine.json"],
            "--memfail-judge-option: got weights=mine.json (No such file or directory), expected a file",
        ),
        (["--memfail-judge=script", "weights=mine.json"], "the judge 'script' takes no options"),
    ],
)
def test_an_option_that_the_judge_does_not_take(project: Project, words: list[str], fault: str) -> None:
    assert fault in refused(project, words[0], f"--memfail-judge-option={words[1]}")


@pytest.mark.parametrize("pattern", ["long_*,zzz*", "zzz"])
def test_a_pattern_that_matches_no_task(project: Project, pattern: str) -> None:
    assert "unknown task 'zzz" in refused(project, f"--memfail-tasks={pattern}")


def test_a_model_option_that_is_nested_deeply_is_text(project: Project) -> None:
    result = project.run("memfail/long_hop", f"--memfail-model-option=stop={'[' * 50_000}")
    assert "INTERNALERROR" not in result.stdout.str() + result.stderr.str()


def test_options_that_a_system_does_not_have(project: Project) -> None:
    line = refused(project, "--memfail-system-option=rate=0.3", system="bm25")
    assert "unknown --memfail-system-option of bm25 'rate'. Known: header, unit" in line


def test_a_factory_that_cannot_be_called(project: Project) -> None:
    project.file("mine.py", "def make(path, user):\n    return None")
    line = refused(project, system="mine:make")
    assert (
        "--memfail-system=mine:make: got the factory make(path, user); expected one of make(context) or make()" in line
    )


def test_task_patterns(project: Project) -> None:
    result = project.run("--memfail-tasks", "long_*, conditional_facts_e*", "--collect-only", "-q")
    assert {line.partition("::")[0] for line in result.outlines if "::" in line} == {
        "memfail/long_hop",
        "memfail/conditional_facts_easy",
    }


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("nowhere:make", "--memfail-system: no module named 'nowhere'"),
        ("mine:makes", "unknown attribute of mine for --memfail-system 'makes'; did you mean 'make'?"),
        ("mine:", "--memfail-system: got 'mine:', expected module:attribute"),
        (":make", "--memfail-system: got ':make', expected module:attribute"),
        ("./in/mine.py:make", "got './in/mine.py:make', the name of a file, expected that of a module: in.mine:make"),
        ("mine:NUMBER", "--memfail-system: 'mine:NUMBER' is int, expected a factory"),
        ("broken:make", "--memfail-system: importing 'broken' failed: ZeroDivisionError: division by zero"),
        ("needs:make", "--memfail-system: importing 'needs' failed: No module named 'chromadb_of_nobody'"),
    ],
)
def test_a_system_by_import(project: Project, name: str, expected: str) -> None:
    project.file("mine.py", "NUMBER = 3\ndef make(): pass")
    project.file("broken.py", "1 / 0")
    project.file("needs.py", "import chromadb_of_nobody")
    assert expected in refused(project, system=name)


@slowly_both_ways
def test_a_system_by_import_works(any_project: Project) -> None:
    any_project.file(
        "mine.py",
        """
        class Memory:
            def __init__(self): self.kept = []
            def store_conversation(self, conversation): self.kept += [m.content for m in conversation.messages]
            def retrieve_memories(self, query, conversation, k): return self.kept[:k]
            def get_all_memories(self): return self.kept
        """,
    )
    assert any_project.run("memfail/long_hop", system="mine:Memory").ret == 0


@pytest.mark.parametrize("system", ["bm25", "full-context"])
def test_a_built_in_system(project: Project, system: str) -> None:
    assert project.run("memfail/long_hop", system=system).ret == 0


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mine:Half", "--memfail-judge: 'mine:Half' has no retrieval(), answer(); expected a judge with storage()"),
        ("mine:nothing", "unknown attribute of mine for --memfail-judge 'nothing'"),
        ("nowhere:Judge", "--memfail-judge: no module named 'nowhere'"),
    ],
)
def test_a_judge_by_import(project: Project, name: str, expected: str) -> None:
    project.file("mine.py", "class Half:\n    def storage(self, e, s): ...\n    def summary(self, e, s): ...")
    assert expected in refused(project, f"--memfail-judge={name}")


# -- values ----------------------------------------------------------------------------------------------------------

BAD_VALUES = [
    ("k", "0"),
    ("k", "five"),
    ("k", "5,,x"),
    ("k", "-1"),
    ("k", ","),
    ("limit", "0"),
    ("limit", "-3"),
    ("limit", "many"),
    ("seed", "lucky"),
    ("seed", "-1"),
    ("concurrency", "0"),
    ("concurrency", "1.5"),
    ("protocol", "theirs"),
    ("summary", "long"),
]


@pytest.mark.parametrize(("option", "value"), BAD_VALUES)
def test_a_bad_value(project: Project, option: str, value: str) -> None:
    line = refused(project, f"--memfail-{option}={value}")
    assert f"--memfail-{option}: got '{value}', expected " in line


@pytest.mark.parametrize(("option", "value"), BAD_VALUES[::3])
def test_a_bad_value_in_the_ini_file(project: Project, option: str, value: str) -> None:
    project.ini(f"memfail_{option} = {value}")
    line = refused(project)
    assert f"memfail-{option}: got '{value}', expected " in line.replace("_", "-")


@pytest.mark.parametrize("pair", ["no_equals", "=value", " =value"])
def test_a_bad_system_option(project: Project, pair: str) -> None:
    assert "--memfail-system-option: got " in refused(project, f"--memfail-system-option={pair}")


def test_a_bad_value_under_xdist(project2: Project) -> None:
    assert "--memfail-k: got '0'" in refused(project2, "--memfail-k=0")


def test_ini_twins(project: Project) -> None:
    project.ini(
        "memfail_system = toy",
        "memfail_tasks = long_hop",
        "memfail_k = 2",
        "memfail_limit = 3",
        "memfail_seed = 7",
        "memfail_concurrency = 2",
        "memfail_summary = none",
        "memfail_record = out.jsonl",
        "memfail_system_option =",
        "    first=1",
        "    second=a = b",
    )
    result = project.run(system=None)
    assert result.ret == 0
    result.assert_outcomes(passed=3)
    assert "record:" not in result.stdout.str()
    header, *lines = project.record("out.jsonl")
    assert (header["k"], header["limit"], header["seed"]) == ([2], 3, 7)
    assert header["system_options"] == {"first": "1", "second": "a = b"}
    assert {len(line["retrieved"]) for line in lines if line["type"] == "question"} == {2}


def test_the_command_line_wins(project: Project) -> None:
    project.ini("memfail_system = bm25", "memfail_k = 2", "memfail_limit = 3", "memfail_system_option = a=1")
    options = ("--memfail-k=1,3", "--memfail-limit=2", "--memfail-system-option=b=2")
    assert project.run("memfail/long_hop", *options).ret == 0
    header = project.record()[0]
    assert (header["system"], header["k"], header["limit"]) == ("toy", [1, 3], 2)
    assert header["system_options"] == {"b": "2"}
    assert len(project.ran()) == 4


def test_a_limit_is_a_balanced_sample(any_project: Project) -> None:
    assert any_project.run("memfail/conditional_facts_easy", "--memfail-limit=2").ret == 0
    asked = any_project.ran()
    # one whose answer is yes, one whose answer is no, and no other conversation
    assert sorted(name in CONDITIONAL[:2] for name in asked) == [False, True]
    assert sorted(any_project.events("store")) == sorted(asked)


# -- rows --------------------------------------------------------------------------------------------------------------


ROWS = {"coexisting_facts": coexisting_rows, "long_hop": long_hop_rows, "persona_retrieval": persona_rows}
# where the third row begins: a long-hop row spans eight lines
THIRD_ROW = {"coexisting_facts": 4, "long_hop": 18, "persona_retrieval": 4}


def broken(task: str, field: str, value: object) -> list[dict[str, object]]:
    rows = ROWS[task]()
    rows[2][field] = value
    return rows


@pytest.mark.parametrize(
    ("task", "field", "value", "message"),
    [
        ("long_hop", "correct_choice", "F", "got 'F', expected: 'A', 'B', 'C', 'D' or 'E'"),
        ("long_hop", "correct_choice", "B", "got 'B' ('b'), expected the letter of the ground truth 'a walk'"),
        ("long_hop", "hop_count", "two", "got 'two', expected: a valid integer"),
        ("coexisting_facts", "preferences", "[1,", "not JSON"),
        ("coexisting_facts", "question", "", "got '', expected: "),
        (
            "persona_retrieval",
            "questions",
            json.dumps([{"text": "Who?", "is_misleading": False}]),
            "got nothing, expected a value",
        ),
    ],
)
def test_a_bad_row(project: Project, task: str, field: str, value: object, message: str) -> None:
    path = project.write_rows(task, broken(task, field, value))
    line = refused(project)
    assert f"{path}:{THIRD_ROW[task]}: {field}" in line
    assert message in line


def test_a_bad_row_under_xdist(project2: Project) -> None:
    project2.write_rows("long_hop", broken("long_hop", "correct_choice", "F"))
    assert "long_hop.csv:18: correct_choice: got 'F'" in refused(project2)


def test_a_missing_column(project: Project) -> None:
    rows = [{name: value for name, value in row.items() if name != "question"} for row in coexisting_rows()]
    project.write_rows("coexisting_facts", rows)
    assert "coexisting_facts.csv:1: question: no such column; the file has: id, preference" in refused(project)


def test_the_same_id_twice(project: Project) -> None:
    project.write_rows("coexisting_facts", broken("coexisting_facts", "id", "ce-1"))
    assert "coexisting_facts.csv:4: id: got 'ce-1' again (first at line 2)" in refused(project)


def test_bad_rows_of_a_task_that_is_not_run(project: Project) -> None:
    project.write_rows("long_hop", broken("long_hop", "correct_choice", "F"))
    assert project.run("--memfail-tasks=coexisting_facts").ret == 0


def test_no_such_folder_of_rows(project: Project) -> None:
    assert "--memfail-data: got " in refused(project, "--memfail-data=nowhere")


def test_a_folder_without_rows(project: Project) -> None:
    project.file("empty/readme.txt", "")
    assert "empty" in refused(project, "--memfail-data=empty")


def test_rows_of_a_named_task_are_missing(project: Project) -> None:
    assert "conditional_facts_hard" in refused(project, "--memfail-tasks=conditional_facts_hard")


# -- what systems return ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "gives", "message"),
    [
        ("retrieve_memories", "42", "retrieve_memories() returned int 42; expected a list of strings"),
        ("retrieve_memories", "None", "retrieve_memories() returned None"),
        ("retrieve_memories", "'one text'", "retrieve_memories() returned str 'one text'; expected a list of strings"),
        ("retrieve_memories", "[b'bytes']", "retrieve_memories() returned bytes b'bytes' at index 0"),
        ("retrieve_memories", "[{'score': 1}]", "at index 0; expected a list of strings, of mappings with a 'text'"),
        ("retrieve_memories", "[{'text': 'a', 'score': 'high'}]", "returned the score 'high' at index 0"),
        ("get_all_memories", "None", "get_all_memories() returned NoneType; expected a list of strings"),
        ("get_all_memories", "{'a': 'b'}", "get_all_memories() returned dict {'a': 'b'}; expected a list of strings"),
    ],
)
def test_a_wrong_return_type(project: Project, method: str, gives: str, message: str) -> None:
    project.conftest(
        f"""
        import pytest

        class Wrong(Toy):
            def {method}(self, *args):
                return {gives}

        @pytest.fixture(scope="session")
        def memfail_system(pytestconfig):
            return lambda context: Wrong(context, pytestconfig.rootpath / "events.log")
        """
    )
    result = project.run("memfail/long_hop", system="fixture")
    assert result.ret == 6
    result.assert_outcomes(errors=4)
    # one fault, told in full once: the other questions name the one where it stands
    (told,) = [line for line in result.outlines if message in line and not line.startswith("ERROR ")]
    if method == "retrieve_memories":
        (first,) = [name for name in LONG_HOP if f"(question {name})" in told]
        assert result.outlines.count(f"as memfail/long_hop::{first}") == 3
    listed = [line for line in result.outlines if line.startswith("ERROR ")]
    assert {name for name in LONG_HOP for line in listed if f"::{name} - {method}() returned" in line} == set(LONG_HOP)


def test_a_wrong_return_type_at_one_question(any_project: Project) -> None:
    result = any_project.run(
        "memfail/long_hop", "memfail/persona_retrieval", "--memfail-system-option=wrong_type_at=lh-1"
    )
    assert result.ret == 1
    result.assert_outcomes(errors=1, passed=11)
    result.stdout.fnmatch_lines(["retrieve_memories() returned int 42; *(question lh-1)"])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return object()", "the factory returned object, which has no store_conversation(), retrieve_memories()"),
        ("return None", "the factory returned NoneType, which has no "),
        ("raise OSError('no server')", "the factory raised OSError: no server"),
    ],
)
def test_a_factory_that_gives_no_system(project: Project, body: str, message: str) -> None:
    project.file("mine.py", f"def make(context):\n    {body}")
    result = project.run("memfail/long_hop", "--memfail-keep-going", system="mine:make")
    assert result.ret == 6
    result.assert_outcomes(errors=4)
    result.stdout.fnmatch_lines([f"{message}*"])


def test_a_judge_that_returns_something_else(project: Project) -> None:
    project.script(lh_1="wrong_type")
    result = project.run("memfail/long_hop", "memfail/persona_retrieval")
    result.assert_outcomes(errors=1, passed=11)
    result.stdout.fnmatch_lines(["the judge's storage() returned str 'yes'; expected a StageResult"])


def test_a_truncated_listing(project: Project) -> None:
    project.conftest(
        """
        import pytest

        class Paged(Toy):
            def get_all_memories(self):
                return []

            def before_retrieval(self, query):
                pass

        @pytest.fixture(scope="session")
        def memfail_system(pytestconfig):
            return lambda context: Paged(context, pytestconfig.rootpath / "events.log")
        """
    )
    result = project.run("memfail/long_hop", system="fixture")
    assert result.ret == 6
    result.stdout.fnmatch_lines(["get_all_memories() lists 0 entries and leaves out one that retrieve_memories() *"])
