"""The fixtures of the plugin's tests; see `project` for what they hold."""

from __future__ import annotations

# pytester forgets what a run inside this process imported: these stay, so that not every test imports them again
import numpy as np  # noqa: F401
import pydantic  # noqa: F401
import pytest
import tiktoken  # noqa: F401

import pytest_memfail.engine
import pytest_memfail.judges
import pytest_memfail.llm
import pytest_memfail.plugin.collection
import pytest_memfail.plugin.controller
import pytest_memfail.plugin.execution
import pytest_memfail.plugin.fixtures
import pytest_memfail.plugin.outcome
import pytest_memfail.plugin.run
import pytest_memfail.report
import pytest_memfail.results
import pytest_memfail.running
import pytest_memfail.suites
import pytest_memfail.suites.mab
import pytest_memfail.suites.meme  # noqa: F401
from plugin.project import Project


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    """Runs without xdist, inside this process."""
    return Project(pytester)


@pytest.fixture(params=[pytest.param(None, id="alone"), pytest.param(2, id="n2", marks=pytest.mark.slow)])
def any_project(pytester: pytest.Pytester, request: pytest.FixtureRequest) -> Project:
    """Without xdist; with `-m slow`, with two workers too (see `both_ways`)."""
    return Project(pytester, request.param)


@pytest.fixture
def project2(pytester: pytest.Pytester) -> Project:
    """Two workers."""
    return Project(pytester, 2)
