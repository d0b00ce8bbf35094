"""Write a folder of generated rows, after the loaders and `memfail validate` have accepted them."""

from __future__ import annotations

import csv
import json
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from pytest_memfail.core import (
    OURS,
    MemfailError,
    Suite,
    SuiteFault,
    SuiteRequest,
    UsageError,
    check_regular,
    counted,
    json_of,
    put_in_place,
)

CONFIG: Final = "generation_config.json"
KEY: Final = "generated"
GIT_SECONDS: Final = 10.0


def check_free(folder: Path, files: Sequence[str], *, force: bool) -> None:
    """Raise `UsageError` if rows would be overwritten, or if the folder cannot be created."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"--out: got the file {folder}, expected a folder")
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
    folder: Path, suite: Suite, task: str, files: Mapping[str, Sequence[Mapping[str, Any]]], account: Mapping[str, Any]
) -> list[SuiteFault]:
    """Write the files of one task and its part of the config; return the warnings of `memfail validate`.

    Raises `MemfailError` if the rows are invalid, and leaves the folder unchanged.
    """
    config = read_config(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".memfail-", dir=folder) as name:
        staged = Path(name)
        for file, rows in files.items():
            _write_rows(staged / file, rows)
        warnings = _checked(staged, suite)
        described = {
            file: {"rows": len(rows), "sha256": sha256((staged / file).read_bytes()).hexdigest()}
            for file, rows in files.items()
        }
        part = {**account, "files": described}
        config[KEY] = {**config.get(KEY, {}), task: part}
        (staged / CONFIG).write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        for file in (*described, CONFIG):
            put_in_place(staged / file, folder / file)  # each file is replaced atomically
    return warnings


def _write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    if path.suffix == ".json":
        path.write_text(json.dumps(list(rows), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _checked(staged: Path, suite: Suite) -> list[SuiteFault]:
    """Return the suite's warnings about rows. Raise `MemfailError` for an error, and what loading them raises."""
    faults = [] if suite.faults is None else list(suite.faults(staged))
    if errors := [fault for fault in faults if fault.is_error]:
        raise MemfailError(
            f"the generated rows are invalid, nothing was written: {errors[0]} ({counted(len(errors), 'error')})"
        )
    suite.load(SuiteRequest(staged, OURS if OURS in suite.source.files else ""))
    return faults


def git_commit() -> str | None:
    """Return the commit of the checkout that this code runs from; None for an installed package."""
    here = Path(__file__)
    said = ""
    try:
        # the first fails for a file that the repository around an environment does not track
        for arguments in (["ls-files", "--error-unmatch", here.name], ["rev-parse", "HEAD"]):
            command = ["git", "-C", str(here.parent), *arguments]
            said = subprocess.run(command, capture_output=True, text=True, timeout=GIT_SECONDS, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    return said.strip()
