"""The gate of a run: read baseline and anchor, decide, and save the run as a baseline."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_memfail.core import ERROR, Key, UsageError, counted, is_same_place
from pytest_memfail.records import (
    ANCHOR_COMMAND,
    FAILED,
    Baseline,
    BaselineRefused,
    Gate,
    check_baseline,
    check_baseline_place,
    read_anchor,
    read_baseline,
    write_baseline,
)
from pytest_memfail.results import Loaded, Summary, check_tasks, decide, in_ci, measures_of, parse_expressions
from pytest_memfail.running.plan import Run
from pytest_memfail.running.record import record_header


class Gatekeeper:
    """The gate of a run, in the process that the user started."""

    def __init__(self, run: Run, *, is_planned: bool) -> None:
        """Check the options of the gate, and read baseline and anchor.

        Args:
            run: the run.
            is_planned: whether the run only lists its items; only questions are gated.

        Raises `UsageError` if the options are wrong, and `BaselineRefused` if the run cannot be compared with the baseline,
        unless it replaces it.
        """
        self._run = run
        settings = run.settings
        of_suites = measures_of(run.suites)
        expressions = [found for text in settings.fail_on for found in parse_expressions(text, of_suites)]
        check_tasks(expressions, [*of_suites, *run.gated_names])
        self._check_paths()
        if settings.save_baseline is not None:
            check_baseline_place(settings.save_baseline)
        asked = bool(run.selection) and not is_planned
        baseline, unfit = self._read_baseline() if asked else (None, "")
        anchor = self._read_anchor() if asked else None
        self._baseline, self._anchor = baseline, anchor
        self._expressions = expressions if asked else []
        self.lacks_baseline: str | None = None
        """Why the requested comparison is impossible; None if it is possible or was not requested."""
        if unfit:
            self.lacks_baseline = unfit
        elif asked and settings.shard is None:  # the gate of a shard is decided after all are joined
            self.lacks_baseline = self._lacks()
        self.fails_closed: str | None = None
        """Why the run has no trustworthy result: in CI, a gate without its baseline fails."""
        self.may_start = True
        """Whether the run may start nevertheless: it makes the baseline that it lacks."""
        if self.lacks_baseline is not None and not unfit and in_ci():
            self.fails_closed = f"{self.lacks_baseline}, and in CI the gate fails closed"
            self.may_start = settings.save_baseline is not None and (settings.anchor is None or anchor is not None)

    def _lacks(self) -> str | None:
        """Return which file to compare with is missing, and how to make it; None if none is."""
        settings = self._run.settings
        if settings.anchor is not None and self._anchor is None:
            return f"there is no anchor at {settings.anchor} yet (make one with {ANCHOR_COMMAND})"
        needs = [e.text for e in self._expressions if e.needs_baseline and self._anchor is None]
        if self._baseline is not None or not (settings.baseline or needs):
            return None
        save = "--memfail-save-baseline" + ("" if settings.save_baseline is None else ", as this run does")
        if settings.baseline is not None:
            return f"there is no baseline at {settings.baseline} yet (save one with {save})"
        return f"{needs[0]} needs a baseline (--memfail-baseline; save one with {save})"

    def _check_paths(self) -> None:
        settings = self._run.settings
        for name, path in (
            ("--memfail-baseline", settings.baseline),
            ("--memfail-save-baseline", settings.save_baseline),
            ("--memfail-anchor", settings.anchor),
        ):
            if path is not None and settings.record is not None and is_same_place(path, settings.record):
                raise UsageError(f"{name} and --memfail-record: got the file {path} for both, expected two files")

    def _read_baseline(self) -> tuple[Baseline | None, str]:
        """Return the baseline, if it exists; if this run replaces an unfit one, return None and the reason."""
        path, saved = self._run.settings.baseline, self._run.settings.save_baseline
        if path is None or not path.exists():
            return None, ""
        try:
            baseline = read_baseline(path)
            check_baseline(baseline, path, record_header(self._run))
        except BaselineRefused as error:
            if saved is None or not is_same_place(saved, path):
                raise
            return None, f"{error} (this run does)"
        return baseline, ""

    def _read_anchor(self) -> Baseline | None:
        """Return the anchor, if one was named and exists."""
        path = self._run.settings.anchor
        if path is None or not path.exists():
            return None
        anchor = read_anchor(path)
        check_baseline(anchor, path, record_header(self._run), "anchor")
        return anchor

    def _named(self, path: Path | None) -> str | None:
        return None if path is None else self._run.shown(path)

    @property
    def is_asked(self) -> bool:
        """Whether the gate has anything to decide."""
        return bool(self._expressions) or self._baseline is not None or self._anchor is not None

    @property
    def known(self) -> dict[str, list[Any]]:
        """The outcome of each item of this run in the baseline, or else in the anchor, by node id.

        Verdict, whether memory held, and whether it passed vacuously.
        """
        earlier = self._baseline or self._anchor
        if earlier is None:
            return {}
        found = ((asked.node_id, earlier.entries.get(asked.key)) for asked in self._run.selected())
        return {node_id: [one.verdict, one.memory_held, one.vacuous] for node_id, one in found if one is not None}

    def partial(self, outcomes: Mapping[Key, object]) -> str | None:
        """Return why these results are only a part of a run; None if they are those of a whole run."""
        if self._run.settings.shard is not None:
            return "a shard is a part of a run; join the shards with memfail merge first"
        whole = self._run.keys()
        missing = whole - outcomes.keys()
        if not missing:
            return None
        tasks, lack = ({task for task, *_ in keys} for keys in (outcomes, missing))
        partial = f"a partial run: {len(whole) - len(missing)} of {len(whole)} questions have a result"
        if tasks and tasks.isdisjoint(lack):
            return f"{partial}; choose their tasks with --memfail-tasks={','.join(sorted(tasks))}"
        return f"{partial}; ask all, without node ids, -k, -m, -x, --lf and --deselect"

    def decide(self, summary: Summary, record: Loaded) -> Gate | None:
        """Decide the gate over a whole run; return None if there is nothing to decide."""
        earlier = self._baseline or self._anchor
        if earlier is None and all(expression.needs_baseline for expression in self._expressions):
            return None  # nothing is asked, or the first run: the items' own outcomes decide
        return decide(
            self._expressions,
            summary,
            record.outcomes,
            record.header,
            self._baseline,
            shown=self._named(self._run.settings.baseline),
            anchor=self._anchor,
            anchor_shown=self._named(self._run.settings.anchor),
        )

    def save(
        self, record: Loaded | None, ended_early: bool, untrusted: str | None, gate: Gate | None
    ) -> tuple[str, bool]:
        """Save the run as a baseline; return a line about it, and whether it is bad news.

        A run that failed its gate does not replace what it was compared with, or the same run would pass the next time.

        Raises `UsageError` with the reason if the run must not become a baseline.
        """
        path = self._run.settings.save_baseline
        compared = None if self._baseline is None else self._run.settings.baseline
        assert path is not None
        outcomes = record.outcomes if record is not None else {}
        errors = sum(outcome.verdict == ERROR for outcome in outcomes.values())
        if (partial := self.partial(outcomes)) is not None:
            raise UsageError(partial)
        if ended_early:
            raise UsageError("the run ended early")
        if errors:
            raise UsageError(f"{errors} of {len(outcomes)} questions are errors")
        if untrusted is not None:
            raise UsageError(untrusted)
        assert record is not None
        shown = self._run.shown(path)
        if gate is not None and gate.outcome == FAILED and compared is not None and is_same_place(path, compared):
            accept = f"memfail gate last --save-baseline {shown}"
            return f"no baseline is saved: the gate failed, so {shown} stays; to accept this run: {accept}", True
        saved = write_baseline(path, record.header, outcomes.values())
        return f"baseline saved: {shown}, {counted(saved, 'verdict')}", False
