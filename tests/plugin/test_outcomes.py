"""Letters, words, and what the reader of a failure or an error sees."""

from __future__ import annotations

import re
import shlex
import xml.etree.ElementTree as ET
from collections import Counter

import pytest

from plugin.project import (
    COEXISTING,
    CONDITIONAL,
    LONG_HOP,
    MISLEADING,
    PERSONA,
    Project,
    slowly_both_ways,
    with_a_worker,
)
from pytest_memfail.results import NO_TRUSTWORTHY_RESULT

EVERY_VERDICT = {
    "ce_1": "not_stored",
    "ce_2": "summary_error",
    "lh_1": "not_retrieved",
    "lh_2": "reasoning_error",
    "co_1": "ungraded",
    "co_3": "ungraded_storage",
    "co_2": "raise",
    "pe_1_q2": "not_stored",
}


def section(result: pytest.RunResult, name: str) -> list[str]:
    """The lines of a section of the output (`FAILURES`, `ERRORS`)."""
    lines = result.outlines
    start = next(i for i, line in enumerate(lines) if re.fullmatch(rf"=+ {name} =+", line))
    end = next(i for i, line in enumerate(lines[start + 1 :], start + 1) if re.match(r"={3,}", line))
    return lines[start + 1 : end]


def block(result: pytest.RunResult, item: str, name: str = "FAILURES") -> list[str]:
    """What one item shows in a section."""
    lines = section(result, name)
    start = next(
        i for i, line in enumerate(lines) if re.fullmatch(rf"_+ (ERROR at setup of )?{re.escape(item)} _+", line)
    )
    end = next((i for i, line in enumerate(lines[start + 1 :], start + 1) if re.match(r"_{3,} ", line)), len(lines))
    return [line for line in lines[start + 1 : end] if not re.match(r"\[gw\d\] ", line)]


def letters(result: pytest.RunResult) -> Counter[str]:
    """The letters of the progress lines."""
    found: Counter[str] = Counter()
    for line in result.outlines:
        match = re.fullmatch(r"(?:memfail/\w+ )?([.TSRAnuvEFsxX]+)(?: +\[ *\d+%\])?", line)
        if match:
            found.update(match[1])
    return found


@slowly_both_ways
def test_letters(any_project: Project) -> None:
    any_project.script(**EVERY_VERDICT)
    result = any_project.run()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert letters(result) == {"T": 1, "S": 1, "R": 1, "A": 1, "n": 1, "u": 1, "E": 1, "v": 1, ".": 14}
    counts = {"failed": 4, "errors": 1, "skipped": 2, "vacuous": 1, "passed": 14}
    assert result.parseoutcomes() == counts


def test_words(any_project: Project) -> None:
    any_project.script(**EVERY_VERDICT)
    result = any_project.run("-v")
    result.stdout.fnmatch_lines(
        ["NOT_STORED 1 of 6 in coexisting_facts:", "  memfail/coexisting_facts::ce-1"]
    )  # the verdict once
    words = {
        "coexisting_facts::ce-1": "NOT_STORED",
        "coexisting_facts::ce-2": "SUMMARY_ERROR",
        "long_hop::lh-1": "NOT_RETRIEVED",
        "long_hop::lh-2": "REASONING_ERROR",
        "conditional_facts_easy::co-1": "NO_ANSWER",
        "conditional_facts_easy::co-3": "UNGRADED",
        "conditional_facts_easy::co-2": "ERROR",
        "persona_retrieval::pe-1-q2": "VACUOUS",
        "long_hop::lh-3": "PASSED",
    }
    for item, word in words.items():
        shown = f"memfail/{item} {word}*" if any_project.n is None else f"[[]gw?[]] * {word} memfail/{item}*"
        result.stdout.fnmatch_lines([shown])


def test_a_vacuous_pass_is_a_pass_to_all_but_the_counts(any_project: Project) -> None:
    missed = {f"{name.replace('-', '_')}": "not_stored" for name in MISLEADING}
    any_project.script(**missed)
    result = any_project.run("memfail/persona_retrieval", "-rA", "--junitxml=out.xml")
    assert result.ret == 0
    assert result.parseoutcomes() == {"passed": 4, "vacuous": 4}
    assert "nothing lost among 8 questions" in result.outlines
    assert (
        "vacuous passes: 4 in persona_retrieval, left out of the rates (nothing was there to misuse)" in result.outlines
    )
    listed = [line.split() for line in result.outlines if line.startswith(("PASSED", "VACUOUS"))]
    assert sorted(listed) == sorted(
        ["VACUOUS" if name in MISLEADING else "PASSED", f"memfail/persona_retrieval::{name}"] for name in PERSONA
    )
    cases = list(ET.parse(any_project.path / "out.xml").iter("testcase"))
    assert [{child.tag for child in case} for case in cases] == [{"properties"}] * len(PERSONA)


