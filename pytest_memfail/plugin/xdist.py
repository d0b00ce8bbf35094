"""Distribute a run over xdist's workers: send them its data, schedule its items, and handle the death of a worker.

All items of a store go to one worker, the heaviest store first. All other tests are distributed as by `--dist load`. Each
worker keeps a journal of the questions in flight, which names the question when the worker dies. If several were in flight,
none is blamed, and they are asked again one at a time. A store that kills its worker twice while it is filled is given up.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import pytest

from pytest_memfail.core import MemfailError
from pytest_memfail.plugin.execution import Execution
from pytest_memfail.plugin.handover import WORKER_INPUT, hand_over
from pytest_memfail.plugin.outcome import clean_report
from pytest_memfail.running import DEATHS, Run, Watcher, in_flight, shared_folder

LOW: Final = 1
"""A worker whose queue is this short gets more items: it needs the next item before it runs the current one."""
BATCH: Final = 16
"""A store's items are sent this many at a time: after -x a worker still runs what it was sent."""


class Distribution:
    """Send the run to workers. Registered only if a memory system is named, and never in a worker."""

    def __init__(self, config: pytest.Config, run: Run, execution: Execution, reported: Collection[str]) -> None:
        """`reported` has the ids of the items that have a result; it grows with the run."""
        self._config, self._run, self._execution, self._reported = config, run, execution, reported
        self._journals: Path | None = None
        self._open = ExitStack()
        self._watcher: Watcher | None = None

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        if self._journals is None:
            self._journals = self._open.enter_context(shared_folder())
            self._execution.share(self._journals)
        node.workerinput[WORKER_INPUT] = hand_over(self._run, self._execution.run_id, self._journals)
        line = self._execution.line
        if line is not None and line.is_shown and self._watcher is None:
            self._watcher = Watcher(line, self._journals)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, Any, Any]:
        try:
            return (yield)
        finally:
            self._stop_watching()

    @pytest.hookimpl(tryfirst=True)
    def pytest_unconfigure(self) -> None:
        self._stop_watching()
        self._open.close()
        self._journals = None

    def _stop_watching(self) -> None:
        if self._watcher is not None:
            self._watcher.stop()

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        if error and self._journals is not None:
            (self._journals / DEATHS).touch()
        if error:
            self._take_back_setups(node)

    def _take_back_setups(self, node: Any) -> None:
        """Remove what a dead worker began in the JUnit file: an item set up there runs elsewhere, and this testcase has no name."""
        from _pytest.junitxml import xml_key

        junit = self._config.stash.get(xml_key, None)
        if junit is None:
            return
        begun = [key for key, reporter in junit.node_reporters.items() if key[1] is node and not reporter.attrs]
        for key in begun:
            junit.node_reporters_ordered.remove(junit.node_reporters.pop(key))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Any:
        # xdist turns -n and -d into --dist=load in config.option, but leaves what the user said in the known arguments
        if config.known_args_namespace.dist != "no":
            return None
        run = self._run

        def store_of(node_id: str) -> str | None:
            unit = run.unit_of(node_id)
            return None if unit is None else unit.id

        return StoreScheduling(
            config,
            log,
            store_of=store_of,
            weight=lambda store, n: run.unit(store).weight,
            journals=self._journals,
            reported=self._reported,
        )

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem: str, report: Any) -> None:
        unit = self._run.unit_of(crashitem)
        if unit is None:
            return
        from pytest_memfail.records import question_record

        found = next((asked for asked in self._run.items_of(unit) if asked.node_id == crashitem), None)
        is_asked = crashitem in self._reported
        report.when = "teardown" if is_asked else "setup"  # an error of the item, not a failure
        what = "after this question was asked" if is_asked else "while this question was asked"
        report.longrepr = f"the process died {what} ({report.longrepr})"
        clean_report(report, is_error=True)
        if found is not None and not is_asked:
            error = MemfailError(report.longrepr)
            report.memfail = question_record(crashitem, unit.plan.id, found.question, found.k, error=error)


