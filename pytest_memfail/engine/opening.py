"""Making a memory system: what it must have, and how many calls at once it declares."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from pytest_memfail.core import Conversation, MemorySystemError, SystemContext, UsageError, WrongTypeError
from pytest_memfail.engine.calls import Lane, guarded, is_async, raised_as

METHODS: Final = ("store_conversation", "retrieve_memories", "get_all_memories")
PARAMETERS: Final[Mapping[str, tuple[str, ...]]] = {
    "store_conversation": ("conversation",),
    "retrieve_memories": ("query", "conversation", "k"),
    "get_all_memories": (),
    "flush": (),
    "close": (),
    "describe": (),
    "snapshot": ("path",),
    "restore": ("path",),
}
"""What each method is called with, the optional ones too."""
SAMPLES: Final[Mapping[str, Any]] = {"conversation": Conversation("", ()), "query": "", "k": 1, "path": Path()}
ASYNC_READS: Final = 8


async def open_system(lane: Lane, factory: Callable[..., Any], context: SystemContext) -> Any:
    """Make a fresh system on the lane, which becomes as wide as the system declares.

    Raises `MemorySystemError` for a factory that fails, `WrongTypeError` for what is no memory system, or one whose methods
    cannot be called as they will be.
    """
    system = await lane.call("the factory", _with_context(factory, context))
    with raised_as(MemorySystemError, f"looking at what the factory returned ({type(system).__name__})"):
        reads, writes = guarded(_widths, system)
    lane.widen(reads, writes)
    return system


async def described_by(lane: Lane, system: Any) -> dict[str, str]:
    """What the system says of itself; nothing if it says nothing."""
    if not callable(describe := getattr(system, "describe", None)):
        return {}
    found = await lane.call("describe", describe)
    if not isinstance(found, Mapping):
        raise WrongTypeError(f"describe() returned {type(found).__name__}; expected a mapping of names to texts")
    with raised_as(MemorySystemError, "reading what describe() returned"):
        return guarded(lambda: {str(key): str(value) for key, value in found.items()})


def check_factory(factory: Callable[..., Any], option: str) -> None:
    """Raise `UsageError` for a factory that can be called neither with a context nor without."""
    try:
        signature = inspect.signature(factory)
    except (TypeError, ValueError):  # a builtin without a signature
        return
    if not any(_fits(signature, args) for args in ((None,), ())):
        name = getattr(factory, "__name__", type(factory).__name__)
        raise UsageError(f"{option}: got the factory {name}{signature}; expected one of {name}(context) or {name}()")


def _widths(system: Any) -> tuple[int, int]:
    """How many reads and writes at once a system declares; raises for what is none."""
    missing = [name for name in METHODS if not callable(getattr(system, name, None))]
    if missing:
        raise WrongTypeError(
            f"the factory returned {type(system).__name__}, which has no {'(), '.join(missing)}(); "
            f"expected a memory system with {'(), '.join(METHODS)}()"
        )
    for name, parameters in PARAMETERS.items():
        _check_signature(system, name, parameters)
    _at_least(1, system, "concurrent_stores", 2)
    _at_least(0, system, "retries", 0)
    default = ASYNC_READS if is_async(system.retrieve_memories) else 1
    return _at_least(1, system, "concurrent_reads", default), _at_least(1, system, "concurrent_writes", 1)


def _check_signature(system: Any, name: str, parameters: tuple[str, ...]) -> None:
    if not callable(method := getattr(system, name, None)):
        return
    try:
        signature = inspect.signature(method)
    except (TypeError, ValueError):
        return
    if not _fits(signature, tuple(SAMPLES[parameter] for parameter in parameters)):
        raise WrongTypeError(
            f"{type(system).__name__}.{name}{signature} cannot be called with {len(parameters)} arguments; "
            f"expected {name}({', '.join(parameters)})"
        )


def _fits(signature: inspect.Signature, args: tuple[Any, ...]) -> bool:
    try:
        signature.bind(*args)
    except TypeError:
        return False
    return True


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


def _at_least(least: int, system: object, name: str, default: int) -> int:
    value = getattr(system, name, default)
    if not isinstance(value, int) or value < least:
        raise WrongTypeError(f"the system's {name} is {value!r}; expected a whole number of at least {least}")
    return value
