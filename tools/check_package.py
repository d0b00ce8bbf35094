"""Check that a built wheel and sdist contain everything needed and nothing else.

python tools/check_package.py dist/*.whl dist/*.tar.gz
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
ROWS = "pytest_memfail/_datasets/"
NOT_IN_WHEEL = ("datasets/calibration/train.jsonl", "datasets/calibration/more/")
"""Files and folders that only the training of the offline judge needs."""
CASES = ROWS + "calibration/"
MOST_OF_CASES = 1_500_000
"""The most compressed bytes of labelled cases in a wheel."""
NOT_IN_SDIST = (".gitignore", ".pre-commit-config.yaml", ".pre-commit-hooks.yaml")


def main(paths: Iterable[str]) -> int:
    """Print each fault; return 1 if there is one."""
    files = subprocess.run(["git", "ls-files"], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    tracked = set(files.stdout.splitlines())
    faults = [f"{Path(path).name}: {fault}" for path in paths for fault in faults_of(Path(path), tracked)]
    print("\n".join(faults) or "wheel and sdist hold what they should")
    return 1 if faults else 0


def faults_of(path: Path, tracked: set[str]) -> Iterator[str]:
    """Yield the faults of a wheel or sdist of a repository with these files."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            names = {name for name in wheel.namelist() if ".dist-info/" not in name}
            cases = sum(info.compress_size for info in wheel.infolist() if info.filename.startswith(CASES))
        if cases > MOST_OF_CASES:
            yield f"{CASES}: got {cases} compressed bytes, expected {MOST_OF_CASES} at most"
        yield from _differ(names, {*_below("pytest_memfail/", tracked), *_rows(tracked)})
        # the folder must not shadow a package called datasets
        if ROWS + "__init__.py" in names:
            yield f"{ROWS}__init__.py: the rows are no package"
        for needed in ("pytest_memfail/py.typed", ROWS + "generation_config.json"):
            if needed not in names:
                yield f"{needed} is missing"
    else:
        with tarfile.open(path) as sdist:
            names = {member.name.partition("/")[2] for member in sdist.getmembers() if member.isfile()}
        yield from _differ(names - {"PKG-INFO", ".gitignore"}, tracked - set(NOT_IN_SDIST))


def _below(folder: str, tracked: Iterable[str]) -> set[str]:
    return {name for name in tracked if name.startswith(folder)}


def _rows(tracked: Iterable[str]) -> set[str]:
    return {
        ROWS + name.removeprefix("datasets/")
        for name in _below("datasets/", tracked)
        if not name.startswith(NOT_IN_WHEEL)
    }


def _differ(names: set[str], expected: set[str]) -> Iterator[str]:
    yield from (f"{name} is missing" for name in sorted(expected - names))
    yield from (f"{name} does not belong there" for name in sorted(names - expected))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
