"""Installed and not used, the plugin is not there."""

from __future__ import annotations

import pytest

from plugin.project import Project

HEAVY = ("openai", "tiktoken", "numpy", "scipy", "datasketch", "pydantic", "xdist", "yaml")
OWN_TEST = """\
import pytest

def test_own():
    pass
"""
SAY_MODULES = """\
import sys

def pytest_unconfigure(config):
    names = sorted({name.partition(".")[0] for name in sys.modules})
    print("\\nimported:", *names)
    print("of ours:", *sorted(name for name in sys.modules if name.startswith("pytest_memfail")))
"""


@pytest.fixture
def plain(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A repository that has nothing to do with the benchmark."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    pytester.makepyfile(test_own=OWN_TEST)
    return pytester


def test_no_line_of_output(plain: pytest.Pytester) -> None:
    result = plain.runpytest_inprocess("-v")
    result.assert_outcomes(passed=1)
    lines = [*result.outlines, *result.errlines]
    assert [line for line in lines if "memfail" in line.casefold() and not line.startswith("plugins:")] == []


def test_no_file(plain: pytest.Pytester) -> None:
    plain.runpytest_subprocess("-p", "no:cacheprovider")
    left = {path.relative_to(plain.path).parts[0] for path in plain.path.rglob("*")}
    # pytester's own
    assert left - {"runpytest-0", "runpytest-current", "stdout", "stderr"} == {"test_own.py"}


def test_nothing_heavy_is_imported(plain: pytest.Pytester) -> None:
    plain.makeconftest(SAY_MODULES)
    # xdist and anyio are plugins of their own accord; pytest-rerunfailures imports xdist
    result = plain.runpytest_subprocess(
        "-p", "no:xdist", "-p", "no:xdist.looponfail", "-p", "no:anyio", "-p", "no:rerunfailures"
    )
    result.assert_outcomes(passed=1)
    (line,) = [line for line in result.outlines if line.startswith("imported:")]
    assert not set(HEAVY) & set(line.split())
    (ours,) = [line for line in result.outlines if line.startswith("of ours:")]
    parts = set(ours.split()[2:]) - {"pytest_memfail"}
    assert {name for name in parts if not name.startswith("pytest_memfail.plugin")} == {
        "pytest_memfail.core",
        "pytest_memfail.core.taxonomy",
        "pytest_memfail.options",
    }


def test_markers_are_registered(plain: pytest.Pytester) -> None:
    result = plain.runpytest_inprocess("--markers")
    result.stdout.fnmatch_lines(
        [
            "@pytest.mark.memfail(task, store, k): *",
            "@pytest.mark.long_hop: *",
            "@pytest.mark.summary_error: *",
        ]
    )
    plain.makepyfile(test_marked="import pytest\n@pytest.mark.memfail\n@pytest.mark.not_stored\ndef test_x(): pass")
    plain.runpytest_inprocess("--strict-markers").assert_outcomes(passed=2)


@pytest.mark.parametrize("argument", ["memfail", "memfail/long_hop", "memfail/long_hop::lh-1"])
def test_argument_without_a_system(plain: pytest.Pytester, argument: str) -> None:
    result = plain.runpytest_inprocess(argument)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = [line for line in result.errlines if line.strip()]
    assert argument in line
    assert "--memfail-system=NAME" in line


@pytest.mark.parametrize(("words", "times"), [(["--memfail-limit=5"], 1), (["--memfail-k", "3"], 1), ([], 0)])
def test_options_without_a_system_are_told_to_do_nothing(plain: pytest.Pytester, words: list[str], times: int) -> None:
    plain.makeini("[pytest]\nmemfail_limit = 5\n")  # what is kept there for other runs is no mistake
    result = plain.runpytest_inprocess(*words)
    assert result.outlines.count("memfail options do nothing without --memfail-system") == times


def test_argument_without_a_system_from_a_sub_directory(
    plain: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain.makeini("[pytest]\n")
    monkeypatch.chdir(plain.mkdir("sub"))
    result = plain.runpytest_inprocess("memfail/long_hop")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "--memfail-system=NAME" in result.stderr.str()


def test_a_real_folder_of_that_name_is_the_users(plain: pytest.Pytester) -> None:
    plain.mkdir("memfail")
    (plain.path / "memfail" / "test_inside.py").write_text("def test_inside(): pass")
    plain.runpytest_inprocess("memfail").assert_outcomes(passed=1)
    plain.runpytest_inprocess("memfail/test_inside.py::test_inside").assert_outcomes(passed=1)


def test_a_real_folder_of_that_name_seen_from_a_sub_directory(
    plain: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain.makeini("[pytest]\n")
    plain.mkdir("memfail")
    (plain.path / "memfail" / "test_inside.py").write_text("def test_inside(): pass")
    monkeypatch.chdir(plain.mkdir("sub"))
    plain.runpytest_inprocess("../memfail").assert_outcomes(passed=1)


def test_help(plain: pytest.Pytester) -> None:
    result = plain.runpytest_inprocess("--help")
    assert result.ret == 0
    lines = result.outlines
    start = next(i for i, line in enumerate(lines) if "pytest-memfail" in line and line.endswith(":"))
    group = lines[start + 1 : lines.index("", start)]
    names = [line.split()[0].partition("=")[0] for line in group if line.startswith("  --")]
    assert {"--memfail-system", "--memfail-tasks", "--memfail-k", "--memfail-judge", "--memfail-record"} <= set(names)
    text = " ".join(" ".join(group).split())
    for option, following in zip(names, [*names[1:], None], strict=True):
        entry = text[text.index(option) : None if following is None else text.index(f" {following}", 1)]
        text = text[len(entry) :].lstrip()
        help_text = entry.partition(" ")[2]
        assert help_text[:1].isupper(), entry
    for option in names:
        ini = option[2:].replace("-", "_")
        assert any(f"  {ini} ({kind}):" in result.stdout.str() for kind in ("string", "bool", "linelist")), option


def test_works_with_xdist_disabled(project: Project) -> None:
    project.conftest(SAY_MODULES)
    result = project.run_apart(
        "-p", "no:xdist", "-p", "no:xdist.looponfail", "-p", "no:rerunfailures", "memfail/long_hop"
    )
    result.assert_outcomes(passed=4)
    assert result.ret == 0
    (line,) = [line for line in result.outlines if line.startswith("imported:")]
    assert not {"openai", "numpy", "scipy", "datasketch", "xdist"} & set(line.split())


@pytest.mark.parametrize("only", [["--collect-only", "-q"], ["-n", "1"]], ids=["collected only", "distributing"])
def test_who_judges_nothing_loads_no_judge(plain: pytest.Pytester, only: list[str]) -> None:
    plain.makeconftest(SAY_MODULES)
    result = plain.runpytest_subprocess(
        "--memfail-system=no-memory", "--memfail-tasks=long_hop", "-k", "lh-3-001", *only
    )
    (ours,) = [line for line in result.outlines if line.startswith("of ours:")]
    loaded = ours.split()[2:]
    assert "pytest_memfail.suites" in loaded
    assert [name for name in loaded if name.startswith("pytest_memfail.judges")] == []


def test_an_ordinary_run_loads_neither_scipy_nor_an_sdk(plain: pytest.Pytester) -> None:
    plain.makeconftest(SAY_MODULES)
    result = plain.runpytest_subprocess("--memfail-system=bm25", "--memfail-tasks=long_hop", "-k", "lh-3-001")
    (line,) = [line for line in result.outlines if line.startswith("imported:")]
    loaded = set(line.split())
    assert "pytest_memfail" in loaded
    assert not {"scipy", "datasketch", "openai", "jinja2", "matplotlib"} & loaded
