"""Which tests are left to `-m slow`: what another test shows too, at another number of workers or on other texts."""

from __future__ import annotations

import re

import pytest

SLOW = re.compile(
    r"""
    plugin/test_gate\.py::(?!test_exit_code).*\[n2
    | plugin/test_gate\.py::test_exit_code\[n2-(?!a\ regression\]|a\ fix|no\ baseline\ in|too\ many\ errors\]|saving\ a\ partial)
    | plugin/test_(resume|reuse|report_option|repeats)\.py::(?!test_killed_again|test_the_same_as|test_a_second_run).*\[n2
    | end_to_end/test_models\.py::.*(\[2\]|\[rules\+m\]|\[rules\]|stopped_a_run|no_budget_at_all)
    | end_to_end/test_models\.py::test_faults_that_pass_change_no_verdict\[(?!429\]|drop_mid_body|truncated)
    | end_to_end/test_ci_recipes\.py::(test_gitlab|test_several_gateways\[popen\])
    | end_to_end/test_published_runs\.py::(test_the_published_rows_give_the_same_verdicts|.*\[(misdirected|forgetful))
    | end_to_end/test_pull_request\.py::.*n2
    | judges/test_rules_published\.py::.*\[sentences
    """,
    re.VERBOSE,
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if SLOW.search(item.nodeid):
            item.add_marker("slow")