def test_a_judged_failure_is_f_and_all_else_is_e(project: Project) -> None:
    project.script(ce_1="not_stored", ce_2="raise", ce_3="wrong_type")
    result = project.run("memfail/coexisting_facts", "--memfail-system-option=raise_at=ce-4")
    result.assert_outcomes(failed=1, errors=3, passed=2)
    assert project.verdicts() == {
        f"memfail/coexisting_facts::{name}": verdict
        for name, verdict in zip(
            COEXISTING, ["not_stored", "error", "error", "error", "correct", "correct"], strict=True
        )
    }


@pytest.mark.parametrize("raises", ["pytest.skip('not today')", "pytest.xfail('not today')"])
def test_the_runners_own_outcomes_pass_through(project: Project, raises: str) -> None:
    project.conftest(
        f"""
        import pytest

        class Skipping(Toy):
            def retrieve_memories(self, query, conversation, k):
                if "ce-4" in query:
                    {raises}
                return super().retrieve_memories(query, conversation, k)

        @pytest.fixture(scope="session")
        def memfail_system(pytestconfig):
            return lambda context: Skipping(context, pytestconfig.rootpath / "events.log")
        """
    )
    result = project.run("memfail/coexisting_facts", system="fixture")
    outcomes = result.parseoutcomes()
    assert outcomes.get("passed") == 5
    assert outcomes.get("skipped", 0) + outcomes.get("xfailed", 0) == 1
    assert result.ret == 0


@pytest.mark.parametrize("raises", ["pytest.importorskip('torchy')", "pytest.xfail('known')", "pytest.fail('bad')"])
def test_the_runners_outcomes_in_a_judge_are_errors(project: Project, raises: str) -> None:
    project.file(
        "leaving.py",
        f"""
        import pytest

        class Judge:
            def storage(self, *args):
                {raises}

            summary = retrieval = answer = storage
        """,
    )
    result = project.run("memfail/coexisting_facts", "--memfail-judge=leaving:Judge", system="bm25")
    result.assert_outcomes(errors=len(COEXISTING))
    assert result.ret == NO_TRUSTWORTHY_RESULT
    result.stdout.re_match_lines([r"the judge's storage\(\) raised (Skipped|XFailed|Failed): "])


def test_text_of_a_failure(any_project: Project) -> None:
    any_project.script(**EVERY_VERDICT)
    result = any_project.run("memfail/coexisting_facts", "memfail/long_hop", "-v")
    text = "\n".join(block(result, "ce-1"))
    for expected in (
        r"^not_stored: an expected fact is nowhere in the store$",
        r"^question +Which soups for ce-1\?$",
        r"^expected +leek soup; pea soup$",
        r"^said +In ce-1 I like leek soup\.$",
        r"^storage +.*the script says not_stored of ce-1$",
        r"^kept of it +1 entry: In ce-1 I like leek soup\.$",
        r"^retrieved +1\. .*In ce-1 I like",
        r"^row +coexisting_facts\.csv:2 +k=5$",
        r"^rerun +pytest memfail/coexisting_facts::ce-1 --memfail-system=toy",
    ):
        assert re.search(expected, text, re.MULTILINE), expected
    assert re.search(r"^stored +In ce-", "\n".join(block(result, "ce-2")), re.MULTILINE)
    assert re.search(r"^retrieval +storage ok, summary ok; the script", "\n".join(block(result, "lh-1")), re.MULTILINE)
    assert re.search(r"^reasoning_error: ", "\n".join(block(result, "lh-2")), re.MULTILINE)


def test_a_failure_names_its_row_with_tb_line(project: Project) -> None:
    project.script(lh_2="reasoning_error")
    result = project.run("memfail/long_hop", "-rf", "--tb=line")
    result.stdout.fnmatch_lines(["*long_hop.csv:*: stored faithfully and retrieved, but the answer is wrong"])
    result.stdout.fnmatch_lines(
        [
            "REASONING_ERROR 1 of 4 in long_hop:",
            "  memfail/long_hop::lh-2",
            "    stored faithfully and retrieved, but the answer is wrong",
        ]
    )