class StoreScheduling:
    """Implement xdist's scheduler protocol at constant cost per finished item.

    xdist's own group modes are not used: `loadgroup` does not group on pytest 9.2, and `loadscope` is quadratic.
    """

    def __init__(
        self,
        config: pytest.Config,
        log: Any = None,
        *,
        store_of: Callable[[str], str | None],
        weight: Callable[[str, int], float] = lambda store, n: n,
        journals: Path | None = None,
        reported: Collection[str] = (),
    ) -> None:
        from xdist.remote import Producer  # not loaded if nothing is distributed

        try:
            from xdist.workermanage import parse_tx_spec_config
        except ImportError:  # xdist 3.6
            from xdist.workermanage import parse_spec_config as parse_tx_spec_config

        self.config = config
        self.log = Producer("memfailsched") if log is None else log.memfailsched
        self.numnodes = len(parse_tx_spec_config(config))
        self.collection: list[str] | None = None
        self._store_of, self._weight, self._journals, self._reported = store_of, weight, journals, reported
        self._registered: dict[Any, list[str]] = {}
        self._sent: dict[Any, dict[int, None]] = {}  # per worker, in order: sent and not finished
        self._owned: dict[Any, deque[int]] = {}  # per worker: of its current store, not sent yet
        self._stores: deque[tuple[str, deque[int]]] = deque()  # heaviest first
        self._others: deque[int] = deque()
        self._crashed: set[str] = set()

    # -- the protocol ------------------------------------------------------------------------------------------------

    @property
    def nodes(self) -> list[Any]:
        """All workers."""
        return list(self._sent)

    @property
    def collection_is_completed(self) -> bool:
        """Whether every worker has collected."""
        return len(self._registered) >= self.numnodes

    @property
    def has_pending(self) -> bool:
        """Whether anything is left to run."""
        return bool(self._stores or self._others or any(self._owned.values()) or any(self._sent.values()))

    @property
    def tests_finished(self) -> bool:
        """Whether the workers can end after the items they have."""
        return (
            self.collection_is_completed
            and not self._stores
            and not self._others
            and not any(self._owned.values())
            and all(len(sent) <= LOW for sent in self._sent.values())
        )

    def add_node(self, node: Any) -> None:
        """Add a worker that has started."""
        assert node not in self._sent
        self._sent[node] = {}

    def add_node_collection(self, node: Any, collection: Sequence[str]) -> None:
        """Add the items that a worker has collected."""
        assert node in self._sent
        if self.collection_is_completed and list(collection) != self.collection:  # a replacement for a dead worker
            from xdist.report import report_collection_diff

            other = next(iter(self._registered))
            self.log(report_collection_diff(self.collection, collection, other.gateway.id, node.gateway.id))
            return
        self._registered[node] = list(collection)

    def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
        """Remove an item that a worker has finished, and send the worker more."""
        del self._sent[node][item_index]
        self._feed(node)

    def mark_test_pending(self, item: str) -> None:
        """Schedule an item to run again."""
        assert self.collection is not None
        self._requeue([self.collection.index(item)])

    def remove_pending_tests_from_node(self, node: Any, indices: Sequence[int]) -> None:
        """Raise `NotImplementedError`: xdist calls this only in its work-stealing mode."""
        raise NotImplementedError

    def remove_node(self, node: Any) -> str | None:
        """Give a dead worker's items to others; return the id to blame for its death, or None if none can be named."""
        sent, owned = list(self._sent.pop(node)), list(self._owned.pop(node, ()))
        if not (sent or owned) or self.collection is None:
            return None
        # a worker may die between the report of an item and the word that the item is complete
        is_reported = bool(sent) and self.collection[sent[0]] in self._reported
        left = [*(sent[1:] if is_reported else sent), *owned]
        blamed = self._blame(node, sent, left)
        self._requeue([index for index in left if index != blamed])
        return None if blamed is None else self.collection[blamed]

    def schedule(self) -> None:
        """Distribute the items, once all workers or a replacement have collected."""
        assert self.collection_is_completed
        if self.collection is None:
            from xdist.report import report_collection_diff

            (first_node, first), *others = self._registered.items()
            for node, ids in others:
                if ids != first:
                    text = report_collection_diff(first, ids, first_node.gateway.id, node.gateway.id)
                    report = pytest.CollectReport(nodeid=node.gateway.id, outcome="failed", longrepr=text, result=[])
                    self.config.hook.pytest_collectreport(report=report)
                    return
            self.collection = first
            stores: dict[str, deque[int]] = {}
            for index, node_id in enumerate(first):
                store = self._store_of(node_id)
                if store is None:
                    self._others.append(index)
                else:
                    stores.setdefault(store, deque()).append(index)
            self._stores.extend(sorted(stores.items(), key=lambda s: -self._weight(s[0], len(s[1]))))
        for node in self.nodes:
            self._feed(node)

    # -- what is private ---------------------------------------------------------------------------------------------

    def _blame(self, node: Any, sent: Sequence[int], left: Sequence[int]) -> int | None:
        """Return the item to blame for a worker's death; None if none can be named.

        Questions run ahead of their items, so the item being waited for may be innocent: the journal knows better. With
        one question in flight, that question is blamed. With several, none is blamed: they run again one at a time, and
        the next death names the right one. With none (a store was being filled, or the worker was on another machine),
        the store is tried once more before the current item is blamed; if all its questions are reported, there is nothing
        to try, and the worker died while it closed the store.
        """
        assert self.collection is not None
        at_hand = sent[0] if sent else None
        store = None if at_hand is None else self._store_of(self.collection[at_hand])
        if store is None:
            return at_hand  # somebody else's test
        flying = in_flight(self._journals, node.gateway.id) if self._journals is not None else []
        if flying:
            known = [index for index in left if self.collection[index] in set(flying)]
            return known[0] if len(flying) == len(known) == 1 else None
        if store in self._crashed or all(self._store_of(self.collection[index]) != store for index in left):
            return at_hand
        self._crashed.add(store)
        return None

    def _requeue(self, indices: Sequence[int]) -> None:
        assert self.collection is not None
        for index in reversed(indices):
            store = self._store_of(self.collection[index])
            if store is None:
                self._others.appendleft(index)
            elif self._stores and self._stores[0][0] == store:
                self._stores[0][1].appendleft(index)
            else:
                self._stores.appendleft((store, deque([index])))
        for node in self.nodes:
            self._feed(node)

    def _feed(self, node: Any) -> None:
        if node.shutting_down or node not in self._registered:
            return
        sent = self._sent[node]
        while len(sent) <= LOW:
            if not self._owned.get(node) and self._stores:
                self._owned[node] = self._stores.popleft()[1]
            if owned := self._owned.get(node):
                batch = [owned.popleft() for _ in range(min(BATCH, len(owned)))]
            elif self._others:
                n = max(2, len(self._others) // (4 * max(1, len(self._sent))))
                batch = [self._others.popleft() for _ in range(min(n, len(self._others)))]
            else:
                node.shutdown()  # lets it run its last item
                return
            sent.update(dict.fromkeys(batch))
            node.send_runtest_some(batch)
