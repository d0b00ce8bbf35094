"""What the repository says about itself in several places is the same in all of them."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from pathlib import Path

import pytest
import yaml

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = pytest.importorskip("tomli")

REPOSITORY = Path(__file__).parents[2]
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
WORKFLOWS = sorted((REPOSITORY / ".github" / "workflows").glob("*.yml"))


def workflow(name):
    return yaml.safe_load((REPOSITORY / ".github" / "workflows" / name).read_text(encoding="utf-8"))


def sessions():
    """The sessions that noxfile.py defines, by their functions: nox itself is not needed."""
    tree = ast.parse((REPOSITORY / "noxfile.py").read_text(encoding="utf-8"))
    return {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and any("session" in ast.unparse(d) for d in node.decorator_list)
    }


def asked_for(text):
    """The sessions that commands of nox name."""
    found = set()
    for words in re.findall(r"\bnox (?:--no-venv )?-s ([^\n`#>|]+)", text):
        found |= set(words.partition(" -- ")[0].split())
    return found


@pytest.mark.parametrize(
    "path", [*WORKFLOWS, REPOSITORY / ".ci" / "run", REPOSITORY / "CONTRIBUTING.md"], ids=lambda p: p.name
)
def test_only_sessions_that_exist_are_asked_for(path):
    asked = asked_for(path.read_text(encoding="utf-8"))
    assert asked or path.name in ("docs.yml", "release.yml")
    assert asked <= sessions()


def test_every_session_is_run_by_the_workflow():
    assert asked_for((REPOSITORY / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")) == sessions()


def test_what_lands_is_checked_by_the_sessions():
    run = (REPOSITORY / ".ci" / "run").read_text(encoding="utf-8")
    assert asked_for(run) == {"lint", "types", "data", "tests"}


def test_the_versions_of_python_are_those_of_the_classifiers():
    tested = workflow("ci.yml")["jobs"]["tests"]["strategy"]["matrix"]["python"]
    named = [c.rpartition(" ")[2] for c in PROJECT["project"]["classifiers"] if re.search(r"Python :: 3\.\d+$", c)]
    assert tested == named
    assert PROJECT["project"]["requires-python"] == f">={tested[0]}"


def test_a_release_is_published_without_a_token_and_after_the_tests():
    jobs = workflow("release.yml")["jobs"]
    assert set(jobs["publish"]["needs"]) == {"test", "build"}
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert jobs["publish"]["environment"]["name"] == "pypi"
    text = "".join(path.read_text(encoding="utf-8") for path in WORKFLOWS)
    assert "secrets." not in text


def test_actions_are_pinned_to_a_major_version():
    used = [
        step["uses"]
        for path in WORKFLOWS
        for job in workflow(path.name)["jobs"].values()
        for step in job.get("steps", ())
        if "uses" in step
    ]
    assert len(used) > 10
    assert [name for name in used if not re.search(r"@(release/)?v\d+$", name)] == []


def test_the_forms_of_issues_have_what_github_wants():
    for name in ("bug.yml", "feature.yml"):
        form = yaml.safe_load((REPOSITORY / ".github" / "ISSUE_TEMPLATE" / name).read_text(encoding="utf-8"))
        assert {"name", "description", "body"} <= form.keys()
        ids = [part["id"] for part in form["body"] if part["type"] != "markdown"]
        assert len(ids) == len(set(ids)) > 2


def test_the_citation_is_of_this_version():
    about = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text(encoding="utf-8"))
    version = re.search(r'"(.+)"', (REPOSITORY / "pytest_memfail" / "_version.py").read_text(encoding="utf-8"))[1]
    assert about["version"] == version
    assert about["references"][0]["url"] == "https://arxiv.org/abs/2605.26667"
    assert {"cff-version", "message", "title", "authors"} <= about.keys()


def test_the_extra_and_the_group_for_development_are_the_same():
    assert PROJECT["project"]["optional-dependencies"]["dev"] == PROJECT["dependency-groups"]["dev"]


def test_every_licence_in_the_wheel_is_named():
    found = {path.relative_to(REPOSITORY).as_posix() for path in (REPOSITORY / "pytest_memfail").rglob("LICENSE*")}
    assert {"LICENSE", *found} == set(PROJECT["project"]["license-files"])
    assert PROJECT["project"]["license"] == "MIT AND Apache-2.0 AND LicenseRef-WordNet-3.0"
    text = (REPOSITORY / "pytest_memfail/judges/offline/tables/LICENSE").read_text(encoding="utf-8")
    assert "WordNet 3.0 Copyright 2006 by Princeton University" in text


def test_new_releases_have_a_place_in_the_changelog():
    assert PROJECT["tool"]["towncrier"]["start_string"] in (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")


def test_every_file_that_the_architecture_names_is_there():
    text = (REPOSITORY / "ARCHITECTURE.md").read_text(encoding="utf-8")
    package = REPOSITORY / "pytest_memfail"
    folders, missing = (REPOSITORY, package), []
    for line in text.splitlines():
        if heading := re.match(r"\| files? of `(\w+)/` \|", line):  # a table of the files of one folder
            folders = (package / heading[1],)
        elif not line.startswith("|"):
            folders = (REPOSITORY, package, package / "core", package / "suites", package / "judges")
        for name in re.findall(r"`([\w/]+\.(?:py|md|css|json|toml|csv))`", line):
            places = [folder / name for folder in folders]
            if "NAME" not in name and not any(place.exists() for place in places):
                missing.append(name)
    assert missing == []


def test_coverage_has_a_floor():
    assert 50 < PROJECT["tool"]["coverage"]["report"]["fail_under"] < 100


def test_no_two_test_modules_have_one_name():
    # pytest imports them by that name alone, except below tests/plugin, which is a package
    folders = (REPOSITORY / "tests" / name for name in ("unit", "end_to_end", "heavy"))
    names = Counter(path.name for folder in folders for path in folder.rglob("test_*.py"))
    assert [name for name, number in names.items() if number > 1] == []