def test_a_failure_is_short(project: Project) -> None:
    rows = [
        {
            "id": f"ce-{i}",
            "preference_category": "soups",
            "preferences": str([f"soup number {j}" for j in range(5)]).replace("'", '"'),
            "preference_facts": str([f"In ce-{i} I like soup number {j}. " + "Hm. " * 200 for j in range(5)]).replace(
                "'", '"'
            ),
            "question": f"Which soups for ce-{i}? " + "Well, " * 200,
            "ground_truth_answer": "all, " * 200,
        }
        for i in range(1, 5)
    ]
    project.write_rows("coexisting_facts", rows)
    project.script(ce_1="not_stored", ce_2="summary_error", ce_3="not_retrieved", ce_4="reasoning_error")
    result = project.run("memfail/coexisting_facts", "--memfail-k=50")
    for name in ("ce-1", "ce-2", "ce-3", "ce-4"):
        lines = block(result, name)
        assert len(lines) <= 25
        assert [line for line in lines if len(line) > 100 and not line.startswith("rerun")] == []


@pytest.mark.parametrize("options", [[], ["--memfail-k=2,3"], ["--memfail-seed=7", "--memfail-system-option=name=a b"]])
def test_the_rerun_command_reruns_just_that(
    project: Project, options: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    project.script(lh_2="not_retrieved")
    result = project.run("memfail/long_hop", *options)
    assert result.ret == 1
    line = next(line for line in result.outlines if line.startswith("rerun"))
    _, pytest_word, *words = shlex.split(line)
    assert pytest_word == "pytest"
    (project.path / "events.log").unlink()
    monkeypatch.chdir(project.file("sub/nothing.txt", "").parent)
    again = project.pytester.runpytest_inprocess(*words)
    assert again.ret == pytest.ExitCode.TESTS_FAILED
    again.assert_outcomes(failed=1)
    assert project.events("ask") == ["lh-2"]


def test_the_rerun_command_names_no_secret(project: Project) -> None:
    project.script(lh_2="not_retrieved")
    result = project.run("memfail/long_hop", "--memfail-system-option=api_key=sk-verysecret")
    assert "sk-verysecret" not in result.stdout.str()
    assert (record := project.record_file()) is not None
    assert "sk-verysecret" not in record.read_text()


def test_what_no_model_answered_is_one_line_a_task(any_project: Project) -> None:
    names = [*CONDITIONAL, *LONG_HOP]
    any_project.script(**{name.replace("-", "_"): "ungraded" for name in names})
    result = any_project.run("memfail/conditional_facts_easy", "memfail/long_hop", "-rs")
    assert result.ret == 0  # the memory held
    result.assert_outcomes(skipped=8)
    lines = [line for line in result.outlines if line.startswith(("SKIPPED", "NO_ANSWER"))]
    assert len(lines) == 2
    for line, task in zip(sorted(lines), ("conditional_facts_easy", "long_hop"), strict=True):
        assert "[4]" in line
        assert f"memfail/{task}" in line
        assert "no answer: every memory stage passed, and no model answered (--memfail-model=NAME)" in line


@pytest.mark.parametrize("stage", ["storage", "summary", "retrieval"])
def test_an_ungraded_memory_stage_is_named(project: Project, stage: str) -> None:
    project.script(ce_1=f"ungraded_{stage}")
    result = project.run("memfail/coexisting_facts", "-rs")
    result.assert_outcomes(skipped=1, passed=5)
    result.stdout.fnmatch_lines([f"*ungraded: {stage}: cannot tell about {stage}"])


BROKEN = [
    (
        ["raise_at=ce-1"],
        {},
        "retrieve_memories() raised ValueError: the index is broken (question ce-1)",
        "in before_retrieval",
    ),
    ([], {"ce_1": "raise"}, "the judge's storage() raised RuntimeError: the judge is out of order", "in decide"),
]


@pytest.mark.parametrize(
    ("any_project", "options", "script", "message", "frame"),
    [
        pytest.param(
            n,
            *case,
            id=f"{workers}-options{i}-script{i}-{case[2]}-{case[3]}",
            marks=[pytest.mark.slow] if n else [],
        )
        for workers, n in (("alone", None), ("n2", 2))
        for i, case in enumerate(BROKEN)
    ],
    indirect=["any_project"],
)
def test_an_error_is_one_line_and_the_users_frames(
    any_project: Project, options: list[str], script: dict[str, str], message: str, frame: str
) -> None:
    any_project.script(**script)
    words = [f"--memfail-system-option={option}" for option in options]
    result = any_project.run("memfail/coexisting_facts", "memfail/persona_retrieval", *words)
    assert result.ret == 1
    result.assert_outcomes(errors=1, passed=13)
    lines = block(result, "ce-1", "ERRORS")
    assert lines[0] == message
    frames = [line for line in lines if line.startswith("  File ")]
    assert any(frame in line for line in frames)
    assert [line for line in frames if "conftest.py" not in line] == []
    assert len(lines) <= 12
    result.stdout.fnmatch_lines(["ERROR memfail/coexisting_facts::ce-1 - *"])


@with_a_worker
def test_a_failed_fill_is_an_error_of_every_item(any_project: Project) -> None:
    result = any_project.run("memfail/long_hop", "memfail/coexisting_facts", "--memfail-system-option=raise_store=lh-2")
    result.assert_outcomes(errors=4, passed=6)
    blocks = {name: block(result, name, "ERRORS") for name in LONG_HOP}
    (told,) = [name for name, lines in blocks.items() if len(lines) > 1]  # the others are as this one
    lines = blocks.pop(told)
    assert re.fullmatch(
        r"store_conversation\(\) raised ValueError: the disk is full, not retried: .* \(conversation \d of 8\)",
        lines[0],
    )
    assert [line for line in lines if line.startswith("  File ") and "conftest.py" not in line] == []
    assert list(blocks.values()) == [[f"as memfail/long_hop::{told}"]] * 3
    assert sum(line.startswith("ERROR memfail/long_hop::lh-") for line in result.outlines) == 4
    # tried once
    assert any_project.fills()["lh-2"] == 1


def test_one_fault_of_an_adapter_is_told_once(project: Project) -> None:
    # each message ends with another question
    project.script(ce_1="raise")
    result = project.run("memfail/long_hop", "memfail/coexisting_facts", "--memfail-system-option=raise_at=all")
    result.assert_outcomes(errors=10)
    assert sum(line.startswith("  File ") for line in result.outlines) <= 2
    told = [line for line in result.outlines if line.startswith("as memfail/")]
    assert len(told) == 9
    assert len(set(told)) == 1


def test_another_fault_is_told_too(project: Project) -> None:
    project.script(ce_1="raise", ce_2="raise")
    result = project.run("memfail/coexisting_facts", "--memfail-system-option=raise_at=ce-4")
    result.assert_outcomes(errors=3, passed=3)
    (told,) = [line for line in result.outlines if line.startswith("as memfail/")]
    assert told in ("as memfail/coexisting_facts::ce-1", "as memfail/coexisting_facts::ce-2")


@pytest.mark.parametrize("ends", ["SystemExit(3)", "KeyboardInterrupt()", "GeneratorExit()", "Panic('at the disco')"])
@pytest.mark.parametrize("kind", ["", "async "])
def test_an_exception_of_any_class_costs_its_question(any_project: Project, ends: str, kind: str) -> None:
    project = any_project
    project.conftest(
        f"""
        import pytest

        class Panic(BaseException):
            pass

        class Ending(Toy):
            {kind}def retrieve_memories(self, query, conversation, k):
                if "ce-4" in query:
                    raise {ends}
                return super().retrieve_memories(query, conversation, k)

        @pytest.fixture(scope="session")
        def memfail_system(pytestconfig):
            return lambda context: Ending(context, pytestconfig.rootpath / "events.log")
        """
    )
    result = project.run("memfail/coexisting_facts", "memfail/persona_retrieval", system="fixture")
    result.assert_outcomes(errors=1, passed=len(COEXISTING) - 1 + len(PERSONA))
    assert [name for name, verdict in project.verdicts().items() if verdict == "error"] == [
        "memfail/coexisting_facts::ce-4"
    ]
    assert block(result, "ce-4", "ERRORS")[0].startswith(f"retrieve_memories() raised {ends.partition('(')[0]}")
