"""`--memfail-system=memory.yaml`: from the command line to the record, with workers, and without orphans."""

from __future__ import annotations

import json

import pytest

from plugin.project import RECORD

FOLDER = "kind: files\nentry: file\n"


@pytest.fixture
def yaml_project(project):
    project.file("memory.yaml", FOLDER)
    return project


@pytest.mark.parametrize("n", [0, 2])
def test_a_yaml_file_is_a_memory_system(yaml_project, n):
    result = yaml_project.run("--memfail-tasks=long_hop", system="memory.yaml", n=n)
    result.assert_outcomes(passed=4)
    (record,) = yaml_project.pytester.path.glob(RECORD)
    lines = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]
    assert lines[0]["system"] == "memory.yaml"
    (described,) = [line["system"] for line in lines[1:] if "system" in line]
    assert described["kind"] == "files"
    assert len(described["config"]) == 12


def test_a_mistake_in_the_file_ends_the_run_before_anything_is_stored(yaml_project):
    yaml_project.file("memory.yaml", "kind: files\nretreive: first\n")
    result = yaml_project.run(system="memory.yaml")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["ERROR: *memory.yaml: retreive: unknown key; did you mean 'retrieve'?*"])
