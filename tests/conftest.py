"""Which tests are left to `-m slow`: what another test shows too, at another number of workers or on other texts."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator

import pytest

SLOW = re.compile(
    r"""
    plugin/test_gate\.py::(?!test_exit_code).*\[n2
    | plugin/test_gate\.py::test_exit_code\[n2-(?!a\ regression\]|no\ baseline\ in|saving\ a\ partial)
    | plugin/test_(resume|reuse|report_option|repeats)\.py::(?!test_killed_again|test_the_same_as|test_a_second_run).*\[n2
    | plugin/test_collection\.py::(?!test_verdict_marker\[|test_last_failed|test_a_pasted_id).*\[n2
    | plugin/test_summary\.py::(?!test_table|test_what_the_verdict_hook|test_warns_of).*\[n2
    | plugin/test_outcomes\.py::(?!test_a_failed_fill|test_letters|test_an_error_is_one_line.*options0).*\[n2
    | plugin/test_fixtures\.py::(?!test_own_tests_and|test_memfail_system_of|test_conftest_hooks).*\[n2
    | plugin/test_usage_errors\.py::(?!test_a_system_by_import).*\[n2
    | plugin/test_ahead\.py::test_a_question_that_hangs_ends_by_its_timeout\[Hanging\]
    | plugin/test_xdist\.py::.*(\[async-toy\]|own_is_kept\[load\])
    | end_to_end/test_models\.py::.*(\[2\]|\[offline\+m\]|\[offline\]|\[judge-storage|stopped_a_run|no_budget_at_all)
    | end_to_end/test_models\.py::test_faults_that_pass_change_no_verdict\[(?!429\]|truncated)
    | end_to_end/test_ci_recipes\.py::(test_gitlab|test_several_gateways\[popen\])
    | end_to_end/test_published_runs\.py::(test_the_published_rows_give_the_same|test_a_verbatim|test_a_system_that_fails)
    | end_to_end/test_pull_request\.py::(.*n2|test_code_that_is_only_reordered)
    | end_to_end/test_mymem\.py::test_it_passes_its_gate_in_ci\[workers0\]
    """,
    re.VERBOSE,
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if SLOW.search(item.nodeid):
            item.add_marker("slow")


@pytest.fixture(autouse=True)
def no_module_of_another_test(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Forget the modules that a test wrote into its folder: the next test writes others of the same names."""
    before = set(sys.modules)
    yield
    folders = f"{tmp_path_factory.getbasetemp().parent}{os.sep}"
    for name in sys.modules.keys() - before:
        file = getattr(sys.modules[name], "__file__", None)
        if isinstance(file, str) and file.startswith(folders):
            del sys.modules[name]
