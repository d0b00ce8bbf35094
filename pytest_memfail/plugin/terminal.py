"""Show a run on the terminal: the lines of its header, the letters of its items, and its results at the end."""

from __future__ import annotations

import shlex
from collections.abc import Generator, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_memfail.core import CORRECT, FAILURES, LEFT_OPEN, LETTERS, VACUOUS, counted
from pytest_memfail.plugin.arguments import leaves_own_tests_out
from pytest_memfail.plugin.collection import verdicts_in
from pytest_memfail.plugin.execution import Execution
from pytest_memfail.plugin.outcome import CleanTerminal, clean_line
from pytest_memfail.plugin.recording import Recording, is_judged_failure
from pytest_memfail.running import ROOT, Run, heading, known_verdicts, latest_recorded, selected_by

if TYPE_CHECKING:
    from pytest_memfail.plugin.controller import Ending
    from pytest_memfail.report import Failed
    from pytest_memfail.results import Summary


MOST_ERRORS: Final = 10
"""Errors listed by default; the first of each kind is always listed."""


class Terminal:
    """Show a run on the terminal, in the process that the user started."""

    def __init__(
        self,
        config: pytest.Config,
        run: Run,
        execution: Execution,
        recording: Recording,
        ending: Ending,
        resumed: str,
    ) -> None:
        """`resumed` says where taken over results are from; empty if nothing is resumed."""
        self._config, self._run, self._execution, self._resumed = config, run, execution, resumed
        self._recording, self._ending = recording, ending

    def pytest_report_header(self) -> list[str]:
        lines = heading(self._run)
        if leaves_own_tests_out(self._config):
            folders = [str(path).rstrip("/") for path in self._config.getini("testpaths")]
            where = f" in {', '.join(f'{folder}/' for folder in folders)}" if folders else ""
            words = shlex.join(["pytest", *(folders or ["."]), ROOT])
            lines.append(f"only the benchmark runs; your own tests{where} are left out (add a path: {words})")
        if verdicts := verdicts_in(self._config.getoption("markexpr", "") or ""):
            lines.append(self._selected_by(verdicts))
        if self._resumed:
            lines.append(self._resumed)
        if (folder := self._run.settings.reuse_stores) is not None:
            from pytest_memfail.hosting import kept_in

            lines.append(f"filled stores are kept in {self._run.shown(folder)} ({kept_in(folder)} so far) and reused")
        return [clean_line(f"memfail: {line}") for line in lines]

    def _selected_by(self, verdicts: Sequence[str]) -> str:
        """Say which verdicts `-m VERDICT` selects by in this run."""
        known, latest = known_verdicts(self._run), latest_recorded(self._run)
        return selected_by(
            verdicts,
            known=len(known),
            recorded=sum(node_id in latest for node_id in known),
            asked=sum(1 for _ in self._run.selected()),
            baseline=self._run.shown(self._run.settings.baseline or ""),
        )

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
        if verdict in LEFT_OPEN and report.skipped:
            return "skipped", LETTERS[verdict], verdict.upper() + mark
        if verdict == VACUOUS and report.passed:
            return VACUOUS, LETTERS[VACUOUS], VACUOUS.upper() + mark  # a pass to pytest, but no success to count
        if verdict == CORRECT and report.passed and mark:
            return "passed", LETTERS[verdict], "PASSED" + mark
        return None

    # -- the end -----------------------------------------------------------------------------------------------------

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
        if "error" in every:
            stats["error"] = self._causes_first(every["error"])
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
        terminalreporter.stats["failed"] = [r for r in failed if not is_judged_failure(r) and r.nodeid != ROOT]

    @property
    def _shows_all(self) -> bool:
        return bool(self._config.getoption("verbose") > 0)

    def _by_row(self, reports: Sequence[Any]) -> list[Any]:
        """Sort the benchmark's reports by task and row; others keep their places."""
        questions = self._recording.questions
        units = {unit.id: i for i, unit in enumerate(self._run.units)}

        def place(report: Any) -> tuple[int, int, int]:
            question, unit = questions[report.nodeid], self._run.unit_of(report.nodeid)
            row = (question.row or "").rpartition(":")[2].partition(" ")[0]
            return 0 if unit is None else units.get(unit.id, 0), int(row) if row.isdigit() else 0, question.k

        ours = iter(sorted((r for r in reports if r.nodeid in questions), key=place))
        return [next(ours) if r.nodeid in questions else r for r in reports]

    def _clearest(self, failed: Sequence[Any]) -> list[Any]:
        """Return the clearest judged failures after those of the user's own tests, and how many are left out."""
        ours = {report.nodeid: report for report in failed if is_judged_failure(report)}
        if not ours or self._ending.summary is None:
            return list(failed)
        from pytest_memfail.report import worst_first

        shown = [ours[i] for i in worst_first(self._failures(ours))]
        others = [report for report in failed if report.nodeid not in ours]
        if len(shown) == len(ours):
            return [*others, *ours.values()]
        more = len(ours) - len(shown)
        # pytest cuts this to 50 characters with --tb=line
        text = f"{more} more: -v shows them; these are the clearest"
        last = pytest.TestReport(ROOT, ("", None, counted(more, "more failure")), {}, "failed", text, "call")
        return [*others, *shown, last]

    def _causes_first(self, errors: Sequence[Any]) -> list[Any]:
        """Return the errors with the first of each kind in front, as they happened: the others mostly follow from them.

        Of many, those like an earlier one are only counted, unless all are shown.
        """
        alike = {report.nodeid for report in errors if getattr(report, "memfail_alike", False)}
        causes = [report for report in errors if report.nodeid not in alike]
        others = self._by_row([report for report in errors if report.nodeid in alike])
        shown = others if self._shows_all else others[: max(0, MOST_ERRORS - len(causes))]
        if len(shown) == len(others):
            return [*causes, *others]
        more = len(others) - len(shown)
        text = f"{more} more like these; -v shows them"
        last = pytest.TestReport(ROOT, ("", None, counted(more, "more error")), {}, "failed", text, "setup")
        return [*causes, *shown, last]

    def _failures(self, ids: Iterable[str]) -> list[Failed]:
        from pytest_memfail.report import failed_questions

        assert self._ending.summary is not None
        # a secret that became known during the run may have masked a name
        questions = (self._recording.questions[i] for i in ids if i in self._recording.questions)
        return failed_questions(questions, self._ending.summary)

    def _close(self, terminal: CleanTerminal) -> None:
        if terminal.hasopt("p"):  # pytest lists what it calls passed
            for report in terminal.getreports(VACUOUS):
                terminal.write_line(f"{VACUOUS.upper()} {report.nodeid}")
        if self._ending.summary is not None:
            self._write_results(terminal, self._ending.summary)
        if waited_for := self._execution.waited_for:
            expected = self._recording.expected
            left = f"{len(expected.keys() - self._recording.reported)} of {counted(len(expected), 'question')}"
            terminal.write_line(f"memfail: interrupted, {left} not finished ({waited_for})", bold=True)
            terminal.write_line("memfail: to continue, run the same command with --memfail-resume", bold=True)
        at_end = [
            one for one in terminal.getreports("error") if one.when == "teardown" and one.nodeid.startswith(f"{ROOT}/")
        ]
        if at_end:
            n = f"{counted(len(at_end), 'error')} of pytest's count"
            terminal.write_line(f"memfail: {n} came when a store was listed or closed at its end, from no question")
        for line, bad in self._ending.said:
            terminal.write_line(f"memfail: {line}", red=bad, bold=bad)
        for reason in (self._ending.untrusted, self._recording.first_errors.reason):
            if reason:
                terminal.write_line(f"memfail: no trustworthy result: {reason}", red=True, bold=True)

    def _write_results(self, terminal: CleanTerminal, results: Summary) -> None:
        from pytest_memfail.report import cause_lines, closing, details, gate, gate_outcome

        how = self._run.settings.summary
        full = how == "full" or self._shows_all
        decided = results.gate
        ours = [report.nodeid for report in self._by_row(terminal.getreports("failed")) if is_judged_failure(report)]
        if ours and terminal.hasopt("f") and not terminal.no_summary:
            terminal.write_sep("=", "memfail: failures by cause", cyan=True, bold=True)
            for line in cause_lines(self._failures(ours), results, every=self._shows_all):
                terminal.write_line(line, bold=not line.startswith(" "))
        if how != "none":
            terminal.write_sep("=", "memfail", bold=True)
            for line in (*details(results, full=full), ""):
                terminal.write_line(line)
        if decided is not None:
            first, *others = gate(decided, full=full, record=results.record)
            for line in (f"memfail {first}", *others, ""):
                terminal.write_line(line)
        if how != "none":
            failures, is_trusted = self._failures(self._recording.questions), self._ending.untrusted is None
            for line in closing(results, failures, self._name_for_show(), trusted=is_trusted):
                terminal.write_line(line)
        if decided is not None and decided.undecided is None:  # otherwise the last line says why
            colour = {"red": decided.outcome == "failed", "green": decided.outcome == "passed"}
            terminal.write_line(f"memfail {gate_outcome(decided)}", bold=True, **colour)

    def _name_for_show(self) -> str | None:
        """Return the name of this run for `memfail show` in the rootdir; None without a record."""
        usual = self._config.rootpath / ".pytest_cache/d/memfail/runs"
        path, folder = self._recording.record.path, self._recording.record.folder
        if path is None:
            return None
        if folder is not None and path == folder.record and self._run.runs == usual:
            return folder.path.name
        return self._run.shown(path)
