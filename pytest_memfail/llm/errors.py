"""What can go wrong between us and a model, as one tree.

MemfailError
└── ModelCallError             a call gave no usable reply: the item is an error, never a verdict
    ├── AuthError              the key or the account is refused (401, 403, no quota): no call can succeed
    ├── ModelError             the endpoint does not know the model (404)
    ├── RequestError           the endpoint refuses this request (other 4xx)
    │   └── ContextLengthError the messages are longer than the model can read
    ├── ReplyError             the reply is empty, cut off, not JSON or of another schema, also when asked again
    ├── RefusalError           the model refuses to answer
    ├── EndpointError          nothing usable came back after all retries: refused, dropped, hung, 5xx
    │   ├── RateLimitError     still 429 after all retries
    │   └── WaitError          the run has waited for its endpoint as long as it may: nothing is asked any more
    ├── CacheMissError         replies come from the cache only, and it lacks this one
    └── BudgetError            the call would exceed the run's budget

Bad input (a cache file that is none, a budget in USD for a model without a price) is a `UsageError`.
"""

from __future__ import annotations

from pytest_memfail.core import MemfailError


class ModelCallError(MemfailError):
    """A call to a model gave no usable reply; no verdict may be made of it."""


class AuthError(ModelCallError):
    """The endpoint refuses the key or the account; every later call would fail alike."""


class ModelError(ModelCallError):
    """The endpoint does not know the model."""


class RequestError(ModelCallError):
    """The endpoint refuses this request; asking again would not help."""


class ContextLengthError(RequestError):
    """The messages are longer than the model's context; send less at once."""


class ReplyError(ModelCallError):
    """The reply cannot be used: empty, cut off, not JSON, or of another schema."""


class RefusalError(ModelCallError):
    """The model refuses to answer, or a content filter stopped it."""


class EndpointError(ModelCallError):
    """The endpoint does not answer, or answers with server errors only."""


class RateLimitError(EndpointError):
    """The endpoint asks to slow down, however slowly it is asked."""


class WaitError(EndpointError):
    """The run has waited for its endpoint as long as it may; nothing more is asked."""


class CacheMissError(ModelCallError):
    """The reply is not in the cache, and nothing else may be asked."""


class BudgetError(ModelCallError):
    """The budget of the run is used up."""
