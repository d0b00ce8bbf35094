"""The pytest plugin. Without `--memfail-system` it registers its options, hooks and markers, and does nothing else."""

from __future__ import annotations

from collections.abc import Generator
from functools import partial

import pluggy
import pytest

from pytest_memfail.options import OPTION_PREFIX, SYSTEM
from pytest_memfail.plugin.fixtures import (
    memfail_question as memfail_question,
    memfail_store as memfail_store,
    memfail_system as memfail_system,
    memfail_trace as memfail_trace,
    memfail_verdict as memfail_verdict,
)
from pytest_memfail.plugin.options import add_options, is_active, marker_lines

CASE_SUFFIX = ".memfail.yaml"
"""As in `pytest_memfail.suites`, which is not loaded if no system is named."""


def pytest_addoption(parser: pytest.Parser) -> None:
    add_options(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    from pytest_memfail.plugin import hookspecs

    pluginmanager.add_hookspecs(hookspecs)


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests() -> Generator[None, object, object]:
    """Report a hook of ours with wrong parameters on one line: pytest would end with a traceback through pluggy."""
    try:
        return (yield)
    except pluggy.PluginValidationError as error:
        if "pytest_memfail_" not in str(error):
            raise
        raise pytest.UsageError(" ".join(str(error).split())) from None


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    for line in marker_lines():
        config.addinivalue_line("markers", line)
    if not is_active(config):
        _refuse_inactive(config)
        return
    from pytest_memfail.plugin.arguments import take_arguments
    from pytest_memfail.plugin.collection import Collection, own_marker_lines
    from pytest_memfail.plugin.execution import Execution
    from pytest_memfail.plugin.handover import handed_over, take_over
    from pytest_memfail.plugin.run import build_run
    from pytest_memfail.plugin.stash import RUN
    from pytest_memfail.safety import KNOWN

    config.add_cleanup(partial(KNOWN.restore, KNOWN.snapshot()))  # a run may be inside another run's process
    given = handed_over(config)
    selection = take_arguments(config)  # in a worker too: xdist hands it the command line as it was
    if given:
        selection = tuple(map(tuple, given["selection"]))
    run = config.stash[RUN] = build_run(config, selection, given and given["settings"])
    for line in own_marker_lines(run):
        config.addinivalue_line("markers", line)
    execution = Execution(config, run)
    config.pluginmanager.register(Collection(config, run), "memfail-collection")
    config.pluginmanager.register(execution, "memfail-execution")
    if hasattr(config, "workerinput"):
        take_over(run, given)
    else:
        from pytest_memfail.plugin.controller import begin

        begin(config, run, execution)


def pytest_report_header(config: pytest.Config) -> str | None:
    given = any(str(word).startswith(OPTION_PREFIX) for word in config.invocation_params.args)
    return f"memfail options do nothing without {SYSTEM}" if given and not is_active(config) else None


def _refuse_inactive(config: pytest.Config) -> None:
    """Raise `pytest.UsageError` if the arguments name cases or items of the benchmark: without a system there are none."""
    for arg in config.args:
        path, is_typed = arg.partition("::")[0], config.args_source is pytest.Config.ArgsSource.ARGS
        what = "a case" if path.endswith(CASE_SUFFIX) and is_typed else ""
        if path.split("/")[0] == "memfail" and not config.invocation_params.dir.joinpath("memfail").exists():
            what = "the benchmark"
        if what:
            raise pytest.UsageError(f"{arg}: {what} needs a memory system to test; give {SYSTEM}=NAME (bm25, say)")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if is_active(metafunc.config) or metafunc.definition.get_closest_marker("memfail") is None:
        return
    skip = pytest.mark.skip(reason=f"no memory system to test: give {SYSTEM}=NAME")
    if "memfail_question" in metafunc.fixturenames:
        metafunc.parametrize("memfail_question", [pytest.param(None, marks=skip)], indirect=True, ids=["no-system"])
