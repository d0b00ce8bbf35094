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

from pytest_memfail.core import MemfailError, UsageError, check_regular, put_in_place
from pytest_memfail.suites import Finding, TaskRequest, load_tasks, validate

CONFIG: Final = "generation_config.json"
KEY: Final = "generated"
GIT_SECONDS: Final = 10.0


def check_free(folder: Path, names: Sequence[str], *, force: bool) -> None:
    """Raise `UsageError` if rows would be overwritten, or if the folder cannot be created."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"--out: got the file {folder}, expected a folder")
    for name in (*(f"{name}.csv" for name in names), CONFIG):
        check_regular(folder / name, "--out")
    read_config(folder)
    there = [f"{name}.csv" for name in names if (folder / f"{name}.csv").exists()]
    if there and not force:
        raise UsageError(
            f"{folder} already has {' and '.join(there)}; give another --out, or --force to replace them (what {folder}/raw holds "
            "is reused)"
        )


def read_config(folder: Path) -> dict[str, Any]:
    """Return the folder's `generation_config.json`; empty without one."""
    path = folder / CONFIG
    if not path.exists():
        return {}
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: cannot be read as JSON ({error}); mend it, or give another --out") from None
    if not isinstance(config, dict) or not isinstance(config.get(KEY, {}), dict):
        raise UsageError(f"{path}: expected a JSON object with an object {KEY!r}; give another --out")
    return config


def write(
    folder: Path, task: str, files: Mapping[str, Sequence[Mapping[str, str]]], account: Mapping[str, Any]
) -> list[Finding]:
    """Write the files of one task and its part of the config; return the findings of `memfail validate`.

    Raises `MemfailError` if the rows are invalid, and leaves the folder unchanged.
    """
    config = read_config(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".memfail-", dir=folder) as name:
        staged = Path(name)
        for file, rows in files.items():
            _write_rows(staged / f"{file}.csv", rows)
        findings = _sound(staged, list(files))
        described = {
            f"{file}.csv": {"rows": len(rows), "sha256": sha256((staged / f"{file}.csv").read_bytes()).hexdigest()}
            for file, rows in files.items()
        }
        part = {**account, "files": described}
        config[KEY] = {**config.get(KEY, {}), task: part}
        (staged / CONFIG).write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        for file in (*(f"{file}.csv" for file in files), CONFIG):
            put_in_place(staged / file, folder / file)  # each file is replaced atomically
    return findings


def _write_rows(path: Path, rows: Sequence[Mapping[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _sound(staged: Path, names: Sequence[str]) -> list[Finding]:
    findings = validate(staged)
    if errors := [finding for finding in findings if finding.severity == "error"]:
        raise MemfailError(f"the generated rows are invalid, nothing was written: {errors[0]} ({len(errors)} errors)")
    load_tasks(TaskRequest(tuple(names), staged))
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
