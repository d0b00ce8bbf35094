"""Control a run in the process that the user started: checks before anything is stored, the gate, and the end of the run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

import pytest

from pytest_memfail.clues import find_clues
from pytest_memfail.core import UsageError, check_can_be_made
from pytest_memfail.options import Settings
from pytest_memfail.plugin.execution import Execution
from pytest_memfail.plugin.recording import Recording
from pytest_memfail.plugin.stash import BROKEN_OFF, RUNTIME, is_planned
from pytest_memfail.plugin.terminal import Terminal
from pytest_memfail.plugin.users_code import ask
from pytest_memfail.plugin.xdist import Distribution
from pytest_memfail.records import BaselineRefused, Footer, check_writable
from pytest_memfail.results import NO_TRUSTWORTHY_RESULT, suite_records
from pytest_memfail.running import ROOT, Gatekeeper, Run, find_reference, read_reference, resume

if TYPE_CHECKING:
    from pytest_memfail.core import Doubt
    from pytest_memfail.records import Reference
    from pytest_memfail.results import Loaded, Summary

UNDECIDED: Final = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
"""The exit codes of a run that went to its end, which the gate may change."""
NO_CALL: Final = (
    "--memfail-proxy saw no call of the memory system: it asked no model, or it reads neither OPENAI_BASE_URL nor "
    "context.base_url when it makes its client"
)


def begin(config: pytest.Config, run: Run, execution: Execution) -> None:
    """Check the settings that only this process uses, and register the plugins that follow the run.

    Raises `pytest.UsageError` with one line if the options are wrong. Ends the run with exit code 6 if it cannot be compared with the
    baseline, or if the baseline is missing in CI and this run saves none.
    """
    try:
        check_settings(config, run)
        resumed = resume(run) if run.settings.resume else ""
        own_reference = read_reference(run)
        gatekeeper = Gatekeeper(run, is_planned=is_planned(config))
    except BaselineRefused as error:
        pytest.exit(f"memfail: no trustworthy result: {error}", returncode=NO_TRUSTWORTHY_RESULT)
    except UsageError as error:
        raise pytest.UsageError(str(error)) from error.__cause__
    if not gatekeeper.may_start:
        pytest.exit(f"memfail: no trustworthy result: {gatekeeper.fails_closed}", returncode=NO_TRUSTWORTHY_RESULT)
    run.known = gatekeeper.known
    recording = Recording(config, run)
    ending = Ending(config, run, gatekeeper, recording, partial(find_reference, run, own=own_reference), execution.show)
    plugins = {
        "distribution": Distribution(config, run, execution, recording.reported),
        "recording": recording,
        "ending": ending,
        "terminal": Terminal(config, run, execution, recording, ending, resumed),
    }
    for name, plugin in plugins.items():
        config.pluginmanager.register(plugin, f"memfail-{name}")


def check_settings(config: pytest.Config, run: Run) -> None:
    """Raise `UsageError` for settings that contradict each other or the surroundings, and files that cannot be written."""
    settings = run.settings
    if config.getoption("forked", False):  # pytest-forked
        raise UsageError(
            "--forked: a process for each item, expected one for all items of a store; leave --forked out (-n 2 runs stores in "
            "two processes)"
        )
    if settings.reuse_stores is not None:
        check_can_be_made(settings.reuse_stores / "store", Settings.reuse_stores.flag)
    if settings.record is not None:
        check_writable(settings.record)
    if not settings.reports:
        return
    from pytest_memfail.report import check_report

    for path in settings.reports:
        check_report(path, "--memfail-report")
    if settings.record is None and run.runs is None:
        raise UsageError(
            "--memfail-report: a report is made from the record: without pytest's cache, give --memfail-record"
        )


class Ending:
    """End a run: its summary, the gate, the exit code, the record and the reports.

    Registered only if a memory system is named, and never in an xdist worker.
    """

    def __init__(
        self,
        config: pytest.Config,
        run: Run,
        gatekeeper: Gatekeeper,
        recording: Recording,
        find: Callable[..., Reference | None],
        show: Callable[[str], None],
    ) -> None:
        """`find` returns the reference of some questions, and `show` shows the progress."""
        self._find, self._show = find, show
        self._reference: Reference | None = None
        self._config, self._run, self._gatekeeper, self._recording = config, run, gatekeeper, recording
        self._lost: list[str] = []
        """Items that ended without a report."""
        self._worker_broke = False
        self._worker_died = False
        self._doubts: tuple[Doubt, ...] = ()
        self.summary: Summary | None = None
        """None without results."""
        self.said: list[tuple[str, bool]] = []
        """Lines for the end of the run, and whether each is bad news."""

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, error: object) -> None:
        self._worker_died |= bool(error)

    def pytest_internalerror(self) -> None:
        self._worker_broke = True  # xdist goes on, and if all else had ended by then, it would end with exit code 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if is_planned(self._config):
            return
        broken_off = self._config.stash.get(BROKEN_OFF, None)
        if self._recording.first_errors.reason:
            session.exitstatus = NO_TRUSTWORTHY_RESULT
        elif session.exitstatus in UNDECIDED and isinstance(broken_off, KeyboardInterrupt):
            session.exitstatus = pytest.ExitCode.INTERRUPTED
        elif session.exitstatus in UNDECIDED and self._worker_broke:
            session.exitstatus = pytest.ExitCode.INTERNAL_ERROR
        most = self._config.getoption("maxfail")
        is_stopped = bool(session.shouldstop or session.shouldfail or (most and session.testsfailed >= most))
        ended_early = is_stopped or broken_off is not None or session.exitstatus not in UNDECIDED
        if not ended_early:
            self._lost = [node_id for node_id in self._recording.expected if node_id not in self._recording.reported]
        results, hook_fault = self._recording.results, None
        if results is not None:
            self._reference = self._find(results.questions, show=None if ended_early else self._show)
            self._recording.refer(self._reference)
            results = self._recording.results
            assert results is not None
            self._summarize(results, ended_early=ended_early)
            hook_fault = self._hand_on()
        if not ended_early:
            session.exitstatus = self._exit_code(session)
        elif self._gatekeeper.is_asked and results is not None:
            self.said.append(("the gate was not decided: the run ended early", True))
        if hook_fault is not None:
            self.said.append((hook_fault, True))
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED
        if self._run.settings.save_baseline is not None:
            self._save_baseline(session, results, ended_early=ended_early)
        if results is not None:
            self._end_record(session, results, interrupted=ended_early or bool(self._lost))

    def _summarize(self, results: Loaded, *, ended_early: bool) -> None:
        """Compute the summary, and decide the gate if the run is whole and went to its end."""
        recording, path = self._recording, self._recording.record.path
        spent = tuple(self._config.stash[RUNTIME].spending())
        called = any(row["stage"].startswith("memory") for row in spent)
        # without a verdict the calls may have been refused, as by the budget; the errors say so
        judged = any(question.verdict != "error" for question in results.questions)
        if self._run.settings.proxy is not None and judged and not called:
            self.said.append((NO_CALL, True))
        self._doubts = self._run.mixture(recording.stores[recording.taken_over :], died=self._worker_died)
        header = results.header
        self.summary = replace(
            results.summary().with_doubts(self._doubts),
            record=None if path is None else self._run.shown(path),
            models=spent,
            reference=self._reference,
            suites=suite_records(results.questions, self._run.suites, header.tasks, header.protocol),
            clues=find_clues(results.questions, results.stores),
        )
        if ended_early or self.untrusted is not None:
            return
        partial = self._gatekeeper.partial(results.outcomes)
        if partial is None:
            self.summary = replace(self.summary, gate=self._gatekeeper.decide(self.summary, results))
        elif self._gatekeeper.is_asked:
            self.said.append((f"the gate was not decided: {partial}", False))

    def _hand_on(self) -> str | None:
        """Call the user's hooks with the summary; return their error, which must cost neither record nor reports."""
        hook = self._config.hook.pytest_memfail_summary
        try:
            ask(f"{hook.name}()", hook, config=self._config, summary=self.summary)
        except (UsageError, pytest.UsageError) as error:
            return str(error)
        return None

    def _exit_code(self, session: pytest.Session) -> int | pytest.ExitCode:
        """Return the exit code of a run that went to its end: if there is a gate, it alone decides about verdicts."""
        closed, lacks = self._gatekeeper.fails_closed, self._gatekeeper.lacks_baseline
        if closed is not None:
            self.said.append((f"no trustworthy result: {closed}", True))
        elif lacks is not None and self.summary is not None:
            self.said.append((lacks, False))
        if self.untrusted is not None or closed is not None:
            return NO_TRUSTWORTHY_RESULT
        gate = self.summary.gate if self.summary is not None else None
        if gate is None or gate.outcome == "skipped":
            return session.exitstatus
        if gate.outcome == "failed":
            return pytest.ExitCode.TESTS_FAILED
        judged = self._recording.judged_failures
        if session.exitstatus == pytest.ExitCode.TESTS_FAILED and session.testsfailed == judged:
            self.said.append((f"the gate decides: {judged} failed items do not fail the run", False))
            return pytest.ExitCode.OK
        return session.exitstatus

    def _save_baseline(self, session: pytest.Session, results: Loaded | None, *, ended_early: bool) -> None:
        try:
            gate = self.summary.gate if self.summary is not None else None
            said = self._gatekeeper.save(results, ended_early, self.untrusted, gate)
        except (UsageError, OSError) as error:
            self.said.append((f"no baseline is saved: {error}", True))
            if session.exitstatus in UNDECIDED:
                session.exitstatus = NO_TRUSTWORTHY_RESULT
        else:
            self.said.append(said)

    def _end_record(self, session: pytest.Session, results: Loaded, *, interrupted: bool) -> None:
        """End the record, restore its files if necessary, and write the reports."""
        record = self._recording.record
        whole = self._run.keys() <= results.outcomes.keys()
        self.said += record.restore()
        assert self.summary is not None
        footer = Footer(
            exit_code=self._code(session),
            complete=not interrupted,
            whole=whole,
            models=self.summary.models,
            suites=self.summary.suites,
            doubts=self._doubts,
            gate=self.summary.gate,
            reference=self._reference,
            clues=self.summary.clues,
        )
        self.said += record.end(footer)
        session.exitstatus = self._code(session)
        if self._run.settings.reports:
            from pytest_memfail.report import write_reports

            for path, fault in write_reports(self._run.settings.reports, [results.ended(footer)]):
                if fault is not None:  # this must not cost the run and its record
                    self.said.append((f"the report {path} could not be written: {fault}", True))
                else:
                    self.said.append((f"report written: {self._run.shown(path)}", False))
        verdicts: dict[str, dict[str, str]] = {}
        for question in results.questions:
            if question.id.startswith(f"{ROOT}/"):  # not a user's own test over a task
                verdicts.setdefault(question.task, {})[question.id] = question.state
        record.keep(interrupted=interrupted, whole=whole, exit_code=int(session.exitstatus), verdicts=verdicts)

    def _code(self, session: pytest.Session) -> int:
        """Return the exit code: a run without the record that was asked for has no trustworthy result."""
        is_lost = self._recording.record.fault is not None and session.exitstatus in UNDECIDED
        return NO_TRUSTWORTHY_RESULT if is_lost else int(session.exitstatus)

    @property
    def untrusted(self) -> str | None:
        """Why the figures of the run mean nothing; None if they mean something."""
        if self._lost:
            return (
                f"{len(self._lost)} of {len(self._recording.expected)} selected questions have no result, e.g. "
                f"{self._lost[0]}: they ended without a report, or the report was lost"
            )
        if self.summary is None:
            return "no question was asked, so the gate cannot be decided" if self._gatekeeper.is_asked else None
        if (untrusted := self.summary.untrusted) is not None:
            return untrusted
        return self.summary.gate.undecided if self.summary.gate is not None else None
