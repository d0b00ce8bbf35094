"""Whole runs of pytest and of commands, in this process where nothing demands another: it has all imported."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType

import pytest

import pytest_memfail

LEFT_OUT = tuple(
    f"-pno:{name}" for name in ("cacheprovider", "hypothesispytest", "anyio", "rerunfailures", "unraisableexception")
)
"""Plugins that the runs do without: they import much or open a port at the start, or collect garbage twice at the end."""


def run_pytest_in(folder: Path, words: Sequence[str], environment: Mapping[str, str] = os.environ) -> tuple[int, str]:
    """Run pytest in a folder; return its exit code and output. A run with workers has a process of its own."""
    words = [*LEFT_OUT, *words]
    if "-n" not in words or words[words.index("-n") + 1] == "0":
        code, out, errors = in_this_process(lambda: pytest.main(words), folder, environment)
        return code, out + errors
    command = [sys.executable, "-m", "pytest", *words]
    done = subprocess.run(command, cwd=folder, env=dict(environment), capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def in_this_process(
    start: Callable[[], int], folder: Path, environment: Mapping[str, str] = os.environ
) -> tuple[int, str, str]:
    """Call what a command calls; return its exit code and both outputs. What it changed in the process is put back."""
    modules, path = dict(sys.modules), list(sys.path)
    out, errors = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name in os.environ.keys() - environment.keys():
            patch.delenv(name)
        for name, value in environment.items():
            patch.setenv(name, value)
        # as `python -m` does
        sys.path[:0] = [str(folder), *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
        importlib.invalidate_caches()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            code = start()
    for name in [name for name, module in sys.modules.items() if name not in modules and not stays(module)]:
        del sys.modules[name]
    sys.modules.update(modules)
    sys.path[:] = path
    return int(code), out.getvalue(), errors.getvalue()


def stays(module: ModuleType) -> bool:
    """Whether a module is of Python, of an installed package or of ours: others have names that the next run gives anew."""
    file = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", ())), "")
    own = (sysconfig.get_path("stdlib"), str(Path(pytest_memfail.__file__).parent))
    return not file or "site-packages" in file or file.startswith(own)
