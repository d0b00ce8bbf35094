"""The gate in a pytest run: what was asked of it, what the baseline knows of each item, and the exit code.

Computed by the process that the user started; a worker is handed what the baseline knows as plain data.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_memfail.core import ERROR, UsageError
from pytest_memfail.plugin.header import record_header
from pytest_memfail.plugin.run import Run
from pytest_memfail.results import (
    ANCHOR_COMMAND,
    NO_TRUSTWORTHY_RESULT,
    Baseline,
    BaselineRefused,
    Entry,
    Expression,
    Gate,
    Loaded,
    QuestionRecord,
    Summary,
    change_of,
    check_baseline,
    check_baseline_place,
    check_tasks,
    decide,
    in_ci,
    parse_expressions,
    read_anchor,
    read_baseline,
    shown,
    write_baseline,
)

Known = Mapping[str, list[Any]]
"""By node id what the baseline says of an item: its verdict, whether memory held, whether it passed vacuously."""


def prepare(config: pytest.Config, run: Run) -> Gatekeeper:
    """Check what the user asked of the gate, before anything is stored.

    Raises `pytest.UsageError` for a wrong call; ends the run with exit code 6 for a baseline that it cannot be compared with,
    or that is missing in CI.
    """
    settings = run.settings
    try:
        expressions = [found for text in settings.fail_on for found in parse_expressions(text)]
        check_tasks(expressions, [task.name for task in run.tasks])
        _check_paths(run)
        if settings.save_baseline is not None:
            check_baseline_place(settings.save_baseline)
        baseline, unfit = _baseline(config, run)
        anchor = _anchor(config, run)
    except BaselineRefused as error:
        pytest.exit(f"memfail: no trustworthy result: {error}", returncode=NO_TRUSTWORTHY_RESULT)
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None
    keeper = Gatekeeper(config, run, expressions, baseline, unfit, anchor)
    if keeper.lacks_baseline is not None and not unfit and in_ci():
        pytest.exit(
            f"memfail: no trustworthy result: {keeper.lacks_baseline}, and in CI the gate fails closed",
            returncode=NO_TRUSTWORTHY_RESULT,
        )
    return keeper


def _baseline(config: pytest.Config, run: Run) -> tuple[Baseline | None, str]:
    """The baseline to compare with, if one is there; and why it is not compared with, where this run replaces it.

    Raises `BaselineRefused` for one that the run cannot be compared with, unless it is saved over.
    """
    path, saved = run.settings.baseline, run.settings.save_baseline
    if path is None or not _is_asked(config, run) or not path.exists():
        return None, ""
    try:
        baseline = read_baseline(path)
        check_baseline(baseline, path, record_header(run))
    except BaselineRefused as error:
        if saved is None or saved.resolve() != path.resolve():
            raise
        return None, f"{error} (this run does)"
    return baseline, ""


def _anchor(config: pytest.Config, run: Run) -> Baseline | None:
    """The anchor to compare with, if one was named and is there."""
    path = run.settings.anchor
    if path is None or not _is_asked(config, run) or not path.exists():
        return None
    anchor = read_anchor(path)
    check_baseline(anchor, path, record_header(run), "anchor")
    return anchor


def _is_asked(config: pytest.Config, run: Run) -> bool:
    """Whether questions of the benchmark are to be run at all: only they are gated."""
    option = config.option
    planned = option.collectonly or getattr(option, "setupplan", False) or getattr(option, "setuponly", False)
    return bool(run.selection) and not planned


def _check_paths(run: Run) -> None:
    settings = run.settings
    for name, path in (
        ("--memfail-baseline", settings.baseline),
        ("--memfail-save-baseline", settings.save_baseline),
        ("--memfail-anchor", settings.anchor),
    ):
        if path is not None and settings.record is not None and path.resolve() == settings.record.resolve():
            raise UsageError(f"{name} and --memfail-record: got the file {path} for both, expected two files")


class Gatekeeper:
    """The gate of a run, in the process that the user started."""

    def __init__(
        self,
        config: pytest.Config,
        run: Run,
        expressions: list[Expression],
        baseline: Baseline | None,
        unfit: str = "",
        anchor: Baseline | None = None,
    ) -> None:
        self._config, self._run, self._baseline, self._anchor = config, run, baseline, anchor
        asked = _is_asked(config, run)
        self._expressions = expressions if asked else []
        self.lacks_baseline: str | None = None
        """Why nothing can be compared although it was asked for; None if that is not so."""
        if unfit:
            self.lacks_baseline = unfit
        elif asked and run.settings.anchor is not None and anchor is None:
            self.lacks_baseline = f"there is no anchor at {run.settings.anchor} yet (make one with {ANCHOR_COMMAND})"
        elif asked and baseline is None:
            if run.settings.baseline is not None:
                self.lacks_baseline = f"there is no baseline at {run.settings.baseline} yet (save one with "
            elif anchor is None and (needs := [e.text for e in expressions if e.needs_baseline]):
                self.lacks_baseline = f"{needs[0]} needs a baseline (--memfail-baseline; save one with "
            if self.lacks_baseline is not None:
                self.lacks_baseline += "--memfail-save-baseline)"

    @property
    def is_asked(self) -> bool:
        """Whether anything is to be decided."""
        return bool(self._expressions) or self._baseline is not None or self._anchor is not None

    @property
    def known(self) -> Known:
        """What the baseline, or else the anchor, says of each item of this run."""
        earlier = self._baseline or self._anchor
        if earlier is None:
            return {}
        found = {}
        for node_id, unit, question, k in self._run.selected():
            entry = earlier.entries.get((unit.task.name, unit.plan.id, question.id, k))
            if entry is not None:
                found[node_id] = [entry.verdict, entry.memory_held, entry.vacuous]
        return found

    def decide(self, summary: Summary, record: Loaded) -> Gate | None:
        """The gate over a whole run; None if nothing is to be decided."""
        earlier = self._baseline or self._anchor
        if earlier is None and all(expression.needs_baseline for expression in self._expressions):
            return None  # nothing is asked, or the first run: the items' own outcomes decide
        return decide(
            self._expressions,
            summary,
            record.outcomes,
            record.header,
            self._baseline,
            shown=_short(self._run.settings.baseline, self._config),
            anchor=self._anchor,
            anchor_shown=_short(self._run.settings.anchor, self._config),
        )

    def save(self, record: Loaded | None, ended_early: bool, untrusted: str | None) -> str:
        """Save the baseline that was asked for; returns where, with how many verdicts.

        Raises `UsageError` with the reason for a run that must not become one.
        """
        path = self._run.settings.save_baseline
        assert path is not None
        outcomes = record.outcomes if record is not None else {}
        whole = self._run.keys()
        errors = sum(outcome.verdict == ERROR for outcome in outcomes.values())
        if self._run.settings.shard is not None:
            raise UsageError("a shard is a part of a run")
        if missing := len(whole - outcomes.keys()):
            raise UsageError(f"a partial run: {len(whole) - missing} of {len(whole)} questions have a result")
        if ended_early:
            raise UsageError("the run ended early")
        if errors:
            raise UsageError(f"{errors} of {len(whole)} questions are errors")
        if untrusted is not None:
            raise UsageError(untrusted)
        assert record is not None
        saved = write_baseline(path, record.header, outcomes.values())
        return f"{_short(path, self._config)}, {saved} verdicts"


def apply_known(report: Any, new: QuestionRecord, known: list[Any], protocol: str) -> None:
    """A failure that the baseline knows becomes an expected one; one that is gone, an unexpected pass, which never fails."""
    verdict, memory_held, vacuous = known
    old = Entry(new.id, *new.key, verdict, memory_held, bool(vacuous))
    if report.failed and old.failed and new.failed:
        report.outcome = "skipped"
        as_before = "as in" if old.verdict == new.verdict else f"{old.verdict} in"
        report.wasxfail = f"{new.verdict}, {as_before} the baseline"
    elif change_of(old, new, protocol) == "better":
        report.outcome, report.longrepr = "passed", None
        report.wasxfail = f"{shown(new)}, {old.verdict} in the baseline"


def _short(path: Path | None, config: pytest.Config) -> str | None:
    if path is None:
        return None
    return str(path.relative_to(config.rootpath)) if path.is_relative_to(config.rootpath) else str(path)
