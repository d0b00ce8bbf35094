"""Control a run in the process that the user started: checks before anything is stored, record, summary and exit code.

Workers receive the verdicts of the baseline as plain data.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Generator, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_memfail.core import (
    CORRECT,
    FAILURES,
    LETTERS,
    UNGRADED,
    VACUOUS,
    QuestionRecord,
    UsageError,
    check_can_be_made,
    counted,
)
from pytest_memfail.options import Settings
from pytest_memfail.plugin.collection import asked_by, verdicts_in
from pytest_memfail.plugin.execution import Execution
from pytest_memfail.plugin.outcome import CleanTerminal, clean_line, without_subject
from pytest_memfail.plugin.run import (
    BROKEN_OFF,
    KNOWN,
    RUNS,
    RUNTIME,
    ask,
    known_verdicts,
    leaves_own_tests_out,
    record_header,
    recorded_verdicts,
    runs_folder,
)
from pytest_memfail.plugin.xdist import Distribution
from pytest_memfail.records import BaselineRefused, Footer, Gate, StoreRecord, check_writable, from_text
from pytest_memfail.results import (
    NO_TRUSTWORTHY_RESULT,
    Loaded,
    Summary,
    suite_records,
)
from pytest_memfail.running import ROOT, Gatekeeper, Run, RunRecord, heading, selected_by

if TYPE_CHECKING:
    from _typeshed import StrPath

    from pytest_memfail.core import Doubt
    from pytest_memfail.records import Gate, Header, Kept
    from pytest_memfail.report import Failed
    from pytest_memfail.results import Summary


NO_CALL: Final = (
    "--memfail-proxy saw no call of the memory system: it asked no model, or it reads neither OPENAI_BASE_URL nor "
    "context.base_url when it makes its client"
)


def begin(config: pytest.Config, run: Run, execution: Execution) -> None:
    """Check the settings that only this process uses, and register the plugins that follow the run.

    Raises `pytest.UsageError` with one line if the options are wrong.
    """
    settings = run.settings
    try:
        if config.getoption("forked", False):  # pytest-forked
            raise UsageError(
                "--forked: a process for each item, expected one for all items of a store; leave --forked out (-n 2 runs stores in "
                "two processes)"
            )
        if settings.reuse_stores is not None:
            check_can_be_made(settings.reuse_stores / "store", Settings.reuse_stores.flag)
        if settings.record is not None:
            check_writable(settings.record)
        check_reports(config, settings)
        if settings.resume:
            run.kept, run.resumed = read_own(config, run)
    except UsageError as error:
        raise pytest.UsageError(str(error)) from error.__cause__
    gatekeeper = prepare(config, run)
    config.stash[KNOWN] = gatekeeper.known
    config.pluginmanager.register(Distribution(config, run, execution), "memfail-distribution")
    config.pluginmanager.register(Reporting(config, run, execution, gatekeeper), "memfail-reporting")
    # registered later, so that it sees reports earlier
    config.pluginmanager.register(FirstErrors(config, run), "memfail-first-errors")


def check_reports(config: pytest.Config, settings: Settings) -> None:
    """Check that the reports can be written at the end.

    Raises `UsageError` if not.
    """
    if not settings.reports:
        return
    from pytest_memfail.report import check_report

    for path in settings.reports:
        check_report(path, "--memfail-report")
    if settings.record is None and not config.pluginmanager.has_plugin("cacheprovider"):
        raise UsageError(
            "--memfail-report: a report is made from the record: without pytest's cache, give --memfail-record"
        )


# -- resuming an earlier run --------------------------------------------------------------------------------------


def read_own(config: pytest.Config, run: Run) -> tuple[Kept, str]:
    """Return the results that this run takes over, and a sentence about their source.

    The source is the record that was named (--memfail-record), or else the newest unfinished run with the same options.
    Raises `UsageError` if the named record is of another run.
    """
    from pytest_memfail.records import Kept, is_whole_record, kept_runs, read_kept, resumable

    runs, given, header = runs_folder(config), run.settings.record, record_header(run)
    if runs is None and given is None:
        raise UsageError("--memfail-resume: without pytest's cache, name the record with --memfail-record")
    if runs is not None and (given is None or is_whole_record(given)):
        # a whole record stays until another whole one replaces it: runs stopped since are in their own folders
        found, why = resumable([one for one in kept_runs(runs) if given is None or one.held_back == str(given)], header)
        if found is not None and (given is None or not found.whole):
            kept = read_kept(found.record, header)
            return kept, f"{len(kept.questions)} questions are taken from the run {found.id}, not asked again"
        if given is None:
            return Kept(), f"nothing to resume: {why}"
    assert given is not None
    kept = read_kept(given, header)
    return kept, f"{len(kept.questions)} questions are taken from the record, not asked again"


def kept_records(run: Run, expected: Collection[str]) -> list[QuestionRecord | StoreRecord]:
    """Return what stays in the record: questions that are not asked again, and stores that are not filled again."""
    asked = {node_id for node_id in expected if not run.is_recorded(node_id)}
    units = [unit for node_id in asked if (unit := run.unit_of(node_id)) is not None]
    filled = {(unit.task.name, unit.plan.id) for unit in units}
    questions = [question for node_id, question in run.kept.questions.items() if node_id not in asked]
    return [*questions, *(store for place, store in run.kept.stores.items() if place not in filled)]


# -- the gate ----------------------------------------------------------------------------------------------------------


def prepare(config: pytest.Config, run: Run) -> Gatekeeper:
    """Check the options of the gate before anything is stored, and return the gatekeeper.

    Raises `pytest.UsageError` if the options are wrong. Ends the run with exit code 6 if it cannot be compared with the
    baseline, or if the baseline is missing in CI.
    """
    option = config.option
    planned = option.collectonly or getattr(option, "setupplan", False) or getattr(option, "setuponly", False)
    try:
        keeper = Gatekeeper(
            run, lambda: record_header(run), lambda path: _short(path, config), is_planned=bool(planned)
        )
    except BaselineRefused as error:
        pytest.exit(f"memfail: no trustworthy result: {error}", returncode=NO_TRUSTWORTHY_RESULT)
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None
    if keeper.fails_closed:
        pytest.exit(
            f"memfail: no trustworthy result: {keeper.lacks_baseline}, and in CI the gate fails closed",
            returncode=NO_TRUSTWORTHY_RESULT,
        )
    return keeper


# -- the report of the run ---------------------------------------------------------------------------------------------


class Reporting:
    """Write the record, the summary and the reports.

    Registered only if a memory system is named, and never in an xdist worker.
    """

    def __init__(self, config: pytest.Config, run: Run, execution: Execution, gatekeeper: Gatekeeper) -> None:
        self._config, self._run, self._execution, self._gatekeeper = config, run, execution, gatekeeper
        self._header: Header | None = None
        """None before the first result."""
        self._questions: dict[str, QuestionRecord] = {}
        self._stores: list[StoreRecord] = []
        """Without their listings if no page will show them."""
        self._results: Loaded | None = None
        """The header, the questions and the stores, at the end of the run."""
        self._record = RunRecord(run.settings.record, lambda path: _short(path, config))
        self._has_folder = False
        """Whether the folder of the run was asked for."""
        self._expected: dict[str, None] = {}
        self._reported: set[str] = set()
        self._lost: list[str] = []
        self._summary: Summary | None = None
        self._judged_failures = 0
        self._worker_broke = False
        self._worker_died = False
        self._taken_over = 0
        """How many of the stores are from an earlier record."""
        self._doubts: tuple[Doubt, ...] = ()
        self._said: list[tuple[str, bool]] = []
        """Lines for the end of the run, and whether each is bad news."""

    # -- the header --------------------------------------------------------------------------------------------------

    def pytest_report_header(self) -> list[str]:
        run, settings = self._run, self._run.settings
        lines = heading(run, lambda path: _short(path, self._config))
        if leaves_own_tests_out(self._config):
            lines.append(self._left_out())
        expression = self._config.getoption("markexpr", "") or ""
        if verdicts := verdicts_in(expression):
            lines.append(self._selected_by(verdicts))
        if settings.resume:
            lines.append(run.resumed)
        if (folder := settings.reuse_stores) is not None:
            from pytest_memfail.hosting import kept_in

            lines.append(
                f"filled stores are kept in {_short(folder, self._config)} ({kept_in(folder)} so far) and reused"
            )
        return [clean_line(f"memfail: {line}") for line in lines]

    def _left_out(self) -> str:
        """Return a sentence about the tests that a bare `--memfail-system` leaves out, and how to run them too."""
        folders = [str(path).rstrip("/") for path in self._config.getini("testpaths")]
        where = f" in {', '.join(f'{folder}/' for folder in folders)}" if folders else ""
        words = shlex.join(["pytest", *(folders or ["."]), ROOT])
        return f"only the benchmark runs; your own tests{where} are left out (add a path: {words})"

    def _selected_by(self, verdicts: Sequence[str]) -> str:
        """Say which verdicts `-m VERDICT` selects by in this run."""
        known = known_verdicts(self._config, self._run)
        recorded = recorded_verdicts(self._config, self._run)
        asked = sum(1 for _ in self._run.selected())
        baseline = _short(self._run.settings.baseline or "", self._config)
        return selected_by(verdicts, known=len(known), recorded=len(recorded), asked=asked, baseline=baseline)

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
        if verdict == CORRECT and report.passed and report.memfail_vacuous:
            return VACUOUS, LETTERS[VACUOUS], VACUOUS.upper() + mark  # a pass to pytest, but no success to count
        if verdict == CORRECT and report.passed and mark:
            return "passed", LETTERS[verdict], "PASSED" + mark
        return None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" or not report.passed:
            self._reported.add(report.nodeid)
        self._judged_failures += _is_judged_failure(report)
        if getattr(report, "memfail_recorded", False):
            self._begin()  # it is in the record already
        # taken off the report: pytest keeps every report to the end of the run
        if (question := report.__dict__.pop("memfail", None)) is not None:
            self._take(QuestionRecord, question)
        for store in report.__dict__.pop("memfail_stores", ()):
            self._take(StoreRecord, store)

    def _take(self, kind: type[QuestionRecord | StoreRecord], packed: Any) -> None:
        record = from_text(kind, packed) if isinstance(packed, str) else packed
        self._begin()
        self._record.write(record)
        self._keep(record)

    def _keep(self, record: QuestionRecord | StoreRecord) -> None:
        if isinstance(record, StoreRecord):
            # a page holds all listings at once in any case; without one, only the file holds them
            has_page = any(path.suffix == ".html" for path in self._run.settings.reports)
            self._stores.append(record if has_page else replace(record, listings=(), history=(), extracted=()))
        else:
            self._questions[record.id] = record

    def _begin(self) -> None:
        """Begin the record at the first result: a run without results leaves a named record alone."""
        if self._header is not None:
            return
        self._header = record_header(self._run)
        self._make_folder()
        kept = kept_records(self._run, self._expected)
        self._record.begin([self._header, *kept])
        for record in kept:
            self._keep(record)
        self._taken_over = len(self._stores)

    # -- completeness and the end ------------------------------------------------------------------------------------

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._expected.update(dict.fromkeys(item.nodeid for item in session.items if asked_by(item) is not None))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        if not self._expected:
            self._expected.update(dict.fromkeys(i for i in ids if self._run.unit_of(i) is not None))
            self._open_folder()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self) -> None:
        self._open_folder()

    def _open_folder(self) -> None:
        """Create the folder of the run before a store is filled, to find out early if that fails."""
        option = self._config.option
        if self._expected and not (option.collectonly or getattr(option, "setupplan", False)):
            self._make_folder()

    def _make_folder(self) -> None:
        """Make the folder of the run among the kept ones, once; report on the terminal if it cannot be made."""
        runs = runs_folder(self._config)
        if self._has_folder or runs is None:
            return
        self._has_folder = True
        cache: Any = self._config.cache
        # with the files that keep pytest's cache out of version control
        fault = self._record.make_folder(
            runs, record_header(self._run), len(self._run.keys()), lambda: cache.mkdir("memfail")
        )
        terminal: Any = self._config.pluginmanager.get_plugin("terminalreporter")
        if fault is not None and terminal is not None:
            terminal.ensure_newline()
            terminal.write_line(f"memfail: {fault}", yellow=True)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, error: object) -> None:
        self._worker_died |= bool(error)

    def pytest_internalerror(self) -> None:
        self._worker_broke = True  # xdist goes on, and if all else had ended by then, it would end with exit code 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        option = self._config.option
        if option.collectonly or getattr(option, "setupplan", False) or getattr(option, "setuponly", False):
            return
        ended_early = bool(session.shouldstop or session.shouldfail) or self._stopped_by_maxfail(session)
        broken_off = self._config.stash.get(BROKEN_OFF, None)
        if isinstance(broken_off, KeyboardInterrupt) and exitstatus in (
            pytest.ExitCode.OK,
            pytest.ExitCode.TESTS_FAILED,
        ):
            exitstatus = session.exitstatus = pytest.ExitCode.INTERRUPTED
        if self._worker_broke and exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            exitstatus = session.exitstatus = pytest.ExitCode.INTERNAL_ERROR
        ended_early |= broken_off is not None or exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
        hook_fault: str | None = None
        if not ended_early:
            self._lost = [node_id for node_id in self._expected if node_id not in self._reported]
        if self._header is not None:
            path, questions = self._record.path, tuple(self._questions.values())
            self._results = Loaded(str(path or ""), self._header, questions, tuple(self._stores), None)
            shown = None if path is None else _short(path, self._config)
            spent = tuple(self._config.stash[RUNTIME].spending())
            called = any(row["stage"].startswith("memory") for row in spent)
            # without a verdict the calls may have been refused, as by the budget; the errors say so
            judged = any(question.verdict != "error" for question in questions)
            if self._run.settings.proxy is not None and judged and not called:
                self._said.append((NO_CALL, True))
            suites = suite_records(questions, self._run.suites, self._header.tasks, self._header.protocol)
            self._doubts = self._run.mixture(self._stores[self._taken_over :], died=self._worker_died)
            summary = self._results.summary().with_doubts(self._doubts)
            self._summary = replace(summary, record=shown, models=spent, suites=suites)
            if not ended_early and self._untrusted() is None:
                self._summary = replace(self._summary, gate=self._gatekeeper.decide(self._summary, self._results))
            hook_fault = self._hand_on(self._summary)
        if not ended_early:
            session.exitstatus = self._exit_code(session, exitstatus)
        elif self._gatekeeper.is_asked and self._results is not None:
            self._said.append(("the gate was not decided: the run ended early", True))
        if hook_fault is not None:
            self._said.append((hook_fault, True))
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED
        self._save_baseline(session, ended_early)
        if self._results is not None:
            self._end_record(session, self._results, interrupted=ended_early or bool(self._lost))

    def _end_record(self, session: pytest.Session, results: Loaded, *, interrupted: bool) -> None:
        """End the record, restore its files if necessary, and write the reports."""
        whole = self._run.keys() <= results.outcomes.keys()
        self._said += self._record.restore()
        footer = Footer(
            exit_code=self._code(session),
            complete=not interrupted,
            whole=whole,
            models=self._summary.models if self._summary is not None else (),
            suites=self._summary.suites if self._summary is not None else (),
            doubts=self._doubts,
            gate=self._summary.gate if self._summary is not None else None,
        )
        self._said += self._record.end(footer)
        session.exitstatus = self._code(session)
        self._write_reports(results.ended(footer))
        verdicts: dict[str, dict[str, str]] = {}
        for node_id, question in self._questions.items():
            if node_id.startswith(f"{ROOT}/"):  # not a user's own test over a task
                verdicts.setdefault(question.task, {})[node_id] = question.verdict
        self._record.keep(interrupted=interrupted, whole=whole, exit_code=int(session.exitstatus), verdicts=verdicts)

    def _show_name(self) -> str:
        """Return the name of this run for `memfail show` in the rootdir."""
        usual = self._config.rootpath / ".pytest_cache/d/memfail" / RUNS
        path, folder = self._record.path, self._record.folder
        if folder is not None and path == folder.record and runs_folder(self._config) == usual:
            return folder.path.name
        return _short(path or "", self._config)

    def _code(self, session: pytest.Session) -> int:
        """Return the exit code: a run without the record that was asked for has no trustworthy result."""
        code = int(session.exitstatus)
        lost = self._record.fault is not None and code in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
        return NO_TRUSTWORTHY_RESULT if lost else code

    def _hand_on(self, summary: Summary) -> str | None:
        """Call the user's hooks with the summary; return their error, which must cost neither record nor reports."""
        hook = self._config.hook.pytest_memfail_summary
        try:
            ask(f"{hook.name}()", hook, config=self._config, summary=summary)
        except (UsageError, pytest.UsageError) as error:
            return str(error)
        return None

    def _write_reports(self, record: Loaded) -> None:
        if not self._run.settings.reports:
            return
        from pytest_memfail.report import write_reports

        for path, fault in write_reports(self._run.settings.reports, [record]):
            if fault is not None:  # this must not cost the run and its record
                self._said.append((f"the report {path} could not be written: {fault}", True))
            else:
                self._said.append((f"report written: {_short(path, self._config)}", False))

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self) -> None:
        self._record.close()  # after an internal error no session finishes

    def _exit_code(self, session: pytest.Session, exitstatus: int) -> int:
        """Return the exit code of a run that went to its end: if there is a gate, it alone decides about verdicts."""
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
            saved = self._gatekeeper.save(self._results, ended_early, self._untrusted())
        except (UsageError, OSError) as error:
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
                "they ended without a report, or the report was lost"
            )
        if self._summary is None:
            return "no question was asked, so the gate cannot be decided" if self._gatekeeper.is_asked else None
        if (untrusted := self._summary.untrusted) is not None:
            return untrusted
        return self._summary.gate.undecided if self._summary.gate is not None else None

    # -- the end on the terminal -------------------------------------------------------------------------------------

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> Generator[None, None, None]:
        """Show the clearest failures in the order of the rows, then their causes, then the results.

        pytest writes its own sections and its list of failures in between, so the results are on the last screen.
        """
        stats: dict[str, list[Any]] = terminalreporter.stats
        every: dict[str, list[Any]] = {name: stats[name] for name in ("failed", "error") if name in stats}
        for name, reports in every.items():
            stats[name] = self._by_row(reports)
        if not self._shows_all:
            stats["failed"] = self._clearest(stats.get("failed", []))
        try:
            yield
        finally:
            stats.pop("failed", None)  # pytest counts all of them
            stats.update(every)
        self._close(CleanTerminal(terminalreporter))

    @pytest.hookimpl(specname="pytest_terminal_summary", tryfirst=True)
    def pytest_terminal_summary_inner(self, terminalreporter: Any) -> None:
        """Remove the failures that are grouped by cause from pytest's list below the failure texts."""
        failed = terminalreporter.stats.get("failed", [])
        terminalreporter.stats["failed"] = [r for r in failed if not _is_judged_failure(r) and r.nodeid != ROOT]

    @property
    def _shows_all(self) -> bool:
        return bool(self._config.getoption("verbose") > 0)

    def _by_row(self, reports: Sequence[Any]) -> list[Any]:
        """Sort the benchmark's reports by task and row; others keep their places."""
        units = {unit.id: i for i, unit in enumerate(self._run.units)}

        def place(report: Any) -> tuple[int, int, int]:
            question, unit = self._questions[report.nodeid], self._run.unit_of(report.nodeid)
            row = (question.row or "").rpartition(":")[2].partition(" ")[0]
            return 0 if unit is None else units.get(unit.id, 0), int(row) if row.isdigit() else 0, question.k

        ours = iter(sorted((r for r in reports if r.nodeid in self._questions), key=place))
        return [next(ours) if r.nodeid in self._questions else r for r in reports]

    def _clearest(self, failed: Sequence[Any]) -> list[Any]:
        """Return the clearest judged failures after those of the user's own tests, and how many are left out."""
        from pytest_memfail.report import worst_first

        ours = {report.nodeid: report for report in failed if _is_judged_failure(report)}
        shown = [ours[i] for i in worst_first(self._failures(ours))]
        others = [report for report in failed if report.nodeid not in ours]
        if len(shown) == len(ours):
            return [*others, *ours.values()]
        more = len(ours) - len(shown)
        # pytest cuts this to 50 characters with --tb=line
        text = f"{more} more: -v shows them; these are the clearest"
        last = pytest.TestReport(ROOT, ("", None, counted(more, "more failure")), {}, "failed", text, "call")
        return [*others, *shown, last]

    def _failures(self, ids: Iterable[str]) -> list[Failed]:
        from pytest_memfail.report import failed_question

        found = (failed_question(self._questions[i]) for i in ids)
        return [failed for failed in found if failed is not None]

    def _close(self, terminal: CleanTerminal) -> None:
        if terminal.hasopt("p"):  # pytest lists what it calls passed
            for report in terminal.getreports(VACUOUS):
                terminal.write_line(f"{VACUOUS.upper()} {report.nodeid}")
        if self._summary is not None:
            self._write_results(terminal, self._summary)
        if waited_for := self._execution.waited_for:
            left = f"{len(self._expected.keys() - self._reported)} of {counted(len(self._expected), 'question')}"
            terminal.write_line(f"memfail: interrupted, {left} not finished ({waited_for})", bold=True)
            terminal.write_line("memfail: to continue, run the same command with --memfail-resume", bold=True)
        for line, bad in self._said:
            terminal.write_line(f"memfail: {line}", red=bad, bold=bad)
        if (untrusted := self._untrusted()) is not None:
            terminal.write_line(f"memfail: no trustworthy result: {untrusted}", red=True, bold=True)

    def _write_results(self, terminal: CleanTerminal, results: Summary) -> None:
        from pytest_memfail.report import cause_lines, closing, details, gate, gate_outcome

        how = self._run.settings.summary
        full = how == "full" or self._shows_all
        decided = results.gate
        ours = [report.nodeid for report in self._by_row(terminal.getreports("failed")) if _is_judged_failure(report)]
        if ours and terminal.hasopt("f") and not terminal.no_summary:
            terminal.write_sep("=", "memfail: failures by cause", cyan=True, bold=True)
            for line in cause_lines(self._failures(ours), results, every=self._shows_all):
                terminal.write_line(line, bold=not line.startswith(" "))
        if how != "none":
            terminal.write_sep("=", "memfail", bold=True)
            for line in details(results, full=full):
                terminal.write_line(line)
            terminal.write_line("")
        if decided is not None:
            first, *others = gate(decided, full=full, record=results.record)
            for line in (f"memfail {first}", *others, ""):
                terminal.write_line(line)
        if how != "none":
            run = None if self._record.path is None else self._show_name()
            for line in closing(results, self._failures(self._questions), run, trusted=self._untrusted() is None):
                terminal.write_line(line)
        if decided is not None and decided.undecided is None:  # otherwise the last line says why
            terminal.write_line(f"memfail {gate_outcome(decided)}", **_colour(decided))


