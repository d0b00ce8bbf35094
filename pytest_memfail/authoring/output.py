"""Write a folder of generated rows, after the loaders and `memfail validate` have accepted them."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from pytest_memfail.authoring.made import file_of
from pytest_memfail.core import (
    OURS,
    MemfailError,
    SuiteRequest,
    UsageError,
    check_regular,
    counted,
    json_of,
    put_in_place,
)
from pytest_memfail.suites import Finding, TaskRequest, load_tasks, suite_in, validate

CONFIG: Final = "generation_config.json"
KEY: Final = "generated"
GIT_SECONDS: Final = 10.0


def check_free(folder: Path, names: Sequence[str], *, force: bool) -> None:
    """Raise `UsageError` if rows would be overwritten, or if the folder cannot be created."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"--out: got the file {folder}, expected a folder")
    files = [file_of(name) for name in names]
    for file in (*files, CONFIG):
        check_regular(folder / file, "--out")
    read_config(folder)
    there = [file for file in files if (folder / file).exists()]
    if there and not force:
        raise UsageError(
            f"{folder} already has {' and '.join(there)}; give another --out, or --force to replace them (replies in "
            f"{folder}/raw are reused)"
        )


def read_config(folder: Path) -> dict[str, Any]:
    """Return the folder's `generation_config.json`; empty without one."""
    path = folder / CONFIG
    if not path.exists():
        return {}
    try:
        config = json_of(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: cannot be read as JSON ({error}); correct it, or give another --out") from None
    if not isinstance(config, dict) or not isinstance(config.get(KEY, {}), dict):
        raise UsageError(f"{path}: expected a JSON object with an object {KEY!r}; give another --out")
    return config


def write(
    folder: Path, task: str, files: Mapping[str, Sequence[Mapping[str, Any]]], account: Mapping[str, Any]
) -> list[Finding]:
    """Write the files of one task and its part of the config; return the findings of `memfail validate`.

    Raises `MemfailError` if the rows are invalid, and leaves the folder unchanged.
    """
    config = read_config(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".memfail-", dir=folder) as name:
        staged = Path(name)
        for task_name, rows in files.items():
            _write_rows(staged / file_of(task_name), rows)
        findings = _sound(staged, list(files))
        described = {
            file: {"rows": len(rows), "sha256": sha256((staged / file).read_bytes()).hexdigest()}
            for file, rows in ((file_of(task_name), rows) for task_name, rows in files.items())
        }
        part = {**account, "files": described}
        config[KEY] = {**config.get(KEY, {}), task: part}
        (staged / CONFIG).write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        for file in (*described, CONFIG):
            put_in_place(staged / file, folder / file)  # each file is replaced atomically
    return findings


def _write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    if path.suffix == ".json":
        path.write_text(json.dumps(list(rows), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _sound(staged: Path, names: Sequence[str]) -> list[Finding]:
    suite = suite_in(staged)
    if suite is None or suite.faults is None:
        findings = validate(staged)
    else:
        faults = suite.faults(staged)
        findings = [Finding("error" if f.is_error else "warning", f.file, None, f.place, f.problem) for f in faults]
    if errors := [finding for finding in findings if finding.severity == "error"]:
        raise MemfailError(
            f"the generated rows are invalid, nothing was written: {errors[0]} ({counted(len(errors), 'error')})"
        )
    if suite is None:
        load_tasks(TaskRequest(tuple(names), staged))
    else:
        suite.load(SuiteRequest(staged, OURS))
    return findings


def git_commit() -> str | None:
    """Return the commit of the checkout that this code runs from; None for an installed package."""
    git = shutil.which("git")
    here = Path(__file__)
    if git is None:
        return None
    for arguments in (["ls-files", "--error-unmatch", here.name], ["rev-parse", "HEAD"]):
        try:
            done = subprocess.run(
                [git, "-C", str(here.parent), *arguments],
                capture_output=True,
                text=True,
                timeout=GIT_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        if done.returncode:
            return None
    return done.stdout.strip()
