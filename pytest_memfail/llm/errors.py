"""The exception hierarchy of model calls.

MemfailError
└── ModelCallError             a call gave no usable reply: the item is an error, never a verdict
    ├── AuthError              the key or the account is refused (401, 402, no quota; 403 at first): no call can succeed
    ├── ModelError             the endpoint does not know the model (404)
    ├── RequestError           the endpoint refuses this request (403 after a reply, other 4xx)
    │   └── ContextLengthError the messages are longer than the model can read
    ├── ReplyError             the reply is empty, cut off, not JSON or violates the schema, even after retries
    ├── RefusalError           the model refuses to answer
    ├── EndpointError          nothing usable after all retries: refused, dropped, timed out, 5xx
    │   ├── RateLimitError     still 429 after all retries
    │   └── WaitError          the run has reached its limit for waiting: no more calls are made
    ├── CacheMissError         replies come from the cache only, which lacks this one
    └── BudgetError            the call would exceed the run's budget

Invalid input (a file that is not a cache, a budget in USD for a model without a price) is a `UsageError`.
"""

from __future__ import annotations

from pytest_memfail.core import MemfailError


class ModelCallError(MemfailError):
    """A call to a model gave no usable reply, so there is no verdict."""


class AuthError(ModelCallError):
    """The endpoint refuses the key or the account; every later call would fail too."""


class ModelError(ModelCallError):
    """The endpoint does not know the model."""


class RequestError(ModelCallError):
    """The endpoint refuses this request; a retry would not help."""


class ContextLengthError(RequestError):
    """The messages are longer than the model's context; send less at once."""


class ReplyError(ModelCallError):
    """The reply cannot be used: empty, cut off, not JSON, or violating the schema."""


class RefusalError(ModelCallError):
    """The model refuses to answer, or a content filter stopped it."""


class EndpointError(ModelCallError):
    """The endpoint does not answer, or answers only with server errors."""


class RateLimitError(EndpointError):
    """The endpoint still asks to slow down after all retries."""


class WaitError(EndpointError):
    """The run has waited for its endpoint as long as allowed; no more calls are made."""


class CacheMissError(ModelCallError):
    """The reply is not in the cache, and calls are forbidden."""


class BudgetError(ModelCallError):
    """The budget of the run is used up."""
