"""The contract kit: check that a memory system fulfils its protocol, before relying on its results."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Final

from pytest_memfail.core import MemfailError, UnknownNameError, UsageError, WrongTypeError, one_line
from pytest_memfail.hosting import DaemonPool
from pytest_memfail.testing.contract.bench import Bench, BrokenError, NotApplicableError
from pytest_memfail.testing.contract.checks import CHECKS, Check
from pytest_memfail.testing.contract.report import CheckResult, ContractError, ContractReport

TIMEOUT_SECONDS: Final = 600.0
"""The time limit of a check; systems with their own model are slow."""


def check_memory_system(
    factory: Callable[..., Any],
    *,
    options: Mapping[str, str] | None = None,
    checks: str = "",
    raises: bool = True,
    timeout_seconds: float = TIMEOUT_SECONDS,
    progress: Callable[[str], None] | None = None,
) -> ContractReport:
    """Check a memory system against the protocol, without rows, judge or model.

    Stores about 80 conversations in about twenty fresh stores, all in a temporary folder.

    Args:
        factory: the factory, as for a run.
        options: the options that `--memfail-system-option` would set.
        checks: names or globs separated by commas; all by default.
        raises: whether to raise if a check fails.
        timeout_seconds: the time limit of each check.
        progress: called with the name of each check when it starts.

    Raises `ContractError` (an `AssertionError`) with a table if a check fails, unless `raises` is false.
    Raises `UsageError` for an unknown check, or options that the factory refuses.

    ::

        def test_my_memory_keeps_its_contract():
            check_memory_system(lambda context: MyMemory(context.path))
    """
    chosen = _chosen(checks)
    if not callable(factory):
        raise UsageError(f"got {type(factory).__name__}, expected a factory: factory(context) -> system")
    if callable(check_options := getattr(factory, "check_options", None)):
        check_options(options or {})
    asks_models = callable(models := getattr(factory, "models", None)) and bool(models(options or {}, None))
    # a separate thread: the caller may have a running loop, and a system that hangs must not keep the process alive
    pool = DaemonPool(1, "memfail-check")
    try:
        with tempfile.TemporaryDirectory(prefix="memfail-check-", ignore_cleanup_errors=True) as folder:
            bench = Bench(factory, options or {}, Path(folder))
            work = _run(bench, chosen, timeout_seconds, progress)
            run = _with_models(bench, work) if asks_models else work
            report = ContractReport(tuple(pool.submit(_to_its_end, run).result()))
    finally:
        pool.stop()
    if raises and report.failed:
        raise ContractError(report)
    return report


def _to_its_end(work: Coroutine[Any, Any, list[CheckResult]]) -> list[CheckResult]:
    """Run the checks on a new loop, as `asyncio.run` does, but go on if a task of the system stops the loop."""
    loop = asyncio.new_event_loop()
    try:
        asyncio.set_event_loop(loop)
        task = loop.create_task(work)
        task.add_done_callback(lambda _: loop.stop())
        while not task.done():
            with suppress(SystemExit, KeyboardInterrupt):
                loop.run_forever()
        for left in (others := asyncio.all_tasks(loop)):
            left.cancel()
        loop.run_until_complete(asyncio.gather(*others, loop.shutdown_asyncgens(), return_exceptions=True))
        return task.result()
    finally:
        asyncio.set_event_loop(None)
        loop.close()


def _chosen(patterns: str) -> list[Check]:
    names = [part.strip() for part in patterns.split(",") if part.strip()]
    for name in names:
        if not any(fnmatch(check.name, name) for check in CHECKS):
            raise UnknownNameError("check", name, [check.name for check in CHECKS])
    return [check for check in CHECKS if not names or any(fnmatch(check.name, name) for name in names)]


async def _with_models(bench: Bench, work: Coroutine[Any, Any, list[CheckResult]]) -> list[CheckResult]:
    """Run the checks of a system that asks models through its context, at OPENAI_BASE_URL, without a cache."""
    from pytest_memfail.llm import Ledger, ModelClient, SystemChat

    ledger = Ledger()
    client = ModelClient(ledger=ledger)
    bench.chat = SystemChat(client)
    try:
        return await work
    finally:
        await client.close()
        ledger.close()


async def _run(
    bench: Bench, checks: list[Check], timeout_seconds: float, progress: Callable[[str], None] | None
) -> list[CheckResult]:
    results: list[CheckResult] = []
    stopped = ""
    for i, check in enumerate(checks):
        if progress is not None:
            progress(check.name)
        if stopped:
            results.append(CheckResult(check.name, check.about, "skipped", stopped))
            continue
        results.append(await _one(bench, check, timeout_seconds))
        following = checks[i + 1] if i + 1 < len(checks) else None
        timed_out = results[-1].reason.startswith(_HANGS)
        await bench.clear(shared=timed_out or following is None or not following.shares)
        if check.name == "methods" and results[-1].outcome == "failed":
            stopped = "the factory makes no memory system: see above"
        elif check.name == "round-trip" and results[-1].reason.endswith(_RAISED):
            stopped = "not tried after the error of round-trip, which the others would repeat"
    return results


_HANGS: Final = "no end after"
_RAISED: Final = "; expected no error"


async def _one(bench: Bench, check: Check, timeout_seconds: float) -> CheckResult:
    try:
        await asyncio.wait_for(check.run(bench), timeout_seconds)
    except NotApplicableError as error:
        return CheckResult(check.name, check.about, "skipped", str(error))
    except asyncio.TimeoutError:
        reason = f"{_HANGS} {timeout_seconds:g} seconds; expected one: look for a lock, or allow more time"
        return CheckResult(check.name, check.about, "failed", reason)
    except (BrokenError, WrongTypeError) as error:
        return CheckResult(check.name, check.about, "failed", one_line(error, 500))
    except MemfailError as error:
        return CheckResult(check.name, check.about, "failed", f"{one_line(error, 500)}{_RAISED}")
    return CheckResult(check.name, check.about, "passed")


__all__ = ["CheckResult", "ContractError", "ContractReport", "check_memory_system"]
