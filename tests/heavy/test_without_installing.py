"""A built wheel runs a YAML file in an empty folder, by `uvx` alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def uv() -> str:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return shutil.which("uv", path=path) or pytest.skip("needs uv")


@pytest.fixture(scope="module")
def wheel(uv: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([uv, "build", "--quiet", "--wheel", "--out-dir", str(folder), str(ROOT)], check=True)
    (found,) = folder.glob("*.whl")
    return found


@pytest.mark.parametrize("preset", ["", "server-memory"])
def test_a_wheel_runs_a_yaml_file_in_an_empty_folder(uv: str, wheel: Path, tmp_path: Path, preset: str) -> None:
    if preset and shutil.which("npx") is None:
        pytest.skip("needs npx")
    text = f"kind: mcp\npreset: {preset}\n" if preset else "kind: files\n"
    (tmp_path / "memory.yaml").write_text(text, encoding="utf-8")
    package = f"pytest-memfail[mcp] @ {wheel.as_uri()}" if preset else str(wheel)
    uvx = [uv, "tool", "run", "--python", sys.executable, "--from", package]
    given = ["--memfail-system=memory.yaml", "--memfail-limit=2", "--memfail-tasks=long_hop,updated_facts"]
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "PYTHONPATH"))}
    done = subprocess.run(
        [*uvx, "pytest", *given], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr  # passed, or some questions failed
    assert "memfail: system memory.yaml (mode direct), judge offline" in done.stdout
    assert " error" not in done.stdout.splitlines()[-1], done.stdout
    assert [path.name for path in tmp_path.iterdir() if path.name != ".pytest_cache"] == ["memory.yaml"]
