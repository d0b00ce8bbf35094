"""In the process that the user started: the header, the outcome words, the record, the summary and the exit code."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_memfail.core import CORRECT, FAILURES, LETTERS, UNGRADED, UsageError
from pytest_memfail.plugin.gating import Gatekeeper
from pytest_memfail.plugin.header import record_header
from pytest_memfail.plugin.recorded import known_verdicts, recorded_verdicts, save_verdicts
from pytest_memfail.plugin.resume import LAST_RECORD, kept_lines
from pytest_memfail.plugin.run import Run
from pytest_memfail.plugin.stash import RUNTIME
from pytest_memfail.results import NO_TRUSTWORTHY_RESULT

if TYPE_CHECKING:
    from _typeshed import StrPath

    from pytest_memfail.results import Gate, RecordWriter, Summary, SummaryBuilder


class Reporting:
    """Registered only where a memory system was named, and never in an xdist worker."""

    def __init__(self, config: pytest.Config, run: Run, gatekeeper: Gatekeeper) -> None:
        self._config, self._run, self._gatekeeper = config, run, gatekeeper
        self._builder: SummaryBuilder | None = None
        self._writer: RecordWriter | None = None
        self._expected: dict[str, None] = {}
        self._reported: set[str] = set()
        self._lost: list[str] = []
        self._summary: Summary | None = None
        self._record: Path | None = run.settings.record
        self._judged_failures = 0
        self._said: list[tuple[str, bool]] = []
        """Lines for the end of the run, and whether each is bad news."""

    # -- the header --------------------------------------------------------------------------------------------------

    def pytest_report_header(self) -> list[str]:
        run, settings = self._run, self._run.settings
        questions = sum(len(unit.plan.questions) for unit in run.units) * len(settings.k)
        tasks = len({unit.task.name for unit in run.units})
        rows = "shipped rows" if settings.data is None else f"rows of {_short(settings.data, self._config)}"
        shard = "" if settings.shard is None else " (shard {} of {})".format(*settings.shard)
        lines = [
            f"memfail: system {settings.system}, judge {settings.judge}, "
            f"{f'answers by {settings.model}, ' if settings.model else ''}protocol {settings.protocol}, "
            f"k={','.join(map(str, settings.k))}",
            f"memfail: {tasks} tasks, {questions} questions in {len(run.units)} stores{shard}, {rows}",
        ]
        expression = self._config.getoption("markexpr", "") or ""
        if any(failure in expression for failure in FAILURES):
            lines.append(f"memfail: {self._selected_by()}")
        if settings.resume:
            lines.append(f"memfail: {len(run.kept.questions)} questions are taken from the record, not asked again")
        if (folder := settings.reuse_stores) is not None:
            from pytest_memfail.engine import kept_in

            lines.append(
                f"memfail: filled stores are kept in {_short(folder, self._config)} ({kept_in(folder)} so far) and reused"
            )
        return lines

    def _selected_by(self) -> str:
        """What `-m VERDICT` goes by in this run."""
        known = known_verdicts(self._config, self._run)
        if not known:
            return "-m selects what each task is made to provoke, as no verdict of this system is recorded yet"
        recorded = len(recorded_verdicts(self._config, self._run))
        asked = sum(1 for _ in self._run.selected())
        sources = [f"{recorded} in pytest's cache"] if recorded else []
        if more := len(known) - recorded:
            sources.append(f"{more} in the baseline {_short(self._run.settings.baseline or '', self._config)}")
        others = f"; the other {asked - len(known)} are not selected" if asked > len(known) else ""
        return f"-m selects by recorded verdicts: {len(known)} of {asked} questions have one ({', '.join(sources)}){others}"

    # -- outcomes ----------------------------------------------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: Any) -> tuple[str, str, str] | None:
        verdict = getattr(report, "memfail_verdict", None)
        if verdict is None or report.when != "call":
            return None
        mark = " (recorded)" if getattr(report, "memfail_recorded", False) else ""
        if hasattr(report, "wasxfail"):
            if report.skipped:
                return "xfailed", "x", "XFAIL (known)" + mark
            return ("xpassed", "X", "XPASS (fixed)" + mark) if report.passed else None
        if verdict in FAILURES and report.failed:
            return "failed", LETTERS[verdict], verdict.upper() + mark
        if verdict == UNGRADED and report.skipped:
            return "skipped", LETTERS[verdict], "UNGRADED" + mark
        if verdict == CORRECT and report.passed and (report.memfail_vacuous or mark):
            return "passed", LETTERS[verdict], ("VACUOUS" if report.memfail_vacuous else "PASSED") + mark
        return None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" or not report.passed:
            self._reported.add(report.nodeid)
        self._judged_failures += report.failed and getattr(report, "memfail_verdict", None) in FAILURES
        if getattr(report, "memfail_recorded", False):
            self._begun()  # its line is in the record already
        # taken off the report: pytest keeps every report to the end of the run
        if (line := report.__dict__.pop("memfail", None)) is not None:
            self._take(json.loads(line) if isinstance(line, str) else line)
        for line in report.__dict__.pop("memfail_stores", ()):
            self._take(json.loads(line))

    def _take(self, line: Mapping[str, Any]) -> None:
        builder = self._begun()
        builder.add(line)
        if self._writer is not None:
            self._writer.write(line)

    def _begun(self) -> SummaryBuilder:
        """The summary and the record, begun at the first result: a run without any leaves the last record alone."""
        from pytest_memfail.results import RecordWriter, SummaryBuilder

        if self._builder is None:
            self._builder = SummaryBuilder(self._run.settings.protocol)
            cache: Any = getattr(self._config, "cache", None)
            if self._record is None and cache is not None:
                self._record = Path(cache.mkdir("memfail")) / LAST_RECORD
            kept = kept_lines(self._run, self._expected)
            for line in kept:
                self._builder.add(line)
            if self._record is not None:
                self._writer = RecordWriter(self._record)
                self._writer.begin([record_header(self._run), *kept])
        return self._builder

    # -- completeness and the end ------------------------------------------------------------------------------------

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        from pytest_memfail.plugin.session import asked_by

        self._expected.update(dict.fromkeys(item.nodeid for item in session.items if asked_by(item) is not None))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        if not self._expected:
            self._expected.update(dict.fromkeys(i for i in ids if self._run.unit_of(i) is not None))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        option = self._config.option
        if option.collectonly or getattr(option, "setupplan", False) or getattr(option, "setuponly", False):
            return
        ended_early = bool(session.shouldstop or session.shouldfail) or self._stopped_by_maxfail(session)
        ended_early |= exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
        if not ended_early:
            self._lost = [node_id for node_id in self._expected if node_id not in self._reported]
        if self._builder is not None:
            order = [task.name for task in self._run.tasks]
            shown = _short(self._record, self._config) if self._record is not None else None
            spent = self._config.stash[RUNTIME].spending()
            self._summary = self._builder.build(order, shown, spent)
            if not ended_early and self._untrusted() is None:
                self._summary = replace(self._summary, gate=self._gatekeeper.decide(self._summary, self._builder))
            save_verdicts(self._config, self._run, self._builder.verdicts)
            self._config.hook.pytest_memfail_summary(config=self._config, summary=self._summary)
        if not ended_early:
            session.exitstatus = self._exit_code(session, exitstatus)
        elif self._gatekeeper.is_asked and self._builder is not None:
            self._said.append(("the gate was not decided: the run ended early", True))
        self._save_baseline(session, ended_early)
        if self._writer is not None:
            complete = not self._lost and not ended_early and exitstatus in (0, 1)
            models = [dict(row) for row in self._summary.models] if self._summary is not None else []
            code = int(session.exitstatus)
            footer = {"type": "footer", "exit_code": code, "complete": complete, "models": models, "gate": self._gate()}
            self._writer.write(footer)
            self._writer.close()
            self._write_reports()

    def _gate(self) -> dict[str, Any] | None:
        if self._summary is None or self._summary.gate is None:
            return None
        from pytest_memfail.results import gate_line

        return gate_line(self._summary.gate)

    def _write_reports(self) -> None:
        if self._record is None or not self._run.settings.reports:
            return
        from pytest_memfail.report import write_report
        from pytest_memfail.results import load_record

        record = load_record(self._record)
        for path in self._run.settings.reports:
            try:
                write_report(path, [record])
            except OSError as error:  # the run and its record are not lost for it
                self._said.append((f"the report {path} could not be written: {error}", True))
            else:
                self._said.append((f"report written: {_short(path, self._config)}", False))

    def pytest_unconfigure(self) -> None:
        if self._writer is not None:  # after an internal error no session finishes
            self._writer.close()

    def _exit_code(self, session: pytest.Session, exitstatus: int) -> int:
        """What a run comes to that went to its end: once there is a gate, it alone decides about verdicts."""
        if self._gatekeeper.lacks_baseline is not None and self._summary is not None:
            self._said.append((f"{self._gatekeeper.lacks_baseline}", False))
        if self._untrusted() is not None:
            return NO_TRUSTWORTHY_RESULT
        gate = self._summary.gate if self._summary is not None else None
        if gate is None or gate.outcome == "skipped":
            return exitstatus
        if gate.outcome == "failed":
            return int(pytest.ExitCode.TESTS_FAILED)
        if exitstatus == pytest.ExitCode.TESTS_FAILED and session.testsfailed == self._judged_failures:
            self._said.append((f"the gate decides: {self._judged_failures} failed items do not fail the run", False))
            return int(pytest.ExitCode.OK)
        return exitstatus

    def _save_baseline(self, session: pytest.Session, ended_early: bool) -> None:
        if self._run.settings.save_baseline is None:
            return
        try:
            saved = self._gatekeeper.save(self._builder, ended_early, self._untrusted())
        except UsageError as error:
            self._said.append((f"no baseline is saved: {error}", True))
            if session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
                session.exitstatus = NO_TRUSTWORTHY_RESULT
        else:
            self._said.append((f"baseline saved: {saved}", False))

    def _stopped_by_maxfail(self, session: pytest.Session) -> bool:
        most = self._config.getoption("maxfail")
        return bool(most) and session.testsfailed >= most

    def _untrusted(self) -> str | None:
        if self._lost:
            return (
                f"{len(self._lost)} of {len(self._expected)} selected questions have no result, e.g. {self._lost[0]}: "
                "they ended without a report, or it was lost on the way"
            )
        if self._summary is None:
            return "no question was asked, so the gate cannot be decided" if self._gatekeeper.is_asked else None
        if (untrusted := self._summary.untrusted) is not None:
            return untrusted
        return self._summary.gate.undecided if self._summary.gate is not None else None

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self._summary is None:
            return
        how = self._run.settings.summary
        full = how == "full" or self._config.getoption("verbose") > 0
        if how != "none":
            from pytest_memfail.report import summary

            terminalreporter.section("memfail", sep="=", bold=True)
            for line in summary(self._summary, full=full):
                terminalreporter.write_line(line)
        if (decided := self._summary.gate) is not None:
            from pytest_memfail.report import gate

            first, *others = gate(decided, full=full, record=self._summary.record)
            terminalreporter.write_line(f"memfail {first}", **_colour(decided))
            for line in others:
                terminalreporter.write_line(line)

    @pytest.hookimpl(specname="pytest_terminal_summary", wrapper=True, tryfirst=True)
    def pytest_terminal_summary_closing(self, terminalreporter: Any) -> Generator[None, None, None]:
        """What a run comes to, once more after pytest's list of what failed, which may be hundreds of lines long."""
        yield
        if self._summary is not None:
            from pytest_memfail.report import gate_outcome, outcome

            if self._run.settings.summary != "none":
                terminalreporter.write_line(f"memfail: {outcome(self._summary)}")
                if self._judged_failures and self._summary.record is not None:
                    terminalreporter.write_line(
                        f"memfail: failures and table again: memfail show {self._summary.record}"
                    )
            if self._summary.gate is not None:
                line = f"memfail {gate_outcome(self._summary.gate)}"
                terminalreporter.write_line(line, **_colour(self._summary.gate))
        for line, bad in self._said:
            terminalreporter.write_line(f"memfail: {line}", red=bad, bold=bad)
        if (untrusted := self._untrusted()) is not None:
            terminalreporter.write_line(f"memfail: no trustworthy result: {untrusted}", red=True, bold=True)


def _colour(gate: Gate) -> dict[str, bool]:
    return {"red": gate.outcome == "failed", "green": gate.outcome == "passed", "bold": True}


def _short(path: StrPath, config: pytest.Config) -> str:
    """Relative to the rootdir where it is below it."""
    try:
        return str(Path(path).relative_to(config.rootpath))
    except ValueError:
        return str(path)
