"""Find the memory systems of a project's conftest.py without a test run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pytest_memfail.core import UsageError, one_line


def system_of_conftest(name: str) -> Any:
    """Return the factory from the hook `pytest_memfail_make_system` in the current folder's conftest.py; None if there
    is none.

    Raises `UsageError` if pytest cannot start here (a faulty conftest.py or setting), or the hook raises.
    """
    import pytest

    class Finder:
        """Calls the hook when pytest has read its settings and conftest.py, and then ends pytest."""

        was_asked = False
        found: Any = None
        error: Exception | None = None

        @pytest.hookimpl(tryfirst=True)
        def pytest_cmdline_main(self, config: pytest.Config) -> int:
            """Replace collecting and running tests."""
            self.was_asked = True
            try:
                self.found = config.hook.pytest_memfail_make_system(config=config, name=name)
            except Exception as error:
                self.error = error
            return 0

    finder = Finder()
    # no test runs: rewrite nothing (modules already imported would cause warnings), capture nothing
    code = pytest.main(["--assert=plain", "-s", "-p", "memfail"], [finder])
    if finder.error is not None:
        kind = type(finder.error).__name__
        raise UsageError(
            f"pytest_memfail_make_system({name!r}) raised {kind}: {one_line(finder.error)}"
        ) from finder.error
    if not finder.was_asked:
        raise UsageError(
            f"pytest cannot start in {Path.cwd()} (exit code {int(code)}, see above), so its conftest.py cannot provide "
            f"{name!r}; expected a folder where pytest runs"
        )
    return finder.found
