"""What is stored where few questions are asked, how much is shown, and where that is said."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from plugin.project import Project
from pytest_memfail.running import haystack_for
from pytest_memfail.systems import built_in_system


def never(name: str):
    raise KeyError(name)


def inner(name: str):
    return built_in_system(name, never)


def chosen(factory, *, limit: int | None = 5, haystack: str | None = None, **options: str) -> str:
    return haystack_for(factory, SimpleNamespace(limit=limit, haystack=haystack, system_options=options))


class Plain:
    """A system that says nothing of models."""


class Declared:
    calls_model = False


def undeclared() -> Plain:
    return Plain()


def declared() -> Plain:
    return Plain()


declared.calls_model = False  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["bm25", "full-context", "no-memory", "sqlite-hybrid"])
def test_a_built_in_system_that_asks_no_model_stores_all(name: str) -> None:
    assert chosen(built_in_system(name, never)) == "full"


@pytest.mark.parametrize("name", ["forgetful", "lossy", "misdirected"])
def test_a_system_that_fails_on_purpose_stores_what_its_inner_one_does(name: str) -> None:
    factory = built_in_system(name, inner)
    assert chosen(factory) == chosen(factory, inner="sqlite-hybrid") == "full"
    assert chosen(factory, inner="md-file", model="m") == "sample"


@pytest.mark.parametrize("name", ["md-file", "memory-tool", "mem0"])
def test_a_built_in_system_that_asks_models_stores_what_is_needed(name: str) -> None:
    assert chosen(built_in_system(name, never)) == "sample"


@pytest.mark.parametrize(
    ("factory", "expected"),
    [(Declared, "full"), (declared, "full"), (Plain, "sample"), (undeclared, "sample"), (None, "sample")],
)
def test_unknown_counts_as_asking_a_model(factory, expected: str) -> None:
    assert chosen(factory) == expected


def test_the_option_decides_and_without_a_limit_all_is_stored() -> None:
    assert chosen(Declared, haystack="sample") == "sample"
    assert chosen(Plain, haystack="full") == "full"
    assert chosen(Plain, limit=None) == chosen(Plain, limit=None, haystack="sample") == "full"


def test_a_thinned_haystack_is_told_in_the_header_the_record_and_the_summary(project: Project) -> None:
    result = project.run("memfail/coexisting_facts", "--memfail-limit=2")
    assert sum("thinned haystack" in line for line in result.outlines) == 2
    result.stdout.fnmatch_lines(
        ["memfail: thinned haystack: 16 conversations*", "warning: thinned haystack: the limit leaves out 8*"]
    )
    header = project.record()[0]
    assert header["haystack"] == "sample"
    task = header["tasks"]["coexisting_facts"]
    assert (task["conversations"], task["left_out"]) == (4, 8)


def test_a_full_haystack_stores_all_for_a_few_questions(project: Project) -> None:
    result = project.run("memfail/coexisting_facts", "--memfail-limit=2", "--memfail-haystack=full")
    assert not any("thinned haystack" in line for line in result.outlines)
    header, *_ = project.record()
    assert (header["haystack"], header["tasks"]["coexisting_facts"]["left_out"]) == ("full", 0)
    (store,) = [line for line in project.record() if line["type"] == "store"]
    assert store["conversations"] == 12


def test_tokens_shown_are_limited_recorded_and_part_of_what_a_run_is(project: Project) -> None:
    words = ("memfail", "--memfail-tasks=coexisting_facts")
    result = project.run(*words, "--memfail-shown-tokens=10", "--memfail-save-baseline=b.jsonl")
    assert any("at most 10 tokens shown" in line for line in result.outlines)
    header, *others = project.record()
    assert header["shown_tokens"] == 10
    questions = [line for line in others if line["type"] == "question"]
    assert {line["shown_tokens"] for line in questions} == {10}
    assert all(line["store_tokens"] > 100 for line in questions)
    other = project.run(*words, "--memfail-baseline=b.jsonl")
    assert other.ret == 6
    assert "shown_tokens is no limit, in the baseline 10" in str(other.stdout) + str(other.stderr)


@pytest.mark.parametrize(
    "words", ["--memfail-shown-tokens=0", "--memfail-shown-tokens=many", "--memfail-haystack=half"]
)
def test_a_wrong_value_is_one_line(project: Project, words: str) -> None:
    result = project.run(words)
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"*{words.partition('=')[0]}: got *expected *"])
