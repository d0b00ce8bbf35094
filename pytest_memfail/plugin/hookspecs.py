"""The hooks that a conftest.py or another plugin may implement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pytest_memfail.core import Judge, Suite, SystemFactory, Task, Verdict
    from pytest_memfail.results import Summary


@pytest.hookspec(firstresult=True)
def pytest_memfail_make_system(config: pytest.Config, name: str) -> SystemFactory | None:
    """Return the factory of the memory system called `name` (`--memfail-system`), or None if it is not yours.

    ::

        @pytest.hookimpl(optionalhook=True)
        def pytest_memfail_make_system(config, name):
            if name == "mymem":
                return lambda context: MyMemory(context.path / "db.sqlite")
    """


@pytest.hookspec(firstresult=True)
def pytest_memfail_make_judge(config: pytest.Config, name: str) -> Judge | None:
    """Return the judge called `name` (`--memfail-judge`), or None if it is not yours.

    ::

        @pytest.hookimpl(optionalhook=True)
        def pytest_memfail_make_judge(config, name):
            return StrictJudge() if name == "strict" else None
    """


@pytest.hookspec
def pytest_memfail_tasks(config: pytest.Config) -> Sequence[Task]:  # type: ignore[empty-body]  # a hookspec has none
    """Return further tasks; `--memfail-tasks` can name them.

    ::

        @pytest.hookimpl(optionalhook=True)
        def pytest_memfail_tasks(config):
            return [my_task()]
    """


@pytest.hookspec
def pytest_memfail_suites(config: pytest.Config) -> Sequence[Suite]:  # type: ignore[empty-body]  # a hookspec has none
    """Return further suites; `--memfail-suite` names those that run.

    ::

        @pytest.hookimpl(optionalhook=True)
        def pytest_memfail_suites(config):
            return [my_suite()]
    """


@pytest.hookspec
def pytest_memfail_verdict(item: pytest.Item, verdict: Verdict) -> None:
    """Handle the verdict of an item; called in the process that ran the item.

    ::

        @pytest.hookimpl(optionalhook=True)
        def pytest_memfail_verdict(item, verdict):
            item.user_properties.append(("verdict", verdict.name))
    """


@pytest.hookspec
def pytest_memfail_summary(config: pytest.Config, summary: Summary) -> Any:
    """Handle the summary of the run; called once, in the process that the user started.

    ::

        @pytest.hookimpl(optionalhook=True)
        def pytest_memfail_summary(config, summary):
            upload(summary.total.states)
    """
