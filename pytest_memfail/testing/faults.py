"""The replies of a local endpoint, and its scripted faults."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

FaultKind = Literal[
    "status",
    "hang",
    "drop",
    "drop_mid_body",
    "bad_body",
    "endless",
    "empty",
    "truncated",
    "invalid_json",
    "wrong_schema",
    "refusal",
    "context_length",
    "wrong_key",
    "unknown_model",
]
FAULT_KINDS: Final[tuple[str, ...]] = get_args(FaultKind)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of one of the request's tools."""

    name: str
    arguments: Mapping[str, Any] | str
    """A text is sent unchanged, whether or not it is JSON."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply, for tests that need more than its text."""

    text: str
    finish_reason: str = "stop"
    refusal: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    """If there are any, the finish reason `stop` becomes `tool_calls`."""
    first: Mapping[str, float] = field(default_factory=dict)
    """The log probabilities of the tokens that it could begin with, the one that it does first; empty: none are sent."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One kind of failure.

    In the list of an endpoint, a fault with neither `every` nor `when` strikes once, in the order of the calls; others
    strike repeatedly.
    """

    kind: FaultKind = "status"
    """`status`: an HTTP error. `hang`: no reply. `drop`: the connection is closed before the reply; `drop_mid_body`:
    during the reply. `bad_body`: 200 with a page of HTML. `endless`: 200 with a body that never ends. `empty`,
    `truncated` (finish reason `length`), `invalid_json`, `wrong_schema`, `refusal`: a well-formed reply with that
    content. `context_length` (400), `wrong_key` (401), `unknown_model` (404): the usual error bodies of endpoints."""
    status: int = 500
    """The HTTP status of the kind `status`."""
    retry_after: float | str | None = None
    """The header `Retry-After`, seconds or any text; None for no header."""
    location: str | None = None
    """The header `Location`, for a redirect (such as status 307)."""
    code: str | None = None
    """The error code in the body of the kind `status`."""
    message: str | None = None
    """The message in the body of the kind `status`."""
    every: int | None = None
    """Strike every nth call."""
    when: Callable[[Mapping[str, Any]], bool] | None = None
    """Strike calls whose decoded request it accepts."""

    def __post_init__(self) -> None:
        if self.kind not in FAULT_KINDS:
            raise ValueError(f"got fault {self.kind!r}, expected one of {', '.join(FAULT_KINDS)}")
        if self.every is not None and self.every < 1:
            raise ValueError(f"got every={self.every}, expected a whole number of at least 1")

    def strikes(self, number: int, request: Mapping[str, Any]) -> bool:
        """Return whether it strikes the call with this number (from 1) and request."""
        if self.every is not None and number % self.every:
            return False
        return self.when is None or self.when(request)


class Schedule:
    """Decides which fault, if any, strikes a call."""

    def __init__(self, faults: Iterable[Fault | None]) -> None:
        """Take the faults in the order of the calls; None lets one call through."""
        listed = tuple(faults)
        self._once = [fault for fault in listed if fault is None or (fault.every is None and fault.when is None)]
        self._rules = [fault for fault in listed if fault is not None and fault not in self._once]
        self._calls = 0

    def next(self, request: Mapping[str, Any]) -> Fault | None:
        """Return the fault of the next call."""
        self._calls += 1
        if self._calls <= len(self._once):
            return self._once[self._calls - 1]
        return next((rule for rule in self._rules if rule.strikes(self._calls, request)), None)
