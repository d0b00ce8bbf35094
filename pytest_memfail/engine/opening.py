"""Making a memory system: what it must have, and how many calls at once it declares."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Final

from pytest_memfail.core import SystemContext, WrongTypeError
from pytest_memfail.engine.calls import Lane, is_async

METHODS: Final = ("store_conversation", "retrieve_memories", "get_all_memories")
ASYNC_READS: Final = 8


async def open_system(lane: Lane, factory: Callable[..., Any], context: SystemContext) -> Any:
    """A fresh system, made on the lane, which becomes as wide as the system declares.

    Raises `MemorySystemError` for a factory that fails, `WrongTypeError` for what is no memory system.
    """
    system = await lane.call("the factory", _with_context(factory, context))
    missing = [name for name in METHODS if not callable(getattr(system, name, None))]
    if missing:
        raise WrongTypeError(
            f"the factory returned {type(system).__name__}, which has no {'(), '.join(missing)}(); "
            f"expected a memory system with {'(), '.join(METHODS)}()"
        )
    default = ASYNC_READS if is_async(system.retrieve_memories) else 1
    lane.widen(_at_least_one(system, "concurrent_reads", default), _at_least_one(system, "concurrent_writes", 1))
    return system


async def described_by(lane: Lane, system: Any) -> dict[str, str]:
    """What the system says of itself; nothing if it says nothing."""
    if not callable(describe := getattr(system, "describe", None)):
        return {}
    return {str(key): str(value) for key, value in dict(await lane.call("describe", describe)).items()}


def _with_context(factory: Callable[..., Any], context: SystemContext) -> Callable[[], Any]:
    """The factory called with its context, or with nothing if it takes no parameter."""
    try:
        parameters = inspect.signature(factory).parameters.values()
    except (TypeError, ValueError):  # a builtin without a signature
        takes_context = True
    else:
        takes_context = any(p.kind is not p.VAR_KEYWORD and p.kind is not p.KEYWORD_ONLY for p in parameters)
    if is_async(factory):

        async def make() -> Any:
            return await (factory(context) if takes_context else factory())

        return make
    return (lambda: factory(context)) if takes_context else factory


def _at_least_one(system: object, name: str, default: int) -> int:
    value = getattr(system, name, default)
    if not isinstance(value, int) or value < 1:
        raise WrongTypeError(f"the system's {name} is {value!r}; expected a whole number of at least 1")
    return value
