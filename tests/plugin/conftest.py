"""The fixtures of the plugin's tests; see `project` for what they hold."""

from __future__ import annotations

import importlib
import pkgutil

import jinja2  # noqa: F401
import numpy as np  # noqa: F401
import openai
import pytest
import tiktoken  # noqa: F401

import pytest_memfail
from plugin.project import Project

# pytester forgets what a run inside this process imported: this stays, so that not every test imports it again
for found in pkgutil.walk_packages(pytest_memfail.__path__, f"{pytest_memfail.__name__}."):
    importlib.import_module(found.name)
# a client loads its transport: a second copy of that would raise errors that the first copy's client does not know
openai.AsyncOpenAI(api_key="none", base_url="http://127.0.0.1")


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