def _is_judged_failure(report: Any) -> bool:
    return bool(report.failed) and getattr(report, "memfail_verdict", None) in FAILURES


def _colour(gate: Gate) -> dict[str, bool]:
    return {"red": gate.outcome == "failed", "green": gate.outcome == "passed", "bold": True}


# -- a run whose first results are all the same error ------------------------------------------------------------------

ALIKE: Final = 10
"""The run stops after this many questions that all end with the same error."""


class FirstErrors:
    """Stop a run whose first results are all the same error.

    Registered only if a memory system is named, and never in an xdist worker.
    """

    def __init__(self, config: pytest.Config, run: Run) -> None:
        self._config, self._run = config, run
        self._watches = not run.settings.keep_going
        self._left = 0
        self._seen = 0
        self._first = ""
        self._reason = ""

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._left = sum(1 for item in session.items if asked_by(item) is not None)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        self._left = sum(1 for node_id in ids if self._run.unit_of(node_id) is not None)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: Any) -> None:
        packed = getattr(report, "memfail", None)
        if not self._watches or packed is None:
            return
        question = from_text(QuestionRecord, packed) if isinstance(packed, str) else packed
        if question.error is None:
            self._watches = False
            return
        message = question.error.message
        kind = without_subject(message)
        self._seen += 1
        self._first = self._first or kind
        if kind != self._first:
            self._watches = False
        elif self._seen == self._left:
            self._watches = False  # it ends by itself
        elif getattr(report, "memfail_unopened", False):
            self._stop(f"the first store could not be opened: {message}")
        elif self._seen == ALIKE:
            self._stop(f"the first {ALIKE} questions all ended with the same error: {message}")

    def _stop(self, why: str) -> None:
        self._watches = False
        self._reason = f"{why}; fix it, or continue with --memfail-keep-going"
        for name in ("session", "dsession"):  # the latter is xdist's
            if (session := self._config.pluginmanager.get_plugin(name)) is not None:
                session.shouldstop = f"memfail stopped the run after {self._seen} of {counted(self._left, 'question')}"

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._reason:
            session.exitstatus = NO_TRUSTWORTHY_RESULT

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> Generator[None, None, None]:
        yield  # registered after `Reporting`, so it writes the last line
        if self._reason:
            terminalreporter.write_line(f"memfail: no trustworthy result: {self._reason}", red=True, bold=True)


# -- paths -------------------------------------------------------------------------------------------------------------


def _short(path: StrPath, config: pytest.Config) -> str:
    """Return a path relative to the rootdir if it is below the rootdir."""
    try:
        return str(Path(path).relative_to(config.rootpath))
    except ValueError:
        return str(path)
