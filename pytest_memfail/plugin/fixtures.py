"""Define the fixtures of benchmark items and of users' own tests over a task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from pytest_memfail.plugin.options import is_active

if TYPE_CHECKING:
    from pytest_memfail.core import Memory, Question, SystemFactory, Trace, Verdict


@dataclass(frozen=True)
class FilledStore:
    """The value of the fixture `memfail_store`: a store after its last conversation."""

    id: str
    task: str
    memories: tuple[Memory, ...]
    """What `get_all_memories()` returned when this item's question was asked."""


@pytest.fixture(scope="session")
def memfail_system(pytestconfig: pytest.Config) -> SystemFactory:
    """The factory of the memory system under test; override it in your conftest.py to make your own."""
    if not is_active(pytestconfig):
        pytest.skip("no memory system to test: give --memfail-system=NAME")
    from pytest_memfail.plugin.run import SYSTEM_FROM_FIXTURE
    from pytest_memfail.plugin.stash import RUN
    from pytest_memfail.plugin.users_code import find_system

    run = pytestconfig.stash[RUN]
    if run.settings.system == SYSTEM_FROM_FIXTURE:
        from pytest_memfail.core import MemorySystemError

        raise MemorySystemError(
            "--memfail-system=fixture needs a session fixture memfail_system in the rootdir's conftest.py"
        )
    return find_system(pytestconfig, run.settings)  # type: ignore[no-any-return]


@pytest.fixture
def memfail_question(request: pytest.FixtureRequest) -> Question:
    """The question of this item."""
    return _asked(request).question  # type: ignore[no-any-return]


@pytest.fixture
def memfail_trace(request: pytest.FixtureRequest, memfail_question: Question, memfail_system: SystemFactory) -> Trace:
    """What happened to the question: memories retrieved, answer, seconds."""
    from pytest_memfail.plugin.asking import ask_question

    return ask_question(request, _asked(request))


@pytest.fixture
def memfail_verdict(request: pytest.FixtureRequest, memfail_trace: Trace) -> Verdict:
    """The verdict on the question."""
    from pytest_memfail.plugin.asking import verdict_of

    return verdict_of(request)


@pytest.fixture
def memfail_store(request: pytest.FixtureRequest, memfail_trace: Trace) -> FilledStore:
    """The filled store of this item."""
    from pytest_memfail.plugin.stash import RESULT

    asked, result = _asked(request), request.node.stash[RESULT]
    return FilledStore(asked.unit.plan.id, asked.unit.task.name, result.listing.memories if result.listing else ())


def _asked(request: pytest.FixtureRequest) -> Any:
    from pytest_memfail.plugin.collection import asked_by

    asked = asked_by(request.node)
    if asked is None:
        pytest.fail(
            "the memfail_* fixtures need a question: mark the test with @pytest.mark.memfail(task=NAME)", pytrace=False
        )
    return asked
